//! The judgement of a measured number against its expected value: pure functions, by decision 14.
//!
//! A random number is measured in independent replications. It is accepted if it passes two rules.
//! The mean of the replications is within four of its standard errors of the exact value. The
//! standard deviation of the replications is half to twice the standard deviation that a recursion
//! of the same queue gives. Without the second rule, a test whose estimates scatter wildly would
//! accept any value, and a test whose replications are not independent would be overconfident.

use super::quantity::Quantity;

/// Largest accepted distance of the mean from the exact value, in standard errors of the mean.
const STANDARD_ERRORS: f64 = 4.0;

/// Largest accepted ratio between the measured and the expected standard deviation, in either
/// direction.
const MAX_SCATTER_FACTOR: f64 = 2.0;

/// A measured number and its expected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of the oracle.
    pub oracle: String,
    /// The measured quantity.
    pub quantity: Quantity,
    /// The expected value, in the unit of the quantity: seconds, a fraction or a number.
    pub expected: f64,
    /// The measured value, in the same unit.
    pub measured: f64,
    /// The accepted distance from the expected value.
    pub allowed: Allowed,
    /// The standard error of the measured value, if it is random.
    pub standard_error: Option<f64>,
    /// The standard deviations of the replications, if there are any.
    pub scatter: Option<Scatter>,
}

/// A tolerance, in the unit of the quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// Largest permitted distance below the expected value.
    pub below: f64,
    /// Largest permitted distance above the expected value; infinite if there is no upper bound.
    pub above: f64,
}

impl Allowed {
    /// No tolerance, for exact counts.
    pub(super) const ZERO: Allowed = Allowed { below: 0.0, above: 0.0 };

    /// Returns a tolerance of `distance` on both sides.
    pub(super) fn around(distance: f64) -> Allowed {
        Allowed { below: distance, above: distance }
    }
}

/// Standard deviations of independent replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Standard deviation of the measured replications.
    pub measured: f64,
    /// Standard deviation that a recursion of the same queue gives.
    pub expected: f64,
    /// Resolution of an estimate: smaller differences are meaningless.
    resolution: f64,
}

impl Scatter {
    /// Returns true if the measured scatter agrees with the expected one.
    ///
    /// The estimates of a constant, such as a p99 that a timeout cuts off, must scatter by less
    /// than the resolution.
    pub fn is_as_expected(&self) -> bool {
        if self.expected <= self.resolution {
            return self.measured <= self.resolution;
        }
        let lowest = self.expected / MAX_SCATTER_FACTOR;
        (lowest..=self.expected * MAX_SCATTER_FACTOR).contains(&self.measured)
    }
}

impl Finding {
    /// Compares the estimates of replications with an exact value; `expected_deviation` is their
    /// expected standard deviation.
    pub(super) fn of_replications(
        oracle: &str,
        (quantity, exact): (Quantity, f64),
        estimates: &[f64],
        expected_deviation: f64,
    ) -> Finding {
        let deviation = standard_deviation(estimates);
        let standard_error = deviation / (estimates.len() as f64).sqrt();
        let resolution = resolution(exact);
        Finding {
            oracle: oracle.to_owned(),
            quantity,
            expected: exact,
            measured: mean(estimates),
            allowed: Allowed::around(STANDARD_ERRORS * standard_error + resolution),
            // A constant can differ only by the resolution or because of a fault, so it has no
            // standard error.
            standard_error: (expected_deviation > resolution).then_some(standard_error),
            scatter: Some(Scatter {
                measured: deviation,
                expected: expected_deviation,
                resolution,
            }),
        }
    }

    /// Compares the result of one run with an exact value. `expected_deviation` is the standard
    /// deviation of such runs; `machine_tolerance` is added to the tolerance above the value.
    pub(super) fn of_single_run(
        oracle: &str,
        (quantity, exact): (Quantity, f64),
        measured: f64,
        expected_deviation: f64,
        machine_tolerance: f64,
    ) -> Finding {
        let chance = STANDARD_ERRORS * expected_deviation + resolution(exact);
        let allowed = Allowed { below: chance, above: chance + machine_tolerance };
        let finding = Finding::within(oracle, (quantity, exact), measured, allowed);
        Finding { standard_error: Some(expected_deviation), ..finding }
    }

    /// Compares a number that is not random with its expected value.
    pub(super) fn within(
        oracle: &str,
        (quantity, expected): (Quantity, f64),
        measured: f64,
        allowed: Allowed,
    ) -> Finding {
        let oracle = oracle.to_owned();
        let (standard_error, scatter) = (None, None);
        Finding { oracle, quantity, expected, measured, allowed, standard_error, scatter }
    }

    /// Returns true if both the distance from the expected value and the scatter are accepted.
    pub fn passed(&self) -> bool {
        self.is_close() && self.scatters_as_expected()
    }

    /// Returns true if the number is within its tolerance; false if it was not measured (NaN).
    pub fn is_close(&self) -> bool {
        (-self.allowed.below..=self.allowed.above).contains(&self.deviation())
    }

    /// Returns true if there are no replications, or their scatter is as expected.
    pub fn scatters_as_expected(&self) -> bool {
        self.scatter.is_none_or(|scatter| scatter.is_as_expected())
    }

    fn deviation(&self) -> f64 {
        self.measured - self.expected
    }

    /// Returns the deviation in percent of the expected value; `None` if the expected value is
    /// zero.
    pub fn deviation_percent(&self) -> Option<f64> {
        self.percent(self.deviation())
    }

    /// Returns the lowest and the highest accepted deviation in percent of the expected value; the
    /// lowest one is not positive. `None` stands for an infinite deviation, and for any deviation
    /// from an expected value of zero.
    pub fn allowed_percent(&self) -> [Option<f64>; 2] {
        [-self.allowed.below, self.allowed.above].map(|distance| self.percent(distance))
    }

    fn percent(&self, distance: f64) -> Option<f64> {
        let percent = 100.0 * distance / self.expected;
        percent.is_finite().then_some(percent)
    }

    /// Returns the deviation in standard errors; `None` if there is no standard error.
    pub fn deviation_in_standard_errors(&self) -> Option<f64> {
        let errors = self.deviation() / self.standard_error?;
        errors.is_finite().then_some(errors)
    }
}

/// Returns the resolution of an estimate. A histogram of three digits divides each power of two
/// into 1,024 buckets, so the middle of a bucket is within 1/2,048 of its values; clocks tick in
/// nanoseconds.
fn resolution(exact: f64) -> f64 {
    exact / 2_048.0 + 2e-9
}

/// Returns the standard deviation of a sample.
pub(super) fn standard_deviation(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|x| (x - mean).powi(2)).sum();
    (squares / (sample.len() - 1) as f64).sqrt()
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four replications around 10 with a standard deviation of 1.15.
    const SAMPLE: [f64; 4] = [9.0, 11.0, 9.0, 11.0];

    fn judged(exact: f64, expected_deviation: f64) -> Finding {
        let quantity = Quantity::Throughput;
        Finding::of_replications("O", (quantity, exact), &SAMPLE, expected_deviation)
    }

    #[test]
    fn a_mean_within_four_standard_errors_passes_and_one_beyond_does_not() {
        // The standard error of the mean is 0.577.
        for (exact, passes) in [(10.0, true), (12.2, true), (12.4, false), (7.6, false)] {
            let finding = judged(exact, 1.15);
            assert_eq!(finding.passed(), passes, "{finding:?}");
            assert!(finding.scatters_as_expected());
        }
        let errors = judged(12.0, 1.15).deviation_in_standard_errors().unwrap();
        assert!((errors + 3.46).abs() < 0.01, "{errors}");
    }

    #[test]
    fn replications_that_scatter_too_little_or_too_much_fail() {
        for (expected, passes) in [(0.6, true), (2.3, true), (0.5, false), (2.4, false)] {
            let finding = judged(10.0, expected);
            assert_eq!(finding.passed(), passes, "{finding:?}");
            assert!(finding.is_close());
        }
    }

    #[test]
    fn constant_quantity_must_not_scatter() {
        let finding = |estimates: &[f64]| {
            Finding::of_replications("O", (Quantity::Timeouts, 0.5), estimates, 0.0)
        };
        assert!(finding(&[0.5, 0.5, 0.5]).passed());
        assert_eq!(finding(&[0.5, 0.5, 0.5]).deviation_in_standard_errors(), None);
        assert!(!finding(&[0.5, 0.51, 0.49]).passed());
    }

    #[test]
    fn single_run_tolerance_is_one_sided() {
        let exact = (Quantity::Throughput, 10.0);
        let of_one = |measured| Finding::of_single_run("O", exact, measured, 0.1, 3.0);
        for (measured, passes) in [(9.6, true), (9.5, false), (13.4, true), (13.5, false)] {
            assert_eq!(of_one(measured).passed(), passes, "{measured}");
        }
    }

    #[test]
    fn counts_must_be_exact_and_missing_measurements_fail() {
        let within = |measured| {
            let expected = (Quantity::Unaccounted, 0.0);
            Finding::within("O", expected, measured, Allowed::ZERO)
        };
        assert!(within(0.0).passed());
        assert!(!within(1.0).passed());
        assert!(!within(f64::NAN).passed());
        assert_eq!(within(1.0).deviation_percent(), None);
    }
}
