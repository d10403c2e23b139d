//! The service that every server offers: echo a message or a payload, after the simulated delay.
//!
//! A server crate adapts, it does not decide: whatever the library, the work done for a call is the work done here.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bench_host::now_ns;

use crate::delay::{DelayLine, Waited, wait_blocking};
use crate::failure_log::FailureLog;
use crate::histogram::Times;
use crate::message::EchoMessage;
use crate::server::DelayCounters;

/// What a handler does with a call besides answering it.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandlerSettings {
    /// Simulated delay of every call; zero answers at once.
    pub delay: Duration,
    /// Yields once to the scheduler before the work, as the rpcx suite's `runtime.Gosched()`.
    pub yields: bool,
    /// For so long each call keeps its thread busy: work that a handler would have, or a slow-down of known size. Zero for none.
    pub work: Duration,
}

/// Serves calls. One per runtime, so that counters are not shared between threads; clones are of the same handler.
#[derive(Clone)]
pub struct Handler {
    state: Arc<State>,
}

struct State {
    settings: HandlerSettings,
    /// What async calls wait on; `None` without a delay.
    line: Option<Arc<DelayLine>>,
    calls: AtomicU64,
    waits: Mutex<Waits>,
    failures: FailureLog,
}

/// Times of all simulated delays of one handler.
#[derive(Default)]
struct Waits {
    slept: Times,
    lateness: Times,
    resume_lag: Times,
}

impl Handler {
    /// A handler for the runtime in which this is called.
    ///
    /// # Errors
    /// When the timer of the simulated delay cannot be made.
    pub fn new(settings: HandlerSettings, failures: FailureLog) -> io::Result<Self> {
        let line = match settings.delay {
            Duration::ZERO => None,
            delay => Some(DelayLine::start(delay)?),
        };
        Ok(Self {
            state: Arc::new(State {
                settings,
                line,
                calls: AtomicU64::new(0),
                waits: Mutex::default(),
                failures,
            }),
        })
    }

    /// The echo service: answers a message in the library's own type.
    pub async fn echo<M: EchoMessage>(&self, mut message: M) -> M {
        self.work().await;
        message.answer();
        self.count();
        message
    }

    /// The payload service: the same bytes back, in whatever type the library has for them.
    pub async fn payload<B>(&self, bytes: B) -> B {
        self.work().await;
        self.count();
        bytes
    }

    /// [`Self::echo`] for a library that blocks: the calling thread itself waits.
    pub fn echo_blocking<M: EchoMessage>(&self, mut message: M) -> M {
        self.work_blocking();
        message.answer();
        self.count();
        message
    }

    /// [`Self::payload`] for a library that blocks.
    pub fn payload_blocking<B>(&self, bytes: B) -> B {
        self.work_blocking();
        self.count();
        bytes
    }

    /// Says that a connection ended in an error: a refused frame, garbage, a peer too slow. Printed and counted, never fatal.
    pub fn connection_failed(&self, text: &str) {
        self.state.failures.add(text);
    }

    async fn work(&self) {
        if self.state.settings.yields {
            tokio::task::yield_now().await;
        }
        if let Some(line) = &self.state.line {
            let waited = line.wait().await;
            self.lock_waits().record(waited);
        }
        self.keep_busy();
    }

    fn work_blocking(&self) {
        if self.state.settings.yields {
            std::thread::yield_now();
        }
        if self.has_delay() {
            let waited = wait_blocking(self.state.settings.delay);
            self.lock_waits().record(waited);
        }
        self.keep_busy();
    }

    fn keep_busy(&self) {
        let work = self.state.settings.work;
        if !work.is_zero() {
            let end = now_ns() + work.as_nanos() as u64;
            while now_ns() < end {
                std::hint::spin_loop();
            }
        }
    }

    fn has_delay(&self) -> bool {
        !self.state.settings.delay.is_zero()
    }

    /// Counted when the work is done: a call that was cancelled while it slept is not one that was served.
    fn count(&self) {
        self.state.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn lock_waits(&self) -> std::sync::MutexGuard<'_, Waits> {
        self.state.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls served so far.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::Relaxed)
    }
}

impl Waits {
    fn record(&mut self, waited: Waited) {
        self.slept.record(waited.slept_ns);
        self.lateness.record(waited.lateness_ns);
        self.resume_lag.record(waited.resume_lag_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.slept.merge(&other.slept);
        self.lateness.merge(&other.lateness);
        self.resume_lag.merge(&other.resume_lag);
    }
}

/// The simulated delays of several handlers together; `None` when they have no delay.
pub fn delay_counters(handlers: &[Handler]) -> Option<DelayCounters> {
    let mut all = Waits::default();
    let mut any = false;
    for handler in handlers.iter().filter(|handler| handler.has_delay()) {
        any = true;
        all.merge(&handler.lock_waits());
    }
    let sum = |times: &Times| u64::try_from(times.sum_ns()).unwrap_or(u64::MAX);
    any.then(|| DelayCounters {
        count: all.slept.count(),
        slept_ns_sum: sum(&all.slept),
        lateness_ns_sum: sum(&all.lateness),
        resume_lag_ns_sum: sum(&all.resume_lag),
        slept_ns: all.slept.summary(),
        lateness_ns: all.lateness.summary(),
        resume_lag_ns: all.resume_lag.summary(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{benchmark_reply, benchmark_request};

    fn in_runtime<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn it_answers_counts_and_waits_at_least_the_delay() {
        in_runtime(async {
            let settings = HandlerSettings {
                delay: Duration::from_millis(3),
                yields: true,
                ..HandlerSettings::default()
            };
            let handler = Handler::new(settings, FailureLog::default()).unwrap();
            let before = std::time::Instant::now();
            assert_eq!(handler.echo(benchmark_request()).await, benchmark_reply());
            assert!(before.elapsed() >= settings.delay);
            assert_eq!(handler.payload(vec![1, 2]).await, [1, 2]);
            assert_eq!(handler.calls(), 2);
            let delay = delay_counters(&[handler]).unwrap();
            assert_eq!(delay.count, 2);
            assert!(delay.slept_ns.unwrap().min >= 3_000_000);
        });
    }

    #[test]
    fn the_blocking_forms_answer_count_and_wait_as_the_others_do() {
        in_runtime(async {
            let settings = HandlerSettings {
                delay: Duration::from_millis(3),
                yields: true,
                ..HandlerSettings::default()
            };
            let handler = Handler::new(settings, FailureLog::default()).unwrap();
            assert_eq!(handler.echo_blocking(benchmark_request()), benchmark_reply());
            assert_eq!(handler.payload_blocking(vec![1, 2]), [1, 2]);
            assert_eq!(handler.calls(), 2);
            let delay = delay_counters(&[handler]).unwrap();
            assert_eq!((delay.count, delay.resume_lag_ns_sum), (2, 0));
            assert_eq!(delay.slept_ns_sum, 6_000_000 + delay.lateness_ns_sum);
            assert!(delay.slept_ns.unwrap().min >= 3_000_000);
        });
    }

    #[test]
    fn work_keeps_the_thread_busy_for_at_least_its_time() {
        in_runtime(async {
            let settings = HandlerSettings {
                work: Duration::from_millis(2),
                ..HandlerSettings::default()
            };
            let handler = Handler::new(settings, FailureLog::default()).unwrap();
            let before = std::time::Instant::now();
            handler.echo(benchmark_request()).await;
            handler.payload_blocking(vec![1]);
            assert!(before.elapsed() >= 2 * settings.work);
        });
    }

    #[test]
    fn without_a_delay_there_is_nothing_to_report_about_it() {
        in_runtime(async {
            let handler = Handler::new(HandlerSettings::default(), FailureLog::default()).unwrap();
            handler.echo(benchmark_request()).await;
            assert_eq!(delay_counters(&[handler]), None);
        });
    }

    #[test]
    fn a_call_cancelled_in_its_delay_is_not_counted_as_served() {
        in_runtime(async {
            let settings = HandlerSettings {
                delay: Duration::from_secs(60),
                ..HandlerSettings::default()
            };
            let handler = Handler::new(settings, FailureLog::default()).unwrap();
            let call = handler.echo(benchmark_request());
            assert!(tokio::time::timeout(Duration::from_millis(5), call).await.is_err());
            assert_eq!(handler.calls(), 0);
        });
    }
}
