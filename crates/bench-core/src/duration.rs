//! Durations as people write them on a command line or in a sweep file.

use std::time::Duration;

/// The longest duration that a flag takes.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Units, and nanoseconds in each.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
];

/// Reads `2500us`, `0.5s` or `10`; a number without a unit is in `default_unit`.
///
/// # Errors
/// One sentence that names the form, when the text is no number with a unit, is negative, or is over 24 h.
pub fn parse(text: &str, default_unit: &str) -> Result<Duration, String> {
    let form =
        || format!("expected a duration such as 10ms, 2500us or 1.5s (units ns, us, ms, s, m, h; a number alone is in {default_unit})");
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = if unit.is_empty() { default_unit } else { unit };
    let number: f64 = number.parse().map_err(|_| form())?;
    let (_, unit_ns) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(form)?;
    let ns = (number * unit_ns).round();
    if !ns.is_finite() || ns > LONGEST.as_nanos() as f64 {
        return Err("the longest duration is 24h".to_owned());
    }
    if number > 0.0 && ns == 0.0 {
        return Err("shorter than a nanosecond".to_owned());
    }
    Ok(Duration::from_nanos(ns as u64))
}

/// The shortest exact way to write a duration: `10ms`, `2500us`, `1.5s` as `1500ms`.
pub fn format(duration: Duration) -> String {
    let ns = duration.as_nanos();
    for (unit, unit_ns) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if ns.is_multiple_of(unit_ns) {
            return format!("{}{unit}", ns / unit_ns);
        }
    }
    format!("{ns}ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let check = |text: &str, ns: u64| {
            assert_eq!(parse(text, "ms"), Ok(Duration::from_nanos(ns)), "{text}");
        };
        check("0", 0);
        check("10", 10_000_000);
        check("30ms", 30_000_000);
        check("2500us", 2_500_000);
        check("0.5s", 500_000_000);
        check("1.5m", 90_000_000_000);
        check("7ns", 7);
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_form_it_takes() {
        for text in [
            "",
            "ms",
            "-1",
            "-5ms",
            "1x",
            "nan",
            "inf",
            "1e12",
            "1.2.3",
            "10 m s",
            "0.1ns",
            "99999999h",
            "+1",
        ] {
            assert!(parse(text, "s").is_err(), "{text}");
        }
        assert!(parse("fast", "ms").unwrap_err().contains("2500us"));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for ns in [0, 1, 2_500_000, 10_000_000, 1_500_000_000, 60_000_000_001] {
            let duration = Duration::from_nanos(ns);
            assert_eq!(parse(&format(duration), "h"), Ok(duration));
        }
    }
}
