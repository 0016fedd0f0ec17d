//! The view of a comparison of recorded groups of runs.

use analyze::Status;
use analyze::compare::{ArmComparison, Comparison, Conclusion, JudgedLimit, Objection, SampleSize};

use super::repetition::RepetitionView;
use super::view::ArmView;

/// A comparison of recorded groups of runs.
#[derive(Clone, Debug)]
pub struct ComparisonView {
    /// The groups.
    pub groups: Vec<ArmView>,
    /// Reasons not to compare them.
    pub objections: Vec<ObjectionView>,
    /// The comparison; `None` if it was refused.
    pub comparison: Option<Comparison>,
    /// Executions of the first experiment again, with what became of its answer: the record, and
    /// the comparison of the changes.
    pub repetitions: Vec<(String, RepetitionView)>,
    /// Limits of regressions.
    pub limits: Vec<JudgedLimit>,
    /// Settings that differ between arms of one experiment without being declared.
    pub undeclared: Vec<SettingDifference>,
    /// Facts that differ between groups that were not interleaved.
    pub differences: Vec<SettingDifference>,
}

/// A setting that has one value in all runs of a group, and another in those of its baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingDifference {
    /// Its name.
    pub name: String,
    /// Index of the group.
    pub arm: usize,
    /// Value in the runs of the baseline.
    pub baseline: String,
    /// Value in the runs of the group.
    pub value: String,
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

    /// Returns true if a group has a single run, which has no scatter: there is no conclusion.
    pub fn is_without_conclusion(&self) -> bool {
        let arms = self.comparison.iter().flat_map(|comparison| &comparison.arms);
        let mut changes = arms.flat_map(|arm| &arm.changes);
        changes.any(|change| {
            let compared = change.compared.as_ref();
            compared.is_ok_and(|compared| compared.conclusion == Conclusion::SingleRun)
        })
    }

    /// Returns true if runs were compared that were not interleaved.
    pub fn is_unpaired(&self) -> bool {
        self.arms().any(|arm| matches!(arm.size, SampleSize::Groups(_)))
    }

    /// Returns the comparisons of groups with their baselines.
    pub fn arms(&self) -> impl Iterator<Item = &ArmComparison> {
        self.comparison.iter().flat_map(|comparison| &comparison.arms)
    }

    /// Returns the verdict: INVALID if the comparison was refused or has no conclusion; SUSPECT if
    /// a run is, an objection was accepted, or arms of an experiment differ in more than was
    /// declared.
    pub fn verdict(&self) -> Status {
        if self.is_refused() || self.is_without_conclusion() {
            return Status::Invalid;
        }
        let has_suspect = self.groups.iter().any(|group| !group.validity.suspect.is_empty());
        match has_suspect || !self.objections.is_empty() || !self.undeclared.is_empty() {
            true => Status::Suspect,
            false => Status::Pass,
        }
    }

    /// Returns the name of the baseline of a group.
    pub(super) fn baseline_of(&self, group: usize) -> &str {
        let arm = self.arms().find(|arm| arm.arm == group);
        &self.groups[arm.map_or(0, |arm| arm.baseline)].name
    }
}
