//! Reading frames.

use std::io;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::{FRAME_LIMIT, FRAME_TIME, PREFIX_BYTES, REFUSAL_BIT};

/// First size of a buffer: several benchmark messages.
const FIRST_BYTES: usize = 4 * 1024;
/// A buffer that grew for a large frame goes back to its first size after it, so that idle connections stay small.
const KEPT_BYTES: usize = 64 * 1024;

/// Why no frame could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The peer closed the connection between two frames.
    #[error("the peer closed the connection")]
    Closed,
    /// The peer closed the connection inside a frame.
    #[error("the peer closed the connection after {got} of the {of} bytes of a frame")]
    Truncated {
        /// Bytes that came, length included.
        got: usize,
        /// Bytes there should be, as far as known.
        of: usize,
    },
    /// A frame over the limit: nothing was allocated for it.
    #[error("a frame of {0} bytes is over the limit of {FRAME_LIMIT}")]
    TooLarge(usize),
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

/// Bytes that were read and not yet taken.
pub struct FrameReader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self {
            buffer: vec![0; FIRST_BYTES],
            start: 0,
            end: 0,
        }
    }
}

/// What the first bytes of the buffer are.
enum Next {
    Frame {
        end: usize,
    },
    /// A frame needs this many bytes, length included.
    Needs(usize),
}

impl FrameReader {
    /// The next frame, without its length.
    ///
    /// # Errors
    /// [`ReadError::Closed`] at the end of the stream between frames; the others say what went wrong.
    pub async fn next(&mut self, stream: &mut TcpStream) -> Result<&[u8], ReadError> {
        loop {
            match self.parse()? {
                Next::Frame { end } => {
                    let start = self.start + PREFIX_BYTES;
                    self.start = end;
                    return Ok(&self.buffer[start..end]);
                }
                Next::Needs(bytes) => {
                    self.make_room(bytes);
                    let began = self.end - self.start;
                    let read = stream.read(&mut self.buffer[self.end..]);
                    // The common case, a whole frame at once, waits with an empty buffer and without a timer.
                    let count = if began == 0 {
                        read.await
                    } else {
                        timeout(FRAME_TIME, read).await.map_err(|_| ReadError::TooSlow)?
                    }?;
                    match (count, began) {
                        (0, 0) => return Err(ReadError::Closed),
                        (0, got) => return Err(ReadError::Truncated { got, of: bytes }),
                        (count, _) => self.end += count,
                    }
                }
            }
        }
    }

    fn parse(&self) -> Result<Next, ReadError> {
        let bytes = &self.buffer[self.start..self.end];
        let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX_BYTES>() else {
            return Ok(Next::Needs(PREFIX_BYTES));
        };
        let prefix = u32::from_be_bytes(*prefix);
        let length = (prefix & !REFUSAL_BIT) as usize;
        if length > FRAME_LIMIT {
            return Err(ReadError::TooLarge(length));
        }
        match rest.get(..length) {
            Some(text) if prefix & REFUSAL_BIT != 0 => Err(ReadError::Refused(String::from_utf8_lossy(text).into_owned())),
            Some(_) => Ok(Next::Frame {
                end: self.start + PREFIX_BYTES + length,
            }),
            None => Ok(Next::Needs(PREFIX_BYTES + length)),
        }
    }

    /// Makes room for a frame of `bytes` in all from `start` on.
    fn make_room(&mut self, bytes: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if bytes > self.buffer.len() {
            self.buffer.resize(bytes, 0);
        } else if self.buffer.len() > KEPT_BYTES && bytes <= FIRST_BYTES && self.end <= FIRST_BYTES {
            self.buffer.truncate(FIRST_BYTES);
            self.buffer.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameWriter;
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
            let mut writer = FrameWriter::default();
            for size in sizes {
                writer
                    .send(&mut client, |buffer| buffer.extend((0..size).map(|i| i as u8)))
                    .await
                    .unwrap();
            }
        });
        let mut reader = FrameReader::default();
        for size in sizes {
            let frame = reader.next(&mut server).await.unwrap();
            assert_eq!(frame.len(), size);
            assert!(frame.iter().enumerate().all(|(i, byte)| *byte == i as u8));
        }
        sender.await.unwrap();
        assert!(matches!(reader.next(&mut server).await, Err(ReadError::Closed)));
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
            assert_eq!(reader.next(&mut server).await.unwrap(), expected.as_bytes());
        }
    }

    #[tokio::test]
    async fn a_frame_over_the_limit_is_refused_before_memory_is_taken() {
        let (mut client, mut server) = pair().await;
        client.write_all(&0x7fff_ffff_u32.to_be_bytes()).await.unwrap();
        let mut reader = FrameReader::default();
        let error = reader.next(&mut server).await.unwrap_err();
        assert!(matches!(error, ReadError::TooLarge(0x7fff_ffff)));
        assert_eq!(reader.buffer.len(), FIRST_BYTES);
    }

    #[tokio::test]
    async fn half_a_frame_and_then_the_end_is_an_error_that_says_how_much_came() {
        let (client, mut server) = pair().await;
        let client = client.into_std().unwrap();
        std::io::Write::write_all(&mut &client, &[0, 0, 0, 9, 1, 2]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let error = FrameReader::default().next(&mut server).await.map(<[u8]>::to_vec).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the peer closed the connection after 6 of the 13 bytes of a frame"
        );
    }

    #[tokio::test]
    async fn a_refusal_carries_its_reason() {
        let (mut client, mut server) = pair().await;
        FrameWriter::default().refuse(&mut server, "too large").await.unwrap();
        let error = FrameReader::default().next(&mut client).await.map(<[u8]>::to_vec).unwrap_err();
        assert!(matches!(error, ReadError::Refused(reason) if reason == "too large"));
    }
}
