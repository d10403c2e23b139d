//! What bound a row. The first answer that holds is given, in this order:
//!
//! 1. *limit*: calls were refused by a cap.
//! 2. *delay*: nearly all of callers / delay was reached.
//! 3. *generator*: the client was late or missed its rate by its own doing, or the measured loop itself is what took the time. An open
//!    loop that kept its rate is bound by nothing.
//! 4. *shared-cpu*, *client*, *server*: who used nearly all CPUs that it may use.
//! 5. Neither side did, and nobody else took the CPUs away: *limit* if calls waited somewhere else than in the handler and on a CPU, as in
//!    a pool or a queue, or if all callers of an open loop were waiting; *wake-up* if there is no delay and each call wakes somebody up.

use std::collections::BTreeSet;

use crate::failure::FailureKind;
use crate::record::{BoundBy, Mode, ProcessUse, Record};

/// Share from which CPUs are used up, or the theoretical throughput is reached.
const NEARLY_ALL: f64 = 0.9;
/// Share of the due calls of an open loop that must be made.
const RATE_MISSED: f64 = 0.01;
/// Lag of an open loop's own pacer at the 99th percentile from which the client is late by its own doing.
const LATE_BY_ITSELF_NS: u64 = 1_000_000;
/// Pause from which the client was stopped, or its CPUs were taken away.
const STOOD_STILL_S: f64 = 0.2;
/// Share of the null client's throughput from which the loop is half of what was measured.
const LOOP_SHARE: f64 = 0.5;
/// Waiting of a call, beyond the handler's, that wake-ups and scheduling on idle CPUs do not explain.
const QUEUED_MS: f64 = 1.0;
/// Context switches per call, both sides together, from which each call wakes somebody up.
const WAKES_PER_CALL: f64 = 1.0;

/// Which sides used nearly all of their CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Busy {
    Client,
    Server,
    Both,
    Neither,
}

impl Record {
    pub(super) fn judge_bound(&self) -> BoundBy {
        if self.calls.ok == 0 && self.calls.failed_total() == 0 {
            return BoundBy::Unknown;
        }
        if self.calls.failed.get(&FailureKind::Limit).is_some_and(|&calls| calls > 0) {
            return BoundBy::Limit;
        }
        if self.theoretical_share.is_some_and(|share| share >= NEARLY_ALL) {
            return BoundBy::Delay;
        }
        if self.generators_doing().is_some() {
            return BoundBy::Generator;
        }
        if self.mode == Mode::Open && !self.missed_its_rate() {
            return BoundBy::Unknown;
        }
        match self.busy() {
            Some(Busy::Both) => BoundBy::SharedCpu,
            Some(Busy::Client) => BoundBy::Client,
            Some(Busy::Server) => BoundBy::Server,
            Some(Busy::Neither) if self.calls_were_held_up() => BoundBy::Limit,
            Some(Busy::Neither) if self.is_made_of_wake_ups() => BoundBy::WakeUp,
            _ => BoundBy::Unknown,
        }
    }

    /// Why the client, not what it called, is what was measured.
    pub(super) fn generators_doing(&self) -> Option<String> {
        // Its callers cannot tell: what came meanwhile looks like slow replies.
        if let Some(pause) = self.longest_standstill_s.filter(|&pause| pause >= STOOD_STILL_S) {
            return Some(format!(
                "the client stood still for {pause:.1} s of the window (it was stopped, or had no CPU), which is in its times as if replies had been slow"
            ));
        }
        if let Some(lag) = self
            .pacer_lag_ns
            .as_ref()
            .map(|lag| lag.p99)
            .filter(|&lag| lag >= LATE_BY_ITSELF_NS)
        {
            return Some(format!(
                "the client was late by its own doing, 1 % of the calls by {:.1} ms or more: lower the rate, or give it more CPUs",
                lag as f64 / 1e6
            ));
        }
        let unsent = self.calls.unsent as f64 / self.calls.due.max(1) as f64;
        if self.missed_its_rate() && !self.partial {
            // With callers that were free it was not the server that held the calls up.
            let callers_were_free = self.callers_lost == 0 && self.calls.in_flight * 2 < self.concurrency;
            if callers_were_free || self.busy() == Some(Busy::Client) {
                return Some(format!(
                    "the client did not make {:.1} % of the calls that were due, by its own doing: lower the rate, or give it more CPUs",
                    unsent * 100.0
                ));
            }
        }
        let of_loop = self.throughput_per_s? / self.null_ceiling_per_s.filter(|ceiling| *ceiling > 0.0)?;
        (of_loop >= LOOP_SHARE).then(|| {
            format!(
                "the client reached {:.0} % of what its loop does without any call: it measured itself",
                of_loop * 100.0
            )
        })
    }

    fn missed_its_rate(&self) -> bool {
        self.mode == Mode::Open && self.calls.unsent as f64 >= RATE_MISSED * self.calls.due as f64 && self.calls.unsent > 0
    }

    /// `None` when one side did not report, its CPUs are left to the kernel, or others may have used what it did not.
    fn busy(&self) -> Option<Busy> {
        let (client, server) = (self.client.as_ref()?, self.server.as_ref()?);
        let (client_cpus, server_cpus) = (client.cpus.as_ref()?, server.cpus.as_ref()?);
        // CPUs in use on average. The server's figure is over warm-up and window.
        let used = |side: &ProcessUse, seconds: f64| (side.cpu_user_s + side.cpu_sys_s) / seconds.max(1e-9);
        let client_used = used(client, self.elapsed_s);
        let server_used = used(server, self.elapsed_s + self.warmup_s);
        let of_both: BTreeSet<_> = client_cpus.iter().chain(server_cpus).collect();
        let busy = if of_both.len() < client_cpus.len() + server_cpus.len() {
            let all_used = client_used + server_used >= NEARLY_ALL * of_both.len() as f64;
            if all_used { Busy::Both } else { Busy::Neither }
        } else {
            let client_busy = client_used >= NEARLY_ALL * client_cpus.len() as f64;
            let server_busy = server_used >= NEARLY_ALL * server_cpus.len() as f64;
            match (client_busy, server_busy) {
                // All CPUs that both may use are used: neither alone is what to improve.
                (true, true) => Busy::Both,
                (true, false) => Busy::Client,
                (false, true) => Busy::Server,
                (false, false) => Busy::Neither,
            }
        };
        // A CPU that neither side used is idle only if nobody else did.
        Some(busy).filter(|busy| *busy != Busy::Neither || !self.was_disturbed())
    }

    /// On idle CPUs: calls wait for as long again as they are in the handler, or an open loop had no caller free.
    fn calls_were_held_up(&self) -> bool {
        if self.mode == Mode::Open {
            return self.missed_its_rate();
        }
        let (Some(handler_ms), Some(times)) = (self.delay_measured_ms_mean, &self.service_time_ns) else {
            return false;
        };
        let waited_ms = times.mean / 1e6 - handler_ms;
        waited_ms >= handler_ms.max(QUEUED_MS)
    }

    /// On idle CPUs and without a delay: each call puts somebody to sleep and wakes somebody up.
    fn is_made_of_wake_ups(&self) -> bool {
        let switches = |side: &Option<ProcessUse>| {
            let side = side.as_ref()?;
            let calls = (side.cpu_user_s + side.cpu_sys_s) * 1e6 / side.cpu_us_per_call.filter(|cpu| *cpu > 0.0)?;
            Some(side.context_switches as f64 / calls)
        };
        let per_call = switches(&self.client)
            .zip(switches(&self.server))
            .map(|(client, server)| client + server);
        self.delay_requested_ms == Some(0.0) && per_call.is_some_and(|switches| switches >= WAKES_PER_CALL)
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{closed_loop, open_loop, suspect};
    use crate::failure::FailureKind;
    use crate::record::{BoundBy, ProcessUse, Record};

    /// A side that used so many CPU seconds of these CPUs, for 1,000 calls with so many context switches.
    fn side(cpu_s: f64, cpus: &[usize], context_switches: u64) -> Option<ProcessUse> {
        Some(ProcessUse {
            cpu_user_s: cpu_s / 2.0,
            cpu_sys_s: cpu_s / 2.0,
            cpu_us_per_call: Some(cpu_s * 1e3),
            peak_rss_bytes: 1,
            context_switches,
            allocations_per_call: None,
            threads: 1,
            cpus: Some(cpus.to_vec()),
        })
    }

    #[track_caller]
    fn check(made: fn() -> Record, change: impl FnOnce(&mut Record), bound: BoundBy) {
        let mut record = made();
        // A second of window after a second of warm-up.
        (record.client, record.server) = (side(0.1, &[0], 0), side(0.2, &[1], 0));
        change(&mut record);
        record.audit();
        assert_eq!(record.bound_by, bound, "{:?}", record.verdict_reasons);
    }

    fn sides(client: Option<ProcessUse>, server: Option<ProcessUse>) -> impl FnOnce(&mut Record) {
        move |record| (record.client, record.server) = (client, server)
    }

    #[test]
    fn who_used_nearly_all_cpus_bound_it() {
        check(closed_loop, sides(side(0.95, &[0], 0), side(1.6, &[1], 0)), BoundBy::Client);
        check(closed_loop, sides(side(0.80, &[0], 0), side(1.9, &[1], 0)), BoundBy::Server);
        check(closed_loop, sides(side(0.95, &[0], 0), side(1.9, &[1], 0)), BoundBy::SharedCpu);
        check(closed_loop, sides(side(0.80, &[0], 0), side(1.6, &[1], 0)), BoundBy::Unknown);
        // Of two CPUs one is half.
        check(closed_loop, sides(side(0.95, &[0, 2], 0), side(1.9, &[1], 0)), BoundBy::Server);
    }

    #[test]
    fn sides_that_share_cpus_are_bound_by_them_together() {
        check(closed_loop, sides(side(0.50, &[0], 0), side(0.9, &[0], 0)), BoundBy::SharedCpu);
        check(closed_loop, sides(side(0.50, &[0, 1], 0), side(0.9, &[0, 1], 0)), BoundBy::Unknown);
    }

    #[test]
    fn who_does_not_report_is_not_judged() {
        check(closed_loop, sides(side(0.95, &[0], 0), None), BoundBy::Unknown);
        let unpinned = side(0.95, &[0], 0).map(|side| ProcessUse { cpus: None, ..side });
        check(closed_loop, sides(unpinned, side(0.2, &[1], 0)), BoundBy::Unknown);
    }

    #[test]
    fn a_client_that_stood_still_is_the_generator_of_any_loop() {
        for made in [closed_loop, open_loop] {
            suspect(made, |record| record.longest_standstill_s = Some(0.3), "stood still for 0.3 s");
            check(made, |record| record.longest_standstill_s = Some(0.2), BoundBy::Generator);
            check(made, |record| record.longest_standstill_s = Some(0.19), BoundBy::Unknown);
        }
    }

    #[test]
    fn the_delay_bound_it_where_the_theory_is_reached() {
        check(closed_loop, |record| record.theoretical_share = Some(0.91), BoundBy::Delay);
        check(closed_loop, |record| record.theoretical_share = Some(0.89), BoundBy::Unknown);
    }

    #[test]
    fn refusals_and_queues_are_limits() {
        let refused = |record: &mut Record| {
            record.calls.failed.insert(FailureKind::Limit, 1);
            record.theoretical_share = Some(0.95);
        };
        check(closed_loop, refused, BoundBy::Limit);
        // Of the 10 ms of a call so many in the handler: the rest in a queue, for both sides are idle.
        let in_handler = |ms: f64| move |record: &mut Record| record.delay_measured_ms_mean = Some(ms);
        check(closed_loop, in_handler(2.0), BoundBy::Limit);
        check(closed_loop, in_handler(6.0), BoundBy::Unknown);
        let busy_too = |record: &mut Record| {
            in_handler(2.0)(record);
            record.server = side(1.9, &[1], 0);
        };
        check(closed_loop, busy_too, BoundBy::Server);
    }

    #[test]
    fn idle_cpus_and_a_wake_up_per_call_without_a_delay_are_wake_ups() {
        let waking = |delay_ms: f64, switches: u64| {
            move |record: &mut Record| {
                record.delay_requested_ms = Some(delay_ms);
                (record.client, record.server) = (side(0.1, &[0], switches), side(0.2, &[1], switches));
            }
        };
        check(closed_loop, waking(0.0, 1000), BoundBy::WakeUp);
        check(closed_loop, waking(0.0, 100), BoundBy::Unknown);
        let disturbed = |record: &mut Record| {
            waking(0.0, 1000)(record);
            record.foreign_cpu_share = Some(0.04);
        };
        check(closed_loop, disturbed, BoundBy::Unknown);
        check(closed_loop, waking(1.0, 1000), BoundBy::Unknown);
    }

    #[test]
    fn an_open_loop_that_kept_its_rate_is_bound_by_nothing() {
        check(open_loop, |_| {}, BoundBy::Unknown);
        // Also where a spinning pacer uses all of the client's CPU.
        check(open_loop, sides(side(1.0, &[0], 0), side(0.2, &[1], 0)), BoundBy::Unknown);
    }

    /// An open loop that did not make so many of 1,000 due calls, with so many callers of ten still waiting for a reply.
    fn missed(unsent: u64, in_flight: u64) -> impl Fn(&mut Record) {
        move |record| {
            (record.calls.unsent, record.calls.in_flight) = (unsent, in_flight);
            record.calls.due += unsent + in_flight;
        }
    }

    #[test]
    fn an_open_loop_that_missed_its_rate_says_whose_doing_it_was() {
        check(open_loop, missed(500, 0), BoundBy::Generator);
        check(open_loop, missed(5, 0), BoundBy::Unknown);
        check(open_loop, missed(500, 10), BoundBy::Limit);
        let with = |client: f64, server: f64| {
            move |record: &mut Record| {
                missed(500, 10)(record);
                (record.client, record.server) = (side(client, &[0], 0), side(server, &[1], 0));
            }
        };
        check(open_loop, with(0.5, 1.9), BoundBy::Server);
        check(open_loop, with(0.95, 0.9), BoundBy::Generator);
        check(open_loop, with(0.95, 1.9), BoundBy::SharedCpu);
        suspect(open_loop, missed(500, 0), "did not make 33.3 % of the calls that were due");
    }

    #[test]
    fn a_client_that_is_late_by_itself_is_the_generator() {
        let late = |record: &mut Record| {
            let lag = record.pacer_lag_ns.as_mut().unwrap();
            (lag.p99, lag.p99_9, lag.max) = (1_000_000, 1_000_000, 1_000_000);
        };
        check(open_loop, late, BoundBy::Generator);
        suspect(open_loop, late, "late by its own doing");
    }

    #[test]
    fn a_client_near_the_ceiling_of_its_loop_measures_itself() {
        let ceiling = |per_s: f64| move |record: &mut Record| record.null_ceiling_per_s = Some(per_s);
        check(closed_loop, ceiling(1900.0), BoundBy::Generator);
        check(closed_loop, ceiling(2100.0), BoundBy::Unknown);
        suspect(closed_loop, ceiling(1900.0), "it measured itself");
    }
}
