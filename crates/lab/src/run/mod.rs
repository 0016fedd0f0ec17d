//! A single run and its record.
//!
//! [`run`] opens a [stage](Stage) for one run; [`run_on`] uses an open stage. An [`Order`] holds
//! the parameters of a run, and a [`RunResult`] has the reason for its end.

mod examples;
mod header;
mod listener;
mod order;
mod run_result;

use std::sync::Arc;

use archive::{LiveView, OpLog, OpLogError, OpLogOutlet, Recorder};
use base::{Nanos, Secrets};
use driver::AnyDriver;
use engine::{Drivers, LaneOutlet, Listener, Options, RunFailure, Unreachable, node_entries};
use observe::ObservedSessions;
use record::Pace;
use record::environment::assay::LABEL;
use record::environment::generator::SPIN;
use workload::{JobOrPart, Plan, Warmup};

pub use order::{ExampleResult, Order};
pub use run_result::{MissingTarget, RunResult};

use crate::calibrate::facts::facts_of;
use crate::error::Error;
use crate::evidence::YES;
use crate::memory::check_addresses;
use crate::observation::{self, ObservationSink};
use crate::open_files::raise_file_limit;
use crate::stage::{OpenError, Stage, passwords};
use crate::surroundings;
use crate::target::{ResolvedTarget, SimulatedRun};
use examples::Examples;
use header::header;
use listener::RecordingListener;
use run_result::{close_op_log, record_end};

/// Runs a plan once and records it. `watch` receives a live view before the run begins, and
/// `listener` receives the events of the run.
///
/// A plan without jobs is set up, loaded and torn down; nothing is measured.
///
/// # Errors
/// Nothing was measured and there is no record. An unreachable target is not an error: the record
/// says that the target was unreachable.
pub fn run(
    order: Order,
    listener: Arc<dyn Listener>,
    watch: impl FnOnce(LiveView),
) -> Result<RunResult, Error> {
    match Stage::open(&order.plan, &order.target, &order.options) {
        Ok(stage) => run_on(&stage, order, listener, watch),
        Err(OpenError::Unreachable(unreachable)) => record_unreachable(order, unreachable, watch),
        Err(OpenError::Refused(error)) => Err(error),
    }
}

/// Runs and records a plan on the servers of a stage, which the next run can use again.
///
/// # Errors
/// As for [`run`].
///
/// # Panics
/// If the plan uses a target for which the stage was not opened.
pub fn run_on(
    stage: &Stage,
    mut order: Order,
    listener: Arc<dyn Listener>,
    watch: impl FnOnce(LiveView),
) -> Result<RunResult, Error> {
    measure_nothing_without_jobs(&mut order.plan);
    let run = order.server_seed.unwrap_or_else(|| SimulatedRun::only(&order.plan));
    let drivers = stage.drivers(&order.plan, run);
    record(&order, drivers, stage.resolved_targets(), listener, watch)
}

/// Sets up a plan and fills its tables, without measurement or teardown; the record holds the
/// loads.
///
/// # Errors
/// As for [`run`].
pub fn load(mut order: Order, listener: Arc<dyn Listener>) -> Result<RunResult, Error> {
    order.plan.jobs.clear();
    order.options.teardown = false;
    run(order, listener, |_| {})
}

/// Sets the window of a plan without jobs to zero length, because nothing is measured after the
/// loads.
fn measure_nothing_without_jobs(plan: &mut Plan) {
    if plan.jobs.is_empty() {
        plan.warmup = Warmup::default();
        plan.duration = Some(Nanos::ZERO);
    }
}

/// Executes a plan and records it.
fn record(
    order: &Order,
    drivers: Drivers<AnyDriver>,
    reached: &[ResolvedTarget],
    listener: Arc<dyn Listener>,
    watch: impl FnOnce(LiveView),
) -> Result<RunResult, Error> {
    let Order { plan, options, stop, .. } = order;
    // The facts are read before anything is changed, such as the limit of open files.
    let known_facts = facts(order, reached);
    let lanes = options.threads.max(1);
    check_addresses(lanes).map_err(Error::Memory)?;
    raise_file_limit(plan, &drivers, lanes).map_err(Error::Files)?;
    let header = header(order, node_entries(plan, &drivers));
    let observer_processors = options.unbound_processors();
    let recorder =
        observer_processors.while_bound(|| order.record.create(&header)).map_err(Error::Record)?;
    let facts = recorder.facts();
    let passwords = passwords(drivers.iter().map(|(_, driver)| driver));
    facts.hide(Secrets::of_all([plan.secrets(), passwords]));
    let op_log = match observer_processors.while_bound(|| op_log(order, header.pace)) {
        Ok(op_log) => op_log,
        Err(error) => {
            recorder.discard().map_err(Error::Record)?;
            return Err(Error::OpLog(error));
        }
    };
    order.inputs.iter().for_each(|file| facts.file(file.clone()));
    order.loads.iter().for_each(|load| facts.load(load.clone()));
    order.excerpts.iter().for_each(|excerpt| facts.excerpt(excerpt.clone()));
    let examples = Examples::of(order, &drivers);
    let results = examples.results(&order.results);
    examples.excerpts.into_iter().chain(results).for_each(|excerpt| facts.excerpt(excerpt));
    let options = &Options { examples: examples.of_main_target, ..options.clone() };
    for (name, value) in known_facts.into_iter().chain(label(order)) {
        facts.setting(name, value);
    }
    watch(recorder.live());
    let listener = Arc::new(recording_listener(order, &drivers, reached, &recorder, listener));
    if options.spin {
        facts.setting(SPIN, YES);
    }
    let mut outlet = |lane| -> LaneOutlet {
        match &op_log {
            Some(op_log) => Box::new(OpLogOutlet::new(recorder.outlet(), op_log.lane(lane))),
            None => Box::new(recorder.outlet()),
        }
    };
    let for_engine = Arc::clone(&listener) as Arc<dyn Listener>;
    let finished = engine::run_any(plan, drivers, options, &mut outlet, stop, for_engine);
    listener.end_observers();
    let op_log_loss = op_log.and_then(|op_log| close_op_log(op_log, &finished, &facts, stop));
    let was_reached = |target: Option<&str>| listener.was_reached(target);
    let done = record_end(plan, recorder, finished, was_reached)?;
    Ok(RunResult { op_log_loss, ..done })
}

/// Records that a target cannot be opened.
fn record_unreachable(
    mut order: Order,
    unreachable: Unreachable,
    watch: impl FnOnce(LiveView),
) -> Result<RunResult, Error> {
    measure_nothing_without_jobs(&mut order.plan);
    // The servers behind an unreachable target are unknown, and nothing was sent to them.
    let recorder = order.record.create(&header(&order, Vec::new())).map_err(Error::Record)?;
    recorder.facts().hide(order.plan.secrets());
    label(&order).into_iter().for_each(|(name, value)| recorder.facts().setting(name, value));
    watch(recorder.live());
    record_end(&order.plan, recorder, Err(RunFailure::Unreachable(unreachable)), |_| false)
}

/// Returns the label of the run as a fact.
fn label(order: &Order) -> Option<(String, String)> {
    order.label.as_ref().map(|label| (LABEL.to_owned(), label.clone()))
}

/// Returns the facts about the environment, the facts of the calibration and the facts of the
/// order; none if time is simulated.
fn facts(order: &Order, reached: &[ResolvedTarget]) -> Vec<(String, String)> {
    if order.options.is_virtual {
        return Vec::new();
    }
    let mut facts = surroundings::read(order.record.path(), reached);
    facts.extend(facts_of(order.calibration.as_ref()));
    facts.extend(order.facts.iter().cloned());
    facts
}

fn recording_listener(
    order: &Order,
    drivers: &Drivers<AnyDriver>,
    reached: &[ResolvedTarget],
    recorder: &Recorder,
    next: Arc<dyn Listener>,
) -> RecordingListener {
    let Order { plan, options, .. } = order;
    let observations = ObservationSink::of(recorder);
    let main = drivers.main.as_ref();
    let observed_sessions = ObservedSessions::Ours(observation::own_sessions(drivers));
    let database =
        observation::database_watch_starter(plan, main, observed_sessions, &observations);
    if !options.is_virtual {
        observation::note_other_targets(plan, &observations);
    }
    let scope = observation::scope(plan, reached);
    RecordingListener::new(order, recorder.facts(), next, observations, scope, database)
}

fn op_log(order: &Order, pace: Pace) -> Result<Option<OpLog>, OpLogError> {
    let jobs: Vec<&str> = order.plan.jobs_and_parts().map(JobOrPart::name).collect();
    order.op_log.as_ref().map(|plan| OpLog::create(plan, &jobs, pace)).transpose()
}
