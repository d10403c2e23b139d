//! The null client: no network, no message. What the measured loop itself costs is what it takes.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bench_core::failure::CallError;
use bench_core::histogram::TimesSummary;
use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, EchoMessage};
use bench_core::wire::Wire;
use bench_host::{CpuSet, now_ns};

use crate::connect::{CallResult, Connect, EchoCalls, Settings};
use crate::progress::Progress;
use crate::registry::Entry;
use crate::target::Target;
use crate::watch::Limits;
use crate::window::Window;
use crate::worker::{Command, Event, RunOrder, WorkerSpec};
use crate::workload::{Echo, WorkloadSpec};

/// Answers without a network.
struct Null;

/// A message that costs nothing to make, clone and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullMessage(u64);

impl From<BenchmarkMessage> for NullMessage {
    fn from(_message: BenchmarkMessage) -> Self {
        Self(0)
    }
}

impl EchoMessage for NullMessage {
    fn answer(&mut self) {
        self.0 += 1;
    }

    fn mutate(&mut self, seed: u64) {
        self.0 = seed;
    }
}

impl Connect for Null {
    const WIRE: Wire = Wire::new("null", "none");

    async fn connect(_target: &Target) -> CallResult<Self> {
        Ok(Self)
    }

    fn settings(_lane: Lane) -> Settings {
        Settings::new()
    }
}

impl EchoCalls for Null {
    type Message = NullMessage;

    async fn say(&mut self, mut request: NullMessage) -> Result<NullMessage, CallError> {
        request.answer();
        Ok(request)
    }
}

/// What one caller of the measured loop did against nothing.
#[derive(Clone, Debug)]
pub struct NullRun {
    /// Calls made.
    pub calls: u64,
    /// Time per call in nanoseconds, everything included.
    pub ns_per_call: f64,
    /// What the loop measured of itself: two readings of the clock and an empty call.
    pub service_time: TimesSummary,
}

/// Runs the measured loop over the null client: one caller makes `calls` calls on one of the CPUs `cpus`.
///
/// # Errors
/// When a thread cannot be started or pinned.
pub fn run(calls: u64, cpus: &CpuSet) -> anyhow::Result<NullRun> {
    let (to_worker, commands) = tokio::sync::mpsc::unbounded_channel();
    let (to_control, events) = mpsc::channel();
    let window = Arc::new(Window::new());
    let start = now_ns();
    window.open(start, crate::window::NEVER);
    let order = RunOrder {
        window,
        count: Some(calls),
        callers: 1,
        pace: None,
        began_ns: start,
    };
    to_worker.send(Command::Run(order)).context("cannot order the run")?;
    drop(to_worker);
    let spec = WorkerSpec {
        target: Target {
            text: String::new(),
            lane: Lane::Default,
            addresses: Vec::new(),
            dial_limit: Duration::ZERO,
            slot: None,
        },
        connections: vec![vec![0]],
        cpus: cpus.clone(),
        limits: Limits {
            timeout: Duration::from_secs(60),
            drain: Duration::ZERO,
        },
        workload: WorkloadSpec { payload_bytes: 0, seed: 1 },
        progress: Arc::new(Progress::default()),
    };
    let entry = Entry::of::<Null, Echo<NullMessage>>();
    std::thread::spawn(move || (entry.work)(spec, commands, &to_control))
        .join()
        .map_err(|_| anyhow::anyhow!("the null client panicked"))??;
    for event in events {
        if let Event::RunEnded(run) = event {
            let ended = run.callers.first().and_then(|caller| caller.ended_ns);
            let (Some(ended), Some(service_time)) = (ended, run.tally.service.summary()) else {
                break;
            };
            return Ok(NullRun {
                calls: service_time.count,
                ns_per_call: (ended - start) as f64 / service_time.count as f64,
                service_time,
            });
        }
    }
    bail!("the null client made no call")
}

/// Calls of [`ceiling_per_s`]: about 10 ms.
const CEILING_CALLS: u64 = 100_000;

/// Calls per second of the measured loop against nothing, on so many threads of the CPUs `cpus`: one caller on one of them, multiplied.
/// A client that comes near it measures itself.
///
/// # Errors
/// As [`run`].
pub(crate) fn ceiling_per_s(threads: u64, cpus: &CpuSet) -> anyhow::Result<f64> {
    let at_once = threads.min(cpus.indices().len() as u64).max(1);
    Ok(at_once as f64 * 1e9 / run(CEILING_CALLS, cpus)?.ns_per_call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_makes_exactly_the_calls_it_was_asked_for() {
        let run = run(10_000, &CpuSet::allowed().unwrap()).unwrap();
        assert_eq!(run.calls, 10_000);
        assert!(run.ns_per_call > 0.0);
    }
}
