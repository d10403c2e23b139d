//! From rows to text: one table for each delay and workload, with what a reader must know to read it.

use std::fmt::Write;

use bench_core::record::{BoundBy, ProcessUse, Record};
use bench_core::verdict::Verdict;

use super::rows::{Row, RowKey};
use super::table::{Align, Table};
use crate::sweep::connections::Connections;
use bench_core::units::{NOTHING, grouped, memory, percent, spread, three_digits, time};

/// Form of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Aligned columns for a terminal.
    Text,
    /// Pipe tables.
    Markdown,
}

/// All tables, and what stands above and below each.
pub fn tables(rows: &[Row], form: Form) -> String {
    let mut text = String::new();
    for rows in rows.chunk_by(|a, b| a.key.same_table(&b.key)) {
        if let Some(first) = rows.first() {
            one_table(&first.key, rows, form, &mut text);
        }
    }
    text
}

fn one_table(key: &RowKey, rows: &[Row], form: Form, text: &mut String) {
    let without_delay = key.delay_ms == Some(0.0);
    let delay = key.delay_ms.map_or("unknown delay".to_owned(), |delay| format!("{delay} ms"));
    let heading = format!(
        "{delay}, {}, {} bytes; {}",
        key.workload,
        grouped(key.payload_bytes as f64),
        cpu_split(rows)
    );
    let mut table = Table::new(columns(without_delay, rows.iter().any(|row| threads(row).is_some())));
    for row in rows {
        table.row(cells(row, without_delay, rows));
    }
    // Writing to a string cannot fail.
    let _ = match form {
        Form::Text => writeln!(text, "{heading}\n\n{}", table.text()),
        Form::Markdown => writeln!(text, "### {heading}\n\n{}", table.markdown()),
    };
    let notes = notes(rows, without_delay);
    for note in &notes {
        let _ = writeln!(text, "- {note}");
    }
    if !notes.is_empty() {
        text.push('\n');
    }
}

fn columns(without_delay: bool, with_threads: bool) -> Vec<(&'static str, Align)> {
    let mut columns = vec![("framework", Align::Left), ("wire", Align::Left), ("lane", Align::Left)];
    columns.extend([("callers", Align::Right), ("connections", Align::Right)]);
    if with_threads {
        columns.push(("threads s+c", Align::Right));
    }
    columns.extend(["throughput/s", if without_delay { "of floor" } else { "of theory" }].map(|name| (name, Align::Right)));
    columns.extend(["mean", "median", "p90", "p99", "p99.9", "max"].map(|name| (name, Align::Right)));
    columns.extend([("CPU µs/call (client+server)", Align::Right), ("RSS client / server", Align::Right)]);
    columns.extend([("failed", Align::Right), ("bound by", Align::Left), ("verdict", Align::Left)]);
    columns
}

fn cells(row: &Row, without_delay: bool, rows: &[Row]) -> Vec<String> {
    let key = &row.key;
    let mut cells = vec![
        key.framework.clone(),
        key.wire.clone(),
        key.lane.to_string(),
        grouped(key.callers as f64),
    ];
    cells.push(match key.connections {
        Connections::PerCaller => grouped(key.callers as f64),
        Connections::Shared(number) => format!("{} shared", grouped(f64::from(number))),
    });
    if rows.iter().any(|row| threads(row).is_some()) {
        cells.push(threads(row).unwrap_or_else(|| "default".to_owned()));
    }
    if row.not_offered.is_some() {
        cells.push("not offered".to_owned());
        return cells;
    }
    cells.push(spread(&row.figures(|record| record.throughput_per_s), grouped));
    cells.push(if without_delay {
        spread(&row.figures(|record| record.floor_ratio), |ratio| format!("{ratio:.3}"))
    } else {
        spread(&row.figures(|record| record.theoretical_share), percent)
    });
    cells.extend(match &row.times {
        Some(times) => [
            times.mean,
            times.p50 as f64,
            times.p90 as f64,
            times.p99 as f64,
            times.p99_9 as f64,
            times.max as f64,
        ]
        .map(time),
        None => [NOTHING; 6].map(str::to_owned),
    });
    cells.push(cpu_per_call(row));
    cells.push(format!(
        "{} / {}",
        peak_rss(row, |record| &record.client),
        peak_rss(row, |record| &record.server)
    ));
    cells.push(grouped(row.failed() as f64));
    cells.push(row.bound_by().into_iter().map(bound_name).collect::<Vec<_>>().join(", "));
    cells.push(row.verdict().map_or(NOTHING.to_owned(), |verdict| verdict.to_string()));
    cells
}

/// `23.5 (11.0+12.5)`: the sum is the figure to compare, the split is approximate on loopback.
fn cpu_per_call(row: &Row) -> String {
    let Some(sum) = row.mean(|record| record.cpu_us_per_call_sum) else {
        return NOTHING.to_owned();
    };
    let side = |side: fn(&Record) -> &Option<ProcessUse>| row.mean(|record| side(record).as_ref()?.cpu_us_per_call);
    match (side(|record| &record.client), side(|record| &record.server)) {
        (Some(client), Some(server)) => {
            format!("{} ({}+{})", three_digits(sum), three_digits(client), three_digits(server))
        }
        _ => three_digits(sum),
    }
}

fn peak_rss(row: &Row, side: fn(&Record) -> &Option<ProcessUse>) -> String {
    let peaks = row
        .records
        .iter()
        .filter_map(|record| side(record).as_ref().map(|side| side.peak_rss_bytes));
    peaks.max().map_or(NOTHING.to_owned(), memory)
}

fn threads(row: &Row) -> Option<String> {
    row.key.cell.as_ref()?.threads()
}

fn bound_name(bound: BoundBy) -> &'static str {
    match bound {
        BoundBy::Server => "server",
        BoundBy::Client => "client",
        BoundBy::SharedCpu => "shared-cpu",
        BoundBy::WakeUp => "wake-up",
        BoundBy::Delay => "delay",
        BoundBy::Limit => "limit",
        BoundBy::Generator => "generator",
        BoundBy::Unknown => NOTHING,
    }
}

/// `client on CPU 0, server on CPU 1`.
/// The CPUs of most rows, for the heading.
fn cpu_split(rows: &[Row]) -> String {
    let mut splits: Vec<(String, usize)> = Vec::new();
    for split in rows.iter().filter_map(split_of) {
        match splits.iter_mut().find(|(known, _)| *known == split) {
            Some((_, rows)) => *rows += 1,
            None => splits.push((split, 1)),
        }
    }
    // The first of the most frequent ones.
    let most = splits.iter().rev().max_by_key(|(_, rows)| *rows);
    most.map_or("CPU sets unknown".to_owned(), |(split, _)| split.clone())
}

/// On which CPUs the two sides of a row ran.
fn split_of(row: &Row) -> Option<String> {
    let mut splits: Vec<String> = Vec::new();
    for record in &row.records {
        let (Some(client), Some(server)) = (&record.client, &record.server) else {
            continue;
        };
        let split = format!("client {}, server {}", on_cpus(client), on_cpus(server));
        if !splits.contains(&split) {
            splits.push(split);
        }
    }
    (!splits.is_empty()).then(|| splits.join(" and "))
}

fn on_cpus(side: &ProcessUse) -> String {
    match side.cpus.as_deref() {
        None => "on any CPU".to_owned(),
        Some([one]) => format!("on CPU {one}"),
        Some(cpus) => format!("on CPUs {}", cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// What stands below the table: why rows are not VALID, what is not offered, rows on other CPUs than most, and how to read a saturated
/// closed loop.
fn notes(rows: &[Row], without_delay: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if without_delay {
        notes.push("Closed loop without a delay: the time of a call is callers / throughput; compare the CPU per call.".to_owned());
    }
    let usual = cpu_split(rows);
    for row in rows {
        let name = format!(
            "{} {} c={} {}",
            row.key.framework, row.key.wire, row.key.callers, row.key.connections
        );
        if let Some(reason) = &row.not_offered {
            notes.push(format!("{name}: not offered: {reason}"));
        }
        if let Some(split) = split_of(row).filter(|split| *split != usual) {
            notes.push(format!("{name}: {split}"));
        }
        for verdict in [Verdict::Invalid, Verdict::Suspect] {
            let reasons = reasons(row, verdict);
            if !reasons.is_empty() {
                notes.push(format!("{name}: {verdict}: {}", reasons.join("; ")));
            }
        }
    }
    notes
}

/// Why the rounds with this verdict have it.
fn reasons(row: &Row, verdict: Verdict) -> Vec<String> {
    let of_round = |record: &Record| {
        let reasons = record.verdict_reasons.join(", ");
        record
            .round
            .map_or(reasons.clone(), |round| format!("round {}: {reasons}", round + 1))
    };
    let with_verdict = row.records.iter().filter(|record| record.verdict == verdict);
    with_verdict.map(of_round).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;
    use crate::sweep::cell::Cell;
    use crate::sweep::expand::NotOffered;
    use crate::sweep::failed::tests::{example_cell, example_record, failed_record};

    #[test]
    fn a_table_shows_figures_and_says_below_what_is_missing_and_why() {
        let mut failed = failed_record();
        failed.record.framework = "grpc".to_owned();
        let shared = Cell {
            connections: Connections::Shared(4),
            ..example_cell()
        };
        let skipped = NotOffered {
            reason: "one call at a time".to_owned(),
            cell: shared,
        };
        let rows = rows(vec![example_record(), failed], &[skipped]).unwrap();
        let expected = "\
0 ms, echo, 581 bytes; CPU sets unknown

framework  wire          lane     callers  connections  throughput/s  of floor    mean  median     p90     p99    p99.9      max  CPU µs/call (client+server)  RSS client / server  failed  bound by  verdict
grpc       tcp/protobuf  default       50           50           n/a       n/a     n/a     n/a     n/a     n/a      n/a      n/a                          n/a            n/a / n/a       0  n/a       INVALID
tcp        tcp/protobuf  default       50           50         1,000     0.500  500 µs  500 µs  900 µs  990 µs  1.00 ms  1.00 ms                         23.5            n/a / n/a       0  n/a       VALID
tcp        tcp/protobuf  default       50     4 shared   not offered

- Closed loop without a delay: the time of a call is callers / throughput; compare the CPU per call.
- grpc tcp/protobuf c=50 per-caller: INVALID: round 1: the run could not be made: the server did not start, no call succeeded
- tcp tcp/protobuf c=50 4 shared: not offered: one call at a time

";
        assert_eq!(tables(&rows, Form::Text), expected);
    }

    #[test]
    fn markdown_has_a_heading_for_each_delay_and_workload() {
        let mut delayed = example_record();
        delayed.cell.as_mut().unwrap().delay_us = 10_000;
        delayed.record.theoretical_share = Some(0.987);
        let rows = rows(vec![example_record(), delayed], &[]).unwrap();
        let text = tables(&rows, Form::Markdown);
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(
            headings,
            [
                "### 0 ms, echo, 581 bytes; CPU sets unknown",
                "### 10 ms, echo, 581 bytes; CPU sets unknown",
            ]
        );
        assert!(text.contains("98.7 %"), "{text}");
    }
}
