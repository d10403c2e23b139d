//! The figures that an audit knows.

use std::fmt;

use super::unit::Unit;

/// A percentile in millionths: 990,000 is p99. The least time is 0, the greatest 1,000,000.
pub type Millionths = u32;

/// The least time.
pub const MIN: Millionths = 0;
/// The median.
pub const MEDIAN: Millionths = 500_000;
/// The greatest time.
pub const MAX: Millionths = 1_000_000;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Calls per second.
    Throughput,
    /// Mean time of a call.
    Mean,
    /// A time that this share of the calls did not exceed.
    Percentile(Millionths),
    /// Calls that can be under way at once.
    Callers,
    /// Calls that were asked for or made.
    Calls,
    /// Calls with the right reply.
    Ok,
    /// Calls without.
    Failed,
    /// How long the run took.
    Elapsed,
    /// Simulated delay in the handler.
    Delay,
}

/// What kind of unit a quantity has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nanoseconds.
    Time,
    /// Calls per second.
    Rate,
    /// A plain number.
    Count,
}

impl Quantity {
    /// From the name that `--columns` has for it: `throughput`, `p99.9`, `callers`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "throughput" => Self::Throughput,
            "mean" => Self::Mean,
            "min" => Self::Percentile(MIN),
            "median" => Self::Percentile(MEDIAN),
            "max" => Self::Percentile(MAX),
            "callers" => Self::Callers,
            "calls" => Self::Calls,
            "ok" => Self::Ok,
            "failed" => Self::Failed,
            "elapsed" => Self::Elapsed,
            "delay" => Self::Delay,
            percentile => Self::Percentile(percent_millionths(percentile.strip_prefix('p')?)?),
        })
    }

    /// What its unit is a unit of.
    pub fn kind(self) -> Kind {
        match self {
            Self::Throughput => Kind::Rate,
            Self::Mean | Self::Percentile(_) | Self::Elapsed | Self::Delay => Kind::Time,
            Self::Callers | Self::Calls | Self::Ok | Self::Failed => Kind::Count,
        }
    }

    /// True for the times of calls.
    pub fn is_time_of_a_call(self) -> bool {
        matches!(self, Self::Mean | Self::Percentile(_))
    }

    /// True when a number in this unit can be this quantity.
    pub fn can_be_in(self, unit: Unit) -> bool {
        matches!((self.kind(), unit), (Kind::Time, Unit::Time(_)) | (Kind::Rate, Unit::Rate(_)))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Throughput => "throughput",
            Self::Mean => "mean",
            Self::Percentile(MIN) => "min",
            Self::Percentile(MEDIAN) => "median",
            Self::Percentile(MAX) => "max",
            Self::Percentile(millionths) => return write!(f, "p{}", f64::from(*millionths) / 1e4),
            Self::Callers => "callers",
            Self::Calls => "calls",
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Elapsed => "elapsed",
            Self::Delay => "delay",
        })
    }
}

/// `99.9`, and `999` and `9999` as people write it in names, in millionths; `None` for what is no percentile between 0 and 100.
pub fn percent_millionths(digits: &str) -> Option<Millionths> {
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let dotted = match digits.split_at_checked(2) {
        Some((whole, rest)) if rest.len() <= 3 && !rest.is_empty() && !digits.contains('.') && digits != "100" => format!("{whole}.{rest}"),
        _ => digits.to_owned(),
    };
    let percent: f64 = dotted.parse().ok()?;
    let millionths = percent * 1e4;
    // 0 and 100 have names of their own: min and max.
    (0.0..=1e6).contains(&millionths).then(|| millionths.round() as Millionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_as_people_write_them() {
        let check = |name: &str, millionths: Option<Millionths>| {
            assert_eq!(Quantity::named(name), millionths.map(Quantity::Percentile), "{name}");
        };
        check("p50", Some(MEDIAN));
        check("p99", Some(990_000));
        check("p99.9", Some(999_000));
        check("p999", Some(999_000));
        check("p9999", Some(999_900));
        check("p100", Some(MAX));
        check("p5", Some(50_000));
        check("p", None);
        check("p99x", None);
        check("p99.9.9", None);
        check("px", None);
    }

    #[test]
    fn a_quantity_has_the_name_that_names_it() {
        for name in [
            "throughput",
            "mean",
            "min",
            "median",
            "max",
            "p90",
            "p99",
            "p99.9",
            "p99.99",
            "callers",
            "calls",
            "ok",
            "failed",
            "elapsed",
            "delay",
        ] {
            assert_eq!(Quantity::named(name).unwrap().to_string(), name);
        }
    }
}
