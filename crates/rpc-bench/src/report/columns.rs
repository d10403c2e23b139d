//! Columns of a table: a name, and how a row's cell is made. Those of every table are here; see closed.rs and open.rs for the others.

use bench_core::record::{ProcessUse, Record};
use bench_core::units::{NOTHING, grouped, memory, spread, three_digits};

use super::rows::Row;
use super::table::Align;
use crate::sweep::connections::Connections;

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What stands at its head.
    pub name: &'static str,
    /// Left for words, right for numbers.
    pub align: Align,
    /// Its text for a row.
    pub cell: fn(&Row) -> String,
}

impl Column {
    /// A column of words.
    pub const fn words(name: &'static str, cell: fn(&Row) -> String) -> Self {
        let align = Align::Left;
        Self { name, align, cell }
    }

    /// A column of numbers.
    pub const fn numbers(name: &'static str, cell: fn(&Row) -> String) -> Self {
        let align = Align::Right;
        Self { name, align, cell }
    }
}

/// What a row is. Threads and options of the server are columns only where a row of the table asked for some.
pub fn identity(rows: &[Row]) -> Vec<Column> {
    let mut columns = vec![
        Column::words("framework", |row| row.key.framework.clone()),
        Column::words("wire", |row| row.key.wire.clone()),
        Column::words("lane", |row| row.key.lane.to_string()),
        Column::numbers("callers", |row| grouped(row.key.callers as f64)),
        Column::numbers("connections", |row| match row.key.connections {
            Connections::PerCaller => grouped(row.key.callers as f64),
            Connections::Shared(number) => format!("{} shared", grouped(f64::from(number))),
        }),
    ];
    if rows.iter().any(|row| row.key.threads().is_some()) {
        columns.push(Column::numbers("threads s+c", |row| row.key.threads().unwrap_or_else(default)));
    }
    if has_server_options(rows) {
        columns.push(Column::words("server", |row| row.key.server_options().unwrap_or_else(default)));
    }
    columns
}

/// Whether a row of the table asked the server to yield, or for a runtime.
pub fn has_server_options(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.key.server_options().is_some())
}

fn default() -> String {
    "default".to_owned()
}

/// CPU per call: the sum is the figure to compare, the split is approximate on loopback.
pub const CPU_PER_CALL: [Column; 2] = [
    Column::numbers("CPU µs/call", |row| {
        spread(&row.figures(|record| record.cpu_us_per_call_sum), three_digits)
    }),
    // Means of the rounds, so that the two have the proportion of all of them.
    Column::numbers("client+server", |row| {
        let side = |side: Side| row.mean(|record| side(record).as_ref()?.cpu_us_per_call);
        match (side(|record| &record.client), side(|record| &record.server)) {
            (Some(client), Some(server)) => format!("{}+{}", three_digits(client), three_digits(server)),
            _ => NOTHING.to_owned(),
        }
    }),
];

/// What stands at the end of every table.
pub const LAST: [Column; 4] = [
    Column::numbers("RSS client / server", |row| {
        format!(
            "{} / {}",
            peak_rss(row, |record| &record.client),
            peak_rss(row, |record| &record.server)
        )
    }),
    Column::numbers("failed", |row| grouped(row.failed() as f64)),
    Column::words("bound by", |row| {
        row.bound_by().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }),
    Column::words("verdict", |row| {
        row.verdict().map_or(NOTHING.to_owned(), |verdict| verdict.to_string())
    }),
];

/// What one of the two processes used.
pub type Side = fn(&Record) -> &Option<ProcessUse>;

fn peak_rss(row: &Row, side: Side) -> String {
    let peaks = row
        .records
        .iter()
        .filter_map(|record| side(record).as_ref().map(|side| side.peak_rss_bytes));
    peaks.max().map_or(NOTHING.to_owned(), memory)
}
