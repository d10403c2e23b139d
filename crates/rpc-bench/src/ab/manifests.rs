//! Changes of dependencies, made in the manifests of a copy of the workspace.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use toml::{Table, Value};

use super::change::Change;
use super::source::{walk, write_if_changed};
use crate::usage::usage_error;

/// Tables of a manifest that name dependencies.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Makes the copy at `folder` depend on what the changes say, and checks in its lock file that it does.
///
/// # Errors
/// When cargo cannot resolve it, or does not use what was asked for: the text says what stands against it.
pub fn apply(folder: &Path, changes: &[Change], root: &Path) -> Result<()> {
    for change in changes {
        match change {
            Change::Version { package, version } => require(folder, package, version)?,
            Change::Path { package, folder: source } => {
                let source = root.join(source);
                let source = source
                    .canonicalize()
                    .with_context(|| format!("path:{package}={}", source.display()))?;
                patch(folder, package, [("path", source.display().to_string())])?;
            }
            Change::Git { package, url, revision } => {
                let revision = revision.iter().map(|revision| ("rev", revision.clone()));
                patch(folder, package, [("git", url.clone())].into_iter().chain(revision))?;
            }
            _ => {}
        }
    }
    if changes
        .iter()
        .any(|change| matches!(change, Change::Path { .. } | Change::Git { .. }))
    {
        cargo(folder, &["metadata", "--format-version=1", "--quiet"])?;
    }
    for change in changes {
        if let Change::Version { package, version } = change {
            cargo(folder, &["update", "--quiet", "-p", package, "--precise", version])?;
        }
    }
    let lock = fs::read_to_string(folder.join("Cargo.lock")).context("Cargo.lock of the copy")?;
    let lock: Lock = toml::from_str(&lock).context("Cargo.lock of the copy")?;
    changes.iter().try_for_each(|change| lock.has(change))
}

/// Asks cargo whether there are the features, keys and kinds of values that the changes name, without building anything.
///
/// # Errors
/// A usage error with cargo's words.
pub fn check_settings(folder: &Path, changes: &[Change], profile: &str) -> Result<()> {
    for change in changes {
        let setting;
        let args: &[&str] = match change {
            Change::Feature { package, feature } => {
                setting = format!("{package}/{feature}");
                &["tree", "--quiet", "--depth=0", "-p", package, "--features", &setting]
            }
            Change::Profile { key, value } => {
                setting = profile_setting(profile, key, value);
                // The cheapest command that reads the profile.
                &["clean", "--dry-run", "-p", "bench-core", "--profile", profile, "--config", &setting]
            }
            _ => continue,
        };
        let said = cargo(folder, args).map_err(|error| usage_error(format!("--with {change}: {error:#}")))?;
        if let Some(unknown) = said.lines().find(|line| line.contains("unused config key")) {
            return Err(usage_error(format!("--with {change}: cargo says: {unknown}")));
        }
    }
    Ok(())
}

/// For cargo's `--config`.
pub fn profile_setting(profile: &str, key: &str, value: &str) -> String {
    format!("profile.{profile}.{key}={value}")
}

/// Sets the requirement of every manifest that names the package.
fn require(folder: &Path, package: &str, version: &str) -> Result<()> {
    let name = package.split('@').next().unwrap_or(package);
    for manifest in manifests(folder)? {
        let text = fs::read_to_string(&manifest).with_context(|| format!("'{}'", manifest.display()))?;
        let mut table: Table = toml::from_str(&text).with_context(|| format!("'{}'", manifest.display()))?;
        if set_requirement(&mut table, name, &format!("={version}")) {
            write_if_changed(&manifest, toml::to_string(&table)?.as_bytes())?;
        }
    }
    Ok(())
}

/// True when the manifest names the package.
fn set_requirement(manifest: &mut Table, name: &str, requirement: &str) -> bool {
    let mut found = false;
    for key in DEPENDENCIES {
        let dependencies = manifest.get_mut(key).and_then(Value::as_table_mut);
        for (key, dependency) in dependencies.into_iter().flatten() {
            let called = dependency.get("package").and_then(Value::as_str).unwrap_or(key);
            if called != name {
                continue;
            }
            match dependency {
                Value::String(old) => *old = requirement.to_owned(),
                // Without a version it is inherited from the workspace's table, or a package of the workspace.
                Value::Table(table) if table.contains_key("version") => {
                    table.insert("version".to_owned(), requirement.into());
                }
                _ => continue,
            }
            found = true;
        }
    }
    for table in tables_with_dependencies(manifest) {
        found |= set_requirement(table, name, requirement);
    }
    found
}

/// Tables inside a manifest that have tables of dependencies themselves.
fn tables_with_dependencies(manifest: &mut Table) -> Vec<&mut Table> {
    let mut tables = Vec::new();
    for (key, value) in manifest.iter_mut() {
        match (key.as_str(), value) {
            ("workspace", Value::Table(table)) => tables.push(table),
            ("target", Value::Table(targets)) => tables.extend(targets.iter_mut().filter_map(|(_, target)| target.as_table_mut())),
            _ => {}
        }
    }
    tables
}

fn patch(folder: &Path, package: &str, source: impl IntoIterator<Item = (&'static str, String)>) -> Result<()> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("'{}'", path.display()))?;
    let mut manifest: Table = toml::from_str(&text)?;
    let source: Table = source.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let patches = manifest.entry("patch").or_insert_with(|| Table::new().into()).as_table_mut();
    let registry = patches
        .and_then(|patches| patches.entry("crates-io").or_insert_with(|| Table::new().into()).as_table_mut())
        .context("the manifest's [patch.crates-io] is no table")?;
    registry.insert(package.to_owned(), source.into());
    write_if_changed(&path, toml::to_string(&manifest)?.as_bytes())
}

fn manifests(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = BTreeSet::new();
    walk(folder, Path::new(""), &mut files)?;
    let is_manifest = |file: &PathBuf| file.file_name().is_some_and(|name| name == "Cargo.toml");
    Ok(files.into_iter().filter(is_manifest).map(|file| folder.join(file)).collect())
}

/// Runs cargo and returns what it said on stderr.
fn cargo(folder: &Path, args: &[&str]) -> Result<String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let output = command.output().context("cargo cannot be started (is it in PATH?)")?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if !output.status.success() {
        bail!("`cargo {}` failed:\n{said}", args.join(" "));
    }
    Ok(said)
}

#[derive(Debug, Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
}

impl Lock {
    /// An error when the change did not reach the lock file.
    fn has(&self, change: &Change) -> Result<()> {
        let (package, is_it): (&str, &dyn Fn(&Locked) -> bool) = match change {
            Change::Version { package, version } => (package, &move |locked| locked.version == *version),
            Change::Path { package, .. } => (package, &|locked| locked.source.is_none()),
            Change::Git { package, .. } => (package, &|locked| {
                locked.source.as_ref().is_some_and(|source| source.starts_with("git+"))
            }),
            _ => return Ok(()),
        };
        let name = package.split('@').next().unwrap_or(package);
        let versions: Vec<&Locked> = self.package.iter().filter(|locked| locked.name == name).collect();
        if versions.is_empty() {
            bail!("the suite does not depend on '{name}'");
        }
        if !versions.iter().any(|locked| is_it(locked)) {
            let there: Vec<&str> = versions.iter().map(|locked| locked.version.as_str()).collect();
            bail!(
                "cargo does not use the '{name}' that was asked for but {}: its version must fit what is required of it",
                there.join(", ")
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_set_wherever_a_manifest_has_them_and_nowhere_else() {
        let mut manifest: Table = toml::from_str(
            "[dependencies]\na = \"1\"\nb = { version = \"2\", features = [\"x\"] }\nc = { workspace = true }\nother = { package = \"a\", version = \"1\" }\n\
             [workspace.dependencies]\na = \"1\"\n[target.'cfg(unix)'.dev-dependencies]\na = \"1\"\n",
        )
        .unwrap();
        assert!(set_requirement(&mut manifest, "a", "=9"));
        assert!(set_requirement(&mut manifest, "b", "=8"));
        assert!(!set_requirement(&mut manifest, "c", "=7"));
        let expected: Table = toml::from_str(
            "[dependencies]\na = \"=9\"\nb = { version = \"=8\", features = [\"x\"] }\nc = { workspace = true }\nother = { package = \"a\", version = \"=9\" }\n\
             [workspace.dependencies]\na = \"=9\"\n[target.'cfg(unix)'.dev-dependencies]\na = \"=9\"\n",
        )
        .unwrap();
        assert_eq!(manifest, expected);
    }

    #[test]
    fn a_change_that_cargo_did_not_take_up_is_an_error() {
        let lock: Lock = toml::from_str(
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\n",
        )
        .unwrap();
        let check = |text: &str| lock.has(&text.parse().unwrap()).map_err(|error| error.to_string());
        assert_eq!(check("version:a@1.0.0=1.0.0"), Ok(()));
        assert_eq!(check("path:p=."), Ok(()));
        assert_eq!(check("lane:tuned"), Ok(()));
        assert!(check("version:a=1.0.1").unwrap_err().contains("1.0.0"));
        assert!(check("path:a=.").unwrap_err().contains("does not use"));
        assert!(check("git:a=u").unwrap_err().contains("does not use"));
        assert!(check("version:zzz=1.0.1").unwrap_err().contains("does not depend"));
    }
}
