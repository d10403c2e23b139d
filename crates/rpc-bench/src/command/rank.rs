//! `rpc-bench rank`: which stacks are provably cheaper or faster.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bench_core::talk;
use bench_core::units::duration_in_words;

use super::TextOrJson;
use super::values::{ChoiceFlags, RepeatFlags, rate};
use crate::interrupt::Interrupt;
use crate::rank::Report;
use crate::sweep::cell::Cell;
use crate::sweep::connections::Connections;
use crate::trial::{Arm, CONTROL, Chosen, Figures, RoundsFile, RoundsOf, Taken, build_and_choose, over_the_usual_pool};
use crate::usage::{self, usage_error};

/// Flags of `rank`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "In a round every stack has a fresh server and client. All stay connected and are measured by turns in slices of a closed loop and of an\n\
    open loop at the same rate, in a new order each time. Each measure has a table: ratios to raw TCP of the same round with their\n\
    intervals, and the places that are proved. Stacks that multiplex have a second row, over 10 shared connections. It stops when\n\
    throughput and CPU per call at the rate are known to --precision, or when --time or --rounds are over.\n\n\
    Examples:\n  rpc-bench rank\n  rpc-bench rank grpc tarpc -r 15000 --time 5m\n  rpc-bench rank --pool 10 --wire h2/protobuf,ws/json,tcp+mux/protobuf\n  \
    rpc-bench rank --precision 3 --output json > rank.json"
)]
pub struct RankArgs {
    /// Frameworks, with raw TCP besides, to which ratios are (to the first where it has none of the wires) [default: all]
    #[arg(value_name = "FRAMEWORK")]
    frameworks: Vec<String>,
    /// Wires, separated by commas [default: the flagship of each framework]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    wire: Vec<String>,
    #[command(flatten)]
    choice: ChoiceFlags,
    /// Leaves out the rows of stacks that multiplex over 10 shared connections, which stand beside those of own ones unless --pool is given
    #[arg(long, conflicts_with = "pool")]
    no_shared: bool,
    /// Calls per second of the open-loop slices [default: half of what the slowest stack can make]
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    rate: Option<f64>,
    #[command(flatten)]
    repeats: RepeatFlags,
    /// Appends a line on what is measured and then every round's figures to a file, one JSON object a line, stacks by name
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Cargo profile of the binaries
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

pub(super) fn run(args: &RankArgs, manifest: Option<&Path>) -> Result<u8> {
    let mut frameworks = args.frameworks.clone();
    if !frameworks.is_empty() && !frameworks.iter().any(|name| name == CONTROL) {
        frameworks.push(CONTROL.to_owned());
    }
    let asked = asked(args)?;
    let Chosen { mut arms, not_offered, .. } = build_and_choose(manifest, &frameworks, &args.profile, &args.wire, &asked)?;
    if arms.len() < 2 {
        return Err(usage_error(
            "one stack alone has no place: name another framework, or another --wire",
        ));
    }
    // The sort is stable: others stay in their order.
    arms.sort_by_key(|arm| arm.cell.framework != CONTROL);
    let title = title(&arms)?;
    let interrupt = Interrupt::listen()?;
    talk::say(format_args!(
        "{} to rank, ratios to {}; at most {}",
        arms.len(),
        arms.first().map_or("", |arm| arm.name.as_str()),
        duration_in_words(args.repeats.time)
    ));
    let repeats = args.repeats.repeats(args.rate);
    let of = RoundsOf {
        title: &title,
        arms: &arms,
        repeats: &repeats,
        profile: &args.profile,
    };
    let mut file = RoundsFile::open(args.record.as_deref(), of)?;
    let names: Vec<String> = arms.iter().map(|arm| arm.name.clone()).collect();
    let keep = |rate_per_s, taken: &[Taken]| {
        let figures: BTreeMap<&String, &Figures> = names.iter().zip(taken.iter().map(|taken| &taken.figures)).collect();
        file.add(rate_per_s, &figures)
    };
    let Some(mut repeated) = repeats.measure(&arms, &interrupt, keep, |line| talk::say(format_args!("{line}")))? else {
        return Ok(usage::INTERRUPTED);
    };
    let error = repeated.error.take();
    let report = Report::new(title.clone(), &arms, repeated, not_offered);
    match args.output {
        TextOrJson::Text => talk::print(&report.text())?,
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string_pretty(&report.json())?))?,
    }
    if let Some(error) = error {
        return Err(error);
    }
    Ok(if interrupt.requested() { usage::INTERRUPTED } else { usage::GOOD })
}

/// What is asked of every stack: where nothing was said of connections, own ones and, where it multiplexes, shared ones.
fn asked(args: &RankArgs) -> Result<Vec<Cell>> {
    let asked = args.choice.choice(None)?.asked();
    let with_shared = (args.choice.pool.is_none() && !args.no_shared).then(|| over_the_usual_pool(&asked));
    Ok([asked].into_iter().chain(with_shared).collect())
}

/// What was asked of all arms, in a line.
///
/// # Errors
/// A usage error when they have different workloads: then their figures are of different calls.
fn title(arms: &[Arm]) -> Result<String> {
    let Some(Arm { name, cell, .. }) = arms.first() else {
        return Ok(String::new());
    };
    if let Some(other) = arms.iter().find(|arm| arm.cell.workload != cell.workload) {
        return Err(usage_error(format!(
            "{name} makes {} calls and {} {} calls: there is no ranking of different workloads; choose by --wire",
            cell.workload, other.name, other.cell.workload
        )));
    }
    let mut kinds: Vec<Connections> = arms.iter().map(|arm| arm.cell.connections).collect();
    kinds.sort();
    kinds.dedup();
    let connections: Vec<String> = kinds
        .into_iter()
        .map(|connections| match connections {
            Connections::PerCaller => "a connection each".to_owned(),
            Connections::Shared(number) => format!("over {number} shared connections"),
        })
        .collect();
    Ok(format!(
        "{}, {} callers, {}, {} delay, {} lane",
        cell.workload,
        cell.callers,
        connections.join(" or "),
        cell.delay(),
        cell.lane
    ))
}
