//! How does a rate vary? Arrivals that are expected by an instant, and the instant by which so many
//! are expected.
//!
//! A schedule of a varying rate is the inverse of its cumulative rate Λ, taken at sums of unit
//! exponentials (a Poisson process whose rate varies; Çinlar, "Introduction to Stochastic
//! Processes", 1975, chapter 4.7) or at 1, 2, 3, … (an even one). Numbers of expected arrivals are
//! whole multiples of 10⁻¹⁸, because that is what a billionth of an arrival per second makes in a
//! nanosecond: as long as the rate is constant, nothing is rounded but the instant.
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

/// Arrivals per second, in billionths; unlike those of a [`Rate`](base::Rate) they may be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(u64);

/// Billionths in one.
pub(crate) const UNIT: u64 = 1_000_000_000;

impl Level {
    /// No arrivals.
    pub const ZERO: Level = Level(0);

    /// A level from billionths of an arrival per second; `None` above
    /// [`Rate::HIGHEST`](base::Rate::HIGHEST).
    pub fn from_billionths(billionths: u64) -> Option<Level> {
        (billionths <= base::Rate::HIGHEST * UNIT).then_some(Level(billionths))
    }

    /// Arrivals per second as the nearest double.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }
}

impl fmt::Display for Level {
    /// Every digit, as a workload file has it: `16.7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_decimal(self.0).fmt(f)
    }
}

/// A number of billionths as a decimal fraction: seconds of nanoseconds, for example.
pub(crate) fn in_decimal(billionths: u64) -> Decimal {
    let mut decimal = Decimal { digits: billionths, scale: 9 };
    while decimal.scale > 0 && decimal.digits.is_multiple_of(10) {
        decimal = Decimal { digits: decimal.digits / 10, scale: decimal.scale - 1 };
    }
    decimal
}

/// How many arrivals are expected, in multiples of 10⁻¹⁸.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expected(u128);

/// One arrival.
const ONE: u64 = 1_000_000_000_000_000_000;

impl Expected {
    /// So many whole arrivals.
    pub fn whole(arrivals: u64) -> Expected {
        Expected(u128::from(arrivals) * u128::from(ONE))
    }

    /// The nearest number below `arrivals`.
    pub fn from_f64(arrivals: f64) -> Expected {
        Expected((arrivals * ONE as f64) as u128)
    }

    /// The nearest double.
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
    /// `ramp(from, to, span)`: it changes linearly, and stays as it ends.
    Ramp {
        /// The rate at the start.
        from: Level,
        /// The rate after the span, and from then on.
        to: Level,
        /// How long it changes; never zero.
        span: Nanos,
    },
    /// `sine(mean, amplitude, period)`: mean + amplitude · sin(2πt/period).
    Sine {
        /// The mean; never zero.
        mean: Level,
        /// How far the rate goes above and below the mean; never more than the mean.
        amplitude: Level,
        /// The length of a period; never zero.
        period: Nanos,
    },
    /// `steps(rates, span)`: one after the other, the last one for good.
    Steps {
        /// The rates; at least one.
        levels: Arc<[Level]>,
        /// How long each lasts; never zero.
        span: Nanos,
    },
    /// `trace(FILE)` with two columns: from each instant on, the rate beside it; before the first,
    /// none. The instants never go back, and there is at least one.
    Trace(Arc<[(Nanos, Level)]>),
}

impl Shape {
    /// The rate at an instant after the job's start, in arrivals per second.
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

    /// Λ: how many arrivals are expected by an instant after the job's start.
    pub fn expected(&self, t: Nanos) -> Expected {
        match self {
            Shape::Sine { mean, amplitude, period } => {
                let whole = u128::from(mean.0) * u128::from(t.0 - t.0 % period.0);
                let wave = inverse::Wave::new(*mean, *amplitude, *period);
                Expected(whole + wave.expected((t.0 % period.0) as f64) as u128)
            }
            Shape::Ramp { .. } | Shape::Steps { .. } | Shape::Trace(_) => {
                let begun = self.stretches().take_while(|stretch| stretch.start < t);
                let parts = begun.map(|stretch| stretch.expected(t.min(stretch.end())));
                parts.fold(Expected::default(), Add::add)
            }
        }
    }

    /// The highest rate that it reaches.
    pub fn highest(&self) -> Level {
        match self {
            Shape::Ramp { from, to, .. } => *from.max(to),
            Shape::Sine { mean, amplitude, .. } => Level(mean.0 + amplitude.0),
            Shape::Steps { levels, .. } => levels.iter().copied().max().unwrap_or_default(),
            Shape::Trace(rows) => rows.iter().map(|(_, level)| *level).max().unwrap_or_default(),
        }
    }

    /// The shape in a few words: `from 100/s to 5000/s in 1m`.
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

    /// The parts of a shape other than a sine, from its start on.
    fn stretches(&self) -> impl Iterator<Item = Stretch> + '_ {
        (0..).map_while(|number| self.stretch(number))
    }

    /// One of them; the last one never ends.
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
    /// As a workload file has it.
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

/// `trace(FILE)` with one column: instants after the job's start at which requests arrived, and
/// shall again. They never go back, and there is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded(pub Arc<[Nanos]>);

impl Recorded {
    /// The most arrivals in any second.
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

    /// How many there are before an instant.
    pub fn before(&self, t: Nanos) -> u64 {
        self.0.partition_point(|at| *at < t) as u64
    }
}

impl fmt::Display for Recorded {
    /// As a workload file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("trace(times")?;
        self.0.iter().try_for_each(|at| write!(f, " {}", in_decimal(at.0)))?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests;
