//! The default lane's transport: tarpc's own.

use std::io;
use std::marker::PhantomData;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use tarpc::serde_transport::{self, Transport};
use tokio::net::TcpStream;
use tokio_serde::{Deserializer, Serializer};
use tokio_util::codec::LengthDelimitedCodec;

use crate::FRAME_LIMIT;
use crate::format::{Format, Message};

/// tokio-util's default for its `Framed`.
pub(crate) const WRITE_BOUNDARY: usize = 8 * 1024;

/// tarpc's transport over the harness's socket, receiving `In` and sending `Out`.
pub type LibraryTransport<F, In, Out> = Transport<TcpStream, In, Out, TokioSerde<F>>;

/// As tarpc's documentation shows for a stream that it did not open itself.
pub fn library_transport<F: Format, In: Message, Out: Message>(stream: TcpStream) -> LibraryTransport<F, In, Out> {
    let framed = LengthDelimitedCodec::builder().max_frame_length(FRAME_LIMIT).new_framed(stream);
    serde_transport::new(framed, TokioSerde(PhantomData))
}

/// A format of tokio-serde. Only to give their errors one type.
pub struct TokioSerde<F>(PhantomData<F>);

impl<F: Format, T: Message> Serializer<T> for TokioSerde<F> {
    type Error = io::Error;

    fn serialize(self: Pin<&mut Self>, message: &T) -> io::Result<Bytes> {
        F::serialize(message)
    }
}

impl<F: Format, T: Message> Deserializer<T> for TokioSerde<F> {
    type Error = io::Error;

    fn deserialize(self: Pin<&mut Self>, bytes: &BytesMut) -> io::Result<T> {
        F::deserialize(bytes)
    }
}
