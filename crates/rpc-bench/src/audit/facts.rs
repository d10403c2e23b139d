//! A foreign table with its figures read: which column is what, and what each row says.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::columns::{Role, recognise};
use super::interval::Interval;
use super::overrides::Override;
use super::printed::{Cell, Digits, Printed, read, undecorated};
use super::quantity::{Kind, Quantity};
use super::tables::RawTable;
use super::unit::Unit;

/// What holds for all rows and stands outside the table. A column of the table comes first.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Columns that their names do not explain.
    pub overrides: Vec<Override>,
    /// Unit of times that have none.
    pub time_unit: Option<Unit>,
    /// Callers of every row.
    pub callers: Option<u64>,
    /// Calls of every row.
    pub calls: Option<u64>,
    /// Simulated delay of every row.
    pub delay: Option<Duration>,
    /// How printed numbers came about; `None` to judge by the times.
    pub digits: Option<Digits>,
}

/// A column and what was made of it.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its name in the table.
    pub header: String,
    /// What it is taken for, in words.
    pub taken_for: String,
    #[serde(skip)]
    role: Role,
}

/// A table that was read.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Line of the header.
    pub line: u64,
    /// All columns.
    pub columns: Vec<Column>,
    /// How its times were read.
    pub digits: Digits,
    /// All rows.
    pub rows: Vec<RowFacts>,
}

/// What one row says, in nanoseconds, calls per second and plain numbers.
#[derive(Clone, Debug, Default)]
pub struct RowFacts {
    /// Line in the file.
    pub line: u64,
    /// Its labels.
    pub name: String,
    /// Figures with what their digits can stand for.
    pub figures: BTreeMap<Quantity, Interval>,
    /// The same figures as they are printed.
    pub printed: BTreeMap<Quantity, Printed>,
    /// Cells that could not be read.
    pub complaints: Vec<String>,
}

impl RowFacts {
    /// A figure, if the row has it.
    pub fn get(&self, quantity: Quantity) -> Option<Interval> {
        self.figures.get(&quantity).copied()
    }

    /// Times of calls by percentile, in order.
    pub fn percentiles(&self) -> impl Iterator<Item = (u32, Interval)> {
        self.figures.iter().filter_map(|(quantity, interval)| match quantity {
            Quantity::Percentile(millionths) => Some((*millionths, *interval)),
            _ => None,
        })
    }
}

impl Facts {
    /// Reads a table.
    pub fn of(table: &RawTable, around: &Surroundings) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for header in &table.header {
            let role = role_of(header, around, &columns);
            columns.push(Column {
                header: header.clone(),
                taken_for: describe(&role, header, around),
                role,
            });
        }
        let mut rows: Vec<RowFacts> = table.rows.iter().map(|(line, cells)| printed_row(*line, cells, &columns)).collect();
        let digits = around.digits.unwrap_or_else(|| how_printed(&rows, &columns, around));
        for row in &mut rows {
            row.interpret(&columns, digits, around);
        }
        Self {
            line: table.line,
            columns,
            digits,
            rows,
        }
    }

    /// Names of the columns that were not recognised.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.columns
            .iter()
            .filter(|column| column.role == Role::Unknown)
            .map(|column| column.header.as_str())
    }
}

fn role_of(header: &str, around: &Surroundings, before: &[Column]) -> Role {
    let plain = undecorated(header).to_lowercase();
    let told = around
        .overrides
        .iter()
        .find(|told| told.header == plain || told.header == header.trim().to_lowercase());
    let role = told.map_or_else(|| recognise(header), |told| told.role.clone());
    match role {
        Role::Figure(quantity, _)
            if before
                .iter()
                .any(|column| matches!(column.role, Role::Figure(known, _) if known == quantity)) =>
        {
            Role::Second(quantity)
        }
        role => role,
    }
}

fn describe(role: &Role, header: &str, around: &Surroundings) -> String {
    match role {
        Role::Label => "name of the row".to_owned(),
        Role::Ignored => "left out".to_owned(),
        Role::Second(quantity) => format!("a second {quantity}: not looked at (choose with --columns 'NAME=ignore')"),
        Role::Unknown => format!("not recognised: --columns '{}=…' says what it is", undecorated(header)),
        Role::Figure(quantity, unit) => match (quantity.kind(), unit.or(default_unit(*quantity, around))) {
            (Kind::Count, _) => quantity.to_string(),
            (_, Some(unit)) => format!("{quantity}, {}", unit.name()),
            (_, None) => format!("{quantity}, in the unit that each cell names (--unit ms is for cells without one)"),
        },
    }
}

fn default_unit(quantity: Quantity, around: &Surroundings) -> Option<Unit> {
    match quantity {
        Quantity::Throughput => Some(Unit::Rate(1.0)),
        // As the suite's own --delay.
        Quantity::Delay => Some(Unit::Time(1e6)),
        _ => around.time_unit,
    }
}

/// The row's cells as they are printed, and its name.
fn printed_row(line: u64, cells: &[String], columns: &[Column]) -> RowFacts {
    let mut row = RowFacts {
        line,
        ..RowFacts::default()
    };
    let mut labels: Vec<String> = Vec::new();
    for (cell, column) in cells.iter().zip(columns) {
        match (&column.role, read(cell)) {
            (Role::Label, _) => labels.push(undecorated(cell)),
            (Role::Figure(quantity, _), Cell::Number(printed)) => {
                row.printed.insert(*quantity, printed);
            }
            (Role::Figure(quantity, _), Cell::Unreadable) => row
                .complaints
                .push(format!("{quantity}: '{}' is no number that is read", cell.trim())),
            _ => {}
        }
    }
    if cells.len() > columns.len() {
        row.complaints
            .push(format!("{} cells under {} columns", cells.len(), columns.len()));
    }
    labels.retain(|label| !label.is_empty());
    row.name = labels.join(" ");
    row
}

/// Times of whole milliseconds all over a table were cut off, or may have been.
fn how_printed(rows: &[RowFacts], columns: &[Column], around: &Surroundings) -> Digits {
    let mut times = rows
        .iter()
        .flat_map(|row| &row.printed)
        .filter(|(quantity, _)| quantity.is_time_of_a_call())
        .peekable();
    let whole_ms = |(quantity, printed): (&Quantity, &Printed)| {
        let unit = unit_of(*quantity, printed, columns, around);
        printed.is_whole() && unit.is_some_and(|unit| unit.size() >= 1e6)
    };
    match times.peek().is_some() && times.all(whole_ms) {
        true => Digits::Cut,
        false => Digits::Rounded,
    }
}

/// The unit of a cell: its own, or its column's, or the usual one.
fn unit_of(quantity: Quantity, printed: &Printed, columns: &[Column], around: &Surroundings) -> Option<Unit> {
    let of_column = columns.iter().find_map(|column| match column.role {
        Role::Figure(known, unit) if known == quantity => unit,
        _ => None,
    });
    printed.unit.or(of_column).or(default_unit(quantity, around))
}

impl RowFacts {
    fn interpret(&mut self, columns: &[Column], digits: Digits, around: &Surroundings) {
        for (&quantity, printed) in &self.printed {
            let size = match (quantity.kind(), unit_of(quantity, printed, columns, around)) {
                (Kind::Count, _) if printed.unit.is_none() => Some(1.0),
                (_, Some(unit)) if quantity.can_be_in(unit) => Some(unit.size()),
                _ => None,
            };
            let Some(size) = size else {
                self.complaints.push(format!(
                    "{quantity}: '{}' has no unit that fits (--unit ms gives times one)",
                    printed.digits
                ));
                continue;
            };
            // A setting, or a count that is written out, is what it says; only times are cut off without a word.
            let interval = match (quantity.kind(), quantity.is_time_of_a_call()) {
                (Kind::Count, _) if printed.step <= 1.0 => Interval::exactly(printed.value),
                _ if quantity == Quantity::Delay => Interval::exactly(printed.value * size),
                (_, true) => printed.interval(digits, size),
                _ => printed.interval(around.digits.unwrap_or(Digits::Rounded), size),
            };
            self.figures.insert(quantity, interval);
        }
        let outside = [
            (Quantity::Callers, around.callers.map(|callers| callers as f64)),
            (Quantity::Calls, around.calls.map(|calls| calls as f64)),
            (Quantity::Delay, around.delay.map(|delay| delay.as_nanos() as f64)),
        ];
        for (quantity, number) in outside {
            if let Some(number) = number {
                self.figures.entry(quantity).or_insert(Interval::exactly(number));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(header: &str, row: &str, around: &Surroundings) -> (Facts, RowFacts) {
        let strings = |text: &str| text.split('|').map(str::to_owned).collect();
        let table = RawTable {
            line: 1,
            header: strings(header),
            rows: vec![(2, strings(row))],
        };
        let facts = Facts::of(&table, around);
        let row = facts.rows.first().cloned().unwrap();
        (facts, row)
    }

    #[test]
    fn figures_are_in_nanoseconds_and_calls_per_second_whatever_the_table_has() {
        let (_, row) = read_one(
            "framework|lane|ops/ms|mean (ms)|p99|c",
            "grpc|tuned|26.9|1.5|2.5 s|32",
            &Surroundings::default(),
        );
        assert_eq!(row.name, "grpc tuned");
        assert_eq!(row.get(Quantity::Callers), Some(Interval::exactly(32.0)));
        let near = |quantity, middle: f64| (row.get(quantity).unwrap().middle() / middle - 1.0).abs() < 1e-9;
        assert!(near(Quantity::Throughput, 26_900.0));
        assert!(near(Quantity::Mean, 1.5e6));
        assert!(near(Quantity::Percentile(990_000), 2.5e9));
        assert!(row.complaints.is_empty(), "{:?}", row.complaints);
    }

    #[test]
    fn what_stands_outside_the_table_fills_what_the_table_does_not_say() {
        let around = Surroundings {
            callers: Some(100),
            delay: Some(Duration::from_millis(10)),
            time_unit: Unit::named("ms"),
            overrides: vec!["score=throughput:ops/ms".parse().unwrap()],
            ..Surroundings::default()
        };
        let (_, row) = read_one("Score|c|mean", "2|50|11.5", &around);
        assert_eq!(row.get(Quantity::Callers), Some(Interval::exactly(50.0)));
        assert_eq!(row.get(Quantity::Delay), Some(Interval::exactly(1e7)));
        assert_eq!(row.get(Quantity::Throughput).unwrap().middle(), 2000.0);
        assert_eq!(row.get(Quantity::Mean).unwrap().middle(), 11.5e6);
    }

    #[test]
    fn whole_milliseconds_are_taken_for_cut_off_ones() {
        let cut = |row: &str, around: &Surroundings| read_one("mean (ms)|max (ms)", row, around).0.digits == Digits::Cut;
        let default = Surroundings::default();
        assert!(cut("3|17", &default));
        assert!(!cut("3|17.5", &default));
        assert!(!cut("3|400 µs", &default));
        let told = Surroundings {
            digits: Some(Digits::Rounded),
            ..Surroundings::default()
        };
        assert!(!cut("3|17", &told));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let (facts, row) = read_one("mean|TPS|floor|TPS", "1.5|fast|0.3|7|8", &Surroundings::default());
        assert_eq!(facts.unknown().collect::<Vec<_>>(), ["floor"]);
        assert_eq!(row.complaints.len(), 3, "{:?}", row.complaints);
        assert!(row.figures.is_empty());
        let taken: Vec<&str> = facts.columns.iter().map(|column| column.taken_for.as_str()).collect();
        assert!(
            taken[0].contains("--unit") && taken[2].contains("--columns 'floor=…'") && taken[3].contains("second"),
            "{taken:?}"
        );
    }
}
