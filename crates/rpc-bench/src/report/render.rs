//! From rows to text: one table for each delay, rate and workload, with what a reader must know to read it.

use std::fmt::Write;

use bench_core::units::{calls_per_s, grouped};

use super::columns::{Column, identity};
use super::cpus::usual_split;
use super::notes::notes;
use super::rows::{Row, RowKey};
use super::table::Table;
use super::{closed, open};

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
    let columns = match key.pace {
        Some(_) => open::columns(rows),
        None => closed::columns(key, rows),
    };
    let of_identity = identity(rows).len();
    let mut table = Table::new(columns.iter().map(|column| (column.name, column.align)));
    for row in rows {
        table.row(cells(row, &columns, of_identity));
    }
    let heading = format!("{}; {}", heading_of(key), usual_split(rows));
    // Writing to a string cannot fail.
    let _ = match form {
        Form::Text => writeln!(text, "{heading}\n\n{}", table.text()),
        Form::Markdown => writeln!(text, "### {heading}\n\n{}", table.markdown()),
    };
    let notes = notes(key, rows);
    for note in &notes {
        let _ = writeln!(text, "- {note}");
    }
    if !notes.is_empty() {
        text.push('\n');
    }
}

/// What the rows of a table have in common.
pub fn heading_of(key: &RowKey) -> String {
    let delay = key.delay_ms.map_or("unknown delay".to_owned(), |delay| format!("{delay} ms"));
    let offered = key.pace.map_or(String::new(), |pace| {
        format!(", offered {}/s, {} arrivals", calls_per_s(pace.rate_per_s()), pace.arrival)
    });
    format!("{delay}, {}, {} bytes{offered}", key.workload, grouped(key.payload_bytes as f64))
}

/// The cells of a row; one that is not offered says so in place of its figures.
fn cells(row: &Row, columns: &[Column], of_identity: usize) -> Vec<String> {
    let cell = |column: &Column| (column.cell)(row);
    if row.not_offered.is_some() {
        let identity = columns.iter().take(of_identity).map(cell);
        return identity.chain(["not offered".to_owned()]).collect();
    }
    columns.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;
    use bench_core::arrival::Arrival;
    use bench_core::record::{CallsPerCaller, ProcessUse};
    use bench_core::runtime::RuntimeKind;

    use crate::records::SweepRecord;
    use crate::sweep::cell::Cell;
    use crate::sweep::connections::Connections;
    use crate::sweep::expand::NotOffered;
    use crate::sweep::failed::tests::{example_cell, example_record, failed_record};
    use crate::sweep::pace::Pace;

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

framework  wire          lane     callers  connections  throughput/s  of floor    mean  median     p90     p99    p99.9      max  Jain  CPU µs/call  client+server  RSS client / server  failed  bound by  verdict
grpc       tcp/protobuf  default       50           50           n/a       n/a     n/a     n/a     n/a     n/a      n/a      n/a   n/a          n/a            n/a            n/a / n/a       0  n/a       INVALID
tcp        tcp/protobuf  default       50           50         1,000     0.500  500 µs  500 µs  900 µs  990 µs  1.00 ms  1.00 ms   n/a         23.5            n/a            n/a / n/a       0  n/a       VALID
tcp        tcp/protobuf  default       50     4 shared   not offered

- Closed loop without a delay: the time of a call is callers / throughput; compare the CPU per call.
- grpc tcp/protobuf c=50: INVALID: round 1: the run could not be made: the server did not start, no call succeeded
- tcp tcp/protobuf c=50 over 4: not offered: one call at a time

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

    /// One round of an open loop of 2,000 calls a second, half as many as the example's callers could make.
    fn offered(round: u64, cpu: f64) -> SweepRecord {
        let mut example = example_record();
        let pace = Pace::new(2000.0, Arrival::Poisson);
        example.cell.as_mut().unwrap().pace = Some(pace);
        let record = &mut example.record;
        record.round = Some(round);
        (record.rate_per_s, record.arrival) = (Some(2000.0), Some("poisson".to_owned()));
        record.response_time_ns = record.service_time_ns.clone();
        (record.calls.due, record.calls.unsent, record.calls.in_flight) = (2000, 500, 500);
        record.floor_ratio = None;
        record.cpu_us_per_call_sum = Some(cpu);
        let side = |share: f64, context_switches| ProcessUse {
            cpu_user_s: cpu * share / 1e3,
            cpu_sys_s: 0.0,
            cpu_us_per_call: Some(cpu * share),
            peak_rss_bytes: 8 << 20,
            context_switches,
            allocations_per_call: None,
            threads: 1,
            cpus: None,
        };
        (record.client, record.server) = (Some(side(0.6, 2000)), Some(side(0.4, 500)));
        (record.wire_bytes_sent_per_call, record.wire_bytes_received_per_call) = (Some(585.0), Some(531.0));
        example
    }

    #[test]
    fn what_was_offered_at_a_rate_stands_in_a_table_of_its_own() {
        let mut failed = failed_record();
        failed.record.framework = "grpc".to_owned();
        (failed.record.rate_per_s, failed.record.arrival) = (Some(2000.0), Some("poisson".to_owned()));
        failed.cell.as_mut().unwrap().pace = Some(Pace::new(2000.0, Arrival::Poisson));
        let records = vec![offered(0, 20.0), failed, offered(1, 21.0), example_record()];
        let text = tables(&rows(records, &[]).unwrap(), Form::Text);
        let expected = "\
 2,000/s, poisson arrivals; client on any CPU, server on any CPU

framework  wire          lane     callers  connections       CPU µs/call  client+server  sent/offered  response p50     p99    p99.9      max  service p99     switches/call  bytes/call sent / received  RSS client / server  failed  bound by  verdict
grpc       tcp/protobuf  default       50           50               n/a            n/a           n/a           n/a     n/a      n/a      n/a          n/a               n/a                   n/a / n/a            n/a / n/a       0  n/a       INVALID
tcp        tcp/protobuf  default       50           50  20.5 (20.0–21.0)      12.3+8.20        75.0 %        500 µs  990 µs  1.00 ms  1.00 ms       990 µs  2.50 (2.00+0.50)                   585 / 531  8.00 MiB / 8.00 MiB       0  n/a       VALID

- Open loop: calls are made when they are due, replies or not; response times count from then, service times from when the call was made. Compare the CPU per call.
- Between the rounds of a row (greatest − least, by the median; median of the rows): CPU per call 4.9 % (most 4.9 %).
- grpc tcp/protobuf c=50: INVALID: round 1: the run could not be made: the server did not start, no call succeeded

";
        assert_eq!(text.split_once("0 ms, echo, 581 bytes, offered ").unwrap().1, expected);
        assert!(text.starts_with("0 ms, echo, 581 bytes; CPU sets unknown\n"), "{text}");
    }

    #[test]
    fn a_table_with_a_yield_or_a_runtime_says_so_and_how_the_callers_were_served() {
        let with = |yields: bool, server_runtime: Option<RuntimeKind>, round: u64, calls: [u64; 2]| {
            let mut example = example_record();
            example.record.round = Some(round);
            example.record.calls_per_caller = CallsPerCaller::from_counts(&calls);
            let cell = example.cell.as_mut().unwrap();
            (cell.yields, cell.server_runtime) = (yields, server_runtime);
            example
        };
        let records = vec![
            with(true, Some(RuntimeKind::Multi), 0, [20, 20]),
            with(false, None, 0, [1000, 1000]),
            with(false, None, 1, [900, 1100]),
        ];
        let text = tables(&rows(records, &[]).unwrap(), Form::Markdown);
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = text.lines().filter(|line| line.starts_with("| ")).map(cells).collect();
        let column = |name: &str| lines[0].iter().position(|cell| cell == name).unwrap();
        let shown = |name: &str| [&lines[2][column(name)], &lines[3][column(name)]].map(String::as_str);
        assert_eq!(shown("server"), ["default", "yield, multi"]);
        assert_eq!(shown("Jain"), ["0.990", "1.000"]);
        assert_eq!(shown("calls/caller"), ["900–1,100", "20–20"]);
    }
}
