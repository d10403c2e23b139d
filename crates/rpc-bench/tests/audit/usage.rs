//! What is recognised is said, what is not too, and how to say it.

use std::path::PathBuf;

use crate::{audit, check, fixture};

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn the_text_says_what_each_column_was_taken_for_and_what_is_wrong_where() {
    let (code, text, stderr) = audit(&fixture("in_flight.md"), &[]);
    assert_eq!((code, stderr.as_str()), (3, ""));
    for words in [
        "in_flight.md, table at line 5",
        "throughput, calls/s",
        "in the unit that each cell names",
        "name of the row",
        "INVALID",
        "in flight",
        "- line 7: ",
        "1 rows: 0 VALID, 0 SUSPECT, 1 INVALID",
        "15 %",
    ] {
        assert!(text.contains(words), "no '{words}' in {text}");
    }
}

#[test]
fn columns_that_are_not_recognised_are_named_and_can_be_explained() {
    let (_folder, path) = file("thing,score,tail\na,2.0,3.5\nb,9,3.5\n");
    let (code, _, stderr) = audit(&path, &["--callers", "10"]);
    assert_eq!(code, 1);
    for words in [
        "nothing in it can be checked",
        "'score' (not recognised: --columns 'score=…'",
        "--callers",
        "--delay",
    ] {
        assert!(stderr.contains(words), "no '{words}' in {stderr}");
    }
    let told = ["--callers", "10", "--columns", "thing=name,Score=throughput:ops/ms,tail=mean:ms"];
    // 2 calls/ms of 3.5 ms are 7 in flight, 9 of them more than 10.
    check(
        &path,
        &told,
        3,
        &[("VALID", "pause between calls"), ("INVALID", "in flight of 10 callers")],
    );
}

#[test]
fn usage_errors_exit_with_2_and_missing_files_with_1() {
    let refused = |path: &PathBuf, args: &[&str], code: i32, words: &str| {
        let (exit, stdout, stderr) = audit(path, args);
        assert_eq!((exit, stdout.as_str()), (code, ""), "{stderr}");
        assert!(stderr.contains(words), "no '{words}' in {stderr}");
    };
    let table = fixture("in_flight.md");
    refused(&table, &["--columns", "nobody=mean:ms"], 2, "no table has a column 'nobody'");
    refused(&table, &["--columns", "c=speed"], 2, "figures are throughput");
    refused(&table, &["--unit", "ops/s"], 2, "expected ns, us, ms or s");
    refused(&table, &["--tolerance=-1"], 2, "tolerance");
    refused(&fixture("nothing.csv"), &[], 1, "cannot be read");
    let (_folder, prose) = file("no table at all\n");
    refused(&prose, &[], 1, "pipe table");
    let (folder, _) = file("");
    refused(&folder.path().to_owned(), &[], 1, "records.jsonl");
}

#[test]
fn tables_of_other_things_are_passed_over() {
    let (_folder, path) = file("| knob | does |\n|---|---|\n| -c | clients |\n\n| c | TPS | mean |\n|--|--|--|\n| 1 | 1,000 | 990 µs |\n");
    check(&path, &[], 0, &[("VALID", "")]);
}
