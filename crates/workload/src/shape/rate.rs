//! Rates that vary with time.

use std::fmt;
use std::ops::Add;
use std::sync::Arc;

use base::Nanos;

use super::level::{Expected, Level, in_decimal};
use super::segment::RateSegment;
use super::sine::SinePosition;

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
    /// first instant the rate is zero. The instants never decrease, and there is at least one.
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
                let mut segments = self.segments();
                let here = segments.find(|segment| t < segment.end());
                here.map_or(0.0, |segment| segment.rate_at(t))
            }
        }
    }

    /// Returns Λ, the number of arrivals expected by an instant after the job's start.
    pub fn expected(&self, t: Nanos) -> Expected {
        match self {
            Shape::Sine { mean, amplitude, period } => {
                let whole = u128::from(mean.0) * u128::from(t.0 - t.0 % period.0);
                let wave = SinePosition::new(*mean, *amplitude, *period);
                Expected(whole + wave.expected((t.0 % period.0) as f64) as u128)
            }
            Shape::Ramp { .. } | Shape::Steps { .. } | Shape::Trace(_) => {
                let begun = self.segments().take_while(|segment| segment.start < t);
                let parts = begun.map(|segment| segment.expected(t.min(segment.end())));
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

    /// Returns the segments of a shape other than a sine, from its start on.
    fn segments(&self) -> impl Iterator<Item = RateSegment> + '_ {
        (0..).map_while(|number| self.segment(number))
    }

    /// Returns the segment with this index; `None` if there is none. The last segment never ends,
    /// and a sine has no segments.
    pub(super) fn segment(&self, number: usize) -> Option<RateSegment> {
        match self {
            Shape::Sine { .. } => None,
            Shape::Ramp { from, to, span } => match number {
                0 => Some(RateSegment { start: Nanos::ZERO, length: *span, from: *from, to: *to }),
                1 => Some(RateSegment::constant(*span, None, *to)),
                _ => None,
            },
            Shape::Steps { levels, span } => {
                let level = *levels.get(number)?;
                let start = *span * number as u64;
                let next = (number + 1 < levels.len()).then(|| start + *span);
                Some(RateSegment::constant(start, next, level))
            }
            Shape::Trace(rows) => {
                let next = rows.get(number).map(|(at, _)| *at);
                match number.checked_sub(1) {
                    None => Some(RateSegment::constant(Nanos::ZERO, next, Level::ZERO)),
                    Some(row) => {
                        let (start, level) = *rows.get(row)?;
                        Some(RateSegment::constant(start, next, level))
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
