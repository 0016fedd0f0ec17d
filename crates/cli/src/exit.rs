//! The exit codes (specification, section 2); the first that applies is used.

use std::process::ExitCode;

use analyze::{Status, Summary};
use record::EndKind;
use report::ExperimentView;

/// The exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success,
    /// A threshold was missed.
    Missed,
    /// An error in usage, file or statement, before anything was measured.
    Usage,
    /// The run is invalid, or suspect with `--strict`.
    Invalid,
    /// The target was unreachable at the start, or from some point to the end.
    Unreachable,
    /// The user ended the run.
    Interrupted,
}

impl Exit {
    /// Returns the exit status of a run, for callers that check nothing else.
    pub(crate) fn of_run(ended: Option<EndKind>, summary: &Summary, strict: bool) -> Exit {
        match ended {
            Some(EndKind::Interrupted) => Exit::Interrupted,
            Some(EndKind::TargetLost) => Exit::Unreachable,
            Some(
                EndKind::Completed
                | EndKind::StoppedByError
                | EndKind::RecorderFailed
                | EndKind::FileFailed
                | EndKind::QueueFull
                | EndKind::InternalError,
            )
            | None => Exit::of_verdict(summary, strict),
        }
    }

    /// Returns the exit status of a verdict, however the run ended.
    pub(crate) fn of_verdict(summary: &Summary, strict: bool) -> Exit {
        let missed = summary.jobs.iter().flat_map(|job| &job.slos).any(|slo| !slo.met);
        match summary.verdict.status() {
            Status::Invalid => Exit::Invalid,
            Status::Suspect if strict => Exit::Invalid,
            Status::Suspect | Status::Pass | Status::NotPossible if missed => Exit::Missed,
            Status::Suspect | Status::Pass | Status::NotPossible => Exit::Success,
        }
    }

    /// Returns the exit status of an experiment: INVALID also if a declared metric could not be
    /// compared. A failed bet is a result, and no failure.
    pub(crate) fn of_experiment(view: &ExperimentView, strict: bool) -> Exit {
        match view.verdict() {
            Status::Invalid => Exit::Invalid,
            Status::Suspect if strict => Exit::Invalid,
            Status::Suspect | Status::Pass | Status::NotPossible if view.is_refused() => {
                Exit::Invalid
            }
            Status::Suspect | Status::Pass | Status::NotPossible if view.misses_slo() => {
                Exit::Missed
            }
            Status::Suspect | Status::Pass | Status::NotPossible => Exit::Success,
        }
    }

    /// Returns the exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Missed => 1,
            Exit::Usage => 2,
            Exit::Invalid => 3,
            Exit::Unreachable => 4,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
