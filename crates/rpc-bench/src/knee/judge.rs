//! Whether one slice kept its rate.

use bench_core::histogram::Times;
use bench_core::record::Record;
use bench_core::verdict::Verdict;

use super::search::Answer;

/// Share of the due calls that must have been made.
const LEAST_SENT: f64 = 0.99;
/// Share of failed calls above which a slice does not pass; that of an INVALID record.
pub(super) const MOST_FAILED: f64 = 0.001;
/// A p99 under this share of the limit is no close call.
const CLEARLY_UNDER: f64 = 0.5;
/// A client that could make only so many of its calls was not just disturbed for a moment.
const CLEARLY_NOT_SENT: f64 = 0.9;

/// Judges one slice of an open loop; with the reason when it does not pass.
pub fn judge(record: &Record, slo_ns: u64) -> (Answer, Option<String>) {
    let calls = &record.calls;
    let sent = share(calls.due.saturating_sub(calls.unsent), calls.due);
    let failed = share(calls.failed_total(), calls.ok + calls.failed_total());
    let p99 = p99_of(record, slo_ns);
    let reason = if sent < LEAST_SENT {
        Some(format!("only {} of the due calls were made", bench_core::units::percent(sent)))
    } else if failed > MOST_FAILED {
        Some(format!("{} of the calls failed", bench_core::units::percent(failed)))
    } else if record.verdict == Verdict::Invalid {
        Some(format!("INVALID: {}", record.verdict_reasons.join("; ")))
    } else {
        match p99 {
            Some(ns) if ns < slo_ns => None,
            Some(ns) => Some(format!("p99 {}", bench_core::units::time(ns as f64))),
            None => Some("over 1 % of the calls were overdue at the end".to_owned()),
        }
    };
    let answer = match reason {
        None => Answer {
            passed: true,
            clear: p99.is_some_and(|ns| (ns as f64) < CLEARLY_UNDER * slo_ns as f64),
        },
        Some(_) => Answer {
            passed: false,
            clear: sent < CLEARLY_NOT_SENT,
        },
    };
    (answer, reason)
}

fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

fn p99_of(record: &Record, slo_ns: u64) -> Option<u64> {
    // Of the record's own histogram: one that cannot be read would say nothing.
    let times = record.response_time_ns.as_ref()?.times().ok()?;
    percentile_with_overdue(&times, overdue(record, slo_ns), 99.0)
}

/// Calls without a reply at the end of the slice, if the oldest of them has missed the limit: how many of them have is not known, so all
/// are taken for slower than every reply. Without this the p99 of an overloaded slice would be that of the calls that were lucky.
pub fn overdue(record: &Record, slo_ns: u64) -> u64 {
    let waited_ns = record.oldest_unanswered_ms.unwrap_or(0.0) * 1e6;
    match waited_ns >= slo_ns as f64 {
        true => record.calls.in_flight + record.calls.unsent,
        false => 0,
    }
}

/// A percentile of the replies and of so many calls that were slower than all of them; `None` when it is one of those.
pub fn percentile_with_overdue(times: &Times, overdue: u64, percent: f64) -> Option<u64> {
    let of_replies = percent * (times.count() + overdue) as f64 / times.count().max(1) as f64;
    times.percentile(of_replies).filter(|_| of_replies <= 100.0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use bench_core::failure::FailureKind;
    use bench_core::record::Calls;

    use crate::sweep::failed::tests::example_record;

    const SLO_NS: u64 = 5_000_000;

    /// A slice whose replies took this long, in microseconds.
    pub fn slice(times_us: impl IntoIterator<Item = u64>) -> Record {
        let mut times = Times::new();
        times_us.into_iter().for_each(|us| times.record(us * 1000));
        let mut record = example_record().record;
        (record.verdict, record.error) = (Verdict::Valid, None);
        record.rate_per_s = Some(1000.0);
        record.calls = Calls {
            due: times.count(),
            ok: times.count(),
            ..Calls::default()
        };
        record.response_time_ns = times.summary();
        record
    }

    fn judged(change: impl FnOnce(&mut Record), times_us: impl IntoIterator<Item = u64>) -> (Answer, String) {
        let mut record = slice(times_us);
        change(&mut record);
        assert!(record.calls.adds_up(), "{:?}", record.calls);
        let (answer, reason) = judge(&record, SLO_NS);
        (answer, reason.unwrap_or_default())
    }

    #[track_caller]
    fn check(judged: (Answer, String), passed: bool, clear: bool, part: &str) {
        assert_eq!(judged.0, Answer { passed, clear }, "{}", judged.1);
        assert!(judged.1.contains(part), "{}", judged.1);
        assert_eq!(judged.1.is_empty(), passed);
    }

    #[test]
    fn the_p99_response_time_decides() {
        let none = |_: &mut Record| ();
        check(judged(none, 1..=2_000), true, true, "");
        check(judged(none, 1..=4_900), true, false, "");
        check(judged(none, 1..=9_000), false, false, "p99 8.9");
        // One in a hundred may be as slow as it likes.
        check(judged(none, (1..=99).chain([50_000])), true, true, "");
        check(judged(none, (1..=97).chain([50_000; 3])), false, false, "p99 50.0 ms");
    }

    #[test]
    fn a_slice_that_did_not_make_its_calls_or_had_failures_does_not_pass() {
        let unsent = |number| {
            move |record: &mut Record| {
                record.calls.unsent = number;
                record.calls.due += number;
            }
        };
        check(judged(unsent(9), [10; 1000]), true, true, "");
        check(judged(unsent(20), [10; 1000]), false, false, "98.0 % of the due calls were made");
        check(judged(unsent(1000), [10; 1000]), false, true, "50.0 %");
        let failed = |number| {
            move |record: &mut Record| {
                record.calls.failed.insert(FailureKind::Limit, number);
                record.calls.due += number;
            }
        };
        check(judged(failed(1), [10; 1000]), true, true, "");
        check(judged(failed(2), [10; 1000]), false, false, "0.2 % of the calls failed");
        let invalid = |record: &mut Record| {
            record.verdict = Verdict::Invalid;
            record.verdict_reasons.push("one wrong reply".to_owned());
        };
        check(judged(invalid, [10; 1000]), false, false, "one wrong reply");
    }

    #[test]
    fn calls_that_are_overdue_at_the_end_count_as_slower_than_every_reply() {
        let in_flight = |number, oldest_ms| {
            move |record: &mut Record| {
                record.calls.in_flight = number;
                record.calls.due += number;
                record.oldest_unanswered_ms = Some(oldest_ms);
            }
        };
        // Not yet late: they say nothing.
        check(judged(in_flight(100, 4.9), [10; 1000]), true, true, "");
        check(judged(in_flight(100, 5.0), [10; 1000]), false, false, "overdue");
        check(judged(in_flight(5, 5.0), [10; 1000]), true, true, "");
    }

    #[test]
    fn a_slice_without_a_reply_does_not_pass() {
        let silent = |record: &mut Record| {
            record.calls.in_flight = 10;
            record.calls.due = 10;
            record.oldest_unanswered_ms = Some(900.0);
            record.verdict = Verdict::Invalid;
            record.verdict_reasons.push("no call succeeded".to_owned());
        };
        check(judged(silent, []), false, false, "no call succeeded");
    }

    #[test]
    fn percentiles_count_what_is_overdue() {
        let mut times = Times::new();
        (1..=98).for_each(|ns| times.record(ns));
        assert_eq!(percentile_with_overdue(&times, 0, 50.0), Some(49));
        assert_eq!(percentile_with_overdue(&times, 98, 50.0), Some(98));
        assert_eq!(percentile_with_overdue(&times, 1, 99.0), None);
        assert_eq!(percentile_with_overdue(&times, 100, 50.0), None);
        assert_eq!(percentile_with_overdue(&Times::new(), 0, 50.0), None);
    }
}
