//! Tables of closed loops: each caller makes its next call when the last one has answered.

use bench_core::units::{NOTHING, grouped, percent, spread, time};

use super::columns::{CPU_PER_CALL, Column, LAST, has_server_options, identity};
use super::rows::{Row, RowKey};

/// Columns of a table with these rows.
pub fn columns(key: &RowKey, rows: &[Row]) -> Vec<Column> {
    let mut columns = identity(rows);
    columns.push(Column::numbers("throughput/s", |row| {
        spread(&row.figures(|record| record.throughput_per_s), grouped)
    }));
    columns.push(if key.without_delay() {
        Column::numbers("of floor", |row| {
            spread(&row.figures(|record| record.floor_ratio), |ratio| format!("{ratio:.3}"))
        })
    } else {
        Column::numbers("of theory", |row| spread(&row.figures(|record| record.theoretical_share), percent))
    });
    columns.extend(TIMES);
    if key.without_delay() {
        columns.push(JAIN);
        if has_server_options(rows) {
            // Whom a yield or a runtime serves is what such rows are run for.
            columns.push(CALLS_PER_CALLER);
        }
    }
    columns.extend(CPU_PER_CALL);
    columns.extend(LAST);
    columns
}

/// Service times of all rounds.
const TIMES: [Column; 6] = [
    Column::numbers("mean", |row| {
        row.times.as_ref().map_or(NOTHING.to_owned(), |times| time(times.mean))
    }),
    Column::numbers("median", |row| row.service_time(|times| times.p50)),
    Column::numbers("p90", |row| row.service_time(|times| times.p90)),
    Column::numbers("p99", |row| row.service_time(|times| times.p99)),
    Column::numbers("p99.9", |row| row.service_time(|times| times.p99_9)),
    Column::numbers("max", |row| row.service_time(|times| times.max)),
];

/// Jain's index of the calls per caller, the least of the rounds: a caller that starved once is not to vanish in a median.
const JAIN: Column = Column::numbers("Jain", |row| {
    let indices = row.figures(|record| Some(record.calls_per_caller.as_ref()?.jain_index));
    let least = indices.into_iter().min_by(f64::total_cmp);
    least.map_or(NOTHING.to_owned(), |index| format!("{index:.3}"))
});

/// Calls of the callers that had least and most, of all rounds.
const CALLS_PER_CALLER: Column = Column::numbers("calls/caller", |row| {
    let least = row.figures(|record| Some(record.calls_per_caller.as_ref()?.min as f64));
    let most = row.figures(|record| Some(record.calls_per_caller.as_ref()?.max as f64));
    match (least.into_iter().min_by(f64::total_cmp), most.into_iter().max_by(f64::total_cmp)) {
        (Some(least), Some(most)) => format!("{}–{}", grouped(least), grouped(most)),
        _ => NOTHING.to_owned(),
    }
});
