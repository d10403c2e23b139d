//! Times of many calls in bounded memory, and their summary in a record.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest time that a histogram tells apart, 60 s in nanoseconds. A longer one is counted there and as an overflow.
pub const MAX_TIME_NS: u64 = 60_000_000_000;
/// Significant digits of a recorded time: every quantile is right to 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Times in nanoseconds. 221 KB whatever the number of calls; one per client thread, merged after the run.
///
/// Least, greatest and mean are kept exactly, beside the buckets.
#[derive(Clone, Debug)]
pub struct Times {
    buckets: Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
    overflow: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self::new()
    }
}

impl Times {
    /// No times yet.
    #[allow(clippy::missing_panics_doc)]
    pub fn new() -> Self {
        Self {
            buckets: Histogram::new_with_bounds(1, MAX_TIME_NS, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that hdrhistogram takes"),
            min: u64::MAX,
            max: 0,
            sum: 0,
            overflow: 0,
        }
    }

    /// Adds one time in nanoseconds.
    #[inline]
    pub fn record(&mut self, time_ns: u64) {
        self.buckets.saturating_record(time_ns);
        self.min = self.min.min(time_ns);
        self.max = self.max.max(time_ns);
        self.sum += u128::from(time_ns);
        self.overflow += u64::from(time_ns > MAX_TIME_NS);
    }

    /// Adds all times of `other`.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same bounds, so this cannot fail.
        let _ = self.buckets.add(&other.buckets);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.overflow += other.overflow;
    }

    /// Forgets all times and keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.reset();
        (self.min, self.max, self.sum, self.overflow) = (u64::MAX, 0, 0, 0);
    }

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Sum of all times in nanoseconds, exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// The time in nanoseconds that `percent` of the times do not exceed: 50.0 is the median, 100.0 the greatest. `None` without times.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count() == 0 {
            return None;
        }
        if percent >= 100.0 {
            return Some(self.max);
        }
        // A bucket answers with its upper edge, which may lie beyond the greatest time or below the least one of a saturated bucket.
        Some(self.buckets.value_at_percentile(percent).clamp(self.min, self.max))
    }

    /// The summary for a record; `None` without times.
    pub fn summary(&self) -> Option<TimesSummary> {
        let p = |percent| self.percentile(percent);
        Some(TimesSummary {
            count: self.count(),
            min: p(0.0).map(|_| self.min)?,
            mean: self.sum as f64 / self.count() as f64,
            p50: p(50.0)?,
            p90: p(90.0)?,
            p99: p(99.0)?,
            p99_9: p(99.9)?,
            max: self.max,
            overflow: self.overflow,
            histogram_v2: self.export(),
        })
    }

    /// The HdrHistogram V2 form, deflated, in base64: other HdrHistogram libraries read it.
    fn export(&self) -> String {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail, and the histogram is far below the format's size limit.
        let _ = V2DeflateSerializer::new().serialize(&self.buckets, &mut bytes);
        BASE64.encode(bytes)
    }
}

/// Times of a run as a record holds them, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimesSummary {
    /// Number of times.
    pub count: u64,
    /// Least, exact.
    pub min: u64,
    /// Mean, exact.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Greatest, exact.
    pub max: u64,
    /// How many were longer than the 60 s that the histogram tells apart; they are counted at its end.
    #[serde(default)]
    pub overflow: u64,
    /// All times: HdrHistogram V2, deflated, base64.
    pub histogram_v2: String,
}

/// A summary whose histogram does not decode.
#[derive(Debug, thiserror::Error)]
#[error("the histogram of a record cannot be read: {0}")]
pub struct HistogramError(String);

impl TimesSummary {
    /// The times again, for merging runs: percentiles of several runs come from merged histograms, never from averages.
    ///
    /// # Errors
    /// When `histogram_v2` is not a histogram, or not of `count` times.
    pub fn times(&self) -> Result<Times, HistogramError> {
        let bytes = BASE64
            .decode(&self.histogram_v2)
            .map_err(|error| HistogramError(error.to_string()))?;
        let buckets: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError(error.to_string()))?;
        let mut times = Times::new();
        times.buckets.add(&buckets).map_err(|error| HistogramError(error.to_string()))?;
        if times.count() != self.count {
            return Err(HistogramError(format!(
                "it holds {} times, but the record says {}",
                times.count(),
                self.count
            )));
        }
        let in_order = self.min <= self.max && (self.min as f64..=self.max as f64).contains(&self.mean);
        if self.count > 0 && !(in_order && self.overflow <= self.count) {
            return Err(HistogramError("min, mean, max and overflow do not fit each other".to_owned()));
        }
        times.min = self.min;
        times.max = self.max;
        times.sum = (self.mean * self.count as f64).round() as u128;
        times.overflow = self.overflow;
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times_of(values: &[u64]) -> Times {
        let mut times = Times::new();
        for &value in values {
            times.record(value);
        }
        times
    }

    #[test]
    fn no_times_have_no_summary() {
        assert_eq!(Times::new().summary(), None);
        assert_eq!(Times::new().percentile(50.0), None);
    }

    #[test]
    fn percentiles_are_monotone_and_end_at_the_greatest_time() {
        let cases: [&[u64]; 5] = [
            &[123_457],
            &[5, 70_000_001],
            &[1, 2, 3, 4, 5, 6, 7, 1_000_003],
            &[u64::MAX],
            &[70_000_000_000, 80_000_000_000],
        ];
        for values in cases {
            let times = times_of(values);
            let summary = times.summary().unwrap();
            let ordered = [summary.min, summary.p50, summary.p90, summary.p99, summary.p99_9, summary.max];
            assert!(ordered.is_sorted(), "{values:?}: {ordered:?}");
            assert_eq!(summary.min, *values.iter().min().unwrap());
            assert_eq!(summary.max, *values.iter().max().unwrap());
            assert_eq!(times.percentile(100.0), Some(summary.max));
        }
    }

    #[test]
    fn a_call_of_70_seconds_is_counted_as_overflow_and_its_time_is_kept_as_the_greatest() {
        let summary = times_of(&[1_000, 70_000_000_000]).summary().unwrap();
        assert_eq!((summary.count, summary.overflow), (2, 1));
        assert_eq!(summary.max, 70_000_000_000);
    }

    #[test]
    fn quantiles_agree_with_sorting_to_three_digits() {
        let mut values: Vec<u64> = (1..=10_007u64).map(|i| i * i * 37 % 90_000_011 + 1).collect();
        let times = times_of(&values);
        values.sort_unstable();
        for percent in [1.0, 10.0, 50.0, 90.0, 99.0, 99.9] {
            let rank = ((percent / 100.0 * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64;
            let got = times.percentile(percent).unwrap() as f64;
            assert!((got / exact - 1.0).abs() <= 0.001, "p{percent}: {got} against {exact}");
        }
    }

    #[test]
    fn merged_summaries_equal_the_histogram_of_all_times() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((1..500).collect(), (400..90_000).step_by(7).collect());
        let mut merged = times_of(&a).summary().unwrap().times().unwrap();
        merged.merge(&times_of(&b).summary().unwrap().times().unwrap());
        let all = times_of(&[a, b].concat());
        assert_eq!(merged.summary(), all.summary());
    }

    #[test]
    fn a_damaged_histogram_is_refused() {
        let mut summary = times_of(&[1, 2, 3]).summary().unwrap();
        summary.count = 4;
        assert!(summary.times().unwrap_err().to_string().contains("holds 3 times"));
        summary.count = 3;
        (summary.min, summary.max) = (summary.max, summary.min);
        assert!(summary.times().unwrap_err().to_string().contains("do not fit"));
        summary.histogram_v2 = "no base64!".to_owned();
        assert!(summary.times().is_err());
    }
}
