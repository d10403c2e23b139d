//! Why a question cannot be answered from the figures at hand.

use thiserror::Error;

/// What is said instead of a result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Unknown {
    /// The method needs more figures.
    #[error("too few runs: {got}, at least {needed} are needed")]
    TooFew {
        /// How many there are.
        got: usize,
        /// How many there must be.
        needed: usize,
    },
    /// A ratio needs figures above zero.
    #[error("a figure is zero or negative: a ratio needs figures above zero")]
    NotPositive,
    /// A figure is NaN or infinite, or the result is beyond what a number can hold.
    #[error("a figure, or what follows from the figures, is not a finite number")]
    NotFinite,
    /// Figures that belong to the same rounds must be equally many.
    #[error("{values} figures beside {control} of the same rounds: each round must have both")]
    UnequalLengths {
        /// How many figures there are.
        values: usize,
        /// How many there are to compare them with.
        control: usize,
    },
    /// A confidence, a power or an error rate must lie between 0 and 1, both excluded.
    #[error("{got} is no probability between 0 and 1 (both excluded)")]
    NotAProbability {
        /// What was given.
        got: f64,
    },
    /// Looks must be at rising numbers of processes, the first at [`LEAST_PROCESSES`](crate::LEAST_PROCESSES) or later.
    #[error("looks must be at rising numbers of processes, the first at {least} or later", least = crate::LEAST_PROCESSES)]
    NotRising,
}

/// Whether all figures are numbers to calculate with.
pub(crate) fn finite(values: &[f64]) -> Result<(), Unknown> {
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(Unknown::NotFinite),
    }
}

/// Whether there are enough figures.
pub(crate) fn enough(got: usize, needed: usize) -> Result<(), Unknown> {
    match got >= needed {
        true => Ok(()),
        false => Err(Unknown::TooFew { got, needed }),
    }
}

/// Whether this may be an error rate, a confidence or a power.
pub(crate) fn probability(got: f64) -> Result<f64, Unknown> {
    match got > 0.0 && got < 1.0 {
        true => Ok(got),
        false => Err(Unknown::NotAProbability { got }),
    }
}
