//! Little's law: calls in flight on average = throughput × mean time. The callers bound it, and in a closed loop they are all it is.

use super::{Judgement, Rules, mean};
use crate::audit::facts::RowFacts;
use crate::audit::interval::Interval;
use crate::audit::quantity::Quantity;
use bench_core::units::{grouped, three_digits, time};

/// No call over a socket takes less: a system call on each side alone is about that.
const LEAST_CALL_NS: f64 = 1e3;
/// Below this share of the callers the throughput is doubted; above, time between calls may explain it.
const FAR_BELOW: f64 = 0.5;

pub(super) fn check(row: &RowFacts, rules: Rules, judgement: &mut Judgement) {
    let (Some(throughput), Some(callers)) = (row.get(Quantity::Throughput), row.get(Quantity::Callers)) else {
        return;
    };
    judgement.invalid_if(callers.high < 1.0 && throughput.low > 0.0, || {
        "a throughput without callers".to_owned()
    });
    if callers.low < 1.0 || throughput.low <= 0.0 {
        return;
    }
    match mean(row) {
        Some(mean) => littles_law(row, rules, throughput, callers, mean, judgement),
        None if !rules.open_loop => by_itself(throughput, callers, judgement),
        None => {}
    }
}

fn littles_law(row: &RowFacts, rules: Rules, throughput: Interval, callers: Interval, mean: Interval, judgement: &mut Judgement) {
    judgement.checked.push("in flight");
    let in_flight = throughput.times(mean).scaled(1e-9);
    let of = |in_flight: f64| format!("{} calls in flight of {} callers", number(in_flight), grouped(callers.middle()));
    let what = match row.get(Quantity::Mean) {
        Some(_) => "throughput × mean",
        None => "throughput × the mean that the percentiles allow",
    };
    judgement.invalid_if(in_flight.is_above(callers, rules.tolerance), || {
        format!("{what} means {}", of(in_flight.low))
    });
    if rules.open_loop || !in_flight.high.is_finite() || !callers.is_above(in_flight, rules.tolerance) {
        return;
    }
    let lacks = callers.middle() / in_flight.middle();
    let text = format!(
        "closed loop: {what} means only {}: the throughput is too low by ×{}, or the times are not of these calls",
        of(in_flight.high),
        three_digits(lacks)
    );
    if in_flight.high >= FAR_BELOW * callers.low {
        judgement.notes.push(format!("{text}, or callers pause between calls"));
        return;
    }
    let overflow = row.get(Quantity::Calls).and_then(|calls| overflow_of(calls.middle()));
    let hint = overflow.filter(|factor| (lacks / factor - 1.0).abs() <= rules.tolerance);
    judgement.suspect.push(match hint {
        Some(factor) => format!("{text}; calls × 1000 in 32 bits would make it too low by ×{}", three_digits(factor)),
        None => text,
    });
}

/// Without times: in a closed loop a call takes callers / throughput.
fn by_itself(throughput: Interval, callers: Interval, judgement: &mut Judgement) {
    judgement.checked.push("time by throughput");
    let mean = callers.over(throughput).scaled(1e9);
    judgement
        .notes
        .push(format!("closed loop: a call takes callers / throughput = {}", time(mean.middle())));
    judgement.suspect_if(mean.high < LEAST_CALL_NS, || {
        format!(
            "closed loop: callers / throughput = {} per call, less than two processes need to exchange a byte",
            time(mean.high)
        )
    });
}

/// By how much `calls * 1000 / milliseconds` is too low when the product is kept in 32 bits; `None` where it fits or comes out negative.
pub(super) fn overflow_of(calls: f64) -> Option<f64> {
    const RANGE: f64 = 4_294_967_296.0;
    let product = calls * 1000.0;
    let kept = product % RANGE;
    (product >= RANGE && kept > 0.0 && kept < RANGE).then(|| product / kept)
}

fn number(in_flight: f64) -> String {
    match in_flight {
        small if small < 10.0 => three_digits(small),
        large => grouped(large),
    }
}

#[cfg(test)]
mod tests {
    use bench_core::verdict::Verdict;

    use super::super::tests::{check, good, judged, judged_by};
    use super::*;

    #[test]
    fn no_more_calls_are_in_flight_than_there_are_callers() {
        check(
            "c,TPS,mean (ms)\n100,43000,1000.0\n",
            Verdict::Invalid,
            "throughput × mean means 42,997 calls in flight of 100 callers",
        );
        good("c,TPS,mean (ms)\n100,43000,2.3\n");
        // 14 % above is within what separate runs may differ by; 17 % is not.
        good("c,TPS,mean (ms)\n100,10000,11.40\n");
        check("c,TPS,mean (ms)\n100,10000,11.70\n", Verdict::Invalid, "117 calls in flight");
        // Without a mean the percentiles say what it is at least.
        check(
            "c,TPS,median (ms)\n100,10000,50.00\n",
            Verdict::Invalid,
            "the mean that the percentiles allow means 250 calls",
        );
    }

    #[test]
    fn a_closed_loop_keeps_its_callers_busy() {
        check(
            "c,TPS,mean (ms)\n100,5000,1.00\n",
            Verdict::Suspect,
            "only 5.03 calls in flight of 100 callers: the throughput is too low by ×20.0",
        );
        let near = judged("c,TPS,mean (ms)\n100,7000,10.00\n").remove(0);
        assert_eq!(near.verdict(), Some(Verdict::Valid));
        assert!(near.notes[0].contains("pause between calls"), "{:?}", near.notes);
        let open = judged_by(
            "c,TPS,mean (ms)\n100,5000,1.00\n",
            Rules {
                tolerance: 0.15,
                open_loop: true,
            },
        )
        .remove(0);
        assert_eq!(open.verdict(), Some(Verdict::Valid));
    }

    #[test]
    fn a_throughput_that_lost_its_upper_bits_is_named() {
        // 5,000,000 × 1000 = 2³² + 705,032,704: too low by 7.09.
        assert!((overflow_of(5e6).unwrap() - 7.0919).abs() < 1e-3);
        assert_eq!(overflow_of(1e6), None);
        check(
            "c,n,TPS,mean (ms)\n100,5000000,10000,1.41\n",
            Verdict::Suspect,
            "in 32 bits would make it too low by ×7.09",
        );
    }

    #[test]
    fn a_throughput_by_itself_says_how_long_a_call_takes() {
        let judgement = judged("c,TPS\n100,89693\n").remove(0);
        assert_eq!(judgement.verdict(), Some(Verdict::Valid));
        assert!(judgement.notes[0].ends_with("= 1.11 ms"), "{:?}", judgement.notes);
        check("c,TPS\n1,2000000\n", Verdict::Suspect, "500 ns per call");
        check("c,TPS\n0,20\n", Verdict::Invalid, "without callers");
    }
}
