//! The records of a folder, for a history of them.
//!
//! Files whose names end in `.assay` are read, including those in subfolders, except hidden files
//! and links. A file that cannot be used is named with the reason, and is not an error. The same
//! applies to a link, a subfolder that cannot be read, and a copy of another record.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use analyze::capacity::Irregular;
use analyze::compare::{ArmId, Unfinished};
use analyze::history::{FoundLoad, HistoryRun, SearchFigures};
use analyze::saturate::NextSaturationStep;
use archive::{Archive, ExperimentContent, RecordError, RecordErrorKind, RunState};
use base::WallTime;
use lab::comparison::{ComparedRun, SeriesKey};
use lab::experiment::{RecordedRun, RecordedSearch, lacks_answer};
use record::EndKind;
use record::environment::assay::LABEL;
use record::environment::known;

use crate::commands::experiment;
use crate::complain::Complaint;
use crate::memory;
use crate::record_identity::RecordIdentity;
use crate::recorded_experiment::{EXPERIMENT, ExperimentReadError, RecordedExperiment};

/// Details of a search whose answer this version cannot compute.
const OTHER_SEARCH: &str = "its capacity search was made by another version of Assay";

/// Extension of the names of records, without its dot.
const SUFFIX: &str = "assay";

/// Number of levels of folders that are searched, the named folder included.
const MAX_DEPTH: usize = 8;

/// The records of a folder.
#[derive(Debug, Default)]
pub(crate) struct RecordFolder {
    /// The records of the history: a file has one for each arm of an experiment, and in a sweep one
    /// for each arm at each point.
    pub(crate) records: Vec<HistoryRecord>,
    /// Files that are left out.
    pub(crate) skipped: Vec<SkippedFile>,
}

/// A record of the history, which may be a part of a file: a single run, an arm of an experiment
/// (at one point of its sweep, if it has one), or a capacity search.
#[derive(Debug)]
pub(crate) struct HistoryRecord {
    /// Path of the file below the folder.
    pub(crate) file: String,
    /// Label that the user gave the record.
    pub(crate) label: Option<String>,
    /// Start of the first run of the file.
    pub(crate) started: WallTime,
    /// Place among all records of the folder, in the order of time.
    pub(crate) place: usize,
    /// True if time was simulated.
    pub(crate) is_virtual: bool,
    /// Name of the workload file.
    pub(crate) workload: String,
    /// The arm, if the record is an arm of an experiment.
    pub(crate) arm: Option<RecordedArm>,
    /// The point, if the record belongs to a point of a sweep.
    pub(crate) point: Option<RecordedPoint>,
    /// Key of the series that the record belongs to: the work of the runs, and their servers.
    pub(crate) key: SeriesKey,
    /// The first run.
    pub(crate) first: ComparedRun,
    /// Figures of the runs that count, or the result of the search.
    pub(crate) result: HistoryRun,
}

/// An arm of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedArm {
    /// Name of the arm.
    pub(crate) name: String,
    /// Declared differences of the arm: keys and values.
    pub(crate) differences: Vec<(String, String)>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedPoint {
    /// Key that the sweep varies: `concurrency(read)`.
    pub(crate) vary: String,
    /// Value of the key at this point.
    pub(crate) value: String,
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
    /// The file is not a record.
    NotARecord,
    /// The content of the file contradicts itself, or was cut.
    Damaged,
    /// The record was written by a later version.
    Newer,
    /// The record or subfolder cannot be read, or the path is not followed, as for a link.
    Unreadable,
    /// The run or the experiment did not reach its end.
    Unfinished,
    /// There are no figures of jobs: an observation, a load of tables, or an experiment without a
    /// run that counts or a result.
    NoWorkload,
    /// The record has the same run or experiment as another file.
    Copy,
}

impl SkipReason {
    /// Returns the name of this reason in documents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SkipReason::NotARecord => "not-a-record",
            SkipReason::Damaged => "damaged",
            SkipReason::Newer => "newer",
            SkipReason::Unreadable => "unreadable",
            SkipReason::Unfinished => "unfinished",
            SkipReason::NoWorkload => "no-workload",
            SkipReason::Copy => "copy",
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
        let FoundFiles { records: paths, unreadable, not_followed } = find_files(folder)?;
        memory::retain_freed_memory();
        let all = lab::run_concurrently(paths.len() as u64, |place| {
            let path = &paths[place as usize];
            let file = name_below(folder, path);
            let records = read(path, &file);
            (file, records)
        });
        for UnreadPath { path, reason } in unreadable.into_iter().chain(not_followed) {
            let file = name_below(folder, &path);
            found.skip(file, Skip::new(SkipReason::Unreadable, reason));
        }
        let mut files = Vec::new();
        for (file, records) in all {
            match records {
                Ok(records) => files.push(records),
                Err(skip) => found.skip(file, skip),
            }
        }
        found.add_without_copies(files);
        found.skipped.sort_by(|one, other| one.file.cmp(&other.file));
        // Records in virtual time begin at the same instant: their names decide.
        found.records.sort_by(|one, other| {
            one.started.cmp(&other.started).then_with(|| compare_by_numbers(&one.file, &other.file))
        });
        found.records.iter_mut().zip(0..).for_each(|(record, place)| record.place = place);
        Ok(found)
    }

    fn skip(&mut self, file: String, Skip { reason, details }: Skip) {
        self.skipped.push(SkippedFile { file, reason, details });
    }

    /// Adds the records of files. If there are copies, the one nearest to the top folder is added:
    /// a published copy is in a folder of its own.
    fn add_without_copies(&mut self, mut files: Vec<FileRecords>) {
        let depth = |file: &FileRecords| Path::new(&file.file).components().count();
        files.sort_by(|one, other| (depth(one), &one.file).cmp(&(depth(other), &other.file)));
        let mut known: HashMap<RecordIdentity, String> = HashMap::new();
        for FileRecords { file, identity, records } in files {
            match identity.map(|identity| known.entry(identity)) {
                Some(Entry::Occupied(first)) => {
                    let details = format!("the same measurement as {}", first.get());
                    self.skip(file, Skip::new(SkipReason::Copy, details));
                }
                Some(Entry::Vacant(place)) => {
                    place.insert(file);
                    self.records.extend(records);
                }
                None => self.records.extend(records),
            }
        }
    }
}

/// The files of a folder.
#[derive(Debug, Default)]
pub(crate) struct FoundFiles {
    /// Paths of the files that have the name of a record, sorted.
    pub(crate) records: Vec<PathBuf>,
    /// Subfolders that cannot be read, or can be read only in part.
    pub(crate) unreadable: Vec<UnreadPath>,
    /// Paths that are not read: links to folders, folders that are nested too deeply, and links,
    /// pipes and sockets that have the name of a record.
    pub(crate) not_followed: Vec<UnreadPath>,
}

/// A file or a folder that is not read.
#[derive(Debug)]
pub(crate) struct UnreadPath {
    /// Path of the file or folder.
    pub(crate) path: PathBuf,
    /// Reason.
    pub(crate) reason: String,
}

/// Returns the files that have the name of a record, including those in subfolders.
///
/// # Errors
/// The folder itself does not exist or cannot be read.
pub(crate) fn find_files(folder: &Path) -> Result<FoundFiles, Complaint> {
    let shown = folder.display();
    if !folder.exists() {
        let sentence = format!("there is no folder `{shown}`");
        return Err(Complaint::new(sentence).help("name the folder of records of `assay run`"));
    }
    if !folder.is_dir() {
        let sentence = format!("`{shown}` is a file");
        return Err(Complaint::new(sentence).help("name the folder that it is in"));
    }
    let mut found = FoundFiles::default();
    search(folder, MAX_DEPTH, &mut found).map_err(|error| {
        Complaint::new(format!("cannot read the folder `{shown}`: {error}"))
            .help("give yourself the right to read it, or move it away")
    })?;
    found.records.sort();
    Ok(found)
}

fn search(folder: &Path, levels: usize, found: &mut FoundFiles) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let has_suffix = path.extension().is_some_and(|suffix| suffix == SUFFIX);
        if kind.is_dir() && levels == 1 {
            let reason = format!("more than {MAX_DEPTH} levels deep");
            found.not_followed.push(UnreadPath { path, reason });
        } else if kind.is_dir() {
            if let Err(error) = search(&path, levels - 1, found) {
                let reason = format!("cannot read the folder: {error}");
                found.unreadable.push(UnreadPath { path, reason });
            }
        } else if kind.is_file() && has_suffix {
            found.records.push(path);
        } else if has_suffix || kind.is_symlink() && path.is_dir() {
            let reason = match kind.is_symlink() {
                true => "a link, which is not followed",
                false => "not an ordinary file",
            };
            found.not_followed.push(UnreadPath { path, reason: reason.to_owned() });
        }
    }
    Ok(())
}

/// Returns the path of a file below a folder as a text that no other file has. A byte that is not
/// UTF-8 becomes its hexadecimal number, such as `\xFF`; a `\x` in a name becomes `\x5Cx`.
pub(crate) fn name_below(folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(&chunk.valid().replace("\\x", "\\x5Cx"));
        for byte in chunk.invalid() {
            name.push_str(&format!("\\x{byte:02X}"));
        }
    }
    name
}

/// Compares names by the numbers in them: digits that follow each other are one number, so
/// `2.assay` is before `10.assay`.
fn compare_by_numbers(one: &str, other: &str) -> Ordering {
    let (mut ours, mut theirs) = (one.as_bytes(), other.as_bytes());
    loop {
        let [own, their] = [ours, theirs].map(leading_part);
        let (Some(first), Some(second)) = (own.first(), their.first()) else {
            // Names such as `1` and `01` have equal numbers.
            return own.len().cmp(&their.len()).then_with(|| one.cmp(other));
        };
        let order = match first.is_ascii_digit() && second.is_ascii_digit() {
            true => number(own).cmp(&number(their)),
            false => first.cmp(second),
        };
        if order != Ordering::Equal {
            return order;
        }
        (ours, theirs) = (&ours[own.len()..], &theirs[their.len()..]);
    }
}

/// Returns the digits at the beginning of a name, or else its first byte; nothing if the name is
/// empty.
fn leading_part(name: &[u8]) -> &[u8] {
    let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
    &name[..digits.max(1).min(name.len())]
}

/// Returns a sort key for digits that orders them by numeric value. The value may be too large for
/// any integer type.
fn number(digits: &[u8]) -> (usize, &[u8]) {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    (digits.len() - zeros, &digits[zeros..])
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
            RecordErrorKind::NotARecord(found) => Skip::new(SkipReason::NotARecord, *found),
            RecordErrorKind::Compressed => Skip::new(SkipReason::NotARecord, "a compressed file"),
            RecordErrorKind::Newer { version, assay } => {
                let by = assay.as_ref().map(|assay| format!(", by Assay {assay}"));
                let details = format!("version {version} of the format{}", by.unwrap_or_default());
                Skip::new(SkipReason::Newer, details)
            }
            RecordErrorKind::Damaged(place) => Skip::new(SkipReason::Damaged, place.clone()),
            RecordErrorKind::OtherSearch => Skip::new(SkipReason::Unreadable, OTHER_SEARCH),
            _ => Skip::new(SkipReason::Unreadable, Complaint::of(&error).sentence()),
        }
    }
}

/// The records of a file.
struct FileRecords {
    /// Path below the folder.
    file: String,
    /// Identity that copies of the record share, if it has one.
    identity: Option<RecordIdentity>,
    records: Vec<HistoryRecord>,
}

/// Reads the file of a run or an experiment.
fn read(path: &Path, file: &str) -> Result<FileRecords, Skip> {
    match Archive::open(path) {
        Ok(archive) => single_run(&archive, file),
        Err(error) if *error.kind() == RecordErrorKind::Experiment => read_experiment(path, file),
        Err(error) => Err(error.into()),
    }
}

fn single_run(archive: &Archive, file: &str) -> Result<FileRecords, Skip> {
    match archive.end().map(|end| end.kind) {
        Some(EndKind::Completed) => {}
        Some(end) => return Err(Skip::new(SkipReason::Unfinished, end.name())),
        None => return Err(Skip::new(SkipReason::Unfinished, "killed, or still running")),
    }
    let first = ComparedRun::read(archive, file.to_owned())?;
    if first.figures.jobs.is_empty() {
        return Err(Skip::new(SkipReason::NoWorkload, "no job was measured"));
    }
    let identity = RecordIdentity::of_run(archive.header(), &first.figures);
    let label = known(&first.figures.facts, LABEL).map(str::to_owned);
    let record = HistoryRecord { label, ..record_of(archive, file, first) };
    Ok(FileRecords { file: file.to_owned(), identity, records: vec![record] })
}

/// Returns the record of a single run, without its label.
fn record_of(archive: &Archive, file: &str, first: ComparedRun) -> HistoryRecord {
    let header = archive.header();
    HistoryRecord {
        file: file.to_owned(),
        label: None,
        started: header.started,
        place: 0,
        is_virtual: header.pace == record::Pace::Virtual,
        workload: header.workload.clone(),
        arm: None,
        point: None,
        key: SeriesKey::of(archive, &first),
        result: HistoryRun::Runs(vec![first.figures.clone()], None),
        first,
    }
}

fn read_experiment(path: &Path, file: &str) -> Result<FileRecords, Skip> {
    let recorded =
        RecordedExperiment::read(path).map_err(|error| unread_experiment(path, error))?;
    match recorded.unfinished() {
        None => {}
        Some(Unfinished::Interrupted) => {
            return Err(Skip::new(SkipReason::Unfinished, "the experiment is not complete"));
        }
        Some(Unfinished::Failed | Unfinished::NotObserved) => {
            return Err(Skip::new(SkipReason::Unfinished, "the experiment failed"));
        }
    }
    let mut records: Vec<HistoryRecord> = match &recorded.search {
        Some(search) => record_of_search(&recorded, search, path, file)?.into_iter().collect(),
        None => records_of_arms(&recorded, file)?,
    };
    let Some(first) = recorded.results.runs.first().filter(|_| !records.is_empty()) else {
        return Err(Skip::new(SkipReason::NoWorkload, "no run counts"));
    };
    let archive = recorded.open_run(first.row.run)?;
    // The arms stay in the order of the experiment, in whatever order the runs were executed.
    records.iter_mut().for_each(|record| record.started = archive.header().started);
    let identity = RecordIdentity::of_experiment(archive.header(), &recorded);
    Ok(FileRecords { file: file.to_owned(), identity, records })
}

/// Returns the reason why the record of an experiment is left out. A record whose question cannot
/// be read counts as damaged. A damaged record counts as unreadable instead if another version of
/// the search method executed its trials and stored no answer.
pub(crate) fn unread_experiment(path: &Path, error: ExperimentReadError) -> Skip {
    let skip = match error {
        ExperimentReadError::Record(error) => Skip::from(error),
        ExperimentReadError::Question(complaint) => {
            Skip::new(SkipReason::Damaged, complaint.sentence())
        }
    };
    let is_of_other_version =
        || ExperimentContent::read(path).is_ok_and(|content| lacks_answer(&content));
    match skip.reason == SkipReason::Damaged && is_of_other_version() {
        true => Skip::new(SkipReason::Unreadable, OTHER_SEARCH),
        false => skip,
    }
}

/// Returns a record for each arm, and in a sweep for each arm at each point: the points differ in
/// the varied key, and have no common mean.
fn records_of_arms(
    recorded: &RecordedExperiment,
    file: &str,
) -> Result<Vec<HistoryRecord>, RecordError> {
    let mut records = Vec::new();
    for arm_point in recorded.outline.arm_points() {
        let is_counting = |run: &&RecordedRun| {
            let row = &run.row;
            let is_it = row.arm == arm_point.arm && row.point == arm_point.point;
            is_it && row.state == RunState::Counts
        };
        let counting: Vec<&RecordedRun> =
            recorded.results.runs.iter().filter(is_counting).collect();
        let Some(first) = counting.first() else { continue };
        let archive = recorded.open_run(first.row.run)?;
        let run = ComparedRun::of(&archive, file.to_owned(), first.figures.clone())?;
        let vary = recorded.outline.sweep.as_ref().map(|sweep| sweep.vary.clone());
        let point = vary.zip(arm_point.point.clone());
        let record = record_of(&archive, file, run);
        let figures = counting.iter().map(|run| run.figures.clone()).collect();
        let found = found_load(recorded);
        let key = match &found {
            Some(found) => {
                let question = recorded.fact(EXPERIMENT).unwrap_or_default();
                SeriesKey::of_saturated(record.key, &found.load, question)
            }
            None => record.key,
        };
        records.push(HistoryRecord {
            label: recorded.label().map(str::to_owned),
            arm: Some(arm_of(recorded, first.arm)),
            point: point.map(|(vary, value)| RecordedPoint { vary, value }),
            key,
            result: HistoryRun::Runs(figures, found),
            ..record
        });
    }
    Ok(records)
}

/// Returns the rate or concurrency that a search for saturation has found for the arms; `None`
/// without a search or a result.
fn found_load(recorded: &RecordedExperiment) -> Option<FoundLoad> {
    match (&recorded.outline.saturate, recorded.saturation) {
        (Some(question), Some(NextSaturationStep::Found(found))) => {
            Some(FoundLoad { load: question.vary.clone(), value: found.value })
        }
        (Some(_), Some(_)) | (None, _) | (_, None) => None,
    }
}

fn arm_of(recorded: &RecordedExperiment, arm: ArmId) -> RecordedArm {
    let name = recorded.names[arm.index()].clone();
    RecordedArm { name, differences: recorded.differences(arm) }
}

/// Returns the record of a capacity search; `None` if there is no trial or no result.
fn record_of_search(
    recorded: &RecordedExperiment,
    search: &RecordedSearch,
    path: &Path,
    file: &str,
) -> Result<Option<HistoryRecord>, RecordError> {
    let (Some(first), Some(found)) = (search.trials.first(), &search.capacity) else {
        return Ok(None);
    };
    let archive = recorded.open_run(first.run)?;
    let trial = ComparedRun::of(&archive, file.to_owned(), first.figures.clone())?;
    let record = record_of(&archive, file, trial);
    let load = search.order.vary.clone();
    let question = recorded.fact(EXPERIMENT).unwrap_or_default();
    let canaries = search.trials.iter().filter_map(|one| one.figures.canary_ns());
    Ok(Some(HistoryRecord {
        label: recorded.label().map(str::to_owned),
        arm: Some(arm_of(recorded, ArmId::BASELINE)),
        key: SeriesKey::of_search(record.key, &load, question),
        result: HistoryRun::Search(SearchFigures {
            load,
            sustained: found.sustained,
            estimate: found.estimate,
            status: experiment::view_of(recorded, path).verdict(),
            irregular: found.irregular.iter().map(Irregular::name).collect(),
            canaries_ns: canaries.collect(),
        }),
        ..record
    }))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::{compare_by_numbers, name_below};

    #[test]
    fn names_of_files_are_texts_of_their_own() {
        let name = |bytes: &[u8]| {
            name_below(
                "r".as_ref(),
                std::path::Path::new("r").join(OsStr::from_bytes(bytes)).as_ref(),
            )
        };
        for (bytes, expected) in [
            (&b"a/b.assay"[..], "a/b.assay"),
            ("é\\.assay".as_bytes(), "é\\.assay"),
            (b"\xff.assay", "\\xFF.assay"),
            (b"\xfe.assay", "\\xFE.assay"),
            (b"\\xFF.assay", "\\x5CxFF.assay"),
            (b"\\\xff.assay", "\\\\xFF.assay"),
        ] {
            assert_eq!(name(bytes), expected);
        }
    }

    #[test]
    fn names_are_ordered_by_the_numbers_in_them() {
        let ordered = [
            "0.assay",
            "01.assay",
            "1.assay",
            "2.assay",
            "2.b.assay",
            "10.assay",
            "18446744073709551616.assay",
            "r-9/2.assay",
            "r.assay",
            "r1.assay",
            "r1a.assay",
            "r10.assay",
            "s",
            "sa",
            "ö2",
            "ö10",
        ];
        let mut sorted = ordered;
        sorted.reverse();
        sorted.sort_by(|one, other| compare_by_numbers(one, other));
        assert_eq!(sorted, ordered);
    }
}
