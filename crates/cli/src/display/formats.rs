//! Number formats of the display.

use base::Nanos;
use base::units::grouped;

/// Formats a time with three significant digits: `950 ns`, `1.40 ms`, `12.3 s`.
pub(super) fn time(time: Nanos) -> String {
    // A time that would be rounded to 1000 has the next unit.
    let (size, unit) = match time.0 {
        0..1_000 => return format!("{} ns", time.0),
        1_000..999_500 => (1e3, "µs"),
        999_500..999_500_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = time.0 as f64 / size;
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

/// Formats a time that may be unknown.
pub(super) fn maybe_time(known: Option<Nanos>) -> String {
    known.map_or_else(|| "–".to_owned(), time)
}

/// Formats a rate per second: whole from 100, with two decimals below.
pub(super) fn rate(per_s: f64) -> String {
    if per_s >= 99.5 { grouped(per_s.round() as u64) } else { format!("{per_s:.2}") }
}

/// Formats minutes and seconds as `01:30`, with hours if there are any.
pub(super) fn clock(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (950, "950 ns"),
            (1_400_000, "1.40 ms"),
            (9_996_000, "10.0 ms"),
            (99_960, "100 µs"),
            (999, "999 ns"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (999_960, "1.00 ms"),
            (999_499_999, "999 ms"),
            (999_500_000, "1.00 s"),
            (12_345_678_901, "12.3 s"),
        ] {
            assert_eq!(time(Nanos(nanos)), text);
        }
    }

    #[test]
    fn rates_and_clocks_are_short() {
        assert_eq!(rate(0.01), "0.01");
        assert_eq!(rate(3_002.4), "3,002");
        assert_eq!(clock(Nanos::from_secs(90)), "01:30");
        assert_eq!(clock(Nanos::from_secs(3_661)), "1:01:01");
    }
}
