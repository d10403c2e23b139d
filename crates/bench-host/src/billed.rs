//! The CPU time the kernel has billed to every process of the machine.

use std::collections::BTreeMap;

use crate::HostError;
use crate::error::read_file;

const PROC: &str = "/proc";

/// CPU times of all processes at one time, in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Billed {
    /// By process id and start time: an id is used again, not both.
    processes: BTreeMap<(u32, u64), Times>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    /// Of the process, its ended threads included.
    own: u64,
    /// Of its children that have ended and that it has waited for.
    ended_children: u64,
}

impl Billed {
    /// Reads `/proc/*/stat`; `None` if some processes are hidden from this one (a PID namespace,
    /// `hidepid`). Some 10 µs a process.
    pub fn now() -> Result<Option<Self>, HostError> {
        // The kernel's own threads are the children of process 2 of the outermost namespace.
        let is_kthreadd = |stat: String| stat.starts_with("2 (kthreadd) ");
        if !read_file("/proc/2/stat").is_ok_and(is_kthreadd) {
            return Ok(None);
        }
        let listing = std::fs::read_dir(PROC).map_err(|source| HostError::Read { path: PROC.into(), source })?;
        let processes = listing
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
            // A process that ends between the listing and the reading is not there any more.
            .filter_map(|pid| {
                let stat = std::fs::read_to_string(format!("{PROC}/{pid}/stat")).ok()?;
                let (started, times) = parse(&stat)?;
                Some(((pid, started), times))
            })
            .collect();
        Ok(Some(Self { processes }))
    }

    /// Ticks billed between `earlier` and this reading; never more than there were, rounding
    /// aside.
    ///
    /// The larger of two lower bounds. One counts the processes alive now, and misses those that
    /// came and went. The other counts ended ones too, through their parents: exact, but it
    /// falls short by the whole life of a process whose parent does not wait for it.
    pub fn since(&self, earlier: &Self) -> u64 {
        let alive = self.processes.iter().map(|(id, now)| {
            let before = earlier.processes.get(id).map_or(0, |times| times.own);
            now.own.saturating_sub(before)
        });
        let all = |billed: &Self| -> u64 {
            let times = billed.processes.values();
            times.map(|times| times.own + times.ended_children).sum()
        };
        alive.sum::<u64>().max(all(self).saturating_sub(all(earlier)))
    }
}

/// Start time and CPU times of a `/proc/PID/stat` (proc_pid_stat(5): `utime`, `stime`, `cutime`,
/// `cstime` are fields 14 to 17, `starttime` is 22). `None` for `ksoftirqd`, too: what it
/// does is finish interrupts, in a loopback benchmark mostly the benchmark's own.
fn parse(stat: &str) -> Option<(u64, Times)> {
    // The name is in parentheses and may hold anything, these included; field 3 comes after it.
    let (before, after) = stat.rsplit_once(')')?;
    if before.split_once('(')?.1.starts_with("ksoftirqd/") {
        return None;
    }
    let fields: Vec<&str> = after.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let times = Times {
        own: field(14)? + field(15)?,
        ended_children: field(16)? + field(17)?,
    };
    Some((field(22)?, times))
}

#[cfg(test)]
impl Billed {
    /// From `(pid, own, ended children)`, all started at the same time.
    pub fn of(processes: &[(u32, u64, u64)]) -> Self {
        let processes = processes
            .iter()
            .map(|&(pid, own, ended_children)| {
                let times = Times { own, ended_children };
                ((pid, 0), times)
            })
            .collect();
        Self { processes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &[(u32, u64, u64)], after: &[(u32, u64, u64)], ticks: u64) {
        assert_eq!(Billed::of(after).since(&Billed::of(before)), ticks);
    }

    #[test]
    fn running_and_new_processes_are_counted() {
        check(&[(1, 100, 0)], &[(1, 130, 0), (2, 5, 0)], 35);
    }

    #[test]
    fn a_process_that_came_and_went_is_counted_through_its_parent() {
        check(&[(1, 100, 50)], &[(1, 100, 80)], 30);
    }

    #[test]
    fn of_one_that_went_only_the_part_in_between_is_counted() {
        check(&[(1, 100, 0), (2, 40, 0)], &[(1, 100, 60)], 20);
    }

    #[test]
    fn one_that_nobody_waited_for_does_not_hide_the_others() {
        check(&[(1, 100, 0), (2, 4000, 0)], &[(1, 130, 0)], 30);
    }

    #[test]
    fn a_stat_line_is_read_whatever_the_process_is_called() {
        let line = |name| format!("7 ({name}) S 1 2 3 4 5 6 7 8 9 10 141 152 163 174 20 0 1 0 2222 99 99\n");
        let times = Times {
            own: 141 + 152,
            ended_children: 163 + 174,
        };
        for name in ["cat", "a b", ") R 1 (", "((("] {
            assert_eq!(parse(&line(name)), Some((2222, times)), "{name}");
        }
        assert_eq!(parse(&line("ksoftirqd/0")), None);
        assert_eq!(parse("7 (cat) S 1 2 3"), None);
    }
}
