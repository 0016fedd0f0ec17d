//! The runs of an experiment whose question cannot be read, in place of its answer.

use std::path::Path;

use archive::{ExperimentContent, Figure, RunRow};
use report::{StoredMetric, StoredRun, StoredRunsView};
use workload::question::Outline;

use crate::args::AnswerArgs;
use crate::commands::answer::{self, TextForm};
use crate::complain::Complaint;
use crate::record_file::RecordFile;
use crate::recorded_experiment::{EXPERIMENT, LABEL, QUESTION_REMEDY, VERSION};

/// Prints the stored runs of an experiment.
pub(crate) fn print_runs(
    view: &StoredRunsView,
    args: &AnswerArgs,
    form: TextForm,
) -> Result<(), Complaint> {
    match (args.json, args.markdown) {
        (true, _) => answer::print_document(&report::stored_runs_json(view)),
        (false, true) => answer::print(&report::stored_runs_markdown(view)),
        (false, false) => answer::print(&match form {
            TextForm::Short => report::stored_runs_text(view, false, &answer::short_style()),
            TextForm::Full => report::stored_runs_text(view, true, &answer::unwrapped_style()),
        }),
    }
}

/// Returns the stored runs of a record, under its name on the command line; `None` if its question
/// can be read.
///
/// # Errors
/// As for [`view`].
pub(crate) fn of_record(record: &RecordFile) -> Result<Option<StoredRunsView>, Complaint> {
    view(record.path(), record.argument_path().display().to_string())
}

/// Returns the stored runs of an experiment, under the given name of its record; `None` if its
/// question can be read.
///
/// # Errors
/// The file is not the record of an experiment, or is damaged.
pub(crate) fn view(path: &Path, record: String) -> Result<Option<StoredRunsView>, Complaint> {
    let content = ExperimentContent::read(path).map_err(|error| Complaint::of(&error))?;
    let text = content.fact(EXPERIMENT).unwrap_or_default();
    let Err(reason) = Outline::of_text(text) else { return Ok(None) };
    let figures = content.figures().map_err(|error| Complaint::of(&error))?;
    let fact = |key: &str| content.fact(key).map(str::to_owned);
    Ok(Some(StoredRunsView {
        record,
        reason,
        remedy: QUESTION_REMEDY.to_owned(),
        text: text.to_owned(),
        version: fact(VERSION),
        label: fact(LABEL),
        notes: content.notes.clone(),
        runs: content.runs.iter().map(|row| stored_run(row, &figures)).collect(),
    }))
}

/// Returns a run with its own metrics, taken from the metrics of all runs.
fn stored_run(row: &RunRow, figures: &[(u32, Figure)]) -> StoredRun {
    let own = figures.iter().filter(|(run, _)| *run == row.run);
    let metric = |(_, figure): &(u32, Figure)| StoredMetric {
        of: figure.of.clone(),
        name: figure.metric.clone(),
        value: figure.value,
    };
    StoredRun {
        number: row.run,
        phase: row.phase.name(),
        round: row.round,
        position: row.position,
        attempt: row.attempt,
        arm: row.arm.clone(),
        point: row.point.clone(),
        state: row.state.name(),
        verdict: row.verdict.clone(),
        objections: row.objections.clone(),
        seed: row.seed,
        metrics: own.map(metric).collect(),
    }
}
