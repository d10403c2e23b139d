//! `README.md` of a results folder: the tables, the command that made them and the one that makes them again.

use std::path::Path;

use anyhow::Result;

use super::file::{RunOptions, SweepFile};
use super::folder::{README, write_whole};
use crate::report::render::Form;
use crate::report::report;

/// Writes it from what is in the folder.
///
/// # Errors
/// When the records cannot be read or the file cannot be written.
pub fn write(folder: &Path, sweep: &SweepFile, done: usize, total: usize) -> Result<()> {
    let name = folder
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut text = format!("# {}\n\n", sweep.title);
    if !sweep.description.is_empty() {
        text.push_str(&format!("{}\n\n", sweep.description.trim()));
    }
    if done < total {
        text.push_str(&format!(
            "**Incomplete: {done} of {total} runs.** `scripts/run-all.sh --resume results/{name}` does the rest.\n\n"
        ));
    }
    text.push_str(&format!(
        "Made by `{}`.\nThe tables again, from `records.jsonl`: \
         `cargo run --release -p rpc-bench -- report results/{name} --output markdown`.\n\n",
        command(&sweep.run, sweep.seed)
    ));
    text.push_str(&report(folder, Form::Markdown)?);
    write_whole(folder, README, &format!("{}\n", text.trim_end()))
}

/// The command line that makes such a sweep again.
pub fn command(run: &RunOptions, seed: u64) -> String {
    let mut command = format!("scripts/run-all.sh {} --label {} --seed {seed}", run.sweep, run.label);
    if run.scale != 1.0 {
        command.push_str(&format!(" --scale {}", run.scale));
    }
    if !run.only.is_empty() {
        command.push_str(&format!(" --only {}", run.only.join(",")));
    }
    if run.profile != "release" {
        command.push_str(&format!(" --profile {}", run.profile));
    }
    command
}
