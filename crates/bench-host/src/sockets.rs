//! What went over this process's TCP connections.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, getpeername, getsockname, ipproto, sockopt};
use serde::{Deserialize, Serialize};

use crate::HostError;
use crate::error::missing;
use crate::tcp_info::{self, Counters};

const FDS: &str = "/proc/self/fd";

/// Payload and segments of a set of TCP connections, as the kernel counted them.
///
/// `None`: the kernel is too old to say. All are exact, TCP headers and pure acknowledgements
/// are not in them, and TLS or framing bytes are: this is what the framework put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpTotals {
    /// Payload bytes sent, each once however often it was sent again; acknowledged or not, but not
    /// those still waiting in the send buffer. `tcpi_bytes_sent − tcpi_bytes_retrans`; Linux 4.19.
    pub bytes_sent: Option<u64>,
    /// Payload bytes sent again. Not 0 on loopback means that a reader kept its buffer full, or
    /// an acknowledgement was late. `tcpi_bytes_retrans`; Linux 4.19.
    pub bytes_retransmitted: Option<u64>,
    /// Payload bytes received in order, read by the program or not, each once.
    /// `tcpi_bytes_received`, less the peer's FIN; Linux 4.1.
    pub bytes_received: Option<u64>,
    /// Segments with payload sent, those sent again included; a large write counts as the
    /// segments of one MSS each it is cut into (65,483 bytes over IPv4 loopback).
    /// `tcpi_data_segs_out`; Linux 4.6.
    pub segments_sent: Option<u64>,
    /// Segments with payload received, duplicates included. `tcpi_data_segs_in`; Linux 4.6.
    pub segments_received: Option<u64>,
    /// Sockets open at the (later) snapshot.
    pub connections: u64,
    /// Sockets of the earlier snapshot that are gone from the later one. What they carried in
    /// between is lost and not in the sums: with `closed > 0` the sums are lower bounds.
    pub closed: u64,
    /// `TCP_NODELAY` of the open sockets: on at all, off at all, `None` if they differ or there
    /// are none.
    pub nodelay: Option<bool>,
}

/// A reading of every matching TCP socket of this process, at one time.
///
/// Take one at each edge of a window and ask `later.since(&earlier)`.
#[derive(Clone, Debug)]
pub struct TcpSnapshot {
    /// By socket cookie, which the kernel never gives twice (a descriptor number it does) and
    /// which duplicates of a descriptor share: a socket is counted once.
    sockets: BTreeMap<u64, Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    counters: Counters,
    nodelay: bool,
}

impl TcpSnapshot {
    /// Reads every connected TCP socket of this process, IPv4 or IPv6, for which
    /// `wanted(local, peer)` holds.
    ///
    /// A client asks for its server's address as `peer`, a server for its own as `local`.
    /// IPv4-mapped IPv6 addresses are handed over as IPv4. Listening sockets, those still
    /// connecting and those reset by the peer are not connected. A socket that another thread
    /// closes meanwhile is left out.
    ///
    /// Costs about 4 µs for each descriptor of the process (2 ms for 500), in the calling thread;
    /// each socket is locked for a fraction of one.
    ///
    /// # Errors
    /// [`HostError::Read`] if `/proc/self/fd` cannot be listed; [`HostError::Call`] if a socket
    /// does not answer for a reason other than having been closed (Linux before 4.12, which has
    /// no `SO_COOKIE`, or a sandbox).
    pub fn take(wanted: impl Fn(SocketAddr, SocketAddr) -> bool) -> Result<Self, HostError> {
        let mut sockets = BTreeMap::new();
        for fd in open_fds()? {
            // SAFETY: the descriptor was open a moment ago. Should another thread have closed it,
            // the calls answer EBADF or ENOTSOCK; should it have been given to another socket,
            // they describe that one, under its own cookie. All of them only read.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            match read_socket(fd, &wanted) {
                Ok(Some((cookie, reading))) => _ = sockets.insert(cookie, reading),
                Ok(None) => {}
                Err(errno) => {
                    return Err(HostError::Call {
                        call: "getsockopt(SO_COOKIE, TCP_INFO)",
                        source: errno.into(),
                        way_out: "counting bytes needs Linux 4.12 and a sandbox that allows it",
                    });
                }
            }
        }
        Ok(Self { sockets })
    }

    /// What the sockets open now have carried since they were connected; `closed` is 0.
    pub fn totals(&self) -> TcpTotals {
        self.since(&Self { sockets: BTreeMap::new() })
    }

    /// What was carried between `earlier` and this snapshot by the sockets open at this one;
    /// those opened in between count from their beginning.
    pub fn since(&self, earlier: &Self) -> TcpTotals {
        let mut sum = TcpTotals {
            bytes_sent: Some(0),
            bytes_retransmitted: Some(0),
            bytes_received: Some(0),
            segments_sent: Some(0),
            segments_received: Some(0),
            connections: self.sockets.len() as u64,
            closed: earlier.sockets.keys().filter(|cookie| !self.sockets.contains_key(cookie)).count() as u64,
            nodelay: self.nodelay(),
        };
        for (cookie, now) in &self.sockets {
            sum.add(&now.counters, earlier.sockets.get(cookie).map(|r| &r.counters));
        }
        sum
    }

    fn nodelay(&self) -> Option<bool> {
        let mut values = self.sockets.values().map(|socket| socket.nodelay);
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
}

impl TcpTotals {
    /// Adds what one socket carried after `before` (`None`: since it was connected).
    fn add(&mut self, now: &Counters, before: Option<&Counters>) {
        let bytes = |of: fn(&Counters) -> Option<u64>| {
            // Saturating: bytes sent again may be recorded a moment apart from bytes sent.
            Some(of(now)?.saturating_sub(before.map_or(Some(0), of)?))
        };
        let segments = |of: fn(&Counters) -> Option<u32>| {
            // Wrapping: a 32-bit counter, right up to 2^32 segments between two readings.
            Some(u64::from(of(now)?.wrapping_sub(before.map_or(Some(0), of)?)))
        };
        let add = |sum: &mut Option<u64>, more: Option<u64>| {
            *sum = sum.zip(more).map(|(sum, more)| sum + more);
        };
        add(&mut self.bytes_sent, bytes(|c| c.bytes_sent));
        add(&mut self.bytes_retransmitted, bytes(|c| c.bytes_retransmitted));
        add(&mut self.bytes_received, bytes(|c| c.bytes_received));
        add(&mut self.segments_sent, segments(|c| c.segments_sent));
        add(&mut self.segments_received, segments(|c| c.segments_received));
    }
}

/// Numbers of the descriptors open now, this listing's own among them.
fn open_fds() -> Result<Vec<RawFd>, HostError> {
    let failed = |source| HostError::Read { path: FDS.into(), source };
    std::fs::read_dir(FDS)
        .map_err(failed)?
        .map(|entry| {
            let name = entry.map_err(failed)?.file_name();
            let number = name.to_str().and_then(|name| name.parse().ok());
            number.ok_or_else(|| missing(FDS, "descriptor number"))
        })
        .collect()
}

/// The cookie and reading of a connected TCP socket that is wanted; `None` for anything else.
fn read_socket(fd: BorrowedFd<'_>, wanted: impl Fn(SocketAddr, SocketAddr) -> bool) -> Result<Option<(u64, Reading)>, Errno> {
    let read = || {
        if sockopt::socket_protocol(fd)? != Some(ipproto::TCP) {
            return Ok(None);
        }
        let (Some(peer), Some(local)) = (canonical(getpeername(fd)?), canonical(Some(getsockname(fd)?))) else {
            return Ok(None);
        };
        if !wanted(local, peer) {
            return Ok(None);
        }
        let reading = Reading {
            counters: tcp_info::read(fd)?,
            nodelay: sockopt::tcp_nodelay(fd)?,
        };
        Ok(Some((sockopt::socket_cookie(fd)?, reading)))
    };
    match read() {
        // Not a socket, not connected (any more), closed meanwhile, or replaced by another kind.
        Err(Errno::NOTSOCK | Errno::NOTCONN | Errno::BADF | Errno::OPNOTSUPP) => Ok(None),
        other => other,
    }
}

/// The address, an IPv4-mapped one as the IPv4 address it stands for; `None` if it is no IP
/// address.
fn canonical(address: Option<SocketAddrAny>) -> Option<SocketAddr> {
    let address = SocketAddr::try_from(address?).ok()?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

#[cfg(test)]
#[path = "sockets_tests.rs"]
mod tests;
