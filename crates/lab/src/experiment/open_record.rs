//! Creation and continuation of the record of an experiment, and its removal if it contains no run
//! and nothing to undo.

use std::path::Path;

use archive::{ExperimentContent, ExperimentWriter};
use base::WallTime;
use record::InputFile;
use workload::question::StatementKey;

use super::error::{ExperimentError, Problem};
use super::experiment_servers::with_cause;
use super::order::ExperimentOrder;
use super::recorded::{COUNTERBALANCED, INTERRUPTED, LEFTOVERS, RUNNING, STATE};
use crate::evidence::YES;

/// Creates the record, or opens the record of an interrupted experiment.
pub(super) fn open_record(
    order: &ExperimentOrder<'_>,
) -> Result<(ExperimentWriter, ExperimentContent), ExperimentError> {
    if !order.is_resumed {
        let mut facts = [order.facts, order.origin].concat();
        facts.push((STATE, RUNNING.to_owned()));
        let word = if order.experiment.writes() { "yes" } else { "no" };
        facts.push((COUNTERBALANCED, word.to_owned()));
        let record = ExperimentWriter::create(order.record, &facts, order.files)?;
        return Ok((record, ExperimentContent::default()));
    }
    let (record, content) = ExperimentWriter::resume(order.record)?;
    check(order, &content)?;
    Ok((record, content))
}

/// Checks that the experiment of the record can be continued, and that it is this experiment.
fn check(order: &ExperimentOrder<'_>, content: &ExperimentContent) -> Result<(), ExperimentError> {
    match content.fact(STATE) {
        Some("complete") => return Err(Problem::AlreadyComplete.into()),
        Some("instrument-failed") => return Err(Problem::InstrumentFailed.into()),
        Some("not-observed") => return Err(Problem::NotObserved.into()),
        _ => {}
    }
    if let Some(problem) = changed_file(&content.files, order.files) {
        return Err(problem.into());
    }
    for (key, value) in order.facts {
        let before = content.fact(key).unwrap_or_default();
        if before != value {
            let values = [before.to_owned(), value.clone()];
            return Err(Problem::Changed { key, values }.into());
        }
    }
    Ok(())
}

/// Returns a problem for the first file that has changed, was added, or is no longer read. A record
/// without files is not checked: it was written by a version that did not record them.
fn changed_file(before: &[InputFile], now: &[InputFile]) -> Option<Problem> {
    if before.is_empty() {
        return None;
    }
    let same = |all: &[InputFile], path: &str| all.iter().any(|file| file.path == path);
    let is_changed = |file: &&InputFile| {
        before.iter().any(|known| known.path == file.path && known.sha256 != file.sha256)
    };
    let changed = now.iter().find(is_changed).map(|file| Problem::FileChanged(file.path.clone()));
    let added = now.iter().find(|file| !same(before, &file.path));
    let added = added.map(|file| Problem::FileAdded(file.path.clone()));
    let missing = before.iter().find(|file| !same(now, &file.path));
    changed.or(added).or_else(|| missing.map(|file| Problem::FileMissing(file.path.clone())))
}

/// Returns the number of runs in the record of an experiment; `None` if it cannot be read.
pub fn number_of_runs(record: &Path) -> Option<usize> {
    ExperimentContent::read(record).ok().map(|content| content.runs.len())
}

/// Returns true if an experiment has recorded that changes before a run may not have been undone.
pub fn records_leftovers(record: &Path) -> bool {
    ExperimentContent::read(record).is_ok_and(|content| content.fact(LEFTOVERS) == Some(YES))
}

/// Removes the record of an experiment that failed before its first run was recorded, because it
/// contains no measurement. The record stays if it is wanted, or if changes before the run must
/// still be undone. The end of the experiment and its reason are then added to it.
pub(super) fn remove_or_explain(order: &ExperimentOrder<'_>, error: &ExperimentError) {
    if number_of_runs(order.record) != Some(0) {
        return;
    }
    let is_wanted = order.keeps_record_if_unreachable && error.is_unreachable();
    if is_wanted || records_leftovers(order.record) && !changed_nothing(order, error) {
        explain(order, error);
    } else {
        // If the record cannot be removed, the next experiment at this path reports that it exists.
        let _ = std::fs::remove_file(order.record);
    }
}

/// Returns true if the error of a first run shows that nothing was changed before the run: the
/// database rejected the first statement, and no program runs before it. `after` then fails because
/// there is nothing to undo.
fn changed_nothing(order: &ExperimentOrder<'_>, error: &ExperimentError) -> bool {
    let is_rejected = matches!(
        &*error.problem,
        Problem::Statement { key: StatementKey::Before, number: 1, error }
            if !error.class().ends_connection()
    );
    is_rejected && order.experiment.arms.iter().all(|arm| arm.commands(true).next().is_none())
}

/// Records that an error ended the experiment.
fn explain(order: &ExperimentOrder<'_>, error: &ExperimentError) {
    // The error is printed in any case.
    let Ok((mut record, _)) = ExperimentWriter::resume(order.record) else { return };
    let _ = record.set_facts(&[(STATE, INTERRUPTED.to_owned())]);
    let sentence = order.experiment.secrets().hide(&with_cause(error));
    let _ = record.add_note(WallTime::now(), &sentence);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Vec<InputFile> {
        let file = |(path, sha256): &(&str, &str)| InputFile {
            path: (*path).to_owned(),
            bytes: 1,
            sha256: (*sha256).to_owned(),
            text: None,
        };
        all.iter().map(file).collect()
    }

    fn check(before: &[(&str, &str)], now: &[(&str, &str)], expected: &str) {
        let problem = changed_file(&files(before), &files(now));
        let reported = problem.map(|problem| ExperimentError::from(problem).to_string());
        assert_eq!(reported.unwrap_or_default(), expected);
    }

    #[test]
    fn file_that_changed_was_added_or_is_missing_is_named() {
        let before = [("a.csv", "1f"), ("e.ini", "2c")];
        check(&before, &before, "");
        let changed = [("a.csv", "9e"), ("e.ini", "2c")];
        check(&before, &changed, "`a.csv` has changed since the experiment began");
        let added = [("a.csv", "1f"), ("b.csv", "1f"), ("e.ini", "2c")];
        check(&before, &added, "`b.csv` was not read when the experiment began");
        check(
            &before,
            &before[1..],
            "`a.csv` was read when the experiment began, but is no longer used",
        );
        // The record of an earlier version has no files.
        check(&[], &before, "");
    }
}
