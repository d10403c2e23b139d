//! The checks of a foreign row. Each says what it looked at and what is wrong; a row is as good as the worst of them.

mod counts;
mod delay;
mod in_flight;
mod order;
mod same_digits;

use bench_core::verdict::Verdict;

use super::facts::{Facts, RowFacts};
use super::interval::Interval;
use super::quantity::{MAX, Quantity};

/// What is allowed between figures of one run: the edges of the window cut calls in two, and percentiles of few calls differ by one call.
pub(super) const OF_ONE_RUN: f64 = 0.01;

/// How strict the checks are.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Share by which figures may miss each other that may be from separate runs, as throughput and times often are.
    pub tolerance: f64,
    /// True when calls were made at a rate: then the callers need not be busy.
    pub open_loop: bool,
}

/// What the checks found in one row.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Names of the checks that had what they need.
    pub checked: Vec<&'static str>,
    /// Why it is wrong.
    pub invalid: Vec<String>,
    /// Why it is to be doubted.
    pub suspect: Vec<String>,
    /// What else a reader may want to know.
    pub notes: Vec<String>,
}

impl Judgement {
    /// The verdict; `None` when nothing could be checked.
    pub fn verdict(&self) -> Option<Verdict> {
        match (self.invalid.is_empty(), self.suspect.is_empty(), self.checked.is_empty()) {
            (false, ..) => Some(Verdict::Invalid),
            (true, false, _) => Some(Verdict::Suspect),
            (true, true, false) => Some(Verdict::Valid),
            (true, true, true) => None,
        }
    }

    fn invalid_if(&mut self, is_wrong: bool, reason: impl FnOnce() -> String) {
        if is_wrong {
            self.invalid.push(reason());
        }
    }

    fn suspect_if(&mut self, is_odd: bool, reason: impl FnOnce() -> String) {
        if is_odd {
            self.suspect.push(reason());
        }
    }
}

/// Judges all rows of a table.
pub fn judge(facts: &Facts, rules: Rules) -> Vec<Judgement> {
    let mut judgements: Vec<Judgement> = facts.rows.iter().map(|row| judge_row(row, rules)).collect();
    same_digits::check(&facts.rows, &mut judgements);
    judgements
}

fn judge_row(row: &RowFacts, rules: Rules) -> Judgement {
    let mut judgement = Judgement {
        notes: row.complaints.clone(),
        ..Judgement::default()
    };
    order::check(row, rules, &mut judgement);
    in_flight::check(row, rules, &mut judgement);
    counts::check(row, &mut judgement);
    delay::check(row, &mut judgement);
    judgement
}

/// What the percentiles allow the mean to be: of the calls between two percentiles none is shorter than the lower one or longer than the
/// upper one. `high` is infinite without a greatest time.
fn mean_by_percentiles(row: &RowFacts) -> Option<Interval> {
    let points: Vec<(f64, Interval)> = row
        .percentiles()
        .map(|(millionths, time)| (f64::from(millionths) / f64::from(MAX), time))
        .collect();
    let (last, _) = points.last()?;
    let mut low = 0.0;
    let ends = points.iter().skip(1).map(|(share, _)| *share).chain([1.0]);
    for ((share, time), end) in points.iter().zip(ends) {
        low += (end - share) * time.low;
    }
    let mut high = 0.0;
    let starts = [0.0].into_iter().chain(points.iter().map(|(share, _)| *share));
    for ((share, time), start) in points.iter().zip(starts) {
        high += (share - start) * time.high;
    }
    Some(Interval {
        low,
        high: if *last < 1.0 { f64::INFINITY } else { high.max(low) },
    })
}

/// The mean of the row, or what its percentiles say of it.
fn mean(row: &RowFacts) -> Option<Interval> {
    row.get(Quantity::Mean).or_else(|| mean_by_percentiles(row))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::facts::Surroundings;
    use super::super::tables;
    use super::*;

    /// The judgement of every row of a CSV, with the usual rules.
    pub fn judged(csv: &str) -> Vec<Judgement> {
        judged_by(
            csv,
            Rules {
                tolerance: 0.15,
                open_loop: false,
            },
        )
    }

    pub fn judged_by(csv: &str, rules: Rules) -> Vec<Judgement> {
        let table = tables::find(csv).unwrap().remove(0);
        judge(&Facts::of(&table, &Surroundings::default()), rules)
    }

    /// The one row is INVALID, or SUSPECT, and one of its reasons has these words.
    #[track_caller]
    pub fn check(csv: &str, verdict: Verdict, words: &str) {
        let judgement = judged(csv).remove(0);
        let reasons: Vec<&String> = judgement.invalid.iter().chain(&judgement.suspect).collect();
        assert_eq!(judgement.verdict(), Some(verdict), "{reasons:?}");
        assert!(reasons.iter().any(|reason| reason.contains(words)), "no '{words}' in {reasons:?}");
    }

    #[track_caller]
    pub fn good(csv: &str) {
        let judgement = judged(csv).remove(0);
        assert_eq!(judgement.verdict(), Some(Verdict::Valid), "{judgement:?}");
    }

    #[test]
    fn percentiles_bound_the_mean_from_both_sides() {
        let facts = |csv: &str| Facts::of(&tables::find(csv).unwrap()[0], &Surroundings::default()).rows.remove(0);
        // Half of the calls take 2 or more, the other half 1 or more; half at most 2, half at most 10.
        let bounds = mean_by_percentiles(&facts("min (ns),median (ns),max (ns)\n1.00,2.00,10.00\n")).unwrap();
        assert!((bounds.low - 1.5).abs() < 0.01 && (bounds.high - 6.0).abs() < 0.01, "{bounds:?}");
        let bounds = mean_by_percentiles(&facts("median (ns),p99 (ns)\n2.00,10.00\n")).unwrap();
        assert!(
            (bounds.low - (0.49 * 2.0 + 0.01 * 10.0)).abs() < 0.01 && bounds.high == f64::INFINITY,
            "{bounds:?}"
        );
        assert_eq!(mean_by_percentiles(&facts("TPS,mean (ns)\n2,10\n")), None);
    }
}
