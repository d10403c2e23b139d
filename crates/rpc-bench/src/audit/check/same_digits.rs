//! Two percentiles that are the same to the digit in several rows are one of them, printed twice.

use super::Judgement;
use crate::audit::facts::RowFacts;
use crate::audit::quantity::{MAX, Quantity};

/// Fewer digits can be the same by chance.
const ENOUGH_DIGITS: usize = 3;
/// One row can be a coincidence.
const SEVERAL: usize = 2;
/// Of fewer calls beyond the lower percentile there are too few to tell the two apart.
const CALLS_BEYOND: f64 = 10.0;

pub(super) fn check(rows: &[RowFacts], judgements: &mut [Judgement]) {
    let mut pairs: Vec<(Quantity, Quantity)> = rows.iter().flat_map(neighbours).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (lower, upper) in pairs {
        let same: Vec<usize> = (rows.iter().enumerate())
            .filter(|(_, row)| is_same(row, lower, upper))
            .map(|(index, _)| index)
            .collect();
        if same.len() < SEVERAL {
            continue;
        }
        for index in &same {
            if let Some(judgement) = judgements.get_mut(*index) {
                judgement.suspect.push(format!(
                    "{lower} and {upper} are the same to the digit in {} rows: one of the columns is not what its name says",
                    same.len()
                ));
            }
        }
    }
}

/// Percentiles that stand next to each other; the greatest time is left out, which few calls can share with a percentile.
fn neighbours(row: &RowFacts) -> Vec<(Quantity, Quantity)> {
    let percentiles: Vec<Quantity> = row.percentiles().map(|(millionths, _)| Quantity::Percentile(millionths)).collect();
    let pairs = percentiles.iter().copied().zip(percentiles.iter().copied().skip(1));
    pairs.filter(|(_, upper)| *upper != Quantity::Percentile(MAX)).collect()
}

fn is_same(row: &RowFacts, lower: Quantity, upper: Quantity) -> bool {
    let (Some(a), Some(b)) = (row.printed.get(&lower), row.printed.get(&upper)) else {
        return false;
    };
    let Quantity::Percentile(millionths) = lower else { return false };
    let beyond = 1.0 - f64::from(millionths) / f64::from(MAX);
    let enough_calls = row.get(Quantity::Calls).is_none_or(|calls| calls.high * beyond >= CALLS_BEYOND);
    enough_calls && a.digits == b.digits && row.get(lower) == row.get(upper) && a.significant_digits() >= ENOUGH_DIGITS
}

#[cfg(test)]
mod tests {
    use bench_core::verdict::Verdict;

    use super::super::tests::judged;

    fn verdicts(csv: &str) -> Vec<Option<Verdict>> {
        judged(csv).iter().map(super::Judgement::verdict).collect()
    }

    const SUSPECT: Option<Verdict> = Some(Verdict::Suspect);
    const VALID: Option<Verdict> = Some(Verdict::Valid);

    #[test]
    fn the_same_digits_in_several_rows_are_no_chance() {
        assert_eq!(
            verdicts("p99 (ms),p99.9 (ms)\n37.9,37.9\n41.2,41.2\n9.1,12.0\n"),
            [SUSPECT, SUSPECT, VALID]
        );
        assert_eq!(verdicts("p90 (ms),p99 (ms)\n37.9,37.9\n41.2,41.2\n"), [SUSPECT, SUSPECT]);
    }

    #[test]
    fn few_digits_few_rows_and_few_calls_may_be() {
        assert_eq!(verdicts("p99 (ms),p99.9 (ms)\n37.9,37.9\n9.1,12.0\n"), [VALID, VALID]);
        assert_eq!(verdicts("p99 (ms),p99.9 (ms)\n38,38\n41,41\n"), [VALID, VALID]);
        assert_eq!(verdicts("n,p99 (ms),p99.9 (ms)\n100,37.9,37.9\n100,41.2,41.2\n"), [VALID, VALID]);
        assert_eq!(verdicts("p99.9 (ms),max (ms)\n37.9,37.9\n41.2,41.2\n"), [VALID, VALID]);
    }
}
