//! The plan: what the user asked for, typed, complete and without names to look up.
//!
//! A plan is the only thing that the engine knows about a workload file. Parameters are folded,
//! defaults are filled in, every variable is an index, every generator carries its own stream.
//! Nothing in a plan has touched a file, a database or a clock.

mod hidden;
mod observe;
mod pacing;
mod slo;
mod statement;
mod warmup;

pub use hidden::Hidden;
pub use observe::{Observe, RemoteHost};
pub use pacing::{Arrival, OnQueueFull, Pacing, Schedule};
pub use slo::{Metric, Side, Slo, Statistic};
pub use warmup::Warmup;

pub use statement::{Piece, Statement};

use base::{Code, Endpoint, Nanos, Seed, Span, Target};

use crate::expr::Expr;
use crate::feed::Format;

/// A whole workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The target that the file names, if it names one.
    pub target: Option<Target>,
    /// The other targets, which jobs name.
    pub targets: Vec<NamedTarget>,
    /// How long requests are scheduled, warm-up included; `None` is until interrupted, or until
    /// every job has reached its `count` or `stop`.
    pub duration: Option<Nanos>,
    /// What is not measured at the beginning.
    pub warmup: Warmup,
    /// The seed of every schedule and value.
    pub seed: Seed,
    /// How long queued and running requests may take after the end.
    pub drain: Nanos,
    /// Longest stall of a load or a results file, and longest wait for an answer to a statement of
    /// `[teardown]`.
    pub stall_timeout: Nanos,
    /// The length of one row in the table of quantiles over time.
    pub probe: Nanos,
    /// How many connections an open job opens before it starts; `None` is Little's law at 20 ms,
    /// at least 4.
    pub connections: Option<u32>,
    /// How many connections an open job may grow to.
    pub max_connections: u32,
    /// The parameters with their final values, as text, in the file's order.
    pub params: Vec<Param>,
    /// What is looked at beside the jobs.
    pub observe: Observe,
    /// Statements that run once before the loads.
    pub setup: Vec<FixedStatement>,
    /// Tables to be filled before the jobs start.
    pub loads: Vec<Load>,
    /// What is measured.
    pub jobs: Vec<Job>,
    /// Statements that run once at the end.
    pub teardown: Vec<FixedStatement>,
    /// The secrets of the plan, if it has any; a plan that was printed has none.
    pub hidden: Option<Hidden>,
}

/// A target beside the main one.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTarget {
    /// Its name, by which jobs ask it.
    pub name: String,
    /// What its `url` names.
    pub target: Target,
    /// Where the section's header stands.
    pub span: Span,
}

/// Whom a job asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobTarget {
    /// The run's main target, as setup, loads and teardown do.
    Main,
    /// The one at this place of [`Plan::targets`].
    Named(usize),
    /// None: its only statement is a command, and a request is one run of that program.
    Programs,
}

/// A parameter of the file with the value that the run uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its value as it would be written in a file.
    pub value: String,
}

/// A line of a file with statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// The file, as the workload file names it.
    pub file: String,
    /// The number of the line, from 1.
    pub line: usize,
}

/// A statement without values that change from request to request.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedStatement {
    /// The text to be sent, parameters replaced.
    pub text: String,
    /// Where the file says so.
    pub span: Span,
    /// Where it stands itself, if that is in another file.
    pub script: Option<ScriptLine>,
}

/// A table to be filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The table.
    pub table: String,
    /// How many rows.
    pub rows: u64,
    /// The columns in order.
    pub columns: Vec<Column>,
    /// How many connections load at the same time.
    pub writers: u32,
    /// Rows per commit.
    pub batch: u32,
    /// How rows are sent.
    pub method: LoadMethod,
    /// What happens to a row whose key exists.
    pub on_duplicate: OnDuplicate,
    /// Whether `create index` statements of `[setup]` on this table run before or after it is
    /// filled.
    pub indexes: Indexes,
    /// Where the section's header stands.
    pub span: Span,
}

/// A column of a table to be filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its value, evaluated once per row; the row's number counts from 0.
    pub value: Expr,
}

/// How rows are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMethod {
    /// The fastest that the target has.
    Auto,
    /// Prepared `insert` statements.
    Insert,
    /// PostgreSQL's `COPY … FROM STDIN`.
    Copy,
    /// MySQL's `LOAD DATA LOCAL INFILE`.
    LoadData,
}

/// What happens to a row whose key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails.
    Error,
    /// The row is left out.
    Ignore,
    /// The row replaces the other.
    Replace,
}

/// When secondary indexes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// With the rest of `[setup]`.
    Before,
    /// When the rows are there.
    After,
}

/// One kind of request and when it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The section's name.
    pub name: String,
    /// Whom it asks.
    pub target: JobTarget,
    /// When requests start.
    pub pacing: Pacing,
    /// When the job begins, after time zero.
    pub start: Nanos,
    /// When the job ends, after time zero (not after its own start).
    pub stop: Option<Nanos>,
    /// How many arrivals (batches) or, in a closed job, requests there are in all.
    pub count: Option<u64>,
    /// The variables of `let`, evaluated in order, once per request.
    pub lets: Vec<Let>,
    /// What a request sends, in order; empty only where there is a mix instead.
    pub statements: Vec<Statement>,
    /// The sections that take turns in its requests, in place of statements of its own.
    pub mix: Vec<Portion>,
    /// How the statements of a request follow each other.
    pub flow: Flow,
    /// The file that its requests get their values, or their times and statements from.
    pub feed: Option<Feed>,
    /// Whether the statements run inside one transaction.
    pub transaction: bool,
    /// Whether the statements of the transaction are sent without waiting for answers in between.
    pub pipeline: bool,
    /// The file to which the rows that the statements return go, as it was written: a relative path
    /// starts at the folder of the workload file.
    pub results: Option<String>,
    /// Whether statements are prepared; else they are sent as text with their values in it.
    pub prepare: bool,
    /// How many rows all statements of a request together return or change.
    pub expect_rows: Option<Rows>,
    /// How long a request may take from its first byte sent.
    pub timeout: Option<Nanos>,
    /// Which errors are tried again, and how often.
    pub retry: Option<Retry>,
    /// Error codes that are expected: counted apart.
    pub accepted: Vec<Code>,
    /// What an error that is not accepted does to the run.
    pub on_error: OnError,
    /// Whether clients keep their connections.
    pub reconnect: Reconnect,
    /// What becomes of arrivals while the target refuses connections.
    pub on_outage: OnOutage,
    /// The conditions that the job is judged by.
    pub slos: Vec<Slo>,
    /// Where the section's header stands.
    pub span: Span,
}

/// A section that takes part in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// Its place among the jobs of the plan.
    pub job: usize,
    /// How often it is taken, in proportion to the others.
    pub weight: u32,
}

/// How the statements of a request follow each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// One after the other on one connection; the first error ends the request.
    Together,
    /// The same, with a pause between each two: the request is a session.
    Session {
        /// How long the pauses are.
        think: Option<Expr>,
    },
    /// One after the other, each for itself: after an error the next one goes on.
    Separately,
}

/// A file that requests are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// Its name as the file gives it.
    pub file: String,
    /// How it is written.
    pub format: Format,
    /// How many of its records each request, or each batch of requests, takes.
    pub per_request: u32,
    /// Where it is named.
    pub span: Span,
}

/// A variable of `let`.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name, by which its random numbers are addressed, so that a variable more or less leaves
    /// the values of the others alone.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

/// How many rows there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The fewest.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Rows {
    /// Whether so many rows are right.
    pub fn contains(self, rows: u64) -> bool {
        (self.least..=self.most).contains(&rows)
    }
}

impl std::fmt::Display for Rows {
    /// As it is written in a file: `1`, `1..10`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.least == self.most {
            true => write!(f, "{}", self.least),
            false => write!(f, "{}..{}", self.least, self.most),
        }
    }
}

/// Which errors are tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often at most.
    pub times: u32,
    /// The codes.
    pub codes: Vec<Code>,
}

/// What an error that is not accepted does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// It is counted and the run goes on.
    Continue,
    /// The run ends.
    Stop,
}

/// Whether the clients of a job keep their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconnect {
    /// They do.
    No,
    /// Each request opens one of its own and closes it when it has ended.
    PerTransaction,
}

/// What becomes of arrivals while the target refuses connections. Clients of a closed job, which
/// has no arrivals, wait, unless each of its requests opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutage {
    /// They fail at once.
    Fail,
    /// They wait for a connection, as many as the queue may hold.
    Wait,
}

impl Plan {
    /// Default of [`stall_timeout`](Plan::stall_timeout).
    pub const STALL_TIMEOUT: Nanos = Nanos::from_secs(120);

    /// The plan as far as its text tells it: without the places in the file, and without
    /// secrets. Two plans are the same workload when these are equal, and checking
    /// [`Plan::to_text`] gives such an equal.
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

    /// The place of the job whose pacing holds for a job: its mix, or itself.
    pub fn leader_of(&self, place: usize) -> usize {
        match self.jobs[place].pacing {
            Pacing::Part { of, .. } => of,
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Closed { .. }
            | Pacing::Replay => place,
        }
    }

    /// The job whose pacing holds for a job: its mix, or itself.
    pub fn leader(&self, place: usize) -> &Job {
        &self.jobs[self.leader_of(place)]
    }

    /// The places of the jobs that count every request once: all but the parts of mixes.
    pub fn leaders(&self) -> impl Iterator<Item = usize> {
        (0..self.jobs.len()).filter(|place| self.leader_of(*place) == *place)
    }

    /// Whether a job is over when its requests have been made: those that it has to make, or those
    /// that its file has.
    pub fn ends_with_its_requests(&self, place: usize) -> bool {
        let leader = self.leader(place);
        let parts = leader.mix.iter().map(|portion| &self.jobs[portion.job]);
        leader.count.is_some() || parts.chain([leader]).any(|job| job.feed.is_some())
    }

    /// Whether the run lasts as long as its one job does.
    pub fn lasts_as_its_only_job(&self) -> bool {
        self.duration.is_none() && self.leaders().count() == 1
    }

    /// The requests per second that the schedule offers a job; of a mix its parts have their
    /// shares. Between two instants after time zero, as [`Job::offered_per_s`] has it.
    pub fn offered_per_s(&self, place: usize, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let leader = self.leader(place);
        let all: u32 = leader.mix.iter().map(|portion| portion.weight).sum();
        let own = leader.mix.iter().find(|portion| portion.job == place);
        let share = own.map_or(1.0, |portion| f64::from(portion.weight) / f64::from(all));
        leader.offered_per_s(from, until).map(|offered| offered * share)
    }

    /// Whether anything of the plan asks a target: a job, or of the main one setup, loads and
    /// teardown.
    pub fn asks(&self, target: JobTarget) -> bool {
        let is_fixed =
            !self.setup.is_empty() || !self.loads.is_empty() || !self.teardown.is_empty();
        let by_jobs = self.jobs.iter().any(|job| job.target == target);
        by_jobs || target == JobTarget::Main && is_fixed
    }

    /// The targets with names that jobs ask.
    pub fn named_targets(&self) -> impl Iterator<Item = &NamedTarget> {
        let is_asked = |place: &usize| self.asks(JobTarget::Named(*place));
        (0..self.targets.len()).filter(is_asked).map(|place| &self.targets[place])
    }

    /// The name by which a target is told from the main one.
    pub fn name_of(&self, target: JobTarget) -> Option<&str> {
        match target {
            JobTarget::Named(place) => self.targets.get(place).map(|named| named.name.as_str()),
            JobTarget::Main | JobTarget::Programs => None,
        }
    }
}

impl Job {
    /// What a request runs, if that is a program.
    pub fn command(&self) -> Option<&Statement> {
        self.statements.first().filter(|_| self.target == JobTarget::Programs)
    }

    /// The word for the job's model in records and reports.
    pub fn model(&self) -> &'static str {
        match self.pacing {
            Pacing::Open { .. } | Pacing::Queue { .. } | Pacing::Timetable { .. }
                if self.is_session() =>
            {
                "partly-open"
            }
            Pacing::Open { .. } => "open",
            Pacing::Queue { .. } => "queue",
            Pacing::Timetable { .. } => "timetable",
            Pacing::Closed { .. } => "closed",
            Pacing::Replay => "replay",
            Pacing::Part { .. } => "part",
        }
    }

    /// What its section is called: a part of a mix has the mix's name before that.
    pub fn section(&self) -> &str {
        match &self.pacing {
            Pacing::Part { section, .. } => section,
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Closed { .. }
            | Pacing::Replay => &self.name,
        }
    }

    /// The highest number of a field that its expressions take from a record; 0 if they take none.
    pub fn most_fields(&self) -> usize {
        let pieces = self.statements.iter().flat_map(|statement| &statement.pieces);
        let in_statements = pieces.filter_map(|piece| match piece {
            Piece::Value(expr) | Piece::Splice(expr) | Piece::Quoted(expr) => Some(expr),
            Piece::Text(_) => None,
        });
        let in_lets = self.lets.iter().map(|variable| &variable.value);
        in_statements.chain(in_lets).map(|expr| expr.0.most_fields()).max().unwrap_or(0)
    }

    /// Whether each of its requests is a session.
    pub fn is_session(&self) -> bool {
        matches!(self.flow, Flow::Session { .. })
    }

    /// Whether its requests come when a schedule or a log says so, answered or not.
    pub fn has_arrivals(&self) -> bool {
        match self.pacing {
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay => true,
            Pacing::Closed { .. } | Pacing::Part { .. } => false,
        }
    }

    /// How long a client of a closed job pauses between requests, or one of a session between
    /// statements, if they do.
    pub(crate) fn think(&self) -> Option<&Expr> {
        match (&self.flow, &self.pacing) {
            (Flow::Session { think }, _) | (_, Pacing::Closed { think, .. }) => think.as_ref(),
            (Flow::Together | Flow::Separately, _) => None,
        }
    }

    /// When arrivals fall and how many requests each brings; `None` where no schedule says so.
    pub fn arrivals(&self) -> Option<(&Schedule, u32)> {
        match &self.pacing {
            Pacing::Open { schedule, batch }
            | Pacing::Queue { schedule, batch, .. }
            | Pacing::Timetable { schedule, batch } => Some((schedule, *batch)),
            Pacing::Closed { .. } | Pacing::Replay | Pacing::Part { .. } => None,
        }
    }

    /// The word for the arrival process in records and reports; `None` where there is none: for a
    /// closed job, and for recorded instants.
    pub fn arrival(&self) -> Option<&'static str> {
        self.arrivals().and_then(|(schedule, _)| match schedule {
            Schedule::Poisson(_) | Schedule::Varying { arrival: Arrival::Poisson, .. } => {
                Some("poisson")
            }
            Schedule::Uniform(_)
            | Schedule::Every(_)
            | Schedule::Varying { arrival: Arrival::Uniform, .. } => Some("uniform"),
            Schedule::Recorded(_) => None,
        })
    }

    /// Requests per second that the schedule offers while it lasts between two instants after time
    /// zero; `None` for a closed job, and for a rate that varies if the part has no end or no
    /// length.
    pub fn offered_per_s(&self, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let (schedule, batch) = self.arrivals()?;
        let from = from.saturating_sub(self.start);
        let until = until.into_iter().chain(self.stop).min();
        let until = until.map(|until| until.saturating_sub(self.start));
        Some(schedule.mean_per_s(from, until)? * f64::from(batch))
    }

    /// The most requests per second that the schedule offers at any time; `None` for a closed job.
    pub fn highest_per_s(&self) -> Option<f64> {
        self.arrivals().map(|(schedule, batch)| schedule.highest_per_s() * f64::from(batch))
    }
}
