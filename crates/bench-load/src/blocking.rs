//! Clients that block: the measured loop on one thread per connection.
//!
//! ```text
//! control ──▶ group, one per CPU ──▶ a thread per connection: the measured loop (caller.rs)
//!                                    its time limits are the group's affair (slot.rs)
//! ```
//!
//! A group's thread starts the threads of its connections, which inherit its CPUs, passes the control thread's commands on, watches over
//! calls, and adds up what was counted. How many callers have made their first call they say themselves. The threads have no runtime: thousands of them would take three descriptors each.

mod times;

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use bench_core::failure::CallError;
use bench_host::start_connection_thread;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::caller::{Caller, CallerEnd, Tally};
use crate::connect::{CallResult, Connect};
use crate::control;
use crate::link::{Link, connect};
use crate::open::{AtOnce, SharedSchedule};
use crate::progress::Progress;
use crate::slot::Slot;
use crate::target::Target;
use crate::watch::{Limits, Look};
use crate::window::Window;
use crate::worker::{CONNECTS_AT_ONCE, Command, Event, RunOrder, WorkerRun, WorkerSpec};
use crate::workload::{Workload, WorkloadSpec};
use times::{GroupTimes, KeptTimes};

/// Looks are rarer where many are to be looked at, which takes 50 ns each: no more than a caller's share of the CPU.
const LOOK_PER_CALLER: Duration = Duration::from_micros(100);

/// Body of a group's thread over connections of type `C`. Ends when the sender of `commands` is gone.
pub(crate) fn work<C: Connect, W: Workload<C>>(
    spec: WorkerSpec,
    mut commands: UnboundedReceiver<Command>,
    events: &Sender<Event>,
) -> anyhow::Result<()> {
    spec.cpus.pin_thread()?;
    // On a thread of its own, as is whatever else takes long: the kernel's scheduler makes a thread that has had more than its share of a
    // CPU wait until thousands of others have had theirs, and this one has to look after the callers.
    let mut group = apart(move || Group::connect::<C, W>(&spec))??;
    // A closed channel means that the control thread has given up: the loop below ends too.
    let _ = events.send(Event::Connected);
    while let Some(command) = commands.blocking_recv() {
        let event = match command {
            Command::Verify => Event::Verified(group.verify()?),
            Command::Run(order) => Event::RunEnded(Box::new(group.run(&order)?)),
        };
        let _ = events.send(event);
    }
    group.close();
    Ok(())
}

/// What a group tells its callers' threads.
#[derive(Clone)]
enum Order {
    Wait,
    /// For the caller of this number.
    Verify(u64),
    Run(RunOrder, GroupTimes, Option<Arc<SharedSchedule>>),
    End,
}

/// What a caller's thread tells its group.
enum Reply {
    Connected(Result<(), CallError>),
    Verified(CallResult<()>),
    RunEnded(Box<Tally<KeptTimes>>, CallerEnd),
    /// It has ended: every thread's last word.
    Ended,
}

/// The threads of one group, connected.
struct Group {
    limits: Limits,
    progress: Arc<Progress>,
    board: Arc<Board>,
    members: Vec<Member>,
    replies: Receiver<Reply>,
    next_look: Instant,
}

struct Member {
    index: u64,
    slot: Arc<Slot>,
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
}

impl Group {
    /// Starts the threads and waits until all are connected; few at a time are connecting.
    fn connect<C: Connect, W: Workload<C>>(spec: &WorkerSpec) -> anyhow::Result<Self> {
        let (reply, replies) = mpsc::channel();
        let mut group = Self {
            limits: spec.limits,
            progress: spec.progress.clone(),
            board: Arc::default(),
            members: Vec::new(),
            replies,
            next_look: Instant::now(),
        };
        let (number, mut connected) = (spec.connections.len(), 0);
        while connected < number {
            let connecting = group.members.len() - connected;
            if group.members.len() < number && connecting < CONNECTS_AT_ONCE {
                let index = spec.connections[group.members.len()].first().copied().unwrap_or_default();
                let member = start::<C, W>(index, spec, &group.board, reply.clone())
                    .with_context(|| format!("cannot start the thread of connection {} of {number}", group.members.len() + 1))?;
                group.members.push(member);
                continue;
            }
            match group.next_reply(spec.limits, &Window::new())? {
                Reply::Connected(result) => result?,
                _ => bail!("a caller's thread answered before it was asked"),
            }
            connected += 1;
        }
        Ok(group)
    }

    /// One call of the first caller.
    fn verify(&mut self) -> anyhow::Result<CallResult<()>> {
        let Some(first) = self.members.first() else {
            return Ok(Ok(()));
        };
        self.board.post(Order::Verify(first.index));
        match self.next_reply(control::verify_limits(self.limits), &Window::new())? {
            Reply::Verified(result) => Ok(result),
            _ => Err(anyhow!("a caller's thread answered another question")),
        }
    }

    /// A run of all callers.
    fn run(&mut self, order: &RunOrder) -> anyhow::Result<WorkerRun> {
        let times = GroupTimes::new(order.pace.is_some());
        let schedule = order
            .schedule(self.members.iter().map(|member| member.index).collect())
            .map(|(_, schedule)| SharedSchedule::new(schedule, order.window.clone()));
        let (board, all) = (self.board.clone(), Order::Run(order.clone(), times.clone(), schedule.clone()));
        apart(move || board.post(all))?;
        let mut run = WorkerRun {
            tally: Tally::new(order.pace.is_some()),
            callers: Vec::new(),
        };
        while run.callers.len() < self.members.len() {
            match self.next_reply(self.limits, &order.window)? {
                Reply::RunEnded(tally, end) => {
                    run.tally.add_counts(&tally);
                    run.callers.push(end);
                }
                _ => bail!("a caller's thread answered another question"),
            }
        }
        self.show_progress();
        times.add_to(&mut run.tally);
        if let Some(schedule) = schedule {
            run.tally.add_unsent(schedule.unsent(), &order.window);
        }
        Ok(run)
    }

    /// Waits for a thread's answer and looks after all of them meanwhile.
    fn next_reply(&mut self, limits: Limits, window: &Window) -> anyhow::Result<Reply> {
        loop {
            let wait = self.next_look.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(wait) {
                Ok(Reply::Ended) => bail!("a caller's thread panicked (its message is above)"),
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("all callers' threads have ended"),
            }
            let look = Look::now(limits, window);
            self.members.iter().for_each(|member| member.slot.look(&look));
            self.show_progress();
            self.next_look = Instant::now() + limits.look_every() + LOOK_PER_CALLER * self.members.len() as u32;
        }
    }

    fn show_progress(&self) {
        self.progress.show_sum_of(self.members.iter().map(|member| &*member.progress));
    }

    /// Ends the threads.
    fn close(mut self) {
        self.board.post(Order::End);
        for member in self.members.drain(..) {
            // A panic was reported when it happened.
            let _ = member.thread.join();
        }
    }
}

impl Drop for Group {
    /// Nobody waits for a group that has failed.
    fn drop(&mut self) {
        self.board.post(Order::End);
    }
}

/// Where the latest order of a group stands. One call wakes all of its threads: told one by one, the last of five thousand would wait
/// seconds, as the first compete with the group's thread for its CPU as soon as they are calling.
#[derive(Default)]
struct Board {
    posted: Mutex<Posted>,
    changed: Condvar,
}

struct Posted {
    number: u64,
    order: Order,
}

impl Default for Posted {
    fn default() -> Self {
        Self {
            number: 0,
            order: Order::Wait,
        }
    }
}

impl Board {
    fn post(&self, order: Order) {
        let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
        posted.number += 1;
        posted.order = order;
        drop(posted);
        self.changed.notify_all();
    }

    /// Waits for the order after the one of number `seen`. Each is followed by another only when every thread it is for has answered.
    fn next(&self, seen: &mut u64) -> Order {
        let posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
        let posted = self
            .changed
            .wait_while(posted, |posted| posted.number == *seen)
            .unwrap_or_else(PoisonError::into_inner);
        *seen = posted.number;
        posted.order.clone()
    }
}

/// Runs something on another thread and waits for it.
fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> anyhow::Result<T> {
    std::thread::Builder::new()
        .spawn(work)
        .context("cannot start a client thread")?
        .join()
        .map_err(|_| anyhow!("a client thread panicked (its message is above)"))
}

/// Starts the thread of caller `index`, which opens its connection at once.
fn start<C: Connect, W: Workload<C>>(index: u64, spec: &WorkerSpec, board: &Arc<Board>, reply: Sender<Reply>) -> anyhow::Result<Member> {
    let (slot, progress) = (Arc::new(Slot::default()), Arc::new(Progress::part_of(&spec.progress)));
    let target = Target {
        slot: Some(slot.clone()),
        ..spec.target.clone()
    };
    let thread = CallerThread {
        index,
        board: board.clone(),
        slot: slot.clone(),
        progress: progress.clone(),
        workload: spec.workload,
        reply,
    };
    let thread = start_connection_thread(format!("caller-{index}"), move || run_now(thread.serve_orders::<C, W>(target)))?;
    Ok(Member {
        index,
        slot,
        progress,
        thread,
    })
}

/// A caller's thread.
struct CallerThread {
    index: u64,
    board: Arc<Board>,
    slot: Arc<Slot>,
    progress: Arc<Progress>,
    workload: WorkloadSpec,
    reply: Sender<Reply>,
}

impl CallerThread {
    async fn serve_orders<C: Connect, W: Workload<C>>(self, target: Target) {
        let connection = match connect::<C>(&target).await {
            Ok(connection) => connection,
            Err(error) => return self.say(Reply::Connected(Err(error))),
        };
        let mut caller = Caller {
            index: self.index,
            link: Link::own(connection, Rc::new(target), self.workload.seed ^ self.index),
            workload: W::new(&self.workload),
            watched: self.slot.clone(),
            alive: true,
        };
        self.say(Reply::Connected(Ok(())));
        let mut seen = 0;
        loop {
            let reply = match self.board.next(&mut seen) {
                Order::Verify(index) if index == self.index => Reply::Verified(caller.call_once(&mut W::mutated(&self.workload)).await),
                Order::Run(order, times, schedule) => {
                    let tally = RefCell::new(times.tally());
                    let (window, quota) = (&order.window, order.quota(caller.index));
                    let end = match schedule {
                        Some(schedule) => caller.run(window, quota, schedule.turns(), &tally, &self.progress).await,
                        None => caller.run(window, quota, AtOnce, &tally, &self.progress).await,
                    };
                    let mut tally = tally.into_inner();
                    tally.hand_over();
                    Reply::RunEnded(Box::new(tally), end)
                }
                Order::Wait | Order::Verify(_) => continue,
                Order::End => return,
            };
            self.say(reply);
        }
    }

    fn say(&self, reply: Reply) {
        // Nobody listens any more once the group is closed.
        let _ = self.reply.send(reply);
    }
}

impl Drop for CallerThread {
    /// Even when it panics.
    fn drop(&mut self) {
        self.say(Reply::Ended);
    }
}

/// Runs a future that never waits for anything but its thread. Where it yields, other threads have their turn.
pub(crate) fn run_now<T>(future: impl Future<Output = T>) -> T {
    let mut future: Pin<&mut _> = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests;
