//! What everybody else on the machine used meanwhile.

use rustix::param::clock_ticks_per_second;
use serde::{Deserialize, Serialize};

use crate::HostError;
use crate::billed::Billed;
use crate::clock::now_ns;
use crate::error::{missing, read_file};

const STAT: &str = "/proc/stat";

/// Shortest interval [`MachineCpu::shares`] answers for, in ns: ten ticks of the kernel's counters.
pub const MIN_INTERVAL_NS: u64 = 100_000_000;

/// CPU time of the whole machine since boot and of every process of it, in ticks (10 ms on
/// nearly every kernel), with the instant of the reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineCpu {
    at_ns: u64,
    /// CPUs online.
    cpus: u64,
    /// Idle, waiting for disks included.
    idle: u64,
    irq: u64,
    softirq: u64,
    steal: u64,
    /// `None`: not all processes can be seen from here.
    billed: Option<Billed>,
}

/// Parts of the machine's CPU time (CPUs online × the interval), each from 0 to 1.
///
/// On 2 CPUs, one of them busy with something else all the time is 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuShares {
    /// Used by anything but the two sides of the benchmark: see [`MachineCpu::shares`].
    pub foreign_cpu_share: f64,
    /// Whether the foreign share was added up from processes; if not, it is an upper bound from
    /// idle time, several points too high under a load of many short waits.
    pub foreign_from_processes: bool,
    /// Wanted by this virtual machine and given to another by the hypervisor. 0 on bare metal
    /// and on hypervisors that do not say.
    pub steal_share: f64,
    /// Spent in hardware and software interrupts, ours (loopback traffic is one) and others'.
    /// Sampled at the tick by most kernels, which is low by any amount when CPUs are idle in
    /// between: for information.
    pub interrupt_share: f64,
}

impl MachineCpu {
    /// Reads the counters. Costs about 10 µs for each process on the machine, some ms in all:
    /// to be called at the edges of a window only, and not by a thread that makes calls.
    ///
    /// # Errors
    /// [`HostError::Read`] or [`HostError::Content`] if `/proc/stat` is not there or not a
    /// kernel's.
    pub fn now() -> Result<Self, HostError> {
        let text = read_file(STAT)?;
        let at_ns = now_ns();
        let counters = Self::parse(&text, at_ns).ok_or_else(|| missing(STAT, "cpu lines"))?;
        Ok(Self {
            billed: Billed::now()?,
            ..counters
        })
    }

    /// What went to others between two readings; `own_cpu_ns` is the CPU time of client and
    /// server together in the same interval, in ns.
    ///
    /// foreign = CPU time billed to all processes − own, and at most what was neither idle
    /// nor stolen nor own; clamped at 0. Where processes are hidden (a container) it is that
    /// upper bound itself.
    ///
    /// `None` if the interval is shorter than [`MIN_INTERVAL_NS`] or CPUs came or went.
    /// Resolution: a tick, up or down, for each process that ran: over 1 s on 2 CPUs 0.5 % each.
    ///
    /// Why not user + nice + system + irq + softirq of `/proc/stat`, as `top` does: most kernels
    /// sample those at the tick. Under one ping-pong connection on 2 CPUs they held 20 % of the
    /// machine less than the benchmark alone had used (a short wait is seldom under way when the
    /// tick comes, and an idle CPU has no tick), which would hide as much of others' work. And why
    /// not the upper bound: idle time is measured, but leaving it and taking interrupts in it is
    /// billed to nobody, 2 to 4 % of that machine under such loads. The sum over processes was
    /// within 1.5 % of the scheduler's own figures of all threads in all of them.
    pub fn shares(before: &Self, after: &Self, own_cpu_ns: u64) -> Option<CpuShares> {
        let ticks_per_ns = clock_ticks_per_second() as f64 / 1e9;
        let elapsed_ns = after.at_ns.saturating_sub(before.at_ns);
        if elapsed_ns < MIN_INTERVAL_NS || before.cpus != after.cpus {
            return None;
        }
        let own = own_cpu_ns as f64 * ticks_per_ns;
        let total = elapsed_ns as f64 * ticks_per_ns * after.cpus as f64;
        // Saturating: the kernel documents that single columns may go back a little.
        let passed = |of: fn(&Self) -> u64| of(after).saturating_sub(of(before)) as f64;
        let interrupts = passed(|cpu| cpu.irq) + passed(|cpu| cpu.softirq);
        // A kernel with CONFIG_IRQ_TIME_ACCOUNTING takes interrupts out of every process, ours
        // too: they are nobody's. It is told by its hardware-interrupt column; elsewhere that
        // stays at 0 since boot, for the tick is an interrupt and does not interrupt another.
        let nobodys = if after.irq > 0 { interrupts } else { 0.0 };
        let not_idle = total - passed(|cpu| cpu.idle) - passed(|cpu| cpu.steal) - nobodys;
        let billed = after.billed.as_ref().zip(before.billed.as_ref());
        let billed = billed.map(|(after, before)| after.since(before) as f64);

        let share = |ticks: f64| (ticks / total).clamp(0.0, 1.0);
        Some(CpuShares {
            foreign_cpu_share: share(billed.unwrap_or(not_idle).min(not_idle) - own),
            foreign_from_processes: billed.is_some(),
            steal_share: share(passed(|cpu| cpu.steal)),
            interrupt_share: share(interrupts),
        })
    }

    /// The `cpu` lines of `/proc/stat`: `cpu user nice system idle iowait irq softirq steal
    /// guest guest_nice` (proc_stat(5)), then one such line for each CPU online.
    fn parse(text: &str, at_ns: u64) -> Option<Self> {
        let mut lines = text.lines();
        let mut words = lines.next()?.split_whitespace();
        if words.next()? != "cpu" {
            return None;
        }
        let mut column = || words.next()?.parse::<u64>().ok();
        let (_user, _nice, _system, idle) = (column()?, column()?, column()?, column()?);
        let (iowait, irq, softirq, steal) = (column()?, column()?, column()?, column()?);
        let cpus = lines.take_while(|line| line.starts_with("cpu")).count() as u64;
        (cpus > 0).then_some(Self {
            at_ns,
            cpus,
            idle: idle + iowait,
            irq,
            softirq,
            steal,
            billed: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// A machine of 2 CPUs; the columns are those of all CPUs, in hundredths of a second.
    fn at(second: u64, columns: [u64; 8], billed: Option<u64>) -> MachineCpu {
        let per_tick = clock_ticks_per_second() / 100;
        let columns = columns.map(|ticks| (ticks * per_tick).to_string()).join(" ");
        let text = format!("cpu  {columns} 0 0\ncpu0 1 2\ncpu1 3 4\nintr 5\n");
        MachineCpu {
            billed: billed.map(|ticks| Billed::of(&[(1, ticks * per_tick, 0)])),
            ..MachineCpu::parse(&text, second * SECOND_NS).unwrap()
        }
    }

    /// Two CPUs for one second are 200 hundredths: what passed in it, what was billed, what was
    /// ours; then the foreign share.
    #[track_caller]
    fn check(passed: [u64; 8], billed: Option<u64>, own: u64, foreign: f64) {
        let before = at(1, [0; 8], billed.map(|_| 0));
        let got = MachineCpu::shares(&before, &at(2, passed, billed), own * SECOND_NS / 100);
        let got = got.unwrap();
        assert!((got.foreign_cpu_share - foreign).abs() < 1e-9, "{got:?}");
        assert_eq!(got.foreign_from_processes, billed.is_some());
    }

    #[test]
    fn foreign_is_what_was_billed_and_not_ours() {
        check([60, 20, 20, 100, 0, 0, 0, 0], Some(100), 100, 0.0);
        check([60, 20, 20, 100, 0, 0, 0, 0], Some(100), 60, 0.2);
        check([200, 0, 0, 0, 0, 0, 0, 0], Some(200), 0, 1.0);
    }

    #[test]
    fn ticks_that_were_not_sampled_do_not_matter() {
        // 30 of the 100 busy hundredths are in no column.
        check([50, 0, 20, 100, 0, 0, 0, 0], Some(100), 60, 0.2);
        check([50, 0, 20, 100, 0, 0, 0, 0], None, 60, 0.2);
    }

    #[test]
    fn what_is_billed_to_nobody_is_not_foreign_if_processes_are_seen() {
        check([60, 20, 20, 90, 0, 0, 0, 0], Some(100), 100, 0.0);
        check([60, 20, 20, 90, 0, 0, 0, 0], None, 100, 0.05);
    }

    #[test]
    fn rounding_makes_it_neither_negative_nor_more_than_there_was() {
        check([50, 0, 0, 150, 0, 0, 0, 0], Some(50), 52, 0.0);
        check([50, 0, 0, 150, 0, 0, 0, 0], Some(58), 40, 0.05);
    }

    #[test]
    fn waiting_for_a_disk_is_idle_and_stolen_time_is_not_foreign() {
        check([0, 0, 0, 100, 100, 0, 0, 0], None, 0, 0.0);
        check([50, 0, 0, 110, 0, 0, 0, 40], None, 50, 0.0);
        let after = at(2, [50, 0, 0, 110, 0, 0, 0, 40], None);
        let got = MachineCpu::shares(&at(1, [0; 8], None), &after, 0).unwrap();
        assert_eq!(got.steal_share, 0.2);
    }

    #[test]
    fn interrupts_measured_apart_are_not_foreign() {
        check([40, 0, 20, 118, 0, 2, 20, 0], None, 60, 0.0);
        // Sampled ones (hardware column at 0) are in somebody's time, here others'.
        check([40, 0, 20, 120, 0, 0, 20, 0], None, 60, 0.1);
    }

    #[test]
    fn a_short_or_reversed_interval_or_another_number_of_cpus_has_no_shares() {
        let before = at(1, [0; 8], None);
        let mut after = at(1, [9, 0, 0, 9, 0, 0, 0, 0], None);
        after.at_ns += MIN_INTERVAL_NS - 1;
        assert_eq!(MachineCpu::shares(&before, &after, 0), None);
        after.at_ns += 1;
        assert!(MachineCpu::shares(&before, &after, 0).is_some());
        assert_eq!(MachineCpu::shares(&after, &before, 0), None);
        after.cpus = 1;
        assert_eq!(MachineCpu::shares(&before, &after, 0), None);
    }

    #[test]
    fn only_the_line_of_all_cpus_will_do() {
        for text in ["cpu0 1 2 3 4 5 6 7 8 9 10\n", "cpu 1 2 3 4\ncpu0 1\n", ""] {
            assert_eq!(MachineCpu::parse(text, 0), None, "{text}");
        }
    }

    #[test]
    fn this_machine_answers() {
        let before = MachineCpu::now().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150));
        let got = MachineCpu::shares(&before, &MachineCpu::now().unwrap(), 0).unwrap();
        for share in [got.foreign_cpu_share, got.steal_share, got.interrupt_share] {
            assert!((0.0..=1.0).contains(&share), "{got:?}");
        }
    }
}
