//! The pages of `assay serve`: the list of the records of a folder, the page of a record, the page
//! of its notes, and the comparison of two records.

use std::path::{Path, PathBuf};

use archive::{Archive, ExperimentContent, RecordError, RecordErrorKind};
use base::{Nanos, WallTime};
use record::Note;
use report::{FolderRow, FolderView, LinkedPage, NoteForm, NotesView, RefusalView};
use serve::{Answer, Fields, Pages, Response, Route, Status};

use crate::commands::{answer, compare, experiment, figures, stored_runs};
use crate::complain::Complaint;
use crate::record_list::{RecordList, RefreshedList};
use crate::record_names::RecordName;
use crate::timed_mutex::TimedMutex;
use crate::user;

/// Maximum number of rows on a page of the list.
const MOST_ROWS: usize = 1_000;

/// Maximum number of words of a search; further words are ignored.
const MOST_WORDS: usize = 20;

/// The pages of a folder of records.
pub(crate) struct RecordedPages {
    list: RecordList,
    /// True if notes may be added.
    takes_notes: bool,
    /// Held while the page of a record or of a comparison is created, because the records are in
    /// memory during this time.
    records: TimedMutex,
    /// Held while the list is created. The list waits neither for large pages nor for notes to be
    /// written.
    lists: TimedMutex,
    /// Held while a page of notes is created or a note is added.
    notes: TimedMutex,
}

/// Longest wait of a page for pages that are created before it.
const LONGEST_WAIT: Nanos = Nanos::from_secs(10);

impl RecordedPages {
    pub(crate) fn new(list: RecordList, takes_notes: bool) -> RecordedPages {
        RecordedPages::with_wait_limit(list, takes_notes, LONGEST_WAIT)
    }

    fn with_wait_limit(list: RecordList, takes_notes: bool, longest: Nanos) -> RecordedPages {
        let [records, lists, notes] = std::array::from_fn(|_| TimedMutex::new(longest));
        RecordedPages { list, takes_notes, records, lists, notes }
    }

    /// Returns the mutex that is held while the pages of a route are created.
    fn mutex(&self, route: &Route) -> &TimedMutex {
        match route {
            Route::Report { .. } | Route::Overlay { .. } => &self.records,
            Route::Home { .. } | Route::Events | Route::Metrics => &self.lists,
            Route::Notes { .. } => &self.notes,
        }
    }

    fn list(&self, search: &str, page: usize) -> Result<Response, PageRefusal> {
        let refreshed = self.list.refresh().map_err(|error| folder_refusal(&error))?;
        let folder = self.list.folder().display().to_string();
        let view = view(folder, refreshed, search, page);
        let view = view.ok_or_else(|| not_found("the list has no page of this number"))?;
        let view = FolderView { takes_notes: self.takes_notes, ..view };
        Ok(Response::page(Status::Ok, report::folder_html(&view)))
    }

    /// Returns the path of a record of the list.
    fn path(&self, name: &str) -> Result<PathBuf, PageRefusal> {
        let path = self.list.path(name).map_err(|error| folder_refusal(&error))?;
        path.ok_or_else(|| not_found(&format!("the folder has no record `{name}`")))
    }

    fn notes(&self, name: &str) -> Result<Response, PageRefusal> {
        let path = self.path(name)?;
        let notes = notes_of(&path).map_err(|error| unreadable_record(name, &error))?;
        let form = match self.takes_notes {
            true => match archive::check_note(&path) {
                Ok(()) => NoteForm::Offered { author: user::name() },
                Err(error) => NoteForm::Refused { reason: error.to_string() },
            },
            false => NoteForm::Omitted,
        };
        let view = NotesView { file: name.to_owned(), notes, form };
        Ok(Response::page_with_form(report::notes_html(&view)))
    }

    fn add_note(&self, name: &str, form: &Fields) -> Result<Response, PageRefusal> {
        let field = |name: &str| form.value(name).unwrap_or_default();
        let note = Note::by(field("author"), field("text"), WallTime::now())
            .map_err(|error| PageRefusal::new(Status::BadRequest, error.to_string()))?;
        archive::add_note(&self.path(name)?, &note)
            .map_err(|error| unreadable_record(name, &error))?;
        Ok(Response::see_other("added"))
    }

    fn report(&self, name: &str, run: Option<u32>) -> Result<Response, PageRefusal> {
        let path = self.path(name)?;
        let html = if run.is_none() && archive::is_experiment(&path) {
            match experiment::view(&path) {
                Ok(view) => report::experiment_html(&view),
                Err(error) => match stored_runs::view(&path, name.to_owned()) {
                    Ok(Some(view)) => report::stored_runs_html(&view),
                    Ok(None) | Err(_) => return Err(conflict_refusal(&error)),
                },
            }
        } else {
            let run = answer::read(&path, run).map_err(|error| unreadable_record(name, &error))?;
            figures::page_of_run(&run).map_err(|error| unreadable_record(name, &error))?
        };
        Ok(Response::page(Status::Ok, html))
    }

    fn overlay(&self, records: &[String; 2]) -> Result<Response, PageRefusal> {
        let [first, second] = records.each_ref().map(|name| self.argument(name));
        let view = compare::compare_two([first?, second?]);
        let view = view.map_err(|error| conflict_refusal(&error).with_remedy(COMPARISON_REMEDY))?;
        let status = if view.is_refused() { Status::Conflict } else { Status::Ok };
        Ok(Response::page(status, report::served_comparison_html(&view)))
    }

    /// Returns a record of the list or, for a name with `#ARM`, an arm of an experiment; the text
    /// is the name for display.
    fn argument(&self, name: &str) -> Result<(String, RecordName), PageRefusal> {
        // Unlike the path of the record, its name in the list shows each byte that is not UTF-8.
        let shown = self.list.folder().join(name).display().to_string();
        if let Some(path) = self.list.path(name).map_err(|error| folder_refusal(&error))? {
            return Ok((shown, RecordName::File(path)));
        }
        match self.list.arm(name).map_err(|error| folder_refusal(&error))? {
            Some((path, arm)) => Ok((shown, RecordName::Arm(path, arm.to_owned()))),
            None => Err(not_found(&format!("the folder has no record `{name}`"))),
        }
    }
}

/// Remedy for two records that cannot be compared.
const COMPARISON_REMEDY: &str = "mark two other records in the list, or name arms of experiments \
                                 in the address: `overlay?a=NAME%23ARM&b=NAME%23ARM`";

impl Pages for RecordedPages {
    fn answer(&self, route: &Route) -> Answer {
        let Some(_lock) = self.mutex(route).lock() else {
            return busy_refusal().page(route).into();
        };
        let made = match route {
            Route::Home { search, page } => self.list(search, *page),
            Route::Report { record, run } => self.report(record, *run),
            Route::Overlay { records } => self.overlay(records),
            Route::Notes { record } => self.notes(record),
            Route::Events | Route::Metrics => return Route::not_found().into(),
        };
        made.unwrap_or_else(|refusal| refusal.page(route)).into()
    }

    fn accept_form(&self, route: &Route, form: &Fields) -> Answer {
        let Some(_lock) = self.mutex(route).lock() else {
            return busy_refusal().page(route).into();
        };
        let taken = match route {
            Route::Notes { record } => self.add_note(record, form),
            Route::Home { .. }
            | Route::Report { .. }
            | Route::Overlay { .. }
            | Route::Events
            | Route::Metrics => return Route::not_found().into(),
        };
        taken.unwrap_or_else(|refusal| refusal.page(route)).into()
    }
}

/// Returns the notes of a record: the reviewers', and for an experiment also the program's.
fn notes_of(path: &Path) -> Result<Vec<Note>, RecordError> {
    match Archive::open(path) {
        Ok(archive) => Ok(archive.facts()?.notes),
        Err(error) if *error.kind() == RecordErrorKind::Experiment => {
            Ok(ExperimentContent::read(path)?.notes)
        }
        Err(error) => Err(error),
    }
}

/// Returns a page of the rows that contain all words of a search; `None` if there is no page of
/// this number.
fn view(folder: String, list: RefreshedList, search: &str, page: usize) -> Option<FolderView> {
    let words: Vec<String> =
        search.split_whitespace().take(MOST_WORDS).map(str::to_lowercase).collect();
    let RefreshedList { rows, unreadable_folders, .. } = list;
    let (folders, files) = rows.split_at(unreadable_folders);
    let all = files.len();
    let find = |rows: &[FolderRow]| -> Vec<FolderRow> {
        rows.iter().filter(|row| row.has_all(&words)).cloned().collect()
    };
    let (folders, files) = (find(folders), find(files));
    let found = files.len();
    let rows = [folders, files].concat();
    let pages = rows.len().div_ceil(MOST_ROWS).max(1);
    if !(1..=pages).contains(&page) {
        return None;
    }
    let rows = rows.into_iter().skip((page - 1) * MOST_ROWS).take(MOST_ROWS).collect();
    Some(FolderView {
        folder,
        search: words.join(" "),
        rows,
        page,
        pages,
        found,
        all,
        unreadable_folders,
        takes_notes: false,
    })
}

/// The reason why a page cannot be created.
struct PageRefusal {
    status: Status,
    reason: String,
    remedy: Option<String>,
    instead: Option<LinkedPage>,
}

impl PageRefusal {
    fn new(status: Status, reason: impl Into<String>) -> PageRefusal {
        PageRefusal { status, reason: reason.into(), remedy: None, instead: None }
    }

    fn with_remedy(self, remedy: impl Into<String>) -> PageRefusal {
        PageRefusal { remedy: Some(remedy.into()), ..self }
    }

    /// Adds a link to the answer of a record.
    fn with_answer_link(self, name: &str) -> PageRefusal {
        let words = "Answer of this one".to_owned();
        let instead = Some(LinkedPage { route: "report", file: name.to_owned(), words });
        PageRefusal { instead, ..self }
    }

    /// Returns the page about the refusal, in place of the page at a route.
    fn page(self, route: &Route) -> Response {
        let PageRefusal { status, reason, remedy, instead } = self;
        let list = match route {
            // The page of a record in a subfolder is deeper below the list.
            Route::Report { record, .. } | Route::Notes { record } => {
                "../".repeat(record.split('/').count())
            }
            Route::Home { .. } | Route::Overlay { .. } | Route::Events | Route::Metrics => {
                "./".to_owned()
            }
        };
        let title = "This page cannot be made".to_owned();
        let view = RefusalView { title, reason, remedy, alternative: instead, list };
        Response::page(status, report::refusal_html(&view))
    }
}

fn busy_refusal() -> PageRefusal {
    let reason = "other pages are being made, one after the other";
    PageRefusal::new(Status::Unavailable, reason).with_remedy("reload this one later")
}

fn not_found(reason: &str) -> PageRefusal {
    PageRefusal::new(Status::NotFound, reason)
}

/// Returns the refusal of a page that cannot be created from these records. The remedy of the
/// complaint is left out, because it is for a command line.
fn conflict_refusal(complaint: &Complaint) -> PageRefusal {
    PageRefusal::new(Status::Conflict, complaint.sentence())
}

/// Returns the refusal for a folder that cannot be read.
fn folder_refusal(complaint: &Complaint) -> PageRefusal {
    PageRefusal::new(Status::InternalError, complaint.sentence())
}

/// Returns the refusal for a record that cannot be read, or cannot be read for the requested page.
fn unreadable_record(name: &str, error: &RecordError) -> PageRefusal {
    let conflict = |reason: String| PageRefusal::new(Status::Conflict, reason);
    match error.kind() {
        RecordErrorKind::NotFound => not_found(&format!("the folder has no record `{name}`")),
        RecordErrorKind::NoRun { .. } => {
            not_found(Complaint::of(error).sentence()).with_answer_link(name)
        }
        RecordErrorKind::SingleRun => {
            conflict(format!("`{name}` is the record of a single run, which has no number"))
                .with_remedy("leave out `?run=`")
                .with_answer_link(name)
        }
        RecordErrorKind::NotARecord(found) => {
            conflict(format!("`{name}` is not a record of Assay: it is {found}"))
        }
        RecordErrorKind::Exists
        | RecordErrorKind::CannotCreate
        | RecordErrorKind::CannotWrite
        | RecordErrorKind::InUse
        | RecordErrorKind::NoNote(_)
        | RecordErrorKind::Crashed
        | RecordErrorKind::CannotRemove
        | RecordErrorKind::NotAFile
        | RecordErrorKind::CannotRead
        | RecordErrorKind::Compressed
        | RecordErrorKind::Newer { .. }
        | RecordErrorKind::Experiment
        | RecordErrorKind::OtherSearch
        | RecordErrorKind::Damaged(_)
        | RecordErrorKind::Output => conflict_refusal(&Complaint::of(error)),
    }
}

#[cfg(test)]
mod tests {
    use report::RowState;

    use super::*;

    fn rows(number: usize) -> Vec<FolderRow> {
        let row = |number: usize| FolderRow {
            file: format!("{number:05}.assay"),
            title: if number.is_multiple_of(2) { "Even" } else { "odd" }.to_owned(),
            started: None,
            label: None,
            state: RowState::Unjudged,
            headline: String::new(),
            notes: Vec::new(),
        };
        (0..number).map(row).collect()
    }

    /// Returns a list whose first rows are folders that cannot be read.
    fn list(number: usize, unreadable_folders: usize) -> RefreshedList {
        RefreshedList { rows: rows(number), unreadable_folders, files_read: 0, index_error: None }
    }

    #[test]
    fn page_waits_a_limited_time_and_the_list_waits_for_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let list = RecordList::open(folder.path(), None);
        let pages = RecordedPages::with_wait_limit(list, true, Nanos::from_millis(10));
        let status = |route: &Route| match pages.answer(route) {
            Answer::Page(response) => response.status,
            Answer::Events(_) => panic!("a stream of events"),
        };
        let report = Route::Report { record: "no.assay".to_owned(), run: None };
        let notes = Route::Notes { record: "no.assay".to_owned() };
        let home = Route::Home { search: String::new(), page: 1 };
        let being_made = pages.records.lock();
        assert_eq!((status(&report), status(&home)), (Status::Unavailable, Status::Ok));
        drop(being_made);
        assert_eq!(status(&report), Status::NotFound);
        let being_added = pages.notes.lock();
        assert_eq!((status(&notes), status(&home)), (Status::Unavailable, Status::Ok));
        drop(being_added);
        assert_eq!(status(&notes), Status::NotFound);
    }

    #[test]
    fn long_list_has_pages() {
        let page = |search: &str, page| view(String::new(), list(2_500, 0), search, page);
        let first = page("", 1).unwrap();
        assert_eq!(
            (first.rows.len(), first.pages, first.found, first.all),
            (1_000, 3, 2_500, 2_500)
        );
        let last = page("", 3).unwrap();
        assert_eq!((last.rows.len(), last.rows[0].file.as_str()), (500, "02000.assay"));
        assert_eq!((page("", 4), page("", 0)), (None, None));
        let even = page(" EVEN  0002 ", 1).unwrap();
        assert_eq!((even.rows.len(), even.found, even.search.as_str()), (6, 6, "even 0002"));
        assert_eq!(view(String::new(), list(0, 0), "", 1).unwrap().pages, 1);
    }

    #[test]
    fn folder_that_cannot_be_read_is_a_row_but_not_a_file() {
        for (search, rows, found) in [("", 5, 3), ("even", 3, 2)] {
            let view = view(String::new(), list(5, 2), search, 1).unwrap();
            let found_rows = (view.rows.len(), view.found);
            assert_eq!(found_rows, (rows, found), "{search}");
            assert_eq!((view.all, view.unreadable_folders), (3, 2), "{search}");
        }
    }
}
