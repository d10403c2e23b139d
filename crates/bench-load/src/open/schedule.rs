//! When the calls of an open loop are due.
//!
//! *Constant*: `due(i) = start + i / rate`, computed from the index, never by adding up intervals. *Poisson*: the gaps between calls are
//! exponential with mean `1 / rate`, from the seed.
//!
//! A thread has the indices of its callers: caller w has w, w + W, …, so that W callers interleave like one. With Poisson arrivals it has
//! a process of its own with its share of the rate; several such processes are together one with the sum of their rates.

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

use bench_core::arrival::Arrival;

use super::Pace;
use crate::window::{NEVER, Window};

/// Poisson calls that are drawn to count those that were due and not made: 0.2 s of work.
const MOST_DRAWN: u64 = 10_000_000;
/// Further than any run goes: a thousand million calls per second for thirty years.
const MOST_AHEAD: u64 = 1 << 60;

/// The due calls of one thread in one run: first those of the warm-up, then, counted afresh from its start, those of the window.
pub(crate) struct Schedule {
    pace: Pace,
    share: Share,
    /// Calls of a counted run, all threads together.
    count: Option<u64>,
    /// True once the calls are the window's.
    measured: bool,
    start_ns: u64,
    /// Calls taken since the start.
    taken: u64,
    /// Poisson: from the start to the next call.
    elapsed_ns: f64,
    random: SmallRng,
}

/// A thread's callers among all.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Their numbers, ascending.
    pub callers: Vec<u64>,
    /// All callers of the run.
    pub of: u64,
}

/// The next call of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is due at this instant.
    DueAt(u64),
    /// Nothing more is due in the window, which ends at this instant.
    EndsAt(u64),
    /// As many as were asked for have been taken.
    Never,
}

impl Schedule {
    /// `share` must not be empty. `began_ns`: start of the warm-up.
    pub fn new(pace: Pace, mut share: Share, count: Option<u64>, began_ns: u64) -> Self {
        share.callers.sort_unstable();
        let seed = pace.seed ^ share.callers.first().copied().unwrap_or_default().rotate_left(32);
        let mut schedule = Self {
            pace,
            share,
            count,
            measured: false,
            start_ns: began_ns,
            taken: 0,
            elapsed_ns: 0.0,
            random: SmallRng::seed_from_u64(seed),
        };
        schedule.restart(began_ns);
        schedule
    }

    /// What comes next; calling it again changes nothing, but the window and the time may. What the warm-up still owed at the window's start
    /// is dropped.
    pub fn next(&mut self, window: &Window, now_ns: u64) -> Next {
        if !self.measured {
            let (due, start) = (self.due_ns(), window.start());
            if start == NEVER || (due < start && now_ns < start) {
                return Next::DueAt(due);
            }
            self.begin_window(start);
        }
        if self.is_exhausted() {
            return Next::Never;
        }
        let (due, end) = (self.due_ns(), window.end());
        if due < end { Next::DueAt(due) } else { Next::EndsAt(end) }
    }

    /// The call that [`Self::next`] named is made by somebody.
    pub fn take(&mut self) {
        self.taken += 1;
        self.elapsed_ns += self.gap_ns();
    }

    /// Takes all that the window, which has ended, still has: how many calls were due and never made, and since when the first of them was.
    pub fn take_rest(&mut self, window: &Window) -> (u64, Option<u64>) {
        if !self.measured && window.start() != NEVER {
            self.begin_window(window.start());
        }
        let end = window.end();
        let first = Some(self.due_ns()).filter(|due| self.measured && !self.is_exhausted() && *due < end);
        let before = self.taken;
        if first.is_some() {
            match self.pace.arrival {
                Arrival::Constant => self.skip_while(|schedule| !schedule.is_exhausted() && schedule.due_ns() < end),
                Arrival::Poisson => self.draw_until(end),
            }
        }
        (self.taken - before, first)
    }

    /// Takes calls while a condition holds that holds now and, once false, stays so. Finds the last one by halving: there may be billions.
    fn skip_while(&mut self, holds: impl Fn(&Self) -> bool) {
        let start = self.taken;
        let holds_at = |schedule: &mut Self, ahead: u64| {
            schedule.taken = start.saturating_add(ahead);
            holds(schedule)
        };
        let (mut low, mut high) = (0, 1);
        while high < MOST_AHEAD && holds_at(self, high) {
            (low, high) = (high, high * 2);
        }
        // It holds `low` calls ahead, and no longer `high` ahead.
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match holds_at(self, middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        self.taken = start + high;
    }

    /// Poisson: draws the calls up to an instant one by one; of more than [`MOST_DRAWN`] the mean stands for the rest.
    fn draw_until(&mut self, end_ns: u64) {
        let last_drawn = self.taken + MOST_DRAWN;
        while !self.is_exhausted() && self.due_ns() < end_ns {
            if self.taken == last_drawn {
                let mean = (end_ns - self.due_ns()) as f64 / 1e9 * self.own_rate_per_s();
                // One is due for certain.
                let end = last_drawn + mean.max(1.0) as u64;
                return self.skip_while(|schedule| !schedule.is_exhausted() && schedule.taken < end);
            }
            self.take();
        }
    }

    fn begin_window(&mut self, start_ns: u64) {
        self.measured = true;
        self.restart(start_ns);
    }

    fn is_exhausted(&self) -> bool {
        self.count.is_some_and(|count| self.index() >= count)
    }

    fn restart(&mut self, start_ns: u64) {
        (self.start_ns, self.taken) = (start_ns, 0);
        self.elapsed_ns = self.gap_ns();
    }

    /// Among the calls of all threads.
    fn index(&self) -> u64 {
        let own = self.share.callers.len() as u64;
        (self.taken / own)
            .saturating_mul(self.share.of)
            .saturating_add(self.share.callers[(self.taken % own) as usize])
    }

    fn due_ns(&self) -> u64 {
        let elapsed_ns = match self.pace.arrival {
            Arrival::Constant => self.index() as f64 * 1e9 / self.pace.rate_per_s,
            Arrival::Poisson => self.elapsed_ns,
        };
        self.start_ns.saturating_add(elapsed_ns as u64)
    }

    /// Poisson: time to the call after the next one. The inverse of the distribution function, of 1 − u in (0, 1].
    fn gap_ns(&mut self) -> f64 {
        if self.pace.arrival == Arrival::Constant {
            return 0.0;
        }
        -(1.0 - self.random.random::<f64>()).ln() * 1e9 / self.own_rate_per_s()
    }

    fn own_rate_per_s(&self) -> f64 {
        self.pace.rate_per_s * self.share.callers.len() as f64 / self.share.of as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rate_per_s: f64, arrival: Arrival, callers: &[u64], of: u64, count: Option<u64>) -> Schedule {
        let pace = Pace {
            rate_per_s,
            arrival,
            seed: 7,
            pacer: super::super::PacerKind::Timer,
            coalesce: std::time::Duration::ZERO,
        };
        let share = Share {
            callers: callers.to_vec(),
            of,
        };
        Schedule::new(pace, share, count, 0)
    }

    fn window(start_ns: u64, end_ns: u64) -> Window {
        let window = Window::new();
        window.open(start_ns, end_ns);
        window
    }

    fn dues(schedule: &mut Schedule, window: &Window) -> Vec<u64> {
        let mut dues = Vec::new();
        while let Next::DueAt(due) = schedule.next(window, window.start()) {
            dues.push(due);
            schedule.take();
        }
        dues
    }

    #[test]
    fn constant_calls_are_due_by_their_index_and_as_many_as_rate_times_time() {
        for (rate, seconds, calls) in [
            (0.5, 4, 2),
            (78.0, 10, 780),
            (335.0, 3, 1005),
            (1500.0, 2, 3000),
            (33_333.0, 30, 999_990),
        ] {
            let window = window(0, seconds * 1_000_000_000);
            let dues = dues(&mut schedule(rate, Arrival::Constant, &[0], 1, None), &window);
            assert_eq!(dues.len(), calls, "{rate}");
            let last = calls as u64 - 1;
            assert_eq!(dues[0], 0);
            // Exact to a nanosecond, however many came before.
            let exact = (u128::from(last) * 1_000_000_000_000 / (rate * 1000.0) as u128) as u64;
            assert!(dues[last as usize].abs_diff(exact) <= 1, "{rate}");
        }
    }

    #[test]
    fn callers_of_all_threads_interleave_like_one() {
        let window = window(0, 1_000_000);
        let one = dues(&mut schedule(1e6, Arrival::Constant, &[0], 1, None), &window);
        let mut parts: Vec<u64> = [&[0, 2, 4][..], &[1, 3], &[5]]
            .into_iter()
            .flat_map(|callers| dues(&mut schedule(1e6, Arrival::Constant, callers, 6, None), &window))
            .collect();
        parts.sort_unstable();
        assert_eq!(parts, one);
    }

    #[test]
    fn a_counted_run_has_exactly_its_calls() {
        for arrival in [Arrival::Constant, Arrival::Poisson] {
            let window = window(0, NEVER);
            let calls: usize = [&[0, 2][..], &[1]]
                .into_iter()
                .map(|callers| dues(&mut schedule(1e6, arrival, callers, 3, Some(1_000)), &window).len())
                .sum();
            assert_eq!(calls, 1_000);
        }
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential_and_differ_by_the_seed() {
        let window = window(0, 10_000_000_000);
        let mut all: Vec<u64> = [&[0, 2][..], &[1]]
            .into_iter()
            .flat_map(|callers| dues(&mut schedule(10_000.0, Arrival::Poisson, callers, 3, None), &window))
            .collect();
        all.sort_unstable();
        // 100,000 are expected; six standard deviations are 1,900.
        assert!((98_000..102_000).contains(&all.len()), "{}", all.len());
        let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "{mean} {variance}");
        let above = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
        assert!((above - (-1.0_f64).exp()).abs() < 0.01, "{above}");
    }

    #[test]
    fn the_windows_calls_are_counted_from_its_start() {
        let mut schedule = schedule(1_000.0, Arrival::Constant, &[0], 1, None);
        let window = Window::new();
        assert_eq!(schedule.next(&window, 0), Next::DueAt(0));
        schedule.take();
        assert_eq!(schedule.next(&window, 0), Next::DueAt(1_000_000));
        window.open(500_000, 2_500_000);
        assert_eq!(schedule.next(&window, 0), Next::DueAt(500_000));
        schedule.take();
        assert_eq!(schedule.next(&window, 0), Next::DueAt(1_500_000));
        schedule.take();
        assert_eq!(schedule.next(&window, 0), Next::EndsAt(2_500_000));
    }

    #[test]
    fn what_nobody_took_is_unsent_up_to_the_end_of_the_window() {
        let window = window(0, 10_000_000);
        let mut timed = schedule(1_000.0, Arrival::Constant, &[0], 1, None);
        assert_eq!(timed.next(&window, 0), Next::DueAt(0));
        timed.take();
        assert_eq!(timed.take_rest(&window), (9, Some(1_000_000)));
        assert_eq!(timed.take_rest(&window), (0, None));
        let mut counted = schedule(1_000.0, Arrival::Constant, &[0], 1, Some(100));
        assert_eq!(counted.next(&window, 0), Next::DueAt(0));
        counted.take();
        // Ended early: what was not due yet is not owed.
        window.end_by(5_000_000);
        assert_eq!(counted.take_rest(&window), (4, Some(1_000_000)));
    }

    #[test]
    fn what_the_warm_up_owed_is_dropped_at_the_windows_start() {
        let mut schedule = schedule(1_000_000.0, Arrival::Constant, &[0], 1, None);
        let window = window(50_000_000, 60_000_000);
        assert_eq!(schedule.next(&window, 49_999_999), Next::DueAt(0));
        schedule.take();
        assert_eq!(schedule.next(&window, 50_000_001), Next::DueAt(50_000_000));
        assert_eq!(schedule.take_rest(&window), (10_000, Some(50_000_000)));
    }

    #[test]
    fn the_first_call_of_a_rate_near_nothing_is_due_at_the_start() {
        let mut schedule = schedule(1e-300, Arrival::Constant, &[0], 1, None);
        let window = Window::new();
        schedule.take();
        assert_eq!(schedule.next(&window, 5), Next::DueAt(NEVER));
        window.open(10, 20);
        assert_eq!(schedule.next(&window, 5), Next::DueAt(10));
    }

    #[test]
    fn billions_of_unsent_calls_are_counted_at_once() {
        let window = window(0, 3_000_000_000);
        let unsent = |callers: &[u64], arrival, count| schedule(1e9, arrival, callers, 3, count).take_rest(&window).0;
        assert_eq!(unsent(&[0, 2], Arrival::Constant, None), 2_000_000_000);
        assert_eq!(unsent(&[1], Arrival::Constant, Some(1_000_000_000_000)), 1_000_000_000);
        assert_eq!(unsent(&[1], Arrival::Constant, Some(10)), 3);
        let poisson = unsent(&[1], Arrival::Poisson, None);
        assert!(poisson.abs_diff(1_000_000_000) < 1_000_000, "{poisson}");
        assert_eq!(unsent(&[1], Arrival::Poisson, Some(30_000_000)), 10_000_000);
    }
}
