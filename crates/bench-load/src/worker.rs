//! A client thread: its runtime, its connections and its callers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use anyhow::Context as _;
use bench_core::failure::CallError;
use bench_host::CpuSet;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::caller::{Caller, CallerEnd, Tally};
use crate::connect::{CallResult, Connect};
use crate::control;
use crate::link::{Link, SharedConnection, connect};
use crate::open::{AtOnce, Pace, Pacer, Schedule, Share};
use crate::progress::Progress;
use crate::target::Target;
use crate::watch::{Limits, Watched, watch};
use crate::window::Window;
use crate::workload::{Workload, WorkloadSpec};

/// Connections that a thread opens at once: far below the backlog, enough to hide the round trip.
pub(crate) const CONNECTS_AT_ONCE: usize = 64;

/// What a client thread is given.
#[derive(Clone)]
pub(crate) struct WorkerSpec {
    pub target: Target,
    /// For each of its connections, the numbers of the callers that use it.
    pub connections: Vec<Vec<u64>>,
    pub cpus: CpuSet,
    pub limits: Limits,
    pub workload: WorkloadSpec,
    pub progress: Arc<Progress>,
}

/// What the control thread tells a client thread.
pub(crate) enum Command {
    /// One call whose reply must be right.
    Verify,
    /// A run of all callers.
    Run(RunOrder),
}

#[derive(Clone)]
pub(crate) struct RunOrder {
    pub window: Arc<Window>,
    /// Counted runs: calls in all.
    pub count: Option<u64>,
    /// All callers of the run.
    pub callers: u64,
    /// An open loop's.
    pub pace: Option<Pace>,
    /// When the run began, which is when the calls of an open loop begin to be due.
    pub began_ns: u64,
}

impl RunOrder {
    /// Calls that caller `index` makes of a counted run in a closed loop: the sum over all callers is exactly the count.
    pub fn quota(&self, index: u64) -> Option<u64> {
        let count = self.count.filter(|_| self.pace.is_none())?;
        Some(count / self.callers + u64::from(index < count % self.callers))
    }

    /// The due calls, in an open loop, of a thread that has these callers.
    pub fn schedule(&self, callers: Vec<u64>) -> Option<(Pace, Schedule)> {
        let share = Share { callers, of: self.callers };
        self.pace.map(|pace| (pace, Schedule::new(pace, share, self.count, self.began_ns)))
    }
}

/// What a client thread tells the control thread.
pub(crate) enum Event {
    Connected,
    Verified(CallResult<()>),
    RunEnded(Box<WorkerRun>),
    /// It has ended: in order, or by an error.
    Ended(anyhow::Result<()>),
}

/// What one thread's callers did in one run.
pub(crate) struct WorkerRun {
    pub tally: Tally,
    pub callers: Vec<CallerEnd>,
}

/// A caller that is a task among others of its thread.
type TaskCaller<C, W> = Caller<C, W, Rc<Watched>>;

/// Body of a client thread over connections of type `C`. Ends when the sender of `commands` is gone.
pub(crate) fn work<C: Connect, W: Workload<C>>(
    spec: WorkerSpec,
    commands: UnboundedReceiver<Command>,
    events: &Sender<Event>,
) -> anyhow::Result<()> {
    spec.cpus.pin_thread()?;
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())
        .context("cannot start a runtime")?;
    runtime.block_on(serve_commands::<C, W>(spec, commands, events))
}

async fn serve_commands<C: Connect, W: Workload<C>>(
    spec: WorkerSpec,
    mut commands: UnboundedReceiver<Command>,
    events: &Sender<Event>,
) -> anyhow::Result<()> {
    let mut callers = connect_all::<C, W>(&spec).await?;
    // A closed channel means that the control thread has given up: the loop below ends too.
    let _ = events.send(Event::Connected);
    while let Some(command) = commands.recv().await {
        let event = match command {
            Command::Verify => Event::Verified(verify(&mut callers, &spec).await),
            Command::Run(order) => {
                let (run, returned) = run_all(callers, order, &spec).await?;
                callers = returned;
                Event::RunEnded(Box::new(run))
            }
        };
        let _ = events.send(event);
    }
    Ok(())
}

async fn connect_all<C: Connect, W: Workload<C>>(spec: &WorkerSpec) -> Result<Vec<TaskCaller<C, W>>, CallError> {
    let target = Rc::new(spec.target.clone());
    let mut waiting = spec.connections.iter().cloned();
    let mut connecting = JoinSet::new();
    let workload = W::new(&spec.workload);
    let mut callers = Vec::new();
    loop {
        while connecting.len() < CONNECTS_AT_ONCE
            && let Some(indices) = waiting.next()
        {
            let target = target.clone();
            connecting.spawn_local(async move { connect::<C>(&target).await.map(|connection| (connection, indices)) });
        }
        let Some(joined) = connecting.join_next().await else {
            return Ok(callers);
        };
        let (connection, indices) =
            joined.map_err(|error| CallError::fatal(bench_core::failure::FailureKind::Other, error.to_string()))??;
        let new_caller = |index, link| Caller {
            index,
            link,
            workload: workload.clone(),
            watched: Watched::new(),
            alive: true,
        };
        match C::SHARE {
            Some(share) => {
                let shared = SharedConnection::new(connection);
                for index in indices {
                    let link = Link::member(&shared, share, target.clone(), spec.workload.seed ^ index).await;
                    callers.push(new_caller(index, link));
                }
            }
            None => {
                let index = indices.first().copied().unwrap_or_default();
                callers.push(new_caller(index, Link::own(connection, target.clone(), spec.workload.seed ^ index)));
            }
        }
    }
}

async fn verify<C: Connect, W: Workload<C>>(callers: &mut [TaskCaller<C, W>], spec: &WorkerSpec) -> CallResult<()> {
    let Some(caller) = callers.first_mut() else {
        return Ok(());
    };
    let watched = vec![caller.watched.clone()];
    let open_end = Window::new();
    let mut workload = W::mutated(&spec.workload);
    tokio::select! {
        result = caller.call_once(&mut workload) => result,
        never = watch(watched, control::verify_limits(spec.limits), &open_end) => match never {},
    }
}

async fn run_all<C: Connect, W: Workload<C>>(
    callers: Vec<TaskCaller<C, W>>,
    order: RunOrder,
    spec: &WorkerSpec,
) -> anyhow::Result<(WorkerRun, Vec<TaskCaller<C, W>>)> {
    let tally = Rc::new(RefCell::new(Tally::new(order.pace.is_some())));
    let pacer = order
        .schedule(callers.iter().map(|caller| caller.index).collect())
        .map(|(pace, schedule)| Pacer::new(schedule, &pace, order.window.clone()))
        .transpose()
        .context("cannot make the timer of the open loop")?;
    let watched = callers.iter().map(|caller| caller.watched.clone()).collect();
    let limits = spec.limits;
    let window = order.window.clone();
    let watching = tokio::task::spawn_local(async move { watch(watched, limits, &window).await });

    let driving = pacer
        .clone()
        .map(|pacer| tokio::task::spawn_local(async move { pacer.drive().await }));

    let mut running = JoinSet::new();
    for mut caller in callers {
        let (tally, order, progress) = (tally.clone(), order.clone(), spec.progress.clone());
        let turns = pacer.as_ref().map(Pacer::turns);
        running.spawn_local(async move {
            let (window, quota) = (&order.window, order.quota(caller.index));
            let end = match turns {
                Some(turns) => caller.run(window, quota, turns, &tally, &progress).await,
                None => caller.run(window, quota, AtOnce, &tally, &progress).await,
            };
            (caller, end)
        });
    }
    let (callers, ends) = running.join_all().await.into_iter().unzip();
    watching.abort();
    if let Some(driving) = driving {
        driving.abort();
    }
    let mut tally = tally.replace(Tally::new(false));
    if let Some(pacer) = pacer {
        tally.add_unsent(pacer.unsent(), &order.window);
    }
    let run = WorkerRun { tally, callers: ends };
    Ok((run, callers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_quotas_add_up_to_exactly_the_count() {
        for (count, callers) in [(10, 3), (3, 3), (1_000_003, 500), (7, 1)] {
            let order = RunOrder {
                window: Arc::new(Window::new()),
                count: Some(count),
                callers,
                pace: None,
                began_ns: 0,
            };
            let quotas: Vec<u64> = (0..callers).filter_map(|index| order.quota(index)).collect();
            assert_eq!(quotas.iter().sum::<u64>(), count);
            assert!(quotas.iter().max() <= quotas.iter().min().map(|least| least + 1).as_ref());
        }
    }
}
