//! From what a command line names to a cell of a stack that offers it.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use bench_core::lane::Lane;

use super::Arm;
use crate::discovery::Workspace;
use crate::offer::ClientOffer;
use crate::programs::Programs;
use crate::sweep::cell::Cell;
use crate::sweep::connections::Connections;
use crate::usage::usage_error;

/// Warm-up of a process's first slice, in milliseconds.
const WARMUP_MS: u64 = 500;

/// What to measure of a framework.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Wire; `None` for the flagship.
    pub wire: Option<String>,
    /// Concurrent callers.
    pub callers: u64,
    /// Connections that they share; `None` for one each.
    pub pool: Option<u32>,
    /// Simulated delay.
    pub delay: Duration,
    /// Lane of both sides.
    pub lane: Lane,
}

impl Default for Choice {
    /// The flagship in its default lane, 100 callers with a connection each, no delay.
    fn default() -> Self {
        Self {
            wire: None,
            callers: 100,
            pool: None,
            delay: Duration::ZERO,
            lane: Lane::Default,
        }
    }
}

impl Choice {
    /// The cell of a stack.
    ///
    /// # Errors
    /// A usage error when the stack does not offer it.
    pub fn cell(&self, offer: &ClientOffer) -> Result<Cell> {
        let Some(entry) = offer.preferred(self.wire.as_deref()) else {
            return Err(usage_error(format!("no such --wire; there are: {}", offer.wires().join(", "))));
        };
        if self.pool.is_some() && !entry.shares {
            return Err(usage_error(format!(
                "--pool: a connection of {} carries one call at a time",
                entry.wire
            )));
        }
        Ok(Cell {
            framework: offer.framework.clone(),
            wire: entry.wire.clone(),
            workload: entry.workload.clone(),
            ..self.asked()
        })
    }

    /// The part of a cell that is the same for every stack; framework, wire and workload are not named in it.
    pub fn asked(&self) -> Cell {
        Cell {
            framework: String::new(),
            wire: String::new(),
            lane: self.lane,
            workload: String::new(),
            payload_bytes: None,
            delay_us: self.delay.as_micros() as u64,
            callers: self.callers,
            connections: self.pool.map_or(Connections::PerCaller, Connections::Shared),
            server_threads: None,
            server_runtime: None,
            yields: false,
            pace: None,
            client_threads: None,
            // Slices have lengths of their own.
            measure_ms: 1,
            calls: None,
            warmup_ms: WARMUP_MS,
        }
    }
}

/// The flagship of a framework as an arm, built in the workspace's own target folder.
///
/// # Errors
/// When there is no such framework, or it does not build.
pub fn flagship(manifest: Option<&Path>, framework: &str, profile: &str) -> Result<Arm> {
    let workspace = Workspace::discover(manifest)?;
    let (programs, offer) = Programs::build_and_ask(manifest, workspace.stack(framework)?.clone(), profile)?;
    let cell = Choice::default().cell(&offer)?;
    Ok(Arm::new(framework, cell, programs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer::Entry;

    #[test]
    fn what_a_stack_does_not_offer_is_refused_by_its_flag() {
        let entry = |wire: &str, workload: &str, shares| Entry {
            wire: wire.to_owned(),
            workload: workload.to_owned(),
            shares,
            sized: false,
            blocking: false,
            flagship: shares,
        };
        let offer = ClientOffer {
            framework: "x".to_owned(),
            library: "l".to_owned(),
            entries: vec![
                entry("a/b", "payload", false),
                entry("a/b", "echo", false),
                entry("c/d", "echo", true),
            ],
        };
        assert_eq!(Choice::default().cell(&offer).unwrap().wire, "c/d");
        // As `rank` and `knee` choose: with echo where a wire has it.
        let named = Choice {
            wire: Some("a/b".to_owned()),
            ..Choice::default()
        };
        assert_eq!(named.cell(&offer).unwrap().workload, "echo");
        let refuse = |choice: Choice, parts: &[&str]| {
            let error = choice.cell(&offer).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        };
        let (wire, choice) = (|name: &str| Some(name.to_owned()), Choice::default());
        refuse(
            Choice {
                wire: wire("e/f"),
                ..choice.clone()
            },
            &["--wire", "a/b, c/d"],
        );
        refuse(
            Choice {
                wire: wire("a/b"),
                pool: Some(2),
                ..choice
            },
            &["--pool", "one call"],
        );
    }
}
