//! Values of flags that several subcommands take, and flags that go together.

use std::time::Duration;

use anyhow::Result;
use bench_core::duration;
use bench_core::lane::Lane;

use crate::trial::{Choice, Repeats};
use crate::usage::usage_error;

/// Confidence of what is said about repeated runs.
const CONFIDENCE: f64 = 0.95;

/// A duration; a number alone is in milliseconds.
pub fn milliseconds(text: &str) -> Result<Duration, String> {
    duration::parse(text, "ms")
}

/// A duration; a number alone is in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    duration::parse(text, "s")
}

/// Calls per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.001..=1e9).contains(rate));
    rate.ok_or_else(|| "calls per second, from 0.001 to 1e9".to_owned())
}

/// A percentage, with or without its sign.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse().ok();
    let percent = number.filter(|percent| (0.0..=1000.0).contains(percent));
    percent.ok_or_else(|| "a percentage from 0 to 1000".to_owned())
}

fn some_time(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("nothing can be measured in no time".to_owned()),
        time => Ok(time),
    }
}

fn above_zero(text: &str) -> Result<f64, String> {
    match percent(text)? {
        0.0 => Err("a percentage above 0, up to 1000: no interval is without width".to_owned()),
        precision => Ok(precision),
    }
}

/// What to measure of each framework.
#[derive(Debug, clap::Args)]
pub struct ChoiceFlags {
    /// Callers: the most calls under way
    #[arg(short = 'c', long = "concurrency", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub callers: u64,
    /// Connections that the callers share [default: one connection per caller]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub pool: Option<u32>,
    /// Lane of both sides
    #[arg(long, value_name = "default|tuned", default_value_t)]
    pub lane: Lane,
    /// Simulated delay of the servers (a number alone is in milliseconds)
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = milliseconds)]
    pub delay: Duration,
}

impl ChoiceFlags {
    /// With a wire; `None` for the flagship.
    ///
    /// # Errors
    /// A usage error when the callers cannot share so many connections.
    pub fn choice(&self, wire: Option<String>) -> Result<Choice> {
        match self.pool {
            Some(pool) if u64::from(pool) > self.callers => Err(usage_error(format!(
                "--pool {pool}: more connections than the {} callers",
                self.callers
            ))),
            _ => Ok(Choice {
                wire,
                callers: self.callers,
                pool: self.pool,
                delay: self.delay,
                lane: self.lane,
            }),
        }
    }
}

/// How often arms are measured in turn.
#[derive(Debug, clap::Args)]
pub struct RepeatFlags {
    /// No round begins after this time
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = some_time)]
    pub time: Duration,
    /// Most rounds, each with fresh processes
    #[arg(long, value_name = "N", default_value_t = 48, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub rounds: u64,
    /// Stops when throughput and CPU per call at the rate are known to ± this many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = above_zero)]
    pub precision: f64,
    /// Slices of each kind, closed and open loop, in each round
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub slices: u64,
    /// Length of a slice in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(10..=600_000))]
    pub slice_ms: u64,
    /// Seed of the orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl RepeatFlags {
    /// With the rate of the open-loop slices, if one was asked for.
    pub fn repeats(&self, rate_per_s: Option<f64>) -> Repeats {
        Repeats {
            slices: self.slices,
            slice_ms: self.slice_ms,
            rate_per_s,
            time: self.time,
            rounds: self.rounds,
            precision: self.precision / 100.0,
            confidence: CONFIDENCE,
            seed: self.seed,
        }
    }
}
