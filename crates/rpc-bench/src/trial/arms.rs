//! Which stacks and wires are measured.

use std::path::Path;

use anyhow::Result;

use super::Arm;
use crate::discovery::Workspace;
use crate::offer::{ClientOffer, Entry};
use crate::programs::Programs;
use crate::sweep::cell::Cell;
use crate::sweep::connections::Connections;
use crate::sweep::expand::offered;
use crate::usage::usage_error;

/// Connections that the callers of a stack that multiplexes share in a row beside the one of their own connections, as in the sweeps: one
/// HTTP/2 connection is one mutex, and hundreds of them is nobody's deployment. See "Fairness" in METHODOLOGY.md.
pub const USUAL_POOL: u32 = 10;

/// What is measured, and what was asked for in vain.
#[derive(Debug)]
pub struct Chosen {
    /// One for each wire and each of what was asked.
    pub arms: Vec<Arm>,
    /// Names of the arms with a connection for each caller which could share [`USUAL_POOL`].
    pub can_share: Vec<String>,
    /// What cannot be had, and why.
    pub not_offered: Vec<String>,
}

/// Builds the stacks of these names, or all without any, and [chooses](choose).
///
/// # Errors
/// When a name does not exist, a package does not build, or nothing is left.
pub fn build_and_choose(manifest: Option<&Path>, frameworks: &[String], profile: &str, wires: &[String], asked: &[Cell]) -> Result<Chosen> {
    let stacks = Workspace::discover(manifest)?.stacks_named(frameworks)?;
    let built = (stacks.into_iter())
        .map(|stack| Programs::build_and_ask(manifest, stack, profile))
        .collect::<Result<Vec<_>>>()?;
    choose(&built, wires, asked)
}

/// The flagship of each stack, or those of these wires that it has, with each of what is `asked`: framework, wire and workload are not
/// named in it, and where there are several they differ by their connections.
///
/// # Errors
/// When nothing is left: the text names what there is.
pub fn choose(stacks: &[(Programs, ClientOffer)], wires: &[String], asked: &[Cell]) -> Result<Chosen> {
    let mut chosen = Chosen {
        arms: Vec::new(),
        can_share: Vec::new(),
        not_offered: Vec::new(),
    };
    let wires_offered = || stacks.iter().flat_map(|(_, offer)| offer.wires());
    if let Some(unknown) = wires.iter().find(|wire| !wires_offered().any(|there| there == **wire)) {
        return Err(usage_error(format!(
            "--wire: there is no '{unknown}'; there are: {}",
            wires_offered().collect::<Vec<_>>().join(", ")
        )));
    }
    let several = asked.len() > 1;
    for (programs, offer) in stacks {
        for (entry, asked) in (entries(offer, wires).into_iter()).flat_map(|entry| asked.iter().map(move |cell| (entry, cell))) {
            let cell = Cell {
                framework: offer.framework.clone(),
                wire: entry.wire.clone(),
                workload: entry.workload.clone(),
                ..asked.clone()
            };
            let name = name(&cell, several);
            if let Err(reason) = offered(&cell, offer) {
                chosen.not_offered.push(format!("{name}: {reason}"));
                continue;
            }
            if cell.connections == Connections::PerCaller && offered(&over_the_usual_pool(&cell), offer).is_ok() {
                chosen.can_share.push(name.clone());
            }
            chosen.arms.push(Arm::new(&name, cell, programs.clone()));
        }
    }
    match chosen.arms.is_empty() {
        true => Err(usage_error(format!(
            "--pool is not offered here: {}; leave it out",
            chosen.not_offered.join("; ")
        ))),
        false => Ok(chosen),
    }
}

/// What is asked for, with [`USUAL_POOL`] connections for all callers.
pub fn over_the_usual_pool(asked: &Cell) -> Cell {
    Cell {
        connections: Connections::Shared(USUAL_POOL),
        ..asked.clone()
    }
}

/// Framework and wire; shared connections too where not all arms have the same.
fn name(cell: &Cell, several: bool) -> String {
    let shared = match cell.connections {
        Connections::Shared(number) if several => format!(" over {number}"),
        _ => String::new(),
    };
    format!("{} {}{shared}", cell.framework, cell.wire)
}

/// The wires of one stack, each once.
fn entries<'a>(offer: &'a ClientOffer, wires: &'a [String]) -> Vec<&'a Entry> {
    if wires.is_empty() {
        return offer.preferred(None).into_iter().collect();
    }
    let entry = |wire: &String| offer.preferred(Some(wire));
    let first_time = |(place, wire): (usize, &'a String)| (!wires.iter().take(place).any(|earlier| earlier == wire)).then_some(wire);
    wires.iter().enumerate().filter_map(first_time).filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::failed::tests::example_cell;

    fn entry(wire: &str, workload: &str, shares: bool, flagship: bool) -> Entry {
        Entry {
            wire: wire.to_owned(),
            workload: workload.to_owned(),
            shares,
            sized: false,
            blocking: false,
            flagship,
        }
    }

    fn stack(framework: &str, entries: Vec<Entry>) -> (Programs, ClientOffer) {
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
    }

    fn chosen(wires: &[&str], connections: &[Connections]) -> Result<Chosen> {
        let stacks = [
            stack("a", vec![entry("w/x", "payload", false, false), entry("w/x", "echo", false, true)]),
            stack("b", vec![entry("w/y", "echo", true, true), entry("w/z", "payload", true, false)]),
        ];
        let wires: Vec<String> = wires.iter().map(ToString::to_string).collect();
        let with = |connections: &Connections| Cell {
            connections: *connections,
            ..example_cell()
        };
        let asked: Vec<Cell> = connections.iter().map(with).collect();
        choose(&stacks, &wires, &asked)
    }

    fn names(chosen: &Chosen) -> Vec<&str> {
        chosen.arms.iter().map(|arm| arm.name.as_str()).collect()
    }

    #[test]
    fn flagships_are_measured_unless_wires_are_named() {
        let all = chosen(&[], &[Connections::PerCaller]).unwrap();
        assert_eq!(names(&all), ["a w/x", "b w/y"]);
        assert_eq!(all.can_share, ["b w/y"]);
        assert_eq!(all.arms[0].cell.workload, "echo");
        let named = chosen(&["w/z", "w/x", "w/z"], &[Connections::PerCaller]).unwrap();
        assert_eq!(names(&named), ["a w/x", "b w/z"]);
        assert_eq!(named.arms[0].cell.workload, "echo");
        assert_eq!(named.arms[1].cell.workload, "payload");
    }

    #[test]
    fn what_cannot_share_is_named_and_left_out() {
        let shared = chosen(&[], &[Connections::Shared(2)]).unwrap();
        assert_eq!(names(&shared), ["b w/y"]);
        assert_eq!(shared.not_offered, ["a w/x: its connections carry one call at a time"]);
        assert_eq!(shared.can_share, [""; 0]);
    }

    #[test]
    fn shared_connections_beside_own_ones_are_named_so() {
        let both = chosen(&[], &[Connections::PerCaller, Connections::Shared(USUAL_POOL)]).unwrap();
        assert_eq!(names(&both), ["a w/x", "b w/y", "b w/y over 10"]);
        assert_eq!(both.not_offered, ["a w/x over 10: its connections carry one call at a time"]);
        // As many connections as callers are not shared.
        let few = chosen(&["w/y"], &[Connections::PerCaller, Connections::Shared(50)]).unwrap();
        assert_eq!(names(&few), ["b w/y"]);
        assert!(few.not_offered[0].starts_with("b w/y over 50: "), "{:?}", few.not_offered);
    }

    #[test]
    fn nothing_to_measure_is_an_error_that_names_what_there_is() {
        let error = chosen(&["w/nope"], &[Connections::PerCaller]).unwrap_err().to_string();
        assert!(error.contains("w/nope") && error.contains("w/z"), "{error}");
        let error = chosen(&["w/x"], &[Connections::Shared(2)]).unwrap_err().to_string();
        assert!(error.contains("--pool") && error.contains("a w/x"), "{error}");
    }
}
