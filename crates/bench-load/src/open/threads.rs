//! The open loop of callers that are threads.
//!
//! Free threads stand in a queue, so that all of them have their turn. Only its front sleeps until the next call is due; the others are
//! parked, at no cost, until they are the front.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use bench_core::delay::sleep_until;
use bench_host::now_ns;

use super::Turns;
use super::schedule::{Next, Schedule};
use crate::window::Window;

/// How often the front looks whether the window has been opened or cut short.
const LOOK_NS: u64 = 20_000_000;

/// The schedule of a group of threads.
pub(crate) struct SharedSchedule {
    window: Arc<Window>,
    state: Mutex<State>,
}

struct State {
    schedule: Schedule,
    free: VecDeque<Arc<Seat>>,
}

/// A thread's place in the queue.
struct Seat {
    thread: Thread,
    is_front: AtomicBool,
}

impl SharedSchedule {
    pub fn new(schedule: Schedule, window: Arc<Window>) -> Arc<Self> {
        Arc::new(Self {
            window,
            state: Mutex::new(State {
                schedule,
                free: VecDeque::new(),
            }),
        })
    }

    /// Turns of the calling thread, and of no other.
    pub fn turns(self: &Arc<Self>) -> ThreadTurns {
        ThreadTurns {
            shared: self.clone(),
            seat: Arc::new(Seat {
                thread: thread::current(),
                is_front: AtomicBool::new(false),
            }),
        }
    }

    /// Calls of the window that nobody made, and since when the first of them was due.
    pub fn unsent(&self) -> (u64, Option<u64>) {
        self.lock().schedule.take_rest(&self.window)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turns of one caller.
pub(crate) struct ThreadTurns {
    shared: Arc<SharedSchedule>,
    seat: Arc<Seat>,
}

impl ThreadTurns {
    /// Waits in the queue until this thread is its front.
    fn become_front(&self) {
        let mut state = self.shared.lock();
        state.free.push_back(self.seat.clone());
        self.seat.is_front.store(state.free.len() == 1, Ordering::Release);
        drop(state);
        while !self.seat.is_front.load(Ordering::Acquire) {
            thread::park();
        }
    }

    /// Leaves the queue, whose front this is.
    fn leave(mut state: MutexGuard<'_, State>) {
        state.free.pop_front();
        let next = state.free.front().cloned();
        drop(state);
        if let Some(next) = next {
            next.is_front.store(true, Ordering::Release);
            next.thread.unpark();
        }
    }
}

impl Turns for ThreadTurns {
    const OPEN: bool = true;

    async fn next(&mut self, _now_ns: u64) -> Option<u64> {
        self.become_front();
        loop {
            let mut state = self.shared.lock();
            let now = now_ns();
            let next = match now < self.shared.window.end() {
                true => state.schedule.next(&self.shared.window, now),
                // After the window nothing is sent any more, however much was due.
                false => Next::Never,
            };
            let until = match next {
                Next::DueAt(due) if due <= now => {
                    state.schedule.take();
                    Self::leave(state);
                    return Some(due);
                }
                Next::DueAt(at) | Next::EndsAt(at) => at,
                Next::Never => {
                    Self::leave(state);
                    return None;
                }
            };
            drop(state);
            sleep_until(until.min(now.saturating_add(LOOK_NS)));
        }
    }
}

#[cfg(test)]
mod tests {
    use bench_core::arrival::Arrival;

    use super::super::{Pace, PacerKind, Share};
    use super::*;

    #[test]
    fn threads_share_out_all_calls_and_none_is_made_before_it_is_due() {
        let window = Arc::new(Window::new());
        let start = now_ns() + 1_000_000;
        window.open(start, start + 20_000_000);
        let pace = Pace {
            rate_per_s: 5_000.0,
            arrival: Arrival::Constant,
            pacer: PacerKind::Timer,
            coalesce: std::time::Duration::ZERO,
            seed: 1,
        };
        let share = Share {
            callers: vec![0, 1, 2],
            of: 3,
        };
        let shared = SharedSchedule::new(Schedule::new(pace, share, None, start), window.clone());
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    let mut turns = shared.turns();
                    let mut dues = Vec::new();
                    while let Some(due) = crate::blocking::run_now(turns.next(now_ns())) {
                        assert!(now_ns() >= due);
                        dues.push(due);
                    }
                    dues
                })
            })
            .collect();
        let mut dues: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        dues.sort_unstable();
        assert!(now_ns() >= window.end());
        // On a loaded machine the last ones may have come too late.
        let unsent = shared.unsent().0;
        assert_eq!(dues.len() as u64 + unsent, 100);
        let expected: Vec<u64> = (0..dues.len() as u64).map(|index| start + index * 200_000).collect();
        assert_eq!(dues, expected);
    }
}
