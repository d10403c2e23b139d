//! `ab`: one framework against itself with one thing changed, on interleaved process pairs.

pub mod change;
pub mod compare;
pub mod instructions;
pub mod manifests;
pub mod sides;
pub mod source;
pub mod text;

use anyhow::{Result, bail};

pub use compare::{Compared, Finding, Round, compare};
pub use instructions::Instructions;

use crate::interrupt::Interrupt;
use crate::trial::{Arm, Repeats};

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
    /// How many slices are not VALID, and why the first of them is not.
    pub doubts: Vec<String>,
}

/// Measures A and B by turns. `None` when somebody asked to stop before there was one round.
///
/// # Errors
/// When a side cannot be measured.
pub fn measure(arms: &[Arm; 2], repeats: &Repeats, interrupt: &Interrupt, tell: impl Fn(&str)) -> Result<Option<Measured>> {
    let Some(repeated) = repeats.measure(arms, interrupt, tell)? else {
        return Ok(None);
    };
    let mut rounds = Vec::new();
    for round in repeated.rounds {
        let [a, b] = <[_; 2]>::try_from(round).or_else(|_| bail!("a round of two arms has two of all"))?;
        rounds.push(Round {
            a: a.figures,
            b: b.figures,
            a_slices: a.slices,
            b_slices: b.slices,
        });
    }
    Ok(Some(Measured {
        rate_per_s: repeated.rate_per_s,
        compared: compare(&rounds, repeated.confidence_of_each),
        rounds,
        ended: repeated.ended,
        doubts: repeated.doubts,
    }))
}
