//! The readable part of an axis: the range without the few values that are far above all others.

/// Maximum ratio of the largest value to the next largest one; beyond it, the largest value is cut
/// off.
const GAP: f64 = 5.0;

/// Maximum ratio of the largest value to the median; beyond it, the largest value is cut off.
const ABOVE_MEDIAN: f64 = 40.0;

/// Returns the largest value that is not far above the others; 0 if there are no values. At least
/// half of the values are readable.
pub(super) fn highest_readable(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len().saturating_sub(1) / 2).copied() else { return 0.0 };
    while let [.., next, last] = sorted.as_slice() {
        // The next largest value may be the median, which is never cut off.
        let is_dwarfing = *last > GAP * next || *last > ABOVE_MEDIAN * median;
        if !is_dwarfing || *next < median || *last <= median {
            break;
        }
        sorted.pop();
    }
    sorted.last().copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], expected: f64) {
        assert_eq!(highest_readable(values.iter().copied()), expected, "{values:?}");
    }

    #[test]
    fn overload_does_not_dwarf_the_other_points() {
        check(&[1.0, 1.2, 1.5, 2.0, 900.0], 2.0);
        check(&[900.0, 1.0, 1.2, 1.5, 2.0, 7_000.0], 2.0);
        check(&[1.0, 4.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0], 1_024.0);
    }

    #[test]
    fn growth_with_the_load_is_shown_whole() {
        check(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], 64.0);
        check(&[3.0], 3.0);
        check(&[], 0.0);
        check(&[f64::NAN, 3.0], 3.0);
    }

    #[test]
    fn half_of_the_points_stay_readable() {
        check(&[1.0, 100.0], 1.0);
        check(&[1.0, 100.0, 101.0], 101.0);
    }
}
