//! Changes of a metric, between the scale of the statistics and the scale that a reader sees.

use workload::question::Scale;

/// An interval of the change of a metric: as a fraction of the baseline, or as a difference for
/// metrics that are compared by difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Reason why two groups of values cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// Fewer values than the method needs.
    TooFew {
        /// Number of pairs, or of runs of the smaller group.
        has: u32,
        /// Number that is needed.
        needs: u32,
    },
    /// A value that is 0 or less, or not finite, has no ratio to another.
    NotPositive,
}

/// Returns a value on the scale of the statistics: its logarithm if ratios are compared.
pub(crate) fn to_scale(value: f64, scale: Scale) -> Result<f64, Incomparable> {
    match scale {
        Scale::Ratio if value > 0.0 && value.is_finite() => Ok(value.ln()),
        Scale::Ratio => Err(Incomparable::NotPositive),
        Scale::Difference => Ok(value),
    }
}

/// Returns a difference on the scale of the statistics as a change: exp(d) − 1 if ratios are
/// compared.
pub(crate) fn to_change(difference: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Ratio => difference.exp_m1(),
        Scale::Difference => difference,
    }
}

/// Returns a change as a difference on the scale of the statistics: the inverse of [`to_change`].
pub(super) fn to_difference(change: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Ratio => change.ln_1p(),
        Scale::Difference => change,
    }
}

/// Returns the median of at least one value.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

impl ChangeInterval {
    /// Returns the interval around a difference on the scale of the statistics.
    pub(super) fn around(difference: f64, half_width: f64, scale: Scale) -> ChangeInterval {
        ChangeInterval {
            low: to_change(difference - half_width, scale),
            high: to_change(difference + half_width, scale),
        }
    }

    /// Returns true if zero lies outside of the interval.
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}
