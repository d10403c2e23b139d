//! The multiplexed form: a frame begins with a `u64` big-endian request id, and its reply with the same. Replies come in any order. The
//! length is marked with [`MUX_BIT`].
//!
//! Many frames go by one system call: a write takes all that there is to send, a read gives all that has come.

use std::future::poll_fn;
use std::task::{Poll, ready};

use tokio::net::TcpStream;

use crate::reader::{ReadError, parse};
use crate::socket::{poll_receive, poll_send};
use crate::{FRAME_LIMIT, MUX_BIT, PREFIX_BYTES};

/// Bytes of the request id.
const ID_BYTES: usize = 8;
/// What one system call reads at most: some hundred calls.
const READ_BYTES: usize = 256 * 1024;
/// A buffer that grew for a large frame is given back after it.
const KEPT_BYTES: usize = 1024 * 1024;

/// Frames that are to be sent.
#[derive(Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    /// How much of it the socket has taken.
    sent: usize,
}

/// Frames that come in.
#[derive(Default)]
pub struct Inbox {
    buffer: Vec<u8>,
    filled: usize,
}

impl Outbox {
    /// Adds a frame; `fill` appends its bytes to what it is given.
    ///
    /// # Errors
    /// The frame's length, when it is over the limit: then nothing is added.
    pub fn add(&mut self, id: u64, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; PREFIX_BYTES]);
        self.bytes.extend_from_slice(&id.to_be_bytes());
        fill(&mut self.bytes);
        let length = self.bytes.len() - start - PREFIX_BYTES;
        if length > FRAME_LIMIT {
            self.bytes.truncate(start);
            return Err(length);
        }
        self.bytes[start..start + PREFIX_BYTES].copy_from_slice(&(length as u32 | MUX_BIT).to_be_bytes());
        Ok(())
    }

    /// True when all is sent.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Sends what there is; ready when all of it is sent.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn poll_flush(&mut self, stream: &TcpStream, context: &mut std::task::Context<'_>) -> Poll<std::io::Result<()>> {
        while self.sent < self.bytes.len() {
            let Poll::Ready(sent) = poll_send(stream, context, &self.bytes[self.sent..]) else {
                // More may be added before all is sent: what is gone must not stay.
                if self.sent >= KEPT_BYTES.max(self.bytes.len() / 2) {
                    self.bytes.drain(..self.sent);
                    self.sent = 0;
                }
                return Poll::Pending;
            };
            self.sent += sent?;
        }
        self.sent = 0;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        Poll::Ready(Ok(()))
    }

    /// As [`Outbox::poll_flush`].
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn flush(&mut self, stream: &TcpStream) -> std::io::Result<()> {
        poll_fn(|context| self.poll_flush(stream, context)).await
    }
}

impl Inbox {
    /// Reads once and gives every frame that is whole to `take`, with its request id.
    ///
    /// # Errors
    /// As the frames of one call at a time; also when a frame has no request id.
    pub fn poll_receive(
        &mut self,
        stream: &TcpStream,
        context: &mut std::task::Context<'_>,
        mut take: impl FnMut(u64, &[u8]),
    ) -> Poll<Result<(), ReadError>> {
        if self.buffer.len() - self.filled < READ_BYTES {
            self.buffer.resize(self.filled + READ_BYTES, 0);
        }
        let received = ready!(poll_receive(stream, context, &mut self.buffer[self.filled..]))?;
        if received == 0 {
            return Poll::Ready(Err(match self.filled {
                0 => ReadError::Closed,
                got => ReadError::Truncated { got },
            }));
        }
        self.filled += received;
        let mut rest = &self.buffer[..self.filled];
        while let Some(frame) = parse(rest, MUX_BIT)? {
            let Some((id, body)) = frame.split_first_chunk::<ID_BYTES>() else {
                return Poll::Ready(Err(ReadError::NoId(frame.len())));
            };
            take(u64::from_be_bytes(*id), body);
            rest = &rest[PREFIX_BYTES + frame.len()..];
        }
        let left = rest.len();
        self.buffer.copy_within(self.filled - left..self.filled, 0);
        self.filled = left;
        if left == 0 && self.buffer.capacity() > KEPT_BYTES {
            self.buffer = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn many_frames_of_all_sizes_come_out_with_their_ids() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let server = listener.accept().await.unwrap().0;
        let sizes = [0, 1, 581, 70_000, 1_048_576, 3, 0];
        let sender = tokio::spawn(async move {
            let mut outbox = Outbox::default();
            for (id, size) in sizes.into_iter().enumerate() {
                outbox.add(id as u64 + 7, |frame| frame.extend(vec![id as u8; size])).unwrap();
            }
            outbox.flush(&client).await.unwrap();
            assert!(outbox.is_empty());
        });
        let mut inbox = Inbox::default();
        let mut got = Vec::new();
        while got.len() < sizes.len() {
            poll_fn(|context| {
                inbox.poll_receive(&server, context, |id, body| {
                    assert!(body.iter().all(|byte| u64::from(*byte) + 7 == id));
                    got.push((id, body.len()));
                })
            })
            .await
            .unwrap();
        }
        let expected: Vec<_> = sizes.into_iter().enumerate().map(|(id, size)| (id as u64 + 7, size)).collect();
        assert_eq!(got, expected);
        sender.await.unwrap();
        let end = poll_fn(|context| inbox.poll_receive(&server, context, |_, _| {})).await;
        assert!(matches!(end, Err(ReadError::Closed)));
    }

    #[tokio::test]
    async fn a_sender_that_never_catches_up_keeps_only_what_is_not_sent() {
        const FRAME_BYTES: usize = 64 * 1024;
        const WAITING: usize = 4 * 1024 * 1024;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let server = listener.accept().await.unwrap().0;
        tokio::spawn(async move {
            let mut buffer = vec![0; FRAME_BYTES];
            while poll_fn(|context| poll_receive(&server, context, &mut buffer)).await.unwrap() > 0 {}
        });
        let mut outbox = Outbox::default();
        let mut added = 0;
        while added < 50 * WAITING {
            // So much is always waiting, so the outbox is never empty.
            while outbox.bytes.len() - outbox.sent < WAITING {
                outbox.add(1, |frame| frame.resize(frame.len() + FRAME_BYTES, 0)).unwrap();
                added += FRAME_BYTES;
            }
            poll_fn(|context| Poll::Ready(outbox.poll_flush(&client, context).is_pending())).await;
            assert!(outbox.bytes.len() < 4 * WAITING, "{} bytes are kept", outbox.bytes.len());
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn a_frame_over_the_limit_is_not_added() {
        let mut outbox = Outbox::default();
        assert_eq!(
            outbox.add(1, |frame| frame.resize(frame.len() + FRAME_LIMIT, 0)),
            Err(FRAME_LIMIT + ID_BYTES)
        );
        assert!(outbox.is_empty());
    }
}
