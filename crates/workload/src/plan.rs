//! The plan: a workload file in typed form, complete and with all names resolved.
//!
//! A plan is the only thing that the engine knows about a workload file. Parameters are folded,
//! defaults are filled in, every variable is an index, and every generator has its own random
//! stream. Building a plan touches no database and no clock.

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

/// A target other than the main one.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTarget {
    /// Name by which jobs refer to it.
    pub name: String,
    /// The target that its `url` names.
    pub target: Target,
    /// Position of the section's header.
    pub span: Span,
}

/// The target of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobTarget {
    /// The main target of the run, which setup, loads and teardown use too.
    Main,
    /// The target with this index in [`Plan::targets`].
    Named(usize),
    /// No database: the job's only statement is a command, and a request is one run of that
    /// program.
    Programs,
}

/// A parameter of the file with the value that the run uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its value, as written in a file.
    pub value: String,
}

/// A line of a file of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// Name of the file, as in the workload file.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
}

/// A statement whose text is the same in every execution.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedStatement {
    /// Text to send, with parameters replaced.
    pub text: String,
    /// Position in the workload file.
    pub span: Span,
    /// Position in the file of statements, if the statement comes from one.
    pub script: Option<ScriptLine>,
}

/// A table to fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The table.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// Number of connections that load at the same time.
    pub writers: u32,
    /// Rows per commit.
    pub batch: u32,
    /// Method of sending rows.
    pub method: LoadMethod,
    /// Treatment of rows whose key exists already.
    pub on_duplicate: OnDuplicate,
    /// Time at which `create index` statements of `[setup]` on this table run: before or after it
    /// is filled.
    pub indexes: Indexes,
    /// Position of the section's header.
    pub span: Span,
}

/// A column of a table to fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its value, evaluated once per row; row numbers start at 0.
    pub value: Expr,
}

/// A method of sending rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMethod {
    /// The fastest method that the target supports.
    Auto,
    /// Prepared `insert` statements.
    Insert,
    /// PostgreSQL's `COPY … FROM STDIN`.
    Copy,
    /// MySQL's `LOAD DATA LOCAL INFILE`.
    LoadData,
}

/// The treatment of rows whose key exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The load fails.
    Error,
    /// The row is skipped.
    Ignore,
    /// The row replaces the existing one.
    Replace,
}

/// The time at which secondary indexes are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexes {
    /// With the rest of `[setup]`, before the table is filled.
    Before,
    /// After the table is filled.
    After,
}

/// A kind of request, its schedule and its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The section's name.
    pub name: String,
    /// The target of its requests.
    pub target: JobTarget,
    /// The model and schedule of its requests.
    pub pacing: Pacing,
    /// Start of the job, since time zero.
    pub start: Nanos,
    /// End of the job, since time zero (not since its own start).
    pub stop: Option<Nanos>,
    /// Total number of arrivals (batches) or, in a closed job, of requests.
    pub count: Option<u64>,
    /// The variables of `let`, evaluated in order, once per request.
    pub lets: Vec<Let>,
    /// The statements of a request, in order; empty only if the job has a mix instead.
    pub statements: Vec<Statement>,
    /// The sections that take turns in its requests, instead of statements of its own.
    pub mix: Vec<MixPart>,
    /// Order and grouping of the statements of a request.
    pub flow: Flow,
    /// The file from which its requests get their values, or their times and statements.
    pub feed: Option<Feed>,
    /// True if the statements run inside one transaction.
    pub transaction: bool,
    /// True if the statements of the transaction are sent without waiting for answers in between.
    pub pipeline: bool,
    /// File that receives the rows that the statements return, as written: a relative path starts
    /// at the folder of the workload file.
    pub results: Option<String>,
    /// True if statements are prepared; otherwise they are sent as text that contains their values.
    pub prepare: bool,
    /// Expected number of rows that all statements of a request together return or change.
    pub expect_rows: Option<Rows>,
    /// Longest duration of a request, from its first byte sent.
    pub timeout: Option<Nanos>,
    /// Errors to retry, and the number of retries.
    pub retry: Option<Retry>,
    /// Accepted error codes, which are counted separately.
    pub accepted: Vec<Code>,
    /// Effect on the run of an error that is not accepted.
    pub on_error: OnError,
    /// Lifetime of the clients' connections.
    pub reconnect: Reconnect,
    /// Treatment of arrivals while the target refuses connections.
    pub on_outage: OnOutage,
    /// The conditions that the job is judged by.
    pub slos: Vec<Slo>,
    /// Position of the section's header.
    pub span: Span,
}

/// A section that takes part in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixPart {
    /// Its index among the jobs of the plan.
    pub job: usize,
    /// Weight with which it is chosen, in proportion to the others.
    pub weight: u32,
}

/// The order and grouping of the statements of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// One after the other on one connection; the first error ends the request.
    Together,
    /// As `Together`, with a pause between each two: the request is a session.
    Session {
        /// Length of the pauses.
        think: Option<Expr>,
    },
    /// One after the other, independently: after an error the next one still runs.
    Separately,
}

/// A file from which requests are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// Its name, as in the workload file.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Number of records that each request, or each batch of requests, takes.
    pub per_request: u32,
    /// Position of its name in the workload file.
    pub span: Span,
}

/// A variable of `let`.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name, by which its random numbers are addressed: adding or removing a variable does not
    /// change the values of the others.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

/// A range of row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Smallest number of rows.
    pub least: u64,
    /// Largest number of rows.
    pub most: u64,
}

impl Rows {
    /// Returns true if the number of rows is in the range.
    pub fn contains(self, rows: u64) -> bool {
        (self.least..=self.most).contains(&rows)
    }
}

impl std::fmt::Display for Rows {
    /// Formats the range as in a file: `1`, `1..10`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.least == self.most {
            true => write!(f, "{}", self.least),
            false => write!(f, "{}..{}", self.least, self.most),
        }
    }
}

/// The errors to retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Largest number of retries.
    pub times: u32,
    /// The error codes.
    pub codes: Vec<Code>,
}

/// The effect on the run of an error that is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// It is counted and the run goes on.
    Continue,
    /// The run ends.
    Stop,
}

/// The lifetime of the connections of a job's clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconnect {
    /// Clients keep their connections.
    No,
    /// Each request opens a connection and closes it at its end.
    PerTransaction,
}

/// The treatment of arrivals while the target refuses connections.
///
/// Clients of a closed job, which has no arrivals, wait, unless each of its requests opens a
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutage {
    /// They fail at once.
    Fail,
    /// They wait for a connection, up to the limit of the queue.
    Wait,
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
}

impl Job {
    /// Returns the program that a request runs, if it runs one.
    pub fn command(&self) -> Option<&Statement> {
        self.statements.first().filter(|_| self.target == JobTarget::Programs)
    }

    /// Returns the name of the job's model for records and reports.
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

    /// Returns the name of its section. (A part of a mix is itself named with the mix's name in
    /// front.)
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

    /// Returns the highest number of a record's field that its expressions use; 0 if they use none.
    pub fn most_fields(&self) -> usize {
        let pieces = self.statements.iter().flat_map(|statement| &statement.pieces);
        let in_statements = pieces.filter_map(|piece| match piece {
            Piece::Value(expr) | Piece::Splice(expr) | Piece::Quoted(expr) => Some(expr),
            Piece::Text(_) => None,
        });
        let in_lets = self.lets.iter().map(|variable| &variable.value);
        in_statements.chain(in_lets).map(|expr| expr.0.most_fields()).max().unwrap_or(0)
    }

    /// Returns true if each of its requests is a session.
    pub fn is_session(&self) -> bool {
        matches!(self.flow, Flow::Session { .. })
    }

    /// Returns true if its requests come by a schedule or a log, regardless of answers.
    pub fn has_arrivals(&self) -> bool {
        match self.pacing {
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay => true,
            Pacing::Closed { .. } | Pacing::Part { .. } => false,
        }
    }

    /// Returns the think time of a closed job's client between requests, or of a session between
    /// statements.
    pub(crate) fn think(&self) -> Option<&Expr> {
        match (&self.flow, &self.pacing) {
            (Flow::Session { think }, _) | (_, Pacing::Closed { think, .. }) => think.as_ref(),
            (Flow::Together | Flow::Separately, _) => None,
        }
    }

    /// Returns the schedule of arrivals and the number of requests per arrival; `None` without a
    /// schedule.
    pub fn arrivals(&self) -> Option<(&Schedule, u32)> {
        match &self.pacing {
            Pacing::Open { schedule, batch }
            | Pacing::Queue { schedule, batch, .. }
            | Pacing::Timetable { schedule, batch } => Some((schedule, *batch)),
            Pacing::Closed { .. } | Pacing::Replay | Pacing::Part { .. } => None,
        }
    }

    /// Returns the name of the arrival process for records and reports; `None` for closed jobs and
    /// for recorded instants.
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

    /// Returns the requests per second that the schedule offers between two instants after time
    /// zero, while it lasts.
    ///
    /// `None` for a closed job, and for a varying rate if the interval has no end or no length.
    pub fn offered_per_s(&self, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let (schedule, batch) = self.arrivals()?;
        let from = from.saturating_sub(self.start);
        let until = until.into_iter().chain(self.stop).min();
        let until = until.map(|until| until.saturating_sub(self.start));
        Some(schedule.mean_per_s(from, until)? * f64::from(batch))
    }

    /// Returns the highest rate that the schedule offers, in requests per second; `None` for a
    /// closed job.
    pub fn highest_per_s(&self) -> Option<f64> {
        self.arrivals().map(|(schedule, batch)| schedule.highest_per_s() * f64::from(batch))
    }
}
