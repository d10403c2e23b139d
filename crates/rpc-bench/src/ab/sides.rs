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

/// Folder of a side's source, beside its target folder.
const SOURCE: &str = "src";

/// The two sides before they are built.
///
/// Changes of settings share A's binaries. Changes of what is built get copies of the source with target folders of their own for both
/// sides, under paths of equal length, in `target/ab`: a second run builds only what differs.
#[derive(Debug)]
pub struct Sides<'a> {
    changes: &'a [Change],
    profile: &'a str,
    /// Of A and of B; `None` where they share binaries.
    copies: Option<[PathBuf; 2]>,
}

impl<'a> Sides<'a> {
    /// Makes the copies that are needed, and asks cargo whether the changes can be: that is known in seconds, builds take minutes.
    ///
    /// # Errors
    /// When the source cannot be copied or changed, or cargo does not know what a change names.
    pub fn prepare(root: &Path, changes: &'a [Change], profile: &'a str) -> Result<Self> {
        let copies = if changes.iter().any(Change::needs_build) {
            let [a, b] = ["a", "b"].map(|side| root.join("target/ab").join(side));
            prepare(root, &[], &a)?;
            prepare(root, changes, &b)?;
            manifests::check_settings(&b.join(SOURCE), changes, profile)?;
            Some([a, b])
        } else {
            None
        };
        Ok(Self { changes, profile, copies })
    }

    /// Builds what is needed and makes the arms: A as the workspace is, B with the changes.
    ///
    /// # Errors
    /// When cargo fails.
    pub fn build(&self, manifest: Option<&Path>, stack: &Stack, cell: &Cell) -> Result<[Arm; 2]> {
        let [a, b] = match &self.copies {
            Some([a, b]) => [self.build_copy(stack, &[], a)?, self.build_copy(stack, self.changes, b)?],
            None => {
                let programs = Programs::build(manifest, stack.clone(), self.profile)?;
                [programs.clone(), programs]
            }
        };
        let mut arms = [Arm::new("A", cell.clone(), a), Arm::new("B", cell.clone(), b)];
        self.changes.iter().for_each(|change| set(&mut arms[1], change));
        Ok(arms)
    }

    fn build_copy(&self, stack: &Stack, changes: &[Change], place: &Path) -> Result<Programs> {
        let manifest = place.join(SOURCE).join("Cargo.toml");
        let build = |package: &str| build_with(Some(&manifest), package, self.profile, &arguments(changes, self.profile, place));
        Ok(Programs {
            stack: stack.clone(),
            server: build(&stack.server)?,
            client: build(&stack.client)?,
        })
    }
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

/// Makes the source at a place a copy of the workspace with the changes.
fn prepare(root: &Path, changes: &[Change], place: &Path) -> Result<()> {
    let revision = changes.iter().rev().find_map(|change| match change {
        Change::Revision(revision) => Some(revision.as_str()),
        _ => None,
    });
    let folder = place.join(SOURCE);
    source::mirror(root, revision, &folder)?;
    manifests::apply(&folder, changes, root)
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
                arguments.extend(["--config".to_owned(), manifests::profile_setting(profile, key, value)].map(OsString::from));
            }
            _ => {}
        }
    }
    arguments
}
