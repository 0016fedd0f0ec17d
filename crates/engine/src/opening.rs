//! The opening of a lane's connections before time zero.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{ById, Class, Code, Nanos};
use driver::{Connection, Driver, Error};
use rt::Rt;
use workload::{Job, JobId, Pacing, Plan, Reconnect};

use crate::error::{Location, RunFailure};
use crate::link::SIMULTANEOUS_ATTEMPTS;
use crate::parts::Parts;
use crate::run_context::RunContext;
use crate::share::Share;
use crate::statements::{StatementText, prepare};
use crate::targets::unreachable;

/// Maximum number of waiting requests, on one lane, of a job that is not a queue.
const QUEUE_LIMIT: usize = 100_000;

/// The response time that the default number of connections of an open job allows for.
const EXPECTED_RESPONSE: Nanos = Nanos::from_millis(20);

/// The minimum of the default number of connections of an open job.
const FEWEST_CONNECTIONS: u32 = 4;

/// The connections of a lane.
pub(crate) struct LaneConnections<D: Driver> {
    /// For each job of the plan, its clients on this lane that keep a connection: the number of the
    /// client, and its connection.
    pub(crate) connections: ById<JobId, Vec<(u32, D::Connection)>>,
    /// Jobs for which the server accepted fewer connections than this lane requested, with the
    /// first error.
    pub(crate) limited_jobs: Vec<(JobId, Error)>,
}

/// Returns the numbers of those clients of a job that belong to a lane at time zero.
pub(crate) fn clients(plan: &Plan, id: JobId, share: Share) -> Vec<u32> {
    let job = plan.job(id);
    let all = configured_connections(plan, job);
    match job.pacing {
        // A queue belongs to a single lane.
        Pacing::Queue { .. } if share.has(plan.account_of(id).0.into()) => (0..all).collect(),
        Pacing::Queue { .. } => Vec::new(),
        Pacing::Closed { .. } => (0..all).filter(|client| share.has((*client).into())).collect(),
        // Each lane has arrivals and needs a connection for them.
        Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => {
            (0..share_of(all, share).max(1)).collect()
        }
    }
}

/// Returns the number of connections that a job has on all lanes together or, if their number may
/// grow, the number with which the job is to begin.
pub fn configured_connections(plan: &Plan, job: &Job) -> u32 {
    match job.pacing {
        Pacing::Closed { clients, .. } => clients,
        Pacing::Queue { workers, .. } => workers,
        Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => {
            let per_s = job.highest_per_s().unwrap_or(0.0);
            let by_littles_law = (per_s * EXPECTED_RESPONSE.as_secs_f64()).ceil() as u32;
            let configured = plan.connections.unwrap_or(by_littles_law.max(FEWEST_CONNECTIONS));
            configured.clamp(1, plan.max_connections.max(1))
        }
    }
}

/// Returns the number of connections with which a job begins on `lanes` lanes: the configured
/// number, but at least one for each lane that has arrivals.
pub fn connections_at_start(plan: &Plan, id: JobId, lanes: u16) -> u32 {
    let on = |lane| clients(plan, id, Share { lane, lanes }).len() as u32;
    (0..lanes).map(on).sum()
}

/// Returns the maximum number of connections of a job on all lanes together.
pub fn connections_at_most(plan: &Plan, job: &Job) -> u32 {
    match job.pacing {
        Pacing::Closed { .. } | Pacing::Queue { .. } => configured_connections(plan, job),
        Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => plan.max_connections,
    }
}

/// Returns the maximum number of clients of a job on a lane. Closed jobs and queues have all their
/// clients from the start, so the maximum of the whole job suffices for them.
pub(crate) fn most_clients(plan: &Plan, job: &Job, share: Share) -> u32 {
    let all = connections_at_most(plan, job);
    match job.pacing {
        Pacing::Closed { .. } | Pacing::Queue { .. } => all,
        Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => share_of(all, share),
    }
}

/// Returns the maximum number of requests of a job that may wait on a lane.
pub(crate) fn queue_limit(job: &Job) -> usize {
    match job.pacing {
        Pacing::Queue { limit, .. } => limit as usize,
        Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Closed { .. } | Pacing::Replay => {
            QUEUE_LIMIT
        }
    }
}

/// Returns a lane's share of a number; the shares of all lanes add up to the number.
fn share_of(all: u32, share: Share) -> u32 {
    let (lane, lanes) = (u32::from(share.lane), u32::from(share.lanes));
    all / lanes + u32::from(lane < all % lanes)
}

/// Checks that `max-connections` allows every lane a connection for the arrivals of each open job.
///
/// # Errors
/// The plan has an open job, timetable or replay, and there are more lanes than `max-connections`.
pub(crate) fn check_limit(plan: &Plan, lanes: usize) -> Result<(), RunFailure> {
    let is_open = |job: &&Job| {
        matches!(job.pacing, Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay)
    };
    match plan.jobs.iter().find(is_open) {
        Some(job) if (plan.max_connections as usize) < lanes => Err(RunFailure::Unsupported {
            place: Location::of_section(job),
            reason: format!(
                "each of the {lanes} threads needs a connection, and `max-connections` is {}",
                plan.max_connections
            ),
            help: "run on fewer threads, or raise it".to_owned(),
        }),
        Some(_) | None => Ok(()),
    }
}

/// Opens the connections that a lane's clients keep, [`SIMULTANEOUS_ATTEMPTS`] at a time, and
/// prepares the jobs' statements on them. The first lane also checks the statements of jobs whose
/// requests open connections of their own. Stops early when the user ends the run.
///
/// # Errors
/// The target is unreachable, rejects a statement, or has no connection left for a job's clients on
/// this lane.
pub(crate) async fn open<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    share: Share,
) -> Result<LaneConnections<D>, RunFailure> {
    let plan = &context.plan;
    let keeps = |id: &JobId| match plan.job(*id).reconnect {
        Reconnect::No => true,
        Reconnect::PerTransaction => false,
    };
    let (kept, tried): (Vec<JobId>, Vec<JobId>) =
        plan.jobs_by_id().map(|(id, _)| id).partition(keeps);
    let to_open: Vec<(JobId, u32)> = kept
        .into_iter()
        .flat_map(|id| clients(plan, id, share).into_iter().map(move |client| (id, client)))
        .collect();
    let opening = Rc::new(ConnectionOpener {
        parts: Arc::clone(&context.parts),
        to_open: RefCell::new(to_open.into_iter()),
        opened: RefCell::new(LaneConnections {
            connections: plan.jobs.iter().map(|_| Vec::new()).collect(),
            limited_jobs: Vec::new(),
        }),
        failed: RefCell::new(None),
    });
    if share.lane == 0 {
        opening.check_statements(context, rt, &tried).await;
    }
    let tasks: Vec<_> = (0..SIMULTANEOUS_ATTEMPTS)
        .map(|_| {
            let (opening, context, rt) = (Rc::clone(&opening), context.clone(), rt.clone());
            rt.clone().spawn(async move { opening.open_all(&context, &rt).await })
        })
        .collect();
    for task in tasks {
        task.await;
    }
    let opening = Rc::into_inner(opening).expect("the tasks that share it have ended");
    let opened = opening.opened.into_inner();
    let place_of = |text: StatementText| {
        Location::of_statement(plan.account(text.account).requests(), text.statement)
    };
    let failed = match opening.failed.into_inner() {
        None => opened.failure_of_unconnected_job(plan, share),
        Some((_, Some(text), error)) if error.class() != Class::Disconnect => {
            Some(RunFailure::Statement { place: place_of(text), error })
        }
        // A server that refuses or closes the connection, or does not answer, has not rejected a
        // statement.
        Some((id, text, error)) => {
            Some(unreachable(plan, plan.job(id).target, text.map(place_of), error))
        }
    };
    match failed {
        None => Ok(opened.sorted()),
        Some(failed) => {
            opened.close().await;
            Err(failed)
        }
    }
}

struct ConnectionOpener<D: Driver> {
    /// The parts of each job, with their statements.
    parts: Arc<ById<JobId, Arc<Parts>>>,
    to_open: RefCell<std::vec::IntoIter<(JobId, u32)>>,
    opened: RefCell<LaneConnections<D>>,
    /// The first failure, if there is one: the job, the statement whose preparation failed (`None`
    /// if no connection was made), and the error.
    failed: RefCell<Option<(JobId, Option<StatementText>, Error)>>,
}

impl<D: Driver> ConnectionOpener<D> {
    /// Opens a connection for each job whose requests open their own, prepares its statements and
    /// closes it, to find rejected statements before time zero.
    async fn check_statements(&self, context: &RunContext<D>, rt: &Rt, jobs: &[JobId]) {
        for &id in jobs {
            if self.failed.borrow().is_some() || context.stop.is_requested() {
                return;
            }
            let driver = context.drivers.of(context.plan.job(id).target);
            match self.open_one(driver, rt, id).await {
                Ok(connection) => connection.close().await,
                Err((text, error)) => *self.failed.borrow_mut() = Some((id, text, error)),
            }
        }
    }

    /// Opens the requested connections, one after the other, until none is left, one has failed or
    /// the user ends the run.
    async fn open_all(&self, context: &RunContext<D>, rt: &Rt) {
        while self.failed.borrow().is_none() && !context.stop.is_requested() {
            let Some((id, client)) = self.to_open.borrow_mut().next() else {
                return;
            };
            if self.lacks_sessions(id) {
                continue;
            }
            let driver = context.drivers.of(context.plan.job(id).target);
            match self.open_one(driver, rt, id).await {
                Ok(connection) => {
                    self.opened.borrow_mut().connections[id].push((client, connection));
                }
                Err((_, error)) if error.class() == Class::TooManyConnections => {
                    let limited_jobs = &mut self.opened.borrow_mut().limited_jobs;
                    if !limited_jobs.iter().any(|(known, _)| *known == id) {
                        limited_jobs.push((id, error));
                    }
                }
                Err((text, error)) => {
                    self.failed.borrow_mut().get_or_insert((id, text, error));
                }
            }
        }
    }

    /// Returns true if a pooler had no session for an earlier connection of a job. Each further
    /// connection of the job would wait for a session just as long.
    fn lacks_sessions(&self, id: JobId) -> bool {
        let is_same =
            |(job, error): &(JobId, Error)| *job == id && error.code() == Code::NO_SESSION;
        self.opened.borrow().limited_jobs.iter().any(is_same)
    }

    async fn open_one(
        &self,
        driver: &D,
        rt: &Rt,
        id: JobId,
    ) -> Result<D::Connection, (Option<StatementText>, Error)> {
        let mut connection = driver.connect(rt).await.map_err(|error| (None, error))?;
        match prepare(&mut connection, self.parts[id].texts()).await {
            Ok(()) => Ok(connection),
            Err((text, error)) => {
                connection.close().await;
                Err((Some(text.clone()), error))
            }
        }
    }
}

impl<D: Driver> LaneConnections<D> {
    /// Returns a failure if the server had no connection at all for a job on this lane.
    fn failure_of_unconnected_job(&self, plan: &Plan, share: Share) -> Option<RunFailure> {
        let left_out = |(job, _): &&(JobId, Error)| self.connections[*job].is_empty();
        let (job, error) = self.limited_jobs.iter().find(left_out)?;
        let message = format!(
            "no connection is left for [{}] on one of {} threads: {error}; raise the server's \
             limit, or run with fewer threads or connections",
            plan.job(*job).name(),
            share.lanes
        );
        Some(RunFailure::Unreachable(Error::new(error.class(), error.code(), message).into()))
    }

    /// Closes all connections, because the run does not begin, to leave none on the targets.
    pub(crate) async fn close(self) {
        for (_, connection) in self.connections.into_pairs().flat_map(|(_, opened)| opened) {
            connection.close().await;
        }
    }

    /// Sorts the clients by their numbers, because connections open in any order.
    fn sorted(mut self) -> LaneConnections<D> {
        for (_, connections) in self.connections.iter_mut() {
            connections.sort_by_key(|(client, _)| *client);
        }
        self
    }
}
