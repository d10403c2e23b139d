//! A server and its client that stay connected and are measured slice by slice (`client --hold`).

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench_core::record::Record;
use serde_json::Value;

use super::arm::Arm;
use crate::child::{Child, Waited};
use crate::interrupt::Interrupt;
use crate::sweep::run_cell;

/// Time beyond warm-up, slice, drain and the calls' limit that a slice may take.
const SLACK: Duration = Duration::from_secs(20);
/// Time that a client has to say goodbye after its stdin was closed.
const CLIENT_GRACE: Duration = Duration::from_secs(5);

/// One server process and one client process, connected.
#[derive(Debug)]
pub struct Held {
    client: Child,
    server: Child,
}

/// What is measured next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Length of the measured window in milliseconds, from 1.
    pub ms: u64,
    /// Calls per second of an open loop; `None` for a closed one.
    pub rate_per_s: Option<f64>,
}

impl Held {
    /// Starts both processes and returns without waiting for the client: its first slice waits for it. `None` when somebody asked to stop.
    ///
    /// # Errors
    /// When one of them cannot be started, or the server does not get ready.
    pub fn start(arm: &Arm, seed: u64, interrupt: &Interrupt) -> Result<Option<Self>> {
        let mut command = run_cell::server_command(&arm.cell, &arm.programs);
        command.args(&arm.server_flags);
        let server = Child::spawn(&arm.programs.stack.server, with_environment(command, arm))?;
        let Some(info) = run_cell::ready(&server, interrupt)? else {
            return Ok(None);
        };
        let mut command = run_cell::held_client_command(&arm.cell, &arm.programs, &info, seed);
        command.args(&arm.client_flags);
        let client = Child::spawn(&arm.programs.stack.client, with_environment(command, arm))?;
        Ok(Some(Self { client, server }))
    }

    /// Measures one slice; `None` when somebody asked to stop.
    ///
    /// # Errors
    /// When the client ends, is silent, or answers with an error: its own words are in the text.
    pub fn measure(&mut self, arm: &Arm, slice: Slice, interrupt: &Interrupt) -> Result<Option<Record>> {
        let order = serde_json::json!({ "slice_ms": slice.ms, "rate_per_s": slice.rate_per_s });
        let name = self.client.name().to_owned();
        if let Err(error) = self.client.write_line(&order.to_string()) {
            bail!("{name} takes no more slices ({error}): {}", self.final_words());
        }
        let limit = run_cell::longest_slice(&arm.cell, Duration::from_millis(slice.ms)) + SLACK;
        match self.client.next_line(limit, interrupt) {
            Waited::Got(line) => {
                let answer: Value = serde_json::from_str(&line).with_context(|| format!("the answer of {name}"))?;
                if let Some(error) = answer.get("error").and_then(Value::as_str) {
                    bail!("{name} refused a slice: {error}");
                }
                let record: Record = serde_json::from_value(answer).with_context(|| format!("the record of {name}"))?;
                run_cell::check_identity(&record, &arm.cell).with_context(|| format!("the record of {name}"))?;
                Ok(Some(record))
            }
            Waited::Closed => bail!("{name} ended: {}", self.final_words()),
            Waited::TimedOut => bail!(
                "{name} did not answer a slice within {} s: {}",
                limit.as_secs(),
                join([self.client.last_words(), self.server.last_words()])
            ),
            Waited::Interrupted => Ok(None),
        }
    }

    /// Ends both, the client first.
    ///
    /// # Errors
    /// When the system does not tell how they ended.
    pub fn stop(mut self) -> Result<()> {
        self.client.close_and_wait(CLIENT_GRACE)?;
        self.server.close_and_wait(run_cell::STOP_GRACE)?;
        Ok(())
    }

    /// What both said last, of a client that has ended.
    fn final_words(&self) -> String {
        join([self.client.final_words(), self.server.last_words()])
    }
}

/// Those that are there.
fn join(words: [String; 2]) -> String {
    let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
    if words.is_empty() {
        "without a word".to_owned()
    } else {
        words.join(" | ")
    }
}

/// The command with the environment of the arm.
pub(crate) fn with_environment(mut command: Command, arm: &Arm) -> Command {
    command.envs(arm.environment.iter().map(|(name, value)| (name, value)));
    command
}
