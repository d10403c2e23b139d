//! The threads of both sides, from the first connection to the last join.

use std::sync::OnceLock;
use std::thread::{Builder, Scope, ScopedJoinHandle, scope, sleep};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow};
use bench_host::{CpuSet, ProcessUsage, now_ns, raise_open_files};

use super::FloorSpec;
use super::client::{Client, Tally, Window};
use super::frame::frame;
use super::pairs::{self, Pairs};
use super::placement::Placement;
use super::server::Server;

/// How much longer than warm-up and window the server side waits for the clients to go.
const GRACE: Duration = Duration::from_secs(5);
/// Longest sleep between two looks at whether a thread has failed.
const WATCH: Duration = Duration::from_millis(50);
/// What requests and replies are filled with: two values, so that one cannot pass for the other.
const REQUEST_FILL: u8 = 0x51;
const REPLY_FILL: u8 = 0xa7;

/// What an exchange came to.
#[derive(Debug)]
pub struct Exchange {
    /// The calls of the window.
    pub tally: Tally,
    /// CPU time of the process over the window.
    pub usage: ProcessUsage,
}

/// Connects, runs all threads until the window ends, and joins them.
///
/// # Errors
/// The first failure of any thread, else of the measurement around them.
pub fn exchange(spec: &FloorSpec, placement: &Placement) -> Result<Exchange> {
    raise_open_files(2 * spec.connections as u64)?;
    // A thread without connections would have nothing to do.
    let pairs = pairs::connect(spec.connections, spec.threads_per_side.min(spec.connections))?;
    let failure = OnceLock::new();
    let result = run_threads(spec, placement, pairs, &failure);
    match failure.into_inner() {
        Some(first) => Err(first),
        None => result,
    }
}

fn run_threads(spec: &FloorSpec, placement: &Placement, pairs: Pairs, failure: &OnceLock<Error>) -> Result<Exchange> {
    let window = window_after(spec.warmup, spec.window);
    let (request, reply) = (frame(spec.request_bytes, REQUEST_FILL), frame(spec.reply_bytes, REPLY_FILL));
    let server = Server {
        request_bytes: spec.request_bytes,
        reply: &reply,
        looks: placement.looks,
        deadline_ns: window.end_ns.saturating_add(ns(GRACE)),
        failure,
    };
    let client = Client {
        request: &request,
        reply: &reply,
        looks: placement.looks,
        window,
        failure,
    };
    let (server, client) = (&server, &client);
    // Whatever ends early, here or in a thread, drops its ends of the connections, and the other side leaves.
    scope(|scope| {
        let mut servers = Vec::new();
        for connections in pairs.server {
            servers.push(start(scope, "floor-server", &placement.server, failure, move || {
                server.serve(connections)
            })?);
        }
        let mut clients = Vec::new();
        for connections in pairs.client {
            clients.push(start(scope, "floor-client", &placement.client, failure, move || {
                client.call(connections)
            })?);
        }
        let usage = usage_over(window, failure);
        let mut tally = Tally::new();
        for thread in clients {
            tally.merge(&join(thread)?);
        }
        for thread in servers {
            join(thread)?;
        }
        Ok(Exchange { tally, usage: usage? })
    })
}

/// Starts a thread on `cpus`. What it fails with becomes the `failure` of the run, if it is the first.
fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &'static str,
    cpus: &'scope CpuSet,
    failure: &'scope OnceLock<Error>,
    work: impl FnOnce() -> Result<T> + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Option<T>>> {
    let body = move || {
        let done = cpus.pin_thread().map_err(Error::from).and_then(|()| work());
        done.map_err(|error| failure.get_or_init(|| error.context(format!("thread {name}"))))
            .ok()
    };
    Builder::new()
        .name(name.to_owned())
        .spawn_scoped(scope, body)
        .inspect_err(|_| {
            // Stops the threads that are already there.
            failure.get_or_init(|| anyhow!("cannot start thread {name}: raise `ulimit -u`"));
        })
        .context("cannot start a thread")
}

fn join<T>(thread: ScopedJoinHandle<'_, Option<T>>) -> Result<T> {
    let done = thread
        .join()
        .map_err(|_| anyhow!("a thread of the floor panicked; its message is on standard error"))?;
    done.context("a thread of the floor failed")
}

fn window_after(warmup: Duration, window: Duration) -> Window {
    let start_ns = now_ns().saturating_add(ns(warmup));
    Window {
        start_ns,
        end_ns: start_ns.saturating_add(ns(window)),
    }
}

/// What the process uses from the start of the window to its end, up to how late the kernel wakes this thread.
fn usage_over(window: Window, failure: &OnceLock<Error>) -> Result<ProcessUsage> {
    sleep_until(window.start_ns, failure);
    let before = ProcessUsage::now()?;
    sleep_until(window.end_ns, failure);
    Ok(ProcessUsage::now()?.since(&before))
}

/// Sleeps until `instant_ns`, or until a thread has failed.
fn sleep_until(instant_ns: u64, failure: &OnceLock<Error>) {
    while failure.get().is_none() {
        let left = instant_ns.saturating_sub(now_ns());
        if left == 0 {
            return;
        }
        sleep(Duration::from_nanos(left).min(WATCH));
    }
}

/// In ns; a time beyond 584 years is as good as that.
fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
