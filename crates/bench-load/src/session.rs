//! The client threads as the control thread sees them: connect, verify, run.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bench_core::allocator::allocations;
use bench_core::failure::CallError;
use bench_host::{MachineCpu, ProcessUsage, now_ns};
use tokio::sync::mpsc::UnboundedSender;

use crate::caller::{CallerEnd, Tally};
use crate::evenness::{Evenness, Reading};
use crate::open::Pace;
use crate::progress::{Progress, ProgressLine};
use crate::registry::Entry;
use crate::signals::{Interrupted, Signals};
use crate::watch::nanos;
use crate::window::{NEVER, Window};
use crate::worker::{Command, Event, RunOrder, WorkerRun, WorkerSpec};

/// Before the window of an open loop opens, for so long it is announced: a caller that waits for a call of the warm-up then waits for the
/// window's first instead.
const NOTICE: Duration = Duration::from_millis(50);
/// How often the control thread looks at signals and progress.
const LOOK: Duration = Duration::from_millis(50);
/// The window waits at most this long, beyond the warm-up, for callers that have not made a call yet.
const LATE_WARMUP: Duration = Duration::from_secs(10);
/// How long the client threads may take to report after the drain is over.
const REPORT_LIMIT: Duration = Duration::from_secs(5);

/// One run: how long to warm up, and what ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunPlan {
    pub warmup: Duration,
    /// Calls in all.
    pub count: Option<u64>,
    /// Length of the window.
    pub duration: Option<Duration>,
    pub callers: u64,
    /// An open loop's.
    pub pace: Option<Pace>,
}

/// What one run of all threads came to.
pub(crate) struct RunOutcome {
    pub tally: Tally,
    pub callers: Vec<CallerEnd>,
    pub warmup: Duration,
    pub elapsed: Duration,
    /// Sum of the time in the window that the callers were there to call: in a counted run until their last call.
    pub callers_active: Duration,
    pub interrupted: bool,
    /// How the replies came over the window.
    pub evenness: Evenness,
    /// Process and machine at the window's edges.
    pub usage: ProcessUsage,
    pub machine: (MachineCpu, MachineCpu),
    /// Allocations between the two, in a build that counts them.
    pub allocations: Option<u64>,
}

/// Connected client threads.
pub(crate) struct Session {
    workers: Vec<Worker>,
    events: Receiver<Event>,
    signals: Signals,
    progress: ProgressLine,
    drain: Duration,
    /// Time until all connections were open.
    pub connect: Duration,
}

struct Worker {
    commands: UnboundedSender<Command>,
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
}

impl Session {
    /// Starts the threads and waits until every connection is open: nobody calls before everybody is connected.
    pub fn connect(entry: Entry, specs: Vec<WorkerSpec>, drain: Duration, signals: Signals, show_progress: bool) -> anyhow::Result<Self> {
        let (to_control, events) = mpsc::channel();
        let started = now_ns();
        let mut workers = Vec::new();
        for (index, spec) in specs.into_iter().enumerate() {
            let (commands, incoming) = tokio::sync::mpsc::unbounded_channel();
            let to_control = to_control.clone();
            let progress = spec.progress.clone();
            let thread = std::thread::Builder::new()
                .name(format!("call-{index}"))
                .spawn(move || {
                    let mut last_word = LastWord {
                        to_control,
                        ended: Err(anyhow!("a client thread panicked (its message is above)")),
                    };
                    last_word.ended = (entry.work)(spec, incoming, &last_word.to_control);
                })
                .context("cannot start a client thread")?;
            workers.push(Worker {
                commands,
                progress,
                thread,
            });
        }
        let progress = ProgressLine::new(workers.iter().map(|worker| worker.progress.clone()).collect(), show_progress);
        let mut session = Self {
            workers,
            events,
            signals,
            progress,
            drain,
            connect: Duration::ZERO,
        };
        let mut connected = 0;
        while connected < session.workers.len() {
            match session.next_event()? {
                Some(Event::Connected) => connected += 1,
                _ if session.signals.asked_to_stop() => bail!(Interrupted),
                _ => session.progress.tick("connecting"),
            }
        }
        session.connect = Duration::from_nanos(now_ns() - started);
        Ok(session)
    }

    /// Makes one call whose reply must be right.
    pub fn verify(&mut self) -> anyhow::Result<Result<(), CallError>> {
        self.tell(0, Command::Verify)?;
        loop {
            match self.next_event()? {
                Some(Event::Verified(result)) => return Ok(result),
                _ if self.signals.asked_to_stop() => bail!(Interrupted),
                _ => {}
            }
        }
    }

    /// Warms up, measures and drains.
    pub fn run(&mut self, plan: &RunPlan) -> anyhow::Result<RunOutcome> {
        let window = Arc::new(Window::new());
        let mut runs = Runs {
            wanted: self.workers.len(),
            ended: Vec::new(),
        };
        // Without a warm-up the window is open before the first call: every call belongs to it.
        let opened = plan.warmup.is_zero().then(|| Opened::now(&window, plan)).transpose()?;
        let began = now_ns();
        for index in 0..self.workers.len() {
            self.workers[index].progress.reset();
            let order = RunOrder {
                window: window.clone(),
                count: plan.count,
                callers: plan.callers,
                pace: plan.pace,
                began_ns: began,
            };
            self.tell(index, Command::Run(order))?;
        }
        if opened.is_none() {
            self.wait_until(began + nanos(plan.warmup), "warming up", &mut runs)?;
            let patience = now_ns() + nanos(LATE_WARMUP);
            while self.warm_callers() < plan.callers && now_ns() < patience && !self.signals.asked_to_stop() {
                self.wait_until(now_ns() + nanos(Duration::from_millis(10)), "warming up", &mut runs)?;
            }
        }

        let opened = match opened {
            Some(opened) => opened,
            None => {
                if plan.pace.is_some() {
                    let start = now_ns() + nanos(NOTICE);
                    window.open(start, planned_end(start, plan));
                    self.wait_until(start, "warming up", &mut runs)?;
                }
                Opened::now(&window, plan)?
            }
        };
        let mut evenness = Evenness::since(Reading::now(), self.replies());
        let interrupted = self.measure_until(opened.planned_end, &mut evenness, &mut runs)?;
        window.end_by(now_ns());
        let usage = ProcessUsage::now()?.since(&opened.usage);
        let machine_after = MachineCpu::now()?;
        let allocations = allocations().zip(opened.allocations).map(|(now, before)| now - before);

        let limit = now_ns() + nanos(self.drain) + nanos(REPORT_LIMIT);
        while !runs.all_ended() {
            self.collect(limit.saturating_sub(now_ns()).min(nanos(LOOK)), &mut runs)?;
            self.progress.tick("draining");
            if now_ns() > limit {
                bail!("a client thread does not report: it is stuck in a call that cannot be given up");
            }
        }
        self.progress.clear();

        let mut tally = Tally::new(plan.pace.is_some());
        let mut callers = Vec::new();
        for run in runs.ended {
            tally.merge(&run.tally);
            callers.extend(run.callers);
        }
        // A counted run ends with its last call, not when the control thread notices.
        let last_call = callers.iter().filter_map(|caller| caller.ended_ns).max();
        let end = match (plan.count, last_call) {
            (Some(count), Some(last)) if tally.answered() == count => last,
            _ => window.end(),
        };
        let counted = plan.count.is_some() && plan.pace.is_none();
        let end_of = |caller: &CallerEnd| caller.ended_ns.filter(|_| counted && caller.unsent == 0).unwrap_or(end);
        let active_ns = callers.iter().map(|caller| end_of(caller).saturating_sub(opened.start)).sum();
        Ok(RunOutcome {
            callers_active: Duration::from_nanos(active_ns),
            tally,
            callers,
            warmup: Duration::from_nanos(opened.start.saturating_sub(began)),
            elapsed: Duration::from_nanos(end.saturating_sub(opened.start)),
            interrupted,
            evenness,
            usage,
            machine: (opened.machine, machine_after),
            allocations,
        })
    }

    /// Ends all threads.
    pub fn close(self) {
        for worker in self.workers {
            drop(worker.commands);
            // A panic was reported when it happened, by its own message and the missing report.
            let _ = worker.thread.join();
        }
    }

    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    fn warm_callers(&self) -> u64 {
        self.workers.iter().map(|worker| worker.progress.warm_callers()).sum()
    }

    fn replies(&self) -> u64 {
        self.workers.iter().map(|worker| worker.progress.replies()).sum()
    }

    /// Waits as [`Self::wait_until`] does, and looks at the replies from time to time.
    fn measure_until(&mut self, instant_ns: u64, evenness: &mut Evenness, runs: &mut Runs) -> anyhow::Result<bool> {
        loop {
            let next_look = instant_ns.min(now_ns() + nanos(LOOK));
            let interrupted = self.wait_until(next_look, "measuring", runs)?;
            if interrupted || runs.all_ended() {
                return Ok(interrupted);
            }
            evenness.look(Reading::now(), self.replies());
            if now_ns() >= instant_ns {
                return Ok(false);
            }
        }
    }

    /// Waits until an instant, until all threads have ended their run, or until a signal; says whether it was a signal.
    fn wait_until(&mut self, instant_ns: u64, phase: &str, runs: &mut Runs) -> anyhow::Result<bool> {
        loop {
            let left = instant_ns.saturating_sub(now_ns());
            if self.signals.asked_to_stop() {
                return Ok(true);
            }
            if left == 0 || runs.all_ended() {
                return Ok(false);
            }
            self.collect(left.min(nanos(LOOK)), runs)?;
            self.progress.tick(phase);
        }
    }

    fn collect(&mut self, wait_ns: u64, runs: &mut Runs) -> anyhow::Result<()> {
        match self.events.recv_timeout(Duration::from_nanos(wait_ns)) {
            Ok(Event::RunEnded(run)) => runs.ended.push(*run),
            Ok(event) => self.unexpected(event)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("all client threads have ended"),
        }
        Ok(())
    }

    /// The next event within a moment.
    fn next_event(&mut self) -> anyhow::Result<Option<Event>> {
        match self.events.recv_timeout(LOOK) {
            Ok(event @ Event::Ended(_)) => self.unexpected(event).map(|()| None),
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("all client threads have ended"),
        }
    }

    fn unexpected(&mut self, event: Event) -> anyhow::Result<()> {
        self.progress.clear();
        match event {
            Event::Ended(Err(error)) => Err(error),
            Event::Ended(Ok(())) => Err(anyhow!("a client thread ended early")),
            Event::Connected | Event::Verified(_) | Event::RunEnded(_) => Ok(()),
        }
    }

    fn tell(&self, worker: usize, command: Command) -> anyhow::Result<()> {
        self.workers[worker]
            .commands
            .send(command)
            .map_err(|_| anyhow!("a client thread has ended"))
    }
}

/// A window that was opened, and the readings at that moment.
struct Opened {
    usage: ProcessUsage,
    machine: MachineCpu,
    allocations: Option<u64>,
    start: u64,
    planned_end: u64,
}

impl Opened {
    fn now(window: &Window, plan: &RunPlan) -> anyhow::Result<Self> {
        let usage = ProcessUsage::now()?;
        let machine = MachineCpu::now()?;
        // An open loop's was announced.
        let start = Some(window.start()).filter(|start| *start != NEVER).unwrap_or_else(now_ns);
        let planned_end = planned_end(start, plan);
        window.open(start, planned_end);
        Ok(Self {
            usage,
            machine,
            allocations: allocations(),
            start,
            planned_end,
        })
    }
}

fn planned_end(start_ns: u64, plan: &RunPlan) -> u64 {
    plan.duration.map_or(NEVER, |duration| start_ns.saturating_add(nanos(duration)))
}

/// Tells how a client thread ended, even when it panicked.
struct LastWord {
    to_control: Sender<Event>,
    ended: anyhow::Result<()>,
}

impl Drop for LastWord {
    fn drop(&mut self) {
        let ended = std::mem::replace(&mut self.ended, Ok(()));
        // Nobody listens any more once the session is closed.
        let _ = self.to_control.send(Event::Ended(ended));
    }
}

struct Runs {
    wanted: usize,
    ended: Vec<WorkerRun>,
}

impl Runs {
    fn all_ended(&self) -> bool {
        self.ended.len() >= self.wanted
    }
}
