//! Whether a row can be believed. An INVALID row has no throughput and is not ranked.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{BoundBy, Mode, ProcessUse, Record};

/// Share of failed calls, 0 to 1, above which a row is invalid rather than suspect.
pub const FAILED_SHARE_INVALID: f64 = 0.001;
/// Foreign CPU plus steal above which a row is suspect.
const FOREIGN_SHARE_SUSPECT: f64 = 0.03;
/// Throughput may exceed callers / delay by this much before it is impossible: the edges of the window cut calls in two.
const THEORY_TOLERANCE: f64 = 0.01;

/// Lag of an open loop's own pacer at the 99th percentile from which a row is suspect.
const LATE_BY_ITSELF_NS: u64 = 1_000_000;

/// Replies per caller from which one who got none was starved.
const OTHERS_CALLS: u64 = 10;

/// How far a row can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing speaks against it.
    Valid,
    /// Something disturbed it: run it again before relying on it.
    Suspect,
    /// It is wrong, or measured something else.
    Invalid,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Valid => "VALID",
            Self::Suspect => "SUSPECT",
            Self::Invalid => "INVALID",
        })
    }
}

impl Record {
    /// Audits the record: sets verdict and reasons, takes the throughput away from an invalid row, and says what bound it.
    pub fn audit(&mut self) {
        let mut reasons = self.invalid_reasons();
        self.verdict = Verdict::Invalid;
        if reasons.is_empty() {
            reasons = self.suspect_reasons();
            self.verdict = if reasons.is_empty() { Verdict::Valid } else { Verdict::Suspect };
        }
        self.verdict_reasons = reasons;
        if self.verdict == Verdict::Invalid {
            self.throughput_per_s = None;
            self.theoretical_share = None;
        }
        self.bound_by = self.judge_bound();
    }

    /// Adds a reason for doubt that the record itself does not show.
    pub fn doubt(&mut self, reason: String) {
        self.verdict = self.verdict.max(Verdict::Suspect);
        self.verdict_reasons.push(reason);
    }

    fn invalid_reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let mut require = |holds: bool, otherwise: String| {
            if !holds {
                reasons.push(otherwise);
            }
        };
        let calls = &self.calls;
        let failed = calls.failed_total();

        if let Some(error) = &self.error {
            require(false, format!("the run could not be made: {error}"));
        }
        require(calls.adds_up(), "the calls do not add up".to_owned());
        let nothing = match (self.mode, calls.due) {
            (Mode::Open, 0) => "no call was due in the window: give it more time, or a higher rate",
            _ => "no call succeeded",
        };
        require(calls.ok > 0, nothing.to_owned());
        let wrong = calls.failed.get(&crate::failure::FailureKind::WrongReply);
        let wrong = wrong.copied().unwrap_or(0) + self.wrong_replies_outside;
        require(wrong == 0, format!("{wrong} wrong replies"));
        require(
            failed as f64 <= FAILED_SHARE_INVALID * (calls.ok + failed) as f64,
            format!("{failed} of {} calls failed", calls.ok + failed),
        );
        if let Some(server_calls) = self.server_calls {
            require(
                server_calls <= self.connection_calls,
                format!(
                    "the server counted {server_calls} calls, but the client made only {} (is another client using this server, or did calls of an earlier one end meanwhile?)",
                    self.connection_calls
                ),
            );
            require(
                server_calls >= self.connection_calls_ok,
                format!(
                    "the server counted {server_calls} calls, fewer than the {} correct replies",
                    self.connection_calls_ok
                ),
            );
        }
        if let Some(times) = &self.service_time_ns {
            let ordered = [times.min, times.p50, times.p90, times.p99, times.p99_9, times.max];
            require(ordered.is_sorted(), "the percentiles are not in order".to_owned());
            require(
                times.count == calls.ok,
                format!("{} times of {} correct replies", times.count, calls.ok),
            );
            require(
                times.min as f64 <= times.mean && times.mean <= times.max as f64,
                "the mean lies outside min and max".to_owned(),
            );
            let delay_ns = self.delay_requested_ms.unwrap_or(0.0) * 1e6;
            require(
                times.min as f64 >= delay_ns.floor(),
                format!("a call took {} ns, less than the delay", times.min),
            );
            // Little's law: calls in flight on average = throughput × mean time, which the callers bound.
            if let Some(throughput) = self.throughput_per_s {
                let in_flight = throughput * times.mean / 1e9;
                let slack = times.max as f64 / 1e9 / self.elapsed_s.max(1e-9);
                require(
                    in_flight <= self.concurrency as f64 * (1.0 + THEORY_TOLERANCE + slack),
                    format!(
                        "throughput × mean time means {in_flight:.1} calls in flight, but there were {} callers",
                        self.concurrency
                    ),
                );
            }
        }
        if let (Some(throughput), Some(most)) = (self.throughput_per_s, self.theoretical_throughput_per_s) {
            // One more call per caller than fit can end in the window.
            let edge = self.concurrency as f64 / self.elapsed_s.max(1e-9);
            require(
                throughput <= most * (1.0 + THEORY_TOLERANCE) + edge,
                format!("throughput above callers / delay = {most:.0}"),
            );
        }
        reasons
    }

    fn suspect_reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let failed = self.calls.failed_total();
        if failed > 0 {
            reasons.push(format!("{failed} calls failed"));
        }
        // Not in a window of a few round trips, where no reply may have ended for some.
        let starved = self.calls_per_caller.as_ref().is_some_and(|calls| calls.min == 0);
        if starved && self.calls.ok >= OTHERS_CALLS * self.concurrency {
            reasons.push("some callers got no reply, while others got many".to_owned());
        }
        if self.callers_lost > 0 {
            reasons.push(format!("{} callers lost their connection for good", self.callers_lost));
        }
        if let Some(lag) = self.late_by_itself() {
            reasons.push(format!(
                "the client was late by its own doing, 1 % of the calls by {:.1} ms or more: lower the rate, or give it more CPUs",
                lag as f64 / 1e6
            ));
        }
        if self.partial {
            reasons.push("interrupted".to_owned());
        }
        if !self.build.optimised {
            reasons.push("the client is not optimised".to_owned());
        }
        if self.settings.get("server").and_then(|server| server.get("optimised")) == Some(&false.into()) {
            reasons.push("the server is not optimised".to_owned());
        }
        let foreign = self.foreign_cpu_share.unwrap_or(0.0) + self.steal_share.unwrap_or(0.0);
        if foreign > FOREIGN_SHARE_SUSPECT {
            reasons.push(format!("others used {:.1} % of the machine's CPU: run it again", foreign * 100.0));
        }
        reasons
    }

    /// Open loop: the pacer's lag that 1 % of the calls reached, if the times are not to be believed for it.
    fn late_by_itself(&self) -> Option<u64> {
        let lag = self.pacer_lag_ns.as_ref()?.p99;
        (lag >= LATE_BY_ITSELF_NS).then_some(lag)
    }

    /// The plain cases: enough of the theoretical throughput, or a side that used nearly all of its CPUs.
    fn judge_bound(&self) -> BoundBy {
        const NEARLY_ALL: f64 = 0.9;
        if self.theoretical_share.is_some_and(|share| share >= NEARLY_ALL) {
            return BoundBy::Delay;
        }
        if self.late_by_itself().is_some() {
            return BoundBy::Generator;
        }
        let (Some(client), Some(server)) = (&self.client, &self.server) else {
            return BoundBy::Unknown;
        };
        let (Some(client_cpus), Some(server_cpus)) = (&client.cpus, &server.cpus) else {
            return BoundBy::Unknown;
        };
        // CPUs in use on average. The server's figure is over warm-up and window.
        let used = |side: &ProcessUse, seconds: f64| (side.cpu_user_s + side.cpu_sys_s) / seconds.max(1e-9);
        let client_used = used(client, self.elapsed_s);
        let server_used = used(server, self.elapsed_s + self.warmup_s);
        let of_both: BTreeSet<_> = client_cpus.iter().chain(server_cpus).collect();
        if of_both.len() < client_cpus.len() + server_cpus.len() {
            let busy = client_used + server_used >= NEARLY_ALL * of_both.len() as f64;
            return if busy { BoundBy::SharedCpu } else { BoundBy::Unknown };
        }
        let client_busy = client_used >= NEARLY_ALL * client_cpus.len() as f64;
        let server_busy = server_used >= NEARLY_ALL * server_cpus.len() as f64;
        match (client_busy, server_busy) {
            // All CPUs that both may use are used: neither alone is what to improve.
            (true, true) => BoundBy::SharedCpu,
            (true, false) => BoundBy::Client,
            (false, true) => BoundBy::Server,
            (false, false) => BoundBy::Unknown,
        }
    }
}
