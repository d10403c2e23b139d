//! `rpc-bench rank` with real processes, and what it refuses.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

use serde_json::Value;

fn rank(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .args(["rank", "--profile", "dev"])
        .args(args)
        .output()
        .unwrap()
}

#[test]
fn every_stack_has_a_figure_of_every_round_and_its_ratio_to_raw_tcp() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("rounds.jsonl");
    let args = [
        "twirp",
        "-c",
        "4",
        "--rounds",
        "6",
        "--slices",
        "1",
        "--slice-ms",
        "60",
        "-r",
        "300",
        "--output",
        "json",
    ];
    let output = rank(&[args.as_slice(), &["--record", record.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["control"], "tcp tcp+framed/protobuf");
    assert_eq!((&report["rounds"], &report["rate_per_s"]), (&6.into(), &300.0.into()));
    let measures = report["measures"].as_array().unwrap();
    assert_eq!(measures.len(), 8, "{measures:?}");
    // Cost at the common rate comes first.
    assert!(measures[0]["measure"].as_str().unwrap().ends_with("at the rate"));
    for measure in measures {
        let stacks = measure["stacks"].as_array().unwrap();
        let names: Vec<&str> = stacks.iter().map(|stack| stack["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["tcp tcp+framed/protobuf", "twirp http1/protobuf"]);
        for stack in stacks {
            assert_eq!(stack["figures"].as_array().unwrap().len(), 6);
            let places = (
                stack["places"]["best"].as_u64().unwrap(),
                stack["places"]["worst"].as_u64().unwrap(),
            );
            assert!(1 <= places.0 && places.0 <= places.1 && places.1 <= 2, "{places:?}");
        }
        let control = &stacks[0]["ratio"];
        assert_eq!((&control["ratio"], &control["p_value"]), (&1.0.into(), &1.0.into()));
    }
    // HTTP needs more memory than raw frames, by a quarter or more in every recorded run.
    let rss = measures.iter().find(|measure| measure["measure"] == "peak RSS").unwrap();
    assert!(rss["stacks"][1]["ratio"]["low"].as_f64().unwrap() > 1.0, "{rss}");
    let rounds = std::fs::read_to_string(&record).unwrap();
    let rounds: Vec<Value> = rounds.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rounds.len(), 1 + 6);
    let run = &rounds[0]["run"];
    assert_eq!((&run["rate_per_s"], &run["slice_ms"]), (&300.0.into(), &60.into()), "{run}");
    assert_eq!(
        (&run["arms"][1]["name"], &run["arms"][1]["callers"]),
        (&"twirp http1/protobuf".into(), &4.into())
    );
    let first = &rounds[1];
    assert!(first["twirp http1/protobuf"]["throughput_per_s"].as_f64().unwrap() > 0.0, "{first}");
}

#[test]
fn a_stack_that_multiplexes_has_a_row_of_shared_connections_unless_it_is_left_out() {
    let report = |more: &[&str]| -> Value {
        let short = ["--rounds", "1", "--slices", "1", "--slice-ms", "60", "-r", "300", "-c", "12"];
        let what = ["twirp", "--wire", "h2c/protobuf,tcp+framed/protobuf", "--output", "json"];
        let output = rank(&[&what[..], &short, more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let names = |report: &Value| -> Vec<String> {
        let stacks = report["measures"][0]["stacks"].as_array().unwrap();
        stacks.iter().map(|stack| stack["name"].as_str().unwrap().to_owned()).collect()
    };
    let own = ["tcp tcp+framed/protobuf", "twirp h2c/protobuf"];
    let both = report(&[]);
    assert_eq!(names(&both), [&own[..], &["twirp h2c/protobuf over 10"]].concat());
    let title = "echo, 12 callers, a connection each or over 10 shared connections, 0 ms delay, default lane";
    assert_eq!(both["title"], title);
    let own_only = report(&["--no-shared"]);
    assert_eq!(names(&own_only), own);
    assert_eq!(own_only["title"], "echo, 12 callers, a connection each, 0 ms delay, default lane");
}

#[test]
fn a_rate_that_no_stack_carries_gives_no_figures_at_it() {
    let output = rank(&[
        "twirp",
        "-c",
        "1",
        "--rounds",
        "1",
        "--slices",
        "1",
        "--slice-ms",
        "100",
        "-r",
        "1000000",
        "--output",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = report["measures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|measure| measure["measure"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"throughput/s") && !names.iter().any(|name| name.ends_with("at the rate")),
        "{names:?}"
    );
}

#[test]
fn a_file_that_takes_no_more_rounds_costs_the_report_nothing() {
    let output = rank(&[
        "twirp",
        "-c",
        "4",
        "--rounds",
        "2",
        "--slices",
        "1",
        "--slice-ms",
        "60",
        "-r",
        "300",
        "--record",
        "/dev/full",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/dev/full"));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("2 rounds"),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn what_cannot_be_ranked_is_refused_before_anything_runs() {
    let refuse = |args: &[&str], part: &str| {
        let output = rank(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    };
    refuse(&["nope"], "there is no framework 'nope'");
    refuse(&["twirp", "--wire", "x/y"], "there is no 'x/y'");
    refuse(&["twirp", "--pool", "101"], "more connections than the 100 callers");
    refuse(&["-r", "0"], "calls per second");
    refuse(&["--slices", "0"], "--slices");
    refuse(&["tcp"], "one stack alone");
    refuse(&["--time", "0"], "no time");
    refuse(&["--precision", "0"], "above 0");
    refuse(&["--pool", "4", "--no-shared"], "--no-shared");
    refuse(
        &["twirp", "--wire", "h2c/protobuf,tcp+framed/opaque"],
        "tcp tcp+framed/opaque makes payload calls and twirp h2c/protobuf echo calls",
    );
}
