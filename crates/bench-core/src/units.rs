//! Numbers for people: thousands separators, units of time and memory. Never `nan` or `inf`.

use std::time::Duration;

/// What stands for a figure that there is not.
pub const NOTHING: &str = "n/a";

/// A whole number with thousands separators: `41,234`.
pub fn grouped(number: f64) -> String {
    if !number.is_finite() {
        return NOTHING.to_owned();
    }
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 && digits != "0" { format!("-{text}") } else { text }
}

/// A rate that was asked for: whole with thousands separators, below 100 as it was written: `2,000`, `0.5`.
pub fn calls_per_s(rate: f64) -> String {
    if rate < 100.0 { rate.to_string() } else { grouped(rate) }
}

/// A time in nanoseconds with three digits and its unit: `950 ns`, `12.3 µs`, `1.23 ms`, `10.0 s`.
pub fn time(ns: f64) -> String {
    if !ns.is_finite() {
        return NOTHING.to_owned();
    }
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    // The bound lies a rounding step below the unit, so that 999.95 µs is 1.00 ms and not 1000 µs.
    match units.into_iter().find(|(size, _)| ns >= size * 0.9995) {
        Some((size, unit)) => format!("{} {unit}", three_digits(ns / size)),
        None => format!("{ns:.0} ns"),
    }
}

/// A number with three significant digits, thousands separated.
pub fn three_digits(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        size if size >= 99.95 => grouped(number),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// Bytes in MiB or GiB: `12.3 MiB`.
pub fn memory(bytes: u64) -> String {
    let mib = bytes as f64 / (1u64 << 20) as f64;
    if mib >= 1023.5 {
        format!("{} GiB", three_digits(mib / 1024.0))
    } else {
        format!("{} MiB", three_digits(mib))
    }
}

/// A share from 0 to 1 in percent: `98.7 %`.
pub fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{:.1} %", share * 100.0)
    } else {
        NOTHING.to_owned()
    }
}

/// A duration to the second: `3m12s`, `1h02m`, `9s`.
pub fn duration_in_words(duration: Duration) -> String {
    let seconds = (duration.as_millis() + 500) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// The middle one, or the mean of the two in the middle; `None` without numbers. The order does not matter.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len.is_multiple_of(2) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        _ => Some(sorted[middle]),
    }
}

/// `median (least–greatest)` of several runs, the number alone of one, `n/a` of none.
pub fn spread(numbers: &[f64], format: impl Fn(f64) -> String) -> String {
    let Some(middle) = median(numbers) else { return NOTHING.to_owned() };
    if numbers.len() == 1 {
        return format(middle);
    }
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} ({}–{})", format(middle), format(least), format(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [0.0, 999.0, 1000.4, 1_234_567.0, -1000.0].map(grouped),
            ["0", "999", "1,000", "1,234,567", "-1,000"]
        );
        assert_eq!([0.5, 15.0, 2_000.0].map(calls_per_s), ["0.5", "15", "2,000"]);
        assert_eq!(
            [12.0, 999.96, 12_345.0, 999_999.0].map(time),
            ["12 ns", "1.00 µs", "12.3 µs", "1.00 ms"]
        );
        assert_eq!([1.5e6, 70e9, 0.0].map(time), ["1.50 ms", "70.0 s", "0 ns"]);
        assert_eq!([0.5, 12.345, 123.4, 99.96].map(three_digits), ["0.50", "12.3", "123", "100"]);
        assert_eq!([1 << 20, 150 << 20, 3 << 30].map(memory), ["1.00 MiB", "150 MiB", "3.00 GiB"]);
        assert_eq!(
            [9, 192, 3720].map(|s| duration_in_words(Duration::from_secs(s))),
            ["9s", "3m12s", "1h02m"]
        );
    }

    #[test]
    fn what_is_no_number_is_not_printed() {
        for format in [grouped, time, three_digits, percent] {
            assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(format), [NOTHING; 3]);
        }
    }

    #[test]
    fn several_runs_are_a_median_with_its_spread() {
        assert_eq!(spread(&[], grouped), "n/a");
        assert_eq!(spread(&[5.0], grouped), "5");
        assert_eq!(spread(&[9.0, 1.0, 4.0], grouped), "4 (1–9)");
        assert_eq!(median(&[1.0, 4.0]), Some(2.5));
    }
}
