//! The 581-byte message that the ancestors measured, and what a handler answers.

/// Types generated from `proto/benchmark.proto`.
#[allow(missing_docs)]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/rpcbench.rs"));
}

pub use proto::{BenchmarkMessage, PayloadMessage};

/// Text of every string field: 18 characters, 54 bytes of UTF-8.
pub const TEXT: &str = "许多往事在眼前一幕一幕，变的那麼模糊";
/// Value of every integer field.
pub const INTEGER: i32 = 100_000;
/// Bytes of the request in protobuf.
pub const REQUEST_BYTES: usize = 581;
/// Bytes of the reply in protobuf.
pub const REPLY_BYTES: usize = 527;

/// What the echo service needs of a message. It works on each library's own type, so that no conversion hides in a call.
pub trait EchoMessage: Clone + PartialEq {
    /// Turns the request into its reply: field1 = "OK", field2 = 100, all else as it came.
    fn answer(&mut self);

    /// Changes three fields (an integer, an optional integer and a string) to values made from `seed`, so that a server that sends a
    /// canned reply, or another call's, is found out. Two seeds below 2³¹ make two messages that differ in the integer and in the string.
    fn mutate(&mut self, seed: u64);
}

/// What [`EchoMessage::mutate`] writes into three fields, the same for every library's type of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// A required integer.
    pub field3: i32,
    /// An optional integer.
    pub field280: i32,
    /// A string.
    pub field4: String,
}

impl Mutation {
    /// Made from the seed.
    pub fn of(seed: u64) -> Self {
        let low = (seed & 0x7fff_ffff) as i32;
        Self {
            field3: low - 1000,
            field280: low ^ 7,
            field4: format!("seed {seed}"),
        }
    }
}

impl EchoMessage for BenchmarkMessage {
    fn answer(&mut self) {
        // Reuses the string's memory: the reply costs no allocation of ours.
        self.field1.clear();
        self.field1.push_str("OK");
        self.field2 = 100;
    }

    fn mutate(&mut self, seed: u64) {
        let mutation = Mutation::of(seed);
        self.field3 = mutation.field3;
        self.field280 = Some(mutation.field280);
        self.field4 = Some(mutation.field4);
    }
}

/// The benchmark's request: every string [`TEXT`], every bool true, every integer [`INTEGER`], `field5` empty.
pub fn benchmark_request() -> BenchmarkMessage {
    let text = || Some(TEXT.to_owned());
    let integer = Some(INTEGER);
    let yes = Some(true);
    BenchmarkMessage {
        field1: TEXT.to_owned(),
        field2: INTEGER,
        field3: INTEGER,
        field4: text(),
        field5: Vec::new(),
        field6: integer,
        field7: text(),
        field9: text(),
        field12: yes,
        field13: yes,
        field14: yes,
        field16: integer,
        field17: yes,
        field18: text(),
        field22: Some(i64::from(INTEGER)),
        field23: integer,
        field24: yes,
        field25: integer,
        field29: integer,
        field30: yes,
        field59: yes,
        field60: integer,
        field67: integer,
        field68: integer,
        field78: yes,
        field80: yes,
        field81: yes,
        field100: integer,
        field101: integer,
        field102: text(),
        field103: text(),
        field104: integer,
        field128: integer,
        field129: text(),
        field130: integer,
        field131: integer,
        field150: integer,
        field271: integer,
        field272: integer,
        field280: integer,
    }
}

/// The reply to [`benchmark_request`].
pub fn benchmark_reply() -> BenchmarkMessage {
    let mut message = benchmark_request();
    message.answer();
    message
}

/// `len` bytes in which every position differs from its neighbours, for the payload service.
pub fn payload(len: usize) -> bytes::Bytes {
    // 251 is prime: the pattern does not line up with a power-of-two buffer.
    (0..len).map(|i| (i % 251) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message as _;

    #[test]
    fn request_and_reply_have_the_ancestors_sizes() {
        assert_eq!(TEXT.len(), 54);
        assert_eq!(TEXT.chars().count(), 18);
        assert_eq!(benchmark_request().encoded_len(), REQUEST_BYTES);
        assert_eq!(benchmark_reply().encoded_len(), REPLY_BYTES);
    }

    #[test]
    fn a_mutated_message_differs_in_three_fields_and_is_answered_mutated() {
        let mut message = benchmark_request();
        message.mutate(42);
        assert_ne!(message, benchmark_request());
        let mut reply = message.clone();
        reply.answer();
        assert_eq!(reply.field4.as_deref(), Some("seed 42"));
        assert_ne!(reply, benchmark_reply());
    }
}
