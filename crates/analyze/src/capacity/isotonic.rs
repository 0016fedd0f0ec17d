//! The isotonic fit, with which the regression is compared.
//!
//! It assumes only that the share beyond the bound does not fall as the value grows. Neighbours in
//! the wrong order are pooled (pool adjacent violators; Barlow, Bartholomew, Bremner and Brunk,
//! "Statistical Inference under Order Restrictions", 1972).

/// A trial as an input of the isotonic fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Logarithm of the value of the varied key.
    pub(super) x: f64,
    /// Logarithm of the ratio of the measure to the allowed value.
    pub(super) log_ratio: f64,
    /// Weight, such as the number of requests.
    pub(super) weight: f64,
}

/// Returns the x at which the isotonic fit crosses the bound, by linear interpolation between the
/// blocks on either side; `None` if all blocks lie on one side.
pub(super) fn isotonic_crossing(levels: &[Level]) -> Option<f64> {
    let blocks = pool(levels);
    let above = blocks.iter().position(|block| block.log_ratio >= 0.0)?;
    let (low, high) = (blocks.get(above.checked_sub(1)?)?, blocks[above]);
    let part = -low.log_ratio / (high.log_ratio - low.log_ratio);
    Some(low.x + part * (high.x - low.x))
}

/// Returns the levels sorted by x. Neighbours whose ratio does not rise with x are pooled, and so
/// are levels with the same x.
fn pool(levels: &[Level]) -> Vec<Level> {
    let mut sorted = levels.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut blocks: Vec<Level> = Vec::new();
    for level in sorted {
        let mut level = level;
        while let Some(last) = blocks.last()
            && (last.log_ratio >= level.log_ratio || last.x == level.x)
        {
            level = last.pooled_with(&level);
            blocks.pop();
        }
        blocks.push(level);
    }
    blocks
}

impl Level {
    /// Returns the weighted mean of two levels.
    fn pooled_with(&self, other: &Level) -> Level {
        let weight = self.weight + other.weight;
        let mean = |a: f64, b: f64| (a * self.weight + b * other.weight) / weight;
        Level {
            x: mean(self.x, other.x),
            log_ratio: f64::ln(mean(self.log_ratio.exp(), other.log_ratio.exp())),
            weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(pairs: &[(f64, f64)]) -> Vec<Level> {
        let level = |(x, ratio): &(f64, f64)| Level { x: *x, log_ratio: ratio.ln(), weight: 1.0 };
        pairs.iter().map(level).collect()
    }

    #[test]
    fn ordered_levels_cross_between_their_neighbours() {
        let x = isotonic_crossing(&levels(&[(0.0, 0.25), (1.0, 0.5), (2.0, 2.0), (3.0, 8.0)]));
        assert!((x.unwrap() - 1.5).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn violators_are_pooled_before_the_crossing() {
        // Pooling turns 0.5 and 0.3 into 0.4 at x = 1.5.
        let x = isotonic_crossing(&levels(&[(0.0, 0.1), (1.0, 0.5), (2.0, 0.3), (3.0, 2.5)]));
        assert!((x.unwrap() - 2.25).abs() < 1e-9, "{x:?}");
    }

    #[test]
    fn levels_on_one_side_have_no_crossing() {
        assert_eq!(isotonic_crossing(&levels(&[(0.0, 0.1), (1.0, 0.9)])), None);
        assert_eq!(isotonic_crossing(&levels(&[(0.0, 1.1), (1.0, 3.0)])), None);
        assert_eq!(isotonic_crossing(&[]), None);
    }

    #[test]
    fn repeated_values_count_as_one_level() {
        let x = isotonic_crossing(&levels(&[(0.0, 0.5), (1.0, 1.5), (1.0, 2.5), (0.0, 0.5)]));
        assert!((x.unwrap() - 0.5).abs() < 1e-9, "{x:?}");
    }
}
