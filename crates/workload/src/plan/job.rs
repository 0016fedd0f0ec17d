//! Jobs.

use base::{Code, Nanos, Span};

use super::pacing::{Arrival, Pacing, Schedule};
use super::slo::Slo;
use super::statement::Statement;
use super::target::JobTarget;
use crate::expr::Expr;
use crate::feed::Format;
use crate::text::Piece;

/// A kind of request, or a mix of several kinds, with its schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The target of its requests.
    pub target: JobTarget,
    /// The model and schedule of its requests.
    pub pacing: Pacing,
    /// Time from time zero, the start of the schedule, to the start of the job.
    pub start: Nanos,
    /// Time from time zero (not from the start of the job) to the end of the job.
    pub stop: Option<Nanos>,
    /// Total number of arrivals (batches) or, in a closed job, of requests.
    pub count: Option<u64>,
    /// Lifetime of the clients' connections.
    pub reconnect: Reconnect,
    /// Treatment of arrivals while the target refuses connections.
    pub on_outage: OnOutage,
    /// The requests. A mix has no statements here. Its `accepted` codes and `on_error = Stop` also
    /// hold for its parts; its `timeout` and `retry` hold for parts that set none of their own.
    pub requests: Requests,
    /// The sections that share the requests of a mix; empty for any other job.
    pub parts: Vec<Part>,
}

/// A section that is a part of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The names of the mix and of the section: `MIX/SECTION`.
    pub name: String,
    /// Weight: the part is chosen with the probability weight / sum of the weights of all parts.
    pub weight: u32,
    /// Its requests.
    pub requests: Requests,
}

/// The requests of a section: its statements, and the treatment of their answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// The section's name.
    pub section: String,
    /// The variables of `let`, evaluated in order, once per request.
    pub lets: Vec<Let>,
    /// The statements of a request, in order; empty only in a mix.
    pub statements: Vec<Statement>,
    /// Order and grouping of the statements of a request.
    pub flow: Flow,
    /// The file that supplies the values of the requests, or their times and statements.
    pub feed: Option<Feed>,
    /// True if the statements run inside one transaction.
    pub transaction: bool,
    /// True if the statements of the transaction are sent without waiting for answers in between.
    pub pipeline: bool,
    /// Name, as in the workload file, of the file for the rows that the statements return. A
    /// relative path starts at the folder of the record, or, in `assay dbbench`, at the folder of
    /// the other files.
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
    /// The effect that an error has on the run if it is not accepted.
    pub on_error: OnError,
    /// The conditions that the requests are judged by.
    pub slos: Vec<Slo>,
    /// Position of the section's header.
    pub span: Span,
}

/// The order and grouping of the statements of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Statements run one after the other on one connection; the first error ends the request.
    Together,
    /// Statements run one after the other on one connection, with pauses between them: the request
    /// is the session of a user.
    Session {
        /// Length of the pauses.
        think: Option<Expr>,
    },
    /// Statements run one after the other, independently: after an error the next statement still
    /// runs.
    Separately,
}

/// A file that supplies requests or their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// Its name, as in the workload file.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Number of records that one request takes: one for each statement of [`Flow::Separately`],
    /// otherwise one.
    pub per_request: u32,
    /// Position of its name in the workload file.
    pub span: Span,
}

/// A variable of `let`.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name, which identifies its random numbers: adding or removing a variable does not change
    /// the values of the others.
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

/// The effect that an error has on the run if it is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The error is counted and the run continues.
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
/// If each request opens a connection, the setting applies in every model. Otherwise it does not
/// apply to closed jobs: their clients always wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutage {
    /// Arrivals fail at once.
    Fail,
    /// Arrivals wait for a connection. A job with a queue rejects the arrivals beyond its limit.
    Wait,
}

impl Job {
    /// Returns the name of its section.
    pub fn name(&self) -> &str {
        &self.requests.section
    }

    /// Returns true if its requests belong to several sections.
    pub fn is_mix(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns the requests of the job's parts, or its own requests if it is not a mix.
    pub fn sections(&self) -> impl Iterator<Item = &Requests> {
        let own = Some(&self.requests).filter(|_| !self.is_mix());
        own.into_iter().chain(self.parts.iter().map(|part| &part.requests))
    }

    /// Returns true if the job ends after a fixed number of requests: its `count`, or the lines of
    /// a file.
    pub fn has_fixed_request_count(&self) -> bool {
        self.count.is_some() || self.sections().any(|requests| requests.feed.is_some())
    }

    /// Returns true if the job can end before the run does: after a [fixed number of
    /// requests](Job::has_fixed_request_count), or at its `stop`.
    pub fn ends_by_itself(&self) -> bool {
        self.has_fixed_request_count() || self.stop.is_some()
    }

    /// Returns the program that a request runs, if it runs one.
    pub fn command(&self) -> Option<&Statement> {
        self.requests.statements.first().filter(|_| self.target == JobTarget::Programs)
    }

    /// Returns the name of the job's model for records and reports.
    pub fn model(&self) -> &'static str {
        match self.pacing {
            Pacing::Open { .. } | Pacing::Queue { .. } | Pacing::Timetable { .. }
                if self.requests.is_session() =>
            {
                "partly-open"
            }
            Pacing::Open { .. } => "open",
            Pacing::Queue { .. } => "queue",
            Pacing::Timetable { .. } => "timetable",
            Pacing::Closed { .. } => "closed",
            Pacing::Replay => "replay",
        }
    }

    /// Returns true if a schedule or a log determines its requests, regardless of answers.
    pub fn has_arrivals(&self) -> bool {
        match self.pacing {
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay => true,
            Pacing::Closed { .. } => false,
        }
    }

    /// Returns the think time of a client; `None` without one, and in models without clients.
    pub fn think(&self) -> Option<&Expr> {
        match &self.pacing {
            Pacing::Closed { think, .. } => think.as_ref(),
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay => None,
        }
    }

    /// Returns the schedule of arrivals and the number of requests per arrival; `None` without a
    /// schedule.
    pub fn arrivals(&self) -> Option<(&Schedule, u32)> {
        match &self.pacing {
            Pacing::Open { schedule, batch }
            | Pacing::Queue { schedule, batch, .. }
            | Pacing::Timetable { schedule, batch } => Some((schedule, *batch)),
            Pacing::Closed { .. } | Pacing::Replay => None,
        }
    }

    /// Returns the name of the arrival process for records and reports; `None` for closed jobs,
    /// replays and recorded instants.
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

    /// Returns the mean rate, in requests per second, that the schedule offers between two instants
    /// after time zero. Time before the `start` of the job and after its `stop` does not count.
    ///
    /// `None` without a schedule, as in closed jobs and replays. Also `None` for a varying rate or
    /// recorded instants if the time between the two instants has no end or no length.
    pub fn offered_per_s(&self, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let (schedule, batch) = self.arrivals()?;
        let from = from.saturating_sub(self.start);
        let until = until.into_iter().chain(self.stop).min();
        let until = until.map(|until| until.saturating_sub(self.start));
        Some(schedule.mean_per_s(from, until)? * f64::from(batch))
    }

    /// Returns the highest rate that the schedule offers, in requests per second; `None` without a
    /// schedule, as in closed jobs and replays.
    pub fn highest_per_s(&self) -> Option<f64> {
        self.arrivals().map(|(schedule, batch)| schedule.highest_per_s() * f64::from(batch))
    }
}

impl Requests {
    /// Returns the highest field number of a record that the expressions use; 0 if they use none.
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

    /// Returns the pause between the statements of a session; `None` without pauses or sessions.
    pub(crate) fn pause(&self) -> Option<&Expr> {
        match &self.flow {
            Flow::Session { think } => think.as_ref(),
            Flow::Together | Flow::Separately => None,
        }
    }
}
