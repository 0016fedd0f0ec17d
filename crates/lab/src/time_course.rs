//! Reading of the times and errors of each job over a whole run, for charts.

use std::ops::Range;

use analyze::{ColumnTimes, Evidence, TimeColumn, TimeCourse, time_columns};
use archive::{Archive, RangeTimes, RecordError};
use base::{AccountId, Class};
use record::{BucketCount, Interval, Kind};

use crate::evidence::read_open_at_kill;

/// Reads the times and errors of every job of a run, and of every part of a mix, in the order of
/// their [`AccountId`]s. `evidence` comes from the same record.
///
/// # Errors
/// The record is damaged.
pub fn time_courses(
    archive: &Archive,
    evidence: &Evidence,
) -> Result<Vec<TimeCourse>, RecordError> {
    let course = |account| time_course(archive, evidence, account);
    archive.in_transaction(|| evidence.accounts().map(course).collect())
}

fn time_course(
    archive: &Archive,
    evidence: &Evidence,
    account: AccountId,
) -> Result<TimeCourse, RecordError> {
    let open_at_kill = read_open_at_kill(archive, evidence, account)?;
    let mut read = [Kind::Response, Kind::Service, Kind::Wait, Kind::SendLag].map(RangeTimes::new);
    let mut columns = Vec::new();
    for part in time_columns(&evidence.steps) {
        let intervals = evidence.steps.intervals(part.clone());
        for times in &mut read {
            archive.read_times(account, intervals.clone(), times)?;
        }
        open_at_kill.add(intervals.clone(), &mut read[0].sum);
        let times = read.each_ref().map(|it| it.sum.times().collect::<Vec<BucketCount>>());
        let [response, service, wait, send_lag] = times.each_ref().map(Vec::as_slice);
        let times = ColumnTimes { response, service, wait, send_lag };
        let has_errors = evidence.jobs[account.index()].counts(part.clone()).balance.errors() > 0;
        let errors = match has_errors {
            true => errors(archive, account, intervals)?,
            false => Vec::new(),
        };
        columns.push(TimeColumn::of(&evidence.steps, part, times, errors));
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
