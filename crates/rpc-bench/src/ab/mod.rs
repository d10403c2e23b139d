//! `ab`: one framework against itself with one thing changed, on interleaved process pairs.

pub mod change;
pub mod compare;
pub mod instructions;
pub mod manifests;
pub mod sides;
pub mod source;
pub mod text;

use anyhow::{Error, Result};

pub use compare::{Compared, Finding, Round, compare};
pub use instructions::Instructions;

use crate::interrupt::Interrupt;
use crate::trial::{Arm, NotReached, Repeats};

/// What was measured, and why it ended.
#[derive(Debug)]
pub struct Measured {
    /// Calls per second of the open-loop slices.
    pub rate_per_s: f64,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// All measures, at the confidence of the look that ended it.
    pub compared: Vec<Compared>,
    /// Why there are no more rounds.
    pub ended: String,
    /// What is not known as well as was asked for.
    pub not_reached: Vec<NotReached>,
    /// How many slices are not VALID, and why the first of them is not.
    pub doubts: Vec<String>,
    /// What ended it before its time, or kept a round from being kept, if anything did.
    pub error: Option<Error>,
}

/// Measures A and B by turns, as [`Repeats::measure`] does.
///
/// # Errors
/// As there.
pub fn measure(
    arms: &[Arm; 2],
    repeats: &Repeats,
    interrupt: &Interrupt,
    mut keep: impl FnMut(f64, &Round) -> Result<()>,
    tell: impl Fn(&str),
) -> Result<Option<Measured>> {
    let Some(repeated) = repeats.measure(arms, interrupt, |rate_per_s, taken| keep(rate_per_s, &Round::of(taken)?), tell)? else {
        return Ok(None);
    };
    let rounds = (repeated.rounds.iter().map(|taken| Round::of(taken))).collect::<Result<Vec<_>>>()?;
    Ok(Some(Measured {
        rate_per_s: repeated.rate_per_s,
        compared: compare(&rounds, repeated.confidence_of_each),
        rounds,
        ended: repeated.ended,
        not_reached: repeated.not_reached,
        doubts: repeated.doubts,
        error: repeated.error,
    }))
}
