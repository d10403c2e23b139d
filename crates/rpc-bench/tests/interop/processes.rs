//! Processes of both sides, with every wait bounded.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rpc_bench::child::{Child, Waited};
use rpc_bench::interrupt::Interrupt;

/// Generous for a loaded machine that starts an interpreter: what takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);
const STOP_GRACE: Duration = Duration::from_secs(10);

/// A program and what comes before the test's own arguments.
#[derive(Clone)]
pub struct Program {
    pub program: PathBuf,
    pub args: Vec<PathBuf>,
    pub environment: Vec<(&'static str, OsString)>,
}

impl Program {
    pub fn ours(program: PathBuf) -> Self {
        Self {
            program,
            args: Vec::new(),
            environment: Vec::new(),
        }
    }

    fn start(&self, name: &str, args: &[&str]) -> Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).args(args).envs(self.environment.iter().cloned());
        // Everything is on this machine.
        for proxy in [
            "http_proxy",
            "https_proxy",
            "grpc_proxy",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "all_proxy",
        ] {
            command.env_remove(proxy);
        }
        Child::spawn(name, command)
    }

    /// Runs it to its end, which must be good, and gives its stdout.
    pub fn output(&self, name: &str, args: &[&str]) -> Result<String> {
        let mut child = self.start(name, args)?;
        match child.output(LIMIT, &Interrupt::never())? {
            Waited::Got((text, status)) if status.success() => Ok(text),
            Waited::Got((_, status)) => bail!("{name} ended with {status}: {}", child.final_words()),
            _ => bail!("{name} did not end within {} s: {}", LIMIT.as_secs(), child.last_words()),
        }
    }

    /// Starts it as a server and gives the first line of its stdout.
    pub fn serve(&self, name: &str, args: &[&str]) -> Result<(Serving, String)> {
        let child = self.start(name, args)?;
        match child.next_line(LIMIT, &Interrupt::never()) {
            Waited::Got(line) => Ok((Serving(child), line)),
            Waited::Closed => bail!("{name} ended before it was ready: {}", child.final_words()),
            _ => bail!("{name} was not ready within {} s: {}", LIMIT.as_secs(), child.last_words()),
        }
    }
}

/// A running server. Dropping it kills it.
pub struct Serving(Child);

impl Serving {
    /// Closes its stdin: it must end by itself, well.
    pub fn stop(mut self) -> Result<String> {
        let name = self.0.name().to_owned();
        let status = self.0.close_and_wait(STOP_GRACE)?;
        let status = status.with_context(|| format!("{name} did not end within {} s of its stdin's end", STOP_GRACE.as_secs()))?;
        let words = self.0.final_words();
        ensure!(
            status.success() && !words.contains("panicked"),
            "{name} ended with {status}: {words}"
        );
        let mut last = String::new();
        // Its reader may be a moment behind.
        while let Waited::Got(line) = self.0.next_line(Duration::from_secs(1), &Interrupt::never()) {
            last = line;
        }
        Ok(last)
    }
}
