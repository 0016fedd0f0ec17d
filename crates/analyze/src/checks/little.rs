//! Checks that closed jobs satisfy Little's law: N = X (R + Z) (Little, Operations Research 9,
//! 1961). The mean number of busy clients is their throughput times the response time plus the
//! think time.
//!
//! In a closed job N is known. If the law does not hold, requests or their times are missing.

use base::{AccountId, Nanos};
use record::{EventKind, Kind};
use workload::{Pacing, Reconnect};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{BusyClients, Finding, JobObstacle};

/// Fraction of the clients that may be missing.
const ALLOWED: f64 = 0.01;

/// Standard normal quantile that is exceeded on either side with a probability of 0.002.
const QUANTILE: f64 = 3.09;

/// Activity of a closed job's clients in the window.
struct Busy<'a> {
    name: &'a str,
    /// Configured clients.
    clients: f64,
    /// Clients that were busy or pausing on average.
    found: f64,
    /// Allowed difference of the two, in clients.
    allowed: f64,
}

impl<'a> CheckInput<'a> {
    /// Checks that the times of closed jobs add up to the time of their clients.
    pub(super) fn little(&self) -> Check {
        let jobs = self.whole_jobs().filter_map(|account| self.busy(account));
        let Some(Busy { name, clients, found, allowed }) = jobs.max_by(|a, b| {
            let excess = |busy: &Busy<'_>| (busy.found - busy.clients).abs() / busy.allowed;
            excess(a).total_cmp(&excess(b))
        }) else {
            return CheckKind::Little.not_possible(JobObstacle::NoBusyClients);
        };
        let percent = |clients_of_them: f64| clients_of_them / clients * 100.0;
        let difference = found - clients;
        let status = if difference.abs() <= allowed { Status::Pass } else { Status::Suspect };
        let finding = BusyClients { job: name.to_owned(), busy: found, clients };
        let judged = CheckKind::Little.of(Unit::Percent, percent(difference), percent(allowed));
        judged.found(status, Finding::Little(finding))
    }

    fn busy(&self, account: AccountId) -> Option<Busy<'a>> {
        let job = self.evidence.plan.account(account).job();
        let Pacing::Closed { clients, think } = &job.pacing else { return None };
        // Clients that wait for a connection send nothing, and pauses of others are not known.
        let is_limited = self.evidence.events.iter().any(|event| match event.kind {
            EventKind::ConnectionLimit
            | EventKind::OutageBegan
            | EventKind::FileFailed
            | EventKind::FileExhausted
            | EventKind::StoppedByError
            | EventKind::Interrupted => true,
            EventKind::OutageEnded
            | EventKind::QueueFull
            | EventKind::FirstError
            | EventKind::RecorderFailed
            | EventKind::FileCutOff
            | EventKind::OpLogIncomplete => false,
        });
        let asks_always = job.count.is_none()
            && job.requests.feed.is_none()
            && job.reconnect == Reconnect::No
            && self.counts[account.index()].balance.errors() == 0
            && self.counts[account.index()].balance.unsent() == 0;
        if is_limited || !asks_always {
            return None;
        }
        let pause = match think {
            None => Some((Nanos::ZERO, Nanos::ZERO)),
            Some(think) => think.known_pause().map(|pause| (pause.mean, pause.deviation)),
        };
        let (pause_s, deviation_s) =
            pause.map(|(mean, deviation)| (mean.as_secs_f64(), deviation.as_secs_f64()))?;
        let from = self.evidence.steps.warmup().max(job.start);
        let until = job.stop.map_or(self.evidence.end(), |stop| stop.min(self.evidence.end()));
        let length_s = until.saturating_sub(from).as_secs_f64();
        let response = self.evidence.jobs[account.index()].histogram(Kind::Response)?;
        if length_s <= 0.0 || response.is_empty() {
            return None;
        }
        let (requests, response_s) = (response.len() as f64, response.mean() / 1e9);
        let clients = f64::from(*clients);
        let cycle_s = response_s + pause_s;
        // At either edge of the window a client is somewhere in a cycle.
        let edges = clients * cycle_s.max(response.value_at_quantile(0.99) as f64 / 1e9) / length_s;
        let chance = QUANTILE * deviation_s * requests.sqrt() / length_s;
        Some(Busy {
            name: job.name(),
            clients,
            found: requests * cycle_s / length_s,
            allowed: ALLOWED * clients + edges + chance,
        })
    }
}
