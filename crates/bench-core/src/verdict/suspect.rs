//! Why a row is SUSPECT: something disturbed it.

use crate::record::Record;

/// Foreign CPU plus steal, of the machine's, above which a row is suspect.
const FOREIGN_SHARE_SUSPECT: f64 = 0.03;
/// How much more than the window's length, as a share and in seconds, the time between the readings at its edges may be.
const LATE_READING_SHARE: f64 = 0.05;
const LATE_READING_S: f64 = 0.02;
/// Replies per caller from which one who got none was starved.
const OTHERS_CALLS: u64 = 10;

impl Record {
    pub(super) fn suspect_reasons(&self) -> Vec<String> {
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
        reasons.extend(self.idle_callers());
        reasons.extend(self.generators_doing());
        if self.partial {
            reasons.push("interrupted".to_owned());
        }
        if !self.build.optimised {
            reasons.push("the client is not optimised".to_owned());
        }
        if self.settings.get("server").and_then(|server| server.get("optimised")) == Some(&false.into()) {
            reasons.push("the server is not optimised".to_owned());
        }
        if [&self.client, &self.server]
            .into_iter()
            .flatten()
            .any(|side| side.allocations_per_call.is_some())
        {
            reasons.push("a build that counts allocations: its times are not comparable".to_owned());
        }
        reasons.extend(self.cpu_beyond_the_window());
        if self.was_disturbed() {
            reasons.push(format!(
                "others used {:.1} % of the machine's CPU: run it again",
                self.foreign_share() * 100.0
            ));
        }
        reasons
    }

    /// The client's CPU time is read at the window's edges; on a machine with thousands of busy threads the reader may come late.
    fn cpu_beyond_the_window(&self) -> Option<String> {
        let client = self.client.as_ref()?;
        let used_s = client.cpu_user_s + client.cpu_sys_s;
        let most_s = self.host.info.cpus as f64 * self.elapsed_s;
        (used_s > most_s * (1.0 + LATE_READING_SHARE) + LATE_READING_S).then(|| {
            format!("the client's {used_s:.2} s of CPU do not fit into the window ({most_s:.2} s on all CPUs): its edge was read late, measure for longer")
        })
    }

    /// Share of the machine's CPU that anything but client and server used, what the hypervisor took away included; 0 where it is unknown.
    pub fn foreign_share(&self) -> f64 {
        self.foreign_cpu_share.unwrap_or(0.0) + self.steal_share.unwrap_or(0.0)
    }

    /// True when others used so much of the machine's CPU that the run is to be made again.
    pub fn was_disturbed(&self) -> bool {
        self.foreign_share() > FOREIGN_SHARE_SUSPECT
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{closed_loop, suspect, valid};
    use crate::record::{CallsPerCaller, ProcessUse, Record};

    /// A client that used so many CPU seconds.
    fn client(cpu_s: f64) -> ProcessUse {
        ProcessUse {
            cpu_user_s: cpu_s,
            cpu_sys_s: 0.01,
            cpu_us_per_call: None,
            peak_rss_bytes: 1 << 20,
            context_switches: 0,
            allocations_per_call: None,
            threads: 1,
            cpus: None,
        }
    }

    #[test]
    fn what_disturbed_a_run_is_said() {
        suspect(closed_loop, |record| record.partial = true, "interrupted");
        suspect(closed_loop, |record| record.callers_lost = 2, "2 callers lost their connection");
        suspect(closed_loop, |record| record.build.optimised = false, "the client is not optimised");
        let unoptimised = serde_json::json!({ "optimised": false });
        suspect(
            closed_loop,
            |record| drop(record.settings.insert("server".to_owned(), unoptimised.clone())),
            "the server is not optimised",
        );
    }

    #[test]
    fn a_build_that_counts_allocations_is_not_for_times() {
        let with = |allocations_per_call| {
            move |record: &mut Record| {
                record.client = Some(ProcessUse {
                    allocations_per_call,
                    ..client(0.1)
                });
            }
        };
        suspect(closed_loop, with(Some(8.0)), "counts allocations");
        valid(closed_loop, with(None));
    }

    #[test]
    fn a_starved_caller_is_suspect_where_others_got_many() {
        let callers = |min| CallsPerCaller {
            min,
            max: 200,
            jain_index: 0.9,
        };
        suspect(
            closed_loop,
            |record| record.calls_per_caller = Some(callers(0)),
            "some callers got no reply",
        );
        valid(closed_loop, |record| record.calls_per_caller = Some(callers(1)));
    }

    #[test]
    fn a_client_uses_no_more_cpu_than_there_is() {
        let with_cpu = |share: f64| {
            move |record: &mut Record| {
                let most_s = record.host.info.cpus as f64 * record.elapsed_s;
                record.client = Some(client(most_s * share));
            }
        };
        suspect(closed_loop, with_cpu(1.1), "do not fit into the window");
        valid(closed_loop, with_cpu(1.02));
    }

    #[test]
    fn others_may_use_three_percent() {
        suspect(
            closed_loop,
            |record| (record.foreign_cpu_share, record.steal_share) = (Some(0.02), Some(0.011)),
            "others used 3.1 % of the machine's CPU",
        );
        valid(closed_loop, |record| {
            (record.foreign_cpu_share, record.steal_share) = (Some(0.02), Some(0.009))
        });
    }
}
