//! What bound a row: each case made to happen on purpose, one after the other and beside no other test, since it is CPUs that they use up or
//! leave idle.

#![allow(clippy::unwrap_used)]

#[path = "../boundary/common/mod.rs"]
#[allow(dead_code, reason = "the tests of the boundary use the rest")]
mod common;
mod gate;
mod stats;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bench_core::failure::FailureKind;
use bench_core::record::{BoundBy, Record};
use bench_core::verdict::Verdict;
use bench_host::CpuSet;
use rustix::process::Signal;

use common::{Server, assert_good};
use gate::Pass;

/// Makes the tests take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs until one had the machine to itself, and that one was bound so.
#[track_caller]
fn bound_when_undisturbed(bound: BoundBy, mut run: impl FnMut() -> Record) {
    const TRIES: usize = 30;
    for _ in 0..TRIES {
        let record = run();
        if record.bound_by == bound {
            return;
        }
        assert!(
            record.was_disturbed(),
            "{} by {:?} and {:?}",
            record.bound_by,
            record.client,
            record.server
        );
        std::thread::sleep(Duration::from_millis(500));
    }
    panic!("others used the machine in all of {TRIES} runs: end what else is running");
}

/// With one CPU both sides share it, and that alone bounds them.
fn one_cpu() -> bool {
    CpuSet::allowed().unwrap().ids().len() < 2
}

#[test]
fn a_client_that_needs_more_cpu_than_its_server_is_the_client() {
    let _alone = alone();
    if one_cpu() {
        return;
    }
    // In every recorded run of gRPC with a connection per caller the client needs a fifth more.
    let server = Server::start("grpc-server", &[]);
    bound_when_undisturbed(BoundBy::Client, || {
        assert_good(&server.client(&["-c", "100", "-d", "500ms", "--warmup", "200ms"]))
    });
}

#[test]
fn a_server_that_has_used_its_cpu_is_the_server() {
    let _alone = alone();
    if one_cpu() {
        return;
    }
    // Its handlers are busy ten times as long as a call takes the client.
    let server = Server::start("tcp-server", &["--work", "100us"]);
    bound_when_undisturbed(BoundBy::Server, || {
        assert_good(&server.client(&["-c", "8", "-d", "500ms", "--warmup", "200ms"]))
    });
}

#[test]
fn two_sides_on_one_cpu_share_it() {
    let _alone = alone();
    let cpu = CpuSet::allowed().unwrap().ids()[0].to_string();
    let server = Server::start("tcp-server", &["--cpus", &cpu]);
    bound_when_undisturbed(BoundBy::SharedCpu, || {
        assert_good(&server.client(&["--cpus", &cpu, "-c", "50", "-d", "500ms", "--warmup", "200ms"]))
    });
}

#[test]
fn one_caller_without_a_delay_waits_for_wake_ups() {
    let _alone = alone();
    if one_cpu() {
        return;
    }
    let server = Server::start("tcp-server", &[]);
    bound_when_undisturbed(BoundBy::WakeUp, || {
        assert_good(&server.client(&["-c", "1", "-d", "500ms", "--warmup", "100ms"]))
    });
}

#[test]
fn callers_that_wait_for_the_delay_are_bound_by_it() {
    let _alone = alone();
    let server = Server::start("tcp-server", &["--delay", "100"]);
    let record = assert_good(&server.client(&["-c", "5", "-d", "2s", "--warmup", "100ms"]));
    assert_eq!(record.bound_by, BoundBy::Delay, "{:?}", record.theoretical_share);
    // All callers were there all the time, and in calls nearly all of it.
    let active = record.callers_active_s.unwrap();
    assert!((active - 5.0 * record.elapsed_s).abs() < 1e-6, "{active}");
    let times = record.service_time_ns.unwrap();
    let in_calls = times.mean * times.count as f64 / 1e9 + record.in_flight_age_s.unwrap();
    assert!((0.9..1.1).contains(&(in_calls / active)), "{in_calls} of {active} s");
    assert!(record.in_flight_age_s.unwrap() > 0.0);
}

#[test]
fn a_refusal_with_429_is_a_limit() {
    let _alone = alone();
    let server = Server::start("twirp-server", &[]);
    let (addr, said) = gate::start(&server, |call| if call % 4 == 3 { Pass::Refused } else { Pass::Through });
    let args = [
        "-s",
        &addr.to_string(),
        "--stats",
        &said.to_string(),
        "-c",
        "4",
        "-n",
        "100",
        "--warmup",
        "0",
    ];
    let outcome = server.client(&args);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    let record = outcome.record();
    assert_eq!(record.calls.failed.get(&FailureKind::Limit), Some(&25), "{:?}", record.calls);
    assert_eq!((record.bound_by, record.verdict), (BoundBy::Limit, Verdict::Invalid));
}

#[test]
fn a_pool_before_idle_sides_is_a_limit() {
    let _alone = alone();
    let server = Server::start("twirp-server", &["--delay", "20"]);
    let (addr, said) = gate::start(&server, |_| Pass::OneAtATime);
    let args = [
        "-s",
        &addr.to_string(),
        "--stats",
        &said.to_string(),
        "-c",
        "10",
        "-d",
        "2s",
        "--warmup",
        "0",
    ];
    bound_when_undisturbed(BoundBy::Limit, || {
        let record = assert_good(&server.client(&args));
        assert!(record.theoretical_share.unwrap() < 0.2, "{:?}", record.theoretical_share);
        record
    });
}

#[test]
fn too_few_callers_for_a_rate_are_a_limit() {
    let _alone = alone();
    let server = Server::start("tcp-server", &["--delay", "20"]);
    bound_when_undisturbed(BoundBy::Limit, || {
        let record = assert_good(&server.client(&["-r", "2000", "-d", "1s", "-c", "10", "--warmup", "0"]));
        assert!(record.calls.unsent > 1000, "{:?}", record.calls);
        record
    });
    // A rate that was kept is bound by nothing.
    let kept = assert_good(&server.client(&["-r", "20", "-d", "1s", "-c", "10", "--warmup", "0"]));
    assert!(matches!(kept.bound_by, BoundBy::Unknown | BoundBy::Generator), "{}", kept.bound_by);
    assert_eq!(kept.bound_by == BoundBy::Generator, kept.pacer_lag_ns.unwrap().p99 >= 1_000_000);
}

/// The record of a client that is stopped for a while in its window of a second. It has so many callers that most are free at that instant,
/// however slow other work makes the server: were they in calls, it would look like too few of them.
fn stopped_for(server: &Server, time: Duration) -> Record {
    let already = server.counters().calls;
    let client = server.client_process(&["-r", "500", "-d", "1s", "-c", "100", "--warmup", "0"]);
    server.wait_for_calls(already + 50);
    client.signal(Signal::STOP);
    std::thread::sleep(time);
    client.signal(Signal::CONT);
    let record = client.end().record();
    assert_eq!(
        (record.bound_by, record.verdict),
        (BoundBy::Generator, Verdict::Suspect),
        "{:?}",
        record.verdict_reasons
    );
    record
}

#[test]
fn a_client_that_stops_by_itself_is_the_generator() {
    let _alone = alone();
    let server = Server::start("tcp-server", &[]);
    // Too short to be called a stand-still: its lag tells.
    let late = stopped_for(&server, Duration::from_millis(100));
    assert!(
        late.verdict_reasons[0].contains("late by its own doing"),
        "{:?}",
        late.verdict_reasons
    );
    // Until after the window: then it made too few calls.
    let missed = stopped_for(&server, Duration::from_millis(2000));
    assert!(missed.calls.unsent > 100, "{:?}", missed.calls);
}

/// All of its callers may be in calls then, and what it finds when it goes on looks like slow replies.
#[test]
fn a_client_that_stood_still_is_suspect_in_a_closed_loop_too() {
    let _alone = alone();
    let server = Server::start("tcp-server", &["--delay", "20"]);
    let run = |pause: Duration| {
        let already = server.counters().calls;
        let client = server.client_process(&["-c", "4", "-d", "2s", "--warmup", "0"]);
        server.wait_for_calls(already + 20);
        client.signal(Signal::STOP);
        std::thread::sleep(pause);
        client.signal(Signal::CONT);
        let record = client.end().record();
        record.verdict_reasons.iter().any(|reason| reason.contains("stood still"))
    };
    assert!(run(Duration::from_millis(700)));
    assert!(!run(Duration::ZERO));
}

#[test]
fn the_loop_alone_is_faster_than_any_call() {
    let _alone = alone();
    let server = Server::start("tcp-server", &[]);
    let record = assert_good(&server.client(&["-c", "10", "-d", "200ms", "--warmup", "0"]));
    let ceiling = record.null_ceiling_per_s.unwrap();
    assert!(ceiling > 2.0 * record.throughput_per_s.unwrap(), "{ceiling}");
}
