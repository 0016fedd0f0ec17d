//! Numbers with units.

use std::fmt;

use base::units::grouped;

use super::datum::FRACTION;
use crate::number::{bytes, percent, rate, seconds, share, time};

/// A number with its unit. As text it has the digits that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Number of things.
    Count(u64),
    /// Time of a request, or processor time, in nanoseconds.
    Time(f64),
    /// Span of the run, or a time since time zero, in seconds.
    Span(f64),
    /// Things per second.
    Rate(f64),
    /// Number of bytes.
    Bytes(u64),
    /// Fraction of a whole, 0 to 1.
    Share(f64),
    /// A number of things and the number of all things, shown as a fraction. Only the whole is
    /// shown as 100 %.
    Cumulative {
        /// Number of things.
        part: u64,
        /// Number of all things.
        whole: u64,
    },
}

impl Quantity {
    /// Returns the number in its [`unit`](Quantity::unit).
    pub fn value(self) -> f64 {
        match self {
            Quantity::Count(number) | Quantity::Bytes(number) => number as f64,
            Quantity::Time(ns) => ns / 1e6,
            Quantity::Span(value) | Quantity::Rate(value) | Quantity::Share(value) => value,
            Quantity::Cumulative { part, whole } => part as f64 / whole.max(1) as f64,
        }
    }

    /// Returns the name of the unit; empty for a count.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Count(_) => "",
            Quantity::Time(_) => "ms",
            Quantity::Span(_) => "s",
            Quantity::Rate(_) => "1/s",
            Quantity::Bytes(_) => "bytes",
            Quantity::Share(_) | Quantity::Cumulative { .. } => FRACTION,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Quantity::Count(number) => grouped(number),
            Quantity::Time(ns) => time(ns),
            Quantity::Span(s) => seconds(s),
            Quantity::Rate(per_s) => rate(per_s),
            Quantity::Bytes(number) => bytes(number),
            Quantity::Share(fraction) => percent(fraction),
            Quantity::Cumulative { part, whole } => share(part, whole),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantity_has_value_unit_and_text() {
        for (quantity, value, unit, text) in [
            (Quantity::Count(1_200), 1_200.0, "", "1,200"),
            (Quantity::Time(1_399_999.0), 1.399_999, "ms", "1.40 ms"),
            (Quantity::Span(2.5), 2.5, "s", "2.5 s"),
            (Quantity::Rate(3_002.46), 3_002.46, "1/s", "3,002/s"),
            (Quantity::Bytes(512), 512.0, "bytes", "512 B"),
            (Quantity::Share(0.162), 0.162, "fraction", "16.2 %"),
            (Quantity::Cumulative { part: 1, whole: 4 }, 0.25, "fraction", "25.00 %"),
        ] {
            assert_eq!((quantity.value(), quantity.unit()), (value, unit));
            assert_eq!(quantity.to_string(), text);
        }
    }
}
