//! `rpc-bench compare`: what changed between two recorded sets.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bench_core::talk;

use crate::compare::{Noise, Set, compare};
use crate::report::render::Form;
use crate::usage;

/// Flags of `compare`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each row's figures are divided by those of raw TCP in the same round, so that a slower hour of the machine cancels out; what is left \
    of it widens the intervals, and that is what --calibration is for. It is information: it exits with 0 whatever it finds; only `ab`, \
    which runs both sides interleaved, may fail a job.\n\n\
    Examples:\n  rpc-bench calibrate --rounds 48 --output json > calibration.json\n  \
    rpc-bench compare results/2026-11-30-laptop-1 results/2026-12-01-laptop-1 --calibration calibration.json\n  \
    rpc-bench compare old.jsonl new.jsonl --format markdown"
)]
pub struct CompareArgs {
    /// Results folder, or file of records, that was there before
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The one to compare with it
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// What `rpc-bench calibrate --output json` printed on the machine of both; without it no difference is proved
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// How to print
    #[arg(long, visible_alias = "output", value_enum, default_value = "text")]
    format: Format,
}

/// How a comparison is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a terminal.
    Text,
    /// Pipe tables.
    Markdown,
    /// One JSON document.
    Json,
}

pub(super) fn run(args: &CompareArgs) -> Result<u8> {
    let (old, new) = (Set::read(&args.old)?, Set::read(&args.new)?);
    let noise = match &args.calibration {
        Some(path) => Noise::read(path)?.of_the_machine_of(&new),
        None => Err("how far batches differ on this machine is not known: --calibration".to_owned()),
    };
    let comparison = compare(&old, &new, &noise, 0.95);
    if comparison.rows.is_empty() {
        bail!(
            "'{}' and '{}' have no row in common, so nothing can be compared: were they made by the same sweep file?",
            old.path.display(),
            new.path.display()
        );
    }
    let (old, new) = (old.path.display().to_string(), new.path.display().to_string());
    let text = match args.format {
        Format::Text => comparison.text(&old, &new, Form::Text),
        Format::Markdown => comparison.text(&old, &new, Form::Markdown),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&comparison.json(&old, &new))?),
    };
    talk::print(&text)?;
    Ok(usage::GOOD)
}
