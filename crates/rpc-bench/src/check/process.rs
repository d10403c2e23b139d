//! A stack's server and client as processes, with every wait bounded.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use bench_core::record::Record;
use bench_core::server::{ServerInfo, ServerStats};

use super::Subject;
use crate::child::{Child, Waited};
use crate::interrupt::Interrupt;
use crate::programs::Programs;
use crate::sweep::run_cell::ready;

/// Time that a server has to stop after its stdin was closed.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// Longest that a client may take, generous for a loaded machine: what takes longer hangs.
const CLIENT_LIMIT: Duration = Duration::from_secs(30);

/// A server that has said that it is ready. Dropping it kills it.
pub struct Serving {
    child: Child,
    pub info: ServerInfo,
}

/// How a client ended.
pub struct Ended {
    pub code: Option<i32>,
    /// What it printed on stdout, if that is a record.
    pub record: Option<Record>,
    /// The last lines of its stderr.
    pub words: String,
    pub took: Duration,
}

impl Serving {
    /// The subject's server on a free port, with further arguments.
    pub fn start(subject: &Subject, args: &[&str]) -> Result<Self> {
        let lane = subject.lane.to_string();
        Self::start_as(
            &subject.programs,
            &[&["--wire", &subject.wire, "--lane", &lane, "--addr", "127.0.0.1:0"], args].concat(),
        )
    }

    /// A server with just these arguments.
    pub fn start_as(programs: &Programs, args: &[&str]) -> Result<Self> {
        let mut command = Command::new(&programs.server);
        command
            .args(["--output", "json", "--exit-on-stdin-close", "--stats", "127.0.0.1:0"])
            .args(args);
        let child = Child::spawn(&programs.stack.server, command)?;
        match ready(&child, &Interrupt::never())? {
            Some(info) => Ok(Self { child, info }),
            None => bail!("interrupted"),
        }
    }

    /// Runs the subject's client on this server to its end.
    pub fn client(&self, subject: &Subject, args: &[&str]) -> Result<Ended> {
        self.start_client(subject, args)?.end()
    }

    /// Starts the subject's client on this server. A later argument does not replace an earlier one: each may be given once.
    pub fn start_client(&self, subject: &Subject, args: &[&str]) -> Result<Calling> {
        let lane = subject.lane.to_string();
        let stats = self.info.stats.as_deref().unwrap_or("none");
        let fixed = [
            ["--addr", &self.info.addr],
            ["--stats", stats],
            ["--wire", &subject.wire],
            ["--lane", &lane],
            ["--warmup", "0"],
            ["--output", "json"],
            ["--progress", "never"],
        ];
        let mut command = Command::new(&subject.programs.client);
        for pair in fixed.iter().filter(|pair| !args.contains(&pair[0])) {
            command.args(pair);
        }
        command.args(args);
        let began = Instant::now();
        let child = Child::spawn(&subject.programs.stack.client, command)?;
        Ok(Calling { child, began })
    }

    /// Calls that the server has counted.
    pub fn calls(&self) -> Result<u64> {
        let stats = self.info.stats.as_deref().context("the server has no stats endpoint")?;
        let mut stream = TcpStream::connect(stats).context("the server's stats endpoint")?;
        stream.set_read_timeout(Some(STOP_GRACE))?;
        stream.write_all(b"GET /stats HTTP/1.1\r\nHost: stats\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).context("the server's stats endpoint")?;
        let (_, body) = answer.split_once("\r\n\r\n").context("the stats endpoint gave no body")?;
        let stats: ServerStats = serde_json::from_str(body).context("the answer of the stats endpoint")?;
        Ok(stats.counters.calls)
    }

    /// Waits until it has counted so many calls.
    pub fn wait_for_calls(&self, calls: u64) -> Result<()> {
        let began = Instant::now();
        while self.calls()? < calls {
            ensure!(began.elapsed() < CLIENT_LIMIT, "the server has not counted {calls} calls");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Kills it, as a crash would.
    pub fn kill(self) {
        drop(self.child);
    }

    /// Closes its stdin: it must end by itself, well.
    pub fn stop(mut self) -> Result<()> {
        match self.child.close_and_wait(STOP_GRACE)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("the server ended badly ({status}): {}", self.child.final_words()),
            None => bail!("the server did not end within {} s of its stdin's end", STOP_GRACE.as_secs()),
        }
    }
}

/// A client that is under way. Dropping it kills it.
pub struct Calling {
    child: Child,
    began: Instant,
}

impl Calling {
    pub fn end(mut self) -> Result<Ended> {
        match self.child.output(CLIENT_LIMIT, &Interrupt::never())? {
            Waited::Got((text, status)) => Ok(Ended {
                code: status.code(),
                record: serde_json::from_str(&text).ok(),
                words: self.child.final_words(),
                took: self.began.elapsed(),
            }),
            _ => bail!(
                "the client did not end within {} s: {}",
                CLIENT_LIMIT.as_secs(),
                self.child.last_words()
            ),
        }
    }
}

impl Ended {
    /// The record of a run in which every call was good.
    pub fn good(self) -> Result<Record> {
        let Some(record) = self.record else {
            bail!("the client made no record ({}): {}", exit(self.code), self.words);
        };
        ensure!(
            self.code == Some(0),
            "the client ended with {}: {:?} {:?} {}",
            exit(self.code),
            record.verdict_reasons,
            record.failures,
            self.words
        );
        ensure!(record.calls.ok > 0 && record.calls.failed_total() == 0, "calls: {:?}", record.calls);
        ensure!(
            record.server_calls == Some(record.connection_calls),
            "the client made {} calls, the server counted {:?}",
            record.connection_calls,
            record.server_calls
        );
        Ok(record)
    }

    /// The one sentence of a client that could not run.
    pub fn one_sentence(&self, subject: &Subject) -> Result<&str> {
        let name = format!("{}:", subject.programs.stack.client);
        ensure!(
            self.code == Some(1),
            "the client ended with {} instead of exit code 1: {}",
            exit(self.code),
            self.words
        );
        ensure!(
            self.words.matches(&name).count() == 1 && !self.words.contains("panicked"),
            "the client did not say what is wrong in one sentence, but: {}",
            self.words
        );
        Ok(&self.words)
    }
}

fn exit(code: Option<i32>) -> String {
    code.map_or("a signal".to_owned(), |code| format!("exit code {code}"))
}
