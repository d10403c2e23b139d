//! `rpc-bench calibrate`: what the instruments cost on this machine, and what differences it can show.

use std::path::Path;

use anyhow::Result;
use bench_core::talk;

use super::TextOrJson;
use crate::calibrate::against_itself::measure_noise;
use crate::calibrate::{AgainstItself, calibrate};
use crate::interrupt::Interrupt;
use crate::trial::flagship;
use crate::usage;

/// Flags of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Run it on an otherwise idle machine. The floor marked * is the one that floor ratios are to.\n\n\
    Examples:\n  rpc-bench calibrate\n  rpc-bench calibrate --rounds 0\n  rpc-bench calibrate -c 1,100,500,5000 --pair grpc --rounds 48 --output json"
)]
pub struct CalibrateArgs {
    /// Concurrencies of the loopback floor
    #[arg(short = 'c', long = "concurrency", value_name = "N,N,…", default_value = "1,100,500", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    concurrencies: Vec<u32>,
    /// Framework that is measured against itself
    #[arg(long, value_name = "FRAMEWORK", default_value = "tcp")]
    pair: String,
    /// Rounds of that, 6 s each; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    rounds: u64,
    /// Cargo profile of its binaries
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

pub(super) fn run(args: &CalibrateArgs, manifest: Option<&Path>) -> Result<u8> {
    let pair = match args.rounds {
        0 => None,
        _ => Some(flagship(manifest, &args.pair, &args.profile)?),
    };
    let concurrencies: Vec<usize> = args.concurrencies.iter().map(|&c| c as usize).collect();
    let mut calibration = calibrate(&concurrencies)?;
    if let Some(pair) = pair {
        let interrupt = Interrupt::listen()?;
        talk::say(format_args!(
            "{} against itself: about {}",
            args.pair,
            AgainstItself::estimate(args.rounds)
        ));
        let noise = measure_noise(&pair, args.rounds, &interrupt, |line| talk::say(format_args!("{line}")));
        if interrupt.requested() {
            return Ok(usage::INTERRUPTED);
        }
        calibration.against_itself = Some(noise?);
    }
    match args.output {
        TextOrJson::Text => talk::print(&calibration.text())?,
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string(&calibration)?))?,
    }
    Ok(usage::GOOD)
}
