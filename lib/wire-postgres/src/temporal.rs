//! Dates and times in PostgreSQL's representation: days and microseconds since the year 2000.
//! PostgreSQL manual, "Date/Time Types"; the binary forms are those of the server's functions
//! `timestamp_recv`, `date_recv` and `time_recv`.
//!
//! Only the ISO form is parsed, as it has the same meaning under every setting: `2024-02-29`,
//! `13:45:00.25`, both with a space or a `T` between them, and a zone if the type has one. A server
//! accepts many more forms (`now`, `Jan 8 1999`); for these, the functions return `None`, and the
//! caller sends the text to the server.

/// Length of a second, in microseconds.
const SECOND: i64 = 1_000_000;

/// Length of a day, in microseconds.
const DAY: i64 = 86_400 * SECOND;

/// Number of days from the year 1 to the year 2000.
const EPOCH: i64 = 730_119;

/// Parses a date and returns it in days since 2000-01-01.
pub(crate) fn date(text: &str) -> Option<i32> {
    let (days, rest) = days(text.as_bytes())?;
    rest.is_empty().then(|| i32::try_from(days).ok())?
}

/// Parses a time and returns it in microseconds since midnight.
pub(crate) fn time(text: &str) -> Option<i64> {
    let (time, rest) = time_of_day(text.as_bytes())?;
    rest.is_empty().then_some(time)
}

/// Parses a timestamp without a zone and returns it in microseconds since 2000-01-01.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    let (stamp, rest) = date_and_time(text.as_bytes())?;
    rest.is_empty().then_some(stamp)
}

/// Parses a timestamp with a zone and returns it in microseconds since 2000-01-01 UTC; `None`
/// without a zone, because the value would then depend on the session.
pub(crate) fn timestamptz(text: &str) -> Option<i64> {
    let (stamp, rest) = date_and_time(text.as_bytes())?;
    stamp.checked_sub(zone(rest)?)
}

fn date_and_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let (days, rest) = days(text)?;
    let midnight = days.checked_mul(DAY)?;
    match rest.split_first() {
        Some((b' ' | b'T', rest)) => {
            let (time, rest) = time_of_day(rest)?;
            Some((midnight.checked_add(time)?, rest))
        }
        Some(_) => None,
        None => Some((midnight, rest)),
    }
}

/// Parses `YYYY-MM-DD`. Returns the date in days since 2000-01-01, and the rest of the text.
fn days(text: &[u8]) -> Option<(i64, &[u8])> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(strip_byte(rest, b'-')?, 2)?;
    let (day, rest) = digits(strip_byte(rest, b'-')?, 2)?;
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let (before, length) = match month {
        1 => (0, 31),
        2 => (31, if is_leap { 29 } else { 28 }),
        3 => (59, 31),
        4 => (90, 30),
        5 => (120, 31),
        6 => (151, 30),
        7 => (181, 31),
        8 => (212, 31),
        9 => (243, 30),
        10 => (273, 31),
        11 => (304, 30),
        12 => (334, 31),
        _ => return None,
    };
    if year == 0 || day == 0 || day > length {
        return None;
    }
    let leap_day = i64::from(is_leap && month > 2);
    let past = year.checked_sub(1)?;
    #[expect(clippy::arithmetic_side_effects, reason = "years of four digits are far from limits")]
    let days =
        past * 365 + past / 4 - past / 100 + past / 400 + before + leap_day + day - 1 - EPOCH;
    Some((days, rest))
}

/// Parses `HH:MM[:SS[.ffffff]]`. Returns the time in microseconds, and the rest of the text.
fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(strip_byte(rest, b':')?, 2)?;
    let (second, fraction, rest) = match strip_byte(rest, b':') {
        Some(rest) => second(rest)?,
        // The server reads `13:45.25` as minutes and seconds.
        None if rest.first() == Some(&b'.') => return None,
        None => (0, 0, rest),
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    #[expect(clippy::arithmetic_side_effects, reason = "a day is far from limits")]
    let time = ((hour * 60 + minute) * 60 + second) * SECOND + fraction;
    Some((time, rest))
}

/// Parses `SS[.ffffff]`. Returns the seconds, the fraction in microseconds, and the rest of the
/// text.
fn second(text: &[u8]) -> Option<(i64, i64, &[u8])> {
    let (second, rest) = digits(text, 2)?;
    match strip_byte(rest, b'.') {
        Some(rest) => fraction(rest).map(|(fraction, rest)| (second, fraction, rest)),
        None => Some((second, 0, rest)),
    }
}

/// Parses a fraction of a second with one to six digits. Returns it in microseconds, and the rest
/// of the text.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let mut unit = SECOND;
    let mut fraction: i64 = 0;
    let mut rest = text;
    while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
        // A seventh digit would have to be rounded, which is left to the server.
        unit = (unit > 1).then_some(unit / 10)?;
        fraction = fraction.checked_add(value(*digit).checked_mul(unit)?)?;
        rest = after;
    }
    (unit < SECOND).then_some((fraction, rest))
}

/// Parses `Z`, `±HH` or `±HH:MM`. Returns the offset east of Greenwich, in microseconds.
fn zone(text: &[u8]) -> Option<i64> {
    if text == b"Z" {
        return Some(0);
    }
    let (sign, rest) = text.split_first()?;
    let (hours, rest) = digits(rest, 2)?;
    let (minutes, rest) = match strip_byte(rest, b':') {
        Some(rest) => digits(rest, 2)?,
        None => (0, rest),
    };
    // The server's limit: less than 16 hours.
    if hours > 15 || minutes > 59 || !rest.is_empty() {
        return None;
    }
    #[expect(clippy::arithmetic_side_effects, reason = "a day is far from limits")]
    let east = (hours * 60 + minutes) * 60 * SECOND;
    match sign {
        b'+' => Some(east),
        b'-' => east.checked_neg(),
        _ => None,
    }
}

fn strip_byte(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.split_first().and_then(|(first, rest)| (*first == byte).then_some(rest))
}

/// Parses a number with this count of digits. Also returns the rest.
fn digits(text: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let number = digits.iter().try_fold(0_i64, |number, digit| {
        digit.is_ascii_digit().then(|| number.checked_mul(10)?.checked_add(value(*digit)))?
    })?;
    Some((number, rest))
}

fn value(digit: u8) -> i64 {
    i64::from(digit.wrapping_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_2000() {
        let check = |text, days| assert_eq!(date(text), days, "{text}");
        check("2000-01-01", Some(0));
        check("1999-12-31", Some(-1));
        check("1970-01-01", Some(-10_957));
        check("2000-03-01", Some(60));
        check("2024-02-29", Some(8_825));
        check("0001-01-01", Some(-730_119));
        check("9999-12-31", Some(2_921_939));
        for text in ["2023-02-29", "2024-13-01", "2024-00-10", "0000-01-01", "24-01-01", "now", ""]
        {
            check(text, None);
        }
        check("2024-02-29 00:00", None);
    }

    #[test]
    fn times_count_microseconds() {
        let check = |text, micros| assert_eq!(time(text), micros, "{text}");
        check("00:00", Some(0));
        check("13:45:00.25", Some(49_500_250_000));
        check("23:59:59.999999", Some(DAY - 1));
        for text in ["24:00:00", "1:00", "00:60", "00:00:60", "00:00:00.", "00:00:00.1234567"] {
            check(text, None);
        }
        check("13:45.25", None);
    }

    #[test]
    fn timestamps_are_days_and_times_and_zones() {
        assert_eq!(timestamp("2000-01-02"), Some(DAY));
        assert_eq!(timestamp("2000-01-02 00:00:01"), Some(DAY + SECOND));
        assert_eq!(timestamp("2000-01-02T00:00:01"), Some(DAY + SECOND));
        assert_eq!(timestamp("2000-01-02 00:00:01Z"), None);
        assert_eq!(timestamptz("2000-01-01 00:00:00Z"), Some(0));
        assert_eq!(timestamptz("2000-01-01 02:00:00+02"), Some(0));
        assert_eq!(timestamptz("1999-12-31 18:30:00-05:30"), Some(0));
        for text in ["2000-01-01 00:00:00", "2000-01-01 00:00+16", "2000-01-01 00:00+1", "x"] {
            assert_eq!(timestamptz(text), None, "{text}");
        }
    }
}
