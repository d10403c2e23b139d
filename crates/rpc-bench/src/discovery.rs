//! Which stacks there are: every package with `[package.metadata.bench]`, found through `cargo metadata`. No central list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;
use serde::Deserialize;

use crate::usage::usage_error;

/// The workspace and its stacks.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Folder of the workspace's Cargo.toml.
    pub root: PathBuf,
    /// The stacks, by framework name.
    pub stacks: Vec<Stack>,
}

/// A server package and a client package of one framework.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Short name, for example `grpc`.
    pub framework: String,
    /// The measured library.
    pub library: String,
    /// Its version in Cargo.lock; `None` before the first build.
    pub library_version: Option<String>,
    /// Package of the server.
    pub server: String,
    /// Package of the client.
    pub client: String,
}

/// `[package.metadata.bench]` of one package.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchMetadata {
    framework: String,
    role: Role,
    library: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Server,
    Client,
}

/// The Cargo.toml to ask about: the one given; else that of `cargo run` or `cargo test`, whose child this process then is; else
/// `None`, and cargo looks above the current folder.
pub fn manifest_path(given: Option<&Path>) -> Option<PathBuf> {
    given.map(Path::to_owned).or_else(|| {
        let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
        manifest.is_file().then_some(manifest)
    })
}

impl Workspace {
    /// Asks `cargo metadata`.
    ///
    /// # Errors
    /// Outside a workspace, and when a package's metadata is incomplete: the text names the package and what is missing.
    pub fn discover(manifest: Option<&Path>) -> Result<Self> {
        let mut command = MetadataCommand::new();
        command.no_deps();
        if let Some(manifest) = manifest_path(manifest) {
            command.manifest_path(manifest);
        }
        let metadata = command
            .exec()
            .context("cargo metadata failed (run this inside the checkout, or name its Cargo.toml with --manifest-path)")?;

        let mut benches = Vec::new();
        for package in metadata.workspace_packages() {
            if let Some(value) = package.metadata.get("bench") {
                let bench =
                    BenchMetadata::deserialize(value).with_context(|| format!("[package.metadata.bench] of package '{}'", package.name))?;
                benches.push((package.name.to_string(), bench));
            }
        }
        let root = metadata.workspace_root.into_std_path_buf();
        let mut stacks = pair_up(benches)?;
        let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
        for stack in &mut stacks {
            stack.library_version = locked_version(&lock, &stack.library);
        }
        Ok(Self { root, stacks })
    }

    /// The stack of a framework.
    ///
    /// # Errors
    /// A usage error that names those there are.
    pub fn stack(&self, framework: &str) -> Result<&Stack> {
        let stack = self.stacks.iter().find(|stack| stack.framework == framework);
        stack.ok_or_else(|| {
            usage_error(format!(
                "there is no framework '{framework}'; there are: {}",
                self.framework_names()
            ))
        })
    }

    /// The stacks of these names, or all without any.
    ///
    /// # Errors
    /// A usage error for a name that does not exist.
    pub fn stacks_named(self, frameworks: &[String]) -> Result<Vec<Stack>> {
        for name in frameworks {
            self.stack(name)?;
        }
        let named = |stack: &Stack| frameworks.is_empty() || frameworks.contains(&stack.framework);
        Ok(self.stacks.into_iter().filter(named).collect())
    }

    /// The framework names, for messages.
    pub fn framework_names(&self) -> String {
        let names: Vec<&str> = self.stacks.iter().map(|stack| stack.framework.as_str()).collect();
        names.join(", ")
    }
}

/// One stack out of each pair of packages.
fn pair_up(benches: Vec<(String, BenchMetadata)>) -> Result<Vec<Stack>> {
    let mut by_framework: BTreeMap<String, Vec<(String, BenchMetadata)>> = BTreeMap::new();
    for (package, bench) in benches {
        if !is_plain_name(&bench.framework) {
            bail!("package '{package}': framework = '{}' must be of a-z, 0-9 and '-'", bench.framework);
        }
        by_framework.entry(bench.framework.clone()).or_default().push((package, bench));
    }
    by_framework
        .into_iter()
        .map(|(framework, packages)| pair(framework, &packages))
        .collect()
}

fn pair(framework: String, packages: &[(String, BenchMetadata)]) -> Result<Stack> {
    let the_one = |role: Role, role_name: &str| {
        let mut found = packages.iter().filter(|(_, bench)| bench.role == role);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (Some((one, _)), Some((other, _))) => {
                bail!("framework '{framework}' has two packages with role = \"{role_name}\": '{one}' and '{other}'")
            }
            (None, _) => {
                let there = packages.first().map_or("", |(package, _)| package);
                bail!(
                    "framework '{framework}' has no {role_name}: package '{there}' needs a counterpart with \
                     [package.metadata.bench] framework = \"{framework}\", role = \"{role_name}\""
                )
            }
        }
    };
    let (server, server_bench) = the_one(Role::Server, "server")?;
    let (client, client_bench) = the_one(Role::Client, "client")?;
    if server_bench.library != client_bench.library {
        bail!(
            "packages '{server}' and '{client}' name different libraries: '{}' and '{}'",
            server_bench.library,
            client_bench.library
        );
    }
    Ok(Stack {
        library: server_bench.library.clone(),
        library_version: None,
        server: server.clone(),
        client: client.clone(),
        framework,
    })
}

/// Names that are safe in flags, folder names and tables: a-z, 0-9 and '-', at most 32.
pub fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 32 && name.chars().all(plain)
}

/// The version of a package in a Cargo.lock; the last one listed where one name has several.
pub fn locked_version(lock: &str, package: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let lock: Lock = toml::from_str(lock).ok()?;
    lock.package.into_iter().rfind(|p| p.name == package).map(|p| p.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(package: &str, framework: &str, role: Role, library: &str) -> (String, BenchMetadata) {
        let (framework, library) = (framework.to_owned(), library.to_owned());
        (package.to_owned(), BenchMetadata { framework, role, library })
    }

    #[test]
    fn a_server_and_a_client_make_a_stack() {
        let stacks = pair_up(vec![
            bench("tcp-client", "tcp", Role::Client, "tokio"),
            bench("grpc-client", "grpc", Role::Client, "tonic"),
            bench("tcp-server", "tcp", Role::Server, "tokio"),
            bench("grpc-server", "grpc", Role::Server, "tonic"),
        ])
        .unwrap();
        let names: Vec<_> = stacks.iter().map(|s| (s.framework.as_str(), s.server.as_str())).collect();
        assert_eq!(names, [("grpc", "grpc-server"), ("tcp", "tcp-server")]);
    }

    #[test]
    fn an_incomplete_stack_is_an_error_that_names_the_package_and_what_is_missing() {
        let check = |benches, parts: &[&str]| {
            let error = pair_up(benches).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        };
        check(
            vec![bench("x-client", "x", Role::Client, "l")],
            &["'x'", "no server", "'x-client'", "role = \"server\""],
        );
        check(vec![bench("x-server", "x", Role::Server, "l")], &["no client", "'x-server'"]);
        check(
            vec![bench("a", "x", Role::Server, "l"), bench("b", "x", Role::Server, "l")],
            &["two packages", "'a'", "'b'"],
        );
        check(
            vec![bench("a", "x", Role::Server, "l"), bench("b", "x", Role::Client, "m")],
            &["different libraries", "'l'", "'m'"],
        );
        check(vec![bench("a", "X y", Role::Server, "l")], &["'a'", "a-z"]);
    }

    #[test]
    fn versions_come_from_the_lock_file() {
        let lock = "version = 4\n[[package]]\nname = \"tonic\"\nversion = \"0.14.9\"\n";
        assert_eq!(locked_version(lock, "tonic").as_deref(), Some("0.14.9"));
        assert_eq!(locked_version(lock, "tokio"), None);
        assert_eq!(locked_version("no lock", "tokio"), None);
    }
}
