//! How a message becomes a body.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::JSON_TYPE;

/// A message that has both codecs.
pub trait Message: prost::Message + Default + Serialize + DeserializeOwned {}

impl<M: prost::Message + Default + Serialize + DeserializeOwned> Message for M {}

/// A body that is no message, in the library's own words.
#[derive(Debug, thiserror::Error)]
#[error("{codec} cannot decode the {bytes} bytes: {reason}")]
pub struct Malformed {
    codec: &'static str,
    bytes: usize,
    reason: String,
}

/// One of Twirp's two codecs.
pub trait Codec: 'static {
    /// Second half of the wire's name.
    const NAME: &'static str;

    /// What requests and replies say they are.
    const CONTENT_TYPE: &'static str;

    /// The message's body.
    fn encode<M: Message>(message: &M) -> Bytes;

    /// Reads one message from a whole body. Fields of bytes may share the body's memory.
    ///
    /// # Errors
    /// When it is not one whole message.
    fn decode<M: Message>(body: Bytes) -> Result<M, Malformed>;
}

/// Protocol Buffers by prost.
pub struct Protobuf;

/// The JSON of Protocol Buffers by pbjson, over serde_json.
pub struct Json;

impl Codec for Protobuf {
    const NAME: &'static str = "protobuf";
    const CONTENT_TYPE: &'static str = "application/protobuf";

    fn encode<M: Message>(message: &M) -> Bytes {
        message.encode_to_vec().into()
    }

    fn decode<M: Message>(body: Bytes) -> Result<M, Malformed> {
        let bytes = body.len();
        M::decode(body).map_err(|error| malformed::<Self>(bytes, &error))
    }
}

impl Codec for Json {
    const NAME: &'static str = "json";
    const CONTENT_TYPE: &'static str = JSON_TYPE;

    fn encode<M: Message>(message: &M) -> Bytes {
        // Of the suite's messages no JSON is twice as long as the protobuf and these few bytes: memory is taken once. Another would grow it.
        let mut body = Vec::with_capacity(2 * message.encoded_len() + 64);
        serde_json::to_writer(&mut body, message).expect("memory takes what is written, and the messages have nothing that JSON refuses");
        body.into()
    }

    fn decode<M: Message>(body: Bytes) -> Result<M, Malformed> {
        serde_json::from_slice(&body).map_err(|error| malformed::<Self>(body.len(), &error))
    }
}

fn malformed<C: Codec>(bytes: usize, reason: &dyn std::fmt::Display) -> Malformed {
    Malformed {
        codec: C::NAME,
        bytes,
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchmarkMessage, PayloadMessage};
    use bench_core::message::{benchmark_request, payload};

    fn check<C: Codec>() {
        let request = BenchmarkMessage::from(benchmark_request());
        let body = C::encode(&request);
        assert_eq!(C::decode::<BenchmarkMessage>(body.clone()).unwrap(), request);
        let error = C::decode::<BenchmarkMessage>(body.slice(..300)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} cannot decode the 300 bytes", C::NAME)), "{error}");
        for length in [0, 1, 70_000] {
            let message = PayloadMessage { body: payload(length) };
            assert_eq!(C::decode::<PayloadMessage>(C::encode(&message)).unwrap(), message);
        }
    }

    #[test]
    fn protobuf_survives_the_round_trip_and_half_of_it_is_refused() {
        check::<Protobuf>();
    }

    #[test]
    fn json_survives_the_round_trip_and_half_of_it_is_refused() {
        check::<Json>();
    }
}
