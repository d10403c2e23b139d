//! No server, the wrong server, no room: one clear sentence, exit code 1, quickly.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use crate::common::{Process, Server, assert_good, binary, client, run, stacks, wait_for};

#[test]
fn a_port_in_use_is_one_clear_sentence() {
    for stack in stacks() {
        let first = Server::start(&stack.server, &[]);
        run(&stack.server, &["-s", &first.info.addr, "--no-stats"]).refused(1, &[&first.info.addr, "cannot listen", "--addr"]);
        let taken = first.stats_addr().to_string();
        run(&stack.server, &["-s", "127.0.0.1:0", "--stats", &taken]).refused(1, &[&taken, "cannot listen", "--stats"]);
    }
}

#[test]
fn the_last_port_has_no_next_one_for_the_stats() {
    // Only where the port happens to be free is the sentence about the stats; either way it is one.
    run("tcp-server", &["-s", "127.0.0.1:65535"]).refused(1, &["65535"]);
}

#[test]
fn no_server_there_is_said_quickly_and_names_the_address() {
    for stack in stacks() {
        // Bound and not listening: nobody else can get the port meanwhile.
        let socket = socket_without_listener();
        let addr = socket.local_addr().unwrap().as_socket().unwrap().to_string();
        for stats in [&[][..], &["--stats", "none"]] {
            let outcome = client(&stack.client, &[&["-s", &addr], stats].concat());
            outcome.refused(1, &[&addr, &format!("is {} running there?", stack.server)]);
            assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
        }
    }
}

fn socket_without_listener() -> socket2::Socket {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket
}

#[test]
fn a_host_that_does_not_resolve_is_said() {
    for stack in stacks() {
        client(&stack.client, &["-s", "no-such-host.invalid:8972"]).refused(1, &["--addr", "no-such-host.invalid", "does not resolve"]);
        client(&stack.client, &["--stats", "no-such-host.invalid:8973"])
            .refused(1, &["--stats", "no-such-host.invalid", "does not resolve"]);
        run(&stack.server, &["-s", "no-such-host.invalid:8972"]).refused(2, &["--addr", "does not resolve"]);
    }
}

#[test]
fn a_server_of_another_framework_is_refused() {
    let stacks = stacks();
    for server_stack in &stacks {
        let server = Server::start(&server_stack.server, &[]);
        let (addr, stats) = (&server.info.addr, server.stats_addr().to_string());
        for other in stacks.iter().filter(|other| other.framework != server_stack.framework) {
            let named = client(&other.client, &["-s", addr, "--stats", &stats, "-n", "10"]);
            named.refused(1, &[addr, &server_stack.server, &other.server]);
            let blind = client(&other.client, &["-s", addr, "--stats", "none", "-n", "10"]);
            blind.refused(1, &[addr, &other.framework]);
            assert!(blind.took < Duration::from_secs(15), "{:?}", blind.took);
        }
        // It is none the worse for it.
        assert_good(&server.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
    }
}

#[test]
fn a_server_that_accepts_and_never_speaks_is_given_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    for stack in stacks() {
        let outcome = client(&stack.client, &["-s", &addr, "--stats", "none", "--timeout", "300ms"]);
        outcome.refused(1, &[&addr]);
        assert!(outcome.took < Duration::from_secs(15), "{:?}", outcome.took);
    }
}

#[test]
fn another_wire_or_lane_is_refused_by_name() {
    let server = Server::start("tcp-server", &["--wire", "tcp+framed/opaque"]);
    server
        .client(&["--wire", "tcp+framed/protobuf"])
        .refused(1, &["tcp+framed/opaque", "not tcp+framed/protobuf", "--wire"]);
    // Without stats the bytes tell.
    server
        .client(&["--wire", "tcp+framed/protobuf", "--stats", "none"])
        .refused(1, &["tcp+framed/protobuf", &server.info.addr]);
    for stack in stacks() {
        let server = Server::start(&stack.server, &["--lane", "tuned"]);
        server.client(&[]).refused(1, &["tuned lane", "default lane", "--lane"]);
        assert_eq!(server.counters().connections_accepted, 0);
    }
}

#[test]
fn a_server_on_ipv6_is_reached_by_its_address() {
    let there = TcpListener::bind("[::1]:0").is_ok();
    for stack in stacks() {
        if there {
            let server = Server::start(&stack.server, &["-s", "[::1]:0"]);
            assert!(server.info.addr.starts_with("[::1]:"), "{}", server.info.addr);
            assert_good(&server.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
        } else {
            run(&stack.server, &["-s", "[::1]:0"]).refused(1, &["[::1]:0", "cannot listen"]);
        }
    }
}

#[test]
fn every_address_of_a_name_is_tried() {
    // Where localhost is ::1 as well, the first address may be the one where nobody listens.
    for stack in stacks() {
        let server = Server::start(&stack.server, &[]);
        let addr = format!("localhost:{}", server.addr().port());
        assert_good(&server.client(&["-s", &addr, "-n", "10", "-c", "2", "--warmup", "0"]));
    }
}

/// A binary under a limit of open files.
fn limited(limit: &str, package: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(binary(package))
        .args(args);
    command
}

#[test]
fn a_soft_limit_of_open_files_is_raised_on_both_sides() {
    let args = ["-s", "127.0.0.1:0", "--output", "json", "--exit-on-stdin-close"];
    let server = Server::spawn("tcp-server", limited("-Sn 100", "tcp-server", &args));
    let stats = server.stats_addr().to_string();
    let args = [
        "-s",
        &server.info.addr,
        "--stats",
        &stats,
        "--output",
        "json",
        "-c",
        "300",
        "-n",
        "600",
        "--warmup",
        "0",
    ];
    let record = assert_good(&Process::spawn("tcp-client", limited("-Sn 100", "tcp-client", &args)).end());
    assert_eq!((record.connections, record.calls.ok), (300, 600));
}

#[test]
fn a_hard_limit_that_is_too_low_is_an_error_before_the_load() {
    let server = Server::start("tcp-server", &[]);
    let args = ["-s", &server.info.addr, "--stats", "none", "-c", "300", "-n", "600"];
    Process::spawn("tcp-client", limited("-n 100", "tcp-client", &args))
        .end()
        .refused(1, &["300 sockets", "100", "ulimit -Hn"]);
    assert_eq!(server.counters().connections_accepted, 0);
}

#[test]
fn a_server_without_room_for_more_connections_says_so_and_serves_on() {
    let args = ["-s", "127.0.0.1:0", "--output", "json", "--exit-on-stdin-close"];
    let server = Server::spawn("tcp-server", limited("-n 80", "tcp-server", &args));
    let peers: Vec<_> = (0..100).map(|_| server.connect()).collect();
    wait_for("the server to say so", || server.process.has_said("cannot accept a connection"));
    drop(peers);
    assert_good(&server.client(&["-n", "10", "-c", "2", "--warmup", "0"]));
    let counters = server.counters();
    assert!(counters.connection_failures > 0);
    assert!(
        counters.failures[0].contains("cannot accept a connection"),
        "{:?}",
        counters.failures
    );
}
