//! The results of an experiment, read from its record.

use std::path::Path;

use analyze::compare::{
    ArmSlo, ArmValidity, Comparison, CountedRun, Design, JudgedRun, Look, MachineChange,
    RunFigures, compare, machine_changes, slos_of, validity_of,
};
use archive::{Archive, ExperimentContent, RunRow, RunState};
use record::environment::CANARY;

use super::consistency::{self, ArmPlans};
use super::error::ExperimentError;
use super::recorded::looks_of;
use super::warm_up::{figures_of_round, is_same_round};

/// A setting that has one value in all runs of an arm, and another in those of the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSetting {
    /// Its name.
    pub name: String,
    /// Index of the arm.
    pub arm: usize,
    /// Values in the runs of the baseline and of the arm.
    pub values: [String; 2],
}

/// The results of an experiment.
#[derive(Debug)]
pub struct ExperimentResults {
    /// The looks that were taken.
    pub looks: Vec<Look>,
    /// The runs with their figures, in the order in which they were made.
    pub runs: Vec<RecordedRun>,
    /// The comparison; `None` before the first look.
    pub comparison: Option<Comparison>,
    /// Changes of the machine during the experiment.
    pub machine: Vec<MachineChange>,
    /// The validity of each arm.
    pub validity: Vec<ArmValidity>,
    /// The SLOs of each arm.
    pub slos: Vec<Vec<ArmSlo>>,
}

/// Beginnings of the names of facts that change from moment to moment.
const MOMENTARY: [&str; 4] = ["host.load.", "host.memory.available", "database.size_", CANARY];

/// A run of an experiment with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    /// Its place in the experiment.
    pub row: RunRow,
    /// Index of its arm in the comparison.
    pub arm: usize,
    /// Its figures.
    pub figures: RunFigures,
}

/// Reads the results of an experiment; `names` are the arms of the comparison.
///
/// # Errors
/// The record is not that of an experiment, or is damaged.
pub fn read_results(
    path: &Path,
    design: &Design,
    names: &[String],
) -> Result<ExperimentResults, ExperimentError> {
    let content = ExperimentContent::read(path)?;
    consistency::check(path, &content, design, names)?;
    let (mut runs, mut plans) = (Vec::new(), ArmPlans::default());
    for round in content.runs.chunk_by(is_same_round) {
        let rows: Vec<&RunRow> = round.iter().collect();
        for (row, figures) in rows.iter().zip(figures_of_round(path, &rows)?) {
            let Some(arm) = names.iter().position(|name| *name == row.arm) else { continue };
            plans.check(path, arm, row.run, &Archive::open_run(path, row.run)?.header().plan)?;
            runs.push(RecordedRun { row: RunRow::clone(row), arm, figures });
        }
    }
    let counts = |run: &&RecordedRun| run.row.state == RunState::Counts;
    let counted: Vec<CountedRun<'_>> = runs
        .iter()
        .filter(counts)
        .map(|run| {
            let RunRow { round, position, .. } = run.row;
            CountedRun { round, arm: run.arm, position, figures: &run.figures }
        })
        .collect();
    let looks = looks_of(&content);
    let pairs = looks.iter().map(|look| look.pairs).max();
    let comparison = pairs.map(|pairs| compare(design, &counted, pairs));
    let machine = comparison.as_ref().map(|known| machine_changes(design, &counted, known));
    let is_judged = |run: &&RecordedRun| run.row.state != RunState::Abandoned;
    let judged: Vec<JudgedRun> = runs.iter().filter(is_judged).map(judged).collect();
    let validity = (0..names.len()).map(|arm| validity_of(arm, &judged)).collect();
    let of_arm = |arm: usize| {
        let runs = runs.iter().filter(counts).filter(|run| run.arm == arm);
        slos_of(runs.map(|run| run.figures.slos.as_slice()))
    };
    let slos = (0..names.len()).map(of_arm).collect();
    let machine = machine.unwrap_or_default();
    Ok(ExperimentResults { looks, comparison, machine, validity, slos, runs })
}

impl ExperimentResults {
    /// Returns the settings that differ between an arm and a baseline, by their runs that count.
    pub fn changed_settings(&self, baseline: usize, arm: usize) -> Vec<ChangedSetting> {
        let [before, own] = [baseline, arm].map(|arm| self.constant_settings(arm));
        let changed = own.iter().filter_map(|(name, value)| {
            let (_, before) = before.iter().find(|(known, _)| known == name)?;
            let values = [before.clone(), value.clone()];
            (before != value).then(|| ChangedSetting { name: name.clone(), arm, values })
        });
        changed.collect()
    }

    /// Returns the settings that are the same in all runs of an arm.
    fn constant_settings(&self, arm: usize) -> Vec<(String, String)> {
        let counts = |run: &&RecordedRun| run.arm == arm && run.row.state == RunState::Counts;
        let runs: Vec<&RecordedRun> = self.runs.iter().filter(counts).collect();
        let Some((first, others)) = runs.split_first() else { return Vec::new() };
        let is_constant = |fact: &&(String, String)| {
            let is_momentary = MOMENTARY.iter().any(|prefix| fact.0.starts_with(prefix));
            !is_momentary && others.iter().all(|run| run.figures.facts.contains(fact))
        };
        first.figures.facts.iter().filter(is_constant).cloned().collect()
    }
}

fn judged(run: &RecordedRun) -> JudgedRun {
    JudgedRun {
        round: run.row.round,
        arm: run.arm,
        counts: run.row.state == RunState::Counts,
        verdict: run.figures.verdict.clone(),
    }
}
