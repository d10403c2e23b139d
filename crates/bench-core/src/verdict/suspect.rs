//! Why a row is SUSPECT: something disturbed it.

use crate::record::Record;

/// Foreign CPU plus steal, of the machine's, above which a row is suspect.
const FOREIGN_SHARE_SUSPECT: f64 = 0.03;
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
        if self.was_disturbed() {
            reasons.push(format!(
                "others used {:.1} % of the machine's CPU: run it again",
                self.foreign_share() * 100.0
            ));
        }
        reasons
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
    use crate::record::CallsPerCaller;

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
