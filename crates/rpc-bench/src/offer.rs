//! What a stack's binaries say they can do: their answer to `--list --output json`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::child::{Child, Waited};
use crate::interrupt::Interrupt;

/// A binary that only lists has no reason to take longer.
const LIST_LIMIT: Duration = Duration::from_secs(20);

/// Answer of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientOffer {
    /// Short name of the stack.
    pub framework: String,
    /// The measured library.
    pub library: String,
    /// What it can be asked for, the flagship first.
    pub entries: Vec<Entry>,
}

/// A workload on a wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `transport/codec`.
    pub wire: String,
    /// For example `echo`.
    pub workload: String,
    /// True when callers can share connections (`--pool`).
    pub shares: bool,
    /// True when `--payload` says how large its messages are.
    #[serde(default)]
    pub sized: bool,
    /// True when each connection has a thread of its own (`--threads` is refused).
    #[serde(default)]
    pub blocking: bool,
    /// True for the stack's default.
    #[serde(default)]
    pub flagship: bool,
}

/// Answer of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerOffer {
    /// Short name of the stack.
    pub framework: String,
    /// The measured library.
    pub library: String,
    /// Wires that it can serve.
    pub wires: Vec<String>,
}

impl ClientOffer {
    /// The entry that stands for the stack; `None` when it offers nothing.
    pub fn flagship(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.flagship).or_else(|| self.entries.first())
    }

    /// The entry that stands for a wire: with echo where it has that, else its first. Without a wire the flagship.
    pub fn preferred(&self, wire: Option<&str>) -> Option<&Entry> {
        match wire {
            None => self.flagship(),
            Some(wire) => self.entry(wire, Some("echo")).or_else(|| self.entry(wire, None)),
        }
    }

    /// The entry of this wire and workload; without a workload the wire's first.
    pub fn entry(&self, wire: &str, workload: Option<&str>) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.wire == wire && workload.is_none_or(|name| entry.workload == name))
    }

    /// Each wire once, in the order of the list.
    pub fn wires(&self) -> Vec<&str> {
        let mut wires: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !wires.contains(&entry.wire.as_str()) {
                wires.push(&entry.wire);
            }
        }
        wires
    }
}

/// Asks a client binary.
///
/// # Errors
/// When it does not answer, or not for this framework.
pub fn ask_client(package: &str, program: &Path, framework: &str) -> Result<ClientOffer> {
    let offer: ClientOffer = ask(package, program)?;
    if offer.framework != framework {
        bail!(
            "{package} --list says framework '{}', but its Cargo.toml says '{framework}'",
            offer.framework
        );
    }
    if offer.entries.is_empty() {
        bail!("{package} --list offers nothing: it needs at least one wire with one workload");
    }
    Ok(offer)
}

/// Asks a server binary.
///
/// # Errors
/// When it does not answer.
pub fn ask_server(package: &str, program: &Path) -> Result<ServerOffer> {
    ask(package, program)
}

fn ask<T: DeserializeOwned>(package: &str, program: &Path) -> Result<T> {
    let mut command = Command::new(program);
    command.args(["--list", "--output", "json"]);
    let mut child = Child::spawn(package, command)?;
    match child.output(LIST_LIMIT, &Interrupt::never())? {
        Waited::Got((text, status)) if status.success() => {
            serde_json::from_str(&text).with_context(|| format!("the answer of {package} --list --output json"))
        }
        Waited::Got((_, status)) => bail!("{package} --list failed ({status}): {}", child.final_words()),
        _ => bail!("{package} --list did not end within {} s", LIST_LIMIT.as_secs()),
    }
}
