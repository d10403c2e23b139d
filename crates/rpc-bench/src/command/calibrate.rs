//! `rpc-bench calibrate`: what the instruments cost on this machine, and what differences it can show.

use std::path::Path;

use anyhow::Result;
use bench_core::talk;

use super::TextOrJson;
use crate::calibrate::{AgainstItself, Calibration};
use crate::interrupt::Interrupt;
use crate::trial::{Arm, CONTROL, flagship};
use crate::usage::{self, usage_error};

/// Flags of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Run it on an otherwise idle machine. The floor marked * is the one that floor ratios are to. Ctrl-C ends it with what was measured \
    until then.\n\n\
    Examples:\n  rpc-bench calibrate\n  rpc-bench calibrate --rounds 0\n  rpc-bench calibrate -c 1,100,500,5000 --pair grpc --rounds 48 --output json"
)]
pub struct CalibrateArgs {
    /// Concurrencies of the loopback floor
    #[arg(short = 'c', long = "concurrency", value_name = "N,N,…", default_value = "1,100,500", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    concurrencies: Vec<u32>,
    /// Framework that is measured against itself [default: tcp]
    #[arg(long, value_name = "FRAMEWORK")]
    pair: Option<String>,
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
    let pair = match (args.rounds, &args.pair) {
        (0, Some(_)) => {
            return Err(usage_error(
                "--pair names what the rounds are of, and --rounds 0 leaves them out: give one of the two",
            ));
        }
        (0, None) => None,
        (_, pair) => Some(flagship(manifest, pair.as_deref().unwrap_or(CONTROL), &args.profile)?),
    };
    let interrupt = Interrupt::listen()?;
    let mut calibration = Calibration::begin()?;
    let outcome = rest(&mut calibration, args, pair.as_ref(), &interrupt);
    match args.output {
        TextOrJson::Text => talk::print(&calibration.text())?,
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string(&calibration)?))?,
    }
    outcome?;
    Ok(if interrupt.requested() { usage::INTERRUPTED } else { usage::GOOD })
}

/// What is measured after the instruments; what fails leaves what was measured before it.
fn rest(calibration: &mut Calibration, args: &CalibrateArgs, pair: Option<&Arm>, interrupt: &Interrupt) -> Result<()> {
    let concurrencies: Vec<usize> = args.concurrencies.iter().map(|&c| c as usize).collect();
    calibration.add_floors(&concurrencies, interrupt)?;
    let Some(pair) = pair.filter(|_| !interrupt.requested()) else {
        return Ok(());
    };
    talk::say(format_args!(
        "{} against itself: about {}",
        pair.name,
        AgainstItself::estimate(args.rounds)
    ));
    calibration.add_against_itself(pair, args.rounds, interrupt, |line| talk::say(format_args!("{line}")))
}
