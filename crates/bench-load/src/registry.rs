//! What a client crate registers, and its `main`.

use std::process::ExitCode;
use std::sync::mpsc::Sender;

use bench_core::build_info::locked_version;
use bench_core::lane::Lane;
use bench_core::talk;
use bench_core::wire::Wire;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::blocking;
use crate::connect::{Connect, EchoCalls, PayloadCalls, Settings};
use crate::control;
use crate::flags;
use crate::output;
use crate::worker::{self, Command, Event, WorkerSpec};
use crate::workload::{Distinct, Echo, Payload, Workload, WorkloadSpec};

/// A framework's name and what its client can do: wires × workloads.
pub struct Registry {
    pub(crate) framework: &'static str,
    pub(crate) library: &'static str,
    pub(crate) entries: Vec<Entry>,
}

/// One wire with one workload; the types are erased once per thread, not per call.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub wire: Wire,
    pub workload: &'static str,
    pub shares: bool,
    /// `--payload` says how large its messages are.
    pub sized: bool,
    /// Each connection has a thread of its own.
    pub blocking: bool,
    pub payload_bytes: fn(&WorkloadSpec) -> usize,
    pub settings: fn(Lane) -> Settings,
    pub work: fn(WorkerSpec, UnboundedReceiver<Command>, &Sender<Event>) -> anyhow::Result<()>,
}

impl Entry {
    pub(crate) fn of<C: Connect, W: Workload<C>>() -> Self {
        Self {
            wire: C::WIRE,
            workload: W::NAME,
            shares: C::SHARE.is_some(),
            sized: W::SIZED,
            blocking: C::BLOCKING,
            payload_bytes: W::payload_bytes,
            settings: C::settings,
            work: if C::BLOCKING {
                blocking::work::<C, W>
            } else {
                worker::work::<C, W>
            },
        }
    }
}

impl Registry {
    /// `framework` is the stack's short name, `library` the measured crate as Cargo.lock names it; both stand in Cargo.toml too
    /// (`[package.metadata.bench]`), and a test holds them together.
    pub fn new(framework: &'static str, library: &'static str) -> Self {
        Self {
            framework,
            library,
            entries: Vec::new(),
        }
    }

    /// Offers the echo service over a wire. The first wire that is registered is the stack's flagship and the default.
    pub fn echo<C: EchoCalls>(mut self) -> Self {
        self.entries.push(Entry::of::<C, Echo<C::Message>>());
        self.entries.push(Entry::of::<C, Distinct<C::Message>>());
        self
    }

    /// Offers the payload service over a wire.
    pub fn payload<C: PayloadCalls>(mut self) -> Self {
        self.entries.push(Entry::of::<C, Payload>());
        self
    }

    /// Parses the command line, measures, reports, and returns the exit code of the process contract.
    pub fn main(self) -> ExitCode {
        let code = match flags::parse(&self) {
            Ok(flags::Command::List(format)) => output::list(&self, format).map(|()| 0),
            Ok(flags::Command::Measure(flags)) => control::run(&self, &flags),
            Err(exit) => return exit,
        };
        match code {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                talk::say(format_args!("{}-client: {error:#}", self.framework));
                ExitCode::from(if error.is::<crate::signals::Interrupted>() { 130 } else { 1 })
            }
        }
    }

    pub(crate) fn library_version(&self) -> &'static str {
        locked_version(self.library).unwrap_or("unknown")
    }
}
