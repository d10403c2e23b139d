//! The open loop: calls are made when they are due, whether or not earlier ones have been answered.
//!
//! ```text
//! schedule (schedule.rs) ──▶ who calls next, and when: tasks (pacer.rs), threads (threads.rs) ──▶ the measured loop (caller.rs)
//! ```
//!
//! The callers of a thread take its due calls in order: the one that has been free longest makes the next call. A call that finds no
//! caller free waits for one and is then made at once; the schedule does not move, and what waits is not stored anywhere: it follows from
//! the schedule, so that a backlog takes no memory, however long. At most as many calls are under way as there are callers.

mod pacer;
mod schedule;
mod threads;

use std::time::Duration;

use bench_core::arrival::Arrival;
use clap::ValueEnum;

pub(crate) use pacer::Pacer;
pub(crate) use schedule::{Schedule, Share};
pub(crate) use threads::SharedSchedule;

/// How a client thread waits for the next due call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PacerKind {
    /// A high-resolution timer, and a look at each reply.
    Timer,
    /// Looking all the time: for client threads with CPUs of their own.
    Spin,
}

impl PacerKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Spin => "spin",
        }
    }
}

/// What an open loop was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// Calls per second of all callers together.
    pub rate_per_s: f64,
    pub arrival: Arrival,
    pub pacer: PacerKind,
    /// Least time between two wake-ups by the timer.
    pub coalesce: Duration,
    pub seed: u64,
}

/// When a caller may make its next call.
pub(crate) trait Turns {
    /// False in a closed loop, where a call is due when it is made.
    const OPEN: bool;

    /// Waits until a call is due and answers since when it was; `None` when no more are. `now_ns`: now.
    fn next(&mut self, now_ns: u64) -> impl Future<Output = Option<u64>>;
}

/// The closed loop: at once.
pub(crate) struct AtOnce;

impl Turns for AtOnce {
    const OPEN: bool = false;

    #[inline]
    async fn next(&mut self, now_ns: u64) -> Option<u64> {
        Some(now_ns)
    }
}
