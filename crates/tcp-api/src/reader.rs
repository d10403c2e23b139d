//! Reading frames.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::socket::poll_receive;
use crate::{FRAME_LIMIT, FRAME_TIME, MUX_BIT, PREFIX_BYTES, REFUSAL_BIT, REFUSAL_LIMIT};

/// What one system call reads at most.
const READ_BYTES: usize = 16 * 1024;

thread_local! {
    /// Where a thread reads to, whatever connection it is: one buffer stays in the cache, five hundred do not.
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// Why no frame could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The peer closed the connection between two frames.
    #[error("the peer closed the connection")]
    Closed,
    /// The peer closed the connection inside a frame.
    #[error("the peer closed the connection after {got} bytes of a frame")]
    Truncated {
        /// Bytes that came, length included.
        got: usize,
    },
    /// A frame over the limit: nothing was allocated for it.
    #[error("a frame of {0} bytes is over the limit of {FRAME_LIMIT} ({REFUSAL_LIMIT} for a refusal)")]
    TooLarge(usize),
    /// One form was expected, multiplexed or not, and the other one came.
    #[error("a frame of the other form came (tcp+framed and tcp+mux do not mix)")]
    OtherForm,
    /// A frame of the multiplexed form without a request id.
    #[error("a frame of {0} bytes has no request id")]
    NoId(usize),
    /// The peer began a frame and did not go on.
    #[error("the peer did not finish a frame within {} s", FRAME_TIME.as_secs())]
    TooSlow,
    /// The peer refused and says why.
    #[error("the peer refused: {0}")]
    Refused(String),
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What was read from a connection beyond its last frame: nothing, unless frames come in pieces or several at once.
#[derive(Default)]
pub struct FrameReader {
    pending: Vec<u8>,
}

impl FrameReader {
    /// True when more has come than the frames that were taken.
    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Gives the next frame, without its length, to `take`, and returns what that made of it.
    ///
    /// # Errors
    /// [`ReadError::Closed`] at the end of the stream between frames; the others say what went wrong.
    pub async fn next<T>(&mut self, stream: &mut TcpStream, take: impl FnOnce(&[u8]) -> T) -> Result<T, ReadError> {
        let mut taker = Taker {
            take: Some(take),
            taken: None,
        };
        let mut deadline = None;
        self.take_pending(&mut taker)?;
        loop {
            if let Some(taken) = taker.taken {
                return Ok(taken);
            }
            let waits_between_frames = self.pending.is_empty();
            let read = poll_fn(|context| self.poll_read(stream, &mut taker, context));
            // The common case, a whole frame at once, waits between frames and without a timer.
            match waits_between_frames {
                true => read.await?,
                // For the frame as a whole: a peer that sends a byte now and then does not hold the connection for ever.
                false => {
                    let deadline = *deadline.get_or_insert_with(|| Instant::now() + FRAME_TIME);
                    timeout_at(deadline, read).await.map_err(|_| ReadError::TooSlow)??;
                }
            }
        }
    }

    /// Reads once. A frame that is whole is taken from the thread's buffer; what is not is kept.
    fn poll_read<T>(
        &mut self,
        stream: &TcpStream,
        taker: &mut Taker<impl FnOnce(&[u8]) -> T, T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), ReadError>> {
        READ.with_borrow_mut(|buffer| {
            let received = ready!(poll_receive(stream, context, buffer))?;
            let bytes = &buffer[..received];
            Poll::Ready(match (bytes, self.pending.len()) {
                ([], 0) => Err(ReadError::Closed),
                ([], got) => Err(ReadError::Truncated { got }),
                (_, 0) => self.take_from(bytes, taker),
                _ => {
                    self.pending.extend_from_slice(bytes);
                    self.take_pending(taker)
                }
            })
        })
    }

    /// Takes the first frame of the bytes, if it is whole, and keeps the rest.
    fn take_from<T>(&mut self, bytes: &[u8], taker: &mut Taker<impl FnOnce(&[u8]) -> T, T>) -> Result<(), ReadError> {
        let mut rest = bytes;
        if let Some(frame) = parse(bytes, 0)? {
            taker.take(frame);
            rest = &bytes[PREFIX_BYTES + frame.len()..];
        }
        self.pending.extend_from_slice(rest);
        Ok(())
    }

    /// Takes the first frame out of what is pending, if it is whole.
    fn take_pending<T>(&mut self, taker: &mut Taker<impl FnOnce(&[u8]) -> T, T>) -> Result<(), ReadError> {
        let Some(frame) = parse(&self.pending, 0)? else {
            return Ok(());
        };
        let end = PREFIX_BYTES + frame.len();
        taker.take(frame);
        if end == self.pending.len() {
            // Also gives back the memory of a large frame.
            self.pending = Vec::new();
        } else {
            self.pending.drain(..end);
        }
        Ok(())
    }
}

/// Makes something of one frame. It may be large (a decoded message), so it is put in its place at once instead of being handed through
/// each layer.
struct Taker<F, T> {
    take: Option<F>,
    taken: Option<T>,
}

impl<T, F: FnOnce(&[u8]) -> T> Taker<F, T> {
    fn take(&mut self, frame: &[u8]) {
        self.taken = self.take.take().map(|take| take(frame));
    }
}

/// The frame that the bytes begin with; `None` when it is not whole yet. `mark` is what a length is marked with: [`MUX_BIT`] or nothing.
pub(crate) fn parse(bytes: &[u8], mark: u32) -> Result<Option<&[u8]>, ReadError> {
    let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX_BYTES>() else {
        return Ok(None);
    };
    let prefix = u32::from_be_bytes(*prefix);
    let refusal = prefix & REFUSAL_BIT != 0;
    let length = (prefix & !REFUSAL_BIT & !MUX_BIT) as usize;
    let is_other_form = !refusal && prefix & MUX_BIT != mark;
    if length > if refusal { REFUSAL_LIMIT } else { FRAME_LIMIT } {
        // Bytes that are no frame at all are shown as they came.
        return Err(ReadError::TooLarge(if is_other_form { prefix as usize } else { length }));
    }
    if is_other_form {
        return Err(ReadError::OtherForm);
    }
    match rest.get(..length) {
        Some(text) if refusal => Err(ReadError::Refused(String::from_utf8_lossy(text).into_owned())),
        frame => Ok(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{send_frame, send_refusal};
    use std::net::Shutdown;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::TcpListener;

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (client, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn frames_of_all_sizes_come_out_as_they_went_in() {
        let (mut client, mut server) = pair().await;
        let sizes = [0, 1, 581, 4092, 4093, 65_536, 1_048_576, 0, 7];
        let sender = tokio::spawn(async move {
            for size in sizes {
                send_frame(&mut client, |frame| frame.extend((0..size).map(|i| i as u8)))
                    .await
                    .unwrap();
            }
        });
        let mut reader = FrameReader::default();
        for size in sizes {
            let frame = reader.next(&mut server, <[u8]>::to_vec).await.unwrap();
            assert_eq!(frame.len(), size);
            assert!(frame.iter().enumerate().all(|(i, byte)| *byte == i as u8));
        }
        sender.await.unwrap();
        assert!(matches!(reader.next(&mut server, <[u8]>::len).await, Err(ReadError::Closed)));
    }

    #[tokio::test]
    async fn a_frame_that_comes_byte_by_byte_is_one_frame_and_two_at_once_are_two() {
        let (mut client, mut server) = pair().await;
        tokio::spawn(async move {
            for byte in [0, 0, 0, 3, b'a', b'b', b'c'] {
                client.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
            client.write_all(&[0, 0, 0, 1, b'x', 0, 0, 0, 1, b'y']).await.unwrap();
            std::future::pending::<()>().await;
        });
        let mut reader = FrameReader::default();
        for expected in ["abc", "x", "y"] {
            assert_eq!(reader.next(&mut server, <[u8]>::to_vec).await.unwrap(), expected.as_bytes());
        }
    }

    #[tokio::test]
    async fn a_frame_over_the_limit_is_refused_before_memory_is_taken() {
        let (mut client, mut server) = pair().await;
        client.write_all(&0x7fff_ffff_u32.to_be_bytes()).await.unwrap();
        let mut reader = FrameReader::default();
        let error = reader.next(&mut server, <[u8]>::len).await.unwrap_err();
        assert!(matches!(error, ReadError::TooLarge(0x7fff_ffff)));
        assert!(reader.pending.capacity() <= PREFIX_BYTES);
    }

    #[tokio::test]
    async fn half_a_frame_and_then_the_end_is_an_error_that_says_how_much_came() {
        let (client, mut server) = pair().await;
        let client = client.into_std().unwrap();
        std::io::Write::write_all(&mut &client, &[0, 0, 0, 9, 1, 2]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let error = FrameReader::default().next(&mut server, <[u8]>::len).await.unwrap_err();
        assert_eq!(error.to_string(), "the peer closed the connection after 6 bytes of a frame");
    }

    #[tokio::test]
    async fn a_refusal_carries_its_reason() {
        let (mut client, mut server) = pair().await;
        send_refusal(&mut server, "too large").await.unwrap();
        let error = FrameReader::default().next(&mut client, <[u8]>::len).await.unwrap_err();
        assert!(matches!(error, ReadError::Refused(reason) if reason == "too large"));
    }
}
