//! Version 1 of the record: its tables, and the rows in them.
//!
//! No type of the rest of the program is serialized: every column is written and read here, by
//! name, so that the program can change and the format stays. What is written here once, every
//! later version of Assay reads: names of columns and words in them are never changed; a version 2
//! gets a module beside this one.

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

/// `PRAGMA user_version` of such a record.
pub(crate) const VERSION: i64 = 1;

/// The tables and views. SQLite keeps the text of each statement as it is written here.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");

/// Tables that the first records did not have.
pub(crate) const LATER: [&str; 3] = ["series", "sample", "load_sample"];

/// Whether a record is of before there was this table.
pub(crate) fn is_missing(in_it: &Connection, table: &str) -> Result<bool, Trouble> {
    if !LATER.contains(&table) {
        return Ok(false);
    }
    let mut select = in_it.prepare_cached("select 1 from sqlite_schema where name = ?1")?;
    Ok(!select.exists([table])?)
}

/// The statements of [`SCHEMA`] with the names of what they create.
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

    /// The words stand in files: a test that fails here asks for a version 2, not for new words.
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
