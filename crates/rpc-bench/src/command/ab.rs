//! `rpc-bench ab`: one framework against itself with one thing changed.

use std::path::{Path, PathBuf};

use anyhow::Result;
use bench_core::talk;

use super::TextOrJson;
use super::values::{ChoiceFlags, RepeatFlags, percent, rate};
use crate::ab::change::{Change, FORMS};
use crate::ab::sides::Sides;
use crate::ab::text::AbReport;
use crate::ab::{Round, instructions, measure};
use crate::build::build_in;
use crate::discovery::Workspace;
use crate::interrupt::Interrupt;
use crate::offer::ask_client;
use crate::sweep::cell::Cell;
use crate::trial::{Arm, RoundsFile, RoundsOf};
use crate::usage;

/// Flags of `ab`.
#[derive(Debug, clap::Args)]
#[command(after_help = help())]
pub struct AbArgs {
    /// Framework to compare with itself
    #[arg(value_name = "FRAMEWORK")]
    framework: String,
    /// What is different in B; may be given several times. Without any, A is compared with A: the noise of this machine
    #[arg(long = "with", value_name = "CHANGE")]
    with: Vec<Change>,
    /// Wire [default: the flagship]
    #[arg(long)]
    wire: Option<String>,
    #[command(flatten)]
    choice: ChoiceFlags,
    /// Calls per second of the open-loop slices [default: half of what the slower side can make]
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    #[command(flatten)]
    repeats: RepeatFlags,
    /// Exit code 4 when a measure is proved worse, and by more than this many percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percent)]
    threshold: f64,
    /// Leaves the counting of instructions out
    #[arg(long)]
    no_instructions: bool,
    /// Appends a line on what is measured and then every round's figures to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Cargo profile of the binaries
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

fn help() -> String {
    format!(
        "Changes:\n{FORMS}\n\nExit codes: 0 no regression; 1 could not run; 2 usage; 4 a regression beyond --threshold; 130 interrupted.\n\n\
        Examples:\n  rpc-bench ab grpc --with version:h2=0.4.14\n  rpc-bench ab grpc --with client:--pool=4\n  \
        rpc-bench ab tcp --with feature:bench-core/system-allocator\n  rpc-bench ab tarpc --with rev:HEAD~1 --threshold 3\n  rpc-bench ab tcp"
    )
}

pub(super) fn run(args: &AbArgs, manifest: Option<&Path>) -> Result<u8> {
    let workspace = Workspace::discover(manifest)?;
    let stack = workspace.stack(&args.framework)?;
    let interrupt = Interrupt::listen()?;
    let sides = Sides::prepare(&workspace.root, &args.with, &args.profile)?;
    let offer = ask_client(&stack.client, &build_in(manifest, &stack.client, &args.profile)?, &stack.framework)?;
    let cell = args.choice.choice(args.wire.clone())?.cell(&offer)?;
    let arms = sides.build(manifest, stack, &cell)?;
    let repeats = args.repeats.repeats(args.rate);
    let title = title(args, &cell);
    let of = RoundsOf {
        title: &title,
        arms: &arms,
        repeats: &repeats,
        profile: &args.profile,
    };
    let mut file = RoundsFile::open(args.record.as_deref(), of)?;
    let keep = |rate_per_s, round: &Round| file.add(rate_per_s, round);
    let Some(mut measured) = measure(&arms, &repeats, &interrupt, keep, |line| talk::say(format_args!("{line}")))? else {
        return Ok(usage::INTERRUPTED);
    };
    let error = measured.error.take();
    let report = AbReport {
        title,
        measured,
        instructions: count_instructions(args, &arms, &interrupt),
        threshold: args.threshold / 100.0,
    };
    match args.output {
        TextOrJson::Text => talk::print(&report.text())?,
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string_pretty(&report.json())?))?,
    }
    if let Some(error) = error {
        return Err(error);
    }
    Ok(match (interrupt.requested(), report.regressions().is_empty()) {
        (true, _) => usage::INTERRUPTED,
        (false, true) => usage::GOOD,
        (false, false) => usage::REGRESSION,
    })
}

fn count_instructions(args: &AbArgs, arms: &[Arm; 2], interrupt: &Interrupt) -> Result<[instructions::Instructions; 2], String> {
    if args.no_instructions {
        return Err("--no-instructions".to_owned());
    }
    let count = |arm| match instructions::per_call(arm, interrupt) {
        Ok(Some(count)) => Ok(count),
        Ok(None) => Err("interrupted".to_owned()),
        Err(error) => Err(format!("{error:#}")),
    };
    Ok([count(&arms[0])?, count(&arms[1])?])
}

fn title(args: &AbArgs, cell: &Cell) -> String {
    let changes: Vec<String> = args.with.iter().map(ToString::to_string).collect();
    match changes.as_slice() {
        [] => format!("{cell}: A against A"),
        _ => format!("{cell}: A against B with {}", changes.join(" and ")),
    }
}
