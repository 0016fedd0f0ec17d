//! The findings of checks.

use super::surroundings::Surroundings;

/// A problem that would spoil a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// The problem.
    pub found: String,
    /// Reason why it matters.
    pub reason: String,
    /// Command that fixes it, or advice.
    pub remedy: String,
}

/// A check that was not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPossible {
    /// Name of the check.
    pub check: &'static str,
    /// Reason why it was not possible.
    pub reason: String,
}

/// Result of all checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// Problems that would spoil a run.
    pub findings: Vec<Finding>,
    /// Checks that were not possible.
    pub not_possible: Vec<NotPossible>,
    /// Checks that passed.
    pub passed: Vec<&'static str>,
}

/// Result of a check.
pub(super) enum Outcome {
    Fine,
    Found {
        found: String,
        reason: String,
        remedy: String,
    },
    NotPossible(String),
    /// The check does not apply.
    NotAsked,
}

impl Outcome {
    pub(super) fn not_possible(reason: impl Into<String>) -> Outcome {
        Outcome::NotPossible(reason.into())
    }
}

/// A check with its name.
pub(super) type Check<T> = (&'static str, fn(&Surroundings, &T) -> Outcome);

impl Diagnosis {
    pub(super) fn add(&mut self, check: &'static str, outcome: Outcome) {
        match outcome {
            Outcome::Fine => self.passed.push(check),
            Outcome::Found { found, reason, remedy } => {
                self.findings.push(Finding { check, found, reason, remedy });
            }
            Outcome::NotPossible(reason) => self.not_possible.push(NotPossible { check, reason }),
            Outcome::NotAsked => {}
        }
    }
}
