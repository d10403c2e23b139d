//! How late the timers of the simulated delay are with nothing else to do.

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use bench_core::delay::{DelayLine, wait_blocking};
use bench_core::histogram::Times;
use bench_host::CpuSet;
use serde::Serialize;

const DELAYS_MS: [u64; 2] = [10, 30];
const SLEEPS: u32 = 40;

/// Of one form of timer at one delay.
#[derive(Debug, Serialize)]
pub struct TimerLateness {
    /// `async` or `blocking`.
    pub form: &'static str,
    /// The delay in milliseconds.
    pub delay_ms: f64,
    /// Mean of deadline → running again, nanoseconds.
    pub lateness_ns_mean: f64,
    /// Its 99th percentile.
    pub lateness_ns_p99: u64,
}

/// Measures on `cpus`, both forms.
pub(super) fn measure(cpus: &CpuSet) -> Result<Vec<TimerLateness>> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            cpus.pin_thread()?;
            let mut all = Vec::new();
            for delay_ms in DELAYS_MS {
                let delay = Duration::from_millis(delay_ms);
                all.push(lateness("async", delay_ms, &in_runtime(delay)?));
                all.push(lateness("blocking", delay_ms, &in_thread(delay)));
            }
            Ok(all)
        });
        thread
            .join()
            .unwrap_or_else(|_| Err(anyhow!("a thread of calibrate panicked; its message is on standard error")))
    })
}

fn lateness(form: &'static str, delay_ms: u64, times: &Times) -> TimerLateness {
    TimerLateness {
        form,
        delay_ms: delay_ms as f64,
        lateness_ns_mean: times.sum_ns() as f64 / times.count().max(1) as f64,
        lateness_ns_p99: times.percentile(99.0).unwrap_or_default(),
    }
}

fn in_runtime(delay: Duration) -> Result<Times> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?;
    runtime.block_on(async {
        let line = DelayLine::start(delay).context("cannot make a timer")?;
        let mut times = Times::new();
        for _ in 0..SLEEPS {
            let waited = line.wait().await;
            times.record(waited.lateness_ns + waited.resume_lag_ns);
        }
        Ok(times)
    })
}

fn in_thread(delay: Duration) -> Times {
    let mut times = Times::new();
    for _ in 0..SLEEPS {
        let waited = wait_blocking(delay);
        times.record(waited.lateness_ns + waited.resume_lag_ns);
    }
    times
}
