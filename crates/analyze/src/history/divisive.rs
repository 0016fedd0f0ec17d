//! Change points of a series, by E-divisive with a permutation test.
//!
//! The divergence of two sets of values compares the distances between the sets with the distances
//! within them. It is 0 only for equal distributions, and no model of the values is needed
//! (Matteson and James, "A nonparametric approach for multiple change point analysis of
//! multivariate data", JASA 109, 2014, arXiv 1306.4933). The place with the largest divergence is a
//! change point if few random orders of the same values reach a divergence as large at any place.
//! Both sides are then divided in the same way, until no further place is significant. Daly et al.
//! (ICPE 2020) and Fleming et al. ("Hunter", arXiv 2301.03034) describe the use of this method for
//! series of benchmark results.
//!
//! The test assumes that, without a change, values may be exchanged with each other. This is not
//! true of a machine that drifts slowly over many runs: its drift appears as change points.

use base::{Draw, Seed, Stream};

/// Probability of finding a change point in a series without a change.
pub const SIGNIFICANCE: f64 = 0.01;

/// Minimum number of values between two change points, and before the first and after the last.
pub const SHORTEST_SEGMENT: usize = 4;

/// Minimum number of values that are divided. With fewer values, many random orders divide into the
/// same two sets as the real one. The significance of even a clear change is then a matter of
/// chance.
pub const FEWEST_VALUES: usize = 12;

/// Number of random orders. The smallest possible probability is 1/500.
const PERMUTATIONS: u32 = 499;

/// Largest number of random orders that may reach the divergence of a significant change: (4 +
/// 1)/(499 + 1) is 1 %.
const MOST_AS_LARGE: u32 = 4;

/// Maximum number of values in a series; the time grows with the square of their number.
pub const LONGEST_SERIES: usize = 400;

/// A change point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub at: usize,
    /// Probability of a divergence at least this large without a change, by the permutation test.
    pub p_value: f64,
}

/// Returns the change points of a series, in its order.
///
/// # Panics
/// Panics if the series has more than [`LONGEST_SERIES`] values.
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    assert!(values.len() <= LONGEST_SERIES, "{} values", values.len());
    let mut found = Vec::new();
    divide(values, 0, &mut found);
    found.sort_by_key(|point: &ChangePoint| point.at);
    found
}

/// Finds the change points of a part of the series that begins at `first`.
fn divide(values: &[f64], first: usize, found: &mut Vec<ChangePoint>) {
    if values.len() < FEWEST_VALUES {
        return;
    }
    let Some(split) = best_split(values) else { return };
    let Some(p_value) = p_value(values, split.divergence, first) else { return };
    found.push(ChangePoint { at: first + split.at, p_value });
    let (before, after) = values.split_at(split.at);
    divide(before, first, found);
    divide(after, first + split.at, found);
}

/// The division of a part into two.
#[derive(Clone, Copy, Debug)]
struct Split {
    /// Number of values before the division.
    at: usize,
    /// The scaled divergence of both sides.
    divergence: f64,
}

/// Returns the division with the largest divergence. The second side may end before the part does
/// (κ in the paper): a change is found even if a later one reverses it.
fn best_split(values: &[f64]) -> Option<Split> {
    let distances = Distances::of(values);
    let n = values.len();
    // For each value from `at` on, the sum of its distances to the values before `at`.
    let mut to_first = vec![0.0; n];
    let mut best: Option<Split> = None;
    for at in 1..=n.saturating_sub(SHORTEST_SEGMENT) {
        add_distances(&mut to_first[at..], &values[at..], values[at - 1]);
        if at < SHORTEST_SEGMENT {
            continue;
        }
        let mut between = 0.0;
        for end in at + 1..=n {
            between += to_first[end - 1];
            if end - at < SHORTEST_SEGMENT {
                continue;
            }
            let divergence = distances.divergence(at, end, between);
            if best.is_none_or(|best| divergence > best.divergence) {
                best = Some(Split { at, divergence });
            }
        }
    }
    best.filter(|best| best.divergence > 0.0)
}

/// Adds to each sum the distance of its value to another value.
fn add_distances(sums: &mut [f64], values: &[f64], other: f64) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += (value - other).abs();
    }
}

/// Returns the probability of a divergence at least this large in random orders of the values;
/// `None` if the divergence is not significant.
fn p_value(values: &[f64], divergence: f64, first: usize) -> Option<f64> {
    let place = format!("{first}+{}", values.len());
    let stream = Stream::new(Seed::default(), "history", &place);
    let mut shuffled = values.to_vec();
    let mut as_large = 0;
    for order in 0..PERMUTATIONS {
        shuffle(&mut shuffled, stream.draw(u64::from(order)));
        let split = best_split(&shuffled);
        // Sums in a different order differ by rounding.
        if split.is_some_and(|split| split.divergence >= divergence * (1.0 - 1e-9)) {
            as_large += 1;
            if as_large > MOST_AS_LARGE {
                return None;
            }
        }
    }
    Some(f64::from(as_large + 1) / f64::from(PERMUTATIONS + 1))
}

/// Puts values in random order (Fisher and Yates).
fn shuffle(values: &mut [f64], mut draw: Draw) {
    for last in (1..values.len()).rev() {
        let other = draw.below(last as u64 + 1) as usize;
        values.swap(last, other);
    }
}

/// Sums of the distances between values.
struct Distances {
    /// Element n is the sum of the distances between all pairs of the first n values.
    among_first: Vec<f64>,
}

impl Distances {
    fn of(values: &[f64]) -> Distances {
        // For each value from `place` on, the sum of its distances to the values before `place`.
        let mut to_first = vec![0.0; values.len()];
        let mut among_first = vec![0.0];
        let mut sum = 0.0;
        for (place, value) in values.iter().enumerate() {
            sum += to_first[place];
            among_first.push(sum);
            add_distances(&mut to_first[place + 1..], &values[place + 1..], *value);
        }
        Distances { among_first }
    }

    /// Returns the divergence of the first `at` values from the others up to `end`. `between` is
    /// the sum of the distances between both sets, of n and m values. The divergence is scaled by n
    /// and m: nm/(n + m) · (2·mean between both − mean within the first − mean within the others).
    fn divergence(&self, at: usize, end: usize, between: f64) -> f64 {
        let (n, m) = (at as f64, (end - at) as f64);
        let first = self.among_first[at];
        let second = self.among_first[end] - first - between;
        let pairs = |n: f64| n * (n - 1.0) / 2.0;
        let divergence = 2.0 * between / (n * m) - first / pairs(n) - second / pairs(m);
        n * m / (n + m) * divergence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values around these levels, one level for each value, with a noise of 2 %.
    fn series(levels: &[f64], seed: u64) -> Vec<f64> {
        let mut draw = Stream::new(Seed(seed), "history", "noise").draw(0);
        levels.iter().map(|level| level * (1.0 + 0.02 * draw.normal())).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        change_points(values).into_iter().map(|point| point.at).collect()
    }

    /// By hand: 2·(40/4) − 1 − 1 = 18 between {0, 1} and {10, 11}, times 2·2/(2 + 2) = 1.
    #[test]
    fn divergence_agrees_with_the_definition() {
        let distances = Distances::of(&[0.0, 1.0, 10.0, 11.0]);
        let between = 10.0 + 11.0 + 9.0 + 10.0;
        assert!((distances.divergence(2, 4, between) - 18.0).abs() < 1e-12);
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let mut levels = vec![100.0; 15];
        levels.extend([120.0; 15]);
        levels.extend([90.0; 10]);
        assert_eq!(places(&series(&levels, 4)), [15, 30]);
        levels.truncate(20);
        assert_eq!(places(&series(&levels, 2)), [15]);
    }

    /// The means of both halves are equal, so the change is found only if the second side may end
    /// early.
    #[test]
    fn change_and_its_reversal_are_both_found() {
        let levels = [vec![100.0; 12], vec![115.0; 8], vec![100.0; 12]].concat();
        assert_eq!(places(&series(&levels, 3)), [12, 20]);
    }

    /// Of 60 series, more than 4 have a change point at 1 % with a probability of 0.04 %.
    #[test]
    fn series_without_a_change_seldom_has_a_change_point() {
        let found = |seed| !places(&series(&[100.0; 30], seed)).is_empty();
        let alarms = (1..=60).filter(|seed| found(*seed)).count();
        assert!(alarms <= 4, "{alarms}");
    }

    #[test]
    fn clear_change_is_found_in_the_fewest_values() {
        let found = |n: usize, seed| {
            let levels: Vec<f64> =
                (0..n).map(|at| if at < n / 2 { 100.0 } else { 200.0 }).collect();
            !places(&series(&levels, seed)).is_empty()
        };
        assert!((1..=5).all(|seed| found(FEWEST_VALUES, seed)));
        for fewer in 2 * SHORTEST_SEGMENT..FEWEST_VALUES {
            assert!((1..=20).all(|seed| !found(fewer, seed)), "{fewer}");
        }
    }

    /// The eleven values after the first change consist of two different levels.
    #[test]
    fn part_of_fewer_values_is_not_divided() {
        let levels = [vec![100.0; 11], vec![300.0; 5], vec![200.0; 6]].concat();
        assert_eq!(places(&series(&levels, 1)), [11]);
    }

    #[test]
    fn short_and_constant_series_have_no_change_point() {
        assert_eq!(change_points(&[]), []);
        assert_eq!(change_points(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0]), []);
        assert_eq!(change_points(&[5.0; 50]), []);
    }
}
