//! Student's t distribution, two-sided.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::Unknown;
use crate::bisect::least_that;
use crate::unknown::{enough, probability};

/// Degrees of freedom need not be whole: those of unequal variances are not.
fn distribution(freedom: f64) -> Result<StudentsT, Unknown> {
    // One degree of freedom is two figures.
    enough(freedom as usize + 1, 2)?;
    StudentsT::new(0.0, 1.0, freedom).map_err(|_| Unknown::NotFinite)
}

/// What |t| is above with probability `alpha`: to 10 digits or more where alpha is at most 0.9 and there are up to a million degrees of
/// freedom.
///
/// By halving an interval of the distribution function: the library's own quantile has four digits, or none, in far tails of few degrees of
/// freedom (alpha = 1e-7, 1e-10 with one), and panics further out.
///
/// # Errors
///
/// If `alpha` is no probability, or so small that the result is above 1e150, or if there is no degree of freedom.
pub(crate) fn critical(alpha: f64, freedom: f64) -> Result<f64, Unknown> {
    /// Squares of larger t overflow.
    const GREATEST: f64 = 1e150;
    let distribution = distribution(freedom)?;
    // By the upper tail: 1 − alpha / 2 has no digits left for a small alpha.
    let tail = probability(alpha)? / 2.0;
    let is_beyond = |t: f64| distribution.sf(t) <= tail;
    let mut high = 1.0;
    while !is_beyond(high) {
        high *= 2.0;
        if high > GREATEST {
            return Err(Unknown::NotFinite);
        }
    }
    Ok(least_that(high, is_beyond))
}

/// How probable a |t| as large as this one is: the two-sided p-value.
///
/// # Errors
///
/// If there is no degree of freedom.
pub(crate) fn two_sided_p(t: f64, freedom: f64) -> Result<f64, Unknown> {
    Ok((2.0 * distribution(freedom)?.sf(t.abs())).clamp(0.0, 1.0))
}

/// `difference` in standard errors. Without any spread it is nothing or beyond all bounds: the p-values of 0 and ∞ are 1 and 0.
pub(crate) fn t_of(difference: f64, standard_error: f64) -> f64 {
    match (difference == 0.0, standard_error > 0.0) {
        (true, _) => 0.0,
        (false, true) => difference / standard_error,
        (false, false) => f64::INFINITY.copysign(difference),
    }
}
