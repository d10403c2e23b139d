//! The record of a cell that could not be run: a failure is data, with the error in place of the figures.

use std::collections::BTreeMap;

use bench_core::build_info::BuildInfo;
use bench_core::record::{BoundBy, Calls, HostRecord, Mode, Record, SCHEMA_VERSION};
use bench_core::verdict::Verdict;
use bench_host::HostInfo;

use super::cell::Cell;
use super::pace::Pace;
use crate::dates::Utc;
use crate::discovery::Stack;
use crate::records::SweepRecord;

/// What a failed cell has in common with its sweep.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The machine.
    pub host: HostInfo,
    /// The user's word for it.
    pub label: String,
    /// Seed of the client.
    pub seed: u64,
}

/// A record with an error, verdict INVALID.
pub fn record_of_failure(cell: &Cell, stack: &Stack, round: u64, around: &Surroundings, error: &str) -> SweepRecord {
    let (transport, codec) = cell.wire.split_once('/').unwrap_or((&cell.wire, ""));
    let mut record = Record {
        schema_version: SCHEMA_VERSION,
        framework: cell.framework.clone(),
        library: stack.library.clone(),
        library_version: stack.library_version.clone().unwrap_or_default(),
        wire: cell.wire.clone(),
        transport: transport.to_owned(),
        codec: codec.to_owned(),
        lane: cell.lane,
        workload: cell.workload.clone(),
        payload_bytes: cell.payload_bytes.unwrap_or(bench_core::message::REQUEST_BYTES as u64),
        mode: if cell.pace.is_some() { Mode::Open } else { Mode::Closed },
        concurrency: cell.callers,
        connections: cell.connection_count(),
        rate_per_s: cell.pace.map(Pace::rate_per_s),
        arrival: cell.pace.map(|pace| pace.arrival.to_string()),
        seed: around.seed,
        delay_requested_ms: Some(cell.delay_us as f64 / 1000.0),
        delay_measured_ms_mean: None,
        timer_lateness_us_mean: None,
        resume_lag_us_mean: None,
        timer_lateness_idle_us_mean: None,
        theoretical_throughput_per_s: None,
        theoretical_share: None,
        warmup_s: cell.warmup_ms as f64 / 1000.0,
        elapsed_s: 0.0,
        connect_s: 0.0,
        partial: false,
        calls: Calls::default(),
        connection_calls: 0,
        connection_calls_ok: 0,
        wrong_replies_outside: 0,
        server_calls: None,
        calls_per_caller: None,
        finish_spread_s: None,
        reconnects: 0,
        callers_lost: 0,
        throughput_per_s: None,
        replies_per_s_over_time: Vec::new(),
        longest_standstill_s: None,
        null_ceiling_per_s: None,
        callers_active_s: None,
        in_flight_age_s: None,
        service_time_ns: None,
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
            info: around.host.clone(),
            label: around.label.clone(),
        },
        build: BuildInfo::current(&stack.library),
        failures: vec![error.to_owned()],
        error: Some(error.to_owned()),
        verdict: Verdict::Invalid,
        verdict_reasons: Vec::new(),
        notes: Vec::new(),
        bound_by: BoundBy::Unknown,
        started_at: Utc::now().rfc3339(),
        round: Some(round),
        floor_ratio: None,
    };
    record.audit();
    SweepRecord {
        record,
        cell: Some(cell.clone()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bench_core::histogram::Times;
    use bench_core::lane::Lane;

    use super::super::connections::Connections;
    use super::*;

    pub(crate) fn example_cell() -> Cell {
        Cell {
            framework: "tcp".to_owned(),
            wire: "tcp/protobuf".to_owned(),
            lane: Lane::Default,
            workload: "echo".to_owned(),
            payload_bytes: None,
            delay_us: 0,
            callers: 50,
            connections: Connections::PerCaller,
            server_threads: None,
            client_threads: None,
            measure_ms: 1000,
            calls: None,
            warmup_ms: 100,
            yields: false,
            server_runtime: None,
            pace: None,
        }
    }

    pub(crate) fn failed_record() -> SweepRecord {
        let stack = Stack {
            framework: "tcp".to_owned(),
            library: "tokio".to_owned(),
            library_version: Some("1.2.3".to_owned()),
            server: "tcp-server".to_owned(),
            client: "tcp-client".to_owned(),
        };
        let host = HostInfo {
            cpu_model: "Example CPU".to_owned(),
            cpus: 2,
            kernel: "6.1.0".to_owned(),
            governor: None,
            memory_bytes: 8 << 30,
        };
        let around = Surroundings {
            host,
            label: "local".to_owned(),
            seed: 1,
        };
        record_of_failure(&example_cell(), &stack, 0, &around, "the server did not start")
    }

    /// A good record: 1,000 calls of 1 to 1,000 µs in a second.
    pub(crate) fn example_record() -> SweepRecord {
        let mut example = failed_record();
        let mut times = Times::new();
        (1..=1000).for_each(|us| times.record(us * 1000));
        let record = &mut example.record;
        record.calls = Calls {
            due: 1000,
            ok: 1000,
            ..Calls::default()
        };
        record.connection_calls = 1000;
        record.connection_calls_ok = 1000;
        record.elapsed_s = 1.0;
        record.service_time_ns = times.summary();
        record.throughput_per_s = Some(1000.0);
        record.cpu_us_per_call_sum = Some(23.5);
        (record.error, record.failures) = (None, Vec::new());
        record.build.optimised = true;
        record.audit();
        record.floor_ratio = Some(0.5);
        example
    }

    #[test]
    fn a_failed_cell_is_an_invalid_record_that_says_why() {
        let record = failed_record().record;
        assert_eq!((record.verdict, record.throughput_per_s), (Verdict::Invalid, None));
        assert!(
            record
                .verdict_reasons
                .iter()
                .any(|reason| reason.contains("the server did not start"))
        );
        assert_eq!((record.mode, record.rate_per_s), (Mode::Closed, None));
        let good = example_record().record;
        assert_eq!((good.verdict, good.verdict_reasons), (Verdict::Valid, vec![]));
    }
}
