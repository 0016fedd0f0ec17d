//! The records of a folder as a list, newest first.
//!
//! Only files that are new or changed, or were unreadable, are read; the rows of the other files
//! come from the [index](RecordIndex). Every request searches the folder again, and a name leads to
//! a file only if the search has found it: no name leads out of the folder, and no link is
//! followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use archive::{Archive, RecordErrorKind};
use base::WallTime;
use record::environment::assay::LABEL;
use record::environment::known;
use report::page::{Remark, VerdictPosition};
use report::{FolderRow, Page, RowState, RunDetails, StoredRunsView, View};

use crate::commands::{experiment, stored_runs};
use crate::complain::Complaint;
use crate::memory;
use crate::record_folder::{
    FoundFiles, Skip, SkipReason, UnreadPath, find_files, name_below, unread_experiment,
};
use crate::record_index::{FileKey, IndexFile, RecordIndex};
use crate::recorded_experiment::{ExperimentReadError, RecordedExperiment};

/// The records of a folder.
pub(crate) struct RecordList {
    folder: PathBuf,
    index_file: Option<IndexFile>,
    index: Mutex<RecordIndex>,
}

/// A file that the search has found.
struct FoundFile {
    path: PathBuf,
    /// Path below the folder.
    name: String,
    key: FileKey,
    modified: WallTime,
}

/// The result of the search.
struct SearchResult {
    files: Vec<FoundFile>,
    /// The rows of folders that cannot be read.
    folders: Vec<FolderRow>,
}

/// The result of bringing the list up to date.
pub(crate) struct RefreshedList {
    /// Rows: folders that cannot be read, and then the files, newest first.
    pub(crate) rows: Vec<FolderRow>,
    /// Number of folders that cannot be read.
    pub(crate) unreadable_folders: usize,
    /// Number of files that were read, because they are new or changed, or were unreadable.
    pub(crate) files_read: usize,
    /// The warning about an index that could not be written.
    pub(crate) index_error: Option<Complaint>,
}

impl RecordList {
    /// Opens the list of a folder, with the index of the cache folder, if there is such a folder.
    pub(crate) fn open(folder: &Path, cache: Option<&Path>) -> RecordList {
        let index_file = cache.map(|cache| IndexFile::new(cache, folder));
        let index = index_file.as_ref().map(IndexFile::read).unwrap_or_default();
        RecordList { folder: folder.to_owned(), index_file, index: Mutex::new(index) }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of a file of the list; `None` if the list has no such file.
    pub(crate) fn path(&self, name: &str) -> Result<Option<PathBuf>, Complaint> {
        let mut found = self.search()?.files.into_iter();
        Ok(found.find(|file| file.name == name).map(|file| file.path))
    }

    /// Returns the path of the record of an arm `R.assay#ARM`, with the name of the arm. Of several
    /// possible records, the one with the longest name is taken, as on the command line.
    pub(crate) fn arm<'n>(&self, name: &'n str) -> Result<Option<(PathBuf, &'n str)>, Complaint> {
        let arms = self.search()?.files.into_iter().filter_map(|file| {
            let arm = name.strip_prefix(file.name.as_str())?.strip_prefix('#')?;
            Some((file.path, arm))
        });
        Ok(arms.min_by_key(|(_, arm)| arm.len()))
    }

    /// Reads the files that are new or changed, or were unreadable, and returns all rows.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn refresh(&self) -> Result<RefreshedList, Complaint> {
        let SearchResult { files: found, folders } = self.search()?;
        // After a panic, the index may lack entries, which does no harm.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that could not be read may be readable now, for example if too many files were
        // open.
        let is_known = |file: &&FoundFile| {
            let row = index.get(&file.name, file.key);
            row.is_some_and(|row| row.state != RowState::Unreadable)
        };
        let new: Vec<&FoundFile> = found.iter().filter(|file| !is_known(file)).collect();
        if !new.is_empty() {
            memory::retain_freed_memory();
        }
        let rows = lab::run_concurrently(new.len() as u64, |place| {
            let file = new[place as usize];
            (file.key, row_of_file(&file.path, &file.name))
        });
        let (files_read, unreadable_folders) = (rows.len(), folders.len());
        rows.into_iter().for_each(|(key, row)| index.put(key, row));
        let names = found.iter().map(|file| file.name.as_str()).collect();
        let has_shrunk = index.retain(&names);
        let index_error = match files_read > 0 || has_shrunk {
            true => self.write(&index),
            false => None,
        };
        let rows = [folders, newest_first(&found, &index)].concat();
        Ok(RefreshedList { rows, unreadable_folders, files_read, index_error })
    }

    fn write(&self, index: &RecordIndex) -> Option<Complaint> {
        let file = self.index_file.as_ref()?;
        let error = file.write(index).err()?;
        let sentence = format!("cannot write the index `{}`: {error}", file.path().display());
        let help = "set XDG_CACHE_HOME to a folder that can be written; until then, each start \
                    reads all records";
        Some(Complaint::warning(sentence).help(help))
    }

    fn search(&self) -> Result<SearchResult, Complaint> {
        let FoundFiles { records, unreadable, .. } = find_files(&self.folder)?;
        let found = records.into_iter().filter_map(|path| {
            let name = name_below(&self.folder, &path);
            // A file that was just removed is left out.
            let metadata = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            let (key, modified) = (FileKey::of(&metadata), modification_time(&metadata));
            Some(FoundFile { path, name, key, modified })
        });
        let folder = |UnreadPath { path, reason }| {
            let name = name_below(&self.folder, &path);
            unusable_row(&name, Skip { reason: SkipReason::Unreadable, details: reason })
        };
        let folders = unreadable.into_iter().map(folder).collect();
        Ok(SearchResult { files: found.collect(), folders })
    }
}

fn modification_time(metadata: &fs::Metadata) -> WallTime {
    use std::os::unix::fs::MetadataExt;
    let seconds = metadata.mtime().saturating_mul(1_000_000_000);
    WallTime(seconds.saturating_add(metadata.mtime_nsec()))
}

/// Returns the rows, the newest first: ordered by the start of the run or, if the start is not
/// known, by the modification time of the file.
fn newest_first(found: &[FoundFile], index: &RecordIndex) -> Vec<FolderRow> {
    let row = |file: &FoundFile| Some((file.modified, index.get(&file.name, file.key)?.clone()));
    let mut rows: Vec<(WallTime, FolderRow)> = found.iter().filter_map(row).collect();
    rows.sort_by(|(modified, row), (other_modified, other)| {
        let time = row.started.unwrap_or(*modified);
        let other_time = other.started.unwrap_or(*other_modified);
        other_time.cmp(&time).then_with(|| row.file.cmp(&other.file))
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Returns the row of a file, even of a file that cannot be read.
fn row_of_file(path: &Path, name: &str) -> FolderRow {
    let read = match Archive::open(path) {
        Ok(archive) => row_of_run(&archive, name),
        Err(error) if *error.kind() == RecordErrorKind::Experiment => row_of_experiment(path, name),
        Err(error) => Err(error.into()),
    };
    read.unwrap_or_else(|skip| unusable_row(name, skip))
}

fn unusable_row(name: &str, Skip { reason, details }: Skip) -> FolderRow {
    let state = match reason {
        SkipReason::NotARecord => RowState::NotARecord,
        SkipReason::Damaged => RowState::Damaged,
        SkipReason::Newer => RowState::Newer,
        SkipReason::Unfinished => RowState::Unfinished,
        SkipReason::Unreadable | SkipReason::NoWorkload | SkipReason::Copy => RowState::Unreadable,
    };
    FolderRow {
        file: name.to_owned(),
        title: String::new(),
        started: None,
        label: None,
        state,
        headline: details,
        notes: Vec::new(),
    }
}

fn row_of_run(archive: &Archive, name: &str) -> Result<FolderRow, Skip> {
    let about = RunDetails::of(archive.facts()?);
    let row = FolderRow {
        file: name.to_owned(),
        title: about.title(),
        started: (!about.is_virtual).then_some(about.started),
        label: known(&about.settings, LABEL).map(str::to_owned),
        state: RowState::Unfinished,
        headline: "killed, or still running".to_owned(),
        notes: report::listed_notes(&about.notes),
    };
    // The measurements of a run in progress are not read.
    if about.ended.is_none() {
        return Ok(row);
    }
    let view = View::new(about, lab::evidence_of_run(archive, None)?);
    let page = Page::of(&view);
    let state = match page.verdict_position {
        VerdictPosition::Omitted => RowState::Unjudged,
        VerdictPosition::First | VerdictPosition::AfterHeadline => {
            RowState::Judged(view.summary.verdict.status())
        }
    };
    Ok(FolderRow { state, headline: headline(&page), ..row })
}

/// Returns the end of the run, if it did not complete, followed by the first answers.
fn headline(page: &Page) -> String {
    let ending = page.headline.ending.iter().map(|remark| match remark {
        Remark::Sentence { tone: _, lead, rest } => format!("{lead}{rest}"),
        Remark::Note(text) => text.clone(),
    });
    let first = page.headline.first_answers();
    let answers = first.iter().map(|line| match line.label.as_str() {
        "" => line.text.clone(),
        label => format!("{label}: {}", line.text),
    });
    let answers = answers.collect::<Vec<String>>().join("; ");
    ending.chain([answers]).collect::<Vec<String>>().join(" ")
}

fn row_of_experiment(path: &Path, name: &str) -> Result<FolderRow, Skip> {
    let recorded = match RecordedExperiment::read(path) {
        Ok(recorded) => recorded,
        Err(error @ ExperimentReadError::Question(_)) => {
            let stored = stored_runs::view(path, name.to_owned()).ok().flatten();
            let row = stored.map(row_of_stored_runs);
            return row.ok_or_else(|| unread_experiment(path, error));
        }
        Err(error @ ExperimentReadError::Record(_)) => {
            return Err(unread_experiment(path, error));
        }
    };
    let view = experiment::view_of(&recorded, path);
    let is_over = view.state != report::ExperimentState::Interrupted;
    let first = view.runs.first().map(|run| recorded.open_run(run.number)).transpose()?;
    let header = first.as_ref().map(Archive::header);
    let started = header.filter(|header| header.pace != record::Pace::Virtual);
    Ok(FolderRow {
        file: name.to_owned(),
        title: view.question.clone(),
        started: started.map(|header| header.started),
        label: view.label.clone(),
        state: if is_over { RowState::Judged(view.verdict()) } else { RowState::Unfinished },
        headline: report::first_experiment_answers(&view, name).join("; "),
        notes: report::listed_notes(&view.notes),
    })
}

/// Returns the row of an experiment whose question cannot be read.
fn row_of_stored_runs(view: StoredRunsView) -> FolderRow {
    FolderRow {
        file: view.record,
        title: "the question cannot be read".to_owned(),
        started: None,
        label: view.label,
        state: RowState::Unjudged,
        headline: view.reason,
        notes: report::listed_notes(&view.notes),
    }
}

#[cfg(test)]
mod tests {
    use archive::{ExperimentContent, RecordError};

    use super::*;

    #[test]
    fn experiment_is_called_damaged_only_if_its_content_is() {
        let check = |path: &str, error: RecordError, expected: RowState| {
            let skip = unread_experiment(path.as_ref(), ExperimentReadError::Record(error));
            let row = unusable_row("r.assay", skip);
            assert_eq!(row.state, expected, "{}", row.headline);
        };
        for path in ["/dev/null/r.assay", "/nothing/r.assay"] {
            let error = ExperimentContent::read(path.as_ref()).unwrap_err();
            check(path, error, RowState::Unreadable);
            let damaged = ExperimentContent::damaged(path.as_ref(), "run 2".to_owned());
            check(path, damaged, RowState::Damaged);
            let other = ExperimentContent::of_another_search(path.as_ref());
            check(path, other, RowState::Unreadable);
        }
    }

    #[test]
    fn names_that_are_not_utf8_have_separate_rows() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let folder = tempfile::tempdir().unwrap();
        for name in [&b"\xfe.assay"[..], b"\xff.assay"] {
            std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let list = RecordList::open(folder.path(), None);
        let rows = list.refresh().ok().unwrap().rows;
        let mut names: Vec<&str> = rows.iter().map(|row| row.file.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["\\xFE.assay", "\\xFF.assay"]);
        let path = list.path("\\xFF.assay").ok().flatten().unwrap();
        assert_eq!(path.file_name().unwrap().as_bytes(), b"\xff.assay");
    }

    #[test]
    fn arm_belongs_to_the_record_with_the_longest_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.assay", "a.assay#2.assay"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let list = RecordList::open(folder.path(), None);
        let arm = |name: &str| {
            let (path, arm) = list.arm(name).ok().flatten().unwrap();
            (path.file_name().unwrap().to_owned(), arm.to_owned())
        };
        assert_eq!(arm("a.assay#2.assay#b"), ("a.assay#2.assay".into(), "b".to_owned()));
        assert_eq!(arm("a.assay#b#2"), ("a.assay".into(), "b#2".to_owned()));
    }
}
