//! How much later than asked the kernel may wake a sleeping thread.

use std::num::NonZeroU64;

use rustix::thread::set_current_timer_slack;

use crate::HostError;

/// Sets the timer slack of the calling thread to 1 ns, the least there is.
///
/// The kernel may delay every timed sleep of a normal thread (`clock_nanosleep`, futex timeouts)
/// by its slack, 50 µs unless changed, so as to fire several timers at once: an error of the
/// instrument in every simulated delay and every pacer. It is a property of the **thread**:
/// threads it starts afterwards inherit it, existing ones keep theirs. Real-time threads have none
/// and ignore the call.
///
/// Two waits it does not change: a `timerfd` has no slack to begin with, and timeouts of
/// `epoll_wait`, `poll` and `select` keep a slack of a thousandth of the timeout of their own
/// (10 µs of 10 ms; `select_estimate_accuracy` in the kernel's `fs/select.c`).
///
/// # Errors
/// [`HostError::Call`] where `prctl` is forbidden (a seccomp filter).
pub fn set_timer_slack_1ns() -> Result<(), HostError> {
    // MIN is 1; 0 would mean "back to the default".
    set_current_timer_slack(Some(NonZeroU64::MIN)).map_err(|errno| HostError::Call {
        call: "prctl(PR_SET_TIMERSLACK, 1)",
        source: errno.into(),
        way_out: "allow prctl in the sandbox's seccomp profile",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::current_timer_slack;

    #[test]
    fn the_calling_thread_and_its_children_get_1ns() {
        std::thread::spawn(|| {
            set_timer_slack_1ns().unwrap();
            assert_eq!(current_timer_slack().unwrap(), 1);
            let child = std::thread::spawn(|| current_timer_slack().unwrap());
            assert_eq!(child.join().unwrap(), 1);
        })
        .join()
        .unwrap();
    }
}
