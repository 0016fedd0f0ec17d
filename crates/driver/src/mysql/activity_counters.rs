//! Statement counters of MySQL and MariaDB, used to check Assay's own counts.
//!
//! The servers do not count transactions: `Handler_commit` counts each engine's part of a
//! transaction separately, and leaves out transactions that touched no table. Two counters can be
//! reconciled with Assay's counts: `Com_commit` counts `commit` statements, and `Questions` counts
//! all commands that Assay sends, except preparations. MariaDB also counts the command that ends a
//! session. For MySQL this has not been measured, so the count is compared with a range. Both
//! counters are up to date whenever they are read.

use base::Nanos;

use super::MysqlConnection;
use crate::activity_counters::{Count, Counter};
use crate::{ServerId, Table};

/// Interval between two readings of the counters, or of the number of other sessions. Readings are
/// repeated until other sessions no longer add to the counters.
const POLL: Nanos = Nanos::from_millis(20);

/// Maximum number of readings of the number of other sessions, one per [`POLL`]: about two seconds.
const POLLS: u32 = 100;

/// Maximum number of readings while waiting for a pause in the traffic of other users.
/// `read_account` may wait for such a pause twice, and both waits must fit into its caller's time
/// limit.
const SETTLING_POLLS: usize = 25;

/// Query that looks for itself in the list of sessions. A condition with the thread id that the
/// server gave us is appended; the count is 1 if our session at the server has this id.
const SESSION: &str = "select /* assay asks */ count(*) from information_schema.processlist \
     where info like '%assay asks%'";

/// Query for the number of further sessions that may be ours: all other sessions of the same user.
/// The name of a user may contain `@`, the name of a host may not.
pub(super) const OTHERS: &str = "select count(*) from information_schema.processlist \
     where id <> connection_id() and user = left(user(), \
     char_length(user()) - char_length(substring_index(user(), '@', -1)) - 1)";

/// Query for the identity of the server. MariaDB has no `server_uuid`.
const IDENTITY: &str = "show global variables where variable_name in \
    ('hostname', 'port', 'datadir', 'server_id', 'server_uuid')";

const STATUS: &str = "show global status where variable_name in ('Questions', 'Com_commit', \
    'Uptime_since_flush_status', 'Innodb_os_log_written', 'Innodb_history_list_length')";

const CAPACITY: &str = "show global variables where variable_name in ('innodb_log_file_size', \
    'innodb_log_files_in_group', 'innodb_redo_log_capacity')";

/// Returns the number in the row with this name; `None` if the table has no such number.
fn number(table: &Table, wanted: &str) -> Option<f64> {
    table.rows.iter().find_map(|row| match row.as_slice() {
        [Some(name), Some(value)] if name.eq_ignore_ascii_case(wanted) => {
            value.parse().ok().filter(|number: &f64| number.is_finite())
        }
        _ => None,
    })
}

/// Returns the capacity of the redo log, in bytes: the log that may accumulate before the server
/// must write back the pages it covers. `None` if unknown.
fn capacity(variables: &Table) -> Option<f64> {
    let files = number(variables, "innodb_log_files_in_group").unwrap_or(1.0);
    let by_files = number(variables, "innodb_log_file_size").map(|size| size * files.max(1.0));
    number(variables, "innodb_redo_log_capacity").or(by_files)
}

/// Counters that were read, and the number of our unprepared statements outside of requests so far.
struct StatusReading {
    status: Table,
    questions: f64,
    texts: u64,
}

impl MysqlConnection {
    pub(super) async fn read_account(&mut self) -> Result<Vec<Count>, String> {
        if !self.is_direct().await? {
            return Err(
                "the server's sessions are not ours: a proxy or pooler is in between".to_owned()
            );
        }
        let ended = self.await_others().await?;
        let StatusReading { status, questions, texts } = self.read_settled().await?;
        let commits = number(&status, "Com_commit").ok_or("the server does not count commits")?;
        let uptime = number(&status, "Uptime_since_flush_status");
        let uptime = uptime.ok_or("the server does not show when its counters were reset")?;
        let most = texts + self.own_traffic().terminations();
        let least = match ended && self.is_mariadb() {
            true => most,
            false => texts,
        };
        let mut counts = vec![
            Count::of(Counter::Commits, "statements", commits),
            Count::of(Counter::CommitsOfAssay, "statements", 0.0),
            Count::of(Counter::Statements, "statements", questions),
            Count::of(Counter::StatementsOfAssay, "statements", least as f64),
            Count::of(Counter::StatementsOfAssayAtMost, "statements", most as f64),
            Count::of(Counter::CountedFor, "s", uptime),
        ];
        let variables = self.query_short(CAPACITY).await.unwrap_or_default();
        let cycles = [
            (Counter::LogWritten, "bytes", number(&status, "Innodb_os_log_written")),
            (Counter::LogCapacity, "bytes", capacity(&variables)),
            (Counter::PurgeBacklog, "transactions", number(&status, "Innodb_history_list_length")),
        ];
        let known = cycles
            .into_iter()
            .filter_map(|(counter, unit, value)| Some(Count::of(counter, unit, value?)));
        counts.extend(known);
        Ok(counts)
    }

    /// Waits until the user has at most as many other sessions as at the first reading. Further
    /// ones may be ours, and the end of a session is a counted command. Returns false if the number
    /// stays higher.
    async fn await_others(&mut self) -> Result<bool, String> {
        if !self.own_traffic().knows_other_sessions() {
            // Our own sessions that were closed just before must not be counted as those of other
            // clients.
            self.read_settled().await?;
        }
        let rt = self.line.rt.clone();
        for _ in 0..POLLS {
            let reply = self.query_or_reason(OTHERS).await?;
            let others = reply.single().and_then(|count| count.parse().ok()).unwrap_or(u64::MAX);
            if others <= self.own_traffic().other_sessions(others) {
                return Ok(true);
            }
            rt.sleep(POLL).await;
        }
        Ok(false)
    }

    /// Reads the counters until only this session adds to them. On a server with other active
    /// users, the last of [`SETTLING_POLLS`] readings is used.
    async fn read_settled(&mut self) -> Result<StatusReading, String> {
        let rt = self.line.rt.clone();
        let mut before = self.read_status().await?;
        for _ in 0..SETTLING_POLLS {
            rt.sleep(POLL).await;
            let reply = self.read_status().await?;
            // The query itself is counted.
            let is_settled =
                reply.questions - before.questions == (reply.texts - before.texts) as f64;
            before = reply;
            if is_settled {
                break;
            }
        }
        Ok(before)
    }

    async fn read_status(&mut self) -> Result<StatusReading, String> {
        let status = self.query_or_reason(STATUS).await?;
        let questions = number(&status, "Questions");
        let questions = questions.ok_or("the server does not count statements")?;
        Ok(StatusReading { status, questions, texts: self.own_traffic().texts() })
    }

    /// Returns true if there is no proxy between this client and the server.
    async fn is_direct(&mut self) -> Result<bool, String> {
        let own = self.known_session.id().0;
        let reply = self.query_or_reason(&format!("{SESSION} and id = {own}")).await?;
        Ok(reply.single() == Some("1"))
    }

    /// Records the identity of the server in the session ids, and whether this session has a
    /// different id at the server.
    pub(super) async fn note_server(&mut self) {
        if self.is_direct().await == Ok(false) {
            self.session_ids().note_pooler();
        }
        let Ok(reply) = self.query_or_reason(IDENTITY).await else { return };
        if let Some(server) = ServerId::of(&reply) {
            self.session_ids().note_server(server);
        }
    }

    async fn query_or_reason(&mut self, text: &str) -> Result<Table, String> {
        self.query_short(text).await.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, &str)]) -> Table {
        let row = |(name, value): &(&str, &str)| vec![Some((*name).into()), Some((*value).into())];
        Table { rows: rows.iter().map(row).collect(), ..Table::default() }
    }

    #[test]
    fn log_capacity_is_the_sum_of_its_files() {
        for (rows, expected) in [
            (&[("innodb_log_file_size", "100663296")][..], Some(100_663_296.0)),
            (
                &[("innodb_log_file_size", "1000"), ("innodb_log_files_in_group", "2")],
                Some(2_000.0),
            ),
            (
                &[("innodb_log_file_size", "1000"), ("innodb_redo_log_capacity", "5000")],
                Some(5_000.0),
            ),
            (&[], None),
        ] {
            assert_eq!(capacity(&table(rows)), expected);
        }
    }
}
