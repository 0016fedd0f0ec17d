//! Standard errors of means, and of differences between independent means.

use crate::student::critical_t;

/// The standard error of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StandardError {
    /// Size of the error; above 0.
    pub(crate) error: f64,
    /// Degrees of freedom.
    pub(crate) freedom: f64,
}

/// Largest scatter that counts as rounding of equal values, as a fraction of the largest absolute
/// value or of 1, whichever is larger.
const ROUNDING: f64 = 1e-12;

/// Returns the standard deviation `deviation` of the values, or 0 if the values differ by rounding
/// only.
pub(crate) fn scatter(deviation: f64, values: &[f64]) -> f64 {
    let size = values.iter().fold(1.0, |size: f64, value| size.max(value.abs()));
    if deviation <= ROUNDING * size { 0.0 } else { deviation }
}

impl StandardError {
    /// Returns the standard error of the difference between two independent estimates; `None`
    /// stands for an estimate without scatter. The degrees of freedom follow Welch and
    /// Satterthwaite, at least 1.
    pub(crate) fn of_difference(
        a: Option<StandardError>,
        b: Option<StandardError>,
    ) -> Option<StandardError> {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (one, other) => return one.or(other),
        };
        let [u, v] = [a, b].map(|one| one.error * one.error);
        let freedom = (u + v).powi(2) / (u * u / a.freedom + v * v / b.freedom);
        Some(StandardError { error: (u + v).sqrt(), freedom: freedom.max(1.0) })
    }

    /// Returns half the width of the interval that misses the true value with a probability of
    /// `alpha`.
    pub(crate) fn half_width(self, alpha: f64) -> f64 {
        critical_t(alpha, self.freedom) * self.error
    }
}
