//! UTC dates for folder names and records, without a calendar library.

use std::time::{SystemTime, UNIX_EPOCH};

/// A moment in UTC, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    unix_s: u64,
}

impl Utc {
    /// Now, by the system's clock; 1970 if that is set before it.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { unix_s: since.as_secs() }
    }

    /// `2026-12-01`.
    pub fn date(self) -> String {
        let (year, month, day) = civil_from_days(self.unix_s / 86_400);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// RFC 3339: `2026-12-01T12:34:56Z`.
    pub fn rfc3339(self) -> String {
        let second = self.unix_s % 86_400;
        format!("{}T{:02}:{:02}:{:02}Z", self.date(), second / 3600, second / 60 % 60, second % 60)
    }
}

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_the_dates_that_other_programs_print() {
        // Checked against `date -u -d @N +%FT%TZ`.
        let check = |unix_s, expected| assert_eq!(Utc { unix_s }.rfc3339(), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_709_251_199, "2024-02-29T23:59:59Z");
        check(1_796_128_496, "2026-12-01T12:34:56Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
    }
}
