//! Varying rates: the number of arrivals expected by an instant, and its inverse.
//!
//! A schedule of a varying rate is the inverse of its cumulative rate Λ, taken at sums of unit
//! exponentials (a Poisson process whose rate varies; Çinlar, "Introduction to Stochastic
//! Processes", 1975, chapter 4.7) or at 1, 2, 3, … (an even one). Numbers of expected arrivals are
//! whole multiples of 10⁻¹⁸, because that is the product of a billionth of an arrival per second
//! and a nanosecond: while the rate is constant, only the instant is rounded.
//!
//! Invariant: Λ never falls, and [`Inverse`] never goes back.

mod inverse;
mod stretch;

use std::fmt;
use std::ops::{Add, AddAssign};
use std::sync::Arc;

use base::Nanos;
use base::units::Decimal;

pub use inverse::Inverse;
use stretch::Stretch;

/// A rate in billionths of an arrival per second. Unlike a [`Rate`](base::Rate) it may be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u64);

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

    /// Returns the arrivals per second as the nearest double.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }
}

impl fmt::Display for Level {
    /// Formats every digit, as in a workload file: `16.7`.
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
pub struct Expected(u128);

/// One arrival, in multiples of 10⁻¹⁸.
const ONE: u64 = 1_000_000_000_000_000_000;

impl Expected {
    /// Returns a whole number of arrivals.
    pub fn whole(arrivals: u64) -> Expected {
        Expected(u128::from(arrivals) * u128::from(ONE))
    }

    /// Rounds `arrivals` down to a multiple of 10⁻¹⁸.
    pub fn from_f64(arrivals: f64) -> Expected {
        Expected((arrivals * ONE as f64) as u128)
    }

    /// Returns the nearest double.
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

/// A rate that varies with the time since its job's start.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `ramp(from, to, span)`: the rate changes linearly, then stays at its final value.
    Ramp {
        /// The rate at the start.
        from: Level,
        /// The rate after the span, and from then on.
        to: Level,
        /// Length of the change; never zero.
        span: Nanos,
    },
    /// `sine(mean, amplitude, period)`: mean + amplitude · sin(2πt/period).
    Sine {
        /// The mean; never zero.
        mean: Level,
        /// Largest difference between the rate and the mean; never more than the mean.
        amplitude: Level,
        /// Length of a period; never zero.
        period: Nanos,
    },
    /// `steps(rates, span)`: one rate after the other; the last one stays.
    Steps {
        /// The rates; at least one.
        levels: Arc<[Level]>,
        /// Duration of each rate; never zero.
        span: Nanos,
    },
    /// `trace(FILE)` with two columns: instants, and the rate from each instant on; before the
    /// first the rate is zero. The instants never decrease, and there is at least one.
    Trace(Arc<[(Nanos, Level)]>),
}

impl Shape {
    /// Returns the rate at an instant after the job's start, in arrivals per second.
    pub fn rate_at(&self, t: Nanos) -> f64 {
        match self {
            Shape::Sine { mean, amplitude, period } => {
                let turn = (t.0 % period.0) as f64 / period.0 as f64;
                mean.as_f64() + amplitude.as_f64() * libm::sin(std::f64::consts::TAU * turn)
            }
            Shape::Ramp { .. } | Shape::Steps { .. } | Shape::Trace(_) => {
                let mut stretches = self.stretches();
                let here = stretches.find(|stretch| t < stretch.end());
                here.map_or(0.0, |stretch| stretch.rate_at(t))
            }
        }
    }

    /// Returns Λ, the number of arrivals expected by an instant after the job's start.
    pub fn expected(&self, t: Nanos) -> Expected {
        match self {
            Shape::Sine { mean, amplitude, period } => {
                let whole = u128::from(mean.0) * u128::from(t.0 - t.0 % period.0);
                let wave = inverse::SinePosition::new(*mean, *amplitude, *period);
                Expected(whole + wave.expected((t.0 % period.0) as f64) as u128)
            }
            Shape::Ramp { .. } | Shape::Steps { .. } | Shape::Trace(_) => {
                let begun = self.stretches().take_while(|stretch| stretch.start < t);
                let parts = begun.map(|stretch| stretch.expected(t.min(stretch.end())));
                parts.fold(Expected::default(), Add::add)
            }
        }
    }

    /// Returns the highest rate of the shape.
    pub fn highest(&self) -> Level {
        match self {
            Shape::Ramp { from, to, .. } => *from.max(to),
            Shape::Sine { mean, amplitude, .. } => Level(mean.0 + amplitude.0),
            Shape::Steps { levels, .. } => levels.iter().copied().max().unwrap_or_default(),
            Shape::Trace(rows) => rows.iter().map(|(_, level)| *level).max().unwrap_or_default(),
        }
    }

    /// Describes the shape in a few words: `from 100/s to 5000/s in 1m`.
    pub fn words(&self) -> String {
        match self {
            Shape::Ramp { from, to, span } => format!("from {from}/s to {to}/s in {span}"),
            Shape::Sine { mean, amplitude, period } => {
                format!("{mean}/s up and down by {amplitude}/s every {period}")
            }
            Shape::Steps { levels, span } => {
                format!("{} steps of {span}, up to {}/s", levels.len(), self.highest())
            }
            Shape::Trace(rows) => {
                format!("a trace of {} rates, up to {}/s", rows.len(), self.highest())
            }
        }
    }

    /// Returns the linear parts of a shape other than a sine, from its start on.
    fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        (0..).map_while(|number| self.stretch(number))
    }

    /// Returns one of the linear parts; the last one never ends.
    fn stretch(&self, number: usize) -> Option<Stretch> {
        match self {
            Shape::Sine { .. } => None,
            Shape::Ramp { from, to, span } => match number {
                0 => Some(Stretch { start: Nanos::ZERO, length: *span, from: *from, to: *to }),
                1 => Some(Stretch::constant(*span, None, *to)),
                _ => None,
            },
            Shape::Steps { levels, span } => {
                let level = *levels.get(number)?;
                let start = *span * number as u64;
                let next = (number + 1 < levels.len()).then(|| start + *span);
                Some(Stretch::constant(start, next, level))
            }
            Shape::Trace(rows) => {
                let next = rows.get(number).map(|(at, _)| *at);
                match number.checked_sub(1) {
                    None => Some(Stretch::constant(Nanos::ZERO, next, Level::ZERO)),
                    Some(row) => {
                        let (start, level) = *rows.get(row)?;
                        Some(Stretch::constant(start, next, level))
                    }
                }
            }
        }
    }
}

impl fmt::Display for Shape {
    /// Formats the shape as in a workload file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Ramp { from, to, span } => write!(f, "ramp({from}, {to}, {span})"),
            Shape::Sine { mean, amplitude, period } => {
                write!(f, "sine({mean}, {amplitude}, {period})")
            }
            Shape::Steps { levels, span } => {
                f.write_str("steps(")?;
                for (place, level) in levels.iter().enumerate() {
                    let separator = if place == 0 { "" } else { " " };
                    write!(f, "{separator}{level}")?;
                }
                write!(f, ", {span})")
            }
            Shape::Trace(rows) => {
                f.write_str("trace(rates ")?;
                for (place, (at, level)) in rows.iter().enumerate() {
                    let separator = if place == 0 { "" } else { ", " };
                    write!(f, "{separator}{} {level}", in_decimal(at.0))?;
                }
                f.write_str(")")
            }
        }
    }
}

/// The instants of `trace(FILE)` with one column, after the job's start, at which requests arrived
/// and are repeated. They never decrease, and there is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded(pub Arc<[Nanos]>);

impl Recorded {
    /// Returns the largest number of arrivals in one second.
    pub fn busiest_second(&self) -> u64 {
        let mut first = 0;
        let mut most = 0;
        for (place, at) in self.0.iter().enumerate() {
            while at.saturating_sub(self.0[first]) >= Nanos::from_secs(1) {
                first += 1;
            }
            most = most.max(place + 1 - first);
        }
        most as u64
    }

    /// Returns the number of instants before `t`.
    pub fn before(&self, t: Nanos) -> u64 {
        self.0.partition_point(|at| *at < t) as u64
    }
}

impl fmt::Display for Recorded {
    /// Formats the instants as in a workload file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("trace(times")?;
        self.0.iter().try_for_each(|at| write!(f, " {}", in_decimal(at.0)))?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests;
