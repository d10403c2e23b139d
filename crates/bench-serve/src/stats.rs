//! The stats endpoint: `GET /stats` answers one JSON object. On threads of its own, so that asking costs the runtime threads nothing.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bench_core::allocator::allocations;
use bench_core::failure_log::FailureLog;
use bench_core::handler::{Handler, delay_counters};
use bench_core::server::{ServerCounters, ServerInfo, ServerStats};
use bench_host::ProcessUsage;

/// A peer gets this long to send its request and as long to take the answer.
const PEER_TIME: Duration = Duration::from_secs(1);
/// Peers that are answered at once, so that slow ones do not keep a client from its reading; more than these wait.
const PEERS: usize = 64;
/// Longest request head that is read.
const HEAD_LIMIT: usize = 8 * 1024;

/// Everything that a reading is made from.
#[derive(Clone)]
pub(crate) struct Counters {
    pub handlers: Vec<Handler>,
    pub accepted: Arc<AtomicU64>,
    pub failures: FailureLog,
}

impl Counters {
    pub fn read(&self) -> anyhow::Result<ServerCounters> {
        let usage = ProcessUsage::now().context("cannot read what this process used")?;
        let (connection_failures, failures) = self.failures.read();
        Ok(ServerCounters {
            calls: self.handlers.iter().map(Handler::calls).sum(),
            connections_accepted: self.accepted.load(Ordering::Relaxed),
            connection_failures,
            failures,
            delay: delay_counters(&self.handlers),
            cpu_user_s: usage.cpu_user_ns as f64 / 1e9,
            cpu_sys_s: usage.cpu_sys_ns as f64 / 1e9,
            peak_rss_bytes: usage.peak_rss_bytes,
            context_switches: usage.context_switches,
            allocations: allocations(),
            threads: usage.threads,
        })
    }
}

/// Serves until the process ends.
pub(crate) fn start(listener: TcpListener, info: ServerInfo, counters: Counters) -> anyhow::Result<()> {
    listener.set_nonblocking(false).context("cannot set up the stats endpoint")?;
    std::thread::Builder::new()
        .name("stats".to_owned())
        .spawn(move || {
            let shared = Arc::new((info, counters));
            for peer in listener.incoming() {
                match peer {
                    Ok(peer) => answer_apart(peer, &shared),
                    Err(_) => std::thread::sleep(Duration::from_millis(10)),
                }
            }
        })
        .context("cannot start the thread of the stats endpoint")?;
    Ok(())
}

/// Answers on a thread for this peer, or right here when there are too many of those.
fn answer_apart(peer: TcpStream, shared: &Arc<(ServerInfo, Counters)>) {
    let its = shared.clone();
    // A peer that goes away in the middle is no concern of the server's, nor one that finds no room.
    let answer = move || drop(answer(peer, &its.0, &its.1));
    if Arc::strong_count(shared) > PEERS + 1 {
        answer();
    } else {
        drop(std::thread::Builder::new().name("stats-peer".to_owned()).spawn(answer));
    }
}

fn answer(mut peer: TcpStream, info: &ServerInfo, counters: &Counters) -> io::Result<()> {
    peer.set_write_timeout(Some(PEER_TIME))?;
    let (status, body) = match request_line(&mut peer)?.as_str() {
        "GET /stats" => match counters.read() {
            Ok(counters) => {
                let stats = ServerStats {
                    info: info.clone(),
                    counters,
                };
                ("200 OK", serde_json::to_string(&stats)?)
            }
            Err(error) => ("500 Internal Server Error", error_json(&format!("{error:#}"))),
        },
        _ => ("404 Not Found", error_json("ask for GET /stats")),
    };
    write!(
        peer,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}\n",
        body.len() + 1
    )
}

fn error_json(text: &str) -> String {
    serde_json::json!({ "error": text }).to_string()
}

/// Method and path. Reads the whole head, so that closing the connection does not reset it under the answer.
fn request_line(peer: &mut TcpStream) -> io::Result<String> {
    let deadline = Instant::now() + PEER_TIME;
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < HEAD_LIMIT {
        let left = deadline.saturating_duration_since(Instant::now());
        peer.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match peer.read(&mut part)? {
            0 => break,
            n => head.extend_from_slice(&part[..n]),
        }
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split_ascii_whitespace();
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = path.split('?').next().unwrap_or("");
    Ok(format!("{method} {path}"))
}
