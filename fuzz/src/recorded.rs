//! Fuzz targets of records: files of any bytes, and records with any values in their tables.

use std::io::Write;
use std::path::{Path, PathBuf};

use analyze::compare::ArmId;
use archive::{Archive, ExperimentContent, RecordError, export};
use lab::experiment::{ExperimentError, read_results, read_search, recorded_saturation};
use report::{Page, RunDetails, Style, View};
use workload::question::Outline;

use crate::cells;

/// Opens a record file, summarizes, reports and exports it. If it is the record of an experiment,
/// compares its arms, and does the same with each of its runs.
///
/// # Panics
/// Panics if the bytes cannot be written to a temporary file.
pub fn record(data: &[u8]) {
    let path = scratch();
    std::fs::write(&path, data).expect("a scratch file");
    read_every_way(&path);
}

/// Changes values in the tables of a record and reads it, as [`record()`] does. The bytes select
/// the record and the changes ([`cells::change`]).
///
/// # Panics
/// Panics if the record cannot be written to a temporary file.
pub fn cells(data: &[u8]) {
    let path = scratch();
    if cells::change(data, &path) {
        read_every_way(&path);
    }
}

/// Reads a record in every way, and removes it.
fn read_every_way(path: &Path) {
    let _ = answer(path);
    let _ = answer_experiment(path);
    // SQLite may have found or created a journal.
    let _ = std::fs::remove_file(path.with_extension("assay-journal"));
    std::fs::remove_file(path).expect("the scratch file is ours");
}

/// Produces every report and export of a record. The first reading of the record does not wait for
/// its checks, and must therefore cope with any damage.
fn answer(path: &Path) -> Result<(), RecordError> {
    let (archive, evidence) = archive::open_and_read(path, None, lab::evidence)?;
    answer_run(&archive, evidence)
}

/// Compares the arms of an experiment's record, and answers each of its runs.
fn answer_experiment(path: &Path) -> Result<(), ExperimentError> {
    let content = ExperimentContent::read(path)?;
    let outline = content.fact("experiment").and_then(|text| Outline::of_text(text).ok());
    let Some(outline) = outline else { return Ok(()) };
    for is_counterbalanced in [false, true] {
        let design = lab::experiment::design(&outline, is_counterbalanced);
        let results = read_results(path, &outline, &design)?;
        (1..outline.compared_names().len())
            .for_each(|arm| drop(results.undeclared_differences(ArmId::BASELINE, ArmId(arm), &[])));
        if let Some(question) = &outline.saturate {
            recorded_saturation(path, question, &results)?;
        }
    }
    if let Some(question) = &outline.capacity {
        drop(read_search(path, question)?);
    }
    for row in &content.runs {
        let (archive, evidence) = archive::open_and_read(path, Some(row.run), lab::evidence)?;
        answer_run(&archive, evidence)?;
    }
    Ok(())
}

/// Produces every report and export of a run.
fn answer_run(archive: &Archive, evidence: analyze::Evidence) -> Result<(), RecordError> {
    let view = View {
        about: RunDetails::of(archive.facts()?),
        summary: analyze::summarize(&evidence),
        evidence,
    };
    let page = Page::of(&view);
    let _ = report::text(&page, &Style { color: false, width: 80 });
    let _ = report::full_text(&page, &Style { color: false, width: 100 });
    let _ = report::json(&page).to_string();
    let _ = report::markdown(&page);
    let figures = report::figures(&view, &lab::time_courses(archive, &view.evidence)?);
    let _ = report::html(&page, &figures);
    export::write_hlog(archive, &mut Discard)?;
    export::csv(archive, archive.grid().warmup(), &mut Discard)?;
    export::json(archive, &mut Discard)
}

/// A writer that discards everything.
struct Discard;

impl Write for Discard {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn scratch() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    std::env::temp_dir().join(format!("assay-fuzz-{}-{thread}.assay", std::process::id()))
}
