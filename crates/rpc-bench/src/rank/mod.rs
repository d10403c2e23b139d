//! Which stacks are provably cheaper or faster: all of them by turns, in slices of a fraction of a second, so that the machine's drift hits
//! all alike.

pub mod show;

use bench_stats::rank::{Better, RankRange, rank_ranges};
use bench_stats::{Ratio, Unknown, paired_ratio};

use crate::trial::{Arm, MEASURES, Measure, Repeated, both};

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
    /// Its figure of each round.
    pub figures: Vec<f64>,
    /// Its ratio to the control's of the same round; or why there is none.
    pub ratio: Result<Ratio, Unknown>,
    /// The places it may have.
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

    /// Every measure that all stacks have, the cost and times at the common rate first: a saturated loop ranks the cost only.
    pub fn ranked(&self) -> Vec<Ranked> {
        let mut measures = MEASURES.to_vec();
        measures.sort_by_key(|measure| !measure.name.ends_with("at the rate"));
        measures.into_iter().filter_map(|measure| self.one(measure)).collect()
    }

    fn one(&self, measure: Measure) -> Option<Ranked> {
        let confidence = self.repeated.confidence_of_each;
        let complete = |round: &&Vec<_>| {
            round
                .iter()
                .all(|taken: &crate::trial::Taken| (measure.of)(&taken.figures).is_some())
        };
        let rounds: Vec<_> = self.repeated.rounds.iter().filter(complete).cloned().collect();
        if rounds.is_empty() {
            return None;
        }
        let pairs: Vec<(Vec<f64>, Vec<f64>)> = (0..self.names.len()).map(|stack| both(&rounds, measure, stack, 0)).collect();
        let figures: Vec<&Vec<f64>> = pairs.iter().map(|(figures, _)| figures).collect();
        let better = if measure.more_is_better { Better::Higher } else { Better::Lower };
        let ranking = rank_ranges(&figures, better, 1.0 - confidence);
        let places = |stack: usize| ranking.as_ref().ok().and_then(|ranking| ranking.ranges.get(stack).copied());
        Some(Ranked {
            measure,
            stacks: (pairs.iter().enumerate())
                .map(|(stack, (figures, control))| Standing {
                    figures: figures.clone(),
                    ratio: paired_ratio(figures, control, confidence),
                    places: places(stack),
                })
                .collect(),
            no_places: ranking.err(),
        })
    }
}
