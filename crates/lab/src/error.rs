//! The error of a run that left no record.

use std::fmt;
use std::io;

use archive::{OpLogError, RecordError};
use base::Class;
use engine::RunFailure;

use crate::memory::TooFewAddresses;
use crate::open_files::TooManyFiles;
use crate::target::TargetProblem;

/// A reason why a run left no record.
#[derive(Debug)]
pub enum Error {
    /// There is no driver for the target.
    Target(TargetProblem),
    /// The record cannot be created.
    Record(RecordError),
    /// The op-log cannot be created.
    OpLog(OpLogError),
    /// The run needs more open files than this process may have.
    Files(TooManyFiles),
    /// The run needs more address space than this process may have.
    Memory(TooFewAddresses),
    /// The password file for the programs that the jobs run cannot be written.
    Access(io::Error),
    /// The run failed before anything was measured.
    Failed(RunFailure),
}

impl Error {
    /// Returns true if the database did not answer a statement in time.
    pub fn is_unanswered(&self) -> bool {
        match self {
            Error::Failed(RunFailure::Statement { error, .. }) => error.class() == Class::Timeout,
            Error::Failed(_)
            | Error::Target(_)
            | Error::Record(_)
            | Error::OpLog(_)
            | Error::Files(_)
            | Error::Memory(_)
            | Error::Access(_) => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Target(problem) => problem.fmt(f),
            Error::Record(error) => error.fmt(f),
            Error::OpLog(error) => error.fmt(f),
            Error::Files(error) => error.fmt(f),
            Error::Memory(error) => error.fmt(f),
            Error::Access(_) => {
                f.write_str("cannot write the password file for the programs of jobs")
            }
            Error::Failed(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Target(problem) => problem.source(),
            Error::Record(error) => error.source(),
            Error::OpLog(error) => error.source(),
            Error::Files(error) => error.source(),
            Error::Memory(error) => error.source(),
            Error::Access(error) => Some(error),
            Error::Failed(failed) => failed.source(),
        }
    }
}
