//! The pages of `assay serve`: the list of the records of a folder, the pages of each and of its
//! notes, and the comparison of two.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use archive::{Archive, ExperimentContent, RecordError, RecordErrorKind};
use base::WallTime;
use record::Note;
use report::{FolderRow, FolderView, NoteForm, NotesView};
use serve::{Answer, Fields, Pages, Response, Route, Status};

use crate::commands::{answer, compare, experiment, figures};
use crate::complain::Complaint;
use crate::record_list::RecordList;
use crate::user;

/// Maximum number of rows of a page of the list.
const MOST_ROWS: usize = 1_000;

/// Maximum number of words of a search; the others are ignored.
const MOST_WORDS: usize = 20;

/// The pages of a folder of records.
pub(crate) struct RecordedPages {
    list: RecordList,
    /// True if notes may be added.
    takes_notes: bool,
    /// Held while a page is made: a page takes the memory of its records.
    making: Mutex<()>,
}

impl RecordedPages {
    pub(crate) fn new(list: RecordList, takes_notes: bool) -> RecordedPages {
        RecordedPages { list, takes_notes, making: Mutex::new(()) }
    }

    fn list(&self, search: &str, page: usize) -> Result<Response, Response> {
        let refreshed = self.list.refresh().map_err(|error| failed(&error))?;
        let folder = self.list.folder().display().to_string();
        let view = view(folder, refreshed.rows, search, page);
        let view = view.ok_or_else(|| missing("the list has no page of this number"))?;
        let view = FolderView { takes_notes: self.takes_notes, ..view };
        Ok(Response::page(Status::Ok, report::folder_html(&view)))
    }

    /// Returns the path of a record of the list.
    fn path(&self, name: &str) -> Result<PathBuf, Response> {
        let path = self.list.path(name).map_err(|error| failed(&error))?;
        path.ok_or_else(|| missing(&format!("the folder has no record `{name}`")))
    }

    fn notes(&self, name: &str) -> Result<Response, Response> {
        let path = self.path(name)?;
        let notes = notes_of(&path).map_err(|error| unreadable(&error))?;
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

    fn add_note(&self, name: &str, form: &Fields) -> Result<Response, Response> {
        let field = |name: &str| form.value(name).unwrap_or_default();
        let note = Note::by(field("author"), field("text"), WallTime::now())
            .map_err(|error| Response::refusal(Status::BadRequest, &error.to_string()))?;
        archive::add_note(&self.path(name)?, &note).map_err(|error| unreadable(&error))?;
        Ok(Response::see("added"))
    }

    fn report(&self, name: &str, run: Option<u32>) -> Result<Response, Response> {
        let path = self.path(name)?;
        let html = if run.is_none() && archive::is_experiment(&path) {
            let view = experiment::view(&path).map_err(|error| refused(&error))?;
            report::experiment_html(&view)
        } else {
            let run = answer::read(&path, run).map_err(|error| unreadable(&error))?;
            figures::page_of_run(&run).map_err(|error| unreadable(&error))?
        };
        Ok(Response::page(Status::Ok, html))
    }

    fn overlay(&self, records: &[String; 2]) -> Result<Response, Response> {
        let [first, second] = records.each_ref().map(|name| self.argument(name));
        let view = compare::of_two([first?, second?]).map_err(|error| refused(&error))?;
        let status = if view.is_refused() { Status::Conflict } else { Status::Ok };
        Ok(Response::page(status, report::comparison_html(&view)))
    }

    /// Returns the path of a record of the list, or with `#ARM` of an arm of an experiment.
    fn argument(&self, name: &str) -> Result<String, Response> {
        if let Some(path) = self.list.path(name).map_err(|error| failed(&error))? {
            return Ok(path.display().to_string());
        }
        match self.list.arm(name).map_err(|error| failed(&error))? {
            Some((path, arm)) => Ok(format!("{}#{arm}", path.display())),
            None => Err(missing(&format!("the folder has no record `{name}`"))),
        }
    }
}

impl Pages for RecordedPages {
    fn answer(&self, route: &Route) -> Answer {
        let _turn = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match route {
            Route::Home { search, page } => self.list(search, *page),
            Route::Report { record, run } => self.report(record, *run),
            Route::Overlay { records } => self.overlay(records),
            Route::Notes { record } => self.notes(record),
            Route::Events | Route::Metrics => Err(Route::missing()),
        };
        made.unwrap_or_else(|refusal| refusal).into()
    }

    fn take(&self, route: &Route, form: &Fields) -> Answer {
        let _turn = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = match route {
            Route::Notes { record } => self.add_note(record, form),
            Route::Home { .. }
            | Route::Report { .. }
            | Route::Overlay { .. }
            | Route::Events
            | Route::Metrics => Err(Route::missing()),
        };
        taken.unwrap_or_else(|refusal| refusal).into()
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

/// Returns a page of the rows that have all words; `None` if there is no page of this number.
fn view(folder: String, rows: Vec<FolderRow>, search: &str, page: usize) -> Option<FolderView> {
    let words: Vec<String> =
        search.split_whitespace().take(MOST_WORDS).map(str::to_lowercase).collect();
    let all = rows.len();
    let rows: Vec<FolderRow> = rows.into_iter().filter(|row| row.has_all(&words)).collect();
    let found = rows.len();
    let pages = found.div_ceil(MOST_ROWS).max(1);
    if !(1..=pages).contains(&page) {
        return None;
    }
    let rows = rows.into_iter().skip((page - 1) * MOST_ROWS).take(MOST_ROWS).collect();
    let search = words.join(" ");
    Some(FolderView { folder, search, rows, page, pages, found, all, takes_notes: false })
}

fn missing(reason: &str) -> Response {
    Response::refusal(Status::NotFound, reason)
}

/// Returns the refusal of a page that cannot be made of these records.
fn refused(complaint: &Complaint) -> Response {
    Response::refusal(Status::Conflict, complaint.text())
}

/// Returns the refusal for a folder that cannot be read.
fn failed(complaint: &Complaint) -> Response {
    Response::refusal(Status::InternalError, complaint.text())
}

fn unreadable(error: &RecordError) -> Response {
    let text = Complaint::of(error);
    match error.kind() {
        RecordErrorKind::NotFound | RecordErrorKind::NoRun(_) => missing(text.text()),
        _ => refused(&text),
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

    #[test]
    fn long_list_has_pages() {
        let page = |search: &str, page| view(String::new(), rows(2_500), search, page);
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
        assert_eq!(view(String::new(), Vec::new(), "", 1).unwrap().pages, 1);
    }
}
