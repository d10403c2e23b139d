//! The rules of ARCHITECTURE.md that a machine can check.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, PackageId};
use rpc_bench::discovery::Workspace;

/// Crates that are a framework: no shared crate, and not the suite's command, may reach one of them. hyper and h2 are what several are
/// made of, so that whoever reaches those reaches a framework's insides.
const FRAMEWORKS: [&str; 20] = [
    "actix-web",
    "async-trait",
    "axum",
    "capnp-rpc",
    "dubbo",
    "grpcio",
    "h2",
    "hyper",
    "jsonrpsee",
    "pilota",
    "quinn",
    "reqwest",
    "tarpc",
    "thrift",
    "tonic",
    "tower",
    "twirp",
    "volo",
    "volo-grpc",
    "warp",
];

/// What a framework crate must leave to the shared crates, and whose it is.
const LEFT_TO_THE_HARNESS: [(&str, &str); 19] = [
    ("println!", "printing"),
    ("print!", "printing"),
    ("dbg!", "printing"),
    ("Instant::now", "the clock"),
    ("SystemTime", "the clock"),
    ("now_ns", "the clock"),
    ("clap", "flags"),
    ("env::args", "flags"),
    ("env::var", "flags"),
    ("hdrhistogram", "statistics"),
    ("bench_core::histogram", "statistics"),
    ("runtime::", "the runtime"),
    ("Runtime::", "the runtime"),
    ("tokio::main", "the runtime"),
    ("thread::spawn", "the runtime"),
    ("global_allocator", "the allocator"),
    ("process::exit", "exit codes"),
    ("set_nodelay", "socket options"),
    ("TcpListener", "the listener"),
];

const MAIN_LINES: usize = 80;

fn metadata() -> Metadata {
    // Every feature, so that an optional dependency is found as well.
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    MetadataCommand::new()
        .manifest_path(manifest)
        .features(CargoOpt::AllFeatures)
        .exec()
        .unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The crates that are part of a stack: those with metadata for discovery, and the interfaces that only they depend on.
fn is_of_a_stack(package: &Package) -> bool {
    package.metadata.get("bench").is_some() || package.name.ends_with("-api")
}

/// Names of everything that a package links: its normal dependencies and theirs.
fn linked<'a>(metadata: &'a Metadata, package: &PackageId) -> BTreeSet<&'a str> {
    let nodes: HashMap<&PackageId, _> = metadata
        .resolve
        .as_ref()
        .unwrap()
        .nodes
        .iter()
        .map(|node| (&node.id, node))
        .collect();
    let (mut seen, mut open) = (BTreeSet::new(), vec![package.clone()]);
    while let Some(id) = open.pop() {
        for dependency in &nodes[&id].deps {
            let links = dependency
                .dep_kinds
                .iter()
                .any(|kind| kind.kind == cargo_metadata::DependencyKind::Normal);
            if links && seen.insert(dependency.pkg.clone()) {
                open.push(dependency.pkg.clone());
            }
        }
    }
    metadata
        .packages
        .iter()
        .filter(|package| seen.contains(&package.id))
        .map(|package| package.name.as_str())
        .collect()
}

/// Every Rust file of a folder.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

fn folder(package: &Package) -> PathBuf {
    package.manifest_path.parent().unwrap().into()
}

fn manifest(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

#[test]
fn no_shared_crate_reaches_a_framework_and_the_command_links_none() {
    let metadata = metadata();
    let measured: Vec<String> = Workspace::discover(None)
        .unwrap()
        .stacks
        .into_iter()
        .map(|stack| stack.library)
        .collect();
    let mut checked = 0;
    for package in metadata.workspace_packages().into_iter().filter(|package| !is_of_a_stack(package)) {
        let linked = linked(&metadata, &package.id);
        for framework in FRAMEWORKS.iter().copied().chain(measured.iter().map(String::as_str)) {
            // What raw TCP measures is the harness's own runtime.
            let forbidden = framework != "tokio";
            assert!(!(forbidden && linked.contains(framework)), "{} links {framework}", package.name);
        }
        checked += 1;
    }
    assert!(checked >= 5, "{checked} shared crates");
    // The rule can say no.
    let client = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == "grpc-client")
        .unwrap();
    assert!(linked(&metadata, &client.id).contains("tonic"));
}

#[test]
fn no_shared_crate_depends_on_a_stack() {
    let metadata = metadata();
    let of_stacks: BTreeSet<&str> = metadata
        .workspace_packages()
        .into_iter()
        .filter(|package| is_of_a_stack(package))
        .map(|package| package.name.as_str())
        .collect();
    for package in metadata.workspace_packages().into_iter().filter(|package| !is_of_a_stack(package)) {
        let linked = linked(&metadata, &package.id);
        assert!(linked.is_disjoint(&of_stacks), "{} depends on a stack", package.name);
    }
}

#[test]
fn framework_crates_leave_to_the_harness_what_is_the_harnesses() {
    for package in metadata()
        .workspace_packages()
        .into_iter()
        .filter(|package| package.metadata.get("bench").is_some())
    {
        for (path, text) in sources(&folder(package).join("src")) {
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                for (word, whose) in LEFT_TO_THE_HARNESS {
                    assert!(
                        !code.contains(word),
                        "{}:{}: `{word}`: {whose} belongs to the shared crates",
                        path.display(),
                        number + 1
                    );
                }
            }
        }
        for dependency in ["clap", "hdrhistogram", "tikv-jemallocator", "socket2", "signal-hook", "bench-host"] {
            assert!(
                package.dependencies.iter().all(|found| found.name != dependency),
                "{} depends on {dependency}",
                package.name
            );
        }
    }
}

#[test]
fn a_main_of_a_framework_fits_a_screen_or_two() {
    for package in metadata()
        .workspace_packages()
        .into_iter()
        .filter(|package| package.metadata.get("bench").is_some())
    {
        let path = folder(package).join("src/main.rs");
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < MAIN_LINES, "{}: {lines} lines", path.display());
    }
}

#[test]
fn what_a_stack_is_called_is_the_same_in_its_manifest_and_its_code() {
    let stacks = Workspace::discover(None).unwrap().stacks;
    let metadata = metadata();
    for stack in &stacks {
        for package in [&stack.server, &stack.client] {
            let package = metadata
                .workspace_packages()
                .into_iter()
                .find(|found| found.name == package)
                .unwrap();
            let main = std::fs::read_to_string(folder(package).join("src/main.rs")).unwrap();
            let call = format!("Registry::new(\"{}\", \"{}\")", stack.framework, stack.library);
            assert!(main.contains(&call), "{}: no {call}", package.name);
            assert!(
                folder(package).ends_with(package.name.as_str()),
                "{}: the folder has another name",
                package.name
            );
        }
        assert_eq!(stack.server, format!("{}-server", stack.framework));
        assert_eq!(stack.client, format!("{}-client", stack.framework));
        assert!(stack.library_version.is_some(), "{} is not in Cargo.lock", stack.library);
    }
}

#[test]
fn every_server_has_a_client_and_the_other_way_round() {
    // Discovery refuses half a stack; here the names are counted without it.
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let named = |ending: &str| -> BTreeSet<String> {
        packages
            .iter()
            .filter_map(|p| p.name.strip_suffix(ending).map(str::to_owned))
            .collect()
    };
    assert_eq!(named("-server"), named("-client"));
    let discovered: BTreeSet<String> = Workspace::discover(None)
        .unwrap()
        .stacks
        .into_iter()
        .map(|stack| stack.framework)
        .collect();
    assert_eq!(named("-server"), discovered, "a stack without [package.metadata.bench]");
}

#[test]
fn dev_and_release_generate_the_same_code() {
    let cargo = manifest(&root().join("Cargo.toml"));
    let profiles = &cargo["profile"];
    assert_eq!(profiles["dev"], profiles["release"]);
    // Said in full: what one leaves out would have another default in the other.
    let written: BTreeSet<&str> = profiles["dev"].as_table().unwrap().keys().map(String::as_str).collect();
    let all = [
        "codegen-units",
        "debug",
        "debug-assertions",
        "incremental",
        "lto",
        "opt-level",
        "overflow-checks",
        "panic",
        "strip",
    ];
    assert_eq!(written, BTreeSet::from(all));
    assert_eq!(profiles.as_table().unwrap().len(), 2, "only dev and release");
}

#[test]
fn frameworks_are_pinned_to_one_version() {
    for package in metadata().workspace_packages().into_iter().filter(|package| is_of_a_stack(package)) {
        for dependency in package
            .dependencies
            .iter()
            .filter(|found| FRAMEWORKS[..].contains(&found.name.as_str()))
        {
            // Parts that the measured library chooses the version of.
            if ["h2", "hyper", "tower", "async-trait"].contains(&dependency.name.as_str()) {
                continue;
            }
            assert!(
                dependency.req.to_string().starts_with('='),
                "{}: {} {}",
                package.name,
                dependency.name,
                dependency.req
            );
        }
    }
    for stack in Workspace::discover(None)
        .unwrap()
        .stacks
        .iter()
        .filter(|stack| stack.library != "tokio")
    {
        let metadata = metadata();
        let client = metadata
            .workspace_packages()
            .into_iter()
            .find(|found| found.name == stack.client)
            .unwrap();
        let pinned = client.dependencies.iter().find(|found| found.name == stack.library);
        assert!(
            pinned.is_some_and(|found| found.req.to_string().starts_with('=')),
            "{}: {}",
            stack.client,
            stack.library
        );
    }
}

#[test]
fn every_crate_takes_the_workspaces_lints_and_no_compiler_is_forced_on_anybody() {
    for package in metadata().workspace_packages() {
        let manifest = manifest(package.manifest_path.as_std_path());
        let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
        assert_eq!(lints, Some(&true.into()), "{}", package.name);
        assert!(
            manifest.get("profile").is_none() && manifest.get("patch").is_none(),
            "{}",
            package.name
        );
    }
    for name in ["rust-toolchain", "rust-toolchain.toml", ".cargo/config.toml", ".cargo/config"] {
        assert!(!root().join(name).exists(), "{name} would change other people's builds");
    }
}

#[test]
fn no_central_list_names_a_stack() {
    // A new stack is new folders only: nothing shared names a stack's packages.
    let stacks = Workspace::discover(None).unwrap().stacks;
    for package in metadata()
        .workspace_packages()
        .into_iter()
        .filter(|package| !is_of_a_stack(package))
    {
        for (path, text) in sources(&folder(package).join("src")) {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            if path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for stack in &stacks {
                    for name in [&stack.server, &stack.client] {
                        assert!(!line.contains(name.as_str()), "{}: {line}", path.display());
                    }
                }
            }
        }
    }
}
