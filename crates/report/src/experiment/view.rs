//! The view of an experiment.

use analyze::compare::{
    ArmComparison, ArmId, ArmSlo, ArmValidity, Comparison, Look, MachineChange, MetricChange,
    RunFigures,
};
use analyze::curve::ArmCurve;
use analyze::limiting::LimiterFinding;
use analyze::{Check, CheckKind, Component, Status};
use base::shell_word;
use record::{Excerpt, Note};
use workload::question::Bet;

use super::alarms::FalseAlarms;
use super::arm_facts::{ArmFacts, PlanTexts};
use super::capacity::CapacityView;
use super::load_fallbacks::LoadFallback;
use super::remarks::JobRemarks;
use super::repetition::RepetitionView;
use super::saturation::SaturationView;
use super::sweep::SweepView;
use crate::number::count;
use crate::page::ExcerptSection;
use crate::repeat::repeat_command;
use crate::words;

/// An experiment with its results.
#[derive(Clone, Debug)]
pub struct ExperimentView {
    /// The question.
    pub question: String,
    /// The name of the workload file; `None` if the experiment file contains the workload itself.
    pub workload: Option<String>,
    /// The command that ran the experiment, without the folder of its file.
    pub command: String,
    /// The same command with the path of the file as the user gave it, for use in the folder in
    /// which the experiment was started. Documents that may be passed on do not show this command.
    pub command_with_path: String,
    /// The path of the record.
    pub record: String,
    /// The label that the user gave the experiment.
    pub label: Option<String>,
    /// The state of the experiment.
    pub state: ExperimentState,
    /// True if the record has no end: the process was killed, or is still running.
    pub may_be_running: bool,
    /// The arm whose difference is not in effect, with the reason, if this ended the experiment.
    pub invalid_arm: Option<String>,
    /// True if each arm may change several things.
    pub has_several_differences: bool,
    /// The bets.
    pub bets: Vec<Bet>,
    /// The arms; the first is the baseline.
    pub arms: Vec<ArmView>,
    /// The runs, in the order in which they were made.
    pub runs: Vec<RunView>,
    /// The looks that were taken.
    pub looks: Vec<Look>,
    /// Numbers of rounds after which looks are taken; empty in a search.
    pub rounds: Vec<u32>,
    /// The comparison; `None` before the first look.
    pub comparison: Option<Comparison>,
    /// The search for the load at which the arms are compared, if there is one.
    pub saturation: Option<SaturationView>,
    /// The capacity search of an experiment that makes no comparison.
    pub capacity: Option<CapacityView>,
    /// Changes of the machine during the experiment.
    pub machine: Vec<MachineChange>,
    /// Differences between runs that no arm declares.
    pub undeclared: Vec<DifferenceView>,
    /// Differences between arms that may follow from a declared one.
    pub differences: Vec<DifferenceView>,
    /// False alarms of this machine, or of this experiment if it compares an arm with itself.
    pub false_alarms: Option<FalseAlarms>,
    /// Remarks on the jobs of the runs with the state `counts`.
    pub remarks: JobRemarks,
    /// The tables that were filled by inserts although the server has a faster method, in the runs
    /// with the state `counts`.
    pub load_fallbacks: Vec<LoadFallback>,
    /// Notes: warnings, the times at which the experiment was continued, and notes of reviewers.
    pub notes: Vec<Note>,
    /// Facts of the runs with the state `counts`.
    pub facts: ArmFacts,
    /// The plan as text.
    pub plan: PlanTexts,
    /// Excerpts of the tables of the first run, and of the statements of the run whose workload is
    /// shown.
    pub excerpts: Vec<Excerpt>,
    /// The sweep, if there is one.
    pub sweep: Option<SweepView>,
    /// The comparison with the first experiment, if this one repeats it.
    pub repetition: Option<RepetitionView>,
}

/// The state of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentState {
    /// The experiment took its last look, or its search has a result.
    Complete,
    /// The experiment was interrupted, or its process was killed.
    Interrupted,
    /// The load generator or the machine failed too often.
    InstrumentFailed,
    /// The difference of an arm is not in effect.
    NotInEffect,
    /// The search for saturation could not observe the quantity that its condition names.
    NotObserved,
}

/// An arm of an experiment.
#[derive(Clone, Debug)]
pub struct ArmView {
    /// Its name.
    pub name: String,
    /// Differences from the baseline: keys and values of the file.
    pub differences: Vec<(String, String)>,
    /// Facts about the effect of these differences in the runs.
    pub effect: EffectView,
    /// The validity of its runs.
    pub validity: ArmValidity,
    /// The SLOs of its jobs.
    pub slos: Vec<ArmSlo>,
    /// The limiter of the arm's runs; `None` if no run has the state `counts`.
    pub limiter: Option<ArmLimiter>,
}

/// The most frequent limiter of an arm's runs, with the reason in the first run that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmLimiter {
    /// Component that limited the result.
    pub component: Component,
    /// Reason in one sentence.
    pub because: String,
    /// Number of runs with this limiter.
    pub runs: u64,
    /// Number of runs that were considered.
    pub counted_runs: u64,
}

impl ArmLimiter {
    /// Returns the most frequent limiter, the first of several equally frequent ones; `None` if
    /// there are no runs.
    pub fn of<'a>(runs: impl IntoIterator<Item = &'a RunFigures>) -> Option<ArmLimiter> {
        let runs = runs.into_iter().map(|run| (run.limiter, &run.limiter_finding));
        ArmLimiter::most_frequent(&runs.collect::<Vec<_>>())
    }

    /// Returns the most frequent limiter of runs of a record; `None` if there are no runs.
    pub(super) fn of_runs<'a>(runs: impl IntoIterator<Item = &'a RunView>) -> Option<ArmLimiter> {
        let runs = runs.into_iter().map(|run| (run.limiter, &run.limiter_finding));
        ArmLimiter::most_frequent(&runs.collect::<Vec<_>>())
    }

    fn most_frequent(runs: &[(Component, &LimiterFinding)]) -> Option<ArmLimiter> {
        let count = |of: Component| runs.iter().filter(|(other, _)| *other == of).count();
        let components: Vec<Component> = runs.iter().map(|(one, _)| *one).collect();
        let component = Component::most_frequent(&components)?;
        let (_, finding) = runs.iter().find(|(one, _)| *one == component)?;
        Some(ArmLimiter {
            component,
            because: words::limiter_reason(finding),
            runs: count(component) as u64,
            counted_runs: runs.len() as u64,
        })
    }

    /// Returns the sentence that names the limiter with its evidence.
    pub(super) fn sentence(&self) -> String {
        let lead = words::limiter_lead(self.component);
        let share = match self.runs == self.counted_runs {
            true => String::new(),
            false => format!(" (in {} of {})", self.runs, count(self.counted_runs, "run")),
        };
        format!("{lead}: {}{share}", self.because)
    }
}

/// Caveats about the differences of an arm. A difference that is known not to be in effect is not
/// among them: it ends the experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectView {
    /// The keys of differences that were not read back from the server.
    pub not_read_back: Vec<String>,
    /// TLS that ends before the server: the TLS version of the client's connection, and the name
    /// and value of the fact by which the server describes the TLS of its own connection.
    pub ended_tls: Option<[String; 3]>,
    /// True if the arm's target differs from the baseline's but reached the same database of the
    /// same server.
    pub shares_server: bool,
}

/// A run of an experiment.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Its number, from 1.
    pub number: u32,
    /// Its round, from 0.
    pub round: u32,
    /// Its arm.
    pub arm: ArmId,
    /// The value of the key that is varied in the phase of the run; `None` if none is varied in it.
    pub point: Option<String>,
    /// The phase of the experiment in which it was made.
    pub phase: RunPhase,
    /// Number of earlier attempts at its round.
    pub attempt: u32,
    /// State of the run: `counts`, `repeated` or `abandoned`.
    pub state: &'static str,
    /// Its seed.
    pub seed: u64,
    /// Its verdict.
    pub verdict: Status,
    /// The suspect or invalid checks, each with its status.
    pub objections: Vec<(CheckKind, Status)>,
    /// All of its checks.
    pub checks: Vec<Check>,
    /// Its limiter.
    pub limiter: Component,
    /// Facts behind the limiter.
    pub limiter_finding: LimiterFinding,
}

/// A phase of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    /// Rounds in which arms are compared.
    Compare,
    /// Rounds over the points of a sweep.
    Sweep,
    /// Steps of the search for saturation.
    Saturate,
    /// Trials of a capacity search.
    Capacity,
}

/// A difference between runs that no arm declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceView {
    /// Kind of the difference: data, durability, setting or environment.
    pub kind: &'static str,
    /// Name of the fact that differs.
    pub name: String,
    /// The baseline.
    pub baseline: ArmId,
    /// The arm.
    pub arm: ArmId,
    /// The runs that differ.
    pub between: DifferingRuns,
    /// The values: of the baseline and of the arm, or of the two rounds.
    pub values: [String; 2],
    /// The key of a declared difference that may have caused this one.
    pub cause: Option<String>,
}

/// The runs between which a fact differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferingRuns {
    /// All runs of the baseline, and all of the arm.
    Arms,
    /// Two rounds of the arm, from 0.
    Rounds([u32; 2]),
    /// The runs of the baseline and of the arm in a round, from 0.
    Pair(u32),
}

impl DifferingRuns {
    /// Returns the two rounds as they are given in documents: for a pair, its round twice; `None`
    /// if all runs of the arms differ.
    pub(super) fn rounds(self) -> Option<[u32; 2]> {
        match self {
            DifferingRuns::Arms => None,
            DifferingRuns::Rounds(rounds) => Some(rounds),
            DifferingRuns::Pair(round) => Some([round; 2]),
        }
    }
}

impl RunPhase {
    /// Returns the name in documents.
    pub(super) fn name(self) -> &'static str {
        match self {
            RunPhase::Compare => "compare",
            RunPhase::Sweep => "sweep",
            RunPhase::Saturate => "saturate",
            RunPhase::Capacity => "capacity",
        }
    }
}

impl ExperimentState {
    /// Returns the name in documents.
    pub(super) fn name(self) -> &'static str {
        match self {
            ExperimentState::Complete => "complete",
            ExperimentState::Interrupted => "interrupted",
            ExperimentState::InstrumentFailed => "instrument-failed",
            ExperimentState::NotInEffect => "not-in-effect",
            ExperimentState::NotObserved => "not-observed",
        }
    }
}

impl ExperimentView {
    /// Returns the file name of the record without its folder, because a page may be passed on.
    pub(super) fn file(&self) -> &str {
        self.record.rsplit('/').next().unwrap_or(&self.record)
    }

    /// Returns the command that continues the experiment, if it was interrupted, for use in the
    /// folder in which it was started.
    pub(super) fn resume(&self) -> Option<String> {
        self.resume_by(&self.command_with_path, &self.record)
    }

    /// Returns the command that continues the experiment, if it was interrupted, for documents that
    /// may be passed on.
    pub(super) fn resume_in_its_folder(&self) -> Option<String> {
        self.resume_by(&self.command, self.file())
    }

    fn resume_by(&self, command: &str, record: &str) -> Option<String> {
        let is_interrupted = self.state == ExperimentState::Interrupted;
        let resume = format!("{command} --resume {}", shell_word(record));
        (is_interrupted && !command.is_empty()).then_some(resume)
    }

    /// Returns true if the experiment has an answer that a repetition can confirm.
    pub fn is_answered(&self) -> bool {
        self.state == ExperimentState::Complete && self.verdict() != Status::Invalid
    }

    /// Returns the command that repeats the experiment, for use in the folder in which it was
    /// started. If there is no answer to confirm, it is the command that was run.
    pub(super) fn repeat(&self) -> String {
        match self.is_answered() {
            true => repeat_command(&self.record, &self.command),
            false => self.command_with_path.clone(),
        }
    }

    /// Returns the command that repeats the experiment, for documents that may be passed on; `None`
    /// if the experiment has no answer.
    pub fn repeat_in_its_folder(&self) -> Option<String> {
        self.is_answered().then(|| repeat_command(self.file(), &self.command))
    }

    /// Returns the excerpts. The captions of examples name the run from which they come: the run
    /// whose workload is shown.
    pub(super) fn excerpt_section(&self) -> ExcerptSection {
        let run = self.plan.workload.as_ref().map(|(run, _)| format!("run {run}"));
        let subjects = self.excerpts.iter().map(|excerpt| excerpt.subject.as_str());
        let remarks = subjects.filter_map(|subject| Some((subject, run.clone()?)));
        ExcerptSection::of(&self.excerpts, &remarks.collect())
    }

    /// Returns the verdict on the whole experiment.
    ///
    /// It is INVALID if the experiment is incomplete, or if a run is INVALID (in a sweep: if an arm
    /// has no usable point). It is SUSPECT if a run is SUSPECT (in a sweep: if a point has no runs
    /// or is not VALID), if the runs differ in more than was declared, or if a change of the
    /// machine may explain the change of an arm. For a search, the verdict depends on its result
    /// and on the trials that confirmed its value.
    pub fn verdict(&self) -> Status {
        let of_arms = match (&self.capacity, &self.sweep) {
            (Some(search), _) => Some(search.verdict()),
            (None, Some(sweep)) => sweep.curves.iter().map(ArmCurve::status).max(),
            (None, None) => self.arms.iter().map(|arm| arm.validity.status()).max(),
        };
        let of_arms = of_arms.unwrap_or(Status::Invalid);
        let is_alike = self.undeclared.is_empty() && self.machine_status() == Status::Pass;
        match (self.state, is_alike) {
            (
                ExperimentState::Interrupted
                | ExperimentState::InstrumentFailed
                | ExperimentState::NotInEffect
                | ExperimentState::NotObserved,
                _,
            ) => Status::Invalid,
            (ExperimentState::Complete, true) => of_arms,
            (ExperimentState::Complete, false) => of_arms.max(Status::Suspect),
        }
    }

    /// Returns SUSPECT if a change of the machine may explain the change of an arm, and otherwise
    /// the status of a check that passes.
    pub(super) fn machine_status(&self) -> Status {
        machine_status(&self.machine)
    }

    /// Returns the comparisons of the arms with the baseline.
    pub(super) fn compared(&self) -> impl Iterator<Item = &ArmComparison> {
        self.comparison.iter().flat_map(|comparison| &comparison.arms)
    }

    /// Returns the changes of the declared metrics, with their arms, if the experiment is complete.
    pub(super) fn declared_changes(&self) -> impl Iterator<Item = (&ArmComparison, &MetricChange)> {
        let complete = self.comparison.iter().filter(|_| self.state == ExperimentState::Complete);
        complete.flat_map(declared_changes_of)
    }

    /// Returns true if a declared metric of a complete experiment could not be compared.
    pub fn is_refused(&self) -> bool {
        self.declared_changes().any(|(_, change)| change.compared.is_err())
    }

    /// Returns true if a run with the state `counts` missed an SLO. For a search, returns true if
    /// no value meets the conditions, if the hold failed, or if a condition that does not limit the
    /// load is not met.
    pub fn misses_slo(&self) -> bool {
        if let Some(search) = &self.capacity {
            return search.misses_conditions();
        }
        self.arms.iter().flat_map(|arm| &arm.slos).any(|slo| slo.missed > 0)
    }
}

/// Returns the declared metrics of a comparison, with their arms.
pub(super) fn declared_changes_of(
    comparison: &Comparison,
) -> impl Iterator<Item = (&ArmComparison, &MetricChange)> {
    comparison.arms.iter().flat_map(|arm| {
        let declared = arm.changes.iter().filter(|change| !change.is_exploratory);
        declared.map(move |change| (arm, change))
    })
}

/// Returns SUSPECT if a change of the machine may explain the change of an arm.
pub(super) fn machine_status<'m>(all: impl IntoIterator<Item = &'m MachineChange>) -> Status {
    let is_decisive = |one: &MachineChange| match one {
        MachineChange::BetweenArms { is_decisive, .. } => *is_decisive == Some(true),
        MachineChange::Drift { .. } => false,
    };
    match all.into_iter().any(is_decisive) {
        true => Status::Suspect,
        false => Status::Pass,
    }
}
