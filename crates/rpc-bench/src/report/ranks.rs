//! Which place a row may have among those it stands with: rank ranges from the rounds that all of them have.

use std::collections::BTreeSet;

use bench_core::lane::Lane;
use bench_core::record::Record;
use bench_core::units::grouped;
use bench_core::verdict::Verdict;
use bench_stats::rank::{Better, RankRange, rank_ranges};

use super::rows::{Row, RowKey};
use crate::sweep::connections::Connections;

/// Chance that any place of a line is wrong.
const ALPHA: f64 = 0.05;

/// A figure that rows are ranked by.
struct By {
    name: &'static str,
    better: Better,
    of: fn(&Record) -> Option<f64>,
}

const CPU: By = By {
    name: "CPU per call",
    better: Better::Lower,
    of: |record| record.cpu_us_per_call_sum,
};

const THROUGHPUT: By = By {
    name: "throughput",
    better: Better::Higher,
    of: |record| record.throughput_per_s,
};

/// Lines for below a table: one for each number of callers and each figure; a single one where there are too few rounds; none where no row
/// has two.
pub fn lines(rows: &[Row], open: bool) -> Vec<String> {
    let figures: &[By] = if open { &[CPU] } else { &[CPU, THROUGHPUT] };
    let mut lines = Vec::new();
    // Rows with the same callers stand together.
    for rows in rows.chunk_by(|a, b| a.key.callers == b.key.callers) {
        let ranked: Vec<&Row> = rows.iter().filter(|row| can_be_ranked(row)).collect();
        let several_rounds = ranked.iter().any(|row| row.records.len() > 1);
        if ranked.len() > 1 && several_rounds {
            lines.extend(figures.iter().map(|figure| line(&ranked, figure)));
        }
    }
    lines.dedup();
    lines
}

/// An INVALID row is not ranked.
fn can_be_ranked(row: &Row) -> bool {
    row.not_offered.is_none() && row.verdict().is_some_and(|verdict| verdict != Verdict::Invalid)
}

fn line(rows: &[&Row], by: &By) -> String {
    let rounds = common_rounds(rows, by);
    let figures: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| rounds.iter().filter_map(|round| figure(row, *round, by)).collect())
        .collect();
    match rank_ranges(&figures, by.better, ALPHA) {
        Err(unknown) => format!("No places: {unknown}."),
        Ok(ranking) => {
            let mut places: Vec<(RankRange, String)> = ranking.ranges.into_iter().zip(rows.iter().map(|row| name(&row.key))).collect();
            places.sort_by_key(|(range, _)| (range.best, range.worst));
            let places: Vec<String> = places.iter().map(|(range, name)| format!("{} {name}", place(range))).collect();
            format!(
                "Places by {} at c={} ({} rounds, {:.0} % for all together): {}.",
                by.name,
                rows.first().map_or(String::new(), |row| grouped(row.key.callers as f64)),
                rounds.len(),
                (1.0 - ALPHA) * 100.0,
                places.join(", ")
            )
        }
    }
}

fn common_rounds(rows: &[&Row], by: &By) -> BTreeSet<u64> {
    let of_row = |row: &&Row| -> BTreeSet<u64> {
        let with_figure = row.records.iter().filter(|record| (by.of)(record).is_some());
        with_figure.filter_map(|record| record.round).collect()
    };
    let mut rounds = rows.iter().map(of_row);
    let first = rounds.next().unwrap_or_default();
    rounds.fold(first, |common, of_row| common.intersection(&of_row).copied().collect())
}

fn figure(row: &Row, round: u64, by: &By) -> Option<f64> {
    row.records.iter().find(|record| record.round == Some(round)).and_then(by.of)
}

fn place(range: &RankRange) -> String {
    match range.best == range.worst {
        true => range.best.to_string(),
        false => format!("{}–{}", range.best, range.worst),
    }
}

/// What tells a row from the others of its table.
pub fn name(key: &RowKey) -> String {
    let mut name = format!("{} {}", key.framework, key.wire);
    if let Connections::Shared(number) = key.connections {
        name.push_str(&format!(" over {number}"));
    }
    if key.lane != Lane::Default {
        name.push_str(&format!(" {}", key.lane));
    }
    if let Some(options) = key.server_options() {
        name.push_str(&format!(" {options}"));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;
    use crate::records::SweepRecord;
    use crate::sweep::failed::tests::example_record;

    fn record(framework: &str, round: u64, cpu: f64) -> SweepRecord {
        let mut example = example_record();
        example.cell.as_mut().unwrap().framework = framework.to_owned();
        example.record.framework = framework.to_owned();
        example.record.round = Some(round);
        example.record.cpu_us_per_call_sum = Some(cpu);
        example.record.throughput_per_s = Some(1e6 / cpu);
        example
    }

    fn lines_of(rounds: u64) -> Vec<String> {
        // Twice the CPU is proved; a hundredth that goes up and down is not.
        let wobble = |round: u64| 1.0 + 0.01 * (round % 3) as f64;
        let records: Vec<SweepRecord> = (0..rounds)
            .flat_map(|round| {
                let a = 10.0 * wobble(round);
                let b = 10.0 * wobble(round + 1);
                [
                    record("a", round, a),
                    record("b", round, b),
                    record("c", round, 20.0 * wobble(round)),
                ]
            })
            .collect();
        lines(&rows(records, &[]).unwrap(), false)
    }

    #[test]
    fn a_place_is_a_range_and_nobody_has_one_that_is_not_proved() {
        let wire = "tcp/protobuf";
        assert_eq!(
            lines_of(8),
            ["CPU per call", "throughput"].map(|figure| format!(
                "Places by {figure} at c=50 (8 rounds, 95 % for all together): 1–2 a {wire}, 1–2 b {wire}, 3 c {wire}."
            ))
        );
    }

    #[test]
    fn too_few_rounds_are_said_once_and_a_single_one_is_not_mentioned() {
        let lines = lines_of(3);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("too few") && lines[0].contains('6'), "{lines:?}");
        assert_eq!(lines_of(1), [""; 0]);
    }
}
