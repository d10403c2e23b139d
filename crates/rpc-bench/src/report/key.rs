//! What a row is: its place among the tables, and its name in notes.

use bench_core::lane::Lane;

use crate::records::SweepRecord;
use crate::sweep::cell::Cell;
use crate::sweep::connections::Connections;
use crate::sweep::pace::Pace;

/// What tells one row from another.
#[derive(Clone, Debug, PartialEq)]
pub struct RowKey {
    /// Simulated delay in milliseconds; `None` where the server did not say.
    pub delay_ms: Option<f64>,
    /// Workload.
    pub workload: String,
    /// Size of the request's message in bytes.
    pub payload_bytes: u64,
    /// What was offered; `None` for a closed loop.
    pub pace: Option<Pace>,
    /// Concurrent callers.
    pub callers: u64,
    /// Own connections, or shared ones.
    pub connections: Connections,
    /// Short name of the stack.
    pub framework: String,
    /// `transport/codec`.
    pub wire: String,
    /// Lane of both sides.
    pub lane: Lane,
    /// What was asked for, where a sweep did.
    pub cell: Option<Cell>,
}

/// What a name may need besides framework, wire and callers; empty where nothing was asked for.
const PARTS: [fn(&RowKey) -> String; 4] = [
    |key| match key.connections {
        Connections::PerCaller => String::new(),
        Connections::Shared(number) => format!("over {number}"),
    },
    |key| match key.lane {
        Lane::Default => String::new(),
        Lane::Tuned => Lane::Tuned.to_string(),
    },
    |key| key.server_options().unwrap_or_default(),
    |key| key.threads().map_or(String::new(), |threads| format!("threads {threads}")),
];

impl RowKey {
    pub(super) fn of(sweep_record: &SweepRecord) -> Self {
        let SweepRecord { record, cell } = sweep_record;
        let shared = u32::try_from(record.connections)
            .ok()
            .filter(|&n| u64::from(n) < record.concurrency);
        let connections = shared.map_or(Connections::PerCaller, Connections::Shared);
        Self {
            delay_ms: cell
                .as_ref()
                .map(|cell| cell.delay_us as f64 / 1000.0)
                .or(record.delay_requested_ms),
            workload: record.workload.clone(),
            payload_bytes: record.payload_bytes,
            pace: Pace::of(record),
            callers: cell.as_ref().map_or(record.concurrency, |cell| cell.callers),
            connections: cell.as_ref().map_or(connections, |cell| cell.connections),
            framework: record.framework.clone(),
            wire: record.wire.clone(),
            lane: record.lane,
            cell: cell.clone(),
        }
    }

    pub(super) fn of_cell(cell: &Cell, payload_bytes: u64) -> Self {
        Self {
            delay_ms: Some(cell.delay_us as f64 / 1000.0),
            workload: cell.workload.clone(),
            payload_bytes: cell.payload_bytes.unwrap_or(payload_bytes),
            pace: cell.pace,
            callers: cell.callers,
            connections: cell.connections,
            framework: cell.framework.clone(),
            wire: cell.wire.clone(),
            lane: cell.lane,
            cell: Some(cell.clone()),
        }
    }

    /// Rows with the same callers stand together, own connections before shared ones.
    pub(super) fn order(&self) -> impl Ord + use<'_> {
        (
            self.callers,
            self.connections,
            &self.framework,
            &self.wire,
            self.lane,
            self.cell.as_ref().map(|cell| {
                (
                    cell.server_runtime,
                    cell.server_threads,
                    cell.yields,
                    cell.client_threads,
                    cell.measure_ms,
                )
            }),
        )
    }

    /// True when the handler answers at once.
    pub fn without_delay(&self) -> bool {
        self.delay_ms == Some(0.0)
    }

    /// Threads that were asked for, where any were.
    pub fn threads(&self) -> Option<String> {
        self.cell.as_ref()?.threads()
    }

    /// What was asked of the server beyond its defaults, where anything was.
    pub fn server_options(&self) -> Option<String> {
        self.cell.as_ref()?.server_options()
    }

    /// Whether two rows stand in the same table.
    pub fn same_table(&self, other: &Self) -> bool {
        let table = |key: &Self| (key.delay_ms, key.workload.clone(), key.payload_bytes, key.pace);
        table(self) == table(other)
    }

    /// Framework and wire, and as much of the rest as tells the row from `others`, which it stands with; without the callers, which stand
    /// beside it.
    pub fn name<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> String {
        format!("{} {}{}", self.framework, self.wire, self.differing_parts(others))
    }

    /// The same with the callers: `grpc h2/protobuf c=100 over 10`.
    pub fn name_with_callers<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> String {
        format!(
            "{} {} c={}{}",
            self.framework,
            self.wire,
            self.callers,
            self.differing_parts(others)
        )
    }

    /// What is not the same of all rows, each with a space before it. How long a row was measured is for those that nothing else tells
    /// apart.
    fn differing_parts<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> String {
        let own = PARTS.iter().map(|part| (part, part(self)));
        let differing = own.filter(|(part, own)| !own.is_empty() && others.clone().any(|other| part(other) != *own));
        let parts: String = differing.map(|(_, own)| format!(" {own}")).collect();
        let same_otherwise = |other: &Self| {
            (&self.framework, &self.wire, self.callers) == (&other.framework, &other.wire, other.callers)
                && PARTS.iter().all(|part| part(self) == part(other))
        };
        match others.clone().any(|other| same_otherwise(other) && self.length() != other.length()) {
            true => format!("{parts} {}", self.length()),
            false => parts,
        }
    }

    fn length(&self) -> String {
        self.cell.as_ref().map_or("not in a sweep".to_owned(), Cell::length)
    }
}

#[cfg(test)]
mod tests {
    use bench_core::runtime::RuntimeKind;

    use super::super::rows::rows;
    use super::*;
    use crate::sweep::failed::tests::{example_cell, example_record};

    fn names(cells: &[Cell]) -> Vec<String> {
        let record = |cell: &Cell| {
            let mut example = example_record();
            example.record.lane = cell.lane;
            example.cell = Some(cell.clone());
            example
        };
        let rows = rows(cells.iter().map(record).collect(), &[]).unwrap();
        let keys = || rows.iter().map(|row| &row.key);
        keys().map(|key| key.name_with_callers(keys())).collect()
    }

    #[test]
    fn a_name_has_what_tells_the_rows_of_a_table_apart_and_no_more() {
        let wire = "tcp tcp/protobuf c=50";
        let tuned = Cell {
            lane: Lane::Tuned,
            ..example_cell()
        };
        assert_eq!(names(std::slice::from_ref(&tuned)), [wire]);
        let differing = [
            example_cell(),
            Cell {
                callers: 60,
                ..example_cell()
            },
            Cell {
                measure_ms: 2500,
                ..example_cell()
            },
            Cell {
                server_threads: Some(2),
                ..example_cell()
            },
            Cell {
                client_threads: Some(2),
                ..tuned.clone()
            },
            tuned,
            Cell {
                connections: Connections::Shared(4),
                yields: true,
                server_runtime: Some(RuntimeKind::Multi),
                ..example_cell()
            },
        ];
        let mut names = names(&differing);
        names.sort();
        let mut expected = [
            format!("{wire} 1.00 s after 0.10 s of warm-up"),
            format!("{wire} 2.50 s after 0.10 s of warm-up"),
            "tcp tcp/protobuf c=60".to_owned(),
            format!("{wire} threads 2+default"),
            format!("{wire} tuned threads default+2"),
            format!("{wire} tuned"),
            format!("{wire} over 4 yield, multi"),
        ];
        expected.sort();
        assert_eq!(names, expected);
    }
}
