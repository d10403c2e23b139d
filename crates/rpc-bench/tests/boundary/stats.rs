//! The stats endpoint, and clients that do without it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use bench_core::record::Record;

use crate::common::{Server, assert_good, http, stacks};

#[test]
fn get_stats_is_json_and_anything_else_is_refused() {
    let server = Server::start("tcp-server", &["--delay", "1"]);
    let counters = server.counters();
    assert_eq!((counters.calls, counters.connection_failures), (0, 0));
    assert!(counters.peak_rss_bytes > 0 && counters.threads > 0);
    let check = |request: &[u8], status: &str| {
        let (got, body) = http(server.stats_addr(), request);
        assert_eq!(got, status, "{}", String::from_utf8_lossy(request));
        assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok(), "{body}");
    };
    check(b"GET /stats HTTP/1.0\r\n\r\n", "200");
    check(b"GET /stats?pretty=1 HTTP/1.1\r\nHost: x\r\n\r\n", "200");
    check(b"GET /other HTTP/1.1\r\n\r\n", "404");
    check(b"POST /stats HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "404");
    check(b"\r\n\r\n", "404");
    check(b"\xff\xfe\xfd\r\n\r\n", "404");
    assert_good(&server.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
    assert_eq!(server.counters().calls, 11);
    assert_eq!(server.counters().delay.unwrap().count, 11);
}

#[test]
fn garbage_and_slow_peers_do_not_stop_the_stats() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let slow: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(server.stats_addr()).unwrap()).collect();
        let mut half = TcpStream::connect(server.stats_addr()).unwrap();
        half.write_all(b"GET /st").unwrap();
        let mut endless = TcpStream::connect(server.stats_addr()).unwrap();
        endless.write_all(&[b'x'; 20_000]).unwrap();
        let record = assert_good(&server.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
        assert!(record.server.is_some(), "{}: the slow peers kept the client out", stack.framework);
        // A peer that says nothing is let go of.
        assert_eq!((&slow[0]).read(&mut [0]).unwrap_or(0), 0);
        server.counters();
    }
}

#[test]
fn without_stats_the_servers_half_is_missing_and_a_warning_says_so() {
    for stack in stacks() {
        let server = Server::start(&stack.server, &["--no-stats"]);
        assert_eq!(server.info.stats, None);
        let check = |stats: &[&str], warned: bool| {
            let args = [&["-n", "10", "-c", "2", "--warmup", "0"], stats].concat();
            let outcome = server.client(&args);
            let record = assert_good(&outcome);
            assert!(record.server.is_none() && record.server_calls.is_none() && record.delay_requested_ms.is_none());
            assert_eq!(record.cpu_us_per_call_sum, None);
            assert_eq!(
                outcome.stderr.contains("warning: the server's half of the record is missing"),
                warned,
                "{}",
                outcome.stderr
            );
        };
        // Asked for, and not there; then done without on purpose.
        check(&["--stats", &server.info.addr], true);
        check(&["--stats", "none"], false);
    }
}

#[test]
fn stats_of_another_server_are_not_taken_for_this_ones() {
    let (first, second) = (Server::start("tcp-server", &[]), Server::start("tcp-server", &[]));
    let stats = second.stats_addr().to_string();
    let outcome = first.client(&["--stats", &stats, "-n", "10", "-c", "2", "--warmup", "0"]);
    let record = assert_good(&outcome);
    assert!(record.server.is_none());
    assert!(
        outcome.stderr.contains(&second.info.addr) && outcome.stderr.contains("--stats"),
        "{}",
        outcome.stderr
    );
}

/// What a client makes of a server whose stats end with the first `readings`.
fn with_stats_that_end(readings: usize) -> Record {
    let server = Server::start("tcp-server", &[]);
    let stats = server.stats_addr();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Not joined: a client that asks less often than expected is told from its record, not waited for.
    std::thread::spawn(move || {
        for stream in listener.incoming().take(readings) {
            let (_, body) = http(stats, b"GET /stats HTTP/1.0\r\n\r\n");
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut part = [0; 1024];
                let read = stream.read(&mut part).unwrap();
                assert!(read > 0, "half a request: {}", String::from_utf8_lossy(&request));
                request.extend_from_slice(&part[..read]);
            }
            stream.write_all(format!("HTTP/1.0 200 OK\r\n\r\n{body}").as_bytes()).unwrap();
        }
    });
    assert_good(&server.client(&["--stats", &address, "-d", "300ms", "-c", "2", "--warmup", "0"]))
}

#[test]
fn a_server_that_does_not_answer_after_the_run_casts_doubt_on_it() {
    let check = |readings: usize, doubted: bool| {
        let record = with_stats_that_end(readings);
        let reason = "did not answer after the run";
        assert_eq!(
            record.verdict_reasons.iter().any(|given| given.contains(reason)),
            doubted,
            "{readings} readings: {:?}",
            record.verdict_reasons
        );
        assert_eq!(record.server.is_none(), doubted);
        // What the silent server used is not others' use.
        assert_eq!(record.foreign_cpu_share.is_none(), doubted);
    };
    check(3, false);
    check(2, true);
    check(1, true);
}

#[test]
fn a_second_client_on_the_server_is_noticed() {
    let server = Server::start("tcp-server", &[]);
    let first = server.client_process(&["-d", "30s", "-c", "1", "--warmup", "0"]);
    server.wait_for_calls(10);
    let outcome = server.client(&["-d", "300ms", "-c", "1", "--warmup", "0"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let record = outcome.record();
    assert!(
        record.verdict_reasons.iter().any(|reason| reason.contains("another client")),
        "{:?}",
        record.verdict_reasons
    );
    assert_eq!(record.throughput_per_s, None);
    drop(first);
}
