//! Instants of the suite's clock ([`bench_host::now_ns`]) as timerfd and `clock_nanosleep` take them: both run on `CLOCK_MONOTONIC`.

use std::time::Duration;

use rustix::time::Timespec;

const NS_PER_S: u64 = 1_000_000_000;

/// A century: beyond any use, and far below where `now + delay` would wrap or the kernel refuse.
const LONGEST_NS: u64 = 100 * 365 * 86_400 * NS_PER_S;

/// An instant of that clock in the kernel's form.
pub(super) fn timespec(at_ns: u64) -> Timespec {
    Timespec {
        tv_sec: (at_ns / NS_PER_S) as _,
        tv_nsec: (at_ns % NS_PER_S) as _,
    }
}

/// A delay in nanoseconds; more than a century is cut to a century.
pub(super) fn delay_ns(delay: Duration) -> u64 {
    u64::try_from(delay.as_nanos()).map_or(LONGEST_NS, |ns| ns.min(LONGEST_NS))
}
