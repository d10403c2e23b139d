//! From the rounds of a row to its ratios to the control's of the same rounds.

use bench_core::record::Record;

use crate::report::rows::Row;
use crate::trial::{Figures, Measure};

/// Figures of every round over the control's, or over nothing.
#[derive(Debug)]
pub struct Ratios(Vec<(Figures, Option<Figures>)>);

impl Ratios {
    /// Of one measure, of the rounds that have it.
    pub fn of(&self, measure: Measure) -> Vec<f64> {
        let ratio = |(row, control): &(Figures, Option<Figures>)| match control {
            Some(control) => Some((measure.of)(row)? / (measure.of)(control)?),
            None => (measure.of)(row),
        };
        self.0.iter().filter_map(ratio).collect()
    }
}

/// A row's own figures.
pub fn own(row: &Row) -> Ratios {
    Ratios(row.records.iter().filter_map(|record| Some((figures(record)?, None))).collect())
}

/// A row's figures beside the control's of the same round; `None` when they share no round.
pub fn to_control(row: &Row, control: &Row) -> Option<Ratios> {
    let of_round = |round: u64| control.records.iter().find(|record| record.round == Some(round));
    let pairs: Vec<_> = (row.records.iter())
        .filter_map(|record| Some((figures(record)?, Some(figures(of_round(record.round?)?)?))))
        .collect();
    (!pairs.is_empty()).then_some(Ratios(pairs))
}

/// Rows were read with their histograms before.
fn figures(record: &Record) -> Option<Figures> {
    Figures::of(std::slice::from_ref(record)).ok()
}
