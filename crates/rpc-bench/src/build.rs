//! Building one package by itself. `cargo build` of several packages would unify their features, and one stack would change another's.

use std::ffi::OsString;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

use bench_core::talk;

use crate::child::die_with_parent;
use crate::discovery::manifest_path;

/// Builds `package` of this workspace with a cargo profile (`release`, `dev`) and says where its binary is.
///
/// For the child of a `cargo run` or `cargo test`; else the workspace above the current folder. Cargo's messages go to stderr.
///
/// # Errors
/// When cargo fails or the package has no binary of its own.
pub fn build(package: &str, profile: &str) -> Result<PathBuf> {
    build_in(None, package, profile)
}

/// Folder of binaries of the dev profile that are taken as they are: `scripts/test.sh` builds all packages at once and names it, for tests look at
/// what programs do. Not for figures: there each package is built by itself.
const BINARIES: &str = "RPC_BENCH_DEV_BINARIES";

/// [`build`] in the workspace of a given Cargo.toml.
///
/// # Errors
/// As [`build`].
pub fn build_in(manifest: Option<&Path>, package: &str, profile: &str) -> Result<PathBuf> {
    build_with(manifest, package, profile, &[])
}

/// [`build_in`] with more arguments for cargo, such as a target folder.
///
/// # Errors
/// As [`build`].
pub fn build_with(manifest: Option<&Path>, package: &str, profile: &str, more: &[OsString]) -> Result<PathBuf> {
    if profile == "dev"
        && more.is_empty()
        && let Some(folder) = std::env::var_os(BINARIES)
    {
        let path = Path::new(&folder).join(package);
        // Another workspace's package, such as a test's, is not there.
        if path.is_file() {
            talk::say(format_args!("{package}: taken from {BINARIES}, built together with other packages"));
            return Ok(path);
        }
    }
    let again = format!("cargo build --profile {profile} -p {package}");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args([
        "build",
        "--profile",
        profile,
        "-p",
        package,
        "--message-format=json-render-diagnostics",
    ]);
    command.args(more);
    if let Some(manifest) = manifest_path(manifest) {
        command.arg("--manifest-path").arg(manifest);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    die_with_parent(&mut command);

    let mut process = command.spawn().context("cargo cannot be started (is it in PATH?)")?;
    let stdout = process.stdout.take().context("cargo's stdout is not there")?;
    let mut executable = None;
    for message in Message::parse_stream(BufReader::new(stdout)) {
        if let Message::CompilerArtifact(artifact) = message.with_context(|| format!("reading the messages of `{again}`"))?
            && artifact.target.is_bin()
            && artifact.target.name == package
        {
            executable = artifact.executable.or(executable);
        }
    }
    let status = process.wait().with_context(|| format!("waiting for `{again}`"))?;
    if !status.success() {
        bail!("`{again}` failed ({status}); its messages are above");
    }
    match executable {
        Some(path) => Ok(path.into_std_path_buf()),
        None => bail!("`{again}` made no binary named '{package}': a package of a stack needs a src/main.rs of its own name"),
    }
}
