//! The universal scalability law, fitted to the throughput of a sweep.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)) (Gunther, "Guerrilla Capacity Planning", 2007, chapter
//! 4): λ is the throughput of one client, σ the share of contention and κ the cost of coherency per
//! pair of clients. With κ > 0 the throughput has its peak at N* = √((1 − σ)/κ).
//!
//! The logarithms of the throughputs are fitted by least squares, because the scatter of runs is
//! proportional to the throughput. N/X = d + bN + cN(N − 1) is linear with d = (1 − σ)/λ, b = σ/λ
//! and c = κ/λ; the bounds 0 ≤ σ ≤ 1 and κ ≥ 0 are equivalent to d, b, c ≥ 0.
//!
//! Intervals follow from the profile likelihood: a value is inside if the best fit with this value
//! has a sum of squares of at most S + s²·t², where S is the smallest sum of squares (Bates and
//! Watts, "Nonlinear Regression Analysis and Its Applications", 1988, section 6.1). Usually s² is
//! the mean square of all residuals. If the points deviate from the curve by more than the scatter
//! of the repeats explains (F test at 5 %), s² is the mean square of the points' deviations, which
//! have fewer degrees of freedom. This makes the intervals wider.

use workload::question::RunMetric;

use super::point::{CurvePoint, Interval, Unusable};
use super::solver::{Row, Solution, solve};
use crate::student::{critical_t, upper_f};

/// Minimum number of different numbers of clients.
const FEWEST_LEVELS: usize = 5;

/// Largest allowed value of the smallest number of clients in a sweep.
const LARGEST_FIRST: f64 = 4.0;

/// Minimum ratio of the largest throughput to the smallest one.
const SMALLEST_GAIN: f64 = 1.25;

/// Largest root mean square deviation of the points from the curve, as a fraction.
const LARGEST_DEVIATION: f64 = 0.10;

/// Number of parameters of the law: λ, σ and κ.
const PARAMETERS: f64 = 3.0;

/// Error probability of the test that the points deviate by more than the repeats scatter.
const MISFIT: f64 = 0.05;

/// The universal scalability law of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Usl {
    /// λ: throughput of one client, in requests per second.
    pub lambda: FittedValue,
    /// σ: share of contention, between 0 and 1.
    pub sigma: FittedValue,
    /// κ: cost of coherency per pair of clients.
    pub kappa: FittedValue,
    /// The peak of the throughput.
    pub peak: Peak,
    /// Root mean square deviation of the points from the curve, as a fraction.
    pub deviation: f64,
    /// Largest number of clients that was measured.
    pub largest: f64,
    /// Points that were left out, with the reason.
    pub unusable: Vec<(usize, Unusable)>,
}

/// A fitted number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedValue {
    /// The estimate.
    pub estimate: f64,
    /// Interval of the estimate; `None` if the points do not scatter around the curve.
    pub interval: Option<Interval>,
}

/// The peak of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// The throughput falls beyond a number of clients.
    At {
        /// N*: the number of clients. Beyond [`Usl::largest`] it is an extrapolation; the upper end
        /// of its interval is infinite if the curve may have no peak.
        clients: FittedValue,
        /// X(N*): the throughput at the peak, in requests per second.
        throughput: FittedValue,
    },
    /// The throughput does not fall: κ is 0.
    None {
        /// Number of clients below which no peak is plausible; `None` without scatter.
        above: Option<f64>,
    },
}

/// Reason why the law was not fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum NoUsl {
    /// A value of the sweep is not a number, or is below 1 and so is no number of clients.
    NotClients {
        /// The value, as the file writes it.
        value: String,
    },
    /// Too few different numbers of clients have a throughput.
    TooFewPoints {
        /// Number of usable numbers of clients.
        has: usize,
        /// Number that is needed.
        needs: usize,
        /// Points that were left out, with the reason.
        unusable: Vec<(usize, Unusable)>,
    },
    /// The sweep begins with too many clients to know the throughput of one client.
    NoSmallValue {
        /// Smallest number of clients.
        smallest: f64,
        /// Largest number that is accepted.
        largest_allowed: f64,
    },
    /// All points have nearly the same throughput.
    Flat {
        /// Largest throughput divided by the smallest one.
        gain: f64,
    },
    /// The points do not follow the law.
    PoorFit {
        /// Root mean square deviation of the points from the curve, as a fraction.
        deviation: f64,
        /// Largest accepted deviation, as a fraction.
        allowed: f64,
    },
}

impl FittedValue {
    /// Raises this number and the ends of its interval to at least a bound.
    fn at_least(self, least: f64) -> FittedValue {
        let interval = self
            .interval
            .map(|Interval { low, high }| Interval { low: low.max(least), high: high.max(least) });
        FittedValue { estimate: self.estimate.max(least), interval }
    }
}

impl Usl {
    /// Returns the throughput X(N) at N `clients`, in requests per second.
    pub fn throughput(&self, clients: f64) -> f64 {
        let [lambda, sigma, kappa] = [self.lambda, self.sigma, self.kappa].map(|it| it.estimate);
        let others = clients - 1.0;
        lambda * clients / (1.0 + sigma * others + kappa * clients * others)
    }
}

/// Fits the law to the throughput of the points. The values of the points are numbers of clients.
/// An interval misses the true parameter with a probability of `alpha`.
///
/// # Errors
/// Returns the reason why the points do not support the law.
pub fn fit_usl(
    points: &[CurvePoint<'_>],
    throughput: &RunMetric,
    alpha: f64,
) -> Result<Usl, NoUsl> {
    let mut measured = Vec::new();
    let mut unusable = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let Some(clients) = point.x.filter(|x| *x >= 1.0 && x.is_finite()) else {
            return Err(NoUsl::NotClients { value: point.value.clone() });
        };
        match point.usable(throughput) {
            Ok(values) => measured.extend(values.into_iter().map(|(_, ln)| (clients, ln))),
            Err(reason) => unusable.push((index, reason)),
        }
    }
    let sample = Sample::of(measured);
    sample.check(&unusable)?;
    let law = sample.solve(|n| [1.0, n, n * (n - 1.0)]);
    let law = law.ok_or(NoUsl::PoorFit { deviation: 1.0, allowed: LARGEST_DEVIATION })?;
    let deviation = (law.squares / sample.runs()).sqrt();
    if deviation > LARGEST_DEVIATION {
        return Err(NoUsl::PoorFit { deviation, allowed: LARGEST_DEVIATION });
    }
    let largest = sample.levels.iter().map(|level| level.clients).fold(1.0, f64::max);
    let profile = Profile { sample: &sample, law: &law, limit: sample.limit(&law, alpha) };
    Ok(profile.usl(deviation, largest, unusable))
}

/// The throughputs of a sweep.
struct Sample {
    /// One level per number of clients, in ascending order.
    levels: Vec<Level>,
    /// Sum of the squared deviations of runs from the mean of their level.
    within: f64,
}

/// The runs with one number of clients.
struct Level {
    clients: f64,
    runs: f64,
    /// Mean of ln(N/X).
    mean: f64,
}

impl Sample {
    /// Groups runs, each a number of clients and the logarithm of its throughput.
    fn of(mut measured: Vec<(f64, f64)>) -> Sample {
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sample = Sample { levels: Vec::new(), within: 0.0 };
        for group in measured.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let (clients, runs) = (group[0].0, group.len() as f64);
            let mean = group.iter().map(|(_, throughput)| throughput).sum::<f64>() / runs;
            let squares = group.iter().map(|(_, throughput)| (throughput - mean).powi(2));
            sample.within += squares.sum::<f64>();
            sample.levels.push(Level { clients, runs, mean: clients.ln() - mean });
        }
        sample
    }

    fn check(&self, unusable: &[(usize, Unusable)]) -> Result<(), NoUsl> {
        let has = self.levels.len();
        if has < FEWEST_LEVELS {
            let unusable = unusable.to_vec();
            return Err(NoUsl::TooFewPoints { has, needs: FEWEST_LEVELS, unusable });
        }
        let smallest = self.levels[0].clients;
        if smallest > LARGEST_FIRST {
            return Err(NoUsl::NoSmallValue { smallest, largest_allowed: LARGEST_FIRST });
        }
        let throughputs = || self.levels.iter().map(|level| level.clients.ln() - level.mean);
        let highest = throughputs().fold(f64::NEG_INFINITY, f64::max);
        let gain = (highest - throughputs().fold(f64::INFINITY, f64::min)).exp();
        match gain < SMALLEST_GAIN {
            true => Err(NoUsl::Flat { gain }),
            false => Ok(()),
        }
    }

    fn runs(&self) -> f64 {
        self.levels.iter().map(|level| level.runs).sum()
    }

    /// Fits N/X as a sum of these terms of N.
    fn solve<const K: usize>(&self, terms: impl Fn(f64) -> [f64; K]) -> Option<Solution<K>> {
        self.solve_from(|_| 0.0, terms)
    }

    /// Fits N/X as an offset and a sum of terms of N.
    fn solve_from<const K: usize>(
        &self,
        offset: impl Fn(f64) -> f64,
        terms: impl Fn(f64) -> [f64; K],
    ) -> Option<Solution<K>> {
        let row = |level: &Level| Row {
            offset: offset(level.clients),
            terms: terms(level.clients),
            target: level.mean,
            weight: level.runs,
        };
        let rows: Vec<Row<K>> = self.levels.iter().map(row).collect();
        solve(&rows)
    }

    /// Returns the sum of squares of a fit up to which a value of a parameter is plausible; `None`
    /// if the points do not scatter.
    fn limit(&self, law: &Solution<3>, alpha: f64) -> Option<f64> {
        let levels = self.levels.len() as f64;
        let (of_points, of_repeats) = (levels - PARAMETERS, self.runs() - levels);
        let misfit = law.squares / of_points;
        let is_misfit = of_repeats > 0.0 && {
            let f = misfit / (self.within / of_repeats);
            f.is_nan() || upper_f(f, of_points, of_repeats) < MISFIT
        };
        let (variance, freedom) = match is_misfit {
            true => (misfit, of_points),
            false => {
                let freedom = of_points + of_repeats;
                ((law.squares + self.within) / freedom, freedom)
            }
        };
        // Smaller variances are only rounding errors.
        let scatters = variance > 1e-20;
        scatters.then(|| law.squares + variance * critical_t(alpha, freedom).powi(2))
    }
}

/// The best law with its profile likelihoods.
struct Profile<'a> {
    sample: &'a Sample,
    law: &'a Solution<3>,
    /// Largest plausible sum of squares of a fit; `None` if the points do not scatter.
    limit: Option<f64>,
}

impl Profile<'_> {
    fn usl(&self, deviation: f64, largest: f64, unusable: Vec<(usize, Unusable)>) -> Usl {
        let [d, b, c] = self.law.parameters;
        let one = d + b;
        let squares = |found: Option<f64>| found.unwrap_or(f64::INFINITY);
        let at_lambda = |lambda: f64| {
            let of = |n: f64| [n - 1.0, n * (n - 1.0)];
            squares(self.sample.solve_from(|_| 1.0 / lambda, of).map(|fit| fit.squares))
        };
        let at_sigma = |sigma: f64| {
            let of = |n: f64| [1.0 - sigma + sigma * n, n * (n - 1.0)];
            squares(self.sample.solve(of).map(|fit| fit.squares))
        };
        let at_kappa = |kappa: f64| {
            let of = |n: f64| [n + kappa * n * (n - 1.0), 1.0 + kappa * n * (n - 1.0)];
            squares(self.sample.solve(of).map(|fit| fit.squares))
        };
        let lambda = self.fitted(1.0 / one, Range::Positive, at_lambda);
        Usl {
            lambda,
            sigma: self.fitted(b / one, Range::Share, at_sigma),
            kappa: self.fitted(c / one, Range::FromZero, at_kappa),
            peak: self.peak([d, b, c], lambda),
            deviation,
            largest,
            unusable,
        }
    }

    /// Returns the peak among the possible numbers of clients. If the peak of the law lies below
    /// one client, the throughput falls from the first client on, and its peak is `lambda`.
    fn peak(&self, [d, b, c]: [f64; 3], lambda: FittedValue) -> Peak {
        let at_clients = |peak: f64| {
            let of = |n: f64| [n, peak * peak + n * (n - 1.0)];
            self.sample.solve(of).map_or(f64::INFINITY, |fit| fit.squares)
        };
        if c <= 0.0 {
            let above = |limit: f64| lower_end(FAR, FAR * 1e-12, |n| at_clients(n) <= limit);
            return Peak::None { above: self.limit.map(above) };
        }
        let clients = (d / c).sqrt();
        if clients < 1.0 {
            // With σ = 1 the peak is at 0, around which no interval can be searched.
            let clients = self.fitted(clients.max(1e-3), Range::Positive, at_clients);
            return Peak::At { clients: clients.at_least(1.0), throughput: lambda };
        }
        let throughput = 1.0 / (b - c + 2.0 * (c * d).sqrt());
        Peak::At {
            clients: self.fitted(clients, Range::Positive, at_clients).at_least(1.0),
            throughput: self
                .fitted(throughput, Range::Positive, |x| squares_at_peak(self.sample, x, clients)),
        }
    }

    fn fitted(&self, estimate: f64, range: Range, squares_at: impl Fn(f64) -> f64) -> FittedValue {
        let interval = self.limit.map(|limit| {
            let is_inside = |value: f64| squares_at(value) <= limit;
            let (floor, first, ceiling) = match range {
                Range::Positive => (estimate * 1e-6, estimate * 1.01, estimate * 1e6),
                Range::Share => (0.0, (estimate * 1.01).max(1e-6), 1.0),
                Range::FromZero => (0.0, (estimate * 1.01).max(1e-9), 1e6),
            };
            let high = upper_end(estimate, first, ceiling, is_inside);
            let high = match range {
                Range::Share => high,
                Range::Positive | Range::FromZero if high >= ceiling => f64::INFINITY,
                Range::Positive | Range::FromZero => high,
            };
            Interval { low: lower_end(estimate, floor, is_inside), high }
        });
        FittedValue { estimate, interval }
    }
}

/// The range of a parameter.
#[derive(Clone, Copy)]
enum Range {
    /// Above 0.
    Positive,
    /// From 0 to 1.
    Share,
    /// At least 0.
    FromZero,
}

/// A number of clients that no machine can serve.
const FAR: f64 = 1e9;

/// Returns the sum of squares of the best law whose peak has this throughput.
///
/// In terms of its peak (N*, X*), the law is exactly N/X = N/X* + c(N − N*)². N* is found on a grid
/// around its estimate, then by a ternary search within one step of the best grid point.
fn squares_at_peak(sample: &Sample, throughput: f64, estimate: f64) -> f64 {
    let at = |ln_clients: f64| {
        let peak = ln_clients.exp();
        let fit = sample.solve_from(|n| n / throughput, |n| [(n - peak).powi(2)]);
        // b = 1/X* − c(2N* − 1) is at least 0.
        let most = 1.0 / (throughput * (2.0 * peak - 1.0).max(1e-9));
        let fit = fit.filter(|fit| fit.parameters[0] <= most);
        let bound =
            || sample.solve_from::<0>(|n| n / throughput + most * (n - peak).powi(2), |_| []);
        let squares = fit.map(|fit| fit.squares).or_else(|| Some(bound()?.squares));
        squares.unwrap_or(f64::INFINITY)
    };
    /// Number of grid steps on each side of the estimate.
    const STEPS: i32 = 12;
    /// Width of a grid step, in the natural logarithm of the number of clients.
    const STEP: f64 = 0.5;
    let grid = (-STEPS..=STEPS).map(|step| estimate.ln() + f64::from(step) * STEP);
    let best = grid.min_by(|a, b| at(*a).total_cmp(&at(*b))).unwrap_or_default();
    let (mut low, mut high) = (best - STEP, best + STEP);
    // Each iteration keeps two thirds of the range; after 24, the logarithm is known to 0.0001.
    for _ in 0..24 {
        let third = (high - low) / 3.0;
        match at(low + third) < at(high - third) {
            true => high -= third,
            false => low += third,
        }
    }
    at(low.midpoint(high)).min(at(best))
}

/// Returns the upper end of the range of values for which `is_inside` is true; `start` is one of
/// these values. The search begins at `first`, and the result is at most `ceiling`.
fn upper_end(start: f64, first: f64, ceiling: f64, is_inside: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (start, first.min(ceiling));
    while is_inside(high) {
        if high >= ceiling {
            return ceiling;
        }
        // Each range is twice as long as the previous one.
        (low, high) = (high, (high + 2.0 * (high - low)).min(ceiling));
    }
    bisect(low, high, is_inside)
}

/// Returns the lower end of the range of values for which `is_inside` is true; `start` is one of
/// these values. The result is at least `floor`.
fn lower_end(start: f64, floor: f64, is_inside: impl Fn(f64) -> bool) -> f64 {
    match is_inside(floor) {
        true => floor,
        false => bisect(start, floor, is_inside),
    }
}

/// Returns the border between `inside`, for which `is_inside` is true, and `outside`, for which it
/// is false.
fn bisect(mut inside: f64, mut outside: f64, is_inside: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..48 {
        // Positive values may differ by orders of magnitude, so their geometric mean is taken.
        let middle = match inside > 0.0 && outside > 0.0 {
            true => (inside * outside).sqrt(),
            false => inside.midpoint(outside),
        };
        match is_inside(middle) {
            true => inside = middle,
            false => outside = middle,
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};

    use super::super::point::tests::{figures, metric, points};
    use super::*;
    use crate::check::{CheckKind, Status};
    use crate::compare::{RunFigures, RunVerdict};

    const CLIENTS: [&str; 8] = ["1", "2", "4", "8", "16", "32", "64", "128"];

    fn law([lambda, sigma, kappa]: [f64; 3]) -> impl Fn(f64) -> f64 {
        move |n: f64| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    }

    /// Returns three runs per number of clients, with this scatter.
    fn sweep<'a>(
        clients: &[&'a str],
        curve: impl Fn(f64) -> f64,
        noise: f64,
        seed: u64,
    ) -> Vec<(&'a str, Vec<RunFigures>)> {
        let stream = Stream::new(Seed(seed), "usl", "noise");
        let mut draw = stream.draw(0);
        let mut run = |value: &str| {
            let n: f64 = value.parse().unwrap();
            figures(curve(n) * (noise * draw.normal()).exp(), 1.0)
        };
        clients.iter().map(|value| (*value, (0..3).map(|_| run(value)).collect())).collect()
    }

    fn fit(runs: &[(&str, Vec<RunFigures>)]) -> Result<Usl, NoUsl> {
        fit_usl(&points(runs), &metric("throughput(read)"), 0.05)
    }

    #[test]
    fn exact_points_give_the_parameters_and_no_interval() {
        for parameters in [[1_000.0, 0.05, 0.000_5], [40.0, 0.0, 0.01], [3.0, 0.3, 0.0]] {
            let found = fit(&sweep(&CLIENTS, law(parameters), 0.0, 1)).unwrap();
            for (found, expected) in
                [found.lambda, found.sigma, found.kappa].into_iter().zip(parameters)
            {
                assert!((found.estimate - expected).abs() < 1e-6 * (1.0 + expected), "{found:?}");
                assert_eq!(found.interval, None);
            }
            assert!((found.throughput(8.0) / law(parameters)(8.0) - 1.0).abs() < 1e-6);
        }
    }

    /// σ = 0.02 and κ = 0.0005: N* = √(0.98/0.0005) = 44.27.
    #[test]
    fn peak_agrees_with_the_law() {
        let parameters = [1_000.0, 0.02, 0.000_5];
        let found = fit(&sweep(&CLIENTS, law(parameters), 0.01, 1)).unwrap();
        let Peak::At { clients, throughput } = found.peak else { panic!("{found:?}") };
        assert!((clients.estimate - 44.27).abs() < 2.0, "{found:?}");
        assert!(clients.interval.unwrap().contains(44.27), "{found:?}");
        let truth = law(parameters)(44.27);
        assert!((throughput.estimate / truth - 1.0).abs() < 0.02, "{found:?} {truth}");
        assert!(throughput.interval.unwrap().contains(truth), "{found:?} {truth}");
        assert!(throughput.interval.unwrap().contains(throughput.estimate));
    }

    /// σ = 0.5 and κ = 0.9: the law has its peak at √(0.5/0.9) = 0.75.
    #[test]
    fn falling_throughput_has_its_peak_at_one_client() {
        let parameters = [[1_000.0, 0.5, 0.9], [1_000.0, 1.0, 0.9]];
        for (parameters, noise) in parameters.into_iter().flat_map(|it| [(it, 0.0), (it, 0.01)]) {
            let found = fit(&sweep(&CLIENTS, law(parameters), noise, 1)).unwrap();
            let Peak::At { clients, throughput } = found.peak else { panic!("{found:?}") };
            assert_eq!((clients.estimate, throughput), (1.0, found.lambda), "{found:?}");
            assert!(clients.interval.is_none_or(|it| it.low == 1.0 && it.high >= 1.0), "{found:?}");
        }
    }

    #[test]
    fn curve_without_coherency_has_no_peak_within_its_range() {
        let found = fit(&sweep(&CLIENTS, law([1_000.0, 0.05, 0.0]), 0.01, 3)).unwrap();
        assert_eq!(found.kappa.interval.unwrap().low, 0.0);
        match found.peak {
            Peak::None { above } => assert!(above.unwrap() > 128.0, "{found:?}"),
            Peak::At { clients, .. } => {
                assert_eq!(clients.interval.unwrap().high, f64::INFINITY, "{found:?}");
            }
        }
    }

    /// Returns the number of fits, out of 60, whose interval contains the true value: for each
    /// parameter, and for the peak.
    fn covered(parameters: [f64; 3], noise: f64) -> [u32; 4] {
        let mut covered = [0; 4];
        for seed in 0..60 {
            let found = fit(&sweep(&CLIENTS, law(parameters), noise, seed)).unwrap();
            let fitted = [found.lambda, found.sigma, found.kappa];
            for (index, (one, truth)) in fitted.into_iter().zip(parameters).enumerate() {
                covered[index] += u32::from(one.interval.unwrap().contains(truth));
            }
            let peak = ((1.0 - parameters[1]) / parameters[2]).sqrt();
            let holds = match found.peak {
                Peak::At { clients, .. } => clients.interval.unwrap().contains(peak),
                Peak::None { above } => above.unwrap() <= peak,
            };
            covered[3] += u32::from(holds);
        }
        covered
    }

    /// The probability that fewer than 52 of 60 intervals at 95 % contain the true value is 0.3 %.
    #[test]
    fn intervals_cover_the_true_parameters() {
        for (parameters, noise) in [
            ([1_000.0, 0.05, 0.000_5], 0.02),
            ([50.0, 0.3, 0.001], 0.02),
            ([1_000.0, 0.001, 0.01], 0.04),
            ([1_000.0, 0.02, 1e-6], 0.02),
        ] {
            let covered = covered(parameters, noise);
            assert!(covered.iter().all(|held| *held >= 52), "{parameters:?}: {covered:?}");
        }
    }

    fn refused(clients: &[&str], curve: impl Fn(f64) -> f64) -> NoUsl {
        fit(&sweep(clients, curve, 0.01, 1)).unwrap_err()
    }

    #[test]
    fn points_that_do_not_support_the_law_are_refused() {
        let usual = law([1_000.0, 0.05, 0.000_5]);
        let few = refused(&CLIENTS[..4], &usual);
        assert_eq!(few, NoUsl::TooFewPoints { has: 4, needs: 5, unusable: Vec::new() });
        let late = refused(&["8", "16", "32", "64", "128"], &usual);
        assert_eq!(late, NoUsl::NoSmallValue { smallest: 8.0, largest_allowed: 4.0 });
        let zero = refused(&["0", "1", "2", "4", "8"], |_| 100.0);
        assert_eq!(zero, NoUsl::NotClients { value: "0".to_owned() });
        let flat = refused(&CLIENTS, |_| 700.0);
        assert!(matches!(flat, NoUsl::Flat { gain } if gain < 1.1), "{flat:?}");
        let jump = |n: f64| if n < 20.0 { 100.0 * n } else { 300.0 };
        let poor = refused(&CLIENTS, jump);
        assert!(matches!(poor, NoUsl::PoorFit { deviation, .. } if deviation > 0.2), "{poor:?}");
    }

    #[test]
    fn value_that_is_not_a_number_is_refused() {
        let mut all = points(&sweep(&CLIENTS, law([1_000.0, 0.05, 0.0]), 0.01, 1));
        all[2].value = "off".to_owned();
        all[2].x = None;
        let refused = fit_usl(&all, &metric("throughput(read)"), 0.05);
        assert_eq!(refused, Err(NoUsl::NotClients { value: "off".to_owned() }));
    }

    #[test]
    fn invalid_point_is_left_out_and_named() {
        let mut runs = sweep(&CLIENTS, law([1_000.0, 0.05, 0.000_5]), 0.01, 1);
        runs[3].1[0] = figures(1.0, 1.0);
        runs[3].1[0].verdict = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
        let found = fit(&runs).unwrap();
        assert_eq!(found.unusable, [(3, Unusable::Invalid)]);
        assert!(found.lambda.interval.unwrap().contains(1_000.0), "{found:?}");
    }

    /// A deviation that the repeats do not explain makes the intervals wider.
    #[test]
    fn systematic_deviation_widens_the_intervals() {
        let usual = law([1_000.0, 0.05, 0.000_5]);
        let bent = |n: f64| usual(n) * if n.log2() % 2.0 < 0.5 { 1.04 } else { 0.96 };
        let width = |found: Usl| {
            let Interval { low, high } = found.lambda.interval.unwrap();
            high / low
        };
        let straight = width(fit(&sweep(&CLIENTS, &usual, 0.002, 1)).unwrap());
        let bent = width(fit(&sweep(&CLIENTS, bent, 0.002, 1)).unwrap());
        assert!(bent > 1.05 && straight < 1.01, "{straight} {bent}");
    }
}
