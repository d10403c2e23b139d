//! One cell of a sweep: everything that was asked of one server and one client.

use std::fmt;

use bench_core::lane::Lane;
use bench_core::runtime::RuntimeKind;
use bench_core::units::{grouped, three_digits};
use serde::{Deserialize, Serialize};

use super::connections::Connections;
use super::pace::Pace;

/// What was asked for. Two runs of equal cells are rounds of one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Short name of the stack.
    pub framework: String,
    /// `transport/codec`.
    pub wire: String,
    /// Lane of both sides.
    pub lane: Lane,
    /// Workload of the client.
    pub workload: String,
    /// Payload in bytes; `None` for the client's default.
    pub payload_bytes: Option<u64>,
    /// Simulated delay in microseconds.
    pub delay_us: u64,
    /// Concurrent callers.
    pub callers: u64,
    /// Own connections, or shared ones.
    pub connections: Connections,
    /// Runtime threads of the server; `None` for its default.
    pub server_threads: Option<u64>,
    /// Threads of the client; `None` for its default.
    pub client_threads: Option<u64>,
    /// Measured window in milliseconds.
    pub measure_ms: u64,
    /// Number of calls that ends the cell before its time.
    pub calls: Option<u64>,
    /// Warm-up in milliseconds.
    pub warmup_ms: u64,
    /// Whether the server's handlers yield before they answer. Absent in older records, like the two below.
    #[serde(default)]
    pub yields: bool,
    /// Runtime of the server; `None` for its default.
    #[serde(default)]
    pub server_runtime: Option<RuntimeKind>,
    /// Rate of an open loop; `None` for a closed one.
    #[serde(default)]
    pub pace: Option<Pace>,
}

impl Cell {
    /// The delay as people write it: `10 ms`, `2.5 ms`.
    pub fn delay(&self) -> String {
        format!("{} ms", self.delay_us as f64 / 1000.0)
    }

    /// Connections that the cell asks for.
    pub fn connection_count(&self) -> u64 {
        match self.connections {
            Connections::PerCaller => self.callers,
            Connections::Shared(number) => u64::from(number),
        }
    }

    /// Whether the loopback floor is a measure for it: it is a closed loop without a delay.
    pub fn has_floor(&self) -> bool {
        self.delay_us == 0 && self.pace.is_none()
    }

    /// What was asked of the server beyond its defaults, where anything was: `yield, multi`.
    pub fn server_options(&self) -> Option<String> {
        let yields = self.yields.then(|| "yield".to_owned());
        let options: Vec<String> = yields.into_iter().chain(self.server_runtime.map(|kind| kind.to_string())).collect();
        (!options.is_empty()).then(|| options.join(", "))
    }

    /// `3.00 s or 1,000 calls after 1.00 s of warm-up`.
    pub fn length(&self) -> String {
        let seconds = |ms: u64| format!("{} s", three_digits(ms as f64 / 1000.0));
        let calls = self
            .calls
            .map_or(String::new(), |calls| format!(" or {} calls", grouped(calls as f64)));
        format!("{}{calls} after {} of warm-up", seconds(self.measure_ms), seconds(self.warmup_ms))
    }

    /// Threads that were asked for, where any were: `2+1` is two of the server and one of the client.
    pub fn threads(&self) -> Option<String> {
        let side = |threads: Option<u64>| threads.map_or("default".to_owned(), |threads| threads.to_string());
        (self.server_threads.is_some() || self.client_threads.is_some())
            .then(|| format!("{}+{}", side(self.server_threads), side(self.client_threads)))
    }
}

impl fmt::Display for Cell {
    /// What tells it from its neighbours, for progress lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} c={}", self.framework, self.wire, self.delay(), self.callers)?;
        if let Connections::Shared(number) = self.connections {
            write!(f, " over {number}")?;
        }
        if self.lane != Lane::Default {
            write!(f, " {}", self.lane)?;
        }
        if self.workload != "echo" {
            write!(f, " {}", self.workload)?;
        }
        if let Some(bytes) = self.payload_bytes {
            write!(f, " {bytes} B")?;
        }
        if let Some(pace) = self.pace {
            write!(f, " {pace}")?;
        }
        if let Some(options) = self.server_options() {
            write!(f, " {options}")?;
        }
        match self.threads() {
            Some(threads) => write!(f, " threads {threads}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bench_core::arrival::Arrival;

    use super::super::failed::tests::example_cell;
    use super::*;

    #[test]
    fn a_progress_line_tells_a_cell_from_its_neighbours() {
        let cell = Cell {
            connections: Connections::Shared(10),
            server_threads: Some(2),
            yields: true,
            server_runtime: Some(RuntimeKind::Multi),
            pace: Some(Pace::new(2000.0, Arrival::Poisson)),
            ..example_cell()
        };
        let expected = "tcp tcp/protobuf 0 ms c=50 over 10 2,000/s poisson yield, multi threads 2+default";
        assert_eq!(cell.to_string(), expected);
        assert_eq!(example_cell().to_string(), "tcp tcp/protobuf 0 ms c=50");
    }

    #[test]
    fn a_cell_of_an_older_record_is_one_without_the_newer_axes() {
        let older = r#"{"framework":"tcp","wire":"tcp/protobuf","lane":"default","workload":"echo","payload_bytes":null,"delay_us":0,
            "callers":50,"connections":"per-caller","server_threads":null,"client_threads":null,"measure_ms":1000,"calls":null,"warmup_ms":100}"#;
        assert_eq!(serde_json::from_str::<Cell>(older).unwrap(), example_cell());
    }
}
