//! The warm-up of a round.
//!
//! With `warmup = auto`, the end of the warm-up is detected in each run. If each run used its own
//! end, a slow start might be excluded from the runs of one arm and included in those of another.
//! The latest end in a round therefore applies to all runs of the round. This end is computed from
//! the records of these runs alone, so every reader finds the same one.

use std::path::Path;

use analyze::Evidence;
use analyze::compare::RunFigures;
use archive::{Archive, ExperimentContent, RecordError, RunRow, RunState};
use base::Nanos;
use workload::Warmup;

use super::recorded::figures_of;
use crate::evidence::{evidence, evidence_after};

/// Returns true if two runs belong to one round and attempt, and therefore share a warm-up. Steps
/// and trials of a search have numbers like rounds, but each has its own warm-up. Abandoned runs
/// are grouped only with abandoned runs.
pub(super) fn is_same_round(one: &RunRow, other: &RunRow) -> bool {
    let is_abandoned = |row: &RunRow| row.state == RunState::Abandoned;
    let round = |row: &RunRow| (row.phase.name(), row.round, row.attempt, is_abandoned(row));
    round(one) == round(other)
}

/// Returns the figures of the runs of one round, in the given order. `open` opens the record of a
/// run.
///
/// # Errors
/// The record of a run is damaged.
pub(super) fn figures_of_round(
    runs: &[&RunRow],
    open: impl Fn(u32) -> Result<Archive, RecordError>,
) -> Result<Vec<RunFigures>, RecordError> {
    let read = figures_and_plans_of_round(runs, open)?;
    Ok(read.into_iter().map(|(figures, _)| figures).collect())
}

/// Returns the figures of the runs of one round with their plans as text, in the given order.
/// `open` opens the record of a run.
///
/// # Errors
/// The record of a run is damaged.
pub(super) fn figures_and_plans_of_round(
    runs: &[&RunRow],
    open: impl Fn(u32) -> Result<Archive, RecordError>,
) -> Result<Vec<(RunFigures, String)>, RecordError> {
    // A round of a sweep may have a thousand runs, so only one record is open at a time. A run that
    // needs a later window than its own is read a second time.
    let read = |row: &&RunRow| SeparateRun::read(&open(row.run)?);
    let read = runs.iter().map(read).collect::<Result<Vec<_>, RecordError>>()?;
    let latest = shared_warm_up(read.iter().map(|run| run.warmup));
    let of_run = |(row, own): (&&RunRow, SeparateRun)| {
        let figures = match own.is_warmup_detected && own.warmup < latest {
            true => figures_after(&open(row.run)?, latest)?,
            false => own.figures,
        };
        Ok((figures, own.plan))
    };
    runs.iter().zip(read).map(of_run).collect()
}

/// A run of a round, read without the other runs of the round.
struct SeparateRun {
    /// The figures of the window after the run's own warm-up.
    figures: RunFigures,
    /// The plan as text.
    plan: String,
    /// Time from time zero to the end of the run's own warm-up.
    warmup: Nanos,
    /// True if the end of the warm-up was detected; false if the plan gives it.
    is_warmup_detected: bool,
}

impl SeparateRun {
    fn read(archive: &Archive) -> Result<SeparateRun, RecordError> {
        let evidence = evidence(archive)?;
        Ok(SeparateRun {
            figures: figures_of(archive, &evidence)?,
            plan: archive.header().plan.clone(),
            warmup: evidence.steps.warmup(),
            is_warmup_detected: evidence.plan.warmup == Warmup::Auto,
        })
    }
}

fn figures_after(archive: &Archive, warmup: Nanos) -> Result<RunFigures, RecordError> {
    figures_of(archive, &evidence_after(archive, None, warmup)?)
}

/// Reads the evidence of a run of an experiment, with the warm-up of the run's round. `archive` is
/// the run with the number `run`, opened in the record of the experiment.
///
/// # Errors
/// The record is damaged.
pub fn evidence_of_run(archive: &Archive, run: u32) -> Result<Evidence, RecordError> {
    let own = evidence(archive)?;
    if own.plan.warmup != Warmup::Auto {
        return Ok(own);
    }
    let record = archive.path();
    let content = ExperimentContent::read(record)?;
    let runs = &content.runs;
    let row = runs.iter().find(|row| row.run == run);
    let mut cuts = vec![own.steps.warmup()];
    for other in runs
        .iter()
        .filter(|other| other.run != run && row.is_some_and(|row| is_same_round(row, other)))
    {
        cuts.push(evidence(&content.open_run(other.run)?)?.steps.warmup());
    }
    evidence_after(archive, None, shared_warm_up(cuts))
}

/// Returns the time from time zero to the start of a run's window, if the end of the warm-up was
/// detected; `None` if the plan gives it.
///
/// # Errors
/// There is no such run, or the record is damaged.
pub fn found_warm_up(record: &Path, run: u32) -> Result<Option<Nanos>, RecordError> {
    let evidence = evidence_of_run(&Archive::open_run(record, run)?, run)?;
    Ok((evidence.plan.warmup == Warmup::Auto).then(|| evidence.steps.warmup()))
}

/// Returns the common warm-up of the runs of a round: the longest of the detected warm-ups.
pub fn shared_warm_up(of_runs: impl IntoIterator<Item = Nanos>) -> Nanos {
    of_runs.into_iter().max().unwrap_or_default()
}
