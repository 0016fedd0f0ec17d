//! Facts that differ between two groups of runs.

use analyze::compare::ArmId;

use super::ComparedRun;
use crate::experiment::{UndeclaredDifference, between_groups};

/// Returns the facts about program, target, machine, network and servers that differ between all
/// runs of a group and all runs of its baseline, except facts because of which the comparison is
/// refused anyway. `arm` is the group.
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
    let mut found = between_groups(arm, &before, &after);
    found.retain(|one| !own.iter().any(|run| is_refused(run, &one.name)));
    found
}

/// Returns true for a fact because of which a comparison is refused if it differs.
fn is_refused(run: &ComparedRun, name: &str) -> bool {
    let conditions = &run.conditions;
    let mut facts = conditions.durability.iter().chain(&conditions.environment);
    facts.any(|(known, _)| known == name)
}
