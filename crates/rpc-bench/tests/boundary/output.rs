//! What goes to stdout, to stderr and to the record's file.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{Process, Server, assert_good, binary, schema};

const SHORT: [&str; 6] = ["-n", "20", "-c", "2", "--warmup", "0"];

#[test]
fn the_summary_names_every_figure() {
    let server = Server::start("tcp-server", &["--delay", "1"]);
    let outcome = server.client(&[&SHORT[..], &["--output", "text"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for figure in [
        "throughput",
        "calls/s",
        "in theory",
        "reached",
        "service time",
        "mean",
        "median",
        "min",
        "max",
        "p90",
        "p99",
        "p99.9",
        "CPU per call",
        "client",
        "server",
        "peak memory",
        "MiB",
        "2 callers on 2 connections",
        "585.0 bytes out, 531.0 in",
        "segments",
        "requested 1 ms, measured",
        "20 due = 20 ok",
        "0 failed",
        "calls per caller",
        "verdict",
        "dev profile",
    ] {
        assert!(outcome.stdout.contains(figure), "no {figure:?} in: {}", outcome.stdout);
    }
    assert!(
        !outcome.stdout.contains("NaN") && !outcome.stdout.contains("inf"),
        "{}",
        outcome.stdout
    );
    assert_eq!(outcome.stderr, "", "no progress where stderr is no terminal");
}

#[test]
fn json_is_exactly_one_document_on_stdout() {
    let server = Server::start("grpc-server", &[]);
    let outcome = server.client(&[&SHORT[..], &["--progress", "auto"]].concat());
    assert_good(&outcome);
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.ends_with("}\n"));
}

#[test]
fn the_record_file_holds_the_record_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let server = Server::start("tcp-server", &[]);
    let outcome = server.client(&[&SHORT[..], &["--record", path.to_str().unwrap()]].concat());
    assert_good(&outcome);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), outcome.stdout);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(names(folder.path()), ["record.json"]);
}

#[test]
fn an_existing_record_is_replaced_only_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    std::fs::write(&path, "old").unwrap();
    let server = Server::start("tcp-server", &["--delay", "5"]);
    let client = server.client_process(&["-d", "500ms", "-c", "2", "--warmup", "0", "--record", path.to_str().unwrap()]);
    server.wait_for_calls(2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_good(&client.end());
    schema::record(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(names(folder.path()), ["record.json"]);
}

#[test]
fn a_record_file_that_cannot_be_written_is_an_error_before_the_load() {
    let server = Server::start("tcp-server", &[]);
    let check = |path: &str| {
        let outcome = server.client(&[&SHORT[..], &["--record", path]].concat());
        outcome.refused(1, &["--record", path]);
    };
    check("/no/such/folder/record.json");
    check("/dev/null/record.json");
    check("/proc/record.json");
    let folder = tempfile::tempdir().unwrap();
    check(folder.path().to_str().unwrap());
    assert_eq!(server.counters().connections_accepted, 0);
}

#[test]
fn a_record_that_the_disk_does_not_take_goes_to_stdout() {
    let server = Server::start("tcp-server", &[]);
    let outcome = server.client(&[&SHORT[..], &["--record", "/dev/full", "--output", "text"]].concat());
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("--record: cannot write /dev/full"), "{}", outcome.stderr);
    assert_eq!(outcome.record().calls.ok, 20);
}

#[test]
fn a_full_stdout_is_one_sentence() {
    let server = Server::start("tcp-server", &[]);
    let binary = binary("tcp-client");
    let mut command = Command::new("sh");
    let script = "exec \"$0\" \"$@\" > /dev/full";
    command
        .args(["-c", script])
        .arg(binary)
        .args(["-s", &server.info.addr, "--stats", "none"])
        .args(SHORT);
    Process::spawn("tcp-client", command).end().refused(1, &["stdout"]);
}

#[test]
fn a_reader_that_goes_away_is_a_quiet_end() {
    let server = Server::start("tcp-server", &[]);
    for output in ["text", "json"] {
        let mut client = server.client_process(&[&SHORT[..], &["--output", output]].concat());
        client.close_stdout();
        let outcome = client.end();
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    }
    for package in ["tcp-client", "tcp-server"] {
        for args in [&["--help"][..], &["--list"], &["--version"]] {
            let mut process = Process::start(package, args);
            process.close_stdout();
            let outcome = process.end();
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{package} {args:?}");
        }
    }
}

#[test]
fn a_server_whose_reader_goes_away_serves_on() {
    let mut server = Server::start("grpc-server", &[]);
    server.process.close_stdout();
    assert_good(&server.client(&SHORT));
    server.process.close_stdin();
    let outcome = server.process.end();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
