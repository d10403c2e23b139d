//! The wait of a blocking server: the thread itself sleeps.

use std::{cell::Cell, thread, time::Duration};

use bench_host::{now_ns, set_timer_slack_1ns};
use rustix::{io::Errno, thread::clock_nanosleep_absolute, time::ClockId};

use super::{
    Waited,
    clock::{delay_ns, timespec},
};

/// Blocks the calling thread for `delay`, never less; a zero delay returns at once. More than a century is cut to a century.
///
/// Sets the thread's timer slack to 1 ns on first use and leaves it so: the kernel's default of 50 us would be added
/// to every sleep here, but not to the timer of [`super::DelayLine`].
pub fn wait_blocking(delay: Duration) -> Waited {
    if delay.is_zero() {
        return Waited::default();
    }
    let called_ns = now_ns();
    let deadline_ns = called_ns + delay_ns(delay);
    let resumed_ns = sleep_until(deadline_ns);
    Waited {
        slept_ns: resumed_ns - called_ns,
        lateness_ns: resumed_ns - deadline_ns,
        resume_lag_ns: 0,
    }
}

/// Blocks until `deadline_ns` of [`bench_host::now_ns`] and answers the time, which is never before it. Sets the timer slack as
/// [`wait_blocking`] does.
pub fn sleep_until(deadline_ns: u64) -> u64 {
    thread_local!(static FINE: Cell<bool> = const { Cell::new(false) });
    // If the kernel refused, sleeps would be 50 us late, which `lateness_ns` shows; the next one asks again.
    FINE.with(|fine| {
        if !fine.get() {
            fine.set(set_timer_slack_1ns().is_ok());
        }
    });
    loop {
        let now_ns = now_ns();
        if now_ns >= deadline_ns {
            return now_ns;
        }
        match clock_nanosleep_absolute(ClockId::Monotonic, &timespec(deadline_ns)) {
            Ok(()) | Err(Errno::INTR) => {}
            // A kernel or sandbox without the call. Less exact, but no spinning.
            Err(_) => thread::sleep(Duration::from_nanos(deadline_ns - now_ns)),
        }
    }
}
