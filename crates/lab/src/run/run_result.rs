//! The end of a run: its record is completed or removed.

use std::path::PathBuf;
use std::{fs, io};

use archive::{OpLog, RecordError, RecordFacts, Recorder};
use base::Nanos;
use engine::{RunFailure, RunOutcome, Stop};
use record::{End, EndKind, Event, EventKind};
use workload::{JobTarget, Plan};

use crate::error::Error;

/// The result of a run that left a record.
#[derive(Debug)]
pub struct RunResult {
    /// The reason why the run ended; `RecorderFailed` if its record is incomplete.
    pub end: EndKind,
    /// The reason why the run ended, whatever happened to its record at the end.
    pub run_end: EndKind,
    /// The target whose failure prevented all measurements, if there was one.
    pub missing_target: Option<MissingTarget>,
    /// The path of the record.
    pub record: PathBuf,
    /// The error that cut the record short, if there was one.
    pub record_error: Option<RecordError>,
    /// A sentence about the rows that the op-log lacks; `None` if it is complete or was not
    /// requested.
    pub op_log_loss: Option<String>,
    /// The message of the panic that ended the run, if one did.
    pub panic: Option<String>,
}

/// A target whose failure prevented a run from measuring anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTarget {
    /// Name of the target; `None` for the main target.
    pub name: Option<String>,
    /// True if this target had answered before. Otherwise the run has changed and measured nothing.
    pub was_reached: bool,
    /// Reason for the failure, without secrets; includes the name of a named target.
    pub reason: String,
}

impl RunResult {
    /// Removes the record, for callers that do not want a record without measurements.
    ///
    /// # Errors
    /// The file exists and cannot be removed.
    pub fn discard(self) -> io::Result<()> {
        match fs::remove_file(self.record) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Closes the op-log, notes its result in the record, and returns a description of missing rows. If
/// the run has measured nothing, only discards the op-log.
pub(super) fn close_op_log(
    op_log: OpLog,
    finished: &Result<RunOutcome, RunFailure>,
    facts: &RecordFacts,
    stop: &Stop,
) -> Option<String> {
    let Some(measured) = finished.as_ref().ok().and_then(|finished| finished.measured.as_ref())
    else {
        op_log.discard();
        return None;
    };
    let reported = op_log.finish(|| !stop.is_at_once());
    let loss = reported.loss();
    if let Some(text) = loss.clone() {
        let kind = EventKind::OpLogIncomplete;
        facts.event(Event { at: measured.length, account: None, kind, error: None, text });
    }
    facts.op_log(reported);
    loss
}

/// Records the failures of the jobs' files, and the remarks on these files, as events. Does nothing
/// if nothing was measured.
fn note_faults(finished: &RunOutcome, facts: &RecordFacts) {
    let Some(measured) = &finished.measured else { return };
    for fault in &finished.faults {
        let at = fault.at.map_or(measured.length, |at| at.since(measured.zero));
        let (account, kind, text) =
            (Some(fault.account), EventKind::FileFailed, fault.text.clone());
        facts.event(Event { at: at.min(measured.length), account, kind, error: None, text });
    }
    for remark in &finished.remarks {
        let (account, text) = (Some(remark.account), remark.text.clone());
        facts.event(Event { at: measured.length, account, kind: remark.kind, error: None, text });
    }
}

/// Records the end of the run. Removes the record if the run failed, unless a target was
/// unreachable. `was_reached` returns true for the name of a target that has answered, and for
/// `None` if the main target has.
pub(super) fn record_end(
    plan: &Plan,
    recorder: Recorder,
    finished: Result<RunOutcome, RunFailure>,
    was_reached: impl Fn(Option<&str>) -> bool,
) -> Result<RunResult, Error> {
    let (mut missing_target, mut panic) = (None, None);
    let secrets = plan.secrets();
    let end = match finished {
        Ok(finished) => {
            note_faults(&finished, &recorder.facts());
            panic.clone_from(&finished.panic);
            run_end(plan, &finished)
        }
        Err(RunFailure::Unreachable(unreachable)) => {
            // The server's message may quote a statement that contains a password.
            let reason = secrets.hide(&unreachable.to_string());
            let text = reason.clone();
            let was_reached = was_reached(unreachable.target.as_deref());
            missing_target = Some(MissingTarget { name: unreachable.target, was_reached, reason });
            End { at: Nanos::ZERO, kind: EndKind::TargetLost, text }
        }
        Err(failed) => {
            recorder.discard().map_err(Error::Record)?;
            return Err(Error::Failed(failed));
        }
    };
    let record = recorder.path().to_owned();
    let run_end = end.kind;
    let record_error = recorder.finish(end).err();
    let end = if record_error.is_some() { EndKind::RecorderFailed } else { run_end };
    Ok(RunResult { end, run_end, missing_target, record, record_error, op_log_loss: None, panic })
}

fn run_end(plan: &Plan, finished: &RunOutcome) -> End {
    let at = finished.measured.as_ref().map_or(Nanos::ZERO, |measured| measured.length);
    let lost = finished.measured.as_ref().map_or(&[][..], |measured| &measured.lost);
    let kind = finished.end;
    let text = match (kind, finished.faults.first(), &finished.panic) {
        (EndKind::InternalError, _, Some(panic)) => panic.clone(),
        (EndKind::FileFailed, Some(fault), _) => fault.text.clone(),
        (_, _, _) => refusing_targets(plan, lost),
    };
    End { at, kind, text }
}

/// Returns a text that names the targets that refuse connections; empty if all accept them.
fn refusing_targets(plan: &Plan, lost: &[JobTarget]) -> String {
    let name = |target: &JobTarget| match plan.name_of(*target) {
        Some(name) => format!("[target {name}]"),
        None => "the target".to_owned(),
    };
    let names: Vec<String> = lost.iter().map(name).collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!("{name} refuses connections"),
        names => format!("{} refuse connections", names.join(" and ")),
    }
}
