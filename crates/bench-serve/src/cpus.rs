//! Which CPUs the runtime threads get.

use std::net::IpAddr;

use anyhow::Context as _;
use bench_host::CpuSet;

/// The CPUs asked for; without a word, half of the physical cores where the clients must be on this machine too, since a server and a
/// client that share cores measure the kernel's scheduler (METHODOLOGY.md, "Fairness"); else, and for threads that block, all that are
/// allowed.
pub(crate) fn choose(asked: Option<&CpuSet>, blocking: bool, listens_on: IpAddr) -> anyhow::Result<CpuSet> {
    if let Some(cpus) = asked {
        return Ok(cpus.clone());
    }
    let allowed = CpuSet::allowed().context("which CPUs this process may use")?;
    if blocking || !listens_on.is_loopback() {
        return Ok(allowed);
    }
    let (server, _client) = bench_host::halves(&allowed);
    Ok(server)
}
