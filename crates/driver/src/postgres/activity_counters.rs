//! PostgreSQL's transaction counters, used to check Assay's own counts.
//!
//! `pg_stat_database.xact_commit` counts each transaction once, including the implicit ones of a
//! single statement and of a preparation. A session reports its counts at most once a second, and
//! when it ends. A reading therefore waits until our other sessions are gone, and flushes the
//! counts of its own session. Since version 15 no counts are lost (PostgreSQL manual, "The
//! Cumulative Statistics System").

use base::Nanos;

use super::PostgresConnection;
use crate::activity_counters::{Count, Counter};
use crate::{Connection, ServerId, SessionId, Table};

/// First version whose statistics are in shared memory, and therefore exact.
const EXACT_SINCE: u32 = 15;

/// Interval between checks whether our other sessions are gone.
const POLL: Nanos = Nanos::from_millis(10);

/// Maximum number of checks, one per [`POLL`]: two seconds.
const POLLS: u32 = 200;

/// Query for this session's process id at the server.
const BACKEND: &str = "select pg_backend_pid()";

/// Query for the identity of the server. A standby has the system identifier of its primary.
const IDENTITY: &str = "select system_identifier, current_setting('port'), \
    current_setting('cluster_name'), pg_is_in_recovery() from pg_control_system()";

/// Query for this session's process id at the server, and for the number of our other sessions.
const SESSIONS: &str = "select pg_backend_pid(), count(*) from pg_stat_activity \
    where application_name = current_setting('application_name') \
    and datname = current_database() and pid <> pg_backend_pid()";

/// Query that flushes the counts of this session, including this statement.
const FLUSH_STATISTICS: &str = "select pg_stat_force_next_flush()";

/// Query for the counts and the time at which the server began to count. That time changes at each
/// reset of the statistics: at a restart, after a crash, and when a user resets those of the
/// database.
const TRANSACTIONS: &str = "select d.xact_commit, d.xact_rollback, \
    extract(epoch from greatest(pg_postmaster_start_time(), d.stats_reset, a.stats_reset)) \
    from pg_stat_database d, pg_stat_archiver a where d.datname = current_database()";

const LOG: &str = "select case when pg_is_in_recovery() then null \
    else pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') end";

/// Returns the query for the numbers of timed and of requested checkpoints. Most requested
/// checkpoints are caused by the amount of WAL.
fn checkpoints(version: u32) -> &'static str {
    match version {
        ..=16 => "select checkpoints_timed, checkpoints_req from pg_stat_bgwriter",
        17.. => "select num_timed, num_requested from pg_stat_checkpointer",
    }
}

/// Returns the major version; `None` if the text does not begin with one.
fn major(version: &str) -> Option<u32> {
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

/// Returns the values of the first row; `None` for a value that is not a finite number.
fn numbers(table: &Table) -> Vec<Option<f64>> {
    let row = table.rows.first().map(Vec::as_slice).unwrap_or_default();
    let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    row.iter().map(|value| number(value.as_deref()?)).collect()
}

impl PostgresConnection {
    pub(super) async fn read_account(&mut self) -> Result<Vec<Count>, String> {
        let version = major(&self.version).ok_or("the server does not show its version")?;
        if version < EXACT_SINCE {
            return Err(format!("PostgreSQL {version} may lose a part of its statistics"));
        }
        self.await_others().await?;
        self.query_or_reason(FLUSH_STATISTICS).await?;
        let own = self.own_traffic().transactions();
        let reply = self.query_or_reason(TRANSACTIONS).await?;
        let [Some(commits), Some(rollbacks), Some(since)] = numbers(&reply)[..] else {
            return Err("pg_stat_database has no row for this database".to_owned());
        };
        let mut counts = vec![
            Count::of(Counter::Commits, "transactions", commits),
            Count::of(Counter::CommitsOfAssay, "transactions", own as f64),
            Count::of(Counter::Rollbacks, "transactions", rollbacks),
            Count::of(Counter::CountedSince, "s", since),
        ];
        counts.extend(self.read_cycles(version).await);
        Ok(counts)
    }

    /// Returns those counters of background work that can be read.
    async fn read_cycles(&mut self, version: u32) -> Vec<Count> {
        let mut counts = Vec::new();
        let reply = self.query_short(checkpoints(version)).await.unwrap_or_default();
        if let [Some(timed), Some(requested)] = numbers(&reply)[..] {
            counts.push(Count::of(Counter::CheckpointsTimed, "checkpoints", timed));
            counts.push(Count::of(Counter::CheckpointsRequested, "checkpoints", requested));
        }
        let reply = self.query_short(LOG).await.unwrap_or_default();
        if let [Some(written)] = numbers(&reply)[..] {
            counts.push(Count::of(Counter::LogWritten, "bytes", written));
        }
        counts
    }

    /// Records the identity of the server in the session ids, and whether this session has a
    /// different id at the server.
    pub(super) async fn note_server(&mut self) {
        let Ok(reply) = self.query_or_reason(BACKEND).await else { return };
        let id = reply.single().and_then(|id| id.parse().ok()).map(SessionId);
        if id.is_some() && id != self.session_id() {
            self.session_ids().note_pooler();
        }
        let Ok(reply) = self.query_or_reason(IDENTITY).await else { return };
        if let Some(server) = ServerId::of(&reply) {
            self.session_ids().note_server(server);
        }
    }

    /// Waits until this is our only session.
    async fn await_others(&mut self) -> Result<(), String> {
        let rt = self.rt().clone();
        for _ in 0..POLLS {
            let reply = self.query_or_reason(SESSIONS).await?;
            let [Some(number), Some(others)] = numbers(&reply)[..] else {
                return Err("pg_stat_activity does not show our sessions".to_owned());
            };
            if self.session_id() != Some(SessionId(number as u64)) {
                return Err("the server's sessions are not ours: a proxy or pooler is in between"
                    .to_owned());
            }
            if others == 0.0 {
                return Ok(());
            }
            rt.sleep(POLL).await;
        }
        Err("sessions of assay were still there 2 s later, whose commits may not be counted yet"
            .to_owned())
    }

    async fn query_or_reason(&mut self, text: &str) -> Result<Table, String> {
        self.query_short(text).await.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_version_is_read_from_any_version_text() {
        for (version, expected) in [
            ("15.18 (Debian 15.18-0+deb12u1)", Some(15)),
            ("9.6.24", Some(9)),
            ("18beta1", Some(18)),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(major(version), expected, "{version}");
        }
    }
}
