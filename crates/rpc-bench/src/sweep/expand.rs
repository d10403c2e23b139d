//! From the axes of a sweep file and what the stacks offer to the cells.

use std::collections::HashMap;

use anyhow::{Result, bail};
use bench_core::lane::Lane;
use serde::{Deserialize, Serialize};

use super::axes::Axes;
use super::cell::Cell;
use super::connections::Connections;
use super::file::SweepFile;
use super::only::Only;
use super::pace::Pace;
use crate::offer::{ClientOffer, Entry};
use crate::usage::usage_error;

/// A cell and how often it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCell {
    /// What runs.
    pub cell: Cell,
    /// How often, from 1.
    pub rounds: u64,
}

/// A cell that a stack does not offer: the table says so instead of leaving it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotOffered {
    /// Why, in a few words.
    pub reason: String,
    /// What was asked for.
    pub cell: Cell,
}

/// What a sweep file comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Cells in the order of the file.
    pub cells: Vec<PlannedCell>,
    /// Cells that are skipped.
    pub not_offered: Vec<NotOffered>,
}

/// All cells of a sweep.
///
/// # Errors
/// When the file or `--only` names a framework or a wire that does not exist, or nothing is left to run.
pub fn expand(file: &SweepFile, offers: &[ClientOffer], only: &Only) -> Result<Expansion> {
    only.check(offers)?;
    let mut expansion = Expansion::default();
    let mut places = HashMap::new();
    for (index, axes) in file.matrix.iter().enumerate() {
        let axes = axes.or(&file.defaults);
        check_names(&axes, offers).map_err(|error| error.context(format!("matrix {}", index + 1)))?;
        for offer in offers.iter().filter(|offer| only.takes(&offer.framework)) {
            if axes.frameworks.as_ref().is_none_or(|names| names.contains(&offer.framework)) {
                expand_stack(&axes, offer, only, file.run.scale, &mut expansion, &mut places);
            }
        }
    }
    if expansion.cells.is_empty() {
        return Err(usage_error(
            "nothing is left to run: no stack offers what the sweep and --only ask for",
        ));
    }
    Ok(expansion)
}

/// Refuses names that nobody offers; a name that only some offer is no error.
fn check_names(axes: &Axes, offers: &[ClientOffer]) -> Result<()> {
    let entries = || offers.iter().flat_map(|offer| &offer.entries);
    let frameworks = offers.iter().map(|offer| offer.framework.as_str());
    check_axis("frameworks", axes.frameworks.as_deref(), frameworks)?;
    let wires = ["flagship", "all"].into_iter().chain(entries().map(|entry| entry.wire.as_str()));
    check_axis("wires", axes.wires.as_deref(), wires)?;
    check_axis(
        "workloads",
        axes.workloads.as_deref(),
        entries().map(|entry| entry.workload.as_str()),
    )?;
    let sized = |name: &String| entries().any(|entry| entry.sized && entry.workload == *name);
    if axes.payload_bytes.is_some() && !axes.workloads.iter().flatten().any(sized) {
        bail!("payload_bytes: no workload of this matrix has messages of any size; add workloads = [\"payload\"]");
    }
    Ok(())
}

fn check_axis<'a>(axis: &str, asked: Option<&[String]>, there: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut known: Vec<&str> = Vec::new();
    for name in there {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    match asked.unwrap_or_default().iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => bail!("{axis}: there is no '{name}'; there are: {}", known.join(", ")),
        None => Ok(()),
    }
}

fn expand_stack(axes: &Axes, offer: &ClientOffer, only: &Only, scale: f64, expansion: &mut Expansion, places: &mut HashMap<Cell, usize>) {
    let mut add = |cell: Cell, rounds: u64| {
        let place = *places.entry(cell.clone()).or_insert(expansion.cells.len());
        match expansion.cells.get_mut(place) {
            Some(planned) => planned.rounds = planned.rounds.max(rounds),
            None => expansion.cells.push(PlannedCell { cell, rounds }),
        }
    };
    for cell in cells_of_stack(axes, offer, only, scale) {
        match offered(&cell, offer) {
            Ok(()) => add(cell, axes.rounds.unwrap_or(1)),
            Err(reason) => {
                let skipped = NotOffered { reason, cell };
                if !expansion.not_offered.contains(&skipped) {
                    expansion.not_offered.push(skipped);
                }
            }
        }
    }
}

/// Whether the stack can run the cell; else why not.
///
/// # Errors
/// With the reason, in a few words.
pub(crate) fn offered(cell: &Cell, offer: &ClientOffer) -> Result<(), String> {
    let Some(entry) = offer.entry(&cell.wire, Some(&cell.workload)) else {
        return Err(format!("no workload '{}' on this wire", cell.workload));
    };
    let of_runtimes = cell.client_threads.is_some() || cell.server_threads.is_some() || cell.server_runtime.is_some();
    if of_runtimes && entry.blocking {
        return Err("its connections have a thread each".to_owned());
    }
    match cell.connections {
        Connections::Shared(_) if !entry.shares => Err("its connections carry one call at a time".to_owned()),
        Connections::Shared(number) if u64::from(number) >= cell.callers => {
            Err(format!("{number} connections for {} callers are not shared", cell.callers))
        }
        _ => Ok(()),
    }
}

/// The product of the axes for one stack.
fn cells_of_stack(axes: &Axes, offer: &ClientOffer, only: &Only, scale: f64) -> Vec<Cell> {
    // Seconds to milliseconds, and milliseconds to microseconds.
    let thousandfold = |number: f64| (number * 1000.0).round() as u64;
    let scaled = |number: f64| (number * scale).ceil().max(1.0);
    let measure_ms = scaled(axes.seconds.unwrap_or(10.0) * 1000.0) as u64;
    let calls = axes.calls.map(|calls| scaled(calls as f64) as u64);
    let warmup_ms = thousandfold(axes.warmup_seconds.unwrap_or(1.0));

    let seed_cell = Cell {
        framework: offer.framework.clone(),
        wire: String::new(),
        lane: Lane::Default,
        workload: String::new(),
        payload_bytes: None,
        delay_us: 0,
        callers: 100,
        connections: Connections::PerCaller,
        server_threads: None,
        client_threads: None,
        measure_ms,
        calls,
        warmup_ms,
        yields: false,
        server_runtime: None,
        pace: None,
    };
    let cells = cross(
        vec![seed_cell],
        Some(&wires_and_workloads(axes, offer, only)),
        |cell, (wire, workload)| {
            (cell.wire, cell.workload) = (wire, workload);
        },
    );
    let cells = cross(cells, axes.lanes.as_deref(), |cell, lane| cell.lane = lane);
    // Cells that come to be the same are one: `expand_stack` knows them again.
    let cells = cross(cells, axes.payload_bytes.as_deref(), |cell, bytes| {
        let entry = offer.entry(&cell.wire, Some(&cell.workload));
        cell.payload_bytes = entry.is_some_and(|entry| entry.sized).then_some(bytes);
    });
    let cells = cross(cells, axes.delays_ms.as_deref(), |cell, delay_ms| {
        cell.delay_us = thousandfold(delay_ms)
    });
    let cells = cross(cells, axes.callers.as_deref(), |cell, callers| cell.callers = callers);
    let cells = cross(cells, axes.connections.as_deref(), |cell, connections| {
        cell.connections = connections
    });
    let cells = cross(cells, axes.server_threads.as_deref(), |cell, threads| {
        cell.server_threads = Some(threads)
    });
    let cells = cross(cells, axes.client_threads.as_deref(), |cell, threads| {
        cell.client_threads = Some(threads)
    });
    let cells = cross(cells, axes.yields.as_deref(), |cell, yields| cell.yields = yields);
    let cells = cross(cells, axes.server_runtimes.as_deref(), |cell, kind| {
        cell.server_runtime = Some(kind)
    });
    let arrival = axes.arrival.unwrap_or_default();
    cross(cells, axes.rates_per_s.as_deref(), |cell, rate| {
        cell.pace = Some(Pace::new(rate, arrival))
    })
}

/// Each cell with each value of one more axis; without values the cells as they are.
fn cross<T: Clone>(cells: Vec<Cell>, values: Option<&[T]>, set: impl Fn(&mut Cell, T)) -> Vec<Cell> {
    let Some(values) = values else { return cells };
    let with = |cell: &Cell, value: &T| {
        let mut cell = cell.clone();
        set(&mut cell, value.clone());
        cell
    };
    cells
        .iter()
        .flat_map(|cell| values.iter().map(|value| with(cell, value)).collect::<Vec<_>>())
        .collect()
}

/// A wire that `--only` names takes the place of the sweep's wires.
fn wires_and_workloads(axes: &Axes, offer: &ClientOffer, only: &Only) -> Vec<(String, String)> {
    let asked = match only.wires_of(&offer.framework) {
        wires if wires.is_empty() => axes.wires.clone().unwrap_or_else(|| vec!["flagship".to_owned()]),
        wires => wires,
    };
    let mut wires: Vec<String> = Vec::new();
    for name in asked {
        match name.as_str() {
            "flagship" => wires.extend(offer.flagship().map(|entry| entry.wire.clone())),
            "all" => wires.extend(offer.wires().into_iter().map(str::to_owned)),
            // A wire of another stack is no cell of this one.
            _ => wires.extend(offer.wires().into_iter().filter(|wire| *wire == name).map(str::to_owned)),
        }
    }
    let mut pairs = Vec::new();
    for wire in wires {
        let first = || offer.entry(&wire, None).map(|entry: &Entry| entry.workload.clone());
        let workloads = axes.workloads.clone().unwrap_or_else(|| first().into_iter().collect());
        pairs.extend(workloads.into_iter().map(|workload| (wire.clone(), workload)));
    }
    pairs
}
