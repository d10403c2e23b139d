//! `rpc-bench knee` with the real processes of raw TCP: what it finds is bounded by what cannot be otherwise.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use bench_core::record::Record;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_knee_of_a_server_with_a_delay_is_below_what_its_callers_can_make() {
    // Eight callers, 10 ms each: never more than 800 replies a second, and one more for each caller at the edges of a slice.
    let output = Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .args(["knee", "tcp", "--profile", "dev", "--output", "json", "--repeats", "2"])
        .args([
            "-c",
            "8",
            "--delay",
            "10ms",
            "--slo",
            "120ms",
            "--slice",
            "300ms",
            "--precision",
            // So wide that disturbed slices do not use the search's up.
            "0.25",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("1 wire, about "), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stack = &report["stacks"][0];
    let searches = stack["searches"].as_array().unwrap();
    assert_eq!(searches.len(), 2);
    for search in searches {
        let (passed, failed) = (&search["found"]["passed_per_s"], &search["found"]["failed_per_s"]);
        assert!(number(passed) < number(failed), "{passed} {failed}");
        let probes = search["probes"].as_array().unwrap();
        assert!((2..=16).contains(&probes.len()), "{} slices", probes.len());
        for probe in probes {
            assert_eq!(probe["passed"] == true, probe["reason"].is_null(), "{}", probe["reason"]);
            let record: Record = serde_json::from_value(probe["record"].clone()).unwrap();
            // Printed and parsed once more than the report's own: the parser may be off in the last place.
            let rate = record.rate_per_s.unwrap();
            assert!((rate / number(&probe["rate_per_s"]) - 1.0).abs() < 1e-9, "{rate}");
            assert_eq!(record.arrival.as_deref(), Some("poisson"));
        }
    }
    // In 0.3 s 100 calls are 334 a second; short slices forgive an overload of a few percent.
    let knee = number(&stack["knee_per_s"]);
    assert!((333.0..=960.0).contains(&knee), "{knee}");
    let curve = stack["curve"].as_array().unwrap();
    let shares: Vec<f64> = curve.iter().map(|point| number(&point["share"])).collect();
    assert_eq!(shares, [0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5]);
    for point in curve {
        assert!(number(&point["goodput_per_s"]) <= 830.0, "{}", point["goodput_per_s"]);
        assert_eq!(point["records"].as_array().unwrap().len(), 2);
        assert!((number(&point["rate_per_s"]) / knee / number(&point["share"]) - 1.0).abs() < 1e-9);
    }
    assert!(!stack["at_limit"].as_array().unwrap().is_empty());
}
