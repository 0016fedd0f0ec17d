//! Parsers for numbers as Go's package `strconv` reads them, for files and flags of Go programs.

use crate::units::{Decimal, UnitError};

/// Parses a number in the syntax of Go's `ParseFloat`: `+5`, `1e3`, `1_000.5`, `0x1.8p-2`.
///
/// # Errors
/// Not a number by Go's syntax, infinity or not-a-number, a negative number, or a number that a
/// [`Decimal`] cannot hold.
pub fn parse_float(text: &str) -> Result<Decimal, UnitError> {
    let Some(negative) = text.strip_prefix('-') else {
        return parse_unsigned(text.strip_prefix('+').unwrap_or(text));
    };
    match parse_unsigned(negative)? {
        zero @ Decimal { digits: 0, .. } => Ok(zero),
        _ => Err(UnitError::Negative),
    }
}

fn parse_unsigned(text: &str) -> Result<Decimal, UnitError> {
    let lower = text.to_ascii_lowercase();
    if lower.starts_with(['+', '-']) || !are_between_digits(&lower) {
        return Err(UnitError::NotANumber);
    }
    let digits = lower.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => parse_hexadecimal(hexadecimal),
        None => Decimal::parse(&digits),
    }
}

/// Returns true if each underscore is between two digits, or after the prefix of a base.
fn are_between_digits(text: &str) -> bool {
    let (is_prefixed, number) = match text.as_bytes() {
        [b'0', b'x' | b'b' | b'o', ..] => (true, &text[2..]),
        _ => (false, text),
    };
    let is_hexadecimal = text.starts_with("0x");
    let is_digit = |character: Option<char>| match character {
        Some(character) if is_hexadecimal => character.is_ascii_hexdigit(),
        Some(character) => character.is_ascii_digit(),
        None => false,
    };
    number.match_indices('_').all(|(place, _)| {
        let before = number[..place].chars().next_back();
        let after = number[place + 1..].chars().next();
        is_digit(after) && (is_digit(before) || is_prefixed && place == 0)
    })
}

/// Parses `1.8p-2`: hexadecimal digits and a power of two, which Go requires. Every such number is
/// a finite decimal fraction.
fn parse_hexadecimal(text: &str) -> Result<Decimal, UnitError> {
    let (mantissa, exponent) = text.split_once('p').ok_or(UnitError::NotANumber)?;
    let exponent: i64 = exponent.parse::<i32>().map_err(|_| UnitError::NotANumber)?.into();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(UnitError::NotANumber);
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(Decimal { digits: 0, scale: 0 });
    }
    let digits = u64::from_str_radix(digits, 16).map_err(|_| UnitError::TooLarge)?;
    times_power_of_two(digits, exponent - 4 * fraction.len() as i64)
}

/// Returns `number` · 2^`exponent` as a decimal fraction; `number` is not zero.
fn times_power_of_two(number: u64, exponent: i64) -> Result<Decimal, UnitError> {
    let twos = number.trailing_zeros();
    let (odd, exponent) = (number >> twos, exponent + i64::from(twos));
    let power = u32::try_from(exponent.unsigned_abs()).map_err(|_| UnitError::TooLarge)?;
    let base: u64 = if exponent < 0 { 5 } else { 2 };
    let factor = base.checked_pow(power).ok_or(UnitError::TooLarge)?;
    let digits = odd.checked_mul(factor).ok_or(UnitError::TooLarge)?;
    match exponent < 0 {
        true if power > 18 => Err(UnitError::TooLarge),
        true => Ok(Decimal { digits, scale: power }),
        false => Ok(Decimal { digits, scale: 0 }),
    }
}

/// Parses a whole number as Go's `ParseInt` does with base 0: `16`, `0x10`, `0b1_0000`, `0o20`,
/// `020` (which is sixteen), with or without a sign.
///
/// # Errors
/// Not a whole number by Go's syntax, or a number of more than 64 bits.
pub fn parse_int(text: &str) -> Result<i64, UnitError> {
    let lower = text.to_ascii_lowercase();
    let unsigned = lower.strip_prefix(['+', '-']).unwrap_or(&lower);
    if !are_between_digits(unsigned) {
        return Err(UnitError::NotANumber);
    }
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'x', ..] => (16, &unsigned[2..]),
        [b'0', b'o', ..] => (8, &unsigned[2..]),
        [b'0', b'b', ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(UnitError::NotANumber);
    }
    let sign = if lower.starts_with('-') { "-" } else { "" };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).map_err(|_| UnitError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected results are those of Go 1.2x, except for the precision of very small and very
    /// large numbers.
    #[test]
    fn numbers_with_a_point_are_read_as_go_reads_them() {
        for (text, digits, scale) in [
            ("5", 5, 0),
            ("+5", 5, 0),
            (".5", 5, 1),
            ("5.", 5, 0),
            ("1e3", 1_000, 0),
            ("1E3", 1_000, 0),
            ("1_000", 1_000, 0),
            ("1_0.5", 105, 1),
            ("1_23.50_0_0e+1_2", 123_500_000_000_000, 0),
            ("0x1p-2", 25, 2),
            ("0X1P+4", 16, 0),
            ("0x1.8p1", 3, 0),
            ("0x.8p0", 5, 1),
            ("0x_1p0", 1, 0),
            ("0x0p9", 0, 0),
            ("-0", 0, 0),
            ("-0.0", 0, 0),
            ("0x1_0p0", 16, 0),
        ] {
            assert_eq!(parse_float(text), Ok(Decimal { digits, scale }), "{text}");
        }
    }

    #[test]
    fn numbers_that_go_rejects_are_errors() {
        for text in [
            "", "+", "_1", "1_", "1__0", "1._5", "1_.5", "1e", "0x10", "0xp1", "0x", "++5", "+-5",
            "1e_3", "1k", "0b1", "0x1p", "0x1_p1", "five", "-", "--5", "inf", "+Inf", "NaN",
        ] {
            assert_eq!(parse_float(text), Err(UnitError::NotANumber), "{text}");
        }
        for text in ["-1", "-0x1p-2", "-1_0"] {
            assert_eq!(parse_float(text), Err(UnitError::Negative), "{text}");
        }
        for text in ["0x1p64", "0x1p-30", "0x1ffffffffffffffffp0", "0x1p2147483647", "1e400"] {
            assert_eq!(parse_float(text), Err(UnitError::TooLarge), "{text}");
        }
    }

    #[test]
    fn integers_may_have_a_base_prefix() {
        for (text, number) in [
            ("5", 5),
            ("+5", 5),
            ("-5", -5),
            ("0", 0),
            ("0x10", 16),
            ("0X1f", 31),
            ("-0x1", -1),
            ("0b1_0000", 16),
            ("0o17", 15),
            ("017", 15),
            ("0_7", 7),
            ("0x_1", 1),
            ("1_000", 1_000),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(parse_int(text), Ok(number), "{text}");
        }
        for text in ["", "-", "08", "1__0", "_1", "1_", "0x", "1.5", "1e3", "five", "+-1"] {
            assert_eq!(parse_int(text), Err(UnitError::NotANumber), "{text}");
        }
        assert_eq!(parse_int("9223372036854775808"), Err(UnitError::TooLarge));
    }
}
