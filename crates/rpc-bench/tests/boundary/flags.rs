//! Every flag with values that it does not take: exit code 2 and a sentence that names it.

use crate::common::{Server, assert_good, run, stacks};

/// Runs a server or client with a bad value: nothing is started, the flag is named.
#[track_caller]
fn check(package: &str, flag: &str, value: &str) {
    // With `=` a value may begin with a minus sign.
    let argument = format!("{flag}={value}");
    let outcome = run(package, &[&argument]);
    outcome.refused(2, &[flag]);
}

const NOT_COUNTS: [&str; 9] = ["0", "-1", "1.5", "NaN", "inf", "1e12", "", "many", "99999999999999999999"];
const NOT_DURATIONS: [&str; 8] = ["-1", "-5ms", "NaN", "inf", "1e12", "", "soon", "5 parsecs"];
const NOT_CPUS: [&str; 6] = ["", "a", "-1", "1-0", "1000", "0,"];
const NOT_ADDRESSES: [&str; 6] = ["", "localhost", ":8972", "127.0.0.1:", "127.0.0.1:port", "127.0.0.1:99999"];

#[test]
fn bad_values_of_the_clients_flags_are_refused() {
    for flag in ["--concurrency", "--calls", "--pool", "--threads"] {
        NOT_COUNTS.iter().for_each(|value| check("tcp-client", flag, value));
    }
    for flag in ["--duration", "--warmup", "--timeout", "--drain"] {
        NOT_DURATIONS.iter().for_each(|value| check("tcp-client", flag, value));
    }
    NOT_CPUS.iter().for_each(|value| check("tcp-client", "--cpus", value));
    for flag in ["--addr", "--stats"] {
        NOT_ADDRESSES.iter().for_each(|value| check("tcp-client", flag, value));
        check("tcp-client", flag, "127.0.0.1:0");
    }
    for (flag, value) in [
        ("--concurrency", "1000001"),
        ("--duration", "0s"),
        ("--timeout", "0"),
        ("--wire", "carrier/pigeon"),
        ("--workload", "sing"),
        ("--lane", "fast"),
        ("--output", "xml"),
        ("--progress", "yes"),
        ("--seed", "-1"),
        ("--payload", "129m"),
        ("--rate", "0"),
        ("--rate", "-1"),
        ("--rate", "NaN"),
        ("--rate", "inf"),
        ("--rate", "1e12"),
        ("--rate", "fast"),
        ("--arrival", "poisson"),
        ("--arrival", "sometimes"),
        ("--pacer", "spin"),
        ("--payload", "-1"),
        ("--label", "My Box"),
        ("--no-such-flag", "1"),
    ] {
        check("tcp-client", flag, value);
    }
}

#[test]
fn bad_values_of_the_servers_flags_are_refused() {
    NOT_COUNTS.iter().for_each(|value| check("tcp-server", "--threads", value));
    NOT_DURATIONS.iter().for_each(|value| check("tcp-server", "--delay", value));
    NOT_CPUS.iter().for_each(|value| check("tcp-server", "--cpus", value));
    for flag in ["--addr", "--stats"] {
        NOT_ADDRESSES.iter().for_each(|value| check("tcp-server", flag, value));
    }
    for (flag, value) in [
        ("--delay", "25h"),
        ("--wire", "carrier/pigeon"),
        ("--lane", "fast"),
        ("--runtime", "javascript"),
        ("--output", "xml"),
        ("--no-such-flag", "1"),
    ] {
        check("tcp-server", flag, value);
    }
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let check = |package: &str, args: &[&str], parts: &[&str]| run(package, args).refused(2, parts);
    check("tcp-client", &["--hold", "-n", "5"], &["--hold", "--calls"]);
    check("tcp-client", &["--hold", "-d", "5"], &["--hold", "--duration"]);
    check("tcp-client", &["--hold", "--record", "x"], &["--hold", "--record"]);
    check("grpc-client", &["-c", "2", "--pool", "3"], &["--pool 3", "2 callers"]);
    check(
        "thrift-client",
        &["-r", "5", "--pacer", "spin"],
        &["--pacer spin", "a thread of its own"],
    );
    check(
        "tcp-client",
        &["--wire", "tcp+framed/opaque", "--workload", "echo"],
        &[
            "--wire",
            "--workload",
            "tcp+framed/opaque with payload",
            "tcp+framed/json with echo or",
        ],
    );
    check("tcp-client", &["--payload", "64k"], &["--payload", "'echo'", "--workload payload"]);
    check("tcp-server", &["--stats", "127.0.0.1:0", "--no-stats"], &["--stats", "--no-stats"]);
    check("thrift-server", &["--threads", "2"], &["--threads", "a thread of its own"]);
    for runtime in ["multi", "current-thread"] {
        check("thrift-server", &["--runtime", runtime], &["--runtime", "a thread of its own"]);
    }
}

#[test]
fn every_binary_explains_itself() {
    for stack in stacks() {
        for package in [&stack.server, &stack.client] {
            let help = run(package, &["--help"]);
            assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
            for part in ["Examples:", "Exit codes:", &stack.library, package] {
                assert!(help.stdout.contains(part), "{package}: no {part:?} in {}", help.stdout);
            }
            let list = run(package, &["--list"]);
            assert_eq!(list.code, Some(0));
            let lines: Vec<&str> = list.stdout.lines().collect();
            assert!(!lines.is_empty() && lines.iter().all(|line| line.contains('/')), "{}", list.stdout);
        }
        let list =
            |package: &str| -> serde_json::Value { serde_json::from_str(&run(package, &["--list", "--output", "json"]).stdout).unwrap() };
        let (server, client) = (list(&stack.server), list(&stack.client));
        let entries = client["entries"].as_array().unwrap();
        assert!(
            entries
                .iter()
                .all(|entry| server["wires"].as_array().unwrap().contains(&entry["wire"])),
            "{server} {client}"
        );
        assert_eq!(entries[0]["flagship"], true);
        assert_eq!(server["wires"][0], entries[0]["wire"], "the defaults of the two sides do not meet");
    }
}

#[test]
fn a_delay_may_be_written_in_any_unit() {
    for (text, delay_ms) in [("0", 0.0), ("10", 10.0), ("2500us", 2.5), ("0.03s", 30.0)] {
        let server = Server::start("tcp-server", &["--delay", text]);
        assert_eq!(server.info.delay_requested_ms, delay_ms);
    }
}

#[test]
fn each_side_has_cpus_of_its_own_unless_its_library_blocks() {
    let all = bench_host::CpuSet::allowed().unwrap();
    let (server, client) = bench_host::halves(&all);
    let check = |framework: &str, in_sum: usize| {
        let server = Server::start(&format!("{framework}-server"), &[]);
        let record = assert_good(&server.client(&["-n", "20", "-c", "4", "--warmup", "0"]));
        let [client, server] = [record.client, record.server].map(|side| side.unwrap().cpus.unwrap());
        assert_eq!(client.len() + server.len(), in_sum, "{framework}: {client:?} {server:?}");
    };
    check("tcp", server.ids().len() + client.ids().len());
    check("thrift", 2 * all.ids().len());
}

#[test]
fn both_sides_bind_their_threads_to_the_cpus_asked_for() {
    let cpus = bench_host::CpuSet::allowed().unwrap();
    let first = cpus.ids()[0];
    let server = Server::start("tcp-server", &["--cpus", &first.to_string(), "--threads", "2"]);
    assert_eq!(
        (server.info.cpus.as_deref(), server.info.runtime_threads),
        (Some(&[first as usize][..]), 2)
    );
    let record = assert_good(&server.client(&["--cpus", "all", "--threads", "2", "-n", "20", "-c", "4", "--warmup", "0"]));
    assert_eq!(record.client.unwrap().cpus.unwrap().len(), cpus.ids().len());
    assert_eq!(record.server.unwrap().cpus, Some(vec![first as usize]));
}
