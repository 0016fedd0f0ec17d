//! Least squares of logarithms, with parameters of at least 0.
//!
//! A model is linear before its logarithm is taken: ln(offset + p₁·z₁ + p₂·z₂ + …) is fitted to
//! targets. With a multiplicative error all rows then have the same variance. The Gauss-Newton
//! iteration starts from the linear least squares of the relative errors. It needs few steps,
//! because the two solutions differ only by the square of the error. A parameter that would be
//! negative is 0: every set of free parameters is solved, and the best solution without a negative
//! parameter is taken.

use crate::linear::{invert, multiply};

/// Maximum number of steps of one solution.
const MOST_STEPS: u32 = 40;

/// Maximum number of lengths that are tried for one step, each half of the previous one.
const MOST_HALVINGS: u32 = 30;

/// A step that reduces the sum of squares by at most this fraction is the last.
const SMALLEST_GAIN: f64 = 1e-12;

/// Relative size of a pivot up to which the equations count as singular: they do not determine the
/// parameters. The limit is tiny because the rows of one step may differ by many orders of
/// magnitude.
const SINGULAR: f64 = 1e-100;

/// One row of a model with `K` parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<const K: usize> {
    /// The part without a parameter.
    pub(super) offset: f64,
    /// The factors of the parameters.
    pub(super) terms: [f64; K],
    /// The logarithm that was measured.
    pub(super) target: f64,
    /// Number of measurements that the target averages.
    pub(super) weight: f64,
}

/// A solution with the weighted sum of its squared residuals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solution<const K: usize> {
    pub(super) parameters: [f64; K],
    pub(super) squares: f64,
}

/// Fits a model; `None` if no parameters make it positive in all rows.
pub(super) fn solve<const K: usize>(rows: &[Row<K>]) -> Option<Solution<K>> {
    let scales: [f64; K] = std::array::from_fn(|term| {
        let largest = rows.iter().map(|row| row.terms[term].abs()).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    });
    let scaled: Vec<Row<K>> = rows
        .iter()
        .map(|row| Row { terms: std::array::from_fn(|k| row.terms[k] / scales[k]), ..*row })
        .collect();
    let subsets = (0_u32..1 << K).map(|set| std::array::from_fn(|term| set >> term & 1 == 1));
    let solutions = subsets.filter_map(|free| solve_free(&scaled, free));
    let best = solutions.min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let parameters = std::array::from_fn(|term| best.parameters[term] / scales[term]);
    Some(Solution { parameters, squares: best.squares })
}

/// Fits the free parameters, with all others at 0; `None` if a parameter becomes negative.
fn solve_free<const K: usize>(rows: &[Row<K>], free: [bool; K]) -> Option<Solution<K>> {
    let mut parameters = start(rows, free)?;
    let mut squares = squares(rows, &parameters)?;
    for _ in 0..MOST_STEPS {
        let Some(step) = newton_step(rows, &parameters, free) else { break };
        let Some(better) = shorten_step(rows, &parameters, step, squares) else { break };
        let gain = squares - better.squares;
        (parameters, squares) = (better.parameters, better.squares);
        if gain <= SMALLEST_GAIN * squares {
            break;
        }
    }
    parameters.iter().all(|value| *value >= 0.0).then_some(Solution { parameters, squares })
}

/// Returns the parameters with the least squares of relative errors.
fn start<const K: usize>(rows: &[Row<K>], free: [bool; K]) -> Option<[f64; K]> {
    let relative = rows.iter().map(|row| {
        let size = row.target.exp();
        (row.terms.map(|term| term / size), 1.0 - row.offset / size, row.weight)
    });
    solve_linear(relative, free)
}

fn newton_step<const K: usize>(
    rows: &[Row<K>],
    parameters: &[f64; K],
    free: [bool; K],
) -> Option<[f64; K]> {
    let linear = rows.iter().map(|row| {
        let value = row.value(parameters);
        (row.terms.map(|term| term / value), row.target - value.ln(), row.weight)
    });
    solve_linear(linear, free)
}

/// Returns the largest part of the step that reduces the squares: all of it, half of it, a quarter
/// of it, and so on.
fn shorten_step<const K: usize>(
    rows: &[Row<K>],
    from: &[f64; K],
    step: [f64; K],
    before: f64,
) -> Option<Solution<K>> {
    let mut lengths = (0..MOST_HALVINGS).map(|halvings| 0.5f64.powi(halvings as i32));
    lengths.find_map(|length| {
        let parameters = std::array::from_fn(|term| from[term] + length * step[term]);
        let squares = squares(rows, &parameters)?;
        (squares < before).then_some(Solution { parameters, squares })
    })
}

/// Returns the weighted sum of squared residuals; `None` if the model is not positive in a row.
fn squares<const K: usize>(rows: &[Row<K>], parameters: &[f64; K]) -> Option<f64> {
    let square = |row: &Row<K>| {
        let value = row.value(parameters);
        (value > 0.0).then(|| row.weight * (row.target - value.ln()).powi(2))
    };
    rows.iter().map(square).sum()
}

impl<const K: usize> Row<K> {
    fn value(&self, parameters: &[f64; K]) -> f64 {
        let products = self.terms.iter().zip(parameters).map(|(term, value)| term * value);
        self.offset + products.sum::<f64>()
    }
}

/// Solves weighted linear least squares for the free unknowns, with all others at 0. A row consists
/// of its factors, its target and its weight. `None` if the rows do not determine the unknowns.
fn solve_linear<const K: usize>(
    rows: impl Iterator<Item = ([f64; K], f64, f64)>,
    free: [bool; K],
) -> Option<[f64; K]> {
    let (mut matrix, mut right) = ([[0.0; K]; K], [0.0; K]);
    for (factors, target, weight) in rows {
        for i in (0..K).filter(|i| free[*i]) {
            right[i] += weight * factors[i] * target;
            for j in (0..K).filter(|j| free[*j]) {
                matrix[i][j] += weight * factors[i] * factors[j];
            }
        }
    }
    Some(multiply(&invert(matrix, free, SINGULAR)?, &right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: impl Fn(f64) -> f64) -> Vec<Row<3>> {
        let row = |n: f64| Row {
            offset: 0.0,
            terms: [1.0, n, n * (n - 1.0)],
            target: of(n).ln(),
            weight: 3.0,
        };
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(row).to_vec()
    }

    fn check(parameters: [f64; 3]) {
        let [a, b, c] = parameters;
        let found = solve(&rows(|n| a + b * n + c * n * (n - 1.0))).unwrap();
        for (found, expected) in found.parameters.iter().zip(parameters) {
            assert!((found - expected).abs() <= 1e-9 * (1.0 + expected), "{parameters:?}");
        }
        assert!(found.squares < 1e-18, "{found:?}");
    }

    #[test]
    fn exact_rows_give_their_parameters() {
        check([1.0, 0.05, 0.000_3]);
        check([1e-3, 1e-5, 0.0]);
        check([1.0, 0.0, 1e-4]);
        check([0.0, 2.0, 0.0]);
    }

    /// Without the bound the last factor would be negative.
    #[test]
    fn parameter_that_would_be_negative_is_zero() {
        let found = solve(&rows(|n| 1.0 + 0.1 * n - 0.000_2 * n * (n - 1.0))).unwrap();
        assert_eq!(found.parameters[2], 0.0);
        assert!(found.squares > 0.0 && found.parameters[1] > 0.0, "{found:?}");
    }

    /// ln(1 + p) = ln 3 and ln 5, with weights 1 and 3: the mean is the logarithm of 1 + p.
    #[test]
    fn rows_count_by_their_weight() {
        let row = |target: f64, weight| Row { offset: 1.0, terms: [1.0], target, weight };
        let found = solve(&[row(3f64.ln(), 1.0), row(5f64.ln(), 3.0)]).unwrap();
        let mean = (3f64.ln() + 3.0 * 5f64.ln()) / 4.0;
        assert!((found.parameters[0] - (mean.exp() - 1.0)).abs() < 1e-6, "{found:?}");
    }
}
