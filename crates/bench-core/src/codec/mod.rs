//! How a message becomes bytes, for the stacks that bring no codec of their own (raw TCP).

pub mod payload_bytes;
mod protobuf;
mod serde_formats;

pub use protobuf::Protobuf;
pub use serde_formats::{Bincode, Json, MessagePack};

/// What was wrong with bytes that should have been a message.
#[derive(Debug, thiserror::Error)]
#[error("{codec} cannot decode the {bytes} bytes: {reason}")]
pub struct DecodeError {
    /// Name of the codec.
    pub codec: &'static str,
    /// Length of the input.
    pub bytes: usize,
    /// The library's own words.
    pub reason: String,
}

/// Encodes and decodes messages of type `M`. A codec is a zero-sized type, named in the wire.
pub trait Codec<M>: 'static {
    /// Second half of the wire's name.
    const NAME: &'static str;

    /// Appends the message to `buffer`.
    fn encode(message: &M, buffer: &mut Vec<u8>);

    /// Reads one message from exactly these bytes.
    ///
    /// # Errors
    /// When they are not one whole message.
    fn decode(bytes: &[u8]) -> Result<M, DecodeError>;
}
