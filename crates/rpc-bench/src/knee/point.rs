//! One offered rate of the curve: the slices of all repeats merged.

use anyhow::Result;
use bench_core::record::{BoundBy, Calls, Record};
use serde::Serialize;

use super::judge::{overdue, percentile_with_overdue};
use crate::trial::figures::{cpu_us_per_call, merged};

/// What became of the calls at one rate. Null where there is no such figure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Point {
    /// The rate as a share of the knee, or of the saturated throughput where no rate passed.
    pub share: f64,
    /// Calls per second that were due.
    pub rate_per_s: f64,
    /// Length of all slices together, in seconds.
    pub elapsed_s: f64,
    /// What became of them, all slices together.
    pub calls: Calls,
    /// Correct replies per second.
    pub goodput_per_s: Option<f64>,
    /// Calls that were made, as a share of those that were due, 0 to 1.
    pub sent_share: Option<f64>,
    /// Median response time in nanoseconds; calls without a reply in time count as slower than every reply; null when it is one of those.
    pub response_p50_ns: Option<u64>,
    /// 99th percentile, likewise.
    pub response_p99_ns: Option<u64>,
    /// The slowest reply.
    pub response_max_ns: Option<u64>,
    /// How long the oldest call without a reply had been due at the end of its slice.
    pub oldest_unanswered_ms: Option<f64>,
    /// CPU of both sides per call, in microseconds.
    pub cpu_us_per_call: Option<f64>,
    /// What bound the slices, each answer once.
    pub bound_by: Vec<BoundBy>,
    /// Slices that could not be measured, and why.
    pub broken: Vec<String>,
    /// The slices.
    pub records: Vec<Record>,
}

impl Point {
    /// Merges the slices at one rate.
    ///
    /// # Errors
    /// When a histogram does not decode.
    pub fn of(share: f64, rate_per_s: f64, records: Vec<Record>, broken: Vec<String>, slo_ns: u64) -> Result<Self> {
        let slices: Vec<&Record> = records.iter().collect();
        let times = merged(&slices, |record| record.response_time_ns.as_ref())?;
        let calls = records.iter().fold(Calls::default(), |sum, record| added(sum, &record.calls));
        let late: u64 = records.iter().map(|record| overdue(record, slo_ns)).sum();
        let elapsed_s: f64 = records.iter().map(|record| record.elapsed_s).sum();
        let mut bound_by = Vec::new();
        for record in &records {
            if !bound_by.contains(&record.bound_by) {
                bound_by.push(record.bound_by);
            }
        }
        Ok(Self {
            share,
            rate_per_s,
            elapsed_s,
            goodput_per_s: (elapsed_s > 0.0).then(|| calls.ok as f64 / elapsed_s),
            sent_share: (calls.due > 0).then(|| calls.due.saturating_sub(calls.unsent) as f64 / calls.due as f64),
            response_p50_ns: percentile_with_overdue(&times, late, 50.0),
            response_p99_ns: percentile_with_overdue(&times, late, 99.0),
            response_max_ns: times.percentile(100.0),
            oldest_unanswered_ms: records.iter().filter_map(|record| record.oldest_unanswered_ms).reduce(f64::max),
            cpu_us_per_call: cpu_us_per_call(&slices),
            bound_by,
            broken,
            calls,
            records,
        })
    }

    /// Calls without an end: not made, or under way when the slice ended.
    pub fn unanswered(&self) -> u64 {
        self.calls.unsent + self.calls.in_flight
    }
}

fn added(mut sum: Calls, more: &Calls) -> Calls {
    sum.due += more.due;
    sum.ok += more.ok;
    sum.dropped += more.dropped;
    sum.unsent += more.unsent;
    sum.in_flight += more.in_flight;
    for (kind, count) in &more.failed {
        *sum.failed.entry(*kind).or_default() += count;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::judge::tests::slice;
    use super::*;
    use bench_core::failure::FailureKind;

    #[test]
    fn the_slices_of_a_rate_are_one_point_with_the_percentiles_of_all_their_times() {
        let mut first = slice(1..=1_000);
        let mut second = slice(1_001..=2_000);
        first.calls.unsent = 5;
        first.calls.due += 5;
        first.oldest_unanswered_ms = Some(1.0);
        second.elapsed_s = 3.0;
        second.calls.failed.insert(FailureKind::Limit, 7);
        second.calls.due += 7;
        let point = Point::of(0.5, 900.0, vec![first, second], vec!["gone".to_owned()], 5_000_000).unwrap();
        assert!(point.calls.adds_up(), "{:?}", point.calls);
        assert_eq!((point.calls.due, point.calls.ok, point.calls.failed_total()), (2_012, 2_000, 7));
        assert_eq!((point.elapsed_s, point.goodput_per_s, point.unanswered()), (4.0, Some(500.0), 5));
        assert!((point.sent_share.unwrap() - 2_007.0 / 2_012.0).abs() < 1e-12);
        let p99 = point.response_p99_ns.unwrap() as f64;
        assert!((p99 / 1_980_000.0 - 1.0).abs() < 0.002, "{p99}");
        assert_eq!(point.response_max_ns, Some(2_000_000));
        assert_eq!(point.oldest_unanswered_ms, Some(1.0));
        assert_eq!(point.cpu_us_per_call, Some(23.5));
    }

    #[test]
    fn where_over_one_percent_is_overdue_no_reply_is_the_99th_percentile() {
        let mut late = slice([10; 1000]);
        late.calls.unsent = 100;
        late.calls.due += 100;
        late.oldest_unanswered_ms = Some(90.0);
        let point = Point::of(1.5, 1100.0, vec![late], Vec::new(), 5_000_000).unwrap();
        assert_eq!((point.response_p50_ns.is_some(), point.response_p99_ns), (true, None));
    }

    #[test]
    fn a_point_of_broken_slices_has_no_figures() {
        let point = Point::of(1.5, 1100.0, Vec::new(), vec!["ended".to_owned()], 5_000_000).unwrap();
        assert_eq!((point.goodput_per_s, point.sent_share, point.response_p99_ns), (None, None, None));
    }
}
