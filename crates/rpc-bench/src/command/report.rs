//! `rpc-bench report`: the tables again, from the records.

use std::path::PathBuf;

use anyhow::Result;

use crate::report::render::Form;
use crate::report::report;
use crate::usage;
use bench_core::talk;

/// Flags of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Rounds are merged inside one folder or file, never across two.\n\n\
    Examples:\n  rpc-bench report results/2026-12-01-laptop-1\n  rpc-bench report --output markdown run1.jsonl run2.jsonl")]
pub struct ReportArgs {
    /// Folders of sweeps, or files with one record a line
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// Form of the tables
    #[arg(long, value_enum, default_value = "text")]
    output: Form,
}

pub(super) fn run(args: &ReportArgs) -> Result<u8> {
    for path in &args.paths {
        let text = report(path, args.output)?;
        match args.paths.len() {
            1 => talk::print(&text)?,
            _ => talk::print(&format!("{}\n\n{text}", path.display()))?,
        }
    }
    Ok(usage::GOOD)
}
