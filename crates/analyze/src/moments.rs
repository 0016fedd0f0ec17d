//! Mean and dispersion of numbers.

/// Returns the mean of at least one number.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Returns the index of dispersion of at least two counts: their variance divided by their mean. It
/// is 1 for a Poisson process (Cox and Lewis, The Statistical Analysis of Series of Events, section
/// 6.3), and NaN if all counts are 0.
pub(crate) fn index_of_dispersion(counts: &[f64]) -> f64 {
    let mean = mean(counts);
    let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
    squares / mean / (counts.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispersion_is_the_variance_divided_by_the_mean() {
        assert_eq!(mean(&[1.0, 2.0, 3.0, 6.0]), 3.0);
        // The variance is 14 / 3.
        assert!((index_of_dispersion(&[1.0, 2.0, 3.0, 6.0]) - 14.0 / 9.0).abs() < 1e-12);
        assert_eq!(index_of_dispersion(&[4.0, 4.0]), 0.0);
        assert!(index_of_dispersion(&[0.0, 0.0]).is_nan());
    }
}
