//! Findings of the checks: facts and numbers, without words.
//!
//! [`Finding`] has a variant for each check; a check that is not possible has an [`Obstacle`]. The
//! sentences are written in `report`. Shares are fractions, 0 to 1; jobs and threads are identified
//! by their names.

use base::Nanos;
use record::EventError;

use crate::other_programs::OtherPrograms;

pub use crate::counter_comparison::{ComparedCounter, CounterComparison};
pub use crate::obstacle::{
    CalibrationObstacle, CounterObstacle, JobObstacle, ObservationObstacle, Obstacle,
};

/// The finding of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The check was not possible.
    NotPossible(Obstacle),
    /// End of the run and state of its record.
    Complete(Completeness),
    /// Requests of the window.
    Window(Requests),
    /// Outcomes of the requests that came due.
    Balance(Outcomes),
    /// Difference of the arrivals from the schedule.
    Rate(RateDifference),
    /// Difference of the arrivals from the schedule in single seconds.
    EachSecond(Seconds),
    /// Requests that came due and were not sent.
    Achieved(Sending),
    /// Irregularity of the arrivals per second.
    Arrivals(Irregularity),
    /// Times between arrivals.
    Gaps(Gaps),
    /// Delay of sending.
    SendLag(Lag),
    /// Stalls of the process.
    Stall(Stalls),
    /// Processor wait of a request thread.
    ProcessorWait(ProcessorWait),
    /// Processor time of a request thread.
    GeneratorCpu(ThreadUse),
    /// Fraction of the processors' time that the hypervisor took.
    StolenTime {
        /// Stolen fraction.
        share: f64,
    },
    /// Processors used by other programs.
    OtherPrograms(OtherPrograms),
    /// Load as a fraction of the highest load that the load generator can produce.
    Ceiling(CeilingUse),
    /// Service time of an empty statement.
    Floor(Floor),
    /// Cost and resolution of the clock.
    Clock(ClockCost),
    /// Steps of the wall clock.
    WallClock(WallClock),
    /// Frequency of the processors.
    Frequency(Frequencies),
    /// Growth of the backlog.
    Backlog(Backlog),
    /// End of the warm-up.
    WarmUp(WarmUp),
    /// Gradual change of the response time.
    Drift(MedianChange),
    /// Abrupt change of the response time.
    Step(MedianChange),
    /// Clients that were busy by Little's law.
    Little(BusyClients),
    /// Unexpected errors.
    Errors(Failures),
    /// Results with a wrong number of rows.
    WrongResults(WrongResults),
    /// Loss of the target.
    Outage(Outages),
    /// Connections that were not open.
    Connections(Connections),
    /// Times beyond the range of the histograms.
    Overflow {
        /// Number of such times.
        times: u64,
    },
    /// Files of the workload.
    Files(Files),
    /// Commits or statements that the server counted.
    Commits(Commits),
    /// Checkpoints of the server in the run.
    Checkpoints(Checkpoints),
}

/// Completeness of a run and its record.
#[derive(Clone, Debug, PartialEq)]
pub enum Completeness {
    /// Parts of the record are missing.
    PartsMissing {
        /// Text of the recorder's event.
        text: String,
    },
    /// The run ended.
    Ended {
        /// Way in which it ended.
        end: RunEnd,
        /// Time of the end; `None` if no second of its jobs is in the record.
        at: Option<Nanos>,
        /// Reason why the plan in the record could not be read, if it could not.
        unread_plan: Option<String>,
    },
}

/// Way in which a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// The run completed.
    Completed {
        /// Text of the event that the input file of a part was exhausted, which ended its mix;
        /// `None` if there is no such event.
        exhausted: Option<String>,
    },
    /// The user ended the run, which has no duration.
    EndedByUser,
    /// The user ended the run before its duration was over.
    Interrupted,
    /// An error ended the run.
    StoppedByError,
    /// The target was lost.
    TargetLost,
    /// A file could no longer be read or written.
    FileFailed,
    /// The record could no longer be written.
    RecorderFailed,
    /// A queue was full.
    QueueFull {
        /// Name of the job with the queue that was full first; `None` if it is unknown.
        job: Option<String>,
    },
    /// Assay itself panicked.
    InternalError,
    /// The process was killed, or still runs.
    Killed {
        /// Number of requests that were open.
        open: u64,
    },
}

/// Requests of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Requests {
    /// No request was scheduled.
    None {
        /// True if there was a warm-up before the window.
        has_warmup: bool,
    },
    /// Some requests were scheduled.
    Scheduled {
        /// Number of requests.
        requests: u64,
        /// Length of the window.
        length: Nanos,
    },
}

/// Requests by outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// Number of requests that came due.
    pub due: u64,
    /// Number of completed requests.
    pub completed: u64,
    /// Number of requests that ended in errors.
    pub errors: u64,
    /// Number of rejected requests.
    pub rejected: u64,
    /// Number of unsent requests.
    pub unsent: u64,
}

/// Difference of a job's arrivals from its schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct RateDifference {
    /// Name of the job.
    pub job: String,
    /// Difference as a fraction of the expected number.
    pub by: f64,
}

/// Arrivals in single seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Seconds {
    /// All seconds are as scheduled.
    AsScheduled,
    /// A second differs from the schedule.
    Odd {
        /// Name of the job.
        job: String,
        /// Start of the second, since time zero.
        begin: Nanos,
        /// Difference as a fraction of the scheduled number.
        by: f64,
    },
}

/// Sending of the requests that came due.
#[derive(Clone, Debug, PartialEq)]
pub enum Sending {
    /// Nearly all due requests were sent.
    AllSent,
    /// Some requests were never sent.
    Short {
        /// Name of the job.
        job: String,
        /// Fraction of its requests that was not sent.
        share: f64,
    },
}

/// Irregularity of the arrivals per second of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Irregularity {
    /// Name of the job.
    pub job: String,
    /// Variance divided by the mean: 1 for a Poisson process.
    pub index: f64,
}

/// Times between the arrivals of jobs, here called gaps.
#[derive(Clone, Debug, PartialEq)]
pub enum Gaps {
    /// The gaps are distributed as in a Poisson process.
    Poisson,
    /// The gaps are not distributed as in a Poisson process.
    Odd {
        /// Name of the job.
        job: String,
        /// Fraction of gaps that are too short or too long.
        share: f64,
    },
}

/// Send lag of the most delayed requests of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Lag {
    /// Name of the job.
    pub job: String,
    /// Part of the job's requests: those with the largest send lag.
    pub part: LatePart,
    /// Least send lag of these requests, in nanoseconds.
    pub ns: f64,
}

/// Part of the requests: those with the largest send lag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatePart {
    /// One in a hundred.
    Hundredth,
    /// One in two.
    Half,
}

/// Stalls of the load generator's process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stalls {
    /// No stall exceeded the limit.
    None,
    /// At least one stall was too long.
    Longest {
        /// Length of the longest stall, in seconds.
        length_s: f64,
        /// Start of the longest stall, since time zero.
        at: Nanos,
        /// Number of other stalls in the window, including those within the limit.
        others: usize,
    },
}

/// The request thread that waited longest for a processor.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorWait {
    /// Name of the thread.
    pub thread: String,
    /// Fraction of the window in which the thread waited.
    pub share: f64,
    /// True if a database is on the same machine; `None` if that is unknown.
    pub has_database_here: Option<bool>,
}

/// The request thread that used the most processor time.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadUse {
    /// Name of the thread.
    pub thread: String,
    /// Used fraction of a processor.
    pub share: f64,
    /// Meaning of this load for the result.
    pub headroom: Headroom,
}

/// Time that the load generator had to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// Enough.
    Enough,
    /// Too little, and all jobs are closed: their rate is limited, their times are right.
    LimitsClosedJobs,
    /// Too little for requests that follow a schedule.
    DelaysRequests,
}

/// Load as a fraction of the highest load that the load generator can produce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CeilingUse {
    /// Statements per second of the jobs whose route is calibrated.
    pub per_s: f64,
    /// Load as a fraction of the ceiling of the threads.
    pub share: f64,
    /// Number of threads.
    pub threads: u16,
    /// Meaning of this share for the result.
    pub headroom: Headroom,
}

/// Service time of an empty statement, compared with the service time of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    /// Name of the job.
    pub job: String,
    /// Service time of an empty statement at p50, in nanoseconds.
    pub ns: f64,
    /// Service time of an empty statement as a fraction of the job's service time, both at p50.
    pub share: f64,
}

/// Cost and resolution of the clock, compared with the shortest service time at p50.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockCost {
    /// Cost of a reading, in nanoseconds.
    pub cost_ns: f64,
    /// Smallest step, in nanoseconds.
    pub step_ns: f64,
    /// Service time at p50, in nanoseconds.
    pub service_p50_ns: f64,
}

/// Steps of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WallClock {
    /// The clock advanced together with the monotonic clock.
    Steady,
    /// The clock was set, or the machine was suspended.
    Set {
        /// Largest step, in seconds; negative if it was set back.
        by_s: f64,
        /// Time of that step, since time zero.
        at: Nanos,
    },
}

/// Mean frequencies of the processors in two of the three equal parts of the window: the pair that
/// differs most. Pairs with a difference that matters take precedence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequencies {
    /// Earlier third, and its frequency in MHz.
    pub earlier: (WindowThird, f64),
    /// Later third, and its frequency in MHz.
    pub later: (WindowThird, f64),
}

/// A third of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowThird {
    /// The first third.
    First,
    /// The second third.
    Middle,
    /// The last third.
    Last,
}

/// Growth of the backlog of jobs with a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Backlog {
    /// The backlog did not grow.
    Stable,
    /// The backlog grew by more than chance explains, but not by enough to matter.
    Immaterial,
    /// Queues were full.
    QueuesFull {
        /// Names of the jobs with rejected requests.
        jobs: Vec<String>,
    },
    /// The backlog grew by more than chance explains, and by enough to matter.
    Grows {
        /// Names of the overloaded jobs.
        jobs: Vec<String>,
    },
    /// Too many requests were never sent.
    Unsent {
        /// Names of the jobs that left them unsent.
        jobs: Vec<String>,
        /// Largest unsent fraction.
        share: f64,
    },
}

/// Result of the search for the end of the warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    /// The run ended too early.
    TooShort,
    /// No job had a constant load.
    NoSteadyJob,
    /// There is no steady state, because the offered load exceeds the capacity.
    Overloaded,
    /// There was no steady state.
    NeverSteady {
        /// Difference of the second half of the run from the first, as a fraction.
        by: f64,
    },
    /// The run was steady from the start.
    SteadyAtOnce,
    /// The end of the warm-up was found.
    Found {
        /// Length of the warm-up.
        length: Nanos,
    },
}

/// Change of the median response time.
#[derive(Clone, Debug, PartialEq)]
pub enum MedianChange {
    /// No change, or one that chance explains or that is too small to matter.
    None,
    /// The median changed from the beginning to the end of the window.
    Gradual {
        /// Name of the job.
        job: String,
        /// Relative change, as a fraction.
        by: f64,
    },
    /// The median changed at a moment.
    Abrupt {
        /// Name of the job.
        job: String,
        /// Relative change, as a fraction.
        by: f64,
        /// Time of the change, in seconds after time zero.
        at_s: f64,
    },
}

/// The mean number of clients of a closed job that were busy or pausing, and the configured number.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyClients {
    /// Name of the job.
    pub job: String,
    /// Mean number of clients that were busy or pausing.
    pub busy: f64,
    /// Number of configured clients.
    pub clients: f64,
}

/// Unexpected errors of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Failures {
    /// No unexpected errors.
    None,
    /// Some requests failed.
    Some {
        /// Name of the job.
        job: String,
        /// Number of requests that failed unexpectedly.
        failed: u64,
        /// Number of scheduled requests.
        scheduled: u64,
        /// The class of most of these errors, and the most frequent code of that class; `None` if
        /// the record has no classes.
        error: Option<EventError>,
        /// True if each request of the job runs a program.
        runs_program: bool,
    },
}

/// Results with a wrong number of rows.
#[derive(Clone, Debug, PartialEq)]
pub enum WrongResults {
    /// No wrong results.
    None,
    /// Some results of a job were wrong.
    Some {
        /// Name of the job.
        job: String,
        /// Number of wrong results.
        results: u64,
    },
}

/// Loss of the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Outages {
    /// The target was reachable all the time.
    None,
    /// The target was lost at least once.
    Some {
        /// Duration of all outages together.
        length: Nanos,
        /// Start of the first one, since time zero.
        first: Nanos,
        /// Text of the first event of an outage.
        text: Option<String>,
    },
    /// A server was lost in a sweep over the number of servers: a part of the run used fewer
    /// servers, or a different distribution of its connections.
    FewerServers {
        /// Duration of all outages together; 0 if connections were lost and none was refused.
        length: Nanos,
        /// Start of the first one, or the first loss of a connection, since time zero.
        first: Nanos,
        /// Text of that event.
        text: String,
    },
}

/// Connections of jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum Connections {
    /// The target accepted every connection.
    AllAccepted,
    /// All configured connections were open.
    AllOpen,
    /// Fewer connections were open than configured.
    Missing {
        /// Name of the job.
        job: String,
        /// Number of configured connections.
        configured: u32,
        /// Mean number of open connections.
        open: f64,
        /// The error with which the target began to refuse connections, if it did and reported one.
        refusal: Option<EventError>,
    },
    /// The target limited the number of connections.
    Limited {
        /// Text of the first event of a limit.
        text: String,
    },
}

/// Files of the workload.
#[derive(Clone, Debug, PartialEq)]
pub enum Files {
    /// No file failed, and none was cut off.
    Whole,
    /// A file was a pipe that ended within a line or within a request.
    CutOff {
        /// Text of the event.
        text: String,
    },
    /// A file failed: there is an event [`FileFailed`](record::EventKind::FileFailed).
    Failed {
        /// Text of the event.
        text: String,
    },
}

/// Comparison of a counter of the server with the answers of the client.
#[derive(Clone, Debug, PartialEq)]
pub enum Commits {
    /// The counter and the answers agree.
    Agree(CounterComparison),
    /// The server counted fewer than the client.
    Missing(CounterComparison),
    /// The server counted more than the client.
    Excess(CounterComparison),
}

/// Periodic background work, such as checkpoints, of a server that writes data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checkpoints {
    /// Cycles of that work in the run.
    pub cycles: Cycles,
    /// Log that the server wrote in the run, in bytes.
    pub written_bytes: f64,
    /// Significance of these cycles for the numbers of the run.
    pub coverage: Coverage,
}

/// Cycles of periodic background work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cycles {
    /// Checkpoints.
    Checkpoints {
        /// Number of checkpoints that were due.
        timed: f64,
        /// Number of checkpoints before their time.
        requested: f64,
    },
    /// Number of times that the log was filled from end to end; before each reuse of the log, the
    /// changes in it must have been written back.
    Turns(f64),
}

/// Significance of the cycles in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The server wrote hardly any data that a checkpoint must write back.
    NothingToWrite,
    /// There are too few cycles for a cycle to be representative.
    FewCycles,
    /// Several cycles.
    Representative,
}

impl Cycles {
    /// Returns the number of cycles.
    pub fn count(self) -> f64 {
        match self {
            Cycles::Checkpoints { timed, requested } => timed + requested,
            Cycles::Turns(turns) => turns,
        }
    }
}
