//! Counts that the control thread may look at while calls are made, and the line on stderr.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bench_core::units::grouped;

/// Counts of one client thread: written by that thread alone, each on its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Progress {
    ended: AtomicU64,
    failed: AtomicU64,
    warm_callers: AtomicU64,
    /// Of the group that this is a thread of, if any.
    group: Option<Arc<Progress>>,
}

impl Progress {
    #[inline]
    pub fn call_ended(&self, ok: bool) {
        add(&self.ended, 1);
        if !ok {
            add(&self.failed, 1);
        }
    }

    /// Counts of one thread of a group.
    pub fn part_of(group: &Arc<Self>) -> Self {
        Self {
            group: Some(group.clone()),
            ..Self::default()
        }
    }

    /// A caller has made its first call of the run. Counted for the whole group at once: the window opens by it.
    pub fn caller_is_warm(&self) {
        let all = self.group.as_deref().unwrap_or(self);
        all.warm_callers.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts a new run.
    pub fn reset(&self) {
        self.warm_callers.store(0, Ordering::Relaxed);
    }

    /// Correct replies so far, as they were a moment ago.
    pub fn replies(&self) -> u64 {
        // Failures first: a call between the two readings must not make the difference negative.
        let failed = self.failed.load(Ordering::Relaxed);
        self.ended.load(Ordering::Relaxed).saturating_sub(failed)
    }

    pub fn warm_callers(&self) -> u64 {
        self.warm_callers.load(Ordering::Relaxed)
    }

    /// Takes over the calls that the threads of a group have counted; to be called by one thread only, which then is the one writer.
    pub fn show_sum_of<'a>(&self, parts: impl Iterator<Item = &'a Self>) {
        let (mut ended, mut failed) = (0, 0);
        for part in parts {
            ended += part.ended.load(Ordering::Relaxed);
            failed += part.failed.load(Ordering::Relaxed);
        }
        self.ended.store(ended, Ordering::Relaxed);
        self.failed.store(failed, Ordering::Relaxed);
    }
}

/// One writer: a plain load and store, no locked instruction.
#[inline]
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed) + n, Ordering::Relaxed);
}

/// A line on stderr that is written over once a second, on a terminal only.
pub(crate) struct ProgressLine {
    threads: Vec<Arc<Progress>>,
    shown: bool,
    last: Instant,
    last_ended: u64,
    visible: bool,
}

impl ProgressLine {
    pub fn new(threads: Vec<Arc<Progress>>, wanted: bool) -> Self {
        Self {
            threads,
            shown: wanted && std::io::stderr().is_terminal(),
            last: Instant::now(),
            last_ended: 0,
            visible: false,
        }
    }

    /// To be called often; writes when a second has gone by.
    pub fn tick(&mut self, phase: &str) {
        let passed = self.last.elapsed();
        if !self.shown || passed < Duration::from_secs(1) {
            return;
        }
        let sum =
            |count: fn(&Progress) -> &AtomicU64| -> u64 { self.threads.iter().map(|thread| count(thread).load(Ordering::Relaxed)).sum() };
        let (ended, failed) = (sum(|thread| &thread.ended), sum(|thread| &thread.failed));
        let rate = (ended - self.last_ended) as f64 / passed.as_secs_f64();
        let line = format!("{phase}  {} calls/s  {failed} failed", grouped(rate));
        // Nobody is harmed when the terminal is gone.
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        (self.last, self.last_ended, self.visible) = (Instant::now(), ended, true);
    }

    /// Takes the line away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.visible) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
