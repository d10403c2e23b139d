//! Opaque bytes in serde formats: base64 where people read the format (JSON), bytes as they are elsewhere.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserializer, Serializer};

/// For `#[serde(with)]`.
///
/// # Errors
/// The format's own.
pub fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    match serializer.is_human_readable() {
        true => serializer.serialize_str(&STANDARD.encode(bytes)),
        false => serializer.serialize_bytes(bytes),
    }
}

/// For `#[serde(with)]`.
///
/// # Errors
/// When the text is no base64, or the format's own.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    match deserializer.is_human_readable() {
        true => deserializer.deserialize_str(Base64),
        false => deserializer.deserialize_byte_buf(Raw),
    }
}

struct Base64;

impl Visitor<'_> for Base64 {
    type Value = Bytes;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text in base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
        STANDARD.decode(text).map(Bytes::from).map_err(E::custom)
    }
}

struct Raw;

impl<'de> Visitor<'de> for Raw {
    type Value = Bytes;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes::copy_from_slice(bytes))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
        Ok(bytes.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Bytes, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes.into())
    }
}
