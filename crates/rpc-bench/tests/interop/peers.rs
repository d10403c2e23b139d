//! The installed foreign programs: where they are, and at which version.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::processes::Program;

pub struct Peers {
    folder: PathBuf,
    versions: HashMap<String, String>,
}

pub enum Availability {
    There,
    /// Not installed here.
    Skipped(String),
    /// Not installed where it must be.
    Missing(String),
}

impl Peers {
    pub fn find(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let mut versions: HashMap<String, String> = read("requirements.txt")?
            .lines()
            .filter_map(|line| line.split_once("=="))
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .collect();
        let package: serde_json::Value = serde_json::from_str(&read("package.json")?).context("package.json")?;
        for (name, version) in package["dependencies"].as_object().into_iter().flatten() {
            // The same name may be in both: Thrift's.
            versions.insert(format!("npm {name}"), version.as_str().unwrap_or_default().to_owned());
        }
        Ok(Self {
            folder: folder.to_owned(),
            versions,
        })
    }

    /// The peer with its version, where that is pinned here.
    pub fn named(&self, peer: &str, run: &[String]) -> String {
        let (name, key) = match run[0].as_str() {
            "node" => (format!("npm {peer}"), format!("npm {peer}")),
            _ => (peer.to_owned(), peer.to_owned()),
        };
        match self.versions.get(&key) {
            Some(version) => format!("{name}-{version}"),
            None => name,
        }
    }

    pub fn availability(&self, run: &[String], needs: &[String]) -> Availability {
        let optional = run[0] == "go";
        let lacking = match self.installed(&run[0]) {
            false => Some(run[0].as_str()),
            true => needs.iter().find(|program| !in_path(program)).map(String::as_str),
        };
        match lacking {
            None => Availability::There,
            Some(name) if std::env::var_os("CI").is_some() && !optional => {
                Availability::Missing(format!("{name} is not installed: run interop/setup.sh"))
            }
            Some(name) => Availability::Skipped(format!("no {name}; interop/setup.sh says why")),
        }
    }

    fn installed(&self, language: &str) -> bool {
        match language {
            "python" => self.folder.join(".venv-peers/stamp").is_file(),
            "node" => self.folder.join("node_modules/stamp").is_file() && in_path("node"),
            "go" => self.folder.join(".go/stamp").is_file(),
            _ => false,
        }
    }

    /// How a peer's program is started.
    pub fn command(&self, run: &[String], framework: &str) -> Program {
        let script = self.folder.join(framework).join(&run[1]);
        let (program, first) = match run[0].as_str() {
            "python" => (self.folder.join(".venv-peers/bin/python"), Some(script)),
            "go" => (self.folder.join(".go").join(&run[1]), None),
            other => (other.into(), Some(script)),
        };
        let mut python_path = OsString::from(self.folder.join("shared"));
        python_path.push(":");
        python_path.push(self.folder.join(".venv-peers/generated"));
        Program {
            program,
            args: first.into_iter().collect(),
            environment: vec![("PYTHONPATH", python_path), ("PYTHONDONTWRITEBYTECODE", "1".into())],
        }
    }
}

fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
