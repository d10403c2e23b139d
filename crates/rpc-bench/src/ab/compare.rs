//! From the rounds of an `ab` to what can be said about the difference.

use anyhow::{Result, bail};
use bench_stats::holm::holm;
use bench_stats::power::Plan;
use bench_stats::{Ratio, Unknown, paired_ratio};
use serde::{Deserialize, Serialize};

use crate::trial::{Figures, MEASURES, Measure, Taken};

/// Both sides' figures of one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Of the workspace as it is.
    pub a: Figures,
    /// Of the changed side.
    pub b: Figures,
    /// A's, slice by slice; not recorded.
    #[serde(skip)]
    pub a_slices: Vec<Figures>,
    /// B's, slice by slice; not recorded.
    #[serde(skip)]
    pub b_slices: Vec<Figures>,
}

impl Round {
    /// Of what the two arms came to.
    pub(super) fn of(taken: &[Taken]) -> Result<Self> {
        let [a, b] = taken else {
            bail!("a round of two arms has two of all")
        };
        Ok(Self {
            a: a.figures.clone(),
            b: b.figures.clone(),
            a_slices: a.slices.clone(),
            b_slices: b.slices.clone(),
        })
    }
}

/// One measure, compared.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which.
    pub measure: Measure,
    /// Figures of A, one for each round that has both.
    pub a: Vec<f64>,
    /// Figures of B in the same rounds.
    pub b: Vec<f64>,
    /// Confidence of the interval.
    pub confidence: f64,
    /// B / A with its interval; or why there is none.
    pub ratio: Result<Ratio, Unknown>,
    /// What is proved, all measures together taken into account.
    pub finding: Finding,
}

/// What a comparison proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// Neither is proved: a difference may be smaller than the interval is wide.
    Nothing,
}

/// Compares every measure that has figures. `confidence` is that of each interval; a finding is one that holds for all measures together at
/// this confidence (Holm 1979), for eight looks at one pair of programs find something by chance eight times as often.
pub fn compare(rounds: &[Round], confidence: f64) -> Vec<Compared> {
    let mut compared: Vec<Compared> = MEASURES.iter().filter_map(|measure| one(rounds, *measure, confidence)).collect();
    let known: Vec<usize> = (0..compared.len()).filter(|&place| compared[place].ratio.is_ok()).collect();
    let p_values: Vec<f64> = known
        .iter()
        .filter_map(|&place| Some(compared[place].ratio.as_ref().ok()?.p_value))
        .collect();
    for (place, adjusted) in known.into_iter().zip(holm(&p_values)) {
        let compared = &mut compared[place];
        if let Ok(ratio) = &compared.ratio
            && adjusted <= 1.0 - confidence
        {
            let better = (ratio.ratio > 1.0) == compared.measure.more_is_better;
            compared.finding = if better { Finding::Better } else { Finding::Worse };
        }
    }
    compared
}

fn one(rounds: &[Round], measure: Measure, confidence: f64) -> Option<Compared> {
    let (a, b) = measure.of_both(rounds.iter().map(|round| (&round.a, &round.b)));
    (!a.is_empty()).then(|| Compared {
        measure,
        confidence,
        ratio: paired_ratio(&b, &a, confidence),
        a,
        b,
        finding: Finding::Nothing,
    })
}

/// Probability with which [`Compared::seen_from`] is seen.
const SEEN: f64 = 0.9;

impl Compared {
    /// The smallest difference that these rounds would have shown nine times of ten, as a share, going by how far their ratios spread and
    /// without what Holm's method asks for beyond; `None` with too few rounds.
    pub fn seen_from(&self) -> Option<f64> {
        let ratio = self.ratio.as_ref().ok()?;
        let plan = Plan::new(1.0 - self.confidence, SEEN).ok()?;
        Some(plan.detectable_ratio(ratio.pairs, ratio.sd_log).ok()? - 1.0)
    }

    /// By how much B is worse, as a share: 0.03 for 3 %; negative where it is better.
    pub fn worse_by(&self) -> Option<f64> {
        let ratio = self.ratio.as_ref().ok()?.ratio;
        Some(if self.measure.more_is_better {
            1.0 / ratio - 1.0
        } else {
            ratio - 1.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds in which B has `factor` times A's throughput, and A wobbles.
    fn rounds(count: usize, factor: f64) -> Vec<Round> {
        let figures = |throughput| Figures {
            throughput_per_s: Some(throughput),
            ..Figures::default()
        };
        let round = |index: usize| {
            let a = 1000.0 + 100.0 * (index % 5) as f64;
            let wobble = 1.0 + 0.002 * (index % 3) as f64;
            Round {
                a: figures(a),
                b: figures(a * factor * wobble),
                a_slices: Vec::new(),
                b_slices: Vec::new(),
            }
        };
        (0..count).map(round).collect()
    }

    #[test]
    fn a_difference_is_found_and_has_a_direction() {
        for (factor, finding, worse_by) in [
            (0.9, Finding::Worse, 0.11),
            (1.1, Finding::Better, -0.09),
            (0.998, Finding::Nothing, 0.0),
        ] {
            let compared = compare(&rounds(9, factor), 0.95);
            let [throughput] = compared.as_slice() else {
                panic!("one measure has figures")
            };
            assert_eq!(throughput.finding, finding, "{factor}");
            assert!((throughput.worse_by().unwrap() - worse_by).abs() < 0.01);
        }
    }

    #[test]
    fn too_few_rounds_prove_nothing_and_say_so() {
        let compared = compare(&rounds(5, 0.5), 0.95);
        assert!(compared[0].ratio.as_ref().unwrap_err().to_string().contains("too few"));
        assert_eq!((compared[0].finding, compared[0].worse_by()), (Finding::Nothing, None));
    }
}
