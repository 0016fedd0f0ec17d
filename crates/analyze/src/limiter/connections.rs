//! Detection of too few connections: fewer than the server admits, or than a pool has.

use base::AccountId;
use record::metric::sockets;
use record::{Event, EventKind, Kind, Part, Side};
use workload::Reconnect;

use super::component::Component;
use super::demand::{LoadSource, clients};
use super::finding::{ConnectionLimit, LimiterFinding};
use super::input::LimiterInput;
use super::suspect::Suspect;

/// Minimum fraction of the requests under way without a session for them to count as waiting for
/// one.
const WITHOUT_SESSION: f64 = 0.4;

/// Minimum number of requests under way to distinguish a pool from chance.
const FEWEST_POOLED: f64 = 3.0;

/// Fraction of the sessions of a pool that idle, up to which the pool has none to spare.
const FREE: f64 = 0.3;

impl LimiterInput<'_, '_> {
    /// Returns the suspects among limits of connections.
    pub(super) fn connections(&self) -> Vec<Suspect> {
        if self.demand.by == LoadSource::Load {
            // Refusals are reported for jobs only, and few writers make no pool.
            return Vec::new();
        }
        // A database without spare processor time would not answer more with more connections.
        let refused = match self.processors() {
            Some(_) => None,
            None => self.refused_requests().or_else(|| self.refused_clients()),
        };
        let pool = match self.demand.by {
            LoadSource::Program => self.pool_of_program(),
            LoadSource::Jobs | LoadSource::Load => self.pool(),
        };
        [refused, pool].into_iter().flatten().collect()
    }

    /// Returns the events of the server admitting no more connections.
    fn refusals(&self) -> impl Iterator<Item = &Event> {
        let events = self.findings.evidence.events.iter();
        events.filter(|event| event.kind == EventKind::ConnectionLimit)
    }

    /// Returns a suspect if requests with a schedule wait for a connection.
    fn refused_requests(&self) -> Option<Suspect> {
        let places =
            || self.findings.whole_jobs().filter(|account| self.findings.is_overloaded(*account));
        let (event, account) = self.refusals().find_map(|event| {
            let is_of = |account: &AccountId| event.account.is_none_or(|job| job == *account);
            Some((event, places().find(is_of)?))
        })?;
        let job = &self.findings.evidence.jobs[account.index()];
        let spent = |kind| job.histogram(kind).map_or(0.0, |it| it.mean() * it.len() as f64);
        let (waited, all) = (spent(Kind::Wait), spent(Kind::Response));
        let finding = ConnectionLimit::RequestsWait { text: event.text.clone() };
        let finding = LimiterFinding::Connections(finding);
        let suspect = Suspect::new(Component::Connections, waited / all.max(1.0), finding)
            .with_any("offered_per_s", self.findings.offered_per_s(account))
            .with("waiting_share_of_response_time", waited / all.max(1.0));
        Some(suspect.with_any("connections", self.most_connections(account)))
    }

    /// Returns a suspect if clients never got a connection and send nothing.
    fn refused_clients(&self) -> Option<Suspect> {
        self.refusals().find_map(|event| {
            let account = event.account?;
            let clients = clients(&self.findings.evidence.plan.account(account).job().pacing);
            let connections = self.most_connections(account)?;
            let without = 1.0 - connections / clients.max(1.0);
            let text = event.text.clone();
            let finding = ConnectionLimit::ClientsWithout { clients, connections, text };
            let finding = LimiterFinding::Connections(finding);
            let suspect = Suspect::new(Component::Connections, without, finding)
                .with("clients", clients)
                .with("connections", connections);
            (without > 0.0).then_some(suspect)
        })
    }

    /// Returns the largest number of connections that a job had in the window.
    fn most_connections(&self, account: AccountId) -> Option<f64> {
        let evidence = self.findings.evidence;
        let steps = evidence.jobs[account.index()].range(evidence.steps.window());
        steps.filter_map(|step| step.connections).max().map(|most| most as f64)
    }

    /// Returns a suspect if requests under way have no session, because a pool shares few sessions
    /// among many connections.
    fn pool(&self) -> Option<Suspect> {
        let in_flight = self.demand.in_flight;
        let active = self.active()?;
        let sessions = active + self.idle_sessions()?;
        // A request that first connects has no session for a part of its time.
        let jobs = &self.findings.evidence.plan.jobs;
        if jobs.iter().any(|job| job.reconnect != Reconnect::No) {
            return None;
        }
        let share = 1.0 - sessions / in_flight.max(f64::MIN_POSITIVE);
        if in_flight < FEWEST_POOLED || share < WITHOUT_SESSION || sessions < 0.5 {
            return None;
        }
        let finding = LimiterFinding::Connections(ConnectionLimit::Pool { in_flight, sessions });
        let suspect = Suspect::new(Component::Connections, share, finding)
            .with("requests_in_flight", in_flight)
            .with("sessions", sessions)
            .with("sessions_active", active);
        Some(suspect)
    }

    /// Returns a suspect if a program has more connections than there are sessions behind them: a
    /// pool shares the sessions among the connections, and hardly any of them is free.
    fn pool_of_program(&self) -> Option<Suspect> {
        let program = Part::Sockets(Side::Generator);
        let connections = self.signals.mean(&program, sockets::CONNECTIONS)?;
        let (active, idle) = (self.active()?, self.idle_sessions()?);
        let sessions = active + idle;
        let share = 1.0 - sessions / connections.max(f64::MIN_POSITIVE);
        let is_free = idle > sessions * FREE;
        if connections < FEWEST_POOLED || share < WITHOUT_SESSION || sessions < 0.5 || is_free {
            return None;
        }
        let active_share = active / sessions;
        let finding = ConnectionLimit::PoolOfProgram { connections, sessions, active_share };
        let finding = LimiterFinding::Connections(finding);
        let suspect = Suspect::new(Component::Connections, share, finding)
            .with("connections", connections)
            .with("sessions", sessions)
            .with("sessions_active", active);
        Some(suspect)
    }
}
