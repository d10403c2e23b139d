//! One absolute, one-shot timer of a tokio runtime, as exact as the kernel's.

use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime};
use tokio::io::{Interest, unix::AsyncFd};

use super::clock::timespec;

/// A timer file descriptor, registered with the runtime that it was made in.
///
/// The timer is one-shot and tokio's registration edge-triggered, so nobody need read it: setting it again discards the old expiration.
/// That can lose none, as long as whoever awaits [`Self::fired`] then looks at the clock, and only then sets it again: what expired before
/// is seen by that look, what comes later is a new edge. An instant that has passed by the time it is set fires at once.
#[derive(Debug)]
pub struct AbsoluteTimer(AsyncFd<OwnedFd>);

impl AbsoluteTimer {
    /// A timer that is not set.
    ///
    /// # Errors
    /// If called outside a tokio runtime, or the kernel gives no timer (file descriptors used up).
    ///
    /// # Panics
    /// If the runtime was built without `enable_io`; tokio has no way to ask.
    pub fn new() -> io::Result<Self> {
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // SAFETY: an `OwnedFd` always answers with the same descriptor and keeps it open until it is dropped.
        unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }
            .map(Self)
            .map_err(io::Error::from)
    }

    /// Sets it to fire once, at this instant of [`bench_host::now_ns`].
    ///
    /// # Errors
    /// If the kernel refuses, which it has no reason to.
    pub fn set(&self, at_ns: u64) -> io::Result<()> {
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: timespec(at_ns),
        };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Waits until it has fired.
    ///
    /// # Errors
    /// When the runtime shuts down.
    pub async fn fired(&self) -> io::Result<()> {
        self.0.readable().await?.clear_ready();
        Ok(())
    }
}
