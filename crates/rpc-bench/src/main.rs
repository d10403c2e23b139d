//! `rpc-bench`: list, check, sweep, report, audit, ladder, calibrate, floor.

use std::process::ExitCode;

use bench_core::talk;
use clap::Parser;
use rpc_bench::command::{Cli, run};
use rpc_bench::usage;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            talk::say(format_args!("rpc-bench: {error:#}"));
            ExitCode::from(usage::exit_code_of(&error))
        }
    }
}
