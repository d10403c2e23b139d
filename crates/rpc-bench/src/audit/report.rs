//! What an audit says: as data, and as text.

use std::fmt::Write as _;

use bench_core::units::NOTHING;
use bench_core::verdict::Verdict;
use serde::Serialize;

use super::facts::Column;
use super::printed::Digits;
use crate::report::table::{Align, Table};

/// One row and what is to be thought of it.
#[derive(Clone, Debug, Serialize)]
pub struct AuditedRow {
    /// Line in the file; of records their number.
    pub line: u64,
    /// Its name.
    pub name: String,
    /// `null` when nothing could be checked.
    pub verdict: Option<Verdict>,
    /// Why it is not VALID.
    pub reasons: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Names of the checks that had what they need.
    pub checked: Vec<&'static str>,
}

/// Rows that stand together.
#[derive(Clone, Debug, Serialize)]
pub struct AuditedTable {
    /// Line of its header; `null` for records.
    pub line: Option<u64>,
    /// What its columns were taken for; none for records.
    pub columns: Vec<Column>,
    /// How its times were read; `null` for records.
    pub digits: Option<Digits>,
    /// Its rows.
    pub rows: Vec<AuditedRow>,
}

/// One file.
#[derive(Clone, Debug, Serialize)]
pub struct AuditedFile {
    /// As it was given.
    pub path: String,
    /// Its tables.
    pub tables: Vec<AuditedTable>,
}

/// Rows by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Nothing speaks against them.
    pub valid: usize,
    /// Doubtful.
    pub suspect: usize,
    /// Wrong.
    pub invalid: usize,
    /// Nothing could be checked.
    pub unchecked: usize,
}

/// All files.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// Share by which figures of separate runs may miss each other.
    pub tolerance: f64,
    /// One by one.
    pub files: Vec<AuditedFile>,
    /// Together.
    pub summary: Summary,
}

impl Audit {
    /// Counts the rows of the files.
    pub fn of(files: Vec<AuditedFile>, tolerance: f64) -> Self {
        let mut summary = Summary::default();
        for row in files.iter().flat_map(|file| &file.tables).flat_map(|table| &table.rows) {
            *match row.verdict {
                Some(Verdict::Valid) => &mut summary.valid,
                Some(Verdict::Suspect) => &mut summary.suspect,
                Some(Verdict::Invalid) => &mut summary.invalid,
                None => &mut summary.unchecked,
            } += 1;
        }
        Self { tolerance, files, summary }
    }

    /// For people. Writing to a string cannot fail.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            for table in &file.tables {
                one_table(&file.path, table, &mut text);
            }
        }
        let Summary {
            valid,
            suspect,
            invalid,
            unchecked,
        } = self.summary;
        let _ = writeln!(
            text,
            "{} rows: {valid} VALID, {suspect} SUSPECT, {invalid} INVALID, {unchecked} with nothing to check",
            valid + suspect + invalid + unchecked
        );
        if self.files.iter().flat_map(|file| &file.tables).any(|table| table.line.is_some()) {
            let _ = writeln!(
                text,
                "Tolerance between figures that may be from separate runs: {} % (--tolerance). VALID means possible, not right.",
                self.tolerance * 100.0
            );
        }
        text
    }
}

fn one_table(path: &str, table: &AuditedTable, text: &mut String) {
    let _ = match table.line {
        Some(line) => writeln!(text, "{path}, table at line {line}\n"),
        None => writeln!(text, "{path}, records\n"),
    };
    if !table.columns.is_empty() {
        let mut columns = Table::new([("  column", Align::Left), ("is taken for", Align::Left)]);
        for column in &table.columns {
            columns.row([format!("  {}", column.header), column.taken_for.clone()]);
        }
        let _ = writeln!(text, "{}", columns.text());
    }
    if table.digits == Some(Digits::Cut) {
        text.push_str("  Times may be cut off, not rounded: each stands for a whole unit of its last place either way (--digits).\n\n");
    }
    let with_line = if table.line.is_some() { "line" } else { "record" };
    let mut rows = Table::new([
        (with_line, Align::Right),
        ("row", Align::Left),
        ("verdict", Align::Left),
        ("checked", Align::Left),
    ]);
    for row in &table.rows {
        let verdict = row.verdict.map_or(NOTHING.to_owned(), |verdict| verdict.to_string());
        rows.row([row.line.to_string(), row.name.clone(), verdict, row.checked.join(", ")]);
    }
    let _ = writeln!(text, "{}", rows.text());
    for row in &table.rows {
        for (what, words) in row
            .reasons
            .iter()
            .map(|reason| ("", reason))
            .chain(row.notes.iter().map(|note| ("note: ", note)))
        {
            let _ = writeln!(text, "- {with_line} {}: {what}{words}", row.line);
        }
    }
    if table.rows.iter().any(|row| !(row.reasons.is_empty() && row.notes.is_empty())) {
        text.push('\n');
    }
}
