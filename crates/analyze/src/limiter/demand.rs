//! What the load generator asked for, by its own measure.

use record::Kind;
use workload::{JobTarget, Pacing, Plan};

use crate::checks::Findings;
use crate::evidence::{LoadEvidence, Step};

/// The clients of closed jobs, and their requests in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Closed {
    /// How many clients there are.
    pub(super) clients: f64,
    /// Requests that were with the database, on average.
    pub(super) in_flight: f64,
    /// Requests that were answered per second.
    pub(super) per_s: f64,
}

impl Closed {
    /// The mean service time in seconds (Little's law).
    pub(super) fn service_s(&self) -> f64 {
        self.in_flight / self.per_s.max(f64::MIN_POSITIVE)
    }
}

/// Who asks the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asker {
    /// The jobs of a run, in its window.
    Jobs,
    /// Whoever fills a table, before the jobs begin.
    Load,
    /// A program that is watched.
    #[default]
    Program,
}

/// What is asked of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Demand {
    /// By whom.
    pub(super) by: Asker,
    /// Whether there is a job with a schedule that asks for more than it gets.
    pub(super) is_overloaded: bool,
    /// The closed jobs; those without a schedule.
    pub(super) closed: Closed,
    /// The same of those that take what they ask for from a file or a pipe.
    pub(super) fed_clients: f64,
    /// Requests of those that were with the database, on average.
    pub(super) fed_in_flight: f64,
    /// Requests that were with the main target's database, on average: throughput times mean
    /// service time (Little's law).
    pub(super) in_flight: f64,
    /// Requests that were answered per second, by whomever.
    pub(super) per_s: f64,
    /// The mean service time of those of the main target in seconds.
    pub(super) service_s: f64,
    /// Statements of a request of the main target, in the mean; one may take no round trip of its
    /// own.
    pub(super) statements: f64,
    /// Bytes of an answer, in the mean.
    pub(super) received_bytes: f64,
}

impl Demand {
    pub(super) fn of(findings: &Findings<'_>) -> Demand {
        let evidence = findings.evidence;
        let length_s = evidence.window_length().as_secs_f64().max(f64::MIN_POSITIVE);
        let mut demand = Demand { per_s: findings.ended_per_s(), ..Demand::default() };
        let (mut count, mut received, mut answers) = (0, 0, 0);
        for place in findings.places() {
            demand.by = Asker::Jobs;
            let job = &evidence.plan.jobs[place];
            demand.is_overloaded |= findings.is_overloaded(place);
            // What other targets and programs are asked is not with the database that is watched.
            if job.target != JobTarget::Main {
                continue;
            }
            for Step { counts, .. } in &evidence.jobs[place].steps {
                received += counts.bytes_received;
                answers += counts.balance.completed();
            }
            let histogram = evidence.jobs[place].histogram(Kind::Service);
            let times = histogram.map_or(0, |times| times.len());
            let spent_s = histogram.map_or(0.0, |times| times.mean() * times.len() as f64 / 1e9);
            count += times;
            let statements = &evidence.jobs[place].window;
            let statements = statements.iter().filter(|(it, _)| matches!(it, Kind::Statement(_)));
            let asked: u64 = statements.map(|(_, histogram)| histogram.len()).sum();
            demand.statements += asked.max(times) as f64;
            demand.in_flight += spent_s / length_s;
            demand.service_s += spent_s;
            if !findings.has_schedule(place) {
                let clients = clients(&job.pacing);
                demand.closed.clients += clients;
                demand.closed.in_flight += spent_s / length_s;
                demand.closed.per_s += times as f64 / length_s;
                // A client that thinks has something to ask, and does not ask it.
                if job.feed.is_some() && !thinks(&job.pacing) {
                    demand.fed_clients += clients;
                    demand.fed_in_flight += spent_s / length_s;
                }
            }
        }
        demand.service_s /= (count as f64).max(1.0);
        demand.statements /= (count as f64).max(1.0);
        demand.received_bytes = received as f64 / (answers as f64).max(1.0);
        demand
    }

    /// What filling a table asks for: its writers are clients, and what is committed together is a
    /// request.
    pub(super) fn of_load(plan: &Plan, load: &LoadEvidence) -> Demand {
        let asked = plan.loads.iter().find(|asked| asked.table == load.table);
        let of_one = asked.map_or(1.0, |asked| f64::from(asked.batch));
        let batches = (load.rows as f64 / of_one).ceil();
        // Whoever finds no rows left writes none.
        let writers = asked.map_or(1.0, |asked| f64::from(asked.writers)).min(batches.max(1.0));
        let per_s = batches / load.took.as_secs_f64().max(f64::MIN_POSITIVE);
        Demand {
            by: Asker::Load,
            closed: Closed { clients: writers, in_flight: writers, per_s },
            in_flight: writers,
            per_s,
            service_s: writers / per_s.max(f64::MIN_POSITIVE),
            statements: 1.0,
            ..Demand::default()
        }
    }
}

/// The clients of a job that has no schedule.
pub(super) fn clients(pacing: &Pacing) -> f64 {
    match pacing {
        Pacing::Closed { clients, .. } => f64::from(*clients),
        Pacing::Open { .. }
        | Pacing::Queue { .. }
        | Pacing::Timetable { .. }
        | Pacing::Replay
        | Pacing::Part { .. } => 0.0,
    }
}

fn thinks(pacing: &Pacing) -> bool {
    matches!(pacing, Pacing::Closed { think: Some(_), .. })
}
