//! The tuned lane's transport: the same frames, written and read in place.
//!
//! tarpc takes any stream and sink of its messages. Its own transport serialises each message into memory of its own, copies that behind
//! its length, and takes each frame that came out of the buffer before it is read.

use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;

use bytes::{Buf as _, BufMut as _, BytesMut};
use tokio::net::TcpStream;
use tokio_util::codec::{Decoder, Encoder, Framed};

use crate::FRAME_LIMIT;
use crate::format::{Format, Message};

/// Bytes of the length before a frame: `u32`, big-endian.
const PREFIX_BYTES: usize = 4;

/// What one system call reads at most, unless a frame is larger.
const READ_BYTES: usize = 16 * 1024;

/// Many small messages make one write.
pub(crate) const WRITE_BOUNDARY: usize = 64 * 1024;

/// A buffer that grew for a large frame is given back after it.
const KEPT_BYTES: usize = 64 * 1024;

thread_local! {
    /// Where a thread puts its messages together: one buffer stays in the cache, five hundred do not.
    static FRAME: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Frames over the harness's socket, receiving `In`.
pub type DirectTransport<F, In> = Framed<TcpStream, Frames<F, In>>;

/// The transport of the tuned lane.
pub fn direct_transport<F: Format, In: Message>(stream: TcpStream) -> DirectTransport<F, In> {
    let mut framed = Framed::with_capacity(stream, Frames(PhantomData), READ_BYTES);
    framed.set_backpressure_boundary(WRITE_BOUNDARY);
    framed
}

/// Messages of a format behind their length.
pub struct Frames<F, In>(PhantomData<(F, In)>);

impl<F: Format, In: Message> Decoder for Frames<F, In> {
    type Item = In;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<In>> {
        let Some((prefix, rest)) = buffer.split_first_chunk::<PREFIX_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > FRAME_LIMIT {
            return Err(io::Error::new(io::ErrorKind::InvalidData, too_large(length)));
        }
        let end = PREFIX_BYTES + length;
        let Some(frame) = rest.get(..length) else {
            buffer.reserve(end - buffer.len());
            return Ok(None);
        };
        let message = F::decode(frame)?;
        buffer.advance(end);
        if buffer.is_empty() {
            renew(buffer);
        }
        Ok(Some(message))
    }
}

/// Reading begins at the front again: the same few cache lines, and room for whole frames.
fn renew(buffer: &mut BytesMut) {
    if buffer.capacity() > KEPT_BYTES {
        *buffer = BytesMut::with_capacity(READ_BYTES);
    } else {
        buffer.reserve(READ_BYTES);
    }
}

impl<F: Format, In, Out: Message> Encoder<Out> for Frames<F, In> {
    type Error = io::Error;

    fn encode(&mut self, message: Out, buffer: &mut BytesMut) -> io::Result<()> {
        FRAME.with_borrow_mut(|frame| {
            frame.clear();
            F::encode(&message, frame);
            let length = frame.len();
            if length <= FRAME_LIMIT {
                buffer.reserve(PREFIX_BYTES + length);
                buffer.put_u32(length as u32);
                buffer.extend_from_slice(frame);
            }
            if frame.capacity() > KEPT_BYTES {
                *frame = Vec::new();
            }
            match length <= FRAME_LIMIT {
                true => Ok(()),
                false => Err(io::Error::new(io::ErrorKind::InvalidInput, too_large(length))),
            }
        })
    }
}

fn too_large(length: usize) -> String {
    format!("a frame of {length} bytes is over the limit of {FRAME_LIMIT}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchmarkResponse, ToClient};
    use bench_core::codec::Bincode;
    use bench_core::message::{PayloadMessage, payload};

    fn frames() -> Frames<Bincode, ToClient> {
        Frames(PhantomData)
    }

    fn reply(length: usize) -> ToClient {
        tarpc::Response {
            request_id: 7,
            message: Ok(BenchmarkResponse::Exchange(PayloadMessage { body: payload(length) })),
        }
    }

    fn length(reply: &ToClient) -> usize {
        match &reply.message {
            Ok(BenchmarkResponse::Exchange(message)) => message.body.len(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn frames_in_pieces_and_several_at_once_come_out_as_they_went_in() {
        let lengths = [0, 581, 70_000, 3, 1_048_576, 1];
        let mut sent = BytesMut::new();
        for length in lengths {
            frames().encode(reply(length), &mut sent).unwrap();
        }
        for piece in [1, 7, 4096, sent.len()] {
            let mut buffer = BytesMut::new();
            let mut came = Vec::new();
            for bytes in sent.chunks(piece) {
                buffer.extend_from_slice(bytes);
                while let Some(message) = frames().decode(&mut buffer).unwrap() {
                    came.push(length(&message));
                }
            }
            assert_eq!(came, lengths);
        }
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_before_memory_is_taken_and_is_never_sent() {
        let mut buffer = BytesMut::from(&[0x7f, 0xff, 0xff, 0xff][..]);
        let error = frames().decode(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(buffer.capacity() <= PREFIX_BYTES);

        let error = frames().encode(reply(FRAME_LIMIT + 1), &mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(buffer.len(), PREFIX_BYTES);
    }
}
