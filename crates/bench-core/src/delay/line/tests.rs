//! The delay as its users see it. Lower bounds and counts only: how late a wait is belongs to `benches/delay.rs`.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};

use super::*;
use crate::delay::{Waited, wait_blocking};

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_io().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(4).enable_io().build().unwrap()
}

fn check_never_early(delay: Duration, waited: Waited, elapsed: Duration) {
    assert!(elapsed >= delay, "{elapsed:?} of {delay:?}");
    assert!(u128::from(waited.slept_ns) >= delay.as_nanos(), "{waited:?}");
    let parts_ns = delay.as_nanos() + u128::from(waited.lateness_ns) + u128::from(waited.resume_lag_ns);
    assert_eq!(u128::from(waited.slept_ns), parts_ns);
}

/// `tasks` tasks wait `times` times each; nobody is early, nobody is lost, no slot is kept.
fn check_all_return(runtime: &Runtime, delay: Duration, tasks: usize, times: usize) {
    runtime.block_on(async {
        let line = DelayLine::start(delay).unwrap();
        let mut running = JoinSet::new();
        for _ in 0..tasks {
            let line = Arc::clone(&line);
            running.spawn(async move {
                for _ in 0..times {
                    let start = Instant::now();
                    let waited = line.wait().await;
                    check_never_early(delay, waited, start.elapsed());
                }
            });
        }
        assert_eq!(running.join_all().await.len(), tasks);
        assert_eq!(line.timed().unwrap().lock().occupied(), 0);
    });
}

#[test]
fn no_wait_is_early_among_200_sleepers() {
    check_all_return(&current_thread(), Duration::from_micros(2500), 200, 8);
}

#[test]
fn no_wait_is_early_among_200_sleepers_on_several_workers() {
    check_all_return(&multi_thread(), Duration::from_micros(2500), 200, 8);
}

#[test]
fn no_blocking_wait_is_early_among_200_threads() {
    let delay = Duration::from_micros(2500);
    let sleep = move || {
        for _ in 0..8 {
            let start = Instant::now();
            let waited = wait_blocking(delay);
            check_never_early(delay, waited, start.elapsed());
        }
    };
    let threads: Vec<_> = (0..200).map(|_| thread::spawn(sleep)).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Delays about as long as the driver's own turn, so that pushes meet it at every point between firing and arming, and
/// the FIFO runs empty again and again. A lost wait would hang the test.
#[test]
fn no_wait_is_lost_while_the_driver_arms_again() {
    for delay_us in [1, 5, 20, 60] {
        check_all_return(&multi_thread(), Duration::from_micros(delay_us), 3, 4000);
        check_all_return(&current_thread(), Duration::from_micros(delay_us), 3, 1000);
    }
}

#[test]
fn waits_from_outside_the_runtime_are_served() {
    let runtime = multi_thread();
    let line = runtime.block_on(async { DelayLine::start(Duration::from_micros(30)).unwrap() });
    let elsewhere = current_thread();
    elsewhere.block_on(async {
        for _ in 0..2000 {
            line.wait().await;
        }
    });
}

#[test]
fn a_zero_delay_is_over_at_the_first_poll_and_needs_no_runtime() {
    let line = DelayLine::start(Duration::ZERO).unwrap();
    let answer = pin!(line.wait()).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(answer, std::task::Poll::Ready(Waited::default()));
    assert_eq!(wait_blocking(Duration::ZERO), Waited::default());
}

#[test]
fn without_a_runtime_a_line_says_so() {
    assert!(DelayLine::start(Duration::from_millis(1)).is_err());
}

/// Counts how often it was woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn dropped_waits_are_not_woken_and_leave_no_slot() {
    current_thread().block_on(async {
        let line = DelayLine::start(Duration::from_millis(2)).unwrap();
        let count = Arc::new(Count::default());
        for polled in [true, false] {
            for _ in 0..100 {
                let mut wait = pin!(line.wait());
                if polled {
                    let waker = Waker::from(Arc::clone(&count));
                    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                }
            }
        }
        // Pushed last, so released last.
        line.wait().await;
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        assert_eq!(Arc::strong_count(&count), 1, "no waker is kept");
        assert_eq!(line.timed().unwrap().lock().occupied(), 0);
    });
}

#[test]
fn time_runs_from_the_call_and_not_from_the_first_poll() {
    current_thread().block_on(async {
        let line = DelayLine::start(Duration::from_millis(5)).unwrap();
        let (first, second) = (line.wait(), line.wait());
        second.await;
        // The first was due before the second: it has its answer at its first poll.
        assert!(pin!(first).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
}

#[test]
fn dropping_the_line_ends_its_driver() {
    current_thread().block_on(async {
        let line = DelayLine::start(Duration::from_millis(1)).unwrap();
        let timed = Arc::downgrade(&line.timed.as_ref().unwrap().0);
        line.wait().await;
        drop(line);
        while timed.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn waits_outlive_their_runtime_and_are_still_not_early() {
    let delay = Duration::from_millis(3);
    for runtime in [current_thread(), multi_thread()] {
        let line = runtime.block_on(async { DelayLine::start(delay).unwrap() });
        let mut before = Box::pin(line.wait());
        let woken = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        let start = Instant::now();
        let pending = before.as_mut().poll(&mut cx).is_pending();
        drop(runtime);
        assert!(!pending || woken.0.load(Ordering::Relaxed) == 1);
        let elsewhere = current_thread();
        let waited = elsewhere.block_on(before);
        assert!(u128::from(waited.slept_ns) >= delay.as_nanos());
        let after = elsewhere.block_on(line.wait());
        check_never_early(delay, after, start.elapsed());
    }
}
