//! When there are enough processes: a target for the interval's width, looked at a few fixed times.
//!
//! Who looks again and again and stops at a narrow interval stops where the spread happens to look small, and an interval of 95 % covers
//! less often than that. So the looks are fixed before the first process runs, and the error rate is shared out among them.

use std::iter;

use serde::{Deserialize, Serialize};

use crate::unknown::{enough, finite, probability};
use crate::{LEAST_PROCESSES, Ratio, Unknown, paired_ratio};

/// Numbers of processes at which a comparison of at most `most` is looked at unless others are chosen: [`LEAST_PROCESSES`], its doublings,
/// and `most` itself, so that the last figures made are judged too. Below [`LEAST_PROCESSES`] there is one look, which is never reached.
pub fn usual_looks(most: usize) -> Vec<usize> {
    let doublings = iter::successors(Some(LEAST_PROCESSES), |look| look.checked_mul(2));
    let before = doublings.take_while(|look| *look < most);
    before.chain([most.max(LEAST_PROCESSES)]).collect()
}

/// A plan: at which numbers of processes to look, for which interval, until which width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looks {
    at: Vec<usize>,
    confidence: f64,
    target: f64,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Run until there are so many processes. Nothing is judged before.
    GoOn {
        /// Processes of each stack at the next look.
        until: usize,
    },
    /// The interval is narrow enough: stop.
    Reached(Estimate),
    /// The last look is over and the interval is wider than the target: stop, and say so.
    NotReached(Estimate),
}

/// What is reported at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The ratio with its interval, which covers at the plan's confidence (and is made at the higher one of each look).
    pub ratio: Ratio,
    /// [`Ratio::half_width`].
    pub half_width: f64,
    /// The width that was aimed at.
    pub target: f64,
}

impl Looks {
    /// Looks at these numbers of processes until the interval at `confidence` is no wider than ratio · (1 + target) and ratio / (1 +
    /// target).
    ///
    /// # Errors
    ///
    /// [`Unknown::NotRising`] if the numbers do not rise or begin below [`LEAST_PROCESSES`], [`Unknown::TooFew`] if there are none,
    /// [`Unknown::NotAProbability`] if `confidence` is not between 0 and 1, [`Unknown::NotFinite`] and [`Unknown::NotPositive`] if `target`
    /// is not a number above 0.
    pub fn new(at: &[usize], confidence: f64, target: f64) -> Result<Self, Unknown> {
        enough(at.len(), 1)?;
        let first_is_early = at.first().is_some_and(|first| *first < LEAST_PROCESSES);
        if first_is_early || !at.is_sorted_by(|one, next| one < next) {
            return Err(Unknown::NotRising);
        }
        finite(&[target])?;
        if target <= 0.0 {
            return Err(Unknown::NotPositive);
        }
        Ok(Self {
            at: at.to_vec(),
            confidence: probability(confidence)?,
            target,
        })
    }

    /// The confidence of the interval that is made at each look: 1 − (1 − confidence) / looks.
    ///
    /// Bonferroni's inequality: the intervals of all looks hold at once with the plan's confidence, so the one of the look that happens to
    /// be the last holds too, whatever the reason to stop there. Group sequential boundaries (Pocock 1977, O'Brien and Fleming 1979) give
    /// narrower intervals, but for means of known spread and for their own reason to stop. The price: with four looks at 95 % an interval
    /// of six processes is 1.48 times as wide as one made without other looks, and one of 48 processes 1.29 times.
    pub fn confidence_of_each(&self) -> f64 {
        1.0 - (1.0 - self.confidence) / self.at.len() as f64
    }

    /// What to do after so many processes, with the figures of those that have one, which are paired as for [`paired_ratio`]. Between two
    /// looks it is to go on, whatever they say. The number of processes decides, not that of the figures: several measures of the same
    /// processes are looked at together, even if one of them has no figure now and then.
    ///
    /// # Errors
    ///
    /// Those of [`paired_ratio`].
    pub fn judge(&self, processes: usize, values: &[f64], control: &[f64]) -> Result<Progress, Unknown> {
        if let Some(until) = self.next_look(processes) {
            return Ok(Progress::GoOn { until });
        }
        let ratio = paired_ratio(values, control, self.confidence_of_each())?;
        let estimate = Estimate {
            half_width: ratio.half_width(),
            target: self.target,
            ratio,
        };
        if estimate.half_width <= self.target {
            return Ok(Progress::Reached(estimate));
        }
        let later = self.at.iter().copied().find(|look| *look > processes);
        Ok(later.map_or(Progress::NotReached(estimate), |until| Progress::GoOn { until }))
    }

    /// The look to wait for, if it is not now. After the last one it is always now.
    fn next_look(&self, processes: usize) -> Option<usize> {
        let coming = self.at.iter().copied().find(|look| *look >= processes);
        coming.filter(|look| *look > processes)
    }
}
