//! Time limits of calls, at no cost to the call.
//!
//! A timer per call would put tokio's timer wheel into every measurement. Here a caller only notes when its call began; one task per
//! thread looks through all callers every few milliseconds and cuts off what has taken too long. Callers that block their threads are
//! watched by another thread (slot.rs).

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bench_host::now_ns;

use crate::window::Window;

/// A call may run over its limit by this share of it.
const LOOKS_PER_LIMIT: u32 = 20;
const SHORTEST_LOOK: Duration = Duration::from_millis(1);
const LONGEST_LOOK: Duration = Duration::from_millis(20);

/// Guards a caller's calls.
pub(crate) trait Watch {
    /// Awaits a call, made at `made_ns`, until it is cut off. The future is pinned by the caller: it holds the whole message, and moving it
    /// about would be part of every measured time.
    fn call<'a, F: Future>(&'a self, made_ns: u64, future: Pin<&'a mut F>) -> impl Future<Output = Result<F::Output, CutOff>>;

    /// Awaits a reconnect until the window has ended.
    fn reconnect<'a, F: Future>(&'a self, future: Pin<&'a mut F>) -> impl Future<Output = Result<F::Output, CutOff>>;
}

/// What a caller is doing, for the watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Nothing,
    /// A call, made at this instant.
    Calling(u64),
    /// Waiting to reconnect: pointless once the window has ended.
    Reconnecting,
}

/// A caller's place in the watch.
pub(crate) struct Watched {
    doing: Cell<Doing>,
    cut: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// The future was given up by the watch.
#[derive(Debug)]
pub(crate) struct CutOff;

impl Watched {
    pub fn new() -> Rc<Self> {
        Rc::new(Self {
            doing: Cell::new(Doing::Nothing),
            cut: Cell::new(false),
            waker: RefCell::new(None),
        })
    }

    #[inline]
    fn guard<'a, F: Future>(&'a self, doing: Doing, future: Pin<&'a mut F>) -> Guarded<'a, F> {
        self.doing.set(doing);
        Guarded { watched: self, future }
    }

    fn cut_off(&self) {
        self.cut.set(true);
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }
}

impl Watch for Rc<Watched> {
    #[inline]
    fn call<'a, F: Future>(&'a self, made_ns: u64, future: Pin<&'a mut F>) -> impl Future<Output = Result<F::Output, CutOff>> {
        self.guard(Doing::Calling(made_ns), future)
    }

    fn reconnect<'a, F: Future>(&'a self, future: Pin<&'a mut F>) -> impl Future<Output = Result<F::Output, CutOff>> {
        self.guard(Doing::Reconnecting, future)
    }
}

/// A future under watch.
struct Guarded<'a, F> {
    watched: &'a Watched,
    future: Pin<&'a mut F>,
}

impl<F: Future> Future for Guarded<'_, F> {
    type Output = Result<F::Output, CutOff>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            self.watched.doing.set(Doing::Nothing);
            self.watched.cut.set(false);
            return Poll::Ready(Ok(output));
        }
        if self.watched.cut.take() {
            self.watched.doing.set(Doing::Nothing);
            return Poll::Ready(Err(CutOff));
        }
        // A task's waker stays the same: this clones once per caller, not once per call.
        let mut waker = self.watched.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

/// Limits that the watch enforces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Longest that a call may take.
    pub timeout: Duration,
    /// Longest that calls may go on after the window.
    pub drain: Duration,
}

/// Looks after the callers until it is dropped.
pub(crate) async fn watch(callers: Vec<Rc<Watched>>, limits: Limits, window: &Window) -> Infallible {
    loop {
        tokio::time::sleep(limits.look_every()).await;
        let look = Look::now(limits, window);
        for caller in &callers {
            if look.is_too_long(caller.doing.get()) {
                caller.cut_off();
            }
        }
    }
}

impl Limits {
    /// Pause between two looks.
    pub fn look_every(&self) -> Duration {
        (self.timeout / LOOKS_PER_LIMIT).clamp(SHORTEST_LOOK, LONGEST_LOOK)
    }
}

/// What is too long at one instant.
pub(crate) struct Look {
    now: u64,
    timeout: u64,
    ended: bool,
    drained: bool,
}

impl Look {
    pub fn now(limits: Limits, window: &Window) -> Self {
        let (now, end) = (now_ns(), window.end());
        Self {
            now,
            timeout: nanos(limits.timeout),
            ended: now >= end,
            drained: now >= end.saturating_add(nanos(limits.drain)),
        }
    }

    pub fn is_too_long(&self, doing: Doing) -> bool {
        match doing {
            Doing::Nothing => false,
            Doing::Calling(made) => self.drained || self.now.saturating_sub(made) >= self.timeout,
            Doing::Reconnecting => self.ended,
        }
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::pin::pin;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    fn limits(timeout_ms: u64) -> Limits {
        Limits {
            timeout: Duration::from_millis(timeout_ms),
            drain: Duration::ZERO,
        }
    }

    #[test]
    fn a_call_that_never_ends_is_cut_off_no_sooner_than_its_limit() {
        run(async {
            let (watched, window) = (Watched::new(), Window::new());
            let made = now_ns();
            let never = pin!(pending::<()>());
            tokio::select! {
                result = watched.call(made, never) => assert!(result.is_err()),
                never = watch(vec![watched.clone()], limits(30), &window) => match never {},
            }
            assert!(now_ns() - made >= 30_000_000);
            // The next call starts afresh.
            assert_eq!(watched.call(now_ns(), pin!(ready(7))).await.unwrap(), 7);
        });
    }

    #[test]
    fn calls_and_reconnects_are_cut_off_when_the_window_and_the_drain_are_over() {
        run(async {
            let (caller, lost, window) = (Watched::new(), Watched::new(), Window::new());
            window.open(0, now_ns());
            let both = async {
                assert!(caller.call(now_ns(), pin!(pending::<()>())).await.is_err());
                assert!(lost.reconnect(pin!(pending::<()>())).await.is_err());
            };
            tokio::select! {
                () = both => {}
                never = watch(vec![caller.clone(), lost.clone()], limits(60_000), &window) => match never {},
            }
        });
    }
}
