//! A search and a curve on the processes of one arm.

use anyhow::Result;
use bench_core::record::Record;
use bench_core::units::grouped;

use super::bounds::Bounds;
use super::judge::judge;
use super::pair::{Measured, Pair};
use super::point::Point;
use super::result::{Probe, SearchRun};
use super::search::{self, Answer, End, Limits};
use super::{KneeSpec, LEAST_CALLS, MOST_PROBES, seed_of};
use crate::interrupt::Interrupt;
use crate::sweep::plan::shuffle;
use crate::trial::{Arm, Slice};

/// First guess, as a share of the saturated throughput.
const GUESS: f64 = 0.8;

/// One search on a fresh pair; `None` when somebody asked to stop.
pub(super) fn search(spec: &KneeSpec, arm: &Arm, round: u64, interrupt: &Interrupt) -> Result<Option<SearchRun>> {
    let mut pair = Pair::new(arm, seed_of(spec, round), interrupt);
    let mut run = SearchRun {
        round,
        saturated_per_s: None,
        found: None,
        error: None,
        probes: Vec::new(),
        saturated: None,
    };
    let slice = |rate_per_s| Slice {
        ms: spec.slice_ms,
        rate_per_s,
    };
    let saturated = match pair.measure(slice(None)) {
        Measured::Ran(record) => record,
        Measured::Broke(error) => {
            run.error = Some(error);
            return Ok(Some(run));
        }
        Measured::Interrupted => return Ok(None),
    };
    // Also of a record that has no throughput for its failed calls: where to begin is all that hangs on it.
    let per_s = (saturated.elapsed_s > 0.0).then(|| saturated.calls.ok as f64 / saturated.elapsed_s);
    run.saturated_per_s = per_s;
    run.saturated = Some(saturated);

    let limits = Limits {
        start: GUESS * per_s.unwrap_or_default(),
        least: LEAST_CALLS * 1e3 / spec.slice_ms as f64,
        most: spec.rate_limit_per_s,
        precision: spec.precision,
        most_probes: MOST_PROBES,
    };
    let found = search::search(&limits, |rate_per_s| {
        let (answer, reason, record) = match pair.measure(slice(Some(rate_per_s))) {
            Measured::Ran(record) => {
                let (answer, reason) = judge(&record, spec.slo_ns);
                (answer, reason, Some(record))
            }
            // The rate that breaks a stack is too high for it.
            Measured::Broke(error) => {
                let too_high = Answer {
                    passed: false,
                    clear: true,
                };
                (too_high, Some(error), None)
            }
            Measured::Interrupted => return None,
        };
        run.probes.push(Probe {
            rate_per_s,
            answer,
            reason,
            record,
        });
        Some(answer)
    });
    let Some(found) = found else { return Ok(None) };
    run.found = Some(found);
    pair.stop()?;
    Ok(Some(run))
}

impl SearchRun {
    /// For a progress line.
    pub(super) fn in_words(&self) -> String {
        let slices = self.probes.len();
        let Some(found) = self.found else {
            return format!("not measured: {}", self.error.as_deref().unwrap_or_default());
        };
        let last = self
            .probes
            .iter()
            .rev()
            .find_map(|probe| probe.reason.as_deref())
            .unwrap_or_default();
        match (found.end, found.passed_per_s) {
            (_, None) => format!("no rate passed, in {slices} slices ({last})"),
            (End::Found, Some(passed)) => format!("{} calls/s, in {slices} slices", grouped(passed)),
            (End::RateLimit, Some(passed)) => format!("≥ {} calls/s: the highest rate that may be tried passed", grouped(passed)),
            (_, Some(at_least_per_s)) => {
                let below_per_s = found.failed_per_s;
                let bounds = Bounds {
                    at_least_per_s,
                    below_per_s,
                };
                format!("{bounds} calls/s: {slices} slices did not narrow it further")
            }
        }
    }
}

/// The slices of a curve, rate by rate.
pub(super) struct Slices(Vec<OfRate>);

struct OfRate {
    share: f64,
    rate_per_s: f64,
    records: Vec<Record>,
    broken: Vec<String>,
}

impl Slices {
    /// None so far at these shares and rates.
    pub(super) fn new(rates: Vec<(f64, f64)>) -> Self {
        let of_rate = |(share, rate_per_s)| OfRate {
            share,
            rate_per_s,
            records: Vec::new(),
            broken: Vec::new(),
        };
        Self(rates.into_iter().map(of_rate).collect())
    }

    /// True for an arm whose curve nothing is known to begin with.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The curve, without the rates that no slice came to before somebody asked to stop.
    ///
    /// # Errors
    /// When a histogram does not decode.
    pub(super) fn points(self, slo_ns: u64) -> Result<Vec<Point>> {
        let was_tried = |of: &OfRate| !of.records.is_empty() || !of.broken.is_empty();
        let point = |of: OfRate| Point::of(of.share, of.rate_per_s, of.records, of.broken, slo_ns);
        self.0.into_iter().filter(was_tried).map(point).collect()
    }
}

/// One more slice at every rate, on a fresh pair, in a shuffled order: what an overload leaves behind hits all rates alike. `None` when
/// somebody asked to stop.
pub(super) fn curve(spec: &KneeSpec, arm: &Arm, slices: &mut Slices, seed: u64, interrupt: &Interrupt) -> Result<Option<()>> {
    let mut pair = Pair::new(arm, seed, interrupt);
    let mut order: Vec<&mut OfRate> = slices.0.iter_mut().collect();
    shuffle(&mut order, seed);
    for of_rate in order {
        let slice = Slice {
            ms: spec.slice_ms,
            rate_per_s: Some(of_rate.rate_per_s),
        };
        match pair.measure(slice) {
            Measured::Ran(record) => of_rate.records.push(*record),
            Measured::Broke(error) => of_rate.broken.push(error),
            Measured::Interrupted => return Ok(None),
        }
    }
    pair.stop()?;
    Ok(Some(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_no_slice_came_to_are_not_in_the_curve() {
        let mut slices = Slices::new(vec![(0.5, 500.0), (1.0, 1_000.0)]);
        slices.0[1].broken.push("gone".to_owned());
        let shares: Vec<f64> = slices.points(5_000_000).unwrap().iter().map(|point| point.share).collect();
        assert_eq!(shares, [1.0]);
    }
}
