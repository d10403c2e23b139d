//! Starts the real binaries, dev profile, and looks at what comes out. Port 0 and the ready line everywhere; nothing sleeps to be ready.

pub mod fake;
pub mod process;
pub mod schema;

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bench_core::record::Record;
use bench_core::server::{ServerCounters, ServerInfo, ServerLine, ServerStats};
use bench_core::verdict::Verdict;
pub use process::{Outcome, Process};
use rpc_bench::discovery::{Stack, Workspace};
use rustix::process::Signal;

/// Longest that anything here may take on a loaded machine; what takes longer hangs.
pub const LONG: Duration = Duration::from_secs(60);

/// Where the binary of a package is; builds it when it is first asked for.
pub fn binary(package: &str) -> PathBuf {
    static BUILT: OnceLock<Mutex<HashMap<String, PathBuf>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let path = built
        .entry(package.to_owned())
        .or_insert_with(|| rpc_bench::build(package, "dev").unwrap());
    path.clone()
}

/// Every stack of the workspace, as the suite finds them.
pub fn stacks() -> Vec<Stack> {
    let stacks = Workspace::discover(None).unwrap().stacks;
    assert!(!stacks.is_empty());
    stacks
}

/// Runs a binary to its end.
pub fn run(package: &str, args: &[&str]) -> Outcome {
    Process::start(package, args).end()
}

/// Runs the client of a server with these arguments only.
pub fn client(package: &str, args: &[&str]) -> Outcome {
    let args = [args, &["--progress", "never"]].concat();
    run(package, &args)
}

/// A server that has said that it is ready. Dropping it kills it, and nothing else.
pub struct Server {
    pub process: Process,
    pub info: ServerInfo,
    client: String,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1, unless `-s` says otherwise.
    pub fn start(package: &str, args: &[&str]) -> Self {
        let mut command = Command::new(binary(package));
        command.args(["--output", "json", "--exit-on-stdin-close"]);
        if !args.contains(&"-s") {
            command.args(["-s", "127.0.0.1:0"]);
        }
        command.args(args);
        Self::spawn(package, command)
    }

    /// Starts a server by a command of one's own, which must make it print JSON.
    pub fn spawn(package: &str, command: Command) -> Self {
        let mut process = Process::spawn(package, command);
        let Some(line) = process.next_line() else {
            panic!("{package} ended early: {}", process.end().stderr);
        };
        let Ok(ServerLine::Ready(info)) = serde_json::from_str(&line) else {
            panic!("{package}: no ready line but {line}");
        };
        Self {
            process,
            info: *info,
            client: package.replace("-server", "-client"),
        }
    }

    /// The client of the same framework, called on this server with more arguments; the record goes to stdout.
    pub fn client_process(&self, args: &[&str]) -> Process {
        let stats = self.info.stats.clone().unwrap_or("none".to_owned());
        let fixed = ["-s", &self.info.addr, "--stats", &stats, "--output", "json", "--progress", "never"];
        // The last one wins only where it is given once: what a case gives itself is left out here.
        let mut all: Vec<&str> = Vec::new();
        for pair in fixed.chunks(2) {
            if !args.contains(&pair[0]) {
                all.extend(pair);
            }
        }
        all.extend(args);
        Process::start(&self.client, &all)
    }

    pub fn client(&self, args: &[&str]) -> Outcome {
        self.client_process(args).end()
    }

    pub fn addr(&self) -> SocketAddr {
        self.info.addr.parse().unwrap()
    }

    /// A connection of the test's own, whose reads do not wait for ever.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    pub fn stats_addr(&self) -> SocketAddr {
        self.info.stats.as_ref().unwrap().parse().unwrap()
    }

    pub fn counters(&self) -> ServerCounters {
        let (status, body) = http(self.stats_addr(), b"GET /stats HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(status, "200");
        let stats: ServerStats = serde_json::from_str(&body).unwrap();
        assert_eq!(stats.info, self.info);
        stats.counters
    }

    /// Waits until a client has made so many calls.
    pub fn wait_for_calls(&self, calls: u64) {
        wait_for("calls", || self.counters().calls >= calls);
    }

    /// Stops it by a signal and returns its exit code, last line and stderr.
    pub fn stop(self, signal: Signal) -> (Outcome, ServerCounters) {
        self.process.signal(signal);
        self.stopped()
    }

    /// Closes its stdin.
    pub fn close_stdin(mut self) -> (Outcome, ServerCounters) {
        self.process.close_stdin();
        self.stopped()
    }

    fn stopped(self) -> (Outcome, ServerCounters) {
        let outcome = self.process.end();
        match serde_json::from_str(outcome.stdout.trim()) {
            Ok(ServerLine::Stopped(counters)) => (outcome, *counters),
            _ => panic!("no stopped line but {outcome:?}"),
        }
    }
}

/// Waits for a condition, looking often; there is no other way to wait for what another process does to a third one.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Status and body of the answer to a request.
pub fn http(addr: SocketAddr, request: &[u8]) -> (String, String) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or("none");
    (status.to_owned(), body.to_owned())
}

/// What holds for every good run.
#[track_caller]
pub fn assert_good(outcome: &Outcome) -> Record {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let record = outcome.record();
    assert!(record.calls.ok > 0, "{:?}", record.calls);
    assert!(record.calls.adds_up(), "{:?}", record.calls);
    assert_eq!(record.calls.failed_total(), 0, "{:?}", record.failures);
    assert_ne!(record.verdict, Verdict::Invalid, "{:?}", record.verdict_reasons);
    assert!(record.throughput_per_s.is_some_and(|rate| rate > 0.0));
    record
}
