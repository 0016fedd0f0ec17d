//! Formatting of numbers for people: three significant digits and a suitable unit.

use base::Nanos;
use base::units::grouped;

/// Formats a time, given in nanoseconds: `945 µs`, `1.40 ms`, `62.3 s`.
pub(crate) fn time(ns: f64) -> String {
    if ns == 0.0 {
        return "0".to_owned();
    }
    let small = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)];
    let unit = small.into_iter().find(|(_, size)| magnitude(ns / size) < 3);
    match unit.unwrap_or(("s", 1e9)) {
        ("ns", _) => format!("{ns:.0} ns"),
        (unit, size) => format!("{} {unit}", significant(ns / size)),
    }
}

/// Formats a span of a run: `60 s`, `12.3 s`, `250 ms`.
pub(crate) fn span(span: Nanos) -> String {
    let text = time(span.0 as f64);
    match text.split_once(' ') {
        Some((number, unit)) => format!("{} {unit}", trimmed(number)),
        None => format!("{text} s"),
    }
}

/// Formats a span of the run that is given in seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    span(Nanos::from_secs_f64(seconds))
}

/// Formats a rate: `3,002/s`, `76.3/s`, `0.01/s`.
pub(crate) fn rate(per_s: f64) -> String {
    format!("{}/s", plain(per_s))
}

/// Formats a number that is often whole: `16`, `12.5`, `1,835`.
pub(crate) fn plain(number: f64) -> String {
    trimmed(&significant(number)).to_owned()
}

/// Formats a number with this many decimals: `3,590.0`.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return significant(number);
    }
    let text = format!("{:.decimals$}", number.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let grouped = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    let is_zero = text.chars().all(|digit| ['0', '.'].contains(&digit));
    let sign = if number < 0.0 && !is_zero { "−" } else { "" };
    format!("{sign}{grouped}{rest}")
}

/// Formats a fraction as a percentage: `16.2 %`, `0.008 %`.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{} %", trimmed(&significant(fraction * 100.0)))
}

/// Formats a part of a whole in percent with two decimals, rounded down: only the whole is 100 %.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// Formats a number of bytes, in powers of a thousand: `512 B`, `12.3 MB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let small = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
    let bytes = bytes as f64;
    let unit = small.into_iter().find(|(_, size)| magnitude(bytes / size) < 3);
    let (unit, size) = unit.unwrap_or(("TB", 1e12));
    let number = significant(bytes / size);
    format!("{} {unit}", if unit == "B" { trimmed(&number) } else { &number })
}

/// Formats a count with its noun: `1 client`, `1,200 clients`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// Formats processors, which a quota may divide: `1 processor`, `0.4 processors`.
pub(crate) fn processors(number: f64) -> String {
    let rounded = (number * 100.0).round() / 100.0;
    let plural = if rounded == 1.0 { "" } else { "s" };
    format!("{rounded} processor{plural}")
}

/// Formats a range; if both ends have the same unit, it is written once: `1.40–1.55 ms`.
pub(crate) fn range(low: &str, high: &str) -> String {
    let unit = |text: &str| text.find([' ', '/']).unwrap_or(text.len());
    let (number, same) = low.split_at(unit(low));
    match same == &high[unit(high)..] {
        true => format!("{number}–{high}"),
        false => format!("{low}–{high}"),
    }
}

/// Placeholder for a missing number.
pub(crate) const NONE: &str = "–";

/// Formats a number with three significant digits; a number of a thousand or more has all digits
/// before the point.
pub(crate) fn significant(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() { "unknown" } else { "∞" }.to_owned();
    }
    let (sign, size) = (if number < 0.0 { "−" } else { "" }, number.abs());
    match magnitude(size) {
        3.. => format!("{sign}{}", grouped(size.round() as u64)),
        below => format!("{sign}{size:.*}", (2 - below) as usize),
    }
}

/// Removes trailing zeros after the decimal point, and a trailing point.
pub(crate) fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// Returns the power of ten of a number's first digit, after rounding to three digits; 0 for zero.
fn magnitude(number: f64) -> i32 {
    let rounded = format!("{number:.2e}");
    let exponent = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    exponent.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_the_unit_that_suits_them() {
        for (ns, text) in [
            (0.0, "0"),
            (7.0, "7 ns"),
            (945.0, "945 ns"),
            (999.6, "1.00 µs"),
            (945_400.0, "945 µs"),
            (1_399_999.0, "1.40 ms"),
            (999_499_999.0, "999 ms"),
            (999_500_000.0, "1.00 s"),
            (62_345_000_000.0, "62.3 s"),
            (3_600_000_000_000.0, "3,600 s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn spans_have_no_trailing_zeros() {
        for (ns, text) in [(0, "0 s"), (60_000_000_000, "60 s"), (2_500_000_000, "2.5 s")] {
            assert_eq!(span(Nanos(ns)), text);
        }
    }

    #[test]
    fn rates_are_grouped_or_short() {
        for (per_s, text) in
            [(3_002.46, "3,002/s"), (76.349, "76.3/s"), (10.0, "10/s"), (0.01, "0.01/s")]
        {
            assert_eq!(rate(per_s), text);
        }
    }

    #[test]
    fn percentages_round_to_100_only_for_the_whole() {
        assert_eq!(share(999_999, 1_000_000), "99.99 %");
        assert_eq!(share(5, 5), "100.00 %");
        assert_eq!(share(0, 0), "0.00 %");
        assert_eq!(percent(0.162), "16.2 %");
        assert_eq!(percent(0.000_08), "0.008 %");
        assert_eq!(percent(0.0), "0 %");
    }

    #[test]
    fn bytes_are_in_powers_of_a_thousand() {
        for (number, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (12_345_678, "12.3 MB"),
            (999_999, "1.00 MB"),
            (u64::MAX, "18,446,744 TB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn a_range_names_its_unit_once() {
        for (low, high, text) in [
            ("1.40 ms", "1.55 ms", "1.40–1.55 ms"),
            ("945 µs", "1.20 ms", "945 µs–1.20 ms"),
            ("98.1/s", "1,024/s", "98.1–1,024/s"),
            ("0", "1.20 ms", "0–1.20 ms"),
        ] {
            assert_eq!(range(low, high), text);
        }
    }

    #[test]
    fn missing_number_is_shown_as_such() {
        assert_eq!(significant(f64::INFINITY), "∞");
        assert_eq!(significant(f64::NAN), "unknown");
        assert_eq!(significant(0.0), "0.00");
    }

    #[test]
    fn digits_before_the_point_are_grouped() {
        for (number, decimals, text) in [
            (3_590.04, 1, "3,590.0"),
            (999.96, 1, "1,000.0"),
            (-1_234_567.5, 0, "−1,234,568"),
            (0.25, 2, "0.25"),
            (-0.04, 1, "0.0"),
            (f64::INFINITY, 1, "∞"),
        ] {
            assert_eq!(fixed(number, decimals), text);
        }
        assert_eq!([16.0, 12.5, 1_835.4].map(plain), ["16", "12.5", "1,835"]);
    }

    #[test]
    fn negative_number_has_a_minus_sign() {
        assert_eq!(significant(-4.1), "−4.10");
        assert_eq!(significant(-1_234.4), "−1,234");
        assert_eq!(percent(-0.052), "−5.2 %");
    }

    #[test]
    fn count_of_one_is_singular() {
        assert_eq!(count(1, "client"), "1 client");
        assert_eq!(count(1_200, "client"), "1,200 clients");
    }

    #[test]
    fn part_of_a_processor_is_not_rounded_to_none() {
        for (number, expected) in [
            (0.4, "0.4 processors"),
            (1.0, "1 processor"),
            (1.004, "1 processor"),
            (1.25, "1.25 processors"),
            (64.0, "64 processors"),
        ] {
            assert_eq!(processors(number), expected, "{number}");
        }
    }
}
