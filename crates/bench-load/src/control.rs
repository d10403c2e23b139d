//! The phases of a client: connect → verify one reply → warm up all connections → measure → drain → report.

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bench_core::failure::{CallError, FailureKind};
use bench_core::record::Record;
use bench_core::server::ServerStats;
use bench_core::talk;
use bench_core::verdict::Verdict;
use bench_host::{CpuSet, HostInfo, Side, TcpSnapshot};
use time::OffsetDateTime;

use crate::flags::{MeasureFlags, Output, ShowProgress};
use crate::hold;
use crate::null;
use crate::outcome::{self, Around, Setting};
use crate::output::RecordFile;
use crate::registry::{Entry, Registry};
use crate::server_stats::{StatsClient, check_match};
use crate::session::{RunPlan, Session};
use crate::signals::{EXIT_INTERRUPTED, Signals};
use crate::target::Target;
use crate::watch::Limits;
use crate::worker::WorkerSpec;
use crate::workload::WorkloadSpec;

/// The verified call waits no longer than this, whatever `--timeout` says: a server that never answers is found out quickly.
const VERIFY_LIMIT: Duration = Duration::from_secs(5);
/// Payloads up to here are within the limits of every stack; `rpc-bench check` holds them to it.
const SMALLEST_LIMIT: usize = 1024 * 1024;
/// Exit code of a run in which calls failed or a check failed.
pub(crate) const EXIT_FAILED: u8 = 3;

/// Measures and reports; returns the exit code of the process contract.
pub(crate) fn run(registry: &Registry, flags: &MeasureFlags) -> anyhow::Result<u8> {
    let signals = Signals::listen()?;
    // Before any load: the file that cannot be written is found out now, not after the run.
    let file = flags.record.as_deref().map(RecordFile::create).transpose()?;
    bench_host::raise_open_files(flags.connections())?;
    let mut client = Client::connect(registry, flags, signals)?;
    if flags.hold {
        return hold::serve_slices(client);
    }
    let plan = RunPlan {
        warmup: flags.warmup,
        count: flags.calls,
        duration: flags.window(),
        callers: flags.callers(),
        pace: flags.rate.map(|rate_per_s| flags.pace_of(rate_per_s)),
    };
    let record = client.measure(&plan)?;
    client.session.close();

    let json = serde_json::to_string(&record).context("cannot write the record as JSON")?;
    let saved = file.map_or(Ok(()), |file| file.keep(&json));
    match (flags.output, &saved) {
        (Output::Json, _) => talk::print_line(&json)?,
        // Nothing is lost: what the file did not take goes to stdout.
        (Output::Text, Err(_)) => talk::print_line(&json)?,
        (Output::Text, Ok(())) => talk::print_line(&crate::text::summary(&record))?,
    }
    saved?;
    Ok(exit_code(&record))
}

/// What a record means for the exit code.
pub(crate) fn exit_code(record: &Record) -> u8 {
    if record.partial {
        EXIT_INTERRUPTED
    } else if record.calls.failed_total() > 0 || record.callers_lost > 0 || record.verdict == Verdict::Invalid {
        EXIT_FAILED
    } else {
        0
    }
}

/// A connected client whose first reply was right.
pub(crate) struct Client<'a> {
    pub setting: Setting<'a>,
    pub session: Session,
    stats: StatsClient,
    first_reading: Option<ServerStats>,
    peers: Vec<SocketAddr>,
    /// Calls made so far over these connections, and how many of them had the right reply.
    calls_made: u64,
    calls_right: u64,
}

impl<'a> Client<'a> {
    fn connect(registry: &'a Registry, flags: &'a MeasureFlags, signals: Signals) -> anyhow::Result<Self> {
        let entry = flags.entry(registry).map_err(|text| anyhow!(text))?;
        let target = Target::resolve(&flags.addr, flags.lane, flags.timeout).map_err(|text| anyhow!("--addr: {text}"))?;
        let stats = StatsClient::new(flags.stats.as_deref(), &target.addresses).map_err(|text| anyhow!("--stats: {text}"))?;
        let first_reading = stats.read();
        if let Some(reading) = &first_reading {
            check_match(reading, registry.framework, entry.wire, flags.lane).map_err(|text| anyhow!(text))?;
        }
        // METHODOLOGY.md, "Fairness" and "Threads that block".
        let apart = target.is_loopback() && !entry.blocking;
        let cpus = match &flags.cpus {
            Some(cpus) => cpus.clone(),
            None => bench_host::cpus_of(Side::Client, apart).context("which CPUs this process may use")?,
        };
        let workload = WorkloadSpec {
            payload_bytes: flags.payload_bytes(),
            seed: flags.seed,
        };
        // Before there are connections that it could keep waiting.
        let threads = flags.threads.unwrap_or(u64::MAX).min(flags.connections());
        let null_ceiling_per_s = null::ceiling_per_s(threads, &cpus)?;
        let peers = target.addresses.clone();
        let specs = worker_specs(flags, entry, &target, &cpus, workload);
        let show_progress = flags.progress == ShowProgress::Auto;
        let session =
            Session::connect(entry, specs, flags.drain, signals, show_progress).map_err(|error| match error.is::<CallError>() {
                true => error.context(format!(
                    "no connection to {} (is {}-server running there?)",
                    flags.addr, registry.framework
                )),
                false => error,
            })?;
        let mut client = Self {
            setting: Setting {
                registry,
                entry,
                flags,
                workload,
                cpus,
                host: HostInfo::read().context("cannot read what machine this is")?,
                connect_s: session.connect.as_secs_f64(),
                null_ceiling_per_s,
                server_is_here: false,
            },
            session,
            stats,
            first_reading,
            peers,
            calls_made: 0,
            calls_right: 0,
        };
        client.verify()?;
        Ok(client)
    }

    fn verify(&mut self) -> anyhow::Result<()> {
        let Setting {
            flags,
            registry,
            entry,
            workload,
            ..
        } = &self.setting;
        self.calls_made += 1;
        if let Err(error) = self.session.verify()? {
            let hint = match error.kind {
                FailureKind::WrongReply => "it changes the message: nothing is measured".to_owned(),
                FailureKind::Limit => "the stack has a limit".to_owned(),
                FailureKind::Timeout => "is it the same framework, wire and lane, and is --timeout longer than its delay?".to_owned(),
                // Many libraries close the connection without a word.
                _ if entry.sized && workload.payload_bytes > SMALLEST_LIMIT => {
                    format!("are {} bytes over the stack's limit?", workload.payload_bytes)
                }
                _ => "is it the same framework, wire and lane?".to_owned(),
            };
            bail!(
                "the server on {} does not answer {}-client over {} as it should ({hint}): {error}",
                flags.addr,
                registry.framework,
                entry.wire
            );
        }
        self.calls_right += 1;
        Ok(())
    }

    /// One run between two readings of the server, and its record.
    pub fn measure(&mut self, plan: &RunPlan) -> anyhow::Result<Record> {
        let started_at = OffsetDateTime::now_utc();
        let first = self.first_reading.clone();
        let before = first.as_ref().and_then(|_| self.stats.read());
        let tcp_before = self.tcp_snapshot()?;
        let run = self.session.run(plan)?;
        let tcp = self.tcp_snapshot()?.since(&tcp_before);
        let after = before.as_ref().and_then(|_| self.stats.read());
        let around = Around {
            server_answered: first.is_some(),
            server: first.zip(before).zip(after).map(|((first, before), after)| (first, before, after)),
            tcp,
            calls_before: self.calls_made,
            right_before: self.calls_right,
            started_at,
        };
        self.calls_made += run.tally.made;
        self.calls_right += run.tally.right;
        Ok(outcome::record(&self.setting, plan, &around, &run))
    }

    /// Counters of this process's connections to the server.
    fn tcp_snapshot(&mut self) -> anyhow::Result<TcpSnapshot> {
        let same_machine = Cell::new(false);
        let ours = |local: SocketAddr, peer: SocketAddr| {
            let ours = self.peers.contains(&peer);
            same_machine.set(same_machine.get() || (ours && local.ip() == peer.ip()));
            ours
        };
        let snapshot = TcpSnapshot::take(ours).context("cannot read the counters of the connections")?;
        self.setting.server_is_here = same_machine.get();
        Ok(snapshot)
    }
}

/// Deals connections to threads and callers to connections, both round-robin.
fn worker_specs(flags: &MeasureFlags, entry: Entry, target: &Target, cpus: &CpuSet, workload: WorkloadSpec) -> Vec<WorkerSpec> {
    let (callers, connections) = (flags.callers(), flags.connections());
    let threads = flags.threads.unwrap_or(cpus.ids().len() as u64).min(connections).max(1);
    let limits = Limits {
        timeout: flags.timeout,
        drain: flags.drain,
    };
    let cpu_sets = match entry.blocking {
        // The kernel is to place the threads of the connections.
        true => vec![cpus.clone(); threads as usize],
        false => cpus.per_thread(threads as usize),
    };
    (0..threads)
        .zip(cpu_sets)
        .map(|(thread, cpus)| WorkerSpec {
            target: target.clone(),
            connections: (thread..connections)
                .step_by(threads as usize)
                .map(|connection| (connection..callers).step_by(connections as usize).collect())
                .collect(),
            cpus,
            limits,
            workload,
            progress: Arc::default(),
        })
        .collect()
}

/// Limits of the one verified call.
pub(crate) fn verify_limits(limits: Limits) -> Limits {
    Limits {
        timeout: limits.timeout.min(VERIFY_LIMIT),
        drain: limits.drain,
    }
}
