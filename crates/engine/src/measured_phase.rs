//! The measured phase: all lanes, from the opening of their connections to their end.

use std::sync::Arc;

use base::{Clock, Nanos, Stamp};
use driver::Driver;
use record::LANE_PREFIX;
use rt::{Panic, Rt, Wait, processors, run_real};
use workload::JobTarget;

use crate::error::RunFailure;
use crate::events::RunEvent;
use crate::lane::{self, LaneOutcome};
use crate::lane_state::Outlets;
use crate::opening::open;
use crate::options::Options;
use crate::panics::{PanicGuard, panic_message};
use crate::run_context::RunContext;
use crate::share::Share;
use crate::start_barrier::StartBarrier;
use crate::stop::Stop;
use crate::waits::unless_ended_at_once;

/// The measured phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredPhase {
    /// Time zero, on the run's clock.
    pub zero: Stamp,
    /// Time from time zero to the end of the schedule: the latest end on any lane.
    pub length: Nanos,
    /// Those of the jobs' targets that were unreachable when the run ended.
    pub lost: Vec<JobTarget>,
}

/// The combined outcome of all lanes.
pub(crate) struct LanesOutcome {
    /// The measured phase; `None` if the run ended before time zero.
    pub(crate) measured: Option<MeasuredPhase>,
    /// The message of the first panic, if something panicked.
    pub(crate) panic: Option<String>,
}

/// Runs the lanes as tasks of this thread and waits for all of them.
pub(crate) async fn run_as_tasks<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    outlets: Vec<Outlets>,
) -> Result<LanesOutcome, RunFailure> {
    let barrier = Arc::new(StartBarrier::new(outlets.len() as u16));
    let lanes: Vec<_> = shares(outlets)
        .map(|(share, outlets)| {
            let (context, barrier) = (context.clone(), Arc::clone(&barrier));
            rt.spawn(run_lane(rt.clone(), context, share, outlets, barrier))
        })
        .collect();
    let mut ended = Vec::new();
    for lane in lanes {
        ended.push(lane.outcome().await);
    }
    conclude(ended, &barrier, &context.stop)
}

/// Runs the lanes, each on a thread, and waits for all of them.
pub(crate) fn run_on_threads<D: Driver>(
    context: &RunContext<D>,
    options: &Options,
    outlets: Vec<Outlets>,
) -> Result<LanesOutcome, RunFailure> {
    let barrier = Arc::new(StartBarrier::new(outlets.len() as u16));
    let ended = std::thread::scope(|scope| {
        let threads: Vec<_> = shares(outlets)
            .map(|(share, outlets)| {
                let (context, barrier) = (context.clone(), Arc::clone(&barrier));
                let others = Arc::clone(&barrier);
                let name = format!("{LANE_PREFIX}{}", share.lane);
                let run = move || on_thread(context, options, share, outlets, barrier);
                let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, run);
                // Otherwise the other lanes would wait for a lane that never starts.
                thread.map_err(|error| others.give_up(Some(RunFailure::System(error))))
            })
            .collect();
        let threads = threads.into_iter().flatten();
        threads.map(std::thread::ScopedJoinHandle::join).collect()
    });
    conclude(ended, &barrier, &context.stop)
}

/// Runs one lane on this thread.
fn on_thread<D: Driver>(
    context: RunContext<D>,
    options: &Options,
    share: Share,
    outlets: Outlets,
    barrier: Arc<StartBarrier>,
) -> Option<LaneOutcome> {
    let cpus = &options.cpus;
    let cpu = (!cpus.is_empty()).then(|| cpus[usize::from(share.lane) % cpus.len()]);
    // A thread that wakes early spins until its deadline. If there were more such threads than
    // processors, they would delay each other.
    let has_one = processors().is_ok_and(|all| usize::from(options.threads) <= all.len());
    let wait = match (options.spin, has_one) {
        (true, _) => Wait::Spin,
        (false, true) => Wait::WakeEarly,
        (false, false) => Wait::Sleep,
    };
    let thread = rt::Options { cpu, wait };
    let others = Arc::clone(&barrier);
    match run_real(&thread, |rt| run_lane(rt, context, share, outlets, barrier)) {
        Ok(ended) => ended,
        Err(error) => {
            others.give_up(Some(RunFailure::System(error)));
            None
        }
    }
}

/// Gives each lane its share and its outlets.
fn shares(outlets: Vec<Outlets>) -> impl Iterator<Item = (Share, Outlets)> {
    let lanes = outlets.len() as u16;
    outlets
        .into_iter()
        .enumerate()
        .map(move |(lane, outlets)| (Share { lane: lane as u16, lanes }, outlets))
}

/// Opens the connections of one lane, waits for the other lanes, and runs the lane. Returns `None`
/// if this lane or another one failed or was stopped before time zero was set.
pub(crate) async fn run_lane<D: Driver>(
    rt: Rt,
    context: RunContext<D>,
    share: Share,
    outlets: Outlets,
    barrier: Arc<StartBarrier>,
) -> Option<LaneOutcome> {
    let _guard = PanicGuard::new(|| {
        context.stop.note_panic();
        context.stop.end_by(rt.now());
        barrier.give_up(None);
    });
    let opened = match unless_ended_at_once(open(&rt, &context, share), &rt, &context.stop).await {
        Some(Ok(opened)) => opened,
        Some(Err(failed)) => {
            barrier.give_up(Some(failed));
            return None;
        }
        None => {
            barrier.give_up(None);
            return None;
        }
    };
    if context.stop.is_requested() {
        barrier.give_up(None);
    }
    let begin = |zero: Stamp| {
        context.drivers.iter().for_each(|(_, driver)| driver.time_zero(zero));
        if let Some(duration) = context.plan.duration {
            context.stop.end_by(zero + duration);
        }
        context.listener.on_event(&RunEvent::TimeZero { zero, time_left: zero.since(rt.now()) });
    };
    let Some(zero) = barrier.zero(&rt, begin).await else {
        opened.close().await;
        return None;
    };
    Some(lane::run(rt.clone(), context.clone(), share, zero, outlets, opened).await)
}

/// Combines the lanes' outcomes into the outcome of the whole run.
fn conclude(
    lanes: Vec<Result<Option<LaneOutcome>, Panic>>,
    barrier: &StartBarrier,
    stop: &Stop,
) -> Result<LanesOutcome, RunFailure> {
    let mut panic = None;
    let mut ended: Vec<LaneOutcome> = Vec::new();
    for lane in lanes {
        match lane {
            Ok(lane) => ended.extend(lane),
            Err(lane) => panic = panic.or(Some(panic_message(&lane))),
        }
    }
    let panic = panic.or_else(|| ended.iter().find_map(|lane| lane.panic.clone()));
    if let Some(failed) = barrier.take_failure() {
        return Err(failed);
    }
    let last = ended.iter().max_by_key(|lane| lane.length);
    let last = last.map(|last| (last.zero, last.length));
    // If all lanes panicked after time zero, the end on which they had agreed is still known.
    let last = last.or_else(|| barrier.known_zero().map(|zero| (zero, stop.end().since(zero))));
    match (last, panic) {
        (None, Some(words)) => Err(RunFailure::Panicked(words)),
        (last, panic) => {
            let lost = lost_targets(&ended);
            let measured = last.map(|(zero, length)| MeasuredPhase { zero, length, lost });
            Ok(LanesOutcome { measured, panic })
        }
    }
}

/// Returns the targets that were unreachable at the end.
///
/// A target is lost if some lane saw an outage that lasted until the end, and no lane got an answer
/// or a new connection after the outage began. A target whose sessions end one after another may
/// still answer some requests after the beginning of its outage. Such a target is lost if no lane
/// had a connection left at the end, and the last refusal came after the last answer. Lanes whose
/// clients are idle do not change the result.
fn lost_targets(lanes: &[LaneOutcome]) -> Vec<JobTarget> {
    let target_states = || lanes.iter().flat_map(|lane| &lane.target_states);
    let is_lost = |target: &JobTarget| {
        let target_states = || target_states().filter(|state| state.target == *target);
        let answered_at = target_states().map(|state| state.answered_at).max();
        let since = target_states().filter_map(|state| state.lost_since).min();
        let refused_at = target_states().filter_map(|state| state.refused_at).max();
        let are_none_left = target_states().all(|state| state.connections == 0);
        since.is_some_and(|since| answered_at <= Some(since))
            || (are_none_left && refused_at.is_some() && answered_at <= refused_at)
    };
    let first = lanes.first().map(|lane| lane.target_states.as_slice()).unwrap_or_default();
    first.iter().map(|state| state.target).filter(is_lost).collect()
}
