//! `rpc-bench compare` with recorded sweeps of this project, and with what is none.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn results(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results").join(name)
}

fn compare(old: &Path, new: &Path, more: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .arg("compare")
        .args([old, new])
        .args(more)
        .output();
    output.unwrap()
}

#[test]
fn a_set_is_as_it_was_before_itself() {
    let lanes = results("2026-12-01-vm-2cpu-1");
    let output = compare(&lanes, &lanes, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["differences"].as_array().unwrap().len(), 0, "{}", report["differences"]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 18);
    for measure in rows.iter().flat_map(|row| row["measures"].as_array().unwrap()) {
        assert!(
            (measure["old"].as_f64().unwrap() / measure["new"].as_f64().unwrap() - 1.0).abs() < 1e-12,
            "{measure}"
        );
        assert_eq!(measure["finding"], "nothing", "{measure}");
    }
}

#[test]
fn sweeps_of_different_machines_are_not_compared_and_say_why() {
    let (old, new) = (results("2026-12-01-vm-2cpu-1"), results("2026-12-01-vm-2cpu-3"));
    for (format, heading) in [("text", "0 ms, echo, 581 bytes\n"), ("markdown", "### 0 ms, echo, 581 bytes\n")] {
        let output = compare(&old, &new, &["--format", format]);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(heading), "{text}");
        assert!(text.contains("- CPU: ") && text.contains("- kernel: "), "{text}");
        assert!(
            text.contains("not comparable: another machine: ") && text.contains("Only in "),
            "{text}"
        );
        assert!(text.contains("0 better, 0 worse"), "{text}");
    }
}

#[test]
fn what_is_no_set_is_refused_by_name() {
    let lanes = results("2026-12-01-vm-2cpu-1");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let refuse = |new: &Path, more: &[&str], part: &str| {
        let output = compare(&lanes, new, more);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(part), "{said}");
    };
    refuse(folder.path(), &[], "records.jsonl");
    refuse(&file, &[], "broken.jsonl' line 1");
    refuse(&lanes, &["--calibration", file.to_str().unwrap()], "no calibration");
}
