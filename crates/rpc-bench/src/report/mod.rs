//! Tables from records: of a results folder, or of any file of records.

mod agreement;
mod closed;
mod columns;
mod cpus;
mod key;
mod notes;
mod open;
mod out_of_line;
pub mod ranks;
pub mod render;
pub mod rows;
pub mod table;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bench_core::record::Record;

use crate::records::{self, SweepRecord};
use crate::sweep::file::SweepFile;
use crate::sweep::floor_cell::FloorRecord;
use crate::sweep::folder;
use bench_core::units::{grouped, spread};
use render::Form;

/// The report of one folder or one file of records. Rounds are merged inside it, never with those of another one.
///
/// # Errors
/// When it cannot be read, or has a bad line or a round twice: the text names file and line, or the row.
pub fn report(path: &Path, form: Form) -> Result<String> {
    let is_folder = path.is_dir();
    let file = if is_folder { path.join(folder::RECORDS) } else { path.to_owned() };
    let sweep = if is_folder { Some(folder::read_sweep(path)?) } else { None };
    let floors = if is_folder { read_floors(path)? } else { Vec::new() };
    let records = records::read(&file)?;
    if records.is_empty() {
        bail!("'{}' has no records yet", file.display());
    }
    let above = preamble(&records, sweep.as_ref(), &floors);
    let not_offered = sweep.map(|sweep| sweep.not_offered).unwrap_or_default();
    let rows = rows::judged_rows(records, &not_offered).with_context(|| format!("'{}'", file.display()))?;
    Ok(format!("{above}\n{}", render::tables(&rows, form)))
}

fn read_floors(folder: &Path) -> Result<Vec<FloorRecord>> {
    let path = folder.join(folder::FLOORS);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Ok(Vec::new());
    };
    (text.lines().enumerate())
        .map(|(index, line)| serde_json::from_str(line).with_context(|| format!("'{}' line {}", path.display(), index + 1)))
        .collect()
}

/// What holds for all tables.
fn preamble(records: &[SweepRecord], sweep: Option<&SweepFile>, floors: &[FloorRecord]) -> String {
    let mut lines = Vec::new();
    lines.extend(distinct(records, machine).into_iter().map(|machine| format!("Machine: {machine}.")));
    lines.extend(distinct(records, build).into_iter().map(|build| format!("Build: {build}.")));
    lines.push(format!(
        "Libraries: {}.",
        distinct(records, |r| format!("{} {}", r.library, r.library_version)).join(", ")
    ));
    if let Some(sweep) = sweep {
        lines.push(format!("Runs: {}; order and clients seeded with {}.", lengths(records), sweep.seed));
        if sweep.run.scale != 1.0 {
            lines.push(format!(
                "SCALED: measured seconds and numbers of calls were multiplied by {} (--scale); not comparable with a full run.",
                sweep.run.scale
            ));
        }
    }
    lines.extend(floor_lines(floors));
    lines.into_iter().map(|line| format!("- {line}\n")).collect()
}

/// One line for each concurrency, and one for each reason of a failure.
fn floor_lines(floors: &[FloorRecord]) -> Vec<String> {
    let by_callers: BTreeMap<u64, Vec<&FloorRecord>> = floors.iter().fold(BTreeMap::new(), |mut map, floor| {
        map.entry(floor.concurrency).or_insert_with(Vec::new).push(floor);
        map
    });
    let mut lines = Vec::new();
    for (callers, floors) in by_callers {
        let throughputs: Vec<f64> = floors.iter().filter_map(|floor| floor.throughput_per_s).collect();
        if !throughputs.is_empty() {
            lines.push(format!("Loopback floor at c={callers}: {} calls/s.", spread(&throughputs, grouped)));
        }
        for floor in floors {
            if let Some(error) = &floor.error {
                lines.push(format!("Loopback floor at c={callers} (round {}) FAILED: {error}", floor.round + 1));
            }
        }
    }
    lines
}

fn distinct(records: &[SweepRecord], text: impl Fn(&Record) -> String) -> Vec<String> {
    let mut texts: Vec<String> = records.iter().map(|record| text(&record.record)).collect();
    texts.sort();
    texts.dedup();
    texts
}

fn machine(record: &Record) -> String {
    let info = &record.host.info;
    let governor = info
        .governor
        .as_deref()
        .map_or(String::new(), |governor| format!(", governor {governor}"));
    let memory = bench_core::units::memory(info.memory_bytes);
    format!(
        "{} ({}, {} CPUs, {memory}, Linux {}{governor})",
        record.host.label, info.cpu_model, info.cpus, info.kernel
    )
}

fn build(record: &Record) -> String {
    let build = &record.build;
    let commit = build
        .git_commit
        .as_deref()
        .map_or("no commit", |commit| commit.get(..12).unwrap_or(commit));
    format!(
        "{commit}, {}, profile {}, allocator {}",
        build.rustc, build.profile, build.allocator
    )
}

/// `2 rounds of 3s after 1s of warm-up`, for each kind of cell.
fn lengths(records: &[SweepRecord]) -> String {
    let mut lengths: Vec<String> = Vec::new();
    for cell in records.iter().filter_map(|record| record.cell.as_ref()) {
        let length = cell.length();
        if !lengths.contains(&length) {
            lengths.push(length);
        }
    }
    let rounds = records
        .iter()
        .filter_map(|record| record.record.round)
        .max()
        .map_or(1, |round| round + 1);
    format!("up to {rounds} rounds on fresh processes, each {}", lengths.join(" / "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::failed::tests::example_record;

    #[test]
    fn records_are_judged_again_and_a_round_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let report_of = |records: &[SweepRecord]| {
            let lines: Vec<String> = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
            std::fs::write(&path, lines.concat()).unwrap();
            report(&path, Form::Text)
        };
        let mut example = example_record();
        example.record.throughput_per_s = Some(1e9);
        let text = report_of(std::slice::from_ref(&example)).unwrap();
        assert!(text.contains("INVALID") && !text.contains("1,000,000,000"), "{text}");
        let error = format!("{:#}", report_of(&[example.clone(), example]).unwrap_err());
        assert!(error.contains("records.jsonl") && error.contains("round 1 twice"), "{error}");
    }
}
