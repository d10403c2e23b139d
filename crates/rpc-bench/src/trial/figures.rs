//! What one process pair came to over its slices: the unit of every comparison.

use anyhow::{Context, Result};
use bench_core::histogram::Times;
use bench_core::record::{ProcessUse, Record};
use bench_core::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// Figures of one process pair. `None` where there is no such figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Correct replies per second of the closed-loop slices.
    pub throughput_per_s: Option<f64>,
    /// Median service time of the closed-loop slices, in nanoseconds.
    pub p50_ns: Option<f64>,
    /// Their 99th percentile.
    pub p99_ns: Option<f64>,
    /// CPU of both sides per call in the closed-loop slices, in microseconds.
    pub cpu_us_per_call: Option<f64>,
    /// Median response time of the open-loop slices, in nanoseconds.
    pub response_p50_ns: Option<f64>,
    /// Their 99th percentile.
    pub response_p99_ns: Option<f64>,
    /// CPU of both sides per call in the open-loop slices, in microseconds.
    pub cpu_us_per_call_at_rate: Option<f64>,
    /// Peak resident memory of client and server together, in bytes.
    pub peak_rss_bytes: Option<f64>,
}

/// One of the [`Figures`]: its name, which way is better, and how it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// For tables.
    pub name: &'static str,
    /// True when more is better.
    pub more_is_better: bool,
    /// The figure.
    pub of: fn(&Figures) -> Option<f64>,
    /// In words.
    pub show: fn(f64) -> String,
}

/// All figures that are compared, in the order of the tables.
pub const MEASURES: [Measure; 8] = [
    Measure {
        name: "throughput/s",
        more_is_better: true,
        of: |figures| figures.throughput_per_s,
        show: bench_core::units::grouped,
    },
    Measure {
        name: "service time p50",
        more_is_better: false,
        of: |figures| figures.p50_ns,
        show: bench_core::units::time,
    },
    Measure {
        name: "service time p99",
        more_is_better: false,
        of: |figures| figures.p99_ns,
        show: bench_core::units::time,
    },
    Measure {
        name: "CPU µs/call",
        more_is_better: false,
        of: |figures| figures.cpu_us_per_call,
        show: bench_core::units::three_digits,
    },
    Measure {
        name: "response time p50 at the rate",
        more_is_better: false,
        of: |figures| figures.response_p50_ns,
        show: bench_core::units::time,
    },
    Measure {
        name: "response time p99 at the rate",
        more_is_better: false,
        of: |figures| figures.response_p99_ns,
        show: bench_core::units::time,
    },
    Measure {
        name: "CPU µs/call at the rate",
        more_is_better: false,
        of: |figures| figures.cpu_us_per_call_at_rate,
        show: bench_core::units::three_digits,
    },
    Measure {
        name: "peak RSS",
        more_is_better: false,
        of: |figures| figures.peak_rss_bytes,
        show: |bytes| bench_core::units::memory(bytes as u64),
    },
];

impl Measure {
    /// Of both sides of those pairs that have it.
    pub fn of_both<'a>(&self, pairs: impl Iterator<Item = (&'a Figures, &'a Figures)>) -> (Vec<f64>, Vec<f64>) {
        pairs.filter_map(|(one, other)| Some(((self.of)(one)?, (self.of)(other)?))).unzip()
    }
}

impl Figures {
    /// Of all slices of one process pair.
    ///
    /// # Errors
    /// When a histogram does not decode.
    pub fn of(slices: &[Record]) -> Result<Self> {
        let (open, closed): (Vec<&Record>, Vec<&Record>) = slices.iter().partition(|record| record.rate_per_s.is_some());
        // An INVALID slice has no figures; of a rate that was not carried those are of a queue, or of another rate.
        let closed = if closed.iter().any(|record| is_invalid(record)) {
            Vec::new()
        } else {
            closed
        };
        let open = if carried_the_rate(&open) { open } else { Vec::new() };
        let service = merged(&closed, |record| record.service_time_ns.as_ref())?;
        let response = merged(&open, |record| record.response_time_ns.as_ref())?;
        let percentile = |times: &Times, percent| times.percentile(percent).map(|ns| ns as f64);
        let ok: u64 = closed.iter().map(|record| record.calls.ok).sum();
        let elapsed: f64 = closed.iter().map(|record| record.elapsed_s).sum();
        Ok(Self {
            throughput_per_s: (ok > 0 && elapsed > 0.0).then(|| ok as f64 / elapsed),
            p50_ns: percentile(&service, 50.0),
            p99_ns: percentile(&service, 99.0),
            cpu_us_per_call: cpu_us_per_call(&closed),
            response_p50_ns: percentile(&response, 50.0),
            response_p99_ns: percentile(&response, 99.0),
            cpu_us_per_call_at_rate: cpu_us_per_call(&open),
            peak_rss_bytes: peak_rss(slices),
        })
    }
}

/// Share of the due calls of the open-loop slices that must have been made, as for the knee.
const CARRIED_SHARE: f64 = 0.99;

fn is_invalid(record: &Record) -> bool {
    record.verdict == Verdict::Invalid
}

fn carried_the_rate(open: &[&Record]) -> bool {
    let due: u64 = open.iter().map(|record| record.calls.due).sum();
    let unsent: u64 = open.iter().map(|record| record.calls.unsent + record.calls.dropped).sum();
    !open.iter().any(|record| is_invalid(record)) && unsent as f64 <= (1.0 - CARRIED_SHARE) * due as f64
}

/// The times of all records that have them.
pub(crate) fn merged<'a>(
    records: &[&'a Record],
    times: impl Fn(&'a Record) -> Option<&'a bench_core::histogram::TimesSummary>,
) -> Result<Times> {
    let mut all = Times::new();
    for summary in records.iter().filter_map(|record| times(record)) {
        all.merge(&summary.times().context("a slice")?);
    }
    Ok(all)
}

/// CPU of both sides per call in microseconds; each slice weighs as much as its calls.
pub(crate) fn cpu_us_per_call(records: &[&Record]) -> Option<f64> {
    let with_calls = || records.iter().map(|record| (record.cpu_us_per_call_sum, record.calls.ok as f64));
    let calls: f64 = with_calls().filter(|(cpu, _)| cpu.is_some()).map(|(_, calls)| calls).sum();
    let cpu: f64 = with_calls().filter_map(|(cpu, calls)| Some(cpu? * calls)).sum();
    (calls > 0.0).then(|| cpu / calls)
}

fn peak_rss(records: &[Record]) -> Option<f64> {
    let peak = |side: fn(&Record) -> &Option<ProcessUse>| {
        records
            .iter()
            .filter_map(|record| Some(side(record).as_ref()?.peak_rss_bytes))
            .max()
    };
    let (client, server) = (peak(|record| &record.client)?, peak(|record| &record.server)?);
    Some((client + server) as f64)
}
