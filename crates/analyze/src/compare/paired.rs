//! The change of a metric over pairs of runs.
//!
//! The two runs of a pair follow each other: slow drift of the machine is the same for both and
//! cancels in their difference. A metric that is compared by ratio has differences of logarithms:
//! its change is a factor. The size of such a difference does not depend on which arm is the
//! baseline, and the spread of the differences does not grow with the values. The mean of the
//! differences has Student's t distribution under normal errors.
//!
//! With counterbalanced rounds (a random order in one round, the reverse order in the next) the
//! effect of the order is fitted as well: each difference is the change plus or minus the effect of
//! the second position. Drift over the whole experiment, such as that of a growing table, then
//! becomes a part of the order effect and no longer widens the interval, at the price of one degree
//! of freedom (Senn, "Cross-over Trials in Clinical Research", chapter 3).

use workload::question::Scale;

use super::change::{ChangeInterval, Incomparable, median, to_change, to_difference, to_scale};
use super::standard_error::{StandardError, scatter};
use crate::student::two_sided_p;

/// The values of a metric in the two runs of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Value of the baseline.
    pub baseline: f64,
    /// Value of the arm.
    pub arm: f64,
    /// Order of the two runs.
    pub order: PairOrder,
}

/// The order of the runs of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOrder {
    /// The baseline ran before the arm.
    BaselineFirst,
    /// The arm ran before the baseline.
    ArmFirst,
}

/// The way in which the order of runs is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderModel {
    /// Orders are random: the order is a part of the noise.
    Random,
    /// Every two rounds have both orders: the effect of the order is fitted.
    Counterbalanced,
}

/// The estimated change of a metric over pairs of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    scale: Scale,
    /// Differences of the pairs, without the fitted effect of the order.
    differences: Vec<f64>,
    /// Estimated mean difference, on the scale of the statistics.
    estimate: f64,
    /// Standard deviation of the differences.
    spread: f64,
    /// Degrees of freedom of the error.
    freedom: f64,
    /// Standard error of the estimate; `None` without scatter.
    error: Option<StandardError>,
    /// Fitted difference between the second and the first run of a pair; `None` if it was not
    /// fitted.
    order_effect: Option<f64>,
}

/// Maximum number of pairs that is recommended. If more would be needed, the effect is too small
/// for this noise.
pub(super) const MOST_PAIRS: u32 = 10_000;

impl Paired {
    /// Estimates the change over pairs.
    ///
    /// The order effect is fitted only with three pairs or more, and if both orders occur.
    ///
    /// # Errors
    /// Fails with fewer than two pairs, and with a value of 0 or less if ratios are compared.
    pub fn of(pairs: &[Pair], scale: Scale, model: OrderModel) -> Result<Paired, Incomparable> {
        let difference =
            |pair: &Pair| Ok(to_scale(pair.arm, scale)? - to_scale(pair.baseline, scale)?);
        let raw = pairs.iter().map(difference).collect::<Result<Vec<f64>, Incomparable>>()?;
        let side = |pair: &Pair| match pair.order {
            PairOrder::BaselineFirst => 1.0,
            PairOrder::ArmFirst => -1.0,
        };
        let sides: Vec<f64> = pairs.iter().map(side).collect();
        let fit = match model {
            OrderModel::Random => Fit::mean(&raw),
            OrderModel::Counterbalanced => Fit::with_order(&raw, &sides),
        };
        let needs = 1 + fit.parameters;
        if raw.len() < needs {
            return Err(Incomparable::TooFew { has: raw.len() as u32, needs: needs as u32 });
        }
        Ok(Paired::from_fit(&raw, &sides, fit, scale))
    }

    fn from_fit(raw: &[f64], sides: &[f64], fit: Fit, scale: Scale) -> Paired {
        let effect = fit.order_effect.unwrap_or_default();
        let differences: Vec<f64> =
            raw.iter().zip(sides).map(|(d, side)| d - effect * side).collect();
        let squares: f64 = differences.iter().map(|d| (d - fit.estimate).powi(2)).sum();
        let freedom = (raw.len() - fit.parameters) as f64;
        let spread = scatter((squares / freedom).sqrt(), raw);
        let error = StandardError { error: spread * fit.leverage.sqrt(), freedom };
        Paired {
            scale,
            differences,
            estimate: fit.estimate,
            spread,
            freedom,
            error: (error.error > 0.0).then_some(error),
            order_effect: fit.order_effect,
        }
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u32 {
        self.differences.len() as u32
    }

    /// Returns the estimated change.
    pub fn change(&self) -> f64 {
        to_change(self.estimate, self.scale)
    }

    /// Returns the estimated difference on the scale of the statistics.
    pub(super) fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Returns the standard error of the estimate; `None` without scatter.
    pub(super) fn standard_error(&self) -> Option<StandardError> {
        self.error
    }

    /// Returns the standard deviation of the pairs' differences, on the scale of the statistics:
    /// 0.02 means about 2 %.
    pub fn spread(&self) -> f64 {
        self.spread
    }

    /// Returns the change of a run in the second position of its pair relative to a run of the same
    /// arm in the first position; `None` if it was not fitted.
    pub fn order_effect(&self) -> Option<f64> {
        self.order_effect.map(|effect| to_change(effect, self.scale))
    }

    /// Returns the interval that misses the true change with a probability of `alpha`; `None` if
    /// the differences do not scatter: such pairs say nothing about the scatter of further pairs.
    pub fn interval(&self, alpha: f64) -> Option<ChangeInterval> {
        let half_width = self.error?.half_width(alpha);
        Some(ChangeInterval::around(self.estimate, half_width, self.scale))
    }

    /// Returns the change by Hodges and Lehmann: the median of the means of every two differences,
    /// including each difference with itself ("Estimates of location based on rank tests", 1963).
    /// It is insensitive to a single outlier.
    pub fn hodges_lehmann(&self) -> f64 {
        let all = &self.differences;
        let means = all
            .iter()
            .enumerate()
            .flat_map(|(first, x)| all[first..].iter().map(move |y| (x + y) / 2.0));
        to_change(median(means.collect()), self.scale)
    }

    /// Returns the number of further pairs after which the interval would contain none of these
    /// changes, if the estimate and the spread stay as they are; at least 1, and `None` beyond
    /// 10,000 pairs in total.
    pub(crate) fn more_pairs_to_clear(&self, bounds: &[f64], alpha: f64) -> Option<u32> {
        let all = self.pairs_to_clear(bounds, alpha)?;
        Some(all.saturating_sub(self.pairs()).max(1))
    }

    fn pairs_to_clear(&self, bounds: &[f64], alpha: f64) -> Option<u32> {
        let distance = |bound: &f64| (self.estimate - to_difference(*bound, self.scale)).abs();
        let clearance = bounds.iter().map(distance).fold(f64::INFINITY, f64::min);
        let parameters = self.differences.len() as f64 - self.freedom;
        let suffices = |pairs: u32| {
            let pairs = f64::from(pairs);
            // Equivalent to a comparison with the critical t, whose computation takes 60 such
            // probabilities.
            two_sided_p(clearance * pairs.sqrt() / self.spread, pairs - parameters) < alpha
        };
        let (mut low, mut high) = (self.pairs(), MOST_PAIRS);
        if !suffices(high) {
            return None;
        }
        while low < high {
            let middle = low.midpoint(high);
            if suffices(middle) { high = middle } else { low = middle + 1 }
        }
        Some(high)
    }
}

/// Least squares of the differences.
struct Fit {
    estimate: f64,
    order_effect: Option<f64>,
    /// Number of fitted parameters.
    parameters: usize,
    /// Ratio of the variance of the estimate to the variance of a difference.
    leverage: f64,
}

impl Fit {
    /// Fits the mean alone.
    fn mean(raw: &[f64]) -> Fit {
        let n = raw.len() as f64;
        let estimate = raw.iter().sum::<f64>() / n;
        Fit { estimate, order_effect: None, parameters: 1, leverage: 1.0 / n }
    }

    /// Fits the mean and the effect of the order.
    fn with_order(raw: &[f64], sides: &[f64]) -> Fit {
        let n = raw.len() as f64;
        let [mean, side] = [raw, sides].map(|all| all.iter().sum::<f64>() / n);
        let squares: f64 = sides.iter().map(|s| (s - side).powi(2)).sum();
        if squares < 1e-9 || raw.len() < 3 {
            return Fit::mean(raw);
        }
        let products: f64 = raw.iter().zip(sides).map(|(d, s)| (d - mean) * (s - side)).sum();
        let effect = products / squares;
        Fit {
            estimate: mean - effect * side,
            order_effect: Some(effect),
            parameters: 2,
            leverage: 1.0 / n + side * side / squares,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ratios: &[f64]) -> Vec<Pair> {
        let pair = |(number, ratio): (usize, &f64)| Pair {
            baseline: 100.0,
            arm: 100.0 * ratio,
            order: if number % 2 == 0 { PairOrder::BaselineFirst } else { PairOrder::ArmFirst },
        };
        ratios.iter().enumerate().map(pair).collect()
    }

    fn paired(ratios: &[f64], model: OrderModel) -> Paired {
        Paired::of(&pairs(ratios), Scale::Ratio, model).unwrap()
    }

    /// Differences of 1 to 6 hundredths: mean 0.035, standard deviation 0.018708, t with 5 degrees
    /// of freedom 2.5706.
    #[test]
    fn interval_is_students_on_logarithms() {
        let ratios: Vec<f64> = (1..=6).map(|n| (f64::from(n) / 100.0).exp()).collect();
        let paired = paired(&ratios, OrderModel::Random);
        assert!((paired.change() - 0.035f64.exp_m1()).abs() < 1e-12);
        assert!((paired.spread() - 0.018_708_3).abs() < 1e-6);
        let interval = paired.interval(0.05).unwrap();
        let half_width = 2.570_582 * 0.018_708_3 / 6f64.sqrt();
        assert!((interval.low - (0.035 - half_width).exp_m1()).abs() < 1e-6, "{interval:?}");
        assert!((interval.high - (0.035 + half_width).exp_m1()).abs() < 1e-6, "{interval:?}");
    }

    #[test]
    fn exchanged_arms_give_the_inverse_change() {
        let ratios = [1.1, 1.2, 0.9, 1.3, 1.05, 1.0];
        let there = paired(&ratios, OrderModel::Random);
        let back = paired(&ratios.map(|ratio| 1.0 / ratio), OrderModel::Random);
        assert!(((1.0 + there.change()) * (1.0 + back.change()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_differences_give_no_interval() {
        for ratio in [1.0, 1.1, 0.7] {
            let paired = paired(&[ratio; 8], OrderModel::Random);
            assert!((paired.change() - (ratio - 1.0)).abs() < 1e-12);
            assert_eq!(paired.interval(0.05), None);
        }
    }

    #[test]
    fn value_of_zero_has_a_difference_and_no_ratio() {
        let mut all = pairs(&[1.0, 1.1]);
        all[0].arm = 0.0;
        let refused = Paired::of(&all, Scale::Ratio, OrderModel::Random);
        assert_eq!(refused, Err(Incomparable::NotPositive));
        let paired = Paired::of(&all, Scale::Difference, OrderModel::Random).unwrap();
        assert!((paired.change() - -45.0).abs() < 1e-9);
        let one = Paired::of(&all[..1], Scale::Difference, OrderModel::Random);
        assert_eq!(one, Err(Incomparable::TooFew { has: 1, needs: 2 }));
    }

    /// The second run of each pair is 20 % slower: the change is unbiased with and without the fit,
    /// and the interval with the fit shows only the remaining scatter.
    #[test]
    fn fitted_order_effect_leaves_the_scatter() {
        let noise = [0.001, -0.002, 0.0, 0.002, -0.001, 0.0015, -0.0005, 0.001];
        let ratio = |(number, e): (usize, &f64)| {
            let order: f64 = if number % 2 == 0 { 0.8 } else { 1.25 };
            order * (0.03 + e).exp()
        };
        let ratios: Vec<f64> = noise.iter().enumerate().map(ratio).collect();
        let width = |model| {
            let interval = paired(&ratios, model).interval(0.05).unwrap();
            interval.high - interval.low
        };
        let fitted = paired(&ratios, OrderModel::Counterbalanced);
        assert!((fitted.order_effect().unwrap() - -0.2).abs() < 0.002, "{fitted:?}");
        assert!((fitted.change() - 0.03).abs() < 0.002, "{fitted:?}");
        assert!(width(OrderModel::Counterbalanced) < 0.01);
        assert!(width(OrderModel::Random) > 0.3);
    }

    #[test]
    fn order_effect_of_one_order_is_not_fitted() {
        let mut all = pairs(&[1.1, 1.2, 1.15, 1.12]);
        all.iter_mut().for_each(|pair| pair.order = PairOrder::ArmFirst);
        let fitted = Paired::of(&all, Scale::Ratio, OrderModel::Counterbalanced).unwrap();
        assert_eq!(Paired::of(&all, Scale::Ratio, OrderModel::Random), Ok(fitted));
    }

    #[test]
    fn hodges_lehmann_is_the_median_of_pairwise_means() {
        let paired = paired(&[1.0, 1.0, 1.0, 1.0, 1.0, 5.0], OrderModel::Random);
        assert!(paired.hodges_lehmann().abs() < 1e-12);
        assert!(paired.change() > 0.3);
        let two = self::paired(&[1.0, 2.0], OrderModel::Random);
        assert!((two.hodges_lehmann() - (2f64.sqrt() - 1.0)).abs() < 1e-12);
    }
}
