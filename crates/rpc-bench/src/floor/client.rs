//! The client side: one call in flight on each connection, the next as soon as the reply is there.

use std::sync::OnceLock;

use anyhow::{Error, Result, anyhow, ensure};
use bench_core::histogram::Times;
use bench_host::now_ns;

use super::frame::{Arrival, Connection, Inbox, PREFIX_BYTES, Sent};
use super::poller::{BATCH, Poller, index_of, is_hangup, is_readable};

/// How much of each reply's payload is compared, in bytes.
const CHECKED_BYTES: usize = 16;

/// The interval in which calls count: those that end at or after `start_ns` and before `end_ns`, in ns of [`now_ns`].
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First instant of the window.
    pub start_ns: u64,
    /// First instant after it.
    pub end_ns: u64,
}

/// What a client thread is started with.
#[derive(Debug)]
pub struct Client<'a> {
    /// The request, a whole frame.
    pub request: &'a [u8],
    /// The reply to expect, a whole frame.
    pub reply: &'a [u8],
    /// Looks for events before each sleep.
    pub looks: usize,
    /// The interval in which calls count; calls stop at its end.
    pub window: Window,
    /// The first failure of any thread: ends this one too.
    pub failure: &'a OnceLock<Error>,
}

/// What the calls of a window came to.
#[derive(Debug)]
pub struct Tally {
    /// Service times in ns.
    pub service_time: Times,
    /// Calls of the connection that completed the fewest; `u64::MAX` without connections.
    pub fewest_calls: u64,
}

impl Tally {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            service_time: Times::new(),
            fewest_calls: u64::MAX,
        }
    }

    /// Adds the calls of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.service_time.merge(&other.service_time);
        self.fewest_calls = self.fewest_calls.min(other.fewest_calls);
    }
}

/// A connection and its call in flight.
struct Caller {
    connection: Connection,
    started_ns: u64,
    calls: u64,
}

impl Client<'_> {
    /// Calls until the window ends, then leaves with the calls in flight unfinished.
    ///
    /// # Errors
    /// If a reply is not what it should be, the server side is gone, or the kernel refuses.
    pub fn call(&self, connections: Vec<Connection>) -> Result<Tally> {
        let mut poller = Poller::new(connections.iter(), self.looks)?;
        let mut tally = Tally::new();
        let mut inbox = Inbox::new(self.reply.len() - PREFIX_BYTES);
        let mut due: Vec<usize> = Vec::with_capacity(BATCH);
        let mut callers: Vec<Caller> = connections
            .into_iter()
            .map(|connection| Caller {
                connection,
                started_ns: 0,
                calls: 0,
            })
            .collect();
        for caller in &mut callers {
            caller.started_ns = now_ns();
            still_there(caller.connection.start(self.request)?)?;
        }
        let mut now = now_ns();
        while now < self.window.end_ns && self.failure.get().is_none() {
            for event in poller.wait()? {
                let index = index_of(event);
                let caller = &mut callers[index];
                if caller.connection.is_sending() {
                    still_there(caller.connection.resume(self.request)?)?;
                }
                if !is_readable(event) {
                    continue;
                }
                match inbox.receive(&mut caller.connection)? {
                    Arrival::Whole(reply) => self.check(reply)?,
                    // The end may come in the same event as the last bytes, and is not announced again.
                    Arrival::Partial if is_hangup(event) => return Err(closed()),
                    Arrival::Partial => continue,
                    Arrival::Closed => return Err(closed()),
                }
                // The only clock reading of a call: its end is the start of the connection's next one.
                now = now_ns();
                if now >= self.window.start_ns && now < self.window.end_ns {
                    tally.service_time.record(now - caller.started_ns);
                    caller.calls += 1;
                }
                caller.started_ns = now;
                due.push(index);
            }
            if due.is_empty() {
                now = now_ns();
            }
            // After all receives of the batch, as on the server side; the wait is part of the next call's service time.
            for index in due.drain(..) {
                still_there(callers[index].connection.start(self.request)?)?;
            }
        }
        tally.fewest_calls = callers.iter().map(|caller| caller.calls).min().unwrap_or(u64::MAX);
        Ok(tally)
    }

    /// Whether a reply has the size and the first bytes it should have.
    #[inline]
    fn check(&self, reply: &[u8]) -> Result<()> {
        let head = self.reply.len().min(PREFIX_BYTES + CHECKED_BYTES);
        ensure!(
            reply.len() == self.reply.len() && reply[..head] == self.reply[..head],
            "a reply of {} bytes is not the one of {} bytes that was expected",
            reply.len(),
            self.reply.len()
        );
        Ok(())
    }
}

/// The server side never goes first.
#[inline]
fn still_there(sent: Sent) -> Result<()> {
    match sent {
        Sent::Whole | Sent::Partial => Ok(()),
        Sent::Closed => Err(closed()),
    }
}

fn closed() -> Error {
    anyhow!("the server side closed a connection with a call in flight")
}
