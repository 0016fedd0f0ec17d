//! PostgreSQL's own account of its transactions.
//!
//! `pg_stat_database.xact_commit` counts each transaction once, that of a statement outside of a
//! transaction and that of a preparation too. A session adds what it did at most once a second, and
//! when it ends; so whoever reads waits until the others of ours are gone, and hands over what it
//! did itself. Since version 15 nothing of that is lost (PostgreSQL manual, "The Cumulative
//! Statistics System").

use base::Nanos;

use super::PostgresConnection;
use crate::account::Count;
use crate::{Connection, Table};

/// The first version whose statistics are kept in shared memory, and are therefore exact.
const EXACT_SINCE: u32 = 15;

/// How often it is asked whether other sessions are gone.
const POLL: Nanos = Nanos::from_millis(10);

/// How often at most: for two seconds.
const POLLS: u32 = 200;

/// Our own number as the server has it, and how many other sessions are ours.
const SESSIONS: &str = "select pg_backend_pid(), count(*) from pg_stat_activity \
    where application_name = current_setting('application_name') \
    and datname = current_database() and pid <> pg_backend_pid()";

/// Hands over what this session did, this statement included.
const HAND_OVER: &str = "select pg_stat_force_next_flush()";

/// Whether the account began anew is seen by when it began: the server may have been started again,
/// or crashed, which resets all statistics, or somebody has reset those of the database.
const TRANSACTIONS: &str = "select d.xact_commit, d.xact_rollback, \
    extract(epoch from greatest(pg_postmaster_start_time(), d.stats_reset, a.stats_reset)) \
    from pg_stat_database d, pg_stat_archiver a where d.datname = current_database()";

const LOG: &str = "select case when pg_is_in_recovery() then null \
    else pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') end";

/// Checkpoints since the server keeps count: those that were due, and those that were asked for,
/// mostly because of much log.
fn checkpoints(version: u32) -> &'static str {
    match version {
        ..=16 => "select checkpoints_timed, checkpoints_req from pg_stat_bgwriter",
        17.. => "select num_timed, num_requested from pg_stat_checkpointer",
    }
}

/// The number before the first point of a version.
fn major(version: &str) -> Option<u32> {
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

/// The numbers of the first row; `None` for what is none.
fn numbers(table: &Table) -> Vec<Option<f64>> {
    let row = table.rows.first().map(Vec::as_slice).unwrap_or_default();
    let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    row.iter().map(|value| number(value.as_deref()?)).collect()
}

impl PostgresConnection {
    pub(super) async fn read_account(&mut self) -> Result<Vec<Count>, String> {
        let version = major(&self.version).ok_or("the server does not tell its version")?;
        if version < EXACT_SINCE {
            return Err(format!("PostgreSQL {version} may lose a part of its statistics"));
        }
        self.await_others().await?;
        self.ask_or_say_why(HAND_OVER).await?;
        let own = self.beside().transactions();
        let told = self.ask_or_say_why(TRANSACTIONS).await?;
        let [Some(commits), Some(rollbacks), Some(since)] = numbers(&told)[..] else {
            return Err("pg_stat_database has no numbers of this database".to_owned());
        };
        let mut counts = vec![
            Count::of("commits", "transactions", commits),
            Count::of("commits-of-assay", "transactions", own as f64),
            Count::of("rollbacks", "transactions", rollbacks),
            Count::of("counted-since", "s", since),
        ];
        counts.extend(self.read_cycles(version).await);
        Ok(counts)
    }

    /// What happens in the background, as far as it is told.
    async fn read_cycles(&mut self, version: u32) -> Vec<Count> {
        let mut counts = Vec::new();
        let told = self.query_text(checkpoints(version)).await.unwrap_or_default();
        if let [Some(timed), Some(requested)] = numbers(&told)[..] {
            counts.push(Count::of("checkpoints-timed", "checkpoints", timed));
            counts.push(Count::of("checkpoints-requested", "checkpoints", requested));
        }
        let told = self.query_text(LOG).await.unwrap_or_default();
        if let [Some(written)] = numbers(&told)[..] {
            counts.push(Count::of("log-written", "bytes", written));
        }
        counts
    }

    /// Waits until no other session of ours is there.
    async fn await_others(&mut self) -> Result<(), String> {
        let rt = self.rt().clone();
        for _ in 0..POLLS {
            let told = self.ask_or_say_why(SESSIONS).await?;
            let [Some(number), Some(others)] = numbers(&told)[..] else {
                return Err("pg_stat_activity tells nothing of our sessions".to_owned());
            };
            if self.number() != Some(number as i64) {
                return Err("something stands between us and the server, such as a pooler, so \
                            that its sessions are not ours"
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

    async fn ask_or_say_why(&mut self, text: &str) -> Result<Table, String> {
        self.query_text(text).await.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_by_what_stands_before_the_point() {
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
