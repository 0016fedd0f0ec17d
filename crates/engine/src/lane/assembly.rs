//! Assembly of a lane: the state of its jobs, their clients, and the tasks that it starts with.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use base::{AccountId, Clock, Stamp};
use driver::Driver;
use record::{Grid, Ledger};
use rt::Rt;
use workload::{Job, JobId, OnQueueFull, Pacing};

use crate::client_counts::ClientCounts;
use crate::feed::{Feeds, LaneFeeds};
use crate::gate::{Gate, GateSettings};
use crate::job_state::JobState;
use crate::lane_state::{LaneState, Outlets};
use crate::link::Link;
use crate::nodes::{first_node_entry, node_entries};
use crate::opening;
use crate::pacer::{LogTimes, Pacer, Times};
use crate::results::RowSinks;
use crate::run_context::RunContext;
use crate::share::Share;
use crate::targets::PerTarget;

impl<D: Driver> LaneState<D> {
    /// Creates the state of a lane without any client.
    pub(super) fn assemble(
        rt: Rt,
        context: RunContext<D>,
        share: Share,
        zero: Stamp,
        outlets: Outlets,
    ) -> LaneState<D> {
        let plan = Arc::clone(&context.plan);
        let grid = Grid::new(plan.warmup.known(), plan.duration);
        let statements: Vec<u16> =
            plan.jobs_and_parts().map(|either| either.requests().statements.len() as u16).collect();
        let entries = node_entries(&plan, &context.drivers);
        let statements = [statements, vec![0; entries.len()]].concat();
        let mut files = context.feeds.take(share.lane);
        let mut sinks = outlets.results;
        let job_states = plan
            .jobs_by_id()
            .map(|(id, _)| {
                let first_node = first_node_entry(&plan, &entries, id);
                let files = (&mut files, &mut sinks);
                JobState { first_node, ..job_state(&rt, &context, share, zero, id, files) }
            })
            .map(Rc::new)
            .collect();
        let servers = |target| context.drivers.of(target).nodes().len();
        let link = |target| Ok::<_, Infallible>(Link::new(zero, servers(target)));
        let Ok(links) = PerTarget::of_plan(&plan, link);
        LaneState {
            zero,
            stop: context.stop.clone(),
            ledger: RefCell::new(Ledger::new(share.lane, zero, grid, &statements, outlets.record)),
            links,
            give_up_at: Cell::new(Stamp::NEVER),
            job_states,
            share,
            client_count: Cell::new(0),
            last_client_left_at: Cell::new(zero),
            tasks: RefCell::new(Vec::new()),
            wakeup_timer: rt.timer(),
            rt,
            context,
            panic: RefCell::new(None),
            has_reset_queues: Cell::new(false),
        }
    }

    /// Starts a job's clients and the dispatcher of its arrivals. If the job keeps connections,
    /// `connections` has the number and the connection of each client.
    pub(super) fn start(self: &Rc<Self>, id: JobId, connections: Vec<(u32, D::Connection)>) {
        let job_state = &self.job_states[id];
        for (client, connection) in connections {
            self.add_client(job_state, client, Some(connection));
        }
        if !job_state.keeps_connections() {
            for client in opening::clients(&self.context.plan, id, self.share) {
                self.add_client(job_state, client, None);
            }
        }
        if job_state.gate.is_some() {
            let (lane, job_state) = (Rc::clone(self), Rc::clone(job_state));
            self.spawn(async move { lane.dispatch(&job_state).await }, |lane| {
                lane.stop.note_panic()
            });
        }
    }
}

/// Creates one job's state on one lane. Takes the job's own feeds and sinks from `files` and
/// `sinks`, which have those of all jobs on the lane.
fn job_state<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    share: Share,
    zero: Stamp,
    id: JobId,
    (files, sinks): (&mut LaneFeeds, &mut RowSinks<AccountId>),
) -> JobState {
    let plan = &context.plan;
    let job = plan.job(id);
    let parts = Arc::clone(&context.parts[id]);
    let own = parts.all().map(|part| files[part.account].take());
    let mut feeds = Feeds::new(own.collect());
    let results = parts.all().map(|part| sinks[part.account].take());
    let results = RefCell::new(results.collect());
    let account = plan.account_of(id);
    let gate = arrival_times(context, share, account, job).map(|times| {
        let batch = job.arrivals().map_or(1, |(_, batch)| batch);
        let limit = opening::queue_limit(job);
        let ends_run = matches!(job.pacing, Pacing::Queue { on_full: OnQueueFull::Stop, .. });
        let holds_back = !matches!(job.pacing, Pacing::Queue { .. });
        let settings = GateSettings { job: account, batch, limit, holds_back, ends_run, zero };
        let feeds = std::mem::take(&mut feeds);
        RefCell::new(Gate::new(settings, times, Arc::clone(&parts), feeds, rt.now()))
    });
    JobState {
        job: Arc::new(job.clone()),
        account,
        first_node: None,
        parts,
        gate,
        feeds: RefCell::new(feeds),
        due_timer: rt.timer(),
        client_handles: RefCell::new(Vec::new()),
        end: Cell::new(Stamp::NEVER),
        in_flight: Cell::new(0),
        clients: ClientCounts::new(opening::most_clients(plan, job, share)),
        seen_errors: RefCell::default(),
        results,
    }
}

/// Returns the arrival times that this lane serves: its share of a schedule or log, or all of a
/// queue that belongs to this lane. `None` for a closed job, and for a queue of another lane.
fn arrival_times<D>(
    context: &RunContext<D>,
    share: Share,
    account: AccountId,
    job: &Job,
) -> Option<Times> {
    let share = match job.pacing {
        Pacing::Closed { .. } => return None,
        Pacing::Replay => return Some(Times::Log(LogTimes::new(job))),
        Pacing::Queue { .. } if !share.has(account.0.into()) => return None,
        Pacing::Queue { .. } => Share::ALL,
        Pacing::Open { .. } | Pacing::Timetable { .. } => share,
    };
    Some(Times::Schedule(Pacer::new(job, context.plan.seed, share)))
}
