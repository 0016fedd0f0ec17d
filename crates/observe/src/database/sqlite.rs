//! SQLite (SQLite documentation, "PRAGMA Statements", "Write-Ahead Logging").
//!
//! Its counters belong to one connection and tell nothing of others: those of its statements the
//! driver adds up for all ([`driver::Driver::counters`]). There are no sessions to be looked at.
//! What the file itself says is read by a session: with a write-ahead log that disturbs nobody.
//! With a rollback journal each question would be one more reader for whose lock a writer waits;
//! there only the sizes of the files are read.
//!
//! The files are looked at and never opened here: when a process closes a file, it gives up all
//! locks that it has on it, those of its other connections too (fcntl(2)).

use std::path::PathBuf;

use driver::Connection;
use record::Part;

use super::End;
use super::session::{Question, Session, Trouble};
use super::text::{number, text};
use crate::sample::Sample;

const WHO: &str = "select sqlite_version(), (select file from pragma_database_list \
    where name = 'main'), (select page_size from pragma_page_size), \
    (select journal_mode from pragma_journal_mode)";

const PAGES: &str = "select (select page_count from pragma_page_count), \
    (select freelist_count from pragma_freelist_count)";

/// What is known of a database.
pub(super) struct Sqlite {
    /// The file.
    file: PathBuf,
    page_bytes: u64,
    has_log: bool,
}

impl Sqlite {
    /// Asks what it is.
    pub(super) async fn open<C: Connection>(session: &mut Session<C>) -> Result<Sqlite, End> {
        let told = session.ask(WHO).await?;
        let row = told.rows.first().map(Vec::as_slice).unwrap_or_default();
        if text(row, 0).is_empty() {
            return Err(End::Useless(
                "asked for its version, it said nothing: it is no SQLite database".to_owned(),
            ));
        }
        let file = text(row, 1);
        if file.is_empty() {
            return Err(End::Useless("the database is in memory only".to_owned()));
        }
        Ok(Sqlite {
            file: PathBuf::from(file),
            page_bytes: number(row, 2),
            has_log: text(row, 3) == "wal",
        })
    }

    /// Reads what the files say.
    pub(super) async fn read<C: Connection>(
        &self,
        session: &mut Session<C>,
        sample: &mut Sample,
    ) -> Result<(), Trouble> {
        let mut tell = |metric, unit, value: u64| {
            sample.read(&Part::Statistics, metric, unit, value as f64);
        };
        if !self.has_log {
            if let Some(bytes) = self.bytes("") {
                tell("page_count", "pages", bytes / self.page_bytes.max(1));
            }
            let why = "there is no write-ahead log, and asking would take a lock";
            sample.missing("statistics freelist_count", why);
            return Ok(());
        }
        // While there is no log, nobody has written since it was last written back.
        tell("wal_bytes", "bytes", self.bytes("-wal").unwrap_or_default());
        let asked = Question { what: "statistics page_count", sql: PAGES, remedy: "" };
        if let Some(told) = session.ask_or_miss(asked, sample).await?
            && let Some(row) = told.rows.first()
        {
            for (place, metric) in ["page_count", "freelist_count"].into_iter().enumerate() {
                let pages = number(row, place) as f64;
                sample.read(&Part::Statistics, metric, "pages", pages);
            }
        }
        Ok(())
    }

    /// How long the file is, or the one beside it with this behind its name.
    fn bytes(&self, behind: &str) -> Option<u64> {
        let mut path = self.file.clone().into_os_string();
        path.push(behind);
        std::fs::metadata(path).ok().map(|found| found.len())
    }
}
