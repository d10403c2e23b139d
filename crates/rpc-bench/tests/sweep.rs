//! The smoke sweep with the real stacks: counts and order, no timing.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Output};

use bench_core::message::REQUEST_BYTES;
use bench_core::record::Mode;
use bench_core::verdict::Verdict;
use rpc_bench::records::{SweepRecord, read};
use rpc_bench::sweep::connections::Connections;
use rpc_bench::sweep::pace::Pace;
use rpc_bench::trial::USUAL_POOL;

fn run(args: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .args(args)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap()
}

#[test]
fn the_smoke_sweep_measures_every_stack_and_checks_every_reply() {
    let out = tempfile::tempdir().unwrap();
    let output = run(&["sweep", "smoke", "--profile", "dev"], out.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");

    let folder = std::fs::read_dir(out.path()).unwrap().next().unwrap().unwrap().path();
    let records = read(&folder.join("records.jsonl")).unwrap();
    let workspace = rpc_bench::discovery::Workspace::discover(None).unwrap();
    for stack in &workspace.stacks {
        check_stack(&stack.framework, &records);
    }
    assert!(records.is_sorted_by_key(|record| record.record.round), "rounds are not outermost");
    let runs: HashSet<_> = records.iter().map(|record| (record.cell.clone(), record.record.round)).collect();
    assert_eq!(runs.len(), records.len(), "a cell ran twice in a round");

    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "0 ms, echo, 581 bytes, offered 200/s, poisson arrivals;",
        "sent/offered",
        "yield, multi",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let report = Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .arg("report")
        .arg(&folder)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&report.stdout), table);
}

/// Two rounds without delay, one with 10 ms, one with 10 ms over shared connections where the stack has them, one at a rate, and one with a
/// yield in a runtime of two threads where the stack has runtimes.
fn check_stack(framework: &str, records: &[SweepRecord]) {
    let records: Vec<&SweepRecord> = records.iter().filter(|record| record.record.framework == framework).collect();
    let cells_with = |delay_us: u64, shared: bool| {
        let same = |record: &&&SweepRecord| {
            let cell = record.cell.as_ref().unwrap();
            let usual = cell.pace.is_none() && cell.server_options().is_none();
            usual && cell.delay_us == delay_us && matches!(cell.connections, Connections::Shared(_)) == shared
        };
        records.iter().filter(same).count()
    };
    assert_eq!((cells_with(0, false), cells_with(10_000, false)), (2, 1), "{framework}");
    assert!(cells_with(10_000, true) <= 1, "{framework}");
    let cells = || records.iter().map(|record| record.cell.as_ref().unwrap());
    assert_eq!(cells().filter(|cell| cell.pace.is_some()).count(), 1, "{framework}");
    assert!(cells().filter(|cell| cell.server_options().is_some()).count() <= 1, "{framework}");

    for SweepRecord { record, cell } in records {
        let cell = cell.as_ref().unwrap();
        assert_ne!(record.verdict, Verdict::Invalid, "{framework}: {:?}", record.verdict_reasons);
        assert!(record.calls.ok > 0 && record.calls.adds_up(), "{framework}: {:?}", record.calls);
        assert_eq!(record.calls.failed_total(), 0, "{framework}: {:?}", record.failures);
        assert_eq!(record.connections, cell.connection_count(), "{framework}");
        assert_eq!(record.payload_bytes, REQUEST_BYTES as u64, "{framework}");
        assert_eq!(
            record.delay_requested_ms,
            Some(cell.delay_us as f64 / 1000.0),
            "{framework}: the server did not report"
        );
        assert!(
            record.server.is_some() && record.server_calls.is_some(),
            "{framework}: the server did not report"
        );
        assert_eq!(record.floor_ratio.is_some(), cell.has_floor(), "{framework}");
        let server = &record.settings["server"];
        assert_eq!(server["yields"], cell.yields, "{framework}");
        if let Some(kind) = cell.server_runtime {
            assert_eq!(server["runtime"], kind.to_string(), "{framework}");
        }
        assert_eq!(
            (record.mode == Mode::Open, Pace::of(record)),
            (cell.pace.is_some(), cell.pace),
            "{framework}"
        );
        if let Some(pace) = cell.pace {
            // What was due in 0.3 s of Poisson arrivals: the mean, and five times its square root.
            let mean = pace.rate_per_s() * record.elapsed_s;
            assert!(
                (record.calls.due as f64 - mean).abs() < 5.0 * mean.sqrt(),
                "{framework}: {:?}",
                record.calls
            );
            assert!(record.response_time_ns.is_some(), "{framework}");
        }
    }
}

#[test]
fn every_sweep_of_the_suite_can_be_planned_and_has_rows_of_shared_connections() {
    let sweeps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/sweeps");
    let files = std::fs::read_dir(sweeps).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(names.len() > 3, "{names:?}");
    for sweep in &names {
        let out = tempfile::tempdir().unwrap();
        let output = run(&["sweep", sweep, "--profile", "dev", "--dry-run"], out.path());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{sweep}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let plan = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(plan.lines().count() > 4, "{sweep}: {plan}");
        // Those of `smoke` say nothing.
        assert!(sweep == "smoke" || plan.contains(&format!(" over {USUAL_POOL}")), "{sweep}: {plan}");
    }
}
