//! Capacity searches: the section `[capacity]` of an experiment file.

use std::fmt;

use base::Nanos;

use super::difference::Difference;
use crate::plan::{Metric, Side, Slo, Statistic};

/// A search for the highest load at which all conditions hold.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityQuestion {
    /// Conditions that must all hold; at least one.
    pub conditions: Vec<Condition>,
    /// Load that is varied.
    pub vary: VariedLoad,
    /// First value to try: requests per second, or clients.
    pub first: f64,
    /// Largest value that may be tried.
    pub highest: f64,
    /// Minimum length of the window of a trial.
    pub trial: Nanos,
    /// Time for all trials together, without the hold.
    pub budget: Nanos,
    /// Length of a final trial at the confirmed value; `None` for no such trial.
    pub hold: Option<Nanos>,
}

/// A condition on a metric of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the job.
    pub job: String,
    /// Metric, side and bound; the text names the job: `p99(read) < 30ms`.
    pub slo: Slo,
}

/// A load that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariedLoad {
    /// Arrival rate of a job.
    Rate {
        /// Name of the job.
        job: String,
    },
    /// Number of clients of a closed job.
    Concurrency {
        /// Name of the job.
        job: String,
    },
}

impl CapacityQuestion {
    /// Calls `each` with every key of the section and its value.
    pub(super) fn print(&self, mut each: impl FnMut(&str, String)) {
        self.conditions.iter().for_each(|one| each("slo", one.to_string()));
        each("vary", self.vary.to_string());
        each("first", self.first.to_string());
        each("highest", self.highest.to_string());
        each("trial", self.trial.to_string());
        each("budget", self.budget.to_string());
        if let Some(hold) = self.hold {
            each("hold", hold.to_string());
        }
    }

    /// The shortest and the longest default of [`trial`](Self::trial).
    const TRIALS: [Nanos; 2] = [Nanos::from_secs(2), Nanos::from_secs(10)];

    /// Number of trials of the default length in a budget, without their warm-ups and drains. A
    /// budget for which the default length is at one of its limits has fewer or more trials.
    const TRIALS_OF_BUDGET: u64 = 60;

    /// Returns the default of [`trial`](Self::trial) that follows from a budget. A short budget
    /// gives short trials, so there are enough of them. The file's default is longer if an overload
    /// shows only in [longer trials](Self::shortest_detecting_trial).
    pub fn default_trial(budget: Nanos) -> Nanos {
        let [shortest, longest] = Self::TRIALS;
        let millis = budget.0 / Self::TRIALS_OF_BUDGET / 1_000_000;
        Nanos::from_millis(millis).clamp(shortest, longest)
    }

    /// Minimum length of a trial that shows an overload of 2 %, as a multiple of the bound of a
    /// response time. With such an overload, the wait grows during a trial by a fiftieth of the
    /// trial's length, which here is the bound.
    const OVERLOAD_SHOWS: f64 = 50.0;

    /// Returns the length of the shortest trial that detects a rate a few percent above the
    /// capacity: response times exceed their lowest bound. Without a low enough bound, returns the
    /// longest default length, at which the growth of the backlog shows.
    pub(super) fn shortest_detecting_trial<'s>(slos: impl Iterator<Item = &'s Slo>) -> Nanos {
        let of_response =
            |slo: &&Slo| slo.side == Side::Below && matches!(slo.metric, Metric::Response(_));
        let bounds = slos.filter(of_response).map(|slo| slo.bound);
        let tightest = bounds.fold(f64::INFINITY, f64::min);
        Nanos((tightest * Self::OVERLOAD_SHOWS).ceil() as u64).min(Self::TRIALS[1])
    }

    /// Default of [`budget`](Self::budget).
    pub const BUDGET: Nanos = Nanos::from_secs(15 * 60);

    /// Default of [`first`](Self::first) for a rate, in requests per second.
    pub const FIRST_RATE: f64 = 100.0;

    /// Default of [`highest`](Self::highest) for a rate, in requests per second.
    pub const HIGHEST_RATE: f64 = 1e6;

    /// Default of [`highest`](Self::highest) for a number of clients where no plan gives
    /// `max-connections`: the default of that key.
    pub const MOST_CLIENTS: f64 = 1_000.0;
}

impl Condition {
    /// Returns the fraction of requests that may exceed the bound, if the condition is judged by
    /// counts: 0.01 for `p99 < 30ms`, the bound itself for `failed < 1%`.
    pub fn allowed_share(&self) -> Option<f64> {
        match (self.slo.metric, self.slo.side) {
            (
                Metric::Response(Statistic::Quantile(q)) | Metric::Service(Statistic::Quantile(q)),
                Side::Below,
            ) => Some(1.0 - q),
            (Metric::Failed, Side::Below) => Some(self.slo.bound),
            (
                Metric::Response(_) | Metric::Service(_) | Metric::Throughput | Metric::Failed,
                Side::Below | Side::Above,
            ) => None,
        }
    }
}

impl VariedLoad {
    /// Returns the name of the job whose key is varied.
    pub fn job(&self) -> &str {
        match self {
            VariedLoad::Rate { job } | VariedLoad::Concurrency { job } => job,
        }
    }

    /// Returns the key that is varied.
    pub fn key(&self) -> &'static str {
        match self {
            VariedLoad::Rate { .. } => "rate",
            VariedLoad::Concurrency { .. } => "concurrency",
        }
    }

    /// Returns the difference from the workload file that sets the varied key to `value`.
    pub(super) fn difference(&self, value: f64) -> Difference {
        Difference::Key {
            section: self.job().to_owned(),
            key: self.key().to_owned(),
            value: value.to_string(),
        }
    }

    /// Returns true if only whole numbers are possible.
    pub fn is_whole(&self) -> bool {
        match self {
            VariedLoad::Rate { .. } => false,
            VariedLoad::Concurrency { .. } => true,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.slo.text)
    }
}

impl fmt::Display for VariedLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.key(), self.job())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_length_of_a_trial_follows_from_the_budget() {
        let of = |budget: u64| CapacityQuestion::default_trial(Nanos::from_secs(budget));
        assert_eq!(of(15 * 60), Nanos::from_secs(10));
        assert_eq!((of(600), of(240)), (Nanos::from_secs(10), Nanos::from_secs(4)));
        assert_eq!((of(100), of(1)), (Nanos::from_secs(2), Nanos::from_secs(2)));
    }
}
