//! The raw TCP server against peers that do not keep the protocol: it refuses, says what it did, and serves the others.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use bench_core::message::benchmark_request;
use prost::Message as _;
use rustix::process::Signal;

use crate::common::fake::frame;
use crate::common::{Server, assert_good, wait_for};

/// Peers whose connection ended in an error, as the server counts them.
fn wait_for_failures(server: &Server, failures: u64) {
    wait_for("the server to notice", || server.counters().connection_failures >= failures);
}

fn assert_serves(server: &Server) {
    assert_good(&server.client(&["-n", "20", "-c", "2", "--warmup", "0"]));
}

/// The refusal that comes back before the connection ends.
#[track_caller]
fn refusal(mut stream: &TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let (length, reason) = bytes.split_first_chunk::<4>().unwrap();
    assert_eq!(u32::from_be_bytes(*length), reason.len() as u32 | 1 << 31);
    String::from_utf8(reason.to_vec()).unwrap()
}

#[track_caller]
fn check_refused(server: &Server, bytes: &[u8], reason: &str) {
    let mut stream = server.connect();
    stream.write_all(bytes).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let refusal = refusal(&stream);
    assert!(refusal.contains(reason), "{refusal}");
}

#[test]
fn bad_frames_are_refused_with_a_reason_and_counted() {
    let server = Server::start("tcp-server", &[]);
    check_refused(&server, &[0x7f, 0xff, 0xff, 0xff], "2147483647 bytes is over the limit of 8388608");
    check_refused(&server, &(8 * 1024 * 1024 + 1_u32).to_be_bytes(), "8388609 bytes is over the limit");
    check_refused(&server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "is over the limit");
    check_refused(&server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "is over the limit");
    check_refused(&server, &frame(&[0xff; 100]), "protobuf cannot decode the 100 bytes");
    check_refused(
        &server,
        &frame(&benchmark_request().encode_to_vec()[..300]),
        "protobuf cannot decode the 300 bytes",
    );
    let counters = server.counters();
    assert_eq!((counters.connection_failures, counters.calls), (6, 0));
    assert_eq!(counters.failures.len(), 6);
    assert!(
        counters.failures.iter().all(|text| text.starts_with("refused 127.0.0.1:")),
        "{:?}",
        counters.failures
    );
    assert_serves(&server);

    let (outcome, stopped) = server.stop(Signal::TERM);
    assert_eq!((outcome.code, stopped.connection_failures), (Some(0), 6));
    assert_eq!(
        outcome.stderr.lines().filter(|line| line.contains("refused 127.0.0.1:")).count(),
        6,
        "{}",
        outcome.stderr
    );
}

#[test]
fn peers_that_leave_in_the_middle_are_counted_and_nobody_else_notices() {
    let server = Server::start("tcp-server", &[]);
    let request = frame(&benchmark_request().encode_to_vec());
    for bytes in [&request[..1], &request[..4], &request[..200], &request[..584]] {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
    }
    wait_for_failures(&server, 4);
    let counters = server.counters();
    assert!(
        counters.failures.iter().any(|text| text.contains("after 200 ")),
        "{:?}",
        counters.failures
    );
    // One that leaves between two frames has done nothing wrong.
    drop(server.connect());
    assert_serves(&server);
    assert_eq!(server.counters().connection_failures, 4);
}

#[test]
fn what_a_peer_announces_takes_no_memory_before_it_comes() {
    let server = Server::start("tcp-server", &[]);
    assert_serves(&server);
    let before = server.counters().peak_rss_bytes;
    let announce = |length: u32| {
        let mut stream = server.connect();
        stream.write_all(&length.to_be_bytes()).unwrap();
        stream.write_all(b"and a little").unwrap();
        stream
    };
    let over: Vec<TcpStream> = (0..100).map(|_| announce(0x7fff_ffff)).collect();
    wait_for_failures(&server, 100);
    let within: Vec<TcpStream> = (0..100).map(|_| announce(8 * 1024 * 1024)).collect();
    assert_serves(&server);
    let grown = server.counters().peak_rss_bytes - before;
    // 800 MiB and 200 GiB were announced.
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes");
    drop((over, within));
}

#[test]
fn a_slow_peer_gets_its_reply_and_holds_nobody_up() {
    let server = Server::start("tcp-server", &["--threads", "1"]);
    // Also makes sure that the client is built before the frame begins, which must be whole in time.
    assert_serves(&server);
    let mut slow = server.connect();
    slow.set_nodelay(true).unwrap();
    let request = frame(&benchmark_request().encode_to_vec());
    for (i, byte) in request.iter().enumerate() {
        slow.write_all(&[*byte]).unwrap();
        if i == 300 {
            assert_serves(&server);
        }
    }
    let mut reply = vec![0; 531];
    slow.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..4], 527_u32.to_be_bytes());
    assert_eq!(server.counters().connection_failures, 0);
}

#[test]
fn a_peer_that_does_not_finish_a_frame_is_refused_in_time() {
    let server = Server::start("tcp-server", &[]);
    let mut stalled = server.connect();
    let began = Instant::now();
    stalled.write_all(&[0, 0, 2, 69, 1]).unwrap();
    assert!(refusal(&stalled).contains("did not finish a frame within 10 s"));
    assert!(began.elapsed().as_secs() >= 10);
    assert_serves(&server);
}

#[test]
fn a_peer_that_takes_no_replies_holds_nobody_up() {
    let server = Server::start("tcp-server", &["--threads", "1", "--wire", "tcp+framed/opaque"]);
    let mut deaf = server.connect();
    deaf.set_nonblocking(true).unwrap();
    let request = frame(&[7; 64 * 1024]);
    // Until the buffers of both sides are full and the server has stopped calling: what it still counted would be taken for another
    // client's calls.
    let (mut calls, mut at) = (None, 0);
    wait_for("full buffers", || {
        while let Ok(written) = deaf.write(&request[at..]) {
            at = (at + written) % request.len();
        }
        std::thread::sleep(Duration::from_millis(100));
        let before = calls.replace(server.counters().calls);
        before == calls
    });
    assert_good(&server.client(&["--wire", "tcp+framed/opaque", "-n", "20", "-c", "2", "--warmup", "0"]));
}

#[test]
fn idle_connections_cost_little_and_keep_nobody_out() {
    let server = Server::start("tcp-server", &[]);
    let before = server.counters().peak_rss_bytes;
    let mut idle: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    assert_serves(&server);
    let request = frame(&benchmark_request().encode_to_vec());
    let last = idle.last_mut().unwrap();
    last.write_all(&request).unwrap();
    last.read_exact(&mut [0; 531]).unwrap();
    let counters = server.counters();
    assert_eq!(counters.connections_accepted, 200 + 2);
    assert!(counters.peak_rss_bytes - before < 32 * 1024 * 1024);
    drop(idle);
    let (outcome, stopped) = server.stop(Signal::INT);
    assert_eq!((outcome.code, stopped.connection_failures), (Some(0), 0));
}
