//! Checks that closed jobs satisfy Little's law: N = X (R + Z) (Little, Operations Research 9,
//! 1961). The mean number of busy clients is the product of their throughput and the sum of
//! response time and think time.
//!
//! In a closed job N is known. If the law does not hold, requests or their times are missing or in
//! excess.

use std::ops::Range;

use base::{AccountId, Nanos};
use record::{BucketCount, EventKind, Kind, bucket_counts};
use workload::{Pacing, Reconnect};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::distribution::Distribution;
use crate::evidence::JobEvidence;
use crate::finding::{BusyClients, Finding, JobObstacle};
use crate::steps::Steps;

/// Fraction of the clients that may be missing or in excess.
const ALLOWED: f64 = 0.01;

/// Minimum shortfall of requests in a step at the beginning of the window, as a fraction of the
/// usual number. Such a shortfall shows that clients were busy with requests from before the
/// window.
const SHORTFALL: f64 = 0.05;

/// Standard normal quantile that is exceeded on either side with a probability of 0.002.
const QUANTILE: f64 = 3.09;

/// Activity of a closed job's clients in the window.
struct ClientActivity<'a> {
    name: &'a str,
    /// Number of configured clients.
    clients: f64,
    /// Mean number of clients that were busy or pausing.
    found: f64,
    /// Allowed difference between `found` and `clients`.
    allowed: f64,
}

impl<'a> CheckInput<'a> {
    /// Checks that the times of closed jobs add up to the time of their clients.
    pub(super) fn little(&self) -> Check {
        let jobs = self.whole_jobs().filter_map(|account| self.busy(account));
        let Some(ClientActivity { name, clients, found, allowed }) = jobs.max_by(|a, b| {
            let excess =
                |busy: &ClientActivity<'_>| (busy.found - busy.clients).abs() / busy.allowed;
            excess(a).total_cmp(&excess(b))
        }) else {
            return CheckKind::Little.not_possible(JobObstacle::NoBusyClients);
        };
        let percent = |clients_of_them: f64| clients_of_them / clients * 100.0;
        let difference = found - clients;
        let status = if difference.abs() <= allowed { Status::Pass } else { Status::Suspect };
        let finding = BusyClients { job: name.to_owned(), busy: found, clients };
        let judged = CheckKind::Little.of(Unit::Percent, percent(difference), percent(allowed));
        judged.conclude(status, Finding::Little(finding))
    }

    fn busy(&self, account: AccountId) -> Option<ClientActivity<'a>> {
        let job = self.evidence.plan.account(account).job();
        let Pacing::Closed { clients, think } = &job.pacing else { return None };
        // After these events, clients wait for a connection and send nothing, or pause for an
        // unknown time.
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
        let (times, steps) = (&self.evidence.jobs[account.index()], &self.evidence.steps);
        let response = times.histogram(Kind::Response)?;
        if length_s <= 0.0 || response.is_empty() {
            return None;
        }
        let (requests, response_s) = (response.len() as f64, response.mean() / 1e9);
        let clients = f64::from(*clients);
        let cycle_s = response_s + pause_s;
        let found = requests * cycle_s / length_s;
        // At either edge of the window, a client is in the middle of a cycle, which may be long.
        let usual_s = cycle_s.max(response.value_at_quantile(0.99) as f64 / 1e9);
        let edges = Edges {
            steps,
            job: times,
            clients,
            pause_s,
            asked: from..until,
            responses: bucket_counts(response),
            open: open_requests(times, steps),
        };
        let long_s = match found > clients {
            true => edges.beyond_end_s(),
            // No client is busy before its job begins.
            false if from == job.start => 0.0,
            false => edges.busy_at_begin_s(),
        };
        let edges = (clients * usual_s + long_s) / length_s;
        let chance = QUANTILE * deviation_s * requests.sqrt() / length_s;
        let allowed = ALLOWED * clients + edges + chance;
        Some(ClientActivity { name: job.name(), clients, found, allowed })
    }
}

/// Requests of a closed job that cross an edge of the window. All results are sums over the
/// clients. They are upper bounds, computed from the response times of probes, which are parts of
/// the window, ten seconds long by default. If the record has no probes, the results are 0.
struct Edges<'a> {
    steps: &'a Steps,
    job: &'a JobEvidence,
    /// Number of configured clients.
    clients: f64,
    /// Mean pause of a client, in seconds.
    pause_s: f64,
    /// Part of the window in which the job sends requests.
    asked: Range<Nanos>,
    /// Response times of the window, from the shortest.
    responses: Vec<BucketCount>,
    /// Number of open requests at the beginning of each step, and at the end of the last.
    open: Vec<u64>,
}

impl Edges<'_> {
    /// Returns an upper bound on the time, in seconds, for which requests lasted beyond the end of
    /// the job or the window. The whole response time of such a request counts, although only a
    /// part of it lies in the window.
    ///
    /// In the probes with such requests, the response times and pauses sum up to more than the
    /// clients' time. This surplus is also an upper bound.
    fn beyond_end_s(&self) -> f64 {
        let until = self.asked.end;
        let mut probes = self.job.probes.iter();
        let reaches_end = |(probe, times): &&(Range<usize>, Distribution)| {
            self.beyond(probe, times, until) > Nanos::ZERO
        };
        let Some((first, _)) = probes.find(reaches_end) else { return 0.0 };
        let before_s = self.lasted_beyond_s(self.steps.start(first.start));
        let surplus_s = self.surplus_s(first.start..self.steps.len()) + before_s;
        self.lasted_beyond_s(until).min(surplus_s.max(0.0))
    }

    /// Returns an upper bound on the total time, in seconds, that clients spent in the window on
    /// requests that began before it.
    ///
    /// Such clients begin fewer requests than usual in the first steps of the window, and the
    /// response times and pauses in the probes of these steps sum up to less than the clients'
    /// time. If requests have merely become longer, fewer of them begin too, but nothing is missing
    /// from the sum.
    fn busy_at_begin_s(&self) -> f64 {
        let leading = self.leading_shortfalls();
        let after = self.steps.between(self.asked.start, self.asked.end).start + leading.len();
        let mut busy = self.clients;
        let shortfalls_s = leading.into_iter().map(|(step, shortfall)| {
            busy = busy.min(self.open[step] as f64);
            busy.min(shortfall * self.clients) * self.length_s(step..step + 1)
        });
        let busy_s: f64 = shortfalls_s.sum();
        let mut probes = self.job.probes.iter().rev();
        let Some((last, _)) = probes.find(|(probe, _)| probe.start < after) else { return 0.0 };
        let end = self.steps.start(last.end).min(self.asked.end);
        let deficit_s = self.lasted_beyond_s(end) - self.surplus_s(0..last.end);
        busy_s.min(deficit_s.max(0.0))
    }

    /// Returns the first steps in which clearly fewer requests begin than usual, each with the
    /// shortfall as a fraction of the usual number.
    fn leading_shortfalls(&self) -> Vec<(usize, f64)> {
        let range = self.steps.between(self.asked.start, self.asked.end);
        let arrivals = self.job.range(range.clone()).map(|step| step.counts.arrivals as f64);
        let rates = range.clone().zip(arrivals);
        let per_s: Vec<f64> =
            rates.map(|(step, count)| count / self.length_s(step..step + 1)).collect();
        let mut sorted = per_s.clone();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let shortfalls = range.zip(per_s).map(|(step, per_s)| (step, 1.0 - per_s / usual));
        shortfalls.take_while(|(_, shortfall)| *shortfall > SHORTFALL).collect()
    }

    /// Returns an upper bound on the total time, in seconds, that the requests open at `at` still
    /// take. The longest requests of the window are assumed to be the open ones.
    fn lasted_beyond_s(&self, at: Nanos) -> f64 {
        let before = self.job.probes.iter().filter(|(probe, _)| self.steps.start(probe.start) < at);
        let longest = before.map(|(probe, times)| self.beyond(probe, times, at)).max();
        let longest = longest.unwrap_or(Nanos::ZERO);
        let mut open = self.open_at(at);
        let longest_first = self.responses.iter().rev().map(|it| {
            let taken = it.count.min(open);
            open -= taken;
            taken as f64 * Nanos(it.bucket.highest).min(longest).as_secs_f64()
        });
        longest_first.sum()
    }

    /// Returns an upper bound on the time for which a request of a probe lasts beyond `at`, an
    /// instant after the start of the probe.
    fn beyond(&self, probe: &Range<usize>, times: &Distribution, at: Nanos) -> Nanos {
        let latest = self.steps.start(probe.end).min(at) + Nanos(times.max_ns);
        latest.saturating_sub(at)
    }

    /// Returns an upper bound on the number of requests that are open at an instant. The number is
    /// known only where a step begins; at any other instant, each client is assumed to have an open
    /// request.
    fn open_at(&self, at: Nanos) -> u64 {
        let clients = self.clients as u64;
        let step = self.steps.between(Nanos::ZERO, at).end;
        let is_bound = self.steps.start(step) == at
            && (step < self.steps.len() || self.steps.ends_with_last());
        if is_bound { self.open[step].min(clients) } else { clients }
    }

    /// Returns the surplus of the probes that begin in `steps`, in seconds: the sum of their
    /// response times and pauses, minus the time of the clients in them.
    fn surplus_s(&self, steps: Range<usize>) -> f64 {
        let probes = self.job.probes.iter().filter(|(probe, _)| steps.contains(&probe.start));
        let surplus_s = |(probe, times): &(Range<usize>, Distribution)| {
            let found_s = times.count as f64 * (times.mean_ns / 1e9 + self.pause_s);
            found_s - self.clients * self.length_s(probe.clone())
        };
        probes.map(surplus_s).sum()
    }

    /// Returns the time, in seconds, for which the job sends requests within `steps`.
    fn length_s(&self, steps: Range<usize>) -> f64 {
        let begin = self.steps.start(steps.start).max(self.asked.start);
        let end = self.steps.start(steps.end).min(self.asked.end);
        end.saturating_sub(begin).as_secs_f64()
    }
}

/// Returns the number of open requests of a job at the beginning of each step, and at the end of
/// the last.
fn open_requests(job: &JobEvidence, steps: &Steps) -> Vec<u64> {
    let mut open = 0i64;
    let ends = job.range(0..steps.len()).map(|step| {
        let ended = step.ends.completed + step.ends.errors + step.counts.balance.rejected();
        open += step.counts.arrivals as i64 - ended as i64;
        open.max(0) as u64
    });
    std::iter::once(0).chain(ends).collect()
}
