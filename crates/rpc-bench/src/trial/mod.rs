//! Interleaved trials: in each round every arm has fresh processes, which stay connected and are measured slice by slice in turn, so that
//! the machine's drift hits all arms alike.

pub mod arm;
pub mod arms;
pub mod choice;
pub mod figures;
pub mod held;
pub mod precision;
pub mod repeat;
pub mod rounds_file;

use anyhow::{Context, Result};
use bench_core::record::Record;

pub use arm::Arm;
pub use arms::{Chosen, USUAL_POOL, build_and_choose, over_the_usual_pool};
pub use choice::{Choice, flagship};
pub use figures::{Figures, MEASURES, Measure};
pub use held::{Held, Slice};
pub use precision::NotReached;
pub use repeat::{Repeated, Repeats, Taken};
pub use rounds_file::{RoundsFile, RoundsOf};

use crate::interrupt::Interrupt;
use crate::sweep::plan::shuffle;

/// Framework to which the others' figures are ratios.
pub const CONTROL: &str = "tcp";

/// Runs one round: starts every arm, measures each of the slices on all of them, in a new order every time, and ends them. The result has
/// the records of each arm, slice by slice; `None` when somebody asked to stop.
///
/// # Errors
/// When an arm cannot be measured: the text names it.
pub fn round(arms: &[Arm], slices: &[Slice], seed: u64, interrupt: &Interrupt) -> Result<Option<Vec<Vec<Record>>>> {
    let mut held: Vec<Option<Held>> = arms.iter().map(|_| None).collect();
    for place in shuffled(arms.len(), seed) {
        let started = Held::start(&arms[place], seed, interrupt).with_context(|| arms[place].name.clone())?;
        let Some(pair) = started else { return Ok(None) };
        held[place] = Some(pair);
    }
    let mut records: Vec<Vec<Record>> = arms.iter().map(|_| Vec::new()).collect();
    for (number, &slice) in slices.iter().enumerate() {
        for place in shuffled(arms.len(), seed.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64 + 1)) {
            let Some(pair) = &mut held[place] else { continue };
            let arm = &arms[place];
            let Some(record) = pair.measure(arm, slice, interrupt).with_context(|| arm.name.clone())? else {
                return Ok(None);
            };
            records[place].push(record);
        }
    }
    for pair in held.into_iter().flatten() {
        pair.stop()?;
    }
    Ok(Some(records))
}

/// A measure of one arm and of another, of the rounds that have both.
pub fn both(rounds: &[Vec<Taken>], measure: Measure, arm: usize, other: usize) -> (Vec<f64>, Vec<f64>) {
    measure.of_both(
        rounds
            .iter()
            .filter_map(|round| Some((&round.get(arm)?.figures, &round.get(other)?.figures))),
    )
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    shuffle(&mut places, seed);
    places
}
