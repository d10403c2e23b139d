use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_host::{CpuSet, SharedSocket, now_ns};

use super::*;
use crate::connect::{EchoCalls, Settings};
use crate::null::NullMessage;
use crate::registry::Entry;
use crate::workload::Echo;

/// One byte there, the next number back: the least client that blocks.
struct Tiny(SharedSocket);

impl Connect for Tiny {
    const WIRE: Wire = Wire::new("tcp", "byte");
    const BLOCKING: bool = true;

    async fn connect(target: &Target) -> CallResult<Self> {
        Ok(Self(target.dial_blocking()?))
    }

    fn settings(_lane: Lane) -> Settings {
        Settings::new()
    }
}

impl EchoCalls for Tiny {
    type Message = NullMessage;

    async fn say(&mut self, mut request: NullMessage) -> CallResult<NullMessage> {
        bench_core::message::EchoMessage::answer(&mut request);
        self.0.write_all(&[1])?;
        let mut byte = [0];
        self.0.read_exact(&mut byte)?;
        Ok(request)
    }
}

/// Answers each byte as long as `answers` says so, by the number of the call; then it is silent.
struct Server {
    addr: SocketAddr,
    calls: Arc<AtomicU64>,
}

impl Server {
    fn start(answers: fn(u64) -> bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (addr, calls) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
        let counted = calls.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, counted) = (stream.unwrap(), counted.clone());
                std::thread::spawn(move || {
                    let mut byte = [0];
                    while stream.read(&mut byte).is_ok_and(|received| received > 0) {
                        if answers(counted.fetch_add(1, Ordering::Relaxed)) && stream.write_all(&byte).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { addr, calls }
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// A group as the control thread sees it.
struct Fixture {
    commands: tokio::sync::mpsc::UnboundedSender<Command>,
    events: Receiver<Event>,
    progress: Arc<Progress>,
    thread: JoinHandle<anyhow::Result<()>>,
}

fn start_group(addr: SocketAddr, connections: u64, timeout_ms: u64, drain_ms: u64) -> Fixture {
    let (to_group, commands) = tokio::sync::mpsc::unbounded_channel();
    let (to_control, events) = mpsc::channel();
    let progress = Arc::new(Progress::default());
    let spec = WorkerSpec {
        target: Target::resolve(&addr.to_string(), Lane::Default, Duration::from_secs(5)).unwrap(),
        connections: (0..connections).map(|index| vec![index]).collect(),
        cpus: CpuSet::allowed().unwrap(),
        limits: Limits {
            timeout: Duration::from_millis(timeout_ms),
            drain: Duration::from_millis(drain_ms),
        },
        workload: WorkloadSpec { payload_bytes: 0, seed: 1 },
        progress: progress.clone(),
    };
    let entry = Entry::of::<Tiny, Echo<NullMessage>>();
    assert!(entry.blocking && !entry.shares);
    Fixture {
        commands: to_group,
        events,
        progress,
        thread: std::thread::spawn(move || (entry.work)(spec, commands, &to_control)),
    }
}

impl Fixture {
    fn connected(&self) -> &Self {
        assert!(matches!(self.events.recv().unwrap(), Event::Connected));
        self
    }

    /// `count`: calls in all, and callers.
    fn order(&self, window: &Arc<Window>, count: Option<(u64, u64)>) {
        let order = RunOrder {
            window: window.clone(),
            count: count.map(|(calls, _)| calls),
            callers: count.map_or(1, |(_, callers)| callers),
            pace: None,
            began_ns: now_ns(),
        };
        assert!(self.commands.send(Command::Run(order)).is_ok());
    }

    fn run_ended(&self) -> WorkerRun {
        match self.events.recv().unwrap() {
            Event::RunEnded(run) => *run,
            _ => panic!("another event"),
        }
    }

    fn close(self) {
        drop(self.commands);
        self.thread.join().unwrap().unwrap();
    }
}

fn open_window() -> Arc<Window> {
    let window = Arc::new(Window::new());
    window.open(now_ns(), crate::window::NEVER);
    window
}

fn ms(ms: u64) -> u64 {
    ms * 1_000_000
}

#[test]
fn every_thread_makes_its_part_of_a_counted_run_and_all_times_are_kept() {
    let server = Server::start(|_| true);
    let group = start_group(server.addr, 7, 5000, 1000);
    group.connected().commands.send(Command::Verify).ok().unwrap();
    assert!(matches!(group.events.recv().unwrap(), Event::Verified(Ok(()))));
    for round in 1..=2 {
        group.order(&open_window(), Some((5003, 7)));
        let run = group.run_ended();
        assert_eq!((run.tally.service.count(), run.tally.made, run.tally.right), (5003, 5003, 5003));
        let mut calls: Vec<u64> = run.callers.iter().map(|caller| caller.calls).collect();
        calls.sort_unstable();
        assert_eq!(calls, [714, 714, 715, 715, 715, 715, 715]);
        assert_eq!((run.tally.in_flight, run.tally.failed_time.count()), (0, 0));
        assert_eq!(group.progress.warm_callers(), 7);
        assert_eq!(server.calls(), 1 + round * 5003);
        group.progress.reset();
    }
    group.close();
}

#[test]
fn calls_that_no_reply_ends_are_cut_off_after_the_drain_and_counted_as_in_flight() {
    let server = Server::start(|call| call < 100);
    let group = start_group(server.addr, 3, 60_000, 50);
    let window = Arc::new(Window::new());
    window.open(now_ns(), now_ns() + ms(200));
    group.connected().order(&window, None);
    let run = group.run_ended();
    assert!(now_ns() >= window.end() + ms(50), "not before the drain is over");
    assert_eq!((run.tally.right, run.tally.in_flight, run.tally.made), (100, 3, 103));
    assert_eq!(run.tally.failed, [0; 8]);
    group.close();
}

#[test]
fn a_call_over_its_time_limit_is_a_timeout_and_its_connection_is_opened_again() {
    let server = Server::start(|call| call % 5 != 4);
    let group = start_group(server.addr, 2, 50, 1000);
    group.connected().order(&open_window(), Some((20, 2)));
    let run = group.run_ended();
    let timeouts = run.tally.failed[bench_core::failure::FailureKind::Timeout as usize];
    assert!(timeouts >= 4, "{timeouts}");
    assert_eq!(run.tally.failed.iter().sum::<u64>(), timeouts);
    assert_eq!(run.tally.right + timeouts, 20);
    assert!(run.tally.failed_time.percentile(0.0).unwrap() >= ms(50));
    // The last call of each caller may be one of them.
    assert!(run.tally.reconnects + 2 >= timeouts);
    group.close();
}

#[test]
fn a_reconnect_is_given_up_when_the_window_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let group = start_group(listener.local_addr().unwrap(), 1, 60_000, 0);
    drop(listener.accept().unwrap());
    drop(listener);
    let window = open_window();
    group.connected().order(&window, None);
    std::thread::sleep(Duration::from_millis(100));
    let ended = now_ns();
    window.end_by(ended);
    let run = group.run_ended();
    assert_eq!((run.tally.right, run.tally.reconnects), (0, 0));
    assert!(now_ns() - ended < ms(5000));
    group.close();
}

#[test]
fn a_server_that_is_not_there_is_one_error() {
    let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let group = start_group(addr, 5, 1000, 0);
    let error = group.thread.join().unwrap().unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot connect to {addr}:")), "{error}");
    assert_eq!(
        error.downcast_ref::<CallError>().unwrap().kind,
        bench_core::failure::FailureKind::Refused
    );
}

#[test]
fn a_call_is_cut_off_only_while_it_is_the_one_that_was_looked_at() {
    let window = Window::new();
    let limits = Limits {
        timeout: Duration::from_millis(10),
        drain: Duration::ZERO,
    };
    let slot = Arc::new(Slot::default());
    let look = Look::now(limits, &window);
    let young = run_now(crate::watch::Watch::call(&slot, now_ns(), pin!(async { slot.look(&look) })));
    assert!(young.is_ok());
    let old = run_now(crate::watch::Watch::call(
        &slot,
        now_ns() - ms(20),
        pin!(async { slot.look(&look) }),
    ));
    assert!(old.is_err());
    let next = run_now(crate::watch::Watch::call(&slot, now_ns(), pin!(async { slot.look(&look) })));
    assert!(next.is_ok());
}

#[test]
fn futures_that_yield_go_on() {
    let sum = run_now(async {
        let mut sum = 0;
        for i in 0..10 {
            tokio::task::yield_now().await;
            sum += i;
        }
        sum
    });
    assert_eq!(sum, 45);
}
