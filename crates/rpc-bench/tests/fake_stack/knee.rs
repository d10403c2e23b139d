//! `rpc-bench knee` against the fake stack: what breaks is part of the result.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{rpc_bench, stderr, stdout};

/// The knees of the fake stack's wire, at 1,000 calls per second and no more.
fn fake(wire: &str, more: &[&str]) -> Output {
    let slices = ["--slice", "100ms", "--rate-limit", "1000", "-c", "4"];
    rpc_bench(&[&["knee", "--profile", "dev", "--wire", wire], &slices[..], more].concat())
        .output()
        .unwrap()
}

#[test]
fn a_stack_that_keeps_every_rate_has_its_knee_above_the_rate_limit() {
    let output = fake("good/x", &["--repeats", "2", "--output", "json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let stack = &report["stacks"][0];
    let bounds = serde_json::json!({"at_least_per_s": 1_000.0, "below_per_s": null});
    assert_eq!(
        (&stack["knee_per_s"], &stack["knee_bounds"], &stack["at_limit"]),
        (&serde_json::Value::Null, &bounds, &serde_json::json!([]))
    );
    assert_eq!(stack["searches"][0]["found"]["end"], "rate-limit");
    let text = stdout(&fake("good/x", &["--repeats", "1"]));
    assert!(
        text.contains("  ≥ 1,000  ") && text.contains("≥ 1,000 calls/s: the highest rate that may be tried passed"),
        "{text}"
    );
}

#[test]
fn an_interrupted_run_shows_the_searches_that_were_finished() {
    let mut process = rpc_bench(&[
        "knee",
        "--profile",
        "dev",
        "--wire",
        "good/x,client-fails/x",
        "--rate-limit",
        "1000",
    ])
    .args(["-c", "4", "--repeats", "1000", "--output", "json"])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
    // Whichever of the two is searched first.
    assert!(said.any(|line| line.starts_with("search 1/1000: ")));
    assert!(said.any(|line| line.starts_with("search 1/1000: ")));
    kill_process(Pid::from_child(&process), Signal::INT).unwrap();
    said.for_each(drop);
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["interrupted"], true);
    for stack in report["stacks"].as_array().unwrap() {
        let searches = stack["searches"].as_array().unwrap();
        assert!((1..1000).contains(&searches.len()), "{}", stack["name"]);
        assert_eq!(stack["curve"], serde_json::json!([]));
    }
    assert_eq!(report["stacks"][0]["knee_bounds"]["at_least_per_s"], 1_000.0);
}

#[test]
fn a_client_that_every_rate_breaks_is_a_result_and_the_others_are_measured() {
    let output = fake("client-fails/x,good/x", &["--repeats", "2"]);
    let (text, said) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("no rate passed") && said.contains("that is too much for me"),
        "{said}"
    );
    // No knee, a curve of broken slices, and what the other wire keeps.
    assert!(text.contains("fake client-fails/x, at 25 calls/s: "), "{text}");
    assert!(text.contains("shares are of the saturated throughput"), "{text}");
    assert!(
        text.contains("fake good/x: no knee was found; shares are of the highest rate that passed"),
        "{text}"
    );
}

#[test]
fn a_stack_that_cannot_be_measured_at_all_is_a_result_with_its_last_words() {
    for (wire, words) in [
        ("client-refuses/x", "the server is not the one I know"),
        ("server-dies/x", "no port is free today"),
    ] {
        let output = fake(wire, &["--repeats", "1"]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let text = stdout(&output);
        assert!(text.contains("not measured") && text.contains(words), "{text}");
    }
}

#[test]
fn an_interrupted_search_ends_at_once_and_leaves_nobody_behind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut process = rpc_bench(&["knee", "--profile", "dev", "--wire", "client-stays/x"])
        .env("FAKE_LIFELINE", listener.local_addr().unwrap().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Server and client; both live until somebody ends them.
    let lifelines = [(); 2].map(|()| listener.accept().unwrap().0);
    kill_process(Pid::from_child(&process), Signal::INT).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(130));
    let mut text = String::new();
    process.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "");
    for mut lifeline in lifelines {
        lifeline.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        if let Err(error) = lifeline.read(&mut [0]) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
    }
}

#[test]
fn wrong_requests_get_one_sentence_and_the_exit_code_of_usage() {
    let check = |args: &[&str], parts: &[&str]| {
        let output = rpc_bench(&[&["knee", "--profile", "dev"], args].concat()).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{args:?}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    };
    check(&["nope"], &["'nope'", "fake"]);
    check(&["--wire", "nope/x"], &["nope/x", "good/x"]);
    check(&["--wire", "server-dies/x", "--pool", "2"], &["--pool", "server-dies/x"]);
    check(&["-c", "2", "--pool", "3"], &["--pool 3", "2 callers"]);
    check(&["--slo", "0"], &["--slo"]);
    check(&["--slo", "1s"], &["--slo 1s", "twice"]);
    check(&["--delay", "10"], &["--slo 5ms", "--delay of 10ms"]);
    check(&["--slice", "5ms"], &["--slice", "10ms"]);
    check(&["--rate-limit", "50"], &["--rate-limit 50", "raise it to 100"]);
    check(&["--precision", "0"], &["--precision", "0.03"]);
    check(&["--arrival", "bursty"], &["--arrival", "poisson"]);
}
