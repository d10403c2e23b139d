//! Records of our own, judged again from the figures they hold.

use anyhow::Result;
use bench_core::histogram::TimesSummary;
use bench_core::record::{BoundBy, Record};
use bench_core::verdict::Verdict;
use std::path::Path;

use super::report::AuditedRow;
use crate::records::{self, SweepRecord};

/// Judges every record of a file, one a line.
///
/// # Errors
/// When the file cannot be read, or a line is no record: the text names it.
pub fn audit(path: &Path) -> Result<Vec<AuditedRow>> {
    let records = records::read(path)?;
    Ok((1..).zip(&records).map(|(number, record)| judge(number, record)).collect())
}

/// The record's own verdict must follow from its figures, and its percentiles from its histograms.
fn judge(number: u64, SweepRecord { record, .. }: &SweepRecord) -> AuditedRow {
    let mut fresh = record.clone();
    fresh.audit();
    let mut reasons = fresh.verdict_reasons.clone();
    let mut notes = Vec::new();
    let mut verdict = fresh.verdict.max(record.verdict);

    if fresh.verdict > record.verdict {
        reasons.push(format!("recorded as {}, which does not follow from its figures", record.verdict));
    } else if record.verdict > fresh.verdict {
        // What a client or a sweep saw beside the figures, or a rule that was stricter.
        reasons.extend(record.verdict_reasons.iter().map(|reason| format!("recorded: {reason}")));
    }
    if record.verdict == Verdict::Invalid && record.throughput_per_s.is_some() {
        reasons.push("recorded as INVALID, but with a throughput".to_owned());
    }
    for (name, times) in times(record) {
        if let Some(reason) = times.and_then(against_histogram) {
            verdict = Verdict::Invalid;
            reasons.push(format!("{name}: {reason}"));
        }
    }
    if record.bound_by != BoundBy::Unknown && record.bound_by != fresh.bound_by {
        notes.push(format!(
            "recorded as bound by {}, by its figures {}",
            record.bound_by, fresh.bound_by
        ));
    }
    AuditedRow {
        line: number,
        name: name(record),
        verdict: Some(verdict),
        reasons,
        notes,
        checked: vec!["record", "histograms"],
    }
}

fn name(record: &Record) -> String {
    let delay = record.delay_requested_ms.map_or(String::new(), |delay| format!(" {delay} ms"));
    let round = record.round.map_or(String::new(), |round| format!(" round {}", round + 1));
    let connections = if record.connections < record.concurrency {
        format!(" over {}", record.connections)
    } else {
        String::new()
    };
    format!(
        "{} {} {}{delay} c={}{connections}{round}",
        record.framework, record.wire, record.lane, record.concurrency
    )
}

fn times(record: &Record) -> [(&'static str, Option<&TimesSummary>); 5] {
    [
        ("service time", record.service_time_ns.as_ref()),
        ("response time", record.response_time_ns.as_ref()),
        ("send lag", record.send_lag_ns.as_ref()),
        ("pacer lag", record.pacer_lag_ns.as_ref()),
        ("failed time", record.failed_time_ns.as_ref()),
    ]
}

/// What the histogram says otherwise; `None` when nothing.
fn against_histogram(summary: &TimesSummary) -> Option<String> {
    let again = match summary.times() {
        Ok(times) => times.summary()?,
        Err(error) => return Some(error.to_string()),
    };
    let percentiles = |summary: &TimesSummary| {
        [
            ("p50", summary.p50),
            ("p90", summary.p90),
            ("p99", summary.p99),
            ("p99.9", summary.p99_9),
        ]
    };
    let mut differing = percentiles(summary)
        .into_iter()
        .zip(percentiles(&again))
        .filter(|((_, recorded), (_, made))| recorded != made);
    let ((name, recorded), (_, made)) = differing.next()?;
    Some(format!("{name} is {recorded} ns, but its histogram says {made} ns"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::failed::tests::{example_record, failed_record};

    fn judged(change: impl FnOnce(&mut Record)) -> AuditedRow {
        let mut example = example_record();
        change(&mut example.record);
        judge(1, &example)
    }

    #[track_caller]
    fn check(row: &AuditedRow, verdict: Verdict, words: &str) {
        assert_eq!(row.verdict, Some(verdict), "{row:?}");
        assert!(
            row.reasons.iter().any(|reason| reason.contains(words)),
            "no '{words}' in {:?}",
            row.reasons
        );
    }

    #[test]
    fn a_good_record_stays_good_and_a_failed_one_failed() {
        let row = judged(|_| {});
        assert_eq!((row.verdict, row.reasons), (Some(Verdict::Valid), vec![]));
        check(&judge(1, &failed_record()), Verdict::Invalid, "the server did not start");
    }

    #[test]
    fn a_verdict_that_does_not_follow_is_reported() {
        let row = judged(|record| record.calls.due += 1);
        check(&row, Verdict::Invalid, "the calls do not add up");
        check(&row, Verdict::Invalid, "recorded as VALID, which does not follow");
        check(
            &judged(|record| record.partial = true),
            Verdict::Suspect,
            "recorded as VALID, which does not follow",
        );
        let doubted = judged(|record| record.doubt("the server ended badly".to_owned()));
        check(&doubted, Verdict::Suspect, "recorded: the server ended badly");
        check(
            &judged(|record| record.verdict = Verdict::Invalid),
            Verdict::Invalid,
            "but with a throughput",
        );
    }

    #[test]
    fn percentiles_must_be_those_of_the_histogram() {
        let percentile = judged(|record| record.service_time_ns.as_mut().unwrap().p99 -= 100_000);
        check(&percentile, Verdict::Invalid, "service time: p99 is");
        let broken = judged(|record| record.service_time_ns.as_mut().unwrap().histogram_v2.clear());
        check(&broken, Verdict::Invalid, "cannot be read");
    }
}
