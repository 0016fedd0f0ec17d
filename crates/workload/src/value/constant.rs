//! Constants and their arithmetic.
//!
//! Unlike values during a run, which saturate, a constant that overflows is an error.

use std::fmt;

use base::units::{UnitError, parse_decimal, parse_duration};
use base::{Dialect, Nanos};

use super::exact::Exact;
use super::kind::{Operator, Type};
use super::notation;

/// A value that is the same for every request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constant {
    /// A whole number.
    Int(i64),
    /// A decimal number.
    Real(Exact),
    /// A duration in nanoseconds, possibly negative.
    Duration(i64),
    /// A text.
    Text(String),
}

/// The reason why constant arithmetic has no result; its `Display` is the second half of a sentence
/// that begins with the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undefined {
    /// A division by zero.
    ByZero,
    /// A result that the type cannot hold.
    TooLarge,
    /// An operator that is not defined for these types.
    Types,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Undefined::ByZero => "divides by zero",
            Undefined::TooLarge => "is too large",
            Undefined::Types => "mixes types",
        })
    }
}

impl Constant {
    /// Parses a number or a duration of an expression: `10`, `1.5M`, `0.01`, `250ms`.
    ///
    /// A whole number is an integer if it is written without a decimal point or with a multiplier.
    ///
    /// # Errors
    /// Returns the second half of a sentence that begins with the word.
    pub(crate) fn number(word: &str, negative: bool) -> Result<Constant, String> {
        match parse_decimal(word) {
            Ok(number) => {
                let multiplied = word.ends_with(['k', 'M']);
                if number.scale == 0 && (multiplied || !word.contains('.')) {
                    return int(number.digits, negative);
                }
                let exact = Exact::from_decimal(number, negative);
                exact.map(Constant::Real).ok_or_else(too_large)
            }
            Err(UnitError::NotANumber) => duration(word, negative),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns the type.
    pub(crate) fn kind(&self) -> Type {
        match self {
            Constant::Int(_) => Type::Int,
            Constant::Real(_) => Type::Real,
            Constant::Duration(_) => Type::Duration,
            Constant::Text(_) => Type::Text,
        }
    }

    /// Formats the constant as the value of a key: texts without quotes.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Constant::Int(number) => number.to_string(),
            Constant::Real(number) => number.to_string(),
            Constant::Duration(nanos) => notation::duration(*nanos),
            Constant::Text(text) => text.clone(),
        }
    }

    /// Formats the constant as an SQL literal; `None` for a duration, for which the databases have
    /// no common literal.
    pub(crate) fn sql(&self, dialect: Dialect) -> Option<String> {
        match self {
            Constant::Int(_) | Constant::Real(_) => Some(self.to_text()),
            Constant::Duration(_) => None,
            Constant::Text(text) => {
                let text = text.replace('\'', "''");
                Some(match dialect {
                    // A backslash begins an escape.
                    Dialect::Mysql => format!("'{}'", text.replace('\\', r"\\")),
                    Dialect::Postgres | Dialect::Sqlite => format!("'{text}'"),
                })
            }
        }
    }

    /// Returns the constant with the opposite sign.
    pub(crate) fn negated(&self) -> Result<Constant, Undefined> {
        match self {
            Constant::Int(number) => number.checked_neg().map(Constant::Int),
            Constant::Real(number) => Some(Constant::Real(number.negated())),
            Constant::Duration(nanos) => nanos.checked_neg().map(Constant::Duration),
            Constant::Text(_) => return Err(Undefined::Types),
        }
        .ok_or(Undefined::TooLarge)
    }

    /// Returns the result of an operation on two constants.
    pub(crate) fn combine(
        operator: Operator,
        left: &Constant,
        right: &Constant,
    ) -> Result<Constant, Undefined> {
        let divides = matches!(operator, Operator::Divide | Operator::Modulo);
        if divides && right.is_zero() {
            return Err(Undefined::ByZero);
        }
        let combined = match (left, right) {
            (Constant::Int(a), Constant::Int(b)) => ints(operator, *a, *b).map(Constant::Int),
            (Constant::Duration(a), Constant::Duration(b)) => spans(operator, *a, *b)?,
            (Constant::Duration(a), b) => span(span_by(operator, *a, b.exact()?)?),
            (a, Constant::Duration(b)) if operator == Operator::Multiply => {
                span(a.exact()?.of_span(*b))
            }
            (a, b) => reals(operator, a.exact()?, b.exact()?).map(Constant::Real),
        };
        combined.ok_or(Undefined::TooLarge)
    }

    /// Returns true if the constant is below zero.
    pub(crate) fn is_negative(&self) -> bool {
        match self {
            Constant::Int(number) | Constant::Duration(number) => *number < 0,
            Constant::Real(number) => number.is_negative(),
            Constant::Text(_) => false,
        }
    }

    /// Returns the nearest double of a number; NaN for other types.
    pub(crate) fn as_f64(&self) -> f64 {
        match self {
            Constant::Int(number) => *number as f64,
            Constant::Real(number) => number.as_f64(),
            Constant::Duration(_) | Constant::Text(_) => f64::NAN,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Constant::Int(number) | Constant::Duration(number) => *number == 0,
            Constant::Real(number) => number.is_zero(),
            Constant::Text(_) => false,
        }
    }

    fn exact(&self) -> Result<Exact, Undefined> {
        match self {
            Constant::Int(number) => Exact::from_int(*number).ok_or(Undefined::TooLarge),
            Constant::Real(number) => Ok(*number),
            Constant::Duration(_) | Constant::Text(_) => Err(Undefined::Types),
        }
    }
}

fn int(magnitude: u64, negative: bool) -> Result<Constant, String> {
    let number = if negative {
        0_i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    };
    number.map(Constant::Int).ok_or_else(too_large)
}

fn duration(word: &str, negative: bool) -> Result<Constant, String> {
    let Nanos(nanos) = parse_duration(word).map_err(|error| error.to_string())?;
    let nanos = i64::try_from(nanos).map_err(|_| too_large())?;
    Ok(Constant::Duration(if negative { -nanos } else { nanos }))
}

fn too_large() -> String {
    UnitError::TooLarge.to_string()
}

fn ints(operator: Operator, a: i64, b: i64) -> Option<i64> {
    match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b),
        Operator::Modulo => Some(a.wrapping_rem(b)),
    }
}

fn reals(operator: Operator, a: Exact, b: Exact) -> Option<Exact> {
    match operator {
        Operator::Add => a.plus(b),
        Operator::Subtract => a.plus(b.negated()),
        Operator::Multiply => a.times(b),
        Operator::Divide => a.over(b),
        Operator::Modulo => a.modulo(b),
    }
}

/// Returns the constant of a duration; `None` if there is no duration, or if its magnitude exceeds
/// 63 bits and could not be read back.
fn span(nanos: Option<i64>) -> Option<Constant> {
    nanos.filter(|nanos| *nanos != i64::MIN).map(Constant::Duration)
}

fn spans(operator: Operator, a: i64, b: i64) -> Result<Option<Constant>, Undefined> {
    Ok(match operator {
        Operator::Add => span(a.checked_add(b)),
        Operator::Subtract => span(a.checked_sub(b)),
        Operator::Multiply => return Err(Undefined::Types),
        Operator::Divide => Exact::ratio(a, b).map(Constant::Real),
        Operator::Modulo => Some(Constant::Duration(a.wrapping_rem(b))),
    })
}

fn span_by(operator: Operator, nanos: i64, by: Exact) -> Result<Option<i64>, Undefined> {
    match operator {
        Operator::Multiply => Ok(by.of_span(nanos)),
        Operator::Divide => Ok(by.divides_span(nanos)),
        Operator::Add | Operator::Subtract | Operator::Modulo => Err(Undefined::Types),
    }
}

/// Returns the smallest whole numbers in the proportions of the constants, which are above zero;
/// `None` if a constant is not a number, or if a result exceeds 64 bits.
pub(crate) fn proportions(constants: &[&Constant]) -> Option<Vec<u64>> {
    let numbers = constants.iter().map(|constant| constant.exact().ok());
    Exact::proportions(&numbers.collect::<Option<Vec<Exact>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(text: &str) -> Constant {
        match text.strip_prefix('-') {
            Some(rest) => Constant::number(rest, true).unwrap(),
            None => Constant::number(text, false).unwrap(),
        }
    }

    fn check(left: &str, operator: Operator, right: &str, expected: &str) {
        let result = Constant::combine(operator, &constant(left), &constant(right));
        let shown = result.map_or_else(|error| error.to_string(), |value| value.to_text());
        assert_eq!(shown, expected, "{left} {operator:?} {right}");
    }

    #[test]
    fn number_with_point_is_real_unless_multiplied_to_an_integer() {
        for (text, kind) in [
            ("7", Type::Int),
            ("1e3", Type::Int),
            ("1.5M", Type::Int),
            ("2.0", Type::Real),
            ("1e-3", Type::Real),
            (".5k", Type::Int),
            ("1.2345k", Type::Real),
            ("10ms", Type::Duration),
            ("5m", Type::Duration),
            ("-9223372036854775808", Type::Int),
        ] {
            assert_eq!(constant(text).kind(), kind, "{text}");
        }
    }

    #[test]
    fn invalid_number_reports_its_reason() {
        for (text, why) in [
            ("10x", "has an unknown unit: units are ns, us, ms, s, m, h and d"),
            ("9223372036854775808", "is too large"),
            ("400000000h", "is too large"),
            ("1..2", "is not a number"),
        ] {
            assert_eq!(Constant::number(text, false), Err(why.to_owned()));
        }
    }

    #[test]
    fn arithmetic_follows_the_types() {
        check("7", Operator::Divide, "2", "3");
        check("-7", Operator::Divide, "2", "-3");
        check("-7", Operator::Modulo, "2", "-1");
        check("7.0", Operator::Divide, "2", "3.5");
        check("1m", Operator::Divide, "40s", "1.5");
        check("1m", Operator::Divide, "8", "7s500ms");
        check("1.5", Operator::Multiply, "2s", "3s");
        check("10s", Operator::Subtract, "15s", "-5s");
        check("10s", Operator::Modulo, "3s", "1s");
    }

    #[test]
    fn literal_doubles_quotes_and_escaping_backslashes() {
        let text = Constant::Text(r"C:\new's\".to_owned());
        for (dialect, expected) in [
            (Dialect::Mysql, r"'C:\\new''s\\'"),
            (Dialect::Postgres, r"'C:\new''s\'"),
            (Dialect::Sqlite, r"'C:\new''s\'"),
        ] {
            assert_eq!(text.sql(dialect).as_deref(), Some(expected));
            assert_eq!(constant("-1.50").sql(dialect).as_deref(), Some("-1.5"));
            assert_eq!(constant("5s").sql(dialect), None);
        }
    }

    #[test]
    fn constants_without_a_result_are_refused() {
        check("1", Operator::Divide, "0", "divides by zero");
        check("1s", Operator::Modulo, "0s", "divides by zero");
        check("1s", Operator::Divide, "0.0", "divides by zero");
        check("9223372036854775807", Operator::Add, "1", "is too large");
        check("-9223372036854775808", Operator::Divide, "-1", "is too large");
        check("1s", Operator::Add, "1", "mixes types");
        check("1", Operator::Subtract, "1s", "mixes types");
        check("1s", Operator::Multiply, "1s", "mixes types");
    }
}
