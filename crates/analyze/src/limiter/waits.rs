//! Waits of the database's sessions: by samples, and by times that the database adds up.
//!
//! Ten samples a second show the current wait of each session. A session between a lock and a
//! processor is in no wait that the server names, and is shown as running. A counter that adds up
//! time misses nothing: its growth per second is the mean number of waiting sessions. If it counts
//! more waiting sessions than the samples show, the surplus counts as waiting instead of running.
//! The surplus is limited to the sessions that are shown as running but cannot run: the processes
//! of the database neither had nor wanted a processor for them.

use record::metric::RUNNING;
use record::statistic::{
    performance_schema, pg_stat_database, pg_stat_io_log, pg_stat_wal, status,
};
use record::{ComponentKind, ServerStatistic};

use super::finding::Contradiction;
use super::input::LimiterInput;

/// A wait is the limiter only if it takes at least this fraction of the requests' time.
pub(super) const DECISIVE_WAIT: f64 = 0.4;

/// A contradiction is reported only if at least this number of sessions is shown as running but
/// cannot run.
const CONTRADICTION: f64 = 1.0;

/// A contradiction is reported only if at least this fraction of the active sessions is shown as
/// running but cannot run.
const CONTRADICTION_SHARE: f64 = 0.2;

/// A kind of wait of sessions, classified by its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Lock or latch inside the database, or pinned buffer.
    Lock,
    /// Flush of a log to the disk, or acknowledgement of a commit by a replica.
    Flush,
    /// Read from or write to a disk, other than a flush of a log.
    Disk,
    /// Any other wait, such as for the client; sessions that run also count here.
    Other,
}

/// The waits that have counters.
const COUNTED: [Wait; 3] = [Wait::Lock, Wait::Flush, Wait::Disk];

/// A counter of the time for which sessions wait.
struct TimeCounter {
    wait: Wait,
    statistic: ServerStatistic,
    /// Growth of the counter in a second in which one session waits.
    per_session: f64,
}

const fn millis(wait: Wait, statistic: ServerStatistic) -> TimeCounter {
    TimeCounter { wait, statistic, per_session: 1e3 }
}

const fn seconds(wait: Wait, statistic: ServerStatistic) -> TimeCounter {
    TimeCounter { wait, statistic, per_session: 1.0 }
}

/// Counters of PostgreSQL (`track_io_timing`, `track_wal_io_timing`; from version 18 on the log is
/// in `pg_stat_io`), of InnoDB, and of MySQL's performance schema.
const TIME_COUNTERS: [TimeCounter; 9] = [
    millis(Wait::Lock, status::INNODB_ROW_LOCK_TIME),
    millis(Wait::Flush, pg_stat_wal::WAL_SYNC_TIME),
    millis(Wait::Flush, pg_stat_wal::WAL_WRITE_TIME),
    millis(Wait::Flush, pg_stat_io_log::FSYNC_TIME),
    millis(Wait::Flush, pg_stat_io_log::WRITE_TIME),
    seconds(Wait::Flush, performance_schema::INNODB_LOG_WAITED),
    seconds(Wait::Flush, performance_schema::BINLOG_WAITED),
    millis(Wait::Disk, pg_stat_database::BLK_READ_TIME),
    seconds(Wait::Disk, performance_schema::INNODB_DATA_READ_WAITED),
];

/// Gauges of the sessions that wait at an instant, by kind of wait. They show waits in progress,
/// which InnoDB adds to its counters of time only when they end.
const GAUGES: [(Wait, ServerStatistic); 2] = [
    (Wait::Lock, status::INNODB_ROW_LOCK_CURRENT_WAITS),
    (Wait::Disk, status::INNODB_DATA_PENDING_READS),
];

/// Sessions in one kind of wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SessionsInWait<'a> {
    /// Mean number of sessions.
    pub(super) sessions: f64,
    /// Name of the wait or counter that shows most of these sessions.
    pub(super) event: &'a str,
}

/// Returns the kind of a wait of PostgreSQL (its manual, tables 28.5 to 28.13) or of the MySQL
/// family.
pub(super) fn kind(name: &str) -> Wait {
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    // `buffer_io` is the name before PostgreSQL 13.
    if has(&["bufferio", "buffer_io"]) {
        Wait::Disk
    } else if has(&[
        "semi-sync",
        "wsrep",
        "walsync",
        "walwrite",
        "walinit",
        "io:commit",
        "syncrep",
        "binlog",
        "redo",
    ]) {
        Wait::Flush
    } else if lower.starts_with("lock:") || has(&["lwlock:", "bufferpin"]) {
        Wait::Lock
    } else if lower.starts_with("io:") {
        Wait::Disk
    } else {
        Wait::Other
    }
}

impl LimiterInput<'_, '_> {
    /// Returns the sessions in a kind of wait; `None` if neither samples nor counters show it.
    pub(super) fn waiting(&self, wanted: Wait) -> Option<SessionsInWait<'_>> {
        let seen = self.waiting_by_samples(wanted);
        let hidden = self.hidden_waits(wanted);
        match (seen, hidden) {
            (Some(seen), Some(hidden)) => Some(SessionsInWait {
                sessions: seen.sessions + hidden.sessions,
                event: if hidden.sessions > seen.sessions { hidden.event } else { seen.event },
            }),
            (seen, hidden) => seen.or(hidden),
        }
    }

    /// Returns the sessions that wait according to samples.
    fn waiting_by_samples(&self, wanted: Wait) -> Option<SessionsInWait<'_>> {
        let waits = self.signals.all_per_sample(&ComponentKind::Waits);
        let of_kind: Vec<&(&str, f64)> =
            waits.iter().filter(|(name, _)| kind(name) == wanted).collect();
        let event = of_kind.first()?.0;
        Some(SessionsInWait { sessions: of_kind.iter().map(|(_, mean)| mean).sum(), event })
    }

    /// Returns the sessions that wait according to counters, without regard to samples.
    fn waiting_by_counters(&self, wanted: Wait) -> Option<SessionsInWait<'_>> {
        let counters = TIME_COUNTERS.iter().filter(|counter| counter.wait == wanted);
        let times = counters.filter_map(|TimeCounter { statistic, per_session, .. }| {
            Some((statistic.name, self.signals.rate_of_statistic(*statistic)? / per_session))
        });
        let times: Vec<(&str, f64)> = times.collect();
        let most = times.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let added = most.map(|(event, _)| SessionsInWait {
            sessions: times.iter().map(|(_, sessions)| sessions).sum(),
            event,
        });
        let gauges = GAUGES.iter().filter(|(wait, _)| *wait == wanted);
        let at_once = gauges.filter_map(|(_, statistic)| {
            let sessions = self.signals.mean_of_statistic(*statistic)?;
            Some(SessionsInWait { sessions, event: statistic.name })
        });
        added.into_iter().chain(at_once).max_by(|a, b| a.sessions.total_cmp(&b.sessions))
    }

    /// Returns the sessions that wait according to counters but not according to samples. All such
    /// waits together are limited to the sessions that samples show as running without a processor.
    /// Counters also include sessions of other clients, and read-ahead.
    fn hidden_waits(&self, wanted: Wait) -> Option<SessionsInWait<'_>> {
        let beyond = |wait: Wait| {
            let counted = self.waiting_by_counters(wait)?;
            let seen = self.waiting_by_samples(wait).map_or(0.0, |seen| seen.sessions);
            Some(SessionsInWait { sessions: (counted.sessions - seen).max(0.0), ..counted })
        };
        let wanted = beyond(wanted)?;
        let all: f64 = COUNTED.into_iter().filter_map(beyond).map(|it| it.sessions).sum();
        let room = self.shown_without_processor()?;
        let part = (room / all.max(f64::MIN_POSITIVE)).min(1.0);
        Some(SessionsInWait { sessions: wanted.sessions * part, ..wanted })
    }

    /// Returns the mean number of sessions that samples show as running.
    fn shown_running(&self) -> Option<f64> {
        self.signals.per_sample_named(&ComponentKind::Waits, RUNNING)
    }

    /// Returns the number of sessions that samples show as running although they neither had a
    /// processor nor waited for one; all running sessions if processor times are unknown.
    fn shown_without_processor(&self) -> Option<f64> {
        let had = self.database_cpu().unwrap_or(0.0);
        let wanted = self.database_waited().unwrap_or(0.0);
        Some((self.shown_running()? - had - wanted).max(0.0))
    }

    /// Returns the mean number of sessions that samples show as running, without those that
    /// counters show as waiting.
    pub(super) fn running(&self) -> Option<f64> {
        Some((self.shown_running()? - self.all_hidden()).max(0.0))
    }

    /// Returns the mean number of sessions that samples show as running and counters show as
    /// waiting.
    fn all_hidden(&self) -> f64 {
        let hidden = COUNTED.into_iter().filter_map(|wait| self.hidden_waits(wait));
        hidden.map(|hidden| hidden.sessions).sum()
    }

    /// Returns the mean number of sessions that samples show as running, although they had no
    /// processor and no counter shows them as waiting; `None` if the processes of the database were
    /// not seen, belong to a proxy, or may have lacked processors unnoticed.
    fn unexplained(&self) -> Option<f64> {
        self.database_cpu()?;
        // The time for which threads waited for a processor is unknown if there are too many to
        // read, and for a database behind a proxy.
        let is_known = self.database_waited().is_some() || !self.is_host_full();
        (is_known && !self.sees_proxy())
            .then(|| self.shown_without_processor())?
            .map(|all| (all - self.all_hidden()).max(0.0))
    }

    /// Returns the contradiction between the sessions that the database shows as running and the
    /// processors that they used; `None` if it is small.
    pub(super) fn contradiction(&self) -> Option<Contradiction> {
        let unexplained = self.unexplained()?;
        let active = self.active()?;
        if unexplained < CONTRADICTION || unexplained < CONTRADICTION_SHARE * active {
            return None;
        }
        Some(Contradiction {
            running: self.running()?,
            active,
            used: self.database_cpu()?,
            waited: self.database_waited().unwrap_or(0.0),
            unexplained,
        })
    }

    /// Returns the waits of the active sessions with the mean number of sessions, the largest
    /// first. Sessions that are shown as running but cannot run appear as `unexplained`.
    pub(super) fn all_waits(&self) -> Vec<(String, f64)> {
        let shown = self.signals.all_per_sample(&ComponentKind::Waits).into_iter();
        let shown = shown.filter(|(name, _)| *name != RUNNING);
        let hidden = COUNTED.into_iter().filter_map(|wait| self.hidden_waits(wait));
        let hidden = hidden.map(|SessionsInWait { sessions, event }| (event, sessions));
        let unexplained = self.unexplained();
        let running = self.running().map(|all| (RUNNING, all - unexplained.unwrap_or(0.0)));
        let unexplained = unexplained.map(|sessions| ("unexplained", sessions));
        let all = shown.chain(hidden).chain(running).chain(unexplained);
        let mut all: Vec<(String, f64)> = all.map(|(name, n)| (name.to_owned(), n)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_classified_by_their_remedy() {
        for (name, expected) in [
            ("Lock:tuple", Wait::Lock),
            ("Lock:transactionid", Wait::Lock),
            ("Lock:row", Wait::Lock),
            ("LWLock:BufferContent", Wait::Lock),
            ("LWLock:WALWrite", Wait::Flush),
            ("IO:WALSync", Wait::Flush),
            ("IO:WalSync", Wait::Flush),
            ("IO:commit", Wait::Flush),
            ("IPC:SyncRep", Wait::Flush),
            ("state: Waiting for semi-sync ACK from slave", Wait::Flush),
            ("IO:DataFileRead", Wait::Disk),
            ("IPC:BufferIO", Wait::Disk),
            ("LWLock:BufferIO", Wait::Disk),
            ("LWLock:buffer_io", Wait::Disk),
            ("LWLock:buffer_content", Wait::Lock),
            ("LWLock:WALWriteLock", Wait::Flush),
            ("IO:BufFileWrite", Wait::Disk),
            ("Client:ClientWrite", Wait::Other),
            ("cpu", Wait::Other),
            ("", Wait::Other),
        ] {
            assert!(kind(name) == expected, "{name}");
        }
    }
}
