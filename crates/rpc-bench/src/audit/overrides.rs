//! `--columns`: what the columns of a table are that their names do not say.

use std::str::FromStr;

use super::columns::Role;
use super::quantity::Quantity;
use super::unit::Unit;

/// One `HEADER=FIGURE[:UNIT]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// The column's name as it stands in the table; upper and lower case are the same.
    pub header: String,
    /// What it is.
    pub role: Role,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "'{text}': expected HEADER=FIGURE or HEADER=FIGURE:UNIT, for example 'score=throughput:ops/ms'; figures are throughput, mean, \
                 min, median, p90, p99.9 (any percentile), max, callers, calls, ok, failed, elapsed, delay, name, ignore"
            )
        };
        let (header, meaning) = text.rsplit_once('=').ok_or_else(form)?;
        let (name, unit) = meaning.split_once(':').map_or((meaning, None), |(name, unit)| (name, Some(unit)));
        let unit = match unit {
            None => None,
            Some(unit) => {
                Some(Unit::named(unit).ok_or_else(|| format!("'{text}': '{unit}' is no unit such as ns, us, ms, s, ops/s, ops/ms"))?)
            }
        };
        let role = match (name.trim(), unit) {
            ("name", None) => Role::Label,
            ("ignore", None) => Role::Ignored,
            (name, unit) => {
                let quantity = Quantity::named(name).ok_or_else(form)?;
                if unit.is_some_and(|unit| !quantity.can_be_in(unit)) {
                    return Err(format!("'{text}': {quantity} is not in such a unit"));
                }
                Role::Figure(quantity, unit)
            }
        };
        match header.trim() {
            "" => Err(form()),
            header => Ok(Self {
                header: header.to_lowercase(),
                role,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_gets_a_figure_and_a_unit() {
        let check = |text: &str, header: &str, role: Role| {
            assert_eq!(
                text.parse(),
                Ok(Override {
                    header: header.to_owned(),
                    role
                }),
                "{text}"
            );
        };
        check(
            "Score=throughput:ops/ms",
            "score",
            Role::Figure(Quantity::Throughput, Some(Unit::Rate(1e3))),
        );
        check("tail=p99.9", "tail", Role::Figure(Quantity::Percentile(999_000), None));
        check("a=b=name", "a=b", Role::Label);
        check("error=ignore", "error", Role::Ignored);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_form() {
        for text in [
            "score",
            "score=",
            "=mean",
            "score=speed",
            "score=mean:ops/s",
            "score=ok:ms",
            "score=mean:parsec",
            "score=name:ms",
        ] {
            let error = text.parse::<Override>().unwrap_err();
            assert!(error.contains(text), "{error}");
        }
    }
}
