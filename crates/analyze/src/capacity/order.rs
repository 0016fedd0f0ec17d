//! The specification of a capacity search: its conditions, its values and its time.

use std::fmt;

use base::Nanos;
use workload::question::{Condition, VariedLoad};
use workload::{Metric, is_job_or_part};

/// The specification of a capacity search: its conditions, the key that is varied, and the time
/// that the search may take.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityOrder {
    /// Conditions that must all hold; at least one.
    pub conditions: Vec<Condition>,
    /// Key that is varied.
    pub vary: VariedLoad,
    /// First value to try: requests per second, or clients.
    pub first: f64,
    /// Largest value that may be tried; `None` if there is no limit.
    pub highest: Option<f64>,
    /// Calibrated ceiling of the generator, in requests per second; the bracket does not try values
    /// above half of it. `None` if it is unknown, or if the concurrency is varied.
    pub ceiling_per_s: Option<f64>,
    /// Minimum length of the window of a trial. Longer windows follow from the number of requests
    /// and the relaxation time.
    pub trial: Nanos,
    /// Minimum time from the start of a trial to its window.
    pub warmup: Nanos,
    /// Time from the end of a trial's window to the start of the next trial.
    pub drain: Nanos,
    /// Time for all trials together, without the hold.
    pub budget: Nanos,
    /// Length of a final trial at the confirmed value; `None` if there is no such trial.
    pub hold: Option<Nanos>,
    /// Number of trials that confirm a value, at least [`CapacityOrder::FEWEST_CONFIRMATIONS`].
    pub confirmations: u32,
    /// Seed of the order of values within the rounds.
    pub seed: base::Seed,
}

/// Reason why a search is impossible.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderError {
    /// There is no condition.
    NoCondition,
    /// The first value is not a positive number, or is less than one client.
    First {
        /// The value.
        value: f64,
    },
    /// The first value is larger than the largest value that may be tried.
    FirstAboveHighest {
        /// First value.
        first: f64,
        /// Largest value that may be tried.
        highest: f64,
    },
    /// Too few confirmations.
    Confirmations {
        /// Requested number.
        confirmations: u32,
    },
    /// The budget does not cover one trial of the search and one attempt to confirm its value.
    BudgetTooShort {
        /// The budget.
        budget: Nanos,
        /// Time that the shortest possible search takes.
        needed: Nanos,
    },
}

impl CapacityOrder {
    /// Minimum number of trials that confirm a value.
    pub const FEWEST_CONFIRMATIONS: u32 = 3;

    /// Default number of trials that confirm a value.
    pub const CONFIRMATIONS: u32 = 6;

    /// Version of the search method. Another version would request other trials after the recorded
    /// ones. A record can therefore be continued only with the method that began it, and the same
    /// method must compute its answer. Its runs can be read with every method.
    pub const METHOD: u32 = 10;

    /// Smallest and largest share of the budget that is reserved for the confirmation.
    const CONFIRMATION_SHARES: [f64; 2] = [0.25, 0.4];

    /// Number of confirmation attempts that the reserved time is meant for, if trials have the
    /// shortest length. The cliff of a real server moves, and the values just below it often fail.
    const ATTEMPTS: f64 = 2.0;

    /// Maximum number of times that the first value is doubled.
    pub(super) const MOST_DOUBLINGS: i32 = 17;

    /// Returns true if a value is more than 2^17 times the first value (`MOST_DOUBLINGS`). The
    /// search does not try such a value, even if it is not above [`CapacityOrder::highest`].
    pub fn is_far_above_first(&self, value: f64) -> bool {
        (value / self.first).log2() > f64::from(CapacityOrder::MOST_DOUBLINGS)
    }

    /// Returns the share of the budget that is reserved for the confirmation.
    pub fn confirmation_share(&self) -> f64 {
        let [least, most] = CapacityOrder::CONFIRMATION_SHARES;
        let attempt = self.cost(self.trial).as_secs_f64() * f64::from(self.confirmations);
        (CapacityOrder::ATTEMPTS * attempt / self.budget.as_secs_f64()).clamp(least, most)
    }

    /// Returns true if a condition limits the failures of this job or part.
    pub(super) fn limits_failures(&self, job: &str) -> bool {
        self.limited_failures().any(|name| name == job)
    }

    /// Returns true if a condition limits the failures of the varied job, or of a part of it. Fewer
    /// answers than offered requests are then not an overload.
    pub(super) fn limits_failures_of_varied(&self) -> bool {
        self.limited_failures().any(|name| is_job_or_part(name, self.vary.job()))
    }

    /// Returns the names of the jobs and parts whose failures a condition limits.
    fn limited_failures(&self) -> impl Iterator<Item = &str> {
        let limiting = self.conditions.iter().filter(|it| it.slo.metric == Metric::Failed);
        limiting.map(|it| it.job.as_str())
    }

    /// Returns the time that a trial with this window takes, including its warm-up and drain.
    pub fn cost(&self, window: Nanos) -> Nanos {
        self.warmup + window + self.drain
    }
}

impl OrderError {
    /// Returns the keys of a file's `[capacity]` that may be at fault; a message is about the first
    /// one that the file sets.
    pub fn keys(&self) -> &'static [&'static str] {
        match self {
            OrderError::NoCondition => &["slo"],
            OrderError::First { .. } => &["first"],
            OrderError::FirstAboveHighest { .. } => &["first", "highest"],
            OrderError::Confirmations { .. } => &[],
            OrderError::BudgetTooShort { .. } => &["budget", "trial"],
        }
    }

    /// Returns the change to the file that makes the search possible.
    pub fn remedy(&self) -> &'static str {
        match self {
            OrderError::NoCondition => "write an `slo`, such as `slo = p99(JOB) < 30ms`",
            OrderError::First { .. } => "write a `first` above 0, and a whole number of clients",
            OrderError::FirstAboveHighest { .. } => "write a smaller `first` or a larger `highest`",
            OrderError::Confirmations { .. } => "write more confirmations",
            OrderError::BudgetTooShort { .. } => "write a larger `budget` or a shorter `trial`",
        }
    }
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::NoCondition => f.write_str("a capacity search has no condition"),
            OrderError::First { value } => {
                write!(f, "the first value of the search is {value}; expected a number above 0")
            }
            OrderError::FirstAboveHighest { first, highest } => {
                write!(f, "the first value {first} is above the largest value {highest}")
            }
            OrderError::Confirmations { confirmations } => {
                let fewest = CapacityOrder::FEWEST_CONFIRMATIONS;
                write!(f, "{confirmations} confirmations are too few; expected {fewest} or more")
            }
            OrderError::BudgetTooShort { budget, needed } => {
                let [budget, needed] = [budget, needed].map(|time| time.as_secs_f64().ceil());
                write!(
                    f,
                    "a budget of {budget} s is too short; the search takes {needed} s or more"
                )
            }
        }
    }
}

impl std::error::Error for OrderError {}

#[cfg(test)]
mod tests {
    use super::super::synthetic::order;
    use super::*;

    #[test]
    fn short_budget_keeps_time_for_two_attempts_but_at_most_two_fifths() {
        let share = |budget_s, trial_s| {
            let [budget, trial] = [budget_s, trial_s].map(Nanos::from_secs);
            let [warmup, drain] = [Nanos::from_secs(1); 2];
            CapacityOrder { budget, trial, warmup, drain, confirmations: 6, ..order() }
                .confirmation_share()
        };
        // Twelve trials of six seconds are 72 s.
        assert_eq!(share(240, 4), 0.3);
        assert_eq!(share(1_500, 4), 0.25);
        assert_eq!(share(60, 4), 0.4);
    }
}
