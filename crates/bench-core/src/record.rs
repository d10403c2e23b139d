//! The run record, schema 1: what one measured run was and what came out. Field names are fixed; tools read them.

use std::collections::BTreeMap;

use bench_host::HostInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::build_info::BuildInfo;
use crate::failure::FailureKind;
use crate::histogram::TimesSummary;
use crate::lane::Lane;
use crate::verdict::Verdict;

/// Version of the record that this code writes and reads.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of one client against one server. `null` means unknown or not applicable, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Always 1.
    pub schema_version: u32,

    /// Short name of the stack, for example `grpc`.
    pub framework: String,
    /// The measured library.
    pub library: String,
    /// Its version in Cargo.lock.
    pub library_version: String,
    /// `transport/codec`.
    pub wire: String,
    /// First half of the wire.
    pub transport: String,
    /// Second half of the wire.
    pub codec: String,
    /// Which settings the library ran with.
    pub lane: Lane,
    /// Workload, for example `echo`.
    pub workload: String,
    /// Size of the request's message in bytes, before framing.
    pub payload_bytes: u64,

    /// How calls are paced.
    pub mode: Mode,
    /// Callers: calls that can be under way at once.
    pub concurrency: u64,
    /// Connections that were open.
    pub connections: u64,
    /// Open loop only: calls per second asked for.
    pub rate_per_s: Option<f64>,
    /// Open loop only: `constant` or `poisson`.
    pub arrival: Option<String>,
    /// Seed of everything random in the client.
    pub seed: u64,

    /// Simulated delay asked for, in milliseconds; null when the server did not report.
    pub delay_requested_ms: Option<f64>,
    /// Mean delay measured in the handler: requested + timer lateness + resume lag.
    pub delay_measured_ms_mean: Option<f64>,
    /// Mean of deadline → wake: the instrument's error.
    pub timer_lateness_us_mean: Option<f64>,
    /// Mean of wake → the handler runs again: scheduling of the framework and its runtime.
    pub resume_lag_us_mean: Option<f64>,
    /// Mean lateness with nothing else to do, measured when the server started.
    pub timer_lateness_idle_us_mean: Option<f64>,
    /// Concurrency / delay as the ancestors computed it; null at 0 ms.
    pub theoretical_throughput_per_s: Option<f64>,
    /// Throughput / (concurrency / (delay + idle lateness)), 0 to 1; null at 0 ms.
    pub theoretical_share: Option<f64>,

    /// Length of the warm-up in seconds.
    pub warmup_s: f64,
    /// Length of the measured window in seconds.
    pub elapsed_s: f64,
    /// Time until all connections were open, in seconds; outside the window.
    pub connect_s: f64,
    /// True when the run was interrupted.
    pub partial: bool,
    /// What became of the calls of the window.
    pub calls: Calls,
    /// Calls made over the whole life of the client's connections: verification, warm-up, window and drain.
    pub connection_calls: u64,
    /// How many of them had the right reply.
    pub connection_calls_ok: u64,
    /// Wrong replies before and after the window; any makes the row invalid.
    pub wrong_replies_outside: u64,
    /// Calls that the server counted over the same time; null if unknown.
    pub server_calls: Option<u64>,
    /// How evenly the callers were served; null when there was no call.
    pub calls_per_caller: Option<CallsPerCaller>,
    /// Counted runs only: time between the first caller's end and the last one's, in seconds.
    pub finish_spread_s: Option<f64>,
    /// Connections that were opened again after a failure.
    pub reconnects: u64,
    /// Callers that gave up because their connection could not be opened again.
    pub callers_lost: u64,
    /// Correct replies per second; null when a check failed.
    pub throughput_per_s: Option<f64>,
    /// Correct replies per second over the window, part by part: parts of 50 ms, in long windows 20 to 40 of equal lengths. Counted from
    /// the side, so that a reply at an edge may be in either part.
    #[serde(default)]
    pub replies_per_s_over_time: Vec<f64>,
    /// Longest time between two looks of the client's control thread at the window, which are 50 ms apart, less the CPU time that the
    /// process used meanwhile, in seconds. Far more than 0.05 means that the process was stopped, or had no CPU.
    #[serde(default)]
    pub longest_standstill_s: Option<f64>,
    /// Calls per second that the client's measured loop makes of nothing, on as many CPUs; measured before connecting.
    #[serde(default)]
    pub null_ceiling_per_s: Option<f64>,
    /// Sum over the callers of the time in the window that they were there to call, in seconds: in a counted run until their last call.
    #[serde(default)]
    pub callers_active_s: Option<f64>,
    /// Sum of the ages, within the window, of the calls under way at its end, in seconds.
    #[serde(default)]
    pub in_flight_age_s: Option<f64>,

    /// Call made → reply decoded, correct replies only.
    pub service_time_ns: Option<TimesSummary>,
    /// Call due → reply decoded; open loop only.
    pub response_time_ns: Option<TimesSummary>,
    /// Call due → call made; open loop only.
    pub send_lag_ns: Option<TimesSummary>,
    /// Call due, or its caller free if that was later → call made: the part of the send lag that is the client's own doing; open loop
    /// only.
    #[serde(default)]
    pub pacer_lag_ns: Option<TimesSummary>,
    /// How long the oldest call without a reply, sent or not, had been due at the end of the window; null when all were answered.
    #[serde(default)]
    pub oldest_unanswered_ms: Option<f64>,
    /// Call made → failure.
    pub failed_time_ns: Option<TimesSummary>,

    /// TCP payload bytes sent per call; null when connections were lost during the window.
    pub wire_bytes_sent_per_call: Option<f64>,
    /// TCP payload bytes received per call.
    pub wire_bytes_received_per_call: Option<f64>,
    /// TCP segments with payload sent per call.
    pub segments_sent_per_call: Option<f64>,
    /// TCP segments with payload received per call.
    pub segments_received_per_call: Option<f64>,

    /// The client process over the window.
    pub client: Option<ProcessUse>,
    /// The server process from after the verified call to after the drain; null if it did not report.
    pub server: Option<ProcessUse>,
    /// CPU of both sides per call in microseconds: the figure to compare, since loopback charges one side for the other's work.
    pub cpu_us_per_call_sum: Option<f64>,
    /// Share of the machine's CPU used by anything but client and server, 0 to 1.
    pub foreign_cpu_share: Option<f64>,
    /// Share of the machine's CPU that the hypervisor took away, 0 to 1.
    pub steal_share: Option<f64>,

    /// Effective settings of the client; those of the server under `server`.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The machine of the client.
    pub host: HostRecord,
    /// How the client was built.
    pub build: BuildInfo,
    /// The first ten texts of failures.
    pub failures: Vec<String>,
    /// Why the run could not be made; null for a run that was made. Written by a sweep for a failed cell.
    pub error: Option<String>,
    /// Whether the row can be believed.
    pub verdict: Verdict,
    /// Why not.
    pub verdict_reasons: Vec<String>,
    /// What a reader may want to know and is no doubt.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What limited the throughput.
    pub bound_by: BoundBy,
    /// UTC, RFC 3339.
    pub started_at: String,

    /// Round of a sweep, from 0; null outside a sweep.
    pub round: Option<u64>,
    /// Throughput / throughput of the loopback floor in the same round at the same concurrency; null outside a sweep and with a delay.
    pub floor_ratio: Option<f64>,
}

/// How calls are paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Each caller makes the next call when the last one has answered.
    Closed,
    /// Calls are due at a given rate, whatever the replies do.
    Open,
}

/// due = ok + failed + dropped + unsent + in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// Timed runs: calls that ended in the window or were under way at its end. Counted runs: the number asked for.
    pub due: u64,
    /// Correct replies.
    pub ok: u64,
    /// Failed calls by kind; kinds without a failure are left out.
    pub failed: BTreeMap<FailureKind, u64>,
    /// Open loop only: due, but dropped because the backlog was full.
    pub dropped: u64,
    /// Due, but never made: the run was stopped, or the caller had lost its connection.
    pub unsent: u64,
    /// Under way at the end of the window: neither success nor failure.
    pub in_flight: u64,
}

impl Calls {
    /// Failed calls of all kinds.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    /// True when every due call is in exactly one bucket.
    pub fn adds_up(&self) -> bool {
        self.due == self.ok + self.failed_total() + self.dropped + self.unsent + self.in_flight
    }
}

/// How evenly the callers were served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallsPerCaller {
    /// Calls of the caller that had least.
    pub min: u64,
    /// Calls of the caller that had most.
    pub max: u64,
    /// (Σx)² / (n·Σx²): 1 when all had the same, 1/n when one had all (Jain, Chiu and Hawe 1984).
    pub jain_index: f64,
}

impl CallsPerCaller {
    /// From each caller's number of calls; `None` without callers or calls.
    pub fn from_counts(counts: &[u64]) -> Option<Self> {
        let sum: f64 = counts.iter().map(|&count| count as f64).sum();
        let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
        if squares == 0.0 {
            return None;
        }
        Some(Self {
            min: counts.iter().copied().min()?,
            max: counts.iter().copied().max()?,
            jain_index: (sum * sum / (counts.len() as f64 * squares)).min(1.0),
        })
    }
}

/// What one process used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessUse {
    /// User CPU seconds.
    pub cpu_user_s: f64,
    /// System CPU seconds.
    pub cpu_sys_s: f64,
    /// CPU microseconds per call that ended in the same time; null without calls.
    pub cpu_us_per_call: Option<f64>,
    /// Peak resident memory in bytes since the process started.
    pub peak_rss_bytes: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Allocations and reallocations per call that ended in the same time; null in a build that does not count them.
    #[serde(default)]
    pub allocations_per_call: Option<f64>,
    /// Threads at the end.
    pub threads: u64,
    /// CPUs that its load-bearing threads may use; null when that is left to the kernel.
    pub cpus: Option<Vec<usize>>,
}

/// The machine, named by kind only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    /// What the system says.
    #[serde(flatten)]
    #[schemars(with = "HostInfoSchema")]
    pub info: HostInfo,
    /// The user's word for the machine, never its name.
    pub label: String,
}

/// The schema of [`HostInfo`], whose crate knows nothing of schemas.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct HostInfoSchema {
    cpu_model: String,
    cpus: u64,
    kernel: String,
    governor: Option<String>,
    memory_bytes: u64,
}

/// What limited the throughput of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoundBy {
    /// The server used all CPUs it may use.
    Server,
    /// The client used all CPUs it may use.
    Client,
    /// Both sides together used all CPUs that both may use.
    SharedCpu,
    /// Idle CPUs: latency made of wake-ups.
    WakeUp,
    /// The simulated delay.
    Delay,
    /// A cap, a pool or a refusal.
    Limit,
    /// The load generator missed its rate.
    Generator,
    /// Not determined.
    Unknown,
}

impl std::fmt::Display for BoundBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::SharedCpu => "shared-cpu",
            Self::WakeUp => "wake-up",
            Self::Delay => "delay",
            Self::Limit => "limit",
            Self::Generator => "generator",
            Self::Unknown => crate::units::NOTHING,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_1_for_equals_and_1_over_n_for_one_winner() {
        let index = |counts: &[u64]| CallsPerCaller::from_counts(counts).unwrap().jain_index;
        assert_eq!(index(&[7, 7, 7, 7]), 1.0);
        assert_eq!(index(&[0, 0, 0, 9]), 0.25);
        assert_eq!(CallsPerCaller::from_counts(&[0, 0]), None);
        assert_eq!(CallsPerCaller::from_counts(&[]), None);
    }

    #[test]
    fn a_call_in_no_bucket_is_noticed() {
        let mut calls = Calls {
            due: 10,
            ok: 7,
            in_flight: 2,
            ..Calls::default()
        };
        assert!(!calls.adds_up());
        calls.failed.insert(FailureKind::Timeout, 1);
        assert!(calls.adds_up());
    }
}
