//! Ctrl-C, SIGTERM and a closed stdin.

use std::time::Duration;

use bench_core::verdict::Verdict;
use rustix::process::Signal;

use crate::common::fake::{Act, Fake, right};
use crate::common::{Server, assert_good, schema, stacks};

#[test]
fn a_server_stops_in_order_at_a_signal_or_when_stdin_closes() {
    for stack in stacks() {
        let check = |stop: &dyn Fn(Server) -> (crate::common::Outcome, bench_core::server::ServerCounters)| {
            let server = Server::start(&stack.server, &[]);
            assert_good(&server.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
            let (outcome, stopped) = stop(server);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
            assert_eq!((stopped.calls, stopped.connections_accepted), (11, 2));
            assert!(stopped.peak_rss_bytes > 0);
        };
        check(&|server| server.stop(Signal::INT));
        check(&|server| server.stop(Signal::TERM));
        check(&Server::close_stdin);
    }
}

#[test]
fn a_server_stops_with_clients_connected_and_calls_under_way() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &["--delay", "50"]);
        let client = server.client_process(&["-d", "50s", "-c", "8", "--warmup", "0"]);
        server.wait_for_calls(8);
        let (outcome, stopped) = server.stop(Signal::TERM);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(stopped.calls >= 8);
        let outcome = client.end();
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(outcome.record().calls.adds_up());
    }
}

#[test]
fn the_first_signal_ends_the_window_and_keeps_what_was_measured() {
    for stack in stacks() {
        for signal in [Signal::INT, Signal::TERM] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("record.json");
            let server = Server::start(&stack.server, &[]);
            let client = server.client_process(&["-d", "50s", "-c", "3", "--warmup", "0", "--record", path.to_str().unwrap()]);
            server.wait_for_calls(100);
            client.signal(signal);
            let outcome = client.end();
            assert_eq!(outcome.code, Some(130), "{outcome:?}");
            let record = outcome.record();
            assert!(record.partial && record.calls.ok > 0 && record.calls.adds_up());
            assert_eq!(record.verdict, Verdict::Suspect);
            assert!(record.verdict_reasons.iter().any(|reason| reason == "interrupted"));
            assert_eq!(record.server_calls, Some(record.connection_calls));
            assert!(record.elapsed_s < 50.0 && outcome.took < Duration::from_secs(40));
            assert_eq!(schema::record(&std::fs::read_to_string(&path).unwrap()), record);
        }
    }
}

#[test]
fn a_signal_in_a_counted_run_leaves_the_rest_unsent() {
    let server = Server::start("tcp-server", &["--delay", "2"]);
    let client = server.client_process(&["-n", "1000000", "-c", "3", "--warmup", "0"]);
    server.wait_for_calls(20);
    client.signal(Signal::INT);
    let outcome = client.end();
    let record = outcome.record();
    assert_eq!((outcome.code, record.calls.due, record.partial), (Some(130), 1_000_000, true));
    assert!(record.calls.adds_up() && record.calls.unsent > 0, "{:?}", record.calls);
}

#[test]
fn a_signal_in_the_warm_up_ends_it() {
    let server = Server::start("tcp-server", &[]);
    let client = server.client_process(&["-c", "3", "--warmup", "50s"]);
    server.wait_for_calls(20);
    client.signal(Signal::INT);
    let outcome = client.end();
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(outcome.took < Duration::from_secs(40));
    // Nothing was measured: either no record, or one that says so.
    if !outcome.stdout.is_empty() {
        assert!(outcome.record().partial);
    }
}

#[test]
fn the_second_signal_ends_the_client_at_once() {
    let fake = Fake::start(|call, message| if call == 0 { right(message) } else { Act::Silence });
    let mut client = fake.client_process(&["-d", "50s", "--drain", "50s", "--timeout", "100s", "-c", "2", "--warmup", "0"]);
    crate::common::wait_for("calls", || fake.calls() == 3);
    // Two that come together count as one, so: until it ends.
    crate::common::wait_for("the client to end", || {
        client.signal(Signal::INT);
        std::thread::sleep(Duration::from_millis(20));
        client.has_ended()
    });
    let outcome = client.end();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(130), ""));
    assert!(outcome.took < Duration::from_secs(40), "{:?}", outcome.took);
}

#[test]
fn a_held_client_ends_at_a_signal() {
    let server = Server::start("tcp-server", &[]);
    let mut client = server.client_process(&["--hold", "-c", "2", "--warmup", "0"]);
    client.write_line("{\"slice_ms\": 20}");
    schema::record(&client.next_line().unwrap());
    client.signal(Signal::INT);
    let outcome = client.end();
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
}
