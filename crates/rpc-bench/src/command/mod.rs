//! The subcommands: flags, and what each does with them.

mod ab;
mod audit;
mod calibrate;
mod check;
mod compare;
mod floor;
mod knee;
mod ladder;
mod list;
mod rank;
mod report;
mod sweep;
mod values;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Flags of the command itself.
#[derive(Debug, Parser)]
#[command(
    name = "rpc-bench",
    version,
    about = "Benchmarks RPC frameworks: lists the stacks, sweeps a matrix over them, makes tables from the records",
    after_help = "Examples:\n  rpc-bench list\n  rpc-bench sweep quick --label laptop\n  rpc-bench report results/2026-12-01-laptop-1\n  rpc-bench audit table.csv"
)]
pub struct Cli {
    /// Cargo.toml of the workspace [default: that of `cargo run`, else the one above the current folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub manifest_path: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lists the stacks with their wires and workloads
    List(list::ListArgs),
    /// Checks that the stacks do what the suite asks of a framework, wire by wire
    Check(check::CheckArgs),
    /// Runs a matrix of cells and writes a folder of results
    Sweep(sweep::SweepArgs),
    /// Makes the tables again from records
    Report(report::ReportArgs),
    /// Says which rows cannot be true, of records and of foreign tables
    Audit(audit::AuditArgs),
    /// Measures what the instruments cost on this machine: clock, loop, message, timers, loopback floor
    Calibrate(calibrate::CalibrateArgs),
    /// Compares a framework with itself with one thing changed: a dependency, a setting, a revision
    Ab(ab::AbArgs),
    /// Says what changed between two recorded sets
    Compare(compare::CompareArgs),
    /// Ranks the stacks by cost and speed, measured by turns, with intervals and only the places that are proved
    Rank(rank::RankArgs),
    /// Shows where a call's microseconds of CPU go: codec, frames, each framework
    Ladder(ladder::LadderArgs),
    /// Finds the highest rate whose p99 response time stays under a limit, and what happens beyond it
    Knee(knee::KneeArgs),
    /// Measures the loopback floor: calls per second without any framework
    Floor(floor::FloorArgs),
}

/// Does what was asked for and says with which code to exit.
///
/// # Errors
/// When it could not be done; [`crate::usage::exit_code_of`] has the code.
pub fn run(cli: Cli) -> Result<u8> {
    let manifest = cli.manifest_path.as_deref();
    match cli.command {
        Command::List(args) => list::run(&args, manifest),
        Command::Check(args) => check::run(&args, manifest),
        Command::Sweep(args) => sweep::run(&args, manifest),
        Command::Report(args) => report::run(&args),
        Command::Calibrate(args) => calibrate::run(&args, manifest),
        Command::Ab(args) => ab::run(&args, manifest),
        Command::Compare(args) => compare::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Rank(args) => rank::run(&args, manifest),
        Command::Ladder(args) => ladder::run(&args, manifest),
        Command::Knee(args) => knee::run(&args, manifest),
        Command::Floor(args) => floor::run(&args),
    }
}

/// How data is printed on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TextOrJson {
    /// For a person.
    Text,
    /// One JSON document.
    Json,
}
