//! The delay of an async server: one timer file descriptor for all waits of a runtime.
//!
//! The delay is the same for all, so the earliest release is always the front of a FIFO (`queue.rs`). Two rules keep the
//! timer and the FIFO together, both under the queue's lock: who pushes into an empty FIFO arms the timer for it, and the
//! driver, having released what is due, arms it for the new front. A wait costs no system call unless it is the only one.
//!
//! An expiration cannot be lost (`timer.rs`): the driver waits for it, then looks at the clock, then arms again.

use std::{
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Duration,
};

use tokio::{runtime::Handle, task::AbortHandle};

use bench_host::now_ns;

use super::{Wait, clock::delay_ns, queue::Queue, timer::AbsoluteTimer};

/// Lets async tasks wait, all for the same time. One per tokio runtime, shared by its tasks; a multi-thread runtime's
/// workers share one, and its lock.
///
/// Dropping it ends its driver task. If the runtime that it was started in ends first, waits elsewhere block their thread
/// for what is left of the delay.
#[derive(Debug)]
pub struct DelayLine {
    /// `None` for a zero delay.
    timed: Option<(Arc<Timed>, AbortHandle)>,
}

impl DelayLine {
    /// A line whose waits take `delay`: any time from zero up, in nanoseconds; more than a century is cut to a century.
    /// Spawns its driver on the current runtime, except for a zero delay, which needs neither driver nor timer.
    ///
    /// # Errors
    /// If called outside a tokio runtime, or the kernel gives no timer (file descriptors used up).
    ///
    /// # Panics
    /// If the runtime was built without `enable_io`; tokio has no way to ask.
    pub fn start(delay: Duration) -> io::Result<Arc<Self>> {
        if delay.is_zero() {
            return Ok(Arc::new(Self { timed: None }));
        }
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let timed = Arc::new(Timed {
            delay_ns: delay_ns(delay),
            timer: AbsoluteTimer::new()?,
            queue: Mutex::default(),
        });
        let driver = runtime.spawn(drive(StopOnDrop(Arc::clone(&timed)))).abort_handle();
        Ok(Arc::new(Self {
            timed: Some((timed, driver)),
        }))
    }

    /// Waits for the line's delay, from now on, never less. Cancel safe: a dropped wait wakes nobody.
    pub fn wait(&self) -> Wait<'_> {
        let Some(timed) = self.timed() else {
            return Wait {
                line: self,
                called_ns: 0,
                slot: None,
            };
        };
        let mut queue = timed.lock();
        // Read under the lock, so that nobody with an earlier time can come later.
        let called_ns = now_ns();
        let release_ns = called_ns + timed.delay_ns;
        let was_empty = queue.next_release_ns().is_none();
        let slot = queue.push(release_ns);
        let armed = !was_empty || slot.is_none() || timed.arm(release_ns);
        drop(queue);
        if !armed {
            timed.stop();
        }
        Wait {
            line: self,
            called_ns,
            slot,
        }
    }

    pub(super) fn timed(&self) -> Option<&Timed> {
        self.timed.as_ref().map(|(timed, _)| &**timed)
    }
}

impl Drop for DelayLine {
    fn drop(&mut self) {
        if let Some((_, driver)) = &self.timed {
            driver.abort();
        }
    }
}

/// A line with a delay above zero.
pub(super) struct Timed {
    pub(super) delay_ns: u64,
    timer: AbsoluteTimer,
    queue: Mutex<Queue>,
}

impl Timed {
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing in `Queue` panics half-way through a change.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False if the kernel refused, which it has no reason to.
    fn arm(&self, at_ns: u64) -> bool {
        self.timer.set(at_ns).is_ok()
    }

    /// Hands every wait over to its own thread: the line can no longer wake anybody in time.
    fn stop(&self) {
        let mut wakers = Vec::new();
        self.lock().stop(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timed").field("delay_ns", &self.delay_ns).finish_non_exhaustive()
    }
}

/// Held by the driver: however that ends (line dropped, runtime shut down), nobody is left waiting for it.
struct StopOnDrop(Arc<Timed>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Releases what is due whenever the timer fires.
///
/// Nothing is rounded or spaced out here: callers that were released together come back together, so one firing serves many
/// as it is, and a minimum gap between firings broke those bunches up for several times the CPU (METHODOLOGY.md).
async fn drive(held: StopOnDrop) {
    let timed = &*held.0;
    let mut wakers = Vec::new();
    loop {
        if timed.timer.fired().await.is_err() {
            // The runtime shuts down.
            return;
        }
        let armed = {
            let mut queue = timed.lock();
            queue.release(now_ns(), &mut wakers);
            queue.next_release_ns().is_none_or(|at_ns| timed.arm(at_ns))
        };
        // Outside the lock: a woken task of another worker takes it at once.
        wakers.drain(..).for_each(Waker::wake);
        if !armed {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
