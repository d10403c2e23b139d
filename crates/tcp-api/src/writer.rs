//! Writing frames.

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::{FRAME_LIMIT, FRAME_TIME, PREFIX_BYTES, REFUSAL_BIT};

/// A buffer that grew for a large frame is given back after it.
const KEPT_BYTES: usize = 64 * 1024;

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

/// The memory that frames are put together in.
#[derive(Default)]
pub struct FrameWriter {
    buffer: Vec<u8>,
}

impl FrameWriter {
    /// Sends one frame; `fill` appends its bytes.
    ///
    /// # Errors
    /// When it is over the limit, when the peer does not take it, or when the connection fails.
    pub async fn send(&mut self, stream: &mut TcpStream, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; PREFIX_BYTES]);
        fill(&mut self.buffer);
        let length = self.buffer.len() - PREFIX_BYTES;
        if length > FRAME_LIMIT {
            return Err(WriteError::TooLarge(length));
        }
        self.write(stream, length as u32).await
    }

    /// Sends a refusal, after which the connection is to be closed.
    ///
    /// # Errors
    /// As [`FrameWriter::send`].
    pub async fn refuse(&mut self, stream: &mut TcpStream, reason: &str) -> Result<(), WriteError> {
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; PREFIX_BYTES]);
        self.buffer.extend_from_slice(reason.as_bytes());
        self.write(stream, reason.len() as u32 | REFUSAL_BIT).await
    }

    async fn write(&mut self, stream: &mut TcpStream, prefix: u32) -> Result<(), WriteError> {
        self.buffer[..PREFIX_BYTES].copy_from_slice(&prefix.to_be_bytes());
        // The common case is one system call and no timer.
        let written = match stream.try_write(&self.buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            result => result?,
        };
        if written < self.buffer.len() {
            timeout(FRAME_TIME, stream.write_all(&self.buffer[written..]))
                .await
                .map_err(|_| WriteError::TooSlow)??;
        }
        if self.buffer.capacity() > KEPT_BYTES {
            self.buffer = Vec::new();
        }
        Ok(())
    }
}
