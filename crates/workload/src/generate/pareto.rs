//! `pareto(min, shape)`: mostly small values, and a few very large ones.

use crate::value::Datum;

/// The Pareto distribution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pareto<E> {
    /// The smallest value.
    pub(crate) minimum: E,
    pub(crate) shape: f64,
}

impl<E> Pareto<E> {
    /// Returns the smallest value and the shape.
    pub(crate) fn arguments(&self) -> (&E, f64) {
        (&self.minimum, self.shape)
    }

    /// Returns a value of the Pareto distribution: `minimum · e^(standard / shape)`, where
    /// `standard` is drawn from the exponential distribution with the mean 1.
    pub(crate) fn value(&self, minimum: Datum, standard: f64) -> Datum {
        let times = libm::exp(standard / self.shape);
        match minimum {
            Datum::Duration(nanos) => Datum::Duration((nanos.max(0) as f64 * times) as i64),
            other => match other.number() {
                Some(minimum) => Datum::real(minimum * times),
                None => Datum::Null,
            },
        }
    }
}
