//! The formats that the serde stacks bring, over plain frames: what a framework costs beyond its codec shows against these.

use std::io::Cursor;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, DecodeError};

/// JSON by serde_json: plain numbers, bytes in base64.
pub struct Json;

/// MessagePack by rmp-serde: a struct is an array of its fields, the library's default.
pub struct MessagePack;

/// bincode 2 with its standard configuration (little endian, variable-length integers).
pub struct Bincode;

/// What a decoded message may take: bincode would allocate for a length before it looks whether so much follows.
const DECODED_LIMIT: usize = 16 * 1024 * 1024;

/// Memory takes whatever is written, and the messages have nothing that a format could refuse (such as a map with keys of its own).
const CANNOT_FAIL: &str = "a message of numbers, texts and bytes can be written to memory in every format";

impl<M: Serialize + DeserializeOwned> Codec<M> for Json {
    const NAME: &'static str = "json";

    fn encode(message: &M, buffer: &mut Vec<u8>) {
        serde_json::to_writer(buffer, message).expect(CANNOT_FAIL);
    }

    fn decode(bytes: &[u8]) -> Result<M, DecodeError> {
        serde_json::from_slice(bytes).map_err(|error| failure(<Self as Codec<M>>::NAME, bytes, &error))
    }
}

impl<M: Serialize + DeserializeOwned> Codec<M> for MessagePack {
    const NAME: &'static str = "msgpack";

    fn encode(message: &M, buffer: &mut Vec<u8>) {
        rmp_serde::encode::write(buffer, message).expect(CANNOT_FAIL);
    }

    fn decode(bytes: &[u8]) -> Result<M, DecodeError> {
        let name = <Self as Codec<M>>::NAME;
        // The reader that tokio-serde takes too, and the only one that says how far it came.
        let mut decoder = rmp_serde::Deserializer::new(Cursor::new(bytes));
        let message = M::deserialize(&mut decoder).map_err(|error| failure(name, bytes, &error))?;
        match bytes.len() as u64 - decoder.position() {
            0 => Ok(message),
            left => Err(failure(name, bytes, &format_args!("{left} bytes follow the message"))),
        }
    }
}

impl<M: Serialize + DeserializeOwned> Codec<M> for Bincode {
    const NAME: &'static str = "bincode";

    fn encode(message: &M, buffer: &mut Vec<u8>) {
        bincode::serde::encode_into_std_write(message, buffer, bincode::config::standard()).expect(CANNOT_FAIL);
    }

    fn decode(bytes: &[u8]) -> Result<M, DecodeError> {
        let name = <Self as Codec<M>>::NAME;
        let decoded = bincode::serde::decode_from_slice(bytes, bincode::config::standard().with_limit::<DECODED_LIMIT>());
        match decoded.map_err(|error| failure(name, bytes, &error))? {
            (message, length) if length == bytes.len() => Ok(message),
            (_, length) => {
                let left = bytes.len() - length;
                Err(failure(name, bytes, &format_args!("{left} bytes follow the message")))
            }
        }
    }
}

fn failure(codec: &'static str, bytes: &[u8], reason: &dyn std::fmt::Display) -> DecodeError {
    DecodeError {
        codec,
        bytes: bytes.len(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{BenchmarkMessage, PayloadMessage, benchmark_request, payload};

    fn check<C: Codec<BenchmarkMessage> + Codec<PayloadMessage>>(request_bytes: usize) {
        let request = benchmark_request();
        let mut bytes = Vec::new();
        C::encode(&request, &mut bytes);
        assert_eq!(bytes.len(), request_bytes);
        let decoded: BenchmarkMessage = C::decode(&bytes).unwrap();
        assert_eq!(decoded, request);
        let half: Result<BenchmarkMessage, _> = C::decode(&bytes[..bytes.len() / 2]);
        assert!(half.unwrap_err().to_string().contains("cannot decode"));
        bytes.push(7);
        let more: Result<BenchmarkMessage, _> = C::decode(&bytes);
        assert!(more.unwrap_err().to_string().contains("cannot decode"));
        for length in [0, 1, 581, 70_000] {
            let message = PayloadMessage { body: payload(length) };
            let mut bytes = Vec::new();
            C::encode(&message, &mut bytes);
            let decoded: PayloadMessage = C::decode(&bytes).unwrap();
            assert_eq!(decoded, message);
        }
    }

    #[test]
    fn json_survives_the_round_trip() {
        check::<Json>(1062);
    }

    #[test]
    fn message_pack_survives_the_round_trip() {
        check::<MessagePack>(567);
    }

    #[test]
    fn bincode_survives_the_round_trip() {
        check::<Bincode>(592);
    }

    #[test]
    fn a_length_far_beyond_the_input_takes_no_memory() {
        // A text of 2^60 bytes, in each format's own words.
        let bincode = [&[253][..], &(1_u64 << 60).to_le_bytes(), b"abc"].concat();
        let decoded: Result<BenchmarkMessage, _> = Bincode::decode(&bincode);
        assert!(decoded.is_err());
        let decoded: Result<PayloadMessage, _> = Bincode::decode(&bincode);
        assert!(decoded.is_err());
        let message_pack = [0x91, 0xdb, 0xff, 0xff, 0xff, 0xff, b'a'];
        let decoded: Result<BenchmarkMessage, _> = MessagePack::decode(&message_pack);
        assert!(decoded.is_err());
    }
}
