//! An experiment that is being executed: its servers, record and runs, and the actions that are
//! common to the runs of rounds, steps and trials.

use analyze::compare::{Design, Look, RunFigures};
use archive::{ExperimentContent, ExperimentWriter, Figure, RecordError, RunRow, RunState};
use base::{Secrets, WallTime};
use record::EndKind;
use workload::question::{Arm, ArmPointOutline, Experiment};

use super::arm_point::ArmPointId;
use super::consistency;
use super::counting::{complete_rounds, rounds_to_continue_from};
use super::design::design;
use super::effect;
use super::error::{ExperimentError, Problem};
use super::event::{ExperimentEvent, ExperimentListener};
use super::experiment_servers::{ExperimentServers, with_cause};
use super::finished_runs::FinishedRuns;
use super::notes;
use super::order::ExperimentOrder;
use super::recorded::{INTERRUPTED, INVALID_ARM, LEFTOVERS, RUNNING, STATE, looks_of};
use super::schedule::Schedule;
use super::search::{self, RecordedSearch};
use super::warm_up::{figures_of_round, is_same_round};
use crate::evidence::YES;
use crate::run::RunResult;

/// The end of an experiment that left a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentEnd {
    /// A look decided the experiment, all planned looks were taken, or the capacity search has
    /// ended.
    Complete,
    /// The user interrupted the experiment; it can be resumed.
    Interrupted,
    /// The load generator or the machine failed too often.
    InstrumentFailed,
    /// The difference of an arm is not in effect, so the arm is INVALID.
    NotInEffect,
    /// A search for saturation could not observe the quantity that its condition names.
    NotObserved,
}

/// An experiment that is being executed.
pub(super) struct Execution<'a> {
    pub(super) record: ExperimentWriter,
    pub(super) servers: ExperimentServers<'a>,
    /// The secrets that are removed from texts that may come from a server.
    pub(super) secrets: Secrets,
    pub(super) schedule: Schedule,
    pub(super) design: Design,
    /// The arms at their points, each with one run per round.
    pub(super) arm_points: Vec<ArmPointOutline>,
    pub(super) looks: Vec<Look>,
    pub(super) runs: FinishedRuns,
    /// The capacity search with the trials recorded earlier; `None` for other experiments.
    pub(super) search: Option<RecordedSearch>,
    /// The answer of a capacity search that has ended, as text.
    pub(super) answer: Option<String>,
    /// The number of leading rounds that are complete and cannot be repeated any more.
    pub(super) judged: u32,
    /// The resumption of the experiment; `None` for a new experiment, and once the resumption is
    /// recorded.
    resumption: Option<Resumption>,
    /// True if statements or programs before a run, perhaps one of an earlier process, may have
    /// changed something that has not been undone.
    has_leftovers: bool,
}

/// A resumption that is not recorded yet.
struct Resumption {
    at: WallTime,
    /// Number of runs before the resumption.
    runs: usize,
    /// The runs of incomplete rounds, which no longer count.
    abandoned: Vec<u32>,
    /// The facts that record how the experiment ended before the resumption.
    facts: Vec<(&'static str, String)>,
}

/// The end of a run and of the statements around it.
pub(super) enum RunEnd {
    Done,
    Interrupted,
}

impl<'a> Execution<'a> {
    pub(super) fn begin(
        order: &'a ExperimentOrder<'a>,
        listener: &'a dyn ExperimentListener,
        record: ExperimentWriter,
        content: ExperimentContent,
    ) -> Result<Execution<'a>, ExperimentError> {
        let experiment = order.experiment;
        let outline = experiment.outline();
        let (design, arm_points) = (design(&outline, experiment.writes()), outline.arm_points());
        consistency::check(order.record, &content, &outline, &design)?;
        let seed = experiment.arms[0].plan.seed;
        let is_counterbalanced = experiment.writes();
        let servers = ExperimentServers::open(order, listener)?;
        let mut execution = Execution {
            secrets: servers.secrets(),
            servers,
            schedule: Schedule { runs: arm_points.len(), seed, is_counterbalanced },
            design,
            arm_points,
            looks: looks_of(&content),
            runs: FinishedRuns::default(),
            search: recorded_search(order, &content)?,
            answer: None,
            judged: 0,
            resumption: None,
            has_leftovers: order.is_resumed && has_leftovers(&content),
            record,
        };
        let abandoned = execution.restore_runs(&content)?;
        if order.is_resumed {
            execution.mark_as_running(&content, abandoned)?;
        }
        Ok(execution)
    }

    /// Marks the record of an earlier process as the record of a running experiment.
    fn mark_as_running(
        &mut self,
        content: &ExperimentContent,
        abandoned: Vec<u32>,
    ) -> Result<(), RecordError> {
        let fact = |key: &'static str| Some((key, content.fact(key)?.to_owned()));
        self.resumption = Some(Resumption {
            at: WallTime::now(),
            runs: content.runs.len(),
            abandoned,
            facts: [STATE, INVALID_ARM].into_iter().filter_map(fact).collect(),
        });
        self.record.set_facts(&[(STATE, RUNNING.to_owned())])?;
        self.record.remove_fact(INVALID_ARM)
    }

    /// Records that the experiment was resumed. Called before the experiment records a run, a look,
    /// or an end without an error.
    pub(super) fn record_resumption(&mut self) -> Result<(), RecordError> {
        let Some(Resumption { at, runs, abandoned, .. }) = self.resumption.take() else {
            return Ok(());
        };
        self.record.set_state(&abandoned, RunState::Abandoned)?;
        self.record.remove_fact(LEFTOVERS)?;
        self.record.add_note(at, &notes::resumption(runs))
    }

    /// Records that an error ended the experiment. If its resumption is not recorded yet, the facts
    /// about its earlier end are restored. The fact `LEFTOVERS` is added if changes before a run
    /// must still be undone.
    pub(super) fn record_failure(&mut self) {
        let facts = match self.resumption.take() {
            Some(resumption) => resumption.facts,
            None => vec![(STATE, INTERRUPTED.to_owned())],
        };
        // The error may be that the record cannot be written. The state is then that of a killed
        // process.
        let _ = self.record_end(facts);
    }

    /// Records facts about the end of this process. If changes before a run must still be undone,
    /// a further fact makes the next process undo them.
    pub(super) fn record_end(
        &mut self,
        mut facts: Vec<(&'static str, String)>,
    ) -> Result<(), RecordError> {
        if self.has_leftovers {
            facts.push((LEFTOVERS, YES.to_owned()));
        }
        self.record.set_facts(&facts)
    }

    /// Undoes the changes before the last run of an earlier process, if there may be any. Returns
    /// false if an interrupt prevents this; the changes then remain for the next process.
    pub(super) fn undo_leftovers(&mut self) -> bool {
        if self.has_leftovers {
            self.has_leftovers = !self.servers.undo_leftovers();
        }
        !self.has_leftovers
    }

    /// Restores the data to their state after the load.
    pub(super) fn restore(&mut self, id: ArmPointId) -> Result<(), ExperimentError> {
        let failures = self.servers.restore(id)?;
        failures.iter().for_each(|sentence| self.warn(sentence));
        Ok(())
    }

    /// Runs `[teardown]`. A failure does not change the answer; it is reported.
    pub(super) fn tear_down(&self) {
        self.servers.tear_down().iter().for_each(|sentence| self.warn(sentence));
    }

    pub(super) fn warn(&self, sentence: &str) {
        let sentence = &self.secrets.hide(sentence);
        self.servers.listener.on_event(&ExperimentEvent::Warning { sentence });
        self.note(sentence);
    }

    /// Adds a remark to the record, without secrets.
    pub(super) fn note(&self, sentence: &str) {
        // A remark that cannot be recorded is still printed.
        let _ = self.record.add_note(WallTime::now(), &self.secrets.hide(sentence));
    }

    pub(super) fn experiment(&self) -> &'a Experiment {
        self.servers.order.experiment
    }

    /// Removes the temporary records of an earlier process, takes over the runs of an interrupted
    /// experiment, and returns the abandoned runs. The runs of an incomplete round are abandoned,
    /// because the other runs of their pairs would be measured on other servers. If all servers are
    /// simulated, no run is abandoned, because simulated servers are the same in every process.
    fn restore_runs(&mut self, content: &ExperimentContent) -> Result<Vec<u32>, ExperimentError> {
        for own in [self.servers.run_record_path(), self.servers.auxiliary_path()]
            .into_iter()
            .filter(|own| own.exists())
        {
            std::fs::remove_file(&own).map_err(|error| Problem::RunRecord(own, error))?;
        }
        let keeps = self.experiment().arm_points().iter().all(Arm::is_simulated);
        let complete = complete_rounds(content.runs.iter(), self.arm_points.len());
        let mut abandoned = Vec::new();
        let mut rows = content.runs.clone();
        for row in rows.iter_mut().filter(|row| row.state == RunState::Counts) {
            if !keeps && row.phase.has_rounds() && row.round >= complete {
                abandoned.push(row.run);
                row.state = RunState::Abandoned;
            }
        }
        for round in rows.chunk_by(is_same_round) {
            let counts: Vec<&RunRow> =
                round.iter().filter(|row| row.state == RunState::Counts).collect();
            let open = |run| content.open_run(run);
            let mut figures = figures_of_round(&counts, open)?.into_iter();
            for row in round {
                match row.state {
                    RunState::Counts => self.runs.push(row.clone(), figures.next()),
                    RunState::Repeated => {
                        let settings = open(row.run)?.settings()?;
                        self.runs.push_repeated(row.clone(), &settings);
                    }
                    RunState::Abandoned => self.runs.push(row.clone(), None),
                }
            }
        }
        let rows = self.runs.all().map(|(row, _)| row);
        self.judged = rounds_to_continue_from(rows, self.arm_points.len(), &self.looks);
        Ok(abandoned)
    }

    /// Executes a run of an arm at a point with the statements and programs before and after the
    /// run. If the user interrupts the steps after the run, the experiment counts as interrupted,
    /// even if its last run is recorded. A complete experiment could not be continued, so the
    /// changes before the run would never be undone.
    pub(super) fn run_with_hooks(
        &mut self,
        id: ArmPointId,
        make: impl FnOnce(&mut Self) -> Result<RunEnd, ExperimentError>,
    ) -> Result<RunEnd, ExperimentError> {
        if !self.servers.is_interrupted() {
            self.servers.restart(id)?;
            self.restore(id)?;
        }
        if self.servers.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        self.has_leftovers = true;
        let made = self.servers.run_before_steps(id).and_then(|()| make(self));
        // However the run ended, even by an interrupt, the statements after it undo the steps
        // before it.
        let after = self.servers.run_after_steps(id);
        let was_interrupted = !after.interrupted.is_empty();
        self.has_leftovers = after.result.is_err() || was_interrupted;
        after.interrupted.iter().for_each(|sentence| self.warn(sentence));
        match (made, after.result) {
            (Ok(RunEnd::Done), Err(error)) => Err(error),
            (made, Err(error)) => {
                self.warn(&with_cause(&error));
                made
            }
            (Ok(RunEnd::Done), Ok(())) if was_interrupted => Ok(RunEnd::Interrupted),
            (made, Ok(())) => made,
        }
    }

    /// Returns the result of a run. If the user has interrupted the run, removes its record and
    /// returns `None`.
    pub(super) fn discard_if_interrupted(
        &self,
        done: RunResult,
    ) -> Result<Option<RunResult>, ExperimentError> {
        if done.end != EndKind::Interrupted {
            return Ok(Some(done));
        }
        done.discard()
            .map_err(|error| Problem::RunRecord(self.servers.run_record_path(), error))?;
        Ok(None)
    }

    /// Moves a run of an arm into the record. If the run lost its server, or the difference of its
    /// arm was not in effect, the run is recorded but does not count.
    ///
    /// # Errors
    /// The record cannot be written; the server was lost; the difference was not in effect; or the
    /// server differs from that of the arm's earlier runs, in which case the run is not recorded.
    pub(super) fn record_run(
        &mut self,
        arm: &Arm,
        mut row: RunRow,
        figures: RunFigures,
        done: &RunResult,
    ) -> Result<(), ExperimentError> {
        if let Some(versions) = self.runs.other_server(&row.arm, &figures) {
            let _ = std::fs::remove_file(&done.record);
            return Err(ExperimentError::of(arm, Problem::OtherServer { versions }));
        }
        // A server that is lost during a run cannot be measured in the other run of the pair, so
        // the run does not count. A simulated server that is lost would be lost again in every
        // repetition, so the loss is a result of its arm.
        let is_lost = done.end == EndKind::TargetLost && !arm.is_simulated();
        let in_effect = effect::check_reported(arm, &figures.facts);
        if is_lost || in_effect.is_err() {
            // If the experiment is resumed, the round of this run begins again.
            row.state = RunState::Abandoned;
        }
        self.record_resumption()?;
        self.record.add_run(&row, &figure_rows(&figures), &done.record)?;
        if is_lost {
            return Err(ExperimentError::of_lost_target(arm));
        }
        in_effect.map_err(|error| ExperimentError::of(arm, Problem::NotInEffect(error)))?;
        let event = ExperimentEvent::RunFinished { number: row.run, figures: &figures };
        self.servers.listener.on_event(&event);
        let counts = row.state == RunState::Counts;
        self.runs.push(row, counts.then_some(figures));
        Ok(())
    }
}

/// Returns true if the changes before the last run of a record may still be in effect: the process
/// that wrote the record was killed, or recorded that changes may remain.
fn has_leftovers(content: &ExperimentContent) -> bool {
    content.fact(STATE) == Some(RUNNING) || content.fact(LEFTOVERS) == Some(YES)
}

/// Returns the capacity search of an experiment with its recorded trials; `None` for other
/// experiments.
fn recorded_search(
    order: &ExperimentOrder<'_>,
    content: &ExperimentContent,
) -> Result<Option<RecordedSearch>, ExperimentError> {
    let Some(question) = &order.experiment.capacity else { return Ok(None) };
    let new = |name: &str| {
        let mut facts = order.origin.iter();
        facts.find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    };
    let fact = |name: &str| match order.is_resumed {
        true => content.fact(name),
        false => new(name),
    };
    let Some(search) = search::recorded_order(question, fact) else {
        let what = "the order of its search cannot be read".to_owned();
        return Err(ExperimentContent::damaged(order.record, what).into());
    };
    Ok(Some(search::replay_search(order.record, search, content)?))
}

/// Returns the row of a run with the verdict on its figures.
pub(super) fn with_verdict(row: RunRow, figures: &RunFigures) -> RunRow {
    let verdict = &figures.verdict;
    let objections: Vec<&str> = verdict.objections.iter().map(|(kind, _)| kind.name()).collect();
    RunRow {
        verdict: verdict.status().verdict().to_ascii_lowercase(),
        objections: objections.join(","),
        ..row
    }
}

pub(super) fn figure_rows(figures: &RunFigures) -> Vec<Figure> {
    let row = |(metric, value): &(workload::question::RunMetric, f64)| Figure {
        of: metric.of.clone().unwrap_or_default(),
        metric: metric.quantity.name().to_owned(),
        value: *value,
    };
    figures.metrics.iter().map(row).collect()
}
