//! The flagship wire of every stack that discovery finds, with each workload (all wires: tests/check.rs): counts that agree on both sides, and the rules of `-n`, `-d`, `--pool` and `--hold`.

use std::time::{Duration, Instant};

use bench_core::message::{REPLY_BYTES, REQUEST_BYTES};
use bench_core::record::Record;
use serde_json::Value;

use crate::common::{Server, assert_good, run, schema, stacks};

/// One server and one client for each workload of each stack's flagship wire.
fn for_every_entry(server_args: &[&str], mut case: impl FnMut(&Server, &[&str])) {
    for_every_offer(server_args, |server, entry, _| case(server, entry));
}

/// The same, with what the client says of the entry.
fn for_every_offer(server_args: &[&str], mut case: impl FnMut(&Server, &[&str], &Value)) {
    for stack in stacks() {
        let list = run(&stack.client, &["--list", "--output", "json"]);
        assert_eq!(list.code, Some(0), "{}", list.stderr);
        let list: Value = serde_json::from_str(&list.stdout).unwrap();
        assert_eq!(list["framework"], stack.framework);
        let entries = list["entries"].as_array().unwrap();
        assert!(!entries.is_empty());
        for entry in entries.iter().filter(|entry| entry["wire"] == entries[0]["wire"]) {
            let (wire, workload) = (entry["wire"].as_str().unwrap(), entry["workload"].as_str().unwrap());
            let args: Vec<&str> = match entry["blocking"] == true {
                // It has no runtime to choose.
                true => server_args
                    .iter()
                    .copied()
                    .filter(|arg| !["--runtime", "multi"].contains(arg))
                    .collect(),
                false => server_args.to_vec(),
            };
            let server = Server::start(&stack.server, &[args.as_slice(), &["--wire", wire]].concat());
            assert_eq!(server.info.framework, stack.framework);
            case(&server, &["--wire", wire, "--workload", workload], entry);
        }
    }
}

#[track_caller]
fn assert_counts_agree(record: &Record) {
    assert_eq!(
        record.server_calls,
        Some(record.connection_calls),
        "{}: two sides, two counts",
        record.wire
    );
    let callers = record.calls_per_caller.as_ref().unwrap();
    assert!(callers.min <= callers.max && callers.jain_index <= 1.0);
}

#[test]
fn every_wire_and_workload_is_measured_and_both_sides_count_the_same() {
    for_every_entry(&[], |server, entry| {
        let args = [entry, &["-c", "4", "-d", "200ms", "--warmup", "100ms"]].concat();
        let record = assert_good(&server.client(&args));
        assert_counts_agree(&record);
        assert!(
            record.connection_calls > record.calls.ok + record.calls.in_flight,
            "verification and warm-up count too"
        );
        assert_eq!((record.concurrency, record.connections), (4, 4));
        assert_eq!(server.counters().calls, record.connection_calls);
        assert_eq!(record.build.profile, "dev");
        assert!(record.build.optimised, "the dev profile must give honest numbers");
    });
}

#[test]
fn a_call_never_takes_less_than_the_delay_nor_a_run_more_calls_than_callers_over_delay() {
    for_every_entry(&["--delay", "10"], |server, entry| {
        let args = [entry, &["-c", "8", "-d", "300ms", "--warmup", "50ms"]].concat();
        let record = assert_good(&server.client(&args));
        assert_counts_agree(&record);
        assert_eq!(record.delay_requested_ms, Some(10.0));
        assert!(record.delay_measured_ms_mean.unwrap() >= 10.0);
        let times = record.service_time_ns.as_ref().unwrap();
        assert!(times.min >= 10_000_000, "{} ns", times.min);
        // A call more per caller can end in the window than fits it.
        let most = 8.0 * (record.elapsed_s / 0.010 + 1.0);
        assert!(
            record.calls.ok as f64 <= most,
            "{} calls in {} s",
            record.calls.ok,
            record.elapsed_s
        );
        assert_eq!(record.theoretical_throughput_per_s, Some(800.0));
    });
}

#[test]
fn a_counted_run_makes_exactly_its_calls() {
    let check = |server: &Server, entry: &[&str], calls: u64, flags: &[&str]| {
        let before = server.counters();
        let count = calls.to_string();
        let args = [entry, &["-n", &count, "--warmup", "0"], flags].concat();
        let record = assert_good(&server.client(&args));
        assert_eq!((record.calls.due, record.calls.ok), (calls, calls), "{args:?}");
        assert_counts_agree(&record);
        let after = server.counters();
        // The verification is the one call more.
        assert_eq!(after.calls - before.calls, calls + 1, "{args:?}");
        let connections = after.connections_accepted - before.connections_accepted;
        assert_eq!(connections, record.connections, "{args:?}");
        assert!(connections <= calls, "{connections} connections for {calls} calls");
    };
    for_every_offer(&[], |server, entry, offer| {
        check(server, entry, 3, &[]);
        check(server, entry, 10, &["-c", "3"]);
        check(server, entry, 1, &["-c", "1"]);
        let threads: &[&str] = &["-c", "7", "--threads", "3"];
        match offer["blocking"] == true {
            true => {
                server
                    .client(&[entry, threads].concat())
                    .refused(2, &["--threads", "one of its own"]);
                check(server, entry, 1001, &threads[..2]);
            }
            false => check(server, entry, 1001, threads),
        }
    });
}

#[test]
fn warm_up_calls_are_not_counted_but_were_made() {
    for_every_entry(&[], |server, entry| {
        let record = assert_good(&server.client(&[entry, &["-n", "10", "-c", "3", "--warmup", "50ms"]].concat()));
        assert_eq!(record.calls.ok, 10);
        assert!(record.connection_calls >= 10 + 1 + 3, "{}", record.connection_calls);
        assert!(record.warmup_s >= 0.05);
        assert_counts_agree(&record);
    });
}

#[test]
fn with_a_count_and_a_duration_whichever_comes_first_ends_the_run() {
    let server = Server::start("tcp-server", &["--delay", "1"]);
    let began = Instant::now();
    let record = assert_good(&server.client(&["-n", "5", "-d", "50s", "-c", "2", "--warmup", "0"]));
    assert_eq!((record.calls.due, record.calls.ok), (5, 5));
    assert!(began.elapsed() < Duration::from_secs(40));

    let record = assert_good(&server.client(&["-n", "1000000", "-d", "200ms", "-c", "2", "--warmup", "0"]));
    assert_eq!(record.calls.due, 1_000_000);
    // At 1 ms a call, two callers cannot have made more.
    assert!(record.calls.ok <= 2 * (record.elapsed_s * 1e3) as u64 + 2, "{:?}", record.calls);
    assert!(record.calls.unsent > 900_000, "{:?}", record.calls);
    assert_counts_agree(&record);
}

#[test]
fn a_raw_tcp_call_is_585_bytes_out_531_in_and_one_segment_each_way() {
    let server = Server::start("tcp-server", &[]);
    let record = assert_good(&server.client(&["-n", "400", "-c", "4", "--warmup", "0"]));
    assert_eq!(record.payload_bytes, REQUEST_BYTES as u64);
    assert_eq!(record.wire_bytes_sent_per_call, Some(REQUEST_BYTES as f64 + 4.0));
    assert_eq!(record.wire_bytes_received_per_call, Some(REPLY_BYTES as f64 + 4.0));
    assert_eq!(record.segments_sent_per_call, Some(1.0));
    assert_eq!(record.segments_received_per_call, Some(1.0));
    assert_eq!(record.settings["tcp_nodelay"], Value::Bool(true));
    assert_eq!(record.settings["server"]["tcp_nodelay"], Value::Bool(true));
}

#[test]
fn a_thrift_call_is_as_long_as_its_wire_makes_it_and_one_segment_unless_it_is_framed_by_default() {
    // Message header with the method's name, the argument's field and the two stops, around 680 and 628 bytes, or 552 and 499.
    let check = |wire: &str, lane: &str, bytes: (f64, f64), segments: f64| {
        let server = Server::start("thrift-server", &["--wire", wire, "--lane", lane]);
        let args = ["--wire", wire, "--lane", lane, "-n", "400", "-c", "4", "--warmup", "0"];
        let record = assert_good(&server.client(&args));
        let on_the_wire = (record.wire_bytes_sent_per_call, record.wire_bytes_received_per_call);
        assert_eq!(on_the_wire, (Some(bytes.0), Some(bytes.1)), "{wire} {lane}");
        let in_segments = (record.segments_sent_per_call, record.segments_received_per_call);
        assert_eq!(in_segments, (Some(segments), Some(segments)), "{wire} {lane}");
        assert_eq!(record.settings["threads"], "one per connection");
        assert_eq!(record.settings["server"]["threads"], "one per connection");
        assert!(record.client.unwrap().threads > 4, "a thread per connection");
    };
    let (binary, compact) = ((699.0, 647.0), (561.0, 509.0));
    let framed = |(sent, received): (f64, f64)| (sent + 4.0, received + 4.0);
    for lane in ["default", "tuned"] {
        check("tcp+buffered/binary", lane, binary, 1.0);
        check("tcp+buffered/compact", lane, compact, 1.0);
        let segments = if lane == "default" { 2.0 } else { 1.0 };
        check("tcp+framed/binary", lane, framed(binary), segments);
        check("tcp+framed/compact", lane, framed(compact), segments);
    }
}

#[test]
fn a_payload_of_any_size_comes_back() {
    let check = |package: &str, args: &[&str], size: &str, bytes: u64| {
        let server = Server::start(package, args);
        let all = [
            args,
            &["--workload", "payload", "--payload", size, "-n", "9", "-c", "3", "--warmup", "0"],
        ]
        .concat();
        let record = assert_good(&server.client(&all));
        assert_eq!((record.payload_bytes, record.calls.ok), (bytes, 9));
    };
    for size in [("0", 0), ("1", 1), ("64k", 65_536), ("1m", 1 << 20)] {
        check("tcp-server", &["--wire", "tcp+framed/opaque"], size.0, size.1);
        check("grpc-server", &[], size.0, size.1);
        check("thrift-server", &["--wire", "tcp+framed/compact"], size.0, size.1);
    }
}

#[test]
fn a_pool_is_as_many_connections_as_asked_for_where_calls_can_share_one() {
    let server = Server::start("grpc-server", &[]);
    for (pool, callers) in [("1", "5"), ("2", "5"), ("5", "5")] {
        let record = assert_good(&server.client(&["-c", callers, "--pool", pool, "-n", "50", "--warmup", "0"]));
        assert_eq!(record.connections.to_string(), pool);
        assert_eq!((record.concurrency, record.calls.ok), (5, 50));
        assert_counts_agree(&record);
    }
    let server = Server::start("tcp-server", &[]);
    server.client(&["--pool", "2"]).refused(2, &["--pool", "one call at a time"]);
    assert_eq!(server.counters().connections_accepted, 0);
}

#[test]
fn both_lanes_work_on_every_stack() {
    for_every_offer(
        &["--lane", "tuned", "--runtime", "multi", "--yield", "--work", "300ns"],
        |server, entry, offer| {
            let args = [entry, &["--lane", "tuned", "-n", "40", "-c", "4", "--warmup", "0"]].concat();
            let record = assert_good(&server.client(&args));
            assert_counts_agree(&record);
            let runtime = if offer["blocking"] == true { "current-thread" } else { "multi" };
            assert_eq!(record.settings["server"]["runtime"], runtime);
            assert_eq!(record.settings["server"]["yields"], true);
            assert_eq!(record.settings["server"]["work_ns"], 300);
        },
    );
}

#[test]
fn a_held_client_answers_every_line_with_a_record_and_a_bad_one_with_an_error() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let mut client = server.client_process(&["--hold", "-c", "3", "--warmup", "50ms"]);
        let mut records = Vec::new();
        for _ in 0..2 {
            client.write_line("{\"slice_ms\": 50}");
            let line = client.next_line().unwrap();
            records.push(schema::record(&line));
        }
        client.write_line("{\"slice_ms\": \"long\"}");
        let error: Value = serde_json::from_str(&client.next_line().unwrap()).unwrap();
        assert!(error["error"].as_str().unwrap().contains("slice_ms"), "{error}");
        client.write_line("{\"slice_ms\": 50}");
        records.push(schema::record(&client.next_line().unwrap()));
        client.close_stdin();
        let outcome = client.end();
        assert_eq!(outcome.code, Some(3), "a line was refused: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");

        let mut made = 0;
        for record in &records {
            assert!(record.calls.ok > 0 && record.calls.adds_up());
            assert_counts_agree(record);
            assert!(record.connection_calls > made, "the connections live on");
            made = record.connection_calls;
        }
        let counters = server.counters();
        assert_eq!((counters.calls, counters.connections_accepted), (made, 3));
    }
}
