//! Sweep files: TOML that can name any axis. Every error names the file, the key and the values it takes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bench_core::lane::Lane;
use serde::{Deserialize, Serialize};

use super::connections::Connections;
use super::expand::NotOffered;
use crate::discovery::is_plain_name;
use crate::usage::usage_error;

/// A sweep file; also what `sweep.toml` of a results folder holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    /// Heading of the results.
    pub title: String,
    /// What the sweep is for, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// Seed of the order of the cells and of the clients.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Whether the loopback floor runs in each round, for every number of callers that has a cell without delay.
    #[serde(default = "default_floor")]
    pub floor: bool,
    /// What the command line said, in a results folder; elsewhere the same options as defaults.
    #[serde(default)]
    pub run: RunOptions,
    /// Axes for every matrix that does not name them itself.
    #[serde(default)]
    pub defaults: Axes,
    /// Each makes the product of its axes; a cell that two of them make is run once.
    pub matrix: Vec<Axes>,
    /// Cells that a stack does not offer; written by a sweep, ignored when read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_offered: Vec<NotOffered>,
}

/// What the command line adds to a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// Name of the sweep, without a path.
    pub sweep: String,
    /// The user's word for the machine.
    pub label: String,
    /// Factor on measured seconds and numbers of calls.
    pub scale: f64,
    /// The selection of `--only`; empty for all.
    pub only: Vec<String>,
    /// Cargo profile of the binaries.
    pub profile: String,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            sweep: String::new(),
            label: "local".to_owned(),
            scale: 1.0,
            only: Vec::new(),
            profile: "release".to_owned(),
        }
    }
}

/// The axes of a matrix. What is absent comes from `[defaults]`, then from the comment at each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Axes {
    /// Framework names; absent: all that are discovered.
    pub frameworks: Option<Vec<String>>,
    /// Wires by name, or `flagship`, or `all`; absent: flagship.
    pub wires: Option<Vec<String>>,
    /// `default`, `tuned`; absent: default.
    pub lanes: Option<Vec<Lane>>,
    /// Workloads by name; absent: the first that the wire offers.
    pub workloads: Option<Vec<String>>,
    /// Payload sizes in bytes, for workloads that have one; absent: the client's default.
    pub payload_bytes: Option<Vec<u64>>,
    /// Simulated delays in milliseconds; absent: 0.
    pub delays_ms: Option<Vec<f64>>,
    /// Concurrent callers; absent: 100.
    pub callers: Option<Vec<u64>>,
    /// `per-caller`, or a number of connections that the callers share; absent: per-caller.
    pub connections: Option<Vec<Connections>>,
    /// Runtime threads of the server; absent: its default.
    pub server_threads: Option<Vec<u64>>,
    /// Threads of the client; absent: its default.
    pub client_threads: Option<Vec<u64>>,
    /// How often each cell runs, on fresh processes; absent: 1.
    pub rounds: Option<u64>,
    /// Length of the measured window in seconds; absent: 10.
    pub seconds: Option<f64>,
    /// Number of calls after which a cell ends before its time (the first limit wins); absent: none.
    pub calls: Option<u64>,
    /// Warm-up in seconds; absent: 1.
    pub warmup_seconds: Option<f64>,
}

impl Axes {
    /// These axes, and those of `defaults` where these name none.
    pub fn or(&self, defaults: &Self) -> Self {
        let (own, defaults) = (self.clone(), defaults.clone());
        Self {
            frameworks: own.frameworks.or(defaults.frameworks),
            wires: own.wires.or(defaults.wires),
            lanes: own.lanes.or(defaults.lanes),
            workloads: own.workloads.or(defaults.workloads),
            payload_bytes: own.payload_bytes.or(defaults.payload_bytes),
            delays_ms: own.delays_ms.or(defaults.delays_ms),
            callers: own.callers.or(defaults.callers),
            connections: own.connections.or(defaults.connections),
            server_threads: own.server_threads.or(defaults.server_threads),
            client_threads: own.client_threads.or(defaults.client_threads),
            rounds: own.rounds.or(defaults.rounds),
            seconds: own.seconds.or(defaults.seconds),
            calls: own.calls.or(defaults.calls),
            warmup_seconds: own.warmup_seconds.or(defaults.warmup_seconds),
        }
    }
}

fn default_seed() -> u64 {
    1
}

fn default_floor() -> bool {
    true
}

/// The file of a sweep: a path to a TOML file, or the name of one in `scripts/sweeps/`.
///
/// # Errors
/// For a name that is none: the text lists those there are.
pub fn locate(sweep: &str, root: &Path) -> Result<PathBuf> {
    if sweep.ends_with(".toml") || sweep.contains('/') {
        return Ok(PathBuf::from(sweep));
    }
    let folder = root.join("scripts/sweeps");
    let path = folder.join(format!("{sweep}.toml"));
    if path.is_file() {
        return Ok(path);
    }
    let mut names: Vec<String> = (std::fs::read_dir(&folder).into_iter().flatten().flatten())
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
        .collect();
    names.sort();
    Err(usage_error(format!(
        "there is no sweep '{sweep}' in scripts/sweeps; there are: {} (or give the path of a .toml file)",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    )))
}

/// Reads and checks a sweep file.
///
/// # Errors
/// When it cannot be read, is not TOML, has an unknown key, or a value out of range.
pub fn read(path: &Path) -> Result<SweepFile> {
    let text = std::fs::read_to_string(path).with_context(|| format!("the sweep file '{}'", path.display()))?;
    parse(&text).with_context(|| format!("the sweep file '{}'", path.display()))
}

/// Reads and checks the text of a sweep file.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str) -> Result<SweepFile> {
    let file: SweepFile = toml::from_str(text)?;
    if file.matrix.is_empty() {
        bail!("matrix: there must be at least one [[matrix]]");
    }
    check_options(&file.run).context("run")?;
    check_axes(&file.defaults).context("defaults")?;
    for (index, axes) in file.matrix.iter().enumerate() {
        check_axes(axes).with_context(|| format!("matrix {}", index + 1))?;
    }
    Ok(file)
}

fn check_options(run: &RunOptions) -> Result<()> {
    if !is_plain_name(&run.label) {
        bail!("label = '{}': 1 to 32 of a-z, 0-9 and '-'", run.label);
    }
    in_range("scale", run.scale, 0.001, 1000.0)
}

fn check_axes(axes: &Axes) -> Result<()> {
    words("frameworks", axes.frameworks.as_deref())?;
    words("wires", axes.wires.as_deref())?;
    words("workloads", axes.workloads.as_deref())?;
    not_empty("lanes", axes.lanes.as_deref())?;
    not_empty("connections", axes.connections.as_deref())?;
    each("payload_bytes", axes.payload_bytes.as_deref(), 0.0, 8_388_608.0)?;
    each("callers", axes.callers.as_deref(), 1.0, 1_000_000.0)?;
    each("server_threads", axes.server_threads.as_deref(), 1.0, 1024.0)?;
    each("client_threads", axes.client_threads.as_deref(), 1.0, 1024.0)?;
    not_empty("delays_ms", axes.delays_ms.as_deref())?;
    for &delay in axes.delays_ms.iter().flatten() {
        in_range("delays_ms", delay, 0.0, 60_000.0)?;
    }
    in_range("rounds", axes.rounds.unwrap_or(1) as f64, 1.0, 1000.0)?;
    in_range("seconds", axes.seconds.unwrap_or(1.0), 0.05, 86_400.0)?;
    in_range("calls", axes.calls.unwrap_or(1) as f64, 1.0, 1e12)?;
    in_range("warmup_seconds", axes.warmup_seconds.unwrap_or(0.0), 0.0, 3600.0)
}

fn in_range(key: &str, value: f64, least: f64, most: f64) -> Result<()> {
    // A NaN is in no range.
    if !(least..=most).contains(&value) {
        bail!("{key}: {value} is not from {least} to {most}");
    }
    Ok(())
}

fn not_empty<T>(key: &str, values: Option<&[T]>) -> Result<()> {
    if values.is_some_and(<[T]>::is_empty) {
        bail!("{key}: the list is empty; leave the key out to get its default");
    }
    Ok(())
}

fn each(key: &str, values: Option<&[u64]>, least: f64, most: f64) -> Result<()> {
    not_empty(key, values)?;
    values
        .into_iter()
        .flatten()
        .try_for_each(|&value| in_range(key, value as f64, least, most))
}

fn words(key: &str, values: Option<&[String]>) -> Result<()> {
    not_empty(key, values)?;
    if values.into_iter().flatten().any(|word| word.trim().is_empty()) {
        bail!("{key}: a name is empty");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_axes_come_from_the_defaults() {
        let file = parse(
            "title = \"t\"\n[defaults]\ncallers = [5]\nseconds = 2\n\
             [[matrix]]\ndelays_ms = [0, 2.5]\nconnections = [\"per-caller\", 4]\n[[matrix]]\ncallers = [7]\n",
        )
        .unwrap();
        let [first, second] = [0, 1].map(|i| file.matrix[i].or(&file.defaults));
        assert_eq!(
            (first.callers, first.seconds, first.delays_ms),
            (Some(vec![5]), Some(2.0), Some(vec![0.0, 2.5]))
        );
        assert_eq!(first.connections, Some(vec![Connections::PerCaller, Connections::Shared(4)]));
        assert_eq!(second.callers, Some(vec![7]));
        assert_eq!((file.seed, file.floor), (1, true));
    }

    #[test]
    fn a_file_survives_being_written_and_read_again() {
        let file = parse("title = \"t\"\n[[matrix]]\nconnections = [\"per-caller\", 4]\nlanes = [\"tuned\"]\n").unwrap();
        assert_eq!(parse(&toml::to_string(&file).unwrap()).unwrap(), file);
    }

    #[test]
    fn errors_name_the_key_and_the_values_it_takes() {
        let check = |text: &str, parts: &[&str]| {
            let error = format!("{:#}", parse(&format!("title = \"t\"\n{text}")).unwrap_err());
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        };
        check("[[matrix]]\ncalers = [1]", &["calers", "`callers`"]);
        check("sed = 1\n[[matrix]]", &["sed", "`seed`"]);
        check("[[matrix]]\ncallers = [0]", &["matrix 1", "callers", "0", "from 1 to 1000000"]);
        check("[[matrix]]\ncallers = []", &["callers", "empty"]);
        check("[[matrix]]\ncallers = [-1]", &["callers", "-1"]);
        check("[[matrix]]\ncallers = 5", &["callers", "sequence"]);
        check("[[matrix]]\nlanes = [\"fast\"]", &["fast", "`default`", "`tuned`"]);
        check("[[matrix]]\nconnections = [0]", &["connections", "per-caller", "from 1"]);
        check("[[matrix]]\nconnections = [\"x\"]", &["connections", "per-caller"]);
        check("[[matrix]]\ndelays_ms = [nan]", &["delays_ms", "from 0 to 60000"]);
        check("[[matrix]]\ndelays_ms = [-1.0]", &["delays_ms", "-1"]);
        check("[[matrix]]\nseconds = inf", &["seconds", "inf"]);
        check("[defaults]\nrounds = 0\n[[matrix]]", &["defaults", "rounds", "from 1 to 1000"]);
        check("run.label = \"My Box\"\n[[matrix]]", &["label", "a-z"]);
        check("matrix = []", &["[[matrix]]"]);
        check("", &["matrix"]);
    }
}
