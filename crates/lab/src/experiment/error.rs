//! The error of an experiment.

use std::fmt;
use std::io;
use std::path::PathBuf;

use archive::RecordError;
use workload::question::Arm;

use crate::error::Error;
use crate::stage::OpenError;

/// A reason why an experiment ended without its answer.
#[derive(Debug)]
pub struct ExperimentError {
    /// The arm whose run failed, if it was one.
    pub arm: Option<String>,
    /// The problem.
    pub problem: Box<Problem>,
}

/// The problem of an experiment.
#[derive(Debug)]
pub enum Problem {
    /// A server cannot be started, or a target cannot be opened.
    Servers(OpenError),
    /// A run failed before anything was measured.
    Run(Error),
    /// The target does not answer, for this reason.
    Unreachable(String),
    /// The difference of the arm is not in effect, for this reason.
    NotInEffect(String),
    /// A record cannot be written or read.
    Record(RecordError),
    /// The record of a run in progress cannot be removed.
    Own(PathBuf, io::Error),
    /// The record to continue is that of a complete experiment.
    Complete,
    /// A part of the experiment differs from that of the record to continue.
    Changed {
        /// The fact that differs.
        key: &'static str,
    },
    /// A file differs from the one that the record to continue was made from.
    FileChanged(String),
    /// A file of the workload has changed during the experiment.
    FilesChanged,
}

impl ExperimentError {
    pub(super) fn of(arm: &Arm, problem: Problem) -> ExperimentError {
        ExperimentError { arm: Some(arm.name.clone()), problem: Box::new(problem) }
    }
}

impl From<Problem> for ExperimentError {
    fn from(problem: Problem) -> ExperimentError {
        ExperimentError { arm: None, problem: Box::new(problem) }
    }
}

impl From<RecordError> for ExperimentError {
    fn from(error: RecordError) -> ExperimentError {
        Problem::Record(error).into()
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(arm) = &self.arm {
            write!(f, "[arm {arm}]: ")?;
        }
        match &*self.problem {
            Problem::Servers(error) => error.fmt(f),
            Problem::Run(error) => error.fmt(f),
            Problem::Unreachable(reason) => write!(f, "the target does not answer: {reason}"),
            Problem::NotInEffect(reason) => f.write_str(reason),
            Problem::Record(error) => error.fmt(f),
            Problem::Own(path, error) => {
                write!(f, "cannot remove `{}`: {error}", path.display())
            }
            Problem::Complete => f.write_str("the experiment of this record is complete"),
            Problem::Changed { key } => {
                write!(f, "the experiment differs from that of the record: {key} has changed")
            }
            Problem::FileChanged(path) => {
                write!(f, "`{path}` has changed since the experiment began")
            }
            Problem::FilesChanged => {
                f.write_str("a file of the workload has changed during the experiment")
            }
        }
    }
}

impl std::error::Error for ExperimentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.problem {
            Problem::Servers(error) => error.source(),
            Problem::Run(error) => error.source(),
            Problem::Record(error) => error.source(),
            Problem::Own(_, error) => error.source(),
            Problem::Unreachable(_)
            | Problem::NotInEffect(_)
            | Problem::Complete
            | Problem::Changed { .. }
            | Problem::FileChanged(_)
            | Problem::FilesChanged => None,
        }
    }
}
