//! Figures out of line with the others: flagged, never dropped.

use serde::{Deserialize, Serialize};

use crate::sample::{Scaled, median};
use crate::unknown::{enough, finite};
use crate::{LEAST_PROCESSES, Unknown};

/// |score| above which a figure is flagged: the value that Iglewicz and Hoaglin recommend.
pub const FLAGGED_ABOVE: f64 = 3.5;

/// 0.75 quantile of the normal distribution: the median absolute deviation over this is the standard deviation of normal figures.
const MEDIAN_TO_SD: f64 = 0.674_489_750_196_081_7;

/// √(2 / π): the mean absolute deviation over this is the standard deviation of normal figures.
const MEAN_TO_SD: f64 = 0.797_884_560_802_865_4;

/// A figure that is out of line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Its place among the figures given.
    pub index: usize,
    /// The figure.
    pub value: f64,
    /// Its distance from the median in robust standard deviations, negative below it.
    pub score: f64,
}

/// The figures whose modified z-score is above [`FLAGGED_ABOVE`], in the order given.
///
/// The score is 0.6745 · (x − median) / MAD, MAD being the median of |x − median| (B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle
/// Outliers", ASQC 1993). Chosen over Tukey's fences since up to half of the figures may be wild before the median and MAD are: a
/// quartile of six figures is moved by the second one. If more than half of the figures are equal MAD is 0; the mean of |x − median| takes
/// its place, and if that is 0 as well all figures are equal and none is flagged. Small sets have flags without a reason more often than
/// large ones: METHODOLOGY.md has the rates.
///
/// For figures whose ratios matter, give their logarithms.
///
/// # Errors
///
/// [`Unknown::TooFew`] below [`LEAST_PROCESSES`] figures, [`Unknown::NotFinite`] if one is NaN or infinite.
pub fn outliers(values: &[f64]) -> Result<Vec<Outlier>, Unknown> {
    enough(values.len(), LEAST_PROCESSES)?;
    finite(values)?;
    let scaled = Scaled::of(values);
    let Some((center, sd)) = robust_center_and_sd(&scaled.values) else {
        return Ok(Vec::new());
    };
    let scores = scaled.values.iter().map(|value| bounded((value - center) / sd));
    let scored = values.iter().zip(scores).enumerate();
    Ok(scored
        .filter(|(_, (_, score))| score.abs() > FLAGGED_ABOVE)
        .map(|(index, (value, score))| Outlier {
            index,
            value: *value,
            score,
        })
        .collect())
}

/// `None` if all figures are equal.
fn robust_center_and_sd(values: &[f64]) -> Option<(f64, f64)> {
    let center = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let by_median = median(&deviations)? / MEDIAN_TO_SD;
    let by_mean = deviations.iter().sum::<f64>() / deviations.len() as f64 / MEAN_TO_SD;
    let sd = if by_median > 0.0 { by_median } else { by_mean };
    (sd > 0.0).then_some((center, sd))
}

/// A distance over next to no spread can be beyond what a number holds.
fn bounded(score: f64) -> f64 {
    score.clamp(-f64::MAX, f64::MAX)
}
