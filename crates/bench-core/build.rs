//! Generates the message types from `proto/benchmark.proto`, and writes down what this build is made of (see `src/build_info.rs`).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../..");
    generate_messages(&workspace.join("proto"))?;
    describe_build(&workspace)
}

fn generate_messages(proto: &Path) -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={}", proto.display());
    let descriptors = protox::compile(["benchmark.proto"], [proto])?;
    prost_build::Config::new()
        .bytes(["."])
        // The serde stacks send the same type as it is: plain numbers, `field5` an empty array.
        .type_attribute(".", "#[derive(serde::Serialize, serde::Deserialize)]")
        .field_attribute("PayloadMessage.body", r#"#[serde(with = "crate::codec::payload_bytes")]"#)
        .compile_fds(descriptors)?;
    Ok(())
}

fn describe_build(workspace: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let lock = workspace.join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let versions = locked_versions(&fs::read_to_string(&lock).unwrap_or_default())?;
    fs::write(
        Path::new(&env::var("OUT_DIR")?).join("locked_versions.rs"),
        format!("&{versions:?}"),
    )?;

    let rustc = env::var("RUSTC")?;
    set_env("RUSTC", stdout_of(Command::new(rustc).arg("-V")));
    // Cargo calls the dev profile "debug" here, after the folder it builds into.
    let profile = match env::var("PROFILE")?.as_str() {
        "debug" => "dev".to_owned(),
        other => other.to_owned(),
    };
    set_env("PROFILE", Some(profile));
    set_env("OPT_LEVEL", env::var("OPT_LEVEL").ok());

    // The reflog grows with every commit and checkout: the one file to watch for "another commit".
    let reflog = workspace.join(".git/logs/HEAD");
    if reflog.exists() {
        println!("cargo:rerun-if-changed={}", reflog.display());
    }
    let mut git = Command::new("git");
    git.current_dir(workspace).args(["rev-parse", "--short=12", "HEAD"]);
    set_env("GIT_COMMIT", stdout_of(&mut git));
    Ok(())
}

/// (name, version) of every package in the lock file; a name may be there with several versions.
fn locked_versions(lock: &str) -> Result<Vec<(String, String)>, toml::de::Error> {
    let lock: toml::Table = toml::from_str(lock)?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    Ok(packages
        .into_iter()
        .flatten()
        .filter_map(|package| {
            let field = |name| Some(package.get(name)?.as_str()?.to_owned());
            Some((field("name")?, field("version")?))
        })
        .collect())
}

fn set_env(name: &str, value: Option<String>) {
    println!("cargo:rustc-env=BENCH_{name}={}", value.unwrap_or_default());
}

/// `None` when the program is missing or fails: a build outside a checkout has no commit.
fn stdout_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
