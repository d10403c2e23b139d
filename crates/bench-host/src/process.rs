//! What this process has used so far.

use serde::{Deserialize, Serialize};

use crate::HostError;
use crate::error::{missing, read_file};

const STATUS: &str = "/proc/self/status";

/// What this process, all its threads together (ended ones included), has used since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// CPU time in user mode, in ns. Does not include child processes.
    ///
    /// The sum with [`cpu_sys_ns`](Self::cpu_sys_ns) is measured by the scheduler (to 1 µs, but a
    /// thread that is running on another CPU at the moment is up to one scheduler tick behind);
    /// the split between the two is sampled at the tick by most kernels: approximate over short
    /// intervals.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, in ns; see [`cpu_user_ns`](Self::cpu_user_ns). Over loopback it
    /// holds much of the receiver's work, done in the sender's context.
    pub cpu_sys_ns: u64,
    /// Largest resident memory so far, in bytes (steps of 1 KiB; the kernel counts in batches,
    /// so it may be some pages per CPU behind). Pages shared with others count in full.
    ///
    /// `VmHWM`, not `ru_maxrss`: the latter survives `exec`, so a small server started by a
    /// large harness would report the harness.
    pub peak_rss_bytes: u64,
    /// Context switches, voluntary (it waited) plus involuntary (it was preempted).
    ///
    /// From `getrusage`, of the whole process; `/proc/self/status` has those of one thread.
    pub context_switches: u64,
    /// Threads alive at the moment of the reading; at least 1.
    pub threads: u64,
}

impl ProcessUsage {
    /// Reads the usage up to now. Costs one system call and one small file, about 10 µs.
    ///
    /// # Errors
    /// [`HostError::Read`] or [`HostError::Content`] if `/proc/self/status` is not there or not
    /// a kernel's; [`HostError::Call`] if `getrusage` fails.
    pub fn now() -> Result<Self, HostError> {
        let usage = getrusage_self()?;
        let status = read_file(STATUS)?;
        Ok(Self {
            cpu_user_ns: timeval_ns(usage.ru_utime),
            cpu_sys_ns: timeval_ns(usage.ru_stime),
            peak_rss_bytes: 1024 * number_after(&status, "VmHWM:").ok_or_else(|| missing(STATUS, "VmHWM line"))?,
            context_switches: usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64,
            threads: number_after(&status, "Threads:").ok_or_else(|| missing(STATUS, "Threads line"))?,
        })
    }

    /// What was used between `earlier` and this reading.
    ///
    /// CPU times and context switches are differences; peak memory and threads are those of
    /// this (the later) reading: a peak has no difference.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_user_ns: self.cpu_user_ns.saturating_sub(earlier.cpu_user_ns),
            cpu_sys_ns: self.cpu_sys_ns.saturating_sub(earlier.cpu_sys_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            ..*self
        }
    }

    /// CPU time in user mode and in the kernel together, in ns: the exact figure of the three.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_user_ns + self.cpu_sys_ns
    }
}

fn getrusage_self() -> Result<libc::rusage, HostError> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage, which the call fills in and does not keep.
    let code = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    if code != 0 {
        return Err(HostError::Call {
            call: "getrusage(RUSAGE_SELF)",
            source: std::io::Error::last_os_error(),
            way_out: "allow getrusage in the sandbox's seccomp profile",
        });
    }
    // SAFETY: all zeroes is a valid rusage (integers only), and the call has filled it in.
    Ok(unsafe { usage.assume_init() })
}

/// A `timeval` of `getrusage` (never negative) in ns.
fn timeval_ns(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

/// The first number on the line that starts with `key`.
fn number_after(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_while_computing() {
        let before = ProcessUsage::now().unwrap();
        let mut used = before;
        let mut x = 1u64;
        // As long as it takes; the loop ends because the claim is true.
        while used.since(&before).cpu_ns() < 20_000_000 {
            for i in 0..1_000_000 {
                x = std::hint::black_box(x.wrapping_mul(31).wrapping_add(i));
            }
            used = ProcessUsage::now().unwrap();
        }
    }

    #[test]
    fn a_wait_is_a_context_switch_of_the_process_in_whichever_thread() {
        let before = ProcessUsage::now().unwrap();
        std::thread::spawn(|| {
            for _ in 0..5 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        })
        .join()
        .unwrap();
        let used = ProcessUsage::now().unwrap().since(&before);
        assert!(used.context_switches >= 5, "{used:?}");
    }

    #[test]
    fn touched_memory_raises_the_peak_and_freed_memory_does_not_lower_it() {
        const SIZE: usize = 32 << 20;
        let touched = std::hint::black_box(vec![1u8; SIZE]);
        let with = ProcessUsage::now().unwrap();
        assert!(with.peak_rss_bytes >= SIZE as u64, "{with:?}");
        drop(touched);
        let after = ProcessUsage::now().unwrap();
        assert!(after.peak_rss_bytes >= SIZE as u64, "{after:?}");
    }

    #[test]
    fn a_waiting_thread_is_counted() {
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(ProcessUsage::now().unwrap().threads >= 2);
        release.send(()).unwrap();
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn counters_are_subtracted_and_gauges_are_not() {
        let at = |n| ProcessUsage {
            cpu_user_ns: n,
            cpu_sys_ns: 2 * n,
            peak_rss_bytes: 3 * n,
            context_switches: 4 * n,
            threads: 5 * n,
        };
        let used = at(10).since(&at(4));
        assert_eq!((used.cpu_user_ns, used.cpu_sys_ns), (6, 12));
        assert_eq!(used.cpu_ns(), 18);
        assert_eq!(used.context_switches, 24);
        assert_eq!((used.peak_rss_bytes, used.threads), (30, 50));
    }

    #[test]
    fn a_status_line_is_found_by_its_whole_key() {
        let status = "Name:\tVmHWM: 5\nVmPeak:\t  9 kB\nVmHWM:\t    1776 kB\nThreads:\t3\n";
        assert_eq!(number_after(status, "VmHWM:"), Some(1776));
        assert_eq!(number_after(status, "Threads:"), Some(3));
        assert_eq!(number_after(status, "VmRSS:"), None);
    }
}
