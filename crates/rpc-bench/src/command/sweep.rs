//! `rpc-bench sweep`: everything is found out, built and checked before any load; then the cells run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use bench_core::lane::Lane;
use bench_host::HostInfo;

use crate::check::matrix::run_all;
use crate::check::{Subject, subjects_of};
use crate::dates::Utc;
use crate::discovery::{Workspace, is_plain_name};
use crate::interrupt::Interrupt;
use crate::offer::ClientOffer;
use crate::programs::Programs;
use crate::report::render::Form;
use crate::report::report;
use crate::sweep::driver::{Outcome, Sweep, Unfit};
use crate::sweep::expand::expand;
use crate::sweep::failed::Surroundings;
use crate::sweep::file::{self, SweepFile};
use crate::sweep::folder::{self, check_room, check_same, create, read_sweep, write_whole};
use crate::sweep::host_file::HostFile;
use crate::sweep::only::Only;
use crate::sweep::progress::estimate;
use crate::sweep::readme;
use crate::usage;
use bench_core::talk;
use bench_core::units::duration_in_words;

/// Flags of `sweep`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Sweeps are TOML files in scripts/sweeps; a path ending in .toml is taken as such.\n\
    Exit codes: 0 good; 1 could not run; 2 usage; 3 ran, but a cell failed; 130 interrupted, --resume continues.\n\n\
    Examples:\n  rpc-bench sweep\n  rpc-bench sweep rpcx --label laptop\n  rpc-bench sweep quick --only grpc,tcp:tcp+framed/protobuf --scale 0.2\n  \
    rpc-bench sweep my-sweep.toml --dry-run\n  rpc-bench sweep --resume results/2026-12-01-laptop-1")]
pub struct SweepArgs {
    /// Name of a sweep, or path of a sweep file [default: quick]
    #[arg(value_name = "SWEEP|FILE")]
    sweep: Option<String>,
    /// Frameworks to take, separated by commas: NAME, or NAME:WIRE, which takes the place of the sweep's wires
    #[arg(long, value_name = "LIST", value_parser = Only::parse)]
    only: Option<Only>,
    /// Multiplies measured seconds and numbers of calls (0.001 to 1000); the tables say so
    #[arg(long, value_name = "F", allow_negative_numbers = true, value_parser = scale)]
    scale: Option<f64>,
    /// Your word for this machine, 1 to 32 of a-z, 0-9 and '-' [default: local]
    #[arg(long, value_name = "WORD", value_parser = label)]
    label: Option<String>,
    /// Seed of the order of the cells and of the clients [default: the sweep's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Cargo profile of the binaries [default: release]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Folder in which the folder of results is made [default: results/ of the workspace]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continues an interrupted sweep in its folder
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Measures without running the checks first (while a framework is being added; not for results to show)
    #[arg(long)]
    skip_checks: bool,
    /// Prints the cells in their order and the estimated time, and runs nothing
    #[arg(long)]
    dry_run: bool,
}

fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| (0.001..=1000.0).contains(scale));
    scale.ok_or_else(|| "a factor from 0.001 to 1000".to_owned())
}

fn label(text: &str) -> Result<String, String> {
    let plain = is_plain_name(text).then(|| text.to_owned());
    plain.ok_or_else(|| "1 to 32 of a-z, 0-9 and '-'".to_owned())
}

pub(super) fn run(args: &SweepArgs, manifest: Option<&Path>) -> Result<u8> {
    let workspace = Workspace::discover(manifest)?;
    let file = effective_file(args, &workspace.root)?;
    let mut sweep = prepare(file, &workspace, manifest)?;
    if args.dry_run {
        talk::print(&dry_run(&sweep))?;
        return Ok(usage::GOOD);
    }
    let folder = results_folder(args, &sweep, &workspace)?;
    talk::say(format_args!("results: {}", folder.display()));
    let interrupt = Interrupt::listen()?;
    if !args.skip_checks {
        sweep.unfit = unfit(&sweep, &interrupt)?;
    }
    let outcome = sweep.run(&folder, &interrupt).with_context(|| how_to_resume(&folder))?;
    finish(&folder, &sweep, outcome)
}

/// The sweep file with the command line's options in it; with `--resume` the folder's, unless another one is asked for.
fn effective_file(args: &SweepArgs, root: &Path) -> Result<SweepFile> {
    let mut file = match (&args.sweep, &args.resume) {
        (None, Some(folder)) => read_sweep(folder)?,
        (sweep, _) => {
            let sweep = sweep.as_deref().unwrap_or("quick");
            let path = file::locate(sweep, root)?;
            let mut file = file::read(&path)?;
            file.run.sweep = shown_name(sweep, &path, root);
            file
        }
    };
    let run = &mut file.run;
    run.scale = args.scale.unwrap_or(run.scale);
    run.label = args.label.clone().unwrap_or(std::mem::take(&mut run.label));
    run.profile = args.profile.clone().unwrap_or(std::mem::take(&mut run.profile));
    run.only = args.only.as_ref().map_or_else(|| std::mem::take(&mut run.only), Only::names);
    file.seed = args.seed.unwrap_or(file.seed);
    Ok(file)
}

/// A sweep's name as results may show it: never a path outside the workspace.
fn shown_name(sweep: &str, path: &Path, root: &Path) -> String {
    let inside = path
        .canonicalize()
        .ok()
        .and_then(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
    let named = !sweep.ends_with(".toml") && !sweep.contains('/');
    match (named, inside, path.file_name()) {
        (true, _, _) => sweep.to_owned(),
        (false, Some(inside), _) => inside.to_string_lossy().into_owned(),
        (false, None, name) => name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
    }
}

/// Builds each package by itself, asks the clients what they offer, and makes the cells.
fn prepare(mut file: SweepFile, workspace: &Workspace, manifest: Option<&Path>) -> Result<Sweep> {
    let only = Only::parse(&file.run.only.join(","))?;
    only.check_frameworks(&workspace.stacks)?;
    let mut offers: Vec<ClientOffer> = Vec::new();
    let mut programs = HashMap::new();
    for stack in workspace.stacks.iter().filter(|stack| only.takes(&stack.framework)) {
        let (built, offer) = Programs::build_and_ask(manifest, stack.clone(), &file.run.profile)?;
        offers.push(offer);
        programs.insert(stack.framework.clone(), built);
    }
    let expansion = expand(&file, &offers, &only)?;
    file.not_offered = expansion.not_offered;
    Ok(Sweep {
        around: Surroundings {
            host: HostInfo::read()?,
            label: file.run.label.clone(),
            seed: file.seed,
        },
        file,
        cells: expansion.cells,
        programs,
        unfit: Unfit::new(),
        own_program: std::env::current_exe().context("the path of this program")?,
    })
}

/// Checks every wire that has a cell, in the cell's lane.
fn unfit(sweep: &Sweep, interrupt: &Interrupt) -> Result<Unfit> {
    let mut subjects: Vec<Subject> = Vec::new();
    let mut stacks: Vec<_> = sweep.programs.iter().collect();
    stacks.sort_by_key(|(framework, _)| *framework);
    for &(framework, programs) in &stacks {
        let stranger = stacks
            .iter()
            .map(|(_, other)| *other)
            .find(|other| other.stack.framework != *framework);
        for subject in subjects_of(programs, stranger)? {
            for lane in [Lane::Default, Lane::Tuned] {
                let mut cells = sweep.cells.iter().map(|planned| &planned.cell);
                if cells.any(|cell| (&cell.framework, &cell.wire, cell.lane) == (framework, &subject.wire, lane)) {
                    subjects.push(Subject { lane, ..subject.clone() });
                }
            }
        }
    }
    talk::say(format_args!("checking {} wires before they are measured", subjects.len()));
    let matrix = run_all(&subjects, interrupt, |failure| talk::say(format_args!("FAILED {failure}")));
    let failures = subjects.iter().zip(matrix.first_failures());
    Ok(failures
        .filter_map(|(subject, failure)| {
            let key = (subject.programs.stack.framework.clone(), subject.wire.clone(), subject.lane);
            Some((key, failure?.to_owned()))
        })
        .collect())
}

/// The folder to write to: the one to resume, or a new one with all that is known before the load.
fn results_folder(args: &SweepArgs, sweep: &Sweep, workspace: &Workspace) -> Result<PathBuf> {
    if let Some(folder) = &args.resume {
        check_same(&read_sweep(folder)?, &sweep.file)?;
        return Ok(folder.clone());
    }
    let out = args.out.clone().unwrap_or_else(|| workspace.root.join("results"));
    check_room(&out, sweep.steps().len())?;
    let folder = create(&out, &Utc::now().date(), &sweep.file.run.label)?;
    write_whole(&folder, folder::SWEEP, &toml::to_string(&sweep.file)?)?;
    let label = &sweep.file.run.label;
    let host = HostFile::read(&workspace.root, label, sweep.around.host.clone(), &workspace.stacks);
    write_whole(&folder, folder::HOST, &host.to_json()?)?;
    Ok(folder)
}

fn dry_run(sweep: &Sweep) -> String {
    let steps = sweep.steps();
    let total: Duration = steps.iter().map(|step| estimate(step, &sweep.cells)).sum();
    let mut text = String::new();
    for step in &steps {
        text.push_str(&format!("round {} {}\n", step.round + 1, sweep.describe(step)));
    }
    for skipped in &sweep.file.not_offered {
        text.push_str(&format!("not offered: {}: {}\n", skipped.cell, skipped.reason));
    }
    text.push_str(&format!("{} runs, about {}\n", steps.len(), duration_in_words(total)));
    text
}

/// Writes the README, prints the tables, and says how it went.
fn finish(folder: &Path, sweep: &Sweep, outcome: Outcome) -> Result<u8> {
    if outcome.done > 0 && folder.join(folder::RECORDS).metadata().is_ok_and(|records| records.len() > 0) {
        readme::write(folder, &sweep.file, outcome.done, outcome.total)?;
    }
    if !outcome.complete() {
        talk::say(format_args!(
            "interrupted: {} of {} runs are kept; {}",
            outcome.done,
            outcome.total,
            how_to_resume(folder)
        ));
        return Ok(usage::INTERRUPTED);
    }
    talk::print(&report(folder, Form::Text)?)?;
    if outcome.bad > 0 {
        talk::say(format_args!(
            "{} of {} runs failed, are INVALID or have failed calls: the notes of the tables say which",
            outcome.bad, outcome.total
        ));
        return Ok(usage::ROWS_FAILED);
    }
    Ok(usage::GOOD)
}

fn how_to_resume(folder: &Path) -> String {
    format!("`scripts/run-all.sh --resume {}` continues", folder.display())
}
