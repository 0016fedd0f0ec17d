//! Version 1 of the record: its tables and rows.
//!
//! No type of the program is serialized: every column is written and read here, by name. The
//! program can therefore change without changing the format. Every later version of Assay reads
//! what this module has written: names of columns and words in them never change. A version 2 gets
//! its own module.

mod content;
mod rows;
mod seal;

use rusqlite::Connection;

use crate::archive::error::Trouble;

pub(crate) use content::{
    read_end, read_events_dropped, read_header, read_op_log, write_end, write_events_dropped,
    write_header, write_op_log, write_time_zero,
};
pub(crate) use rows::{
    Client, Event, Failure, HistogramRow, IntervalRow, LoadProgressRow, LoadRow, LoadSampleRow,
    SampleRow, SeriesRow, Setting,
};
pub(crate) use seal::{check_seal, sums, sums_on_disk, write_seal};

/// `PRAGMA user_version` of a record of this version.
pub(crate) const VERSION: i64 = 1;

/// The tables and views. SQLite keeps the text of each statement exactly as written.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");

/// Tables that the first records did not have.
pub(crate) const OPTIONAL_TABLES: [&str; 3] = ["series", "sample", "load_sample"];

/// Returns true if a record is older than this table.
pub(crate) fn is_missing(in_it: &Connection, table: &str) -> Result<bool, Trouble> {
    if !OPTIONAL_TABLES.contains(&table) {
        return Ok(false);
    }
    let mut select = in_it.prepare_cached("select 1 from sqlite_schema where name = ?1")?;
    Ok(!select.exists([table])?)
}

/// Returns the statements of [`SCHEMA`] with the names of the objects that they create.
pub(crate) fn statements() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCHEMA.split(";\n").filter_map(|statement| {
        let create = statement.find("CREATE ")?;
        let statement = &statement[create..];
        Some((statement.split([' ', '(']).nth(2)?, statement))
    })
}

#[cfg(test)]
mod tests {
    use base::Class;

    use crate::delivery::EventKind;
    use crate::facts::{EndKind, Pace};
    use crate::histogram::Kind;

    /// The words are stored in files: if this test fails, a version 2 is needed, not new words.
    #[test]
    fn the_words_of_version_1_do_not_change() {
        let statement = [Kind::Statement(0)];
        let kinds = Kind::OF_A_JOB.into_iter().chain(statement).map(Kind::name);
        let kinds: Vec<String> = kinds.collect();
        assert_eq!(
            kinds,
            ["response", "service", "wait", "send-lag", "error", "gap", "statement-1"]
        );
        let ends = ["completed", "interrupted", "stopped-by-error", "target-lost"];
        assert_eq!(EndKind::ALL[..4].iter().map(|end| end.name()).collect::<Vec<_>>(), ends);
        assert_eq!(EndKind::RecorderFailed.name(), "recorder-failed");
        assert_eq!(EndKind::FileFailed.name(), "file-failed");
        assert_eq!(EndKind::QueueFull.name(), "queue-full");
        assert_eq!(EndKind::InternalError.name(), "internal-error");
        assert_eq!(Pace::ALL.map(Pace::name), ["real", "virtual"]);
        for class in [
            "statement",
            "constraint",
            "conflict",
            "timeout",
            "disconnect",
            "too-many-connections",
            "server",
            "wrong-result",
        ] {
            assert!(Class::from_name(class).is_some(), "{class}");
        }
        for event in [
            "outage-began",
            "outage-ended",
            "connection-limit",
            "queue-full",
            "first-error",
            "stopped-by-error",
            "interrupted",
            "recorder-failed",
            "file-failed",
            "file-cut-off",
            "file-exhausted",
            "op-log-incomplete",
        ] {
            assert!(EventKind::from_name(event).is_some(), "{event}");
        }
    }
}
