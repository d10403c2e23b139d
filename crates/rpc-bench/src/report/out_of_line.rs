//! Rounds whose figures are far from those of the other rounds: flagged, never dropped.

use bench_core::record::Record;
use bench_core::units::{grouped, median, three_digits};
use bench_core::verdict::Verdict;
use bench_stats::outliers::outliers;

use super::rows::Row;

/// A text for each figure of a round that is out of line; none with fewer rounds than it takes to say so, and none of an INVALID row, which
/// has no figures.
pub fn lines(row: &Row) -> Vec<String> {
    if row.verdict() == Some(Verdict::Invalid) {
        return Vec::new();
    }
    let open = row.key.pace.is_some();
    let cpu = of(row, "CPU µs/call", |record| record.cpu_us_per_call_sum, three_digits);
    // The throughput of an open loop is the rate that it was offered.
    let throughput = (!open).then(|| of(row, "throughput/s", |record| record.throughput_per_s, grouped));
    cpu.into_iter().chain(throughput.into_iter().flatten()).collect()
}

fn of(row: &Row, name: &str, figure: fn(&Record) -> Option<f64>, show: fn(f64) -> String) -> Vec<String> {
    let (rounds, figures): (Vec<u64>, Vec<f64>) = row
        .records
        .iter()
        .filter_map(|record| Some((record.round?, figure(record).filter(|figure| *figure > 0.0)?)))
        .unzip();
    // Ratios matter, as everywhere else.
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let (Ok(found), Some(middle)) = (outliers(&logs), median(&figures)) else {
        return Vec::new();
    };
    found
        .into_iter()
        .map(|outlier| {
            format!(
                "round {} with {name} {}, median {} (robust z {:+.1})",
                rounds[outlier.index] + 1,
                show(figures[outlier.index]),
                show(middle),
                outlier.score
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;
    use crate::records::SweepRecord;
    use crate::sweep::failed::tests::example_record;

    fn lines_of(throughputs: &[f64]) -> Vec<String> {
        lines_of_rounds(throughputs, Verdict::Valid)
    }

    /// With this verdict of the first round.
    fn lines_of_rounds(throughputs: &[f64], verdict: Verdict) -> Vec<String> {
        let record = |(round, throughput): (usize, &f64)| -> SweepRecord {
            let mut example = example_record();
            example.record.round = Some(round as u64);
            example.record.throughput_per_s = Some(*throughput);
            example
        };
        let mut records: Vec<SweepRecord> = throughputs.iter().enumerate().map(record).collect();
        records[0].record.verdict = verdict;
        lines(&rows(records, &[]).unwrap()[0])
    }

    #[test]
    fn an_invalid_row_has_no_figures_to_be_out_of_line() {
        let throughputs = [1000.0, 1010.0, 400.0, 1020.0, 1005.0, 1015.0, 990.0];
        assert_eq!(lines_of_rounds(&throughputs, Verdict::Suspect).len(), 1);
        assert_eq!(lines_of_rounds(&throughputs, Verdict::Invalid), [""; 0]);
    }

    #[test]
    fn a_wild_round_is_named_and_stays_in_the_row() {
        let expected = "round 3 with throughput/s 400, median 1,005 (robust z -";
        let lines = lines_of(&[1000.0, 1010.0, 400.0, 1020.0, 1005.0, 1015.0, 990.0]);
        assert!(matches!(lines.as_slice(), [line] if line.starts_with(expected)), "{lines:?}");
        assert_eq!(lines_of(&[1000.0, 1010.0, 1002.0, 1020.0, 1005.0, 1015.0, 990.0]), [""; 0]);
        assert_eq!(lines_of(&[1000.0, 1010.0, 400.0]), [""; 0]);
    }
}
