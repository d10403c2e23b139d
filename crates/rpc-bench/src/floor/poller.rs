//! Waiting for events on the connections of one thread.

use anyhow::{Context, Result};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::frame::Connection;

/// Most events taken at once. From 32 to 1024 all measure alike.
pub const BATCH: usize = 256;
/// Longest sleep in the kernel, after which a thread looks at its deadline: 100 ms.
const NAP: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
const NO_NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// An epoll instance with the connections of one thread in it.
///
/// Edge-triggered: a level-triggered one asks every connection once more whether it is still readable (2 to 5 % fewer
/// calls). Nothing is missed: a receive takes all that is there, and the end of a connection is also in the event.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
    looks: usize,
}

impl Poller {
    /// Registers `connections`, each under its index, and looks `looks` times without sleeping before each sleep.
    ///
    /// # Errors
    /// If the kernel refuses, as it does past `fs.epoll.max_user_watches`.
    pub fn new<'a>(connections: impl Iterator<Item = &'a Connection>, looks: usize) -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC).context("cannot create an epoll instance: raise `ulimit -n`")?;
        // Writability is asked for once and for all: the kernel reports it only after a send that did not fit.
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        for (index, connection) in connections.enumerate() {
            epoll::add(&epoll, connection.stream(), EventData::new_u64(index as u64), interest)
                .context("cannot register a connection with epoll: raise fs.epoll.max_user_watches")?;
        }
        Ok(Self {
            epoll,
            events: Vec::with_capacity(BATCH),
            looks,
        })
    }

    /// The next events; none if nothing happened for 100 ms.
    #[inline]
    pub fn wait(&mut self) -> Result<&[Event]> {
        for _ in 0..self.looks {
            self.take(&NO_NAP)?;
            if !self.events.is_empty() {
                return Ok(&self.events);
            }
        }
        self.take(&NAP)?;
        Ok(&self.events)
    }

    #[inline]
    fn take(&mut self, nap: &Timespec) -> Result<()> {
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(nap)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).context("cannot wait for events"),
        }
    }
}

/// The index of the connection that an event is about.
#[inline]
pub fn index_of(event: &Event) -> usize {
    event.data.u64() as usize
}

/// Whether there is something to receive, if only the end.
#[inline]
pub fn is_readable(event: &Event) -> bool {
    let flags = event.flags;
    flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
}

/// Whether the other end is gone. With an edge-triggered poller the same event may also announce its last bytes.
#[inline]
pub fn is_hangup(event: &Event) -> bool {
    let flags = event.flags;
    flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
}
