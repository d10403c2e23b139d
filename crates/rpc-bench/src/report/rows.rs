//! Rows of a table: the rounds of one cell merged.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use bench_core::histogram::{Times, TimesSummary};
use bench_core::record::{BoundBy, Record};
use bench_core::verdict::Verdict;

pub use super::key::RowKey;
use crate::records::SweepRecord;
use crate::sweep::expand::NotOffered;
use bench_core::units::{NOTHING, time};

/// One row: all rounds of a cell.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is.
    pub key: RowKey,
    /// Its records; none for a cell that is not offered.
    pub records: Vec<Record>,
    /// Service times of all rounds; `None` for an INVALID row or without calls.
    pub times: Option<TimesSummary>,
    /// Response times of all rounds; `None` for a closed loop as well.
    pub response_times: Option<TimesSummary>,
    /// Why the stack does not offer it.
    pub not_offered: Option<String>,
}

impl Row {
    /// The worst verdict of the rounds; `None` without records.
    pub fn verdict(&self) -> Option<Verdict> {
        self.records.iter().map(|record| record.verdict).max()
    }

    /// A figure of every round that has it; none of an INVALID row, which is not ranked.
    pub fn figures(&self, figure: impl Fn(&Record) -> Option<f64>) -> Vec<f64> {
        if self.verdict() == Some(Verdict::Invalid) {
            return Vec::new();
        }
        self.records.iter().filter_map(figure).filter(|number| number.is_finite()).collect()
    }

    /// The mean of a figure over the rounds: unlike medians, means of parts add up to the mean of the sum.
    pub fn mean(&self, figure: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
        let figures = self.figures(figure);
        (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
    }

    /// A service time for a table.
    pub fn service_time(&self, of: fn(&TimesSummary) -> u64) -> String {
        time_or_nothing(self.times.as_ref(), of)
    }

    /// A response time for a table.
    pub fn response_time(&self, of: fn(&TimesSummary) -> u64) -> String {
        time_or_nothing(self.response_times.as_ref(), of)
    }

    /// Failed calls of all rounds.
    pub fn failed(&self) -> u64 {
        self.records.iter().map(|record| record.calls.failed_total()).sum()
    }

    /// What bound the rounds, each answer once.
    pub fn bound_by(&self) -> Vec<BoundBy> {
        let mut bounds = Vec::new();
        for record in &self.records {
            if !bounds.contains(&record.bound_by) {
                bounds.push(record.bound_by);
            }
        }
        bounds
    }
}

fn time_or_nothing(times: Option<&TimesSummary>, of: fn(&TimesSummary) -> u64) -> String {
    times.map_or(NOTHING.to_owned(), |times| time(of(times) as f64))
}

/// The [rows] of recorded runs, judged by today's rules.
///
/// # Errors
/// As [rows], and when a round stands there twice: the text names its row.
pub fn judged_rows(records: Vec<SweepRecord>, not_offered: &[NotOffered]) -> Result<Vec<Row>> {
    let rows = rows(records.into_iter().map(judged_again).collect(), not_offered)?;
    check_rounds(&rows)?;
    Ok(rows)
}

/// What was recorded as VALID must be so by its figures.
fn judged_again(mut sweep_record: SweepRecord) -> SweepRecord {
    let mut fresh = sweep_record.record.clone();
    fresh.audit();
    if fresh.verdict > sweep_record.record.verdict {
        sweep_record.record = fresh;
    }
    sweep_record
}

/// A round is a unit of the statistics: one that stands there twice would count as two.
fn check_rounds(rows: &[Row]) -> Result<()> {
    for row in rows {
        let mut seen = BTreeSet::new();
        let mut rounds = row.records.iter().filter_map(|record| record.round);
        if let Some(round) = rounds.find(|round| !seen.insert(*round)) {
            bail!(
                "{} has round {} twice: were several sweeps joined? Take them one at a time",
                row.key.name_with_callers(rows.iter().map(|row| &row.key)),
                round + 1
            );
        }
    }
    Ok(())
}

/// Merges records into rows and adds those that are not offered, in the order of the tables.
///
/// # Errors
/// When a histogram cannot be read: the text names the record by its number.
pub fn rows(records: Vec<SweepRecord>, not_offered: &[NotOffered]) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    // Service times and response times of each row.
    let mut merged: Vec<[Times; 2]> = Vec::new();
    for (index, sweep_record) in records.into_iter().enumerate() {
        let key = RowKey::of(&sweep_record);
        let place = rows.iter().position(|row| row.key == key).unwrap_or_else(|| {
            rows.push(Row {
                key,
                records: Vec::new(),
                times: None,
                response_times: None,
                not_offered: None,
            });
            merged.push([Times::new(), Times::new()]);
            rows.len() - 1
        });
        let record = &sweep_record.record;
        for (merged, times) in merged[place].iter_mut().zip([&record.service_time_ns, &record.response_time_ns]) {
            if let Some(times) = times {
                // Percentiles of several runs come from merged histograms, never from averages.
                merged.merge(&times.times().with_context(|| format!("line {}", index + 1))?);
            }
        }
        rows[place].records.push(sweep_record.record);
    }
    for (row, [service, response]) in rows.iter_mut().zip(merged) {
        if row.verdict() != Some(Verdict::Invalid) {
            (row.times, row.response_times) = (service.summary(), response.summary());
        }
    }
    let usual_bytes = rows
        .first()
        .map_or(bench_core::message::REQUEST_BYTES as u64, |row| row.key.payload_bytes);
    for NotOffered { cell, reason } in not_offered {
        let same = |row: &&Row| row.key.workload == cell.workload && row.key.delay_ms == Some(cell.delay_us as f64 / 1000.0);
        let bytes = rows.iter().find(same).map_or(usual_bytes, |row| row.key.payload_bytes);
        let key = RowKey::of_cell(cell, bytes);
        rows.push(Row {
            key,
            records: Vec::new(),
            times: None,
            response_times: None,
            not_offered: Some(reason.clone()),
        });
    }
    rows.sort_by(|a, b| {
        let table = |row: &Row| row.key.delay_ms.unwrap_or(f64::INFINITY);
        (table(a).total_cmp(&table(b)))
            .then_with(|| (&a.key.workload, a.key.payload_bytes).cmp(&(&b.key.workload, b.key.payload_bytes)))
            .then_with(|| a.key.pace.cmp(&b.key.pace))
            .then_with(|| a.key.order().cmp(&b.key.order()))
    });
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::cell::Cell;
    use crate::sweep::connections::Connections;
    use crate::sweep::failed::tests::{example_cell, example_record, failed_record};

    fn example(round: u64, throughput: f64, times_us: std::ops::Range<u64>) -> SweepRecord {
        let mut example = example_record();
        let mut times = Times::new();
        times_us.for_each(|us| times.record(us * 1000));
        example.record.service_time_ns = times.summary();
        example.record.round = Some(round);
        example.record.throughput_per_s = Some(throughput);
        example
    }

    #[test]
    fn rounds_of_a_cell_are_one_row_with_the_percentiles_of_all_its_times() {
        let rows = rows(vec![example(0, 10.0, 1..100), example(1, 30.0, 100..1001)], &[]).unwrap();
        let [row] = rows.as_slice() else { panic!("{} rows", rows.len()) };
        assert_eq!(row.figures(|record| record.throughput_per_s), [10.0, 30.0]);
        let times = row.times.as_ref().unwrap();
        assert_eq!((times.count, times.min, times.max), (1000, 1000, 1_000_000));
        assert!((times.p50 as f64 / 500_000.0 - 1.0).abs() < 0.002, "{}", times.p50);
    }

    #[test]
    fn response_times_of_rounds_are_merged_apart_from_service_times() {
        let open = |round, times: std::ops::Range<u64>| {
            let mut example = example(round, 10.0, 1..11);
            (example.record.rate_per_s, example.record.arrival) = (Some(5.0), Some("constant".to_owned()));
            example.record.response_time_ns = self::example(round, 10.0, times).record.service_time_ns;
            example
        };
        let rows = rows(vec![open(0, 1..100), open(1, 100..1001)], &[]).unwrap();
        let [row] = rows.as_slice() else { panic!("{} rows", rows.len()) };
        let [service, response] = [&row.times, &row.response_times].map(|times| times.as_ref().unwrap());
        assert_eq!((service.count, response.count), (20, 1000));
        assert!((response.p99 as f64 / 990_000.0 - 1.0).abs() < 0.002, "{}", response.p99);
    }

    #[test]
    fn one_invalid_round_takes_the_figures_of_the_row_away() {
        let rows = rows(vec![example(0, 10.0, 1..100), failed_record()], &[]).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].verdict(), Some(Verdict::Invalid));
        assert_eq!(rows[0].figures(|record| record.throughput_per_s), Vec::<f64>::new());
        assert_eq!(rows[0].times, None);
    }

    #[test]
    fn a_cell_that_is_not_offered_stands_in_the_table_where_it_would_have_been() {
        let cell = Cell {
            connections: Connections::Shared(4),
            ..example_cell()
        };
        let rows = rows(
            vec![example(0, 10.0, 1..100)],
            &[NotOffered {
                reason: "no".to_owned(),
                cell,
            }],
        )
        .unwrap();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].key.same_table(&rows[1].key));
        assert_eq!(rows[1].not_offered.as_deref(), Some("no"));
    }

    #[test]
    fn a_round_that_stands_there_twice_is_refused_by_its_row_and_runs_without_rounds_are_not() {
        let twice = vec![example(0, 10.0, 1..100), example(1, 10.0, 1..100), example(1, 10.0, 1..100)];
        let error = judged_rows(twice.clone(), &[]).unwrap_err().to_string();
        assert!(error.contains("tcp tcp/protobuf c=50 has round 2 twice"), "{error}");
        let without_rounds = twice.into_iter().map(|mut record| {
            record.record.round = None;
            record
        });
        assert!(judged_rows(without_rounds.collect(), &[]).is_ok());
    }

    #[test]
    fn what_was_recorded_as_valid_has_no_figures_if_they_cannot_be() {
        let mut impossible = example(0, 1e9, 1..100);
        impossible.record.verdict = Verdict::Valid;
        let rows = judged_rows(vec![impossible], &[]).unwrap();
        assert_eq!(rows[0].verdict(), Some(Verdict::Invalid));
        assert_eq!(rows[0].figures(|record| record.throughput_per_s), Vec::<f64>::new());
    }

    #[test]
    fn a_damaged_histogram_is_an_error_that_names_the_line() {
        let mut bad = example(0, 10.0, 1..100);
        bad.record.service_time_ns.as_mut().unwrap().histogram_v2 = "!".to_owned();
        assert!(format!("{:#}", rows(vec![bad], &[]).unwrap_err()).contains("line 1"));
    }
}
