//! Which place a row may have among those it stands with: rank ranges from the rounds that all of them have.

use std::collections::BTreeSet;

use bench_core::record::Record;
use bench_core::units::grouped;
use bench_core::verdict::Verdict;
use bench_stats::Unknown;
use bench_stats::rank::{Better, RankRange, rank_ranges};

use super::rows::Row;

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

/// Lines for below a table: one for each number of callers and each figure; those without places for the same reason stand in one line; none
/// where no row has two rounds.
pub fn lines(rows: &[Row], open: bool) -> Vec<String> {
    let figures: &[By] = if open { &[CPU] } else { &[CPU, THROUGHPUT] };
    let mut lines = Vec::new();
    // Figures without places and why, with the callers at which it is so.
    let mut without: Vec<((String, String), Vec<String>)> = Vec::new();
    // Rows with the same callers stand together.
    for same_callers in rows.chunk_by(|a, b| a.key.callers == b.key.callers) {
        let ranked: Vec<&Row> = same_callers.iter().filter(|row| can_be_ranked(row)).collect();
        let several_rounds = ranked.iter().any(|row| row.records.len() > 1);
        let Some(first) = ranked.first().filter(|_| ranked.len() > 1 && several_rounds) else {
            continue;
        };
        let at = format!("c={}", grouped(first.key.callers as f64));
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for by in figures {
            match places(&ranked, by, rows) {
                Ok((rounds, places)) => lines.push(format!(
                    "Places by {} at {at} ({rounds} rounds, {:.0} % for all together): {places}.",
                    by.name,
                    (1.0 - ALPHA) * 100.0
                )),
                Err(unknown) => add(&mut reasons, unknown.to_string(), by.name),
            }
        }
        for (reason, figures) in reasons {
            add(&mut without, (figures.join(" and "), reason), at.clone());
        }
    }
    lines.extend(
        without
            .into_iter()
            .map(|((figures, reason), at)| format!("No places by {figures} at {}: {reason}.", at.join(", "))),
    );
    lines
}

/// Adds a value to those of its key.
fn add<K: PartialEq, V>(groups: &mut Vec<(K, Vec<V>)>, key: K, value: V) {
    match groups.iter_mut().find(|(there, _)| *there == key) {
        Some((_, values)) => values.push(value),
        None => groups.push((key, vec![value])),
    }
}

/// An INVALID row is not ranked.
fn can_be_ranked(row: &Row) -> bool {
    row.not_offered.is_none() && row.verdict().is_some_and(|verdict| verdict != Verdict::Invalid)
}

/// The number of rounds that all have, and the places in words, best first; names are those among the rows of the table.
fn places(ranked: &[&Row], by: &By, table: &[Row]) -> Result<(usize, String), Unknown> {
    let rounds = common_rounds(ranked, by);
    let figures: Vec<Vec<f64>> = ranked
        .iter()
        .map(|row| rounds.iter().filter_map(|round| figure(row, *round, by)).collect())
        .collect();
    let ranking = rank_ranges(&figures, by.better, ALPHA)?;
    let mut places: Vec<(RankRange, &Row)> = ranking.ranges.into_iter().zip(ranked.iter().copied()).collect();
    places.sort_by_key(|(range, _)| (range.best, range.worst));
    let in_words = |(range, row): &(RankRange, &Row)| format!("{} {}", place(range), row.key.name(table.iter().map(|row| &row.key)));
    Ok((rounds.len(), places.iter().map(in_words).collect::<Vec<_>>().join(", ")))
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
        let reason = "too few runs: 3, at least 6 are needed";
        assert_eq!(
            lines_of(3),
            [format!("No places by CPU per call and throughput at c=50: {reason}.")]
        );
        assert_eq!(lines_of(1), [""; 0]);
    }

    #[test]
    fn rows_without_places_are_named_by_their_callers() {
        let with = |callers, rounds: u64| -> Vec<SweepRecord> {
            let more = |mut record: SweepRecord| {
                record.cell.as_mut().unwrap().callers = callers;
                record
            };
            let of_round = |round| [record("a", round, 10.0 + round as f64), record("b", round, 20.0)];
            (0..rounds).flat_map(of_round).map(more).collect()
        };
        let records = [with(50, 3), with(1000, 3), with(2000, 7)].concat();
        let lines = lines(&rows(records, &[]).unwrap(), false);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("Places by CPU per call at c=2,000 (7 rounds"), "{lines:?}");
        assert!(
            lines[2].starts_with("No places by CPU per call and throughput at c=50, c=1,000: too few runs: 3"),
            "{lines:?}"
        );
    }
}
