//! Clients that block: the measured loop on one thread per connection.
//!
//! ```text
//! control ──▶ group, one per CPU ──▶ a thread per connection: the measured loop (caller.rs)
//!                                    its time limits are the group's affair (slot.rs)
//! ```
//!
//! A group's thread starts the threads of its connections, which inherit its CPUs, passes the control thread's commands on, watches over
//! calls, and adds up what was counted. The threads have no runtime: thousands of them would take three descriptors each.

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::{Context as _, anyhow, bail};
use bench_core::failure::CallError;
use bench_core::histogram::Times;
use bench_host::start_connection_thread;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::caller::{Caller, CallerEnd, RecordTime, Tally};
use crate::connect::{CallResult, Connect};
use crate::control;
use crate::link::{Link, connect};
use crate::progress::Progress;
use crate::slot::Slot;
use crate::target::Target;
use crate::watch::{Limits, Look};
use crate::window::Window;
use crate::worker::{CONNECTS_AT_ONCE, Command, Event, RunOrder, WorkerRun, WorkerSpec};
use crate::workload::{Workload, WorkloadSpec};

/// Times that a thread keeps to itself before it adds them to the group's histogram: few enough that the buffers of five thousand threads
/// take 5 MB, where a histogram each would take 2 GB; enough that the lock costs nothing per call.
const KEPT_TIMES: usize = 128;

/// Body of a group's thread over connections of type `C`. Ends when the sender of `commands` is gone.
pub(crate) fn work<C: Connect, W: Workload<C>>(
    spec: WorkerSpec,
    mut commands: UnboundedReceiver<Command>,
    events: &Sender<Event>,
) -> anyhow::Result<()> {
    spec.cpus.pin_thread()?;
    let mut group = Group::connect::<C, W>(&spec)?;
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

/// What a group tells a caller's thread.
enum Order {
    Verify,
    Run(RunOrder, GroupTimes),
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
    members: Vec<Member>,
    replies: Receiver<Reply>,
    next_look: Instant,
}

struct Member {
    orders: Sender<Order>,
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
            members: Vec::new(),
            replies,
            next_look: Instant::now(),
        };
        let (number, mut connected) = (spec.connections.len(), 0);
        while connected < number {
            let connecting = group.members.len() - connected;
            if group.members.len() < number && connecting < CONNECTS_AT_ONCE {
                let index = spec.connections[group.members.len()].first().copied().unwrap_or_default();
                let member = start::<C, W>(index, spec, reply.clone())
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
        tell(first, Order::Verify)?;
        match self.next_reply(control::verify_limits(self.limits), &Window::new())? {
            Reply::Verified(result) => Ok(result),
            _ => Err(anyhow!("a caller's thread answered another question")),
        }
    }

    /// A run of all callers.
    fn run(&mut self, order: &RunOrder) -> anyhow::Result<WorkerRun> {
        let times = GroupTimes::default();
        // All of them before the first can count: the control thread has just reset the sum.
        self.members.iter().for_each(|member| member.progress.reset());
        for member in &self.members {
            tell(member, Order::Run(order.clone(), times.clone()))?;
        }
        let mut run = WorkerRun {
            tally: Tally::default(),
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
        run.tally.service.merge(&lock(&times.service));
        run.tally.failed_time.merge(&lock(&times.failed));
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
            self.next_look = Instant::now() + limits.look_every();
        }
    }

    fn show_progress(&self) {
        self.progress.show_sum_of(self.members.iter().map(|member| &*member.progress));
    }

    /// Ends the threads.
    fn close(self) {
        let threads: Vec<_> = self.members.into_iter().map(|member| member.thread).collect();
        for thread in threads {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

fn tell(member: &Member, order: Order) -> anyhow::Result<()> {
    member.orders.send(order).map_err(|_| anyhow!("a caller's thread has ended"))
}

/// Starts the thread of caller `index`, which opens its connection at once.
fn start<C: Connect, W: Workload<C>>(index: u64, spec: &WorkerSpec, reply: Sender<Reply>) -> anyhow::Result<Member> {
    let (orders, incoming) = mpsc::channel();
    let (slot, progress) = (Arc::new(Slot::default()), Arc::new(Progress::default()));
    let target = Target {
        slot: Some(slot.clone()),
        ..spec.target.clone()
    };
    let thread = CallerThread {
        index,
        slot: slot.clone(),
        progress: progress.clone(),
        workload: spec.workload,
        reply,
    };
    let thread = start_connection_thread(format!("caller-{index}"), move || run_now(thread.serve_orders::<C, W>(target, incoming)))?;
    Ok(Member {
        orders,
        slot,
        progress,
        thread,
    })
}

/// A caller's thread.
struct CallerThread {
    index: u64,
    slot: Arc<Slot>,
    progress: Arc<Progress>,
    workload: WorkloadSpec,
    reply: Sender<Reply>,
}

impl CallerThread {
    async fn serve_orders<C: Connect, W: Workload<C>>(self, target: Target, orders: Receiver<Order>) {
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
        while let Ok(order) = orders.recv() {
            let reply = match order {
                Order::Verify => Reply::Verified(caller.call_once(&mut W::mutated(&self.workload)).await),
                Order::Run(order, times) => {
                    let tally = RefCell::new(times.tally());
                    let end = caller.run(&order.window, order.quota(caller.index), &tally, &self.progress).await;
                    let mut tally = tally.into_inner();
                    tally.service.hand_over();
                    tally.failed_time.hand_over();
                    Reply::RunEnded(Box::new(tally), end)
                }
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
fn run_now<T>(future: impl Future<Output = T>) -> T {
    let mut future: Pin<&mut _> = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
}

/// Times of all threads of a group in one run.
#[derive(Clone, Default)]
struct GroupTimes {
    service: Arc<Mutex<Times>>,
    failed: Arc<Mutex<Times>>,
}

impl GroupTimes {
    /// An empty tally of one thread, whose times end up here.
    fn tally(&self) -> Tally<KeptTimes> {
        Tally::of(KeptTimes::of(&self.service), KeptTimes::of(&self.failed))
    }
}

/// Times of one thread on their way to the group's.
struct KeptTimes {
    kept: Vec<u64>,
    group: Arc<Mutex<Times>>,
}

impl KeptTimes {
    fn of(group: &Arc<Mutex<Times>>) -> Self {
        Self {
            kept: Vec::new(),
            group: group.clone(),
        }
    }

    fn hand_over(&mut self) {
        let mut group = lock(&self.group);
        self.kept.drain(..).for_each(|time_ns| group.record(time_ns));
    }
}

impl RecordTime for KeptTimes {
    #[inline]
    fn record(&mut self, time_ns: u64) {
        if self.kept.len() == KEPT_TIMES {
            self.hand_over();
        }
        if self.kept.capacity() == 0 {
            self.kept.reserve_exact(KEPT_TIMES);
        }
        self.kept.push(time_ns);
    }
}

fn lock(times: &Mutex<Times>) -> std::sync::MutexGuard<'_, Times> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
