//! `records.jsonl`: one record a line, appended as cells end.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bench_core::record::{Record, SCHEMA_VERSION};
use serde::{Deserialize, Serialize};

use crate::sweep::cell::Cell;

/// A record as a sweep writes it: with the cell that was asked for. A record of a single run has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// What came out.
    #[serde(flatten)]
    pub record: Record,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Cell>,
}

/// A file of JSON lines that is open for more.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
}

impl Appender {
    /// Opens the file at its end, making it if it is not there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("'{}' cannot be written", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Adds one line, in one write.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn add(&mut self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .with_context(|| format!("'{}' cannot be written (disk full?)", self.path.display()))
    }
}

/// All records of a file.
///
/// # Errors
/// When it cannot be read, or a line is no record: the text names the line.
pub fn read(path: &Path) -> Result<Vec<SweepRecord>> {
    let text = read_text(path)?;
    if !text.is_empty() && !text.ends_with('\n') && serde_json::from_str::<SweepRecord>(last_line(&text)).is_err() {
        bail!(
            "'{}' line {}: the last line is torn (its sweep was killed, or the disk was full); \
             `scripts/run-all.sh --resume` with its folder drops it",
            path.display(),
            text.lines().count()
        );
    }
    // First: what another version holds is not for this one to read.
    for (index, line) in text.lines().enumerate() {
        let version = serde_json::from_str::<Version>(line).ok().map(|version| version.schema_version);
        if let Some(other) = version.filter(|version| *version != SCHEMA_VERSION) {
            bail!(
                "'{}' line {}: schema_version is {other}, but this program reads {SCHEMA_VERSION}: use the rpc-bench that wrote it, or a newer one",
                path.display(),
                index + 1
            );
        }
    }
    parse_lines(path, &text)
}

/// The part of a record that every version has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

/// The lines of a file that is about to be continued, and whether a torn last line was cut off. No file is an empty one.
///
/// # Errors
/// When it cannot be read or cut, or a whole line is damaged.
pub fn read_and_mend<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<(Vec<T>, bool)> {
    if !path.exists() {
        return Ok((Vec::new(), false));
    }
    let bytes = std::fs::read(path).with_context(|| format!("'{}' cannot be read", path.display()))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let torn = whole < bytes.len();
    if torn {
        let file = OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.set_len(whole as u64))
            .with_context(|| format!("the torn last line of '{}' cannot be cut off", path.display()))?;
    }
    let text = String::from_utf8_lossy(&bytes[..whole]);
    Ok((parse_lines(path, &text)?, torn))
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("'{}' cannot be read", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

fn parse_lines<T: for<'de> Deserialize<'de>>(path: &Path, text: &str) -> Result<Vec<T>> {
    (text.lines().enumerate())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| serde_json::from_str(line).with_context(|| format!("'{}' line {}", path.display(), index + 1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::failed::tests::example_record;

    fn file_with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn what_is_added_is_read_again() {
        let (_folder, path) = file_with("");
        let record = example_record();
        let mut file = Appender::open(&path).unwrap();
        file.add(&record).unwrap();
        file.add(&record).unwrap();
        assert_eq!(read(&path).unwrap(), [record.clone(), record]);
    }

    #[test]
    fn a_torn_last_line_is_cut_off_when_a_sweep_goes_on_and_an_error_in_a_report() {
        let line = serde_json::to_string(&example_record()).unwrap();
        let (_folder, path) = file_with(&format!("{line}\n{}", &line[..line.len() / 2]));
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("torn") && error.contains("--resume"),
            "{error}"
        );

        let (records, torn) = read_and_mend::<SweepRecord>(&path).unwrap();
        assert_eq!((records.len(), torn), (1, true));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{line}\n"));
        assert!(!read_and_mend::<SweepRecord>(&path).unwrap().1);
    }

    #[test]
    fn a_bad_line_is_named_by_file_and_number() {
        let line = serde_json::to_string(&example_record()).unwrap();
        let check = |text: String, part: &str| {
            let (_folder, path) = file_with(&text);
            let error = format!("{:#}", read(&path).unwrap_err());
            assert!(error.contains("records.jsonl") && error.contains(part), "{error}");
        };
        check(format!("{line}\n{{}}\n{line}\n"), "line 2");
        check(format!("{line}\nnull\n"), "line 2");
        check(line.replace("\"schema_version\":1", "\"schema_version\":7"), "schema_version is 7");
    }
}
