//! Rounds of interleaved slices, until every arm's ratio to the first one is known well enough.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, bail};
use bench_core::record::Record;
use bench_core::units::{NOTHING, duration_in_words};
use bench_core::verdict::Verdict;

use super::precision::{NotReached, Precision, deciding};
use super::{Arm, Figures, Held, Slice, both, round};
use crate::interrupt::Interrupt;

/// Share of the slowest arm's saturated throughput that all are offered in the open-loop slices: enough to be busy, far from the knee.
const OFFERED_SHARE: f64 = 0.5;

/// How arms are measured.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// Slices of each kind, closed and open loop, that a process pair is measured in; at least 1.
    pub slices: u64,
    /// Length of a slice in milliseconds.
    pub slice_ms: u64,
    /// Calls per second of the open-loop slices; `None` for half of the slowest arm's throughput.
    pub rate_per_s: Option<f64>,
    /// No round begins after this time.
    pub time: Duration,
    /// Most rounds.
    pub rounds: u64,
    /// Half width of the deciding measures' intervals, as a share of the ratio, at which it stops; above 0.
    pub precision: f64,
    /// Confidence of the result.
    pub confidence: f64,
    /// Seed of orders and clients.
    pub seed: u64,
}

/// What one arm's process pair came to in a round.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Over all of its slices.
    pub figures: Figures,
    /// Slice by slice.
    pub slices: Vec<Figures>,
}

/// What was measured, and why it ended.
#[derive(Debug)]
pub struct Repeated {
    /// Calls per second of the open-loop slices.
    pub rate_per_s: f64,
    /// The rounds, each with all arms in their order.
    pub rounds: Vec<Vec<Taken>>,
    /// Confidence that an interval must be made at, to cover at the one asked for whenever it ended.
    pub confidence_of_each: f64,
    /// Why there are no more rounds.
    pub ended: String,
    /// What is not known as well as was asked for.
    pub not_reached: Vec<NotReached>,
    /// How many slices are not VALID, and why the first of them is not.
    pub doubts: Vec<String>,
    /// What ended it before its time, or kept a round from being kept, if anything did.
    pub error: Option<Error>,
}

impl Repeats {
    /// Measures until the precision is reached at one of the looks, or time or rounds are over. `None` when somebody asked to stop before
    /// there was one round. Each round is given to `keep`, with the rate, and what it is like so far told, as soon as it is made.
    ///
    /// # Errors
    /// When an arm cannot be measured in the first round. Later errors, and the first one of `keep`, are in the result with the rounds.
    pub fn measure(
        &self,
        arms: &[Arm],
        interrupt: &Interrupt,
        mut keep: impl FnMut(f64, &[Taken]) -> Result<()>,
        tell: impl Fn(&str),
    ) -> Result<Option<Repeated>> {
        let begun = Instant::now();
        let rate_per_s = match self.rate_per_s {
            Some(rate) => rate,
            None => match self.rate_for_all(arms, interrupt)? {
                Some(rate) => rate,
                None => return Ok(None),
            },
        };
        let kinds = [None, Some(rate_per_s)].map(|rate_per_s| Slice {
            ms: self.slice_ms,
            rate_per_s,
        });
        let slices: Vec<Slice> = (0..self.slices).flat_map(|_| kinds).collect();
        let precision = Precision::new(self.rounds, self.confidence, self.precision)?;
        let (mut rounds, mut doubts, mut error) = (Vec::<Vec<Taken>>::new(), Doubts::default(), None);
        let ended = loop {
            let number = rounds.len() as u64;
            if number >= self.rounds {
                break format!("all {number} rounds were made");
            }
            if number > 0 && begun.elapsed() >= self.time {
                break format!("the time of {} was over", duration_in_words(self.time));
            }
            let records = match round(arms, &slices, self.seed.wrapping_add(number), interrupt) {
                Ok(Some(records)) => records,
                Ok(None) => break "it was interrupted".to_owned(),
                Err(first) if rounds.is_empty() => return Err(first),
                Err(later) => {
                    error = Some(later);
                    break format!("round {} failed", number + 1);
                }
            };
            doubts.add(arms, &records);
            let taken = records.iter().map(|records| Taken::of(records)).collect::<Result<Vec<_>>>()?;
            // What does not get into a file is shown all the same.
            if error.is_none() {
                error = keep(rate_per_s, &taken).err();
            }
            rounds.push(taken);
            tell(&progress(arms, &rounds));
            if precision.is_reached(arms.len(), &rounds) {
                break format!("the intervals were within {:.1} %", self.precision * 100.0);
            }
        };
        let names: Vec<String> = arms.iter().map(|arm| arm.name.clone()).collect();
        Ok((!rounds.is_empty()).then(|| Repeated {
            rate_per_s,
            confidence_of_each: precision.confidence_of_each(),
            not_reached: precision.not_reached(&names, &rounds),
            rounds,
            ended,
            doubts: doubts.lines(),
            error,
        }))
    }

    fn rate_for_all(&self, arms: &[Arm], interrupt: &Interrupt) -> Result<Option<f64>> {
        let mut slowest = f64::INFINITY;
        for arm in arms {
            match self.saturated(arm, interrupt).with_context(|| arm.name.clone())? {
                Some(throughput) => slowest = slowest.min(throughput),
                None => return Ok(None),
            }
        }
        Ok(Some(round_to_two_digits(slowest * OFFERED_SHARE)))
    }

    /// Of a slice of twice the length; of a second one where no reply came in the first.
    fn saturated(&self, arm: &Arm, interrupt: &Interrupt) -> Result<Option<f64>> {
        let Some(mut pair) = Held::start(arm, self.seed, interrupt)? else {
            return Ok(None);
        };
        let slice = Slice {
            ms: 2 * self.slice_ms,
            rate_per_s: None,
        };
        let mut reasons = Vec::new();
        for _ in 0..2 {
            let Some(record) = pair.measure(arm, slice, interrupt)? else {
                return Ok(None);
            };
            if let Some(throughput) = record.throughput_per_s {
                pair.stop()?;
                return Ok(Some(throughput));
            }
            reasons = record.verdict_reasons;
        }
        bail!(
            "no throughput in {} ms: {}; raise --slice-ms, or give the rate with -r",
            slice.ms,
            reasons.join("; ")
        )
    }
}

impl Taken {
    fn of(records: &[Record]) -> Result<Self> {
        Ok(Self {
            figures: Figures::of(records)?,
            slices: records
                .iter()
                .map(|record| Figures::of(std::slice::from_ref(record)))
                .collect::<Result<_>>()?,
        })
    }
}

/// A rate that can be said and typed again.
fn round_to_two_digits(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.log10().floor() - 1.0);
    (rate / unit).round() * unit
}

fn progress(arms: &[Arm], rounds: &[Vec<Taken>]) -> String {
    let of_arm = |(place, arm): (usize, &Arm)| {
        let ratios = deciding().map(|measure| {
            let (values, control) = both(rounds, measure, place, 0);
            let logs = values.iter().zip(&control).map(|(value, control)| (value / control).ln());
            let mean = logs.sum::<f64>() / values.len() as f64;
            match values.is_empty() {
                true => format!("{} {NOTHING}", measure.name),
                false => format!("{} × {:.3}", measure.name, mean.exp()),
            }
        });
        format!("{}: {}", arm.name, ratios.collect::<Vec<_>>().join(", "))
    };
    let arms: Vec<String> = arms.iter().enumerate().skip(1).map(of_arm).collect();
    format!("round {}: {}", rounds.len(), arms.join("; "))
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
