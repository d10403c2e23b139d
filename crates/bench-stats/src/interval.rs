//! The interval in which the true mean of a figure lies.

use serde::{Deserialize, Serialize};

use crate::Unknown;
use crate::sample::{Moments, Scaled};
use crate::student::{critical, t_of, two_sided_p};
use crate::unknown::{enough, finite, probability};

/// Mean of a figure over repeated runs, with its confidence interval. In the unit of the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Arithmetic mean.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How many figures it is of.
    pub count: usize,
    /// Standard deviation of the figures, n − 1 below.
    pub sd: f64,
    /// Two-sided p-value that the true mean is 0. Without any spread it is 1 if all figures are 0, else 0.
    pub p_value: f64,
}

/// The t interval of the mean (Student 1908): mean ± t · sd / √n with n − 1 degrees of freedom.
///
/// It covers the true mean in `confidence` of all cases if the figures are independent and normal, and nearly so if their distribution is
/// near to symmetric. Equal figures have an interval of width 0.
///
/// # Errors
///
/// [`Unknown::TooFew`] below two figures, [`Unknown::NotFinite`] if one is NaN or infinite or if the interval is beyond what a number can
/// hold, [`Unknown::NotAProbability`] if `confidence` is not between 0 and 1.
pub fn t_interval(values: &[f64], confidence: f64) -> Result<Interval, Unknown> {
    let confidence = probability(confidence)?;
    enough(values.len(), 2)?;
    finite(values)?;
    let scaled = Scaled::of(values);
    let sample = Moments::of(&scaled.values);
    let freedom = (sample.count - 1) as f64;
    let half_width = critical(1.0 - confidence, freedom)? * sample.standard_error();
    let interval = Interval {
        estimate: sample.mean * scaled.unit,
        low: (sample.mean - half_width) * scaled.unit,
        high: (sample.mean + half_width) * scaled.unit,
        count: sample.count,
        sd: sample.sd * scaled.unit,
        p_value: two_sided_p(t_of(sample.mean, sample.standard_error()), freedom)?,
    };
    finite(&[interval.estimate, interval.low, interval.high, interval.sd])?;
    Ok(interval)
}
