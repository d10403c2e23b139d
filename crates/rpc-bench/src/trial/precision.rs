//! Whether the measures that decide are known as well as was asked for.

use anyhow::Result;
use bench_core::units::{NOTHING, percent};
use bench_stats::looks::{Looks, Progress, usual_looks};
use bench_stats::{LEAST_PROCESSES, paired_ratio};
use serde::Serialize;

use super::{MEASURES, Measure, Taken, both};

/// Measures that decide when enough has been measured: one of a saturated pair, one of a pair at the rate.
const DECIDING: [&str; 2] = ["throughput/s", "CPU µs/call at the rate"];

/// A target for the width of the deciding measures' intervals, and when it is looked at.
#[derive(Debug)]
pub struct Precision {
    looks: Looks,
    target: f64,
}

/// A measure of an arm that was not known well enough when it ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotReached {
    /// The arm.
    pub stack: String,
    /// The measure.
    pub measure: &'static str,
    /// How far the interval's ends are from the ratio, as a share of it; `None` with fewer than six pairs.
    pub half_width: Option<f64>,
    /// What was aimed at.
    pub target: f64,
}

impl Precision {
    /// A target, as a share of the ratio, for the intervals at `confidence` of at most so many rounds.
    ///
    /// # Errors
    /// When the target is not above 0, or the confidence no probability.
    pub fn new(rounds: u64, confidence: f64, target: f64) -> Result<Self> {
        let rounds = usize::try_from(rounds).unwrap_or(usize::MAX);
        let looks = Looks::new(&usual_looks(rounds), confidence, target)?;
        Ok(Self { looks, target })
    }

    /// [`Looks::confidence_of_each`].
    pub fn confidence_of_each(&self) -> f64 {
        self.looks.confidence_of_each()
    }

    /// Whether this is a look, and all deciding measures of all arms are known well enough.
    pub fn is_reached(&self, arms: usize, rounds: &[Vec<Taken>]) -> bool {
        deciding().all(|measure| {
            (1..arms).all(|arm| {
                let (values, control) = both(rounds, measure, arm, 0);
                matches!(self.looks.judge(rounds.len(), &values, &control), Ok(Progress::Reached(_)))
            })
        })
    }

    /// What is known less well, look or not.
    pub fn not_reached(&self, names: &[String], rounds: &[Vec<Taken>]) -> Vec<NotReached> {
        let of = |place: usize, measure: Measure| {
            let (values, control) = both(rounds, measure, place, 0);
            let ratio = paired_ratio(&values, &control, self.confidence_of_each()).ok();
            let half_width = ratio.map(|ratio| ratio.half_width());
            (!half_width.is_some_and(|half_width| half_width <= self.target)).then(|| NotReached {
                stack: names[place].clone(),
                measure: measure.name,
                half_width,
                target: self.target,
            })
        };
        deciding()
            .flat_map(|measure| (1..names.len()).filter_map(move |place| of(place, measure)))
            .collect()
    }
}

impl NotReached {
    /// All of them in a line, of each measure the widest one; `None` where there are none.
    pub fn line(all: &[Self]) -> Option<String> {
        let target = all.first()?.target;
        let width = |one: &Self| one.half_width.unwrap_or(f64::INFINITY);
        let widest = |measure: Measure| {
            let of_measure = all.iter().filter(|one| one.measure == measure.name);
            of_measure.max_by(|one, other| width(one).total_cmp(&width(other)))
        };
        let in_words = |one: &Self| {
            let reached = one
                .half_width
                .map_or(NOTHING.to_owned(), |half_width| format!("± {}", percent(half_width)));
            format!("{} {reached} ({})", one.measure, one.stack)
        };
        let reached: Vec<String> = deciding().filter_map(widest).map(in_words).collect();
        Some(format!(
            "± {} was not reached: {}; raise --rounds (at least {LEAST_PROCESSES}), --time or --precision",
            percent(target),
            reached.join(", ")
        ))
    }
}

/// The measures that decide.
pub(super) fn deciding() -> impl Iterator<Item = Measure> {
    MEASURES.into_iter().filter(|measure| DECIDING.contains(&measure.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Figures;

    /// A round of three arms, of which only the last one's throughput wobbles from round to round.
    fn a_round(number: u64) -> Vec<Taken> {
        let taken = |throughput: f64| Taken {
            figures: Figures {
                throughput_per_s: Some(throughput),
                cpu_us_per_call_at_rate: Some(10.0),
                ..Figures::default()
            },
            slices: Vec::new(),
        };
        let minute = 1000.0 + 100.0 * (number % 5) as f64;
        vec![
            taken(minute),
            taken(2.0 * minute),
            taken(minute * (1.0 + 0.2 * (number % 3) as f64)),
        ]
    }

    fn rounds(count: u64) -> Vec<Vec<Taken>> {
        (0..count).map(a_round).collect()
    }

    fn precision(rounds: u64) -> Precision {
        Precision::new(rounds, 0.95, 0.05).unwrap()
    }

    #[test]
    fn it_goes_on_until_the_last_arm_is_known_too() {
        assert!(precision(12).is_reached(2, &rounds(6)));
        assert!(!precision(12).is_reached(3, &rounds(6)));
        // Not between two looks.
        assert!(!precision(12).is_reached(2, &rounds(7)));
    }

    #[test]
    fn a_figure_that_is_missing_moves_no_look() {
        let mut seven = rounds(7);
        seven[0][1].figures.throughput_per_s = None;
        // Six pairs, but no look.
        assert!(!precision(12).is_reached(2, &seven));
        assert!(precision(7).is_reached(2, &seven));
    }

    #[test]
    fn what_was_not_reached_is_said_of_the_widest() {
        let names = ["control", "close", "far"].map(str::to_owned);
        let line = |rounds: &[Vec<Taken>]| NotReached::line(&precision(12).not_reached(&names, rounds));
        let found = line(&rounds(6)).unwrap();
        assert!(
            found.starts_with("± 5.0 % was not reached: throughput/s ± ") && found.contains("(far)"),
            "{found}"
        );
        assert!(!found.contains("close") && !found.contains("CPU"), "{found}");
        assert!(
            line(&rounds(5))
                .unwrap()
                .contains("throughput/s n/a (far), CPU µs/call at the rate n/a (far)")
        );
        assert_eq!(NotReached::line(&precision(12).not_reached(&names[..2], &rounds(6))), None);
    }
}
