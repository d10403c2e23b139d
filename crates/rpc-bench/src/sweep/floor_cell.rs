//! The loopback floor as a cell: `rpc-bench floor` in a process of its own, like everything that is measured.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench_core::duration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::child::{Child, Waited};
use crate::interrupt::Interrupt;

/// Connecting, and the floor's own repeats with one and with two threads a side.
const SLACK: Duration = Duration::from_secs(20);

/// A line of `floor.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorRecord {
    /// Round of the sweep, from 0.
    pub round: u64,
    /// Concurrent ping-pongs.
    pub concurrency: u64,
    /// Ping-pongs per second; null when it failed.
    pub throughput_per_s: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// All that `rpc-bench floor` said.
    pub result: Value,
}

/// Runs the floor once; `None` when somebody asked to stop. A failure is part of the record.
pub fn run(program: &Path, round: u64, callers: u64, measure_ms: u64, interrupt: &Interrupt) -> Option<FloorRecord> {
    let result = attempt(program, callers, Duration::from_millis(measure_ms), interrupt);
    let (result, error) = match result {
        Ok(None) => return None,
        Err(_) if interrupt.requested() => return None,
        Ok(Some(result)) => (result, None),
        Err(error) => (Value::Null, Some(format!("{error:#}"))),
    };
    Some(FloorRecord {
        round,
        concurrency: callers,
        throughput_per_s: result.get("throughput_per_s").and_then(Value::as_f64),
        error,
        result,
    })
}

fn attempt(program: &Path, callers: u64, measure: Duration, interrupt: &Interrupt) -> Result<Option<Value>> {
    let mut command = Command::new(program);
    command.args([
        "floor",
        "-c",
        &callers.to_string(),
        "-d",
        &duration::format(measure),
        "--output",
        "json",
    ]);
    let mut child = Child::spawn("rpc-bench floor", command)?;
    match child.output(4 * measure + SLACK, interrupt)? {
        Waited::Got((text, status)) if status.success() => {
            let result: Value = serde_json::from_str(&text).context("the answer of rpc-bench floor")?;
            match result.get("throughput_per_s").and_then(Value::as_f64) {
                Some(throughput) if throughput > 0.0 => Ok(Some(result)),
                _ => bail!("rpc-bench floor gave no throughput_per_s: {text}"),
            }
        }
        Waited::Got((_, status)) => bail!("rpc-bench floor failed ({status}): {}", child.final_words()),
        Waited::Closed | Waited::TimedOut => bail!("rpc-bench floor did not end in time: {}", child.last_words()),
        Waited::Interrupted => {
            child.terminate(Duration::from_secs(2));
            Ok(None)
        }
    }
}
