//! The inverse of a cumulative rate: the time of each expected arrival.

use base::Nanos;

use super::level::Expected;
use super::rate::Shape;
use super::segment::RateSegment;
use super::sine::SinePosition;

/// The inverse of a shape's cumulative rate, for numbers of arrivals that never decrease. An
/// evaluation costs a few operations, allocates nothing, and continues from the previous one.
#[derive(Clone, Debug)]
pub struct Inverse {
    shape: Shape,
    position: ShapePosition,
    last: Nanos,
}

#[derive(Clone, Debug)]
enum ShapePosition {
    /// A position in a constant or linear segment of a shape.
    Segment(Part),
    /// A position in a period of a sine.
    Sine(SinePosition),
}

/// A segment of a shape, with the expected numbers of arrivals.
#[derive(Clone, Debug)]
struct Part {
    number: usize,
    segment: RateSegment,
    /// Arrivals expected from the job's start to the segment's beginning.
    before: Expected,
    /// Arrivals expected from the job's start to the segment's end.
    after: Expected,
}

impl Inverse {
    /// Creates the inverse of a shape.
    pub fn new(shape: &Shape) -> Inverse {
        let position = match shape {
            Shape::Sine { mean, amplitude, period } => {
                ShapePosition::Sine(SinePosition::new(*mean, *amplitude, *period))
            }
            Shape::Ramp { .. } | Shape::Steps { .. } | Shape::Trace(_) => {
                let first = shape.segment(0).expect("a shape has a beginning");
                ShapePosition::Segment(Part::new(0, first, Expected::default()))
            }
        };
        Inverse { shape: shape.clone(), position, last: Nanos::ZERO }
    }

    /// Returns the time from the job's start until the expected number of arrivals reaches
    /// `arrivals`, rounded down to a nanosecond; `None` if it never does. `arrivals` must not
    /// decrease from call to call.
    #[inline]
    pub fn at(&mut self, arrivals: Expected) -> Option<Nanos> {
        let at = match &mut self.position {
            ShapePosition::Segment(part) => part.at(&self.shape, arrivals)?,
            ShapePosition::Sine(wave) => wave.at(arrivals),
        };
        // Rounding of doubles must not reverse the order of instants.
        self.last = self.last.max(at);
        Some(self.last)
    }
}

impl Part {
    fn new(number: usize, segment: RateSegment, before: Expected) -> Part {
        Part { number, segment, before, after: before + segment.all() }
    }

    #[inline]
    fn at(&mut self, shape: &Shape, arrivals: Expected) -> Option<Nanos> {
        while arrivals > self.after {
            let number = self.number + 1;
            *self = Part::new(number, shape.segment(number)?, self.after);
        }
        let inside = Expected(arrivals.0.saturating_sub(self.before.0));
        Some(self.segment.start + self.segment.time_of(inside))
    }
}
