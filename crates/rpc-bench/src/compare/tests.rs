use super::*;
use crate::records::SweepRecord;
use crate::report::render::Form;
use crate::sweep::failed::tests::{example_record, failed_record};

/// A round of the control, or of gRPC with so many times its throughput, in a minute of the machine that changes both.
fn record(framework: &str, round: u64, factor: f64) -> SweepRecord {
    let mut example = example_record();
    let wire = if framework == "tcp" { set::CONTROL[1] } else { "h2/protobuf" };
    let cell = example.cell.as_mut().unwrap();
    (cell.framework, cell.wire) = (framework.to_owned(), wire.to_owned());
    let record = &mut example.record;
    (record.framework, record.wire, record.round) = (framework.to_owned(), wire.to_owned(), Some(round));
    let minute = 1.0 + 0.2 * (round % 4) as f64;
    record.elapsed_s = 1.0 / (minute * factor);
    record.service_time_ns = None;
    record.cpu_us_per_call_sum = Some(20.0 / factor);
    example
}

/// A set in which gRPC makes `factor` times the control, give or take a percent.
fn set(rounds: u64, factor: f64) -> Set {
    let wobble = |round: u64| 1.0 + 0.01 * (round % 3) as f64;
    Set::of(
        (0..rounds)
            .flat_map(|round| [record("tcp", round, 1.0), record("grpc", round, factor * wobble(round))])
            .collect(),
    )
}

fn noise(sd: f64, rounds: u64) -> Result<Noise, String> {
    let host = example_record().record.host.info;
    let noise = |measure: Measure| serde_json::json!({"measure": measure.name, "batches": rounds / 6, "sd_of_batch_means": sd});
    let file = serde_json::json!({
        "host": host,
        "against_itself": {"noise": MEASURES.into_iter().map(noise).collect::<Vec<_>>()},
    });
    Ok(serde_json::from_value(file).unwrap())
}

fn grpc(comparison: &Comparison) -> &Compared {
    comparison.rows.iter().find(|row| row.key.framework == "grpc").unwrap()
}

fn throughput(comparison: &Comparison) -> &MeasureChange {
    match &grpc(comparison).outcome {
        Ok(Figures::Ratios(measures)) => measures.iter().find(|change| change.measure.name == "throughput/s").unwrap(),
        other => panic!("{other:?}"),
    }
}

fn reason(old: &Set, new: &Set, noise: &Result<Noise, String>) -> String {
    let comparison = compare(old, new, noise, 0.95);
    match &grpc(&comparison).outcome {
        Err(reason) => reason.clone(),
        Ok(_) => throughput(&comparison).change.clone().unwrap_err(),
    }
}

#[test]
fn a_change_beyond_the_noise_is_found_and_one_within_it_is_not() {
    for (sd, factor, finding) in [
        (0.005, 0.9, Finding::Worse),
        (0.005, 1.1, Finding::Better),
        (0.005, 1.001, Finding::Nothing),
        // As far as two batches of the same programs are apart.
        (0.1, 0.9, Finding::Nothing),
    ] {
        let comparison = compare(&set(12, 1.0), &set(12, factor), &noise(sd, 48), 0.95);
        let found = throughput(&comparison);
        assert_eq!(found.finding, finding, "{sd} {factor} {found:?}");
        assert!((found.new.unwrap() / found.old.unwrap() / factor - 1.0).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn what_a_slow_hour_does_to_both_is_no_change() {
    let mut slow = Vec::new();
    for framework in ["tcp", "grpc"] {
        slow.extend((0..12).map(|round| {
            let mut record = record(framework, round, 1.0);
            record.record.elapsed_s *= 1.35;
            record
        }));
    }
    let comparison = compare(&set(12, 1.0), &Set::of(slow), &noise(0.005, 48), 0.95);
    assert_eq!(throughput(&comparison).finding, Finding::Nothing);
    let tcp = comparison.rows.iter().find(|row| row.key.framework == "tcp").unwrap();
    let Ok(Figures::Control(measures)) = &tcp.outcome else {
        panic!("{tcp:?}")
    };
    assert!((measures[0].old.unwrap() / measures[0].new.unwrap() - 1.35).abs() < 1e-9);
    assert!(measures.iter().all(|measure| measure.change.is_err()));
}

#[test]
fn only_the_plainest_row_of_raw_tcp_is_the_control() {
    let with_tuned = || {
        let tuned = |round| {
            let mut record = record("tcp", round, 1.5);
            record.cell.as_mut().unwrap().lane = bench_core::lane::Lane::Tuned;
            record.record.lane = bench_core::lane::Lane::Tuned;
            record
        };
        Set::of((0..12).flat_map(|round| [tuned(round), record("tcp", round, 1.0)]).collect())
    };
    let comparison = compare(&with_tuned(), &with_tuned(), &noise(0.005, 48), 0.95);
    let kinds: Vec<(String, bool)> = (comparison.rows.iter())
        .map(|row| (row.key.lane.to_string(), matches!(row.outcome, Ok(Figures::Control(_)))))
        .collect();
    assert_eq!(kinds, [("default".to_owned(), true), ("tuned".to_owned(), false)]);
}

#[test]
fn what_cannot_be_compared_says_why() {
    let quiet = noise(0.005, 48);
    let check = |old: &Set, new: &Set, noise: &Result<Noise, String>, part: &str| {
        let reason = reason(old, new, noise);
        assert!(reason.contains(part), "{reason}");
    };
    check(&set(3, 1.0), &set(12, 1.0), &quiet, "too few runs: 3");
    check(
        &set(12, 1.0),
        &set(12, 1.0),
        &Err("not known: --calibration".to_owned()),
        "--calibration",
    );
    check(&set(12, 1.0), &set(12, 1.0), &noise(0.005, 6), "needs two batches of 6 rounds");
    let with = |change: fn(&mut SweepRecord)| {
        let mut records: Vec<SweepRecord> = (0..12)
            .flat_map(|round| [record("tcp", round, 1.0), record("grpc", round, 1.0)])
            .collect();
        records.iter_mut().for_each(change);
        Set::of(records)
    };
    check(&set(12, 1.0), &with(|record| record.record.host.info.cpus = 64), &quiet, "64 CPUs");
    check(
        &set(12, 1.0),
        &with(|record| record.record.verdict = bench_core::verdict::Verdict::Invalid),
        &quiet,
        "INVALID in the new",
    );
    let alone = Set::of((0..12).map(|round| record("grpc", round, 1.0)).collect());
    check(&set(12, 1.0), &alone, &quiet, "no row of the control");
    let never_together = with(|record| record.record.round = record.record.round.filter(|_| record.record.framework == "tcp"));
    check(&set(12, 1.0), &never_together, &quiet, "no round with it and the control");
}

#[test]
fn a_calibration_of_another_machine_is_not_used() {
    let mut other = set(12, 1.0);
    assert!(noise(0.1, 48).unwrap().of_the_machine_of(&other).is_ok());
    let mut records = vec![record("tcp", 0, 1.0)];
    records[0].record.host.info.cpu_model = "Another CPU".to_owned();
    other = Set::of(records);
    let error = noise(0.1, 48).unwrap().of_the_machine_of(&other).unwrap_err();
    assert!(error.contains("Another CPU"), "{error}");
}

#[test]
fn the_text_names_differences_and_rows_that_only_one_set_has() {
    let mut records: Vec<SweepRecord> = (0..6)
        .flat_map(|round| [record("tcp", round, 1.0), record("grpc", round, 0.8)])
        .collect();
    for record in &mut records {
        record.record.host.info.kernel = "6.2.0".to_owned();
        record.record.settings.insert("server".to_owned(), serde_json::json!({"window": 7}));
        record.cell.as_mut().unwrap().measure_ms = 5000;
    }
    records.push({
        let mut more = failed_record();
        more.cell.as_mut().unwrap().callers = 77;
        more
    });
    let comparison = compare(&set(6, 1.0), &Set::of(records), &noise(0.005, 48), 0.95);
    let expected = "\
old → new

- kernel: 6.1.0 → 6.2.0
- grpc h2/protobuf default: server window: not said → 7
- tcp tcp+framed/protobuf default: server window: not said → 7
- measured: 1 s → 5 s

0 ms, echo, 581 bytes

row                      callers               throughput/s                CPU µs/call
grpc h2/protobuf              50  0.792 [0.778–0.806] WORSE  1.262 [1.240–1.285] WORSE
tcp tcp+framed/protobuf       50                      1.000                      1.000

- tcp tcp+framed/protobuf c=50: the control: new / old of its own figures, of which nobody knows how much is the machine's.
- Only in new: tcp tcp/protobuf c=77 (0 ms, echo, 581 bytes)

Proved, 95 % for all together: 0 better, 2 worse. Figures are new / old of the ratio to the control's of the same round.
";
    assert_eq!(comparison.text("old", "new", Form::Text), expected);
    let json = comparison.json("old", "new");
    assert_eq!(json["differences"][0]["fact"], "kernel");
    assert_eq!(json["rows"][0]["measures"][0]["finding"], "worse");
    assert_eq!(json["only_new"][0]["callers"], 77);
}

#[test]
fn a_round_that_stands_there_twice_is_no_second_round() {
    let folder = tempfile::tempdir().unwrap();
    let read = |records: &[SweepRecord]| {
        let lines: Vec<String> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
        let path = folder.path().join("records.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        Set::read(&path)
    };
    let sweep: Vec<SweepRecord> = (0..6)
        .flat_map(|round| [record("tcp", round, 1.0), record("grpc", round, 1.0)])
        .collect();
    assert!(read(&sweep).is_ok());
    let error = format!("{:#}", read(&[sweep.clone(), sweep.clone()].concat()).unwrap_err());
    assert!(error.contains("c=50 has round 1 twice"), "{error}");
}

#[test]
fn what_was_recorded_as_valid_must_be_so_by_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let lines: Vec<String> = (0..12)
        .flat_map(|round| [record("tcp", round, 1.0), record("grpc", round, 1.0)])
        .map(|mut record| {
            record.record.verdict = bench_core::verdict::Verdict::Valid;
            record.record.throughput_per_s = Some(1e6);
            serde_json::to_string(&record).unwrap()
        })
        .collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let set = Set::read(&path).unwrap();
    assert!(reason(&set, &set, &noise(0.005, 48)).contains("INVALID"));
}

#[test]
fn a_figure_that_is_missing_or_zero_is_named() {
    let with_cpu = |cpu: Option<f64>| {
        let mut records: Vec<SweepRecord> = (0..12)
            .flat_map(|round| [record("tcp", round, 1.0), record("grpc", round, 1.0)])
            .collect();
        for record in records.iter_mut().filter(|record| record.record.framework == "grpc") {
            record.record.cpu_us_per_call_sum = cpu;
        }
        Set::of(records)
    };
    let text = |cpu| compare(&set(12, 1.0), &with_cpu(cpu), &noise(0.005, 48), 0.95).text("old", "new", Form::Text);
    let missing = text(None);
    assert!(
        missing.contains("not comparable: CPU µs/call (too few runs: 0, at least 6 are needed)"),
        "{missing}"
    );
    let zero = text(Some(0.0));
    assert!(zero.contains("not comparable: CPU µs/call (a figure is zero or negative"), "{zero}");
}
