//! What a server says about itself: the ready line, the answer of its stats endpoint, and its last line.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::build_info::BuildInfo;
use crate::lane::Lane;

/// What stays the same while a server runs. The ready line is `{"ready": ServerInfo}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// Bound RPC address.
    pub addr: String,
    /// Bound address of the stats endpoint; null with `--no-stats`.
    pub stats: Option<String>,
    /// Random number of this process, in hex: two readings with one id come from one server.
    pub instance: String,
    /// Short name of the stack, for example `grpc`.
    pub framework: String,
    /// The measured library.
    pub library: String,
    /// Its version in Cargo.lock.
    pub library_version: String,
    /// Wires that this process answers, by name.
    pub wires: Vec<String>,
    /// Lane of its settings.
    pub lane: Lane,
    /// Simulated delay asked for, in milliseconds.
    pub delay_requested_ms: f64,
    /// Mean lateness of the delay's timer with nothing else to do, in microseconds, measured at start; null without a delay.
    pub timer_lateness_idle_us_mean: Option<f64>,
    /// True when handlers yield once to the scheduler before they work (`--yield`).
    pub yields: bool,
    /// Runtime threads that serve calls.
    pub runtime_threads: usize,
    /// `current-thread` (one runtime a thread) or `multi` (one runtime for all).
    pub runtime: String,
    /// CPUs the runtime threads may use; null when that is left to the kernel.
    pub cpus: Option<Vec<usize>>,
    /// How the binary was built.
    pub build: BuildInfo,
    /// Effective settings of sockets and library, read back where they can be.
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// What a server has done since it started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCounters {
    /// Calls that a handler finished.
    pub calls: u64,
    /// Connections accepted.
    pub connections_accepted: u64,
    /// Connections that ended in an error, as far as the library says: refused frames, garbage, peers too slow.
    pub connection_failures: u64,
    /// The first ten of their texts.
    pub failures: Vec<String>,
    /// What the simulated delay did; null without a delay.
    pub delay: Option<DelayCounters>,
    /// User CPU seconds of the process.
    pub cpu_user_s: f64,
    /// System CPU seconds of the process.
    pub cpu_sys_s: f64,
    /// Peak resident memory in bytes.
    pub peak_rss_bytes: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Allocations and reallocations of the process; null in a build that does not count them.
    #[serde(default)]
    pub allocations: Option<u64>,
    /// Threads now.
    pub threads: u64,
}

/// Sums over all simulated delays, so that two readings can be subtracted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayCounters {
    /// Number of delays.
    pub count: u64,
    /// Sum of the measured delays (call of sleep to running again), nanoseconds.
    pub slept_ns_sum: u64,
    /// Sum of deadline → wake, nanoseconds: the instrument's error.
    pub lateness_ns_sum: u64,
    /// Sum of wake → the handler runs again, nanoseconds: the runtime's scheduling.
    pub resume_lag_ns_sum: u64,
    /// Measured delays since the start.
    pub slept_ns: Option<crate::histogram::TimesSummary>,
    /// Lateness since the start.
    pub lateness_ns: Option<crate::histogram::TimesSummary>,
    /// Resume lag since the start.
    pub resume_lag_ns: Option<crate::histogram::TimesSummary>,
}

/// Answer of `GET /stats`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStats {
    /// What stays the same.
    pub info: ServerInfo,
    /// What changes.
    pub counters: ServerCounters,
}

/// A line that a server prints with `--output json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerLine {
    /// First line: it is listening.
    Ready(Box<ServerInfo>),
    /// Last line: it has stopped cleanly.
    Stopped(Box<ServerCounters>),
}
