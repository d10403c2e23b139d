//! The pace of an open loop, as a sweep asks for it.

use std::fmt;

use bench_core::arrival::Arrival;
use bench_core::record::Record;
use bench_core::units::calls_per_s;
use serde::{Deserialize, Serialize};

/// Calls at a rate, whatever the replies do. A cell without one is a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pace {
    /// Calls in 1,000 seconds. A whole number, as a cell's delay and lengths are, so that cells can be compared and hashed; a thousandth
    /// of a call per second is one call in 17 minutes, finer than anybody asks for.
    pub rate_millihertz: u64,
    /// Spacing of the calls.
    pub arrival: Arrival,
}

impl Pace {
    /// A pace of so many calls per second; at least 0.001.
    pub fn new(rate_per_s: f64, arrival: Arrival) -> Self {
        Self {
            rate_millihertz: ((rate_per_s * 1000.0).round() as u64).max(1),
            arrival,
        }
    }

    /// What a record says that it was asked for; `None` for a closed loop.
    pub fn of(record: &Record) -> Option<Self> {
        let arrival = record.arrival.as_deref().and_then(|name| name.parse().ok());
        Some(Self::new(record.rate_per_s?, arrival.unwrap_or_default()))
    }

    /// Calls per second.
    pub fn rate_per_s(self) -> f64 {
        self.rate_millihertz as f64 / 1000.0
    }
}

impl fmt::Display for Pace {
    /// `2,000/s`, `0.5/s poisson`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", calls_per_s(self.rate_per_s()))?;
        match self.arrival {
            Arrival::Constant => Ok(()),
            Arrival::Poisson => write!(f, " {}", self.arrival),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::failed::tests::example_record;

    #[test]
    fn a_rate_comes_back_as_it_was_written() {
        for rate in [0.001, 0.3, 0.5, 2_000.0, 12_345.678, 1e9] {
            assert_eq!(Pace::new(rate, Arrival::Constant).rate_per_s(), rate);
        }
        let texts = [(0.5, Arrival::Constant), (2_000.0, Arrival::Constant), (15_000.0, Arrival::Poisson)];
        assert_eq!(
            texts.map(|(rate, arrival)| Pace::new(rate, arrival).to_string()),
            ["0.5/s", "2,000/s", "15,000/s poisson"]
        );
    }

    #[test]
    fn a_record_of_a_closed_loop_has_none() {
        let mut record = example_record().record;
        assert_eq!(Pace::of(&record), None);
        (record.rate_per_s, record.arrival) = (Some(0.5), Some("poisson".to_owned()));
        assert_eq!(Pace::of(&record), Some(Pace::new(0.5, Arrival::Poisson)));
    }
}
