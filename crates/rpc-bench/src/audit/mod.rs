//! Whether figures can be true: our own records by what they hold, foreign tables by what their printed digits can stand for.
//!
//! A row that passes is possible, which is not the same as right. What no table can show: figures that are all wrong in the same way, a
//! p99 that is another percentile but stands in order, failed calls or connecting time inside the figures, waiting that was not measured.

pub mod check;
pub mod columns;
pub mod facts;
pub mod interval;
pub mod overrides;
pub mod own;
pub mod printed;
pub mod quantity;
pub mod report;
pub mod tables;
pub mod unit;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::sweep::folder;
use crate::usage::usage_error;
use check::{Judgement, Rules};
use facts::{Facts, RowFacts, Surroundings};
use report::{AuditedFile, AuditedRow, AuditedTable};

/// Audits a results folder, a file of records, or a text with tables.
///
/// # Errors
/// When it cannot be read, has no table, or nothing in it can be checked: the text says what is missing.
pub fn audit(path: &Path, around: &Surroundings, rules: Rules) -> Result<AuditedFile> {
    let tables = if path.is_dir() {
        vec![of_records(&path.join(folder::RECORDS))?]
    } else {
        let bytes = std::fs::read(path).with_context(|| format!("'{}' cannot be read", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        match text.trim_start().starts_with('{') {
            true => vec![of_records(path)?],
            false => of_text(&text, around, rules).with_context(|| format!("'{}'", path.display()))?,
        }
    };
    Ok(AuditedFile {
        path: path.display().to_string(),
        tables,
    })
}

fn of_records(path: &Path) -> Result<AuditedTable> {
    let rows = own::audit(path)?;
    if rows.is_empty() {
        bail!("'{}' has no records yet", path.display());
    }
    Ok(AuditedTable {
        line: None,
        columns: Vec::new(),
        digits: None,
        rows,
    })
}

fn of_text(text: &str, around: &Surroundings, rules: Rules) -> Result<Vec<AuditedTable>> {
    let raw = tables::find(text)?;
    for told in &around.overrides {
        let names =
            |header: &String| printed::undecorated(header).to_lowercase() == told.header || header.trim().to_lowercase() == told.header;
        if !raw.iter().flat_map(|table| &table.header).any(names) {
            return Err(usage_error(format!("--columns: no table has a column '{}'", told.header)));
        }
    }
    let facts: Vec<Facts> = raw.iter().map(|table| Facts::of(table, around)).collect();
    let audited: Vec<AuditedTable> = facts.iter().map(|facts| of_facts(facts, rules)).collect();
    // A text may have tables of other things; all is well if one of them has figures.
    let checked: Vec<AuditedTable> = audited
        .into_iter()
        .filter(|table| table.rows.iter().any(|row| row.verdict.is_some()))
        .collect();
    if checked.is_empty() {
        bail!("{}", nothing_to_check(&facts));
    }
    Ok(checked)
}

fn of_facts(facts: &Facts, rules: Rules) -> AuditedTable {
    let rows = facts
        .rows
        .iter()
        .zip(check::judge(facts, rules))
        .map(|(row, judgement)| audited_row(row, judgement))
        .collect();
    AuditedTable {
        line: Some(facts.line),
        columns: facts.columns.clone(),
        digits: Some(facts.digits),
        rows,
    }
}

fn audited_row(row: &RowFacts, judgement: Judgement) -> AuditedRow {
    AuditedRow {
        line: row.line,
        name: row.name.clone(),
        verdict: judgement.verdict(),
        reasons: judgement.invalid.into_iter().chain(judgement.suspect).collect(),
        notes: judgement.notes,
        checked: judgement.checked,
    }
}

fn nothing_to_check(tables: &[Facts]) -> String {
    let recognised: Vec<String> = (tables.iter().flat_map(|table| &table.columns))
        .map(|column| format!("'{}' ({})", column.header, column.taken_for))
        .collect();
    let mut text =
        "nothing in it can be checked: that takes two figures of a row that bound each other, as throughput and callers, two percentiles, \
                    mean and a percentile, times and --delay, ok and calls; --callers, --calls and --delay give what stands outside the \
                    table, --unit the unit of times without one, --columns NAME=FIGURE the meaning of a column"
            .to_owned();
    if !recognised.is_empty() {
        text.push_str("; its columns: ");
        text.push_str(&recognised.join(", "));
    }
    text
}
