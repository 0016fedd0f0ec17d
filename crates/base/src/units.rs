//! Parsers for numbers with units: durations (`1m30s`), counts (`100k`), decimals.
//!
//! Used by workload files, by the options of target URLs and by the command line, to give one
//! spelling the same meaning everywhere. All arithmetic is in integers: `0.1s` is exactly
//! 100,000,000 ns.

use crate::Nanos;

/// The reason why a text is not a number or a duration. Its `Display` is the second half of a
/// sentence that begins with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitError {
    /// No number where one is required.
    NotANumber,
    /// A duration's number has no unit.
    UnitMissing,
    /// The letters after a number are not a unit.
    UnknownUnit,
    /// A minus where only zero and more are allowed.
    Negative,
    /// Above the largest number that the type can hold.
    TooLarge,
    /// Between zero and 10⁻¹⁸.
    TooSmall,
    /// A fraction where only whole numbers are allowed.
    NotWhole,
}

impl std::fmt::Display for UnitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            UnitError::NotANumber => "is not a number",
            UnitError::UnitMissing => "has no unit: write `10s`, `250ms`, `1m30s` or `1h`",
            UnitError::UnknownUnit => "has an unknown unit: units are ns, us, ms, s, m, h and d",
            UnitError::Negative => "is negative",
            UnitError::TooLarge => "is too large",
            UnitError::TooSmall => "is too small: the smallest number above zero is 1e-18",
            UnitError::NotWhole => "is not a whole number",
        })
    }
}

impl std::error::Error for UnitError {}

/// A non-negative decimal number: `digits / 10^scale`, exact except for dropped last decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The number without its decimal point.
    pub digits: u64,
    /// The number of digits after the point; at most 18.
    pub scale: u32,
}

impl Decimal {
    /// Parses `12`, `12.5`, `.5` or `1e-3`. Drops decimals that 64 bits cannot hold, and those
    /// after the 18th: programs print numbers such as `0.0033333333333333335`.
    ///
    /// # Errors
    /// Not a number, a negative number, a whole part above 64 bits, or a number below 10⁻¹⁸ that is
    /// not zero.
    pub fn parse(text: &str) -> Result<Decimal, UnitError> {
        if let Some(rest) = text.strip_prefix('-') {
            return Decimal::parse(rest).and(Err(UnitError::Negative));
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.parse::<i32>().map_err(|_| UnitError::NotANumber)?)
            }
            None => (text, 0),
        };
        Decimal::from_parts(mantissa, exponent)
    }

    fn from_parts(mantissa: &str, exponent: i32) -> Result<Decimal, UnitError> {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let empty = whole.is_empty() && !mantissa.starts_with('.') || mantissa == ".";
        if empty || !all_digits(whole) || !all_digits(fraction) {
            return Err(UnitError::NotANumber);
        }
        let mut digits: u64 = 0;
        for digit in whole.bytes() {
            digits = with_digit(digits, digit).ok_or(UnitError::TooLarge)?;
        }
        let mut scale = -i64::from(exponent);
        let mut is_cut = false;
        for digit in fraction.bytes() {
            let Some(longer) = with_digit(digits, digit) else {
                is_cut = true;
                break;
            };
            (digits, scale) = (longer, scale + 1);
        }
        // Only decimals may be dropped. A negative scale means that the exponent moves the point
        // behind the first dropped digit.
        if is_cut && scale < 0 {
            return Err(UnitError::TooLarge);
        }
        Decimal::normal(digits, scale)
    }

    fn normal(mut digits: u64, mut scale: i64) -> Result<Decimal, UnitError> {
        if digits == 0 {
            return Ok(Decimal { digits: 0, scale: 0 });
        }
        while scale > 18 && digits >= 10 {
            digits /= 10;
            scale -= 1;
        }
        while scale > 0 && digits.is_multiple_of(10) {
            digits /= 10;
            scale -= 1;
        }
        while scale < 0 {
            digits = digits.checked_mul(10).ok_or(UnitError::TooLarge)?;
            scale += 1;
        }
        if scale > 18 {
            return Err(UnitError::TooSmall);
        }
        Ok(Decimal { digits, scale: scale as u32 })
    }

    /// Returns this number times `factor`, rounded down.
    fn times(self, factor: u64) -> Result<u64, UnitError> {
        let product = u128::from(self.digits) * u128::from(factor);
        u64::try_from(product / 10u128.pow(self.scale)).map_err(|_| UnitError::TooLarge)
    }

    /// Returns this number as a double, rounded.
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.scale as i32)
    }
}

impl std::fmt::Display for Decimal {
    /// Writes the number with every digit and without an exponent: `12.5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = 10u64.pow(self.scale);
        write!(f, "{}", self.digits / unit)?;
        match self.scale {
            0 => Ok(()),
            scale => write!(f, ".{:0width$}", self.digits % unit, width = scale as usize),
        }
    }
}

/// Appends an ASCII digit to a number; `None` if the result exceeds 64 bits.
fn with_digit(number: u64, digit: u8) -> Option<u64> {
    number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
}

/// Parses a duration: `250ms`, `10s`, `1m30s`, `1.5h`, `+5s`; `0` needs no unit. Each part is
/// rounded down to whole nanoseconds.
///
/// # Errors
/// No number, no unit, an unknown unit, a negative or an excessive span.
pub fn parse_duration(text: &str) -> Result<Nanos, UnitError> {
    match text.strip_prefix('-') {
        Some("0") => Ok(Nanos::ZERO),
        Some(rest) => unsigned_duration(rest).and(Err(UnitError::Negative)),
        None => unsigned_duration(text.strip_prefix('+').unwrap_or(text)),
    }
}

fn unsigned_duration(text: &str) -> Result<Nanos, UnitError> {
    if text == "0" {
        return Ok(Nanos::ZERO);
    }
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, after) = tail.split_at(unit_end);
        let number = Decimal::parse(number)?;
        let part = number.times(unit_nanos(unit)?)?;
        total = total.checked_add(part).ok_or(UnitError::TooLarge)?;
        rest = after;
    }
    if text.is_empty() { Err(UnitError::NotANumber) } else { Ok(Nanos(total)) }
}

fn unit_nanos(unit: &str) -> Result<u64, UnitError> {
    Ok(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        "" => return Err(UnitError::UnitMissing),
        _ => return Err(UnitError::UnknownUnit),
    })
}

/// Parses a number with an optional multiplier, `k` (1,000) or `M` (1,000,000), exactly.
///
/// # Errors
/// As for [`Decimal::parse`].
pub fn parse_decimal(text: &str) -> Result<Decimal, UnitError> {
    let (number, exponent) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 3),
        Some(b'M') => (&text[..text.len() - 1], 6),
        _ => return Decimal::parse(text),
    };
    if let Some(rest) = number.strip_prefix('-') {
        return Decimal::from_parts(rest, exponent).and(Err(UnitError::Negative));
    }
    Decimal::from_parts(number, exponent)
}

/// Parses a whole number with an optional multiplier of [`parse_decimal`]: `10`, `100k`, `1.5M`.
///
/// # Errors
/// As for [`Decimal::parse`], or a number that is not whole.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let number = parse_decimal(text)?;
    if number.scale > 0 { Err(UnitError::NotWhole) } else { Ok(number.digits) }
}

/// Returns the number with commas: `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("1m30s", 90_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.1s", 100_000_000),
            ("3us", 3_000),
            ("3µs", 3_000),
            ("0", 0),
            ("0s", 0),
            ("-0", 0),
            ("+0", 0),
            ("+5s", 5_000_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("2d", 172_800_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn malformed_duration_reports_its_reason() {
        for (text, error) in [
            ("10", UnitError::UnitMissing),
            ("10x", UnitError::UnknownUnit),
            ("10sec", UnitError::UnknownUnit),
            ("s", UnitError::NotANumber),
            ("", UnitError::NotANumber),
            ("-5s", UnitError::Negative),
            ("--5s", UnitError::NotANumber),
            ("+-5s", UnitError::NotANumber),
            ("+", UnitError::NotANumber),
            ("1_0s", UnitError::UnknownUnit),
            ("1e3s", UnitError::UnknownUnit),
            ("1..5s", UnitError::NotANumber),
            ("10 s", UnitError::UnknownUnit),
            ("999999999999h", UnitError::TooLarge),
        ] {
            assert_eq!(parse_duration(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_printed_duration_reads_back() {
        for nanos in [1, 999, 1_000, 61_000_000_001, 3_661_001_001_001, u64::MAX] {
            let text = Nanos(nanos).to_string();
            assert_eq!(parse_duration(&text), Ok(Nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn counts_take_k_and_m() {
        assert_eq!(parse_count("100k"), Ok(100_000));
        assert_eq!(parse_count("1.5M"), Ok(1_500_000));
        assert_eq!(parse_count("7"), Ok(7));
        assert_eq!(parse_count("1e3"), Ok(1_000));
        assert_eq!(parse_count("1.5"), Err(UnitError::NotWhole));
        assert_eq!(parse_count("-1k"), Err(UnitError::Negative));
        assert_eq!(parse_count("k"), Err(UnitError::NotANumber));
        assert_eq!(parse_count("99999999999999999999"), Err(UnitError::TooLarge));
        assert_eq!(parse_count("1m"), Err(UnitError::NotANumber));
    }

    #[test]
    fn decimals_round_trip_every_digit() {
        assert_eq!(Decimal::parse("0.01"), Ok(Decimal { digits: 1, scale: 2 }));
        assert_eq!(Decimal::parse("16.70"), Ok(Decimal { digits: 167, scale: 1 }));
        assert_eq!(Decimal::parse("2e-3"), Ok(Decimal { digits: 2, scale: 3 }));
        assert_eq!(Decimal::parse(".5"), Ok(Decimal { digits: 5, scale: 1 }));
        assert_eq!(Decimal::parse("."), Err(UnitError::NotANumber));
        assert_eq!(Decimal::parse("nan"), Err(UnitError::NotANumber));
        assert_eq!(Decimal::parse("inf"), Err(UnitError::NotANumber));
        assert_eq!(Decimal::parse("1e99999"), Err(UnitError::TooLarge));
        assert_eq!(Decimal::parse("1e-99999"), Err(UnitError::TooSmall));
    }

    #[test]
    fn last_decimals_that_do_not_fit_are_dropped() {
        for (text, digits, scale) in [
            ("33.33333333333333333333", 3_333_333_333_333_333_333, 17),
            ("0.0033333333333333335", 3_333_333_333_333_333, 18),
            ("0.0000000000000000101", 1, 17),
            ("1000e-20", 1, 17),
            ("5.00000000000000000000001", 5, 0),
        ] {
            assert_eq!(Decimal::parse(text), Ok(Decimal { digits, scale }), "{text}");
        }
        for text in ["99999999999999999999.5", "1.8446744073709551619e19", "1e400"] {
            assert_eq!(Decimal::parse(text), Err(UnitError::TooLarge), "{text}");
        }
        assert_eq!(Decimal::parse("1e-19"), Err(UnitError::TooSmall));
        assert_eq!(parse_duration("0.33333333333333333333s"), Ok(Nanos(333_333_333)));
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
