//! The exit codes. `docs/command-line.md` lists them in their order of precedence: the first one
//! that applies is used.

use std::process::ExitCode;

use analyze::finding::Completeness;
use analyze::{Finding, Status, Summary};
use record::EndKind;
use report::{ComparisonView, ExperimentView};

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Success,
    /// A threshold was missed, no value of a capacity search met its conditions, a limit of
    /// `--fail-on` was exceeded, a metric changed within the values of `--fail-within`, or a
    /// repetition contradicted the first answer.
    Missed,
    /// An error in usage, file or statement, before anything was measured. In an experiment, also
    /// an error of a program or a statement before or after a run.
    Usage,
    /// The answer is INVALID, SUSPECT with `--strict`, or incomplete; for example, a declared
    /// metric could not be compared, the plan in the record cannot be read, or the record was lost.
    /// Also a self-test that did not pass.
    Invalid,
    /// The target was unreachable at the start, or from some point to the end, or it did not answer
    /// a statement or a load in time.
    Unreachable,
    /// The user ended the run.
    Interrupted,
}

/// The parts of an answer that decide its exit code, in addition to the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExitConditions {
    /// True if a declared metric could not be compared.
    lacks_metric: bool,
    /// True if an SLO or a limit was missed, or if a repetition contradicted the first answer.
    is_missed: bool,
}

impl Exit {
    /// Returns the exit code of a run, from the way in which it ended and from its verdict.
    pub(crate) fn of_run(ended: Option<EndKind>, summary: &Summary, strict: bool) -> Exit {
        ended.and_then(Exit::of_end).unwrap_or_else(|| Exit::of_verdict(summary, strict))
    }

    /// Returns the exit code of a run that ended in this way, whatever its verdict; `None` if the
    /// verdict decides.
    pub(crate) fn of_end(ended: EndKind) -> Option<Exit> {
        match ended {
            EndKind::Interrupted => Some(Exit::Interrupted),
            EndKind::TargetLost => Some(Exit::Unreachable),
            EndKind::Completed
            | EndKind::StoppedByError
            | EndKind::RecorderFailed
            | EndKind::FileFailed
            | EndKind::QueueFull
            | EndKind::InternalError => None,
        }
    }

    /// Returns the exit code of a verdict, however the run ended.
    pub(crate) fn of_verdict(summary: &Summary, strict: bool) -> Exit {
        let missed = summary.jobs.iter().flat_map(|job| &job.slos).any(|slo| !slo.met);
        match summary.verdict.status() {
            Status::Invalid => Exit::Invalid,
            Status::Suspect if strict => Exit::Invalid,
            // A condition that was not judged may have been missed.
            Status::Suspect | Status::Pass | Status::NotPossible if has_unread_plan(summary) => {
                Exit::Invalid
            }
            Status::Suspect | Status::Pass | Status::NotPossible if missed => Exit::Missed,
            Status::Suspect | Status::Pass | Status::NotPossible => Exit::Success,
        }
    }

    /// Returns the exit code of an experiment. A failed bet is a result, not a failure.
    pub(crate) fn of_experiment(view: &ExperimentView, strict: bool) -> Exit {
        let conditions =
            ExitConditions { lacks_metric: view.is_refused(), is_missed: view.misses_slo() };
        Exit::of_conditions(view.verdict(), strict, conditions)
    }

    /// Returns the exit code of a comparison of records.
    pub(crate) fn of_comparison(view: &ComparisonView, strict: bool) -> Exit {
        let conditions = ExitConditions {
            lacks_metric: view.lacks_metric(),
            is_missed: view.misses_condition(),
        };
        Exit::of_conditions(view.verdict(), strict, conditions)
    }

    fn of_conditions(verdict: Status, strict: bool, conditions: ExitConditions) -> Exit {
        match verdict {
            Status::Invalid => Exit::Invalid,
            Status::Suspect if strict => Exit::Invalid,
            Status::Suspect | Status::Pass | Status::NotPossible => match conditions {
                ExitConditions { lacks_metric: true, .. } => Exit::Invalid,
                ExitConditions { is_missed: true, .. } => Exit::Missed,
                ExitConditions { lacks_metric: false, is_missed: false } => Exit::Success,
            },
        }
    }

    /// Returns the exit code as a number.
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

/// Returns true if the plan in the record of a run could not be read.
fn has_unread_plan(summary: &Summary) -> bool {
    summary.verdict.checks.iter().any(|check| match &check.finding {
        Finding::Complete(Completeness::Ended { unread_plan, .. }) => unread_plan.is_some(),
        _ => false,
    })
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
