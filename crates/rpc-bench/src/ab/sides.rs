//! From a framework and the changes to the two arms, built.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::change::Change;
use super::{manifests, source};
use crate::build::build_with;
use crate::discovery::Stack;
use crate::programs::Programs;
use crate::sweep::cell::Cell;
use crate::trial::Arm;

/// Builds what is needed and makes the arms: A as the workspace is, B with the changes.
///
/// Changes of settings share A's binaries. Changes of what is built get copies of the source with target folders of their own for both
/// sides, under paths of equal length, in `target/ab`: a second run builds only what differs.
///
/// # Errors
/// When the source cannot be copied, changed or built.
pub fn build_both(root: &Path, manifest: Option<&Path>, stack: &Stack, cell: &Cell, changes: &[Change], profile: &str) -> Result<[Arm; 2]> {
    let [a, b] = if changes.iter().any(Change::needs_build) {
        let [a, b] = ["a", "b"].map(|side| root.join("target/ab").join(side));
        // Both before either is built: a change that cannot be made is known in a second.
        prepare(root, &[], &a)?;
        prepare(root, changes, &b)?;
        [build_copy(stack, &[], profile, &a)?, build_copy(stack, changes, profile, &b)?]
    } else {
        let programs = Programs::build(manifest, stack.clone(), profile)?;
        [programs.clone(), programs]
    };
    let mut arms = [Arm::new("A", cell.clone(), a), Arm::new("B", cell.clone(), b)];
    changes.iter().for_each(|change| set(&mut arms[1], change));
    Ok(arms)
}

/// Changes of how the processes are started.
fn set(arm: &mut Arm, change: &Change) {
    match change {
        Change::Environment { name, value } => arm.environment.push((name.clone(), value.clone())),
        Change::Server(flags) => arm.server_flags.extend(flags.iter().cloned()),
        Change::Client(flags) => arm.client_flags.extend(flags.iter().cloned()),
        Change::Lane(lane) => arm.cell.lane = *lane,
        _ => {}
    }
}

/// Makes `place/src` a copy of the workspace with the changes.
fn prepare(root: &Path, changes: &[Change], place: &Path) -> Result<()> {
    let revision = changes.iter().rev().find_map(|change| match change {
        Change::Revision(revision) => Some(revision.as_str()),
        _ => None,
    });
    let folder = place.join("src");
    source::mirror(root, revision, &folder)?;
    manifests::apply(&folder, changes, root)
}

fn build_copy(stack: &Stack, changes: &[Change], profile: &str, place: &Path) -> Result<Programs> {
    let manifest = place.join("src/Cargo.toml");
    let build = |package: &str| build_with(Some(&manifest), package, profile, &arguments(changes, profile, place));
    Ok(Programs {
        stack: stack.clone(),
        server: build(&stack.server)?,
        client: build(&stack.client)?,
    })
}

fn arguments(changes: &[Change], profile: &str, place: &Path) -> Vec<OsString> {
    let target: PathBuf = place.join("target");
    let mut arguments: Vec<OsString> = vec!["--target-dir".into(), target.into()];
    for change in changes {
        match change {
            // Naming the package as well lets cargo find its feature.
            Change::Feature { package, feature } => {
                arguments.extend(["-p", package, "--features", &format!("{package}/{feature}")].map(OsString::from));
            }
            Change::Profile { key, value } => {
                arguments.extend(["--config".to_owned(), format!("profile.{profile}.{key}={value}")].map(OsString::from));
            }
            _ => {}
        }
    }
    arguments
}
