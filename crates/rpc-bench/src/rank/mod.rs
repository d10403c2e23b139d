//! Which stacks are provably cheaper or faster: all of them by turns, in slices of a fraction of a second, so that the machine's drift hits
//! all alike.

pub mod show;

use bench_stats::rank::{Better, RankRange, rank_ranges};
use bench_stats::{Ratio, Unknown, paired_ratio};

use crate::trial::{Arm, MEASURES, Measure, Repeated, Taken, both};

/// Everything that a ranking has to tell.
#[derive(Debug)]
pub struct Report {
    /// What was asked of all stacks, in a line.
    pub title: String,
    /// Names of the stacks, the control first.
    pub names: Vec<String>,
    /// What was measured.
    pub repeated: Repeated,
    /// What cannot be had, and why.
    pub not_offered: Vec<String>,
}

/// One measure of all stacks.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Which.
    pub measure: Measure,
    /// One for each stack, in the order of the names.
    pub stacks: Vec<Standing>,
    /// Why nobody has a place; `None` where they have.
    pub no_places: Option<Unknown>,
}

/// How one stack stands in one measure.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its figure of each round that has one.
    pub figures: Vec<f64>,
    /// Its ratio to the control's of the same round; or why there is none.
    pub ratio: Result<Ratio, Unknown>,
    /// The places it may have among the stacks that have a figure of every round; `None` for the others.
    pub places: Option<RankRange>,
}

impl Report {
    /// A report on arms, of which the first is the control.
    pub fn new(title: String, arms: &[Arm], repeated: Repeated, not_offered: Vec<String>) -> Self {
        Self {
            title,
            names: arms.iter().map(|arm| arm.name.clone()).collect(),
            repeated,
            not_offered,
        }
    }

    /// Every measure that a stack has in every round, the cost and times at the common rate first: a saturated loop ranks the cost only.
    pub fn ranked(&self) -> Vec<Ranked> {
        let mut measures = MEASURES.to_vec();
        measures.sort_by_key(|measure| !measure.name.ends_with("at the rate"));
        measures.into_iter().filter_map(|measure| self.one(measure)).collect()
    }

    fn one(&self, measure: Measure) -> Option<Ranked> {
        let confidence = self.repeated.confidence_of_each;
        let rounds = &self.repeated.rounds;
        // One of a saturated stack, of a rate that it did not carry, or of an INVALID slice, is none: then the stack has no place.
        let is_whole = |stack: &usize| rounds.iter().all(|round| of(measure, round, *stack).is_some());
        let whole: Vec<usize> = (0..self.names.len()).filter(is_whole).collect();
        if whole.is_empty() {
            return None;
        }
        let figures = |stack: usize| -> Vec<f64> { rounds.iter().filter_map(|round| of(measure, round, stack)).collect() };
        let better = if measure.more_is_better { Better::Higher } else { Better::Lower };
        let ranking = rank_ranges(
            &whole.iter().map(|&stack| figures(stack)).collect::<Vec<_>>(),
            better,
            1.0 - confidence,
        );
        let places = |stack: usize| {
            let place = whole.iter().position(|&one| one == stack)?;
            ranking.as_ref().ok()?.ranges.get(place).copied()
        };
        let standing = |stack: usize| {
            let (values, control) = both(rounds, measure, stack, 0);
            Standing {
                figures: figures(stack),
                ratio: paired_ratio(&values, &control, confidence),
                places: places(stack),
            }
        };
        Some(Ranked {
            measure,
            stacks: (0..self.names.len()).map(standing).collect(),
            no_places: ranking.err(),
        })
    }
}

fn of(measure: Measure, round: &[Taken], stack: usize) -> Option<f64> {
    (measure.of)(&round.get(stack)?.figures)
}
