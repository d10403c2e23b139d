//! Mann and Kendall's test for a trend.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::sample::{Scaled, median};

/// A trend over the slices, whatever its form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Kendall's τ-b with time: 1 if every slice is above all before it, −1 if below, 0 if all are equal.
    pub tau: f64,
    /// Median change from one slice to the next over all pairs of slices (Theil 1950, Sen 1968), in the figures' unit.
    pub slope: f64,
    /// Two-sided p-value of no trend.
    pub p_value: f64,
}

/// S counts the pairs of slices that rise, less those that fall; without a trend it is near to normal with mean 0.
///
/// Variance with ties: (n(n−1)(2n+5) − Σ t(t−1)(2t+5)) / 18 over groups of t equal figures; 1 is taken off |S|, which moves in whole
/// steps. Sources: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945) 245–259; M. G. Kendall, "Rank Correlation
/// Methods", 1975.
pub(super) fn of(slices: &Scaled) -> Trend {
    let (mut rising, mut falling, mut slopes) = (0_u64, 0_u64, Vec::new());
    for (earlier, one) in slices.values.iter().enumerate() {
        for (distance, other) in slices.values.iter().skip(earlier + 1).enumerate() {
            rising += u64::from(other > one);
            falling += u64::from(other < one);
            slopes.push((other - one) / (distance + 1) as f64);
        }
    }
    let s = rising as f64 - falling as f64;
    let variance = variance_of_s(&slices.values);
    let z = match variance > 0.0 {
        true => (s.abs() - 1.0).max(0.0) / variance.sqrt(),
        false => 0.0,
    };
    let (pairs, untied) = (slopes.len() as f64, (rising + falling) as f64);
    Trend {
        tau: if untied > 0.0 { s / (pairs * untied).sqrt() } else { 0.0 },
        slope: median(&slopes).unwrap_or_default() * slices.unit,
        p_value: (2.0 * Normal::standard().sf(z)).min(1.0),
    }
}

fn variance_of_s(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let term = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let ties: f64 = sorted.chunk_by(|one, other| one == other).map(|group| term(group.len())).sum();
    (term(values.len()) - ties) / 18.0
}
