//! The server side: answers each whole request with the same reply.

use std::sync::OnceLock;

use anyhow::{Error, Result, ensure};
use bench_host::now_ns;

use super::frame::{Arrival, Connection, Inbox, Sent};
use super::poller::{BATCH, Poller, index_of, is_hangup, is_readable};

/// What a server thread is started with.
#[derive(Debug)]
pub struct Server<'a> {
    /// Largest request payload, in bytes.
    pub request_bytes: usize,
    /// The reply, a whole frame.
    pub reply: &'a [u8],
    /// Looks for events before each sleep.
    pub looks: usize,
    /// When to give up on clients that do not go, in ns of [`now_ns`].
    pub deadline_ns: u64,
    /// The first failure of any thread: ends this one too.
    pub failure: &'a OnceLock<Error>,
}

impl Server<'_> {
    /// Serves until every client is gone.
    ///
    /// # Errors
    /// If a request is not what it should be, the kernel refuses, or clients are still there at the deadline.
    pub fn serve(&self, connections: Vec<Connection>) -> Result<()> {
        let mut poller = Poller::new(connections.iter(), self.looks)?;
        // A connection that is gone leaves a hole, so that the indices of the others stay.
        let mut connections: Vec<Option<Connection>> = connections.into_iter().map(Some).collect();
        let mut open = connections.len();
        let mut inbox = Inbox::new(self.request_bytes);
        let mut due: Vec<usize> = Vec::with_capacity(BATCH);
        while open > 0 && self.failure.get().is_none() {
            let events = poller.wait()?;
            if events.is_empty() {
                ensure!(now_ns() < self.deadline_ns, "{open} clients are still connected at the deadline");
            }
            for event in events {
                let index = index_of(event);
                let Some(connection) = connections[index].as_mut() else { continue };
                let mut gone = is_hangup(event);
                if connection.is_sending() {
                    gone |= connection.resume(self.reply)? == Sent::Closed;
                }
                if is_readable(event) && !gone {
                    match inbox.receive(connection)? {
                        Arrival::Whole(_) => due.push(index),
                        Arrival::Partial => {}
                        Arrival::Closed => gone = true,
                    }
                }
                if gone {
                    connections[index] = None;
                    open -= 1;
                }
            }
            // After all receives of the batch, not after each: 1 to 2 % more calls, as each of the two paths through the
            // kernel stays in the cache for longer.
            for index in due.drain(..) {
                let Some(connection) = connections[index].as_mut() else { continue };
                if connection.start(self.reply)? == Sent::Closed {
                    connections[index] = None;
                    open -= 1;
                }
            }
        }
        Ok(())
    }
}
