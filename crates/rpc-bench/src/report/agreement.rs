//! How well the rounds of a row agree: what a figure of it is worth.

use bench_core::record::Record;
use bench_core::units::{median, percent};

use super::rows::Row;

/// Greatest − least of a figure over its median, for each row that has two rounds or more.
fn ranges(rows: &[Row], figure: fn(&Record) -> Option<f64>) -> Vec<f64> {
    rows.iter()
        .map(|row| row.figures(figure))
        .filter(|figures| figures.len() > 1)
        .filter_map(|figures| {
            let middle = median(&figures).filter(|middle| *middle > 0.0)?;
            let least = figures.iter().copied().min_by(f64::total_cmp)?;
            let most = figures.iter().copied().max_by(f64::total_cmp)?;
            Some((most - least) / middle)
        })
        .collect()
}

/// A line for below the table; `None` where no row has two rounds.
pub fn line(rows: &[Row], open: bool) -> Option<String> {
    let of = |name: &str, figure: fn(&Record) -> Option<f64>| {
        let ranges = ranges(rows, figure);
        let most = ranges.iter().copied().max_by(f64::total_cmp)?;
        Some(format!("{name} {} (most {})", percent(median(&ranges)?), percent(most)))
    };
    let cpu = of("CPU per call", |record| record.cpu_us_per_call_sum);
    // The throughput of an open loop is the rate that it was offered.
    let throughput = (!open).then(|| of("throughput", |record| record.throughput_per_s)).flatten();
    let figures: Vec<String> = cpu.into_iter().chain(throughput).collect();
    (!figures.is_empty()).then(|| {
        format!(
            "Between the rounds of a row (greatest − least, by the median; median of the rows): {}.",
            figures.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;
    use crate::records::SweepRecord;
    use crate::sweep::failed::tests::example_record;

    fn round(callers: u64, round: u64, cpu: f64, throughput: f64) -> SweepRecord {
        let mut example = example_record();
        example.cell.as_mut().unwrap().callers = callers;
        example.record.round = Some(round);
        example.record.cpu_us_per_call_sum = Some(cpu);
        example.record.throughput_per_s = Some(throughput);
        example
    }

    #[test]
    fn a_line_says_how_far_the_rounds_of_the_rows_are_apart() {
        let records = vec![
            round(1, 0, 10.0, 900.0),
            round(1, 1, 10.2, 1000.0),
            round(1, 2, 9.9, 1100.0),
            round(2, 0, 19.0, 1000.0),
            round(2, 1, 21.0, 1000.0),
            // One round has nothing to agree with.
            round(3, 0, 99.0, 1.0),
        ];
        let rows = rows(records, &[]).unwrap();
        // 3 % and 10 %; 20 % and 0 %.
        assert_eq!(
            line(&rows, false).unwrap(),
            "Between the rounds of a row (greatest − least, by the median; median of the rows): \
             CPU per call 6.5 % (most 10.0 %), throughput 10.0 % (most 20.0 %)."
        );
        assert!(!line(&rows, true).unwrap().contains("throughput"));
        assert_eq!(line(&rows[2..], false), None);
    }
}
