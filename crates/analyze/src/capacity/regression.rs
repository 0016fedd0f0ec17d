//! Regression of the measured quantities of conditions on x, the logarithm of the varied value.
//!
//! The number of requests beyond a bound is fitted by a quasi-Poisson regression with a logarithmic
//! link: ln E(count / total) = a + b x, with a variance of φ times the mean, where φ is Pearson's
//! dispersion (McCullagh and Nelder, "Generalized Linear Models", 2nd edition, chapters 6.2 and
//! 4.5). For a queue with one server, Poisson arrivals and exponential service times, the logarithm
//! of the share count / total is exactly linear in the rate, and so nearly linear in x over a
//! narrow range. Other systems are similar. A quantity that is not a count, such as a mean response
//! time, is fitted by least squares to its logarithm.

use crate::linear::{invert, multiply};
use crate::student::{critical_t, two_sided_p};

/// A trial as an input of the regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Logarithm of the value of the varied key, relative to the center of the fit.
    pub(super) x: f64,
    /// Another explanatory variable, such as the order of the trials, for [`Terms::Other`].
    pub(super) other: f64,
    /// Response of the trial.
    pub(super) y: Response,
}

/// Response of a trial, relative to the allowed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Response {
    /// Number of requests beyond the bound, and the allowed number.
    Count {
        /// Number of requests.
        count: f64,
        /// Allowed number.
        allowed: f64,
    },
    /// For a quantity that is not a count: logarithm of its ratio to its bound.
    LogRatio(f64),
}

/// Terms of the regression besides the intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    /// x.
    Line,
    /// x and x².
    Curve,
    /// x and the other variable.
    Other,
}

/// A fitted regression of the logarithm of (response / allowed).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// Intercept, slope in x, and coefficient of the third term, or 0.
    pub(super) coefficients: [f64; 3],
    /// Covariance of the coefficients.
    covariance: [[f64; 3]; 3],
    /// Degrees of freedom of the residuals.
    freedom: f64,
    /// Pearson's dispersion; for quantities that are not counts, the residual variance of their
    /// logarithms.
    pub(super) dispersion: f64,
}

/// A crossing of the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    /// Position, as the logarithm of the value relative to the center of the fit.
    pub(super) x: f64,
    /// Standard error of `x`.
    pub(super) error: f64,
    /// Half the width of the 95 % interval of `x`.
    pub(super) half_width: f64,
    /// Growth of the logarithm of the ratio per unit of x.
    pub(super) slope: f64,
}

/// Maximum number of iterations of the regression; it usually converges in six.
const MOST_ITERATIONS: usize = 50;

/// Change of the coefficients at which the iterations end.
const CONVERGED: f64 = 1e-9;

/// Relative size of a pivot up to which the equations count as singular: they do not determine the
/// coefficients.
const SINGULAR: f64 = 1e-13;

/// Largest logarithm of a fitted ratio, to keep iterations finite.
const LARGEST: f64 = 50.0;

impl Fit {
    /// Fits the points; `None` if there are too few points or too few different values of x, or if
    /// all counts are zero.
    pub(super) fn of(points: &[Point], terms: Terms) -> Option<Fit> {
        let size = terms.size();
        let total: f64 = points.iter().map(Point::amount).sum();
        if points.len() <= size || total <= 0.0 {
            return None;
        }
        let mut coefficients = [mean_log_ratio(points), 0.0, 0.0];
        let mut inverse = None;
        for _ in 0..MOST_ITERATIONS {
            let (matrix, right) = normal_equations(points, terms, coefficients);
            let inverted = invert(matrix, terms.used(), SINGULAR)?;
            let next = multiply(&inverted, &right);
            let change = next.iter().zip(coefficients).map(|(a, b)| (a - b).abs());
            let change = change.fold(0.0, f64::max);
            (coefficients, inverse) = (next, Some(inverted));
            if change < CONVERGED {
                break;
            }
        }
        let freedom = (points.len() - size) as f64;
        let dispersion = dispersion(points, terms, coefficients) / freedom;
        let covariance = inverse?.map(|row| row.map(|it| it * dispersion));
        let fit = Fit { coefficients, covariance, freedom, dispersion };
        fit.is_finite().then_some(fit)
    }

    /// Returns the x at which the line crosses the bound; `None` if the line does not rise.
    pub(super) fn crossing(&self) -> Option<Crossing> {
        let [a, b, _] = self.coefficients;
        self.crossing_at(-a / b, b)
    }

    /// Returns the fitted logarithm of the ratio at x, without the third term.
    pub(super) fn at(&self, x: f64) -> f64 {
        self.coefficients[0] + self.coefficients[1] * x
    }

    /// Returns the crossing of a curve that is closest to `near`; `None` if the curve does not rise
    /// there, or does not cross the bound.
    pub(super) fn curved_crossing(&self, near: f64) -> Option<Crossing> {
        let [a, b, c] = self.coefficients;
        let mut x = near;
        // Newton's method.
        for _ in 0..MOST_ITERATIONS {
            let slope = b + 2.0 * c * x;
            if slope <= 0.0 {
                return None;
            }
            let step = (a + b * x + c * x * x) / slope;
            x -= step;
            if step.abs() < CONVERGED {
                return self.crossing_at(x, b + 2.0 * c * x);
            }
        }
        None
    }

    /// Returns a crossing with its error, by the delta method.
    fn crossing_at(&self, x: f64, slope: f64) -> Option<Crossing> {
        let gradient = [1.0, x, x * x];
        let rows = self.covariance.iter().zip(gradient);
        let products =
            rows.map(|(row, g)| g * row.iter().zip(gradient).map(|(a, b)| a * b).sum::<f64>());
        let error = products.sum::<f64>().max(0.0).sqrt() / slope;
        let half_width = error * critical_t(0.05, self.freedom);
        let is_finite = x.is_finite() && error.is_finite();
        (slope > 0.0 && is_finite).then_some(Crossing { x, error, half_width, slope })
    }

    /// Returns the probability that chance alone makes the third term this large.
    pub(super) fn p_of_third(&self) -> f64 {
        let error = self.covariance[2][2].sqrt();
        match error > 0.0 {
            true => two_sided_p(self.coefficients[2] / error, self.freedom),
            false => 1.0,
        }
    }

    fn is_finite(&self) -> bool {
        let covariance = self.covariance.iter().flatten();
        self.coefficients.iter().chain(covariance).all(|it| it.is_finite())
    }
}

impl Terms {
    /// Returns a flag for each coefficient, true if it is fitted.
    fn used(self) -> [bool; 3] {
        std::array::from_fn(|term| term < self.size())
    }

    fn size(self) -> usize {
        match self {
            Terms::Line => 2,
            Terms::Curve | Terms::Other => 3,
        }
    }
}

impl Point {
    fn row(&self, terms: Terms) -> [f64; 3] {
        let third = match terms {
            Terms::Line => 0.0,
            Terms::Curve => self.x * self.x,
            Terms::Other => self.other,
        };
        [1.0, self.x, third]
    }

    /// Returns the count, or 1 for a quantity that is not a count. A fit needs a total above zero,
    /// because zero has no logarithm.
    fn amount(&self) -> f64 {
        match self.y {
            Response::Count { count, .. } => count,
            Response::LogRatio(_) => 1.0,
        }
    }

    /// Returns the fitted logarithm of the ratio.
    fn fitted(&self, terms: Terms, coefficients: [f64; 3]) -> f64 {
        let sum: f64 = self.row(terms).iter().zip(coefficients).map(|(a, b)| a * b).sum();
        sum.clamp(-LARGEST, LARGEST)
    }
}

/// Returns the logarithm of the ratio of all points together, from which the iterations begin.
fn mean_log_ratio(points: &[Point]) -> f64 {
    let (mut count, mut allowed, mut logs) = (0.0, 0.0, Vec::new());
    for point in points {
        match point.y {
            Response::Count { count: more, allowed: of } => {
                count += more;
                allowed += of;
            }
            Response::LogRatio(log) => logs.push(log),
        }
    }
    match logs.is_empty() {
        true => f64::ln(count / allowed),
        false => logs.iter().sum::<f64>() / logs.len() as f64,
    }
}

/// Returns the weighted normal equations of one iteration.
fn normal_equations(
    points: &[Point],
    terms: Terms,
    coefficients: [f64; 3],
) -> ([[f64; 3]; 3], [f64; 3]) {
    let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for point in points {
        let row = point.row(terms);
        let eta = point.fitted(terms, coefficients);
        let (weight, working) = match point.y {
            Response::Count { count, allowed } => {
                let mean = allowed * eta.exp();
                (mean, eta + (count - mean) / mean)
            }
            Response::LogRatio(log) => (1.0, log),
        };
        for i in 0..3 {
            right[i] += weight * row[i] * working;
            for j in 0..3 {
                matrix[i][j] += weight * row[i] * row[j];
            }
        }
    }
    (matrix, right)
}

/// Returns Pearson's statistic, at least the degrees of freedom if the points are counts. A smaller
/// value would mean less scatter than independent requests have, which can only be chance.
fn dispersion(points: &[Point], terms: Terms, coefficients: [f64; 3]) -> f64 {
    let mut has_counts = false;
    let squares = points.iter().map(|point| {
        let eta = point.fitted(terms, coefficients);
        match point.y {
            Response::Count { count, allowed } => {
                has_counts = true;
                let mean = allowed * eta.exp();
                (count - mean).powi(2) / mean
            }
            Response::LogRatio(log) => (log - eta).powi(2),
        }
    });
    let sum: f64 = squares.sum();
    let floor = if has_counts { (points.len() - terms.size()) as f64 } else { 0.0 };
    sum.max(floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Seed, Stream};

    const XS: [f64; 5] = [-0.06, -0.03, 0.0, 0.03, 0.06];

    fn counts(of: impl Fn(f64) -> f64) -> Vec<Point> {
        let point = |x: &f64| Point {
            x: *x,
            other: 0.0,
            y: Response::Count { count: of(*x) * 100.0, allowed: 100.0 },
        };
        XS.iter().map(point).collect()
    }

    #[test]
    fn exact_log_linear_counts_give_their_line() {
        let points = counts(|x| (15.0 * (x - 0.02)).exp());
        let fit = Fit::of(&points, Terms::Line).unwrap();
        assert!((fit.coefficients[1] - 15.0).abs() < 1e-6, "{fit:?}");
        assert!((fit.crossing().unwrap().x - 0.02).abs() < 1e-9);
    }

    #[test]
    fn exact_values_give_their_line() {
        let points: Vec<Point> = XS
            .iter()
            .map(|x| Point { x: *x, other: 0.0, y: Response::LogRatio(3.0 * (x + 0.01)) })
            .collect();
        let crossing = Fit::of(&points, Terms::Line).unwrap().crossing().unwrap();
        assert!((crossing.x + 0.01).abs() < 1e-9, "{crossing:?}");
        assert!(crossing.half_width < 1e-6, "{crossing:?}");
    }

    #[test]
    fn falling_line_equal_values_and_empty_counts_have_no_crossing() {
        let falling = Fit::of(&counts(|x| (-5.0 * x).exp()), Terms::Line).unwrap();
        assert_eq!(falling.crossing(), None);
        assert_eq!(Fit::of(&counts(|_| 0.0), Terms::Line), None);
        let same = counts(|_| 1.0).into_iter().map(|point| Point { x: 0.1, ..point });
        assert_eq!(Fit::of(&same.collect::<Vec<_>>(), Terms::Line), None);
        assert_eq!(Fit::of(&counts(|x| x.exp())[..2], Terms::Line), None);
    }

    /// The dispersion of McCullagh and Nelder widens the interval enough for correlated counts.
    #[test]
    fn interval_covers_the_crossing_of_overdispersed_counts() {
        let (noise, mut covered) = (Stream::new(Seed(1), "test", "counts"), 0);
        for run in 0..400 {
            let mut draw = noise.draw(run);
            let points: Vec<Point> = (0..15)
                .map(|n| {
                    let x = XS[n % 5];
                    let mean = 200.0 * (15.0 * (x - 0.01)).exp();
                    let count = (mean + (20.0 * mean).sqrt() * draw.normal()).max(0.0);
                    Point { x, other: 0.0, y: Response::Count { count, allowed: 200.0 } }
                })
                .collect();
            let crossing = Fit::of(&points, Terms::Line).and_then(|fit| fit.crossing()).unwrap();
            covered += u32::from((crossing.x - 0.01).abs() <= crossing.half_width);
        }
        assert!((360..=396).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn third_term_distinguishes_a_curve_and_a_drift_from_a_line() {
        let noise = Stream::new(Seed(2), "test", "wobble");
        let wobble = |n: usize| 1.0 + 0.02 * noise.draw(n as u64).normal();
        let points = |of: &dyn Fn(f64, f64) -> f64| -> Vec<Point> {
            (0..15)
                .map(|n| {
                    let (x, other) = (XS[(n * 2) % 5], n as f64);
                    let count = 1e4 * of(x, other) * wobble(n);
                    Point { x, other, y: Response::Count { count, allowed: 1e4 } }
                })
                .collect()
        };
        let p = |points: &[Point], terms| Fit::of(points, terms).unwrap().p_of_third();
        let line = points(&|x, _| (15.0 * x).exp());
        assert!(p(&line, Terms::Curve) > 0.01 && p(&line, Terms::Other) > 0.01);
        assert!(p(&points(&|x, _| (15.0 * x + 100.0 * x * x).exp()), Terms::Curve) < 0.01);
        assert!(p(&points(&|x, n| (15.0 * x + 0.02 * n).exp()), Terms::Other) < 0.01);
    }
}
