//! Check that the run ended as intended and its record is complete.

use base::Nanos;
use record::{EndKind, EventKind};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Completeness, Finding, RunEnd};

impl CheckInput<'_> {
    /// Checks that the run ended as intended and its record is complete.
    pub(super) fn complete(&self) -> Check {
        let at = self.evidence.end();
        let judged = CheckKind::Complete.of(Unit::Seconds, at.as_secs_f64(), 0.0);
        let mut events = self.evidence.events.iter();
        let missing = events.find(|event| event.kind == EventKind::RecorderFailed);
        let (status, finding) = match missing {
            Some(event) => {
                (Status::Invalid, Completeness::PartsMissing { text: event.text.clone() })
            }
            None => {
                let (status, end) = self.end();
                let at = (at > Nanos::ZERO).then_some(at);
                let unread_plan = self.evidence.unread_plan.clone();
                let least = unread_plan.as_ref().map_or(Status::Pass, |_| Status::Suspect);
                (status.max(least), Completeness::Ended { end, at, unread_plan })
            }
        };
        let limit = self.evidence.plan.duration.map(Nanos::as_secs_f64);
        Check { limit, ..judged.conclude(status, Finding::Complete(finding)) }
    }

    fn end(&self) -> (Status, RunEnd) {
        let has_begun = self.evidence.end() > Nanos::ZERO;
        let is_endless = self.evidence.plan.duration.is_none();
        match self.evidence.ended {
            Some(EndKind::Completed) => {
                (Status::Pass, RunEnd::Completed { exhausted: self.exhausted() })
            }
            Some(EndKind::Interrupted) if is_endless && has_begun => {
                (Status::Pass, RunEnd::EndedByUser)
            }
            Some(EndKind::Interrupted) => (Status::Suspect, RunEnd::Interrupted),
            Some(EndKind::StoppedByError) => (Status::Suspect, RunEnd::StoppedByError),
            Some(EndKind::TargetLost) => (Status::Suspect, RunEnd::TargetLost),
            Some(EndKind::FileFailed) => (Status::Suspect, RunEnd::FileFailed),
            Some(EndKind::RecorderFailed) => (Status::Invalid, RunEnd::RecorderFailed),
            Some(EndKind::QueueFull) => (Status::Invalid, RunEnd::QueueFull { job: self.queue() }),
            Some(EndKind::InternalError) => (Status::Invalid, RunEnd::InternalError),
            None => (Status::Suspect, RunEnd::Killed { open: self.open() }),
        }
    }

    /// Returns the text of the event that ended a mix because the input file of a part was
    /// exhausted; `None` if there is no such event.
    fn exhausted(&self) -> Option<String> {
        let mut events = self.evidence.events.iter();
        let event = events.find(|event| event.kind == EventKind::FileExhausted)?;
        Some(event.text.clone())
    }

    /// Returns the name of the job whose queue was full first.
    fn queue(&self) -> Option<String> {
        let mut events = self.evidence.events.iter();
        let account = events.find(|event| event.kind == EventKind::QueueFull)?.account?;
        let job = self.evidence.plan.find_account(account)?;
        Some(job.name().to_owned())
    }

    /// Returns the number of requests that were open when the run was killed. The number includes
    /// the requests that were not sent, which a killed run cannot mark as unsent.
    fn open(&self) -> u64 {
        let steps = self.jobs().flat_map(|(_, job, _)| &job.steps);
        steps.map(|step| step.counts.balance.unsent()).sum()
    }
}
