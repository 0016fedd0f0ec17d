//! The plan of a whole workload.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use base::{AccountId, Dialect, Endpoint, Nanos, Secrets, Seed, Span, Target, TargetKind};

use super::account::{self, JobOrPart};
use super::hidden::Hidden;
use super::id::{Account, JobId, TargetId};
use super::job::{Job, Requests};
use super::load::Load;
use super::observe::Observe;
use super::statement::FixedStatement;
use super::target::{JobTarget, NamedTarget};
use super::warmup::Warmup;

/// A whole workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The main target, if the file or the option `--url` names one.
    pub target: Option<Target>,
    /// The other targets, to which jobs refer by name.
    pub targets: Vec<NamedTarget>,
    /// Length of the schedule, including warm-up. `None`: until interrupted, or until every job has
    /// reached its `count` or `stop`.
    pub duration: Option<Nanos>,
    /// Warm-up to exclude from the measurement.
    pub warmup: Warmup,
    /// The seed of every schedule and value.
    pub seed: Seed,
    /// Longest time that queued and running requests may take after the end of the schedule.
    pub drain: Nanos,
    /// Longest stall of a load or of a results file, and longest wait for an answer to a statement
    /// of `[teardown]`.
    pub stall_timeout: Nanos,
    /// Longest wait for an answer to a statement of `[setup]`, to a count of rows, or to a
    /// statement that an experiment executes before its runs, such as a vacuum after a load or
    /// restore.
    pub setup_timeout: Nanos,
    /// Length of one row in the table of quantiles over time.
    pub probe: Nanos,
    /// Number of connections that an open job opens before it starts. `None`: computed by Little's
    /// law for an expected response time of 20 ms, at least 4.
    pub connections: Option<u32>,
    /// Largest number of connections of an open job.
    pub max_connections: u32,
    /// The parameters with their final values, as text, in the order of the file.
    pub params: Vec<Param>,
    /// The observation of the database and of machines during the run.
    pub observe: Observe,
    /// Statements that run once before the loads.
    pub setup: Vec<FixedStatement>,
    /// Tables to be filled before the jobs start.
    pub loads: Vec<Load>,
    /// The jobs to run and measure.
    pub jobs: Vec<Job>,
    /// Statements that run once at the end.
    pub teardown: Vec<FixedStatement>,
    /// The secrets of the plan, if any; a plan read from printed text has none.
    pub hidden: Option<Hidden>,
}

/// A parameter of the file with the value that the run uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its value, as written in a file.
    pub value: String,
}

impl Plan {
    /// The default of [`stall_timeout`](Plan::stall_timeout).
    pub const STALL_TIMEOUT: Nanos = Nanos::from_secs(120);

    /// The default of [`setup_timeout`](Plan::setup_timeout): the index of a large table may take
    /// more than an hour.
    pub const SETUP_TIMEOUT: Nanos = Nanos::from_secs(7_200);

    /// Returns the plan that its printed text describes: without positions in the file and without
    /// secrets.
    ///
    /// Two plans describe the same workload if this function returns equal plans for them. Checking
    /// [`Plan::to_text`] gives a plan that is equal to the returned one.
    pub fn as_printed(&self) -> Plan {
        let mut plan = self.with_secrets_hidden().into_owned();
        let named = plan.targets.iter_mut().map(|named| &mut named.target);
        for target in plan.target.iter_mut().chain(named) {
            if let Endpoint::Network { password, .. } = &mut target.endpoint {
                *password = None;
            }
        }
        plan.targets.iter_mut().for_each(|named| named.span = Span::default());
        let fixed = plan.setup.iter_mut().chain(&mut plan.teardown);
        fixed.for_each(|statement| (statement.span, statement.script) = Default::default());
        plan.loads.iter_mut().for_each(|load| load.span = Span::default());
        for requests in plan.requests_mut() {
            requests.span = Span::default();
            requests.feed.iter_mut().for_each(|feed| feed.span = Span::default());
            let statements = requests.statements.iter_mut();
            statements
                .for_each(|statement| (statement.span, statement.script) = Default::default());
        }
        plan
    }

    /// Returns the accounts of the plan in the order of a record: each job, followed by its parts.
    /// In a record, the accounts of jobs at single servers follow; a plan does not know these.
    pub fn accounts(&self) -> impl Iterator<Item = (Account, JobOrPart<'_>)> {
        account::accounts(&self.jobs)
    }

    /// Returns the jobs and their parts in the order of their accounts.
    pub fn jobs_and_parts(&self) -> impl Iterator<Item = JobOrPart<'_>> {
        self.accounts().map(|(_, either)| either)
    }

    /// Returns the job or part that has this account.
    ///
    /// # Panics
    /// If the plan has no such account.
    pub fn account(&self, id: AccountId) -> JobOrPart<'_> {
        self.find_account(id).expect("an account of the plan")
    }

    /// Returns the job or part that has this account; `None` if the plan has none.
    pub fn find_account(&self, id: AccountId) -> Option<JobOrPart<'_>> {
        self.jobs_and_parts().nth(id.index())
    }

    /// Returns the account of the whole job; for a part, the account of its mix.
    pub fn whole_job_account(&self, id: AccountId) -> AccountId {
        self.job_of(id).map_or(id, |job| self.account_of(job))
    }

    /// Returns the accounts of a job and of its parts, which follow it; for a part, only its own.
    pub fn included_accounts(&self, id: AccountId) -> RangeInclusive<AccountId> {
        let parts = match self.find_account(id) {
            Some(JobOrPart::Job(job)) => job.parts.len(),
            Some(JobOrPart::Part(..)) | None => 0,
        };
        id..=AccountId(id.0 + parts as u16)
    }

    /// Returns the job that has this account or, for the account of a part, the mix of the part;
    /// `None` if the plan does not have the account.
    pub fn job_of(&self, id: AccountId) -> Option<JobId> {
        self.accounts().nth(id.index()).map(|(account, _)| account.job())
    }

    /// Returns the account of a job in the record.
    pub fn account_of(&self, job: JobId) -> AccountId {
        let before = self.jobs[..job.index()].iter().map(|job| 1 + job.parts.len());
        AccountId(before.sum::<usize>() as u16)
    }

    /// Returns the jobs with their identifiers.
    pub fn jobs_by_id(&self) -> impl Iterator<Item = (JobId, &Job)> {
        (0..).map(JobId).zip(&self.jobs)
    }

    /// Returns a job.
    ///
    /// # Panics
    /// If the plan has no such job.
    pub fn job(&self, id: JobId) -> &Job {
        &self.jobs[id.index()]
    }

    /// Returns the requests of all sections, in the order of their accounts.
    pub(crate) fn requests_mut(&mut self) -> impl Iterator<Item = &mut Requests> {
        self.jobs.iter_mut().flat_map(|job| {
            let parts = job.parts.iter_mut().map(|part| &mut part.requests);
            std::iter::once(&mut job.requests).chain(parts)
        })
    }

    /// Returns true if the run lasts as long as its only job.
    pub fn ends_with_its_only_job(&self) -> bool {
        self.duration.is_none() && self.jobs.len() == 1
    }

    /// Returns true if the plan uses a target: for a job or, if it is the main target, for setup,
    /// loads or teardown.
    pub fn uses(&self, target: JobTarget) -> bool {
        let is_fixed =
            !self.setup.is_empty() || !self.loads.is_empty() || !self.teardown.is_empty();
        let by_jobs = self.jobs.iter().any(|job| job.target == target);
        by_jobs || target == JobTarget::Main && is_fixed
    }

    /// Returns the named targets that jobs use.
    pub fn named_targets(&self) -> impl Iterator<Item = &NamedTarget> {
        let is_used = |id: &TargetId| self.uses(JobTarget::Named(*id));
        self.target_ids().filter(is_used).map(|id| &self.targets[id.index()])
    }

    /// Returns the identifiers of the targets other than the main one.
    pub fn target_ids(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.targets.len() as u16).map(TargetId)
    }

    /// Returns a target other than the main one.
    ///
    /// # Panics
    /// If the plan has no such target.
    pub fn named_target(&self, id: TargetId) -> &NamedTarget {
        &self.targets[id.index()]
    }

    /// Returns the name of a named target; `None` for the main target and for programs.
    pub fn name_of(&self, target: JobTarget) -> Option<&str> {
        match target {
            JobTarget::Named(id) => self.targets.get(id.index()).map(|named| named.name.as_str()),
            JobTarget::Main | JobTarget::Programs => None,
        }
    }

    /// Returns the SQL dialect of a target.
    ///
    /// For programs, which have none, returns the dialect of the main target; SQLite if the plan
    /// has no target.
    pub fn dialect(&self, target: JobTarget) -> Dialect {
        let target = match target {
            JobTarget::Main | JobTarget::Programs => self.target.as_ref(),
            JobTarget::Named(id) => self.targets.get(id.index()).map(|named| &named.target),
        };
        target.map_or_else(|| TargetKind::Sqlite.dialect(), Target::dialect)
    }

    /// Returns true if a parameter is secret: it is a part of a password, or contains one.
    pub fn is_secret(&self, param: &str) -> bool {
        self.secret_params().any(|name| name == param)
    }

    /// Returns the names of the secret parameters.
    pub(crate) fn secret_params(&self) -> impl Iterator<Item = &str> {
        let params = self.hidden.iter().flat_map(|hidden| &hidden.params);
        params.map(String::as_str)
    }

    /// Returns the plan for display, without the values of secret parameters.
    ///
    /// The returned plan is the source of everything that is printed or recorded; the run uses the
    /// original.
    pub fn with_secrets_hidden(&self) -> Cow<'_, Plan> {
        let Some(hidden) = &self.hidden else { return Cow::Borrowed(self) };
        let mut shown = Plan { hidden: None, ..self.clone() };
        // The runner may have emptied these lists, for example for a run without teardown: they
        // stay empty.
        for (all, as_shown) in
            [(&mut shown.setup, &hidden.setup), (&mut shown.teardown, &hidden.teardown)]
        {
            if !all.is_empty() {
                all.clone_from(as_shown);
            }
        }
        let names: Vec<String> =
            shown.jobs_and_parts().map(|either| either.name().to_owned()).collect();
        for (requests, name) in shown.requests_mut().zip(names) {
            if let Some((lets, statements)) = hidden.jobs.get(&name) {
                requests.lets.clone_from(lets);
                requests.statements.clone_from(statements);
            }
        }
        Cow::Owned(shown)
    }

    /// Returns the values of the secret parameters, which are removed from a server's texts: these
    /// may quote statements that contain the values.
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.hidden.iter().flat_map(|hidden| hidden.values.iter().cloned()))
    }
}
