//! The view of a comparison between recorded groups of runs.

use analyze::Status;
use analyze::compare::{
    ArmComparison, ArmId, Comparison, Conclusion, JudgedLimit, MachineChange, MetricChange,
    Objection, RegressionOutcome, RepetitionOutcome, SampleSize,
};

use super::evidence::verdict_of_runs;
use super::lines;
use super::repetition::{RepeatedMetric, RepetitionView};
use super::view::{ArmView, DifferenceView, declared_changes_of, machine_status};
use crate::figure::Figure;
use crate::number::count;

/// A comparison of recorded groups of runs.
#[derive(Clone, Debug)]
pub struct ComparisonView {
    /// True if the compared arms belong to an experiment whose arms may change several things.
    pub has_several_differences: bool,
    /// The groups.
    pub groups: Vec<ArmView>,
    /// The baseline of each group; for a baseline, the group itself.
    pub baselines: Vec<ArmId>,
    /// Reasons not to compare the groups.
    pub objections: Vec<ObjectionView>,
    /// The comparison; `None` if it was refused.
    pub comparison: Option<Comparison>,
    /// Repetitions of the first experiment: the record of each, and the comparison of its changes
    /// with the changes in the first experiment.
    pub repetitions: Vec<(String, RepetitionView)>,
    /// Limits for the regression of metrics, with their outcomes.
    pub limits: Vec<JudgedLimit>,
    /// Changes of the machine between arms of one experiment.
    pub machine: Vec<MachineView>,
    /// Undeclared differences between arms of one experiment, and between rounds of an arm.
    pub undeclared: Vec<DifferenceView>,
    /// Facts that differ between groups whose runs were not interleaved, or between arms of one
    /// experiment if a declared difference may explain why the fact differs.
    pub differences: Vec<DifferenceView>,
    /// Figures that overlay two single runs; empty for other groups.
    pub overlay: Vec<Figure>,
}

/// A change of the machine between an arm and a baseline of the same experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineView {
    /// The baseline.
    pub baseline: ArmId,
    /// The change.
    pub change: MachineChange,
}

/// A reason not to compare groups.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectionView {
    /// The objection.
    pub objection: Objection,
    /// True if the user accepts it.
    pub is_accepted: bool,
}

impl ComparisonView {
    /// Returns true if a reason not to compare was not accepted.
    pub fn is_refused(&self) -> bool {
        self.objections.iter().any(|one| !one.is_accepted)
    }

    /// Returns true if a group has a single run: without scatter there is no conclusion.
    pub fn is_without_conclusion(&self) -> bool {
        let arms = self.comparison.iter().flat_map(|comparison| &comparison.arms);
        let mut changes = arms.flat_map(|arm| &arm.changes);
        changes.any(|change| {
            let compared = change.compared.as_ref();
            compared.is_ok_and(|compared| compared.conclusion == Conclusion::SingleRun)
        })
    }

    /// Returns true if a declared metric, a metric with a limit for its regression, or a metric of
    /// a repetition could not be compared.
    pub fn lacks_metric(&self) -> bool {
        let lacks_change = self.declared_changes().any(|(_, change)| change.compared.is_err());
        let repeated = self.repetitions.iter().flat_map(|(_, repetition)| &repetition.metrics);
        let lacks_limit = self.limits.iter().any(|one| one.outcome.is_err());
        lacks_change || lacks_limit || repeated.into_iter().any(RepeatedMetric::is_missing)
    }

    /// Returns true if a limit for regressions was exceeded, or if a repetition contradicts the
    /// first answer.
    pub fn misses_condition(&self) -> bool {
        let exceeded = Ok(RegressionOutcome::Exceeded);
        let contradicts = RepetitionOutcome::Contradicts;
        self.limits.iter().any(|one| one.outcome == exceeded)
            || self.repetitions.iter().any(|(_, one)| one.outcome() == contradicts)
    }

    /// Returns the declared metrics, with their groups.
    pub(super) fn declared_changes(&self) -> impl Iterator<Item = (&ArmComparison, &MetricChange)> {
        self.comparison.iter().flat_map(declared_changes_of)
    }

    /// Returns true if runs were compared that were not interleaved.
    pub fn is_unpaired(&self) -> bool {
        self.arms().any(|arm| matches!(arm.size, SampleSize::Groups(_)))
    }

    /// Returns true if arms of one experiment are compared in pairs, or if there is an undeclared
    /// difference or a change of the machine.
    pub(super) fn has_arms(&self) -> bool {
        let are_paired = self.arms().any(|arm| matches!(arm.size, SampleSize::Pairs(_)));
        are_paired || !self.undeclared.is_empty() || !self.machine.is_empty()
    }

    /// Returns the comparisons of groups with their baselines.
    pub fn arms(&self) -> impl Iterator<Item = &ArmComparison> {
        self.comparison.iter().flat_map(|comparison| &comparison.arms)
    }

    /// Returns the verdict on the comparison.
    ///
    /// It is INVALID if the comparison was refused or has no conclusion. It is SUSPECT if a run is
    /// SUSPECT, an objection was accepted, the runs of an experiment differ in more than was
    /// declared, or a change of the machine may explain the change of an arm.
    pub fn verdict(&self) -> Status {
        if self.is_refused() || self.is_without_conclusion() {
            return Status::Invalid;
        }
        let differs = !self.objections.is_empty() || !self.undeclared.is_empty();
        match self.has_suspect_runs() || differs {
            true => Status::Suspect,
            false => self.machine_status(),
        }
    }

    /// Returns true if a run of a group is SUSPECT.
    pub(super) fn has_suspect_runs(&self) -> bool {
        self.groups.iter().any(|group| !group.validity.suspect.is_empty())
    }

    /// Returns the word of the verdict. If SUSPECT runs are the reason for it, their number
    /// follows: `SUSPECT, 3 of 12 runs`.
    pub(super) fn verdict_in_words(&self) -> String {
        let verdict = self.verdict();
        let of_group = |group: &ArmView| group.validity.suspect.len();
        let suspect = match verdict {
            Status::Suspect => self.groups.iter().map(of_group).sum(),
            Status::Invalid | Status::Pass | Status::NotPossible => 0,
        };
        verdict_of_runs(verdict, suspect, &self.number_of_runs())
    }

    /// Returns the number of runs of all groups: `12 runs`.
    pub(super) fn number_of_runs(&self) -> String {
        count(self.groups.iter().map(|group| u64::from(group.validity.runs)).sum(), "run")
    }

    /// Returns SUSPECT if a change of the machine may explain the change of an arm, and otherwise
    /// the status of a check that passes.
    pub(super) fn machine_status(&self) -> Status {
        machine_status(self.machine.iter().map(|one| &one.change))
    }

    /// Returns the sentences about the machine.
    pub(super) fn machine_lines(&self) -> Vec<String> {
        let line =
            |one: &MachineView| lines::machine_change(&self.groups, one.baseline, &one.change);
        self.machine.iter().map(line).collect()
    }
}
