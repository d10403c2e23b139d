//! Progress of a sweep on stderr: `[12/58] round 1/2 grpc h2/protobuf 0 ms c=500 … 41,234/s  ETA 3m12s`.

use std::fmt::Display;
use std::time::{Duration, Instant};

use super::expand::PlannedCell;
use super::plan::{Step, Work};
use bench_core::talk;
use bench_core::units::{duration_in_words, grouped};

/// Start, ready line, connecting, draining and stopping of a cell, roughly.
const CELL_OVERHEAD_MS: u64 = 900;
/// Runs inside one floor, with one and with two threads a side, and the warm-up of each.
const FLOOR_RUNS: u64 = 2;
const FLOOR_WARMUP_MS: u64 = 500;

/// How long a step takes, roughly: for the ETA and `--dry-run`.
pub fn estimate(step: &Step, cells: &[PlannedCell]) -> Duration {
    Duration::from_millis(match step.work {
        Work::Cell(place) => {
            let cell = &cells[place].cell;
            CELL_OVERHEAD_MS + cell.warmup_ms + cell.measure_ms
        }
        Work::Floor { measure_ms, .. } => CELL_OVERHEAD_MS / 2 + FLOOR_RUNS * (FLOOR_WARMUP_MS + measure_ms),
    })
}

/// What has been done and what is left.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    rounds: u64,
    done: usize,
    started: Instant,
    estimated_done: Duration,
    estimated_left: Duration,
}

impl Progress {
    /// Of a sweep with these steps, some of which were done before.
    pub fn new(total: usize, rounds: u64, done: usize, left: Duration) -> Self {
        Self {
            total,
            rounds,
            done,
            started: Instant::now(),
            estimated_done: Duration::ZERO,
            estimated_left: left,
        }
    }

    /// A step begins.
    pub fn begin(&self, step: &Step, what: &impl Display) {
        talk::say_partly(format_args!(
            "[{}/{}] round {}/{} {what} … ",
            self.done + 1,
            self.total,
            step.round + 1,
            self.rounds
        ));
    }

    /// It has ended.
    pub fn end(&mut self, estimated: Duration, outcome: &str) {
        self.done += 1;
        self.estimated_done += estimated;
        self.estimated_left = self.estimated_left.saturating_sub(estimated);
        talk::say(format_args!("{outcome}  ETA {}", duration_in_words(self.left())));
    }

    /// The estimate of what is left, corrected by how the steps so far kept to theirs.
    fn left(&self) -> Duration {
        if self.estimated_done.is_zero() {
            return self.estimated_left;
        }
        self.estimated_left
            .mul_f64(self.started.elapsed().as_secs_f64() / self.estimated_done.as_secs_f64())
    }
}

/// A throughput for a progress line.
pub fn per_second(throughput: Option<f64>) -> String {
    throughput.map_or_else(|| "n/a".to_owned(), |throughput| format!("{}/s", grouped(throughput)))
}
