//! The tables and views of version 1, and the numbers by which a file is identified.

use rusqlite::Connection;

use crate::error::RowError;

/// `PRAGMA application_id` of a record of any version: the letters `ASAY`.
pub(crate) const APPLICATION: i64 = 0x4153_4159;

/// `PRAGMA user_version` of a record of this version.
pub(crate) const VERSION: i64 = 1;

/// The statements that create the tables and views. SQLite stores their text exactly as written.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");

/// Tables that the first records did not have.
pub(crate) const OPTIONAL_TABLES: [&str; 8] =
    ["account", "event_error", "series", "sample", SAMPLE_RANGE, "file", "load_sample", EXCERPT];

/// The table of the extremes of merged samples. The oldest records, those of experiments included,
/// do not have it.
pub(crate) const SAMPLE_RANGE: &str = "sample_range";

/// The table of excerpts. The oldest records, those of experiments included, do not have it.
pub(crate) const EXCERPT: &str = "excerpt";

/// Returns true if a record lacks a table because the record is older than the table.
pub(crate) fn is_missing(record: &Connection, table: &str) -> Result<bool, RowError> {
    Ok(OPTIONAL_TABLES.contains(&table) && !has_table(record, "main", table)?)
}

/// Returns true if a database has a table.
pub(crate) fn has_table(of: &Connection, database: &str, table: &str) -> Result<bool, RowError> {
    let sql = format!("select 1 from {database}.sqlite_schema where name = ?1");
    Ok(of.prepare_cached(&sql)?.exists([table])?)
}

/// Returns the statements of version 1 with the names of the objects that they create.
pub(crate) fn statements() -> impl Iterator<Item = (&'static str, &'static str)> {
    statements_of(SCHEMA)
}

/// Returns the statements of a schema with the names of the objects that they create.
pub(crate) fn statements_of(
    schema: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    schema.split(";\n").filter_map(|statement| {
        let create = statement.find("CREATE ")?;
        let statement = &statement[create..];
        Some((statement.split([' ', '(']).nth(2)?, statement))
    })
}
