//! Execution of an experiment: its runs in the planned order, and its looks.

use analyze::compare::{Look, NextStep, Repeats, RoundState, RunFigures, compare, judge_round};
use archive::{
    Archive, ExperimentContent, ExperimentWriter, Figure, LookRow, Phase, RunRow, RunState,
};
use base::Id;
use workload::Warmup;
use workload::question::{ArmPointOutline, Design as QuestionDesign, Experiment};

use super::arm_point::ArmPointId;
use super::error::{ExperimentError, Problem};
use super::event::{ExperimentEvent, ExperimentListener};
use super::execution::{Execution, ExperimentEnd, RunEnd, figure_rows, with_verdict};
use super::open_record::{open_record, remove_or_explain};
use super::order::ExperimentOrder;
use super::recorded::{INTERRUPTED, INVALID_ARM, STATE, figures};
use super::schedule::PlannedRun;
use super::search::ANSWER_FACT;
use super::warm_up::figures_of_round;

/// Minimum number of pairs from which the permitted number of repeated rounds of a sweep is
/// computed. With fewer pairs, a short sweep could not repeat any round.
const FEWEST_OF_SWEEP: u32 = 4;

/// Runs an experiment, or continues an interrupted one, and records it.
///
/// # Errors
/// A run failed, or the record cannot be written. Earlier measurements are in the record, and the
/// experiment can be resumed. The record of a new experiment that has no runs is removed, unless
/// the order keeps it because a server was unreachable, or a continuation must undo changes.
pub fn run_experiment(
    order: &ExperimentOrder<'_>,
    listener: &dyn ExperimentListener,
) -> Result<ExperimentEnd, ExperimentError> {
    let (record, content) = open_record(order)?;
    let ended = execute(order, listener, record, content);
    if let Some(error) = ended.as_ref().err().filter(|_| !order.is_resumed) {
        remove_or_explain(order, error);
    }
    ended
}

fn execute(
    order: &ExperimentOrder<'_>,
    listener: &dyn ExperimentListener,
    record: ExperimentWriter,
    content: ExperimentContent,
) -> Result<ExperimentEnd, ExperimentError> {
    let mut execution = Execution::begin(order, listener, record, content)?;
    let end = execution.execute();
    // The answer is recorded before the teardown, which may fail, hang or be ended by the user.
    let concluded = end.and_then(|end| execution.conclude(end));
    let concluded = concluded.map_err(|error| match execution.servers.has_ended_run() {
        true => error.after_run(),
        false => error,
    });
    if concluded.is_err() {
        execution.record_failure();
    }
    execution.tear_down();
    concluded
}

/// The end of a round.
enum RoundEnd {
    Counts,
    Repeats,
    Interrupted,
    Lost,
}

impl Execution<'_> {
    /// Prepares the data and runs the rounds; a search for saturation executes its steps before
    /// them. A capacity search executes trials and no rounds.
    fn execute(&mut self) -> Result<ExperimentEnd, ExperimentError> {
        let first = match &self.search {
            Some(_) => self.schedule.trial(0).seed,
            None => self.schedule.round(0, 0)[0].seed,
        };
        if !self.undo_leftovers() {
            // If all runs are recorded, the experiment would otherwise become complete, and its
            // changes would never be undone.
            return Ok(ExperimentEnd::Interrupted);
        }
        let end = self.servers.prepare(first).and_then(|()| match self.search.take() {
            Some(search) => self.search(&search),
            None => match self.saturate()? {
                Some(end) => Ok(end),
                None => self.rounds(),
            },
        });
        match end {
            Err(error) if matches!(*error.problem, Problem::NotInEffect(_)) => {
                let sentence = self.secrets.hide(&error.to_string());
                self.record.set_facts(&[(INVALID_ARM, sentence)])?;
                Ok(ExperimentEnd::NotInEffect)
            }
            end => end,
        }
    }

    /// Runs rounds and takes looks until the experiment is over.
    fn rounds(&mut self) -> Result<ExperimentEnd, ExperimentError> {
        loop {
            match self.design.looks.next(&self.looks, self.judged) {
                NextStep::Finished => return Ok(ExperimentEnd::Complete),
                NextStep::Look { pairs } => self.look(pairs)?,
                NextStep::Run { pairs: due } => match self.round(self.judged, due)? {
                    RoundEnd::Counts => self.judged += 1,
                    RoundEnd::Repeats => {}
                    RoundEnd::Interrupted => return Ok(ExperimentEnd::Interrupted),
                    RoundEnd::Lost => return Ok(ExperimentEnd::InstrumentFailed),
                },
            }
        }
    }

    /// Evaluates the first `pairs` pairs and records the look. A sweep ends after its planned
    /// rounds, whatever their results.
    fn look(&mut self, pairs: u32) -> Result<(), ExperimentError> {
        let is_sweep = self.experiment().sweep.is_some();
        let look = Look { pairs, is_decided: is_sweep || self.is_decided(pairs) };
        self.record_resumption()?;
        self.record.add_look(LookRow { pairs, is_decided: look.is_decided })?;
        self.looks.push(look);
        if !is_sweep {
            let is_decided = look.is_decided;
            self.servers.listener.on_event(&ExperimentEvent::LookTaken { pairs, is_decided });
        }
        Ok(())
    }

    fn is_decided(&self, pairs: u32) -> bool {
        let names: Vec<String> =
            self.arm_points.iter().map(|arm_point| arm_point.arm.clone()).collect();
        compare(&self.design, &self.runs.counted_runs(&names), pairs).is_decided()
    }

    /// Executes the missing runs of a round. If the load generator or its machine failed, or if a
    /// sweep over the number of servers lost a server, marks the runs as repeated, unless the
    /// permitted repetitions are used up. The next call then executes the round again.
    fn round(&mut self, round: u32, pairs_due: u32) -> Result<RoundEnd, ExperimentError> {
        for planned in self.schedule.round(round, self.runs.attempts(round)) {
            if self.runs.has_run(round, planned.position) {
                continue;
            }
            match self.run(round, planned).map_err(|error| error.in_round(round))? {
                RunEnd::Done => {}
                RunEnd::Interrupted => return Ok(RoundEnd::Interrupted),
            }
        }
        self.share_warm_up(round)?;
        let is_sweep = self.experiment().sweep.is_some();
        let repeats = Repeats {
            of_round: self.runs.attempts(round),
            other_rounds: self.runs.other_repeated_rounds(round),
            pairs: if is_sweep { pairs_due.max(FEWEST_OF_SWEEP) } else { pairs_due },
        };
        let verdicts = self.runs.figures_of_round(round).map(|figures| &figures.verdict);
        match judge_round(verdicts, repeats) {
            RoundState::Counts => Ok(RoundEnd::Counts),
            // If the load generator cannot measure a point, this point is INVALID, but the other
            // points are not.
            RoundState::Lost if is_sweep => Ok(RoundEnd::Counts),
            RoundState::Lost => Ok(RoundEnd::Lost),
            RoundState::Repeat => {
                self.mark_round_repeated(round)?;
                Ok(RoundEnd::Repeats)
            }
        }
    }

    /// Marks the runs of a round as repeated. The answer leaves these runs out, so the loss of a
    /// server in one of them is noted separately.
    fn mark_round_repeated(&mut self, round: u32) -> Result<(), ExperimentError> {
        let lost = self.runs.lost_server(round);
        let runs = self.runs.mark_repeated(round);
        self.record.set_state(&runs, RunState::Repeated)?;
        if let Some(lost) = &lost {
            let sentence = format!("round {} was repeated: a server was lost in {lost}", round + 1);
            self.note(&sentence);
        }
        let event = ExperimentEvent::RoundRepeated { round, lost_server: lost.as_deref() };
        self.servers.listener.on_event(&event);
        Ok(())
    }

    /// Recomputes the figures of a round with a common end of the warm-up, which is the latest one
    /// in the round. Does nothing if the plan gives the warm-up.
    fn share_warm_up(&mut self, round: u32) -> Result<(), ExperimentError> {
        if self.experiment().arms.iter().all(|arm| arm.plan.warmup != Warmup::Auto) {
            return Ok(());
        }
        let rows = self.runs.rows_of_round(round);
        let content = ExperimentContent::read(self.record.path())?;
        let open = |run| content.open_run(run);
        let figures = figures_of_round(&rows.iter().collect::<Vec<_>>(), open)?;
        let judged: Vec<(RunRow, Vec<Figure>)> = rows
            .into_iter()
            .zip(&figures)
            .map(|(row, figures)| (with_verdict(row, figures), figure_rows(figures)))
            .collect();
        self.record.replace_figures(&judged)?;
        for ((row, _), figures) in judged.into_iter().zip(figures) {
            self.runs.replace(row, figures);
        }
        Ok(())
    }

    /// Executes a run of a round with the statements before and after it.
    fn run(&mut self, round: u32, planned: PlannedRun) -> Result<RunEnd, ExperimentError> {
        let id = arm_point_of(self.experiment(), planned);
        self.run_with_hooks(id, |execution| execution.measure_run(round, planned))
    }

    /// Measures a run and moves it into the record.
    fn measure_run(&mut self, round: u32, planned: PlannedRun) -> Result<RunEnd, ExperimentError> {
        if self.servers.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let number = self.runs.len() as u32 + 1;
        let experiment = self.experiment();
        let id = arm_point_of(experiment, planned);
        let arm = &experiment.arm_points()[id.index()];
        let most = self.most_runs();
        let arm_point = &self.arm_points[planned.arm_point];
        let shown = if arm_point.point.is_some() { arm.to_string() } else { arm_point.arm.clone() };
        self.servers.listener.on_event(&ExperimentEvent::RunStarted {
            number,
            most,
            round,
            arm: &shown,
        });
        let done = self.servers.measure(id, planned)?;
        let Some(done) = self.discard_if_interrupted(done)? else { return Ok(RunEnd::Interrupted) };
        let figures = figures(&Archive::open(&done.record)?)?;
        let row = self.row(number, round, planned, &figures);
        self.record_run(arm, row, figures, &done)?;
        Ok(RunEnd::Done)
    }

    fn row(&self, run: u32, round: u32, planned: PlannedRun, figures: &RunFigures) -> RunRow {
        let ArmPointOutline { arm, point } = self.arm_points[planned.arm_point].clone();
        let phase = if point.is_some() { Phase::Sweep } else { Phase::Compare };
        let row = RunRow {
            round,
            position: planned.position,
            point,
            phase,
            attempt: self.runs.attempts(round),
            seed: planned.seed.0,
            ..RunRow::new(run, arm)
        };
        with_verdict(row, figures)
    }

    /// Returns the largest number of runs if no further round is repeated.
    fn most_runs(&self) -> u32 {
        let all = self.design.looks.most_pairs() * self.arm_points.len() as u32;
        self.runs.len() as u32 + all.saturating_sub(self.runs.counting_runs() as u32)
    }

    fn conclude(&mut self, end: ExperimentEnd) -> Result<ExperimentEnd, ExperimentError> {
        let word = match end {
            ExperimentEnd::Complete => "complete",
            ExperimentEnd::Interrupted => INTERRUPTED,
            ExperimentEnd::InstrumentFailed => "instrument-failed",
            ExperimentEnd::NotInEffect => "not-in-effect",
            ExperimentEnd::NotObserved => "not-observed",
        };
        self.record_resumption()?;
        let answer = self.answer.take().map(|answer| (ANSWER_FACT, answer));
        self.record_end([(STATE, word.to_owned())].into_iter().chain(answer).collect())?;
        Ok(end)
    }
}

/// Returns the arm and point of a run of a round. Both arms of an A/A experiment are the same.
fn arm_point_of(experiment: &Experiment, run: PlannedRun) -> ArmPointId {
    match experiment.design {
        QuestionDesign::Arms => ArmPointId(run.arm_point),
        QuestionDesign::Aa => ArmPointId(0),
    }
}
