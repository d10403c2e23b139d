//! Asking the server about itself, when no call is under way.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bench_core::lane::Lane;
use bench_core::server::{DelayCounters, ServerCounters, ServerStats};
use bench_core::talk;
use bench_core::wire::Wire;

use crate::target;

/// Longest that a reading may take.
const LIMIT: Duration = Duration::from_secs(2);
/// A reading is a few kilobytes; more than this is not one.
const LONGEST_ANSWER: u64 = 4 * 1024 * 1024;

/// The server's stats endpoint, if it has one.
pub(crate) struct StatsClient {
    endpoint: Option<Endpoint>,
}

struct Endpoint {
    text: String,
    addresses: Vec<SocketAddr>,
    rpc_port: u16,
}

impl StatsClient {
    /// `flag` is `--stats`: an address, `none`, or by default the port after the RPC port.
    pub fn new(flag: Option<&str>, rpc: &[SocketAddr]) -> Result<Self, String> {
        let rpc_port = rpc.first().map_or(0, SocketAddr::port);
        let endpoint = match flag {
            Some("none") => None,
            Some(text) => Some((text.to_owned(), target::resolve(text)?)),
            None => rpc_port.checked_add(1).and_then(|port| {
                let addresses: Vec<SocketAddr> = rpc.iter().map(|addr| SocketAddr::new(addr.ip(), port)).collect();
                Some((addresses.first()?.to_string(), addresses))
            }),
        };
        let endpoint = endpoint.map(|(text, addresses)| Endpoint { text, addresses, rpc_port });
        Ok(Self { endpoint })
    }

    /// One reading; `None`, with a warning on stderr, when there is none to be had.
    pub fn read(&self) -> Option<ServerStats> {
        let endpoint = self.endpoint.as_ref()?;
        match endpoint.read() {
            Ok(stats) => Some(stats),
            Err(reason) => {
                talk::say(format_args!(
                    "warning: the server's half of the record is missing: no stats from {}: {reason}",
                    endpoint.text
                ));
                None
            }
        }
    }
}

impl Endpoint {
    fn read(&self) -> Result<ServerStats, String> {
        let mut last = "it has no address".to_owned();
        for &addr in &self.addresses {
            match get(addr) {
                Ok(body) => return self.understand(&body),
                Err(error) => last = error.to_string(),
            }
        }
        Err(last)
    }

    fn understand(&self, body: &str) -> Result<ServerStats, String> {
        let stats: ServerStats = serde_json::from_str(body).map_err(|error| format!("its answer is not a server's: {error}"))?;
        let its_port = stats.info.addr.parse::<SocketAddr>().map(|addr| addr.port());
        if its_port.is_ok_and(|port| port != self.rpc_port) {
            return Err(format!(
                "it belongs to the server on {}; name the right one with --stats",
                stats.info.addr
            ));
        }
        Ok(stats)
    }
}

/// Body of the answer to `GET /stats`.
fn get(addr: SocketAddr) -> io::Result<String> {
    let deadline = Instant::now() + LIMIT;
    let mut stream = TcpStream::connect_timeout(&addr, LIMIT)?;
    stream.set_write_timeout(Some(LIMIT))?;
    // In one piece: who answers the first part of a request and closes resets the connection when the rest arrives.
    stream.write_all(format!("GET /stats HTTP/1.0\r\nHost: {addr}\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no whole answer in time"));
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(n) => answer.extend_from_slice(&part[..n]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no whole answer in time"));
            }
            Err(error) => return Err(error),
        }
        if answer.len() as u64 > LONGEST_ANSWER {
            return Err(io::Error::other("its answer does not end"));
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.split_ascii_whitespace().nth(1) == Some("200") => Ok(body.to_owned()),
        _ => Err(io::Error::other("it does not answer GET /stats")),
    }
}

/// Refuses, by name, a server that this client cannot measure.
pub(crate) fn check_match(stats: &ServerStats, framework: &str, wire: Wire, lane: Lane) -> Result<(), String> {
    let info = &stats.info;
    if info.framework != framework {
        return Err(format!(
            "the server on {} is {}-server, not {framework}-server: start the right one, or run {}-client",
            info.addr, info.framework, info.framework
        ));
    }
    let wire = wire.to_string();
    if !info.wires.contains(&wire) {
        return Err(format!(
            "the server on {} answers the wire {}, not {wire}: give one of them the other's --wire",
            info.addr,
            info.wires.join(", ")
        ));
    }
    if info.lane != lane {
        return Err(format!(
            "the server on {} runs in the {} lane, this client in the {lane} lane: give both the same --lane",
            info.addr, info.lane
        ));
    }
    Ok(())
}

/// What the server did between two readings; `None` when they are not of one process.
pub(crate) fn difference(earlier: &ServerStats, later: &ServerStats) -> Option<ServerCounters> {
    if earlier.info.instance != later.info.instance {
        return None;
    }
    let (before, after) = (&earlier.counters, &later.counters);
    Some(ServerCounters {
        calls: after.calls.saturating_sub(before.calls),
        connections_accepted: after.connections_accepted.saturating_sub(before.connections_accepted),
        connection_failures: after.connection_failures.saturating_sub(before.connection_failures),
        failures: after.failures.clone(),
        delay: after.delay.as_ref().map(|after| {
            let before = before.delay.clone().unwrap_or_default();
            DelayCounters {
                count: after.count.saturating_sub(before.count),
                slept_ns_sum: after.slept_ns_sum.saturating_sub(before.slept_ns_sum),
                lateness_ns_sum: after.lateness_ns_sum.saturating_sub(before.lateness_ns_sum),
                resume_lag_ns_sum: after.resume_lag_ns_sum.saturating_sub(before.resume_lag_ns_sum),
                ..after.clone()
            }
        }),
        cpu_user_s: after.cpu_user_s - before.cpu_user_s,
        cpu_sys_s: after.cpu_sys_s - before.cpu_sys_s,
        peak_rss_bytes: after.peak_rss_bytes,
        context_switches: after.context_switches.saturating_sub(before.context_switches),
        allocations: after
            .allocations
            .zip(before.allocations)
            .map(|(after, before)| after.saturating_sub(before)),
        threads: after.threads,
    })
}
