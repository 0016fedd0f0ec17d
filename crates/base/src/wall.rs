//! Calendar time, for the headers of records and the values of `timestamp()`.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Nanos;

/// An instant in calendar time: nanoseconds since 1970-01-01 00:00:00 UTC, leap seconds ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub i64);

impl WallTime {
    /// The beginning of 1970, which is "now" in virtual time.
    pub const EPOCH: WallTime = WallTime(0);

    /// Reads the machine's wall clock.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    pub fn now() -> WallTime {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        WallTime(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }

    /// Returns the instant `nanos` later (earlier if negative).
    pub fn plus(self, nanos: i64) -> WallTime {
        WallTime(self.0.saturating_add(nanos))
    }

    /// Returns the instant `span` later.
    pub fn after(self, span: Nanos) -> WallTime {
        self.plus(i64::try_from(span.0).unwrap_or(i64::MAX))
    }

    /// Returns seconds since the epoch.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Formats as `20261121T201502Z`, which sorts by time and is a valid file name everywhere.
    pub fn compact(self) -> String {
        let t = self.fields();
        format!(
            "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
            t.year, t.month, t.day, t.hour, t.minute, t.second
        )
    }

    /// Appends `2026-11-21 20:15:02.123456`, the form that every SQL database reads as a timestamp.
    pub fn write_sql(self, out: &mut String) {
        let t = self.fields();
        push_digits(out, t.year.unsigned_abs(), 4);
        for (separator, number) in
            [('-', t.month), ('-', t.day), (' ', t.hour), (':', t.minute), (':', t.second)]
        {
            out.push(separator);
            push_digits(out, number.into(), 2);
        }
        out.push('.');
        push_digits(out, (t.nanosecond / 1_000).into(), 6);
    }

    fn fields(self) -> Fields {
        let days = self.0.div_euclid(86_400_000_000_000);
        let in_day = self.0.rem_euclid(86_400_000_000_000);
        let seconds = in_day / 1_000_000_000;
        let (year, month, day) = civil_from_days(days);
        Fields {
            year,
            month,
            day,
            hour: (seconds / 3_600) as u32,
            minute: (seconds / 60 % 60) as u32,
            second: (seconds % 60) as u32,
            nanosecond: (in_day % 1_000_000_000) as u32,
        }
    }
}

impl fmt::Display for WallTime {
    /// Writes RFC 3339 to the second, in UTC: `2026-11-21T20:15:02Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = self.fields();
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            t.year, t.month, t.day, t.hour, t.minute, t.second
        )
    }
}

struct Fields {
    year: i64,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
}

/// Appends `number` with at least `width` digits, without allocating.
fn push_digits(out: &mut String, number: u64, width: u32) {
    let digits = number.checked_ilog10().unwrap_or(0) + 1;
    for place in (0..digits.max(width)).rev() {
        let digit = (number / 10u64.pow(place) % 10) as u8;
        out.push(char::from(b'0' + digit));
    }
}

/// Returns year, month and day of a day number (days since 1970-01-01) in the proleptic Gregorian
/// calendar. Counts in eras of 400 years that begin on the first of March, which makes the leap day
/// the last day of its year.
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let from_march = days + 719_468;
    let era = from_march.div_euclid(146_097);
    let day_of_era = from_march.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(nanos: i64) -> String {
        let mut text = String::new();
        WallTime(nanos).write_sql(&mut text);
        text
    }

    #[test]
    fn known_dates_are_printed_as_the_calendar_has_them() {
        assert_eq!(WallTime::EPOCH.to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(WallTime(951_782_400_000_000_000).to_string(), "2000-02-29T00:00:00Z");
        assert_eq!(WallTime(1_795_292_102_000_000_000).to_string(), "2026-11-21T20:15:02Z");
        assert_eq!(WallTime(1_795_292_102_000_000_000).compact(), "20261121T201502Z");
        assert_eq!(sql(1_795_292_102_123_456_789), "2026-11-21 20:15:02.123456");
    }

    #[test]
    fn times_before_the_epoch_are_dates_too() {
        assert_eq!(sql(-1_000), "1969-12-31 23:59:59.999999");
        assert_eq!(WallTime(-86_400_000_000_000).to_string(), "1969-12-31T00:00:00Z");
    }
}
