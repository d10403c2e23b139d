//! Statistics of repeated runs: intervals, paired ratios, rank ranges, stopping, power.
//!
//! Pure functions over numbers; the unit of repeating is the process (METHODOLOGY.md, "Repeats and comparisons"). What cannot be said from
//! the figures at hand is an [`Unknown`] with its reason. No result holds a NaN or an infinity.
//!
//! | question | asked of |
//! |---|---|
//! | how large is it, and how sure is that | [`t_interval`] |
//! | how much faster than the control | [`paired_ratio`] |
//! | what changed since another set of runs | [`change()`] |
//! | which place does each stack have | [`rank::rank_ranges`] |
//! | are these processes enough | [`looks::Looks`] |
//! | which process was out of line | [`outliers::outliers`] |
//! | did a process drift while it was measured | [`steady::steadiness`] |
//! | what could so many processes show at all | [`power::Plan`] |

mod bisect;
mod change;
pub mod holm;
mod interval;
pub mod looks;
pub mod outliers;
pub mod power;
pub mod rank;
mod ratio;
mod sample;
pub mod steady;
mod student;
mod unknown;

pub use change::{BetweenBatches, Change, change};
pub use interval::{Interval, t_interval};
pub use ratio::{Ratio, paired_ratio};
pub use unknown::Unknown;

/// A comparison needs at least this many processes.
///
/// With fewer the interval rests on the assumption of normal figures more than on the figures, and t is large: at 95 % 12.7 for two
/// processes, 4.3 for three, 2.6 for six.
pub const LEAST_PROCESSES: usize = 6;
