//! One recorded set: the rows of a results folder, or of a file of records.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use bench_core::record::Record;

use crate::records;
use crate::report::rows::{Row, RowKey, judged_rows};
use crate::sweep::cell::Cell;
use crate::sweep::folder;
use crate::trial;

/// Framework and wire that every other row is compared with.
pub const CONTROL: [&str; 2] = [trial::CONTROL, "tcp+framed/protobuf"];

/// One recorded set.
#[derive(Debug)]
pub struct Set {
    /// Where it was read from.
    pub path: PathBuf,
    rows: Vec<Row>,
}

impl Set {
    /// Reads a results folder or a file of records.
    ///
    /// # Errors
    /// When it cannot be read, has a bad line or none at all: the text names file and line.
    pub fn read(path: &Path) -> Result<Self> {
        let file = if path.is_dir() {
            path.join(folder::RECORDS)
        } else {
            path.to_owned()
        };
        if path.is_dir() && !file.exists() {
            bail!("'{}' is no folder of a sweep: it has no {}", path.display(), folder::RECORDS);
        }
        let records = records::read(&file)?;
        if records.is_empty() {
            bail!("'{}' has no records yet", file.display());
        }
        Ok(Self {
            path: path.to_owned(),
            rows: judged_rows(records, &[]).with_context(|| format!("'{}'", file.display()))?,
        })
    }

    #[cfg(test)]
    pub(super) fn of(records: Vec<records::SweepRecord>) -> Self {
        Self {
            path: PathBuf::from("set"),
            rows: crate::report::rows::rows(records, &[]).unwrap_or_default(),
        }
    }

    /// All rows, in the order of the tables.
    pub fn measured(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// All records.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.rows.iter().flat_map(|row| &row.records)
    }

    /// The row of the same name: as long as that one where there is such a row, or else however long it was measured.
    pub fn row(&self, key: &RowKey) -> Option<&Row> {
        let wanted = without_lengths(key);
        let of_that_name = || self.rows.iter().filter(|row| without_lengths(&row.key) == wanted);
        of_that_name().find(|row| row.key == *key).or_else(|| of_that_name().next())
    }

    /// Rows that can be the control of `of`: raw TCP in the same table with as many callers; the plainest first.
    pub fn controls(&self, of: &RowKey) -> Vec<&Row> {
        let beside = |row: &&Row| row.key.same_table(of) && row.key.callers == of.callers;
        self.rows.iter().filter(|row| is_control(&row.key)).filter(beside).collect()
    }
}

/// Whether a row is of the control's framework and wire.
fn is_control(key: &RowKey) -> bool {
    [key.framework.as_str(), key.wire.as_str()] == CONTROL
}

/// Longer or more windows are no other row.
fn without_lengths(key: &RowKey) -> RowKey {
    let cell = key.cell.clone().map(|cell| Cell {
        measure_ms: 0,
        warmup_ms: 0,
        calls: None,
        ..cell
    });
    RowKey { cell, ..key.clone() }
}
