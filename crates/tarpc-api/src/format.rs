//! The formats of the wires, each in two implementations of the same bytes.

use std::io;
use std::pin::Pin;

use bench_core::codec::{Bincode, Codec, Json, MessagePack};
use bytes::{Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_serde::{Deserializer as _, Serializer as _, formats};

/// What a format can carry.
pub trait Message: Serialize + DeserializeOwned + Unpin + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Unpin + Send + 'static> Message for T {}

/// A serde format.
pub trait Format: Unpin + Send + 'static {
    /// Second half of the wire's name.
    const NAME: &'static str;

    /// By tokio-serde, as tarpc's documentation shows.
    ///
    /// # Errors
    /// The format's own.
    fn serialize<T: Message>(message: &T) -> io::Result<Bytes>;

    /// By tokio-serde, as tarpc's documentation shows.
    ///
    /// # Errors
    /// When the bytes are no message.
    fn deserialize<T: Message>(bytes: &BytesMut) -> io::Result<T>;

    /// Appends the message to `buffer`, by the suite's codec.
    fn encode<T: Message>(message: &T, buffer: &mut Vec<u8>);

    /// From memory, where tokio-serde goes through a reader.
    ///
    /// # Errors
    /// When the bytes are no message.
    fn decode<T: Message>(bytes: &[u8]) -> io::Result<T>;
}

/// tokio-serde and the suite call their formats the same.
macro_rules! implement {
    ($name:ident, $decode:expr) => {
        impl Format for $name {
            const NAME: &'static str = <$name as Codec<()>>::NAME;

            fn serialize<T: Message>(message: &T) -> io::Result<Bytes> {
                one_type(Pin::new(&mut formats::$name::<(), T>::default()).serialize(message))
            }

            fn deserialize<T: Message>(bytes: &BytesMut) -> io::Result<T> {
                one_type(Pin::new(&mut formats::$name::<T, ()>::default()).deserialize(bytes))
            }

            fn encode<T: Message>(message: &T, buffer: &mut Vec<u8>) {
                <$name as Codec<T>>::encode(message, buffer);
            }

            fn decode<T: Message>(bytes: &[u8]) -> io::Result<T> {
                $decode(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
            }
        }
    };
}

implement!(Bincode, <Bincode as Codec<T>>::decode);
implement!(Json, <Json as Codec<T>>::decode);
// The suite's codec reads through a reader, too, to refuse what follows a message. tokio-serde lets it pass.
implement!(MessagePack, rmp_serde::from_slice::<T>);

/// tokio-serde's JSON has an error type of its own.
fn one_type<T, E: Into<io::Error>>(result: Result<T, E>) -> io::Result<T> {
    result.map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchmarkRequest, BenchmarkResponse, ToClient};
    use bench_core::message::{PayloadMessage, benchmark_request, payload};

    fn check<F: Format>() {
        let replies = [
            BenchmarkResponse::Say(benchmark_request()),
            BenchmarkResponse::Exchange(PayloadMessage { body: payload(0) }),
            BenchmarkResponse::Exchange(PayloadMessage { body: payload(70_000) }),
        ];
        for (request_id, reply) in [3, 70_000, u64::MAX].into_iter().zip(replies) {
            let message: ToClient = tarpc::Response {
                request_id,
                message: Ok(reply),
            };
            let library = F::serialize(&message).unwrap();
            let mut suite = Vec::new();
            F::encode(&message, &mut suite);
            assert!(library == suite, "{}: the lanes differ", F::NAME);
            let by_suite: ToClient = F::decode(&library).unwrap();
            let by_library: ToClient = F::deserialize(&BytesMut::from(&suite[..])).unwrap();
            // The message has no equality of its own; its debug text shows every field.
            assert_eq!(format!("{by_suite:?}"), format!("{message:?}"));
            assert_eq!(format!("{by_library:?}"), format!("{message:?}"));
        }
        assert!(F::decode::<BenchmarkRequest>(b"\xff\xff").is_err());
        assert!(F::deserialize::<BenchmarkRequest>(&BytesMut::from(&b"\xff\xff"[..])).is_err());
    }

    #[test]
    fn both_lanes_put_the_same_bincode_on_the_wire() {
        check::<Bincode>();
    }

    #[test]
    fn both_lanes_put_the_same_json_on_the_wire() {
        check::<Json>();
    }

    #[test]
    fn both_lanes_put_the_same_message_pack_on_the_wire() {
        check::<MessagePack>();
    }
}
