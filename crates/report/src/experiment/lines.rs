//! The lines of an experiment's answer, which text and Markdown have in common.

use std::fmt::Write as _;

use analyze::compare::{ArmComparison, ArmSlo, MachineChange, MetricChange};
use workload::question::Scale;

use super::sentence;
use super::view::{ArmView, DifferenceView, ExperimentState, ExperimentView, declared};
use crate::number::{NONE, count};

/// Returns the sentences that answer the question, or the reason why there are none.
pub(super) fn answers(view: &ExperimentView) -> Vec<String> {
    let unfinished = match view.state {
        ExperimentState::Complete => None,
        ExperimentState::Interrupted => {
            Some("the experiment was interrupted. --resume continues it".to_owned())
        }
        ExperimentState::InstrumentFailed => {
            Some("the load generator or the machine failed in too many rounds".to_owned())
        }
        ExperimentState::NotInEffect => {
            let reason = view.invalid_arm.as_deref().unwrap_or("its difference is not in effect");
            Some(format!("an arm is INVALID. {reason}"))
        }
    };
    match unfinished {
        Some(reason) => vec![format!("No answer: {reason}")],
        None => view.declared().map(|(arm, change)| view.sentence(arm, change)).collect(),
    }
}

impl ExperimentView {
    /// Returns the declared metrics of a complete experiment, with their arms.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&ArmComparison, &MetricChange)> {
        let complete = self.comparison.iter().filter(|_| self.state == ExperimentState::Complete);
        complete.flat_map(declared)
    }

    /// Returns the sentence about a metric, as a part of a document.
    pub(super) fn bare_sentence(&self, arm: &ArmComparison, change: &MetricChange) -> String {
        let [baseline, name] = [arm.baseline, arm.arm].map(|of| &self.arms[of].name);
        sentence::answer(name, baseline, change, arm.alpha)
    }

    /// Returns the sentence about a metric, with a capital letter unless it begins with a name.
    pub(super) fn sentence(&self, arm: &ArmComparison, change: &MetricChange) -> String {
        capitalized(self.bare_sentence(arm, change), &self.arms[arm.arm].name)
    }
}

/// Returns a sentence with a capital letter, unless it begins with this name.
pub(super) fn capitalized(text: String, name: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if !text.starts_with(name) => first.to_uppercase().chain(characters).collect(),
        _ => text,
    }
}

/// Returns the differences of an arm: `option.tls = require`.
pub(super) fn differences(arm: &ArmView) -> String {
    let differences: Vec<String> =
        arm.differences.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    match differences.is_empty() {
        true => "the workload as it is".to_owned(),
        false => differences.join("; "),
    }
}

/// Returns the numbers of runs of an arm, with the checks that object.
pub(super) fn counts(arm: &ArmView) -> String {
    let validity = &arm.validity;
    let mut text = count(validity.runs.into(), "run");
    for (word, runs) in [("INVALID", &validity.invalid), ("SUSPECT", &validity.suspect)] {
        let mut checks: Vec<&str> =
            runs.iter().flat_map(|(_, checks)| checks.iter().map(|check| check.name())).collect();
        checks.sort_unstable();
        checks.dedup();
        if !runs.is_empty() {
            let _ = write!(text, ", {} {word} ({})", runs.len(), checks.join(", "));
            if runs.len() < validity.runs as usize {
                let _ = write!(text, " in {}", rounds(runs.iter().map(|(round, _)| *round)));
            }
        }
    }
    if validity.repeated > 0 {
        let _ = write!(text, ", {} repeated", validity.repeated);
    }
    text
}

/// Most rounds that are named.
const MOST_ROUNDS: usize = 8;

/// Names rounds, from 0: `round 3`, `rounds 1, 3, 4`.
fn rounds(rounds: impl Iterator<Item = u32>) -> String {
    let all: Vec<String> = rounds.map(|round| (round + 1).to_string()).collect();
    let named = all[..all.len().min(MOST_ROUNDS)].join(", ");
    match all.len() {
        1 => format!("round {named}"),
        2..=MOST_ROUNDS => format!("rounds {named}"),
        more => format!("rounds {named} and {} more", more - MOST_ROUNDS),
    }
}

/// Returns the sentence about a difference that is not declared.
pub(super) fn undeclared(arms: &[ArmView], one: &DifferenceView) -> String {
    let DifferenceView { kind, name, .. } = one;
    let what = if kind == name { String::new() } else { format!("{kind}, ") };
    format!("undeclared difference: {what}{}", difference(arms, one))
}

/// Returns a difference with both of its values.
pub(super) fn difference(arms: &[ArmView], one: &DifferenceView) -> String {
    let DifferenceView { name, baseline, arm, rounds, values: [first, second], .. } = one;
    let own = &arms[*arm].name;
    let [here, there] = match rounds {
        None => [arms[*baseline].name.clone(), own.clone()],
        Some(rounds) => rounds.map(|round| format!("round {} of {own}", round + 1)),
    };
    format!("{name} is `{first}` in {here}, `{second}` in {there}")
}

/// Returns what the canaries say about the machine.
pub(super) fn machine(view: &ExperimentView) -> Vec<String> {
    view.machine.iter().map(|one| machine_change(&view.arms, 0, one)).collect()
}

/// Returns the sentence about a change of the machine: `the machine was 8.1 % slower before the
/// runs of tls than before those of plain (99 % CI …): …`.
pub(super) fn machine_change(arms: &[ArmView], baseline: usize, change: &MachineChange) -> String {
    let speed = |change: f64| {
        let word = if change > 0.0 { "slower" } else { "faster" };
        format!("{} {word}", sentence::percent(change.abs(), Scale::Ratio))
    };
    match change {
        MachineChange::BetweenArms { arm, change, interval, is_decisive } => {
            let (name, baseline) = (&arms[*arm].name, &arms[baseline].name);
            let so = match is_decisive {
                true => "the change of the arm may be that of the machine",
                false => "much less than the change of the arm",
            };
            format!(
                "the machine was {} before the runs of {name} than before those of {baseline} \
                 (CI {}): {so}",
                speed(*change),
                sentence::range(*interval, Scale::Ratio)
            )
        }
        MachineChange::Drift { change } => format!(
            "the machine became {} during the experiment, before the runs of every arm",
            speed(*change)
        ),
    }
}

/// Returns the bets on an arm with their outcomes.
pub(super) fn bets(arm: &ArmComparison) -> impl Iterator<Item = String> + '_ {
    arm.changes.iter().flat_map(|change| {
        change.bets.iter().map(move |(bet, outcome)| sentence::bet(bet, *outcome, change))
    })
}

/// Returns the SLOs of all arms with their outcomes.
pub(super) fn slos(view: &ExperimentView) -> Vec<String> {
    let of_arm = |arm: &ArmView| {
        let name = arm.name.clone();
        arm.slos.clone().into_iter().map(move |slo| {
            let (job, text) = (&slo.job, &slo.text);
            format!("{name}: {job} {text}: {}", slo_outcome(&slo))
        })
    };
    view.arms.iter().flat_map(of_arm).collect()
}

/// Returns the outcome of an SLO over the runs of an arm.
pub(super) fn slo_outcome(slo: &ArmSlo) -> String {
    match slo.missed {
        0 => format!("met in {} of {}", slo.runs, count(slo.runs.into(), "run")),
        missed => format!("missed in {missed} of {}", count(slo.runs.into(), "run")),
    }
}

/// Returns the limiters of the baseline and of an arm.
pub(super) fn limiters(arms: &[ArmView], arm: &ArmComparison) -> String {
    let [baseline, own] = arm.limiters.map(|component| component.name());
    let (first, name) = (&arms[arm.baseline].name, &arms[arm.arm].name);
    format!("{first}: {baseline}; {name}: {own}")
}

/// Warning about arms with different limiters.
pub(super) const DIFFERENT_LIMITERS: &str =
    "The arms have different limiters: the change is not the cost of one thing";

/// Warning about arms that may change several things.
pub(super) const SEVERAL_DIFFERENCES: &str =
    "The arms may differ in several things: the cause of a change is unknown";

/// Note on the metrics that are marked with a star.
pub(super) const EXPLORATORY: &str = "exploratory: not declared before; no claim follows from it";

/// Returns the cells of a metric: its name, both values, change, interval and conclusion.
pub(super) fn row(change: &MetricChange) -> [String; 6] {
    let mark = if change.is_exploratory { " *" } else { "" };
    let metric = format!("{}{mark}", change.metric);
    let scale = change.metric.quantity.scale();
    match &change.compared {
        Ok(compared) => {
            let [baseline, own] = sentence::values(compared, change.metric.quantity.unit());
            let interval = compared.interval.map(|interval| sentence::range(interval, scale));
            let conclusion = match change.is_exploratory {
                true => String::new(),
                false => compared.conclusion.name().to_owned(),
            };
            let size = sentence::signed(compared.change, scale);
            [metric, baseline, own, size, interval.unwrap_or_default(), conclusion]
        }
        Err(reason) => {
            let none = NONE.to_owned();
            let why = sentence::not_compared(*reason);
            [metric, none.clone(), none, String::new(), String::new(), why]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_is_no_plural() {
        let slo = |runs, missed| {
            slo_outcome(&ArmSlo { job: "a".into(), text: "p99 < 5ms".into(), runs, missed })
        };
        assert_eq!(slo(1, 0), "met in 1 of 1 run");
        assert_eq!(slo(8, 1), "missed in 1 of 8 runs");
    }
}
