//! Checks that the target was reachable, with as many connections as configured.

use base::{AccountId, Class, Nanos};
use record::{Event, EventError, EventKind};
use workload::{JobTarget, Pacing, Reconnect};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{self, Finding, Outages};
use crate::refused::MISSING_ALLOWED;

/// Connections of a job: the configured number, and the mean number of open ones.
struct Connections<'a> {
    job: &'a str,
    configured: u32,
    open: f64,
}

impl Connections<'_> {
    /// Returns the fraction of the connections that was not open.
    fn missing(&self) -> f64 {
        1.0 - self.open / f64::from(self.configured)
    }
}

impl<'a> CheckInput<'a> {
    /// Checks that the target was reachable all the time. In a sweep over the number of servers, no
    /// server may be lost even briefly, because the run would then use fewer servers.
    pub(super) fn outage(&self) -> Check {
        let outages = self.evidence.outages();
        let away: Nanos =
            outages.iter().map(|outage| outage.end.saturating_sub(outage.start)).sum();
        let judged = CheckKind::Outage.of(Unit::Seconds, away.as_secs_f64(), 0.0);
        if let Some(lost) = self.first_loss_of_varied_server() {
            let (first, text) = (lost.at, lost.text.clone());
            let finding = Outages::FewerServers { length: away, first, text };
            return judged.conclude(Status::Invalid, Finding::Outage(finding));
        }
        let Some(first) = outages.first() else {
            return judged.conclude(Status::Pass, Finding::Outage(Outages::None));
        };
        let text = self.first_refusal(|_| true).map(|event| event.text.clone());
        let finding = Outages::Some { length: away, first: first.start, text };
        judged.conclude(Status::Suspect, Finding::Outage(finding))
    }

    /// Returns the event that shows the loss of a server in a sweep over the number of servers: the
    /// first refusal, or else the first loss of a connection. A client whose connection is lost
    /// connects to the next server. If that server accepts the connection, no refusal shows the
    /// loss.
    fn first_loss_of_varied_server(&self) -> Option<&Event> {
        if !self.evidence.surroundings.varies_servers {
            return None;
        }
        let is_disconnect =
            |event: &Event| event.error.is_some_and(|error| error.class == Class::Disconnect);
        let is_of_main = |event: &Event| {
            let job = event.account.and_then(|account| self.evidence.plan.find_account(account));
            job.is_none_or(|either| either.job().target == JobTarget::Main)
        };
        let is_loss = |event: &&Event| {
            event.kind == EventKind::FirstError && is_disconnect(event) && is_of_main(event)
        };
        let losses = self.evidence.events.iter().filter(is_loss);
        self.first_refusal(|_| true).or_else(|| losses.min_by_key(|event| event.at))
    }

    /// Returns the earliest beginning of an outage that satisfies `meant`.
    fn first_refusal(&self, meant: impl Fn(&Event) -> bool) -> Option<&Event> {
        let events = self.evidence.events.iter();
        let began = events.filter(|event| event.kind == EventKind::OutageBegan && meant(event));
        began.min_by_key(|event| event.at)
    }

    /// Returns the error with which the only target of the run began to refuse connections; `None`
    /// if there is no such error, or if the run has several targets.
    fn refusal(&self) -> Option<EventError> {
        let has_one_target = self.evidence.plan.named_targets().next().is_none();
        self.first_refusal(|event| has_one_target && event.error.is_some())?.error
    }

    /// Checks that as many connections were open as configured. In jobs with a fixed number of
    /// connections, the open connections are counted at the end of each second.
    pub(super) fn connections(&self) -> Check {
        let jobs = self.whole_jobs().filter_map(|account| self.connections_of(account));
        let fewest = jobs.max_by(|a, b| a.missing().total_cmp(&b.missing()));
        let missing = fewest.as_ref().map_or(0.0, Connections::missing);
        let events = self.evidence.events.iter();
        let limits: Vec<_> = events.filter(|e| e.kind == EventKind::ConnectionLimit).collect();
        let kind = CheckKind::Connections;
        if let Some(event) = limits.first() {
            let finding = finding::Connections::Limited { text: event.text.clone() };
            let judged = kind.of(Unit::Limits, limits.len() as f64, 0.0);
            return judged.conclude(Status::Suspect, Finding::Connections(finding));
        }
        let (status, finding) = match fewest {
            Some(Connections { job, configured, open }) if missing > MISSING_ALLOWED => {
                let job = job.to_owned();
                let refusal = self.refusal();
                (Status::Suspect, finding::Connections::Missing { job, configured, open, refusal })
            }
            Some(_) => (Status::Pass, finding::Connections::AllOpen),
            None => (Status::Pass, finding::Connections::AllAccepted),
        };
        let judged = kind.of(Unit::Percent, missing * 100.0, MISSING_ALLOWED * 100.0);
        judged.conclude(status, Finding::Connections(finding))
    }

    /// Returns the connections of a job that keeps a fixed number of them for its whole duration;
    /// `None` for other jobs.
    fn connections_of(&self, account: AccountId) -> Option<Connections<'a>> {
        let job = self.evidence.plan.account(account).job();
        let configured = match job.pacing {
            Pacing::Closed { clients, .. } => clients,
            Pacing::Queue { workers, .. } => workers,
            Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => return None,
        };
        let keeps_them = job.reconnect == Reconnect::No && job.target != JobTarget::Programs;
        if configured == 0 || job.has_fixed_request_count() || !keeps_them {
            return None;
        }
        let open: Vec<u64> =
            self.evidence.open_connections(account).map(|(_, open)| open).collect();
        let sum: u64 = open.iter().sum();
        let open = (!open.is_empty()).then(|| sum as f64 / open.len() as f64)?;
        Some(Connections { job: job.name(), configured, open })
    }
}
