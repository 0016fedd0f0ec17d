//! One execution of a plan: setup, loads, the measured phase, teardown.

use std::sync::Arc;

use archive::FileHealth;
use driver::{AnyDriver, Driver};
use record::EndKind;
use rt::{Rt, run_real, run_virtual};
use workload::Plan;

use crate::control::{Control, PreparationOutcome, PrepareError};
use crate::error::RunFailure;
use crate::events::{Listener, RunEvent};
use crate::feed::{FileRemark, InputFiles};
use crate::lane_state::{LaneOutlet, Outlets};
use crate::loading::LoadedTable;
use crate::measured_phase::{LanesOutcome, MeasuredPhase, run_as_tasks, run_on_threads};
use crate::opening::check_limit;
use crate::options::Options;
use crate::panics::catch_panic;
use crate::parts::Parts;
use crate::prepare::Prepare;
use crate::results::{FileFault, Results};
use crate::run_context::RunContext;
use crate::server_statistics;
use crate::stop::Stop;
use crate::targets::Drivers;
use crate::waits::{unless_ended, unless_ended_at_once};

/// A run that ended, completed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// The reason for the end of the run. If a target was unreachable at the end of a completed
    /// run, the reason is [`EndKind::TargetLost`].
    pub end: EndKind,
    /// The tables that were filled.
    pub loaded: Vec<LoadedTable>,
    /// The measured phase; `None` if the run ended before it.
    pub measured: Option<MeasuredPhase>,
    /// The results files that could not be written to their end.
    pub faults: Vec<FileFault>,
    /// Remarks on the input files of jobs.
    pub remarks: Vec<FileRemark>,
    /// The message of the first panic, if something panicked.
    pub panic: Option<String>,
}

impl RunOutcome {
    /// Returns a run that ended before its measured phase.
    fn unmeasured(end: EndKind, loaded: Vec<LoadedTable>) -> RunOutcome {
        RunOutcome {
            end,
            loaded,
            measured: None,
            faults: Vec::new(),
            remarks: Vec::new(),
            panic: None,
        }
    }
}

/// Executes a plan against the drivers of its targets. `outlet` creates the outlet of the lane with
/// the given number.
///
/// # Errors
/// The failure that ended the run without results. If setup was complete and the options request a
/// teardown, `[teardown]` has run, except perhaps after a panic or a deadlock.
pub fn run<D: Driver>(
    plan: &Plan,
    drivers: Drivers<D>,
    options: &Options,
    mut outlet: impl FnMut(u16) -> LaneOutlet,
    stop: &Stop,
    listener: Arc<dyn Listener>,
) -> Result<RunOutcome, RunFailure> {
    let lanes = options.threads.max(1);
    check_limit(plan, lanes.into())?;
    let virtual_stop = options.is_virtual.then_some(stop);
    let open = || InputFiles::open(plan, &options.files, lanes, virtual_stop, &listener);
    let feeds = options.unbound_processors().while_bound(open).map_err(RunFailure::System)?;
    let files = feeds.clone();
    let dialect = |target| drivers.of(target).dialect();
    let context = RunContext {
        plan: Arc::new(plan.clone()),
        parts: Arc::new(Parts::of_plan(plan, dialect)),
        drivers,
        started: options.started,
        rules: options.rules,
        shows_tables: options.shows_tables,
        examples: options.examples.clone().into(),
        feeds,
        stop: stop.clone(),
        listener,
        files: FileHealth::default(),
        has_server_stats: Arc::default(),
    };
    let outlets: Vec<LaneOutlet> = (0..lanes).map(&mut outlet).collect();
    let finished = if options.is_virtual {
        catch_panic(|| run_virtual(|rt| run_in_virtual_time(rt, context, options, outlets)))
            .map_err(RunFailure::Panicked)?
            .map_err(RunFailure::Deadlock)?
    } else {
        run_in_real_time(&context, options, outlets)
    };
    finished.map(|finished| RunOutcome { remarks: files.remarks(plan), ..finished })
}

/// Executes a plan as [`run`] does, against drivers of Assay. Their engine is compiled here, for
/// speed, so the crates that call it may be compiled for size.
///
/// # Errors
/// See [`run`].
pub fn run_any(
    plan: &Plan,
    drivers: Drivers<AnyDriver>,
    options: &Options,
    outlet: &mut dyn FnMut(u16) -> LaneOutlet,
    stop: &Stop,
    listener: Arc<dyn Listener>,
) -> Result<RunOutcome, RunFailure> {
    run(plan, drivers, options, outlet, stop, listener)
}

/// Runs all phases on one virtual clock. Lanes are tasks instead of threads.
async fn run_in_virtual_time<D: Driver>(
    rt: Rt,
    context: RunContext<D>,
    options: &Options,
    outlets: Vec<LaneOutlet>,
) -> Result<RunOutcome, RunFailure> {
    let loaded = match before_measurement(&rt, &context, options).await? {
        NextPhase::Over(finished) => return Ok(finished),
        NextPhase::Measurement(loaded) => loaded,
    };
    let phase = async {
        let (results, outlets) = with_results(&context, options, outlets)?;
        let ended = run_as_tasks(&rt, &context, outlets).await;
        Ok((ended, results.finish(&context.stop)))
    };
    let phase = phase.await;
    // Read before the teardown: an interrupt during the teardown does not change the reason for
    // which the measured phase ended.
    let reason = context.stop.reason();
    after_measurement(&rt, &context, options).await;
    finished(reason, loaded, phase)
}

/// The outcome of the measured phase, with the results files that failed. The outer error is a
/// results file that could not be opened.
type Phase = Result<(Result<LanesOutcome, RunFailure>, Vec<FileFault>), RunFailure>;

/// Returns the outcome of a run whose measured phase ended for `reason`.
fn finished(
    reason: EndKind,
    loaded: Vec<LoadedTable>,
    phase: Phase,
) -> Result<RunOutcome, RunFailure> {
    let (outcome, faults) = phase?;
    let LanesOutcome { measured, panic } = outcome?;
    let is_target_lost = measured.as_ref().is_some_and(|measured| !measured.lost.is_empty());
    let end = match reason {
        EndKind::Completed if is_target_lost => EndKind::TargetLost,
        reason => reason,
    };
    Ok(RunOutcome { end, loaded, measured, faults, remarks: Vec::new(), panic })
}

/// Opens the results files and gives each lane its sinks for them.
fn with_results<D>(
    context: &RunContext<D>,
    options: &Options,
    outlets: Vec<LaneOutlet>,
) -> Result<(Results, Vec<Outlets>), RunFailure> {
    let (results, sinks) = Results::open(&context.plan, options, &context.files)?;
    let with_sinks = |record| Outlets { record, results: sinks.clone() };
    let outlets = outlets.into_iter().map(with_sinks).collect();
    Ok((results, outlets))
}

/// Runs the control phases on this thread and the lanes on threads of their own.
fn run_in_real_time<D: Driver>(
    context: &RunContext<D>,
    options: &Options,
    outlets: Vec<LaneOutlet>,
) -> Result<RunOutcome, RunFailure> {
    let on_this_thread = rt::Options::default();
    let prepared = catch_panic(|| {
        run_real(
            &on_this_thread,
            |rt| async move { before_measurement(&rt, context, options).await },
        )
    });
    let loaded = match prepared.map_err(RunFailure::Panicked)?.map_err(RunFailure::System)?? {
        NextPhase::Over(finished) => return Ok(finished),
        NextPhase::Measurement(loaded) => loaded,
    };
    let phase = with_results(context, options, outlets).map(|(results, outlets)| {
        let ended = run_on_threads(context, options, outlets);
        (ended, results.finish(&context.stop))
    });
    let reason = context.stop.reason();
    let torn_down = catch_panic(|| {
        run_real(
            &on_this_thread,
            |rt| async move { after_measurement(&rt, context, options).await },
        )
    });
    let finished = finished(reason, loaded, phase)?;
    match torn_down {
        Ok(torn_down) => torn_down.map(|()| finished).map_err(RunFailure::System),
        Err(panic) => {
            let panic = Some(finished.panic.unwrap_or(panic));
            Ok(RunOutcome { end: EndKind::InternalError, panic, ..finished })
        }
    }
}

/// The next phase of a run after its preparation.
enum NextPhase {
    /// The measured phase is next.
    Measurement(Vec<LoadedTable>),
    /// The run is over.
    Over(RunOutcome),
}

/// Runs everything before the measured phase.
async fn before_measurement<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    options: &Options,
) -> Result<NextPhase, RunFailure> {
    let control = Control { rt, context };
    let prepared = async {
        let ready = |()| NextPhase::Measurement(Vec::new());
        match options.prepare {
            Prepare::Fresh => prepare(&control, options.teardown).await,
            Prepare::Verify => control.verify().await.map(ready),
            Prepare::Keep => control.keep().await.map(ready),
        }
    };
    let prepared = unless_ended_at_once(prepared, rt, &context.stop).await.unwrap_or_else(|| {
        let reason = context.stop.reason();
        Ok(NextPhase::Over(RunOutcome::unmeasured(reason, Vec::new())))
    });
    if matches!(prepared, Ok(NextPhase::Measurement(_))) {
        unless_ended(server_statistics::read_before(rt, context), rt, &context.stop).await;
        context.listener.on_event(&RunEvent::Opening);
    }
    prepared
}

/// Prepares the targets. Runs the teardown if `teardown` is true, and the preparation fails or is
/// interrupted after every statement of `[setup]` before the loads has run.
async fn prepare<D: Driver>(
    control: &Control<'_, D>,
    teardown: bool,
) -> Result<NextPhase, RunFailure> {
    let (prepared, setup_done) = match control.prepare().await {
        Ok(PreparationOutcome::Ready(loaded)) => return Ok(NextPhase::Measurement(loaded)),
        Ok(PreparationOutcome::Interrupted { setup_done, loaded }) => {
            let reason = control.context.stop.reason();
            (Ok(NextPhase::Over(RunOutcome::unmeasured(reason, loaded))), setup_done)
        }
        Err(PrepareError { failed, setup_done }) => (Err(failed), setup_done),
    };
    if setup_done && teardown {
        control.tear_down().await;
    }
    prepared
}

/// Reads the server's statistics after the measured phase, and runs the teardown if the options
/// request it.
async fn after_measurement<D: Driver>(rt: &Rt, context: &RunContext<D>, options: &Options) {
    context.listener.on_event(&RunEvent::Ended);
    unless_ended_at_once(server_statistics::read_after(rt, context), rt, &context.stop).await;
    if options.teardown {
        unless_ended_at_once(Control { rt, context }.tear_down(), rt, &context.stop).await;
    }
}
