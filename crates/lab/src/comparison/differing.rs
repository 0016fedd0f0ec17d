//! Facts that differ between two groups of runs.

use std::collections::BTreeSet;

use observe::environment::{Kind, differences};

use super::ComparedRun;

/// A fact that has one value in all runs of a group, and another in those of the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingFact {
    /// Its name.
    pub name: String,
    /// Values in the baseline and in the group.
    pub values: [String; 2],
}

/// Returns the facts about program, target, machine, network and servers that differ between two
/// groups, by [the rules](observe::environment::RULES) about facts that need not be equal. Those
/// that change within a group are left out, and so are those by which runs are refused.
pub fn differing_facts(baseline: &[&ComparedRun], own: &[&ComparedRun]) -> Vec<DifferingFact> {
    let facts = |runs: &[&ComparedRun]| {
        let of_run = |run: &ComparedRun| [run.made_by.clone(), run.figures.facts.clone()].concat();
        constant(&runs.iter().map(|run| of_run(run)).collect::<Vec<_>>())
    };
    let (before, after) = (facts(baseline), facts(own));
    let conditions = |run: &&ComparedRun| {
        let of = &run.conditions;
        [of.durability.clone(), of.environment.clone()].concat()
    };
    let refused: BTreeSet<String> =
        own.first().into_iter().flat_map(conditions).map(|(name, _)| name).collect();
    let made = own.first().map(|run| run.made_by.clone()).unwrap_or_default();
    let of_program = made.iter().filter_map(|(name, _)| {
        let value = |facts: &[(String, String)]| {
            facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let values = [value(&before)?, value(&after)?];
        (values[0] != values[1]).then(|| DifferingFact { name: name.clone(), values })
    });
    let differs = differences(&before, &after)
        .into_iter()
        .filter(|one| one.kind == Kind::Differs && !refused.contains(&one.name))
        .map(|one| DifferingFact { name: one.name, values: [one.a, one.b] });
    of_program.chain(differs).collect()
}

/// Returns the facts that are the same in all runs.
fn constant(runs: &[Vec<(String, String)>]) -> Vec<(String, String)> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let is_constant = |fact: &&(String, String)| others.iter().all(|run| run.contains(fact));
    first.iter().filter(is_constant).cloned().collect()
}
