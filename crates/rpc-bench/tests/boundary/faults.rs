//! Servers that fail, stall, lie or die on purpose: every call is counted once, and no run hangs.

use std::time::Duration;

use bench_core::failure::FailureKind;
use bench_core::record::Record;
use bench_core::verdict::Verdict;
use rustix::process::Signal;

use crate::common::fake::{Act, Fake, frame, refusal, right, wrong};
use crate::common::{LONG, Outcome, Server, stacks, wait_for};

/// A run in which calls failed: counted by kind, never in the times, and told by the exit code.
#[track_caller]
fn failed(outcome: &Outcome, kind: FailureKind) -> Record {
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let record = outcome.record();
    assert!(record.calls.adds_up(), "{:?}", record.calls);
    assert!(record.calls.failed.get(&kind).is_some_and(|&count| count > 0), "{:?}", record.calls);
    assert_eq!(record.service_time_ns.as_ref().map_or(0, |times| times.count), record.calls.ok);
    assert_eq!(
        record.failed_time_ns.as_ref().map_or(0, |times| times.count),
        record.calls.failed_total()
    );
    assert!(!record.failures.is_empty() && record.failures.len() <= 10);
    record
}

#[track_caller]
fn assert_no_throughput(record: &Record) {
    assert_eq!(
        (record.verdict, record.throughput_per_s),
        (Verdict::Invalid, None),
        "{:?}",
        record.verdict_reasons
    );
}

/// Its name, what it is counted as, and the answer.
type BadAnswer = (&'static str, FailureKind, fn() -> Act);

/// What a server answers when a reply is due that it does not want to give.
fn bad_answers() -> Vec<BadAnswer> {
    vec![
        ("refusal", FailureKind::ServerError, || Act::Bytes(refusal("not today"))),
        ("truncated frame", FailureKind::Reset, || Act::LastBytes(vec![0, 0, 2, 15, 1, 2, 3])),
        ("half a length", FailureKind::Reset, || Act::LastBytes(vec![0, 0])),
        ("closed", FailureKind::Reset, || Act::LastBytes(Vec::new())),
        ("garbage in a frame", FailureKind::Protocol, || Act::Bytes(frame(&[0xff; 527]))),
        ("frame over the limit", FailureKind::Protocol, || {
            Act::Bytes(vec![0x7f, 0xff, 0xff, 0xff])
        }),
        ("another protocol", FailureKind::Protocol, || {
            Act::LastBytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())
        }),
    ]
}

#[test]
fn bad_answers_in_the_window_are_counted_by_kind() {
    for (name, kind, bad) in bad_answers() {
        let fake = Fake::start(move |call, message| if call % 4 == 3 { bad() } else { right(message) });
        let outcome = fake.client(&["-n", "40", "-c", "2", "--warmup", "0"]);
        let record = failed(&outcome, kind);
        assert_eq!(record.calls.due, 40, "{name}");
        assert_eq!(record.calls.ok + record.calls.failed_total(), 40, "{name}: {:?}", record.calls);
        // Verification was call 0: of the 40 after it, every fourth is bad.
        assert_eq!(record.calls.failed_total(), 10, "{name}: {:?}", record.calls);
        assert_no_throughput(&record);
        // A caller whose last call was a bad one has no use for another connection.
        assert!((8..=10).contains(&record.reconnects), "{name}: {} reconnects", record.reconnects);
        assert_eq!(fake.calls(), record.connection_calls, "{name}");
    }
}

#[test]
fn bad_answers_to_the_verified_call_end_the_client_before_the_load() {
    for (name, _, bad) in bad_answers() {
        let fake = Fake::start(move |_, _| bad());
        let outcome = fake.client(&["-n", "40", "-c", "2"]);
        outcome.refused(1, &[&fake.addr.to_string(), "is it the same framework, wire and lane?"]);
        assert_eq!(fake.calls(), 1, "{name}");
    }
}

#[test]
fn a_server_that_only_refuses_is_a_report_without_figures() {
    let fake = Fake::start(|call, message| if call == 0 { right(message) } else { Act::Bytes(refusal("no")) });
    let outcome = fake.client(&["-d", "300ms", "-c", "2", "--warmup", "0"]);
    let record = failed(&outcome, FailureKind::ServerError);
    assert_eq!(record.calls.ok, 0);
    assert!(record.service_time_ns.is_none() && record.client.is_some());
    assert_no_throughput(&record);
    assert!(record.failures[0].contains("the peer refused: no"), "{:?}", record.failures);

    let fake = Fake::start(|call, message| if call == 0 { right(message) } else { Act::Bytes(refusal("no")) });
    let addr = fake.addr.to_string();
    let text = crate::common::client(
        "tcp-client",
        &["-s", &addr, "--stats", "none", "-d", "100ms", "-c", "2", "--warmup", "0"],
    );
    assert_eq!(text.code, Some(3), "{text:?}");
    assert!(
        text.stdout.contains("n/a") && text.stdout.contains("server_error"),
        "{}",
        text.stdout
    );
    assert!(!text.stdout.contains("NaN") && !text.stdout.contains("inf "), "{}", text.stdout);
}

#[test]
fn a_server_that_lies_is_found_out_before_the_load() {
    let check = |lie: fn(u64, bench_core::message::BenchmarkMessage) -> Act| {
        let fake = Fake::start(lie);
        fake.client(&["-n", "10"])
            .refused(1, &["changes the message", &fake.addr.to_string()]);
        assert_eq!(fake.calls(), 1);
    };
    check(|_, message| wrong(message));
    // The right reply to the usual message, whatever was asked.
    check(|_, _| right(bench_core::message::benchmark_request()));
    check(|_, _| Act::Bytes(frame(&[])));
    check(|_, message| Act::Bytes(frame(&prost::Message::encode_to_vec(&message))));
}

#[test]
fn one_wrong_reply_in_the_window_takes_the_throughput_away() {
    let fake = Fake::start(|call, message| if call == 5000 { wrong(message) } else { right(message) });
    let record = failed(&fake.client(&["-n", "8000", "-c", "2", "--warmup", "0"]), FailureKind::WrongReply);
    assert_eq!((record.calls.ok, record.calls.failed_total()), (7999, 1));
    assert_no_throughput(&record);
    assert!(
        record.verdict_reasons.iter().any(|reason| reason.contains("1 wrong replies")),
        "{:?}",
        record.verdict_reasons
    );
}

#[test]
fn a_server_that_never_answers_is_found_out_at_once() {
    let fake = Fake::start(|_, _| Act::Silence);
    let outcome = fake.client(&["-n", "10", "--timeout", "200ms"]);
    outcome.refused(1, &["no reply within the time limit"]);
    let outcome = fake.client(&["-n", "10"]);
    outcome.refused(1, &["no reply within the time limit"]);
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
}

#[test]
fn calls_under_way_at_the_end_are_neither_good_nor_bad() {
    let fake = Fake::start(|call, message| if call <= 10 { right(message) } else { Act::Silence });
    let outcome = fake.client(&["-d", "300ms", "-c", "3", "--warmup", "0"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let record = outcome.record();
    assert_eq!((record.calls.ok, record.calls.in_flight, record.calls.failed_total()), (10, 3, 0));
    assert!(record.calls.adds_up());
    assert_eq!(record.connection_calls, fake.calls());
    // Neither good nor bad, but not nothing: whoever reads the row must see it.
    assert_eq!(record.verdict, Verdict::Suspect);
    let reasons = record.verdict_reasons.join("; ");
    assert!(reasons.contains("3 calls outside the window failed"), "{reasons}");
    // The window, and the drain limit of 2 s, and room for a loaded machine.
    assert!(outcome.took < Duration::from_secs(15), "{:?}", outcome.took);
    assert!(outcome.took >= Duration::from_millis(2300), "{:?}", outcome.took);

    let fake = Fake::start(|call, message| if call <= 10 { right(message) } else { Act::Silence });
    let record = fake
        .client(&["-n", "100", "-d", "300ms", "-c", "3", "--warmup", "0", "--drain", "100ms"])
        .record();
    assert_eq!(
        (record.calls.due, record.calls.ok, record.calls.in_flight, record.calls.unsent),
        (100, 10, 3, 87)
    );
    assert!(record.calls.adds_up());
}

#[test]
fn calls_that_take_too_long_are_timeouts_and_their_connections_are_not_used_again() {
    let fake = Fake::start(|call, message| if call % 5 == 4 { Act::Silence } else { right(message) });
    let outcome = fake.client(&["-n", "20", "-c", "2", "--warmup", "0", "--timeout", "100ms"]);
    let record = failed(&outcome, FailureKind::Timeout);
    // On a loaded machine a good reply may be late as well.
    assert!(record.calls.failed_total() >= 4, "{:?}", record.calls);
    assert_eq!(record.calls.ok + record.calls.failed_total(), 20);
    assert!(record.failed_time_ns.as_ref().unwrap().min >= 100_000_000);
    // The last call of each caller may be one of them.
    assert!(record.reconnects >= 2, "{} reconnects", record.reconnects);
}

#[test]
fn a_server_that_cuts_all_connections_is_called_again() {
    let fake = Fake::start(|_, message| right(message));
    let client = fake.client_process(&["-d", "30s", "-c", "4", "--warmup", "0"]);
    wait_for("calls", || fake.calls() > 50);
    fake.cut_connections();
    let before = fake.calls();
    wait_for("calls after the cut", || fake.connections() >= 8 && fake.calls() > before + 50);
    client.signal(Signal::INT);
    let outcome = client.end();
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let record = outcome.record();
    assert_eq!((record.reconnects, record.callers_lost), (4, 0));
    assert!((1..=4).contains(&record.calls.failed_total()), "{:?}", record.calls);
    assert!(record.calls.adds_up() && record.partial);
    assert_eq!(record.wire_bytes_sent_per_call, None, "connections were lost in the window");
}

#[test]
fn a_server_that_dies_ends_the_run_after_bounded_attempts() {
    let fake = Fake::start(|_, message| right(message));
    let client = fake.client_process(&["-d", "50s", "-c", "4", "--warmup", "0"]);
    wait_for("calls", || fake.calls() > 50);
    fake.die();
    let outcome = client.end();
    let record = failed(&outcome, FailureKind::Reset);
    assert_eq!((record.callers_lost, record.reconnects), (4, 0));
    assert!(
        record.failures.iter().any(|text| text.contains("gave up reconnecting")),
        "{:?}",
        record.failures
    );
    assert!(outcome.took < Duration::from_secs(45), "{:?}", outcome.took);
}

#[test]
fn a_server_that_takes_connections_and_drops_them_sees_no_storm() {
    let fake = Fake::start(|call, message| if call <= 50 { right(message) } else { Act::LastBytes(Vec::new()) });
    let outcome = fake.client(&["-d", "50s", "-c", "4", "--warmup", "0"]);
    let record = failed(&outcome, FailureKind::Reset);
    // The first connection of each caller, and ten attempts that brought no reply.
    assert!(fake.connections() <= 4 * 11, "{} connections", fake.connections());
    assert_eq!(record.callers_lost, 4);
    assert_eq!(record.calls.ok, 50);
    assert!(outcome.took < Duration::from_secs(45), "{:?}", outcome.took);
}

#[test]
fn a_real_server_that_is_killed_is_counted_and_its_port_is_free() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let addr = server.info.addr.clone();
        let client = server.client_process(&["-d", "50s", "-c", "4", "--warmup", "0"]);
        server.wait_for_calls(100);
        server.process.signal(Signal::KILL);
        drop(server);
        let outcome = client.end();
        let record = failed(&outcome, FailureKind::Reset);
        assert!(
            record.calls.ok > 0 && record.server.is_none() && record.server_calls.is_none(),
            "{}",
            stack.framework
        );
        assert_eq!(record.callers_lost, 4, "{}", stack.framework);
        assert!(outcome.stderr.contains("warning"), "{}", outcome.stderr);
        assert!(outcome.took < Duration::from_secs(45), "{}: {:?}", stack.framework, outcome.took);

        let again = Server::start(&stack.server, &["-s", &addr, "--stats", "127.0.0.1:0"]);
        assert_eq!(again.info.addr, addr);
        crate::common::assert_good(&again.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
    }
}

#[test]
fn a_real_server_that_comes_back_is_called_again() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let addr = server.info.addr.clone();
        let client = server.client_process(&["-d", "50s", "-c", "4", "--warmup", "0"]);
        server.wait_for_calls(100);
        server.process.signal(Signal::KILL);
        drop(server);
        let again = Server::start(&stack.server, &["-s", &addr, "--stats", "127.0.0.1:0"]);
        again.wait_for_calls(100);
        client.signal(Signal::INT);
        let outcome = client.end();
        assert_eq!(outcome.code, Some(130), "{}: {outcome:?}", stack.framework);
        let record = outcome.record();
        // Each caller at most twice: the kernel may close a killed server's connections before its listener, which then takes one more.
        assert!(
            (1..=8).contains(&record.reconnects),
            "{}: {} reconnects",
            stack.framework,
            record.reconnects
        );
        assert!(record.calls.failed_total() > 0 && record.calls.adds_up(), "{:?}", record.calls);
        assert!(outcome.took < LONG);
    }
}
