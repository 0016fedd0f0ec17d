//! Execution of an experiment: its runs in their order, and its looks.

use analyze::compare::{
    Design, Look, NextStep, Repeats, RoundState, RunFigures, compare, judge_round,
};
use archive::{
    Archive, ExperimentContent, ExperimentWriter, Figure, LookRow, Phase, RunRow, RunState,
};
use record::EndKind;
use workload::Warmup;
use workload::question::{Arm, CellOutline, Design as QuestionDesign, Experiment};

use super::consistency;
use super::counting::{complete_rounds, rounds_to_continue_from};
use super::design::design;
use super::effect;
use super::error::{ExperimentError, Problem};
use super::event::{ExperimentEvent, ExperimentListener};
use super::made::MadeRuns;
use super::notes;
use super::open_record::{open_record, remove_if_empty};
use super::order::ExperimentOrder;
use super::recorded::{INVALID_ARM, STATE, figures, looks_of};
use super::schedule::{PlannedRun, Schedule};
use super::search::{self, RecordedSearch};
use super::site::{Site, is_simulated, told};
use super::warm_up::{figures_of_round, is_same_round};
use crate::run::Done;

/// Fewest rounds of a sweep by which the number of its repeated rounds is limited, so that one may
/// be repeated however few there are.
const FEWEST_OF_SWEEP: u32 = 4;

/// The end of an experiment that left a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentEnd {
    /// It took its last look.
    Complete,
    /// The user interrupted it; it can be resumed.
    Interrupted,
    /// The load generator or the machine failed too often.
    InstrumentFailed,
    /// The difference of an arm is not in effect: the arm is INVALID.
    NotInEffect,
    /// A step of a search for saturation lacks the quantity of its condition.
    NotObserved,
}

/// Runs an experiment, or continues an interrupted one, and records it.
///
/// # Errors
/// A run failed, or the record cannot be written. What was measured until then is recorded, and the
/// experiment can be resumed.
pub fn run_experiment(
    order: &ExperimentOrder<'_>,
    listener: &dyn ExperimentListener,
) -> Result<ExperimentEnd, ExperimentError> {
    let (record, content) = open_record(order)?;
    let ended = execute(order, listener, record, content);
    if ended.is_err() && !order.is_resumed {
        remove_if_empty(order.record);
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
    // The answer is recorded first: a teardown may fail, hang or be ended by the user.
    let concluded = end.and_then(|end| execution.conclude(end));
    execution.tear_down();
    concluded
}

/// An experiment that is being executed.
pub(super) struct Execution<'a> {
    pub(super) record: ExperimentWriter,
    pub(super) site: Site<'a>,
    pub(super) schedule: Schedule,
    design: Design,
    /// The runs of a round.
    cells: Vec<CellOutline>,
    looks: Vec<Look>,
    pub(super) runs: MadeRuns,
    /// The capacity search with the trials that were recorded before, if it is one.
    search: Option<RecordedSearch>,
    /// The number of leading rounds that are complete and not to be repeated.
    judged: u32,
}

/// The end of a run, with the statements around it.
pub(super) enum RunEnd {
    Done,
    Interrupted,
}

/// The end of a round.
enum RoundEnd {
    Counts,
    Repeats,
    Interrupted,
    Lost,
}

impl<'a> Execution<'a> {
    fn begin(
        order: &'a ExperimentOrder<'a>,
        listener: &'a dyn ExperimentListener,
        record: ExperimentWriter,
        content: ExperimentContent,
    ) -> Result<Execution<'a>, ExperimentError> {
        let experiment = order.experiment;
        let outline = experiment.outline();
        let (design, cells) = (design(&outline, experiment.writes()), outline.cells());
        consistency::check(order.record, &content, &outline, &design)?;
        let seed = experiment.arms[0].plan.seed;
        let is_counterbalanced = experiment.writes();
        let mut execution = Execution {
            site: Site::open(order, listener)?,
            schedule: Schedule { runs: cells.len(), seed, is_counterbalanced },
            design,
            cells,
            looks: looks_of(&content),
            runs: MadeRuns::default(),
            search: recorded_search(order, &content)?,
            judged: 0,
            record,
        };
        execution.resume(content)?;
        Ok(execution)
    }

    /// Prepares the data and runs the rounds, after the steps of a search for saturation if there
    /// is one, or the trials of a capacity search.
    fn execute(&mut self) -> Result<ExperimentEnd, ExperimentError> {
        let end = self.site.prepare().and_then(|()| match self.search.take() {
            Some(search) => self.search(&search),
            None => match self.saturate()? {
                Some(end) => Ok(end),
                None => self.rounds(),
            },
        });
        match end {
            Err(error) if matches!(*error.problem, Problem::NotInEffect(_)) => {
                self.record.set_facts(&[(INVALID_ARM, error.to_string())])?;
                Ok(ExperimentEnd::NotInEffect)
            }
            end => end,
        }
    }

    /// Brings the data back to its state after the load.
    pub(super) fn restore(&mut self, place: usize) -> Result<(), ExperimentError> {
        let failures = self.site.restore(place)?;
        failures.iter().for_each(|sentence| self.warn(sentence));
        Ok(())
    }

    /// Runs `[teardown]`. A failure does not change the answer; it is reported.
    fn tear_down(&self) {
        self.site.tear_down().iter().for_each(|sentence| self.warn(sentence));
    }

    fn warn(&self, sentence: &str) {
        self.site.listener.on_event(&ExperimentEvent::Warning { sentence });
        notes::warned(&self.record, self.experiment(), sentence);
    }

    fn experiment(&self) -> &'a Experiment {
        self.site.order.experiment
    }

    /// Takes over the runs of an interrupted experiment. The runs of an incomplete round are
    /// abandoned, because the other half of their pairs would be measured on other servers;
    /// simulated servers are the same in every process.
    fn resume(&mut self, content: ExperimentContent) -> Result<(), ExperimentError> {
        for own in
            [self.site.own_path(), self.site.aside_path()].into_iter().filter(|own| own.exists())
        {
            std::fs::remove_file(&own).map_err(|error| Problem::Own(own, error))?;
        }
        let keeps = self.experiment().cells().iter().all(is_simulated);
        let complete = complete_rounds(content.runs.iter(), self.cells.len());
        let mut abandoned = Vec::new();
        let mut rows = content.runs;
        for row in rows.iter_mut().filter(|row| row.state == RunState::Counts) {
            if !keeps && row.phase.has_rounds() && row.round >= complete {
                abandoned.push(row.run);
                row.state = RunState::Abandoned;
            }
        }
        for round in rows.chunk_by(is_same_round) {
            let counts: Vec<&RunRow> =
                round.iter().filter(|row| row.state == RunState::Counts).collect();
            let mut figures = figures_of_round(self.record.path(), &counts)?.into_iter();
            for row in round {
                let own = (row.state == RunState::Counts).then(|| figures.next()).flatten();
                self.runs.push(row.clone(), own);
            }
        }
        let rows = self.runs.all().map(|(row, _)| row);
        self.judged = rounds_to_continue_from(rows, self.cells.len(), &self.looks);
        Ok(self.record.set_state(&abandoned, RunState::Abandoned)?)
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

    /// Judges the first pairs; a sweep is over after its repeats, whatever they show.
    fn look(&mut self, pairs: u32) -> Result<(), ExperimentError> {
        let is_sweep = self.experiment().sweep.is_some();
        let look = Look { pairs, is_decided: is_sweep || self.is_decided(pairs) };
        self.record.add_look(LookRow { pairs, is_decided: look.is_decided })?;
        self.looks.push(look);
        if !is_sweep {
            let is_decided = look.is_decided;
            self.site.listener.on_event(&ExperimentEvent::Looked { pairs, is_decided });
        }
        Ok(())
    }

    fn is_decided(&self, pairs: u32) -> bool {
        let names: Vec<String> = self.cells.iter().map(|cell| cell.arm.clone()).collect();
        compare(&self.design, &self.runs.counted(&names), pairs).is_decided()
    }

    /// Executes the missing runs of a round, and repeats the round if an instrument failed.
    fn round(&mut self, round: u32, pairs_due: u32) -> Result<RoundEnd, ExperimentError> {
        for planned in self.schedule.round(round, self.runs.attempts(round)) {
            if self.runs.has(round, planned.position) {
                continue;
            }
            match self.run(round, planned)? {
                RunEnd::Done => {}
                RunEnd::Interrupted => return Ok(RoundEnd::Interrupted),
            }
        }
        self.share_warm_up(round)?;
        let is_sweep = self.experiment().sweep.is_some();
        let repeats = Repeats {
            of_round: self.runs.attempts(round),
            other_rounds: self.runs.repeated_rounds_beside(round),
            pairs: if is_sweep { pairs_due.max(FEWEST_OF_SWEEP) } else { pairs_due },
        };
        let verdicts = self.runs.figures_of_round(round).map(|figures| &figures.verdict);
        match judge_round(verdicts, repeats) {
            RoundState::Counts => Ok(RoundEnd::Counts),
            // A point that the load generator cannot measure is INVALID; the others are not.
            RoundState::Lost if is_sweep => Ok(RoundEnd::Counts),
            RoundState::Lost => Ok(RoundEnd::Lost),
            RoundState::Repeat => {
                let runs = self.runs.repeat(round);
                self.record.set_state(&runs, RunState::Repeated)?;
                self.site.listener.on_event(&ExperimentEvent::Repeating { round });
                Ok(RoundEnd::Repeats)
            }
        }
    }

    /// Computes the figures of a round again, after the latest end of a warm-up in it, unless the
    /// warm-up was given.
    fn share_warm_up(&mut self, round: u32) -> Result<(), ExperimentError> {
        if self.experiment().arms.iter().all(|arm| arm.plan.warmup != Warmup::Auto) {
            return Ok(());
        }
        let rows = self.runs.rows_of_round(round);
        let figures = figures_of_round(self.record.path(), &rows.iter().collect::<Vec<_>>())?;
        let judged: Vec<(RunRow, Vec<Figure>)> = rows
            .into_iter()
            .zip(&figures)
            .map(|(row, figures)| (judged(row, figures), rows_of(figures)))
            .collect();
        self.record.replace_figures(&judged)?;
        for ((row, _), figures) in judged.into_iter().zip(figures) {
            self.runs.replace(row, figures);
        }
        Ok(())
    }

    /// Makes a run of a round, with the statements around it.
    fn run(&mut self, round: u32, planned: PlannedRun) -> Result<RunEnd, ExperimentError> {
        let place = place_of(self.experiment(), planned.arm);
        self.around(place, |execution| execution.make(round, planned))
    }

    /// Makes a run of a cell, with the statements around it.
    pub(super) fn around(
        &mut self,
        place: usize,
        make: impl FnOnce(&mut Self) -> Result<RunEnd, ExperimentError>,
    ) -> Result<RunEnd, ExperimentError> {
        if !self.site.is_interrupted() {
            self.site.restart(place)?;
            self.restore(place)?;
        }
        if self.site.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let made = self.site.before(place).and_then(|()| make(self));
        // It undoes what was done before the run, however that ended, also after an interrupt.
        match (made, self.site.after(place)) {
            (Ok(RunEnd::Done), Err(error)) => Err(error),
            (made, Err(error)) => {
                self.warn(&told(&error));
                made
            }
            (made, Ok(())) => made,
        }
    }

    /// Measures a run and moves it into the record.
    fn make(&mut self, round: u32, planned: PlannedRun) -> Result<RunEnd, ExperimentError> {
        if self.site.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let number = self.runs.len() as u32 + 1;
        let experiment = self.experiment();
        let place = place_of(experiment, planned.arm);
        let arm = &experiment.cells()[place];
        let most = self.most_runs();
        let cell = &self.cells[planned.arm];
        let shown = if cell.point.is_some() { arm.to_string() } else { cell.arm.clone() };
        self.site.listener.on_event(&ExperimentEvent::Running { number, most, round, arm: &shown });
        let done = self.site.measure(place, planned)?;
        let Some(done) = self.unless_interrupted(done)? else { return Ok(RunEnd::Interrupted) };
        let figures = figures(&Archive::open(&done.record)?)?;
        let row = self.row(number, round, planned, &figures);
        self.keep(arm, row, figures, &done)?;
        Ok(RunEnd::Done)
    }

    /// Returns a run, unless the user ended it: its record is then removed.
    pub(super) fn unless_interrupted(&self, done: Done) -> Result<Option<Done>, ExperimentError> {
        if done.end != EndKind::Interrupted {
            return Ok(Some(done));
        }
        done.discard().map_err(|error| Problem::Own(self.site.own_path(), error))?;
        Ok(None)
    }

    /// Moves a run of an arm into the record. One whose server was lost is kept and does not count,
    /// nor does one in which the difference of its arm is not in effect.
    pub(super) fn keep(
        &mut self,
        arm: &Arm,
        mut row: RunRow,
        figures: RunFigures,
        done: &Done,
    ) -> Result<(), ExperimentError> {
        if let Some(versions) = self.runs.other_server(&row.arm, &figures) {
            let _ = std::fs::remove_file(&done.record);
            return Err(ExperimentError::of(arm, Problem::OtherServer { versions }));
        }
        // The server is a part of the machine: without it there is no pair. A simulated server that
        // is lost is lost in every process, which is the result of its arm.
        let is_lost = done.end == EndKind::TargetLost && !is_simulated(arm);
        let told = effect::check_told(arm, &figures.facts);
        if is_lost || told.is_err() {
            // Its round begins again if the experiment is resumed.
            row.state = RunState::Abandoned;
        }
        self.record.add_run(&row, &rows_of(&figures), &done.record)?;
        if is_lost {
            return Err(ExperimentError::of(arm, Problem::Lost));
        }
        told.map_err(|reason| ExperimentError::of(arm, Problem::NotInEffect(reason)))?;
        let event = ExperimentEvent::Ran { number: row.run, figures: &figures };
        self.site.listener.on_event(&event);
        let counts = row.state == RunState::Counts;
        self.runs.push(row, counts.then_some(figures));
        Ok(())
    }

    fn row(&self, run: u32, round: u32, planned: PlannedRun, figures: &RunFigures) -> RunRow {
        let CellOutline { arm, point } = self.cells[planned.arm].clone();
        let phase = if point.is_some() { Phase::Sweep } else { Phase::Compare };
        let row = RunRow {
            run,
            round,
            position: planned.position,
            arm,
            point,
            phase,
            attempt: self.runs.attempts(round),
            state: RunState::Counts,
            verdict: String::new(),
            objections: String::new(),
            seed: planned.seed.0,
        };
        judged(row, figures)
    }

    /// Returns the largest number of runs, if no round is repeated any more.
    fn most_runs(&self) -> u32 {
        let all = self.design.looks.most_pairs() * self.cells.len() as u32;
        self.runs.len() as u32 + all.saturating_sub(self.runs.counting() as u32)
    }

    fn conclude(&mut self, end: ExperimentEnd) -> Result<ExperimentEnd, ExperimentError> {
        let word = match end {
            ExperimentEnd::Complete => "complete",
            ExperimentEnd::Interrupted => "interrupted",
            ExperimentEnd::InstrumentFailed => "instrument-failed",
            ExperimentEnd::NotInEffect => "not-in-effect",
            ExperimentEnd::NotObserved => "not-observed",
        };
        self.record.set_facts(&[(STATE, word.to_owned())])?;
        Ok(end)
    }
}

/// Returns the search of an experiment, if it is one, with its recorded trials.
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
    Ok(Some(search::replayed(order.record, search, &content.runs)?))
}

/// Returns the cell for a run of a round.
fn place_of(experiment: &Experiment, run: usize) -> usize {
    match experiment.design {
        QuestionDesign::Arms => run,
        QuestionDesign::Aa => 0,
    }
}

/// Returns the row of a run with the verdict on its figures.
pub(super) fn judged(row: RunRow, figures: &RunFigures) -> RunRow {
    let verdict = &figures.verdict;
    let objections: Vec<&str> = verdict.objections.iter().map(|(kind, _)| kind.name()).collect();
    RunRow {
        verdict: verdict.status().verdict().to_ascii_lowercase(),
        objections: objections.join(","),
        ..row
    }
}

pub(super) fn rows_of(figures: &RunFigures) -> Vec<Figure> {
    let row = |(metric, value): &(workload::question::RunMetric, f64)| Figure {
        of: metric.of.clone().unwrap_or_default(),
        metric: metric.quantity.name().to_owned(),
        value: *value,
    };
    figures.metrics.iter().map(row).collect()
}
