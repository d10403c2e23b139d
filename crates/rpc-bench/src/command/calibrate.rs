//! `rpc-bench calibrate`: what the instruments cost on this machine.

use anyhow::Result;

use super::TextOrJson;
use crate::calibrate::calibrate;
use crate::usage;
use bench_core::talk;

/// Flags of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Run it on an otherwise idle machine. The floor marked * is the one that floor ratios are to.\n\n\
    Examples:\n  rpc-bench calibrate\n  rpc-bench calibrate -c 1,100,500,5000 --output json"
)]
pub struct CalibrateArgs {
    /// Concurrencies of the loopback floor
    #[arg(short = 'c', long = "concurrency", value_name = "N,N,…", default_value = "1,100,500", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    concurrencies: Vec<u32>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

pub(super) fn run(args: &CalibrateArgs) -> Result<u8> {
    let concurrencies: Vec<usize> = args.concurrencies.iter().map(|&c| c as usize).collect();
    let calibration = calibrate(&concurrencies)?;
    match args.output {
        TextOrJson::Text => talk::print(&calibration.text())?,
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string(&calibration)?))?,
    }
    Ok(usage::GOOD)
}
