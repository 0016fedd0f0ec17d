//! The statistics of database servers that checks and limiters use: one table with the view, name
//! and meaning of each.
//!
//! Samplers record every number of a view, whether it is in this table or not, under the name of
//! the view and the server's own name for the number. Checks look up a statistic by a constant of
//! this table, so a misspelt name does not compile. Samplers take the names of most views from this
//! table. `docs/record.md` lists [`VIEWS`].

/// A statistic under the name that the server gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerStatistic {
    /// Name in records: the view, a dot, and the server's name.
    pub name: &'static str,
    /// The server's own name for the statistic, in lower case.
    pub own_name: &'static str,
    /// Unit of the values; empty for most counts.
    pub unit: &'static str,
    /// Meaning of the values, for the documentation.
    pub meaning: &'static str,
}

/// Those statistics of one view that are used by checks or limiters.
#[derive(Clone, Copy, Debug)]
pub struct StatisticView {
    /// Prefix of the names of the view's statistics in records.
    pub name: &'static str,
    /// The statistics of this view.
    pub statistics: &'static [ServerStatistic],
}

/// Defines a module of constants for each view, and the table of all views.
macro_rules! statistics {
    ($(
        $(#[$doc:meta])*
        $module:ident $view:literal {
            $($constant:ident $name:literal $unit:literal $meaning:literal;)+
        }
    )+) => {
        $(
            $(#[$doc])*
            pub mod $module {
                use super::ServerStatistic;

                /// Prefix of the names in records.
                pub const VIEW: &str = $view;

                $(
                    #[doc = concat!("`", $view, ".", $name, "`: ", $meaning, ".")]
                    pub const $constant: ServerStatistic = ServerStatistic {
                        name: concat!($view, ".", $name),
                        own_name: $name,
                        unit: $unit,
                        meaning: $meaning,
                    };
                )+

                /// All statistics of this view in the table.
                pub const ALL: &[ServerStatistic] = &[$($constant),+];
            }
        )+

        /// All views, in the order of the documentation.
        pub const VIEWS: &[StatisticView] =
            &[$(StatisticView { name: $view, statistics: $module::ALL }),+];
    };
}

statistics! {
    /// PostgreSQL: the row of the target's database in `pg_stat_database`.
    pg_stat_database "pg_stat_database" {
        XACT_COMMIT "xact_commit" "" "transactions committed in the target's database";
        XACT_ROLLBACK "xact_rollback" "" "transactions rolled back there";
        TUP_INSERTED "tup_inserted" "" "rows inserted there";
        TUP_UPDATED "tup_updated" "" "rows updated there";
        TUP_DELETED "tup_deleted" "" "rows deleted there";
        BLK_READ_TIME "blk_read_time" "ms" "time of reads there (`track_io_timing`)";
    }

    /// PostgreSQL: sums of `pg_stat_database` over all databases.
    pg_stat_databases "pg_stat_database.all" {
        XACT_COMMIT "xact_commit" "" "transactions committed in all databases";
        XACT_ROLLBACK "xact_rollback" "" "transactions rolled back in all databases";
    }

    /// PostgreSQL: `pg_stat_bgwriter`; before version 17, it also counts the checkpoints.
    pg_stat_bgwriter "pg_stat_bgwriter" {
        CHECKPOINTS_TIMED "checkpoints_timed" "" "checkpoints that were due (before 17)";
        CHECKPOINTS_REQ "checkpoints_req" "" "checkpoints that were requested (before 17)";
    }

    /// PostgreSQL 17 and later: `pg_stat_checkpointer`.
    pg_stat_checkpointer "pg_stat_checkpointer" {
        NUM_TIMED "num_timed" "" "checkpoints that were due (from 17)";
        NUM_REQUESTED "num_requested" "" "checkpoints that were requested (from 17)";
    }

    /// PostgreSQL 14 and later: `pg_stat_wal`.
    pg_stat_wal "pg_stat_wal" {
        WAL_SYNC_TIME "wal_sync_time" "ms"
            "time of flushes of the log (`track_wal_io_timing`, before 18)";
        WAL_WRITE_TIME "wal_write_time" "ms"
            "time of writes to the log (`track_wal_io_timing`, before 18)";
    }

    /// PostgreSQL 18 and later: the log of client sessions in `pg_stat_io`.
    pg_stat_io_log "pg_stat_io.client backend/normal/wal" {
        FSYNC_TIME "fsync_time" "ms" "time of flushes of the log (`track_wal_io_timing`, from 18)";
        WRITE_TIME "write_time" "ms" "time of writes to the log (`track_wal_io_timing`, from 18)";
    }

    /// PostgreSQL 14 and later: sums of `pg_stat_progress_copy` over running statements.
    pg_stat_progress_copy "pg_stat_progress_copy" {
        TUPLES_PROCESSED "tuples_processed" "" "rows that running `copy … from` have loaded";
    }

    /// MySQL and MariaDB: `show global status`.
    status "status" {
        QUESTIONS "questions" "" "statements of all clients";
        COM_COMMIT "com_commit" "" "statements `commit`";
        COM_ROLLBACK "com_rollback" "" "statements `rollback`";
        HANDLER_WRITE "handler_write" "" "rows inserted, by all storage engines";
        HANDLER_UPDATE "handler_update" "" "rows updated, by all storage engines";
        HANDLER_DELETE "handler_delete" "" "rows deleted, by all storage engines";
        INNODB_ROWS_INSERTED "innodb_rows_inserted" "" "rows inserted (not in MariaDB from 10.6)";
        INNODB_ROWS_UPDATED "innodb_rows_updated" "" "rows updated (not in MariaDB from 10.6)";
        INNODB_ROWS_DELETED "innodb_rows_deleted" "" "rows deleted (not in MariaDB from 10.6)";
        INNODB_ROW_LOCK_TIME "innodb_row_lock_time" "ms" "time of waits for row locks";
        INNODB_ROW_LOCK_CURRENT_WAITS "innodb_row_lock_current_waits" "sessions"
            "sessions that wait for a row lock at that instant";
        INNODB_DATA_PENDING_READS "innodb_data_pending_reads" "reads"
            "reads under way at that instant";
    }

    /// MySQL and MariaDB: waits for files in the performance schema.
    performance_schema "performance_schema" {
        INNODB_LOG_WAITED "wait/io/file/innodb/innodb_log_file.waited" "s"
            "time of operations on InnoDB's log";
        BINLOG_WAITED "wait/io/file/sql/binlog.waited" "s" "time of operations on the binary log";
        INNODB_DATA_READ_WAITED "wait/io/file/innodb/innodb_data_file/read.waited" "s"
            "time of reads of InnoDB's data files";
    }
}

/// Names of the recorded statistics that are values at an instant; all others are counters.
pub const GAUGES: [&str; 20] = [
    "pg_stat_database.numbackends",
    "status.innodb_buffer_pool_pages_data",
    "status.innodb_buffer_pool_pages_dirty",
    "status.innodb_buffer_pool_pages_free",
    "status.innodb_buffer_pool_pages_total",
    "status.innodb_checkpoint_age",
    "status.innodb_checkpoint_max_age",
    "status.innodb_data_pending_fsyncs",
    "status.innodb_data_pending_reads",
    "status.innodb_data_pending_writes",
    "status.innodb_history_list_length",
    "status.innodb_os_log_pending_fsyncs",
    "status.innodb_row_lock_current_waits",
    "status.innodb_row_lock_time_max",
    "status.max_used_connections",
    "status.threads_connected",
    "status.threads_running",
    "freelist_count",
    "page_count",
    "wal_bytes",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_statistics_are_distinct_and_begin_with_their_view() {
        let mut names = Vec::new();
        for view in VIEWS {
            for ServerStatistic { name, own_name, meaning, .. } in view.statistics {
                assert_eq!(*name, format!("{}.{own_name}", view.name));
                assert!(!meaning.contains(['|', '\n']) && !meaning.ends_with('.'), "{name}");
                names.push(*name);
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
