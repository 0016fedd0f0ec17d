//! Result of a capacity search.

use base::Nanos;

use super::outcome::TrialOutcome;
use super::trial::{LoadLimit, Phase};

/// The next step of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A trial to run.
    Run(TrialRequest),
    /// The result; no further trial is needed.
    Done(Box<Capacity>),
}

/// A trial to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialRequest {
    /// Value of the varied key: requests per second, or clients.
    pub value: f64,
    /// Phase of the search.
    pub phase: Phase,
    /// Minimum time from the start of the trial to the window.
    pub warmup: Nanos,
    /// Length of the window.
    pub window: Nanos,
    /// Number of the trial, from 0. It determines the seed, so every trial has a different one.
    pub number: usize,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// Texts of the conditions, joined by `, `.
    pub slo: String,
    /// Largest value that was confirmed; `None` if none was.
    pub sustained: Option<f64>,
    /// Smallest value above `sustained` that failed; `None` if none did. Failed values below
    /// `interval` are passed over if a value within or above it failed too.
    pub fails: Option<f64>,
    /// Value at which the binding condition reaches its bound; `None` if the search located no
    /// boundary, or if the confirmation contradicts it.
    pub estimate: Option<f64>,
    /// Interval of the estimate: the 95 % interval of the regression or, without a regression, the
    /// range from a value that passes to one that fails. `None` without an estimate.
    pub interval: Option<Interval>,
    /// Growth of the logarithm of the binding condition's measure per unit of the logarithm of the
    /// value, at the estimate; `None` if the estimate does not come from the regression, as at a
    /// cliff.
    pub slope: Option<f64>,
    /// Number of trials that confirmed `sustained`.
    pub confirmations: u32,
    /// Position of the condition that limits the value; `None` if the load itself failed, or
    /// nothing failed.
    pub binding: Option<usize>,
    /// Class of the boundary.
    pub boundary: Boundary,
    /// Irregularities, the gravest first; empty for a regular result.
    pub irregular: Vec<Irregular>,
    /// Outcome of every trial, in the order in which they ran.
    pub trials: Vec<JudgedTrial>,
    /// Estimate by the isotonic fit, for comparison with the estimate of the regression; `None` if
    /// it has no crossing.
    pub isotonic: Option<f64>,
    /// Time that all trials took.
    pub took: Nanos,
}

/// An interval of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A trial and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTrial {
    /// Value of the varied key.
    pub value: f64,
    /// Phase of the search.
    pub phase: Phase,
    /// Outcome of this trial alone.
    pub outcome: TrialOutcome,
}

/// The way in which the conditions stop holding as the value grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Gradually.
    Smooth,
    /// Abruptly, between two neighbouring values.
    Cliff,
    /// A larger value passes while a smaller one fails.
    NonMonotone,
    /// Unknown: no value failed, or all of them did, or the search ended too early.
    NotReached,
}

/// An irregularity of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Irregular {
    /// The generator cannot produce the load: trials were invalid, or all values up to half of the
    /// generator's ceiling pass.
    GeneratorLimited {
        /// Value that the generator cannot produce.
        value: f64,
    },
    /// No value up to this one fails.
    NeverFails {
        /// Largest value that was tried.
        highest: f64,
    },
    /// Values down to this one fail, and no smaller one that was tried is better.
    AlwaysFails {
        /// Smallest value that fails.
        lowest: f64,
    },
    /// A trial that was not overloaded has no measure for the condition.
    NotMeasured {
        /// Position of the condition.
        condition: usize,
    },
    /// A larger value passes while a smaller one fails.
    LossInversion {
        /// Smaller value, which fails.
        fails: f64,
        /// Larger value, which passes.
        passes: f64,
    },
    /// A rate fails although a larger one passes, and an overload that sustains itself may be the
    /// reason.
    Metastable(Metastable),
    /// The confirmation fails at or below the boundary that the search found: the boundary moved.
    BoundaryMoved {
        /// Smallest value that fails in the confirmation.
        fails: f64,
        /// Lower end of the interval of the search.
        low: f64,
    },
    /// The trials leave a wide range for the boundary, or the confirmed value is far below it.
    NotLocated {
        /// Lower end of the range: the confirmed value, the largest value that passed, or the lower
        /// end of the interval; 0 if there is none of these.
        low: f64,
        /// Upper end of the range: the smallest value that fails, or the upper end of the interval
        /// if that is lower; the largest value that was tried if there is neither.
        high: f64,
    },
    /// The budget ended before the search did.
    BudgetSpent {
        /// Phase in which the budget ended.
        phase: Phase,
    },
    /// The load reached a limit other than the speed of the database: the result is not a capacity
    /// of the database.
    LimitedBy(LoadLimit),
    /// The regression and the isotonic fit differ by more than half of the interval's width, and by
    /// more than 1 %.
    FitsDisagree {
        /// Estimate of the regression.
        regression: f64,
        /// Estimate of the isotonic fit.
        isotonic: f64,
    },
    /// Later trials at the same values exceed the bound more often, or less often, than earlier
    /// ones.
    Drifts {
        /// Change of the capacity over the rounds, as a fraction of the capacity; negative if it
        /// fell.
        change: f64,
    },
    /// No value was confirmed.
    NotConfirmed {
        /// Smallest value that an attempt did not confirm. Attempts that the budget or the
        /// generator ended do not count.
        lowest: f64,
    },
    /// The conditions did not hold in the final trial at the confirmed value.
    HoldFailed {
        /// The confirmed value.
        value: f64,
    },
    /// Each final trial was invalid, so the value was confirmed by shorter trials alone.
    NotHeld {
        /// The confirmed value.
        value: f64,
    },
    /// A condition with a lower bound, such as `throughput > 500`, does not hold at the result.
    Unmet {
        /// Position of the condition.
        condition: usize,
    },
    /// The residuals of the regression are curved even over a narrow range of values.
    Curved,
    /// Requests exceed the bound of a condition at low loads about as often as near the boundary,
    /// as if something stalls the server: more trials would not show another boundary.
    Independent {
        /// Position of the condition.
        condition: usize,
        /// Largest value of the trials at low loads.
        value: f64,
        /// Share of the requests at low loads that exceed the bound.
        share: f64,
    },
}

/// An overload that may sustain itself: the server answers fewer requests with a backlog than
/// without one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metastable {
    /// Smallest rate at which the overload was observed, in requests per second.
    pub fails: f64,
    /// Rate that the server answered in this overload, in requests per second.
    pub answered_per_s: f64,
    /// Largest rate that passes, in requests per second.
    pub passes: f64,
    /// Number of connections that were busy in the overload; `None` if it is unknown.
    pub connections: Option<u64>,
    /// Advised largest number of connections; `None` if it is unknown.
    pub advised: Option<u64>,
}

impl Boundary {
    /// Returns the name of this class in records and documents.
    pub fn name(self) -> &'static str {
        match self {
            Boundary::Smooth => "smooth",
            Boundary::Cliff => "cliff",
            Boundary::NonMonotone => "non-monotone",
            Boundary::NotReached => "not reached",
        }
    }
}

impl Irregular {
    /// Returns the name of this irregularity in records and documents.
    pub fn name(&self) -> &'static str {
        match self {
            Irregular::GeneratorLimited { .. } => "generator-limited",
            Irregular::NeverFails { .. } => "never fails",
            Irregular::AlwaysFails { .. } => "always fails",
            Irregular::NotMeasured { .. } => "not measured",
            Irregular::LossInversion { .. } => "loss inversion",
            Irregular::Metastable(_) => "metastable failure",
            Irregular::BoundaryMoved { .. } => "boundary moved",
            Irregular::NotLocated { .. } => "boundary not located",
            Irregular::BudgetSpent { .. } => "budget spent",
            Irregular::LimitedBy(
                LoadLimit::OwnConnections(_) | LoadLimit::AcceptedConnections(_),
            ) => "limited by connections",
            Irregular::FitsDisagree { .. } => "fits disagree",
            Irregular::Drifts { change } if *change > 0.0 => "improves from trial to trial",
            Irregular::Drifts { .. } => "degrades from trial to trial",
            Irregular::NotConfirmed { .. } => "not confirmed",
            Irregular::HoldFailed { .. } => "hold failed",
            Irregular::NotHeld { .. } => "not held",
            Irregular::Unmet { .. } => "condition unmet",
            Irregular::Curved => "curved",
            Irregular::Independent { .. } => "independent of the load",
        }
    }

    /// Returns true for an irregularity that leaves the boundary or the confirmed value uncertain,
    /// and that more trials may remove.
    pub(super) fn is_without_boundary(&self) -> bool {
        matches!(
            self,
            Irregular::NotLocated { .. }
                | Irregular::BudgetSpent { .. }
                | Irregular::FitsDisagree { .. }
                | Irregular::NotConfirmed { .. }
                | Irregular::Curved
        )
    }

    /// Returns the largest value that passes although a smaller one fails, if that is the
    /// irregularity; otherwise `None`.
    pub fn passes_beyond(&self) -> Option<f64> {
        if let Irregular::LossInversion { passes, .. }
        | Irregular::Metastable(Metastable { passes, .. }) = self
        {
            Some(*passes)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_has_a_name_for_each_direction() {
        let name = |change| Irregular::Drifts { change }.name();
        assert_eq!(name(-0.1), "degrades from trial to trial");
        assert_eq!(name(0.1), "improves from trial to trial");
    }
}
