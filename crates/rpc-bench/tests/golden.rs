//! The message's bytes, against those that another protobuf implementation made (`scripts/make-golden.py`).

#![allow(clippy::unwrap_used)]

use bench_core::codec::{Codec, Protobuf};
use bench_core::message::{BenchmarkMessage, REPLY_BYTES, REQUEST_BYTES, benchmark_reply, benchmark_request};
use prost::Message as _;

const REQUEST: &[u8] = include_bytes!("data/request.bin");
const REPLY: &[u8] = include_bytes!("data/reply.bin");

#[track_caller]
fn check(message: &BenchmarkMessage, golden: &[u8], size: usize) {
    assert_eq!(golden.len(), size);
    assert_eq!(message.encode_to_vec(), golden, "by prost");
    let mut encoded = Vec::new();
    Protobuf::encode(message, &mut encoded);
    assert_eq!(encoded, golden, "by the suite's codec");
    let decoded: BenchmarkMessage = Protobuf::decode(golden).unwrap();
    assert_eq!(decoded, *message);
}

#[test]
fn the_request_is_581_bytes_and_the_same_as_another_implementations() {
    assert_eq!(REQUEST_BYTES, 581);
    check(&benchmark_request(), REQUEST, 581);
}

#[test]
fn the_reply_is_527_bytes_and_the_same_as_another_implementations() {
    assert_eq!(REPLY_BYTES, 527);
    check(&benchmark_reply(), REPLY, 527);
}

#[test]
fn no_prefix_of_a_message_is_taken_for_the_whole() {
    // The last fields are optional: where a cut falls between two fields, a shorter message decodes, and it is another one.
    for cut in 0..REQUEST.len() {
        if let Ok(message) = <Protobuf as Codec<BenchmarkMessage>>::decode(&REQUEST[..cut]) {
            assert_ne!(message, benchmark_request(), "cut at {cut}");
        }
    }
}
