//! A number as a table prints it: its digits, and what they can stand for.

use super::interval::Interval;
use super::unit::Unit;

/// How a printed number came from the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Digits {
    /// Rounded to the nearest: half a unit of the last place either way.
    Rounded,
    /// Cut off, perhaps: a whole unit of the last place either way.
    Cut,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing, or a word for it.
    Empty,
    /// A number.
    Number(Printed),
    /// Something else.
    Unreadable,
}

/// A printed number.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// Its value in the unit that it is printed in.
    pub value: f64,
    /// One unit of its last place.
    pub step: f64,
    /// The unit behind it, if there is one.
    pub unit: Option<Unit>,
    /// Its digits alone, to compare to the digit.
    pub digits: String,
}

/// Words and signs for "no figure".
const NOTHING: [&str; 9] = ["", "-", "–", "—", "n/a", "na", "nan", "null", "not offered"];

impl Printed {
    /// What it can stand for, in a unit of this size.
    pub fn interval(&self, digits: Digits, unit_size: f64) -> Interval {
        let distance = match digits {
            Digits::Rounded => self.step / 2.0,
            Digits::Cut => self.step,
        };
        Interval::around(self.value, distance).scaled(unit_size)
    }

    /// True for a number without digits after the point.
    pub fn is_whole(&self) -> bool {
        self.step >= 1.0
    }

    /// Digits from the first that is not 0.
    pub fn significant_digits(&self) -> usize {
        self.digits
            .trim_start_matches(['0', '.'])
            .chars()
            .filter(char::is_ascii_digit)
            .count()
    }
}

/// Reads a cell: a number, with commas or underscores between thousands, `k` or `M` behind it, and a unit. What stands in brackets behind
/// it (a spread) is left out.
pub fn read(cell: &str) -> Cell {
    let text = undecorated(cell);
    if NOTHING.contains(&text.to_lowercase().as_str()) {
        return Cell::Empty;
    }
    number(&text).map_or(Cell::Unreadable, Cell::Number)
}

/// A text without Markdown's signs for bold, code and links, and without blanks around it.
pub fn undecorated(text: &str) -> String {
    let text = match (text.find('['), text.find("](")) {
        (Some(open), Some(close)) if open < close => text.get(open + 1..close).unwrap_or(text),
        _ => text,
    };
    text.replace("**", "")
        .replace(['`', '*'], "")
        .trim()
        .trim_start_matches(['~', '≈'])
        .trim()
        .to_owned()
}

fn number(text: &str) -> Option<Printed> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || ",._".contains(c)))
        .unwrap_or(text.len());
    let (written, rest) = text.split_at(end);
    let (digits, rest) = match exponent(rest) {
        Some((exponent, rest)) => (format!("{}e{exponent}", ungrouped(written)?), rest),
        None => (ungrouped(written)?, rest),
    };
    let value: f64 = digits.parse().ok()?;
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let step = 10f64.powi(exponent.parse::<i32>().ok()? - decimals);

    let rest = rest.split(['(', '[', '±']).next().unwrap_or_default().trim();
    let (factor, rest) = match rest.chars().next() {
        Some('k' | 'K') if Unit::named(rest).is_none() => (1e3, rest.get(1..)?.trim()),
        Some('M') if Unit::named(rest).is_none() => (1e6, rest.get(1..)?.trim()),
        _ => (1.0, rest),
    };
    let unit = match rest {
        "" => None,
        unit => Some(Unit::named(unit)?),
    };
    Some(Printed {
        value: value * factor,
        step: step * factor,
        unit,
        digits: mantissa.to_owned(),
    })
}

/// The exponent at the beginning of a text, and what follows it.
fn exponent(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let end = rest
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && "+-".contains(*c))))
        .map_or(rest.len(), |(at, _)| at);
    let (digits, rest) = rest.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

/// Digits without separators, which must stand between thousands: `9,19` could be two things, and is none.
fn ungrouped(text: &str) -> Option<String> {
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut groups = whole.split([',', '_']);
    let first = groups.next()?;
    let grouped = groups.clone().next().is_some();
    let fits = !grouped || ((1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let fraction = fraction.map_or(Some(String::new()), |fraction| {
        (digits(fraction) && !fraction.is_empty()).then(|| format!(".{fraction}"))
    })?;
    (fits && whole.starts_with(|c: char| c.is_ascii_digit())).then(|| whole.replace([',', '_'], "") + &fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, low: f64, high: f64, unit: Option<Unit>) {
        let Cell::Number(printed) = read(text) else {
            panic!("{text}: no number")
        };
        let interval = printed.interval(Digits::Rounded, 1.0);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        assert!(near(interval.low, low) && near(interval.high, high), "{text}: {interval:?}");
        assert_eq!(printed.unit, unit, "{text}");
    }

    #[test]
    fn digits_stand_for_all_that_rounds_to_them() {
        check("9.19", 9.185, 9.195, None);
        check("50002", 50_001.5, 50_002.5, None);
        check("213,812", 213_811.5, 213_812.5, None);
        check("1_000_000", 999_999.5, 1_000_000.5, None);
        check("0", 0.0, 0.5, None);
        check("1.5e3", 1450.0, 1550.0, None);
        check("45k", 44_500.0, 45_500.0, None);
        check("1.2M", 1_150_000.0, 1_250_000.0, None);
    }

    #[test]
    fn a_unit_and_a_spread_may_follow() {
        check("9.19 ms", 9.185, 9.195, Some(Unit::Time(1e6)));
        check("**9.19ms**", 9.185, 9.195, Some(Unit::Time(1e6)));
        check("122.7 ops/ms", 122.65, 122.75, Some(Unit::Rate(1e3)));
        check("24,452 (23,000–25,000)", 24_451.5, 24_452.5, None);
        check("3.1 µs (3.0–3.3)", 3.05, 3.15, Some(Unit::Time(1e3)));
        check("[89,693](log.txt)", 89_692.5, 89_693.5, None);
        check("12 ± 3 ms", 11.5, 12.5, None);
        check("45 kops/s", 44.5, 45.5, Some(Unit::Rate(1e3)));
        check("5 s", 4.5, 5.5, Some(Unit::Time(1e9)));
    }

    #[test]
    fn cut_off_digits_stand_for_a_whole_unit_either_way() {
        let Cell::Number(printed) = read("9") else { panic!("no number") };
        assert_eq!(printed.interval(Digits::Cut, 1e6), Interval { low: 8e6, high: 10e6 });
        assert!(printed.is_whole());
    }

    #[test]
    fn what_is_no_number_is_not_taken_for_one() {
        for text in ["", " - ", "n/a", "NaN", "**—**"] {
            assert_eq!(read(text), Cell::Empty, "{text}");
        }
        for text in [
            "fast", "-5", "9,19", "1,23,456", "1.", ".5", "5 MB/s", "1.2.3", "inf", ",5", "5 %", "1e", "1e+",
        ] {
            assert_eq!(read(text), Cell::Unreadable, "{text}");
        }
    }

    #[test]
    fn leading_zeros_are_not_significant() {
        let digits = |text| match read(text) {
            Cell::Number(printed) => printed.significant_digits(),
            _ => 0,
        };
        assert_eq!([digits("0.012"), digits("1,200"), digits("0.0"), digits("12.50")], [2, 4, 0, 4]);
    }
}
