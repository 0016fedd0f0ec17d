//! Confidence intervals of the numbers of one run.
//!
//! Consecutive requests are correlated: a request that waited often follows another one that
//! waited. An interval that treats every request as an independent observation is several times too
//! narrow for the times of a queue. Here an observation is a [`Batch`] of requests, such as those
//! of one second, because a second is long relative to the correlation time of most queues. If
//! neighbouring batches are still correlated, they are joined. If there are too few batches to
//! join, the interval is called optimistic. (Law, "Simulation Modeling and Analysis", chapter 9.5:
//! the method of batch means. Fishman, "Grouping observations in digital simulation", 1978: batches
//! are joined in pairs until they are uncorrelated.)
//!
//! Such an interval covers only chance within this run. It does not say how much the next run will
//! differ: that takes several runs.

use hdrhistogram::Histogram;

use crate::student::critical_t;

/// Totals of two related quantities in one part of a run: completions and seconds, a sum of times
/// and their number, or the numbers of times above a bound and of all times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Batch {
    /// Numerator, not negative.
    pub(crate) amount: f64,
    /// Denominator, not negative. A batch with a base of zero is left out.
    pub(crate) base: f64,
}

/// A number of one run, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number as measured.
    pub value: f64,
    /// Interval of the number that an endless run under the same conditions would give; `None` if
    /// there are too few batches, or too few times for this quantile.
    pub bounds: Option<Bounds>,
    /// Number of independent times that would determine this quantile as precisely as these
    /// correlated ones; `None` if the number is not a quantile, or if the correlation is not known.
    pub effective_samples: Option<u64>,
}

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// True if neighbouring batches are correlated, which makes the interval too narrow.
    pub is_optimistic: bool,
}

/// Minimum number of batches for an interval. With fewer, their scatter is hardly known.
pub const FEWEST_BATCHES: usize = 10;

/// Minimum correlation at which neighbouring batches are not independent enough.
const LEAST_CORRELATION: f64 = 0.2;

/// Factor by which an optimistic interval is widened before it is used for a conclusion. It
/// corresponds to a correlation of neighbouring batches of 0.92 (for an autoregressive process of
/// first order, the root of (1 + ρ) / (1 - ρ)).
const WIDENING: f64 = 5.0;

/// Minimum distance of two figures that count as different, in half-widths of the interval of their
/// difference. Figures whose true values are equal lie this far apart once in five hundred
/// comparisons, which is rare enough for a table with some twenty comparisons. At this distance the
/// intervals of the two figures do not overlap: √2 of these half-widths are always enough for that.
const SEPARATION: f64 = 1.6;

/// Minimum ratio of two throughputs at which they are distinguished without widening their
/// intervals.
const MULTIPLE: f64 = 2.0;

/// Smallest relative difference of two figures that count as different: latencies in histograms and
/// figures in texts have only three significant digits.
const LEAST_DIFFERENCE: f64 = 0.01;

/// Returns the sum of the amounts over the sum of the bases, with its interval; `None` if the sum
/// of the bases is zero.
///
/// This is the ratio estimator of Cochran, "Sampling Techniques", chapter 6. If all bases are
/// equal, the result is the mean of the batches, with the interval of Student's t; if not, batches
/// are weighted by their bases.
pub(crate) fn ratio(batches: &[Batch]) -> Option<Estimate> {
    let value = Batch::sum(batches).ratio()?;
    let bounds = RatioError::of(batches).map(|RatioError { half_width, is_optimistic, .. }| {
        Bounds { low: (value - half_width).max(0.0), high: value + half_width, is_optimistic }
    });
    Some(Estimate { value, bounds, effective_samples: None })
}

/// Returns a quantile of all times together, with its interval; `None` if there are no times. The
/// batches cover the same times.
///
/// The fraction of the times above the quantile is a mean, whose half-width follows from its
/// batches. The ends of the interval are the quantiles whose fractions are lower and higher by this
/// half-width. Quantiles of single batches would be biased, and intervals between order statistics
/// (Le Boudec, "Performance Evaluation of Computer and Communication Systems", chapter 2) assume
/// independent requests. There is no interval with fewer effective samples than [`fewest_samples`],
/// or if its ends would lie beyond the smallest or the largest time.
pub(crate) fn quantile(
    times: &Histogram<u64>,
    fraction: f64,
    exceedances: Exceedances<'_>,
) -> Option<Estimate> {
    if times.is_empty() {
        return None;
    }
    let at = |fraction| times.value_at_quantile(fraction) as f64;
    let spreads = RatioError::of(exceedances.at_least).zip(RatioError::of(exceedances.above));
    let effective_samples = spreads.as_ref().map(|(below, above)| {
        below.effective_samples(times.len()).min(above.effective_samples(times.len()))
    });
    let is_enough = effective_samples.is_some_and(|samples| samples >= fewest_samples(fraction));
    let bounds = spreads.filter(|_| is_enough).and_then(|(below, above)| {
        let (low, high) = (fraction - below.half_width, fraction + above.half_width);
        let is_optimistic = below.is_optimistic || above.is_optimistic;
        (low > 0.0 && high < 1.0).then(|| Bounds { low: at(low), high: at(high), is_optimistic })
    });
    Some(Estimate { value: at(fraction), bounds, effective_samples })
}

/// Numbers of measured times in each batch that lie beyond a quantile. If many times are equal,
/// such as those of timeouts, they may lie exactly on the quantile. The lower end of the interval
/// then follows from the times that reach the quantile, and the upper end from those that exceed
/// it.
#[derive(Clone, Copy)]
pub(crate) struct Exceedances<'a> {
    /// Times above the quantile.
    pub(crate) above: &'a [Batch],
    /// Times equal to the quantile or above it.
    pub(crate) at_least: &'a [Batch],
}

/// Returns the minimum number of independent times for which the largest time lies above a quantile
/// with a probability of 97.5 %. With fewer there is no credible upper end. The minimum is 6 for
/// the median, 72 for p95, 368 for p99, and 3,688 for p99.9 (Hahn and Meeker, "Statistical
/// Intervals", chapter 5).
pub fn fewest_samples(fraction: f64) -> u64 {
    (0.025f64.ln() / fraction.ln()).ceil() as u64
}

/// Returns the factor by which correlation raises the variance of a count over its variance in
/// independent trials; `None` if there are too few batches, or none or all of the trials are
/// counted. The amount of a batch is its count, and its base the number of its trials.
pub(crate) fn dispersion(batches: &[Batch]) -> Option<f64> {
    let RatioError { ratio, error, .. } = RatioError::of(batches)?;
    let independent = ratio * (1.0 - ratio) / Batch::sum(batches).base;
    (independent > 0.0).then(|| error * error / independent)
}

impl Estimate {
    /// Returns the interval, unless it is optimistic.
    pub fn ci95(&self) -> Option<Bounds> {
        self.bounds.filter(|bounds| !bounds.is_optimistic)
    }

    /// Returns true if another estimate differs by more than chance explains. Both estimates must
    /// have intervals. The estimates must differ by more than [`SEPARATION`] half-widths of the
    /// interval of their difference, and by at least [`LEAST_DIFFERENCE`] of the larger one.
    /// Optimistic intervals are widened by [`WIDENING`].
    pub(crate) fn differs_from(&self, other: &Estimate) -> bool {
        let [less, more] = if self.value < other.value { [self, other] } else { [other, self] };
        let (Some(below), Some(above)) = (less.bounds, more.bounds) else { return false };
        let distance = more.value - less.value;
        let wider = |bounds: Bounds| if bounds.is_optimistic { WIDENING } else { 1.0 };
        let chance = ((below.high - less.value) * wider(below))
            .hypot((more.value - above.low) * wider(above));
        distance > SEPARATION * chance && distance >= LEAST_DIFFERENCE * more.value
    }

    /// Returns true if the larger of the two estimates is at least [`MULTIPLE`] times the smaller
    /// one, even at the closest ends of their intervals. Optimistic intervals are not widened.
    /// Used only for throughputs, because the random movement of a queue never changes a throughput
    /// by such a factor.
    pub(crate) fn is_multiple_of(&self, other: &Estimate) -> bool {
        let [less, more] = if self.value < other.value { [self, other] } else { [other, self] };
        let bounds = less.bounds.zip(more.bounds);
        bounds.is_some_and(|(below, above)| below.high * MULTIPLE <= above.low && above.low > 0.0)
    }
}

/// Uncertainty of a ratio.
struct RatioError {
    ratio: f64,
    /// Standard error of the ratio.
    error: f64,
    /// Half the length of the ratio's 95 % interval.
    half_width: f64,
    is_optimistic: bool,
}

impl RatioError {
    /// Computes the error of the ratio of these batches; `None` if there are too few.
    fn of(batches: &[Batch]) -> Option<RatioError> {
        let mut batches: Vec<Batch> =
            batches.iter().copied().filter(|batch| batch.base > 0.0).collect();
        if batches.len() < FEWEST_BATCHES {
            return None;
        }
        let all = Batch::sum(&batches);
        let ratio = all.ratio()?;
        let mut residuals = residuals(&batches, ratio);
        while neighbour_correlation(&residuals) >= LEAST_CORRELATION
            && batches.len() >= 2 * FEWEST_BATCHES
        {
            batches = batches.chunks(2).map(Batch::sum).collect();
            residuals = self::residuals(&batches, ratio);
        }
        let n = residuals.len() as f64;
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let error = (squares * n / (n - 1.0)).sqrt() / all.base;
        Some(RatioError {
            ratio,
            error,
            half_width: critical_t(0.05, n - 1.0) * error,
            is_optimistic: neighbour_correlation(&residuals) >= LEAST_CORRELATION,
        })
    }

    /// Returns the number of independent trials that would have this standard error, at most
    /// `trials`.
    fn effective_samples(&self, trials: u64) -> u64 {
        let variance = self.error * self.error;
        match variance > 0.0 {
            true => trials.min((self.ratio * (1.0 - self.ratio) / variance) as u64),
            // All batches are equal, for example because all times are the same.
            false => trials,
        }
    }
}

impl Batch {
    fn sum(batches: &[Batch]) -> Batch {
        let add = |sum: Batch, batch: &Batch| Batch {
            amount: sum.amount + batch.amount,
            base: sum.base + batch.base,
        };
        batches.iter().fold(Batch::default(), add)
    }

    fn ratio(self) -> Option<f64> {
        (self.base > 0.0).then(|| self.amount / self.base)
    }
}

/// Returns the excess of each batch over its proportional share.
fn residuals(batches: &[Batch], ratio: f64) -> Vec<f64> {
    batches.iter().map(|batch| batch.amount - ratio * batch.base).collect()
}

/// Returns the correlation of neighbours; 0 if all residuals are zero.
fn neighbour_correlation(residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Draw, Seed, Stream};
    use record::Kind;

    fn batches(pairs: impl IntoIterator<Item = (f64, f64)>) -> Vec<Batch> {
        pairs.into_iter().map(|(amount, base)| Batch { amount, base }).collect()
    }

    /// Ten batches of equal length have the mean 5.5 and the variance 55/6. With the 97.5 %
    /// quantile of Student's t for 9 degrees of freedom, 2.2622, the half-width is 2.2622 ·
    /// √(55/60).
    #[test]
    fn equal_batches_give_students_interval() {
        let shuffled = [10.0, 1.0, 8.0, 3.0, 6.0, 5.0, 7.0, 4.0, 9.0, 2.0];
        let Estimate { value, bounds, .. } = ratio(&batches(shuffled.map(|x| (x, 1.0)))).unwrap();
        let Bounds { low, high, is_optimistic } = bounds.unwrap();
        assert_eq!((value, is_optimistic), (5.5, false));
        assert!((high - value - 2.165_9).abs() < 1e-3, "{high}");
        assert!((value - low - 2.165_9).abs() < 1e-3, "{low}");
    }

    #[test]
    fn batches_are_weighted_by_their_size() {
        let mut unequal = batches((1..=10).map(|n| (3.0 * f64::from(n), f64::from(n))));
        let alike = Estimate {
            value: 3.0,
            bounds: Some(Bounds { low: 3.0, high: 3.0, is_optimistic: false }),
            effective_samples: None,
        };
        assert_eq!(ratio(&unequal), Some(alike));
        unequal.push(Batch::default());
        assert_eq!(ratio(&unequal), Some(alike));
    }

    #[test]
    fn too_few_batches_give_a_number_without_an_interval() {
        let nine = batches([(2.0, 1.0); 9].into_iter().chain([(0.0, 0.0)]));
        assert_eq!(
            ratio(&nine),
            Some(Estimate { value: 2.0, bounds: None, effective_samples: None })
        );
        assert_eq!(ratio(&[]), None);
        assert_eq!(ratio(&batches([(1.0, 0.0)])), None);
    }

    #[test]
    fn interval_does_not_extend_below_zero() {
        let few = batches((0..12).map(|n| (if n == 5 { 1.0 } else { 0.0 }, 1.0)));
        assert_eq!(ratio(&few).unwrap().bounds.unwrap().low, 0.0);
    }

    /// Batches that come in equal pairs are joined, and have the interval of half as many batches.
    #[test]
    fn correlated_batches_are_joined() {
        let stream = Stream::new(Seed(3), "test", "pairs");
        let single: Vec<f64> = (0..40).map(|n| 100.0 + stream.draw(n).normal()).collect();
        let doubled = single.iter().flat_map(|x| [(*x, 1.0), (*x, 1.0)]);
        let [single, doubled] =
            [ratio(&batches(single.iter().map(|x| (*x, 1.0)))), ratio(&batches(doubled))]
                .map(|estimate| estimate.unwrap().bounds.unwrap());
        assert!((single.high - doubled.high).abs() < 1e-9, "{single:?} {doubled:?}");
        assert!(!doubled.is_optimistic);
    }

    #[test]
    fn interval_of_few_correlated_batches_is_optimistic() {
        let rising = batches((0..19).map(|n| (f64::from(n), 1.0)));
        assert!(ratio(&rising).unwrap().bounds.unwrap().is_optimistic);
    }

    /// Times by batch.
    struct Times {
        batches: Vec<Vec<u64>>,
    }

    impl Times {
        /// Simulates the times of a queue with one server, exponential service times with a mean of
        /// 1 ms and this utilisation, second by second (Lindley, 1952).
        fn of_a_queue(seed: u64, utilisation: f64) -> Times {
            let mut draw = Stream::new(Seed(seed), "test", "queue").draw(0);
            let mut exponential = |draw_of: fn(&mut Draw) -> f64| draw_of(&mut draw) * 1e-3;
            let (mut now, mut busy_until) = (0.0, 0.0f64);
            let mut batches = vec![Vec::new(); 60];
            loop {
                now += exponential(Draw::exponential) / utilisation;
                busy_until = busy_until.max(now) + exponential(Draw::exponential);
                // The first ten seconds are the warm-up.
                let Some(second) = (now as usize).checked_sub(10) else { continue };
                let Some(batch) = batches.get_mut(second) else { break };
                batch.push(((busy_until - now) * 1e9) as u64);
            }
            Times { batches }
        }

        fn pooled(&self) -> Histogram<u64> {
            let mut pooled = Kind::Response.histogram();
            self.batches.iter().flatten().for_each(|time| pooled.saturating_record(*time));
            pooled
        }

        fn quantile(&self, fraction: f64) -> Estimate {
            let pooled = self.pooled();
            let bound = pooled.value_at_quantile(fraction);
            let lowest = pooled.lowest_equivalent(bound);
            let count = |is_beyond: &dyn Fn(u64) -> bool| {
                batches(self.batches.iter().map(|times| {
                    let beyond = times.iter().filter(|time| is_beyond(**time)).count();
                    (beyond as f64, times.len() as f64)
                }))
            };
            let (above, at_least) = (count(&|time| time > bound), count(&|time| time >= lowest));
            let exceedances = Exceedances { above: &above, at_least: &at_least };
            quantile(&pooled, fraction, exceedances).unwrap()
        }

        fn mean(&self) -> Estimate {
            let sums = self
                .batches
                .iter()
                .map(|times| (times.iter().map(|time| *time as f64).sum(), times.len() as f64));
            ratio(&batches(sums)).unwrap()
        }

        /// Returns the naive interval, in which every request is an independent observation.
        fn quantile_of_requests(&self, fraction: f64) -> Estimate {
            let pooled = self.pooled();
            let bound = pooled.value_at_quantile(fraction);
            let each = self.batches.iter().flatten();
            let above = each.map(|time| (f64::from(u8::from(*time > bound)), 1.0));
            let above = batches(above);
            let half_width = {
                let all = Batch::sum(&above).ratio().unwrap();
                1.96 * (all * (1.0 - all) / above.len() as f64).sqrt()
            };
            let at = |fraction| pooled.value_at_quantile(fraction) as f64;
            let (low, high) = (at(fraction - half_width), at(fraction + half_width));
            let bounds = Some(Bounds { low, high, is_optimistic: false });
            Estimate { value: at(fraction), bounds, effective_samples: None }
        }
    }

    /// Returns the percentage of runs with an interval that contains the true number.
    fn coverage(truth: f64, run: impl Fn(u64) -> Estimate) -> f64 {
        const RUNS: u64 = 400;
        let bounds: Vec<Bounds> = (1..=RUNS).filter_map(|seed| run(seed).bounds).collect();
        assert!(bounds.len() as f64 >= 0.98 * RUNS as f64, "{} intervals", bounds.len());
        let covers = |bounds: &&Bounds| (bounds.low..=bounds.high).contains(&truth);
        bounds.iter().filter(covers).count() as f64 * 100.0 / bounds.len() as f64
    }

    /// Returns the quantile of an exponential distribution, in nanoseconds.
    fn exponential_quantile(fraction: f64, mean_ns: f64) -> f64 {
        -(1.0 - fraction).ln() * mean_ns
    }

    /// Returns true for a plausible coverage: of 400 intervals of 95 %, 365 to 394 contain the
    /// truth with a probability of 0.999.
    fn is_nominal(coverage: f64) -> bool {
        (91.2..=98.5).contains(&coverage)
    }

    /// The response time of such a queue is exponential, with a mean of 1 ms / (1 − utilisation).
    #[test]
    fn intervals_of_a_queue_have_their_nominal_coverage() {
        let (utilisation, mean) = (0.7, 1e6 / 0.3);
        for fraction in [0.5, 0.95, 0.99] {
            let truth = exponential_quantile(fraction, mean);
            let run = |seed| Times::of_a_queue(seed, utilisation).quantile(fraction);
            let held = coverage(truth, run);
            assert!(is_nominal(held), "{fraction}: {held} %");
        }
        let held = coverage(mean, |seed| Times::of_a_queue(seed, utilisation).mean());
        assert!(is_nominal(held), "mean: {held} %");
    }

    #[test]
    fn interval_that_assumes_independent_requests_fails_coverage() {
        for (fraction, most) in [(0.5, 60.0), (0.99, 50.0)] {
            let truth = exponential_quantile(fraction, 1e6 / 0.3);
            let fault = |seed| Times::of_a_queue(seed, 0.7).quantile_of_requests(fraction);
            let held = coverage(truth, fault);
            assert!(held < most, "{fraction}: {held} %");
        }
    }

    /// A busy queue is correlated for longer than a second, so its intervals are too narrow. At
    /// least 160 of 200 intervals contain the mean or are called optimistic.
    #[test]
    fn intervals_of_a_busy_queue_are_wider_or_called_optimistic() {
        let (utilisation, mean) = (0.95, 1e6 / 0.05);
        let is_honest = |seed: &u64| {
            let bounds = Times::of_a_queue(*seed, utilisation).mean().bounds.unwrap();
            bounds.is_optimistic || (bounds.low..=bounds.high).contains(&mean)
        };
        let honest = (1..=200).filter(is_honest).count();
        assert!(honest >= 160, "{honest} of 200");
    }

    #[test]
    fn quantile_near_the_maximum_has_no_interval() {
        let few = |each: u64| {
            let batches =
                (0..20).map(|second| (0..each).map(|n| 1_000 + second + 20 * n).collect());
            Times { batches: batches.collect() }
        };
        assert_eq!(few(5).quantile(0.99).bounds, None);
        assert!(few(5).quantile(0.5).bounds.is_some());
        assert!(few(500).quantile(0.99).bounds.is_some());
        let none = Exceedances { above: &[], at_least: &[] };
        assert_eq!(quantile(&Kind::Response.histogram(), 0.5, none), None);
    }

    /// About one request in a hundred times out, more in some seconds than in others: p99 may be
    /// the time of a timeout or of another request, and the interval contains both.
    #[test]
    fn quantile_among_ties_may_lie_below_them() {
        let second = |second: u64| {
            let late = 8 + second % 6;
            let quick = (0..1_000 - late).map(|n| 1_000 + n);
            quick.chain(std::iter::repeat_n(1_000_000_000, late as usize)).collect()
        };
        let times = Times { batches: (0..40).map(second).collect() };
        let Bounds { low, high, .. } = times.quantile(0.99).bounds.unwrap();
        assert!(low < 3_000.0 && high > 9e8, "{low} {high}");
    }

    #[test]
    fn fewest_samples_match_tables() {
        for (fraction, fewest) in [(0.5, 6), (0.95, 72), (0.99, 368), (0.999, 3_688)] {
            assert_eq!(fewest_samples(fraction), fewest);
        }
    }

    /// No time exceeds the largest one, so no batch has any above it. That is no evidence that the
    /// quantile is exact.
    #[test]
    fn quantile_equal_to_the_maximum_has_no_interval() {
        let batches = (0..20).map(|second| (0..10).map(|n| 1_000 * (second + 20 * n)).collect());
        let times = Times { batches: batches.collect() };
        assert_eq!(times.quantile(0.999).bounds, None);
        let constant = Times { batches: vec![vec![7_000; 200]; 20] };
        let bounds = constant.quantile(0.999).bounds.unwrap();
        assert_eq!(bounds.low, bounds.high);
    }

    /// At a utilisation of 70 %, the median of n times of a queue is as precise as that of n/15
    /// independent times, and p99 as precise as that of n/50 (by simulation).
    #[test]
    fn correlated_times_have_fewer_effective_samples() {
        let worth = |fraction| {
            let runs = (1..=40).map(|seed| Times::of_a_queue(seed, 0.7)).map(|times| {
                let all = times.pooled().len() as f64;
                all / times.quantile(fraction).effective_samples.unwrap() as f64
            });
            runs.sum::<f64>() / 40.0
        };
        assert!((8.0..=30.0).contains(&worth(0.5)), "{}", worth(0.5));
        assert!((25.0..=100.0).contains(&worth(0.99)), "{}", worth(0.99));
    }

    #[test]
    fn figures_differ_if_their_intervals_are_well_separated() {
        let estimate = |value, half_width, is_optimistic| {
            let (low, high) = (value - half_width, value + half_width);
            let bounds = Some(Bounds { low, high, is_optimistic });
            Estimate { value, bounds, effective_samples: None }
        };
        let reference = estimate(100.0, 10.0, false);
        let unknown = Estimate { value: 200.0, bounds: None, effective_samples: None };
        for (other, differs) in [
            (estimate(123.0, 10.0, false), true),
            (estimate(77.0, 10.0, false), true),
            (estimate(121.0, 10.0, false), false),
            (estimate(123.0, 10.0, true), false),
            (estimate(179.0, 10.0, true), false),
            (estimate(182.0, 10.0, true), true),
            (estimate(115.0, 0.0, false), false),
            (estimate(117.0, 0.0, false), true),
            (unknown, false),
        ] {
            assert_eq!(reference.differs_from(&other), differs, "{other:?}");
            assert_eq!(other.differs_from(&reference), differs, "{other:?}");
        }
        let [exact, next] = [100.0, 100.5].map(|value| estimate(value, 0.0, false));
        assert!(!exact.differs_from(&next), "by less than a third digit");
    }

    #[test]
    fn ratio_range_comes_from_the_ends_of_both_intervals() {
        let estimate = |low: f64, high: f64| {
            let bounds = Some(Bounds { low, high, is_optimistic: true });
            Estimate { value: low.midpoint(high), bounds, effective_samples: None }
        };
        let reference = estimate(90.0, 110.0);
        let unknown = Estimate { bounds: None, ..estimate(1.0, 1.0) };
        for (other, is_multiple) in [
            (estimate(15.0, 45.0), true),
            (estimate(15.0, 46.0), false),
            (estimate(220.0, 900.0), true),
            (estimate(219.0, 900.0), false),
            (unknown, false),
        ] {
            assert_eq!(reference.is_multiple_of(&other), is_multiple, "{other:?}");
            assert_eq!(other.is_multiple_of(&reference), is_multiple, "{other:?}");
        }
        assert!(!estimate(0.0, 0.0).is_multiple_of(&estimate(0.0, 0.0)));
    }
}
