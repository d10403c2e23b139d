//! The open loop of callers that are tasks of one thread.
//!
//! Free callers wait in a queue. Whoever looks at the clock hands due calls to its front: a caller that comes back with a reply, and the
//! driver, a task that sleeps until the front's call is due. So under load most calls are made with a batch of replies, and the timer
//! fires only where nothing else has looked.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use bench_core::delay::AbsoluteTimer;
use bench_host::now_ns;

use super::schedule::{Next, Schedule};
use super::{Pace, PacerKind, Turns};
use crate::window::Window;

/// How often the pacer looks whether the window has been opened or cut short.
const LOOK: Duration = Duration::from_millis(10);

/// Hands a thread's due calls to its callers.
pub(crate) struct Pacer {
    window: Arc<Window>,
    /// `None`: its driver spins.
    timer: Option<AbsoluteTimer>,
    /// Least time between two firings of the timer.
    coalesce_ns: u64,
    state: RefCell<State>,
}

struct State {
    schedule: Schedule,
    free: VecDeque<Rc<Seat>>,
    /// What the timer is set to.
    set_to: Option<u64>,
    /// When it last fired.
    fired_ns: u64,
}

/// A caller's place in the queue.
#[derive(Default)]
pub(crate) struct Seat {
    called: Cell<Option<Call>>,
    waker: RefCell<Option<Waker>>,
}

/// What a waiting caller is told.
#[derive(Clone, Copy)]
enum Call {
    DueAt(u64),
    NoMore,
}

impl Pacer {
    /// The pacer of one run; [`Self::drive`] must run beside the callers.
    ///
    /// # Errors
    /// When the kernel gives no timer.
    pub fn new(schedule: Schedule, pace: &Pace, window: Arc<Window>) -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            window,
            coalesce_ns: pace.coalesce.as_nanos() as u64,
            timer: match pace.pacer {
                PacerKind::Timer => Some(AbsoluteTimer::new()?),
                PacerKind::Spin => None,
            },
            state: RefCell::new(State {
                schedule,
                free: VecDeque::new(),
                set_to: None,
                fired_ns: 0,
            }),
        }))
    }

    /// A caller's turns.
    pub fn turns(self: &Rc<Self>) -> PacedTurns {
        PacedTurns {
            pacer: self.clone(),
            seat: Rc::default(),
        }
    }

    /// Releases callers whose time has come, until it is dropped.
    pub async fn drive(&self) {
        let Some(timer) = &self.timer else {
            loop {
                self.state.borrow_mut().release(now_ns(), &self.window);
                tokio::task::yield_now().await;
            }
        };
        loop {
            tokio::select! {
                fired = timer.fired() => {
                    // The runtime shuts down.
                    if fired.is_err() {
                        return;
                    }
                    let mut state = self.state.borrow_mut();
                    (state.set_to, state.fired_ns) = (None, now_ns());
                }
                () = tokio::time::sleep(LOOK) => {}
            }
            let mut state = self.state.borrow_mut();
            let now = now_ns();
            state.release(now, &self.window);
            self.set_timer(&mut state, now);
        }
    }

    /// Calls of the window that nobody made, and since when the first of them was due.
    pub fn unsent(&self) -> (u64, Option<u64>) {
        self.state.borrow_mut().schedule.take_rest(&self.window)
    }

    /// Sets the timer for the front of the queue, unless it fires early enough anyway.
    fn set_timer(&self, state: &mut State, now_ns: u64) {
        let (Some(timer), false) = (&self.timer, state.free.is_empty()) else {
            return;
        };
        let at = match state.schedule.next(&self.window, now_ns) {
            Next::DueAt(at) => at.max(state.fired_ns + self.coalesce_ns),
            Next::EndsAt(at) => at,
            Next::Never => return,
        };
        // A refusal leaves the look, which is late and shows as such.
        if state.set_to.is_none_or(|set_to| at < set_to) && timer.set(at).is_ok() {
            state.set_to = Some(at);
        }
    }
}

impl State {
    /// Hands out what is due, first to those who have been free longest.
    fn release(&mut self, now_ns: u64, window: &Window) {
        while let Some(seat) = self.free.front() {
            let call = match self.schedule.next(window, now_ns) {
                Next::DueAt(due) if due <= now_ns => {
                    self.schedule.take();
                    Call::DueAt(due)
                }
                Next::EndsAt(end) if end <= now_ns => Call::NoMore,
                Next::Never => Call::NoMore,
                Next::DueAt(_) | Next::EndsAt(_) => return,
            };
            seat.called.set(Some(call));
            if let Some(waker) = &*seat.waker.borrow() {
                waker.wake_by_ref();
            }
            self.free.pop_front();
        }
    }
}

/// The turns of one caller.
pub(crate) struct PacedTurns {
    pacer: Rc<Pacer>,
    seat: Rc<Seat>,
}

impl Turns for PacedTurns {
    const OPEN: bool = true;

    async fn next(&mut self, now_ns: u64) -> Option<u64> {
        // After the window nothing is sent any more, however much was due.
        if now_ns >= self.pacer.window.end() {
            return None;
        }
        {
            let mut state = self.pacer.state.borrow_mut();
            state.free.push_back(self.seat.clone());
            state.release(now_ns, &self.pacer.window);
            self.pacer.set_timer(&mut state, now_ns);
        }
        let seat = &self.seat;
        let call = std::future::poll_fn(|context| match seat.called.take() {
            Some(call) => Poll::Ready(call),
            None => {
                let mut waker = seat.waker.borrow_mut();
                if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                    *waker = Some(context.waker().clone());
                }
                Poll::Pending
            }
        });
        match call.await {
            Call::DueAt(due) => Some(due),
            Call::NoMore => None,
        }
    }
}
