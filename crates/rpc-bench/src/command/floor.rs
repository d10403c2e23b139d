//! `rpc-bench floor`: the loopback floor by itself. Sweeps run it in a process of its own, like everything that is measured.

use std::time::Duration;

use anyhow::{Context, Result};
use bench_core::message::{REPLY_BYTES, REQUEST_BYTES};
use bench_host::CpuSet;
use serde::Serialize;

use super::TextOrJson;
use super::values::seconds;
use crate::floor::{FloorRun, FloorSpec, best};
use crate::report::table::{Align, Table};
use crate::usage;
use bench_core::talk;
use bench_core::units::{grouped, three_digits, time};

/// Flags of `floor`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A ping-pong of the benchmark's frames over loopback TCP, with one and with two threads a side; the better one is the floor.\n\n\
    Examples:\n  rpc-bench floor\n  rpc-bench floor -c 500 -d 5s --output json"
)]
pub struct FloorArgs {
    /// Connections, each with one call in flight
    #[arg(short = 'c', long = "concurrency", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    concurrency: u32,
    /// Length of the measured window of each run
    #[arg(short = 'd', long, value_name = "DURATION", default_value = "2s", value_parser = window)]
    duration: Duration,
    /// Warm-up of each run
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = seconds)]
    warmup: Duration,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
}

/// What `--output json` prints: the better run, and the other one inside it.
#[derive(Debug, Serialize)]
struct FloorReport {
    concurrency: usize,
    threads_per_side: usize,
    throughput_per_s: f64,
    calls: u64,
    /// Calls of the connection that had least.
    fewest_calls: u64,
    elapsed_s: f64,
    service_time_ns_min: u64,
    service_time_ns_mean: f64,
    service_time_ns_p50: u64,
    service_time_ns_p99: u64,
    service_time_ns_max: u64,
    /// CPU of both sides in user mode and in the kernel, with one thread a side including the looking for events.
    cpu_user_us_per_call: f64,
    cpu_sys_us_per_call: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Box<FloorReport>>,
}

fn window(text: &str) -> Result<Duration, String> {
    seconds(text).and_then(|window| match window.is_zero() {
        true => Err("a window of 0 measures nothing".to_owned()),
        false => Ok(window),
    })
}

pub(super) fn run(args: &FloorArgs) -> Result<u8> {
    let allowed = CpuSet::allowed().context("which CPUs this process may use")?;
    // As the stacks have them: a floor on other CPUs would be the measure of something else.
    let (server, client) = bench_host::halves(&allowed);
    let spec = FloorSpec {
        connections: args.concurrency as usize,
        threads_per_side: 1,
        warmup: args.warmup,
        window: args.duration,
        server_cpus: server.indices(),
        client_cpus: client.indices(),
        request_bytes: REQUEST_BYTES,
        reply_bytes: REPLY_BYTES,
    };
    let [better, other] = best(&spec)?;
    let report = FloorReport {
        other: Some(Box::new(FloorReport::of(&other))),
        ..FloorReport::of(&better)
    };
    match args.output {
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string(&report)?))?,
        TextOrJson::Text => talk::print(&table(&report).text())?,
    }
    Ok(usage::GOOD)
}

impl FloorReport {
    fn of(run: &FloorRun) -> Self {
        // A floor has at least one call.
        let percentile = |percent| run.service_time.percentile(percent).unwrap_or_default();
        let per_call_us = |seconds: f64| seconds * 1e6 / run.calls.max(1) as f64;
        Self {
            concurrency: run.connections,
            threads_per_side: run.threads_per_side,
            throughput_per_s: run.throughput_per_s,
            calls: run.calls,
            fewest_calls: run.fewest_calls,
            elapsed_s: run.elapsed.as_secs_f64(),
            service_time_ns_min: percentile(0.0),
            service_time_ns_mean: run.service_time.sum_ns() as f64 / run.calls.max(1) as f64,
            service_time_ns_p50: percentile(50.0),
            service_time_ns_p99: percentile(99.0),
            service_time_ns_max: percentile(100.0),
            cpu_user_us_per_call: per_call_us(run.cpu_user_s),
            cpu_sys_us_per_call: per_call_us(run.cpu_sys_s),
            other: None,
        }
    }
}

fn table(better: &FloorReport) -> Table {
    let numbers = [
        "connections",
        "threads a side",
        "calls/s",
        "mean",
        "median",
        "p99",
        "max",
        "CPU µs/call",
    ];
    let mut table = Table::new(numbers.map(|name| (name, Align::Right)));
    for run in std::iter::once(better).chain(better.other.as_deref()) {
        table.row([
            grouped(run.concurrency as f64),
            run.threads_per_side.to_string(),
            grouped(run.throughput_per_s),
            time(run.service_time_ns_mean),
            time(run.service_time_ns_p50 as f64),
            time(run.service_time_ns_p99 as f64),
            time(run.service_time_ns_max as f64),
            three_digits(run.cpu_user_us_per_call + run.cpu_sys_us_per_call),
        ]);
    }
    table
}
