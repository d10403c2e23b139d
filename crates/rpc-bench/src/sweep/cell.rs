//! One cell of a sweep: everything that was asked of one server and one client.

use std::fmt;

use bench_core::lane::Lane;
use serde::{Deserialize, Serialize};

use super::connections::Connections;

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
        match self.threads() {
            Some(threads) => write!(f, " threads {threads}"),
            None => Ok(()),
        }
    }
}
