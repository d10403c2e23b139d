//! On which CPUs the two sides of a row ran.

use bench_core::record::ProcessUse;

use super::rows::Row;

/// The CPUs of most rows, for the heading: `client on CPU 1, server on CPU 0`.
pub fn usual_split(rows: &[Row]) -> String {
    let mut splits: Vec<(String, usize)> = Vec::new();
    for split in rows.iter().filter_map(split_of) {
        match splits.iter_mut().find(|(known, _)| *known == split) {
            Some((_, rows)) => *rows += 1,
            None => splits.push((split, 1)),
        }
    }
    // The first of the most frequent ones.
    let most = splits.iter().rev().max_by_key(|(_, rows)| *rows);
    most.map_or("CPU sets unknown".to_owned(), |(split, _)| split.clone())
}

/// The CPUs of one row; `None` where its records do not say.
pub fn split_of(row: &Row) -> Option<String> {
    let mut splits: Vec<String> = Vec::new();
    for record in &row.records {
        let (Some(client), Some(server)) = (&record.client, &record.server) else {
            continue;
        };
        let split = format!("client {}, server {}", on_cpus(client), on_cpus(server));
        if !splits.contains(&split) {
            splits.push(split);
        }
    }
    (!splits.is_empty()).then(|| splits.join(" and "))
}

fn on_cpus(side: &ProcessUse) -> String {
    match side.cpus.as_deref() {
        None => "on any CPU".to_owned(),
        Some([one]) => format!("on CPU {one}"),
        Some(cpus) => format!("on CPUs {}", cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
    }
}
