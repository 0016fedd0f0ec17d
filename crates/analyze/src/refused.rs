//! Connections of jobs that the server refused because it had too many.

use base::{AccountId, Class};
use record::{Event, EventKind};
use workload::{JobTarget, Pacing, Reconnect};

use crate::evidence::Evidence;

/// Fraction of its connections that a job may lack on average. A connection that is reopened at
/// once is hardly ever missing at the end of a second.
pub(crate) const MISSING_ALLOWED: f64 = 0.01;

/// Clients of a closed job that have no connection because the server refused it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnconnectedClients<'e> {
    /// Event of the refusal.
    pub(crate) event: &'e Event,
    /// Number of configured clients.
    pub(crate) clients: u64,
    /// Smallest number of clients with a connection since the refusal.
    pub(crate) connected: u64,
    /// Mean fraction of the clients that had no connection in the window.
    pub(crate) missing: f64,
}

/// Connections of a job since the server refused a connection to it.
struct RefusedConnections {
    fewest: u64,
    /// Mean fraction of the connections that the job lacked in the window.
    missing: f64,
}

impl Evidence {
    /// Returns the clients of a closed job that have no connection because the server refused it;
    /// `None` if there are none, or their number was not reported.
    pub(crate) fn clients_without_connection(
        &self,
        account: AccountId,
    ) -> Option<UnconnectedClients<'_>> {
        let Pacing::Closed { clients, .. } = self.plan.account(account).job().pacing else {
            return None;
        };
        let (event, clients) = (self.refusal(account)?, u64::from(clients));
        let RefusedConnections { fewest, missing } = self.since_refusal(account, clients)?;
        let are_without = match is_limit(event) {
            true => fewest < clients,
            false => missing > MISSING_ALLOWED,
        };
        are_without.then_some(UnconnectedClients { event, clients, connected: fewest, missing })
    }

    /// Returns the event in which the server refused a connection to a job with arrivals, if the
    /// job needs more connections, or lost some and did not get them back.
    pub(crate) fn refused_growth(&self, account: AccountId) -> Option<&Event> {
        let event = self.refusal(account)?;
        let lacks_lost = || {
            let most = self.open_connections(account).map(|(_, open)| open).max();
            let since = most.and_then(|most| self.since_refusal(account, most));
            since.is_some_and(|since| since.missing > MISSING_ALLOWED)
        };
        (is_limit(event) || lacks_lost()).then_some(event)
    }

    /// Returns the steps of the window until the job ends, each with the largest number of open
    /// connections of the job at the end of an interval. The last step of the job is left out,
    /// because the job closes its connections in it.
    pub(crate) fn open_connections(
        &self,
        account: AccountId,
    ) -> impl Iterator<Item = (usize, u64)> {
        let (job, steps) = (self.plan.account(account).job(), &self.steps);
        let known = &self.jobs[account.index()].steps;
        // Workers end when no more requests will come.
        let ends_early =
            job.has_fixed_request_count() || matches!(job.pacing, Pacing::Queue { .. });
        let last_arrival = || known.iter().rposition(|step| step.counts.arrivals > 0);
        let goes_at = if ends_early { last_arrival().unwrap_or_default() } else { known.len() };
        let end = job.stop.map_or(self.end(), |stop| stop.min(self.end()));
        steps
            .window()
            .filter(move |step| *step < goes_at && steps.start(step + 1) < end)
            .filter_map(|step| Some((step, known.get(step)?.connections?)))
    }

    /// Returns the connections that a job had, and lacked, since the server refused a connection to
    /// it. If the number of connections is unknown for all steps since then, the number at the last
    /// known step counts.
    fn since_refusal(&self, account: AccountId, wanted: u64) -> Option<RefusedConnections> {
        let refused = self.refusals(account).map(|event| event.at).min()?;
        let all: Vec<(usize, u64)> = self.open_connections(account).collect();
        let first = all.partition_point(|(step, _)| self.steps.start(step + 1) <= refused);
        let since = &all[first.min(all.len().saturating_sub(1))..];
        let fewest = since.iter().map(|(_, open)| *open).min()?;
        let missing: u64 = since.iter().map(|(_, open)| wanted.saturating_sub(*open)).sum();
        let missing = missing as f64 / (wanted.max(1) * all.len() as u64) as f64;
        Some(RefusedConnections { fewest, missing })
    }

    /// Returns the first event in which the server refuses connections to a job permanently. If
    /// there is none, returns the first event in which it refuses to replace a lost connection.
    fn refusal(&self, account: AccountId) -> Option<&Event> {
        self.refusals(account).min_by_key(|event| (!is_limit(event), event.at))
    }

    /// Returns the events in which the server refused connections to a job permanently. If the job
    /// keeps its connections, also returns those in which the server refused to replace lost ones.
    fn refusals(&self, account: AccountId) -> impl Iterator<Item = &Event> {
        let job = self.plan.account(account).job();
        let keeps_them = job.reconnect == Reconnect::No && job.target != JobTarget::Programs;
        self.events.iter().filter(move |event| {
            let is_of_job = event.account == Some(account);
            let is_lost = is_of_job && keeps_them && is_refused_again(event);
            is_lost || is_limit(event) && (is_of_job || event.account.is_none())
        })
    }
}

fn is_limit(event: &Event) -> bool {
    event.kind == EventKind::ConnectionLimit
}

/// Returns true for the first refusal of connections that a job had lost. The job tries again,
/// because other clients may hold the connections only for a while. Such a refusal alone is
/// therefore no limit.
fn is_refused_again(event: &Event) -> bool {
    let class = event.error.map(|error| error.class);
    event.kind == EventKind::FirstError && class == Some(Class::TooManyConnections)
}
