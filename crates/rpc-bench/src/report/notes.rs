//! What stands below a table: how to read it, why rows are not VALID, what is not offered, rows on other CPUs than most.

use bench_core::record::Record;
use bench_core::verdict::Verdict;

use super::cpus::{split_of, usual_split};
use super::ranks;
use super::rows::{Row, RowKey};
use super::{agreement, out_of_line};

/// The lines, in their order.
pub fn notes(key: &RowKey, rows: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    if key.pace.is_some() {
        notes.push(
            "Open loop: calls are made when they are due, replies or not; response times count from then, service times from when the \
             call was made. Compare the CPU per call."
                .to_owned(),
        );
    } else if key.without_delay() {
        notes.push("Closed loop without a delay: the time of a call is callers / throughput; compare the CPU per call.".to_owned());
    }
    notes.extend(agreement::line(rows, key.pace.is_some()));
    notes.extend(ranks::lines(rows, key.pace.is_some()));
    let usual = usual_split(rows);
    for row in rows {
        let name = row.key.name_with_callers(rows.iter().map(|row| &row.key));
        if let Some(reason) = &row.not_offered {
            notes.push(format!("{name}: not offered: {reason}"));
        }
        if let Some(split) = split_of(row).filter(|split| *split != usual) {
            notes.push(format!("{name}: {split}"));
        }
        let out_of_line = out_of_line::lines(row);
        if !out_of_line.is_empty() {
            notes.push(format!("{name}: out of line: {}", out_of_line.join("; ")));
        }
        let of_rounds: Vec<String> = row.records.iter().flat_map(of_round).collect();
        if !of_rounds.is_empty() {
            notes.push(format!("{name}: {}", of_rounds.join("; ")));
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

/// What a round's record notes.
fn of_round(record: &Record) -> Vec<String> {
    let round = record.round.map_or(String::new(), |round| format!("round {}: ", round + 1));
    record.notes.iter().map(|note| format!("{round}{note}")).collect()
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
    use crate::sweep::failed::tests::example_record;

    #[test]
    fn what_a_record_notes_stands_below_its_table_with_its_round() {
        let mut example = example_record();
        example.record.round = Some(1);
        example.record.notes = vec!["run again".to_owned()];
        let rows = rows(vec![example], &[]).unwrap();
        let notes = notes(&rows[0].key, &rows);
        assert!(
            notes.iter().any(|note| note == "tcp tcp/protobuf c=50: round 2: run again"),
            "{notes:?}"
        );
    }
}
