//! `ab`: one framework against itself with one thing changed, on interleaved process pairs.

pub mod change;
pub mod compare;
pub mod instructions;
pub mod manifests;
pub mod sides;
pub mod source;
pub mod text;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bench_core::record::Record;
use bench_core::verdict::Verdict;
use bench_stats::looks::{DEFAULT_LOOKS, Looks, Progress};

pub use compare::{Compared, Finding, Round, compare};
pub use instructions::Instructions;

use crate::interrupt::Interrupt;
use crate::trial::{self, Arm, Figures, Held, Slice};

/// Share of the saturated throughput that both sides are offered in the open-loop slices: enough to be busy, far from the knee.
const OFFERED_SHARE: f64 = 0.5;
/// Measures that decide when enough has been measured: one of a saturated pair, one of a pair at the rate.
const DECIDING: [&str; 2] = ["throughput/s", "CPU µs/call at the rate"];

/// How the two are measured.
#[derive(Clone, Debug)]
pub struct AbSpec {
    /// A and B.
    pub arms: [Arm; 2],
    /// Slices of each kind, closed and open loop, that a process pair is measured in; at least 1.
    pub slices: u64,
    /// Length of a slice in milliseconds.
    pub slice_ms: u64,
    /// Calls per second of the open-loop slices; `None` for half of A's throughput.
    pub rate_per_s: Option<f64>,
    /// No round begins after this time.
    pub time: Duration,
    /// Most rounds.
    pub rounds: u64,
    /// Half width of the deciding measures' intervals, as a share of the ratio, at which it stops.
    pub precision: f64,
    /// Confidence of the result.
    pub confidence: f64,
    /// Seed of orders and clients.
    pub seed: u64,
}

/// What was measured, and why it ended.
#[derive(Debug)]
pub struct Measured {
    /// Calls per second of the open-loop slices.
    pub rate_per_s: f64,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// All measures, at the confidence of the look that ended it.
    pub compared: Vec<Compared>,
    /// Why there are no more rounds.
    pub ended: String,
    /// How many slices are not VALID, and why the first of them is not.
    pub doubts: Vec<String>,
}

/// Measures until the precision is reached at one of the looks, or time or rounds are over. `None` when somebody asked to stop before there
/// was one round.
///
/// # Errors
/// When a side cannot be measured.
pub fn measure(spec: &AbSpec, interrupt: &Interrupt, tell: impl Fn(&str)) -> Result<Option<Measured>> {
    let begun = Instant::now();
    let rate_per_s = match spec.rate_per_s {
        Some(rate) => rate,
        None => match half_of_its_throughput(&spec.arms[0], spec, interrupt)? {
            Some(rate) => rate,
            None => return Ok(None),
        },
    };
    let kinds = [None, Some(rate_per_s)].map(|rate_per_s| Slice {
        ms: spec.slice_ms,
        rate_per_s,
    });
    let slices: Vec<Slice> = (0..spec.slices).flat_map(|_| kinds).collect();
    let looks = looks(spec)?;
    let (mut rounds, mut doubts) = (Vec::new(), Doubts::default());
    let ended = loop {
        let number = rounds.len() as u64;
        if number >= spec.rounds {
            break format!("all {number} rounds were made");
        }
        if begun.elapsed() >= spec.time {
            break format!("the time of {} was over", bench_core::units::duration_in_words(spec.time));
        }
        let Some(records) = trial::round(&spec.arms, &slices, spec.seed.wrapping_add(number), interrupt)? else {
            break "it was interrupted".to_owned();
        };
        let [a, b] = records.as_slice() else {
            bail!("a round of two arms has two lists of records")
        };
        doubts.add(&spec.arms, &records);
        rounds.push(Round {
            a: Figures::of(a)?,
            b: Figures::of(b)?,
            a_slices: each(a)?,
            b_slices: each(b)?,
        });
        tell(&progress(&rounds));
        if precise(&looks, &rounds) {
            break format!("the intervals were within {:.1} %", spec.precision * 100.0);
        }
    };
    if rounds.is_empty() {
        return Ok(None);
    }
    Ok(Some(Measured {
        rate_per_s,
        compared: compare(&rounds, looks.confidence_of_each()),
        rounds,
        ended,
        doubts: doubts.lines(),
    }))
}

/// Figures of every slice by itself.
fn each(records: &[Record]) -> Result<Vec<Figures>> {
    records.iter().map(|record| Figures::of(std::slice::from_ref(record))).collect()
}

fn half_of_its_throughput(arm: &Arm, spec: &AbSpec, interrupt: &Interrupt) -> Result<Option<f64>> {
    let Some(mut pair) = Held::start(arm, spec.seed, interrupt)? else {
        return Ok(None);
    };
    let slice = Slice {
        ms: 2 * spec.slice_ms,
        rate_per_s: None,
    };
    let Some(record) = pair.measure(arm, slice, interrupt)? else {
        return Ok(None);
    };
    pair.stop()?;
    let throughput = record
        .throughput_per_s
        .with_context(|| format!("no throughput: {}", record.verdict_reasons.join("; ")))?;
    Ok(Some(round_to_two_digits(throughput * OFFERED_SHARE)))
}

/// A rate that can be said and typed again.
fn round_to_two_digits(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.log10().floor() - 1.0);
    (rate / unit).round() * unit
}

/// As many of the usual looks as there are rounds for.
fn looks(spec: &AbSpec) -> Result<Looks> {
    let within: Vec<usize> = DEFAULT_LOOKS.into_iter().filter(|&look| look as u64 <= spec.rounds).collect();
    let at = if within.is_empty() { &DEFAULT_LOOKS[..1] } else { &within };
    Ok(Looks::new(at, spec.confidence, spec.precision)?)
}

/// Whether this is a look, and all deciding measures are known well enough.
fn precise(looks: &Looks, rounds: &[Round]) -> bool {
    DECIDING.iter().all(|name| {
        let measure = trial::MEASURES.iter().find(|measure| measure.name == *name);
        measure.is_some_and(|measure| {
            let (a, b) = compare::both(rounds, *measure);
            matches!(looks.judge(&b, &a), Ok(Progress::Reached(_)))
        })
    })
}

fn progress(rounds: &[Round]) -> String {
    let ratios = DECIDING.iter().filter_map(|name| {
        let measure = trial::MEASURES.iter().find(|measure| measure.name == *name)?;
        let logs: Vec<f64> = rounds
            .iter()
            .filter_map(|round| Some(((measure.of)(&round.b)? / (measure.of)(&round.a)?).ln()))
            .collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        Some(format!("{name} × {:.3}", mean.exp()))
    });
    format!("round {}: {}", rounds.len(), ratios.collect::<Vec<_>>().join(", "))
}

/// How many slices are not VALID, by arm and verdict, with the first reasons of each.
#[derive(Default)]
struct Doubts(BTreeMap<(String, Verdict), (u64, String)>);

impl Doubts {
    fn add(&mut self, arms: &[Arm], records: &[Vec<Record>]) {
        for (arm, records) in arms.iter().zip(records) {
            for record in records.iter().filter(|record| record.verdict != Verdict::Valid) {
                let first = || (0, record.verdict_reasons.join("; "));
                self.0.entry((arm.name.clone(), record.verdict)).or_insert_with(first).0 += 1;
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |((arm, verdict), (count, reason)): (&(String, Verdict), &(u64, String))| {
            format!("{arm}: {count} slices are {verdict}; the first: {reason}")
        };
        self.0.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_two_digits() {
        assert_eq!(round_to_two_digits(77_512.3), 78_000.0);
        assert_eq!(round_to_two_digits(9_949.0), 9_900.0);
        assert_eq!(round_to_two_digits(7.0), 7.0);
    }
}
