//! Claims about the floor, over real connections.

use std::io::{Read, Write};
use std::sync::OnceLock;
use std::thread::scope;
use std::time::{Duration, Instant};

use bench_host::{CpuSet, now_ns};

use super::client::{Client, Window};
use super::frame::frame;
use super::frame_tests::pair;
use super::{FloorRun, FloorSpec, best, run};

fn spec(connections: usize, threads_per_side: usize) -> FloorSpec {
    let allowed = CpuSet::allowed().unwrap();
    let ids: Vec<usize> = allowed.ids().iter().map(|&id| id as usize).collect();
    FloorSpec {
        connections,
        threads_per_side,
        warmup: Duration::from_millis(20),
        window: Duration::from_millis(150),
        server_cpus: vec![ids[0]],
        client_cpus: vec![ids[ids.len() - 1]],
        request_bytes: 581,
        reply_bytes: 527,
    }
}

fn check(spec: &FloorSpec) -> FloorRun {
    let run = run(spec).unwrap();
    assert_eq!((run.connections, run.threads_per_side), (spec.connections, spec.threads_per_side));
    assert!(run.calls >= spec.connections as u64, "{} calls", run.calls);
    assert!(run.fewest_calls >= 1, "a connection completed no call");
    assert_eq!(run.service_time.count(), run.calls);
    assert_eq!(run.elapsed, spec.window);
    assert!((run.throughput_per_s * run.elapsed.as_secs_f64() - run.calls as f64).abs() < 1.0);
    let times = run.service_time.summary().unwrap();
    assert!(0 < times.min && times.min <= times.p50 && times.p50 <= times.max);
    assert!(run.cpu_user_s + run.cpu_sys_s > 0.0);
    run
}

#[test]
fn every_connection_completes_calls() {
    for connections in [1, 7, 50] {
        for threads in [1, 2] {
            check(&spec(connections, threads));
        }
    }
}

#[test]
fn payloads_may_be_empty_or_large() {
    for (request_bytes, reply_bytes) in [(0, 0), (0, 64 << 10), (64 << 10, 0), (64 << 10, 64 << 10)] {
        for threads in [1, 2] {
            check(&FloorSpec {
                request_bytes,
                reply_bytes,
                ..spec(3, threads)
            });
        }
    }
}

#[test]
fn payloads_larger_than_the_socket_buffers_go_in_pieces() {
    let spec = FloorSpec {
        request_bytes: 8 << 20,
        reply_bytes: 8 << 20,
        window: Duration::from_secs(2),
        ..spec(2, 1)
    };
    check(&spec);
}

#[test]
fn one_cpu_is_enough() {
    let spec = spec(5, 1);
    check(&FloorSpec {
        client_cpus: spec.server_cpus.clone(),
        ..spec
    });
}

#[test]
fn the_better_of_both_thread_counts_comes_first() {
    let [better, other] = best(&spec(10, 9)).unwrap();
    assert!(better.throughput_per_s >= other.throughput_per_s);
    let mut threads = [better.threads_per_side, other.threads_per_side];
    threads.sort_unstable();
    assert_eq!(threads, [1, 2]);
}

#[test]
fn a_run_ends_when_its_window_does() {
    let spec = spec(50, 2);
    let start = Instant::now();
    check(&spec);
    assert!(
        start.elapsed() < spec.warmup + spec.window + Duration::from_secs(1),
        "took {:?}",
        start.elapsed()
    );
}

#[test]
fn a_spec_that_cannot_be_is_an_error_that_names_the_field() {
    let refused = |field: &str, spec: FloorSpec| {
        let error = format!("{:#}", run(&spec).unwrap_err());
        assert!(error.contains(field), "{error:?} does not name {field}");
    };
    refused("connections", spec(0, 1));
    refused("threads_per_side", spec(1, 0));
    refused(
        "window",
        FloorSpec {
            window: Duration::ZERO,
            ..spec(1, 1)
        },
    );
    refused(
        "server_cpus",
        FloorSpec {
            server_cpus: vec![],
            ..spec(1, 1)
        },
    );
    refused(
        "client_cpus",
        FloorSpec {
            client_cpus: vec![],
            ..spec(1, 1)
        },
    );
    refused(
        "server_cpus",
        FloorSpec {
            server_cpus: vec![1 << 40],
            ..spec(1, 1)
        },
    );
    refused(
        "client_cpus",
        FloorSpec {
            client_cpus: vec![1 << 40],
            ..spec(1, 2)
        },
    );
    refused(
        "request_bytes",
        FloorSpec {
            request_bytes: 1 << 30,
            ..spec(1, 1)
        },
    );
    refused(
        "reply_bytes",
        FloorSpec {
            reply_bytes: 1 << 30,
            ..spec(1, 1)
        },
    );
}

#[test]
fn a_cpu_that_is_not_there_ends_the_run_at_once() {
    let start = Instant::now();
    let spec = FloorSpec {
        client_cpus: vec![1023],
        window: Duration::from_secs(60),
        ..spec(5, 1)
    };
    let error = format!("{:#}", run(&spec).unwrap_err());
    assert!(error.contains("1023"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(2), "took {:?}", start.elapsed());
}

#[test]
fn more_connections_than_descriptors_is_an_error_that_says_so() {
    let error = format!("{:#}", run(&spec(1 << 40, 1)).unwrap_err());
    assert!(error.contains("ulimit"), "{error}");
}

/// What a client makes of a server that answers the first request with `answer` and then closes.
fn client_against(answer: &[u8]) -> String {
    let (server, client) = pair();
    let (request, reply, failure) = (frame(3, 1), frame(100, 2), OnceLock::new());
    let window = Window {
        start_ns: now_ns(),
        end_ns: now_ns() + 5_000_000_000,
    };
    let client_side = Client {
        request: &request,
        reply: &reply,
        looks: 0,
        window,
        failure: &failure,
    };
    scope(|scope| {
        let calling = scope.spawn(|| client_side.call(vec![client]).map(drop).unwrap_err());
        server.stream().set_nonblocking(false).unwrap();
        let mut stream = server.stream();
        stream.read_exact(&mut [0; 7]).unwrap();
        stream.write_all(answer).unwrap();
        drop(server);
        calling.join().unwrap().to_string()
    })
}

#[test]
fn a_wrong_reply_is_an_error() {
    for wrong in [frame(99, 2), frame(100, 3)] {
        let error = client_against(&wrong);
        assert!(error.contains("is not the one"), "{error}");
    }
}

#[test]
fn a_server_that_leaves_is_an_error() {
    let half = &frame(100, 2)[..50];
    for answer in [&[][..], half, &frame(100, 2)] {
        let error = client_against(answer);
        assert!(error.contains("closed a connection"), "{error}");
    }
}
