//! `rpc-bench calibrate` that is asked for what contradicts itself, and that is stopped on its way.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The floor alone of so many concurrencies takes half a minute.
const LONG: &str = "1,1,1,1,1,1,1,1";

fn calibrate(args: &[&str], stop_after: Option<Duration>) -> Output {
    let calibrate = Command::new(env!("CARGO_BIN_EXE_rpc-bench"))
        .arg("calibrate")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(wait) = stop_after {
        std::thread::sleep(wait);
        kill_process(Pid::from_child(&calibrate), Signal::INT).unwrap();
    }
    calibrate.wait_with_output().unwrap()
}

#[test]
fn what_was_measured_before_an_interruption_is_printed() {
    let output = calibrate(&["--rounds", "0", "-c", LONG, "--output", "json"], Some(Duration::from_secs(1)));
    assert_eq!(output.status.code(), Some(130));
    let calibration: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(calibration["instruments"]["clock_reading_ns"].as_f64().unwrap() > 0.0);
    assert!(calibration["floors"].as_array().unwrap().len() < LONG.split(',').count());
}

#[test]
fn a_framework_to_pair_and_no_rounds_contradict_each_other() {
    let output = calibrate(&["--rounds", "0", "--pair", "nope"], None);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("--pair") && told.contains("--rounds 0"), "{told}");
}
