//! Input of the checks: the evidence, its sums over the window, and values that several checks
//! derive from them.

use std::ops::Range;

use base::{AccountId, Code, Nanos};
use record::{Counts, EndKind, EventKind};
use workload::{Job, Pacing};

use crate::backlog::{
    Arrivals, INTERVALS, IntervalRequests, Trend, open_share, trend, trend_of_varying,
};
use crate::evidence::{Evidence, JobEvidence};
use crate::warmup::has_varying_rate;

/// A run is INVALID if more than this fraction of a job's requests had unexpected errors.
pub(super) const ERRORS_INVALID: f64 = 0.01;

/// Fraction of a job's requests that may stay unsent after the run has waited for them.
pub(super) const UNSENT_ALLOWED: f64 = 0.05;

/// Minimum fraction of the window for which the clients of a job with a fixed number of requests
/// must be busy. If they are busy for less time, only the number of its requests limits the job.
const BUSY: f64 = 0.5;

/// Minimum number of requests open at the end of a short window for a load that may exceed the
/// capacity.
const FEWEST_LEFT_OPEN: f64 = 10.0;

/// Fraction of the requests of a short window that may be open at its end. Beyond it, the load may
/// exceed the capacity.
const LEFT_OPEN: f64 = 0.1;

/// Input of the checks: the evidence, and its sums over the window.
pub(crate) struct CheckInput<'a> {
    pub(crate) evidence: &'a Evidence,
    /// Counts in the window, by account: jobs and parts of mixes.
    pub(crate) counts: Vec<Counts>,
}

/// Requests of a job at the ends of consecutive intervals.
#[derive(Default)]
struct Backlog {
    /// Number of requests that had come due and not ended, at the end of each interval.
    open: Vec<f64>,
    /// Number of requests that came due in each interval. The list also contains the intervals
    /// before the first one of `open`, from time zero.
    arrivals: Vec<f64>,
    /// Number of requests that ended in each interval of `arrivals`.
    ended: Vec<f64>,
}

impl Backlog {
    /// Returns the trend of the backlog of a job; `None` for a closed job, and if there are too few
    /// intervals.
    fn trend(&self, job: &Job) -> Option<Trend> {
        match (job.has_arrivals(), has_varying_rate(job) || is_replay(job)) {
            (false, _) => None,
            (true, false) => trend(&self.open),
            (true, true) => trend_of_varying(&self.open, &self.arrivals),
        }
    }

    /// Returns the number of requests that came due in each interval of `open`.
    fn arrivals_while_open(&self) -> &[f64] {
        &self.arrivals[self.arrivals.len().saturating_sub(self.open.len())..]
    }
}

fn is_replay(job: &Job) -> bool {
    matches!(job.pacing, Pacing::Replay)
}

impl<'a> CheckInput<'a> {
    pub(crate) fn new(evidence: &'a Evidence) -> CheckInput<'a> {
        let window = evidence.steps.window();
        let counts = evidence.jobs.iter().map(|job| job.counts(window.clone())).collect();
        CheckInput { evidence, counts }
    }

    /// Returns the name, data and counts of each whole job. Together, the whole jobs count every
    /// request once.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (&'a str, &'a JobEvidence, &Counts)> {
        self.whole_jobs().map(|account| {
            let name = self.evidence.plan.account(account).name();
            (name, &self.evidence.jobs[account.index()], &self.counts[account.index()])
        })
    }

    /// Returns the whole jobs: all accounts except the parts of mixes, because a part is judged
    /// with its mix. The whole jobs count every request once.
    pub(crate) fn whole_jobs(&self) -> impl Iterator<Item = AccountId> + Clone {
        let plan = &self.evidence.plan;
        self.evidence.accounts().filter(|account| !plan.account(*account).is_part())
    }

    /// Returns the counts of all jobs together.
    pub(super) fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.jobs().for_each(|(.., counts)| all.merge(counts));
        all
    }

    pub(crate) fn window_is_empty(&self) -> bool {
        self.all().balance.scheduled() == 0
    }

    /// Returns true if there are requests that the generator never sent.
    pub(crate) fn some_unsent(&self) -> bool {
        self.all().balance.unsent() > 0
    }

    /// Returns the requests per second that ended in the window, answered or not.
    pub(crate) fn ended_per_s(&self) -> f64 {
        let window = self.evidence.steps.window();
        let ended: u64 = self
            .jobs()
            .map(|(_, job, _)| job.ends(window.clone()))
            .map(|ends| ends.completed + ends.errors)
            .sum();
        ended as f64 / self.evidence.window_length().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns the number of errors of a job that are not accepted errors. Requests of an
    /// overloaded job that were still in flight when the drain ended belong to the backlog of the
    /// job and are not errors; the drain is the time that a run grants to open requests after its
    /// schedule. The same applies to requests that were in flight when the user interrupted the
    /// run, unless there were more of them than completed requests: the job had then already
    /// stalled.
    pub(crate) fn unexpected(&self, account: AccountId) -> u64 {
        let drained = self.evidence.accepted_errors(account, |_, code| code == Code::DRAIN);
        // Excused requests are no failures, so they must not be subtracted again.
        let excused = if drained > 0 && self.excuses_drain(account) { drained } else { 0 };
        let accepted = self.counts[account.index()].accepted_errors.saturating_sub(excused);
        self.failed(account).saturating_sub(accepted)
    }

    /// Returns the number of errors of a job, including accepted errors, but without the requests
    /// that [`CheckInput::excuses_drain`] excuses.
    fn failed(&self, account: AccountId) -> u64 {
        let drained = match self.excuses_drain(account) {
            true => self.evidence.jobs[account.index()].failed_with(Code::DRAIN),
            false => 0,
        };
        self.counts[account.index()].balance.errors().saturating_sub(drained)
    }

    /// Returns true if a job's requests in flight at the end of the drain do not count as errors.
    pub(super) fn excuses_drain(&self, account: AccountId) -> bool {
        let drained = self.evidence.jobs[account.index()].failed_with(Code::DRAIN);
        let was_given_up = self.evidence.ended == Some(EndKind::Interrupted)
            && drained <= self.counts[account.index()].balance.completed();
        was_given_up || self.is_overloaded(account)
    }

    pub(super) fn error_rate(&self, account: AccountId) -> f64 {
        self.share(account, self.unexpected(account))
    }

    /// Returns a number of requests as a fraction of the job's scheduled requests.
    pub(super) fn share(&self, account: AccountId, requests: u64) -> f64 {
        requests as f64 / self.counts[account.index()].balance.scheduled().max(1) as f64
    }

    /// Returns true if so many requests of a job failed that the others say little about the
    /// target. Accepted errors count too, because they are not correct answers either.
    pub(crate) fn fails(&self, account: AccountId) -> bool {
        self.share(account, self.failed(account)) > ERRORS_INVALID
    }

    /// Returns true if the backlog of a job grew through the window, its queue overflowed, or too
    /// many of its requests were still unsent after the run had waited for them. A part is judged
    /// with its mix. Always false for a job without a schedule, and in a run that lost its target.
    pub(crate) fn is_overloaded(&self, account: AccountId) -> bool {
        let account = self.evidence.plan.whole_job_account(account);
        let Some(counts) = self.counts.get(account.index()) else { return false };
        !self.is_target_lost()
            && self.has_schedule(account)
            && (counts.balance.rejected() > 0 || self.leaves_unsent(account) || self.grows(account))
    }

    /// Returns true if the backlog of a job grew through the window.
    pub(super) fn grows(&self, account: AccountId) -> bool {
        let job = self.evidence.plan.account(account).job();
        let backlog = self.backlog(&self.evidence.jobs[account.index()]);
        match backlog.trend(job) {
            Some(trend) if is_replay(job) => {
                trend.outgrows_log(&backlog.open, backlog.arrivals_while_open())
            }
            Some(trend) => {
                trend.exceeds_capacity(Arrivals::of(job, self.counts[account.index()].arrivals))
            }
            None => self.open_share(account).is_some(),
        }
    }

    /// Returns the share of a job's requests that stayed open because the load exceeds the
    /// capacity; `None` if the load may be within the capacity, if the job has no schedule or a
    /// varying rate, or if the window is long enough for a trend.
    pub(super) fn open_share(&self, account: AccountId) -> Option<f64> {
        let job = self.evidence.plan.account(account).job();
        let Backlog { open, arrivals, ended } = self.backlog(&self.evidence.jobs[account.index()]);
        if !job.has_arrivals() || has_varying_rate(job) || open.len() >= INTERVALS {
            return None;
        }
        let intervals =
            arrivals.iter().zip(ended).map(|(due, ended)| IntervalRequests { due: *due, ended });
        let intervals: Vec<IntervalRequests> =
            intervals.skip_while(|interval| interval.due == 0.0).collect();
        open_share(&intervals, open.len(), Arrivals::of(job, 0).burst)
    }

    /// Returns the share of a job's requests that were open at the end of the window; `None` if the
    /// share is too small to doubt that the server keeps up, or if the target was lost.
    pub(super) fn left_open(&self, account: AccountId) -> Option<f64> {
        let backlog = self.backlog(&self.evidence.jobs[account.index()]);
        let due: f64 = backlog.arrivals_while_open().iter().sum();
        let left = *backlog.open.last()?;
        let is_material = left >= FEWEST_LEFT_OPEN && left > LEFT_OPEN * due;
        (is_material && !self.is_target_lost()).then(|| (left / due).min(1.0))
    }

    /// Returns true if a target was unreachable when the run ended, and requests of a job with a
    /// schedule had piled up: a queue was full, or a backlog grew. This says nothing about the
    /// capacity, because the requests may have piled up after the target was lost.
    pub(crate) fn piles_up_at_lost_target(&self) -> bool {
        let piles_up = |account: AccountId| {
            self.has_schedule(account)
                && (self.counts[account.index()].balance.rejected() > 0 || self.grows(account))
        };
        self.is_target_lost() && self.whole_jobs().any(piles_up)
    }

    /// Returns true if a target was unreachable when the run ended.
    fn is_target_lost(&self) -> bool {
        self.evidence.ended == Some(EndKind::TargetLost)
    }

    /// Returns true if too many requests of a job were still unsent after the run had waited for
    /// them.
    pub(super) fn leaves_unsent(&self, account: AccountId) -> bool {
        self.was_waited_for(account)
            && self.share(account, self.counts[account.index()].balance.unsent()) > UNSENT_ALLOWED
    }

    /// Returns true if the run waited for all requests of a job: the run completed, and no request
    /// was left out because a file failed.
    pub(super) fn was_waited_for(&self, account: AccountId) -> bool {
        let included = self.evidence.plan.included_accounts(account);
        let lacks_input = self.evidence.events.iter().any(|event| {
            event.kind == EventKind::FileFailed
                && event.account.is_some_and(|it| included.contains(&it))
        });
        self.evidence.ended == Some(EndKind::Completed) && !lacks_input
    }

    /// Returns the trend of a job's backlog; `None` for a closed job, and if the window is too
    /// short.
    pub(crate) fn trend(&self, account: AccountId) -> Option<Trend> {
        let evidence = self.evidence.jobs.get(account.index())?;
        self.backlog(evidence).trend(self.evidence.plan.account(account).job())
    }

    /// Returns the requests per second that the schedule of a job offers, as the mean over the
    /// window. Before its start and after its stop, a job offers none.
    pub(crate) fn offered_per_s(&self, account: AccountId) -> Option<f64> {
        let Range { start, end } = self.evidence.window();
        let while_active = self.evidence.plan.account(account).offered_per_s(start, Some(end))?;
        Some(while_active * self.active_share(account))
    }

    /// Returns the fraction of the window in which a job may be active; 1 if the window is empty.
    fn active_share(&self, account: AccountId) -> f64 {
        let Range { start, end } = self.active_part(account, &self.evidence.window());
        match self.evidence.window_length() {
            Nanos::ZERO => 1.0,
            length => end.saturating_sub(start).as_secs_f64() / length.as_secs_f64(),
        }
    }

    /// Returns the part of a span between the start and the stop of a job; an empty range if there
    /// is none.
    pub(super) fn active_part(&self, account: AccountId, span: &Range<Nanos>) -> Range<Nanos> {
        let job = self.evidence.plan.account(account).job();
        span.start.max(job.start)..job.stop.map_or(span.end, |stop| stop.min(span.end))
    }

    /// Returns true if requests of the job arrive independently of the answers.
    pub(crate) fn has_schedule(&self, account: AccountId) -> bool {
        self.evidence.plan.account(account).job().has_arrivals()
    }

    /// Returns true if a closed job without think time has a fixed number of requests, and its
    /// clients were idle for most of the window because the job began late or was done early. A
    /// client is busy until its request ends, also while the request waits for a connection, and if
    /// it fails.
    pub(crate) fn is_brief(&self, account: AccountId) -> bool {
        let job = self.evidence.plan.account(account).job();
        let Pacing::Closed { clients, think: None, .. } = &job.pacing else { return false };
        let busy_s = self.evidence.jobs[account.index()].responded_s();
        let most_s = f64::from(*clients) * self.evidence.window_length().as_secs_f64();
        job.count.is_some() && busy_s < BUSY * most_s
    }

    /// Returns the names of the overloaded jobs.
    pub(crate) fn overloaded(&self) -> impl Iterator<Item = &'a str> {
        let accounts = self.whole_jobs().filter(|account| self.is_overloaded(*account));
        accounts.map(|account| self.evidence.plan.account(account).name())
    }

    /// Returns the requests of a job up to the last step of the window with an arrival. Later steps
    /// are left out, because a backlog shrinks after the last arrival. The open requests begin with
    /// the first step of the window that has an open request or an arrival; arrivals and ends begin
    /// at time zero.
    fn backlog(&self, job: &JobEvidence) -> Backlog {
        let window = self.evidence.steps.window();
        let mut open = 0i64;
        let mut backlog = Backlog::default();
        let (mut began, mut lasted) = (false, 0);
        for (index, step) in job.range(0..window.end).enumerate() {
            let ended = step.ends.completed + step.ends.errors + step.counts.balance.rejected();
            open += step.counts.arrivals as i64 - ended as i64;
            backlog.arrivals.push(step.counts.arrivals as f64);
            backlog.ended.push(ended as f64);
            if index < window.start {
                continue;
            }
            let arrives = step.counts.arrivals > 0;
            began |= arrives || open > 0;
            if began {
                backlog.open.push(open as f64);
            }
            lasted = if arrives { backlog.open.len() } else { lasted };
        }
        let after = backlog.open.len() - lasted;
        backlog.open.truncate(lasted);
        backlog.arrivals.truncate(backlog.arrivals.len() - after);
        backlog.ended.truncate(backlog.arrivals.len());
        backlog
    }
}
