//! How much larger a figure is than the control's of the same round.

use serde::{Deserialize, Serialize};

use crate::unknown::{enough, finite};
use crate::{LEAST_PROCESSES, Unknown, t_interval};

/// Ratio of two figures over paired rounds, with its confidence interval. Without unit; 1 is equality.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Geometric mean of the rounds' ratios.
    pub ratio: f64,
    /// Lower end of the interval, above 0.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How many rounds it is of.
    pub pairs: usize,
    /// Standard deviation of the natural logarithms of the rounds' ratios, n − 1 below: 0.02 is about 2 %.
    pub sd_log: f64,
    /// Two-sided p-value that the true ratio is 1. If all rounds have the same ratio it is 1 for the ratio 1, else 0.
    pub p_value: f64,
}

impl Ratio {
    /// How far the ends of the interval are from the ratio, relative: 0.02 means that they are ratio · 1.02 and ratio / 1.02.
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }
}

/// `values[i] / control[i]`, both of round i, by a t interval over the logarithms of the ratios.
///
/// What a round does to both, a slow minute of the machine for example, cancels out. Logarithms make A / B and B / A the same finding.
///
/// # Errors
///
/// [`Unknown::UnequalLengths`] if a round lacks one of the two, [`Unknown::TooFew`] below [`LEAST_PROCESSES`] rounds,
/// [`Unknown::NotFinite`] if a figure is NaN or infinite or if the interval is beyond what a number can hold, [`Unknown::NotPositive`] if a
/// figure is not above 0, [`Unknown::NotAProbability`] if `confidence` is not between 0 and 1.
pub fn paired_ratio(values: &[f64], control: &[f64], confidence: f64) -> Result<Ratio, Unknown> {
    let logs = t_interval(&log_ratios(values, control)?, confidence)?;
    let ratio = Ratio {
        ratio: logs.estimate.exp(),
        low: logs.low.exp(),
        high: logs.high.exp(),
        pairs: logs.count,
        sd_log: logs.sd,
        p_value: logs.p_value,
    };
    // Ends that are 0 or infinite have none.
    finite(&[ratio.half_width()])?;
    Ok(ratio)
}

/// ln(value / control) of each round.
fn log_ratios(values: &[f64], control: &[f64]) -> Result<Vec<f64>, Unknown> {
    if values.len() != control.len() {
        return Err(Unknown::UnequalLengths {
            values: values.len(),
            control: control.len(),
        });
    }
    enough(values.len(), LEAST_PROCESSES)?;
    finite(values)?;
    finite(control)?;
    if values.iter().chain(control).any(|figure| *figure <= 0.0) {
        return Err(Unknown::NotPositive);
    }
    Ok(values
        .iter()
        .zip(control)
        .map(|(value, control)| log_ratio(*value, *control))
        .collect())
}

fn log_ratio(value: f64, control: f64) -> f64 {
    let ratio = value / control;
    // The quotient is exact to a bit, and equal figures have exactly 0; it can overflow or vanish, though.
    match ratio.is_normal() {
        true => ratio.ln(),
        false => value.ln() - control.ln(),
    }
}
