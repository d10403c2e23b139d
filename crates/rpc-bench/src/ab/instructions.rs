//! Instructions per call, counted by valgrind: a figure that no neighbour on the machine can move.
//!
//! One caller, so that nothing is batched by chance. Two runs of different length with one side under valgrind: the difference of their
//! counts over the difference of their calls leaves out start, connecting and the end. Only instructions in user mode are seen.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::child::{Child, Waited};
use crate::interrupt::Interrupt;
use crate::sweep::run_cell;
use crate::trial::Arm;
use crate::trial::held::with_environment;

/// Calls of the short and of the long run.
const CALLS: [u64; 2] = [1_000, 9_000];
/// What is counted, whatever is measured besides.
pub const COUNTED_AT: &str = "of one caller in a closed loop at 0 ms delay, whatever the slices are";
/// Flags of a client that share its one connection or pace its calls, each with a value.
const NOT_COUNTED: [&str; 3] = ["--pool", "--arrival", "--pacer"];
/// The slowest stack takes a few seconds.
const LIMIT: Duration = Duration::from_secs(180);

/// Instructions per call in user mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Instructions {
    /// Of the client.
    pub client: f64,
    /// Of the server.
    pub server: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Counted {
    Client,
    Server,
}

/// Counts them; `None` when somebody asked to stop.
///
/// # Errors
/// When valgrind is missing, or a run failed.
pub fn per_call(arm: &Arm, interrupt: &Interrupt) -> Result<Option<Instructions>> {
    let installed = Command::new("valgrind")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !installed {
        bail!("valgrind is not installed");
    }
    let side = |counted| -> Result<Option<f64>> {
        let mut counts = Vec::new();
        for calls in CALLS {
            match count(arm, counted, calls, interrupt)? {
                Some(count) => counts.push(count as f64),
                None => return Ok(None),
            }
        }
        Ok(Some((counts[1] - counts[0]) / (CALLS[1] - CALLS[0]) as f64))
    };
    let (Some(client), Some(server)) = (side(Counted::Client)?, side(Counted::Server)?) else {
        return Ok(None);
    };
    Ok(Some(Instructions { client, server }))
}

/// All instructions of one side in a run of so many calls.
fn count(arm: &Arm, counted: Counted, calls: u64, interrupt: &Interrupt) -> Result<Option<u64>> {
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let log = folder.path().join("valgrind.log");
    let one_caller = one_caller(arm, calls);
    let wrap = |command: Command, side| {
        let command = if side == counted { under_valgrind(&command, &log) } else { command };
        with_environment(command, arm)
    };
    let mut command = run_cell::server_command(&one_caller.cell, &arm.programs);
    command.args(&arm.server_flags);
    let mut server = Child::spawn(&arm.programs.stack.server, wrap(command, Counted::Server))?;
    let Some(info) = run_cell::ready(&server, interrupt)? else {
        return Ok(None);
    };
    let mut command = run_cell::client_command(&one_caller.cell, &arm.programs, &info, 1, "instructions");
    command.args(&one_caller.client_flags);
    let mut client = Child::spawn(&arm.programs.stack.client, wrap(command, Counted::Client))?;
    let name = client.name().to_owned();
    match client.output(LIMIT, interrupt)? {
        Waited::Got((_, status)) if status.success() => {}
        Waited::Got((_, status)) => bail!("{name} failed under valgrind's eyes ({status}): {}", client.final_words()),
        Waited::Interrupted => return Ok(None),
        _ => bail!("{name} did not end within {} s", LIMIT.as_secs()),
    }
    server.close_and_wait(LIMIT)?;
    let text = std::fs::read_to_string(&log).context("valgrind's log")?;
    Ok(Some(instructions_in(&text).context("valgrind's log has no count of instructions")?))
}

/// The arm with one caller that makes a number of calls at once, without a warm-up. Timers would fire more or less often by the clock.
fn one_caller(arm: &Arm, calls: u64) -> Arm {
    let mut arm = arm.clone();
    arm.cell.callers = 1;
    arm.cell.connections = crate::sweep::connections::Connections::PerCaller;
    (arm.cell.warmup_ms, arm.cell.measure_ms, arm.cell.calls) = (0, LIMIT.as_millis() as u64, Some(calls));
    (arm.cell.delay_us, arm.cell.pace) = (0, None);
    arm.client_flags = without(&arm.client_flags, &NOT_COUNTED);
    arm
}

/// The flags but for these and their values, each flag and each value a word of its own, as [`super::change::Change`] has them.
fn without(flags: &[String], left_out: &[&str]) -> Vec<String> {
    let mut flags = flags.iter();
    let mut kept = Vec::new();
    while let Some(flag) = flags.next() {
        match left_out.contains(&flag.as_str()) {
            true => drop(flags.next()),
            false => kept.push(flag.clone()),
        }
    }
    kept
}

fn under_valgrind(command: &Command, log: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", log.display()))
        .arg(command.get_program())
        .args(command.get_args());
    valgrind
}

/// From `==123== I refs: 16,034,772`, whatever the spaces.
fn instructions_in(log: &str) -> Option<u64> {
    let line = log.lines().rev().find(|line| line.contains("refs:") && line.contains("I "))?;
    let digits: String = line.split("refs:").nth(1)?.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_pace_or_share_are_left_out_with_their_values() {
        let flags = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (given, kept) in [
            ("--pool 4 --threads 2", "--threads 2"),
            ("--threads 2 --arrival poisson --verbose --pacer spin", "--threads 2 --verbose"),
            ("--pool", ""),
        ] {
            assert_eq!(without(&flags(given), &NOT_COUNTED), flags(kept), "{given}");
        }
    }

    #[test]
    fn the_count_is_read_from_valgrinds_log() {
        let log = "==7== Cachegrind\n==7== \n==7== I   refs:      16,034,772\n";
        assert_eq!(instructions_in(log), Some(16_034_772));
        assert_eq!(instructions_in("==7== I refs:        5\n"), Some(5));
        assert_eq!(instructions_in("==7== Killed\n"), None);
    }
}
