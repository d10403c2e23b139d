//! What a number of processes can show at all, before they are run.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};
use statrs::function::gamma::ln_gamma;

use crate::bisect::least_that;
use crate::student::critical;
use crate::unknown::{enough, finite, probability};
use crate::{LEAST_PROCESSES, Unknown};

/// More pairs than this are called out of reach.
pub const MOST_PAIRS: usize = 1_000_000;

/// How sure a comparison by [`paired_ratio`](crate::paired_ratio) is to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Probability to claim a difference where there is none, two-sided. With several looks or pairs of stacks, the share of one.
    alpha: f64,
    /// Probability to find a difference that is there.
    power: f64,
}

impl Default for Plan {
    /// 90 % at 5 %.
    fn default() -> Self {
        Self { alpha: 0.05, power: 0.9 }
    }
}

impl Plan {
    /// A difference is to be found with probability `power`, and claimed where there is none with probability `alpha`.
    ///
    /// # Errors
    ///
    /// [`Unknown::NotAProbability`] if one of them is not between 0 and 1, or if `power` is not above `alpha`, which chance
    /// alone finds.
    pub fn new(alpha: f64, power: f64) -> Result<Self, Unknown> {
        match probability(power)? > probability(alpha)? {
            true => Ok(Self { alpha, power }),
            false => Err(Unknown::NotAProbability { got: power }),
        }
    }

    /// The smallest ratio above 1 that so many pairs find, if the log ratios have the standard deviation `sd_log`
    /// ([`Ratio::sd_log`](crate::Ratio::sd_log) of earlier rounds; it is itself only an estimate). One over it is found as well.
    ///
    /// # Errors
    ///
    /// [`Unknown::TooFew`] below [`LEAST_PROCESSES`] pairs, [`Unknown::NotPositive`] if `sd_log` is negative, [`Unknown::NotFinite`] if it
    /// is no number or the ratio is beyond what a number can hold.
    pub fn detectable_ratio(&self, pairs: usize, sd_log: f64) -> Result<f64, Unknown> {
        check(pairs, sd_log)?;
        let test = Test::new(pairs, self.alpha)?;
        let enough = least_that(test.least_sure_shift(), |shift| test.power(shift) >= self.power);
        let ratio = (enough * sd_log / (pairs as f64).sqrt()).exp();
        finite(&[ratio])?;
        Ok(ratio)
    }

    /// How many pairs find this ratio, at least [`LEAST_PROCESSES`]; `None` if more than [`MOST_PAIRS`] are needed, as for the ratio 1.
    ///
    /// # Errors
    ///
    /// [`Unknown::NotPositive`] if the ratio is not above 0 or `sd_log` is negative, [`Unknown::NotFinite`] if one of them is no number.
    pub fn pairs_needed(&self, ratio: f64, sd_log: f64) -> Result<Option<usize>, Unknown> {
        finite(&[ratio])?;
        if ratio <= 0.0 {
            return Err(Unknown::NotPositive);
        }
        let (mut least, mut most) = (LEAST_PROCESSES, MOST_PAIRS);
        if power(most, ratio, sd_log, self.alpha)? < self.power {
            return Ok(None);
        }
        // The power rises with the pairs: halve what is between a number that is too small, or the least, and one that will do.
        while least < most {
            let middle = least + (most - least) / 2;
            match power(middle, ratio, sd_log, self.alpha)? >= self.power {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        Ok(Some(least))
    }
}

/// Probability that `pairs` pairs show, at the two-sided level `alpha`, a true ratio of `ratio` if the log ratios have the standard
/// deviation `sd_log`. Without spread it is 1, and for the ratio 1 it is `alpha`.
///
/// # Errors
///
/// [`Unknown::TooFew`] below [`LEAST_PROCESSES`] pairs, [`Unknown::NotPositive`] if the ratio is not above 0 or `sd_log` is negative,
/// [`Unknown::NotFinite`] if one of them is no number, [`Unknown::NotAProbability`] if `alpha` is not between 0 and 1.
pub fn power(pairs: usize, ratio: f64, sd_log: f64, alpha: f64) -> Result<f64, Unknown> {
    check(pairs, sd_log)?;
    finite(&[ratio])?;
    if ratio <= 0.0 {
        return Err(Unknown::NotPositive);
    }
    let test = Test::new(pairs, alpha)?;
    let (log_ratio, standard_error) = (ratio.ln().abs(), sd_log / (pairs as f64).sqrt());
    Ok(match (log_ratio > 0.0, standard_error > 0.0) {
        (true, true) => test.power(log_ratio / standard_error),
        (true, false) => 1.0,
        (false, _) => test.power(0.0),
    })
}

fn check(pairs: usize, sd_log: f64) -> Result<(), Unknown> {
    enough(pairs, LEAST_PROCESSES)?;
    finite(&[sd_log])?;
    match sd_log >= 0.0 {
        true => Ok(()),
        false => Err(Unknown::NotPositive),
    }
}

/// The t test of so many pairs.
struct Test {
    freedom: f64,
    critical: f64,
}

impl Test {
    fn new(pairs: usize, alpha: f64) -> Result<Self, Unknown> {
        let freedom = (pairs - 1) as f64;
        Ok(Self {
            critical: critical(alpha, freedom)?,
            freedom,
        })
    }

    /// Probability that |t| is above the critical value if the true mean is `shift` standard errors from 0: noncentral t.
    ///
    /// t = (Z + shift) / s, where Z is standard normal and s² is χ² over its degrees of freedom. Given s it is a normal probability, which
    /// is averaged over the density of s by the trapezoidal rule, which converges fast for a smooth function that vanishes at both ends.
    fn power(&self, shift: f64) -> f64 {
        /// Half of the range of integration, in standard deviations of s (1 / √(2 · freedom) nearly): nothing is beyond.
        const REACH: f64 = 12.0;
        const STEPS: usize = 512;
        let normal = Normal::standard();
        let reach = REACH / (2.0 * self.freedom).sqrt();
        let from = (1.0 - reach).max(0.0);
        let step = (1.0 + reach - from) / STEPS as f64;
        let found = |s: f64| normal.sf(self.critical * s - shift) + normal.cdf(-self.critical * s - shift);
        // Both ends weigh half, and have next to no density.
        let inside = (1..STEPS).map(|index| from + step * index as f64);
        inside.map(|s| self.density(s) * found(s) * step).sum::<f64>().min(1.0)
    }

    /// Density of s, whose square times the degrees of freedom is χ².
    fn density(&self, s: f64) -> f64 {
        let half = self.freedom / 2.0;
        let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
        (constant + (self.freedom - 1.0) * s.ln() - half * s * s).exp()
    }

    /// A shift that is found all but surely: s is hardly ever above 1 + reach, nor Z below −40.
    fn least_sure_shift(&self) -> f64 {
        self.critical * (1.0 + 12.0 / (2.0 * self.freedom).sqrt()) + 40.0
    }
}
