//! The quantities of a run that the self-test judges.

use hdrhistogram::Histogram;
use record::Kind;
use sim::closed_form::ClosedForm;

/// A statistic of a distribution of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// The mean.
    Mean,
    /// The quantile at this fraction: the time that this fraction of the times does not exceed.
    Quantile(f64),
}

impl Estimate {
    /// The estimates of the response time that are judged if its distribution is known.
    pub const ALL: [Estimate; 6] = [
        Estimate::Mean,
        Estimate::Quantile(0.5),
        Estimate::Quantile(0.9),
        Estimate::Quantile(0.95),
        Estimate::Quantile(0.99),
        Estimate::Quantile(0.999),
    ];

    /// Returns the exact value of the estimate by a closed form, in seconds.
    pub(super) fn exactly(self, form: &impl ClosedForm) -> f64 {
        match self {
            Estimate::Mean => form.mean(),
            Estimate::Quantile(q) => form.quantile(q),
        }
    }

    /// Returns the estimate from a histogram of nanoseconds, in seconds.
    pub(super) fn of_histogram(self, histogram: &Histogram<u32>) -> f64 {
        let nanos = match self {
            Estimate::Mean => histogram.mean(),
            Estimate::Quantile(q) => {
                // The middle of the bucket is used, because its edges would bias the estimate.
                histogram.median_equivalent(histogram.value_at_quantile(q)) as f64
            }
        };
        nanos / 1e9
    }

    fn name(self) -> String {
        match self {
            Estimate::Mean => "mean".to_owned(),
            // No judged quantile has more than one decimal of a percent, as in p99.9.
            Estimate::Quantile(q) => format!("p{}", (q * 1e3).round() / 10.0),
        }
    }
}

/// A quantity that is compared with its expected value. Times are in seconds, shares are fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// An estimate of times of one kind, such as response times.
    Time(Kind, Estimate),
    /// Number of requests that came due, per second.
    Arrivals,
    /// Completions per second.
    Throughput,
    /// The share of requests that timed out.
    Timeouts,
    /// The share of requests that the server refused.
    Loss,
    /// Number of answered requests.
    Completed,
    /// Number of requests that came due and have no outcome.
    Unaccounted,
    /// Number of seconds of the schedule in which the number of arrivals differs from that of the
    /// twin.
    DifferentSeconds,
    /// Differences from the twin in three numbers of requests, added up: completed or error,
    /// rejected, and unsent.
    DifferentOutcomes,
}

impl Quantity {
    /// Returns an estimate of the response time.
    pub(super) fn response(estimate: Estimate) -> Quantity {
        Quantity::Time(Kind::Response, estimate)
    }

    /// Returns the name for display.
    pub fn name(self) -> String {
        match self {
            Quantity::Time(kind, estimate) => format!("{} {}", kind.name(), estimate.name()),
            Quantity::Arrivals => "arrivals".to_owned(),
            Quantity::Throughput => "throughput".to_owned(),
            Quantity::Timeouts => "timeouts".to_owned(),
            Quantity::Loss => "loss".to_owned(),
            Quantity::Completed => "completed".to_owned(),
            Quantity::Unaccounted => "unaccounted".to_owned(),
            Quantity::DifferentSeconds => "different seconds".to_owned(),
            Quantity::DifferentOutcomes => "different outcomes".to_owned(),
        }
    }

    /// Returns the unit for display, and the factor that converts a value to this unit.
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Quantity::Time(..) => ("ms", 1e3),
            Quantity::Arrivals | Quantity::Throughput => ("/s", 1.0),
            Quantity::Timeouts | Quantity::Loss => ("%", 100.0),
            Quantity::Completed
            | Quantity::Unaccounted
            | Quantity::DifferentSeconds
            | Quantity::DifferentOutcomes => ("", 1.0),
        }
    }

    /// Returns true if a window of moderate length suffices; false for p99.9 and beyond.
    pub(super) fn is_common(self) -> bool {
        match self {
            Quantity::Time(_, Estimate::Quantile(q)) => q < 0.999,
            Quantity::Time(_, Estimate::Mean)
            | Quantity::Arrivals
            | Quantity::Throughput
            | Quantity::Timeouts
            | Quantity::Loss
            | Quantity::Completed
            | Quantity::Unaccounted
            | Quantity::DifferentSeconds
            | Quantity::DifferentOutcomes => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_from_the_twin_are_named() {
        let names = [Quantity::DifferentSeconds, Quantity::DifferentOutcomes].map(Quantity::name);
        assert_eq!(names, ["different seconds", "different outcomes"]);
    }

    #[test]
    fn quantiles_are_named_by_percent() {
        let names = Estimate::ALL.map(|estimate| Quantity::response(estimate).name());
        assert_eq!(names[0], "response mean");
        assert_eq!(names[3..], ["response p95", "response p99", "response p99.9"]);
    }
}
