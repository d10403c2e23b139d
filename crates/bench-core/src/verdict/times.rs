//! The times of a record among themselves.

use crate::histogram::TimesSummary;
use crate::record::Record;

/// Percentiles come from buckets that are right to 0.1 %.
const BUCKETS: f64 = 0.002;
/// Exact means that are added up differ by rounding alone.
const ROUNDING_NS: f64 = 1.0;

impl Record {
    /// Why the times cannot be true.
    pub(super) fn impossible_times(&self) -> Vec<String> {
        let of_replies = [
            ("service time", &self.service_time_ns),
            ("response time", &self.response_time_ns),
            ("send lag", &self.send_lag_ns),
            ("pacer lag", &self.pacer_lag_ns),
        ];
        let mut reasons: Vec<String> = Vec::new();
        for (name, times) in of_replies {
            let Some(times) = times else { continue };
            reasons.extend(disorder(name, times));
            if times.count != self.calls.ok {
                reasons.push(format!("{name}: {} times of {} correct replies", times.count, self.calls.ok));
            }
        }
        if let Some(times) = &self.failed_time_ns {
            reasons.extend(disorder("time of failed calls", times));
        }
        reasons.extend(self.below_the_delay());
        reasons.extend(self.open_loop_times());
        reasons
    }

    fn below_the_delay(&self) -> Option<String> {
        let times = self.service_time_ns.as_ref()?;
        let delay_ns = self.delay_requested_ms? * 1e6;
        ((times.min as f64) < delay_ns.floor()).then(|| format!("a call took {} ns, less than the delay", times.min))
    }

    /// Due, made, ended: response time = send lag + service time, call by call, and the pacer's lag is part of the send lag.
    fn open_loop_times(&self) -> Vec<String> {
        let (Some(service), Some(response), Some(lag)) = (&self.service_time_ns, &self.response_time_ns, &self.send_lag_ns) else {
            return Vec::new();
        };
        let mut reasons = Vec::new();
        if (response.mean - service.mean - lag.mean).abs() > ROUNDING_NS + response.mean * 1e-9 {
            reasons.push("the mean response time is not the mean send lag + the mean service time".to_owned());
        }
        let pairs = percentiles(response).into_iter().zip(percentiles(service));
        let mut shorter = pairs.filter(|((_, response), (_, service))| (*response as f64) < *service as f64 * (1.0 - BUCKETS));
        if let Some(((name, _), _)) = shorter.next() {
            reasons.push(format!("{name} of the response time is less than that of the service time"));
        }
        if self.pacer_lag_ns.as_ref().is_some_and(|pacer| pacer.mean > lag.mean + ROUNDING_NS) {
            reasons.push("the pacer's lag is more than the send lag that it is part of".to_owned());
        }
        reasons
    }
}

fn percentiles(times: &TimesSummary) -> [(&'static str, u64); 6] {
    [
        ("min", times.min),
        ("p50", times.p50),
        ("p90", times.p90),
        ("p99", times.p99),
        ("p99.9", times.p99_9),
        ("max", times.max),
    ]
}

fn disorder(name: &str, times: &TimesSummary) -> Vec<String> {
    let mut reasons = Vec::new();
    if !percentiles(times).is_sorted_by_key(|(_, time)| *time) {
        reasons.push(format!("{name}: the percentiles are not in order"));
    }
    if !(times.min as f64..=times.max as f64).contains(&times.mean) {
        reasons.push(format!("{name}: the mean lies outside min and max"));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::example::{closed_loop, invalid, open_loop, valid};
    use crate::record::Record;

    #[test]
    fn percentiles_of_all_times_are_in_order_and_the_mean_among_them() {
        invalid(
            closed_loop,
            |record| record.service_time_ns.as_mut().unwrap().p99 = 1,
            "service time: the percentiles are not in order",
        );
        invalid(
            open_loop,
            |record| record.response_time_ns.as_mut().unwrap().p90 = 1,
            "response time: the percentiles are not in order",
        );
        invalid(
            open_loop,
            |record| record.send_lag_ns.as_mut().unwrap().min = u64::MAX,
            "send lag: the percentiles",
        );
        invalid(
            open_loop,
            |record| record.pacer_lag_ns.as_mut().unwrap().mean = 1e15,
            "pacer lag: the mean lies outside",
        );
        invalid(
            closed_loop,
            |record| record.service_time_ns.as_mut().unwrap().mean = 0.5,
            "service time: the mean lies outside",
        );
    }

    #[test]
    fn there_is_a_time_for_each_reply() {
        invalid(
            closed_loop,
            |record| record.service_time_ns.as_mut().unwrap().count -= 1,
            "999 times of 1000 correct replies",
        );
        invalid(
            open_loop,
            |record| record.response_time_ns.as_mut().unwrap().count -= 1,
            "response time: 999 times",
        );
    }

    #[test]
    fn no_call_is_shorter_than_the_delay() {
        let delay = |ms: f64| move |record: &mut Record| record.delay_requested_ms = Some(ms);
        invalid(closed_loop, delay(9.001), "less than the delay");
        valid(closed_loop, delay(9.0));
    }

    #[test]
    fn response_time_is_send_lag_and_service_time() {
        valid(open_loop, |_| {});
        invalid(
            open_loop,
            |record| record.send_lag_ns.as_mut().unwrap().mean += 1000.0,
            "is not the mean send lag + the mean service time",
        );
        invalid(
            open_loop,
            |record| {
                let response = record.response_time_ns.as_mut().unwrap();
                (response.p50, response.min) = (8_000_000, 8_000_000);
            },
            "min of the response time is less than that of the service time",
        );
        let more_of_the_pacers = |record: &mut Record| {
            let lag = record.send_lag_ns.as_ref().unwrap().clone();
            let pacer = record.pacer_lag_ns.as_mut().unwrap();
            (pacer.mean, pacer.max) = (lag.mean + 10.0, lag.max);
        };
        invalid(open_loop, more_of_the_pacers, "more than the send lag");
    }
}
