//! Frames: a 4-byte big-endian length, then that many bytes of payload. One send and one receive each, when all goes well.

use std::net::TcpStream;

use anyhow::{Context, Result, ensure};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags};

/// Size of the length in front of each payload, in bytes.
pub const PREFIX_BYTES: usize = 4;
/// Largest payload, in bytes: enough for any workload, and a wrong length does not ask for all memory.
pub const MAX_PAYLOAD_BYTES: usize = 16 << 20;

/// A whole frame: the length, then `payload_bytes` times `fill`.
pub fn frame(payload_bytes: usize, fill: u8) -> Vec<u8> {
    let mut frame = vec![fill; PREFIX_BYTES + payload_bytes];
    // At most MAX_PAYLOAD_BYTES, so it fits.
    frame[..PREFIX_BYTES].copy_from_slice(&(payload_bytes as u32).to_be_bytes());
    frame
}

/// One end of a non-blocking TCP connection, with what is left over from a receive or a send that did not do all.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// The start of a frame whose rest has not arrived.
    held: Vec<u8>,
    /// Bytes of the frame being sent that the kernel has not taken; 0 if none is being sent.
    unsent: usize,
}

/// How far a frame being sent has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The kernel has all of it.
    Whole,
    /// The socket is full; to be continued with [`Connection::resume`] once it is writable.
    Partial,
    /// The other end is gone.
    Closed,
}

/// What a receive brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// A whole frame, its length included.
    Whole(&'a [u8]),
    /// Not yet a whole frame, or nothing: more comes with the next event.
    Partial,
    /// The other end is gone.
    Closed,
}

impl Connection {
    /// A connection over a non-blocking stream.
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            held: Vec::new(),
            unsent: 0,
        }
    }

    /// The stream, to register it with a poller.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Whether a frame is being sent whose rest waits for [`resume`](Self::resume).
    #[inline]
    pub fn is_sending(&self) -> bool {
        self.unsent > 0
    }

    /// Starts to send `frame`, with one call to the kernel unless the socket fills up.
    #[inline]
    pub fn start(&mut self, frame: &[u8]) -> Result<Sent> {
        self.unsent = frame.len();
        self.resume(frame)
    }

    /// Sends the rest of `frame`, the one [`start`](Self::start) was called with.
    #[inline]
    pub fn resume(&mut self, frame: &[u8]) -> Result<Sent> {
        // Until the kernel says "full", not merely "less than asked": only then does an edge-triggered poller say "writable".
        while self.unsent > 0 {
            let rest = &frame[frame.len() - self.unsent..];
            // No signal when the other end is gone, whatever the program did with SIGPIPE.
            match retry_on_intr(|| rustix::net::send(&self.stream, rest, SendFlags::NOSIGNAL)) {
                Ok(taken) => self.unsent -= taken,
                Err(Errno::AGAIN) => return Ok(Sent::Partial),
                Err(Errno::PIPE | Errno::CONNRESET) => return Ok(Sent::Closed),
                Err(error) => return Err(error).context("cannot send on a loopback connection"),
            }
        }
        Ok(Sent::Whole)
    }
}

/// Where frames arrive: one buffer for all connections of a thread, so that it stays in the nearest cache.
///
/// Measured against a buffer per connection: 1 to 2 % more calls at 100 connections, 4 to 9 % at 500.
/// `recv` and `send` against `read` and `write`: 2 to 5 % more.
#[derive(Debug)]
pub struct Inbox {
    buffer: Vec<u8>,
    payload_bytes: usize,
}

impl Inbox {
    /// For frames of at most `payload_bytes`.
    pub fn new(payload_bytes: usize) -> Self {
        // One more than a frame, so that a byte too many is seen and does not wait for an event that never comes.
        Self {
            buffer: vec![0; PREFIX_BYTES + payload_bytes + 1],
            payload_bytes,
        }
    }

    /// Receives what has arrived, with one call to the kernel.
    ///
    /// # Errors
    /// If the length in front is more than the greatest payload, or more arrived than one frame: there is one call in
    /// flight, so the rest cannot be another; or if the kernel refuses.
    #[inline]
    pub fn receive<'a>(&'a mut self, connection: &mut Connection) -> Result<Arrival<'a>> {
        let held = connection.held.len();
        self.buffer[..held].copy_from_slice(&connection.held);
        let free = &mut self.buffer[held..];
        let received = match retry_on_intr(|| rustix::net::recv(&connection.stream, &mut *free, RecvFlags::empty())) {
            Ok((_, 0)) | Err(Errno::CONNRESET) => return Ok(Arrival::Closed),
            Ok((_, received)) => received,
            Err(Errno::AGAIN) => return Ok(Arrival::Partial),
            Err(error) => return Err(error).context("cannot receive on a loopback connection"),
        };
        let arrived = &self.buffer[..held + received];
        connection.held.clear();
        if is_whole(arrived, self.payload_bytes)? {
            return Ok(Arrival::Whole(arrived));
        }
        connection.held.extend_from_slice(arrived);
        Ok(Arrival::Partial)
    }
}

/// Whether `arrived` is a whole frame, by the length in front.
#[inline]
fn is_whole(arrived: &[u8], payload_bytes: usize) -> Result<bool> {
    let Some(&prefix) = arrived.first_chunk::<PREFIX_BYTES>() else {
        return Ok(false);
    };
    let announced = u32::from_be_bytes(prefix) as usize;
    ensure!(
        announced <= payload_bytes,
        "a frame announces {announced} bytes where at most {payload_bytes} are expected"
    );
    let whole = PREFIX_BYTES + announced;
    ensure!(
        arrived.len() <= whole,
        "{} bytes arrived where one frame has {whole}",
        arrived.len()
    );
    Ok(arrived.len() == whole)
}
