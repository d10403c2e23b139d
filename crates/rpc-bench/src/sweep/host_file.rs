//! `host.json`: the machine and the state of the source that a sweep ran on. Never the machine's name.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use bench_host::HostInfo;
use serde::Serialize;

use crate::dates::Utc;
use crate::discovery::Stack;

/// What `host.json` holds.
#[derive(Clone, Debug, Serialize)]
pub struct HostFile {
    /// The user's word for the machine.
    pub label: String,
    /// What the system says.
    #[serde(flatten)]
    pub info: HostInfo,
    /// Commit that was checked out; null outside a checkout.
    pub git_commit: Option<String>,
    /// True when files under version control differed from it; null outside a checkout.
    pub git_dirty: Option<bool>,
    /// `rustc -V`.
    pub rustc: Option<String>,
    /// Measured libraries and their versions in Cargo.lock.
    pub libraries: BTreeMap<String, Option<String>>,
    /// UTC, RFC 3339.
    pub started_at: String,
}

impl HostFile {
    /// Asks the system, git and rustc.
    pub fn read(root: &Path, label: &str, info: HostInfo, stacks: &[Stack]) -> Self {
        let git = |args: &[&str]| said_by("git", args, root);
        Self {
            label: label.to_owned(),
            info,
            git_commit: git(&["rev-parse", "HEAD"]),
            git_dirty: git(&["status", "--porcelain", "--untracked-files=no"]).map(|changes| !changes.is_empty()),
            rustc: said_by("rustc", &["-V"], root),
            libraries: stacks
                .iter()
                .map(|stack| (stack.library.clone(), stack.library_version.clone()))
                .collect(),
            started_at: Utc::now().rfc3339(),
        }
    }

    /// As the file holds it.
    ///
    /// # Errors
    /// When it is no JSON, which cannot be.
    pub fn to_json(&self) -> Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }
}

/// What a short command prints; `None` when it is not there or fails: these facts are welcome, not needed.
fn said_by(program: &str, args: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program).args(args).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
