//! Which places a stack may have among others.

use serde::{Deserialize, Serialize};

use crate::holm::holm;
use crate::unknown::{enough, probability};
use crate::{LEAST_PROCESSES, Unknown, paired_ratio};

/// Which figures are the better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Throughput, for example.
    Higher,
    /// Latency or CPU per call, for example.
    Lower,
}

/// The places that a stack may have, from 1. `1…n` of n stacks says that nothing is proved about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRange {
    /// 1 + the number of stacks that are provably better.
    pub best: usize,
    /// 1 + the number of other stacks that are not provably worse.
    pub worst: usize,
}

/// Two stacks compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Index of one stack.
    pub first: usize,
    /// Index of the other, larger than `first`.
    pub second: usize,
    /// First / second: the geometric mean of the rounds' ratios.
    pub ratio: f64,
    /// Two-sided p-value of this pair by itself.
    pub p_value: f64,
    /// The same adjusted for all pairs by [`holm`]: the difference is proved if it is at most alpha.
    pub p_holm: f64,
}

/// Rank ranges of stacks that were measured in the same rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// One for each stack, in the order given.
    pub ranges: Vec<RankRange>,
    /// All pairs.
    pub pairs: Vec<Pair>,
}

/// Rank ranges from `stacks[s][r]`, the figure of stack s in round r.
///
/// Each two stacks are compared by the paired t test of [`paired_ratio`]; the p-values are adjusted by Holm's method. If all are equal, any
/// difference is claimed with a probability of at most `alpha`. The side of a proved difference is that of the ratio: the chance to prove
/// the wrong one is below that of a false rejection. With so many tests much is needed to prove anything: with six rounds and six stacks
/// (15 pairs) |t| must reach 5.2 for the first proof at 5 %, for a single pair 2.6.
///
/// # Errors
///
/// Those of [`paired_ratio`] for any two stacks, [`Unknown::NotAProbability`] if `alpha` is not between 0 and 1. A single stack needs
/// [`LEAST_PROCESSES`] rounds as well; no stack at all is an empty ranking.
pub fn rank_ranges<Figures: AsRef<[f64]>>(stacks: &[Figures], better: Better, alpha: f64) -> Result<Ranking, Unknown> {
    let alpha = probability(alpha)?;
    for stack in stacks {
        enough(stack.as_ref().len(), LEAST_PROCESSES)?;
    }
    let pairs = all_pairs(stacks)?;
    let ranges = (0..stacks.len()).map(|stack| range_of(stack, stacks.len(), &pairs, better, alpha));
    Ok(Ranking {
        ranges: ranges.collect(),
        pairs,
    })
}

fn all_pairs<Figures: AsRef<[f64]>>(stacks: &[Figures]) -> Result<Vec<Pair>, Unknown> {
    /// The interval is not used, so that any will do.
    const CONFIDENCE: f64 = 0.5;
    let mut pairs = Vec::new();
    for (first, one) in stacks.iter().enumerate() {
        for (second, other) in stacks.iter().enumerate().skip(first + 1) {
            let compared = paired_ratio(one.as_ref(), other.as_ref(), CONFIDENCE)?;
            pairs.push(Pair {
                first,
                second,
                ratio: compared.ratio,
                p_value: compared.p_value,
                p_holm: 1.0,
            });
        }
    }
    let p_values: Vec<f64> = pairs.iter().map(|pair| pair.p_value).collect();
    for (pair, adjusted) in pairs.iter_mut().zip(holm(&p_values)) {
        pair.p_holm = adjusted;
    }
    Ok(pairs)
}

fn range_of(stack: usize, stacks: usize, pairs: &[Pair], better: Better, alpha: f64) -> RankRange {
    let proved = pairs.iter().filter(|pair| pair.p_holm <= alpha);
    let (mut provably_better, mut provably_worse) = (0, 0);
    for pair in proved.filter(|pair| pair.first == stack || pair.second == stack) {
        let is_better = (pair.first == stack) == pair.is_first_better(better);
        match is_better {
            true => provably_worse += 1,
            false => provably_better += 1,
        }
    }
    RankRange {
        best: 1 + provably_better,
        worst: stacks - provably_worse,
    }
}

impl Pair {
    fn is_first_better(&self, better: Better) -> bool {
        match better {
            Better::Higher => self.ratio > 1.0,
            Better::Lower => self.ratio < 1.0,
        }
    }
}
