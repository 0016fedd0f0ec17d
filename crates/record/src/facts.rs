//! Facts about a run as a whole, rather than about single requests. They become known before the
//! run, during the run, or at its end.

use std::fmt;
use std::path::PathBuf;

use base::{AccountId, Nanos, Seed, Target, WallTime};

use crate::excerpt::Excerpt;
use crate::grid::Grid;
use crate::note::Note;
use crate::op_log::OpLogReport;

/// The facts that are known before time zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Version of Assay that executed the run.
    pub assay: String,
    /// Commit from which Assay was built, if known.
    pub commit: Option<String>,
    /// Start of the run; time zero comes later, after setup and loads.
    pub started: WallTime,
    /// Passage of time in the run: real or virtual.
    pub pace: Pace,
    /// Number of lanes of the measured phase.
    pub lanes: u16,
    /// The seed of all schedules and values.
    pub seed: Seed,
    /// The main target, without its password.
    pub target: TargetText,
    /// The command line, rebuilt from the parsed options.
    pub command: String,
    /// The name of the workload file, which is also its path in the list of input files.
    pub workload: String,
    /// The plan as text, in the form that `assay check` prints; without secrets, and without a
    /// teardown that the run leaves out.
    pub plan: String,
    /// Length of the warm-up, which is recorded and excluded from the results.
    pub warmup: Nanos,
    /// Length of the schedule, including the warm-up; `None` if the run continues until it is
    /// interrupted.
    pub duration: Option<Nanos>,
    /// The accounts: jobs and their parts in the order of the plan, then jobs at single servers.
    pub jobs: Vec<JobHeader>,
}

impl Header {
    /// Returns the grid of the run's intervals.
    pub fn grid(&self) -> Grid {
        Grid::new(self.warmup, self.duration)
    }
}

/// The facts, known before time zero, about a job, a part of a mix, or a job at one server.
#[derive(Clone, Debug, PartialEq)]
pub struct JobHeader {
    /// The name: `SECTION` of a job, `MIX/SECTION` of a part, `JOB@ADDRESS` of a job at one server.
    pub name: String,
    /// The kind. The kind of a part, or of a job at one server, includes the account of the whole
    /// job.
    pub kind: AccountKind,
    /// The model: `open`, `queue`, `partly-open`, `closed`, `timetable`, `replay` or `node`.
    pub model: String,
    /// The arrival process: `poisson` or `uniform`. `None` for closed jobs, replays, jobs whose
    /// times of arrival are read from a `trace` file, and jobs at one server.
    pub arrival: Option<String>,
    /// Number of requests per second that the schedule offers while the job is active, on average
    /// over the window if the rate varies. `None` if the rate is not known in advance, and for a
    /// job at one server.
    pub offered_per_s: Option<f64>,
    /// Number of connections with which the job is to begin; 0 for a part, `None` for a job at one
    /// server.
    pub connections_asked: Option<u32>,
    /// Texts of the statements; empty for a mix and for a job at one server. The cells of the
    /// account have one histogram for each statement.
    pub statements: Vec<String>,
}

/// The kind of an account of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountKind {
    /// A whole job, with the requests of all its parts and at all servers of its target.
    Job,
    /// A part of a mix.
    Part {
        /// The account of the mix.
        mix: AccountId,
        /// The section of the part.
        section: String,
    },
    /// A job at one of the servers of its target.
    Node {
        /// The account of the job.
        job: AccountId,
        /// The address of the server.
        address: String,
    },
}

impl AccountKind {
    /// The model in the [`JobHeader`] of a job at one server.
    pub const NODE_MODEL: &str = "node";
}

/// The passage of time in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Real time: deliveries must not block.
    Real,
    /// Virtual time, which passes as fast as events can be processed: deliveries may block.
    Virtual,
}

impl Pace {
    /// All paces.
    pub const ALL: [Pace; 2] = [Pace::Real, Pace::Virtual];

    /// Returns the name of this pace in records.
    pub fn name(self) -> &'static str {
        match self {
            Pace::Real => "real",
            Pace::Virtual => "virtual",
        }
    }
}

/// The URL of a target as text, without its password. It comes from a parsed [`Target`] or from a
/// record. Empty if the run does not use its main target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetText(String);

impl TargetText {
    /// Returns the text for a run that does not use its main target.
    pub fn none() -> TargetText {
        TargetText(String::new())
    }

    /// Returns the URL without its password; empty if the main target was not used.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Wraps a URL that was read from a record. Records contain only URLs without passwords.
    pub fn recorded(text: String) -> TargetText {
        TargetText(text)
    }
}

impl From<&Target> for TargetText {
    fn from(target: &Target) -> TargetText {
        TargetText(target.to_string())
    }
}

impl fmt::Display for TargetText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The facts that the record of a run holds in addition to the measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    /// Path of the record.
    pub record: PathBuf,
    /// The facts that are known before time zero.
    pub header: Header,
    /// End of the run; `None` if the run was killed.
    pub end: Option<End>,
    /// Result of writing the op-log; `None` if there was none, or if the run was killed.
    pub op_log: Option<OpLogReport>,
    /// Names and values of the settings of the servers, and of facts about the surroundings.
    pub settings: Vec<(String, String)>,
    /// Notes of reviewers, in the order in which they were added.
    pub notes: Vec<Note>,
    /// Excerpts of statements and tables, sorted by subject and kind.
    pub excerpts: Vec<Excerpt>,
    /// True if the record contains the text of the workload file and of every other regular file
    /// that was read before the run, and all these files are in the folder of the workload file or
    /// below it.
    pub keeps_files: bool,
}

/// The end of a run. The record of a killed run has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Time from time zero to the end of the schedule.
    pub at: Nanos,
    /// Reason for the end.
    pub kind: EndKind,
    /// Details in words; may be empty.
    pub text: String,
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// The duration has passed, or every job has ended by itself: it has executed all of its
    /// requests, or reached its `stop`.
    Completed,
    /// The user interrupted the run.
    Interrupted,
    /// An error of a job or part with `on-error = stop` ended the run.
    StoppedByError,
    /// A target became unreachable and did not answer again until the end.
    TargetLost,
    /// The record could not be written any further.
    RecorderFailed,
    /// A file of the workload could no longer be read or written.
    FileFailed,
    /// A request was rejected because a queue with `on-queue-full = stop` was full.
    QueueFull,
    /// A panic: a bug in Assay.
    InternalError,
}

impl EndKind {
    /// All kinds.
    pub const ALL: [EndKind; 8] = [
        EndKind::Completed,
        EndKind::Interrupted,
        EndKind::StoppedByError,
        EndKind::TargetLost,
        EndKind::RecorderFailed,
        EndKind::FileFailed,
        EndKind::QueueFull,
        EndKind::InternalError,
    ];

    /// Returns the name of this kind in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            EndKind::Completed => "completed",
            EndKind::Interrupted => "interrupted",
            EndKind::StoppedByError => "stopped-by-error",
            EndKind::TargetLost => "target-lost",
            EndKind::RecorderFailed => "recorder-failed",
            EndKind::FileFailed => "file-failed",
            EndKind::QueueFull => "queue-full",
            EndKind::InternalError => "internal-error",
        }
    }
}

/// The resource usage of the load generator's own process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSample {
    /// Processor time in user mode since the process began.
    pub cpu_user: Nanos,
    /// Processor time in kernel mode since the process began.
    pub cpu_system: Nanos,
    /// Resident memory in bytes, if known.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory in bytes, if known.
    pub peak_rss_bytes: Option<u64>,
    /// Number of threads, if known.
    pub threads: Option<u64>,
}

/// A series of observations of a metric. Requests are not recorded in series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// Component that is observed: `host`, `generator`, a thread.
    pub component: String,
    /// Name of the metric that is observed.
    pub metric: String,
    /// Unit of the values, such as `s` or `MHz`.
    pub unit: String,
}

/// One value of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The series to which the value belongs.
    pub series: Series,
    /// The value, in the unit of the series.
    pub value: f64,
}

impl Reading {
    /// Creates a value of a component's metric.
    pub fn of(component: &str, metric: &str, unit: &str, value: f64) -> Reading {
        let [component, metric, unit] = [component, metric, unit].map(str::to_owned);
        Reading { series: Series { component, metric, unit }, value }
    }
}

/// The progress of filling a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Name of the table that is filled.
    pub table: String,
    /// Calendar time at which the load started.
    pub started: WallTime,
    /// Time from the start of the load to the latest commit so far.
    pub length: Nanos,
    /// Number of rows committed so far.
    pub rows: u64,
    /// Number of bytes in which the committed rows were sent.
    pub bytes: u64,
}
