//! The message's bytes, against those that another implementation of Thrift made (`make-golden.py`), and the committed code against
//! what the compiler makes.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use bench_core::message::{EchoMessage as _, benchmark_reply, benchmark_request};
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TCompactInputProtocol, TCompactOutputProtocol, TInputProtocol, TOutputProtocol,
    TSerializable as _,
};
use thrift_api::BenchmarkMessage;

fn binary(message: &BenchmarkMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(message, &mut TBinaryOutputProtocol::new(&mut bytes, true));
    bytes
}

fn compact(message: &BenchmarkMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(message, &mut TCompactOutputProtocol::new(&mut bytes));
    bytes
}

fn write(message: &BenchmarkMessage, protocol: &mut dyn TOutputProtocol) {
    message.write_to_out_protocol(protocol).unwrap();
}

fn read(mut protocol: impl TInputProtocol) -> thrift::Result<BenchmarkMessage> {
    BenchmarkMessage::read_from_in_protocol(&mut protocol)
}

#[track_caller]
fn check(message: &BenchmarkMessage, golden: [&[u8]; 2], sizes: [usize; 2]) {
    assert_eq!(golden.map(<[u8]>::len), sizes);
    assert_eq!(binary(message), golden[0]);
    assert_eq!(compact(message), golden[1]);
    assert_eq!(read(TBinaryInputProtocol::new(golden[0], true)).unwrap(), *message);
    assert_eq!(read(TCompactInputProtocol::new(golden[1])).unwrap(), *message);
}

const REQUEST: [&[u8]; 2] = [
    include_bytes!("data/request.binary.bin"),
    include_bytes!("data/request.compact.bin"),
];
const REPLY: [&[u8]; 2] = [include_bytes!("data/reply.binary.bin"), include_bytes!("data/reply.compact.bin")];

#[test]
fn the_request_is_680_bytes_in_binary_and_552_in_compact_and_the_same_as_another_implementations() {
    check(&benchmark_request().into(), REQUEST, [680, 552]);
}

#[test]
fn the_reply_is_the_same_as_another_implementations() {
    let mut reply = BenchmarkMessage::from(benchmark_request());
    reply.answer();
    assert_eq!(reply, benchmark_reply().into());
    check(&reply, REPLY, [628, 499]);
}

#[test]
fn no_prefix_of_a_message_is_a_message() {
    for cut in 0..REQUEST[0].len() {
        assert!(read(TBinaryInputProtocol::new(&REQUEST[0][..cut], true)).is_err(), "cut at {cut}");
        if let Some(bytes) = REQUEST[1].get(..cut) {
            assert!(
                read(TCompactInputProtocol::new(bytes)).is_err() || cut == REQUEST[1].len(),
                "compact cut at {cut}"
            );
        }
    }
}

#[test]
fn a_list_that_is_not_empty_is_kept_with_its_signs() {
    let mut message = benchmark_request();
    message.field5 = vec![0, 1, u64::MAX];
    assert_eq!(BenchmarkMessage::from(message).field5, Some(vec![0, 1, -1]));
}

/// Where the compiler that made the committed code is installed; elsewhere there is nothing to compare.
#[test]
fn the_committed_code_is_what_the_compiler_makes() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read_to_string(here.join("src/benchmark.rs")).unwrap();
    let Ok(version) = Command::new("thrift").arg("--version").output() else {
        return;
    };
    let version = String::from_utf8(version.stdout).unwrap();
    let number = version.trim().rsplit(' ').next().unwrap();
    if !committed.contains(&format!("Thrift Compiler ({number})")) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(here.join("regenerate.sh")).arg(folder.path()).status().unwrap();
    assert!(made.success());
    let made = std::fs::read_to_string(folder.path().join("benchmark.rs")).unwrap();
    assert!(made == committed, "src/benchmark.rs is not what regenerate.sh makes: run it");
}
