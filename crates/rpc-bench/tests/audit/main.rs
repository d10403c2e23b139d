//! `rpc-bench audit` as a user starts it: the earlier suites' mistakes are caught, their possible rows pass.

#![allow(clippy::unwrap_used)]

mod foreign;
mod own;
mod usage;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A file beside this one.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit").join(name)
}

/// Exit code, stdout and stderr of `rpc-bench audit`.
fn audit(path: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .arg("audit")
        .arg(path)
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Exit code, and all rows of the JSON form.
fn rows(path: &Path, args: &[&str]) -> (i32, Vec<Value>) {
    let (code, stdout, stderr) = audit(path, &[args, &["--output", "json"]].concat());
    assert_eq!(stderr, "");
    let audit: Value = serde_json::from_str(&stdout).unwrap();
    let tables = audit["files"][0]["tables"].as_array().unwrap();
    (
        code,
        tables.iter().flat_map(|table| table["rows"].as_array().unwrap()).cloned().collect(),
    )
}

/// The rows, in their order, have these verdicts, and a reason or note with these words.
#[track_caller]
fn check(path: &Path, args: &[&str], code: i32, expected: &[(&str, &str)]) {
    let (exit, rows) = rows(path, args);
    assert_eq!(rows.len(), expected.len(), "{rows:#?}");
    for (row, (verdict, words)) in rows.iter().zip(expected) {
        assert_eq!(row["verdict"], **verdict, "{row:#}");
        let said = format!("{} {}", row["reasons"], row["notes"]);
        assert!(said.contains(words), "no '{words}' in {said}");
    }
    assert_eq!(exit, code);
}
