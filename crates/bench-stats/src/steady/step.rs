//! A test for a step from one level to another, at an unknown slice.

use serde::{Deserialize, Serialize};

use crate::Unknown;
use crate::sample::{Moments, Scaled};
use crate::student::{t_of, two_sided_p};

/// A step has at least this many slices on either side: fewer would be outliers.
pub const EDGE: usize = 3;

/// The clearest step over the slices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Index of the first slice after it; the first such place of several that are equally clear.
    pub at: usize,
    /// Mean of the slices before it, in the figures' unit.
    pub before: f64,
    /// Mean of the slices from it on, in the figures' unit.
    pub after: f64,
    /// p-value of no step anywhere: that of the clearest place, times the number of places.
    pub p_value: f64,
}

/// The place with the largest |t| between the slices before and after it (two samples, pooled variance), Bonferroni's bound over places.
///
/// Source: K. J. Worsley, "On the likelihood ratio test for a shift in location of normal populations", Journal of the American Statistical
/// Association 74 (1979) 365–367.
pub(super) fn of(slices: &Scaled) -> Result<Step, Unknown> {
    let values = &slices.values;
    let places = EDGE..=values.len().saturating_sub(EDGE);
    let count = places.clone().count();
    let clearest = places
        .filter_map(|at| Some((at, between(values.split_at_checked(at)?))))
        // The first of equals, which max_by would not give.
        .reduce(|best, next| if next.1.t.abs() > best.1.t.abs() { next } else { best });
    let Some((at, found)) = clearest else {
        return Err(Unknown::TooFew {
            got: values.len(),
            needed: 2 * EDGE,
        });
    };
    let p_value = two_sided_p(found.t, (values.len() - 2) as f64)?;
    Ok(Step {
        at,
        before: found.before * slices.unit,
        after: found.after * slices.unit,
        p_value: (p_value * count as f64).min(1.0),
    })
}

struct Between {
    before: f64,
    after: f64,
    t: f64,
}

fn between((before, after): (&[f64], &[f64])) -> Between {
    let (before, after) = (Moments::of(before), Moments::of(after));
    let squares = |side: &Moments| side.sd.powi(2) * (side.count - 1) as f64;
    let (n_before, n_after) = (before.count as f64, after.count as f64);
    let pooled = (squares(&before) + squares(&after)) / (n_before + n_after - 2.0);
    let standard_error = (pooled * (n_before.recip() + n_after.recip())).sqrt();
    Between {
        before: before.mean,
        after: after.mean,
        t: t_of(after.mean - before.mean, standard_error),
    }
}
