//! Rates and numbers of expected arrivals.

use std::fmt;
use std::ops::{Add, AddAssign};

use base::units::Decimal;

/// A rate in billionths of an arrival per second. Unlike a [`Rate`](base::Rate) it may be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub(super) u64);

/// The number of billionths in one.
pub(crate) const UNIT: u64 = 1_000_000_000;

impl Level {
    /// The rate zero.
    pub const ZERO: Level = Level(0);

    /// Returns a level from billionths of an arrival per second; `None` above
    /// [`Rate::HIGHEST`](base::Rate::HIGHEST).
    pub fn from_billionths(billionths: u64) -> Option<Level> {
        (billionths <= base::Rate::HIGHEST * UNIT).then_some(Level(billionths))
    }

    /// Returns the arrivals per second as a double, rounded.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }
}

impl fmt::Display for Level {
    /// Formats the exact value without trailing zeros, as in a workload file: `16.7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_decimal(self.0).fmt(f)
    }
}

/// Converts a number of billionths to a decimal fraction, for example nanoseconds to seconds.
pub(crate) fn in_decimal(billionths: u64) -> Decimal {
    let mut decimal = Decimal { digits: billionths, scale: 9 };
    while decimal.scale > 0 && decimal.digits.is_multiple_of(10) {
        decimal = Decimal { digits: decimal.digits / 10, scale: decimal.scale - 1 };
    }
    decimal
}

/// A number of expected arrivals, in multiples of 10⁻¹⁸.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expected(pub(super) u128);

/// One arrival, in multiples of 10⁻¹⁸.
pub(super) const ONE: u64 = 1_000_000_000_000_000_000;

impl Expected {
    /// Returns a whole number of arrivals.
    pub fn whole(arrivals: u64) -> Expected {
        Expected(u128::from(arrivals) * u128::from(ONE))
    }

    /// Rounds `arrivals` down to a multiple of 10⁻¹⁸.
    pub fn from_f64(arrivals: f64) -> Expected {
        Expected((arrivals * ONE as f64) as u128)
    }

    /// Returns the arrivals as a double, rounded.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
}

impl Add for Expected {
    type Output = Expected;

    fn add(self, other: Expected) -> Expected {
        Expected(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Expected {
    fn add_assign(&mut self, other: Expected) {
        *self = *self + other;
    }
}
