//! Numbers in sentences about findings.

use crate::number::{fixed, significant};

/// Formats a number with at least three significant digits; below 1, with two or three decimals.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1.0 => significant(value),
        size if size >= 0.1 => fixed(value, 2),
        _ => fixed(value, 3),
    }
}

/// Formats a share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 0))
}

/// Formats a change in percent, with its sign and this number of decimals: `−5.0 %`.
pub(super) fn signed(by: f64, decimals: usize) -> String {
    let sign = if by < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", fixed(by.abs() * 100.0, decimals))
}

/// Formats a share in percent; a share below 1 % becomes `less than 1 %`.
pub(super) fn percent_or_less(share: f64) -> String {
    match share * 100.0 {
        small if small < 1.0 => "less than 1 %".to_owned(),
        percent => format!("{} %", fixed(percent, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped_and_small_ones_keep_their_digits() {
        for (value, text) in [
            (1_834.6, "1,835"),
            (999.96, "1,000"),
            (123.4, "123"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.1234, "0.12"),
            (0.0123, "0.012"),
            (0.0, "0.000"),
            (-5.0, "−5.00"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!((percent(12.345), signed(-12.0, 1)), ("1,234 %".into(), "−1,200.0 %".into()));
    }
}
