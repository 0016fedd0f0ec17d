//! Numbers in JSON.

/// Returns `None` for a number that JSON cannot represent.
pub(super) fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}
