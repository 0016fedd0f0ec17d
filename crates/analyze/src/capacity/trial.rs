//! A trial: one run at one value of the varied key.

use base::Nanos;

/// Figures of one run at one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Value of the varied key: requests per second, or clients.
    pub value: f64,
    /// Phase of the search that requested the trial.
    pub phase: Phase,
    /// Length of the window.
    pub window: Nanos,
    /// Duration of the trial with warm-up and drain, which counts against the budget.
    pub took: Nanos,
    /// Measures of the conditions, in the order of [`CapacityOrder::conditions`].
    ///
    /// [`CapacityOrder::conditions`]: super::CapacityOrder::conditions
    pub measures: Vec<Measure>,
    /// Requests per second that the varied job offered; `None` for a closed job.
    pub offered_per_s: Option<f64>,
    /// Answers of the varied job per second: completed requests, and errors that it accepts.
    pub achieved_per_s: f64,
    /// True if the load of a job exceeded the capacity: its backlog grew by more than chance
    /// explains and by enough to matter, its queue overflowed, or too many of its requests were
    /// unsent. The job's response times are withheld.
    pub exceeds_capacity: bool,
    /// Growth of the backlog over the window, in standard errors, of the job whose backlog grew
    /// most clearly; `None` if no growth was judged.
    pub backlog_t: Option<f64>,
    /// Number of errors that are not accepted, in jobs whose failures no condition limits. Requests
    /// of an overloaded job that were in flight after the drain are not errors.
    pub errors: u64,
    /// Names of the jobs and parts with these errors.
    pub failed_jobs: Vec<String>,
    /// Number of requests that were rejected because a queue was full, in jobs whose failures no
    /// condition limits.
    pub rejected: u64,
    /// Number of failed and rejected requests of jobs whose failures a condition limits.
    pub limited_failures: u64,
    /// Names of the checks of the load generator and its machine with the status INVALID.
    pub invalid: Vec<String>,
    /// Limit that the varied job reached, other than the speed of the database; `None` if it
    /// reached no such limit.
    pub load_limit: Option<LoadLimit>,
    /// Mean service time of the varied job; `None` without requests.
    pub service: Option<Nanos>,
    /// Estimated time over which response times are correlated; `None` if it is unknown.
    pub relaxation: Option<Nanos>,
}

/// Data of a trial that are not part of its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialContext {
    /// Duration of the trial with warm-up and drain.
    pub took: Nanos,
    /// Dispersions of the counts beyond the bounds, by condition, as
    /// [`count_dispersion`](super::count_dispersion) returns them.
    pub dispersions: Vec<Option<f64>>,
}

/// Phase of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Doubling or halving of the value.
    Bracket,
    /// Narrowing of the bracket.
    Shrink,
    /// Round of five values, from 1.
    Round(u32),
    /// Attempt to confirm a value, from 1.
    Confirm(u32),
    /// Final trial at the confirmed value.
    Hold,
}

/// Measure of one condition in a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Number of requests beyond the bound.
    Count(ExceedanceCount),
    /// Value in the unit of the condition's bound.
    Value {
        /// The value.
        value: f64,
        /// Standard error of the value; `None` if it is unknown.
        standard_error: Option<f64>,
    },
    /// Nothing was measured, such as the response times of a job without requests.
    Missing,
}

/// A number of requests beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExceedanceCount {
    /// Number of requests that reach the bound or have no response.
    pub exceeded: u64,
    /// Number of all requests of the window.
    pub total: u64,
    /// Factor by which the correlation of requests raises the variance of the count: this many
    /// requests together are worth one independent request. `None` if it is unknown.
    pub dispersion: Option<f64>,
}

/// A limit of a load, other than the speed of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadLimit {
    /// All connections of the open job were busy, and requests waited for one of them: a limit of
    /// the generator itself.
    OwnConnections(u64),
    /// The server accepted only this number of connections. In a closed job, clients without a
    /// connection send nothing; in an open job, requests wait.
    AcceptedConnections(u64),
}

impl ExceedanceCount {
    /// Returns the fraction of requests beyond the bound; 0 without requests.
    pub fn share(&self) -> f64 {
        match self.total {
            0 => 0.0,
            total => self.exceeded as f64 / total as f64,
        }
    }
}

impl Phase {
    /// Returns the name of this phase in records and documents.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Bracket => "bracket",
            Phase::Shrink => "shrink",
            Phase::Round(_) => "round",
            Phase::Confirm(_) => "confirm",
            Phase::Hold => "hold",
        }
    }

    /// Returns the number of the round or attempt, from 1; `None` for the other phases.
    pub fn number(self) -> Option<u32> {
        match self {
            Phase::Round(number) | Phase::Confirm(number) => Some(number),
            Phase::Bracket | Phase::Shrink | Phase::Hold => None,
        }
    }
}
