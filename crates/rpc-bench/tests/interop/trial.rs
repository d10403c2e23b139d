//! One foreign program, one wire, one direction, one case.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use bench_core::record::Record;
use bench_core::server::ServerLine;
use serde::Deserialize;

use crate::peers::Peers;
use crate::processes::{Program, Serving};

/// Our binaries of a stack.
#[derive(Clone)]
pub struct Our {
    pub server: PathBuf,
    pub client: PathBuf,
}

/// `interop/<framework>/trials.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    client: Vec<Entry>,
    #[serde(default)]
    server: Vec<Entry>,
    #[serde(default)]
    record: Vec<Entry>,
}

/// A trial for each wire, lane and case.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    peer: String,
    /// Language and script, or program.
    run: [String; 2],
    wires: Vec<String>,
    cases: Vec<String>,
    #[serde(default = "default_lane")]
    lanes: Vec<String>,
    /// Further programs that it calls.
    #[serde(default)]
    needs: Vec<String>,
    /// Further arguments of our side.
    #[serde(default)]
    our_args: Vec<String>,
}

fn default_lane() -> Vec<String> {
    vec!["default".to_owned()]
}

/// What the peer is.
#[derive(Clone, Copy)]
enum Role {
    /// A client of our server: `ADDRESS WIRE CASE`, exit code 0 when all is as it must be.
    Client,
    /// A server for our client: `WIRE`, prints `ready ADDRESS`. The cases are our workloads.
    Server,
    /// A reader of our client's record: `FILE`.
    Record,
}

pub struct Found {
    pub name: String,
    pub framework: String,
    pub run: [String; 2],
    pub needs: Vec<String>,
    role: Role,
    wire: String,
    lane: String,
    case: String,
    our_args: Vec<String>,
}

/// Everything in `interop/*/trials.toml`.
pub fn all(folder: &Path, peers: &Peers) -> Result<Vec<Found>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path().join("trials.toml");
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let framework = path
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        for (role, word, entries) in [
            (Role::Client, "client", file.client),
            (Role::Server, "server", file.server),
            (Role::Record, "record", file.record),
        ] {
            for entry in entries {
                found.extend(of_entry(&entry, role, word, &framework, peers));
            }
        }
    }
    Ok(found)
}

fn of_entry(entry: &Entry, role: Role, word: &str, framework: &str, peers: &Peers) -> Vec<Found> {
    let peer = peers.named(&entry.peer, &entry.run);
    let mut found = Vec::new();
    for wire in &entry.wires {
        for lane in &entry.lanes {
            for case in &entry.cases {
                let lane_word = if lane == "default" { String::new() } else { format!(" {lane}") };
                found.push(Found {
                    name: format!("{framework} {peer} {word}: {case} {wire}{lane_word}"),
                    framework: framework.to_owned(),
                    run: entry.run.clone(),
                    needs: entry.needs.clone(),
                    role,
                    wire: wire.clone(),
                    lane: lane.clone(),
                    case: case.clone(),
                    our_args: entry.our_args.clone(),
                });
            }
        }
    }
    found
}

/// Runs it; its processes are gone when it returns.
pub fn run(trial: &Found, our: &Our, peer: &Program) -> Result<()> {
    match trial.role {
        Role::Client => client(trial, our, peer),
        Role::Server => server(trial, our, peer),
        Role::Record => record(trial, our, peer),
    }
}

fn client(trial: &Found, our: &Our, peer: &Program) -> Result<()> {
    let (serving, address) = start_our_server(trial, our)?;
    peer.output("the peer", &[&address, &trial.wire, &trial.case])?;
    stop_our_server(serving)
}

fn server(trial: &Found, our: &Our, peer: &Program) -> Result<()> {
    let (serving, line) = peer.serve("the peer", &[&trial.wire])?;
    let address = line.strip_prefix("ready ").with_context(|| format!("the peer said '{line}'"))?;
    match trial.case.as_str() {
        "payload" => {
            for size in ["0", "1", "581", "64k", "1m"] {
                call_with_our_client(trial, our, address, &["--payload", size]).with_context(|| format!("--payload {size}"))?;
            }
        }
        _ => drop(call_with_our_client(trial, our, address, &[])?),
    }
    serving.stop().map(drop)
}

fn record(trial: &Found, our: &Our, peer: &Program) -> Result<()> {
    let (serving, address) = start_our_server(trial, our)?;
    let text = call_with_our_client(trial, our, &address, &["-n", "5000"])?;
    stop_our_server(serving)?;
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    peer.output("the peer", &[&file.path().to_string_lossy()]).map(drop)
}

fn start_our_server(trial: &Found, our: &Our) -> Result<(Serving, String)> {
    let mut args = vec![
        "--addr",
        "127.0.0.1:0",
        "--stats",
        "127.0.0.1:0",
        "--output",
        "json",
        "--exit-on-stdin-close",
    ];
    args.extend(["--lane", &trial.lane, "--wire", &trial.wire]);
    if let Role::Client = trial.role {
        args.extend(trial.our_args.iter().map(String::as_str));
    }
    let (serving, line) = Program::ours(our.server.clone()).serve("our server", &args)?;
    match serde_json::from_str(&line) {
        Ok(ServerLine::Ready(info)) => Ok((serving, info.addr)),
        _ => bail!("our server said '{line}'"),
    }
}

fn stop_our_server(serving: Serving) -> Result<()> {
    let line = serving.stop()?;
    let stopped = serde_json::from_str(&line);
    ensure!(matches!(stopped, Ok(ServerLine::Stopped(_))), "our server ended with '{line}'");
    Ok(())
}

/// Gives its record, in which every call is good. It compares each reply itself, some with changed fields.
fn call_with_our_client(trial: &Found, our: &Our, address: &str, more: &[&str]) -> Result<String> {
    let workload = if let Role::Server = trial.role {
        trial.case.as_str()
    } else {
        "echo"
    };
    let mut args = vec![
        "--addr",
        address,
        "--stats",
        "none",
        "--warmup",
        "0",
        "--output",
        "json",
        "--progress",
        "never",
    ];
    args.extend(["--lane", &trial.lane, "--wire", &trial.wire, "--workload", workload, "-c", "2"]);
    if !more.contains(&"-n") {
        args.extend(["-n", "20"]);
    }
    args.extend(trial.our_args.iter().map(String::as_str));
    args.extend(more);
    let text = Program::ours(our.client.clone()).output("our client", &args)?;
    let record: Record = serde_json::from_str(&text).context("our client's record")?;
    ensure!(
        record.calls.ok >= 20 && record.calls.failed_total() == 0,
        "calls: {:?}, {:?}",
        record.calls,
        record.failures
    );
    Ok(text)
}
