//! What the instruments cost on this machine: the figures that a reader subtracts, or compares a difference with.

pub mod against_itself;
mod delay;
mod floors;
mod instruments;

use anyhow::{Context as _, Result};
use bench_host::{CpuSet, HostInfo};
use serde::Serialize;

pub use against_itself::AgainstItself;
pub use delay::TimerLateness;
pub use floors::Floors;
pub use instruments::Instruments;
pub(crate) use instruments::per_round;

use crate::report::table::{Align, Table};
use bench_core::units::{grouped, three_digits, time};

/// All of it.
#[derive(Debug, Serialize)]
pub struct Calibration {
    /// The machine.
    pub host: HostInfo,
    /// Clock, histogram, loop and message, nanoseconds each.
    pub instruments: Instruments,
    /// How late the simulated delay is with nothing else to do.
    pub idle_timers: Vec<TimerLateness>,
    /// The loopback floor at each concurrency asked for.
    pub floors: Vec<Floors>,
    /// The same binaries against themselves; null when that was left out.
    pub against_itself: Option<AgainstItself>,
}

/// Measures everything: about 5 s, and 4 s more for each concurrency.
///
/// # Errors
/// When a thread, a timer or a socket cannot be had.
pub fn calibrate(concurrencies: &[usize]) -> Result<Calibration> {
    let allowed = CpuSet::allowed().context("which CPUs this process may use")?;
    // As the stacks have them.
    let (server, client) = bench_host::halves(&allowed);
    let host = HostInfo::read().context("cannot read what machine this is")?;
    let instruments = instruments::measure(&client)?;
    let idle_timers = delay::measure(&server)?;
    let floors = concurrencies
        .iter()
        .map(|&connections| floors::measure(connections, &server, &client))
        .collect::<Result<_>>()?;
    Ok(Calibration {
        host,
        instruments,
        idle_timers,
        floors,
        against_itself: None,
    })
}

impl Calibration {
    /// For a person.
    pub fn text(&self) -> String {
        let host = &self.host;
        [
            format!("{}, {} CPUs, Linux {}\n", host.cpu_model, host.cpus, host.kernel),
            self.instruments_table().text(),
            self.timers_table().text(),
            self.floors_table().text(),
            self.against_itself.as_ref().map_or(String::new(), |noise| noise.table().text()),
        ]
        .join("\n")
    }

    fn instruments_table(&self) -> Table {
        let mut table = Table::new([("instrument", Align::Left), ("ns", Align::Right)]);
        for (name, ns) in self.instruments.named() {
            table.row([name.to_owned(), format!("{ns:.1}")]);
        }
        table
    }

    fn timers_table(&self) -> Table {
        let columns = ["idle timer", "delay", "mean lateness", "p99", "overrun"];
        let mut table = Table::new(columns.map(|name| (name, Align::Right)));
        for timer in &self.idle_timers {
            table.row([
                timer.form.to_owned(),
                format!("{} ms", timer.delay_ms),
                time(timer.lateness_ns_mean),
                time(timer.lateness_ns_p99 as f64),
                format!("{:.2} %", timer.lateness_ns_mean / (timer.delay_ms * 1e4)),
            ]);
        }
        table
    }

    fn floors_table(&self) -> Table {
        let columns = [
            "loopback floor",
            "placement",
            "threads a side",
            "calls/s",
            "median",
            "p99",
            "CPU µs/call",
        ];
        let mut table = Table::new(columns.map(|name| (name, Align::Right)));
        for floors in &self.floors {
            for floor in &floors.runs {
                let chosen = if floor.is_the_floor { " *" } else { "" };
                table.row([
                    format!("c={}", floors.concurrency),
                    floor.placement.to_owned(),
                    floor.threads_per_side.to_string(),
                    format!("{}{chosen}", grouped(floor.throughput_per_s)),
                    time(floor.service_time_ns_p50 as f64),
                    time(floor.service_time_ns_p99 as f64),
                    three_digits(floor.cpu_us_per_call),
                ]);
            }
        }
        table
    }
}
