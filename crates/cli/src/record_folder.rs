//! The records of a folder, for a history of them.
//!
//! Files whose names end in `.assay` are read, also in the folders below, except hidden files and
//! links. A file that cannot be used is named with the reason, and is not an error.

use std::fs;
use std::path::{Path, PathBuf};

use analyze::compare::{RunFigures, Unfinished};
use archive::{Archive, RecordError, RecordErrorKind, RunState};
use base::WallTime;
use lab::comparison::{ComparedRun, SeriesKey};
use record::EndKind;
use record::environment::assay::LABEL;
use record::environment::known;

use crate::complain::Complaint;
use crate::memory;
use crate::recorded_experiment::RecordedExperiment;

/// End of the names of records.
const SUFFIX: &str = "assay";

/// Number of levels of folders that are searched.
const DEEPEST: usize = 8;

/// The records of a folder.
#[derive(Debug, Default)]
pub(crate) struct RecordFolder {
    /// The records; each arm of an experiment is one of its own.
    pub(crate) records: Vec<HistoryRecord>,
    /// Files that are left out.
    pub(crate) skipped: Vec<SkippedFile>,
}

/// A single run, or an arm of an experiment.
#[derive(Debug)]
pub(crate) struct HistoryRecord {
    /// Path of the file below the folder.
    pub(crate) file: String,
    /// Label that the user gave it.
    pub(crate) label: Option<String>,
    /// Start of its first run.
    pub(crate) started: WallTime,
    /// True if time was simulated.
    pub(crate) is_virtual: bool,
    /// Name of the workload file.
    pub(crate) workload: String,
    /// Arm of the experiment, if it is one.
    pub(crate) arm: Option<RecordedArm>,
    /// Work and servers of the runs.
    pub(crate) key: SeriesKey,
    /// The first run.
    pub(crate) first: ComparedRun,
    /// Figures of the runs that count.
    pub(crate) figures: Vec<RunFigures>,
}

/// An arm of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedArm {
    /// Its name.
    pub(crate) name: String,
    /// Its declared differences: keys and values.
    pub(crate) differences: Vec<(String, String)>,
}

/// A file that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SkippedFile {
    /// Path below the folder.
    pub(crate) file: String,
    /// Reason.
    pub(crate) reason: SkipReason,
    /// Details of the reason; may be empty.
    pub(crate) details: String,
}

/// The reason why a file is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkipReason {
    /// It is not a record.
    Foreign,
    /// Its content contradicts itself, or was cut.
    Damaged,
    /// It was written by a later version.
    Newer,
    /// It cannot be read.
    Unreadable,
    /// The run or the experiment did not reach its end.
    Unfinished,
    /// Nothing was measured: an observation, or a load of tables.
    NoWorkload,
}

impl SkipReason {
    /// Returns the name of this reason in documents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SkipReason::Foreign => "not-a-record",
            SkipReason::Damaged => "damaged",
            SkipReason::Newer => "newer",
            SkipReason::Unreadable => "unreadable",
            SkipReason::Unfinished => "unfinished",
            SkipReason::NoWorkload => "no-workload",
        }
    }
}

impl RecordFolder {
    /// Reads the records of a folder.
    ///
    /// # Errors
    /// The folder does not exist or cannot be read.
    pub(crate) fn read(folder: &Path) -> Result<RecordFolder, Complaint> {
        let mut found = RecordFolder::default();
        let paths = files(folder)?;
        memory::keep();
        let all = lab::at_once(paths.len() as u64, |place| {
            let path = &paths[place as usize];
            let file = path.strip_prefix(folder).unwrap_or(path).display().to_string();
            let records = read(path, &file);
            (file, records)
        });
        for (file, records) in all {
            match records {
                Ok(records) => found.records.extend(records),
                Err(skip) => {
                    let Skip { reason, details } = skip;
                    found.skipped.push(SkippedFile { file, reason, details });
                }
            }
        }
        // Records in virtual time begin at the same instant: their names decide.
        found
            .records
            .sort_by(|one, other| (one.started, &one.file).cmp(&(other.started, &other.file)));
        Ok(found)
    }
}

/// Returns the files that have the name of a record, sorted by path.
///
/// # Errors
/// The folder does not exist or cannot be read.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, Complaint> {
    let shown = folder.display();
    if !folder.exists() {
        let sentence = format!("there is no folder `{shown}`");
        return Err(Complaint::new(sentence).help("name the folder of records of `assay run`"));
    }
    if !folder.is_dir() {
        let sentence = format!("`{shown}` is a file");
        return Err(Complaint::new(sentence).help("name the folder that it is in"));
    }
    let mut found = Vec::new();
    search(folder, DEEPEST, &mut found)?;
    found.sort();
    Ok(found)
}

fn search(folder: &Path, levels: usize, found: &mut Vec<PathBuf>) -> Result<(), Complaint> {
    let cannot_read = |error: std::io::Error| {
        Complaint::new(format!("cannot read the folder `{}`: {error}", folder.display()))
            .help("give yourself the right to read it, or move it away")
    };
    for entry in fs::read_dir(folder).map_err(cannot_read)? {
        let entry = entry.map_err(cannot_read)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(cannot_read)?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && levels > 1 {
            search(&path, levels - 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            found.push(path);
        }
    }
    Ok(())
}

/// A reason with its details.
pub(crate) struct Skip {
    /// Reason.
    pub(crate) reason: SkipReason,
    /// Details; may be empty.
    pub(crate) details: String,
}

impl Skip {
    fn new(reason: SkipReason, details: impl Into<String>) -> Skip {
        Skip { reason, details: details.into() }
    }
}

impl From<RecordError> for Skip {
    fn from(error: RecordError) -> Skip {
        match error.kind() {
            RecordErrorKind::NotARecord(found) => Skip::new(SkipReason::Foreign, *found),
            RecordErrorKind::Compressed => Skip::new(SkipReason::Foreign, "a compressed file"),
            RecordErrorKind::Newer { version, assay } => {
                let by = assay.as_ref().map(|assay| format!(", by Assay {assay}"));
                let details = format!("version {version} of the format{}", by.unwrap_or_default());
                Skip::new(SkipReason::Newer, details)
            }
            RecordErrorKind::Damaged(place) => Skip::new(SkipReason::Damaged, place.clone()),
            _ => Skip::new(SkipReason::Unreadable, error.to_string()),
        }
    }
}

/// Reads the file of a run or an experiment.
fn read(path: &Path, file: &str) -> Result<Vec<HistoryRecord>, Skip> {
    match Archive::open(path) {
        Ok(archive) => single(&archive, file).map(|record| vec![record]),
        Err(error) if *error.kind() == RecordErrorKind::Experiment => arms(path, file),
        Err(error) => Err(error.into()),
    }
}

fn single(archive: &Archive, file: &str) -> Result<HistoryRecord, Skip> {
    match archive.end().map(|end| end.kind) {
        Some(EndKind::Completed) => {}
        Some(end) => return Err(Skip::new(SkipReason::Unfinished, end.name())),
        None => return Err(Skip::new(SkipReason::Unfinished, "killed, or still running")),
    }
    let first = ComparedRun::read(archive, file.to_owned())?;
    if first.figures.jobs.is_empty() {
        return Err(Skip::new(SkipReason::NoWorkload, "no job was measured"));
    }
    let figures = vec![first.figures.clone()];
    let label = known(&first.figures.facts, LABEL).map(str::to_owned);
    Ok(HistoryRecord { label, figures, ..record_of(archive, file, first) })
}

/// Returns a record of one run, without label and figures.
fn record_of(archive: &Archive, file: &str, first: ComparedRun) -> HistoryRecord {
    let header = archive.header();
    HistoryRecord {
        file: file.to_owned(),
        label: None,
        started: header.started,
        is_virtual: header.pace == record::Pace::Virtual,
        workload: header.workload.clone(),
        arm: None,
        key: SeriesKey::of(archive, &first),
        first,
        figures: Vec::new(),
    }
}

fn arms(path: &Path, file: &str) -> Result<Vec<HistoryRecord>, Skip> {
    let recorded = RecordedExperiment::read(path)
        .map_err(|_| Skip::new(SkipReason::Damaged, "its question or its runs"))?;
    match recorded.unfinished() {
        None => {}
        Some(Unfinished::Interrupted) => {
            return Err(Skip::new(SkipReason::Unfinished, "the experiment is not complete"));
        }
        Some(Unfinished::Failed) => {
            return Err(Skip::new(SkipReason::Unfinished, "the experiment failed"));
        }
    }
    let mut records = Vec::new();
    for (arm, name) in recorded.names.iter().enumerate() {
        let runs = recorded.results.runs.iter();
        let mut counting =
            runs.filter(|run| run.arm == arm && run.row.state == RunState::Counts).peekable();
        let Some(first) = counting.peek() else { continue };
        let archive = recorded.open_run(first.row.run)?;
        let first = ComparedRun::of(&archive, file.to_owned(), first.figures.clone())?;
        let differences = recorded.differences(arm);
        records.push(HistoryRecord {
            label: recorded.label().map(str::to_owned),
            arm: Some(RecordedArm { name: name.clone(), differences }),
            figures: counting.map(|run| run.figures.clone()).collect(),
            ..record_of(&archive, file, first)
        });
    }
    Ok(records)
}
