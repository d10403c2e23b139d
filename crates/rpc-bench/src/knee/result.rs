//! What came out of the searches and the curve of one arm.

use bench_core::record::{BoundBy, Record};
use bench_core::units::median;
use serde::Serialize;

use super::bounds::Bounds;
use super::limit::{Behaviour, at_limit};
use super::point::Point;
use super::search::{Answer, End, Found};
use super::{KneeSpec, SHARES};
use crate::sweep::cell::Cell;
use crate::trial::Arm;

/// One slice of a search.
#[derive(Clone, Debug, Serialize)]
pub struct Probe {
    /// Calls per second that were due.
    pub rate_per_s: f64,
    /// Whether it passed.
    #[serde(flatten)]
    pub answer: Answer,
    /// Why not.
    pub reason: Option<String>,
    /// The slice; null when it could not be measured.
    pub record: Option<Box<Record>>,
}

/// One search on a process pair of its own.
#[derive(Clone, Debug, Serialize)]
pub struct SearchRun {
    /// Repeat, from 0.
    pub round: u64,
    /// Calls per second of a closed loop of the same callers.
    pub saturated_per_s: Option<f64>,
    /// What came out; null when the stack could not be measured at all.
    pub found: Option<Found>,
    /// Why it could not.
    pub error: Option<String>,
    /// The slices, in their order.
    pub probes: Vec<Probe>,
    /// The closed loop.
    pub saturated: Option<Box<Record>>,
}

/// What the rates of a curve are shares of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The median knee.
    Knee,
    /// The median of the highest rates that passed: a search was left open.
    Passed,
    /// The median saturated throughput: no rate passed.
    Saturated,
}

/// The knee of one arm and what is around it.
#[derive(Clone, Debug, Serialize)]
pub struct Knee {
    /// Framework and wire.
    pub name: String,
    /// What was asked of both sides.
    pub cell: Cell,
    /// Median of the searches that found one, in calls per second; null when none did, or a search was left open.
    pub knee_per_s: Option<f64>,
    /// Least and greatest of them.
    pub knee_per_s_range: Option<(f64, f64)>,
    /// Medians of the searches' bounds; null when no search was left open.
    pub knee_bounds: Option<Bounds>,
    /// Median of knee / saturated throughput of the same search.
    pub of_saturated: Option<f64>,
    /// What bound the slices just above the knees, each answer once.
    pub bound_by: Vec<BoundBy>,
    /// What it does at 1.5 times the knee; empty when that rate was not measured, or there is no knee.
    pub at_limit: Vec<Behaviour>,
    /// The searches.
    pub searches: Vec<SearchRun>,
    /// What the curve's rates are shares of; null without a curve.
    pub curve_of: Option<Base>,
    /// Times and goodput at rates below and above the knee, the lowest first.
    pub curve: Vec<Point>,
}

impl SearchRun {
    pub(super) fn knee_per_s(&self) -> Option<f64> {
        self.found.filter(|found| found.end == End::Found)?.passed_per_s
    }

    /// True when a rate passed and what is above it was not narrowed down: the knee is there or anywhere above.
    fn is_left_open(&self) -> bool {
        (self.found).is_some_and(|found| found.passed_per_s.is_some() && found.end != End::Found)
    }

    /// The slice at the lowest rate that failed.
    fn above_the_knee(&self) -> Option<&Record> {
        let failed = self.found?.failed_per_s?;
        let at_it = |probe: &&Probe| probe.rate_per_s == failed && !probe.answer.passed;
        self.probes.iter().rfind(at_it)?.record.as_deref()
    }
}

impl Knee {
    pub(super) fn of(arm: &Arm, searches: Vec<SearchRun>) -> Self {
        // The median of those that found a knee says nothing where another search got as far and did not find it.
        let is_left_open = searches.iter().any(SearchRun::is_left_open);
        let found: &[SearchRun] = if is_left_open { &[] } else { &searches };
        let knees: Vec<f64> = found.iter().filter_map(SearchRun::knee_per_s).collect();
        let shares: Vec<f64> = (found.iter())
            .filter_map(|run| Some(run.knee_per_s()? / run.saturated_per_s?))
            .collect();
        let mut bound_by = Vec::new();
        for record in searches.iter().filter_map(SearchRun::above_the_knee) {
            if !bound_by.contains(&record.bound_by) {
                bound_by.push(record.bound_by);
            }
        }
        let saturated = searches.iter().any(|run| run.saturated_per_s.is_some());
        Self {
            name: arm.name.clone(),
            cell: arm.cell.clone(),
            knee_per_s: median(&knees),
            knee_per_s_range: knees.iter().copied().reduce(f64::min).zip(knees.iter().copied().reduce(f64::max)),
            knee_bounds: is_left_open.then(|| Bounds::of(&searches)).flatten(),
            of_saturated: median(&shares),
            bound_by,
            at_limit: Vec::new(),
            curve_of: match (is_left_open, knees.is_empty(), saturated) {
                (true, _, _) => Some(Base::Passed),
                (false, false, _) => Some(Base::Knee),
                (false, true, true) => Some(Base::Saturated),
                (false, true, false) => None,
            },
            searches,
            curve: Vec::new(),
        }
    }

    /// Shares and rates of the curve.
    pub(super) fn rates(&self, spec: &KneeSpec) -> Vec<(f64, f64)> {
        let base = match self.curve_of {
            Some(Base::Knee) => self.knee_per_s,
            Some(Base::Passed) => self.knee_bounds.map(|bounds| bounds.at_least_per_s),
            Some(Base::Saturated) => median(&self.saturated()),
            None => None,
        };
        let Some(base) = base else { return Vec::new() };
        let rates = SHARES.into_iter().map(|share| (share, share * base));
        rates.filter(|(_, rate)| *rate <= spec.rate_limit_per_s).collect()
    }

    /// Adds what was measured at its [rates](Self::rates).
    pub(super) fn add_curve(&mut self, curve: Vec<Point>, slo_ns: u64) {
        if self.curve_of == Some(Base::Knee) {
            self.at_limit = at_limit(&curve, slo_ns);
        }
        self.curve = curve;
    }

    fn saturated(&self) -> Vec<f64> {
        self.searches.iter().filter_map(|run| run.saturated_per_s).collect()
    }

    /// True when every search found a knee.
    pub fn is_whole(&self) -> bool {
        self.searches.iter().all(|run| run.knee_per_s().is_some())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::sweep::failed::tests::{example_cell, example_record};

    pub fn spec() -> KneeSpec {
        KneeSpec {
            slo_ns: 5_000_000,
            slice_ms: 1_000,
            repeats: 3,
            precision: 0.03,
            rate_limit_per_s: 13_000.0,
            seed: 1,
        }
    }

    fn arm() -> Arm {
        let stack = crate::discovery::Stack {
            framework: "tcp".to_owned(),
            library: String::new(),
            library_version: None,
            server: String::new(),
            client: String::new(),
        };
        let (server, client) = Default::default();
        Arm {
            name: "tcp tcp/protobuf".to_owned(),
            cell: example_cell(),
            programs: crate::programs::Programs { stack, server, client },
            environment: Vec::new(),
            server_flags: Vec::new(),
            client_flags: Vec::new(),
        }
    }

    pub fn run(passed: Option<f64>, saturated: Option<f64>) -> SearchRun {
        let mut record = example_record().record;
        record.bound_by = BoundBy::Client;
        let failed = passed.unwrap_or(100.0) * 1.02;
        SearchRun {
            round: 0,
            saturated_per_s: saturated,
            found: saturated.map(|_| Found {
                passed_per_s: passed,
                failed_per_s: Some(failed),
                end: passed.map_or(End::NonePassed, |_| End::Found),
            }),
            error: saturated.is_none().then(|| "no port is free".to_owned()),
            probes: vec![Probe {
                rate_per_s: failed,
                answer: Answer {
                    passed: false,
                    clear: false,
                },
                reason: Some("p99 6.00 ms".to_owned()),
                record: Some(Box::new(record)),
            }],
            saturated: None,
        }
    }

    /// A search that ended so, with these highest rate that passed and lowest that failed.
    pub fn run_to(end: End, passed: f64, failed: Option<f64>) -> SearchRun {
        let mut run = run(Some(passed), Some(20_000.0));
        run.found = Some(Found {
            passed_per_s: Some(passed),
            failed_per_s: failed,
            end,
        });
        run
    }

    pub fn knee(runs: Vec<SearchRun>) -> Knee {
        Knee::of(&arm(), runs)
    }

    #[test]
    fn the_knee_is_the_median_of_the_searches_with_its_range() {
        let runs = [(9_000.0, 10_000.0), (12_000.0, 15_000.0), (10_000.0, 20_000.0)];
        let knee = knee(runs.map(|(passed, saturated)| run(Some(passed), Some(saturated))).to_vec());
        assert_eq!(
            (knee.knee_per_s, knee.knee_per_s_range),
            (Some(10_000.0), Some((9_000.0, 12_000.0)))
        );
        assert_eq!((knee.of_saturated, knee.is_whole()), (Some(0.8), true));
        assert_eq!(knee.bound_by, [BoundBy::Client]);
    }

    #[test]
    fn what_is_beyond_the_knee_is_asked_only_of_a_curve_of_the_knee() {
        let point = |share| Point {
            share,
            broken: vec!["gone".to_owned()],
            ..Point::default()
        };
        let at_limit = |run: SearchRun| {
            let mut knee = knee(vec![run]);
            knee.add_curve(vec![point(1.0), point(1.5)], 5_000_000);
            knee.at_limit
        };
        assert_eq!(at_limit(run(Some(1_000.0), Some(2_000.0))), [Behaviour::Breaks]);
        assert_eq!(at_limit(run_to(End::ProbesUsed, 1_000.0, Some(2_000.0))), []);
        assert_eq!(at_limit(run(None, Some(2_000.0))), []);
    }

    #[test]
    fn a_curve_goes_to_one_and_a_half_times_the_knee_but_not_over_the_rate_limit() {
        let knee = knee(vec![run(Some(10_000.0), Some(12_000.0))]);
        let rates: Vec<f64> = knee.rates(&spec()).into_iter().map(|(_, rate)| rate).collect();
        assert_eq!(rates, [2_500.0, 5_000.0, 7_500.0, 9_000.0, 10_000.0, 11_000.0, 12_500.0]);
        let wide = KneeSpec {
            rate_limit_per_s: 1e6,
            ..spec()
        };
        assert_eq!(knee.rates(&wide).last(), Some(&(1.5, 15_000.0)));
    }

    #[test]
    fn where_no_rate_passed_the_curve_is_of_the_saturated_throughput() {
        let none = knee(vec![run(None, Some(8_000.0)), run(None, Some(6_000.0))]);
        assert_eq!(
            (none.knee_per_s, none.curve_of, none.is_whole()),
            (None, Some(Base::Saturated), false)
        );
        assert_eq!(none.rates(&spec()).first(), Some(&(0.25, 1_750.0)));
        let broken = knee(vec![run(None, None)]);
        assert_eq!((broken.curve_of, broken.rates(&spec())), (None, vec![]));
        // A search that found none takes nothing from those that did, but it is told.
        let mixed = knee(vec![run(Some(5_000.0), Some(8_000.0)), run(None, Some(8_000.0))]);
        assert_eq!((mixed.knee_per_s, mixed.is_whole()), (Some(5_000.0), false));
    }
}
