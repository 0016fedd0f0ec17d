//! The servers of an experiment, and all actions on them: settings, data, statements and programs
//! around the runs, and the runs themselves. Rounds and records are handled in other modules.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use archive::Archive;
use base::{Id, Secrets, Seed, with_suffix};
use engine::{Listener, NoListener, Prepare, Stop};
use record::environment::generator::{BEFORE_READ_BACK, INSERTS, VARIES_SERVERS};
use record::{Excerpt, ExcerptKind, Load};
use workload::question::{Arm, Difference, Restore, StatementKey, VariedLoad};
use workload::{FixedStatement, Plan};

use super::arm_point::ArmPointId;
use super::before_settings;
use super::canary;
use super::commands::{Commands, HookEnd, HookPoint};
use super::effect;
use super::error::{ContradictingState, DataStep, ExperimentError, NotInEffect, Problem};
use super::event::{ExperimentEvent, ExperimentListener};
use super::order::{ExperimentOrder, order_of};
use super::schedule::PlannedRun;
use super::servers::{Servers, StageId};
use super::settings::{self, InspectedServer};
use super::settle;
use super::teardown::{SetupEvents, TeardownFailure};
use crate::evidence::YES;
use crate::record_place::RecordPlace;
use crate::run::{ExampleResult, Order, RunResult, run_on};

/// The servers of an experiment with the data on them.
pub(super) struct ExperimentServers<'a> {
    pub(super) order: &'a ExperimentOrder<'a>,
    pub(super) listener: &'a dyn ExperimentListener,
    servers: Servers,
    commands: Commands,
    /// The loads that were executed for the next run, if the tables are loaded again for each run.
    reloaded: Vec<Load>,
    /// Facts about the latest load of each stage: the tables that were filled by inserts although
    /// the server has a faster method, each with the reason.
    inserts: BTreeMap<StageId, Vec<(String, String)>>,
    /// Excerpts of the tables on each stage, until they are stored in the record of the first run
    /// on that stage.
    excerpts: RefCell<BTreeMap<StageId, Vec<Excerpt>>>,
    /// Results of the examples of the first run, by stage.
    results: BTreeMap<StageId, Vec<ExampleResult>>,
    /// The rate or concurrency that replaces that of the workload in every run; `None` until the
    /// search for saturation has found it.
    pub(super) load: Option<FixedLoad>,
    /// The stages whose data `[setup]` has created and `[teardown]` has not removed, each with the
    /// arm whose connections created the data.
    set_up: BTreeMap<StageId, ArmPointId>,
    /// True once a run has ended, even if its record is lost.
    has_ended_run: Cell<bool>,
}

/// A rate or concurrency of a job that replaces the one in the workload, in the runs of every arm.
pub(super) struct FixedLoad {
    pub(super) vary: VariedLoad,
    pub(super) value: f64,
}

/// The results of statements outside of the runs.
struct AuxiliaryResult {
    loads: Vec<Load>,
    /// Facts about the tables that were filled by inserts although the server has a faster method.
    inserts: Vec<(String, String)>,
    excerpts: Vec<Excerpt>,
    /// The failures of a teardown.
    failures: Vec<TeardownFailure>,
}

/// The result of the statements and programs after a run.
pub(super) struct AfterSteps {
    /// Success, or the first error.
    pub(super) result: Result<(), ExperimentError>,
    /// A sentence for each key whose statements or programs were interrupted by the user.
    pub(super) interrupted: Vec<String>,
}

impl<'a> ExperimentServers<'a> {
    /// Starts the servers.
    pub(super) fn open(
        order: &'a ExperimentOrder<'a>,
        listener: &'a dyn ExperimentListener,
    ) -> Result<ExperimentServers<'a>, ExperimentError> {
        let experiment = order.experiment;
        let arm_points = experiment.arm_points();
        let orders =
            arm_points.iter().map(|arm_point| order_of(order, arm_point, arm_point.plan.seed));
        let mut orders = orders.collect::<Result<Vec<Order>, ExperimentError>>()?;
        orders.iter_mut().for_each(|order| order.options.prepare = Prepare::Fresh);
        listener.on_event(&ExperimentEvent::ServersStarting);
        let commands = Commands::new(orders[0].options.files.inputs.clone(), order.stop.clone());
        commands.check(experiment)?;
        let servers = Servers::open(arm_points, &orders, settings::varied_settings(arm_points));
        let servers = servers.map_err(|(id, error)| {
            ExperimentError::of(&arm_points[id.index()], Problem::Servers(error))
        })?;
        let (reloaded, inserts, set_up) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let (load, excerpts, results) = (None, RefCell::default(), BTreeMap::new());
        Ok(ExperimentServers {
            order,
            listener,
            servers,
            commands,
            reloaded,
            inserts,
            excerpts,
            results,
            load,
            set_up,
            has_ended_run: Cell::new(false),
        })
    }

    /// Returns the secrets of the arms and the passwords of their targets. Texts from a server may
    /// repeat them.
    pub(super) fn secrets(&self) -> Secrets {
        Secrets::of_all([self.order.experiment.secrets(), self.servers.passwords()])
    }

    fn arm_point(&self, id: ArmPointId) -> &'a Arm {
        &self.order.experiment.arm_points()[id.index()]
    }

    /// Tests the settings of the arms before anything is measured: restarts the private servers
    /// with the settings of each arm that changes some, and finally with the settings of the first
    /// arm on each server.
    fn try_settings(&mut self) -> Result<(), ExperimentError> {
        for (index, arm) in self.order.experiment.arm_points().iter().enumerate() {
            let id = ArmPointId(index);
            if self.is_interrupted() {
                return Ok(());
            }
            if settings::settings_of(arm).next().is_some() {
                self.listener.on_event(&ExperimentEvent::TryingSettings { arm: &arm.to_string() });
                self.restart(id)?;
            }
        }
        for id in self.servers.arms_with_own_data() {
            if self.is_interrupted() {
                return Ok(());
            }
            self.restart(id)?;
        }
        Ok(())
    }

    /// Restarts the private server of an arm and reads the arm's settings back, if arms change any.
    pub(super) fn restart(&mut self, id: ArmPointId) -> Result<(), ExperimentError> {
        let arm = self.arm_point(id);
        let restarted = self.servers.restart(id).map_err(|problem| {
            let settings = settings::describe_settings(arm);
            Problem::Settings { settings, problem }
        });
        let read_back = restarted.and_then(|()| match self.servers.private_kind(id) {
            Some(kind) => settings::read_back(self.inspected_server(id), kind, arm),
            None => Ok(()),
        });
        read_back.map_err(|problem| ExperimentError::of(arm, problem))
    }

    /// Connects to every host of every arm. Without this check, an unreachable server would be
    /// noticed only after the tables of another server have been filled.
    fn connect_to_hosts(&self) -> Result<(), ExperimentError> {
        for id in self.servers.arms_with_own_endpoint() {
            if self.is_interrupted() {
                break;
            }
            let arm = self.arm_point(id);
            self.servers.stage(id).reach(&arm.plan).map_err(|unreachable| {
                let reason = arm.plan.secrets().hide(&unreachable.to_string());
                ExperimentError::of(arm, Problem::Unreachable(reason))
            })?;
        }
        Ok(())
    }

    /// Tries the settings of every arm and connects to every server. Then fills the tables of each
    /// server and lets the server settle. `first` is the seed of the first run.
    pub(super) fn prepare(&mut self, first: Seed) -> Result<(), ExperimentError> {
        self.try_settings()?;
        self.connect_to_hosts()?;
        for id in self.servers.arms_with_own_data() {
            if self.is_interrupted() {
                break;
            }
            let arm = self.arm_point(id);
            self.listener.on_event(&ExperimentEvent::Preparing { arm: &arm.to_string() });
            if self.order.is_resumed {
                // Remove the data that a killed experiment may have left.
                let _ = self.run_auxiliary(id, |order| order.plan.setup.clear());
            }
            let shown = order_of(self.order, arm, first)?.plan;
            let loaded = self.load(id, Some(shown))?;
            let data = self.servers.data_of(id);
            let (results, tables) = with_results(loaded.excerpts);
            self.excerpts.borrow_mut().insert(data, tables);
            self.results.insert(data, results);
        }
        Ok(())
    }

    /// Runs the setup and the loads of an arm. If a plan is given, also reads excerpts of the
    /// tables, and executes the examples of that plan.
    fn load(
        &mut self,
        id: ArmPointId,
        shown: Option<Plan>,
    ) -> Result<AuxiliaryResult, ExperimentError> {
        let events = Arc::new(SetupEvents::default());
        let done = self.run_auxiliary_with_events(id, &events, |order| {
            order.plan.teardown.clear();
            order.options.prepare = Prepare::Fresh;
            order.options.shows_tables = shown.is_some();
            order.examples_of = shown;
        });
        if events.is_set_up() {
            self.set_up.insert(self.servers.data_of(id), id);
        }
        let mut done = done?;
        self.inserts.insert(self.servers.data_of(id), std::mem::take(&mut done.inserts));
        self.settle_server(id, DataStep::Load)?;
        Ok(done)
    }

    /// Lets the server of an arm settle after a load or a restore, and counts the rows.
    fn settle_server(&self, id: ArmPointId, after: DataStep) -> Result<(), ExperimentError> {
        let arm = self.arm_point(id);
        let plan = &arm.plan;
        if !arm.uses_main() || arm.is_simulated() || self.is_interrupted() {
            return Ok(());
        }
        for statement in settle::statements(plan) {
            let text = statement.text.clone();
            let ran = self.run_auxiliary(id, |order| retain_statements(order, &[statement]));
            // Other errors, such as a missing privilege, are ignored, because the server settles
            // later without the statement.
            if let Some(error) = ran.err().and_then(|error| error.of_settling(text, after)) {
                return Err(error);
            }
        }
        self.verify_rows(id, after)
    }

    /// Checks that each table has as many rows as the load inserted.
    fn verify_rows(&self, id: ArmPointId, after: DataStep) -> Result<(), ExperimentError> {
        let arm = self.arm_point(id);
        if arm.is_simulated() || arm.plan.loads.is_empty() {
            return Ok(());
        }
        let verified = self.run_auxiliary(id, |order| {
            order.plan.setup.clear();
            order.plan.teardown.clear();
            order.options.prepare = Prepare::Verify;
        });
        verified.map(drop).map_err(|error| error.of_rows(after))
    }

    /// Runs `[teardown]` for all data that `[setup]` has created and that `[teardown]` has not
    /// removed, and returns a sentence for each failure. The data of a `[setup]` that failed before
    /// the loads are left, because they may belong to another user.
    pub(super) fn tear_down(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for id in self.set_up.values().copied() {
            if self.arm_point(id).plan.teardown.is_empty() {
                continue;
            }
            let torn_down = self.run_auxiliary(id, |order| {
                order.plan.setup.clear();
                order.stop = self.stop_of_teardown();
            });
            match torn_down {
                Ok(done) => failures.extend(done.failures.into_iter().map(|it| it.sentence)),
                Err(error) => failures.push(with_cause(&error)),
            }
        }
        failures
    }

    /// Runs the statements of a key once.
    fn run_statements(&self, id: ArmPointId, key: StatementKey) -> Result<(), ExperimentError> {
        let statements = self.arm_point(id).statements(key);
        if statements.is_empty() {
            return Ok(());
        }
        let ran = self.run_auxiliary(id, |order| retain_statements(order, statements));
        ran.map(drop).map_err(|error| error.of_statement(key))
    }

    /// Runs the statements of `after` like a teardown: even if one fails, the others run. The
    /// statements after one that is not answered within `stall-timeout` share one more of it.
    fn run_after_statements(&self, id: ArmPointId) -> Result<HookEnd, ExperimentError> {
        let arm = self.arm_point(id);
        if arm.after.is_empty() {
            return Ok(HookEnd::AllRan);
        }
        let stop = self.stop_of_teardown();
        let undone = self.run_auxiliary(id, |order| {
            order.plan.setup.clear();
            order.plan.teardown.clone_from(&arm.after);
            order.stop = stop.clone();
        });
        match undone?.failures.into_iter().next() {
            Some(first) => Err(ExperimentError::of(arm, first.of_key(StatementKey::After))),
            None if stop.is_requested() => Ok(HookEnd::Interrupted),
            None => Ok(HookEnd::AllRan),
        }
    }

    /// Returns the stop request of a teardown. An interrupt ends the teardown. If an interrupt has
    /// already ended the experiment, only a further interrupt ends the teardown.
    fn stop_of_teardown(&self) -> Stop {
        match self.is_interrupted() {
            true => self.order.stop.child_for_teardown(),
            false => self.own_stop(),
        }
    }

    /// Returns a stop request for an action that ends together with the experiment.
    fn own_stop(&self) -> Stop {
        self.order.stop.child()
    }

    /// Returns true if the user has ended the experiment.
    pub(super) fn is_interrupted(&self) -> bool {
        self.order.stop.is_requested()
    }

    /// Runs setup, loads or teardown of an arm outside of the runs, after `change` has adapted the
    /// order. By default, only the teardown runs. If `change` sets `prepare` to `Fresh`, setup and
    /// loads run instead; with `Verify`, the rows of the tables are counted instead. The record is
    /// temporary and is removed.
    fn run_auxiliary(
        &self,
        id: ArmPointId,
        change: impl FnOnce(&mut Order),
    ) -> Result<AuxiliaryResult, ExperimentError> {
        self.run_auxiliary_with_events(id, &Arc::default(), change)
    }

    /// Does the same as [`ExperimentServers::run_auxiliary`], and reports the events to `events`,
    /// even if a statement fails.
    fn run_auxiliary_with_events(
        &self,
        id: ArmPointId,
        events: &Arc<SetupEvents>,
        change: impl FnOnce(&mut Order),
    ) -> Result<AuxiliaryResult, ExperimentError> {
        let arm = self.arm_point(id);
        let mut order = order_of(self.order, arm, arm.plan.seed)?;
        order.plan.jobs.clear();
        order.options.prepare = Prepare::Keep;
        // The tables are not read before a measured run, because this takes time and fills the
        // cache.
        order.options.shows_tables = false;
        order.options.teardown = true;
        order.stop = self.own_stop();
        change(&mut order);
        if order.options.prepare == Prepare::Keep {
            order.plan.loads.clear();
        } else {
            order.options.teardown = false;
        }
        order.record = RecordPlace::Exactly(self.auxiliary_path());
        let listener = Arc::clone(events) as Arc<dyn Listener>;
        let done = run_on(self.servers.stage(id), order, listener, |_| {});
        let done = done.map_err(|error| ExperimentError::of(arm, Problem::Run(error)))?;
        let missing = done.missing_target.clone();
        let archive = Archive::open(&done.record);
        let read = archive
            .and_then(|archive| Ok((archive.loads()?, archive.settings()?, archive.excerpts()?)));
        done.discard().map_err(|error| Problem::RunRecord(self.auxiliary_path(), error))?;
        match missing {
            Some(missing) => Err(ExperimentError::of(arm, Problem::Unreachable(missing.reason))),
            None => {
                let (loads, settings, excerpts) = read?;
                let is_insert = |(name, _): &(String, String)| name.starts_with(INSERTS);
                Ok(AuxiliaryResult {
                    loads: loads.into_iter().map(|report| report.load).collect(),
                    inserts: settings.into_iter().filter(is_insert).collect(),
                    excerpts,
                    failures: events.take_failures(),
                })
            }
        }
    }

    /// Runs the programs and the statements before a run of an arm.
    pub(super) fn run_before_steps(&self, id: ArmPointId) -> Result<(), ExperimentError> {
        self.run_commands(id, HookPoint::Before)?;
        self.run_statements(id, StatementKey::Before)
    }

    /// Runs the statements and then the programs after a run of an arm. The programs run even if a
    /// statement failed.
    pub(super) fn run_after_steps(&self, id: ArmPointId) -> AfterSteps {
        let ends = [
            (StatementKey::After.name(), self.run_after_statements(id)),
            (HookPoint::After.key(), self.run_commands(id, HookPoint::After)),
        ];
        let is_interrupted = |end: &Result<HookEnd, _>| matches!(end, Ok(HookEnd::Interrupted));
        let ended = ends.iter().filter(|(_, end)| is_interrupted(end)).map(|(key, _)| {
            let arm = self.arm_point(id);
            format!("{arm}: an interrupt ended `{key}` before all of it was done")
        });
        let interrupted = ended.collect();
        let [(_, statements), (_, programs)] = ends;
        AfterSteps { result: statements.and(programs).map(drop), interrupted }
    }

    /// Undoes the changes that an earlier process made before its last run: executes the statements
    /// and programs after a run for every arm. They may fail if the changes were already undone, or
    /// never made; this is ignored. Returns false if the user has ended the experiment, because
    /// some changes may then still be there.
    pub(super) fn undo_leftovers(&self) -> bool {
        let all = self.order.experiment.arm_points();
        for (index, arm) in all.iter().enumerate() {
            // At all points of a sweep, an arm has the same statements and programs around its
            // runs.
            let is_first = all[..index].iter().all(|other| other.name != arm.name);
            if is_first && !arm.is_simulated() && !self.is_interrupted() {
                let _ = self.run_after_steps(ArmPointId(index));
            }
        }
        !self.is_interrupted()
    }

    fn run_commands(&self, id: ArmPointId, hook: HookPoint) -> Result<HookEnd, ExperimentError> {
        let arm = self.arm_point(id);
        let run = self.commands.run(arm, hook, self.servers.stage(id));
        run.map_err(|problem| ExperimentError::of(arm, problem))
    }

    /// Runs the jobs of an arm.
    pub(super) fn measure(
        &self,
        id: ArmPointId,
        planned: PlannedRun,
    ) -> Result<RunResult, ExperimentError> {
        let order = self.order_at(id, planned, self.load.as_ref())?;
        self.measure_order(id, planned, order, |_| {})
    }

    /// Builds the parameters of a run of an arm, with this rate or concurrency if one is given.
    ///
    /// # Errors
    /// A file has changed, or the run would not have the difference of the arm.
    pub(super) fn order_at(
        &self,
        id: ArmPointId,
        planned: PlannedRun,
        load: Option<&FixedLoad>,
    ) -> Result<Order, ExperimentError> {
        let arm = self.arm_point(id);
        let order = order_of(self.order, arm, planned.seed)?;
        let checked = effect::check_order(arm, &order);
        checked.map_err(|error| ExperimentError::of(arm, Problem::NotInEffect(error)))?;
        match load {
            None => Ok(order),
            Some(FixedLoad { vary, value }) => {
                order_of(self.order, &arm.with_load(vary, *value), planned.seed)
            }
        }
    }

    /// Runs the jobs of an order on the server of an arm, after checking the settings of the server
    /// and measuring the canary. `begin` can change the order just before the start.
    pub(super) fn measure_order(
        &self,
        id: ArmPointId,
        planned: PlannedRun,
        mut order: Order,
        begin: impl FnOnce(&mut Order),
    ) -> Result<RunResult, ExperimentError> {
        let arm = self.arm_point(id);
        order.options.prepare = Prepare::Keep;
        order.options.teardown = false;
        order.loads.clone_from(&self.reloaded);
        let excerpts = self.excerpts.borrow_mut().remove(&self.servers.data_of(id));
        order.excerpts = excerpts.unwrap_or_default();
        let results = self.results.get(&self.servers.data_of(id));
        order.results = results.cloned().unwrap_or_default();
        order.server_seed = Some(planned.server);
        order.record = RecordPlace::Exactly(self.run_record_path());
        order.stop = self.own_stop();
        self.refuse_leftovers(id)?;
        if self.read_back_settings(id)? {
            order.facts.push((BEFORE_READ_BACK.to_owned(), YES.to_owned()));
        }
        if arm.differences.iter().any(|one| matches!(one, Difference::Nodes(_))) {
            order.facts.push((VARIES_SERVERS.to_owned(), YES.to_owned()));
        }
        let inserts = self.inserts.get(&self.servers.data_of(id));
        order.facts.extend(inserts.into_iter().flatten().cloned());
        let measured = canary::measure(&mut order);
        measured.map_err(|problem| ExperimentError::of(arm, Problem::Canary(problem)))?;
        begin(&mut order);
        let stage = self.servers.stage(id);
        let done = run_on(stage, order, Arc::new(NoListener), |live| self.listener.watch(live));
        let mut done = done.map_err(|error| ExperimentError::of(arm, Problem::Run(error)))?;
        self.has_ended_run.set(true);
        let problem = match (done.missing_target.take(), done.record_error.take()) {
            (Some(missing), _) => Problem::Unreachable(missing.reason),
            // A record on a full disk can be read; one that was deleted or damaged cannot.
            (None, Some(error)) => {
                Problem::Record(Archive::open(&done.record).err().unwrap_or(error))
            }
            (None, None) => return Ok(done),
        };
        let _ = done.discard();
        Err(ExperimentError::of(arm, problem))
    }

    /// Returns true once a run has ended, even if its record is lost.
    pub(super) fn has_ended_run(&self) -> bool {
        self.has_ended_run.get()
    }

    /// Reads back the settings that the statements before a run of an arm have set; returns true if
    /// every change by these statements is in effect.
    fn read_back_settings(&self, id: ArmPointId) -> Result<bool, ExperimentError> {
        let arm = self.arm_point(id);
        if arm.is_simulated() {
            return Ok(false);
        }
        let read = before_settings::read_back(arm, self.inspected_server(id));
        read.map_err(|problem| ExperimentError::of(arm, problem))
    }

    /// Checks the server before a run of an arm without differences, usually the baseline.
    ///
    /// # Errors
    /// The settings of another arm are in effect on the server, so both arms would be the same; or
    /// the server does not answer.
    fn refuse_leftovers(&self, id: ArmPointId) -> Result<(), ExperimentError> {
        let experiment = &self.order.experiment;
        let plain = self.arm_point(id);
        // The arm as it is in the file, without the difference that all arms have at this point of
        // a sweep.
        let of_file = |arm: &Arm| experiment.arms.iter().find(|one| one.name == arm.name);
        let is_plain = of_file(plain).is_some_and(|arm| arm.differences.is_empty());
        if plain.is_simulated() || !is_plain {
            return Ok(());
        }
        for (index, arm) in experiment.arm_points().iter().enumerate() {
            let is_here = self.servers.data_of(ArmPointId(index)) == self.servers.data_of(id);
            let is_same_point = arm.point == plain.point;
            if !is_here || !is_same_point || !of_file(arm).is_some_and(Arm::has_only_statements) {
                continue;
            }
            let found = before_settings::find_leftover_settings(arm, self.inspected_server(id));
            let found = found.map_err(|problem| ExperimentError::of(arm, problem))?;
            if let Some(value) = found {
                let key = StatementKey::Before.name().to_owned();
                let found = ContradictingState::SameInOtherArm { other: plain.heading() };
                let problem = Problem::NotInEffect(NotInEffect { key, value, found });
                return Err(ExperimentError::of(arm, problem));
            }
        }
        Ok(())
    }

    fn inspected_server(&self, id: ArmPointId) -> InspectedServer<'_> {
        InspectedServer { stage: self.servers.stage(id), stop: &self.order.stop }
    }

    /// Restores the data to their state after the load. If this includes a teardown, returns a
    /// sentence for each of its failures.
    pub(super) fn restore(&mut self, id: ArmPointId) -> Result<Vec<String>, ExperimentError> {
        match self.order.experiment.restore {
            Restore::None => Ok(Vec::new()),
            Restore::Statements(_) => {
                self.run_statements(id, StatementKey::Restore)?;
                self.settle_server(id, DataStep::Restore)?;
                Ok(Vec::new())
            }
            Restore::Reload => {
                let removed = self.run_auxiliary(id, |order| order.plan.setup.clear())?;
                if !self.is_interrupted() {
                    self.set_up.remove(&self.servers.data_of(id));
                    self.reloaded = self.load(id, None)?.loads;
                }
                Ok(removed.failures.into_iter().map(|it| it.sentence).collect())
            }
        }
    }

    /// Returns the path of the record of the run in progress.
    pub(super) fn run_record_path(&self) -> PathBuf {
        with_suffix(self.order.record, "-run")
    }

    /// Returns the path of the temporary record of statements outside of the runs.
    pub(super) fn auxiliary_path(&self) -> PathBuf {
        with_suffix(self.order.record, "-aside")
    }
}

/// Separates the excerpts of a load into executed examples and tables.
fn with_results(excerpts: Vec<Excerpt>) -> (Vec<ExampleResult>, Vec<Excerpt>) {
    let of_kind = |kind| move |excerpt: &Excerpt| excerpt.kind == kind;
    let (examples, others): (Vec<_>, Vec<_>) =
        excerpts.into_iter().partition(of_kind(ExcerptKind::Examples));
    let (results, tables): (Vec<_>, Vec<_>) =
        others.into_iter().partition(of_kind(ExcerptKind::Results));
    let executed = results.into_iter().filter_map(|results| {
        let examples = examples.iter().find(|examples| examples.subject == results.subject)?;
        Some(ExampleResult { examples: examples.clone(), results })
    });
    (executed.collect(), tables)
}

/// Returns an error with its direct cause, as a sentence.
pub(super) fn with_cause(error: &ExperimentError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Replaces setup, loads and teardown in the plan of an order by the given statements.
fn retain_statements(order: &mut Order, statements: &[FixedStatement]) {
    order.plan.setup = statements.to_vec();
    order.plan.loads.clear();
    order.plan.teardown.clear();
    order.options.prepare = Prepare::Fresh;
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engine::Options;
    use guardian::TemporaryFolder;
    use workload::Overrides;
    use workload::question::{Experiment, experiment_in};

    use super::super::order::RunMaker;
    use super::super::schedule::Schedule;
    use super::*;

    struct Plans<'a>(&'a Experiment);

    impl RunMaker for Plans<'_> {
        fn order(&self, arm: &Arm, seed: Seed) -> Option<Order> {
            let files = BTreeMap::<String, Vec<u8>>::new();
            let plan = self.0.plan(arm, seed.0, &Overrides::default(), &files)?;
            let (target, record) = (plan.target.clone()?, RecordPlace::Exactly(PathBuf::new()));
            Some(Order::new(plan, target, Options::in_real_time(), record))
        }
    }

    struct Quiet;

    impl ExperimentListener for Quiet {
        fn on_event(&self, _: &ExperimentEvent<'_>) {}
    }

    /// Returns an experiment with two arms: one on a database in a folder, the other on a simulated
    /// server.
    fn experiment(folder: &Path) -> Experiment {
        let workload = format!(
            "url = sqlite:{}\nduration = 100ms\n[setup]\nquery = drop table if exists t\n\
             query = create table t (id integer)\n[load t]\nrows = 9\ncolumns = id: row()\n\
             [read]\nquery = select id from t where id < ${{uniform(1, 1000000)}}\n\
             concurrency = 1\nthink = 20ms\n",
            folder.join("t.db").display()
        );
        let files = BTreeMap::from([("read.ini".to_owned(), workload.into_bytes())]);
        let text = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n[arm file]\n[arm model]\n\
                    url = sim:mm1\n";
        let (experiment, found) = experiment_in(text, &Overrides::default(), &files);
        experiment.unwrap_or_else(|| panic!("{found:?}"))
    }

    /// Runs `check` with the servers of an experiment.
    fn with_servers(check: impl FnOnce(&mut ExperimentServers<'_>)) {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-tables").unwrap();
        let (experiment, record) = (experiment(folder.path()), folder.path().join("e.assay"));
        let order = ExperimentOrder {
            experiment: &experiment,
            runs: &Plans(&experiment),
            record: &record,
            facts: &[],
            files: &[],
            origin: &[],
            is_resumed: false,
            keeps_record_if_unreachable: false,
            stop: Stop::default(),
        };
        check(&mut ExperimentServers::open(&order, &Quiet).unwrap());
    }

    const FILE: ArmPointId = ArmPointId(0);

    #[test]
    fn first_run_of_an_arm_shows_the_tables_of_that_arm() {
        with_servers(|servers| {
            let schedule = Schedule { runs: 2, seed: Seed(1), is_counterbalanced: false };
            let planned = schedule.round(0, 0)[0];
            servers.prepare(planned.seed).unwrap();
            let tables = |servers: &ExperimentServers<'_>| -> Vec<ExcerptKind> {
                let done = servers.measure(FILE, planned).unwrap();
                let excerpts = Archive::open(&done.record).unwrap().excerpts().unwrap();
                done.discard().unwrap();
                excerpts.iter().filter(|it| it.subject == "t").map(|it| it.kind).collect()
            };
            let expected = [ExcerptKind::Columns, ExcerptKind::Indexes, ExcerptKind::Rows];
            assert_eq!(tables(servers), expected, "the simulated server has none");
            assert_eq!(tables(servers), []);
        });
    }

    /// The tables are filled, and the examples executed, before the first run. The example of a
    /// later run has different values, and therefore no results.
    #[test]
    fn run_with_the_seed_of_the_first_one_has_the_results_of_its_examples() {
        with_servers(|servers| {
            let schedule = Schedule { runs: 2, seed: Seed(1), is_counterbalanced: false };
            let (first, second) = (schedule.round(0, 0)[0], schedule.round(1, 0)[0]);
            servers.prepare(first.seed).unwrap();
            let excerpts = |planned| {
                let done = servers.measure(FILE, planned).unwrap();
                let excerpts = Archive::open(&done.record).unwrap().excerpts().unwrap();
                done.discard().unwrap();
                let of = |kind| excerpts.iter().filter(move |it| it.kind == kind).count();
                [of(ExcerptKind::Examples), of(ExcerptKind::Results)]
            };
            assert_eq!([excerpts(second), excerpts(first)], [[1, 0], [1, 1]]);
        });
    }

    #[test]
    fn row_counts_and_reloads_read_no_tables() {
        with_servers(|servers| {
            let shown = servers.arm_point(FILE).plan.clone();
            assert!(!servers.load(FILE, Some(shown)).unwrap().excerpts.is_empty());
            assert!(servers.load(FILE, None).unwrap().excerpts.is_empty());
            let counted = servers.run_auxiliary(FILE, |order| {
                order.plan.setup.clear();
                order.options.prepare = Prepare::Verify;
            });
            assert!(counted.unwrap().excerpts.is_empty());
        });
    }
}
