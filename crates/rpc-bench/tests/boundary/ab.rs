//! `rpc-bench ab` as a user starts it, on the raw TCP stack.

use std::process::{Command, Output};

use serde_json::Value;

fn ab(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rpc-bench"));
    command.args([
        "ab",
        "--profile",
        "dev",
        "--no-instructions",
        "--slices",
        "1",
        "--slice-ms",
        "30",
        "-c",
        "4",
    ]);
    command.args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn six_rounds_have_ratios_with_intervals_and_every_round_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("rounds.jsonl");
    let path = record.display().to_string();
    let args = [
        "tcp",
        "--with",
        "server:--work=1ms",
        "--rounds",
        "6",
        "-r",
        "200",
        "--output",
        "json",
        "--record",
        &path,
    ];
    let output = ab(&args);
    // A call of 1 ms against one of some 50 µs, by the process's own clock: no noise hides that.
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let throughput = &report["measures"][0];
    assert_eq!(
        (throughput["measure"].as_str(), throughput["finding"].as_str()),
        (Some("throughput/s"), Some("worse"))
    );
    assert!(throughput["ratio"]["high"].as_f64().unwrap() < 1.0, "{throughput}");
    assert!(report["regressions"].as_array().unwrap().contains(&"throughput/s".into()));
    let lines = std::fs::read_to_string(record).unwrap();
    assert_eq!(lines.lines().count(), 1 + 6);
    let run: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let run = &run["run"];
    assert_eq!(run["arms"][1]["server_flags"], serde_json::json!(["--work", "1ms"]));
    assert_eq!((&run["rate_per_s"], &run["slice_ms"]), (&200.0.into(), &30.into()), "{run}");
}

#[test]
fn two_rounds_are_too_few_to_say_anything() {
    let output = ab(&["tcp", "--rounds", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("too few") && text.contains("A against A"), "{text}");
    assert!(text.contains("± 1.0 % was not reached: throughput/s n/a (B)"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_way_out() {
    let refused = |args: &[&str], code, parts: &[&str]| {
        let output = ab(args);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{args:?}: {text}");
    };
    refused(&["nope"], 2, &["nope", "tcp"]);
    refused(&["tcp", "--with", "tokio=1"], 2, &["version:CRATE=1.2.3"]);
    refused(&["tcp", "--wire", "x/y"], 2, &["--wire", "tcp+framed/protobuf"]);
    refused(&["tcp", "--pool", "2"], 2, &["--pool"]);
    refused(&["tcp", "--with", "client:--no-such-flag"], 1, &["tcp-client", "--no-such-flag"]);
    refused(&["tcp", "--with", "rev:no-such-revision"], 1, &["no-such-revision"]);
    refused(&["tcp", "--with", "version:no-such-crate=1.0.0"], 1, &["no-such-crate"]);
    refused(&["tcp", "--with", "feature:bench-core/nope"], 2, &["bench-core", "nope"]);
    refused(&["tcp", "--with", "profile:nope=1"], 2, &["profile:nope=1", "unused config key"]);
    refused(&["tcp", "--with", "profile:codegen-units=\"a\""], 2, &["codegen-units", "integer"]);
}
