//! Activity counters kept by the server itself, used to check Assay's own counts.
//!
//! One reading is taken before the measured phase and one after it. Their difference is the
//! server's total activity in between, including Assay's own traffic other than requests: logins,
//! preparations and the readings themselves. Each reading therefore includes a count of that
//! traffic.

use std::sync::atomic::{AtomicU64, Ordering};

/// A server counter read at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The counter.
    pub counter: Counter,
    /// Unit of the counter.
    pub unit: &'static str,
    /// Counter value, in `unit`.
    pub value: f64,
}

impl Count {
    /// Builds the reading of a counter; `value` is in `unit`.
    pub(crate) fn of(counter: Counter, unit: &'static str, value: f64) -> Count {
        Count { counter, unit, value }
    }
}

/// A counter of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Committed transactions of PostgreSQL, or executed `commit` statements of MySQL and MariaDB.
    Commits,
    /// Transactions that PostgreSQL rolled back.
    Rollbacks,
    /// Statements that MySQL or MariaDB counted (`Questions`).
    Statements,
    /// Assay's own commits, other than commits of requests.
    CommitsOfAssay,
    /// Minimum number of Assay's own statements, other than statements of requests.
    StatementsOfAssay,
    /// Maximum number of Assay's own statements, other than statements of requests.
    StatementsOfAssayAtMost,
    /// Time at which the server began to count, in seconds since 1970.
    CountedSince,
    /// Time since the server began to count, in seconds.
    CountedFor,
    /// Checkpoints that PostgreSQL started by its schedule.
    CheckpointsTimed,
    /// Checkpoints of PostgreSQL that were requested, mostly because of the amount of WAL.
    CheckpointsRequested,
    /// Bytes written to the WAL or the redo log.
    LogWritten,
    /// Capacity of the redo log of MySQL and MariaDB, in bytes.
    LogCapacity,
    /// Transactions of MySQL and MariaDB whose old row versions are not purged yet.
    PurgeBacklog,
}

/// Assay's own traffic other than requests, counted over all sessions of a driver, which share this
/// value.
#[derive(Debug)]
pub(crate) struct OwnTraffic {
    logins: AtomicU64,
    preparations: AtomicU64,
    texts: AtomicU64,
    terminations: AtomicU64,
    /// Number of other clients' sessions when first reported; [`u64::MAX`] before that.
    other_sessions: AtomicU64,
}

impl Default for OwnTraffic {
    fn default() -> OwnTraffic {
        let none = || AtomicU64::new(0);
        OwnTraffic {
            logins: none(),
            preparations: none(),
            texts: none(),
            terminations: none(),
            other_sessions: AtomicU64::new(u64::MAX),
        }
    }
}

impl OwnTraffic {
    /// Counts a login.
    pub(crate) fn logged_in(&self) {
        self.logins.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a prepared statement.
    pub(crate) fn prepared(&self) {
        self.preparations.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an unprepared statement that is not part of a request.
    pub(crate) fn count_text(&self) {
        self.texts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a session that sent the server a termination message. PostgreSQL does not count these
    /// messages, so its driver does not call this.
    pub(crate) fn sent_termination(&self) {
        self.terminations.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of transactions that PostgreSQL counts for this traffic: one for each
    /// login (which checks the user), each preparation and each unprepared statement.
    pub(crate) fn transactions(&self) -> u64 {
        let OwnTraffic { logins, preparations, texts, terminations: _, other_sessions: _ } = self;
        [logins, preparations, texts].into_iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Returns the number of unprepared statements outside of requests.
    pub(crate) fn texts(&self) -> u64 {
        self.texts.load(Ordering::Relaxed)
    }

    /// Returns the number of sessions that sent a termination message.
    pub(crate) fn terminations(&self) -> u64 {
        self.terminations.load(Ordering::Relaxed)
    }

    /// Returns true once the number of other clients' sessions has been reported.
    pub(crate) fn knows_other_sessions(&self) -> bool {
        self.other_sessions.load(Ordering::Relaxed) != u64::MAX
    }

    /// Returns the number of other clients' sessions at the first call. That call stores `now`;
    /// later calls ignore their argument.
    pub(crate) fn other_sessions(&self, now: u64) -> u64 {
        let order = Ordering::Relaxed;
        match self.other_sessions.compare_exchange(u64::MAX, now, order, order) {
            Ok(_) => now,
            Err(before) => before,
        }
    }
}
