//! Allocations per call, in builds that count them:
//! `cargo build -p tcp-server -p tcp-client --features bench-core/count-allocations`
//! `cargo test -p bench-load --features count-allocations --test allocations`.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use bench_core::allocator::allocations;
use bench_core::record::Record;
use bench_core::server::ServerLine;
use bench_host::CpuSet;
use bench_load::null;

/// The tests of a process run at once, and one of them counts what the whole process does.
static ALONE: Mutex<()> = Mutex::new(());

/// Allocations while the loop makes this many calls, starting the thread and its runtime included.
fn allocations_of(calls: u64) -> u64 {
    let counted = || allocations().expect("this build counts");
    let before = counted();
    null::run(calls, &CpuSet::allowed().unwrap()).unwrap();
    counted() - before
}

/// A program of the same build, which lies beside the folder of this test's own.
fn program(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.parent().and_then(|deps| deps.parent()).unwrap().join(name);
    assert!(path.exists(), "build {name} first, as the head of this file says");
    Command::new(path)
}

#[test]
fn a_million_more_calls_allocate_no_more() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    allocations_of(1_000);
    let (few, many) = (allocations_of(1_000), allocations_of(1_001_000));
    // Lazily made parts of a thread may differ by a handful; one allocation in a thousand calls would be a thousand.
    assert!(many <= few + 20, "{few} allocations for 1,000 calls, {many} for 1,001,000");
}

#[test]
fn a_record_has_the_allocations_per_call_of_both_sides() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut server = program("tcp-server")
        .args(["--addr", "127.0.0.1:0", "--output", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let ServerLine::Ready(info) = serde_json::from_str(&ready).unwrap() else {
        panic!("not ready: {ready}");
    };
    let stats = info.stats.unwrap();
    let client = program("tcp-client")
        .args([
            "--addr", &info.addr, "--stats", &stats, "-c", "2", "-n", "20000", "--output", "json",
        ])
        .output()
        .unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let text = String::from_utf8(client.stdout).unwrap();
    let record: Record = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    for side in [record.client, record.server] {
        let per_call = side.unwrap().allocations_per_call.expect("both programs count");
        // The message has eight texts: the client clones and decodes them, the server decodes them.
        assert!((8.0..20.0).contains(&per_call), "{per_call}");
    }
    let said = record.verdict_reasons.iter().any(|reason| reason.contains("counts allocations"));
    assert!(said, "{:?}", record.verdict_reasons);
}
