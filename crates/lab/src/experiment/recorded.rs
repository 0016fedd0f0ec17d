//! Facts, figures and looks that are read from the record of an experiment.

use analyze::compare::{Look, RunFigures};
use analyze::{Evidence, summarize};
use archive::{Archive, ExperimentContent, RecordError};

use crate::evidence::evidence;

/// Name of the fact with the state of an experiment: `running` (also if it was killed), `complete`,
/// `interrupted`, `instrument-failed`, `not-in-effect` or `not-observed`.
pub const STATE: &str = "state";

/// The state of an experiment that is running, or was killed.
pub const RUNNING: &str = "running";

/// The state of an experiment that the user or an error ended before it was complete.
pub(super) const INTERRUPTED: &str = "interrupted";

/// Name of the fact that is `yes` if the experiment may have ended without undoing the changes
/// before a run; missing otherwise. The next process undoes them first.
pub(super) const LEFTOVERS: &str = "leftovers";

/// Name of the fact that is `yes` if the order of runs is counterbalanced, and `no` otherwise.
pub const COUNTERBALANCED: &str = "counterbalanced";

/// Name of the fact that states which arm's difference is not in effect, and why.
pub const INVALID_ARM: &str = "invalid-arm";

/// Returns the figures of a recorded run.
///
/// # Errors
/// The record is damaged.
pub fn figures(archive: &Archive) -> Result<RunFigures, RecordError> {
    figures_of(archive, &evidence(archive)?)
}

/// Returns the figures of a recorded run with its evidence.
pub(super) fn figures_of(
    archive: &Archive,
    evidence: &Evidence,
) -> Result<RunFigures, RecordError> {
    Ok(RunFigures::of(evidence, &summarize(evidence), archive.settings()?))
}

/// Returns the looks of a record.
pub(super) fn looks_of(content: &ExperimentContent) -> Vec<Look> {
    let looks = content.looks.iter();
    looks.map(|row| Look { pairs: row.pairs, is_decided: row.is_decided }).collect()
}
