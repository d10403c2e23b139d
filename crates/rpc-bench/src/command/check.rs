//! `rpc-bench check`: does each stack what the suite asks of a framework?

use std::path::Path;

use anyhow::Result;
use bench_core::talk;

use crate::check::matrix::run_all;
use crate::check::{CHECKS, Subject, builder, subjects};
use crate::discovery::Workspace;
use crate::interrupt::Interrupt;
use crate::usage::{self, usage_error};

/// Flags of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all checks passed; 1 could not run; 2 usage; 3 a check failed.\n\n\
    Examples:\n  rpc-bench check\n  rpc-bench check grpc\n  rpc-bench check tcp --wire tcp+framed/json --lane tuned\n  rpc-bench check --list")]
pub struct CheckArgs {
    /// Framework to check [default: all]
    #[arg(value_name = "FRAMEWORK")]
    framework: Option<String>,
    /// Only this wire
    #[arg(long)]
    wire: Option<String>,
    /// Lane of server and client
    #[arg(long, value_name = "default|tuned", default_value_t)]
    lane: bench_core::lane::Lane,
    /// Prints the names of the checks and ends
    #[arg(long)]
    list: bool,
    /// Cargo profile to build the binaries with
    #[arg(long, default_value = "dev", value_name = "NAME")]
    profile: String,
}

pub(super) fn run(args: &CheckArgs, manifest: Option<&Path>) -> Result<u8> {
    if args.list {
        let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        talk::print_line(&names.join("\n"))?;
        return Ok(usage::GOOD);
    }
    let subjects = chosen(args, manifest)?;
    let interrupt = Interrupt::listen()?;
    let matrix = run_all(&subjects, &interrupt, |line| talk::say(format_args!("{line}")));
    if interrupt.requested() {
        return Ok(usage::INTERRUPTED);
    }
    talk::print(&matrix.text())?;
    Ok(if matrix.all_passed() { usage::GOOD } else { usage::ROWS_FAILED })
}

fn chosen(args: &CheckArgs, manifest: Option<&Path>) -> Result<Vec<Subject>> {
    let workspace = Workspace::discover(manifest)?;
    if let Some(name) = &args.framework {
        workspace.stack(name)?;
    }
    let mut subjects = subjects(&workspace, args.framework.as_deref(), builder(manifest, &args.profile))?;
    let wires: Vec<String> = subjects.iter().map(|subject| subject.wire.clone()).collect();
    subjects.retain(|subject| args.wire.as_ref().is_none_or(|wire| subject.wire == *wire));
    if subjects.is_empty() {
        return Err(usage_error(format!("no such --wire; there are: {}", wires.join(", "))));
    }
    for subject in &mut subjects {
        subject.lane = args.lane;
    }
    Ok(subjects)
}
