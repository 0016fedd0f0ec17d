//! Figures and looks, read from the record of an experiment.

use analyze::compare::{Look, RunFigures};
use analyze::{Evidence, summarize};
use archive::{Archive, ExperimentContent};

use super::error::ExperimentError;
use crate::evidence::evidence;

/// Returns the figures of a recorded run.
///
/// # Errors
/// The record is damaged.
pub fn figures(archive: &Archive) -> Result<RunFigures, ExperimentError> {
    figures_of(archive, &evidence(archive)?)
}

/// Returns the figures of a recorded run with its evidence.
pub(super) fn figures_of(
    archive: &Archive,
    evidence: &Evidence,
) -> Result<RunFigures, ExperimentError> {
    Ok(RunFigures::of(evidence, &summarize(evidence), archive.settings()?))
}

/// Returns the looks of a record.
pub(super) fn looks_of(content: &ExperimentContent) -> Vec<Look> {
    let looks = content.looks.iter();
    looks.map(|row| Look { pairs: row.pairs, is_decided: row.is_decided }).collect()
}
