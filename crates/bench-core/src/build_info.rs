//! What this binary is made of: versions from Cargo.lock, compiler, profile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allocator::allocations;

static LOCKED_VERSIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/locked_versions.rs"));

/// Libraries whose version matters to every stack and is therefore named in every record.
const NAMED_IN_EVERY_RECORD: &[&str] = &["tokio", "bytes", "hdrhistogram", "prost"];

/// How a binary was built; part of every record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildInfo {
    /// Cargo profile: `dev` or `release`. Both generate the same code in this workspace.
    pub profile: String,
    /// True when the code was optimised (level 3, no debug assertions). A row from any other build is marked.
    pub optimised: bool,
    /// `rustc -V`.
    pub rustc: String,
    /// The memory allocator that the process uses.
    pub allocator: String,
    /// Commit that was checked out when the shared core was built; null outside a checkout. Changes that were not committed do not show.
    pub git_commit: Option<String>,
    /// Versions from Cargo.lock: the measured library and the common ones beneath it.
    pub versions: BTreeMap<String, String>,
}

impl BuildInfo {
    /// Describes the running binary; `library` is the measured one.
    pub fn current(library: &str) -> Self {
        let versions = NAMED_IN_EVERY_RECORD
            .iter()
            .copied()
            .chain([library])
            .filter_map(|name| Some((name.to_owned(), locked_version(name)?.to_owned())))
            .collect();
        Self {
            profile: env!("BENCH_PROFILE").to_owned(),
            optimised: env!("BENCH_OPT_LEVEL") == "3" && !cfg!(debug_assertions),
            rustc: env!("BENCH_RUSTC").to_owned(),
            allocator: allocator(),
            git_commit: Some(env!("BENCH_GIT_COMMIT"))
                .filter(|commit| !commit.is_empty())
                .map(str::to_owned),
            versions,
        }
    }
}

/// The version of a package in Cargo.lock; the newest where one name has several; `None` for a name that is not there.
pub fn locked_version(name: &str) -> Option<&'static str> {
    let version_key = |version: &str| -> Vec<u64> {
        version
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|part| part.parse().ok())
            .collect()
    };
    LOCKED_VERSIONS
        .iter()
        .filter(|(package, _)| *package == name)
        .map(|(_, version)| *version)
        .max_by_key(|version| version_key(version))
}

fn allocator() -> String {
    if cfg!(feature = "system-allocator") {
        return "the system's".to_owned();
    }
    format!(
        "jemalloc by tikv-jemallocator {}{}",
        locked_version("tikv-jemallocator").unwrap_or("of an unknown version"),
        if allocations().is_some() {
            ", every allocation counted"
        } else {
            ""
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_library_and_the_compiler_are_named() {
        let build = BuildInfo::current("prost");
        assert!(build.rustc.starts_with("rustc "));
        assert!(build.versions.contains_key("tokio"));
        assert_eq!(build.versions.get("prost").map(String::as_str), locked_version("prost"));
        assert_eq!(locked_version("no-such-package"), None);
    }
}
