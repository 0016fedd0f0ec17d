//! Which numbers of a run are judged.

use hdrhistogram::Histogram;
use record::Kind;
use sim::closed_form::ClosedForm;

/// A number that stands for many times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// Their mean.
    Mean,
    /// The time that this fraction of them does not exceed.
    Quantile(f64),
}

impl Estimate {
    /// The columns of every oracle.
    pub const ALL: [Estimate; 6] = [
        Estimate::Mean,
        Estimate::Quantile(0.5),
        Estimate::Quantile(0.9),
        Estimate::Quantile(0.95),
        Estimate::Quantile(0.99),
        Estimate::Quantile(0.999),
    ];

    /// The exact value, in seconds.
    pub(super) fn exactly(self, form: &impl ClosedForm) -> f64 {
        match self {
            Estimate::Mean => form.mean(),
            Estimate::Quantile(q) => form.quantile(q),
        }
    }

    /// The estimate from times in nanoseconds, in seconds.
    pub(super) fn of_histogram(self, histogram: &Histogram<u32>) -> f64 {
        let nanos = match self {
            Estimate::Mean => histogram.mean(),
            Estimate::Quantile(q) => {
                // The middle of the bucket, so that its width does not bias the estimate.
                histogram.median_equivalent(histogram.value_at_quantile(q)) as f64
            }
        };
        nanos / 1e9
    }

    fn name(self) -> String {
        match self {
            Estimate::Mean => "mean".to_owned(),
            // A tenth of a percent is the finest that is judged.
            Estimate::Quantile(q) => format!("p{}", (q * 1e3).round() / 10.0),
        }
    }
}

/// What is compared with what it should be. Times are in seconds, shares are fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Of a kind of time.
    Time(Kind, Estimate),
    /// Requests that came due, per second.
    Arrivals,
    /// Completions per second.
    Throughput,
    /// The share of requests that were given up.
    Timeouts,
    /// The share of requests that the server refused.
    Loss,
    /// How many requests were answered.
    Completed,
    /// How many requests came due and have no outcome.
    Unaccounted,
    /// How many seconds of the schedule have another number of arrivals than the twin's.
    OtherSeconds,
    /// How many requests met another fate than the twin's: carried, rejected, unsent.
    OtherFates,
}

impl Quantity {
    /// Of the response time.
    pub(super) fn response(estimate: Estimate) -> Quantity {
        Quantity::Time(Kind::Response, estimate)
    }

    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Quantity::Time(kind, estimate) => format!("{} {}", kind.name(), estimate.name()),
            Quantity::Arrivals => "arrivals".to_owned(),
            Quantity::Throughput => "throughput".to_owned(),
            Quantity::Timeouts => "timeouts".to_owned(),
            Quantity::Loss => "loss".to_owned(),
            Quantity::Completed => "completed".to_owned(),
            Quantity::Unaccounted => "unaccounted".to_owned(),
            Quantity::OtherSeconds => "other seconds".to_owned(),
            Quantity::OtherFates => "other fates".to_owned(),
        }
    }

    /// The unit in which it is shown, and how many of that unit the value 1 is.
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Quantity::Time(..) => ("ms", 1e3),
            Quantity::Arrivals | Quantity::Throughput => ("/s", 1.0),
            Quantity::Timeouts | Quantity::Loss => ("%", 100.0),
            Quantity::Completed
            | Quantity::Unaccounted
            | Quantity::OtherSeconds
            | Quantity::OtherFates => ("", 1.0),
        }
    }

    /// Whether a window of moderate length can tell: not one in a thousand.
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
            | Quantity::OtherSeconds
            | Quantity::OtherFates => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_called_by_their_percent() {
        let names = Estimate::ALL.map(|estimate| Quantity::response(estimate).name());
        assert_eq!(names[0], "response mean");
        assert_eq!(names[3..], ["response p95", "response p99", "response p99.9"]);
    }
}
