//! Counts: what succeeded against what was made, and the throughput against calls and time.

use super::in_flight::overflow_of;
use super::{Judgement, OF_ONE_RUN};
use crate::audit::facts::RowFacts;
use crate::audit::interval::Interval;
use crate::audit::quantity::Quantity;
use bench_core::units::{grouped, percent, three_digits};
use bench_core::verdict::FAILED_SHARE_INVALID;

pub(super) fn check(row: &RowFacts, judgement: &mut Judgement) {
    let (calls, failed) = (row.get(Quantity::Calls), row.get(Quantity::Failed));
    let ok = row.get(Quantity::Ok);
    if let Some(calls) = calls {
        buckets(calls, ok, failed, judgement);
    }
    failures(calls, ok, failed, judgement);
    if let (Some(throughput), Some(ok)) = (row.get(Quantity::Throughput), ok) {
        judgement.checked.push("ok");
        judgement.invalid_if(ok.high == 0.0 && throughput.low > 0.0, || {
            format!("{} calls/s, but no call succeeded", grouped(throughput.middle()))
        });
    }
    if let (Some(throughput), Some(elapsed)) = (row.get(Quantity::Throughput), row.get(Quantity::Elapsed)) {
        rate(
            throughput,
            elapsed.scaled(1e-9),
            calls,
            ok.or_else(|| without(calls, failed)),
            judgement,
        );
    }
}

/// Every call is in one bucket.
fn buckets(calls: Interval, ok: Option<Interval>, failed: Option<Interval>, judgement: &mut Judgement) {
    let (Some(ended), what) = (match (ok, failed) {
        (Some(ok), Some(failed)) => (Some(ok.plus(failed)), "ok + failed"),
        (Some(ok), None) => (Some(ok), "ok"),
        (None, failed) => (failed, "failed"),
    }) else {
        return;
    };
    judgement.checked.push("counts");
    judgement.invalid_if(ended.is_above(calls, 0.0), || {
        format!(
            "{what} is {}, more than the {} calls",
            grouped(ended.middle()),
            grouped(calls.middle())
        )
    });
    let all_known = ok.is_some() && failed.is_some();
    judgement.suspect_if(all_known && calls.is_above(ended, 0.0), || {
        format!(
            "{} of {} calls are neither ok nor failed",
            grouped(calls.middle() - ended.middle()),
            grouped(calls.middle())
        )
    });
}

/// The same limits as for rows of our own.
fn failures(calls: Option<Interval>, ok: Option<Interval>, failed: Option<Interval>, judgement: &mut Judgement) {
    let failed = failed.or_else(|| without(calls, ok));
    let Some(failed) = failed.filter(|failed| failed.low > 0.0) else {
        return;
    };
    let all = calls.or_else(|| ok.map(|ok| ok.plus(failed)));
    let share = all.map(|all| failed.over(all).low);
    match share {
        Some(share) if share > FAILED_SHARE_INVALID => {
            judgement
                .invalid
                .push(format!("{} calls failed, {} of all", grouped(failed.middle()), percent(share)));
        }
        _ => judgement.suspect.push(format!("{} calls failed", grouped(failed.middle()))),
    }
}

/// `all` less `part`; `None` unless both are known.
fn without(all: Option<Interval>, part: Option<Interval>) -> Option<Interval> {
    let (all, part) = (all?, part?);
    Some(Interval {
        low: (all.low - part.high).max(0.0),
        high: (all.high - part.low).max(0.0),
    })
}

/// Throughput = calls that succeeded / time.
fn rate(throughput: Interval, elapsed_s: Interval, calls: Option<Interval>, ok: Option<Interval>, judgement: &mut Judgement) {
    let Some(counted) = ok.or(calls) else { return };
    judgement.checked.push("calls / time");
    let expected = counted.over(elapsed_s);
    if throughput.agrees_with(expected, OF_ONE_RUN) {
        return;
    }
    let factor = expected.middle() / throughput.middle();
    let overflow = overflow_of(counted.middle()).filter(|overflow| (factor / overflow - 1.0).abs() <= OF_ONE_RUN);
    let requested = calls
        .filter(|calls| calls.is_above(counted, 0.0))
        .map(|calls| calls.over(elapsed_s));
    judgement.invalid.push(match (requested, overflow) {
        (Some(requested), _) if throughput.agrees_with(requested, OF_ONE_RUN) => {
            format!(
                "the throughput counts the calls that were asked for; those that succeeded are {}/s",
                grouped(expected.middle())
            )
        }
        (_, Some(overflow)) => format!(
            "calls / time = {}/s, ×{} of the throughput: calls × 1000 was kept in 32 bits",
            grouped(expected.middle()),
            three_digits(overflow)
        ),
        _ if factor < 1.0 => format!("calls / time = {}/s, less than the throughput", grouped(expected.middle())),
        _ => format!(
            "calls / time = {}/s, ×{} of the throughput",
            grouped(expected.middle()),
            three_digits(factor)
        ),
    });
}

#[cfg(test)]
mod tests {
    use bench_core::verdict::Verdict;

    use super::super::tests::{check, good};

    #[test]
    fn every_call_is_in_one_bucket() {
        check("calls,ok\n100,101\n", Verdict::Invalid, "ok is 101, more than the 100 calls");
        check("calls,ok,failed\n100000,99999,2\n", Verdict::Invalid, "ok + failed is 100,001");
        check("calls,failed\n100,101\n", Verdict::Invalid, "failed is 101");
        check("calls,ok,failed\n100,99,0\n", Verdict::Suspect, "1 of 100 calls are neither");
        good("calls,ok,failed\n100,100,0\n");
    }

    #[test]
    fn failed_calls_count_as_in_our_own_rows() {
        check("calls,ok\n10000,9995\n", Verdict::Suspect, "5 calls failed");
        check("calls,ok\n10000,9980\n", Verdict::Invalid, "20 calls failed, 0.2 % of all");
        check("ok,failed\n9980,20\n", Verdict::Invalid, "20 calls failed");
        check("TPS,ok,failed\n9980,99999,1\n", Verdict::Suspect, "1 calls failed");
    }

    #[test]
    fn no_reply_means_no_throughput() {
        check("TPS,ok\n68000,0\n", Verdict::Invalid, "68,000 calls/s, but no call succeeded");
        good("TPS,ok\n0,0\n");
    }

    #[test]
    fn the_throughput_is_what_succeeded_by_time() {
        good("TPS,ok,elapsed (s)\n10000,100000,10.0\n");
        check(
            "TPS,ok,elapsed (s)\n12000,100000,10.0\n",
            Verdict::Invalid,
            "less than the throughput",
        );
        check(
            "TPS,ok,elapsed (s)\n5000,100000,10.0\n",
            Verdict::Invalid,
            "×2.00 of the throughput",
        );
        check(
            "TPS,calls,ok,elapsed (s)\n10000,100000,50000,10.0\n",
            Verdict::Invalid,
            "counts the calls that were asked for; those that succeeded are 5,000/s",
        );
        check(
            "TPS,calls,failed,elapsed (s)\n10000,100000,50000,10.0\n",
            Verdict::Invalid,
            "counts the calls that were asked for",
        );
        // (5,000,000 × 1000 mod 2³²) / 50,000 ms.
        check(
            "TPS,n,elapsed (ms)\n14100,5000000,50000\n",
            Verdict::Invalid,
            "×7.09 of the throughput: calls × 1000 was kept in 32 bits",
        );
    }
}
