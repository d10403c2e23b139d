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

use crate::interrupt::Interrupt;
use crate::report::table::{Align, Table};
use crate::trial::Arm;
use bench_core::units::{grouped, three_digits, time};

/// All of it; what was not measured yet, or not asked for, is empty.
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
    /// The same binaries against themselves.
    pub against_itself: Option<AgainstItself>,
}

impl Calibration {
    /// Begins with the instruments: about 2 s.
    ///
    /// # Errors
    /// When the machine does not say what it is, or a thread cannot be had.
    pub fn begin() -> Result<Self> {
        let host = HostInfo::read().context("cannot read what machine this is")?;
        let (_, client) = sides()?;
        Ok(Self {
            host,
            instruments: instruments::measure(&client)?,
            idle_timers: Vec::new(),
            floors: Vec::new(),
            against_itself: None,
        })
    }

    /// Measures the idle timers and the floor at each concurrency: about 3 s, and 4 s more for each. Ends early when somebody asks to.
    ///
    /// # Errors
    /// When a thread, a timer or a socket cannot be had; what was measured before is kept.
    pub fn add_floors(&mut self, concurrencies: &[usize], interrupt: &Interrupt) -> Result<()> {
        let (server, client) = sides()?;
        if interrupt.requested() {
            return Ok(());
        }
        self.idle_timers = delay::measure(&server)?;
        for &connections in concurrencies {
            if interrupt.requested() {
                break;
            }
            let floors = floors::measure(connections, &server, &client);
            self.floors
                .push(floors.with_context(|| format!("the loopback floor at c={connections}"))?);
        }
        Ok(())
    }

    /// Measures an arm against itself. Ends early when somebody asks to.
    ///
    /// # Errors
    /// When it cannot be measured; the rounds before are kept.
    pub fn add_against_itself(&mut self, arm: &Arm, rounds: u64, interrupt: &Interrupt, tell: impl Fn(&str)) -> Result<()> {
        let Some(measured) = against_itself::measure_rounds(arm, rounds, interrupt, tell)? else {
            return Ok(());
        };
        self.against_itself = Some(AgainstItself::new(arm, rounds, measured.rounds));
        measured.error.map_or(Ok(()), Err)
    }

    /// For a person.
    pub fn text(&self) -> String {
        let host = &self.host;
        let head = format!("{}, {} CPUs, Linux {}\n", host.cpu_model, host.cpus, host.kernel);
        let mut parts = vec![head, self.instruments_table().text()];
        if !self.idle_timers.is_empty() {
            parts.push(self.timers_table().text());
        }
        if !self.floors.is_empty() {
            parts.push(self.floors_table().text());
        }
        parts.extend(self.against_itself.as_ref().map(AgainstItself::text));
        parts.join("\n")
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

/// The server's and the client's CPUs, as the stacks have them.
fn sides() -> Result<(CpuSet, CpuSet)> {
    Ok(bench_host::halves(&CpuSet::allowed().context("which CPUs this process may use")?))
}
