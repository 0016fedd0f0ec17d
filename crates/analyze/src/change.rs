//! A change between two parts of a series.

/// A change between two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Index of the first part after the step.
    pub(crate) place: usize,
    /// Change relative to the mean before it.
    pub(crate) by: f64,
    /// Change divided by its standard error.
    pub(crate) t: f64,
}

/// Compares the means before and after a position.
pub(crate) fn step_at(parts: &[f64], place: usize) -> Step {
    let (before, behind) = parts.split_at(place);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let squares = |part: &[f64]| {
        let mean = mean(part);
        part.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let difference = mean(behind) - mean(before);
    let freedom = parts.len() as f64 - 2.0;
    let variance = (squares(before) + squares(behind)) / freedom;
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / behind.len() as f64)).sqrt();
    let t = match difference {
        0.0 => 0.0,
        // A step without any scatter is not chance; the clamp keeps t finite and printable.
        difference => (difference / error.max(f64::MIN_POSITIVE)).clamp(-PERFECT, PERFECT),
    };
    // A change from zero has no relative size.
    let by = if mean(before) > 0.0 { difference / mean(before) } else { difference.signum() };
    Step { place, by, t }
}

/// Value of t for a step without scatter, where the standard error is 0.
pub(crate) const PERFECT: f64 = 1e6;
