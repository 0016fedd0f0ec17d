//! SQLite (SQLite documentation, "PRAGMA Statements", "Write-Ahead Logging").
//!
//! SQLite's counters describe only one connection. The driver therefore adds up the counters of its
//! statements over all connections ([`driver::Driver::counters`]). There are no sessions to sample.
//! The observer's session reads the file's own statistics, which blocks no writer if there is a
//! write-ahead log. With a rollback journal, each query would be a further reader whose lock delays
//! writers, so only the sizes of the files are read.
//!
//! This module examines the files and never opens them: when a process closes a file, it releases
//! all locks that it holds on the file, including those of its other connections (fcntl(2)).

use std::path::{Path, PathBuf};

use base::with_suffix;
use driver::Connection;
use record::ComponentKind;

use super::session::{Query, QueryFailure, SampledSession, SessionEnd};
use super::text::{number, text};
use crate::sample::Sample;

const DATABASE_QUERY: &str = "select sqlite_version(), (select file from pragma_database_list \
    where name = 'main'), (select page_size from pragma_page_size), \
    (select journal_mode from pragma_journal_mode)";

const PAGES_QUERY: &str = "select (select page_count from pragma_page_count), \
    (select freelist_count from pragma_freelist_count)";

/// Sampler for an SQLite database.
pub(super) struct Sqlite {
    /// Path of the database file.
    file: PathBuf,
    page_bytes: u64,
    has_log: bool,
}

impl Sqlite {
    /// Queries the version, file and journal mode of the database.
    pub(super) async fn open<C: Connection>(
        session: &mut SampledSession<C>,
    ) -> Result<Sqlite, SessionEnd> {
        let reply = session.query(DATABASE_QUERY).await?;
        let row = reply.rows.first().map(Vec::as_slice).unwrap_or_default();
        if text(row, 0).is_empty() {
            return Err(SessionEnd::Unusable(
                "it gave no version: it is not an SQLite database".to_owned(),
            ));
        }
        let file = text(row, 1);
        if file.is_empty() {
            return Err(SessionEnd::Unusable("the database is in memory only".to_owned()));
        }
        Ok(Sqlite {
            file: PathBuf::from(file),
            page_bytes: number(row, 2),
            has_log: text(row, 3) == "wal",
        })
    }

    /// Returns the path of the database file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Reads the number of pages, and the size of the log.
    pub(super) async fn read<C: Connection>(
        &self,
        session: &mut SampledSession<C>,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        let mut report = |metric, unit, value: u64| {
            sample.read_named(&ComponentKind::Statistics, metric, unit, value as f64);
        };
        if !self.has_log {
            if let Some(bytes) = self.bytes("") {
                report("page_count", "pages", bytes / self.page_bytes.max(1));
            }
            let why = "there is no write-ahead log, and reading the size would take a lock";
            sample.missing("statistics freelist_count", why);
            return Ok(());
        }
        // A log file that does not exist counts as empty: nothing was written since the last
        // checkpoint.
        report("wal_bytes", "bytes", self.bytes("-wal").unwrap_or_default());
        let asked = Query { what: "statistics page_count", sql: PAGES_QUERY, remedy: "" };
        if let Some(reply) = session.query_or_report_missing(asked, sample).await?
            && let Some(row) = reply.rows.first()
        {
            for (place, metric) in ["page_count", "freelist_count"].into_iter().enumerate() {
                let pages = number(row, place) as f64;
                sample.read_named(&ComponentKind::Statistics, metric, "pages", pages);
            }
        }
        Ok(())
    }

    /// Returns the size in bytes of the database file, or of the file whose name has this suffix;
    /// `None` if there is no such file.
    fn bytes(&self, suffix: &str) -> Option<u64> {
        std::fs::metadata(with_suffix(&self.file, suffix)).ok().map(|found| found.len())
    }
}
