//! The folder of a sweep's results. Nothing in it is ever half written under its final name, `records.jsonl` apart, which grows by lines.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

use super::file::{self, SweepFile};

/// Bytes that a record may take; room for all of them is tried before the load starts.
const BYTES_PER_RECORD: usize = 16 << 10;
/// Names of the files.
pub const RECORDS: &str = "records.jsonl";
/// The floors of each round.
pub const FLOORS: &str = "floor.jsonl";
/// The effective sweep.
pub const SWEEP: &str = "sweep.toml";
/// The machine.
pub const HOST: &str = "host.json";
/// The tables.
pub const README: &str = "README.md";

/// Tries whether `out` can take the results of so many runs, and leaves nothing behind but the folder.
///
/// # Errors
/// When it cannot be made or written, or the disk has no room.
pub fn check_room(out: &Path, runs: usize) -> Result<()> {
    let advice = || format!("results cannot be written to '{}': choose another folder with --out", out.display());
    fs::create_dir_all(out).with_context(advice)?;
    let mut probe = NamedTempFile::new_in(out).with_context(advice)?;
    let block = [b' '; BYTES_PER_RECORD];
    (0..=runs).try_for_each(|_| probe.write_all(&block)).with_context(advice)
}

/// Makes `<date>-<label>-<n>` with the first free number. Two sweeps at once get two folders.
///
/// # Errors
/// When it cannot be made.
pub fn create(out: &Path, date: &str, label: &str) -> Result<PathBuf> {
    for number in 1..=9999 {
        let path = out.join(format!("{date}-{label}-{number}"));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("'{}' cannot be made", path.display())),
        }
    }
    bail!(
        "'{}' has 9999 folders of {date}-{label}: use another --label or --out",
        out.display()
    )
}

/// Writes a file under a temporary name and renames it.
///
/// # Errors
/// When it cannot be written; an older file of that name is then still whole.
pub fn write_whole(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let advice = || format!("'{}' cannot be written (disk full?)", path.display());
    let mut builder = tempfile::Builder::new();
    // As any other file of the folder; a temporary one is private by itself.
    builder.prefix(name).suffix(".tmp").permissions(fs::Permissions::from_mode(0o644));
    let mut file = builder.tempfile_in(folder).with_context(advice)?;
    file.write_all(text.as_bytes()).with_context(advice)?;
    file.persist(&path).with_context(advice)?;
    Ok(())
}

/// The effective sweep of a results folder.
///
/// # Errors
/// When the folder has none.
pub fn read_sweep(folder: &Path) -> Result<SweepFile> {
    file::read(&folder.join(SWEEP)).with_context(|| format!("'{}' is no folder of a sweep", folder.display()))
}

/// Refuses to continue a folder with another sweep than it was begun with.
///
/// # Errors
/// Naming the first line that differs.
pub fn check_same(there: &SweepFile, asked: &SweepFile) -> Result<()> {
    let (there, asked) = (toml::to_string(there)?, toml::to_string(asked)?);
    if there == asked {
        return Ok(());
    }
    let (mut theirs, mut ours) = (there.lines(), asked.lines());
    loop {
        match (theirs.next(), ours.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => {
                let line = |line: Option<&str>| line.unwrap_or("nothing").to_owned();
                return Err(crate::usage::usage_error(format!(
                    "--resume: the folder's {SWEEP} differs from what was asked: it has `{}`, asked was `{}`; \
                     leave the sweep and its options out to continue what was begun",
                    line(a),
                    line(b)
                )));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    #[test]
    fn each_sweep_gets_the_first_free_number() {
        let out = tempfile::tempdir().unwrap();
        let name = || create(out.path(), "2026-12-01", "box").unwrap().file_name().unwrap().to_owned();
        assert_eq!([name(), name()], ["2026-12-01-box-1", "2026-12-01-box-2"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused_with_the_flag_that_helps() {
        let out = tempfile::tempdir().unwrap();
        let file = out.path().join("file");
        fs::write(&file, "").unwrap();
        let error = format!("{:#}", check_room(&file, 3).unwrap_err());
        assert!(error.contains("--out") && error.contains("file"), "{error}");
        check_room(&out.path().join("new/folder"), 3).unwrap();
        assert_eq!(fs::read_dir(out.path().join("new/folder")).unwrap().count(), 0);
    }

    #[test]
    fn a_whole_file_replaces_the_old_one_and_leaves_no_other() {
        let out = tempfile::tempdir().unwrap();
        write_whole(out.path(), README, "old").unwrap();
        write_whole(out.path(), README, "new").unwrap();
        assert_eq!(fs::read_to_string(out.path().join(README)).unwrap(), "new");
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_sweep_is_refused_by_the_line_that_differs() {
        let sweep = |seed: u64| parse(&format!("title = \"t\"\nseed = {seed}\n[[matrix]]\n")).unwrap();
        check_same(&sweep(1), &sweep(1)).unwrap();
        let error = check_same(&sweep(1), &sweep(2)).unwrap_err().to_string();
        assert!(error.contains("`seed = 1`") && error.contains("`seed = 2`"), "{error}");
    }
}
