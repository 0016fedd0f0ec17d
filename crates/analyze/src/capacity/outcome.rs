//! Outcome of a trial.

/// Outcome of a trial, or of several trials at one value.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    /// All conditions that limit the load hold, by more than chance explains. A lower bound that a
    /// larger load may reach is not judged.
    Pass,
    /// A condition is violated by more than chance explains, or there is another [`FailReason`].
    Fail(FailReason),
    /// The distance of a condition's measure from its bound may be due to chance. Such a trial
    /// changes neither end of the bracket.
    Undecided {
        /// Position of the condition with the largest distance: the closest one to being violated.
        condition: usize,
        /// Distance of the condition's measure from the bound, in standard errors; negative on the
        /// side on which the condition holds.
        distance: f64,
    },
    /// The trial says nothing about the database.
    Invalid(InvalidReason),
}

/// Reason why a trial failed.
#[derive(Clone, Debug, PartialEq)]
pub enum FailReason {
    /// A condition does not hold.
    Condition {
        /// Position of the condition.
        condition: usize,
        /// Ratio of the condition's measure to the allowed value.
        ratio: f64,
    },
    /// A condition's metric was not measured.
    Missing {
        /// Position of the condition.
        condition: usize,
    },
    /// The load of a job exceeded the capacity, as a growing backlog shows: response times are
    /// withheld.
    Backlog,
    /// Fewer requests were answered than offered.
    Achieved {
        /// Fraction of the offered requests that were answered.
        share: f64,
    },
    /// Requests failed, and no condition limits the failures of their jobs.
    Errors {
        /// Number of failed requests.
        errors: u64,
    },
    /// A queue was full.
    QueueFull {
        /// Number of rejected requests.
        rejected: u64,
    },
    /// The server accepted fewer connections than there are clients; the others sent nothing.
    Connections {
        /// Number of clients with a connection.
        connections: u64,
    },
}

/// Reason why a trial is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidReason {
    /// Checks of the generator or its machine failed.
    Instrument {
        /// Names of the checks.
        checks: Vec<String>,
    },
}

impl TrialOutcome {
    /// Returns the name of this outcome in records and documents.
    pub fn name(&self) -> &'static str {
        match self {
            TrialOutcome::Pass => "pass",
            TrialOutcome::Fail(_) => "fail",
            TrialOutcome::Undecided { .. } => "undecided",
            TrialOutcome::Invalid(_) => "invalid",
        }
    }
}

impl FailReason {
    /// Returns the name of this reason in records and documents.
    pub fn name(&self) -> &'static str {
        match self {
            FailReason::Condition { .. } => "condition",
            FailReason::Missing { .. } => "missing",
            FailReason::Backlog => "backlog",
            FailReason::Achieved { .. } => "achieved",
            FailReason::Errors { .. } => "errors",
            FailReason::QueueFull { .. } => "queue-full",
            FailReason::Connections { .. } => "connections",
        }
    }

    /// Returns the position of the condition that does not hold or was not measured; `None` if the
    /// trial failed for another reason.
    pub fn condition(&self) -> Option<usize> {
        match self {
            FailReason::Condition { condition, .. } | FailReason::Missing { condition } => {
                Some(*condition)
            }
            FailReason::Backlog
            | FailReason::Achieved { .. }
            | FailReason::Errors { .. }
            | FailReason::QueueFull { .. }
            | FailReason::Connections { .. } => None,
        }
    }
}
