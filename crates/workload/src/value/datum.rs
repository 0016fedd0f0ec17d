//! Values of expressions, and their arithmetic.
//!
//! Arithmetic at run time never fails: integers and durations saturate, and an undefined result (of
//! a division by zero, or beyond the range of doubles) is NULL, as is any result with a NULL
//! operand.

use std::fmt::Write as _;

use base::{Text, Value, Values, WallTime};

use super::kind::Operator;

/// A value of an expression. Its text, if any, is in the [`Values`] into which the expression was
/// evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Datum {
    /// SQL's NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A finite double.
    Real(f64),
    /// A duration in nanoseconds.
    Duration(i64),
    /// An instant of calendar time.
    Timestamp(WallTime),
    /// A text.
    Text(Text),
}

impl Datum {
    /// Converts a double; NULL if it is not finite.
    #[inline]
    pub(crate) fn real(number: f64) -> Datum {
        if number.is_finite() { Datum::Real(number) } else { Datum::Null }
    }

    /// Returns the value with the opposite sign.
    pub(crate) fn negated(self) -> Datum {
        match self {
            Datum::Int(number) => Datum::Int(number.saturating_neg()),
            Datum::Real(number) => Datum::Real(-number),
            Datum::Duration(nanos) => Datum::Duration(nanos.saturating_neg()),
            Datum::Null | Datum::Timestamp(_) | Datum::Text(_) => Datum::Null,
        }
    }

    /// Returns a number as a double; `None` for any other value.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Datum::Int(number) => Some(number as f64),
            Datum::Real(number) => Some(number),
            Datum::Null | Datum::Duration(_) | Datum::Timestamp(_) | Datum::Text(_) => None,
        }
    }

    /// Returns the result of an operation on two values.
    pub(crate) fn combine(operator: Operator, left: Datum, right: Datum) -> Datum {
        match (left, right) {
            (Datum::Int(a), Datum::Int(b)) => ints(operator, a, b).map_or(Datum::Null, Datum::Int),
            (Datum::Duration(a), Datum::Duration(b)) if operator == Operator::Divide => {
                Datum::real(a as f64 / b as f64)
            }
            (Datum::Duration(a), Datum::Duration(b)) => {
                ints(operator, a, b).map_or(Datum::Null, Datum::Duration)
            }
            (Datum::Duration(a), Datum::Int(b)) | (Datum::Int(b), Datum::Duration(a)) => {
                ints(operator, a, b).map_or(Datum::Null, Datum::Duration)
            }
            (Datum::Duration(a), Datum::Real(b)) | (Datum::Real(b), Datum::Duration(a)) => {
                match Datum::real(reals(operator, a as f64, b)) {
                    Datum::Real(nanos) => Datum::Duration(nanos as i64),
                    other => other,
                }
            }
            (left, right) => match left.number().zip(right.number()) {
                Some((a, b)) => Datum::real(reals(operator, a, b)),
                None => Datum::Null,
            },
        }
    }

    /// Appends the value to a statement's values.
    #[inline]
    pub(crate) fn bind(self, values: &mut Values) {
        match self {
            Datum::Int(number) => values.push(Value::Int(number)),
            Datum::Real(number) => values.push(Value::Real(number)),
            Datum::Text(text) => values.push(Value::Text(text)),
            Datum::Timestamp(time) => values.push_text(|out| time.write_sql(out)),
            // Plans bind no durations: databases have no such type.
            Datum::Null | Datum::Duration(_) => values.push(Value::Null),
        }
    }

    /// Writes the value into a statement; a text is written without quotes. If the value is a text,
    /// `texts` contains it.
    pub(crate) fn splice(self, texts: &Values, out: &mut String) {
        match self {
            Datum::Int(number) => write_int(number, out),
            Datum::Real(number) => write_real(number, out),
            Datum::Text(text) => out.push_str(texts.resolve(text)),
            Datum::Timestamp(time) => time.write_sql(out),
            Datum::Null | Datum::Duration(_) => out.push_str("NULL"),
        }
    }
}

fn ints(operator: Operator, a: i64, b: i64) -> Option<i64> {
    match operator {
        Operator::Add => Some(a.saturating_add(b)),
        Operator::Subtract => Some(a.saturating_sub(b)),
        Operator::Multiply => Some(a.saturating_mul(b)),
        Operator::Divide if b == 0 => None,
        Operator::Divide => Some(a.saturating_div(b)),
        Operator::Modulo if b == 0 => None,
        Operator::Modulo => Some(a.wrapping_rem(b)),
    }
}

fn reals(operator: Operator, a: f64, b: f64) -> f64 {
    match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Modulo => a % b,
    }
}

/// Writes an integer without allocating.
pub(crate) fn write_int(number: i64, out: &mut String) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push('-');
    }
    out.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

/// Writes a double as the shortest text that parses to the same value, always with a decimal point.
pub(crate) fn write_real(number: f64, out: &mut String) {
    let start = out.len();
    // Writing into a String cannot fail.
    let _ = write!(out, "{number}");
    if !out[start..].contains('.') {
        out.push_str(".0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: Datum, operator: Operator, right: Datum, expected: Datum) {
        assert_eq!(Datum::combine(operator, left, right), expected);
    }

    #[test]
    fn run_time_arithmetic_saturates_and_never_panics() {
        use Operator::{Add, Divide, Modulo, Multiply, Subtract};
        let (int, span) = (Datum::Int, Datum::Duration);
        check(int(i64::MAX), Add, int(1), int(i64::MAX));
        check(int(i64::MIN), Subtract, int(1), int(i64::MIN));
        check(int(i64::MIN), Divide, int(-1), int(i64::MAX));
        check(int(i64::MIN), Modulo, int(-1), int(0));
        check(int(-7), Divide, int(2), int(-3));
        check(int(1), Divide, int(0), Datum::Null);
        check(int(1), Modulo, int(0), Datum::Null);
        check(Datum::Real(1.0), Divide, int(0), Datum::Null);
        check(Datum::Real(f64::MAX), Multiply, int(2), Datum::Null);
        check(Datum::Null, Add, int(1), Datum::Null);
        check(int(3), Multiply, span(5), span(15));
        check(span(7), Multiply, Datum::Real(0.5), span(3));
        check(span(7), Divide, span(2), Datum::Real(3.5));
        check(span(7), Divide, span(0), Datum::Null);
        assert_eq!(int(i64::MIN).negated(), int(i64::MAX));
    }

    #[test]
    fn spliced_numbers_are_written_out() {
        let written = |datum: Datum| {
            let mut out = String::new();
            datum.splice(&Values::new(), &mut out);
            out
        };
        assert_eq!(written(Datum::Int(0)), "0");
        assert_eq!(written(Datum::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(written(Datum::Int(1_234_567)), "1234567");
        assert_eq!(written(Datum::Real(2.0)), "2.0");
        assert_eq!(written(Datum::Real(-0.25)), "-0.25");
        assert_eq!(written(Datum::Null), "NULL");
    }
}
