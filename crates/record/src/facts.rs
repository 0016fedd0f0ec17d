//! What is known of a run beside its requests: before it, during it, and at its end.

use std::fmt;

use base::{Nanos, Seed, Target, WallTime};

use crate::grid::Grid;

/// Everything that is known before time zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The version of the program.
    pub assay: String,
    /// The commit that it was built from, if that is known.
    pub commit: Option<String>,
    /// When the run began; time zero comes later, after setup and loads.
    pub started: WallTime,
    /// Real or virtual time.
    pub pace: Pace,
    /// How many lanes the measured phase has.
    pub lanes: u16,
    /// The seed of every schedule and value.
    pub seed: Seed,
    /// The main target, without its password.
    pub target: TargetText,
    /// The command line, rebuilt from what was understood of it.
    pub command: String,
    /// The name of the workload file.
    pub workload: String,
    /// The plan in words, as `assay check` prints it.
    pub plan: String,
    /// What is not measured at the beginning.
    pub warmup: Nanos,
    /// How long requests are scheduled, warm-up included; `None` is until interrupted.
    pub duration: Option<Nanos>,
    /// The jobs in the order of the plan.
    pub jobs: Vec<JobHeader>,
}

impl Header {
    /// Where the intervals of the run lie.
    pub fn grid(&self) -> Grid {
        Grid::new(self.warmup, self.duration)
    }
}

/// What is known of a job before time zero.
#[derive(Clone, Debug, PartialEq)]
pub struct JobHeader {
    /// Its name.
    pub name: String,
    /// The word for its model: `open`, `queue`, `partly-open`, `closed`, `timetable`, `replay`.
    pub model: String,
    /// The word for its arrival process, if it has one: `poisson`, `uniform`.
    pub arrival: Option<String>,
    /// Requests per second that it is meant to make, on average where its rate varies; `None` where
    /// that is not known beforehand.
    pub offered_per_s: Option<f64>,
    /// How many connections it was told to use, if it was.
    pub connections_asked: Option<u32>,
    /// The texts of its statements: as many as its cells have statement histograms.
    pub statements: Vec<String>,
}

/// The setting that says why the rows of a table were inserted where the server has a faster
/// method; the table's name follows.
pub const FALLBACK: &str = "generator.inserts.";

/// How time passes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As it does: whoever hands something over must not be made to wait.
    Real,
    /// As fast as the events can be worked off: whoever is too fast may be made to wait.
    Virtual,
}

impl Pace {
    /// Every pace.
    pub const ALL: [Pace; 2] = [Pace::Real, Pace::Virtual];

    /// The word for this pace in records.
    pub fn name(self) -> &'static str {
        match self {
            Pace::Real => "real",
            Pace::Virtual => "virtual",
        }
    }
}

/// A target in words. It can only be made from a parsed [`Target`], whose text has no password, or
/// from none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetText(String);

impl TargetText {
    /// That of a run whose main target is asked nothing.
    pub fn none() -> TargetText {
        TargetText(String::new())
    }

    /// The URL without its password; empty if the main target was asked nothing.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a record says that the target was.
    pub(crate) fn recorded(text: String) -> TargetText {
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

/// How a run came to its end. The record of a run that was killed has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// When the schedule ended, after time zero.
    pub at: Nanos,
    /// Why.
    pub kind: EndKind,
    /// The details in words; empty where there are none.
    pub text: String,
}

/// Why a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// Its duration was over, or every job had made its requests.
    Completed,
    /// The user ended it.
    Interrupted,
    /// An error ended it.
    StoppedByError,
    /// The target was unreachable from some moment to the end.
    TargetLost,
    /// The record could not be kept any longer.
    RecorderFailed,
    /// A file that the workload reads or writes could not be read or written any longer.
    FileFailed,
    /// A queue that was not to overflow was full.
    QueueFull,
    /// Something panicked: a mistake in the program that ran it.
    InternalError,
}

impl EndKind {
    /// Every kind.
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

    /// The word for this kind in records and reports.
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

/// What the load generator's own process has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientSample {
    /// Processor time outside the kernel since the process began.
    pub cpu_user: Nanos,
    /// Processor time in the kernel since the process began.
    pub cpu_system: Nanos,
    /// Memory in use, if the system tells.
    pub rss_bytes: Option<u64>,
    /// The most memory that was in use, if the system tells.
    pub peak_rss_bytes: Option<u64>,
    /// Threads, if the system tells.
    pub threads: Option<u64>,
}

/// Something that is watched beside the requests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// What it is a part of: `host`, `generator`, a thread.
    pub component: String,
    /// Its name there.
    pub metric: String,
    /// The unit of its values: `s`, `MHz`.
    pub unit: String,
}

/// What was read of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Of which.
    pub series: Series,
    /// What it was.
    pub value: f64,
}

impl Reading {
    /// What was read of a component's metric.
    pub fn of(component: &str, metric: &str, unit: &str, value: f64) -> Reading {
        let [component, metric, unit] = [component, metric, unit].map(str::to_owned);
        Reading { series: Series { component, metric, unit }, value }
    }
}

/// How far a table has been filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The table.
    pub table: String,
    /// When its filling began.
    pub started: WallTime,
    /// How long it has taken so far.
    pub length: Nanos,
    /// Rows that were committed so far.
    pub rows: u64,
    /// Bytes of values that were sent so far.
    pub bytes: u64,
}
