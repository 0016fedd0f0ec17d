//! Changes of the level of a series.

use crate::moments::mean;

/// A change of the mean from one part of a series to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelChange {
    /// Index of the first part after the change.
    pub(crate) index: usize,
    /// Change relative to the mean before it, as a fraction; 1 or -1 if that mean is zero.
    pub(crate) by: f64,
    /// Change divided by its standard error.
    pub(crate) t: f64,
}

/// Compares the means before and after an index.
pub(crate) fn level_change_at(parts: &[f64], index: usize) -> LevelChange {
    let (before, after) = parts.split_at(index);
    let squares = |part: &[f64]| {
        let mean = mean(part);
        part.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let difference = mean(after) - mean(before);
    let freedom = parts.len() as f64 - 2.0;
    let variance = (squares(before) + squares(after)) / freedom;
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    let t = student_t(difference, error);
    // A change from zero has no relative size.
    let by = if mean(before) > 0.0 { difference / mean(before) } else { difference.signum() };
    LevelChange { index, by, t }
}

/// Returns a number divided by its standard error. Without scatter the error is 0, and a number
/// other than 0 is not chance: its t is finite and printable, but beyond every limit.
pub(crate) fn student_t(number: f64, error: f64) -> f64 {
    match number {
        0.0 => 0.0,
        number => (number / error.max(f64::MIN_POSITIVE)).clamp(-LARGEST_T, LARGEST_T),
    }
}

/// Largest absolute value of t; measurements that do not scatter have it.
pub(crate) const LARGEST_T: f64 = 1e6;
