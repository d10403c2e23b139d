//! Little's law for our own rows: the time that callers spent in calls is at most the time that they were there, and in a closed loop
//! nearly all of it.

use crate::histogram::TimesSummary;
use crate::record::{Mode, Record};

/// Throughput may exceed callers / delay by this much before it is impossible: the edges of the window cut calls in two.
const EDGES: f64 = 0.01;
/// Share of their time below which the callers of a closed loop were kept from calling. The loop's own work between two calls (a message
/// made, another compared) is far from half of any call.
const BUSY: f64 = 0.5;
/// Calls per caller from which the beginning of the window does not count: a counted run's callers may still wait for a call of the warm-up.
const ENOUGH_CALLS: u64 = 10;

impl Record {
    /// Why there cannot have been so many calls in the time.
    pub(super) fn impossible_in_flight(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(busy) = self.busy_share() {
            // What began before the window counts with all of its time: at most one call of each caller.
            let active = self.callers_active_s.unwrap_or_default().max(1e-9);
            let before = self.concurrency as f64 * self.longest_s() / active;
            let allowed = 1.0 + EDGES + if self.warmup_s > 0.0 { before } else { 0.0 };
            if busy > allowed {
                reasons.push(format!(
                    "the callers were in calls {:.1} % of their time (at most {:.1} % are possible)",
                    busy * 100.0,
                    allowed * 100.0
                ));
            }
        } else if let (Some(throughput), Some(times)) = (self.throughput_per_s, &self.service_time_ns) {
            // An older record.
            let in_flight = throughput * times.mean / 1e9;
            let slack = times.max as f64 / 1e9 / self.elapsed_s.max(1e-9);
            if in_flight > self.concurrency as f64 * (1.0 + EDGES + slack) {
                reasons.push(format!(
                    "throughput × mean time means {in_flight:.1} calls in flight, but there were {} callers",
                    self.concurrency
                ));
            }
        }
        if let (Some(throughput), Some(most)) = (self.throughput_per_s, self.theoretical_throughput_per_s) {
            // One more call per caller than fit can end in the window.
            let edge = self.concurrency as f64 / self.elapsed_s.max(1e-9);
            if throughput > most * (1.0 + EDGES) + edge {
                reasons.push(format!("throughput above callers / delay = {most:.0}"));
            }
        }
        reasons
    }

    /// Closed loop: why the callers were idle, if they were.
    pub(super) fn idle_callers(&self) -> Option<String> {
        let untroubled = self.mode == Mode::Closed && self.reconnects == 0 && self.callers_lost == 0;
        let untroubled = untroubled && self.calls.ok >= ENOUGH_CALLS * self.concurrency;
        let busy = self.busy_share().filter(|busy| untroubled && *busy < BUSY)?;
        Some(format!(
            "the callers were in calls only {:.0} % of their time: the client kept them from calling",
            busy * 100.0
        ))
    }

    /// (Sum of the times of all calls + age of those in flight at the end) / (sum of the callers' active time).
    fn busy_share(&self) -> Option<f64> {
        let active = self.callers_active_s.filter(|active| *active > 0.0)?;
        let sum = |times: &Option<TimesSummary>| times.as_ref().map_or(0.0, |times| times.mean * times.count as f64 / 1e9);
        Some((sum(&self.service_time_ns) + sum(&self.failed_time_ns) + self.in_flight_age_s?) / active)
    }

    fn longest_s(&self) -> f64 {
        let longest = |times: &Option<TimesSummary>| times.as_ref().map_or(0, |times| times.max);
        longest(&self.service_time_ns).max(longest(&self.failed_time_ns)) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{closed_loop, invalid, suspect, valid};
    use crate::record::Record;

    /// 10 callers for a second, each in calls all the time: 1,000 calls of 9 to 11 ms.
    fn active(seconds: f64, in_flight_age_s: f64) -> impl Fn(&mut Record) {
        move |record| (record.callers_active_s, record.in_flight_age_s) = (Some(seconds), Some(in_flight_age_s))
    }

    #[test]
    fn callers_are_in_calls_at_most_all_of_their_time() {
        valid(closed_loop, active(10.0, 0.05));
        invalid(closed_loop, active(8.0, 0.05), "the callers were in calls 125.6 % of their time");
        // The age of what is still in flight counts.
        invalid(closed_loop, active(10.0, 3.0), "the callers were in calls 130.0 %");
        // 1.5 % more than all: after a warm-up a call of each caller may have begun before the window, without one none has.
        valid(closed_loop, active(10.0, 0.15));
        let begun_inside = |age: f64| {
            move |record: &mut Record| {
                active(10.0, age)(record);
                record.warmup_s = 0.0;
            }
        };
        invalid(closed_loop, begun_inside(0.15), "in calls 101.5 %");
    }

    #[test]
    fn callers_of_a_closed_loop_that_were_idle_are_suspect() {
        suspect(closed_loop, active(25.0, 0.0), "only 40 % of their time");
        valid(closed_loop, active(12.0, 0.0));
    }

    #[test]
    fn an_older_record_is_judged_by_throughput_and_mean() {
        let older = |concurrency: u64| {
            move |record: &mut Record| {
                (record.callers_active_s, record.in_flight_age_s) = (None, None);
                record.concurrency = concurrency;
            }
        };
        valid(closed_loop, older(10));
        invalid(closed_loop, older(7), "10.0 calls in flight, but there were 7 callers");
    }

    #[test]
    fn no_more_calls_than_fit_between_delays() {
        let theory = |most: f64| move |record: &mut Record| record.theoretical_throughput_per_s = Some(most);
        valid(closed_loop, theory(1000.0));
        invalid(closed_loop, theory(900.0), "throughput above callers / delay = 900");
    }
}
