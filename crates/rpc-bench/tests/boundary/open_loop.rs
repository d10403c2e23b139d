//! The open loop: every due call in one bucket, nothing early, and what a slow server does to response time and to service time.

use std::time::Duration;

use bench_core::record::{Mode, Record};
use bench_core::verdict::Verdict;
use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Outcome, Server, assert_good, schema, stacks};

/// What holds for every record of an open loop, whatever became of its calls.
#[track_caller]
fn assert_open(record: &Record, due: u64) {
    assert_eq!(record.mode, Mode::Open);
    assert_eq!(record.calls.due, due, "{:?}", record.calls);
    assert!(record.calls.adds_up(), "{:?}", record.calls);
    let [service, response, lag, pacer_lag] = [
        &record.service_time_ns,
        &record.response_time_ns,
        &record.send_lag_ns,
        &record.pacer_lag_ns,
    ]
    .map(|times| times.as_ref().unwrap());
    for times in [service, response, lag, pacer_lag] {
        assert_eq!(times.count, record.calls.ok);
    }
    // Due, made, ended: the mean times add up, and the pacer's lag is part of the send lag.
    assert!((response.mean - service.mean - lag.mean).abs() < 1.0, "{response:?}");
    assert!(pacer_lag.mean <= lag.mean);
    assert!(response.max >= service.max && response.min >= service.min);
}

fn open(server: &Server, args: &[&str]) -> Outcome {
    server.client(&[&["--warmup", "0"], args].concat())
}

#[test]
fn every_stack_makes_the_calls_that_are_due_and_no_others() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let record = assert_good(&open(&server, &["-r", "500", "-d", "1s", "-c", "20", "--drain", "5s"]));
        assert_open(&record, 500);
        assert_eq!((record.rate_per_s, record.arrival.as_deref()), (Some(500.0), Some("constant")));
        // One more for the verified call.
        assert_eq!(record.server_calls, Some(record.connection_calls));
        assert!(record.connection_calls <= 501, "{}", record.connection_calls);
        // In turn: no caller is left out.
        let callers = record.calls_per_caller.unwrap();
        assert!(callers.min > 0, "{}: {callers:?}", stack.framework);
    }
}

#[test]
fn rates_below_one_and_off_any_timers_grid_are_met() {
    let server = Server::start("tcp-server", &[]);
    let check = |rate: &str, seconds: &str, due: u64| {
        let record = assert_good(&open(&server, &["-r", rate, "-d", seconds, "-c", "10"]));
        assert_open(&record, due);
    };
    check("0.5", "4s", 2);
    check("78", "1s", 78);
    check("335", "1s", 335);
    check("33333", "300ms", 10_000);
}

#[test]
fn a_warm_up_at_a_low_rate_calls_once_on_each_connection() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let record = assert_good(&server.client(&["-r", "50", "-d", "500ms", "-c", "30", "--warmup", "200ms"]));
        assert_open(&record, 25);
        // The verified call, one of each caller, and what was due in the warm-up, which may wait for the callers.
        let made = record.connection_calls - record.calls.ok - record.calls.in_flight;
        assert!((31..60).contains(&made), "{}: {made}", stack.framework);
    }
}

#[test]
fn counted_and_poisson_runs_make_exactly_the_calls() {
    let server = Server::start("tcp-server", &[]);
    for arrival in ["constant", "poisson"] {
        let record = assert_good(&open(&server, &["-r", "2000", "-n", "301", "-c", "7", "--arrival", arrival]));
        assert_open(&record, 301);
        assert_eq!((record.calls.ok, record.arrival.as_deref()), (301, Some(arrival)));
        // 301 calls at 2,000 a second take 0.15 s: they are not sent as fast as they can be.
        assert!(record.elapsed_s > 0.1, "{}", record.elapsed_s);
    }
    let record = assert_good(&open(&server, &["-r", "5000", "-d", "1s", "--arrival", "poisson"]));
    // Six standard deviations.
    assert!((4576..5424).contains(&record.calls.due), "{}", record.calls.due);
    assert_open(&record, record.calls.due);
}

#[test]
fn a_server_that_stops_for_a_while_shows_in_the_response_time_of_an_open_loop_only() {
    const STOP: Duration = Duration::from_millis(1000);
    const CALLERS: u64 = 10;
    let stopped = |args: &[&str]| {
        let server = Server::start("tcp-server", &[]);
        let client = server.client_process(&[&["-d", "4s", "-c", "10", "--warmup", "0"], args].concat());
        server.wait_for_calls(50);
        server.process.signal(Signal::STOP);
        std::thread::sleep(STOP);
        server.process.signal(Signal::CONT);
        let record = client.end().record();
        assert_eq!(record.calls.failed_total(), 0, "{:?}", record.failures);
        record
    };
    let open = stopped(&["-r", "200"]);
    assert_open(&open, 800);
    let (response, service) = (open.response_time_ns.unwrap(), open.service_time_ns.unwrap());
    // A quarter of the calls were due while it stood still.
    assert!(response.p90 > 300_000_000, "{} ns", response.p90);
    assert!(response.max >= 900_000_000);
    assert!(response.p50 < 300_000_000, "{} ns", response.p50);
    // Each caller had one slow call.
    assert!(service.p90 < 300_000_000 && service.max >= 900_000_000);
    // The wait was the server's doing.
    assert!(open.pacer_lag_ns.unwrap().p90 < 300_000_000);

    let closed = stopped(&[]);
    assert_eq!((closed.mode, closed.response_time_ns), (Mode::Closed, None));
    let service = closed.service_time_ns.unwrap();
    assert!(
        service.p99 < 300_000_000 && service.max >= 900_000_000,
        "the closed loop hides it: {service:?}"
    );
    assert!(service.count > 20 * CALLERS);
}

#[test]
fn five_times_the_capacity_is_shown_as_what_it_is() {
    for stack in stacks() {
        // 10 callers and 10 ms: at most 1,000 calls a second.
        let server = Server::start(&stack.server, &["--delay", "10"]);
        let outcome = open(&server, &["-r", "5000", "-d", "1s", "-c", "10"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let record = outcome.record();
        assert_open(&record, 5000);
        assert!(record.calls.unsent > 3900, "{:?}", record.calls);
        let (response, service) = (record.response_time_ns.unwrap(), record.service_time_ns.unwrap());
        assert!(response.p50 > 4 * service.p50, "{response:?} {service:?}");
        assert!(record.oldest_unanswered_ms.unwrap() > 500.0);
        assert!(record.theoretical_share.is_none());
        assert_ne!(record.verdict, Verdict::Invalid, "{:?}", record.verdict_reasons);
    }
}

#[test]
fn an_overloaded_warm_up_owes_the_window_nothing() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &["--delay", "10"]);
        let overload = ["-r", "5000", "-c", "10", "--warmup", "200ms"];
        let record = server.client(&[&overload[..], &["-d", "500ms"]].concat()).record();
        assert_open(&record, 2500);
        assert!(record.oldest_unanswered_ms.unwrap() <= 500.0, "{:?}", record.oldest_unanswered_ms);
        let record = assert_good(&server.client(&[&overload[..], &["-n", "20"]].concat()));
        assert_open(&record, 20);
        assert_eq!(record.calls.ok, 20);
    }
}

#[test]
fn absurd_rates_and_numbers_end_in_time_and_are_counted() {
    let server = Server::start("tcp-server", &["--delay", "10"]);
    let record = assert_good(&server.client(&["-r", "1e9", "-n", "1", "-c", "1", "--warmup", "10ms"]));
    assert_open(&record, 1);
    let record = open(&server, &["-r", "1e9", "-d", "2s", "-c", "10"]).record();
    assert_open(&record, 2_000_000_000);
    // The window ends first: what was not due by then is not owed.
    let record = assert_good(&open(&server, &["-r", "20", "-n", "1000000000000", "-d", "1s", "-c", "4"]));
    assert_open(&record, 20);
    assert!(record.elapsed_s > 0.99, "{}", record.elapsed_s);
}

#[test]
fn an_interrupt_ends_the_window_and_what_was_due_until_then_adds_up() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let client = server.client_process(&["-r", "200", "-d", "50s", "-c", "5", "--warmup", "0"]);
        server.wait_for_calls(40);
        client.signal(Signal::INT);
        let outcome = client.end();
        assert_eq!(outcome.code, Some(130), "{}", outcome.stderr);
        let record = outcome.record();
        assert!(record.partial && record.elapsed_s < 40.0);
        let due = (record.elapsed_s * 200.0).ceil() as u64;
        assert!(
            record.calls.due.abs_diff(due) <= 1,
            "{:?} after {} s",
            record.calls,
            record.elapsed_s
        );
        assert_open(&record, record.calls.due);
    }
}

#[test]
fn slices_may_be_of_either_loop() {
    let server = Server::start("tcp-server", &[]);
    let mut client = server.client_process(&["--hold", "-c", "3", "--warmup", "50ms"]);
    let mut slice = |line: &str| {
        client.write_line(line);
        client.next_line().unwrap()
    };
    let open = schema::record(&slice("{\"slice_ms\": 200, \"rate_per_s\": 500}"));
    assert_open(&open, 100);
    let closed = schema::record(&slice("{\"slice_ms\": 100}"));
    assert_eq!((closed.mode, closed.rate_per_s), (Mode::Closed, None));
    let error: Value = serde_json::from_str(&slice("{\"slice_ms\": 100, \"rate_per_s\": -1}")).unwrap();
    assert!(error["error"].as_str().unwrap().contains("rate_per_s"), "{error}");
}

#[test]
fn an_overloaded_slice_leaves_nothing_to_the_next() {
    // Two callers and 20 ms make 100 calls a second at most.
    let server = Server::start("tcp-server", &["--delay", "20"]);
    let mut client = server.client_process(&["--hold", "-c", "2", "--warmup", "50ms"]);
    let mut slice = |rate: u64| {
        client.write_line(&format!("{{\"slice_ms\": 300, \"rate_per_s\": {rate}}}"));
        schema::record(&client.next_line().unwrap())
    };
    for _ in 0..2 {
        let over = slice(2_000);
        assert_open(&over, 600);
        assert!(over.calls.unsent > 500, "{:?}", over.calls);
        // Three calls that are due 100 ms after each other: those of the slice before would be in their way for seconds.
        let under = slice(10);
        assert_open(&under, 3);
        assert_eq!((under.calls.unsent, under.calls.failed_total()), (0, 0), "{:?}", under.calls);
        assert!(under.calls.ok >= 2, "{:?}", under.calls);
    }
}

#[test]
fn a_held_client_may_be_told_the_arrivals_of_its_slices() {
    let server = Server::start("tcp-server", &[]);
    let mut client = server.client_process(&["--hold", "-c", "3", "--warmup", "50ms", "--arrival", "poisson", "--pacer", "spin"]);
    client.write_line("{\"slice_ms\": 200, \"rate_per_s\": 500}");
    let open = schema::record(&client.next_line().unwrap());
    assert_eq!(open.arrival.as_deref(), Some("poisson"));
    client.write_line("{\"slice_ms\": 50}");
    let closed = schema::record(&client.next_line().unwrap());
    assert_eq!((closed.mode, closed.arrival), (Mode::Closed, None));
}

#[test]
fn a_spinning_pacer_makes_the_same_calls() {
    let server = Server::start("tcp-server", &[]);
    let record = assert_good(&open(&server, &["-r", "1000", "-d", "500ms", "--pacer", "spin"]));
    assert_open(&record, 500);
    assert_eq!(record.settings["pacer"], "spin");
}
