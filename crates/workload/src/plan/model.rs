//! The plan of a whole workload.

use std::borrow::Cow;

use base::{Endpoint, Nanos, Secrets, Seed, Span, Target};

use super::hidden::Hidden;
use super::job::Job;
use super::load::Load;
use super::observe::Observe;
use super::pacing::Pacing;
use super::statement::FixedStatement;
use super::target::{JobTarget, NamedTarget};
use super::warmup::Warmup;

/// A whole workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The target that the file names, if any.
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
    /// Length of one row in the table of quantiles over time.
    pub probe: Nanos,
    /// Number of connections that an open job opens before it starts. `None`: by Little's law at 20
    /// ms, at least 4.
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

    /// Returns the plan that its printed text describes: without positions in the file and without
    /// secrets.
    ///
    /// Two plans are the same workload if these are equal. Checking [`Plan::to_text`] gives an
    /// equal plan.
    pub fn as_printed(&self) -> Plan {
        let mut plan = self.shown().into_owned();
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
        for job in &mut plan.jobs {
            job.span = Span::default();
            job.feed.iter_mut().for_each(|feed| feed.span = Span::default());
            let statements = job.statements.iter_mut();
            statements
                .for_each(|statement| (statement.span, statement.script) = Default::default());
        }
        plan
    }

    /// Returns the index of the job whose pacing a job follows: its mix, or itself.
    pub fn pacing_index_of(&self, place: usize) -> usize {
        match self.jobs[place].pacing {
            Pacing::Part { of, .. } => of,
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Closed { .. }
            | Pacing::Replay => place,
        }
    }

    /// Returns the job whose pacing a job follows: its mix, or itself.
    pub fn leader(&self, place: usize) -> &Job {
        &self.jobs[self.pacing_index_of(place)]
    }

    /// Returns the indexes of the jobs that count every request once: all except the parts of
    /// mixes.
    pub fn counting_jobs(&self) -> impl Iterator<Item = usize> {
        (0..self.jobs.len()).filter(|place| self.pacing_index_of(*place) == *place)
    }

    /// Returns true if a job ends after a fixed number of requests: its `count`, or those of its
    /// file.
    pub fn has_fixed_request_count(&self, place: usize) -> bool {
        let leader = self.leader(place);
        let parts = leader.mix.iter().map(|portion| &self.jobs[portion.job]);
        leader.count.is_some() || parts.chain([leader]).any(|job| job.feed.is_some())
    }

    /// Returns true if the run lasts as long as its only job.
    pub fn ends_with_its_only_job(&self) -> bool {
        self.duration.is_none() && self.counting_jobs().count() == 1
    }

    /// Returns the requests per second that the schedule offers a job between two instants after
    /// time zero.
    ///
    /// A part of a mix has its share of the mix. Otherwise the same as [`Job::offered_per_s`].
    pub fn offered_per_s(&self, place: usize, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let leader = self.leader(place);
        let all: u32 = leader.mix.iter().map(|portion| portion.weight).sum();
        let own = leader.mix.iter().find(|portion| portion.job == place);
        let share = own.map_or(1.0, |portion| f64::from(portion.weight) / f64::from(all));
        leader.offered_per_s(from, until).map(|offered| offered * share)
    }

    /// Returns true if the plan uses a target: a job does, or, for the main target, setup, loads or
    /// teardown.
    pub fn asks(&self, target: JobTarget) -> bool {
        let is_fixed =
            !self.setup.is_empty() || !self.loads.is_empty() || !self.teardown.is_empty();
        let by_jobs = self.jobs.iter().any(|job| job.target == target);
        by_jobs || target == JobTarget::Main && is_fixed
    }

    /// Returns the named targets that jobs use.
    pub fn named_targets(&self) -> impl Iterator<Item = &NamedTarget> {
        let is_asked = |place: &usize| self.asks(JobTarget::Named(*place));
        (0..self.targets.len()).filter(is_asked).map(|place| &self.targets[place])
    }

    /// Returns the name of a named target; `None` for the main one.
    pub fn name_of(&self, target: JobTarget) -> Option<&str> {
        match target {
            JobTarget::Named(place) => self.targets.get(place).map(|named| named.name.as_str()),
            JobTarget::Main | JobTarget::Programs => None,
        }
    }

    /// Returns true if a parameter is secret: it is a part of a password, or contains one.
    pub fn is_secret(&self, param: &str) -> bool {
        self.hidden.as_ref().is_some_and(|hidden| hidden.params.iter().any(|name| name == param))
    }

    /// Returns the plan for display, without the values of secret parameters.
    ///
    /// Everything that is printed or recorded of a plan comes from this one; the run uses the
    /// original.
    pub fn shown(&self) -> Cow<'_, Plan> {
        let Some(hidden) = &self.hidden else { return Cow::Borrowed(self) };
        let mut shown = Plan { hidden: None, ..self.clone() };
        // A plan whose jobs were removed has no teardown either.
        for (all, as_shown) in
            [(&mut shown.setup, &hidden.setup), (&mut shown.teardown, &hidden.teardown)]
        {
            if !all.is_empty() {
                all.clone_from(as_shown);
            }
        }
        for job in &mut shown.jobs {
            if let Some((lets, statements)) = hidden.jobs.get(&job.name) {
                job.lets.clone_from(lets);
                job.statements.clone_from(statements);
            }
        }
        Cow::Owned(shown)
    }

    /// Returns the values of the secret parameters, to remove them from a server's texts, which may
    /// quote statements that contain them.
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.hidden.iter().flat_map(|hidden| hidden.values.iter().cloned()))
    }
}
