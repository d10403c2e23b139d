//! `rpc-bench` against a fake stack that breaks the process contract on purpose.

#![allow(clippy::unwrap_used)]

#[path = "fake_stack/knee.rs"]
mod knee;
mod support;

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use bench_core::verdict::Verdict;
use rustix::process::{Pid, Signal, kill_process};
use support::{SweepFolder, manifest, rpc_bench, stderr, stdout, write};

const SWEEP: &str = "title = \"Test\"\nfloor = false\n[defaults]\nseconds = 0.1\nwarmup_seconds = 0\ncallers = [4]\n";

fn sweep_of(matrix: &str) -> SweepFolder {
    SweepFolder::new(&format!("{SWEEP}[[matrix]]\n{matrix}"))
}

#[test]
fn a_good_sweep_writes_its_folder_and_prints_its_table() {
    let sweep = sweep_of("rounds = 2\nconnections = [\"per-caller\", 2]\n");
    let output = sweep.sweep(&["--label", "box", "--scale", "0.5"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let rounds: Vec<_> = sweep.records().iter().map(|record| record.record.round).collect();
    assert_eq!(rounds, [Some(0), Some(0), Some(1), Some(1)]);
    let folder = sweep.results();
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["README.md", "floor.jsonl", "host.json", "records.jsonl", "sweep.toml"]);

    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for part in [
        "# Test",
        "scripts/run-all.sh test.toml --label box",
        "report results/",
        "SCALED",
        "2 shared",
    ] {
        assert!(readme.contains(part), "{part}: {readme}");
    }
    let table = stdout(&output);
    assert!(table.contains("good/x") && table.contains("VALID"), "{table}");
    assert!(
        stderr(&output).contains("[4/4] round 2/2 fake good/x 0 ms c=4"),
        "{}",
        stderr(&output)
    );

    let again = rpc_bench(&["report", folder.to_str().unwrap()]).output().unwrap();
    assert_eq!(stdout(&again), table);
}

#[test]
fn a_failed_cell_is_a_record_with_its_error_and_the_sweep_goes_on() {
    let sweep = sweep_of("wires = [\"all\"]\nrounds = 1\n");
    let output = sweep.sweep(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let records = sweep.records();
    assert_eq!(records.len(), support::WIRES.len());

    let check = |wire: &str, verdict, part: &str| {
        let found = records.iter().find(|record| record.cell.as_ref().unwrap().wire == wire).unwrap();
        let text = format!("{:?} {:?}", found.record.error, found.record.verdict_reasons);
        assert_eq!(found.record.verdict, verdict, "{wire}: {text}");
        assert!(text.contains(part), "{wire}: {text}");
    };
    check("good/x", Verdict::Valid, "None []");
    check("client-stays/x", Verdict::Valid, "None []");
    check("server-dies/x", Verdict::Invalid, "no port is free today");
    check("server-babbles/x", Verdict::Invalid, "no ready line but 'hello'");
    check("server-crashes/x", Verdict::Suspect, "exit code 9");
    check("client-refuses/x", Verdict::Invalid, "the server is not the one I know");
    check(
        "client-mistakes/x",
        Verdict::Invalid,
        "wire 'another/x', but 'client-mistakes/x' was asked for",
    );
    check("client-fails/x", Verdict::Invalid, "1 of 101 calls failed");
    let table = stdout(&output);
    assert!(table.contains("no port is free today") && table.contains("INVALID"), "{table}");
}

#[test]
fn a_stack_that_fails_its_checks_has_no_throughput() {
    let sweep = sweep_of("rounds = 1\n");
    let output = sweep.sweep_with_checks(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    for record in sweep.records() {
        let error = record.record.error.unwrap();
        assert!(error.contains("not measured, for it fails a check"), "{error}");
        assert_eq!(record.record.throughput_per_s, None);
    }
}

#[test]
fn what_is_not_offered_is_said_and_not_run() {
    let sweep = sweep_of("wires = [\"good/x\", \"client-stays/x\"]\nconnections = [2]\n");
    let output = sweep.sweep(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(sweep.records().len(), 1);
    assert!(stdout(&output).contains("not offered"), "{}", stdout(&output));
}

/// A sweep whose last cell does not end by itself, with its first cell done and server and client of the last one running.
struct Stuck {
    sweep: SweepFolder,
    process: Child,
    lifelines: Vec<TcpStream>,
}

impl Stuck {
    fn start() -> Self {
        // With this seed the good cell comes first; the order is pinned by a test of its own.
        let sweep = SweepFolder::new(&format!(
            "{SWEEP}[[matrix]]\nwires = [\"good/x\"]\n[[matrix]]\nwires = [\"client-stays/x\"]\n"
        ));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut process = sweep
            .sweep(&["--seed", "1"])
            .env("FAKE_LIFELINE", listener.local_addr().unwrap().to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut words = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("[1/2]") {
            line.clear();
            assert_ne!(words.read_line(&mut line).unwrap(), 0, "the sweep ended early");
        }
        std::thread::spawn(move || words.read_to_end(&mut Vec::new()));
        // Server and client of the good cell, then those of the one that stays.
        let lifelines: Vec<TcpStream> = (0..4).map(|_| listener.accept().unwrap().0).collect();
        for lifeline in &lifelines {
            lifeline.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        }
        Self { sweep, process, lifelines }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits until every process at the other end of a lifeline is gone.
    fn all_children_are_gone(&mut self) {
        for lifeline in &mut self.lifelines {
            // The end of the stream, or a reset: a process that lived on would time out.
            if let Err(error) = lifeline.read(&mut [0]) {
                assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
            }
        }
    }
}

#[test]
fn children_do_not_outlive_a_killed_sweep() {
    let mut stuck = Stuck::start();
    stuck.signal(Signal::KILL);
    assert_eq!(stuck.process.wait().unwrap().signal(), Some(9));
    stuck.all_children_are_gone();
}

#[test]
fn an_interrupted_sweep_keeps_what_is_complete_and_goes_on_later() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut stuck = Stuck::start();
        stuck.signal(signal);
        assert_eq!(stuck.process.wait().unwrap().code(), Some(130));
        stuck.all_children_are_gone();

        let folder = stuck.sweep.results();
        assert_eq!(stuck.sweep.records().len(), 1);
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.contains("Incomplete: 1 of 2"), "{readme}");

        // As if the disk had been full in the middle of the next record.
        let records = folder.join("records.jsonl");
        let whole = std::fs::read_to_string(&records).unwrap();
        std::fs::write(&records, format!("{whole}{}", &whole[..100])).unwrap();

        let output = rpc_bench(&["sweep", "--resume", folder.to_str().unwrap(), "--seed", "3"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("`seed = 1`"), "{}", stderr(&output));

        let output = rpc_bench(&["sweep", "--resume", folder.to_str().unwrap(), "--skip-checks"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("torn"), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("[2/2]") && !stderr(&output).contains("[1/2]"),
            "{}",
            stderr(&output)
        );
        let wires: Vec<_> = stuck.sweep.records().into_iter().map(|record| record.record.wire).collect();
        assert_eq!(wires, ["good/x", "client-stays/x"]);
        assert!(!std::fs::read_to_string(folder.join("README.md")).unwrap().contains("Incomplete"));
    }
}

#[test]
fn a_dry_run_prints_the_cells_and_makes_no_folder() {
    let sweep = sweep_of("rounds = 2\ndelays_ms = [0, 2.5]\n");
    let output = sweep.sweep(&["--dry-run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(
        text.contains("round 2 fake good/x 2.5 ms c=4\n") && text.contains("4 runs, about 4s"),
        "{text}"
    );
    assert!(!sweep.temporary.path().join("out").exists());
}

#[test]
fn wrong_requests_get_one_sentence_and_the_exit_code_of_the_contract() {
    let sweep = sweep_of("");
    let check = |options: &[&str], code: i32, parts: &[&str]| {
        let output = sweep.sweep(options).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{options:?}: {text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{options:?}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    };
    check(&["--only", "nope"], 2, &["'nope'", "fake"]);
    check(&["--only", "fake:nope"], 2, &["'fake:nope'", "fake:good/x"]);
    check(&["--only", ","], 2, &["--only"]);
    check(&["--scale", "nan"], 2, &["--scale", "0.001"]);
    check(&["--scale", "0"], 2, &["--scale"]);
    check(&["--label", "My Box"], 2, &["--label", "a-z"]);
    check(&["--seed", "-1"], 2, &["--seed"]);

    let file = sweep.temporary.path().join("test.toml");
    let output = rpc_bench(&["sweep", file.to_str().unwrap(), "--profile", "dev", "--out", "/dev/null/x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("another folder with --out"), "{}", stderr(&output));

    let output = rpc_bench(&["sweep", "nope"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let output = rpc_bench(&["sweep", "./nope.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("./nope.toml"), "{}", stderr(&output));
    let output = rpc_bench(&["report", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn the_list_is_what_the_binaries_say() {
    let output = rpc_bench(&["list", "--output", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let list: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(list[0]["framework"], "fake");
    assert_eq!(list[0]["entries"].as_array().unwrap().len(), support::WIRES.len());

    // A reader that has gone is a quiet end.
    let mut process = rpc_bench(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(process.stdout.take());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[test]
fn half_a_stack_is_an_error_that_names_the_missing_half() {
    let folder = tempfile::tempdir().unwrap();
    write(
        &folder.path().join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"half-server\"]\n",
    );
    write(&folder.path().join("half-server/Cargo.toml"), &manifest("half", "server"));
    write(&folder.path().join("half-server/src/main.rs"), "fn main() {}\n");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .arg("--manifest-path")
        .arg(folder.path().join("Cargo.toml"))
        .arg("list")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("'half' has no client"), "{}", stderr(&output));
}
