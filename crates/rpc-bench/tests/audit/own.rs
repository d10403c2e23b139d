//! Our own records: what is recorded passes, what was changed afterwards does not.

use std::path::Path;

use serde_json::{Value, json};

use crate::{audit, check, rows};

/// A folder of results of this repository.
fn recorded() -> Vec<std::path::PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let folders = std::fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|path| path.is_dir()).collect()
}

#[test]
fn every_recorded_sweep_is_still_read_and_none_of_its_verdicts_was_too_good() {
    let folders = recorded();
    assert!(!folders.is_empty());
    for folder in folders {
        let (_, rows) = rows(&folder, &[]);
        assert!(!rows.is_empty());
        for row in rows {
            assert!(
                !row["reasons"].to_string().contains("does not follow"),
                "{}: {row:#}",
                folder.display()
            );
        }
    }
}

#[test]
fn a_record_that_was_changed_is_caught() {
    let folder = recorded().into_iter().next().unwrap();
    let records = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let good = records.lines().find(|line| line.contains("\"verdict\":\"VALID\"")).unwrap();
    let good: Value = serde_json::from_str(good).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("record.json");
    let write = |record: &Value| std::fs::write(&path, record.to_string() + "\n").unwrap();

    write(&good);
    check(&path, &[], 0, &[("VALID", "")]);
    let changed = |change: &dyn Fn(&mut Value), words: &str| {
        let mut record = good.clone();
        change(&mut record);
        assert_ne!(record, good);
        write(&record);
        check(&path, &[], 3, &[("INVALID", words)]);
    };
    changed(&|record| record["calls"]["ok"] = json!(1), "the calls do not add up");
    changed(
        &|record| record["calls"]["ok"] = json!(1),
        "recorded as VALID, which does not follow from its figures",
    );
    changed(
        &|record| record["service_time_ns"]["p99"] = record["service_time_ns"]["max"].clone(),
        "but its histogram says",
    );
    changed(&|record| record["throughput_per_s"] = json!(1e9), "throughput");

    std::fs::write(&path, "{\"schema_version\": 1}\n").unwrap();
    let (code, _, stderr) = audit(&path, &[]);
    assert!(code == 1 && stderr.contains("line 1"), "{stderr}");
}
