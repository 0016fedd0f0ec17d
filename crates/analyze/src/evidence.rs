//! The parts of a record that the analysis needs.

use std::ops::Range;

use base::{AccountId, Class, Code, Nanos};
use hdrhistogram::Histogram;
use record::{
    ComponentKind, Counts, EndCounts, EndKind, Event, EventKind, Kind, ObservedComponent,
    ObservedMetric, StatementAnswers,
};
use workload::{JobId, Plan};

use crate::distribution::Distribution;
use crate::disturbance::Disturbance;
use crate::observed::Observed;
use crate::responses::Responses;
use crate::server_counters::ServerCounters;
use crate::steps::Steps;
use crate::surroundings::Surroundings;
use crate::warmup::WarmupEnd;

/// A run as its record describes it.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Plan of the run.
    pub plan: Plan,
    /// The reason why the record's own plan could not be used: it is unreadable, or its jobs differ
    /// from the jobs of the record. `plan` is then built from the jobs of the record. `None` if the
    /// plan of the record is used.
    pub unread_plan: Option<String>,
    /// True if time was simulated.
    pub is_virtual: bool,
    /// Number of lanes, the threads that send requests, in the measured phase.
    pub threads: u16,
    /// True if the lanes' threads spin instead of sleeping.
    pub spins: bool,
    /// Method and result of finding the end of the warm-up.
    pub warmup: WarmupEnd,
    /// Steps that the run is divided into, up to its end.
    pub steps: Steps,
    /// Way in which the run ended; `None` if it was killed or still runs.
    pub ended: Option<EndKind>,
    /// Jobs and their parts, in the order of their accounts.
    pub jobs: Vec<JobEvidence>,
    /// Jobs at each server of targets with several servers.
    pub nodes: Vec<NodeEvidence>,
    /// Intermittent jobs and background work, each with the response times of the other jobs in its
    /// phases.
    pub disturbances: Vec<Disturbance>,
    /// Events of the run.
    pub events: Vec<Event>,
    /// Resource usage of the generator.
    pub client: Vec<ClientSample>,
    /// Tables that were filled.
    pub loads: Vec<LoadEvidence>,
    /// Observations other than the requests; empty in virtual time.
    pub observed: Vec<Observed>,
    /// Sources that could not be observed, each with the reason.
    pub unseen: Vec<(String, String)>,
    /// Machine and network of the run.
    pub surroundings: Surroundings,
    /// Counters of the server.
    pub server_counters: ServerCounters,
}

/// Data of one job.
#[derive(Clone, Debug)]
pub struct JobEvidence {
    /// Counts by step, from the first; empty steps at the end may be missing.
    pub steps: Vec<Step>,
    /// Distributions of times in the window, by kind.
    pub window: Vec<(Kind, Histogram<u64>)>,
    /// Response times of the window as estimates, with confidence intervals.
    pub estimates: Responses,
    /// Response times of each probe: consecutive parts of the window.
    pub probes: Vec<(Range<usize>, Distribution)>,
    /// Response times in at most [`ROWS`] parts of one or more probes each, from merged histograms.
    pub course: Vec<(Range<usize>, Distribution)>,
    /// Response times in parts of equal length, as many as [`Steps::parts`] returns, to find
    /// changes of a steady state.
    pub parts: Vec<(Range<usize>, Distribution)>,
    /// Errors of the window: class, code and number.
    pub failures: Vec<(Class, Code, u64)>,
    /// Answers to each statement in the whole run; `None` if the record does not say which
    /// statements returned or changed a row.
    pub statements: Option<Vec<StatementAnswers>>,
}

/// Requests of a job that were sent to one of several servers.
#[derive(Clone, Debug)]
pub struct NodeEvidence {
    /// The job.
    pub job: JobId,
    /// Address of the server.
    pub address: String,
    /// Data of these requests.
    pub requests: JobEvidence,
}

/// Maximum number of parts of a window in a table over time, for readability.
pub const ROWS: usize = 20;

/// Counts and connections of a job in one step of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Counts by intended start.
    pub counts: Counts,
    /// Counts by end.
    pub ends: EndCounts,
    /// Largest number of open connections at the end of an interval, if all lanes reported it.
    pub connections: Option<u64>,
}

/// Resource usage of the generator's process up to an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientSample {
    /// Time since time zero.
    pub at: Nanos,
    /// Processor time in user mode.
    pub user: Nanos,
    /// Processor time in the kernel.
    pub system: Nanos,
    /// Largest resident memory so far, in bytes.
    pub peak_rss_bytes: u64,
}

/// A table that was filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadEvidence {
    /// Name of the table.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// Size of all values, in bytes.
    pub bytes: u64,
    /// Duration of the load.
    pub took: Nanos,
    /// Progress over time.
    pub points: Vec<LoadPoint>,
    /// Observations during the load, with times since it began; empty in virtual time.
    pub observed: Vec<Observed>,
    /// Sources that could not be observed during the load, each with the reason.
    pub unseen: Vec<(String, String)>,
    /// Reason why rows were inserted although the server has a faster method, with the remedy.
    pub fallback: Option<String>,
}

/// Progress of a load at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPoint {
    /// Number of rows so far.
    pub rows: u64,
    /// Time since the load began.
    pub at: Nanos,
    /// Processor time of the generator since the first point, if it was recorded.
    pub client_cpu: Option<Nanos>,
}

impl Evidence {
    /// Returns the accounts, which are the ids of jobs and of the parts of mixes, in the order of a
    /// record.
    pub fn accounts(&self) -> impl Iterator<Item = AccountId> + Clone + use<> {
        (0..self.jobs.len() as u16).map(AccountId)
    }

    /// Returns the time from time zero to the end of the schedule; for a killed run, to the end of
    /// its record.
    pub fn end(&self) -> Nanos {
        self.steps.end()
    }

    /// Returns the outages of the targets, in order. Each lane reports them for itself and for each
    /// server of a target. An outage lasts while any lane reports any server as down; without a
    /// reported end, it lasts until the end of the run.
    pub fn outages(&self) -> Vec<Range<Nanos>> {
        let mut outages: Vec<Range<Nanos>> = Vec::new();
        let mut away = 0u32;
        let mut changes: Vec<(Nanos, EventKind)> = self
            .events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::OutageBegan | EventKind::OutageEnded))
            .map(|event| (event.at, event.kind))
            .collect();
        changes.sort_by_key(|(at, _)| *at);
        for (at, kind) in changes {
            if kind == EventKind::OutageBegan {
                away += 1;
                if away == 1 {
                    outages.push(at..self.end().max(at));
                }
            } else {
                away = away.saturating_sub(1);
                if let (0, Some(last)) = (away, outages.last_mut()) {
                    last.end = at;
                }
            }
        }
        outages
    }

    /// Returns the observations of a metric of this host or of the main target, if there are any.
    pub fn observed(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<&Observed> {
        self.observed_on(&ObservedComponent::here(kind.clone()), metric)
    }

    /// Returns the observations of a metric of a component on any host, if there are any.
    pub fn observed_on(
        &self,
        component: &ObservedComponent,
        metric: ObservedMetric,
    ) -> Option<&Observed> {
        observed(&self.observed, component, metric)
    }

    /// Returns the observations of a metric of this host or of the main target, if there are any.
    /// The name of the metric is the one that the server gives it.
    pub fn observed_named(&self, kind: &ComponentKind, name: &str) -> Option<&Observed> {
        let component = kind.to_string();
        self.observed.iter().find(|it| it.component == component && it.metric == name)
    }

    /// Returns the number of accepted errors of a job or part in the window. Only errors for whose
    /// class and code `is_counted` returns true are counted. For a mix, this is the sum over its
    /// parts, because each part may accept other codes.
    pub(crate) fn accepted_errors(
        &self,
        account: AccountId,
        is_counted: impl Fn(Class, Code) -> bool,
    ) -> u64 {
        let plan = &self.plan;
        let either = plan.account(account);
        let (is_mix, included) = (either.is_mix(), plan.included_accounts(account));
        let is_summed = |it: &AccountId| included.contains(it) && (*it != account || !is_mix);
        let of_job = &either.job().requests.accepted;
        let accepted = |it: AccountId| -> u64 {
            let own = &plan.account(it).requests().accepted;
            let is_accepted = |code: &Code| own.contains(code) || of_job.contains(code);
            let failures = self.jobs[it.index()].failures.iter();
            let counted =
                failures.filter(|(class, code, _)| is_counted(*class, *code) && is_accepted(code));
            counted.map(|(.., count)| count).sum()
        };
        self.accounts().filter(is_summed).map(accepted).sum()
    }

    /// Returns the period from the end of the warm-up to the end of the schedule.
    pub fn window(&self) -> Range<Nanos> {
        self.steps.warmup()..self.end()
    }

    /// Returns the length of the window.
    pub fn window_length(&self) -> Nanos {
        self.end().saturating_sub(self.steps.warmup())
    }
}

impl LoadEvidence {
    /// Returns the observations of a metric of this host or of the main target, if there are any.
    pub fn observed(&self, kind: &ComponentKind, metric: ObservedMetric) -> Option<&Observed> {
        observed(&self.observed, &ObservedComponent::here(kind.clone()), metric)
    }
}

fn observed<'o>(
    all: &'o [Observed],
    component: &ObservedComponent,
    metric: ObservedMetric,
) -> Option<&'o Observed> {
    let is_known = metric.belongs_to(&component.kind);
    debug_assert!(is_known, "`{}` is not a metric of `{component}`", metric.name);
    let component = component.to_string();
    all.iter().find(|it| it.component == component && it.has_metric(metric))
}

impl Step {
    /// Adds another part of the same step.
    pub fn merge(&mut self, other: &Step) {
        let Step { counts, ends, connections } = other;
        self.counts.merge(counts);
        self.ends.merge(ends);
        self.connections = self.connections.max(*connections);
    }
}

impl JobEvidence {
    /// Returns a range of steps; those that the record does not reach are empty.
    pub fn range(&self, range: Range<usize>) -> impl Iterator<Item = Step> {
        range.map(|step| self.steps.get(step).copied().unwrap_or_default())
    }

    /// Returns the sum of the counts by intended start over a range of steps.
    pub fn counts(&self, range: Range<usize>) -> Counts {
        let mut sum = Counts::default();
        self.range(range).for_each(|step| sum.merge(&step.counts));
        sum
    }

    /// Returns the sum of the counts by end over a range of steps.
    pub fn ends(&self, range: Range<usize>) -> EndCounts {
        let mut sum = EndCounts::default();
        self.range(range).for_each(|step| sum.merge(&step.ends));
        sum
    }

    /// Returns true if a request was due in the run, also before the window.
    pub(crate) fn has_requests(&self) -> bool {
        self.steps.iter().any(|step| step.counts.arrivals > 0)
    }

    /// Returns the number of errors in the window with this code.
    pub fn failed_with(&self, code: Code) -> u64 {
        let with_it = self.failures.iter().filter(|(_, known, _)| *known == code);
        with_it.map(|(_, _, count)| count).sum()
    }

    /// Returns the distribution of one kind of time in the window; `None` if there is none.
    pub fn histogram(&self, kind: Kind) -> Option<&Histogram<u64>> {
        self.window.iter().find(|(k, _)| *k == kind).map(|(_, histogram)| histogram)
    }

    /// Returns the sum of the service times in the window, in seconds.
    pub(crate) fn served_s(&self) -> f64 {
        self.spent_s(Kind::Service)
    }

    /// Returns the sum of the response times in the window, in seconds: those of completed and
    /// failed requests, and the times for which unsent requests waited until they were given up.
    pub(crate) fn responded_s(&self) -> f64 {
        self.spent_s(Kind::Response) + self.spent_s(Kind::Error)
    }

    /// Returns the fraction of their time that all requests, failed ones included, spent waiting
    /// for a worker or a connection; `None` without requests.
    pub(crate) fn waited_share(&self) -> Option<f64> {
        let all = self.responded_s();
        (all > 0.0).then(|| (self.spent_s(Kind::Wait) / all).min(1.0))
    }

    /// Returns the sum of the times of the given kind in the window, in seconds.
    fn spent_s(&self, kind: Kind) -> f64 {
        self.histogram(kind).map_or(0.0, |times| times.mean() * times.len() as f64 / 1e9)
    }
}
