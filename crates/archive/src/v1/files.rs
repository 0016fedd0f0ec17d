//! The files that were read before a run.

use record::InputFile;
use rusqlite::{Connection, params};

use super::rows::{integer, natural};
use crate::error::RowError;

/// Writes a file; a later one with the same path replaces an earlier one.
pub(crate) fn write_file(to: &Connection, file: &InputFile) -> Result<(), RowError> {
    let InputFile { path, bytes, sha256, text } = file;
    let sql = "insert or replace into file values (?, ?, ?, ?)";
    to.prepare_cached(sql)?.execute(params![path, integer(*bytes), sha256, text])?;
    Ok(())
}

/// Reads the files, sorted by path.
pub(crate) fn read_files(from: &Connection) -> Result<Vec<InputFile>, RowError> {
    let mut select = from.prepare("select path, bytes, sha256, text from file order by path")?;
    let mut rows = select.query([])?;
    let mut files = Vec::new();
    while let Some(row) = rows.next()? {
        files.push(InputFile {
            path: row.get(0)?,
            bytes: natural(row, 1)?,
            sha256: row.get(2)?,
            text: row.get(3)?,
        });
    }
    Ok(files)
}
