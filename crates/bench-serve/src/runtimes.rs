//! The threads that serve calls.

use std::net::TcpStream;
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;

use anyhow::{Context as _, anyhow};
use bench_core::delay::{DelayLine, wait_blocking};
use bench_core::failure_log::FailureLog;
use bench_core::handler::{Handler, HandlerSettings};
use bench_core::lane::Lane;
use bench_core::runtime::RuntimeKind;
use bench_host::CpuSet;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

use crate::registry::Entry;
use crate::server::{Incoming, Serve};

/// How the runtimes are to be.
pub(crate) struct RuntimeSpec {
    pub kind: RuntimeKind,
    pub threads: usize,
    pub cpus: CpuSet,
    pub lane: Lane,
    pub handler: HandlerSettings,
}

/// Running runtimes and the ways into them.
pub(crate) struct Runtimes {
    pub sockets: Vec<mpsc::UnboundedSender<TcpStream>>,
    pub handlers: Vec<Handler>,
    /// Mean lateness of the delay's timer while nothing else ran, microseconds.
    pub idle_lateness_us: Option<f64>,
    threads: Vec<JoinHandle<anyhow::Result<()>>>,
}

/// One runtime of its own for every thread, or one for all: either way each thread here drives one `Server::serve`.
pub(crate) fn start(entry: Entry, spec: &RuntimeSpec, shutdown: &watch::Receiver<bool>, failures: &FailureLog) -> anyhow::Result<Runtimes> {
    let mut runtimes = Runtimes {
        sockets: Vec::new(),
        handlers: Vec::new(),
        idle_lateness_us: None,
        threads: Vec::new(),
    };
    let (workers, cpu_sets) = match spec.kind {
        // Threads of connections inherit the CPUs, and the kernel is to place them.
        RuntimeKind::CurrentThread if entry.blocking => (1, vec![spec.cpus.clone(); spec.threads]),
        RuntimeKind::CurrentThread => (1, spec.cpus.per_thread(spec.threads)),
        RuntimeKind::Multi => (spec.threads, vec![spec.cpus.clone()]),
    };
    for (index, cpu_set) in cpu_sets.into_iter().enumerate() {
        let (sockets, incoming) = mpsc::unbounded_channel();
        let (started, ready) = std_mpsc::channel();
        let (kind, lane, settings) = (spec.kind, spec.lane, spec.handler);
        let (shutdown, failures) = (shutdown.clone(), failures.clone());
        let measure_lateness = index == 0;
        let thread = std::thread::Builder::new()
            .name(format!("serve-{index}"))
            .spawn(move || {
                cpu_set.pin_thread()?;
                let runtime = build(kind, workers).context("cannot start a runtime")?;
                let served = runtime.block_on(async {
                    let handler = Handler::new(settings, failures).context("cannot make the timer of the simulated delay")?;
                    let lateness = if measure_lateness {
                        idle_lateness_us(settings, entry.blocking).await?
                    } else {
                        None
                    };
                    let _ = started.send((handler.clone(), lateness));
                    let incoming = Incoming { sockets: incoming };
                    let serve = Serve {
                        handler,
                        lane,
                        shutdown,
                        blocking: entry.blocking,
                    };
                    (entry.serve)(incoming, serve).await.map_err(|error| anyhow!(error))
                });
                // Connections that are still open are cut here: the port is free once the process has ended.
                runtime.shutdown_background();
                served
            })
            .context("cannot start a thread")?;
        match ready.recv() {
            Ok((handler, lateness)) => {
                runtimes.handlers.push(handler);
                runtimes.idle_lateness_us = runtimes.idle_lateness_us.or(lateness);
                runtimes.sockets.push(sockets);
                runtimes.threads.push(thread);
            }
            Err(_) => return Err(join(thread).err().unwrap_or_else(|| anyhow!("a runtime thread ended at once"))),
        }
    }
    Ok(runtimes)
}

impl Runtimes {
    /// True once a runtime thread has ended.
    pub fn any_ended(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    /// True once every runtime thread has ended.
    pub fn all_ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// The first error of a runtime that has ended.
    pub fn first_error(self) -> anyhow::Result<()> {
        self.threads.into_iter().filter(JoinHandle::is_finished).try_for_each(join)
    }
}

fn join(thread: JoinHandle<anyhow::Result<()>>) -> anyhow::Result<()> {
    thread
        .join()
        .unwrap_or_else(|_| Err(anyhow!("a runtime thread panicked (its message is above)")))
}

fn build(kind: RuntimeKind, workers: usize) -> std::io::Result<Runtime> {
    match kind {
        RuntimeKind::CurrentThread => Builder::new_current_thread(),
        RuntimeKind::Multi => Builder::new_multi_thread(),
    }
    .worker_threads(workers)
    .thread_name("serve")
    .enable_all()
    .build()
}

/// Mean lateness of the timer that the handlers will use, alone: what the theoretical throughput allows for. A few sleeps, at most 0.3 s
/// in all.
async fn idle_lateness_us(settings: HandlerSettings, blocking: bool) -> anyhow::Result<Option<f64>> {
    const LONGEST: std::time::Duration = std::time::Duration::from_millis(30);
    const SLEEPS: u32 = 10;
    if settings.delay.is_zero() {
        return Ok(None);
    }
    let delay = settings.delay.min(LONGEST);
    let line = DelayLine::start(delay).context("cannot make a timer")?;
    let mut lateness_ns = 0;
    for _ in 0..SLEEPS {
        let waited = if blocking { wait_blocking(delay) } else { line.wait().await };
        lateness_ns += waited.lateness_ns;
    }
    Ok(Some(lateness_ns as f64 / f64::from(SLEEPS) / 1e3))
}
