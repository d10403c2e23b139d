//! `rpc-bench audit`: whether figures can be true.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow};
use bench_core::talk;

use super::TextOrJson;
use super::values::{milliseconds, percent};
use crate::audit::audit;
use crate::audit::check::Rules;
use crate::audit::facts::Surroundings;
use crate::audit::overrides::Override;
use crate::audit::printed::Digits;
use crate::audit::report::Audit;
use crate::audit::unit::Unit;
use crate::usage;

/// Flags of `audit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "FILE is a folder of results, a file with one record a line, or a foreign table: CSV, or pipe tables of Markdown anywhere in a \
    text. Columns are recognised by their names (framework, clients, TPS, mean (ms), p99_us, 99.9%, …), units in the name or behind the \
    number. Each printed number stands for all that rounds to it. Lines of CSV that begin with # are left out.\n\n\
    VALID means that the row is possible, not that it is right.\n\n\
    Exit codes: 0 no row is INVALID, 3 one is, 1 a file cannot be read or nothing in it can be checked, 2 usage.\n\n\
    Examples:\n  rpc-bench audit results/2026-12-01-laptop-1\n  rpc-bench audit record.json\n  rpc-bench audit README.md --callers 100\n  \
    rpc-bench audit table.csv --columns 'score=throughput:ops/ms,tail=p99.9:us' --callers 32 --delay 10ms"
)]
pub struct AuditArgs {
    /// Folders of results, files of records, CSV or Markdown
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What columns are that their names do not say: NAME=FIGURE[:UNIT]
    #[arg(long, value_name = "NAME=FIGURE", value_delimiter = ',')]
    columns: Vec<Override>,
    /// Unit of times that have none: ns, us, ms, s
    #[arg(long, value_name = "UNIT", value_parser = time_unit)]
    unit: Option<Unit>,
    /// Callers of all rows of a table that does not say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    callers: Option<u64>,
    /// Calls of all rows of a table that does not say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
    /// Simulated delay of all rows of a table that does not say; a number alone is in ms
    #[arg(long, value_name = "DURATION", value_parser = milliseconds)]
    delay: Option<Duration>,
    /// Calls were made at a rate: throughput × mean need not reach the callers
    #[arg(long)]
    open_loop: bool,
    /// Percent by which figures may miss each other that may be from separate runs, as throughput and times
    #[arg(long, value_name = "PERCENT", default_value_t = 15.0, value_parser = percent)]
    tolerance: f64,
    /// Whether printed times are rounded, or perhaps cut off [default: cut where all times of a table are whole milliseconds]
    #[arg(long, value_enum)]
    digits: Option<Digits>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

fn time_unit(text: &str) -> Result<Unit, String> {
    match Unit::named(text) {
        Some(unit @ Unit::Time(_)) => Ok(unit),
        _ => Err("expected ns, us, ms or s".to_owned()),
    }
}

pub(super) fn run(args: &AuditArgs) -> Result<u8> {
    let around = Surroundings {
        overrides: args.columns.clone(),
        time_unit: args.unit,
        callers: args.callers,
        calls: args.calls,
        delay: args.delay,
        digits: args.digits,
    };
    let rules = Rules {
        tolerance: args.tolerance / 100.0,
        open_loop: args.open_loop,
    };
    let files = args
        .files
        .iter()
        .map(|path| audit(path, &around, rules))
        .collect::<Result<Vec<_>>>()?;
    let audit = Audit::of(files, rules.tolerance);
    match args.output {
        TextOrJson::Text => talk::print(&audit.text())?,
        TextOrJson::Json => talk::print_line(&serde_json::to_string(&audit).map_err(|error| anyhow!(error))?)?,
    }
    Ok(match audit.summary.invalid {
        0 => usage::GOOD,
        _ => usage::ROWS_FAILED,
    })
}
