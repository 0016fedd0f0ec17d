//! Exact decimal constants.
//!
//! A rate of `0.01` has to stay one hundredth through parameters and arithmetic, which a double
//! cannot guarantee. Doubles are used only for values that are computed per request.

use std::fmt;

use base::units::Decimal;

/// A decimal fraction: `mantissa / 10^scale`, without trailing zeros.
///
/// The mantissa is at most [`Exact::LARGEST`] in size, and the scale at most 18 digits. Results of
/// arithmetic are rounded to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    mantissa: i128,
    scale: u32,
}

const SCALE: u32 = 18;

impl Exact {
    /// The largest mantissa. A double represents it exactly, so the double nearest to a number does
    /// not exceed it, and can be read back.
    pub(crate) const LARGEST: i128 = 9_000_000_000_000_000_000;

    /// Creates a number from its parts, rounded to fit; `None` if it exceeds [`Exact::LARGEST`].
    fn new(mut mantissa: i128, mut scale: u32) -> Option<Exact> {
        while scale > 0 && (scale > SCALE || mantissa.abs() > Exact::LARGEST) {
            mantissa = divide_rounding(mantissa, 10);
            scale -= 1;
        }
        if mantissa.abs() > Exact::LARGEST {
            return None;
        }
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        Some(Exact { mantissa, scale })
    }

    /// Converts a written number and its sign; `None` if it exceeds [`Exact::LARGEST`].
    pub(crate) fn from_decimal(number: Decimal, negative: bool) -> Option<Exact> {
        let magnitude = i128::from(number.digits);
        let mantissa = if negative { -magnitude } else { magnitude };
        Exact::new(mantissa, number.scale)
    }

    /// Converts a whole number; `None` if it exceeds [`Exact::LARGEST`].
    pub(crate) fn from_int(number: i64) -> Option<Exact> {
        Exact::new(i128::from(number), 0)
    }

    /// Returns the nearest double.
    pub(crate) fn as_f64(self) -> f64 {
        let text = format!("{}e-{}", self.mantissa, self.scale);
        text.parse().unwrap_or(f64::NAN)
    }

    /// Returns true if the number is below zero.
    pub(crate) fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    /// Returns true if the number is zero.
    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Returns the sum; `None` if it exceeds [`Exact::LARGEST`].
    pub(crate) fn plus(self, other: Exact) -> Option<Exact> {
        let scale = self.scale.max(other.scale);
        Exact::new(self.at(scale) + other.at(scale), scale)
    }

    /// Returns the number with the opposite sign.
    pub(crate) fn negated(self) -> Exact {
        Exact { mantissa: -self.mantissa, ..self }
    }

    /// Returns the product; `None` if it exceeds [`Exact::LARGEST`].
    pub(crate) fn times(self, other: Exact) -> Option<Exact> {
        Exact::new(self.mantissa * other.mantissa, self.scale + other.scale)
    }

    /// Returns the quotient, with at most 18 decimals; `None` if it exceeds [`Exact::LARGEST`], or
    /// for a division by zero.
    pub(crate) fn over(self, other: Exact) -> Option<Exact> {
        let scale = self.scale.max(other.scale);
        quotient(self.at(scale), other.at(scale))
    }

    /// Returns the remainder of a division with a whole quotient, with the sign of the dividend;
    /// `None` for a division by zero.
    pub(crate) fn modulo(self, other: Exact) -> Option<Exact> {
        let scale = self.scale.max(other.scale);
        Exact::new(self.at(scale).checked_rem(other.at(scale))?, scale)
    }

    /// Multiplies a duration in nanoseconds by this number, rounding towards zero; `None` if the
    /// result exceeds 64 bits.
    pub(crate) fn of_span(self, nanos: i64) -> Option<i64> {
        let product = self.mantissa * i128::from(nanos);
        i64::try_from(product / 10_i128.pow(self.scale)).ok()
    }

    /// Divides a duration in nanoseconds by this number, rounding towards zero; `None` if the
    /// result exceeds 64 bits, or for a division by zero.
    pub(crate) fn divides_span(self, nanos: i64) -> Option<i64> {
        let scaled = i128::from(nanos) * 10_i128.pow(self.scale);
        i64::try_from(scaled.checked_div(self.mantissa)?).ok()
    }

    /// Returns the quotient of two durations in nanoseconds; `None` as for [`over`](Self::over).
    pub(crate) fn ratio(nanos: i64, other: i64) -> Option<Exact> {
        quotient(i128::from(nanos), i128::from(other))
    }

    /// Returns the smallest whole numbers in the proportions of the given numbers, which are above
    /// zero; `None` if a result exceeds 64 bits, or for an empty list.
    pub(crate) fn proportions(numbers: &[Exact]) -> Option<Vec<u64>> {
        let scale = numbers.iter().map(|number| number.scale).max()?;
        let wholes = numbers.iter().map(|number| number.at(scale));
        let divisor = wholes.clone().reduce(greatest_common_divisor)?;
        wholes.map(|whole| u64::try_from(whole.checked_div(divisor)?).ok()).collect()
    }

    /// Returns the mantissa for a scale that is not smaller than the number's own. The result is
    /// below 10³⁷, so the sum of two also fits into an `i128`.
    fn at(self, scale: u32) -> i128 {
        self.mantissa * 10_i128.pow(scale - self.scale)
    }
}

/// Divides by long division: the whole part, then at most 18 decimals, until the remainder is zero
/// or the mantissa exceeds its limit.
fn quotient(numerator: i128, denominator: i128) -> Option<Exact> {
    let negative = (numerator < 0) != (denominator < 0);
    let (numerator, denominator) = (numerator.abs(), denominator.abs());
    let mut mantissa = numerator.checked_div(denominator)?;
    let mut rest = numerator % denominator;
    let mut scale = 0;
    while rest > 0 && scale < SCALE && mantissa < Exact::LARGEST {
        rest *= 10;
        mantissa = mantissa * 10 + rest / denominator;
        rest %= denominator;
        scale += 1;
    }
    Exact::new(if negative { -mantissa } else { mantissa }, scale)
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn divide_rounding(number: i128, by: i128) -> i128 {
    (number + number.signum() * by / 2) / by
}

impl fmt::Display for Exact {
    /// Formats the number with a decimal point, which distinguishes it from an integer: `0.01`,
    /// `2.0`, `-1.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let magnitude = self.mantissa.unsigned_abs();
        let unit = 10_u128.pow(self.scale);
        let width = self.scale.max(1) as usize;
        write!(f, "{sign}{}.{:0width$}", magnitude / unit, magnitude % unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        Exact::from_decimal(Decimal::parse(digits).unwrap(), negative).unwrap()
    }

    fn check(result: Option<Exact>, expected: &str) {
        let shown = result.map_or("none".to_owned(), |number| number.to_string());
        assert_eq!(shown, expected);
    }

    #[test]
    fn arithmetic_is_exact_in_decimal() {
        check(exact("0.1").plus(exact("0.2")), "0.3");
        check(exact("16.7").times(exact("3")), "50.1");
        check(exact("1").over(exact("8")), "0.125");
        check(exact("-1").over(exact("3")), "-0.333333333333333333");
        check(exact("100").over(exact("3")), "33.33333333333333333");
        check(exact("7.5").modulo(exact("-2")), "1.5");
        check(exact("1").over(exact("0")), "none");
        check(exact("1").modulo(exact("0")), "none");
        check(exact("9000000000000000000").plus(exact("1")), "none");
        check(exact("0.000000001").times(exact("0.0000000001")), "0.0");
        check(exact("8999999999.999999999").times(exact("2")), "18000000000.0");
    }

    #[test]
    fn spans_are_scaled_exactly() {
        assert_eq!(exact("1.5").of_span(1_000_000_001), Some(1_500_000_001));
        assert_eq!(exact("0.3").divides_span(3), Some(10));
        assert_eq!(exact("0").divides_span(3), None);
        assert_eq!(exact("9e18").of_span(9_000_000_000_000_000_000), None);
        check(Exact::ratio(90, 60), "1.5");
    }

    #[test]
    fn proportions_are_whole_and_smallest() {
        let of = |texts: &[&str]| {
            Exact::proportions(&texts.iter().map(|text| exact(text)).collect::<Vec<_>>())
        };
        assert_eq!(of(&["3", "1"]), Some(vec![3, 1]));
        assert_eq!(of(&["0.5", "0.25", "2"]), Some(vec![2, 1, 8]));
        assert_eq!(of(&["7"]), Some(vec![1]));
        assert_eq!(of(&["1e-18", "1000"]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn nearest_double_round_trips() {
        for text in ["0.1", "2", "1234567890.123456789", "9e18", "1e-18", "-0.3"] {
            let double = exact(text).as_f64();
            let printed = format!("{double}");
            assert_eq!(exact(&printed).as_f64(), double, "{text}");
        }
        assert_eq!(exact("0.1").as_f64(), 0.1);
    }
}
