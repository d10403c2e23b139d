//! Which stacks and wires are measured.

use std::path::Path;

use anyhow::Result;

use super::Arm;
use crate::discovery::Workspace;
use crate::offer::{ClientOffer, Entry};
use crate::programs::Programs;
use crate::sweep::cell::Cell;
use crate::sweep::connections::Connections;
use crate::usage::usage_error;

/// What is measured, and what was asked for in vain.
#[derive(Debug)]
pub struct Chosen {
    /// One for each wire.
    pub arms: Vec<Arm>,
    /// What cannot be had, and why.
    pub not_offered: Vec<String>,
}

/// Builds the stacks of these names, or all without any, and [chooses](choose).
///
/// # Errors
/// When a name does not exist, a package does not build, or nothing is left.
pub fn build_and_choose(manifest: Option<&Path>, frameworks: &[String], profile: &str, wires: &[String], asked: &Cell) -> Result<Chosen> {
    let stacks = Workspace::discover(manifest)?.stacks_named(frameworks)?;
    let built = (stacks.into_iter())
        .map(|stack| Programs::build_and_ask(manifest, stack, profile))
        .collect::<Result<Vec<_>>>()?;
    choose(&built, wires, asked)
}

/// The flagship of each stack, or those of these wires that it has. `asked` holds what is the same for all: its framework, wire and
/// workload are not used.
///
/// # Errors
/// When nothing is left: the text names what there is.
pub fn choose(stacks: &[(Programs, ClientOffer)], wires: &[String], asked: &Cell) -> Result<Chosen> {
    let mut chosen = Chosen {
        arms: Vec::new(),
        not_offered: Vec::new(),
    };
    let offered = || stacks.iter().flat_map(|(_, offer)| offer.wires());
    if let Some(unknown) = wires.iter().find(|wire| !offered().any(|there| there == **wire)) {
        return Err(usage_error(format!(
            "--wire: there is no '{unknown}'; there are: {}",
            offered().collect::<Vec<_>>().join(", ")
        )));
    }
    for (programs, offer) in stacks {
        for entry in entries(offer, wires) {
            let name = format!("{} {}", offer.framework, entry.wire);
            if matches!(asked.connections, Connections::Shared(_)) && !entry.shares {
                chosen.not_offered.push(format!(
                    "{name}: a connection carries one call at a time, so callers cannot share it"
                ));
                continue;
            }
            let cell = Cell {
                framework: offer.framework.clone(),
                wire: entry.wire.clone(),
                workload: entry.workload.clone(),
                ..asked.clone()
            };
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

/// The wires of one stack, each with echo where it has it.
fn entries<'a>(offer: &'a ClientOffer, wires: &'a [String]) -> Vec<&'a Entry> {
    if wires.is_empty() {
        return offer.flagship().into_iter().collect();
    }
    let entry = |wire: &String| offer.entry(wire, Some("echo")).or_else(|| offer.entry(wire, None));
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

    fn chosen(wires: &[&str], connections: Connections) -> Result<Chosen> {
        let stacks = [
            stack("a", vec![entry("w/x", "payload", false, false), entry("w/x", "echo", false, true)]),
            stack("b", vec![entry("w/y", "echo", true, true), entry("w/z", "payload", true, false)]),
        ];
        let wires: Vec<String> = wires.iter().map(ToString::to_string).collect();
        let asked = Cell {
            connections,
            ..example_cell()
        };
        choose(&stacks, &wires, &asked)
    }

    fn names(chosen: &Chosen) -> Vec<&str> {
        chosen.arms.iter().map(|arm| arm.name.as_str()).collect()
    }

    #[test]
    fn flagships_are_measured_unless_wires_are_named() {
        let all = chosen(&[], Connections::PerCaller).unwrap();
        assert_eq!(names(&all), ["a w/x", "b w/y"]);
        assert_eq!(all.arms[0].cell.workload, "echo");
        let named = chosen(&["w/z", "w/x", "w/z"], Connections::PerCaller).unwrap();
        assert_eq!(names(&named), ["a w/x", "b w/z"]);
        assert_eq!(named.arms[0].cell.workload, "echo");
        assert_eq!(named.arms[1].cell.workload, "payload");
    }

    #[test]
    fn what_cannot_share_is_named_and_left_out() {
        let shared = chosen(&[], Connections::Shared(2)).unwrap();
        assert_eq!(names(&shared), ["b w/y"]);
        assert!(shared.not_offered[0].starts_with("a w/x: "), "{:?}", shared.not_offered);
    }

    #[test]
    fn nothing_to_measure_is_an_error_that_names_what_there_is() {
        let error = chosen(&["w/nope"], Connections::PerCaller).unwrap_err().to_string();
        assert!(error.contains("w/nope") && error.contains("w/z"), "{error}");
        let error = chosen(&["w/x"], Connections::Shared(2)).unwrap_err().to_string();
        assert!(error.contains("--pool") && error.contains("a w/x"), "{error}");
    }
}
