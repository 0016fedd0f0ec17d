//! Values of cells for exported files: plain numbers with the name of their unit.

use std::borrow::Cow;

/// Unit of shares and changes: 0.5 is a half.
pub(crate) const FRACTION: &str = "fraction";

/// A value of a cell for exported files, in which each value has its own column.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// Name that distinguishes the value from other values of its cell; empty for the main value.
    pub name: Cow<'static, str>,
    /// The value.
    pub value: PlainValue,
}

/// A value as a program reads it: unrounded, and without separators.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValue {
    /// A text.
    Text(String),
    /// A number with every digit.
    Number {
        /// The number.
        number: f64,
        /// Name of the unit; empty for a count.
        unit: &'static str,
    },
}

impl Datum {
    /// Creates a text.
    pub(crate) fn text(name: &'static str, text: impl Into<String>) -> Datum {
        Datum { name: name.into(), value: PlainValue::Text(text.into()) }
    }

    /// Creates a number.
    pub(crate) fn number(
        name: impl Into<Cow<'static, str>>,
        number: f64,
        unit: &'static str,
    ) -> Datum {
        Datum { name: name.into(), value: PlainValue::Number { number, unit } }
    }

    /// Creates the ends of an interval.
    pub(crate) fn interval([low, high]: [f64; 2], unit: &'static str) -> [Datum; 2] {
        [Datum::number("from", low, unit), Datum::number("to", high, unit)]
    }

    /// Returns the unit of a number; `None` for a text.
    pub fn unit(&self) -> Option<&'static str> {
        match self.value {
            PlainValue::Number { unit, .. } => Some(unit),
            PlainValue::Text(_) => None,
        }
    }

    /// Formats the value: a number with all digits, a point before its decimals, and no exponent.
    /// NaN is empty.
    pub fn plain(&self) -> String {
        match &self.value {
            PlainValue::Text(text) => text.trim().to_owned(),
            PlainValue::Number { number, .. } if number.is_nan() => String::new(),
            // Zero has no sign.
            PlainValue::Number { number, .. } => (number + 0.0).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_number_has_every_digit_and_nothing_else() {
        for (number, text) in [
            (1_234_567.0, "1234567"),
            (1.399_999, "1.399999"),
            (-0.052_5, "-0.0525"),
            (-0.0, "0"),
            (1.2e-7, "0.00000012"),
            (2.5e15, "2500000000000000"),
            (f64::INFINITY, "inf"),
            (f64::NAN, ""),
        ] {
            let datum = Datum::number("", number, "ms");
            assert_eq!((datum.plain().as_str(), datum.unit()), (text, Some("ms")), "{number}");
        }
        assert_eq!(Datum::text("", "  95 % from").plain(), "95 % from");
    }
}
