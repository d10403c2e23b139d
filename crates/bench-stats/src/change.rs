//! How much a ratio to the control changed between two recorded sets, which share no rounds.

use serde::{Deserialize, Serialize};

use crate::sample::{Moments, Scaled};
use crate::student::{critical, t_of, two_sided_p};
use crate::unknown::{enough, finite, probability};
use crate::{LEAST_PROCESSES, Unknown};

/// What two batches of rounds differ by although nothing was changed, as measured beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenBatches {
    /// Standard deviation of a batch's mean, of natural logarithms: 0.02 is about 2 %.
    pub sd_log: f64,
    /// Degrees of freedom that it was estimated with: batches − 1.
    pub freedom: usize,
}

/// A ratio in the new set over the same ratio in the old one, with its confidence interval. Without unit; 1 is equality.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Geometric mean of the new figures over that of the old ones.
    pub ratio: f64,
    /// Lower end of the interval, above 0.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Degrees of freedom of the interval, at least 1: few where the noise between batches is known from few batches and rules.
    pub freedom: f64,
    /// Two-sided p-value that the true ratio is 1. Without any spread it is 1 for the ratio 1, else 0.
    pub p_value: f64,
}

/// Geometric mean of `new` over that of `old`: Welch's interval of the difference of the logarithms' means, widened by `between`.
///
/// The variance is s²/n of each set, which may differ, and twice that of a batch's mean, since either set is one batch; the degrees of
/// freedom are Satterthwaite's (B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
/// involved", Biometrika 34 (1947) 28–35; F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
/// Biometrics Bulletin 2 (1946) 110–114).
///
/// # Errors
///
/// [`Unknown::TooFew`] below [`LEAST_PROCESSES`] figures in a set or without a degree of freedom of `between`, [`Unknown::NotFinite`] if a
/// figure is NaN or infinite or if the interval is beyond what a number can hold, [`Unknown::NotPositive`] if a figure is not above 0 or a standard deviation below it,
/// [`Unknown::NotAProbability`] if `confidence` is not between 0 and 1.
pub fn change(old: &[f64], new: &[f64], between: BetweenBatches, confidence: f64) -> Result<Change, Unknown> {
    let confidence = probability(confidence)?;
    let (old, new) = (logs(old)?, logs(new)?);
    finite(&[between.sd_log])?;
    if between.sd_log < 0.0 {
        return Err(Unknown::NotPositive);
    }
    enough(between.freedom + 1, 2)?;
    let difference = new.mean - old.mean;
    let part = |set: &Moments| (set.standard_error().powi(2), (set.count - 1) as f64);
    let parts = [part(&old), part(&new), (2.0 * between.sd_log.powi(2), between.freedom as f64)];
    let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let freedom = freedom(&parts);
    let half_width = critical(1.0 - confidence, freedom)? * variance.sqrt();
    let change = Change {
        ratio: difference.exp(),
        low: (difference - half_width).exp(),
        high: (difference + half_width).exp(),
        freedom,
        p_value: two_sided_p(t_of(difference, variance.sqrt()), freedom)?,
    };
    // Ends that are 0 or infinite have no width.
    finite(&[change.ratio, change.high / change.low])?;
    Ok(change)
}

fn logs(figures: &[f64]) -> Result<Moments, Unknown> {
    enough(figures.len(), LEAST_PROCESSES)?;
    finite(figures)?;
    match figures.iter().all(|figure| *figure > 0.0) {
        true => Ok(Moments::of(&figures.iter().map(|figure| figure.ln()).collect::<Vec<_>>())),
        false => Err(Unknown::NotPositive),
    }
}

/// Satterthwaite's, of variances with the degrees of freedom of each: never fewer than the least of them has. Without any variance all of
/// them.
fn freedom(parts: &[(f64, f64)]) -> f64 {
    // Fourth powers of small deviations vanish.
    let scaled = Scaled::of(&parts.iter().map(|(variance, _)| *variance).collect::<Vec<_>>()).values;
    let sum: f64 = scaled.iter().sum();
    let parts = scaled.iter().zip(parts).map(|(variance, (_, freedom))| (variance, freedom));
    match sum > 0.0 {
        // Never below 1 but by rounding.
        true => (sum.powi(2) / parts.map(|(variance, freedom)| variance.powi(2) / freedom).sum::<f64>()).max(1.0),
        false => parts.map(|(_, freedom)| freedom).sum(),
    }
}
