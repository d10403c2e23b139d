//! The loopback floor in every placement, so that nobody has to guess what the placement is worth.

use std::time::Duration;

use anyhow::Result;
use bench_core::message::{REPLY_BYTES, REQUEST_BYTES};
use bench_host::CpuSet;
use serde::Serialize;

use crate::floor::{FloorRun, FloorSpec, run};

const WARMUP: Duration = Duration::from_millis(300);
const WINDOW: Duration = Duration::from_secs(1);

/// All runs at one concurrency.
#[derive(Debug, Serialize)]
pub struct Floors {
    /// Connections, each with one call in flight.
    pub concurrency: usize,
    /// One and two threads a side, the sides apart as every stack's are; and two threads a side with the sides together.
    pub runs: Vec<Floor>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct Floor {
    /// `apart`: each side on its half of the CPUs; `together`: both on all of them.
    pub placement: &'static str,
    /// Threads of each side.
    pub threads_per_side: usize,
    /// True for the better of the two runs with the sides apart: the one that ratios are to.
    pub is_the_floor: bool,
    /// Calls per second.
    pub throughput_per_s: f64,
    /// Median service time, nanoseconds.
    pub service_time_ns_p50: u64,
    /// Its 99th percentile.
    pub service_time_ns_p99: u64,
    /// CPU of both sides per call, microseconds; with one thread a side it includes looking for events instead of sleeping.
    pub cpu_us_per_call: f64,
}

pub(super) fn measure(connections: usize, server: &CpuSet, client: &CpuSet) -> Result<Floors> {
    let (server, client) = (server.indices(), client.indices());
    let both = [server.clone(), client.clone()].concat();
    let spec = |threads_per_side, server_cpus: &Vec<usize>, client_cpus: &Vec<usize>| FloorSpec {
        connections,
        threads_per_side,
        warmup: WARMUP,
        window: WINDOW,
        server_cpus: server_cpus.clone(),
        client_cpus: client_cpus.clone(),
        request_bytes: REQUEST_BYTES,
        reply_bytes: REPLY_BYTES,
    };
    let mut runs = vec![
        floor("apart", &run(&spec(1, &server, &client))?),
        floor("apart", &run(&spec(2, &server, &client))?),
        floor("together", &run(&spec(2, &both, &both))?),
    ];
    let better = usize::from(runs[1].throughput_per_s > runs[0].throughput_per_s);
    runs[better].is_the_floor = true;
    Ok(Floors {
        concurrency: connections,
        runs,
    })
}

fn floor(placement: &'static str, run: &FloorRun) -> Floor {
    Floor {
        placement,
        threads_per_side: run.threads_per_side,
        is_the_floor: false,
        throughput_per_s: run.throughput_per_s,
        service_time_ns_p50: run.service_time.percentile(50.0).unwrap_or_default(),
        service_time_ns_p99: run.service_time.percentile(99.0).unwrap_or_default(),
        cpu_us_per_call: (run.cpu_user_s + run.cpu_sys_s) * 1e6 / run.calls.max(1) as f64,
    }
}
