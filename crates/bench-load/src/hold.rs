//! `--hold`: stays connected and measures one slice for each line on stdin, so that slices of several stacks can be interleaved.

use std::io::BufRead as _;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use bench_core::talk;
use serde::Deserialize;

use crate::control::{self, Client};
use crate::flags::MOST_RATE;
use crate::open::Pace;
use crate::session::RunPlan;
use crate::signals::EXIT_INTERRUPTED;

/// How often the wait for a line looks at signals.
const LOOK: Duration = Duration::from_millis(50);
const LONGEST_SLICE_MS: u64 = 60 * 60 * 1000;

/// One line on stdin.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct SliceOrder {
    /// Length of the measured slice.
    slice_ms: u64,
    /// Calls per second of an open loop; without it as `--rate` says, or a closed loop.
    #[serde(default)]
    rate_per_s: Option<f64>,
}

/// Answers every line with a record (or `{"error": …}`) until stdin closes; returns the exit code.
pub(crate) fn serve_slices(mut client: Client<'_>) -> anyhow::Result<u8> {
    let lines = read_lines();
    let mut exit = 0;
    // The first slice comes after the whole warm-up, the later ones after a tenth of their length: the connections stay warm, but the
    // callers have to fall out of step again.
    let mut slices: u64 = 0;
    let signals = client.session.signals().clone();
    loop {
        if signals.asked_to_stop() {
            exit = EXIT_INTERRUPTED;
            break;
        }
        let line = match lines.recv_timeout(LOOK) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if line.trim().is_empty() {
            continue;
        }
        let answer = match parse(&line) {
            Ok((slice, rate_per_s)) => {
                let flags = client.setting.flags;
                let plan = RunPlan {
                    warmup: if slices == 0 { flags.warmup } else { slice / 10 },
                    count: None,
                    duration: Some(slice),
                    callers: flags.callers(),
                    pace: rate_per_s
                        .or(flags.rate)
                        .map(|rate_per_s| pace_of_slice(flags.pace_of(rate_per_s), slices)),
                };
                slices += 1;
                let record = client.measure(&plan)?;
                exit = exit.max(control::exit_code(&record));
                serde_json::to_string(&record)?
            }
            Err(error) => {
                exit = exit.max(control::EXIT_FAILED);
                serde_json::json!({ "error": error }).to_string()
            }
        };
        talk::print_line(&answer)?;
    }
    client.session.close();
    Ok(exit)
}

/// Each slice has arrivals of its own, or Poisson ones would come in the same bunches every time.
fn pace_of_slice(pace: Pace, slice: u64) -> Pace {
    Pace {
        seed: pace.seed.wrapping_add(slice),
        ..pace
    }
}

/// Length and rate of a slice.
fn parse(line: &str) -> Result<(Duration, Option<f64>), String> {
    let order: SliceOrder =
        serde_json::from_str(line).map_err(|error| format!("expected a line such as {{\"slice_ms\": 200}}: {error}"))?;
    if let Some(rate) = order.rate_per_s
        && !(rate > 0.0 && rate <= MOST_RATE)
    {
        return Err(format!("rate_per_s must be above 0, at most {MOST_RATE}, or null"));
    }
    if !(1..=LONGEST_SLICE_MS).contains(&order.slice_ms) {
        return Err(format!("slice_ms must be from 1 to {LONGEST_SLICE_MS}"));
    }
    Ok((Duration::from_millis(order.slice_ms), order.rate_per_s))
}

/// Lines of stdin, read on a thread of its own: a blocking read cannot look at signals.
fn read_lines() -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { return };
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_has_a_seed_of_its_own() {
        let pace = Pace {
            rate_per_s: 5.0,
            arrival: bench_core::arrival::Arrival::Poisson,
            pacer: crate::open::PacerKind::Timer,
            coalesce: Duration::ZERO,
            seed: u64::MAX,
        };
        let seeds = [0, 1, 2].map(|slice| pace_of_slice(pace, slice).seed);
        assert_eq!(seeds, [u64::MAX, 0, 1]);
    }

    #[test]
    fn a_line_is_a_slice_or_says_what_it_should_be() {
        let slice = Duration::from_millis(200);
        assert_eq!(parse(r#"{"slice_ms": 200}"#), Ok((slice, None)));
        assert_eq!(parse(r#"{"slice_ms": 200, "rate_per_s": null}"#), Ok((slice, None)));
        assert_eq!(parse(r#"{"slice_ms": 200, "rate_per_s": 0.5}"#), Ok((slice, Some(0.5))));
        for line in [
            "200",
            "{}",
            r#"{"slice_ms": 0}"#,
            r#"{"slice_ms": -1}"#,
            r#"{"slice_ms": 1e12}"#,
            r#"{"slice_ms": 5, "rate_per_s": 0}"#,
            r#"{"slice_ms": 5, "rate_per_s": -1}"#,
            r#"{"slice_ms": 5, "rate_per_s": 1e12}"#,
            r#"{"slice": 5}"#,
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
