//! The knee: the highest rate of an open loop at which the p99 response time stays under a limit, and what happens around it.
//!
//! ```text
//! saturated throughput ──▶ search (search.rs) over slices (pair.rs, judge.rs) ──▶ median of the repeats ──▶ curve (point.rs)
//!                                                                                                           ──▶ limit.rs
//! ```
//!
//! A repeat is a fresh process pair of every arm, in a shuffled order: a process has its own luck, and the machine drifts.

pub mod bounds;
mod curve;
pub mod judge;
pub mod limit;
mod pair;
pub mod point;
pub mod report;
pub mod result;
mod run;
pub mod search;

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::interrupt::Interrupt;
use crate::sweep::plan::shuffle;
use crate::trial::Arm;
use result::{Knee, SearchRun};

/// Share of the knee at which a stack shows what it does under more load than it can carry.
pub const BEYOND: f64 = 1.5;
/// Shares of the knee at which the curve is measured.
pub const SHARES: [f64; 8] = [0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, BEYOND];
/// A search ends after so many slices: about a dozen is usual.
pub const MOST_PROBES: u32 = 16;
/// Calls that a slice must have at least, so that there is a 99th percentile.
pub const LEAST_CALLS: f64 = 100.0;
/// Start, ready line, connecting and stopping of a pair, roughly.
const PAIR_OVERHEAD: Duration = Duration::from_millis(900);
/// What a slice takes beyond its length and a tenth of it for warming up, roughly.
const SLICE_OVERHEAD: Duration = Duration::from_millis(100);
/// Slices of a usual search, the saturated one included.
const USUAL_PROBES: u32 = 13;

/// What to measure.
#[derive(Clone, Debug, Serialize)]
pub struct KneeSpec {
    /// Limit of the p99 response time, in nanoseconds.
    pub slo_ns: u64,
    /// Length of a slice in milliseconds.
    pub slice_ms: u64,
    /// Searches of each arm, and slices at each rate of its curve; at least 1.
    pub repeats: u64,
    /// How far the lowest rate that failed may be above the highest that passed, as a share of the latter.
    pub precision: f64,
    /// No higher rate is tried, in calls per second.
    pub rate_limit_per_s: f64,
    /// Seed of the orders and the arrivals.
    pub seed: u64,
}

/// Searches all arms in interleaved repeats, then measures their curves. When somebody asks to stop, the searches and the slices of curves
/// that were finished are the result.
///
/// # Errors
/// When the system does not tell how a process ended, or a histogram does not decode. An arm that cannot be measured is part of the result.
pub fn measure(spec: &KneeSpec, arms: &[Arm], interrupt: &Interrupt, tell: impl Fn(&str)) -> Result<Vec<Knee>> {
    let searches = searches(spec, arms, interrupt, &tell)?;
    let mut knees: Vec<Knee> = (arms.iter().zip(searches)).map(|(arm, runs)| Knee::of(arm, runs)).collect();
    if !interrupt.requested() {
        curves(spec, arms, &mut knees, interrupt, &tell)?;
    }
    Ok(knees)
}

fn searches(spec: &KneeSpec, arms: &[Arm], interrupt: &Interrupt, tell: &impl Fn(&str)) -> Result<Vec<Vec<SearchRun>>> {
    let mut searches: Vec<Vec<SearchRun>> = arms.iter().map(|_| Vec::new()).collect();
    'rounds: for round in 0..spec.repeats {
        for (arm, runs) in in_new_order(arms, &mut searches, seed_of(spec, round)) {
            let Some(run) = run::search(spec, arm, round, interrupt)? else {
                break 'rounds;
            };
            tell(&format!("search {}/{}: {}: {}", round + 1, spec.repeats, arm.name, run.in_words()));
            runs.push(run);
        }
    }
    Ok(searches)
}

fn curves(spec: &KneeSpec, arms: &[Arm], knees: &mut [Knee], interrupt: &Interrupt, tell: &impl Fn(&str)) -> Result<()> {
    let mut slices: Vec<run::Slices> = knees.iter().map(|knee| run::Slices::new(knee.rates(spec))).collect();
    'rounds: for round in 0..spec.repeats {
        for (arm, slices) in in_new_order(arms, &mut slices, seed_of(spec, spec.repeats + round)) {
            if slices.is_empty() {
                continue;
            }
            tell(&format!("curve {}/{}: {}", round + 1, spec.repeats, arm.name));
            if run::curve(spec, arm, slices, seed_of(spec, spec.repeats + round), interrupt)?.is_none() {
                break 'rounds;
            }
        }
    }
    for (knee, slices) in knees.iter_mut().zip(slices) {
        knee.add_curve(slices.points(spec.slo_ns)?, spec.slo_ns);
    }
    Ok(())
}

/// How long it takes, roughly.
pub fn estimate(spec: &KneeSpec, arms: usize) -> Duration {
    let slice = Duration::from_millis(spec.slice_ms).mul_f64(1.1) + SLICE_OVERHEAD;
    let slices = USUAL_PROBES + SHARES.len() as u32;
    (2 * PAIR_OVERHEAD + slices * slice).mul_f64(arms as f64 * spec.repeats as f64)
}

fn in_new_order<'a, T>(arms: &'a [Arm], with: &'a mut [T], seed: u64) -> Vec<(&'a Arm, &'a mut T)> {
    let mut order: Vec<(&Arm, &mut T)> = arms.iter().zip(with).collect();
    shuffle(&mut order, seed);
    order
}

/// Far enough apart for the seeds of all slices of a round.
fn seed_of(spec: &KneeSpec, round: u64) -> u64 {
    spec.seed.wrapping_add(round.wrapping_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::result::tests::spec;
    use super::*;

    #[test]
    fn the_estimate_grows_with_arms_repeats_and_slices() {
        let one = estimate(&spec(), 1);
        assert!((Duration::from_secs(60)..Duration::from_secs(120)).contains(&one), "{one:?}");
        assert_eq!(estimate(&spec(), 6), one * 6);
    }
}
