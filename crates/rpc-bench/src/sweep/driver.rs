//! The loop of a sweep over its steps.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use bench_core::lane::Lane;
use bench_core::message::REQUEST_BYTES;
use bench_core::record::Record;
use bench_core::verdict::Verdict;

use super::cell::Cell;
use super::expand::PlannedCell;
use super::failed::{Surroundings, record_of_failure};
use super::file::SweepFile;
use super::floor_cell::{self, FloorRecord};
use super::folder;
use super::plan::{Step, Work, order};
use super::progress::{Progress, estimate, per_second};
use super::run_cell::{self, CellEnd};
use crate::interrupt::Interrupt;
use crate::programs::Programs;
use crate::records::{Appender, SweepRecord, read_and_mend};
use bench_core::talk;

/// Everything a sweep needs, found out before any load.
#[derive(Debug)]
pub struct Sweep {
    /// The effective sweep.
    pub file: SweepFile,
    /// Its cells.
    pub cells: Vec<PlannedCell>,
    /// Binaries by framework.
    pub programs: HashMap<String, Programs>,
    /// Wires that failed a check, and the reason: they have no throughput.
    pub unfit: Unfit,
    /// This program, for the floor.
    pub own_program: PathBuf,
    /// What failed cells have in common.
    pub around: Surroundings,
}

/// Why a wire of a stack in a lane may not be measured, by (framework, wire, lane).
pub type Unfit = HashMap<(String, String, Lane), String>;

/// How a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Runs in the folder, floors too.
    pub done: usize,
    /// Runs of the whole sweep.
    pub total: usize,
    /// Runs of the folder that failed, had failed calls, or are INVALID.
    pub bad: usize,
}

impl Outcome {
    /// False when the sweep was interrupted.
    pub fn complete(&self) -> bool {
        self.done == self.total
    }
}

/// What is in the folder's files so far, and the files, open for more.
struct Results {
    records: Vec<SweepRecord>,
    floors: Vec<FloorRecord>,
    record_file: Appender,
    floor_file: Appender,
}

impl Results {
    fn open(folder: &Path) -> Result<Self> {
        let (record_path, floor_path) = (folder.join(folder::RECORDS), folder.join(folder::FLOORS));
        let (records, torn_record) = read_and_mend(&record_path)?;
        let (floors, torn_floor) = read_and_mend(&floor_path)?;
        for (torn, path) in [(torn_record, &record_path), (torn_floor, &floor_path)] {
            if torn {
                talk::say(format_args!(
                    "'{}': the last line was torn; it is dropped and its cell runs again",
                    path.display()
                ));
            }
        }
        let (record_file, floor_file) = (Appender::open(&record_path)?, Appender::open(&floor_path)?);
        Ok(Self {
            records,
            floors,
            record_file,
            floor_file,
        })
    }

    fn has(&self, step: &Step, cells: &[PlannedCell]) -> bool {
        match step.work {
            Work::Cell(place) => {
                let cell = Some(&cells[place].cell);
                self.records
                    .iter()
                    .any(|r| r.record.round == Some(step.round) && r.cell.as_ref() == cell)
            }
            Work::Floor { callers, .. } => self
                .floors
                .iter()
                .any(|floor| (floor.round, floor.concurrency) == (step.round, callers)),
        }
    }

    /// Throughput of the floor in this round; `None` when it failed or there is none.
    fn floor(&self, round: u64, callers: u64) -> Option<f64> {
        let mut floors = self
            .floors
            .iter()
            .filter(|floor| (floor.round, floor.concurrency) == (round, callers));
        floors.next_back()?.throughput_per_s.filter(|&throughput| throughput > 0.0)
    }

    fn bad(&self) -> usize {
        self.records.iter().filter(|record| is_bad(record)).count() + self.floors.iter().filter(|floor| floor.error.is_some()).count()
    }
}

fn is_bad(SweepRecord { record, .. }: &SweepRecord) -> bool {
    record.error.is_some() || record.verdict == Verdict::Invalid || record.calls.failed_total() > 0
}

/// Runs a cell, and once more if others used the machine meanwhile. The run that was disturbed less is kept, not the faster one.
fn undisturbed(cell: &Cell, mut run: impl FnMut() -> CellEnd) -> CellEnd {
    let first = match run() {
        CellEnd::Ran(record) if record.was_disturbed() => record,
        end => return end,
    };
    let share = |record: &Record| format!("{:.1} % of the machine's CPU", record.foreign_share() * 100.0);
    talk::say(format_args!("{cell}: others used {}; it runs again", share(&first)));
    let second = match run() {
        CellEnd::Ran(record) => record,
        CellEnd::Interrupted => return CellEnd::Interrupted,
        // It did run once.
        CellEnd::Failed(error) => {
            let mut first = first;
            first
                .notes
                .push(format!("run again, since others used {}; that run failed: {error}", share(&first)));
            return CellEnd::Ran(first);
        }
    };
    let worse = |record: &Record| (record.verdict, record.foreign_share());
    let (which, mut kept, other) = match worse(&second) < worse(&first) {
        true => ("second", second, first),
        false => ("first", first, second),
    };
    kept.notes.push(format!(
        "the {which} of two runs; the other: {}: {}",
        other.verdict,
        other.verdict_reasons.join(", ")
    ));
    CellEnd::Ran(kept)
}

impl Sweep {
    /// All steps in their order.
    pub fn steps(&self) -> Vec<Step> {
        order(&self.cells, self.file.seed, self.file.floor)
    }

    /// Runs what is not yet in the folder. A failed cell is a record; only a folder that cannot be written ends the sweep.
    ///
    /// # Errors
    /// When the folder cannot be read or written; what is in it stays.
    pub fn run(&self, folder: &Path, interrupt: &Interrupt) -> Result<Outcome> {
        let steps = self.steps();
        let mut results = Results::open(folder)?;
        let pending: Vec<&Step> = steps.iter().filter(|step| !results.has(step, &self.cells)).collect();
        let mut done = steps.len() - pending.len();
        let rounds = steps.last().map_or(0, |step| step.round + 1);
        let left: Duration = pending.iter().map(|step| estimate(step, &self.cells)).sum();
        let mut progress = Progress::new(steps.len(), rounds, done, left);

        for step in pending {
            if interrupt.requested() {
                break;
            }
            progress.begin(step, &self.describe(step));
            let outcome = match step.work {
                Work::Cell(place) => self.run_cell(&self.cells[place].cell, step.round, &mut results, interrupt)?,
                Work::Floor { callers, measure_ms } => self.run_floor(step.round, callers, measure_ms, &mut results, interrupt)?,
            };
            let Some(outcome) = outcome else {
                talk::say(format_args!("stopped"));
                break;
            };
            progress.end(estimate(step, &self.cells), &outcome);
            done += 1;
        }
        Ok(Outcome {
            done,
            total: steps.len(),
            bad: results.bad(),
        })
    }

    /// What a step runs, for people.
    pub fn describe(&self, step: &Step) -> String {
        match step.work {
            Work::Cell(place) => self.cells[place].cell.to_string(),
            Work::Floor { callers, .. } => format!("loopback floor c={callers}"),
        }
    }

    /// Runs one cell, appends its record and says how it went; `None` when somebody asked to stop.
    fn run_cell(&self, cell: &Cell, round: u64, results: &mut Results, interrupt: &Interrupt) -> Result<Option<String>> {
        let programs = self.programs.get(&cell.framework);
        let programs = programs.with_context(|| format!("no programs of framework '{}'", cell.framework))?;
        // Each round has clients of its own seed, the same for all stacks.
        let around = Surroundings {
            seed: self.file.seed.wrapping_add(round),
            ..self.around.clone()
        };
        let unfit = self.unfit.get(&(cell.framework.clone(), cell.wire.clone(), cell.lane));
        let end = match unfit {
            Some(reason) => CellEnd::Failed(format!("not measured, for it fails a check: {reason}")),
            None => undisturbed(cell, || run_cell::run(cell, programs, around.seed, &around.label, interrupt)),
        };
        let record = match end {
            CellEnd::Ran(record) => {
                let mut record = *record;
                record.round = Some(round);
                record.floor_ratio = self.floor_ratio(cell, &record, results.floor(round, cell.callers));
                SweepRecord {
                    record,
                    cell: Some(cell.clone()),
                }
            }
            CellEnd::Failed(error) => record_of_failure(cell, &programs.stack, round, &around, &error),
            CellEnd::Interrupted => return Ok(None),
        };
        results.record_file.add(&record)?;
        let outcome = match (&record.record.error, record.record.verdict) {
            (Some(error), _) => format!("FAILED: {error}"),
            (None, Verdict::Valid) => per_second(record.record.throughput_per_s),
            (None, verdict) => format!(
                "{} {verdict}: {}",
                per_second(record.record.throughput_per_s),
                record.record.verdict_reasons.join("; ")
            ),
        };
        results.records.push(record);
        Ok(Some(outcome))
    }

    /// Only for closed loops with messages of the floor's size and without a delay: else it would compare different work.
    fn floor_ratio(&self, cell: &Cell, record: &Record, floor: Option<f64>) -> Option<f64> {
        let comparable = cell.has_floor() && record.payload_bytes == REQUEST_BYTES as u64;
        Some(record.throughput_per_s.filter(|_| comparable)? / floor?)
    }

    fn run_floor(&self, round: u64, callers: u64, measure_ms: u64, results: &mut Results, interrupt: &Interrupt) -> Result<Option<String>> {
        let Some(floor) = floor_cell::run(&self.own_program, round, callers, measure_ms, interrupt) else {
            return Ok(None);
        };
        results.floor_file.add(&floor)?;
        let outcome = match &floor.error {
            Some(error) => format!("FAILED: {error}"),
            None => per_second(floor.throughput_per_s),
        };
        results.floors.push(floor);
        Ok(Some(outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::super::failed::tests::{example_cell, example_record};
    use super::*;

    /// A run in which others used this share of the machine's CPU.
    fn ran(foreign: f64) -> CellEnd {
        let mut record = example_record().record;
        record.foreign_cpu_share = Some(foreign);
        record.audit();
        CellEnd::Ran(Box::new(record))
    }

    /// The kept run's foreign share, and its note; `runs` must all have been made.
    #[track_caller]
    fn kept(runs: Vec<CellEnd>) -> (Option<f64>, String) {
        let mut runs = runs.into_iter();
        let end = undisturbed(&example_cell(), || runs.next().unwrap());
        assert!(runs.next().is_none(), "a run was not made");
        match end {
            CellEnd::Ran(record) => (record.foreign_cpu_share, record.notes.join("; ")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_disturbed_cell_runs_once_more_and_the_less_disturbed_run_is_kept() {
        assert_eq!(kept(vec![ran(0.02)]), (Some(0.02), String::new()));
        let (share, note) = kept(vec![ran(0.2), ran(0.01)]);
        assert!(
            share == Some(0.01) && note.contains("second of two runs") && note.contains("SUSPECT: others used 20.0 %"),
            "{note}"
        );
        let (share, note) = kept(vec![ran(0.2), ran(0.3)]);
        assert!(
            share == Some(0.2) && note.contains("first of two runs") && note.contains("SUSPECT: others used 30.0 %"),
            "{note}"
        );
        let (share, note) = kept(vec![ran(0.2), CellEnd::Failed("no port".to_owned())]);
        assert!(share == Some(0.2) && note.contains("no port"), "{note}");
        let mut runs = vec![ran(0.2), CellEnd::Interrupted].into_iter();
        let end = undisturbed(&example_cell(), || runs.next().unwrap());
        assert!(matches!(end, CellEnd::Interrupted));
    }
}
