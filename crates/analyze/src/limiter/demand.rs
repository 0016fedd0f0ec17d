//! The load on the database, by the load generator's own measurements.

use base::Nanos;
use record::Kind;
use workload::{Job, JobTarget, Pacing, Plan, Reconnect};

use crate::checks::input::CheckInput;
use crate::evidence::{Evidence, JobEvidence, LoadEvidence, Step};

/// Workers of a growing queue count as busy if they have a request in the database for at least
/// this fraction of their time. In the rest of the time the load generator takes the answer and
/// sends the next request.
const BUSY: f64 = 0.5;

/// Clients with one request at a time, and their requests in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clients {
    /// Number of clients.
    pub(super) clients: f64,
    /// Mean number of requests in the database.
    pub(super) in_flight: f64,
    /// Answered requests per second.
    pub(super) per_s: f64,
}

impl Clients {
    /// Returns the mean service time in seconds (Little's law).
    pub(super) fn service_s(&self) -> f64 {
        self.in_flight / self.per_s.max(f64::MIN_POSITIVE)
    }
}

/// The source of the database's load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LoadSource {
    /// Jobs of a run, in its window.
    Jobs,
    /// Load of a table, before the jobs begin.
    Load,
    /// An observed program.
    #[default]
    Program,
}

/// Load on the database.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Demand {
    /// Source of the load.
    pub(super) source: LoadSource,
    /// True if there is a job whose schedule offers more than is answered.
    pub(super) is_overloaded: bool,
    /// Clients of the closed jobs on the main target, without brief jobs ([`CheckInput::is_brief`])
    /// and without jobs whose file of requests is empty; for the load of a table, its writers.
    pub(super) closed: Clients,
    /// Number of clients of closed jobs that pause after each answer.
    pub(super) thinking_clients: f64,
    /// Workers of the jobs that offer more than is answered; `None` if there is no such job, or if
    /// any of them has no fixed number of workers, has workers that are not busy, or uses another
    /// target.
    pub(super) busy_workers: Option<Clients>,
    /// Number of clients of closed jobs that read their requests from a file or a pipe, and do not
    /// pause between them. Jobs without any request are left out, because their file is empty.
    pub(super) clients_with_input: f64,
    /// Mean number of these clients that have input: from its arrival to the end of the answer.
    /// Unlike the time in the database, this includes the time in which the load generator sends
    /// the request and takes the answer. With SQLite, most of it may be the hand-off to a thread.
    pub(super) busy_with_input: f64,
    /// Mean number of requests in the main target's database: throughput times mean service time
    /// (Little's law).
    pub(super) in_flight: f64,
    /// Requests that ended per second, with or without an error, on all targets; for the load of a
    /// table, batches of rows.
    pub(super) per_s: f64,
    /// Mean service time of completed requests and timeouts at the main target, in seconds.
    pub(super) service_s: f64,
    /// Mean number of statements of a request to the main target; some may take no round trip of
    /// their own.
    pub(super) statements: f64,
    /// Mean number of bytes received per completed request to the main target.
    pub(super) received_bytes: f64,
}

impl Demand {
    pub(super) fn of(check_input: &CheckInput<'_>) -> Demand {
        let evidence = check_input.evidence;
        let length_s = evidence.window_length().as_secs_f64().max(f64::MIN_POSITIVE);
        let mut demand = Demand {
            per_s: check_input.ended_per_s(),
            busy_workers: busy_workers(check_input),
            ..Demand::default()
        };
        let (mut count, mut received, mut answers) = (0, 0, 0);
        for account in check_input.whole_jobs() {
            demand.source = LoadSource::Jobs;
            let job = evidence.plan.account(account).job();
            demand.is_overloaded |= check_input.is_overloaded(account);
            // Requests to other targets, and requests that run programs, do not load the observed
            // database.
            if job.target != JobTarget::Main {
                continue;
            }
            for Step { counts, .. } in &evidence.jobs[account.index()].steps {
                received += counts.bytes_received;
                answers += counts.balance.completed();
            }
            let requests = &evidence.jobs[account.index()];
            let times = requests.histogram(Kind::Service).map_or(0, |times| times.len());
            let served_s = requests.served_s();
            let ended_per_due = ended_of_due(requests, evidence);
            let in_flight = served_s / length_s * ended_per_due;
            count += times;
            let statements = &evidence.jobs[account.index()].window;
            let statements = statements.iter().filter(|(it, _)| matches!(it, Kind::Statement(_)));
            let asked: u64 = statements.map(|(_, histogram)| histogram.len()).sum();
            demand.statements += asked.max(times) as f64;
            demand.in_flight += in_flight;
            demand.service_s += served_s;
            let has_feed = job.requests.feed.is_some();
            // The clients of a job with an empty file send nothing.
            let is_fed = !has_feed || requests.has_requests();
            if !check_input.has_schedule(account) && !check_input.is_brief(account) && is_fed {
                let clients = clients(&job.pacing);
                demand.closed.clients += clients;
                demand.closed.in_flight += in_flight;
                demand.closed.per_s += times as f64 / length_s;
                if thinks(&job.pacing) {
                    demand.thinking_clients += clients;
                } else if has_feed && let Some(asking_s) = asking_s(evidence, job, requests) {
                    // Thinking clients idle intentionally, not because input is missing.
                    demand.clients_with_input += clients;
                    let busy = requests.responded_s() / asking_s * ended_per_due;
                    demand.busy_with_input += busy.min(clients);
                }
            }
        }
        demand.service_s /= (count as f64).max(1.0);
        demand.statements /= (count as f64).max(1.0);
        demand.received_bytes = received as f64 / (answers as f64).max(1.0);
        demand
    }

    /// Returns true if every client of the closed jobs pauses after each answer.
    pub(super) fn all_clients_think(&self) -> bool {
        self.closed.clients > 0.0 && self.thinking_clients >= self.closed.clients
    }

    /// Describes the load of a table as a demand: each writer counts as a client, and the rows of
    /// one commit count as one request.
    pub(super) fn of_load(plan: &Plan, load: &LoadEvidence) -> Demand {
        let asked = plan.loads.iter().find(|asked| asked.table == load.table);
        let of_one = asked.map_or(1.0, |asked| f64::from(asked.batch));
        let batches = (load.rows as f64 / of_one).ceil();
        // Writers beyond the number of batches write nothing.
        let writers = asked.map_or(1.0, |asked| f64::from(asked.writers)).min(batches.max(1.0));
        let per_s = batches / load.took.as_secs_f64().max(f64::MIN_POSITIVE);
        Demand {
            source: LoadSource::Load,
            closed: Clients { clients: writers, in_flight: writers, per_s },
            in_flight: writers,
            per_s,
            service_s: writers / per_s.max(f64::MIN_POSITIVE),
            statements: 1.0,
            ..Demand::default()
        }
    }
}

/// Returns the number of requests that ended in the window, divided by the number of requests due
/// in the window that were answered or failed at any time. The result is small if a job offers more
/// than is answered, because many of its requests are answered after the window.
fn ended_of_due(requests: &JobEvidence, evidence: &Evidence) -> f64 {
    let window = evidence.steps.window();
    let ends = requests.ends(window.clone());
    let balance = requests.counts(window).balance;
    let due = balance.completed() + balance.errors();
    (ends.completed + ends.errors) as f64 / (due as f64).max(1.0)
}

/// Returns the workers of the overloaded jobs; `None` if there are no such jobs, or if busy workers
/// do not explain the overload of each of them.
fn busy_workers(check_input: &CheckInput<'_>) -> Option<Clients> {
    let evidence = check_input.evidence;
    let length_s = evidence.window_length().as_secs_f64().max(f64::MIN_POSITIVE);
    let mut workers = Clients::default();
    for account in check_input.whole_jobs().filter(|account| check_input.is_overloaded(*account)) {
        let job = evidence.plan.account(account).job();
        let Pacing::Queue { workers: number, .. } = &job.pacing else { return None };
        let requests = &evidence.jobs[account.index()];
        let times = requests.histogram(Kind::Service).filter(|times| !times.is_empty())?;
        // Many of the requests that are due in the window are answered after it.
        let ends = requests.ends(evidence.steps.window());
        let per_s = (ends.completed + ends.errors) as f64 / length_s;
        let (clients, in_flight) = (f64::from(*number), per_s * times.mean() / 1e9);
        if job.target != JobTarget::Main || in_flight < BUSY * clients {
            return None;
        }
        workers.clients += clients;
        workers.in_flight += in_flight;
        workers.per_s += per_s;
    }
    (workers.clients > 0.0).then_some(workers)
}

/// Returns the number of clients of a job; 0 for a job with a schedule.
fn clients(pacing: &Pacing) -> f64 {
    match pacing {
        Pacing::Closed { clients, .. } => f64::from(*clients),
        Pacing::Open { .. } | Pacing::Queue { .. } | Pacing::Timetable { .. } | Pacing::Replay => {
            0.0
        }
    }
}

fn thinks(pacing: &Pacing) -> bool {
    matches!(pacing, Pacing::Closed { think: Some(_), .. })
}

/// Returns the time, in seconds, in which the clients of a closed job asked for input in the
/// window: from the start of the job to its end, or to the step in which the last of them left
/// because the file had ended. Clients that wait for a pipe do not leave. `None` if this time is
/// zero, or if no request came due.
fn asking_s(evidence: &Evidence, job: &Job, requests: &JobEvidence) -> Option<f64> {
    let last = requests.steps.iter().rposition(|step| step.counts.arrivals > 0)?;
    // At the end of the run, every client leaves.
    let mut earlier = last..evidence.steps.window().end.saturating_sub(1);
    // Only clients that keep their connections have one while they wait.
    let are_gone = |step: &usize| {
        let open = requests.steps.get(*step).and_then(|step| step.connections);
        job.reconnect == Reconnect::No && open == Some(0)
    };
    let end = evidence.end().min(job.stop.unwrap_or(Nanos::MAX));
    let until = earlier.find(are_gone).map_or(end, |step| evidence.steps.start(step).min(end));
    let asking = until.saturating_sub(job.start.max(evidence.steps.warmup()));
    (asking > Nanos::ZERO).then_some(asking.as_secs_f64())
}
