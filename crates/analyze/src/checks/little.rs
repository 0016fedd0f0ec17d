//! Checks that closed jobs satisfy Little's law: N = X (R + Z) (Little, Operations Research 9,
//! 1961). The mean number of busy clients is their throughput times the response time plus the
//! think time.
//!
//! In a closed job N is known. If the law does not hold, requests or their times are missing.

use std::ops::Range;

use base::{AccountId, Nanos};
use record::{EventKind, Kind};
use workload::{Pacing, Reconnect};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::distribution::Distribution;
use crate::finding::{BusyClients, Finding, JobObstacle};

/// Fraction of the clients that may be missing.
const ALLOWED: f64 = 0.01;

/// Minimum shortfall of requests in a step at the beginning of the window, as a fraction of the
/// usual number. It shows that clients were busy with requests from before the window.
const SHORTFALL: f64 = 0.05;

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
        let found = requests * cycle_s / length_s;
        // At either edge of the window a client is somewhere in a cycle, which may be a long one.
        let usual_s = cycle_s.max(response.value_at_quantile(0.99) as f64 / 1e9);
        let long_s = match found > clients {
            true => self.beyond_end_s(account, until),
            false => self.busy_at_begin_s(account, from, until),
        };
        let edges = clients * (usual_s + long_s) / length_s;
        let chance = QUANTILE * deviation_s * requests.sqrt() / length_s;
        let allowed = ALLOWED * clients + edges + chance;
        Some(Busy { name: job.name(), clients, found, allowed })
    }

    /// Returns the longest time, in seconds, that a request of a job may have lasted beyond the
    /// end: its whole response counts, although only a part of it lies in the window.
    fn beyond_end_s(&self, account: AccountId, until: Nanos) -> f64 {
        let (job, steps) = (&self.evidence.jobs[account.index()], &self.evidence.steps);
        let beyond = |(part, times): &(Range<usize>, Distribution)| {
            let latest = steps.start(part.end).min(until) + Nanos(times.max_ns);
            latest.saturating_sub(until)
        };
        let of_parts = job.parts.iter().filter(|(_, times)| times.count > 0).map(beyond).max();
        let behind = job.parts.last().map_or(Nanos::ZERO, |(part, _)| steps.start(part.end));
        // The longest response may lie in the rest, which belongs to no part.
        let all = job.histogram(Kind::Response).filter(|_| behind < until);
        let of_rest = all.map_or(Nanos::ZERO, |times| Nanos(times.max()));
        of_parts.unwrap_or(Nanos::ZERO).max(of_rest).as_secs_f64()
    }

    /// Returns the time at the begin of the window, in seconds for all clients, in which they were
    /// still busy with requests from before: fewer requests than usual begin in it.
    fn busy_at_begin_s(&self, account: AccountId, from: Nanos, until: Nanos) -> f64 {
        let (job, steps) = (&self.evidence.jobs[account.index()], &self.evidence.steps);
        let length_s = |step: usize| {
            steps.start(step + 1).min(until).saturating_sub(steps.start(step)).as_secs_f64()
        };
        let range = steps.between(from, until);
        let arrivals = job.range(range.clone()).map(|step| step.counts.arrivals as f64);
        let per_s: Vec<f64> =
            range.clone().zip(arrivals).map(|(step, count)| count / length_s(step)).collect();
        let mut sorted = per_s.clone();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let shortfalls = range.zip(per_s).map(|(step, per_s)| (step, 1.0 - per_s / usual));
        let leading = shortfalls.take_while(|(_, shortfall)| *shortfall > SHORTFALL);
        leading.map(|(step, shortfall)| shortfall * length_s(step)).sum()
    }
}
