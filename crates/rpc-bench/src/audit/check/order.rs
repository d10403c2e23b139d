//! Times among themselves: percentiles in order, the mean where they allow it to be, no time of 0.

use super::{Judgement, Rules, mean_by_percentiles};
use crate::audit::facts::RowFacts;
use crate::audit::interval::Interval;
use crate::audit::quantity::{MAX, MIN, Quantity};
use bench_core::units::time;

pub(super) fn check(row: &RowFacts, rules: Rules, judgement: &mut Judgement) {
    percentiles(row, judgement);
    mean(row, rules, judgement);
    let zero = row
        .printed
        .iter()
        .find(|(quantity, printed)| quantity.is_time_of_a_call() && printed.value == 0.0);
    if let Some((quantity, printed)) = zero {
        judgement.suspect.push(format!(
            "{quantity} is {}: no call takes no time; digits were cut off",
            printed.digits
        ));
    }
}

fn percentiles(row: &RowFacts, judgement: &mut Judgement) {
    let times: Vec<(u32, Interval)> = row.percentiles().collect();
    if times.len() > 1 {
        judgement.checked.push("percentiles");
    }
    for (index, (lower, lower_time)) in times.iter().enumerate() {
        // The first that lies below is enough: those beyond it follow from it.
        let below = times.iter().skip(index + 1).find(|(_, time)| lower_time.is_above(*time, 0.0));
        if let Some((upper, upper_time)) = below {
            let (lower, upper) = (Quantity::Percentile(*lower), Quantity::Percentile(*upper));
            judgement.invalid.push(format!(
                "{lower} {} is above {upper} {}: at least one of the two is another percentile than its name says",
                time(lower_time.middle()),
                time(upper_time.middle())
            ));
        }
    }
}

fn mean(row: &RowFacts, rules: Rules, judgement: &mut Judgement) {
    let (Some(mean), Some(allowed)) = (row.get(Quantity::Mean), mean_by_percentiles(row)) else {
        return;
    };
    judgement.checked.push("mean");
    let outside = |bound: u32, is_outside: fn(Interval, Interval) -> bool| {
        let bound = row.get(Quantity::Percentile(bound))?;
        is_outside(mean, bound).then(|| time(bound.middle()))
    };
    let shown = time(mean.middle());
    if let Some(min) = outside(MIN, |mean, min| min.is_above(mean, 0.0)) {
        judgement.invalid.push(format!("the mean {shown} is below min {min}"));
    } else if let Some(max) = outside(MAX, |mean, max| mean.is_above(max, 0.0)) {
        judgement.invalid.push(format!("the mean {shown} is above max {max}"));
    } else {
        judgement.invalid_if(allowed.is_above(mean, rules.tolerance), || {
            format!(
                "the mean {shown} is below {}, the least that these percentiles allow",
                time(allowed.low)
            )
        });
        judgement.invalid_if(mean.is_above(allowed, rules.tolerance), || {
            format!(
                "the mean {shown} is above {}, the most that these percentiles allow",
                time(allowed.high)
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use bench_core::verdict::Verdict;

    use super::super::tests::{check, good};

    #[test]
    fn percentiles_must_not_fall() {
        check(
            "median (ms),p99 (ms),p99.9 (ms)\n1.0,9.6,9.4\n",
            Verdict::Invalid,
            "p99 9.60 ms is above p99.9 9.40 ms",
        );
        check(
            "median (ms),p90 (ms),p99 (ms)\n1.0,9.6,9.4\n",
            Verdict::Invalid,
            "p90 9.60 ms is above p99 9.40 ms",
        );
        check("median (ms),max (ms)\n1.2,1.0\n", Verdict::Invalid, "median 1.20 ms is above max");
        check("min (ms),median (ms)\n1.2,1.0\n", Verdict::Invalid, "min 1.20 ms is above median");
        // Units of the cells' own count.
        check(
            "median,p99\n1.2 ms,900 µs\n",
            Verdict::Invalid,
            "median 1.20 ms is above p99 900 µs",
        );
        good("median (ms),p99 (ms),p99.9 (ms),max (ms)\n1.0,9.4,9.4,12.0\n");
        // 1.0 may be 1.04, and 1.02 is at least 1.015.
        good("median (ms),p90 (ms)\n1.05,1.0\n");
    }

    #[test]
    fn the_mean_lies_where_the_percentiles_allow() {
        check("mean (ms),min (ms),max (ms)\n0.8,1.0,2.0\n", Verdict::Invalid, "below min");
        check("mean (ms),min (ms),max (ms)\n2.5,1.0,2.0\n", Verdict::Invalid, "above max");
        check(
            "mean (ms),median (ms)\n0.9,3.0\n",
            Verdict::Invalid,
            "the least that these percentiles allow",
        );
        check(
            "mean (ms),median (ms),max (ms)\n9.0,1.0,10.0\n",
            Verdict::Invalid,
            "the most that these percentiles allow",
        );
        good("mean (ms),median (ms),max (ms)\n5.0,1.0,10.0\n");
        good("mean (ms),median (ms)\n2.0,3.0\n");
        good("mean (ms),min (ms),max (ms)\n1.0,1.0,1.0\n");
    }

    #[test]
    fn a_time_of_nothing_is_suspect() {
        check("mean (ms),min (ms),max (ms)\n3,0,17\n", Verdict::Suspect, "min is 0");
        check("mean (ms),median (ms)\n0.04,0.00\n", Verdict::Suspect, "median is 0.00");
    }
}
