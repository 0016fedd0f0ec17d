//! Execution of an experiment: its runs in their order, and its looks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use analyze::compare::{
    Design, Look, LookPlan, NextStep, OrderModel, Repeats, RoundState, RunFigures, compare,
    judge_round,
};
use archive::{
    Archive, ExperimentContent, ExperimentWriter, Figure, LookRow, Phase, RunRow, RunState,
};
use base::{Seed, TargetKind};
use engine::{Listener, NoListener, Prepare, Stop};
use record::{EndKind, Load};
use workload::question::{Arm, Design as QuestionDesign, Experiment, Outline, Restore, Rounds};
use workload::{FixedStatement, Warmup};

use super::canary;
use super::commands::{Commands, Moment};
use super::consistency;
use super::effect;
use super::error::{ExperimentError, Problem};
use super::event::{ExperimentEvent, ExperimentListener};
use super::made::{MadeRuns, complete_rounds};
use super::notes;
use super::open_record::{open_record, remove_if_empty};
use super::order::{ExperimentOrder, order_of};
use super::recorded::{INVALID_ARM, STATE, figures, looks_of};
use super::schedule::{PlannedRun, Schedule};
use super::search::{self, RecordedSearch};
use super::servers::Servers;
use super::settings;
use super::settle;
use super::teardown::AsideEvents;
use super::warm_up::{figures_of_round, is_same_round};
use crate::record_place::RecordPlace;
use crate::run::{Done, Order, run_on};

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
    pub(super) order: &'a ExperimentOrder<'a>,
    pub(super) listener: &'a dyn ExperimentListener,
    pub(super) record: ExperimentWriter,
    servers: Servers,
    commands: Commands,
    pub(super) schedule: Schedule,
    design: Design,
    /// The arms of the comparison.
    names: Vec<String>,
    looks: Vec<Look>,
    pub(super) runs: MadeRuns,
    /// The capacity search with the trials that were recorded before, if it is one.
    search: Option<RecordedSearch>,
    /// The loads of the next run, if each run loads the tables again.
    pub(super) reloaded: Vec<Load>,
    /// The data that `[setup]` has made and `[teardown]` not removed, each with the arm through
    /// whose connections it was made.
    set_up: BTreeMap<usize, usize>,
    /// The number of leading rounds that are complete and not to be repeated.
    judged: u32,
}

/// The results of statements beside the runs.
struct Aside {
    loads: Vec<Load>,
    /// A sentence for each failure of a teardown.
    failures: Vec<String>,
}

/// The end of a run, with the statements around it.
enum RunEnd {
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
        let (design, names) = (design(&outline, experiment.writes()), outline.compared());
        consistency::check(order.record, &content, &design, &names)?;
        let seed = experiment.arms[0].plan.seed;
        let orders = experiment.arms.iter().map(|arm| order_of(order, arm, seed));
        let mut orders = orders.collect::<Result<Vec<Order>, ExperimentError>>()?;
        orders.iter_mut().for_each(|order| order.options.prepare = Prepare::Fresh);
        listener.on_event(&ExperimentEvent::Starting);
        let commands = Commands::new(orders[0].options.files.inputs.clone(), order.stop.clone());
        commands.check(experiment)?;
        let servers = Servers::open(&orders, settings::varied(&experiment.arms));
        let servers = servers.map_err(|(arm, error)| {
            ExperimentError::of(&experiment.arms[arm], Problem::Servers(error))
        })?;
        let mut execution = Execution {
            order,
            listener,
            servers,
            commands,
            schedule: schedule(experiment, seed),
            design,
            names,
            looks: looks_of(&content),
            runs: MadeRuns::default(),
            search: recorded_search(order, &content)?,
            reloaded: Vec::new(),
            set_up: BTreeMap::new(),
            judged: 0,
            record,
        };
        execution.resume(content)?;
        Ok(execution)
    }

    /// Prepares the data and runs the rounds.
    fn execute(&mut self) -> Result<ExperimentEnd, ExperimentError> {
        let end = self.try_settings().and_then(|()| self.prepare());
        let end = end.and_then(|()| match self.search.take() {
            Some(search) => self.search(&search),
            None => self.rounds(),
        });
        match end {
            Err(error) if matches!(*error.problem, Problem::NotInEffect(_)) => {
                self.record.set_facts(&[(INVALID_ARM, error.to_string())])?;
                Ok(ExperimentEnd::NotInEffect)
            }
            end => end,
        }
    }

    /// Restarts the private servers once with the settings of every arm that changes some, before
    /// anything is measured, and leaves them with those of their first arm.
    fn try_settings(&mut self) -> Result<(), ExperimentError> {
        for (place, arm) in self.order.experiment.arms.iter().enumerate() {
            if self.is_interrupted() {
                return Ok(());
            }
            if settings::settings_of(arm).next().is_some() {
                self.listener.on_event(&ExperimentEvent::TryingSettings { arm: &arm.name });
                self.restart(place)?;
            }
        }
        for place in self.servers.arms_with_own_data() {
            if self.is_interrupted() {
                return Ok(());
            }
            self.restart(place)?;
        }
        Ok(())
    }

    /// Restarts the private server of an arm and reads its settings back, if arms change settings.
    fn restart(&mut self, place: usize) -> Result<(), ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        let restarted = self
            .servers
            .restart(place)
            .map_err(|problem| Problem::Settings { settings: settings::described(arm), problem });
        let read_back = restarted.and_then(|()| match self.servers.private_kind(place) {
            Some(kind) => settings::read_back(self.servers.stage(place), kind, arm),
            None => Ok(()),
        });
        read_back.map_err(|problem| ExperimentError::of(arm, problem))
    }

    /// Takes over the runs of an interrupted experiment. The runs of an incomplete round are
    /// abandoned, because the other half of their pairs would be measured on other servers;
    /// simulated servers are the same in every process. The last complete round is judged again:
    /// the process may have ended before it was.
    fn resume(&mut self, content: ExperimentContent) -> Result<(), ExperimentError> {
        for own in [self.own_path(), self.aside_path()].into_iter().filter(|own| own.exists()) {
            std::fs::remove_file(&own).map_err(|error| Problem::Own(own, error))?;
        }
        let keeps = self.order.experiment.arms.iter().all(is_simulated);
        let complete = complete_rounds(content.runs.iter(), self.design.arms);
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
        let looked = self.looks.iter().map(|look| look.pairs).max().unwrap_or_default();
        self.judged = complete.saturating_sub(1).max(looked);
        Ok(self.record.set_state(&abandoned, RunState::Abandoned)?)
    }

    /// Fills the tables of every server, and lets the servers settle.
    fn prepare(&mut self) -> Result<(), ExperimentError> {
        for place in self.servers.arms_with_own_data() {
            if self.is_interrupted() {
                break;
            }
            let arm = &self.order.experiment.arms[place];
            self.listener.on_event(&ExperimentEvent::Preparing { arm: &arm.name });
            if self.order.is_resumed {
                // What a killed experiment has left; there may be nothing.
                let _ = self.aside(place, |order| order.plan.setup.clear());
            }
            self.load(place)?;
        }
        Ok(())
    }

    /// Runs setup and loads of an arm, and returns the loads.
    fn load(&mut self, place: usize) -> Result<Vec<Load>, ExperimentError> {
        let events = Arc::new(AsideEvents::default());
        let done = self.aside_heard(place, &events, |order| {
            order.plan.teardown.clear();
            order.options.prepare = Prepare::Fresh;
        });
        if events.is_set_up() {
            self.set_up.insert(self.servers.data_of(place), place);
        }
        let done = done?;
        self.settle(place, "the load")?;
        Ok(done.loads)
    }

    /// Lets the server of an arm settle after a load or a restore, and counts the rows.
    fn settle(&self, place: usize, after: &'static str) -> Result<(), ExperimentError> {
        let plan = &self.order.experiment.arms[place].plan;
        if is_simulated(&self.order.experiment.arms[place]) || self.is_interrupted() {
            return Ok(());
        }
        let dialect = plan.target.as_ref().map_or(base::Dialect::Sqlite, |it| it.dialect());
        for statement in settle::statements(plan, dialect) {
            // A user without the right to it has a server that settles later.
            let _ = self.aside(place, |order| only(order, &[statement]));
        }
        self.verify_rows(place, after)
    }

    /// Counts the rows of the tables, which must be those of the load.
    fn verify_rows(&self, place: usize, after: &'static str) -> Result<(), ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        if is_simulated(arm) || arm.plan.loads.is_empty() {
            return Ok(());
        }
        let verified = self.aside(place, |order| {
            order.plan.setup.clear();
            order.plan.teardown.clear();
            order.options.prepare = Prepare::Verify;
        });
        verified.map(drop).map_err(|error| error.of_rows(after))
    }

    /// Runs `[teardown]` on every server that was set up. A failure does not change the answer; it
    /// is reported.
    fn tear_down(&self) {
        for place in self.set_up.values().copied() {
            if self.order.experiment.arms[place].plan.teardown.is_empty() {
                continue;
            }
            let torn_down = self.aside(place, |order| {
                order.plan.setup.clear();
                // The end of the experiment does not interrupt it.
                order.stop = self.order.stop.of_one_undisturbed_run();
            });
            match torn_down {
                Ok(done) => done.failures.iter().for_each(|sentence| self.warn(sentence)),
                Err(error) => self.warn(&told(&error)),
            }
        }
    }

    fn warn(&self, sentence: &str) {
        self.listener.on_event(&ExperimentEvent::Warning { sentence });
        notes::warned(&self.record, self.order.experiment, sentence);
    }

    /// Runs statements once, unless `stop` ends them.
    fn statements(
        &self,
        place: usize,
        (key, statements): (&'static str, &[FixedStatement]),
        stop: Stop,
    ) -> Result<(), ExperimentError> {
        if statements.is_empty() {
            return Ok(());
        }
        let ran = self.aside(place, |order| {
            only(order, statements);
            order.stop = stop;
        });
        ran.map(drop).map_err(|error| error.of_statement(key))
    }

    /// Returns the stop of something that ends with the experiment.
    fn own_stop(&self) -> Stop {
        self.order.stop.of_one_run()
    }

    /// Returns true if the user has ended the experiment.
    pub(super) fn is_interrupted(&self) -> bool {
        self.order.stop.is_asked()
    }

    /// Runs the fixed parts of an arm's plan that `change` leaves, without jobs and record.
    fn aside(
        &self,
        place: usize,
        change: impl FnOnce(&mut Order),
    ) -> Result<Aside, ExperimentError> {
        self.aside_heard(place, &Arc::default(), change)
    }

    /// As [`Execution::aside`]; `events` hears what happens, also if it fails.
    fn aside_heard(
        &self,
        place: usize,
        events: &Arc<AsideEvents>,
        change: impl FnOnce(&mut Order),
    ) -> Result<Aside, ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        let mut order = order_of(self.order, arm, arm.plan.seed)?;
        order.plan.jobs.clear();
        order.options.prepare = Prepare::Keep;
        order.options.teardown = true;
        order.stop = self.own_stop();
        change(&mut order);
        if order.options.prepare == Prepare::Keep {
            order.plan.loads.clear();
        } else {
            order.options.teardown = false;
        }
        order.record = RecordPlace::Exactly(self.aside_path());
        let listener = Arc::clone(events) as Arc<dyn Listener>;
        let done = run_on(self.servers.stage(place), order, listener, |_| {});
        let done = done.map_err(|error| ExperimentError::of(arm, Problem::Run(error)))?;
        let missing = done.missing_target.clone();
        let loads = Archive::open(&done.record).and_then(|archive| archive.loads());
        done.discard().map_err(|error| Problem::Own(self.aside_path(), error))?;
        match missing {
            Some(missing) => Err(ExperimentError::of(arm, Problem::Unreachable(missing.reason))),
            None => Ok(Aside {
                loads: loads?.into_iter().map(|report| report.load).collect(),
                failures: events.take_failures(),
            }),
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

    fn look(&mut self, pairs: u32) -> Result<(), ExperimentError> {
        let comparison = compare(&self.design, &self.runs.counted(&self.names), pairs);
        let look = Look { pairs, is_decided: comparison.is_decided() };
        self.record.add_look(LookRow { pairs, is_decided: look.is_decided })?;
        self.looks.push(look);
        self.listener.on_event(&ExperimentEvent::Looked { pairs, is_decided: look.is_decided });
        Ok(())
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
        let repeats = Repeats {
            of_round: self.runs.attempts(round),
            other_rounds: self.runs.repeated_rounds_beside(round),
            pairs: pairs_due,
        };
        let verdicts = self.runs.figures_of_round(round).map(|figures| &figures.verdict);
        match judge_round(verdicts, repeats) {
            RoundState::Counts => Ok(RoundEnd::Counts),
            RoundState::Lost => Ok(RoundEnd::Lost),
            RoundState::Repeat => {
                let runs = self.runs.repeat(round);
                self.record.set_state(&runs, RunState::Repeated)?;
                self.listener.on_event(&ExperimentEvent::Repeating { round });
                Ok(RoundEnd::Repeats)
            }
        }
    }

    /// Computes the figures of a round again, after the latest end of a warm-up in it, unless the
    /// warm-up was given.
    fn share_warm_up(&mut self, round: u32) -> Result<(), ExperimentError> {
        if self.order.experiment.arms.iter().all(|arm| arm.plan.warmup != Warmup::Auto) {
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

    /// Makes a run, with the statements around it.
    fn run(&mut self, round: u32, planned: PlannedRun) -> Result<RunEnd, ExperimentError> {
        let experiment = self.order.experiment;
        let place = place_of(experiment, planned.arm);
        if !self.is_interrupted() {
            self.restart(place)?;
            self.restore(place)?;
        }
        if self.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let made = self.before(place).and_then(|()| self.make(round, planned));
        // It undoes what was done before the run, however that ended, also after an interrupt.
        match (made, self.after(place)) {
            (Ok(RunEnd::Done), Err(error)) => Err(error),
            (made, Err(error)) => {
                self.warn(&told(&error));
                made
            }
            (made, Ok(())) => made,
        }
    }

    /// Runs the programs and the statements before a run of an arm.
    fn before(&self, place: usize) -> Result<(), ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        self.command(place, Moment::Before)?;
        self.statements(place, ("before", &arm.before), self.own_stop())
    }

    /// Runs the statements and the programs after a run of an arm, the programs also if a statement
    /// failed.
    fn after(&self, place: usize) -> Result<(), ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        let statements =
            self.statements(place, ("after", &arm.after), self.order.stop.of_one_undisturbed_run());
        let programs = self.command(place, Moment::After);
        statements.and(programs)
    }

    fn command(&self, place: usize, moment: Moment) -> Result<(), ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        let run = self.commands.run(arm, moment, self.servers.stage(place));
        run.map_err(|problem| ExperimentError::of(arm, problem))
    }

    /// Measures a run and moves it into the record.
    fn make(&mut self, round: u32, planned: PlannedRun) -> Result<RunEnd, ExperimentError> {
        if self.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let number = self.runs.len() as u32 + 1;
        let experiment = self.order.experiment;
        let place = place_of(experiment, planned.arm);
        let arm = &experiment.arms[place];
        let most = self.most_runs();
        let name = self.names[planned.arm].clone();
        self.listener.on_event(&ExperimentEvent::Running { number, most, round, arm: &name });
        let done = self.measure(place, planned)?;
        if done.end == EndKind::Interrupted {
            done.discard().map_err(|error| Problem::Own(self.own_path(), error))?;
            return Ok(RunEnd::Interrupted);
        }
        let archive = Archive::open(&done.record)?;
        let figures = figures(&archive)?;
        drop(archive);
        if let Some(versions) = self.runs.other_server(&name, &figures) {
            let _ = std::fs::remove_file(&done.record);
            return Err(ExperimentError::of(arm, Problem::OtherServer { versions }));
        }
        let mut row = self.row(number, round, planned, name, &figures);
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
        self.listener.on_event(&ExperimentEvent::Ran { number, figures: &figures });
        self.runs.push(row, Some(figures));
        Ok(RunEnd::Done)
    }

    fn row(
        &self,
        run: u32,
        round: u32,
        planned: PlannedRun,
        arm: String,
        figures: &RunFigures,
    ) -> RunRow {
        let row = RunRow {
            run,
            round,
            position: planned.position,
            arm,
            point: None,
            phase: Phase::Compare,
            attempt: self.runs.attempts(round),
            state: RunState::Counts,
            verdict: String::new(),
            objections: String::new(),
            seed: planned.seed.0,
        };
        judged(row, figures)
    }

    /// Runs the jobs of an arm.
    fn measure(&self, place: usize, planned: PlannedRun) -> Result<Done, ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        let mut order = order_of(self.order, arm, planned.seed)?;
        let checked = effect::check_order(arm, &order);
        checked.map_err(|reason| ExperimentError::of(arm, Problem::NotInEffect(reason)))?;
        order.loads.clone_from(&self.reloaded);
        self.measure_order(place, planned, order, |_| {})
    }

    /// Runs the jobs of an order on the server of an arm; `begin` completes the order just before.
    pub(super) fn measure_order(
        &self,
        place: usize,
        planned: PlannedRun,
        mut order: Order,
        begin: impl FnOnce(&mut Order),
    ) -> Result<Done, ExperimentError> {
        let arm = &self.order.experiment.arms[place];
        order.options.prepare = Prepare::Keep;
        order.options.teardown = false;
        order.server_seed = Some(planned.server);
        order.record = RecordPlace::Exactly(self.own_path());
        order.stop = self.own_stop();
        let measured = canary::measure(&mut order);
        measured.map_err(|problem| ExperimentError::of(arm, Problem::Canary(problem)))?;
        begin(&mut order);
        let stage = self.servers.stage(place);
        let done = run_on(stage, order, Arc::new(NoListener), |live| self.listener.watch(live));
        let mut done = done.map_err(|error| ExperimentError::of(arm, Problem::Run(error)))?;
        let problem = match (done.missing_target.take(), done.record_error.take()) {
            (Some(missing), _) => Problem::Unreachable(missing.reason),
            (None, Some(error)) => Problem::Record(error),
            (None, None) => return Ok(done),
        };
        let _ = done.discard();
        Err(ExperimentError::of(arm, problem))
    }

    /// Brings the data back to its state after the load.
    pub(super) fn restore(&mut self, place: usize) -> Result<(), ExperimentError> {
        match self.order.experiment.restore {
            Restore::None => Ok(()),
            Restore::Statements(_) => {
                let statements = &self.order.experiment.arms[place].restore;
                self.statements(place, ("restore", statements), self.own_stop())?;
                self.settle(place, "`restore`")
            }
            Restore::Reload => {
                let removed = self.aside(place, |order| order.plan.setup.clear())?;
                removed.failures.iter().for_each(|sentence| self.warn(sentence));
                if !self.is_interrupted() {
                    self.set_up.remove(&self.servers.data_of(place));
                    self.reloaded = self.load(place)?;
                }
                Ok(())
            }
        }
    }

    /// Returns the largest number of runs, if no round is repeated any more.
    fn most_runs(&self) -> u32 {
        let all = self.design.looks.most_pairs() * self.design.arms as u32;
        self.runs.len() as u32 + all.saturating_sub(self.runs.counting() as u32)
    }

    fn conclude(&mut self, end: ExperimentEnd) -> Result<ExperimentEnd, ExperimentError> {
        let word = match end {
            ExperimentEnd::Complete => "complete",
            ExperimentEnd::Interrupted => "interrupted",
            ExperimentEnd::InstrumentFailed => "instrument-failed",
            ExperimentEnd::NotInEffect => "not-in-effect",
        };
        self.record.set_facts(&[(STATE, word.to_owned())])?;
        Ok(end)
    }

    /// Returns the path of the record of the run in progress.
    pub(super) fn own_path(&self) -> PathBuf {
        self.beside("-run")
    }

    /// Returns the path of the record of statements beside the runs, which is not kept.
    fn aside_path(&self) -> PathBuf {
        self.beside("-aside")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.order.record.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
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

/// Returns an error with its causes, as a sentence.
fn told(error: &ExperimentError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Reduces an order to statements.
fn only(order: &mut Order, statements: &[FixedStatement]) {
    order.plan.setup = statements.to_vec();
    order.plan.loads.clear();
    order.plan.teardown.clear();
    order.options.prepare = Prepare::Fresh;
}

pub(super) fn is_simulated(arm: &Arm) -> bool {
    arm.plan.target.as_ref().is_some_and(|target| target.kind == TargetKind::Sim)
}

fn schedule(experiment: &Experiment, seed: Seed) -> Schedule {
    let runs = experiment.outline().compared().len();
    Schedule { runs, seed, is_counterbalanced: experiment.writes() }
}

/// Returns the arm of the file for an arm of the comparison.
fn place_of(experiment: &Experiment, compared: usize) -> usize {
    match experiment.design {
        QuestionDesign::Arms => compared,
        QuestionDesign::Aa => 0,
    }
}

/// Returns the statistics of an experiment; those of one that may change data fit the effect of the
/// order of runs.
pub fn design(outline: &Outline, is_counterbalanced: bool) -> Design {
    Design {
        arms: outline.compared().len(),
        looks: match outline.rounds {
            Rounds::Auto => LookPlan::Auto,
            Rounds::Exactly(rounds) => LookPlan::Fixed(rounds),
        },
        order: match is_counterbalanced {
            true => OrderModel::Counterbalanced,
            false => OrderModel::Random,
        },
        bets: outline.bets.clone(),
        deltas: outline.deltas.clone(),
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
