//! Writing frames.

use std::cell::RefCell;
use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::socket::try_send_bytes;
use crate::{FRAME_LIMIT, FRAME_TIME, PREFIX_BYTES, REFUSAL_BIT, REFUSAL_LIMIT};

/// A buffer that grew for a large frame is given back after it.
const KEPT_BYTES: usize = 64 * 1024;

thread_local! {
    /// Where a thread puts its frames together, whatever connection they are for: one buffer stays in the cache, five hundred do not.
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Why a frame could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The frame is over the limit: nothing was sent.
    #[error("a frame of {0} bytes is over the limit of {FRAME_LIMIT}")]
    TooLarge(usize),
    /// The peer does not take it.
    #[error("the peer did not take a frame within {} s", FRAME_TIME.as_secs())]
    TooSlow,
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Sends one frame; `fill` appends its bytes to what it is given.
///
/// # Errors
/// When it is over the limit, when the peer does not take it, or when the connection fails.
pub async fn send_frame(stream: &mut TcpStream, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
    begin_frame(stream, fill)?.finish(stream).await
}

/// As [`send_frame`], for a sender that wants to be rid of what the frame is made of before it waits for anything.
///
/// # Errors
/// When the frame is over the limit or the connection fails.
pub fn begin_frame(stream: &TcpStream, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Unsent, WriteError> {
    begin(stream, 0, fill)
}

/// Sends a refusal, after which the connection is to be closed.
///
/// # Errors
/// As [`send_frame`].
pub async fn send_refusal(stream: &mut TcpStream, reason: &str) -> Result<(), WriteError> {
    let refusal = &reason.as_bytes()[..reason.len().min(REFUSAL_LIMIT)];
    begin(stream, REFUSAL_BIT, |frame| frame.extend_from_slice(refusal))?
        .finish(stream)
        .await
}

/// What of a frame the socket did not take at once: nothing, but for a slow peer.
#[must_use]
pub struct Unsent(Vec<u8>);

impl Unsent {
    /// Sends it.
    ///
    /// # Errors
    /// When the peer does not take it, or when the connection fails.
    pub async fn finish(self, stream: &mut TcpStream) -> Result<(), WriteError> {
        // The common case needs no timer.
        if self.0.is_empty() {
            return Ok(());
        }
        let sent = timeout(FRAME_TIME, stream.write_all(&self.0)).await;
        Ok(sent.map_err(|_| WriteError::TooSlow)??)
    }
}

fn begin(stream: &TcpStream, mark: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Unsent, WriteError> {
    FRAME.with_borrow_mut(|frame| write_once(stream, frame, mark, fill))
}

/// Puts a frame together and writes as much of it as the socket takes.
fn write_once(stream: &TcpStream, frame: &mut Vec<u8>, mark: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Unsent, WriteError> {
    frame.clear();
    frame.extend_from_slice(&[0; PREFIX_BYTES]);
    fill(frame);
    let length = frame.len() - PREFIX_BYTES;
    if length > FRAME_LIMIT {
        *frame = Vec::new();
        return Err(WriteError::TooLarge(length));
    }
    frame[..PREFIX_BYTES].copy_from_slice(&(length as u32 | mark).to_be_bytes());
    let written = try_send_bytes(stream, frame)?;
    let unsent = Unsent(frame[written..].to_vec());
    if frame.capacity() > KEPT_BYTES {
        *frame = Vec::new();
    }
    Ok(unsent)
}
