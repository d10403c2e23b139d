//! `rpc-bench ladder`: where a call's microseconds of CPU go.

use std::path::Path;

use anyhow::Result;
use bench_core::lane::Lane;
use bench_core::talk;

use super::TextOrJson;
use crate::discovery::Workspace;
use crate::interrupt::Interrupt;
use crate::ladder::{LadderSpec, measure};
use crate::programs::Programs;
use crate::usage;

/// Flags of `ladder`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each codec is a ladder: the codec alone, opaque frames over TCP, frames with the codec, each framework with the codec.\n\
    All are measured in the same rounds, in a shuffled order. Codecs are compared by name: twirp's json is protobuf's JSON\n\
    (64-bit numbers are texts), that of the other stacks is serde's.\n\n\
    Examples:\n  rpc-bench ladder\n  rpc-bench ladder --codec protobuf,json -c 500 --rounds 9\n  rpc-bench ladder --output json | jq '.[].rungs'"
)]
pub struct LadderArgs {
    /// Codecs, as wires name them
    #[arg(long, value_name = "LIST", default_value = "protobuf", value_delimiter = ',')]
    codec: Vec<String>,
    /// Concurrent callers
    #[arg(short = 'c', long = "concurrency", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    callers: u64,
    /// Rounds; medians are shown
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// Measured window of each run, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 700, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    window_ms: u64,
    /// Lane of both sides
    #[arg(long, value_name = "default|tuned", default_value_t)]
    lane: Lane,
    /// Seed of the orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cargo profile of the binaries
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

pub(super) fn run(args: &LadderArgs, manifest: Option<&Path>) -> Result<u8> {
    let stacks = (Workspace::discover(manifest)?.stacks.into_iter())
        .map(|stack| Programs::build_and_ask(manifest, stack, &args.profile))
        .collect::<Result<Vec<_>>>()?;
    let spec = LadderSpec {
        codecs: args.codec.clone(),
        callers: args.callers,
        rounds: args.rounds,
        measure_ms: args.window_ms,
        lane: args.lane,
        seed: args.seed,
    };
    let interrupt = Interrupt::listen()?;
    let measured = measure(&spec, &stacks, &interrupt, |line| talk::say(format_args!("{line}")));
    if interrupt.requested() {
        return Ok(usage::INTERRUPTED);
    }
    let ladders = measured?;
    match args.output {
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string_pretty(&ladders)?))?,
        TextOrJson::Text => {
            let texts: Vec<String> = ladders.iter().map(|ladder| ladder.text()).collect();
            talk::print(&texts.join("\n"))?;
        }
    }
    let failed = ladders.iter().any(|ladder| !ladder.failures.is_empty());
    Ok(if failed { usage::ROWS_FAILED } else { usage::GOOD })
}
