//! The tables of version 2, and the views through which a single run is read.

use rusqlite::Connection;

use crate::error::RowError;
use crate::v1;

/// `PRAGMA user_version` of a record of this version.
pub(crate) const VERSION: i64 = 2;

/// The statements that create the tables. SQLite stores their text exactly as written.
const SCHEMA: &str = include_str!("schema.sql");

/// Returns the statements that create the tables, with the names of the tables.
pub(crate) fn statements() -> impl Iterator<Item = (&'static str, &'static str)> {
    v1::statements_of(SCHEMA)
}

/// Tables that the first records of this version did not have.
pub(crate) const OPTIONAL_TABLES: [&str; 2] = [v1::EXCERPT, v1::SAMPLE_RANGE];

/// Creates the table of the extremes of merged samples in a record that is older than the table.
pub(crate) fn add_sample_range(to: &Connection) -> Result<(), RowError> {
    let own = statements().find(|(name, _)| *name == v1::SAMPLE_RANGE);
    match own {
        Some((name, statement)) if !v1::has_table(to, "main", name)? => {
            Ok(to.execute_batch(statement)?)
        }
        _ => Ok(()),
    }
}

/// The table of version 1 that all runs share.
pub(super) const SHARED_TABLE: &str = "file";

/// Returns the names of the tables of version 1 that have rows of each run, and are in the record
/// and in the attached database `other`.
pub(super) fn tables_of_both(of: &Connection, other: &str) -> Result<Vec<&'static str>, RowError> {
    let mut both = Vec::new();
    for table in tables_of_a_run() {
        let is_sure = !OPTIONAL_TABLES.contains(&table);
        if is_sure || v1::has_table(of, "main", table)? && v1::has_table(of, other, table)? {
            both.push(table);
        }
    }
    Ok(both)
}

/// Returns the names of the tables of version 1 that have rows of each run.
fn tables_of_a_run() -> impl Iterator<Item = &'static str> {
    let is_table = |text: &str| text.starts_with("CREATE TABLE");
    let own = v1::statements().filter(move |(name, text)| is_table(text) && *name != SHARED_TABLE);
    own.map(|(name, _)| name)
}

/// Creates temporary views that show a single run under the names of version 1. Until the
/// connection ends, they hide the tables of the same names.
pub(crate) fn show_run(of: &Connection, run: u32) -> Result<(), RowError> {
    for (name, statement) in v1::statements() {
        let Some(view) = statement.strip_prefix("CREATE VIEW") else {
            if v1::is_missing(of, name)? {
                continue;
            }
            let rows = rows_of_a_run(of, "main", name, run)?;
            of.execute_batch(&format!("create temp view {name} as {rows}"))?;
            continue;
        };
        of.execute_batch(&format!("create temp view{view}"))?;
    }
    Ok(())
}

/// Returns the query for the rows of a table that belong to a run, with the columns of version 1.
/// All rows of [`SHARED_TABLE`] belong to each run.
pub(super) fn rows_of_a_run(
    of: &Connection,
    database: &str,
    table: &str,
    run: u32,
) -> Result<String, RowError> {
    if table == SHARED_TABLE {
        return Ok(format!("select * from {database}.{table}"));
    }
    let sql = "select name from pragma_table_info(?1, ?2) where cid > 0";
    let mut select = of.prepare(sql)?;
    let names = select.query_map([table, database], |row| row.get(0))?;
    let columns = names.collect::<Result<Vec<String>, _>>()?.join(", ");
    Ok(format!("select {columns} from {database}.{table} where run = {run}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each table of a run has the columns of version 1, after a first column `run`.
    #[test]
    fn tables_of_a_run_are_the_tables_of_version_1_with_its_number() {
        let (first, second) =
            (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        v1::statements().for_each(|(_, text)| first.execute_batch(text).unwrap());
        statements().for_each(|(_, text)| second.execute_batch(text).unwrap());
        let types = |of: &Connection, table: &str, from: u32| -> Vec<(String, String, bool)> {
            let sql = "select name, type, \"notnull\" from pragma_table_info(?1) where cid >= ?2";
            let mut select = of.prepare(sql).unwrap();
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let rows = select.query_map((table, from), row).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        for table in tables_of_a_run() {
            assert_eq!(types(&second, table, 1), types(&first, table, 0), "{table}");
            assert_eq!(types(&second, table, 0)[0].0, "run", "{table}");
        }
        assert_eq!(tables_of_a_run().count(), 19);
        assert_eq!(types(&second, SHARED_TABLE, 0), types(&first, SHARED_TABLE, 0));
        assert_eq!(statements().count(), 25);
    }
}
