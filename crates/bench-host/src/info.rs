//! What machine this is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::HostError;
use crate::error::{missing, read_file};

/// The machine a record was made on. Never holds its name or addresses: records are published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// The processor as `/proc/cpuinfo` names it, or what it says instead of a name (on Arm, the
    /// implementer and part numbers), or the architecture.
    pub cpu_model: String,
    /// CPUs online (SMT siblings are one each). Those a process may use can be fewer.
    pub cpus: u32,
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Frequency governor of the CPUs; several with a comma between if they differ; `None` where
    /// the kernel does not manage frequencies (most virtual machines).
    pub governor: Option<String>,
    /// Memory the kernel manages, in bytes: what is installed less what firmware and kernel keep.
    /// Not the limit of a container.
    pub memory_bytes: u64,
}

impl HostInfo {
    /// Asks the kernel.
    ///
    /// # Errors
    /// [`HostError::Read`] or [`HostError::Content`] if `/proc/cpuinfo` or `/proc/stat` is not
    /// there or not a kernel's.
    pub fn read() -> Result<Self, HostError> {
        let online = online(&read_file("/proc/stat")?);
        if online.is_empty() {
            return Err(missing("/proc/stat", "cpu0 line"));
        }
        let memory = rustix::system::sysinfo();
        Ok(Self {
            cpu_model: cpu_model(&read_file("/proc/cpuinfo")?),
            cpus: online.len() as u32,
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            governor: governors(&online),
            memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
        })
    }
}

/// Ids of the online CPUs: the `cpuN` lines of `/proc/stat`.
fn online(stat: &str) -> Vec<u32> {
    stat.lines()
        .filter_map(|line| line.split_whitespace().next()?.strip_prefix("cpu"))
        .filter_map(|id| id.parse().ok())
        .collect()
}

fn cpu_model(cpuinfo: &str) -> String {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    let arm = || {
        let (implementer, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    };
    value("model name") // x86, loongarch
        .or_else(|| value("cpu")) // power
        .or_else(|| value("uarch")) // risc-v
        .or_else(arm)
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn governors(online: &[u32]) -> Option<String> {
    let names: BTreeSet<String> = online
        .iter()
        .map(|id| format!("/sys/devices/system/cpu/cpu{id}/cpufreq/scaling_governor"))
        // No file is an answer: this CPU has no governor.
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|name| name.trim().to_owned())
        .collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described_without_its_name() {
        let info = HostInfo::read().unwrap();
        assert!(info.cpus >= 1 && info.memory_bytes > 0, "{info:?}");
        assert!(!info.cpu_model.is_empty());
        assert!(info.kernel.starts_with(|c: char| c.is_ascii_digit()));
        let json = serde_json::to_value(&info).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["cpu_model", "cpus", "governor", "kernel", "memory_bytes"]);
        assert_eq!(serde_json::from_value::<HostInfo>(json).unwrap(), info);
    }

    #[test]
    fn the_processor_is_named_on_every_architecture() {
        let x86 = "processor\t: 0\nmodel\t\t: 207\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(cpu_model(x86), "Some CPU @ 2 GHz");
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(arm), "Arm implementer 0x41 part 0xd0c");
        let power = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
        assert_eq!(cpu_model(power), "POWER9, altivec supported");
        assert_eq!(cpu_model(""), std::env::consts::ARCH);
    }

    #[test]
    fn offline_cpus_are_not_counted() {
        assert_eq!(online("cpu  9 9\ncpu0 1 2\ncpu2 3 4\nintr 5\n"), [0, 2]);
    }
}
