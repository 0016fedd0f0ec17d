//! Facts that differ between two groups of runs.

use analyze::compare::ArmId;

use super::ComparedRun;
use crate::experiment::{UndeclaredDifference, between_groups};

/// Returns the facts about program, target, machine, network and servers in which the runs of a
/// group differ from the runs of its baseline. `arm` identifies the group.
pub fn differing_facts(
    arm: ArmId,
    baseline: &[&ComparedRun],
    own: &[&ComparedRun],
) -> Vec<UndeclaredDifference> {
    let [before, after] = [baseline, own].map(|runs| {
        let facts = |run: &&ComparedRun| {
            [run.program_and_target.clone(), run.figures.facts.clone()].concat()
        };
        runs.iter().map(facts).collect::<Vec<_>>()
    });
    between_groups(arm, &before, &after)
}

/// Returns the facts of [`differing_facts`] that leave the runs comparable. The others are reasons
/// to refuse a comparison.
pub fn comparable_differing_facts(
    arm: ArmId,
    baseline: &[&ComparedRun],
    own: &[&ComparedRun],
) -> Vec<UndeclaredDifference> {
    let mut found = differing_facts(arm, baseline, own);
    found.retain(|one| !own.iter().any(|run| is_refused(run, &one.name)));
    found
}

/// Returns true for a fact that makes runs incomparable if it differs.
fn is_refused(run: &ComparedRun, name: &str) -> bool {
    let conditions = &run.conditions;
    let mut facts = conditions.durability.iter().chain(&conditions.environment);
    facts.any(|(known, _)| known == name)
}
