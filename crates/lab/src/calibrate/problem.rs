//! The error of a calibration.

use std::fmt;
use std::io;

use archive::RecordError;

use crate::error::Error;

/// A reason why a calibration failed.
#[derive(Debug)]
pub enum Problem {
    /// The simulated server cannot be started.
    Server(io::Error),
    /// The operating system refuses a folder or a timer.
    System(io::Error),
    /// A run failed to start.
    Run(Error),
    /// The record of a run cannot be read.
    Record(RecordError),
    /// A run ended early, or its statements failed or were not answered in its window; the text is
    /// the reason.
    Failed(String),
    /// The target of a run cannot be reached or does not answer, for this reason.
    Unreachable(String),
    /// The user interrupted the calibration.
    Interrupted,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Server(error) => {
                write!(f, "the simulated server cannot be started on 127.0.0.1: {error}")
            }
            Problem::System(error) => error.fmt(f),
            Problem::Run(error) => error.fmt(f),
            Problem::Record(error) => error.fmt(f),
            Problem::Failed(reason) => f.write_str(reason),
            Problem::Unreachable(reason) => {
                write!(f, "the target could not be reached: {reason}")
            }
            Problem::Interrupted => f.write_str("interrupted before the end of the measurement"),
        }
    }
}

impl std::error::Error for Problem {}
