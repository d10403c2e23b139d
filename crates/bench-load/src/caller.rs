//! The measured loop. There is one, the same for every framework.
//!
//! A caller makes a request, reads the clock, makes the call, reads the clock, looks at the reply, and starts again:
//!
//! ```text
//!   prepare request │ t₀ │ call … reply decoded │ t₁ │ check reply, count │ prepare request │ t₀ │ …
//!                   └──────── service time ─────────┘
//! ```
//!
//! - The request exists before t₀ and the reply is compared after t₁: what the benchmark itself costs is no part of the time, but it is
//!   part of the time between calls, so `rpc-bench calibrate` states it.
//! - In an open loop (`open/`) it waits before t₀ until a call is due; everything else is the same.
//! - t₁ serves as the "now" of the next look at the window: two readings of the clock per call, no more.
//! - Nothing in the loop allocates, waits for another thread or writes to memory that another thread writes to. (With a library that
//!   blocks, a thread hands its times on every 128 calls, and shares one word with the thread that cuts late calls off: `blocking.rs`.)

use std::cell::RefCell;
use std::pin::pin;

use bench_core::failure::{CallError, FailureKind};
use bench_core::first_texts::FirstTexts;
use bench_core::histogram::Times;
use bench_host::now_ns;

use crate::connect::{CallResult, Connect};
use crate::link::{Link, Reopened};
use crate::open::Turns;
use crate::progress::Progress;
use crate::watch::{CutOff, Watch};
use crate::window::{NEVER, Phase, Window};
use crate::workload::Workload;

/// One caller: it makes one call at a time. `G` guards its calls: it cuts off those that take too long.
pub(crate) struct Caller<C, W, G> {
    /// Number among all callers of the run.
    pub index: u64,
    pub link: Link<C>,
    pub workload: W,
    pub watched: G,
    /// False once its connection was given up.
    pub alive: bool,
}

/// What a caller did in one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerEnd {
    /// Correct and failed calls of the window.
    pub calls: u64,
    /// Calls of a counted run that it did not make.
    pub unsent: u64,
    /// End of its last measured call, if there was one.
    pub ended_ns: Option<u64>,
    /// Its connection was given up, in this run or an earlier one.
    pub lost: bool,
}

/// Counts of all callers of one thread. `T` takes the times.
pub(crate) struct Tally<T = Times> {
    /// Service times of correct replies.
    pub service: T,
    /// Times of failed calls.
    pub failed_time: T,
    /// Further times of the correct replies of an open loop.
    pub open: Option<OpenTimes<T>>,
    /// Failed calls by kind, in the order of [`FailureKind::ALL`].
    pub failed: [u64; FailureKind::ALL.len()],
    pub in_flight: u64,
    /// Calls of an open loop that were due in the window and not made.
    pub unsent: u64,
    /// How long the oldest of those two had been due at the end of the window.
    pub oldest_unanswered_ns: u64,
    /// Sum of the ages, within the window, of the calls in flight at its end.
    pub in_flight_age_ns: u64,
    /// All calls, whatever their phase and outcome.
    pub made: u64,
    pub reconnects: u64,
    /// Correct replies, in whatever phase.
    pub right: u64,
    /// Wrong replies before and after the window.
    pub wrong_outside: u64,
    pub texts: FirstTexts,
}

/// What an open loop measures besides service times.
pub(crate) struct OpenTimes<T> {
    /// Reply decoded − due.
    pub response: T,
    /// Call made − due.
    pub send_lag: T,
    /// The part of the send lag that is the client's own doing: call made − due, or − the caller was free, if that was later.
    pub pacer_lag: T,
}

impl OpenTimes<Times> {
    pub fn new() -> Self {
        Self {
            response: Times::new(),
            send_lag: Times::new(),
            pacer_lag: Times::new(),
        }
    }
}

/// Instants of one call.
#[derive(Clone, Copy)]
struct Moments {
    due: u64,
    /// Since when its caller had been free.
    free: u64,
    made: u64,
    ended: u64,
}

impl<T> Tally<T> {
    /// Nothing counted yet.
    pub fn of(service: T, failed_time: T, open: Option<OpenTimes<T>>) -> Self {
        Self {
            service,
            failed_time,
            open,
            failed: [0; FailureKind::ALL.len()],
            in_flight: 0,
            unsent: 0,
            oldest_unanswered_ns: 0,
            in_flight_age_ns: 0,
            made: 0,
            reconnects: 0,
            right: 0,
            wrong_outside: 0,
            texts: FirstTexts::default(),
        }
    }
}

impl Tally {
    /// Nothing counted yet, of an open or a closed loop.
    pub fn new(open: bool) -> Self {
        Self::of(Times::new(), Times::new(), open.then(OpenTimes::new))
    }
}

/// What takes times, in nanoseconds.
pub(crate) trait RecordTime {
    fn record(&mut self, time_ns: u64);
}

impl RecordTime for Times {
    #[inline]
    fn record(&mut self, time_ns: u64) {
        Times::record(self, time_ns);
    }
}

impl<C: Connect, W: Workload<C>, G: Watch> Caller<C, W, G> {
    /// Calls until the window ends, until there are no more turns or, in a counted run, until `quota` calls were made in it.
    pub async fn run<T: RecordTime, R: Turns>(
        &mut self,
        window: &Window,
        quota: Option<u64>,
        mut turns: R,
        tally: &RefCell<Tally<T>>,
        progress: &Progress,
    ) -> CallerEnd {
        let mut end = CallerEnd {
            calls: 0,
            unsent: 0,
            ended_ns: None,
            lost: false,
        };
        let mut warm = false;
        let mut now = now_ns();
        while self.alive && now < window.end() && quota.is_none_or(|quota| end.calls < quota) {
            if self.link.lost {
                self.reopen(tally).await;
                now = now_ns();
                continue;
            }
            let request = self.workload.prepare();
            // The first call of a warm-up has no turn: at a low rate most callers would not come to one.
            let has_turn = !R::OPEN || warm || window.start() != NEVER;
            let Some(due) = (if has_turn { turns.next(now).await } else { Some(now) }) else {
                break;
            };
            let made = now_ns();
            let outcome = self.watched.call(made, pin!(W::call(&mut self.link.connection, request))).await;
            let ended = now_ns();

            let result = self.judge(outcome);
            let phase = match quota {
                // An open loop counts what was due in the window, however late it was made.
                _ if R::OPEN => window.phase_counted(due, ended),
                None => window.phase_timed(ended),
                Some(_) => window.phase_counted(made, ended),
            };
            if phase == Phase::InFlight {
                tally.borrow_mut().was_under_way(due, made, window);
            }
            if phase == Phase::Measured {
                end.calls += 1;
                end.ended_ns = Some(ended);
            }
            let moments = Moments {
                due,
                free: now,
                made,
                ended,
            };
            tally.borrow_mut().count(phase, moments, &result);
            progress.call_ended(result.is_ok());
            if !warm {
                warm = true;
                progress.caller_is_warm();
            }
            now = ended;
            match result {
                Ok(()) => self.link.has_worked(),
                // A library may fail without waiting for anything: the others must have their turn.
                Err(error) if error.connection_usable => tokio::task::yield_now().await,
                Err(_) => self.link.lost = true,
            }
        }
        if !warm {
            // A caller that is lost must not keep the window from opening.
            progress.caller_is_warm();
        }
        end.lost = !self.alive;
        end.unsent = quota.unwrap_or(end.calls).saturating_sub(end.calls);
        end
    }

    /// Makes one call outside any window and says whether the reply was right.
    pub async fn call_once(&mut self, workload: &mut W) -> CallResult<()> {
        let request = workload.prepare();
        let outcome = self.watched.call(now_ns(), pin!(W::call(&mut self.link.connection, request))).await;
        judge(outcome, workload, self.link.carries_many())
    }

    #[inline]
    fn judge(&self, outcome: Result<CallResult<W::Reply>, CutOff>) -> CallResult<()> {
        judge(outcome, &self.workload, self.link.carries_many())
    }

    async fn reopen<T>(&mut self, tally: &RefCell<Tally<T>>) {
        let reopened = self.watched.reconnect(pin!(self.link.reopen())).await;
        let mut tally = tally.borrow_mut();
        match reopened {
            Ok(Ok(Reopened::Here)) => tally.reconnects += 1,
            Ok(Ok(Reopened::Elsewhere)) => {}
            Ok(Err(error)) => {
                self.alive = false;
                tally.texts.add(&format!("gave up reconnecting: {error}"));
            }
            // The window ended while it waited. What a blocking reconnect may have opened all the same was shut down.
            Err(CutOff) => self.link.lost = true,
        }
    }
}

#[inline]
fn judge<C: Connect, W: Workload<C>>(outcome: Result<CallResult<W::Reply>, CutOff>, workload: &W, shared: bool) -> CallResult<()> {
    match outcome {
        Ok(Ok(reply)) if workload.is_right(&reply) => Ok(()),
        Ok(Ok(_)) => Err(CallError::of_call(
            FailureKind::WrongReply,
            "wrong reply: a field differs from what was expected",
        )),
        Ok(Err(error)) => Err(error),
        // The reply may still come: on a connection of its own it would be taken for the next call's.
        Err(_) => Err(CallError {
            kind: FailureKind::Timeout,
            connection_usable: shared,
            message: "no reply within the time limit".to_owned(),
        }),
    }
}

impl<T: RecordTime> Tally<T> {
    #[inline]
    fn count(&mut self, phase: Phase, moments: Moments, result: &CallResult<()>) {
        let time_ns = moments.ended - moments.made;
        self.made += 1;
        self.right += u64::from(result.is_ok());
        match (phase, result) {
            (Phase::Measured, Ok(())) => {
                self.service.record(time_ns);
                if let Some(open) = &mut self.open {
                    open.response.record(moments.ended - moments.due);
                    open.send_lag.record(moments.made - moments.due);
                    open.pacer_lag.record(moments.made - moments.due.max(moments.free));
                }
            }
            (Phase::Measured, Err(error)) => {
                self.failed[error.kind as usize] += 1;
                self.failed_time.record(time_ns);
                self.texts.add(&error.message);
            }
            (Phase::InFlight, result) => {
                self.in_flight += 1;
                self.note_outside("after the window", result);
            }
            (Phase::Warmup, result) => self.note_outside("in the warm-up", result),
        }
    }

    /// A call that was under way at the window's end: once for each caller and run.
    fn was_under_way(&mut self, due: u64, made: u64, window: &Window) {
        self.in_flight_age_ns += window.end().saturating_sub(made.max(window.start()));
        self.unanswered_since(due, window);
    }

    fn unanswered_since(&mut self, due: u64, window: &Window) {
        self.oldest_unanswered_ns = self.oldest_unanswered_ns.max(window.end().saturating_sub(due));
    }

    /// Calls that were due in the window and not made, the first of them since an instant.
    pub fn add_unsent(&mut self, (calls, oldest_due): (u64, Option<u64>), window: &Window) {
        self.unsent += calls;
        if let Some(due) = oldest_due {
            self.unanswered_since(due, window);
        }
    }

    /// What happens outside the window is no figure, but a wrong reply there is as wrong as one inside.
    fn note_outside(&mut self, when: &str, result: &CallResult<()>) {
        if let Err(error) = result {
            self.wrong_outside += u64::from(error.kind == FailureKind::WrongReply);
            self.texts.add(&format!("{when}: {}", error.message));
        }
    }
}

impl Tally {
    /// Calls of the window that have ended.
    pub fn answered(&self) -> u64 {
        self.service.count() + self.failed.iter().sum::<u64>()
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        self.service.merge(&other.service);
        self.failed_time.merge(&other.failed_time);
        if let (Some(open), Some(others)) = (&mut self.open, &other.open) {
            open.response.merge(&others.response);
            open.send_lag.merge(&others.send_lag);
            open.pacer_lag.merge(&others.pacer_lag);
        }
        self.add_counts(other);
    }

    /// Adds everything but the times.
    pub fn add_counts<T>(&mut self, other: &Tally<T>) {
        for (all, part) in self.failed.iter_mut().zip(other.failed) {
            *all += part;
        }
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
        self.oldest_unanswered_ns = self.oldest_unanswered_ns.max(other.oldest_unanswered_ns);
        self.in_flight_age_ns += other.in_flight_age_ns;
        self.made += other.made;
        self.reconnects += other.reconnects;
        self.right += other.right;
        self.wrong_outside += other.wrong_outside;
        for text in other.texts.texts() {
            self.texts.add(text);
        }
    }
}
