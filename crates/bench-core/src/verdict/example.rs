//! Records to break.

use std::collections::BTreeMap;

use bench_host::HostInfo;

use super::Verdict;
use crate::build_info::BuildInfo;
use crate::histogram::{Times, TimesSummary};
use crate::lane::Lane;
use crate::record::{BoundBy, Calls, HostRecord, Mode, Record, SCHEMA_VERSION};

/// 1,000 times, half of them each way from the middle.
fn times(middle_ns: u64, spread_ns: u64) -> Option<TimesSummary> {
    let mut times = Times::new();
    for _ in 0..500 {
        times.record(middle_ns - spread_ns);
        times.record(middle_ns + spread_ns);
    }
    times.summary()
}

/// A good record: 10 callers, a second, 1,000 calls of 9 or 11 ms.
pub(super) fn closed_loop() -> Record {
    Record {
        schema_version: SCHEMA_VERSION,
        framework: "example".to_owned(),
        library: "example".to_owned(),
        library_version: "1.0.0".to_owned(),
        wire: "tcp/none".to_owned(),
        transport: "tcp".to_owned(),
        codec: "none".to_owned(),
        lane: Lane::Default,
        workload: "echo".to_owned(),
        payload_bytes: 1,
        mode: Mode::Closed,
        concurrency: 10,
        connections: 10,
        rate_per_s: None,
        arrival: None,
        seed: 1,
        delay_requested_ms: None,
        delay_measured_ms_mean: None,
        timer_lateness_us_mean: None,
        resume_lag_us_mean: None,
        timer_lateness_idle_us_mean: None,
        theoretical_throughput_per_s: None,
        theoretical_share: None,
        warmup_s: 1.0,
        elapsed_s: 1.0,
        connect_s: 0.1,
        partial: false,
        calls: Calls {
            due: 1000,
            ok: 1000,
            ..Calls::default()
        },
        connection_calls: 1010,
        connection_calls_ok: 1000,
        wrong_replies_outside: 0,
        server_calls: None,
        calls_per_caller: None,
        finish_spread_s: None,
        reconnects: 0,
        callers_lost: 0,
        throughput_per_s: Some(1000.0),
        replies_per_s_over_time: Vec::new(),
        longest_standstill_s: None,
        null_ceiling_per_s: None,
        callers_active_s: Some(10.0),
        in_flight_age_s: Some(0.0),
        service_time_ns: times(10_000_000, 1_000_000),
        response_time_ns: None,
        send_lag_ns: None,
        pacer_lag_ns: None,
        oldest_unanswered_ms: None,
        failed_time_ns: None,
        wire_bytes_sent_per_call: None,
        wire_bytes_received_per_call: None,
        segments_sent_per_call: None,
        segments_received_per_call: None,
        client: None,
        server: None,
        cpu_us_per_call_sum: None,
        foreign_cpu_share: None,
        steal_share: None,
        settings: BTreeMap::new(),
        host: HostRecord {
            info: HostInfo {
                cpu_model: "Example CPU".to_owned(),
                cpus: 2,
                kernel: "6.1.0".to_owned(),
                governor: None,
                memory_bytes: 1,
            },
            label: "local".to_owned(),
        },
        build: BuildInfo {
            optimised: true,
            ..BuildInfo::current("example")
        },
        failures: Vec::new(),
        error: None,
        verdict: Verdict::Valid,
        verdict_reasons: Vec::new(),
        notes: Vec::new(),
        bound_by: BoundBy::Unknown,
        started_at: String::new(),
        round: None,
        floor_ratio: None,
    }
}

/// The same calls, made at a rate and 0.4 ms late.
pub(super) fn open_loop() -> Record {
    Record {
        mode: Mode::Open,
        rate_per_s: Some(1000.0),
        arrival: Some("constant".to_owned()),
        response_time_ns: times(10_400_000, 1_000_000),
        send_lag_ns: times(400_000, 10_000),
        pacer_lag_ns: times(400_000, 0),
        ..closed_loop()
    }
}

fn audited(made: fn() -> Record, change: impl FnOnce(&mut Record)) -> Record {
    let mut record = made();
    change(&mut record);
    record.audit();
    record
}

#[track_caller]
pub(super) fn valid(made: fn() -> Record, change: impl FnOnce(&mut Record)) {
    let record = audited(made, change);
    assert_eq!((record.verdict, record.verdict_reasons), (Verdict::Valid, vec![]));
}

#[track_caller]
pub(super) fn suspect(made: fn() -> Record, change: impl FnOnce(&mut Record), words: &str) {
    check(&audited(made, change), Verdict::Suspect, words);
}

/// An INVALID row has no throughput either.
#[track_caller]
pub(super) fn invalid(made: fn() -> Record, change: impl FnOnce(&mut Record), words: &str) {
    let record = audited(made, change);
    check(&record, Verdict::Invalid, words);
    assert_eq!(record.throughput_per_s, None);
}

#[track_caller]
fn check(record: &Record, verdict: Verdict, words: &str) {
    assert_eq!(record.verdict, verdict, "{:?}", record.verdict_reasons);
    let found = record.verdict_reasons.iter().any(|reason| reason.contains(words));
    assert!(found, "no '{words}' in {:?}", record.verdict_reasons);
}
