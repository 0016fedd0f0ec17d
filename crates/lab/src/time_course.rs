//! Reads the times of each job over a whole run, for figures.

use std::ops::Range;

use analyze::{ColumnTimes, Evidence, TimeColumn, TimeCourse, time_columns};
use archive::{Archive, RecordError};
use base::{AccountId, Class};
use record::{Interval, Kind};

use crate::evidence::{Responses, counted};

/// Reads the times of every job and part of a run, in the order of their accounts. `evidence` is
/// that of the same record.
///
/// # Errors
/// The record is damaged.
pub fn time_courses(
    archive: &Archive,
    evidence: &Evidence,
) -> Result<Vec<TimeCourse>, RecordError> {
    evidence.accounts().map(|account| time_course(archive, evidence, account)).collect()
}

fn time_course(
    archive: &Archive,
    evidence: &Evidence,
    account: AccountId,
) -> Result<TimeCourse, RecordError> {
    let given_up = counted(archive, evidence, account)?.given_up;
    let responses = Responses { archive, account, given_up };
    let mut columns = Vec::new();
    for part in time_columns(&evidence.steps) {
        let intervals = evidence.steps.intervals(part.clone());
        let of = |kind| archive.histogram(account, kind, intervals.clone());
        let times = ColumnTimes {
            response: responses.of(intervals.clone())?,
            service: of(Kind::Service)?,
            wait: of(Kind::Wait)?,
            send_lag: of(Kind::SendLag)?,
        };
        let has_errors = evidence.jobs[account.index()].counts(part.clone()).balance.errors() > 0;
        let errors = match has_errors {
            true => errors(archive, account, intervals)?,
            false => Vec::new(),
        };
        columns.push(TimeColumn::of(&evidence.steps, part, &times, errors));
    }
    Ok(TimeCourse { columns })
}

fn errors(
    archive: &Archive,
    account: AccountId,
    intervals: Range<Interval>,
) -> Result<Vec<(Class, u64)>, RecordError> {
    let mut errors: Vec<(Class, u64)> = Vec::new();
    for failure in archive.failures(account, intervals)? {
        match errors.iter_mut().find(|(class, _)| *class == failure.class) {
            Some((_, count)) => *count += failure.count,
            None => errors.push((failure.class, failure.count)),
        }
    }
    Ok(errors)
}
