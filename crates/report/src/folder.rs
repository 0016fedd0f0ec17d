//! The view of a folder of records.

use analyze::Status;
use base::WallTime;
use record::Note;

use crate::note;

/// The records of a folder, or those among them that were searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderView {
    /// Folder.
    pub folder: String,
    /// Words that were searched for; empty if all records are shown.
    pub search: String,
    /// Rows of this page: folders that cannot be read, and then the files, newest first.
    pub rows: Vec<FolderRow>,
    /// Number of this page, from 1.
    pub page: usize,
    /// Number of pages, at least 1.
    pub pages: usize,
    /// Number of files on all pages.
    pub found: usize,
    /// Number of files without a search.
    pub all: usize,
    /// Number of subfolders that cannot be read, without a search.
    pub unreadable_folders: usize,
    /// True if notes may be added in the browser.
    pub takes_notes: bool,
}

/// The notes of one of the records in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotesView {
    /// Path of the record below the folder.
    pub file: String,
    /// Notes, in the order in which they were made.
    pub notes: Vec<Note>,
    /// The form for a new note.
    pub form: NoteForm,
}

/// The reason why a server cannot make a requested page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalView {
    /// Title of the page that is sent in place of the requested one.
    pub title: String,
    /// Reason why the page cannot be made, as a sentence without a final period.
    pub reason: String,
    /// Action that helps the reader in the browser, as a sentence without a final period.
    pub remedy: Option<String>,
    /// A page that can be shown in place of the requested one.
    pub alternative: Option<LinkedPage>,
    /// Relative address of the list of records.
    pub list: String,
}

/// A page of a record, as the destination of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedPage {
    /// First segment of the page's address below the list.
    pub route: &'static str,
    /// Path of the record below the folder.
    pub file: String,
    /// Words of the link.
    pub words: String,
}

/// The form of a page of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteForm {
    /// A form that proposes this name as the author's.
    Offered {
        /// Proposed name of the author.
        author: String,
    },
    /// The server accepts no notes.
    Omitted,
    /// No note can be added to the record, for this reason.
    Refused {
        /// Reason why no note can be added.
        reason: String,
    },
}

/// A file of a folder, or a subfolder that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRow {
    /// Path below the folder.
    pub file: String,
    /// Question of an experiment, or workload and target of a run; empty if the file is not a
    /// record, or cannot be read.
    pub title: String,
    /// Start of the run or experiment; `None` in virtual time, or if it is not known.
    pub started: Option<WallTime>,
    /// Label that the user gave the record.
    pub label: Option<String>,
    /// State of the file; for a record, its verdict if it has one.
    pub state: RowState,
    /// Answer in sentences, or the reason why there is none.
    pub headline: String,
    /// Notes of reviewers as text, in full length.
    pub notes: Vec<String>,
}

/// The state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// A record with a verdict.
    Judged(Status),
    /// A record without a verdict: the record of a load of tables, of an observation to which no
    /// check objects, or of an experiment whose question cannot be read.
    Unjudged,
    /// A record whose run or experiment did not reach its end, or is still in progress.
    Unfinished,
    /// Not a record.
    NotARecord,
    /// A record whose content contradicts itself, or whose file is cut off.
    Damaged,
    /// A record of a later version.
    Newer,
    /// A file that cannot be read.
    Unreadable,
}

impl RowState {
    /// All states.
    pub const ALL: [RowState; 10] = [
        RowState::Judged(Status::Pass),
        RowState::Judged(Status::NotPossible),
        RowState::Judged(Status::Suspect),
        RowState::Judged(Status::Invalid),
        RowState::Unjudged,
        RowState::Unfinished,
        RowState::NotARecord,
        RowState::Damaged,
        RowState::Newer,
        RowState::Unreadable,
    ];

    /// Returns the name of this state.
    pub fn word(self) -> &'static str {
        match self {
            RowState::Judged(status) => status.verdict(),
            RowState::Unjudged => "no verdict",
            RowState::Unfinished => "unfinished",
            RowState::NotARecord => "not a record",
            RowState::Damaged => "damaged",
            RowState::Newer => "later version",
            RowState::Unreadable => "unreadable",
        }
    }

    /// Returns true if there is a page about the file.
    pub fn has_page(self) -> bool {
        match self {
            RowState::Judged(_) | RowState::Unjudged | RowState::Unfinished => true,
            RowState::NotARecord | RowState::Damaged | RowState::Newer | RowState::Unreadable => {
                false
            }
        }
    }
}

impl FolderRow {
    /// Returns true if the row contains all of these words, in upper or lower case. A tag of a note
    /// matches as a whole: a longer tag that contains the word does not match.
    pub fn has_all(&self, words: &[String]) -> bool {
        let started = self.started.map(|started| started.to_string()).unwrap_or_default();
        let label = self.label.as_deref().unwrap_or_default();
        let state = self.state.word();
        let cells = [&self.file, &self.title, &started, label, state, &self.headline];
        let cells = cells.map(str::to_lowercase);
        let notes = self.notes.join(" ").to_lowercase();
        words.iter().all(|word| {
            let word = word.to_lowercase();
            let is_noted = match note::tag(&word) {
                Some(wanted) => {
                    notes.split_whitespace().any(|word| note::tag(word) == Some(wanted))
                }
                None => notes.contains(&word),
            };
            is_noted || cells.iter().any(|cell| cell.contains(&word))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_finds_words_of_any_cell_in_any_case() {
        let row = FolderRow {
            file: "nightly/01.assay".to_owned(),
            title: "Is TLS slower?".to_owned(),
            started: Some(WallTime(1_795_292_102_000_000_000)),
            label: Some("v1.7".to_owned()),
            state: RowState::Judged(Status::Suspect),
            headline: "tls: throughput −12 %".to_owned(),
            notes: vec![
                format!("2026-11-22, ann: The kernel was new {} #kernel-6, later", "x".repeat(900)),
                "2026-11-23, bob: #Tuned.".to_owned(),
            ],
        };
        let has = |text: &str| {
            row.has_all(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        for text in [
            "",
            "nightly",
            "tls slower",
            "2026-11-21",
            "V1.7 suspect",
            "throughput 01",
            "#Kernel-6 ann",
            "#kernel-6, #tuned later",
            "kernel-",
        ] {
            assert!(has(text), "{text}");
        }
        for text in ["tls valid", "v1.8", "#kernel", "#kernel-61", "#tun", "#the"] {
            assert!(!has(text), "{text}");
        }
    }
}
