//! The axes of a sweep file: what each takes, and what stands for one that is absent.

use anyhow::{Result, bail};
use bench_core::arrival::Arrival;
use bench_core::lane::Lane;
use bench_core::runtime::RuntimeKind;
use serde::{Deserialize, Serialize};

use super::connections::Connections;

/// Calls per second of an open loop, as the clients' `-r` takes them; the least that a cell can tell from another.
const LEAST_RATE: f64 = 0.001;
const MOST_RATE: f64 = 1e9;

/// The axes of a matrix. What is absent comes from `[defaults]`, then from the comment at each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Axes {
    /// Framework names; absent: all that are discovered.
    pub frameworks: Option<Vec<String>>,
    /// Wires by name, or `flagship`, or `all`; absent: flagship.
    pub wires: Option<Vec<String>>,
    /// `default`, `tuned`; absent: default.
    pub lanes: Option<Vec<Lane>>,
    /// Workloads by name; absent: the first that the wire offers.
    pub workloads: Option<Vec<String>>,
    /// Payload sizes in bytes, for workloads that have one; absent: the client's default.
    pub payload_bytes: Option<Vec<u64>>,
    /// Simulated delays in milliseconds; absent: 0.
    pub delays_ms: Option<Vec<f64>>,
    /// Concurrent callers; absent: 100.
    pub callers: Option<Vec<u64>>,
    /// `per-caller`, or a number of connections that the callers share; absent: per-caller.
    pub connections: Option<Vec<Connections>>,
    /// Runtime threads of the server; absent: its default.
    pub server_threads: Option<Vec<u64>>,
    /// Threads of the client; absent: its default.
    pub client_threads: Option<Vec<u64>>,
    /// Whether the server's handlers yield before they answer (`--yield`); absent: they do not.
    pub yields: Option<Vec<bool>>,
    /// Runtimes of the server: `current-thread`, `multi` (`--runtime`); absent: its default.
    pub server_runtimes: Option<Vec<RuntimeKind>>,
    /// Rates of an open loop in calls per second, of all callers together; absent: a closed loop.
    pub rates_per_s: Option<Vec<f64>>,
    /// Arrivals of an open loop: `constant`, `poisson`; absent: constant.
    pub arrival: Option<Arrival>,
    /// How often each cell runs, on fresh processes; absent: 1.
    pub rounds: Option<u64>,
    /// Length of the measured window in seconds; absent: 10.
    pub seconds: Option<f64>,
    /// Number of calls after which a cell ends before its time (the first limit wins); absent: none.
    pub calls: Option<u64>,
    /// Warm-up in seconds; absent: 1.
    pub warmup_seconds: Option<f64>,
}

impl Axes {
    /// These axes, and those of `defaults` where these name none.
    pub fn or(&self, defaults: &Self) -> Self {
        let (own, defaults) = (self.clone(), defaults.clone());
        Self {
            frameworks: own.frameworks.or(defaults.frameworks),
            wires: own.wires.or(defaults.wires),
            lanes: own.lanes.or(defaults.lanes),
            workloads: own.workloads.or(defaults.workloads),
            payload_bytes: own.payload_bytes.or(defaults.payload_bytes),
            delays_ms: own.delays_ms.or(defaults.delays_ms),
            callers: own.callers.or(defaults.callers),
            connections: own.connections.or(defaults.connections),
            server_threads: own.server_threads.or(defaults.server_threads),
            client_threads: own.client_threads.or(defaults.client_threads),
            yields: own.yields.or(defaults.yields),
            server_runtimes: own.server_runtimes.or(defaults.server_runtimes),
            rates_per_s: own.rates_per_s.or(defaults.rates_per_s),
            arrival: own.arrival.or(defaults.arrival),
            rounds: own.rounds.or(defaults.rounds),
            seconds: own.seconds.or(defaults.seconds),
            calls: own.calls.or(defaults.calls),
            warmup_seconds: own.warmup_seconds.or(defaults.warmup_seconds),
        }
    }
}

/// Refuses values out of range.
pub(super) fn check_axes(axes: &Axes) -> Result<()> {
    words("frameworks", axes.frameworks.as_deref())?;
    words("wires", axes.wires.as_deref())?;
    words("workloads", axes.workloads.as_deref())?;
    not_empty("lanes", axes.lanes.as_deref())?;
    not_empty("connections", axes.connections.as_deref())?;
    each("payload_bytes", axes.payload_bytes.as_deref(), 0.0, 8_388_608.0)?;
    each("callers", axes.callers.as_deref(), 1.0, 1_000_000.0)?;
    each("server_threads", axes.server_threads.as_deref(), 1.0, 1024.0)?;
    each("client_threads", axes.client_threads.as_deref(), 1.0, 1024.0)?;
    not_empty("yields", axes.yields.as_deref())?;
    not_empty("server_runtimes", axes.server_runtimes.as_deref())?;
    each_fraction("delays_ms", axes.delays_ms.as_deref(), 0.0, 60_000.0)?;
    each_fraction("rates_per_s", axes.rates_per_s.as_deref(), LEAST_RATE, MOST_RATE)?;
    in_range("rounds", axes.rounds.unwrap_or(1) as f64, 1.0, 1000.0)?;
    in_range("seconds", axes.seconds.unwrap_or(1.0), 0.05, 86_400.0)?;
    in_range("calls", axes.calls.unwrap_or(1) as f64, 1.0, 1e12)?;
    in_range("warmup_seconds", axes.warmup_seconds.unwrap_or(0.0), 0.0, 3600.0)
}

/// Refuses arrivals where there is no rate: the loop would be closed, and the key say nothing. `axes` with its defaults.
pub(super) fn check_arrival(axes: &Axes) -> Result<()> {
    if axes.arrival.is_some() && axes.rates_per_s.is_none() {
        bail!("arrival: without rates_per_s the loop is closed; add rates_per_s, or leave arrival out");
    }
    Ok(())
}

/// Refuses a value outside of its range, by the name of its key.
pub(super) fn in_range(key: &str, value: f64, least: f64, most: f64) -> Result<()> {
    // A NaN is in no range.
    if !(least..=most).contains(&value) {
        bail!("{key}: {value} is not from {least} to {most}");
    }
    Ok(())
}

fn not_empty<T>(key: &str, values: Option<&[T]>) -> Result<()> {
    if values.is_some_and(<[T]>::is_empty) {
        bail!("{key}: the list is empty; leave the key out to get its default");
    }
    Ok(())
}

fn each(key: &str, values: Option<&[u64]>, least: f64, most: f64) -> Result<()> {
    let values = values.map(|values| values.iter().map(|&value| value as f64).collect::<Vec<_>>());
    each_fraction(key, values.as_deref(), least, most)
}

fn each_fraction(key: &str, values: Option<&[f64]>, least: f64, most: f64) -> Result<()> {
    not_empty(key, values)?;
    values
        .into_iter()
        .flatten()
        .try_for_each(|&value| in_range(key, value, least, most))
}

fn words(key: &str, values: Option<&[String]>) -> Result<()> {
    not_empty(key, values)?;
    if values.into_iter().flatten().any(|word| word.trim().is_empty()) {
        bail!("{key}: a name is empty");
    }
    Ok(())
}
