//! The simulated handler delay: a fixed time that is never cut short and hardly overrun, the same for both kinds of server.
//!
//! An async server starts one [`DelayLine`] per runtime and awaits [`DelayLine::wait`]; a blocking server calls
//! [`wait_blocking`]. Both ask the kernel's high-resolution timers for the exact instant, neither rounds: a blocking
//! server on a finer timer would look faster for no reason of its own. Neither uses tokio's timer, whose 1 ms wheel rounds
//! up: `sleep(10 ms)` takes over 11 ms. METHODOLOGY.md ("The simulated delay") has the measurements,
//! `benches/delay.rs` repeats them.

mod blocking;
mod clock;
mod line;
mod queue;
mod timer;
mod wait;

pub use blocking::{sleep_until, wait_blocking};
pub use line::DelayLine;
pub use timer::AbsoluteTimer;
pub use wait::Wait;

/// How long one wait really took, in nanoseconds of `CLOCK_MONOTONIC`. All zero for a zero delay, where no clock is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// From the call of the wait until its caller runs again: the delay + `lateness_ns` + `resume_lag_ns`, never below the delay.
    pub slept_ns: u64,
    /// From the deadline (call + delay) until the timer's side noticed it: what our instrument adds. On a
    /// busy async runtime this also holds the driver's own turn in the run queue.
    pub lateness_ns: u64,
    /// From there until the waiting task runs again: what the runtime adds. Zero for [`wait_blocking`], where the
    /// kernel wakes the thread itself and the two cannot be told apart: all is in `lateness_ns`.
    pub resume_lag_ns: u64,
}
