//! The measured window: when it starts and ends, and which calls belong to it.

use std::sync::atomic::{AtomicU64, Ordering};

/// "Not yet" for the start, "open end" for the end.
pub(crate) const NEVER: u64 = u64::MAX;

/// Start and end in nanoseconds of the suite's clock. Written by the control thread, read by every caller once a call; a closed loop
/// stops and an interrupt works by moving the end.
#[derive(Debug)]
pub(crate) struct Window {
    start: AtomicU64,
    end: AtomicU64,
}

/// Where a call lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the window: not counted.
    Warmup,
    /// In it.
    Measured,
    /// Still under way when the window ended: counted as in flight, neither success nor failure.
    InFlight,
}

impl Window {
    /// Neither start nor end are known yet: callers warm up.
    pub fn new() -> Self {
        Self {
            start: AtomicU64::new(NEVER),
            end: AtomicU64::new(NEVER),
        }
    }

    pub fn open(&self, start_ns: u64, end_ns: u64) {
        // The end first: a caller that sees the start must not see an older end.
        self.end.store(end_ns, Ordering::Release);
        self.start.store(start_ns, Ordering::Release);
    }

    /// Ends the window now, unless it has ended already.
    pub fn end_by(&self, now_ns: u64) {
        self.end.fetch_min(now_ns, Ordering::AcqRel);
    }

    pub fn start(&self) -> u64 {
        self.start.load(Ordering::Acquire)
    }

    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Timed runs count the calls that *end* in the window, whenever they were made: the rate of replies is then right for any length
    /// of window, also one of a few round trips.
    pub fn phase_timed(&self, ended_ns: u64) -> Phase {
        if ended_ns < self.start() {
            Phase::Warmup
        } else if ended_ns >= self.end() {
            Phase::InFlight
        } else {
            Phase::Measured
        }
    }

    /// Counted runs count the calls that were *made* in the window, so that exactly as many are made as were asked for.
    pub fn phase_counted(&self, made_ns: u64, ended_ns: u64) -> Phase {
        if made_ns < self.start() {
            Phase::Warmup
        } else if ended_ns >= self.end() {
            Phase::InFlight
        } else {
            Phase::Measured
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_window_counts_calls_by_their_end() {
        let window = Window::new();
        assert_eq!(window.phase_timed(5), Phase::Warmup);
        window.open(10, 20);
        let check = |ended, phase| assert_eq!(window.phase_timed(ended), phase, "{ended}");
        check(9, Phase::Warmup);
        check(10, Phase::Measured);
        check(19, Phase::Measured);
        check(20, Phase::InFlight);
    }

    #[test]
    fn a_counted_window_counts_calls_by_their_start() {
        let window = Window::new();
        window.open(10, NEVER);
        assert_eq!(window.phase_counted(9, 15), Phase::Warmup);
        assert_eq!(window.phase_counted(10, 15), Phase::Measured);
        window.end_by(14);
        window.end_by(30);
        assert_eq!(window.phase_counted(10, 15), Phase::InFlight);
    }
}
