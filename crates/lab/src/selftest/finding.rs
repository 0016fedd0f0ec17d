//! Is a number what it should be? Pure functions, after decision 14.
//!
//! A number that chance moves is measured in independent replications. It is accepted if their mean
//! is within four of their own standard errors of the exact value, and if they scatter as they
//! should: half to twice as much as a recursion of the same queue does. Without the second rule, a
//! test whose estimates scatter wildly would accept anything, and one whose replications are not
//! independent would be too sure.

use super::quantity::Quantity;

/// How far the mean of the replications may be from the exact value, in its standard errors.
const STANDARD_ERRORS: f64 = 4.0;

/// By which factor the scatter of the replications may differ from the expected one.
const SCATTER: f64 = 2.0;

/// One number beside what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The oracle that knows it.
    pub oracle: String,
    /// What was measured.
    pub quantity: Quantity,
    /// What it should be, in the quantity's own unit: seconds, fractions, numbers.
    pub expected: f64,
    /// What it is.
    pub measured: f64,
    /// How far it may be off.
    pub allowed: Allowed,
    /// The standard error of what was measured, if chance has a part in it.
    pub standard_error: Option<f64>,
    /// How the replications scatter, if there are any.
    pub scatter: Option<Scatter>,
}

/// How far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// Below what is expected.
    pub below: f64,
    /// Above what is expected; infinite if nothing is said of that.
    pub above: f64,
}

impl Allowed {
    /// Nothing at all, for what is counted.
    pub(super) const NOTHING: Allowed = Allowed { below: 0.0, above: 0.0 };

    /// As far on both sides.
    pub(super) fn around(distance: f64) -> Allowed {
        Allowed { below: distance, above: distance }
    }
}

/// Standard deviations of independent replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Of those that were measured.
    pub measured: f64,
    /// As it should be, by a recursion of the same queue.
    pub expected: f64,
    /// What no estimate can tell apart.
    resolution: f64,
}

impl Scatter {
    /// What cannot scatter, such as a p99 cut off by a timeout, is below the resolution.
    pub fn is_as_expected(&self) -> bool {
        if self.expected <= self.resolution {
            return self.measured <= self.resolution;
        }
        (self.expected / SCATTER..=self.expected * SCATTER).contains(&self.measured)
    }
}

impl Finding {
    /// Compares the estimates of replications with an exact value. `expected_deviation` is the
    /// standard deviation that they should have.
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
            // What cannot scatter is off by what no estimate can tell apart, or by a fault.
            standard_error: (expected_deviation > resolution).then_some(standard_error),
            scatter: Some(Scatter {
                measured: deviation,
                expected: expected_deviation,
                resolution,
            }),
        }
    }

    /// Compares one run with an exact value, by the standard deviation that theory expects of such
    /// runs. What a machine may add is allowed above it.
    pub(super) fn of_one_run(
        oracle: &str,
        (quantity, exact): (Quantity, f64),
        measured: f64,
        expected_deviation: f64,
        machine: f64,
    ) -> Finding {
        let chance = STANDARD_ERRORS * expected_deviation + resolution(exact);
        let allowed = Allowed { below: chance, above: chance + machine };
        let finding = Finding::within(oracle, (quantity, exact), measured, allowed);
        Finding { standard_error: Some(expected_deviation), ..finding }
    }

    /// Compares a number in which chance has no part.
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

    /// Whether it is what it should be.
    pub fn passed(&self) -> bool {
        self.is_close() && self.scatters_as_expected()
    }

    /// Whether it is no further off than allowed. What was not measured is not.
    pub fn is_close(&self) -> bool {
        (-self.allowed.below..=self.allowed.above).contains(&self.deviation())
    }

    /// Whether its replications, if there are any, scatter as they should.
    pub fn scatters_as_expected(&self) -> bool {
        self.scatter.is_none_or(|scatter| scatter.is_as_expected())
    }

    fn deviation(&self) -> f64 {
        self.measured - self.expected
    }

    /// How far it is off, in percent of what is expected; nothing has no percents.
    pub fn deviation_percent(&self) -> Option<f64> {
        self.percent(self.deviation())
    }

    /// How far it may be off below and above, in percent of what is expected; `None` is any
    /// distance, or one from nothing.
    pub fn allowed_percent(&self) -> [Option<f64>; 2] {
        [-self.allowed.below, self.allowed.above].map(|distance| self.percent(distance))
    }

    fn percent(&self, distance: f64) -> Option<f64> {
        let percent = 100.0 * distance / self.expected;
        percent.is_finite().then_some(percent)
    }

    /// How far it is off, in standard errors.
    pub fn deviation_in_standard_errors(&self) -> Option<f64> {
        let errors = self.deviation() / self.standard_error?;
        errors.is_finite().then_some(errors)
    }
}

/// What no estimate can tell apart: a histogram of three digits divides each power of two into
/// 1,024 buckets, so that the middle of one is within 1/2,048, and clocks tick in nanoseconds.
fn resolution(exact: f64) -> f64 {
    exact / 2_048.0 + 2e-9
}

/// The standard deviation of a sample.
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
        // A standard error is 0.577.
        for (exact, passes) in [(10.0, true), (12.2, true), (12.4, false), (7.6, false)] {
            let finding = judged(exact, 1.15);
            assert_eq!(finding.passed(), passes, "{finding:?}");
            assert!(finding.scatters_as_expected());
        }
        let errors = judged(12.0, 1.15).deviation_in_standard_errors().unwrap();
        assert!((errors + 3.46).abs() < 0.01, "{errors}");
    }

    #[test]
    fn replications_that_scatter_too_little_or_too_much_are_red() {
        for (expected, passes) in [(0.6, true), (2.3, true), (0.5, false), (2.4, false)] {
            let finding = judged(10.0, expected);
            assert_eq!(finding.passed(), passes, "{finding:?}");
            assert!(finding.is_close());
        }
    }

    #[test]
    fn what_cannot_scatter_must_not() {
        let finding = |estimates: &[f64]| {
            Finding::of_replications("O", (Quantity::Timeouts, 0.5), estimates, 0.0)
        };
        assert!(finding(&[0.5, 0.5, 0.5]).passed());
        assert_eq!(finding(&[0.5, 0.5, 0.5]).deviation_in_standard_errors(), None);
        assert!(!finding(&[0.5, 0.51, 0.49]).passed());
    }

    #[test]
    fn one_run_may_be_as_late_as_the_machine_and_not_early() {
        let of_one =
            |measured| Finding::of_one_run("O", (Quantity::Throughput, 10.0), measured, 0.1, 3.0);
        for (measured, passes) in [(9.6, true), (9.5, false), (13.4, true), (13.5, false)] {
            assert_eq!(of_one(measured).passed(), passes, "{measured}");
        }
    }

    #[test]
    fn what_is_counted_is_exact_and_what_is_not_measured_is_red() {
        let within = |measured| {
            let expected = (Quantity::Unaccounted, 0.0);
            Finding::within("O", expected, measured, Allowed::NOTHING)
        };
        assert!(within(0.0).passed());
        assert!(!within(1.0).passed());
        assert!(!within(f64::NAN).passed());
        assert_eq!(within(1.0).deviation_percent(), None);
    }
}
