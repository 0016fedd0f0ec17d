//! The table of reviewers' notes. The first note creates it. It is the same in the record
//! of a run and in the record of an experiment. Older programs ignore it.

use base::WallTime;
use record::Note;
use rusqlite::{Connection, params};

use crate::error::RowError;

/// The statement that creates the table. SQLite stores its text exactly as written, and
/// [`has_table`] compares the stored text with it.
const CREATE: &str = include_str!("reviewer_note.sql");

/// Maximum number of notes in a record.
pub(crate) const MOST_NOTES: u32 = 1_000;

/// Creates the table if there is none; returns the number of its notes.
pub(crate) fn create(to: &Connection) -> Result<u32, RowError> {
    if !has_table(to)? {
        to.execute_batch(CREATE)?;
    }
    Ok(to.query_row("select count(*) from reviewer_note", [], |row| row.get(0))?)
}

/// Writes a note.
pub(crate) fn insert(to: &Connection, note: &Note) -> Result<(), RowError> {
    let sql = "insert into reviewer_note (at_ns, author, text) values (?, ?, ?)";
    to.execute(sql, params![note.at.0, note.author, note.text])?;
    Ok(())
}

/// Reads the notes of reviewers, in the order in which they were added.
pub(crate) fn read_reviewer_notes(from: &Connection) -> Result<Vec<Note>, RowError> {
    if !has_table(from)? {
        return Ok(Vec::new());
    }
    let sql = "select at_ns, author, text from main.reviewer_note order by note limit ?1";
    let mut select = from.prepare(sql)?;
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Note { at: WallTime(row.get(0)?), author: Some(row.get(1)?), text: row.get(2)? })
    };
    Ok(select.query_map([MOST_NOTES], row)?.collect::<Result<_, _>>()?)
}

/// Returns true if a record has the table.
///
/// # Errors
/// The table or view of this name was not created by [`CREATE`].
fn has_table(of: &Connection) -> Result<bool, RowError> {
    let sql = "select sql from main.sqlite_schema where name = 'reviewer_note'";
    let mut select = of.prepare(sql)?;
    let mut rows = select.query([])?;
    match rows.next()? {
        None => Ok(false),
        Some(row) if row.get_ref(0)?.as_str().is_ok_and(|sql| sql == CREATE.trim_end()) => Ok(true),
        Some(_) => Err(RowError::content("`reviewer_note` is not that of this version")),
    }
}
