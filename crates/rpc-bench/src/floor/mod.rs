//! The loopback floor: how fast closed-loop calls can go over loopback TCP on this machine without any framework.
//!
//! One read and one write per call on each side, edge-triggered epoll, no runtime and no codec: a 4-byte length, then a
//! payload of the size a stack under test sends. Both sides are threads of the calling process. It says how much of a
//! stack's time is the kernel's and nobody's to save; it is no stack itself and competes with none.
//!
//! | module | idea |
//! |---|---|
//! | [`placement`] | which CPUs, and whether there is one to keep busy |
//! | [`exchange`](mod@exchange) | the threads of both sides, and what they used |
//! | [`frame`] | a frame goes out and comes in whole, in however many pieces |
//! | [`pairs`] | all connections are there before anything is timed |
//! | [`poller`] | a thread waits for many connections at once, never for ever |
//! | [`server`] | answers |
//! | [`client`] | calls, checks and times |

mod client;
mod exchange;
mod frame;
#[cfg(test)]
mod frame_tests;
mod pairs;
mod placement;
mod poller;
mod server;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bench_core::histogram::Times;

use exchange::{Exchange, exchange};
use frame::MAX_PAYLOAD_BYTES;
use placement::Placement;

/// What to measure.
#[derive(Clone, Debug)]
pub struct FloorSpec {
    /// Connections, each with exactly one call in flight. At least 1.
    pub connections: usize,
    /// Threads of the server and as many of the client; connections are dealt to them round robin. At least 1.
    ///
    /// With 1, the server is pinned to the first of `server_cpus` and the client to the first of `client_cpus`; with more,
    /// those of a side run on any of its list.
    pub threads_per_side: usize,
    /// How long calls go on before they count. May be zero.
    pub warmup: Duration,
    /// How long they count. Not zero. No pause and no barrier before it.
    pub window: Duration,
    /// Ids of the CPUs for the server side, at least one.
    pub server_cpus: Vec<usize>,
    /// Ids of the CPUs for the client side, at least one.
    pub client_cpus: Vec<usize>,
    /// Payload of a request in bytes, without the 4 bytes of its length; at most 16 MiB.
    pub request_bytes: usize,
    /// Payload of a reply in bytes, without the 4 bytes of its length; at most 16 MiB.
    pub reply_bytes: usize,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct FloorRun {
    /// As in the spec. With fewer connections than that, only one thread per connection was started.
    pub threads_per_side: usize,
    /// As in the spec.
    pub connections: usize,
    /// Calls that ended inside the window. At least 1.
    pub calls: u64,
    /// Calls of the connection that completed the fewest inside the window; 0 if one was starved.
    pub fewest_calls: u64,
    /// Length of the window.
    pub elapsed: Duration,
    /// `calls` per second of `elapsed`.
    pub throughput_per_s: f64,
    /// From the end of a connection's call before (its first: from its start) to the reply received and checked, in ns.
    /// Includes the wait of the next request for its batch.
    pub service_time: Times,
    /// CPU time of this process, so of both sides, in user mode over the window, in s.
    ///
    /// With one thread a side it includes looking for events instead of sleeping: at few connections both CPUs are always busy.
    pub cpu_user_s: f64,
    /// CPU time of this process in the kernel over the window, in s; see [`cpu_user_s`](Self::cpu_user_s).
    pub cpu_sys_s: f64,
}

/// Measures with one and with two threads a side, one after the other, whatever `spec.threads_per_side` says; the better first.
///
/// Takes twice the warm-up and the window.
///
/// # Errors
/// As [`run`].
pub fn best(spec: &FloorSpec) -> Result<[FloorRun; 2]> {
    let one = run(&FloorSpec {
        threads_per_side: 1,
        ..spec.clone()
    })?;
    let two = run(&FloorSpec {
        threads_per_side: 2,
        ..spec.clone()
    })?;
    Ok(if one.throughput_per_s >= two.throughput_per_s {
        [one, two]
    } else {
        [two, one]
    })
}

/// Measures once. Takes the warm-up and the window, at most 5 s more.
///
/// # Errors
/// If a field of `spec` cannot be (named in the message), there are not enough descriptors or ports, a thread may not run on its
/// CPUs, an exchange fails, or no call ends inside the window. Every thread has ended by then.
pub fn run(spec: &FloorSpec) -> Result<FloorRun> {
    check(spec)?;
    let placement = Placement::of(spec)?;
    exchange(spec, &placement)
        .and_then(|exchange| report(spec, exchange))
        .with_context(|| {
            format!(
                "loopback floor, connections = {}, threads_per_side = {}",
                spec.connections, spec.threads_per_side
            )
        })
}

fn check(spec: &FloorSpec) -> Result<()> {
    ensure!(spec.connections > 0, "connections is 0: give at least 1");
    ensure!(spec.threads_per_side > 0, "threads_per_side is 0: give at least 1");
    ensure!(!spec.window.is_zero(), "window is zero: give a time in which calls can end");
    for (name, bytes) in [("request_bytes", spec.request_bytes), ("reply_bytes", spec.reply_bytes)] {
        ensure!(bytes <= MAX_PAYLOAD_BYTES, "{name} is {bytes}: give at most {MAX_PAYLOAD_BYTES}");
    }
    Ok(())
}

fn report(spec: &FloorSpec, exchange: Exchange) -> Result<FloorRun> {
    let Exchange { tally, usage } = exchange;
    let calls = tally.service_time.count();
    ensure!(calls > 0, "no call ended inside the window of {:?}: give a longer one", spec.window);
    Ok(FloorRun {
        threads_per_side: spec.threads_per_side,
        connections: spec.connections,
        calls,
        fewest_calls: tally.fewest_calls,
        elapsed: spec.window,
        throughput_per_s: calls as f64 / spec.window.as_secs_f64(),
        service_time: tally.service_time,
        cpu_user_s: usage.cpu_user_ns as f64 / 1e9,
        cpu_sys_s: usage.cpu_sys_ns as f64 / 1e9,
    })
}
