//! One wait on a line.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bench_host::now_ns;

use super::{DelayLine, Waited, blocking::sleep_until, queue::SlotId};

/// The future of [`DelayLine::wait`]. Its time runs from that call, polled or not. Dropping it cancels it: nothing is woken.
#[derive(Debug)]
#[must_use = "the time runs, but nobody waits for it unless this is awaited"]
pub struct Wait<'a> {
    pub(super) line: &'a DelayLine,
    pub(super) called_ns: u64,
    /// `None` if nobody will wake this: zero delay, finished, or the line has stopped.
    pub(super) slot: Option<SlotId>,
}

impl Future for Wait<'_> {
    type Output = Waited;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Waited> {
        let Some(line) = self.line.timed() else {
            return Poll::Ready(Waited::default());
        };
        let deadline_ns = self.called_ns + line.delay_ns;
        let released_ns = match self.slot {
            None => None,
            Some(slot) => {
                let (answer, replaced) = line.lock().poll(slot, cx);
                drop(replaced);
                match answer {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(released_ns) => released_ns,
                }
            }
        };
        self.slot = None;
        // The runtime that drove the line is gone, and this is polled all the same. Rather in the way than early or for ever.
        let released_ns = released_ns.unwrap_or_else(|| sleep_until(deadline_ns));
        let resumed_ns = now_ns();
        Poll::Ready(Waited {
            slept_ns: resumed_ns - self.called_ns,
            lateness_ns: released_ns - deadline_ns,
            resume_lag_ns: resumed_ns - released_ns,
        })
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let (Some(slot), Some(line)) = (self.slot, self.line.timed()) {
            let waker = line.lock().abandon(slot);
            drop(waker);
        }
    }
}
