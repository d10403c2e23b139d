//! Sharing out the physical cores between server and client.

use crate::{CpuSet, HostError};

/// One end of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Answers calls.
    Server,
    /// Makes them.
    Client,
}

/// The CPUs of one side where nobody chose: its half of [`halves`] if the other side must be on this machine too and the two would fight
/// over them; else all that are allowed.
///
/// # Errors
/// As [`CpuSet::allowed`].
pub fn cpus_of(side: Side, apart: bool) -> Result<CpuSet, HostError> {
    let allowed = CpuSet::allowed()?;
    if !apart {
        return Ok(allowed);
    }
    let (server, client) = halves(&allowed);
    Ok(match side {
        Side::Server => server,
        Side::Client => client,
    })
}

/// Splits `allowed` into CPUs for the server and CPUs for the client: half of the physical
/// cores each, disjoint, SMT siblings on the same side (see METHODOLOGY.md, Fairness).
///
/// - Cores go in the order of their lowest CPU id; the server gets the first half.
/// - Of an odd number the **client** gets the core more: the server is what is measured, so the
///   load generator should be the last to run out.
/// - With a single core both sides get all of it, its siblings too: two threads of one core
///   compete for it anyway.
/// - A CPU whose siblings the kernel does not tell (offline, no topology files) is taken for a
///   core of its own.
///
/// Neither NUMA nodes nor cores of unequal speed are looked at: there, CPUs are better chosen by
/// hand. Reads one file of `/sys` per CPU.
pub fn halves(allowed: &CpuSet) -> (CpuSet, CpuSet) {
    split(allowed, |id| {
        let path = format!("/sys/devices/system/cpu/cpu{id}/topology/thread_siblings_list");
        // An error is an answer here: "not known", so the CPU is its own core.
        std::fs::read_to_string(path).ok()?.parse().ok()
    })
}

/// The rule of [`halves`] for any topology: `siblings_of` gives the CPUs of the core that a CPU
/// belongs to, if it is known.
fn split(allowed: &CpuSet, siblings_of: impl Fn(u32) -> Option<CpuSet>) -> (CpuSet, CpuSet) {
    let cores = cores(allowed, siblings_of);
    let (server, client) = cores.split_at(cores.len() / 2);
    let set = |part: &[Vec<u32>]| CpuSet::from_ids(part.iter().flatten().copied());
    match (set(server), set(client)) {
        (Some(server), Some(client)) => (server, client),
        _ => (allowed.clone(), allowed.clone()),
    }
}

/// The allowed CPUs grouped by physical core, in the order of each core's lowest id.
fn cores(allowed: &CpuSet, siblings_of: impl Fn(u32) -> Option<CpuSet>) -> Vec<Vec<u32>> {
    let mut cores: Vec<Vec<u32>> = Vec::new();
    for &id in allowed.ids() {
        let siblings = siblings_of(id);
        let known = cores
            .iter_mut()
            .find(|core| siblings.as_ref().is_some_and(|siblings| siblings.contains(core[0])));
        match known {
            Some(core) => core.push(id),
            None => cores.push(vec![id]),
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    /// `topology` lists the cores by their CPUs; a CPU in none of them has no topology file.
    #[track_caller]
    fn check(allowed: &str, topology: &[&str], server: &str, client: &str) {
        let siblings_of = |id| topology.iter().map(|core| set(core)).find(|core| core.contains(id));
        let got = split(&set(allowed), siblings_of);
        assert_eq!(got, (set(server), set(client)));
    }

    #[test]
    fn one_cpu_serves_both() {
        check("0", &["0"], "0", "0");
        check("5", &[], "5", "5");
    }

    #[test]
    fn one_core_with_two_threads_serves_both() {
        check("0-1", &["0-1"], "0-1", "0-1");
    }

    #[test]
    fn two_cores_are_one_each() {
        check("0-1", &["0", "1"], "0", "1");
    }

    #[test]
    fn siblings_stay_together_however_they_are_numbered() {
        check("0-7", &["0,4", "1,5", "2,6", "3,7"], "0-1,4-5", "2-3,6-7");
        check("0-7", &["0-1", "2-3", "4-5", "6-7"], "0-3", "4-7");
    }

    #[test]
    fn of_three_cores_the_client_gets_two() {
        check("0-2", &["0", "1", "2"], "0", "1-2");
        check("0-5", &["0,3", "1,4", "2,5"], "0,3", "1-2,4-5");
    }

    #[test]
    fn only_allowed_cpus_are_given_out() {
        check("1,3,5,7", &["0,4", "1,5", "2,6", "3,7"], "1,5", "3,7");
        check("4-5", &["0,4", "1,5", "2,6", "3,7"], "4", "5");
    }

    #[test]
    fn without_topology_files_each_cpu_is_a_core() {
        check("0-3", &[], "0-1", "2-3");
        check("0-3", &["0,2"], "0,2", "1,3"); // 1 and 3 unknown: three cores
    }

    #[test]
    fn this_machine_is_split_into_allowed_parts() {
        let allowed = CpuSet::allowed().unwrap();
        let (server, client) = halves(&allowed);
        server.check_within(&allowed).unwrap();
        client.check_within(&allowed).unwrap();
        let together = CpuSet::from_ids([server.ids(), client.ids()].concat()).unwrap();
        assert_eq!(together, allowed);
        assert!(server == client || server.ids().iter().all(|&id| !client.contains(id)));
    }
}
