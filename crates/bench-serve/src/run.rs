//! A server's life: listen, start the runtimes, say so, serve until told to stop, say what was done.

use std::future;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bench_core::build_info::BuildInfo;
use bench_core::failure_log::FailureLog;
use bench_core::handler::HandlerSettings;
use bench_core::server::{ServerInfo, ServerLine};
use bench_core::talk;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use crate::flags::{Addresses, Output, ServeFlags};
use crate::registry::{Entry, Registry};
use crate::runtimes::{self, RuntimeSpec, Runtimes};
use crate::stats::{self, Counters};
use crate::{listen, text};

/// How long calls that are under way may go on after the server was told to stop.
const GRACE: Duration = Duration::from_secs(2);
/// How often to look whether a runtime thread has ended: while serving, and when it is about to.
const LOOK: Duration = Duration::from_millis(500);
const SHORT_LOOK: Duration = Duration::from_millis(5);

/// Serves until a signal or, with the flag, until stdin closes.
pub(crate) fn serve(registry: &Registry, flags: &ServeFlags) -> anyhow::Result<()> {
    let entry = match &flags.wire {
        Some(wire) => registry.entry(wire),
        None => registry.entries.first().copied(),
    };
    let entry = entry.context("this server registers no wire")?;
    bench_host::raise_open_files(0)?;

    let listener = listen::bind(&flags.addr, "--addr")?;
    let addr = listener.local_addr().context("cannot read the bound address")?;
    let stats_listener = bind_stats(flags, addr)?;

    // METHODOLOGY.md, "Fairness" and "Threads that block".
    let apart = addr.ip().is_loopback() && !entry.blocking;
    let cpus = match &flags.cpus {
        Some(cpus) => cpus.clone(),
        None => bench_host::cpus_of(bench_host::Side::Server, apart).context("which CPUs this process may use")?,
    };
    // Threads that are started from here on inherit it: accepting and stats stay off the client's cores as well.
    cpus.pin_thread()?;
    let spec = RuntimeSpec {
        kind: flags.runtime.unwrap_or_default(),
        threads: flags.threads.map_or(cpus.ids().len(), |threads| threads as usize),
        cpus,
        lane: flags.lane,
        handler: HandlerSettings {
            delay: flags.delay,
            yields: flags.yields,
            work: flags.work,
        },
    };
    let failures = FailureLog::default();
    let (stop, stopping) = watch::channel(false);
    let runtimes = runtimes::start(entry, &spec, &stopping, &failures)?;

    let info = describe(registry, entry, flags, &spec, &runtimes, &listener, stats_listener.as_ref())?;
    let counters = Counters {
        handlers: runtimes.handlers.clone(),
        accepted: std::sync::Arc::default(),
        failures: failures.clone(),
    };
    if let Some(listener) = stats_listener {
        stats::start(listener, info.clone(), counters.clone())?;
    }
    let main_runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?;
    let told_to_stop = main_runtime.block_on(async {
        let mut stops = Stops::listen(flags.exit_on_stdin_close)?;
        say_ready(flags.output, &info)?;
        let listener = tokio::net::TcpListener::from_std(listener).context("cannot watch the listener")?;
        let accepting = listen::accept_and_deal(listener, runtimes.sockets.clone(), counters.accepted.clone(), failures);
        let told_to_stop = tokio::select! {
            () = accepting => false,
            () = wait_until(|| runtimes.any_ended(), LOOK) => false,
            () = stops.next() => true,
        };
        let _ = stop.send(true);
        tokio::select! {
            () = wait_until(|| runtimes.all_ended(), SHORT_LOOK) => {}
            () = tokio::time::sleep(GRACE) => {}
            () = stops.next() => {}
        }
        anyhow::Ok(told_to_stop)
    })?;
    let counted = counters.read()?;
    runtimes.first_error()?;
    if !told_to_stop {
        bail!("a runtime thread has ended early");
    }
    let last_line = match flags.output {
        Output::Text => text::stopped(&counted),
        Output::Json => serde_json::to_string(&ServerLine::Stopped(Box::new(counted)))?,
    };
    Ok(talk::print_line(&last_line)?)
}

fn bind_stats(flags: &ServeFlags, rpc: SocketAddr) -> anyhow::Result<Option<TcpListener>> {
    if flags.no_stats {
        return Ok(None);
    }
    let wanted = match &flags.stats {
        Some(addresses) => addresses.clone(),
        None => {
            let any_port = flags.addr.all.iter().any(|addr| addr.port() == 0);
            let port = if any_port {
                0
            } else {
                rpc.port()
                    .checked_add(1)
                    .context("no port follows 65535: give --stats an address, or --no-stats")?
            };
            let addr = SocketAddr::new(rpc.ip(), port);
            Addresses {
                text: addr.to_string(),
                all: vec![addr],
            }
        }
    };
    listen::bind(&wanted, "--stats, or do without by --no-stats").map(Some)
}

fn describe(
    registry: &Registry,
    entry: Entry,
    flags: &ServeFlags,
    spec: &RuntimeSpec,
    runtimes: &Runtimes,
    listener: &TcpListener,
    stats_listener: Option<&TcpListener>,
) -> anyhow::Result<ServerInfo> {
    let address = |listener: &TcpListener| {
        listener
            .local_addr()
            .map(|addr| addr.to_string())
            .context("cannot read a bound address")
    };
    let mut settings = (entry.settings)(spec.lane);
    let nodelay = socket2::SockRef::from(listener).tcp_nodelay().context("cannot read TCP_NODELAY")?;
    settings.insert("tcp_nodelay".to_owned(), nodelay.into());
    settings.insert("listen_backlog".to_owned(), listen::BACKLOG.into());
    if !flags.work.is_zero() {
        settings.insert("work_ns".to_owned(), (flags.work.as_nanos() as u64).into());
    }
    if spec.threads == 0 || entry.wires.is_empty() {
        bail!("this server has no threads or no wires");
    }
    Ok(ServerInfo {
        addr: address(listener)?,
        stats: stats_listener.map(address).transpose()?,
        instance: instance_id(),
        framework: registry.framework.to_owned(),
        library: registry.library.to_owned(),
        library_version: registry.library_version().to_owned(),
        wires: entry.wires.iter().map(|wire| wire.to_string()).collect(),
        lane: spec.lane,
        delay_requested_ms: flags.delay.as_nanos() as f64 / 1e6,
        timer_lateness_idle_us_mean: runtimes.idle_lateness_us,
        yields: flags.yields,
        runtime_threads: spec.threads,
        runtime: spec.kind.to_string(),
        cpus: Some(spec.cpus.indices()),
        build: BuildInfo::current(registry.library),
        settings,
    })
}

/// Tells this process from its predecessor on the same port. std seeds every `RandomState` from the system's random numbers.
fn instance_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

fn say_ready(output: Output, info: &ServerInfo) -> anyhow::Result<()> {
    let first_line = match output {
        Output::Text => text::ready(info),
        Output::Json => serde_json::to_string(&ServerLine::Ready(Box::new(info.clone())))?,
    };
    Ok(talk::print_line(&first_line)?)
}

async fn wait_until(holds: impl Fn() -> bool, look: Duration) {
    while !holds() {
        tokio::time::sleep(look).await;
    }
}

/// Everything that tells a server to stop.
struct Stops {
    interrupt: Signal,
    terminate: Signal,
    stdin_closed: Option<oneshot::Receiver<()>>,
}

impl Stops {
    fn listen(exit_on_stdin_close: bool) -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?,
            terminate: signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?,
            stdin_closed: exit_on_stdin_close.then(watch_stdin),
        })
    }

    /// Resolves at the next of them.
    async fn next(&mut self) {
        let stdin_closed = async {
            match &mut self.stdin_closed {
                Some(closed) => {
                    let _ = closed.await;
                }
                None => future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = stdin_closed => self.stdin_closed = None,
        }
    }
}

/// Reads stdin to its end on a thread of its own: a blocking read cannot be given up.
fn watch_stdin() -> oneshot::Receiver<()> {
    let (closed, watching) = oneshot::channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut ignored = [0; 256];
        while !matches!(stdin.read(&mut ignored), Ok(0) | Err(_)) {}
        let _ = closed.send(());
    });
    watching
}
