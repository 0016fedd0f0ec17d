//! The file of an experiment's record: created, continued, or removed while it holds nothing.

use std::path::Path;

use archive::{ExperimentContent, ExperimentWriter};
use record::InputFile;

use super::error::{ExperimentError, Problem};
use super::order::ExperimentOrder;
use super::recorded::{COUNTERBALANCED, STATE};

/// Creates the record, or opens that of an interrupted experiment.
pub(super) fn open_record(
    order: &ExperimentOrder<'_>,
) -> Result<(ExperimentWriter, ExperimentContent), ExperimentError> {
    if !order.is_resumed {
        let mut facts = [order.facts, order.origin].concat();
        facts.push((STATE, "running".to_owned()));
        let word = if order.experiment.writes() { "yes" } else { "no" };
        facts.push((COUNTERBALANCED, word.to_owned()));
        let record = ExperimentWriter::create(order.record, &facts, order.files)?;
        return Ok((record, ExperimentContent::default()));
    }
    let (mut record, content) = ExperimentWriter::resume(order.record)?;
    match content.fact(STATE) {
        Some("complete") => return Err(Problem::Complete.into()),
        Some("instrument-failed") => return Err(Problem::InstrumentFailed.into()),
        _ => {}
    }
    if let Some(path) = changed_file(&content.files, order.files) {
        return Err(Problem::FileChanged(path.to_owned()).into());
    }
    for (key, value) in order.facts {
        let before = content.fact(key).unwrap_or_default();
        if before != value {
            return Err(Problem::Changed { key }.into());
        }
    }
    record.set_facts(&[(STATE, "running".to_owned())])?;
    Ok((record, content))
}

/// Returns the first file whose content is not that of the file with the same path before.
fn changed_file<'f>(before: &[InputFile], now: &'f [InputFile]) -> Option<&'f str> {
    let is_changed = |file: &&InputFile| {
        before.iter().any(|known| known.path == file.path && known.sha256 != file.sha256)
    };
    now.iter().find(is_changed).map(|file| file.path.as_str())
}

/// Removes the record of an experiment that failed before its first run: it holds nothing.
pub(super) fn remove_if_empty(record: &Path) {
    if ExperimentContent::read(record).is_ok_and(|content| content.runs.is_empty()) {
        // A record that stays repeats the error.
        let _ = std::fs::remove_file(record);
    }
}
