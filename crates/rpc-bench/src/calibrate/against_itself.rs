//! A against A: how much the same binaries differ from themselves on this machine, and what difference can therefore be seen.

use std::time::Duration;

use anyhow::Result;
use bench_core::units::{NOTHING, duration_in_words, percent};
use bench_stats::Unknown;
use bench_stats::power::Plan;
use serde::Serialize;

use crate::ab::{Measured, Round, measure};
use crate::interrupt::Interrupt;
use crate::report::table::{Align, Table};
use crate::trial::{Arm, Figures, MEASURES, Measure, Repeats};

/// Rounds that make a batch.
pub const BATCH: usize = 6;
/// Numbers of pairs for which it is said what they can show.
const PAIRS: [usize; 4] = [6, 12, 24, 48];
/// The difference for which it is said how many pairs show it.
const SOUGHT: f64 = 0.03;
/// A round of two pairs takes about 6 s.
const LONGEST_ROUND: Duration = Duration::from_secs(60);

/// Noise of every measure.
#[derive(Debug, Serialize)]
pub struct AgainstItself {
    /// The stack that was measured.
    pub framework: String,
    /// Rounds of two process pairs.
    pub rounds: usize,
    /// How many of them were asked for.
    pub rounds_asked: u64,
    /// One for each measure.
    pub noise: Vec<Noise>,
    /// The rounds, so that comparisons can be drawn from them again.
    pub pool: Vec<Round>,
}

/// Noise of one measure. Standard deviations are of natural logarithms: 0.03 is 3 %.
#[derive(Debug, Serialize)]
pub struct Noise {
    /// Its name.
    pub measure: &'static str,
    /// Whole batches of rounds that all have it: what the spreads are of, but the one inside a process.
    pub batches: usize,
    /// Of the slices of one process.
    pub sd_inside_process: Option<f64>,
    /// Of the ratio of the two pairs of a round, inside a batch of rounds.
    pub sd_of_ratio: Option<f64>,
    /// Of that ratio's mean, between batches, beyond what the one inside explains.
    pub sd_between_batches: Option<f64>,
    /// Of that ratio's mean over a batch, from batch to batch, the noise inside included: what another batch may come out at.
    pub sd_of_batch_means: Option<f64>,
    /// Difference that so many pairs show with a probability of 90 % (at 5 %, one look, one measure), as a share.
    pub detectable: Vec<(usize, Option<f64>)>,
    /// Pairs that show a difference of 3 % that surely.
    pub pairs_for_3_percent: Option<usize>,
}

/// Measures the arm against itself; `None` when somebody asked to stop before the first round.
///
/// # Errors
/// When it cannot be measured.
pub fn measure_rounds(arm: &Arm, rounds: u64, interrupt: &Interrupt, tell: impl Fn(&str)) -> Result<Option<Measured>> {
    let named = |name: &str| Arm {
        name: name.to_owned(),
        ..arm.clone()
    };
    let repeats = Repeats {
        slices: 4,
        slice_ms: 300,
        rate_per_s: None,
        time: LONGEST_ROUND * rounds as u32,
        rounds,
        // As many rounds as were asked for, however precise it is before.
        precision: f64::MIN_POSITIVE,
        confidence: 0.95,
        seed: 1,
    };
    measure(&[named("A"), named("A again")], &repeats, interrupt, |_, _| Ok(()), tell)
}

fn noise(measure: Measure, rounds: &[Round]) -> Noise {
    let ratios: Vec<Option<f64>> = rounds.iter().map(|round| log_ratio(measure, &round.b, &round.a)).collect();
    let batches = whole_batches(&ratios);
    let batches: Vec<&[f64]> = batches.iter().map(Vec::as_slice).collect();
    let inside = pooled_variance(&batches);
    let slices: Vec<Vec<f64>> = (rounds.iter().flat_map(|round| [&round.a_slices, &round.b_slices]))
        .map(|slices| slices.iter().filter_map(|figures| Some((measure.of)(figures)?.ln())).collect())
        .collect();
    let slices: Vec<&[f64]> = slices.iter().map(Vec::as_slice).filter(|slices| slices.len() > 1).collect();
    let sd_of_ratio = inside.map(f64::sqrt);
    Noise {
        measure: measure.name,
        batches: batches.len(),
        sd_inside_process: pooled_variance(&slices).map(f64::sqrt),
        sd_of_ratio,
        sd_between_batches: inside.and_then(|inside| between(&batches, inside)),
        sd_of_batch_means: variance_of_means(&batches).map(f64::sqrt),
        detectable: PAIRS
            .map(|pairs| (pairs, sd_of_ratio.and_then(|sd| detectable(pairs, sd).ok())))
            .to_vec(),
        pairs_for_3_percent: sd_of_ratio.and_then(|sd| Plan::default().pairs_needed(1.0 + SOUGHT, sd).ok()?),
    }
}

/// Rounds that follow each other make a batch: one without the figure leaves its batch out, since rounds from either side of the gap would
/// make one that lasts longer than the others.
fn whole_batches(ratios: &[Option<f64>]) -> Vec<Vec<f64>> {
    let whole = |batch: &[Option<f64>]| batch.iter().copied().collect();
    ratios.chunks_exact(BATCH).filter_map(whole).collect()
}

fn log_ratio(measure: Measure, numerator: &Figures, denominator: &Figures) -> Option<f64> {
    let ratio = (measure.of)(numerator)? / (measure.of)(denominator)?;
    (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
}

fn detectable(pairs: usize, sd: f64) -> Result<f64, Unknown> {
    Ok(Plan::default().detectable_ratio(pairs, sd)? - 1.0)
}

/// Mean of the groups' variances, each weighted by its degrees of freedom; `None` without any.
fn pooled_variance(groups: &[&[f64]]) -> Option<f64> {
    let freedom: usize = groups.iter().map(|group| group.len() - 1).sum();
    let squares: f64 = groups
        .iter()
        .flat_map(|group| group.iter().map(move |x| (x - mean(group)).powi(2)))
        .sum();
    (freedom > 0).then(|| squares / freedom as f64)
}

/// Standard deviation of the true means of batches of equal size: one-way analysis of variance with random effects (Searle, Casella and
/// McCulloch, Variance Components, 1992). Never below 0; `None` with fewer than two batches.
fn between(batches: &[&[f64]], inside: f64) -> Option<f64> {
    let size = batches.first()?.len() as f64;
    Some((variance_of_means(batches)? - inside / size).max(0.0).sqrt())
}

/// `None` with fewer than two batches.
fn variance_of_means(batches: &[&[f64]]) -> Option<f64> {
    let means: Vec<f64> = batches.iter().map(|batch| mean(batch)).collect();
    pooled_variance(&[&means])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl AgainstItself {
    /// What `rounds` of an arm against itself show, of which there should have been `asked`.
    pub fn new(arm: &Arm, asked: u64, rounds: Vec<Round>) -> Self {
        Self {
            framework: arm.cell.framework.clone(),
            rounds: rounds.len(),
            rounds_asked: asked,
            noise: MEASURES.iter().map(|measure| noise(*measure, &rounds)).collect(),
            pool: rounds,
        }
    }

    /// About how long so many rounds take.
    pub fn estimate(rounds: u64) -> String {
        duration_in_words(Duration::from_secs(2 + 6 * rounds))
    }

    /// For a person.
    pub fn text(&self) -> String {
        let mut text = self.table().text();
        if (self.rounds as u64) < self.rounds_asked {
            text.push_str(&format!("\n{} of {} rounds.\n", self.rounds, self.rounds_asked));
        }
        if self.rounds < BATCH {
            text.push_str(&format!(
                "\nThe spread from round to round is known from {BATCH} rounds on, that between batches from twice as many.\n"
            ));
        }
        text
    }

    fn table(&self) -> Table {
        let columns = ["inside a process", "ratio, inside a batch", "between batches"].map(str::to_owned);
        let detectable = PAIRS.map(|pairs| format!("seen with {pairs} pairs"));
        let heads: Vec<String> = columns.into_iter().chain(detectable).chain(["3 % takes".to_owned()]).collect();
        let first = format!("{} against itself: spread (1 sd)", self.framework);
        let mut table =
            Table::new(std::iter::once((first.as_str(), Align::Left)).chain(heads.iter().map(|name| (name.as_str(), Align::Right))));
        let share = |share: Option<f64>| share.map_or(NOTHING.to_owned(), percent);
        for noise in &self.noise {
            let mut row = vec![noise.measure.to_owned()];
            row.extend([noise.sd_inside_process, noise.sd_of_ratio, noise.sd_between_batches].map(share));
            row.extend(noise.detectable.iter().map(|(_, difference)| share(*difference)));
            row.push(
                noise
                    .pairs_for_3_percent
                    .map_or(NOTHING.to_owned(), |pairs| format!("{pairs} pairs")),
            );
            table.row(row);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_is_split_into_that_inside_batches_and_that_between_them() {
        // By hand: deviations ±1 inside, means 0 and 4.
        let (low, high) = ([-1.0, 1.0], [3.0, 5.0]);
        let batches: [&[f64]; 2] = [&low, &high];
        let inside = pooled_variance(&batches).unwrap();
        assert_eq!(inside, 2.0);
        assert_eq!(between(&batches, inside), Some((8.0f64 - 1.0).sqrt()));
        // Means that differ less than chance has them differ.
        let (low, high) = ([-1.0, 1.0], [-0.9, 1.1]);
        assert_eq!(between(&[&low, &high], inside), Some(0.0));
        assert_eq!(between(&[&low], inside), None);
        assert_eq!(pooled_variance(&[]), None);
    }

    #[test]
    fn a_round_without_the_figure_leaves_its_batch_out() {
        let mut ratios: Vec<Option<f64>> = (0..20).map(|round| Some(f64::from(round))).collect();
        assert_eq!(whole_batches(&ratios).len(), 3);
        ratios[7] = None;
        let firsts: Vec<f64> = whole_batches(&ratios).iter().map(|batch| batch[0]).collect();
        assert_eq!(firsts, [0.0, 12.0]);
    }
}
