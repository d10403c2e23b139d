//! How late the simulated delay is, and what it costs, beside tokio's own timer.
//!
//! Each figure is that of a fleet: N sleepers, started at random phases, that wait again as soon as they are woken; in tasks of
//! one current-thread runtime (`async`, `tokio`) or one thread each (`blocking`).
//!
//! `overrun`: mean time beyond the delay, seen by the sleeper when it runs again. `cpu-per-sleep`: CPU time of the whole process
//! over the sleeps finished, the sleepers' loop included, timer interrupts only as far as the kernel charges them to it.
//! Criterion's "iteration" is one sleep, but sleeps overlap, so they are not run on demand: every sample observes the
//! fleet for a fixed window and returns the mean times the iterations asked for. The "time" criterion prints is thus the
//! mean; its estimate of the bench's duration means nothing. A fleet of 2,000 threads at 10 ms is beyond
//! what two cores can switch between, and shows it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use bench_core::delay::{DelayLine, wait_blocking};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use rustix::time::{ClockId, clock_gettime};

const WINDOW: Duration = Duration::from_millis(60);
const DELAYS_MS: [u64; 2] = [10, 30];
const SLEEPERS: [u64; 2] = [500, 2000];
const FORMS: [(&str, Form); 3] = [("async", on_line), ("blocking", on_threads), ("tokio", on_tokio)];
const FIGURES: [(&str, Figure); 2] = [("overrun", overrun_ns), ("cpu-per-sleep", cpu_ns)];

/// Runs a fleet until it is stopped.
type Form = fn(Arc<Fleet>);

/// The mean of something per sleep, in nanoseconds, between two looks at the fleet.
type Figure = fn(&Look, &Look) -> f64;

fn bench(c: &mut Criterion) {
    for (name, figure) in FIGURES {
        let mut group = c.benchmark_group(name);
        group.sampling_mode(SamplingMode::Flat).sample_size(10);
        group
            .warm_up_time(Duration::from_millis(200))
            .measurement_time(Duration::from_millis(600));
        for delay_ms in DELAYS_MS {
            for sleepers in SLEEPERS {
                for (form, run) in FORMS {
                    let id = BenchmarkId::new(form, format!("{delay_ms}ms/{sleepers}"));
                    let mut running = None;
                    // Not started if criterion's filter leaves it out.
                    group.bench_function(id, |b| {
                        let (fleet, _) = running.get_or_insert_with(|| Fleet::start(run, delay_ms, sleepers));
                        b.iter_custom(|iters| {
                            let before = fleet.look();
                            thread::sleep(WINDOW);
                            let mean_ns = figure(&before, &fleet.look());
                            Duration::from_nanos((mean_ns * iters as f64) as u64)
                        });
                    });
                    if let Some((fleet, thread)) = running {
                        fleet.stop.store(true, Relaxed);
                        thread.join().expect("the fleet ends");
                    }
                }
            }
        }
        group.finish();
    }
}

fn overrun_ns(before: &Look, after: &Look) -> f64 {
    (after.overrun_ns - before.overrun_ns) as f64 / (after.sleeps - before.sleeps).max(1) as f64
}

fn cpu_ns(before: &Look, after: &Look) -> f64 {
    (after.cpu_ns - before.cpu_ns) as f64 / (after.sleeps - before.sleeps).max(1) as f64
}

struct Look {
    sleeps: u64,
    overrun_ns: u64,
    cpu_ns: u64,
}

struct Fleet {
    delay: Duration,
    sleepers: u64,
    stop: AtomicBool,
    sleeps: AtomicU64,
    overrun_ns: AtomicU64,
}

impl Fleet {
    /// Returns once every sleeper has slept a few times.
    fn start(run: Form, delay_ms: u64, sleepers: u64) -> (Arc<Fleet>, JoinHandle<()>) {
        let fleet = Arc::new(Fleet {
            delay: Duration::from_millis(delay_ms),
            sleepers,
            stop: AtomicBool::new(false),
            sleeps: AtomicU64::new(0),
            overrun_ns: AtomicU64::new(0),
        });
        let thread = thread::spawn({
            let fleet = Arc::clone(&fleet);
            move || run(fleet)
        });
        while fleet.sleeps.load(Relaxed) < 5 * sleepers {
            thread::sleep(WINDOW);
        }
        (fleet, thread)
    }

    fn look(&self) -> Look {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Look {
            sleeps: self.sleeps.load(Relaxed),
            overrun_ns: self.overrun_ns.load(Relaxed),
            cpu_ns: cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64,
        }
    }

    fn slept(&self, slept: Duration) {
        self.overrun_ns.fetch_add((slept - self.delay).as_nanos() as u64, Relaxed);
        self.sleeps.fetch_add(1, Relaxed);
    }

    /// Where in the delay a sleeper starts: spread evenly, in no order (Fibonacci hashing).
    fn phase(&self, sleeper: u64) -> Duration {
        let delay_ns = self.delay.as_nanos() as u64;
        Duration::from_nanos(sleeper.wrapping_mul(0x9E37_79B9_7F4A_7C15) % delay_ns)
    }
}

fn on_line(fleet: Arc<Fleet>) {
    in_runtime(&fleet, |fleet, line| async move {
        loop {
            fleet.slept(Duration::from_nanos(line.wait().await.slept_ns));
        }
    });
}

fn on_tokio(fleet: Arc<Fleet>) {
    in_runtime(&fleet, |fleet, _| async move {
        loop {
            let start = Instant::now();
            tokio::time::sleep(fleet.delay).await;
            fleet.slept(start.elapsed());
        }
    });
}

/// One task per sleeper in a current-thread runtime, until the fleet is stopped.
fn in_runtime<F: Future<Output = ()> + Send + 'static>(fleet: &Arc<Fleet>, sleeper: fn(Arc<Fleet>, Arc<DelayLine>) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let line = DelayLine::start(fleet.delay).expect("a timer");
        for number in 0..fleet.sleepers {
            let (fleet, line) = (Arc::clone(fleet), Arc::clone(&line));
            tokio::spawn(async move {
                tokio::time::sleep(fleet.phase(number)).await;
                sleeper(fleet, line).await;
            });
        }
        while !fleet.stop.load(Relaxed) {
            tokio::time::sleep(WINDOW).await;
        }
    });
}

fn on_threads(fleet: Arc<Fleet>) {
    thread::scope(|scope| {
        for number in 0..fleet.sleepers {
            let fleet = &fleet;
            let sleeper = move || {
                thread::sleep(fleet.phase(number));
                while !fleet.stop.load(Relaxed) {
                    fleet.slept(Duration::from_nanos(wait_blocking(fleet.delay).slept_ns));
                }
            };
            // 2,000 default stacks would be 4 GiB of address space.
            thread::Builder::new()
                .stack_size(64 * 1024)
                .spawn_scoped(scope, sleeper)
                .expect("a thread");
        }
    });
}

criterion_group!(benches, bench);
criterion_main!(benches);
