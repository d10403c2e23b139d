//! Why a row is INVALID: what cannot be, and what must not be.

use crate::failure::FailureKind;
use crate::record::{Mode, Record};

use super::FAILED_SHARE_INVALID;

impl Record {
    pub(super) fn invalid_reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(error) = &self.error {
            reasons.push(format!("the run could not be made: {error}"));
        }
        reasons.extend(self.impossible_counts());
        reasons.extend(self.impossible_server_count());
        reasons.extend(self.impossible_times());
        reasons.extend(self.impossible_in_flight());
        reasons
    }

    fn impossible_counts(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        let mut require = |holds: bool, otherwise: String| {
            if !holds {
                reasons.push(otherwise);
            }
        };
        let calls = &self.calls;
        let failed = calls.failed_total();
        require(calls.adds_up(), "the calls do not add up".to_owned());
        let nothing = match (self.mode, calls.due) {
            (Mode::Open, 0) => "no call was due in the window: give it more time, or a higher rate",
            _ => "no call succeeded",
        };
        require(calls.ok > 0, nothing.to_owned());
        let wrong = calls.failed.get(&FailureKind::WrongReply);
        let wrong = wrong.copied().unwrap_or(0) + self.wrong_replies_outside;
        require(wrong == 0, format!("{wrong} wrong replies"));
        require(
            failed as f64 <= FAILED_SHARE_INVALID * (calls.ok + failed) as f64,
            format!("{failed} of {} calls failed", calls.ok + failed),
        );
        if let Some(throughput) = self.throughput_per_s {
            let counted = calls.ok as f64 / self.elapsed_s.max(1e-9);
            require(
                (throughput - counted).abs() <= counted * 1e-6,
                format!("throughput {throughput:.1}/s is not correct replies / time = {counted:.1}/s"),
            );
        }
        reasons
    }

    fn impossible_server_count(&self) -> Option<String> {
        let server_calls = self.server_calls?;
        if server_calls > self.connection_calls {
            return Some(format!(
                "the server counted {server_calls} calls, but the client made only {} (is another client using this server, or did calls of an earlier one end meanwhile?)",
                self.connection_calls
            ));
        }
        (server_calls < self.connection_calls_ok).then(|| {
            format!(
                "the server counted {server_calls} calls, fewer than the {} correct replies",
                self.connection_calls_ok
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{closed_loop, invalid, suspect, valid};
    use crate::failure::FailureKind;
    use crate::record::Record;

    #[test]
    fn counts_add_up_and_something_succeeded() {
        valid(closed_loop, |_| {});
        invalid(closed_loop, |record| record.calls.due += 1, "the calls do not add up");
        let nothing = |record: &mut Record| {
            (record.calls.ok, record.calls.due) = (0, 0);
            (record.service_time_ns, record.throughput_per_s) = (None, None);
        };
        invalid(closed_loop, nothing, "no call succeeded");
        invalid(
            closed_loop,
            |record| record.error = Some("no server".to_owned()),
            "could not be made: no server",
        );
    }

    #[test]
    fn throughput_is_correct_replies_by_time() {
        invalid(
            closed_loop,
            |record| record.throughput_per_s = Some(1001.0),
            "throughput 1001.0/s is not correct replies / time = 1000.0/s",
        );
    }

    #[test]
    fn one_in_a_thousand_may_fail_but_no_reply_may_be_wrong() {
        let failed = |kind: FailureKind, calls: u64| {
            move |record: &mut Record| {
                record.calls.failed.insert(kind, calls);
                record.calls.due += calls;
            }
        };
        suspect(closed_loop, failed(FailureKind::Timeout, 1), "1 calls failed");
        invalid(closed_loop, failed(FailureKind::Timeout, 2), "2 of 1002 calls failed");
        invalid(closed_loop, failed(FailureKind::WrongReply, 1), "1 wrong replies");
        invalid(closed_loop, |record| record.wrong_replies_outside = 1, "1 wrong replies");
    }

    #[test]
    fn both_sides_counted_the_same() {
        valid(closed_loop, |record| record.server_calls = Some(record.connection_calls));
        invalid(
            closed_loop,
            |record| record.server_calls = Some(record.connection_calls + 1),
            "another client",
        );
        invalid(
            closed_loop,
            |record| record.server_calls = Some(record.connection_calls_ok - 1),
            "fewer than the 1000 correct replies",
        );
    }
}
