//! Sweep files: TOML that can name any axis. Every error names the file, the key and the values it takes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::axes::{Axes, check_arrival, check_axes, in_range};
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
        let checked = check_axes(axes).and_then(|()| check_arrival(&axes.or(&file.defaults)));
        checked.with_context(|| format!("matrix {}", index + 1))?;
    }
    Ok(file)
}

fn check_options(run: &RunOptions) -> Result<()> {
    if !is_plain_name(&run.label) {
        bail!("label = '{}': 1 to 32 of a-z, 0-9 and '-'", run.label);
    }
    in_range("scale", run.scale, 0.001, 1000.0)
}

#[cfg(test)]
mod tests {
    use super::super::connections::Connections;
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
        let text = "title = \"t\"\n[[matrix]]\nconnections = [\"per-caller\", 4]\nlanes = [\"tuned\"]\nyields = [true]\n\
                    server_runtimes = [\"multi\"]\nrates_per_s = [0.5, 2000]\narrival = \"poisson\"\n";
        let file = parse(text).unwrap();
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
        check("[[matrix]]\nrates_per_s = []", &["rates_per_s", "empty"]);
        for rate in ["0", "-1", "nan", "inf", "1e12"] {
            let text = format!("[[matrix]]\nrates_per_s = [100, {rate}]");
            check(&text, &["rates_per_s", "from 0.001 to 1000000000"]);
        }
        check(
            "[[matrix]]\nrates_per_s = [1]\narrival = \"often\"",
            &["often", "`constant`", "`poisson`"],
        );
        check("[[matrix]]\narrival = \"poisson\"", &["matrix 1", "arrival", "add rates_per_s"]);
        check("[defaults]\narrival = \"poisson\"\n[[matrix]]", &["arrival", "add rates_per_s"]);
        check("[[matrix]]\nyields = [\"yes\"]", &["yes", "boolean"]);
        check("[[matrix]]\nyields = []", &["yields", "empty"]);
        check(
            "[[matrix]]\nserver_runtimes = [\"javascript\"]",
            &["javascript", "`current-thread`", "`multi`"],
        );
        check("[[matrix]]\nserver_runtimes = []", &["server_runtimes", "empty"]);
        check("[[matrix]]\nseconds = inf", &["seconds", "inf"]);
        check("[defaults]\nrounds = 0\n[[matrix]]", &["defaults", "rounds", "from 1 to 1000"]);
        check("run.label = \"My Box\"\n[[matrix]]", &["label", "a-z"]);
        check("matrix = []", &["[[matrix]]"]);
        check("", &["matrix"]);
    }
}
