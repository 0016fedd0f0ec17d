//! The outcomes of the trials of a capacity search, in words.

use analyze::capacity::TrialOutcome;
use analyze::{CheckKind, Domain};

use super::capacity::{CapacityView, TrialView};
use crate::number;

/// Meaning of an undecided outcome.
const TOO_CLOSE: &str = " (too close to the limit to tell)";

impl TrialView {
    /// Returns the name of the outcome, followed by the verdict if the trial is SUSPECT: `pass,
    /// SUSPECT`.
    pub(super) fn outcome_in_words(&self) -> String {
        let suspect = if self.doubts().is_empty() { "" } else { ", SUSPECT" };
        format!("{}{suspect}", self.outcome.name())
    }

    /// Returns the checks that make the trial SUSPECT. Backlog and errors are expected of a trial
    /// beyond the capacity, and the outcome of an invalid trial already says that it is invalid.
    pub(super) fn doubts(&self) -> Vec<CheckKind> {
        let counts = |kind: &CheckKind| match self.outcome {
            TrialOutcome::Pass | TrialOutcome::Undecided { .. } => true,
            TrialOutcome::Fail(_) => kind.judged_domain() == Domain::Instrument,
            TrialOutcome::Invalid(_) => false,
        };
        CapacityView::objections_to(self).map(|(kind, _)| kind).filter(counts).collect()
    }
}

impl CapacityView {
    /// Returns the numbers of trials by their outcomes, and the time that they took.
    pub(super) fn outcomes(&self) -> String {
        let of = |name: &str| {
            let number = self.trials.iter().filter(|it| it.outcome.name() == name).count();
            let meaning = if name == "undecided" { TOO_CLOSE } else { "" };
            (number > 0).then(|| format!("{number} {name}{meaning}"))
        };
        let outcomes: Vec<String> =
            ["pass", "fail", "undecided", "invalid"].into_iter().filter_map(of).collect();
        let took = self.trials.iter().map(|it| it.trial.took.as_secs_f64()).sum();
        let text = number::count(self.trials.len() as u64, "trial");
        match outcomes.is_empty() {
            true => text,
            false => {
                let took = number::seconds(took);
                format!("{text}: {}; {took} in all{}", outcomes.join(", "), self.starts())
            }
        }
    }

    /// Returns the number of server starts as the end of a sentence; empty for a single start.
    /// Trials on different servers may differ in more than their loads.
    fn starts(&self) -> String {
        let several = self.server_starts.filter(|starts| *starts > 1);
        several.map_or_else(String::new, |it| format!("; the trials are of {it} server starts"))
    }

    /// Returns the outcomes of the trials with the names of the objecting checks, for answers that
    /// do not list these checks line by line.
    pub(super) fn counts(&self) -> String {
        let text = self.outcomes();
        let mut checks: Vec<&str> = self.objections().map(CheckKind::name).collect();
        checks.sort_unstable();
        checks.dedup();
        match checks.is_empty() {
            true => text,
            false => {
                format!("{text}; checks that object at the confirmed value: {}", checks.join(", "))
            }
        }
    }
}
