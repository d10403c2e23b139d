//! From what was measured to the record.

use std::collections::BTreeMap;

use bench_core::build_info::BuildInfo;
use bench_core::failure::FailureKind;
use bench_core::record::{BoundBy, Calls, CallsPerCaller, HostRecord, Mode, ProcessUse, Record, SCHEMA_VERSION};
use bench_core::server::{ServerCounters, ServerStats};
use bench_core::verdict::Verdict;
use bench_host::{CpuSet, HostInfo, MachineCpu, TcpTotals};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::caller::Tally;
use crate::evenness;
use crate::flags::MeasureFlags;
use crate::registry::{Entry, Registry};
use crate::server_stats;
use crate::session::{RunOutcome, RunPlan};
use crate::workload::WorkloadSpec;

/// What is the same for all runs of one process.
pub(crate) struct Setting<'a> {
    pub registry: &'a Registry,
    pub entry: Entry,
    pub flags: &'a MeasureFlags,
    pub workload: WorkloadSpec,
    pub cpus: CpuSet,
    pub host: HostInfo,
    pub connect_s: f64,
    /// What the client's loop does without any call.
    pub null_ceiling_per_s: f64,
    /// Server and client are on one machine: a connection has one address at both ends.
    pub server_is_here: bool,
}

/// Readings around one run, all taken when no call was under way.
pub(crate) struct Around {
    /// Before the first call of the connections' life, before this run, and after its drain.
    pub server: Option<(ServerStats, ServerStats, ServerStats)>,
    /// The server answered before the first call.
    pub server_answered: bool,
    /// TCP counters over this run.
    pub tcp: TcpTotals,
    /// Calls made before this run over the same connections.
    pub calls_before: u64,
    /// How many of them had the right reply.
    pub right_before: u64,
    pub started_at: OffsetDateTime,
}

/// Composes and audits the record of one run.
pub(crate) fn record(setting: &Setting<'_>, plan: &RunPlan, around: &Around, run: &RunOutcome) -> Record {
    let (registry, flags, tally) = (setting.registry, setting.flags, &run.tally);
    let elapsed_s = run.elapsed.as_secs_f64();
    let calls = calls(run, plan);
    let ended = calls.ok + calls.failed_total();
    let server = around.server.as_ref().and_then(|(first, before, after)| {
        let life = server_stats::difference(first, after)?;
        Some((before, life, server_stats::difference(before, after)?))
    });
    let server_run = server.as_ref().map(|(_, _, run)| run);
    let server_info = server.as_ref().map(|(before, ..)| &before.info);
    let server_use = server.as_ref().map(|(before, _, counters)| server_process(before, counters));
    let client_use = ProcessUse {
        cpu_user_s: seconds(run.usage.cpu_user_ns),
        cpu_sys_s: seconds(run.usage.cpu_sys_ns),
        cpu_us_per_call: per(run.usage.cpu_ns() as f64 / 1e3, ended),
        peak_rss_bytes: run.usage.peak_rss_bytes,
        context_switches: run.usage.context_switches,
        allocations_per_call: run.allocations.and_then(|count| per(count as f64, ended)),
        threads: run.usage.threads,
        cpus: Some(setting.cpus.indices()),
    };
    let delay_requested_ms = server_info.map(|info| info.delay_requested_ms);
    let idle_us = server_info.and_then(|info| info.timer_lateness_idle_us_mean);
    let throughput = (elapsed_s > 0.0 && calls.ok > 0).then(|| calls.ok as f64 / elapsed_s);
    let callers = flags.callers();
    let in_theory = |lateness_ms: f64| {
        // An open loop makes the calls it was asked for, not as many as it can.
        let delay_ms = delay_requested_ms.filter(|delay| *delay > 0.0 && plan.pace.is_none())?;
        Some(callers as f64 * 1000.0 / (delay_ms + lateness_ms))
    };
    let open = tally.open.as_ref();
    let shares = shares(&run.machine, run, server_run.filter(|_| setting.server_is_here), elapsed_s);
    // What a silent server on this machine used would be taken for others' use.
    let others_are_known = server_run.is_some() || !setting.server_is_here;
    let tcp = Some(&around.tcp).filter(|tcp| tcp.closed == 0);
    let per_made = |total: Option<u64>| total.and_then(|total| per(total as f64, tally.made));
    let delay = server_run
        .and_then(|counters| counters.delay.as_ref())
        .filter(|delay| delay.count > 0);
    let delay_mean_us =
        |sum: fn(&bench_core::server::DelayCounters) -> u64| delay.map(|delay| sum(delay) as f64 / delay.count as f64 / 1e3);

    let rates_per_s = run.evenness.rates_per_s();
    // The rate of an open loop is the one that was asked for.
    let notes = Some(&rates_per_s)
        .filter(|_| plan.pace.is_none())
        .and_then(|rates| evenness::note(rates))
        .into_iter()
        .collect();

    let mut record = Record {
        schema_version: SCHEMA_VERSION,
        framework: registry.framework.to_owned(),
        library: registry.library.to_owned(),
        library_version: registry.library_version().to_owned(),
        wire: setting.entry.wire.to_string(),
        transport: setting.entry.wire.transport.to_owned(),
        codec: setting.entry.wire.codec.to_owned(),
        lane: flags.lane,
        workload: setting.entry.workload.to_owned(),
        payload_bytes: (setting.entry.payload_bytes)(&setting.workload) as u64,
        mode: if plan.pace.is_some() { Mode::Open } else { Mode::Closed },
        concurrency: callers,
        connections: around.tcp.connections,
        rate_per_s: plan.pace.map(|pace| pace.rate_per_s),
        arrival: plan.pace.map(|pace| pace.arrival.to_string()),
        seed: flags.seed,
        delay_requested_ms,
        delay_measured_ms_mean: delay_mean_us(|delay| delay.slept_ns_sum).map(|us| us / 1e3),
        timer_lateness_us_mean: delay_mean_us(|delay| delay.lateness_ns_sum),
        resume_lag_us_mean: delay_mean_us(|delay| delay.resume_lag_ns_sum),
        timer_lateness_idle_us_mean: idle_us,
        theoretical_throughput_per_s: in_theory(0.0),
        theoretical_share: throughput
            .zip(in_theory(idle_us.unwrap_or(0.0) / 1e3))
            .map(|(throughput, most)| throughput / most),
        warmup_s: run.warmup.as_secs_f64(),
        elapsed_s,
        connect_s: setting.connect_s,
        partial: run.interrupted,
        connection_calls: around.calls_before + tally.made,
        connection_calls_ok: around.right_before + tally.right,
        wrong_replies_outside: tally.wrong_outside,
        server_calls: server.as_ref().map(|(_, life, _)| life.calls),
        calls_per_caller: CallsPerCaller::from_counts(&run.callers.iter().map(|caller| caller.calls).collect::<Vec<_>>()),
        finish_spread_s: plan.count.and_then(|_| finish_spread_s(run)),
        reconnects: tally.reconnects,
        callers_lost: run.callers.iter().filter(|caller| caller.lost).count() as u64,
        throughput_per_s: throughput,
        replies_per_s_over_time: rates_per_s,
        longest_standstill_s: Some(run.evenness.longest_standstill().as_secs_f64()),
        null_ceiling_per_s: Some(setting.null_ceiling_per_s),
        callers_active_s: Some(run.callers_active.as_secs_f64()),
        in_flight_age_s: Some(seconds(tally.in_flight_age_ns)),
        service_time_ns: tally.service.summary(),
        response_time_ns: open.and_then(|open| open.response.summary()),
        send_lag_ns: open.and_then(|open| open.send_lag.summary()),
        pacer_lag_ns: open.and_then(|open| open.pacer_lag.summary()),
        oldest_unanswered_ms: (calls.in_flight + calls.unsent > 0).then(|| tally.oldest_unanswered_ns as f64 / 1e6),
        failed_time_ns: tally.failed_time.summary(),
        wire_bytes_sent_per_call: tcp.and_then(|tcp| per_made(tcp.bytes_sent)),
        wire_bytes_received_per_call: tcp.and_then(|tcp| per_made(tcp.bytes_received)),
        segments_sent_per_call: tcp.and_then(|tcp| per_made(tcp.segments_sent)),
        segments_received_per_call: tcp.and_then(|tcp| per_made(tcp.segments_received)),
        cpu_us_per_call_sum: client_use
            .cpu_us_per_call
            .zip(server_use.as_ref().and_then(|server| server.cpu_us_per_call))
            .map(|(client, server)| client + server),
        client: Some(client_use),
        server: server_use,
        foreign_cpu_share: shares.as_ref().filter(|_| others_are_known).map(|shares| shares.foreign_cpu_share),
        steal_share: shares.as_ref().map(|shares| shares.steal_share),
        settings: settings(setting, plan, around, server_info),
        host: HostRecord {
            info: setting.host.clone(),
            label: flags.label.clone(),
        },
        build: BuildInfo::current(registry.library),
        failures: tally.texts.texts().to_vec(),
        error: None,
        verdict: Verdict::Valid,
        verdict_reasons: Vec::new(),
        notes,
        bound_by: BoundBy::Unknown,
        started_at: around.started_at.format(&Rfc3339).unwrap_or_default(),
        round: None,
        floor_ratio: None,
        calls,
    };
    record.audit();
    let outside = (tally.made - tally.right).saturating_sub(record.calls.failed_total());
    if outside > 0 {
        record.doubt(format!(
            "{outside} calls outside the window failed: in the warm-up, or after the window's end, or without a reply within the drain limit"
        ));
    }
    if around.server_answered && record.server.is_none() {
        record.doubt("the server did not answer after the run, or another had taken its place: its count of calls is not known".to_owned());
    }
    record
}

fn calls(run: &RunOutcome, plan: &RunPlan) -> Calls {
    let asked = plan.count.filter(|_| plan.pace.is_none());
    let tally: &Tally = &run.tally;
    let failed: BTreeMap<FailureKind, u64> = FailureKind::ALL
        .into_iter()
        .zip(tally.failed)
        .filter(|(_, count)| *count > 0)
        .collect();
    let ok = tally.service.count();
    let unsent: u64 = tally.unsent + run.callers.iter().map(|caller| caller.unsent).sum::<u64>();
    // A counted run of a closed loop was due what was asked for, whatever the callers report; a timed one, what ended in the window or was
    // under way; an open loop, what its schedule had before the window's end.
    let due = asked.unwrap_or(ok + failed.values().sum::<u64>() + tally.in_flight + unsent);
    Calls {
        due,
        ok,
        failed,
        dropped: 0,
        // A call in flight at the end of a counted run was made, but in a closed loop its caller counts it as outstanding.
        unsent: match plan.pace {
            None if asked.is_some() => unsent.saturating_sub(tally.in_flight),
            None => 0,
            Some(_) => unsent,
        },
        in_flight: tally.in_flight,
    }
}

fn finish_spread_s(run: &RunOutcome) -> Option<f64> {
    let ends = || run.callers.iter().filter_map(|caller| caller.ended_ns);
    Some(seconds(ends().max()? - ends().min()?))
}

fn server_process(stats: &ServerStats, counters: &ServerCounters) -> ProcessUse {
    ProcessUse {
        cpu_user_s: counters.cpu_user_s,
        cpu_sys_s: counters.cpu_sys_s,
        cpu_us_per_call: per((counters.cpu_user_s + counters.cpu_sys_s) * 1e6, counters.calls),
        peak_rss_bytes: counters.peak_rss_bytes,
        context_switches: counters.context_switches,
        allocations_per_call: counters.allocations.and_then(|count| per(count as f64, counters.calls)),
        threads: counters.threads,
        cpus: stats.info.cpus.clone(),
    }
}

/// What others used of the machine. The server is not one of them where it is on this machine; its CPU is known over warm-up, window and
/// drain, and is scaled to the window.
fn shares(
    machine: &(MachineCpu, MachineCpu),
    run: &RunOutcome,
    server: Option<&ServerCounters>,
    elapsed_s: f64,
) -> Option<bench_host::CpuShares> {
    let server_s = server.map_or(0.0, |server| server.cpu_user_s + server.cpu_sys_s);
    let active_s = elapsed_s + run.warmup.as_secs_f64();
    let in_window = if active_s > 0.0 { server_s * elapsed_s / active_s } else { 0.0 };
    MachineCpu::shares(&machine.0, &machine.1, run.usage.cpu_ns() + (in_window * 1e9) as u64)
}

fn settings(
    setting: &Setting<'_>,
    plan: &RunPlan,
    around: &Around,
    server: Option<&bench_core::server::ServerInfo>,
) -> BTreeMap<String, serde_json::Value> {
    let mut settings = (setting.entry.settings)(setting.flags.lane);
    settings.insert("tcp_nodelay".to_owned(), around.tcp.nodelay.into());
    if setting.entry.blocking {
        settings.insert("threads".to_owned(), "one per connection".into());
    }
    if let Some(pace) = plan.pace {
        settings.insert("pacer".to_owned(), pace.pacer.name().into());
        settings.insert("pacer_coalesce_us".to_owned(), (pace.coalesce.as_nanos() as f64 / 1e3).into());
    }
    settings.insert("timeout_ms".to_owned(), (setting.flags.timeout.as_secs_f64() * 1e3).into());
    if let Some(info) = server {
        let mut theirs: serde_json::Map<_, _> = info.settings.clone().into_iter().collect();
        theirs.insert("profile".to_owned(), info.build.profile.clone().into());
        theirs.insert("optimised".to_owned(), info.build.optimised.into());
        theirs.insert("runtime".to_owned(), info.runtime.clone().into());
        theirs.insert("runtime_threads".to_owned(), info.runtime_threads.into());
        theirs.insert("yields".to_owned(), info.yields.into());
        settings.insert("server".to_owned(), theirs.into());
    }
    settings
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn per(total: f64, calls: u64) -> Option<f64> {
    (calls > 0).then(|| total / calls as f64)
}
