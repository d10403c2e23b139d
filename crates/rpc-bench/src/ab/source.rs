//! A copy of the workspace's source that can be changed and built without touching the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Makes `folder` hold what the workspace at `root` holds, or held at a git revision: files that git tracks, and new ones that it does not
/// ignore. Files that are the same already are left alone, so that cargo builds only what changed.
///
/// # Errors
/// Outside a git checkout, for a revision that is none, or when the folder cannot be written.
pub fn mirror(root: &Path, revision: Option<&str>, folder: &Path) -> Result<()> {
    match revision {
        None => synchronise(root, &files_of(root)?, folder),
        Some(revision) => {
            let unpacked = tempfile::tempdir().context("a temporary folder")?;
            unpack(root, revision, unpacked.path())?;
            let mut files = BTreeSet::new();
            walk(unpacked.path(), Path::new(""), &mut files)?;
            synchronise(unpacked.path(), &files, folder)
        }
    }
}

fn files_of(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git
        .output()
        .context("git cannot be started: `ab` copies the files that git knows")?;
    if !output.status.success() {
        bail!(
            "`ab` copies the files that git knows, but '{}' is no git checkout: {}",
            root.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let names = String::from_utf8_lossy(&output.stdout);
    // A file that was deleted is still listed until that is committed.
    let there = |path: &PathBuf| root.join(path).symlink_metadata().is_ok_and(|entry| !entry.is_dir());
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(there)
        .collect())
}

fn unpack(root: &Path, revision: &str, folder: &Path) -> Result<()> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["archive", "--format=tar", revision])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut git = git.spawn().context("git cannot be started")?;
    let mut tar = Command::new("tar");
    tar.arg("-x").arg("-C").arg(folder);
    if let Some(archive) = git.stdout.take() {
        tar.stdin(archive);
    }
    let unpacked = tar.output().context("tar cannot be started")?;
    let archived = git.wait_with_output().context("waiting for git")?;
    if !archived.status.success() {
        bail!("rev:{revision}: {}", String::from_utf8_lossy(&archived.stderr).trim());
    }
    if !unpacked.status.success() {
        bail!(
            "rev:{revision}: tar could not unpack it: {}",
            String::from_utf8_lossy(&unpacked.stderr).trim()
        );
    }
    Ok(())
}

fn synchronise(from: &Path, files: &BTreeSet<PathBuf>, to: &Path) -> Result<()> {
    let mut stale = BTreeSet::new();
    if to.exists() {
        walk(to, Path::new(""), &mut stale)?;
    }
    for file in stale.difference(files) {
        let path = to.join(file);
        fs::remove_file(&path).with_context(|| format!("'{}' cannot be removed", path.display()))?;
    }
    for file in files {
        copy_if_changed(&from.join(file), &to.join(file))?;
    }
    Ok(())
}

fn copy_if_changed(from: &Path, to: &Path) -> Result<()> {
    let new = fs::read(from).with_context(|| format!("'{}' cannot be read", from.display()))?;
    write_if_changed(to, &new)?;
    let permissions = fs::metadata(from).and_then(|file| fs::set_permissions(to, file.permissions()));
    permissions.with_context(|| format!("'{}'", to.display()))
}

/// Writes a file unless it holds just that.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_if_changed(path: &Path, content: &[u8]) -> Result<()> {
    let describe = || format!("'{}' cannot be written", path.display());
    match fs::read(path) {
        Ok(old) if old == content => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).with_context(describe)?;
            }
        }
        _ => {}
    }
    fs::write(path, content).with_context(describe)
}

/// All files below `root/folder`, by their paths from `root`.
pub(super) fn walk(root: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    let path = root.join(folder);
    let entries = fs::read_dir(&path).with_context(|| format!("'{}' cannot be read", path.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("'{}'", path.display()))?;
        let name = folder.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(root, &name, files)?;
        } else {
            files.insert(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, args: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let status = Command::new("git")
            .current_dir(folder)
            .args(identity)
            .args(args)
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "git {args:?}");
    }

    fn files(folder: &Path) -> Vec<String> {
        let mut files = BTreeSet::new();
        walk(folder, Path::new(""), &mut files).unwrap();
        files.into_iter().map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn the_copy_has_what_git_knows_and_follows_every_change() {
        let (root, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, copy) = (root.path(), copy.path().join("src"));
        git(root, &["init", "-q"]);
        fs::create_dir(root.join("a")).unwrap();
        for (name, text) in [(".gitignore", "ignored\n"), ("a/one", "1"), ("gone", "x"), ("ignored", "i")] {
            fs::write(root.join(name), text).unwrap();
        }
        git(root, &["add", "."]);
        git(root, &["commit", "-qm", "first"]);
        mirror(root, None, &copy).unwrap();
        assert_eq!(files(&copy), [".gitignore", "a/one", "gone"]);

        fs::remove_file(root.join("gone")).unwrap();
        fs::write(root.join("a/one"), "2").unwrap();
        fs::write(root.join("new"), "n").unwrap();
        let untouched = fs::metadata(copy.join(".gitignore")).unwrap().modified().unwrap();
        mirror(root, None, &copy).unwrap();
        assert_eq!(files(&copy), [".gitignore", "a/one", "new"]);
        assert_eq!(fs::read_to_string(copy.join("a/one")).unwrap(), "2");
        assert_eq!(fs::metadata(copy.join(".gitignore")).unwrap().modified().unwrap(), untouched);

        mirror(root, Some("HEAD"), &copy).unwrap();
        assert_eq!(files(&copy), [".gitignore", "a/one", "gone"]);
        assert_eq!(fs::read_to_string(copy.join("a/one")).unwrap(), "1");
        let error = mirror(root, Some("no-such"), &copy).unwrap_err().to_string();
        assert!(error.contains("rev:no-such"), "{error}");
    }

    #[test]
    fn outside_a_checkout_it_says_what_it_needs() {
        let (root, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = mirror(root.path(), None, copy.path()).unwrap_err().to_string();
        assert!(error.contains("git checkout"), "{error}");
    }
}
