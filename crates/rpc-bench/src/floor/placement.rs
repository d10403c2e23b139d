//! Which CPUs the threads of each side run on.

use anyhow::{Context, Result, ensure};
use bench_host::CpuSet;

use super::FloorSpec;

/// Looks at the events without sleeping before each sleep, when each side has a CPU to itself: about 0.2 ms of looking.
///
/// Waking an idle CPU may cost far more than a call. In a virtual machine, with one connection: 9 000 calls/s without, 53 000
/// with a tenth of this, 107 000 with this. No difference at 100 connections and more, where nobody sleeps.
const LOOKS_BEFORE_SLEEP: usize = 1000;

/// Where the threads of a run go.
#[derive(Debug)]
pub struct Placement {
    /// CPUs of each server thread.
    pub server: CpuSet,
    /// CPUs of each client thread.
    pub client: CpuSet,
    /// How often a thread looks for events before it sleeps; 0 where it would take a CPU from the threads it waits for.
    pub looks: usize,
}

impl Placement {
    /// Each side stays on its own list, as the sides of every stack do: a floor on other CPUs would be the floor of something
    /// else. One thread a side is pinned to the first CPU of its list; more may each run on all of it.
    ///
    /// Two equal lists put the sides together; the kernel then tends to put both ends of a connection on one CPU, which saves
    /// their data the way from cache to cache (`rpc-bench calibrate` states by how much).
    ///
    /// # Errors
    /// If a list is empty, or an id is not one the kernel can have.
    pub fn of(spec: &FloorSpec) -> Result<Self> {
        let (server, client) = (&spec.server_cpus[..], &spec.client_cpus[..]);
        ensure!(!server.is_empty(), "server_cpus is empty: give at least one CPU id");
        ensure!(!client.is_empty(), "client_cpus is empty: give at least one CPU id");
        let one = spec.threads_per_side == 1;
        let of_side = |ids: &'_ [usize]| if one { ids[..1].to_vec() } else { ids.to_vec() };
        let server = cpu_set("server_cpus", &of_side(server))?;
        let client = cpu_set("client_cpus", &of_side(client))?;
        let looks = if !one || server == client { 0 } else { LOOKS_BEFORE_SLEEP };
        Ok(Self { server, client, looks })
    }
}

fn cpu_set(name: &str, ids: &[usize]) -> Result<CpuSet> {
    // An id too large for u32 is also too large for the kernel, and refused as such.
    let ids_u32 = ids.iter().map(|&id| u32::try_from(id).unwrap_or(u32::MAX));
    CpuSet::from_ids(ids_u32).with_context(|| format!("{name} is {ids:?}: ids must be below {}", bench_host::cpus::MAX_CPUS))
}
