//! Tables of open loops: every stack is offered the same calls per second, so that cost and times are those of one load.

use bench_core::record::{ProcessUse, Record};
use bench_core::units::{NOTHING, grouped, percent, three_digits};

use super::columns::{CPU_PER_CALL, Column, LAST, Side, identity};
use super::rows::Row;

/// Columns of a table with these rows: the cost of a call first.
pub fn columns(rows: &[Row]) -> Vec<Column> {
    let mut columns = identity(rows);
    columns.extend(CPU_PER_CALL);
    columns.push(Column::numbers("sent/offered", |row| {
        sent_share(row).map_or(NOTHING.to_owned(), percent)
    }));
    columns.extend(TIMES);
    columns.extend(COST);
    columns.extend(LAST);
    columns
}

/// Percentiles of all rounds. Only the last one is a service time: what the server and the library took once the call was made.
const TIMES: [Column; 5] = [
    Column::numbers("response p50", |row| row.response_time(|times| times.p50)),
    Column::numbers("p99", |row| row.response_time(|times| times.p99)),
    Column::numbers("p99.9", |row| row.response_time(|times| times.p99_9)),
    Column::numbers("max", |row| row.response_time(|times| times.max)),
    Column::numbers("service p99", |row| row.service_time(|times| times.p99)),
];

const COST: [Column; 2] = [
    Column::numbers("switches/call", |row| {
        let side = |side: Side| row.mean(|record| switches_per_call(side(record).as_ref()?));
        let both = |record: &Record| Some(switches_per_call(record.client.as_ref()?)? + switches_per_call(record.server.as_ref()?)?);
        match (row.mean(both), side(|record| &record.client), side(|record| &record.server)) {
            (Some(sum), Some(client), Some(server)) => {
                format!("{} ({}+{})", three_digits(sum), three_digits(client), three_digits(server))
            }
            _ => NOTHING.to_owned(),
        }
    }),
    Column::numbers("bytes/call sent / received", |row| {
        let bytes = |figure: fn(&Record) -> Option<f64>| row.mean(figure).map_or(NOTHING.to_owned(), grouped);
        format!(
            "{} / {}",
            bytes(|record| record.wire_bytes_sent_per_call),
            bytes(|record| record.wire_bytes_received_per_call)
        )
    }),
];

/// Share of the due calls that were made, of all rounds; `None` for an INVALID row.
fn sent_share(row: &Row) -> Option<f64> {
    let sum = |figure: fn(&Record) -> u64| row.figures(|record| Some(figure(record) as f64)).into_iter().sum::<f64>();
    let due = sum(|record| record.calls.due);
    let not_made = sum(|record| record.calls.unsent + record.calls.dropped);
    (due > 0.0).then(|| (due - not_made) / due)
}

/// Context switches of a process for each call. Switches and CPU are read together, so that the calls of that time are the CPU used by the
/// CPU per call; a record names them nowhere else, and the server's are not those of the window.
fn switches_per_call(side: &ProcessUse) -> Option<f64> {
    let cpu_us = (side.cpu_user_s + side.cpu_sys_s) * 1e6;
    (cpu_us > 0.0).then_some(side.context_switches as f64 * side.cpu_us_per_call? / cpu_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_shared_out_among_the_calls_that_the_cpu_was_used_for() {
        let mut side = ProcessUse {
            cpu_user_s: 0.75,
            cpu_sys_s: 0.25,
            // So a million microseconds were 50,000 calls.
            cpu_us_per_call: Some(20.0),
            peak_rss_bytes: 1,
            context_switches: 150_000,
            allocations_per_call: None,
            threads: 1,
            cpus: None,
        };
        assert_eq!(switches_per_call(&side), Some(3.0));
        side.cpu_us_per_call = None;
        assert_eq!(switches_per_call(&side), None);
        (side.cpu_us_per_call, side.cpu_user_s, side.cpu_sys_s) = (Some(0.0), 0.0, 0.0);
        assert_eq!(switches_per_call(&side), None);
    }
}
