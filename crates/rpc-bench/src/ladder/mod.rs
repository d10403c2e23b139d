//! The ladder: where the microseconds of CPU of one call go, from the codec by itself over plain frames to each framework with the same
//! codec.
//!
//! Opaque frames cost what the kernel, the runtime and the loop cost; frames with a codec add the codec; what a framework has on top of
//! those is the framework's.

mod codecs;
mod text;

use std::collections::HashMap;

use anyhow::{Context as _, Result, bail};
use bench_core::lane::Lane;
use bench_core::units::median;
use serde::Serialize;

pub use codecs::CodecCost;

use crate::interrupt::Interrupt;
use crate::offer::ClientOffer;
use crate::programs::Programs;
use crate::sweep::cell::Cell;
use crate::sweep::connections::Connections;
use crate::sweep::plan::shuffle;
use crate::sweep::run_cell::{self, CellEnd};
use crate::usage::usage_error;

/// The stack whose frames are the rungs below every framework.
const CONTROL: &str = "tcp";
/// Its frames without a codec.
const OPAQUE: &str = "tcp+framed/opaque";
/// Shared connections of the second row of stacks that multiplex.
const SHARED: u32 = 10;

/// What to measure.
#[derive(Clone, Debug)]
pub struct LadderSpec {
    /// Codecs, each a ladder of its own.
    pub codecs: Vec<String>,
    /// Concurrent callers.
    pub callers: u64,
    /// Rounds; the medians are shown.
    pub rounds: u64,
    /// Measured window of each run in milliseconds.
    pub measure_ms: u64,
    /// Lane of both sides.
    pub lane: Lane,
    /// Seed of the order in each round.
    pub seed: u64,
}

/// One rung: microseconds of CPU per call, medians over the rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Rung {
    /// What it is, for people.
    pub name: String,
    /// The client's.
    pub client_us: f64,
    /// The server's.
    pub server_us: f64,
    /// Both sides of one run together: the figure to compare, for loopback charges one side with the other's work.
    pub sum_us: f64,
    /// Least and greatest sum of the rounds.
    pub sum_us_range: (f64, f64),
    /// Sum beyond that of raw TCP with the same codec; null for the rungs below.
    pub beyond_control_us: Option<f64>,
}

/// All rungs of one codec, the lowest first.
#[derive(Clone, Debug, Serialize)]
pub struct Ladder {
    /// Second half of the wires.
    pub codec: String,
    /// The codec by itself, without sockets; null where the suite does not link it.
    pub alone: Option<CodecCost>,
    /// Opaque frames, frames with the codec, frameworks.
    pub rungs: Vec<Rung>,
    /// What did not run, and why.
    pub failures: Vec<String>,
}

/// Runs all cells in interleaved rounds.
///
/// # Errors
/// When there is no control, no cell, or somebody asked to stop.
pub fn measure(spec: &LadderSpec, stacks: &[(Programs, ClientOffer)], interrupt: &Interrupt, tell: impl Fn(&str)) -> Result<Vec<Ladder>> {
    let plan: Vec<(String, Vec<Cell>)> = spec
        .codecs
        .iter()
        .map(|codec| (codec.clone(), cells(spec, codec, stacks)))
        .collect();
    let mut all: Vec<Cell> = Vec::new();
    for cell in plan.iter().flat_map(|(_, cells)| cells) {
        if !all.contains(cell) {
            all.push(cell.clone());
        }
    }
    if let Some((codec, _)) = plan.iter().find(|(_, cells)| cells.is_empty()) {
        let mut there: Vec<&str> = stacks.iter().flat_map(|(_, offer)| offer.wires()).filter_map(codec_of).collect();
        there.sort_unstable();
        there.dedup();
        return Err(usage_error(format!(
            "--codec: no wire has '{codec}'; there are: {}",
            there.join(", ")
        )));
    }
    let programs: HashMap<&str, &Programs> = stacks.iter().map(|(p, _)| (p.stack.framework.as_str(), p)).collect();
    let mut sums = Measured::default();
    for round in 0..spec.rounds {
        let mut order: Vec<&Cell> = all.iter().collect();
        shuffle(&mut order, spec.seed.wrapping_add(round));
        for cell in order {
            tell(&format!("round {}/{}: {cell}", round + 1, spec.rounds));
            let programs = programs.get(cell.framework.as_str()).with_context(|| {
                format!(
                    "the ladder needs the stack '{}', which is not built: name it in --only as well",
                    cell.framework
                )
            })?;
            match run_cell::run(cell, programs, spec.seed.wrapping_add(round), "ladder", interrupt) {
                CellEnd::Ran(record) => sums.add(cell, &record),
                CellEnd::Failed(error) => sums.fail(cell, error),
                CellEnd::Interrupted => bail!("interrupted"),
            }
        }
    }
    Ok(plan.iter().map(|(codec, cells)| sums.ladder(codec, cells)).collect())
}

/// The control's two rungs, then every wire with the codec, by itself and over shared connections.
fn cells(spec: &LadderSpec, codec: &str, stacks: &[(Programs, ClientOffer)]) -> Vec<Cell> {
    let cell = |framework: &str, wire: &str, workload: &str, connections| Cell {
        framework: framework.to_owned(),
        wire: wire.to_owned(),
        lane: spec.lane,
        workload: workload.to_owned(),
        payload_bytes: None,
        delay_us: 0,
        callers: spec.callers,
        connections,
        server_threads: None,
        client_threads: None,
        measure_ms: spec.measure_ms,
        calls: None,
        warmup_ms: 300,
        yields: false,
        server_runtime: None,
        pace: None,
    };
    let control = format!("tcp+framed/{codec}");
    let mut cells = vec![cell(CONTROL, OPAQUE, "payload", Connections::PerCaller)];
    for (programs, offer) in stacks {
        let framework = programs.stack.framework.as_str();
        let with_codec = |wire: &str| codec_of(wire) == Some(codec);
        for entry in offer
            .entries
            .iter()
            .filter(|entry| entry.workload == "echo" && with_codec(&entry.wire))
        {
            let own = cell(framework, &entry.wire, "echo", Connections::PerCaller);
            match entry.wire == control {
                true => cells.insert(1, own),
                false => cells.push(own),
            }
            if entry.shares && spec.callers > u64::from(SHARED) {
                cells.push(cell(framework, &entry.wire, "echo", Connections::Shared(SHARED)));
            }
        }
    }
    // Without a wire of this codec there is no ladder.
    if cells.len() == 1 {
        cells.clear();
    }
    cells
}

/// Second half of a wire's name.
fn codec_of(wire: &str) -> Option<&str> {
    wire.rsplit_once('/').map(|(_, codec)| codec)
}

#[derive(Default)]
struct Measured {
    /// (client, server) of each round.
    figures: HashMap<Cell, Vec<(f64, f64)>>,
    failures: Vec<(Cell, String)>,
}

impl Measured {
    fn add(&mut self, cell: &Cell, record: &bench_core::record::Record) {
        let of = |side: &Option<bench_core::record::ProcessUse>| side.as_ref().and_then(|side| side.cpu_us_per_call);
        match (record.throughput_per_s, of(&record.client), of(&record.server)) {
            (Some(_), Some(client), Some(server)) => self.figures.entry(cell.clone()).or_default().push((client, server)),
            _ => self.fail(cell, format!("{:?}", record.verdict_reasons)),
        }
    }

    fn fail(&mut self, cell: &Cell, error: String) {
        self.failures.push((cell.clone(), error));
    }

    fn ladder(&self, codec: &str, cells: &[Cell]) -> Ladder {
        let sum = |cell: &Cell| self.figures.get(cell).and_then(|rounds| median(&sums(rounds)));
        let control = cells.get(1).filter(|cell| cell.wire == format!("tcp+framed/{codec}"));
        let base = control.and_then(sum);
        let rungs = cells.iter().enumerate().filter_map(|(place, cell)| {
            let rounds = self.figures.get(cell)?;
            let sums = sums(rounds);
            let side = |take: fn(&(f64, f64)) -> f64| median(&rounds.iter().map(take).collect::<Vec<_>>());
            Some(Rung {
                name: rung_name(cell),
                client_us: side(|round| round.0)?,
                server_us: side(|round| round.1)?,
                sum_us: median(&sums)?,
                sum_us_range: (
                    sums.iter().copied().fold(f64::MAX, f64::min),
                    sums.iter().copied().fold(0.0, f64::max),
                ),
                beyond_control_us: base.filter(|_| place > 1).zip(sum(cell)).map(|(base, sum)| sum - base),
            })
        });
        let failed = self.failures.iter().filter(|(cell, _)| cells.contains(cell));
        Ladder {
            codec: codec.to_owned(),
            alone: CodecCost::of(codec),
            rungs: rungs.collect(),
            failures: failed.map(|(cell, error)| format!("{cell}: {error}")).collect(),
        }
    }
}

fn sums(rounds: &[(f64, f64)]) -> Vec<f64> {
    rounds.iter().map(|(client, server)| client + server).collect()
}

fn rung_name(cell: &Cell) -> String {
    match cell.connections {
        Connections::PerCaller => format!("{} {}", cell.framework, cell.wire),
        Connections::Shared(number) => format!("{} {} over {number}", cell.framework, cell.wire),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_is_compared_with_raw_tcp_of_its_codec() {
        let spec = LadderSpec {
            codecs: vec!["x".to_owned()],
            callers: 100,
            rounds: 2,
            measure_ms: 1,
            lane: Lane::Default,
            seed: 1,
        };
        let entry = |wire: &str, shares| crate::offer::Entry {
            wire: wire.to_owned(),
            workload: "echo".to_owned(),
            shares,
            sized: false,
            blocking: false,
            flagship: false,
        };
        let stack = |framework: &str, entries| {
            let stack = crate::discovery::Stack {
                framework: framework.to_owned(),
                library: String::new(),
                library_version: None,
                server: String::new(),
                client: String::new(),
            };
            let offer = ClientOffer {
                framework: framework.to_owned(),
                library: String::new(),
                entries,
            };
            let (server, client) = Default::default();
            (Programs { stack, server, client }, offer)
        };
        let stacks = [
            stack("a", vec![entry("h/x", true), entry("h/y", false)]),
            stack("tcp", vec![entry("tcp+mux/x", true), entry("tcp+framed/x", false)]),
        ];
        let cells = cells(&spec, "x", &stacks);
        let names: Vec<String> = cells.iter().map(rung_name).collect();
        let expected = [
            "tcp tcp+framed/opaque",
            "tcp tcp+framed/x",
            "a h/x",
            "a h/x over 10",
            "tcp tcp+mux/x",
            "tcp tcp+mux/x over 10",
        ];
        assert_eq!(names, expected);

        let mut measured = Measured::default();
        for (cell, (client, server)) in cells.iter().zip([(1.0, 1.0), (3.0, 2.0), (10.0, 5.0)]) {
            measured
                .figures
                .insert(cell.clone(), vec![(client, server), (client + 1.0, server)]);
        }
        measured.fail(&cells[3], "broken".to_owned());
        let ladder = measured.ladder("x", &cells);
        let beyond: Vec<Option<f64>> = ladder.rungs.iter().map(|rung| rung.beyond_control_us).collect();
        assert_eq!(beyond, [None, None, Some(10.0)]);
        assert_eq!(ladder.rungs[2].sum_us_range, (15.0, 16.0));
        assert_eq!(ladder.failures.len(), 1);
    }
}
