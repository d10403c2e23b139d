//! Protocol Buffers by prost, the codec that tonic uses too.

use super::{Codec, DecodeError};

/// Protocol Buffers.
pub struct Protobuf;

impl<M: prost::Message + Default> Codec<M> for Protobuf {
    const NAME: &'static str = "protobuf";

    fn encode(message: &M, buffer: &mut Vec<u8>) {
        message.encode_raw(buffer);
    }

    fn decode(bytes: &[u8]) -> Result<M, DecodeError> {
        M::decode(bytes).map_err(|error| DecodeError {
            codec: <Self as Codec<M>>::NAME,
            bytes: bytes.len(),
            reason: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{BenchmarkMessage, benchmark_request};

    #[test]
    fn a_message_survives_the_round_trip_and_half_of_one_is_refused() {
        let request = benchmark_request();
        let mut bytes = Vec::new();
        Protobuf::encode(&request, &mut bytes);
        let decoded: BenchmarkMessage = Protobuf::decode(&bytes).unwrap();
        assert_eq!(decoded, request);
        let error = <Protobuf as Codec<BenchmarkMessage>>::decode(&bytes[..300]).unwrap_err();
        assert!(error.to_string().starts_with("protobuf cannot decode the 300 bytes"));
    }
}
