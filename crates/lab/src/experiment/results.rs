//! The results of an experiment, read from its record.

use std::path::Path;

use analyze::Status;
use analyze::compare::{
    ArmComparison, ArmId, ArmSlo, ArmValidity, Comparison, CountedRun, Design, JudgedRun, Look,
    MachineChange, MetricChange, NotCompared, RunFigures, compare, machine_changes, slos_of,
    validity_of,
};
use archive::{ExperimentContent, Phase, RecordError, RunRow, RunState};
use workload::question::{ArmPointOutline, Outline};

use super::consistency::{self, ArmPointPlans};
use super::counting;
use super::differences::{self, DifferenceKind, RunFacts, UndeclaredDifference};
use super::effect::{self, ArmEffect};
use super::recorded::looks_of;
use super::warm_up::{figures_and_plans_of_round, is_same_round};

/// The results of an experiment.
#[derive(Debug)]
pub struct ExperimentResults {
    /// The looks that were taken.
    pub looks: Vec<Look>,
    /// The steps of a search for saturation with their figures, in the order in which they were
    /// executed. They are runs of the baseline, but are not part of its results.
    pub steps: Vec<RecordedRun>,
    /// All runs except the steps of a search for saturation, with their figures, in the order in
    /// which they were executed.
    pub runs: Vec<RecordedRun>,
    /// The comparison; `None` before the first look.
    pub comparison: Option<Comparison>,
    /// Changes of the machine's speed during the experiment.
    pub machine: Vec<MachineChange>,
    /// The validity of each arm, from the verdicts on all of its runs that were not abandoned.
    pub validity: Vec<ArmValidity>,
    /// The SLOs of each arm with their results in the runs that count.
    pub slos: Vec<Vec<ArmSlo>>,
    /// The plan of the first run of the baseline that counts, or of its first run if no run counts;
    /// `None` before the first run. The steps of a search for saturation are ignored, because their
    /// rate or concurrency differs.
    pub plan: Option<RunPlan>,
}

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Number of the run in the record.
    pub run: u32,
    /// The plan as text.
    pub text: String,
}

/// A run of an experiment with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRun {
    /// The run's row in the record.
    pub row: RunRow,
    /// The run's arm.
    pub arm: ArmId,
    /// The run's figures.
    pub figures: RunFigures,
}

/// Reads the results of an experiment.
///
/// # Errors
/// The record does not belong to an experiment, or is damaged.
pub fn read_results(
    path: &Path,
    outline: &Outline,
    design: &Design,
) -> Result<ExperimentResults, RecordError> {
    let content = ExperimentContent::read(path)?;
    consistency::check(path, &content, outline, design)?;
    let arm_points = outline.arm_points();
    let names = arms_of(&arm_points);
    let (mut steps, mut runs, mut plans) = (Vec::new(), Vec::new(), ArmPointPlans::default());
    let mut shown: Option<(RunState, RunPlan)> = None;
    for round in content.runs.chunk_by(is_same_round) {
        let rows: Vec<&RunRow> = round.iter().collect();
        let read = figures_and_plans_of_round(&rows, |run| content.open_run(run))?;
        for (row, (figures, plan)) in rows.iter().zip(read) {
            let Some(arm) = names.iter().position(|name| **name == row.arm) else { continue };
            let arm = ArmId(arm);
            let recorded = RecordedRun { row: RunRow::clone(row), arm, figures };
            if row.phase == Phase::Saturate {
                steps.push(recorded);
                continue;
            }
            // The trials of a search are meant to differ in their rate or concurrency.
            if row.phase != Phase::Capacity {
                let is_of_run = |arm_point: &ArmPointOutline| {
                    arm_point.arm == row.arm && arm_point.point == row.point
                };
                let Some(arm_point) = arm_points.iter().position(is_of_run) else { continue };
                plans.check(path, arm_point, row.run, &plan)?;
            }
            runs.push(recorded);
            let counts = row.state == RunState::Counts;
            let is_better = |(state, _): &(RunState, _)| counts && *state != RunState::Counts;
            if arm == ArmId::BASELINE && shown.as_ref().is_none_or(is_better) {
                shown = Some((row.state, RunPlan { run: row.run, text: plan }));
            }
        }
    }
    let plan = shown.map(|(_, plan)| plan);
    let counts = |run: &&RecordedRun| run.row.state == RunState::Counts;
    let counted = counted_runs(&runs);
    let looks = looks_of(&content);
    let pairs = looks.iter().map(|look| look.pairs).max();
    let mut comparison = pairs.map(|pairs| compare_arms(design, &counted, pairs, &arm_points));
    let machine = comparison.as_ref().map(|known| machine_changes(design, &counted, known));
    let is_judged = |run: &&RecordedRun| run.row.state != RunState::Abandoned;
    let judged: Vec<JudgedRun> = runs.iter().filter(is_judged).map(to_judged_run).collect();
    let arms = || (0..names.len()).map(ArmId);
    let validity = arms().map(|arm| validity_of(arm, &judged)).collect();
    let of_arm = |arm: ArmId| {
        let runs = runs.iter().filter(counts).filter(|run| run.arm == arm);
        slos_of(runs.map(|run| run.figures.slos.as_slice()))
    };
    let slos = arms().map(of_arm).collect();
    let machine = machine.unwrap_or_default();
    let all: Vec<&RecordedRun> = runs.iter().filter(counts).collect();
    comparison.iter_mut().for_each(|comparison| mark_invalid_incomparable(comparison, &all));
    Ok(ExperimentResults { looks, comparison, machine, validity, slos, steps, runs, plan })
}

impl ExperimentResults {
    /// Returns the undeclared differences between an arm and a baseline, and between the rounds of
    /// the arm. `keys` are the keys of the declared differences of both arms.
    pub fn undeclared_differences(
        &self,
        baseline: ArmId,
        arm: ArmId,
        keys: &[String],
    ) -> Vec<UndeclaredDifference> {
        self.undeclared_differences_at(None, baseline, arm, keys)
    }

    /// Returns the undeclared differences as [`undeclared_differences`] does, but only between the
    /// runs at one point of a sweep. `None` stands for the runs without a point.
    ///
    /// [`undeclared_differences`]: ExperimentResults::undeclared_differences
    pub(super) fn undeclared_differences_at(
        &self,
        point: Option<&String>,
        baseline: ArmId,
        arm: ArmId,
        keys: &[String],
    ) -> Vec<UndeclaredDifference> {
        let counts = self.runs.iter().filter(|run| run.row.state == RunState::Counts);
        let own = counts.filter(|run| run.row.point.as_ref() == point);
        let facts = own.map(|run| RunFacts {
            arm: run.arm,
            round: run.row.round,
            facts: &run.figures.facts,
        });
        differences::arm_differences(baseline, arm, &facts.collect::<Vec<_>>(), keys)
    }

    /// Returns the number of different servers, or different starts of one server, on which the
    /// steps of a search for saturation ran; `None` if no step's server is known. A search that is
    /// resumed on a private server ran on several.
    pub fn server_starts_of_steps(&self) -> Option<u32> {
        let counts = self.steps.iter().filter(|step| step.row.state == RunState::Counts);
        effect::server_starts(counts.map(|step| step.figures.facts.as_slice()))
    }

    /// Returns the effect of the differences with these keys on the runs of an arm, from the facts
    /// of the arm's first run that counts; without remarks if no run counts.
    pub fn effect(&self, arm: ArmId, keys: &[String]) -> ArmEffect {
        let mut counts = self.runs.iter().filter(|run| run.row.state == RunState::Counts);
        let first = counts.find(|run| run.arm == arm);
        first.map(|run| effect::effect_of(keys, &run.figures.facts)).unwrap_or_default()
    }

    /// Returns true if a run of each arm has reached the same database of the same server.
    pub fn shares_server(&self, baseline: ArmId, arm: ArmId) -> bool {
        let of = |wanted: ArmId| {
            let own = self.runs.iter().filter(move |run| run.arm == wanted);
            own.filter_map(|run| effect::server_id(&run.figures.facts))
        };
        of(baseline).any(|id| of(arm).any(|other| other == id))
    }

    /// Returns the change of the machine between the runs of two arms. `compared` is the comparison
    /// of the two, with their indexes in this experiment; `name` is the arm to name in the result.
    pub fn machine_between(
        &self,
        design: &Design,
        compared: &ArmComparison,
        name: ArmId,
    ) -> Option<MachineChange> {
        // The analysis compares the canaries of each arm with those of the first arm, so the
        // baseline of this comparison and the first arm are swapped.
        let swapped = |arm: ArmId| match arm {
            ArmId::BASELINE => compared.baseline,
            arm if arm == compared.baseline => ArmId::BASELINE,
            arm => arm,
        };
        let counted = counted_runs(&self.runs);
        let runs: Vec<CountedRun<'_>> =
            counted.into_iter().map(|run| CountedRun { arm: swapped(run.arm), ..run }).collect();
        let own = ArmComparison {
            baseline: ArmId::BASELINE,
            arm: swapped(compared.arm),
            ..compared.clone()
        };
        let found = machine_changes(design, &runs, &Comparison { arms: vec![own] });
        found.into_iter().find_map(|one| match one {
            MachineChange::BetweenArms { change, interval, alpha, is_decisive, .. } => {
                Some(MachineChange::BetweenArms { arm: name, change, interval, alpha, is_decisive })
            }
            MachineChange::Drift { .. } => None,
        })
    }
}

/// Marks metrics as not comparable if an undeclared difference between two arms makes the
/// comparison meaningless. `undeclared` and `comparison` use the same indexes of arms. `writes` is
/// true if the workload writes.
pub fn mark_incomparable(
    comparison: &mut Comparison,
    undeclared: &[UndeclaredDifference],
    writes: bool,
) {
    for arm in &mut comparison.arms {
        for one in undeclared.iter().filter(|one| one.arm == arm.arm) {
            let reason = match one.kind {
                DifferenceKind::Data => NotCompared::OtherData,
                _ => NotCompared::OtherDurability,
            };
            let decided = |change: &&mut MetricChange| {
                one.prevents_comparison(change.metric.quantity, writes)
            };
            arm.changes.iter_mut().filter(decided).for_each(|change| change.refuse(reason));
        }
    }
}

/// Marks the declared metrics of an arm as not comparable if runs of the arm or of its baseline are
/// INVALID: an arm that does not do the work may appear fast. Exploratory metrics are still
/// compared.
pub(super) fn mark_invalid_incomparable(comparison: &mut Comparison, runs: &[&RecordedRun]) {
    let is_invalid = |arm: ArmId| {
        let mut of_arm = runs.iter().filter(|run| run.arm == arm);
        of_arm.any(|run| run.figures.verdict.status() == Status::Invalid)
    };
    let arms = comparison.arms.iter_mut();
    let invalid = arms.filter(|it| is_invalid(it.baseline) || is_invalid(it.arm));
    let changes = invalid.flat_map(|arm| &mut arm.changes);
    let declared = changes.filter(|change| !change.is_exploratory);
    declared.for_each(|change| change.refuse(NotCompared::InvalidRuns));
}

/// Returns the name of each arm once, in order. The points of an arm must be adjacent.
fn arms_of(arm_points: &[ArmPointOutline]) -> Vec<&str> {
    let mut names: Vec<&str> = arm_points.iter().map(|arm_point| arm_point.arm.as_str()).collect();
    names.dedup();
    names
}

/// Compares the arms of an experiment. Returns an empty comparison for a sweep, whose arms are
/// compared at each point.
fn compare_arms(
    design: &Design,
    counted: &[CountedRun<'_>],
    pairs: u32,
    arm_points: &[ArmPointOutline],
) -> Comparison {
    match arm_points.iter().any(|arm_point| arm_point.point.is_some()) {
        true => Comparison { arms: Vec::new() },
        false => compare(design, counted, pairs),
    }
}

/// Returns the runs that count.
fn counted_runs(runs: &[RecordedRun]) -> Vec<CountedRun<'_>> {
    runs.iter().filter_map(|run| counting::counted_run(&run.row, run.arm, &run.figures)).collect()
}

fn to_judged_run(run: &RecordedRun) -> JudgedRun {
    JudgedRun {
        round: run.row.round,
        arm: run.arm,
        counts: run.row.state == RunState::Counts,
        verdict: run.figures.verdict.clone(),
    }
}
