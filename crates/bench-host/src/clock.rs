//! The single clock: every instant and every duration in the suite comes from here. And the CPU time of this process.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC`.
///
/// Since an unspecified start (on Linux: boot), so only differences mean something, and they mean
/// something between processes of the same machine too. Never goes back and never jumps; its rate
/// follows NTP by at most 500 ppm; time asleep in suspend is not counted. Fits a `u64` for 584
/// years.
///
/// Costs about 25 ns where the kernel answers through the vDSO (clock source `tsc`), ten times
/// that where it has to be entered (`hpet`, `acpi_pm`, some virtual machines): see
/// `/sys/devices/system/clocksource/clocksource0/current_clocksource`.
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither part of a monotonic reading is ever negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds of CPU that all threads of this process have used, in user mode and in the kernel.
pub fn process_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back() {
        let mut before = now_ns();
        for _ in 0..10_000 {
            let after = now_ns();
            assert!(after >= before, "{after} after {before}");
            before = after;
        }
    }

    #[test]
    fn a_sleep_is_never_shorter_than_asked() {
        let start = now_ns();
        std::thread::sleep(std::time::Duration::from_millis(3));
        assert!(now_ns() - start >= 3_000_000);
    }
}
