//! Whether a process kept its pace over the slices that were measured in it. Flagged, never trimmed: what a user would have seen stays in.

mod step;
mod trend;

use serde::{Deserialize, Serialize};
pub use step::{EDGE, Step};
pub use trend::Trend;

use crate::Unknown;
use crate::sample::Scaled;
use crate::unknown::{enough, finite, probability};

/// Slices that are needed: from here on the normal approximation of the trend test will do (R. O. Gilbert, "Statistical Methods for
/// Environmental Pollution Monitoring", 1987, section 16.4).
pub const LEAST_SLICES: usize = 10;

/// What the slices of a process say about its pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Up or down all the way: still warming up, memory that grows, a CPU that heats up.
    pub trend: Trend,
    /// From one level to another: a neighbour that came or went, a changed clock rate.
    pub step: Step,
}

impl Steadiness {
    /// Whether the process moved along a trend, with half of `alpha` for that test and half for the other: a steady process is flagged by
    /// either with a probability of at most `alpha`.
    ///
    /// # Errors
    ///
    /// [`Unknown::NotAProbability`] if `alpha` is not between 0 and 1.
    pub fn has_trend(&self, alpha: f64) -> Result<bool, Unknown> {
        Ok(self.trend.p_value <= probability(alpha)? / 2.0)
    }

    /// Whether the process moved in a step, as in [`Self::has_trend`].
    ///
    /// # Errors
    ///
    /// [`Unknown::NotAProbability`] if `alpha` is not between 0 and 1.
    pub fn has_step(&self, alpha: f64) -> Result<bool, Unknown> {
        Ok(self.step.p_value <= probability(alpha)? / 2.0)
    }
}

/// Looks for a trend and for a step in the figures of a process's slices, in the order of time and of equal length.
///
/// Both tests take the slices as independent. If each resembles the one before, a steady process is flagged more often. Takes time with
/// the square of the number of slices.
///
/// # Errors
///
/// [`Unknown::TooFew`] below [`LEAST_SLICES`], [`Unknown::NotFinite`] if a figure is NaN or infinite or if a result is beyond what a number
/// can hold.
pub fn steadiness(slices: &[f64]) -> Result<Steadiness, Unknown> {
    enough(slices.len(), LEAST_SLICES)?;
    finite(slices)?;
    let scaled = Scaled::of(slices);
    let found = Steadiness {
        trend: trend::of(&scaled),
        step: step::of(&scaled)?,
    };
    finite(&[found.trend.slope, found.step.before, found.step.after])?;
    Ok(found)
}
