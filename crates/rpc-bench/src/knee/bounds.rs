//! Where a knee lies when a search was left open: the highest rate that may be tried passed, or its slices were used up.

use std::fmt;

use bench_core::units::{grouped, median};
use serde::Serialize;

use super::result::SearchRun;

/// Where a knee lies that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The highest rate that passed, in calls per second.
    pub at_least_per_s: f64,
    /// The lowest rate that failed; null when none did.
    pub below_per_s: Option<f64>,
}

impl Bounds {
    /// Medians over the searches in which a rate passed.
    pub(super) fn of(searches: &[SearchRun]) -> Option<Self> {
        let ends = searches
            .iter()
            .filter_map(|run| Some((run.found?.passed_per_s?, run.found?.failed_per_s)));
        // One above which no rate failed is above all others.
        let (passed, failed): (Vec<f64>, Vec<f64>) = ends.map(|(passed, failed)| (passed, failed.unwrap_or(f64::INFINITY))).unzip();
        Some(Self {
            at_least_per_s: median(&passed)?,
            below_per_s: median(&failed).filter(|failed| failed.is_finite()),
        })
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "≥ {}", grouped(self.at_least_per_s))?;
        (self.below_per_s).map_or(Ok(()), |below| write!(f, ", < {}", grouped(below)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{knee, run, run_to, spec};
    use super::super::search::End;
    use super::*;

    #[test]
    fn a_search_that_was_left_open_gives_bounds_and_no_knee() {
        let check = |runs: &[SearchRun], bounds: &str| {
            let knee = knee(runs.to_vec());
            assert_eq!((knee.knee_per_s, knee.knee_per_s_range, knee.of_saturated), (None, None, None));
            assert_eq!((knee.knee_bounds.unwrap().to_string().as_str(), knee.is_whole()), (bounds, false));
            let at_least = knee.knee_bounds.unwrap().at_least_per_s;
            assert!(knee.rates(&spec()).contains(&(1.0, at_least)), "{bounds}");
        };
        let limit = run_to(End::RateLimit, 13_000.0, None);
        let slices_over = run_to(End::ProbesUsed, 9_000.0, Some(12_000.0));
        let found = run(Some(10_000.0), Some(20_000.0));
        check(std::slice::from_ref(&limit), "≥ 13,000");
        check(std::slice::from_ref(&slices_over), "≥ 9,000, < 12,000");
        check(&[found.clone(), limit.clone(), limit.clone()], "≥ 13,000");
        check(&[found.clone(), found.clone(), limit], "≥ 10,000, < 10,200");
        check(&[found.clone(), found, slices_over], "≥ 10,000, < 10,200");
    }
}
