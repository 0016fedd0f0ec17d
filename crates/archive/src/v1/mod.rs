//! Version 1 of the record: its tables and rows.
//!
//! No type of the program is serialized: every column is written and read here, by name. The
//! program can therefore change without changing the format. Every later version of Assay reads the
//! records that this module has written: names of columns and words in them never change. A format
//! with other names is a new version, in its own module.

mod content;
mod excerpts;
mod files;
mod jobs;
mod rows;
mod schema;
mod seal;

pub(crate) use content::{
    read_end, read_events_dropped, read_header, read_op_log, read_window_from, read_with_rows,
    write_end, write_events_dropped, write_header, write_op_log, write_time_zero,
    write_window_from, write_with_rows,
};
pub(crate) use excerpts::{read_excerpts, read_excerpts_of, write_excerpt};
pub(crate) use files::{read_files, write_file};
pub(crate) use rows::{
    Client, Event, EventError, Failure, HistogramRow, IntervalRow, IntervalSums, LoadProgressRow,
    LoadRow, LoadSampleRow, SampleRangeRow, SampleRow, SeriesRow, Setting,
};
pub(crate) use schema::{
    APPLICATION, EXCERPT, OPTIONAL_TABLES, SAMPLE_RANGE, VERSION, has_table, is_missing,
    statements, statements_of,
};
pub(crate) use seal::{Seal, Totals, sums, sums_on_disk, write_seal};

#[cfg(test)]
mod tests {
    use base::{Class, StatementId};
    use record::{EndKind, EventKind, Kind, Pace};

    /// The words are stored in files. If this test fails, restore the words, or make a new version
    /// of the format.
    #[test]
    fn names_of_version_1_do_not_change() {
        let statement = [Kind::Statement(StatementId(0))];
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
