//! What a server crate registers, and its `main`.

use std::pin::Pin;
use std::process::ExitCode;

use bench_core::build_info::locked_version;
use bench_core::lane::Lane;
use bench_core::talk;
use bench_core::wire::Wire;

use crate::flags::{self, Command, Output};
use crate::server::{Incoming, Serve, ServeError, Server, Settings};
use crate::{run, text};

/// A framework's name and the servers it has, one for each set of wires.
pub struct Registry {
    pub(crate) framework: &'static str,
    pub(crate) library: &'static str,
    pub(crate) entries: Vec<Entry>,
}

type ServeFuture = Pin<Box<dyn Future<Output = Result<(), ServeError>> + Send>>;

/// One server with its type erased: boxed once per runtime, not per call.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub wires: &'static [Wire],
    /// Every connection has a thread of its own.
    pub blocking: bool,
    pub serve: fn(Incoming, Serve) -> ServeFuture,
    pub settings: fn(Lane) -> Settings,
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

    /// Adds a server. The first wire of the first one is the stack's flagship and the default.
    pub fn serves<S: Server>(mut self) -> Self {
        self.entries.push(Entry {
            wires: S::WIRES,
            blocking: S::BLOCKING,
            serve: |incoming, serve| Box::pin(S::serve(incoming, serve)),
            settings: S::settings,
        });
        self
    }

    /// Parses the command line, serves until told to stop, and returns the exit code of the process contract.
    pub fn main(self) -> ExitCode {
        let command = match flags::parse(&self) {
            Ok(command) => command,
            Err(exit) => return exit,
        };
        let result = match command {
            Command::List(Output::Text) => talk::print_line(&text::list(&self)).map_err(Into::into),
            Command::List(Output::Json) => talk::print_line(&text::list_json(&self)).map_err(Into::into),
            Command::Serve(flags) => run::serve(&self, &flags),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                talk::say(format_args!("{}-server: {error:#}", self.framework));
                ExitCode::from(1)
            }
        }
    }

    pub(crate) fn wires(&self) -> impl Iterator<Item = Wire> {
        self.entries.iter().flat_map(|entry| entry.wires.iter().copied())
    }

    /// The server that answers the wire of this name.
    pub(crate) fn entry(&self, wire: &str) -> Option<Entry> {
        self.entries
            .iter()
            .find(|entry| entry.wires.iter().any(|candidate| candidate.to_string() == wire))
            .copied()
    }

    pub(crate) fn library_version(&self) -> &'static str {
        locked_version(self.library).unwrap_or("unknown")
    }
}
