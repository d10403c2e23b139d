//! The statistics against scipy: hundreds of seeded cases, answered by `reference.py` as well. A test for each kind of question.
//!
//! `interop/setup.sh` installs scipy. Without it the tests are skipped by name; with `CI` set that is a failure.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result, ensure};
use bench_stats::power::{Plan, power};
use bench_stats::rank::{Better, rank_ranges};
use bench_stats::steady::steadiness;
use bench_stats::{BetweenBatches, change, outliers::outliers, paired_ratio, t_interval};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use support::Random;

/// Relative difference that is allowed: far more than the error of either side (1e-12 at worst), far less than anybody reads.
const TOLERANCE: f64 = 1e-9;

/// A question with our answer.
struct Case {
    kind: &'static str,
    input: Value,
    ours: Value,
    /// Size of the figures: what is as good as 0 beside it may differ, in fields that are in their unit.
    size: f64,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let cases = Arc::new(all_cases());
    let answers = Arc::new(OnceLock::new());
    let kinds = [
        "interval",
        "ratio",
        "change",
        "rank",
        "steady",
        "outliers",
        "power",
        "detectable",
        "needed",
    ];
    let interop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop");
    if !interop.join(".venv-scipy/stamp").is_file() && std::env::var_os("CI").is_none() {
        for kind in kinds {
            eprintln!("skipped: {kind}_as_by_scipy (no scipy; interop/setup.sh says why)");
        }
        return libtest_mimic::run(&arguments, Vec::new()).exit_code();
    }
    let python = interop.join(".venv-scipy/bin/python");
    let trial = |kind: &'static str| {
        let (cases, answers, python) = (Arc::clone(&cases), Arc::clone(&answers), python.clone());
        Trial::test(format!("{kind}_as_by_scipy"), move || {
            let answers = answers.get_or_init(|| ask_scipy(&python, &cases).map_err(|error| format!("{error:#}")));
            let theirs = answers.as_ref().map_err(|error| Failed::from(error.as_str()))?;
            let of_kind = cases.iter().zip(theirs).filter(|(case, _)| case.kind == kind);
            let checked: Vec<()> = of_kind.map(|(case, theirs)| case.check(theirs)).collect::<Result<_, Failed>>()?;
            match checked.len() {
                0..40 => Err(format!("only {} cases", checked.len()).into()),
                _ => Ok(()),
            }
        })
    };
    libtest_mimic::run(&arguments, kinds.map(trial).into()).exit_code()
}

fn ask_scipy(python: &Path, cases: &[Case]) -> Result<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference.py");
    let questions: Vec<Value> = cases.iter().map(|case| json!({"kind": case.kind, "input": case.input})).collect();
    let mut child = Command::new(python)
        .args(["-W", "ignore"])
        .arg(script)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{}: run interop/setup.sh", python.display()))?;
    child.stdin.take().context("stdin")?.write_all(&serde_json::to_vec(&questions)?)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "reference.py ended with {}", output.status);
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    ensure!(answers.len() == cases.len(), "{} answers to {} cases", answers.len(), cases.len());
    Ok(answers)
}

impl Case {
    fn check(&self, theirs: &Value) -> Result<(), Failed> {
        self.same("", &self.ours, theirs)
            .map_err(|what| format!("{}: {what}\ninput {}\nours {}\nscipy {theirs}", self.kind, self.input, self.ours).into())
    }

    fn same(&self, field: &str, ours: &Value, theirs: &Value) -> Result<(), String> {
        match (ours, theirs) {
            (Value::Object(one), Value::Object(other)) => {
                if !one.keys().eq(other.keys()) {
                    return Err(format!("{field}: other fields"));
                }
                one.iter()
                    .zip(other.values())
                    .try_for_each(|((key, one), other)| self.same(key, one, other))
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                one.iter().zip(other).try_for_each(|(one, other)| self.same(field, one, other))
            }
            (Value::Number(one), Value::Number(other)) if self.is_close(field, one.as_f64().unwrap(), other.as_f64().unwrap()) => Ok(()),
            _ => Err(format!("{field}: {ours} differs from {theirs}")),
        }
    }

    fn is_close(&self, field: &str, one: f64, other: f64) -> bool {
        let in_unit = ["estimate", "low", "high", "sd", "slope", "before", "after"].contains(&field);
        let slack = if in_unit { 1e-14 * self.size } else { f64::MIN_POSITIVE };
        (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()) + slack
    }
}

fn all_cases() -> Vec<Case> {
    let mut random = Random::seeded(1908);
    let mut cases = Vec::new();
    cases.extend(interval_samples(&mut random).into_iter().map(|(values, confidence)| Case {
        kind: "interval",
        ours: json!(t_interval(&values, confidence).unwrap()),
        size: size(&values),
        input: json!({"values": values, "confidence": confidence}),
    }));
    cases.extend(ratio_samples(&mut random).into_iter().map(|(values, control, confidence)| Case {
        kind: "ratio",
        ours: json!(paired_ratio(&values, &control, confidence).unwrap()),
        size: 0.0,
        input: json!({"values": values, "control": control, "confidence": confidence}),
    }));
    cases.extend((0..300).map(|round| change_case(&mut random, round)));
    cases.extend((0..120).map(|_| rank_case(&mut random)));
    cases.extend(series(&mut random).into_iter().map(|slices| Case {
        kind: "steady",
        ours: json!(steadiness(&slices).unwrap()),
        size: size(&slices),
        input: json!({"slices": slices}),
    }));
    cases.extend(outlier_samples(&mut random).into_iter().map(|values| Case {
        kind: "outliers",
        ours: json!(outliers(&values).unwrap()),
        size: size(&values),
        input: json!({"values": values}),
    }));
    for _ in 0..60 {
        cases.extend(power_cases(&mut random));
    }
    cases
}

fn size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |greatest: f64, value| greatest.max(value.abs()))
}

const CONFIDENCES: [f64; 6] = [0.5, 0.9, 0.95, 0.9875, 0.999, 0.999_999_9];

fn interval_samples(random: &mut Random) -> Vec<(Vec<f64>, f64)> {
    let mut samples = Vec::new();
    for round in 0..300 {
        let count = random.whole(2, if round % 10 == 0 { 1000 } else { 60 });
        let (mean, sd) = (random.uniform(-10.0, 10.0), 10_f64.powf(random.uniform(-6.0, 2.0)));
        // Every few cases a size at which squares overflow or vanish.
        let unit = [1.0, 1.0, 1e-300, 1e300, 24_000.0][round % 5];
        let values = random.normals(count, mean, sd).into_iter().map(|value| value * unit).collect();
        samples.push((values, CONFIDENCES[round % 6]));
    }
    for values in [
        vec![0.0, 0.0],
        vec![0.1; 3],
        vec![0.1; 1000],
        vec![-7.0; 6],
        vec![1.0, -1.0],
        vec![5e-324, 1e-323],
        vec![1.0, 1.0 + f64::EPSILON],
        vec![1e15, 1e15 + 0.125, 1e15 + 0.25],
        vec![0.0, 0.0, 0.0, 1e-200],
        vec![1e-200, 1e200],
    ] {
        samples.push((values, 0.95));
    }
    samples
}

fn ratio_samples(random: &mut Random) -> Vec<(Vec<f64>, Vec<f64>, f64)> {
    let mut samples = Vec::new();
    for round in 0..300 {
        let rounds = random.whole(6, 60);
        let (ratio, sd_log) = (random.uniform(0.1, 3.0), 10_f64.powf(random.uniform(-4.0, -0.3)));
        let unit = [1.0, 24_000.0, 1e-300, 1e300][round % 4];
        let control: Vec<f64> = random.log_normals(rounds, 1.0, 0.3).into_iter().map(|value| value * unit).collect();
        let factors = random.log_normals(rounds, ratio, sd_log);
        let values = control.iter().zip(factors).map(|(value, factor)| value * factor).collect();
        samples.push((values, control, CONFIDENCES[round % 6]));
    }
    let control: Vec<f64> = (1..=8).map(f64::from).collect();
    for factor in [1.0, 2.0, 0.125] {
        samples.push((control.iter().map(|value| value * factor).collect(), control.clone(), 0.95));
    }
    // One quotient overflows, its logarithm does not.
    samples.push(([1e200, 1e190, 1e190, 1e190, 1e190, 1e190].into(), [1e-110; 6].into(), 0.95));
    samples
}

fn change_case(random: &mut Random, round: usize) -> Case {
    let mut set = |ratio| {
        let (count, sd_log) = (random.whole(6, 60), 10_f64.powf(random.uniform(-4.0, -0.3)));
        random.log_normals(count, ratio, sd_log)
    };
    let (mut old, mut new) = (set(0.3), set(0.33));
    if round.is_multiple_of(20) {
        // No spread at all, in one set or in both.
        old = vec![0.25; 7];
        new = if round.is_multiple_of(40) { vec![0.5; 9] } else { new };
    }
    let sd_log = if round.is_multiple_of(5) {
        0.0
    } else {
        10_f64.powf(random.uniform(-4.0, -1.0))
    };
    let (freedom, confidence) = (random.whole(1, 12), CONFIDENCES[round % 5]);
    Case {
        kind: "change",
        ours: json!(change(&old, &new, BetweenBatches { sd_log, freedom }, confidence).unwrap()),
        size: 0.0,
        input: json!({"old": old, "new": new, "sd_log": sd_log, "freedom": freedom, "confidence": confidence}),
    }
}

fn rank_case(random: &mut Random) -> Case {
    let (stacks, rounds) = (random.whole(1, 9), random.whole(6, 30));
    let sd_log = random.uniform(0.001, 0.2);
    let machine = random.log_normals(rounds, 24_000.0, 0.2);
    let figures: Vec<Vec<f64>> = (0..stacks)
        .map(|_| {
            let level = random.uniform(0.8, 1.2);
            let factors = random.log_normals(rounds, level, sd_log);
            machine.iter().zip(factors).map(|(machine, factor)| machine * factor).collect()
        })
        .collect();
    let better = [Better::Higher, Better::Lower][random.whole(0, 1)];
    let alpha = [0.01, 0.05, 0.2][random.whole(0, 2)];
    Case {
        kind: "rank",
        ours: json!(rank_ranges(&figures, better, alpha).unwrap()),
        size: 0.0,
        input: json!({"stacks": figures, "better": better, "alpha": alpha}),
    }
}

fn series(random: &mut Random) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for round in 0..200 {
        let count = random.whole(10, 60);
        let (slope, jump, at) = (random.uniform(-0.05, 0.05), random.uniform(-2.0, 2.0), random.whole(0, count));
        let figure = |(index, noise): (usize, f64)| {
            let step = if index >= at { jump } else { 0.0 };
            let figure = 100.0 + noise + slope * index as f64 + step;
            // Rounded figures have ties.
            if round % 3 == 0 { figure.round() } else { figure }
        };
        all.push(random.normals(count, 0.0, 1.0).into_iter().enumerate().map(figure).collect());
    }
    all.push(vec![3.0; 12]);
    all.push([vec![1.0; 5], vec![2.0; 7]].concat());
    all.push((0..30).map(f64::from).collect());
    all.push((0..30).rev().map(f64::from).collect());
    all
}

fn outlier_samples(random: &mut Random) -> Vec<Vec<f64>> {
    let mut samples = Vec::new();
    for round in 0..200 {
        let count = random.whole(6, 50);
        let mut values = random.normals(count, 10.0, 1.0);
        let wild = random.whole(0, count - 1);
        values[wild] += random.uniform(-8.0, 8.0);
        if round % 4 == 0 {
            // Most are equal, so that the median of the deviations is 0.
            values = values.into_iter().map(|value| (value / 4.0).round()).collect();
        }
        samples.push(values);
    }
    samples.push(vec![4.0; 6]);
    samples.push(vec![4.0, 4.0, 4.0, 4.0, 4.0, 4.5]);
    samples
}

fn power_cases(random: &mut Random) -> [Case; 3] {
    let (pairs, sd_log) = (random.whole(6, 100), random.uniform(0.005, 0.2));
    let ratio = (random.uniform(0.3, 2.0) * sd_log * [1.0, -1.0][random.whole(0, 1)]).exp();
    let (alpha, sure) = ([0.05, 0.0125, 0.2][random.whole(0, 2)], [0.9, 0.5, 0.99][random.whole(0, 2)]);
    let plan = Plan::new(alpha, sure).unwrap();
    let case = |kind, input, ours| Case {
        kind,
        input,
        ours,
        size: 0.0,
    };
    [
        case(
            "power",
            json!({"pairs": pairs, "ratio": ratio, "sd_log": sd_log, "alpha": alpha}),
            json!(power(pairs, ratio, sd_log, alpha).unwrap()),
        ),
        case(
            "detectable",
            json!({"pairs": pairs, "sd_log": sd_log, "alpha": alpha, "power": sure}),
            json!(plan.detectable_ratio(pairs, sd_log).unwrap()),
        ),
        case(
            "needed",
            json!({"ratio": ratio, "sd_log": sd_log, "alpha": alpha, "power": sure}),
            json!(plan.pairs_needed(ratio, sd_log).unwrap()),
        ),
    ]
}
