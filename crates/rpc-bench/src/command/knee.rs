//! `rpc-bench knee`: the highest rate whose p99 response time stays under a limit, and what happens beyond it.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use bench_core::duration;
use bench_core::talk;
use bench_core::units::duration_in_words;

use super::TextOrJson;
use super::values::{ChoiceFlags, milliseconds, seconds};
use crate::interrupt::Interrupt;
use crate::knee::report::Report;
use crate::knee::{KneeSpec, LEAST_CALLS, estimate, measure};
use crate::sweep::cell::Cell;
use crate::trial::{Chosen, build_and_choose};
use crate::usage::{self, usage_error};

/// Warm-up of each process pair; each slice has a tenth of its length besides.
const WARMUP_MS: u64 = 500;

/// Flags of `knee`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A slice passes when its p99 response time (call due to reply decoded) is under --slo, 99 % of the due calls were made,\n\
    at most 0.1 % failed, and it is not INVALID. Close slices are decided by the best of three. At most -c calls are under way:\n\
    what waits beyond them waits in the client, and its wait counts. More callers (-c 1000) let more wait in the server.\n\n\
    Exit codes: 0 good; 1 could not run; 2 usage; 3 a search found no knee; 130 interrupted: what was finished is shown.\n\n\
    Examples:\n  rpc-bench knee\n  rpc-bench knee grpc tcp --slo 2ms\n  rpc-bench knee grpc tarpc --pool 4 -c 1000\n  \
    rpc-bench knee tcp --wire tcp+framed/protobuf,tcp+mux/protobuf --repeats 5\n  \
    rpc-bench knee --output json | jq '.stacks[] | {name, knee_per_s, knee_bounds, at_limit}'"
)]
pub struct KneeArgs {
    /// Frameworks [default: all]
    #[arg(value_name = "FRAMEWORK")]
    frameworks: Vec<String>,
    /// Wires, separated by commas [default: the flagship of each framework]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    wire: Vec<String>,
    /// Limit of the p99 response time
    #[arg(long, value_name = "DURATION", default_value = "5ms", value_parser = slo)]
    slo: Duration,
    #[command(flatten)]
    choice: ChoiceFlags,
    /// Spacing of the calls: as of many users who know nothing of each other, or all alike
    #[arg(long, value_name = "poisson|constant", default_value = "poisson", value_parser = ["poisson", "constant"])]
    arrival: String,
    /// Searches of each stack, on fresh processes each; medians are shown
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeats: u64,
    /// Length of one slice
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = slice)]
    slice: Duration,
    /// How close the knee is bracketed, as a share of it (0.005 to 0.5)
    #[arg(long, value_name = "SHARE", default_value_t = 0.03, value_parser = precision)]
    precision: f64,
    /// No higher rate is tried, in calls per second
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rate_limit: u64,
    /// Seed of the orders and the arrivals
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cargo profile of the binaries
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

fn slo(text: &str) -> Result<Duration, String> {
    match milliseconds(text)? {
        Duration::ZERO => Err("no response takes no time".to_owned()),
        slo => Ok(slo),
    }
}

fn slice(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        slice if (Duration::from_millis(10)..=Duration::from_secs(600)).contains(&slice) => Ok(slice),
        _ => Err("from 10ms to 10m".to_owned()),
    }
}

fn precision(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.005..=0.5).contains(share));
    share.ok_or_else(|| "a share from 0.005 to 0.5, for example 0.03".to_owned())
}

pub(super) fn run(args: &KneeArgs, manifest: Option<&Path>) -> Result<u8> {
    check(args)?;
    let spec = KneeSpec {
        slo_ns: args.slo.as_nanos() as u64,
        slice_ms: args.slice.as_millis() as u64,
        repeats: args.repeats,
        precision: args.precision,
        rate_limit_per_s: args.rate_limit as f64,
        seed: args.seed,
    };
    let asked = Cell {
        measure_ms: spec.slice_ms,
        warmup_ms: WARMUP_MS,
        ..args.choice.choice(None)?.asked()
    };
    let Chosen {
        mut arms,
        can_share,
        not_offered,
    } = build_and_choose(manifest, &args.frameworks, &args.profile, &args.wire, &[asked])?;
    for arm in &mut arms {
        arm.client_flags = vec!["--arrival".to_owned(), args.arrival.clone()];
    }
    let wires = match arms.len() {
        1 => "1 wire".to_owned(),
        wires => format!("{wires} wires"),
    };
    talk::say(format_args!("{wires}, about {}", duration_in_words(estimate(&spec, arms.len()))));
    let interrupt = Interrupt::listen()?;
    let stacks = measure(&spec, &arms, &interrupt, |line| talk::say(format_args!("{line}")))?;
    let interrupted = interrupt.requested();
    if interrupted && stacks.iter().all(|knee| knee.searches.is_empty()) {
        return Ok(usage::INTERRUPTED);
    }
    let report = Report {
        spec,
        arrival: args.arrival.clone(),
        interrupted,
        can_share,
        not_offered,
        stacks,
    };
    match args.output {
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string(&report)?))?,
        TextOrJson::Text => talk::print(&report.text())?,
    }
    Ok(match (interrupted, report.is_whole()) {
        (true, _) => usage::INTERRUPTED,
        (false, true) => usage::GOOD,
        (false, false) => usage::ROWS_FAILED,
    })
}

/// What one flag alone does not show.
fn check(args: &KneeArgs) -> Result<()> {
    let refuse = |text: String| Err(usage_error(text));
    if args.slo * 2 > args.slice {
        return refuse(format!(
            "--slo {}: a slice must be at least twice as long, or it ends before a call is late; --slice is {}",
            duration::format(args.slo),
            duration::format(args.slice)
        ));
    }
    if args.choice.delay >= args.slo {
        return refuse(format!(
            "--slo {}: no response comes before the --delay of {} is over",
            duration::format(args.slo),
            duration::format(args.choice.delay)
        ));
    }
    let least = (LEAST_CALLS / args.slice.as_secs_f64()).ceil();
    if (args.rate_limit as f64) < least {
        return refuse(format!(
            "--rate-limit {}: a slice of {} needs {LEAST_CALLS} calls for a p99: raise it to {least}, or make --slice longer",
            args.rate_limit,
            duration::format(args.slice)
        ));
    }
    Ok(())
}
