//! MariaDB and MySQL 8 (MariaDB documentation, "SHOW PROCESSLIST", "Information Schema InnoDB
//! Tables"; MySQL 8.0 Reference Manual, chapter 29, "MySQL Performance Schema").
//!
//! Each sample reads the process list and InnoDB's open transactions. The list has the state of
//! each statement. Only the transactions show which statements wait for a row lock, and on which
//! table. `show processlist` costs the server an eighth of the time of a query over the same list
//! in `information_schema`, for which the server writes a temporary table to disk. MySQL has the
//! list in `performance_schema`, where it can be read without a lock, and the row locks in
//! `data_locks`.
//!
//! Each reading of the statistics, at the sampling interval of the other sources, queries `show
//! global status`. If `performance_schema` is on, it also queries the times of files and the
//! longest waits there.
//!
//! A user without the privilege `process` sees only its own sessions, and no transactions.

use std::collections::BTreeMap;

use driver::{Connection, SessionId, Table};
use record::ComponentKind;
use record::component_name::{SESSIONS, SESSIONS_OF_OTHERS};
use record::metric::{CHECKPOINT, CLIENT_READ, CLIENT_WRITE, RUNNING, sessions};
use record::statistic::{performance_schema, status};

use super::session::{Query, QueryFailure, SampledSession, SessionEnd};
use super::session_filter::{RecognitionData, SessionFilter};
use super::tally::{ClientWait, SessionObservation, Tally};
use super::text::{
    DoubleQuotes, column_positions, count, maintenance_work, number, statement_beginning,
    table_name, text,
};
use crate::sample::Sample;
use crate::sockets::{Owner, SessionClient};

const SESSION_QUERY: &str = "select version(), connection_id(), user(), database(), \
    @@performance_schema, @@max_connections, current_user()";

const PROCESS_LIST: &str = "show processlist";

/// Query for the process list of MySQL. Unlike `show processlist`, it does not lock the list.
const MYSQL_PROCESS_LIST: &str = "select id, user, host, command, time, state, \
    left(info, 100) as info from performance_schema.processlist";

/// Query for the open transactions and, for each that waits for a lock, the table of the locked
/// row.
const TRANSACTIONS: &str = "select trx_mysql_thread_id as id, trx_query is null as resting, \
    trx_state = 'LOCK WAIT' as waiting, lock_table as locked from information_schema.innodb_trx \
    left join information_schema.innodb_locks on lock_id = trx_requested_lock_id";

/// Query for the open transactions of MySQL. It leaves out the lock for which a transaction waits,
/// because the lock would be granted before the query ends.
const MYSQL_TRANSACTIONS: &str = "select trx_mysql_thread_id as id, trx_query is null as resting, \
    trx_state = 'LOCK WAIT' as waiting, null as locked from information_schema.innodb_trx";

/// Query for the tables of MySQL with row locks for which transactions wait.
const MYSQL_LOCKS: &str = "select concat(object_schema, '.', object_name) as name, \
    count(*) as sessions from performance_schema.data_locks where lock_status = 'WAITING' \
    group by 1";

/// Query for the times of the file accesses for which sessions wait (reads of data, the log, the
/// binary log), and for the longest waits overall, in seconds. Writes of data happen in the
/// background, so reads of data are queried separately.
const WAITS: &str = "select concat(event_name, '/read'), sum_timer_read / 1e12, count_read \
    from performance_schema.file_summary_by_event_name \
    where event_name = 'wait/io/file/innodb/innodb_data_file' \
    union all select event_name, sum_timer_wait / 1e12, count_star \
    from performance_schema.file_summary_by_event_name \
    where event_name in ('wait/io/file/innodb/innodb_log_file', 'wait/io/file/sql/binlog') \
    union all (select event_name, sum_timer_wait / 1e12, count_star \
    from performance_schema.events_waits_summary_global_by_event_name \
    where sum_timer_wait > 0 and event_name not in \
        ('idle', 'wait/io/file/innodb/innodb_log_file', 'wait/io/file/sql/binlog') \
    order by sum_timer_wait desc limit 8)";

/// Variables that are read from `show global status`.
const STATUS_VARIABLES: [&str; 65] = [
    "Aborted_clients",
    "Aborted_connects",
    "Binlog_bytes_written",
    "Binlog_cache_disk_use",
    "Bytes_received",
    "Bytes_sent",
    "Com_commit",
    "Com_delete",
    "Com_insert",
    "Com_rollback",
    "Com_select",
    "Com_update",
    "Created_tmp_disk_tables",
    "Created_tmp_tables",
    "Handler_delete",
    "Handler_read_key",
    "Handler_read_next",
    "Handler_read_rnd_next",
    "Handler_update",
    "Handler_write",
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_total",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
    "Innodb_data_fsyncs",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_deadlocks",
    "Innodb_history_list_length",
    "Innodb_log_waits",
    "Innodb_log_writes",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_pending_fsyncs",
    "Innodb_os_log_written",
    "Innodb_row_lock_current_waits",
    "Innodb_row_lock_time",
    "Innodb_row_lock_time_max",
    "Innodb_row_lock_waits",
    "Innodb_rows_deleted",
    "Innodb_rows_inserted",
    "Innodb_rows_read",
    "Innodb_rows_updated",
    "Max_used_connections",
    "Opened_tables",
    "Questions",
    "Select_full_join",
    "Select_scan",
    "Slow_queries",
    "Sort_merge_passes",
    "Table_locks_waited",
    "Threads_connected",
    "Threads_created",
    "Threads_running",
    "Uptime",
];

/// States of a statement that works and reports no wait. Reading from the disk has no state of its
/// own and is included.
const RUNNING_STATES: [&str; 51] = [
    "",
    "after create",
    "altering table",
    "analyzing",
    "checking permissions",
    "closing tables",
    "converting heap to aria",
    "converting heap to ondisk",
    "copy to tmp table",
    "copying to group table",
    "copying to tmp table",
    "copying to tmp table on disk",
    "creating index",
    "creating sort index",
    "creating table",
    "creating tmp table",
    "deleting from main table",
    "deleting from reference tables",
    "end",
    "end of update loop",
    "evaluating",
    "executing",
    "explaining",
    "filling schema table",
    "freeing items",
    "init",
    "init for update",
    "opening tables",
    "optimizing",
    "preparing",
    "query end",
    "reading file",
    "rename result table",
    "removing duplicates",
    "removing tmp table",
    "reset for next command",
    "searching rows for update",
    "sending data",
    "sorting",
    "sorting for group",
    "sorting for order",
    "sorting result",
    "starting",
    "starting cleanup",
    "statistics",
    "system lock",
    "unlocking tables",
    "update",
    "updating",
    "updating main table",
    "updating reference tables",
];

/// States in which a statement waits until its transaction is on disk. MariaDB writes the log at
/// the end of the statement, in the state `Updating status`; most of the sessions that commit at
/// the same time are in this state too. In the state `Commit`, MariaDB writes the log of
/// transactions that have a binary log. `waiting for handler commit` is MySQL's state.
const COMMITTING_STATES: [&str; 5] = [
    "commit",
    "updating status",
    "waiting for handler commit",
    "waiting for prior transaction to commit",
    "committing alter table to storage engine",
];

/// States in which a statement waits until its client reads.
const SENDING_STATES: [&str; 3] = ["writing to net", "sending to client", "net cleanup"];

/// States in which a statement waits for data from its client.
const RECEIVING_STATES: [&str; 2] = ["reading from net", "receiving from client"];

/// Idle time, in seconds, after which a session counts as a spare connection of a pool.
const SPARE_AFTER_S: u64 = 5;

/// Commands in the process list of threads that serve no client.
const SERVER_COMMANDS: [&str; 9] = [
    "daemon",
    "connect",
    "binlog dump",
    "binlog dump gtid",
    "slave_io",
    "slave_sql",
    "slave_worker",
    "register slave",
    "delayed insert",
];

/// Minimum length of InnoDB's history list at which its shrinking counts as background work.
const LONG_HISTORY: f64 = 1_000.0;

/// Share of the log in use above which the server writes pages to free the log.
const FULL_LOG_SHARE: f64 = 0.8;

/// Minimum number of pages written per sample for which the writing of pages is reported. An idle
/// server writes fewer pages, even if its log is nearly full.
const PAGES_PER_SAMPLE: f64 = 20.0;

/// Sampler for a MariaDB or MySQL server.
pub(super) struct Mysql {
    /// Connection id of this session.
    own_id: u64,
    user: String,
    /// Current database. The names of its tables are reported without the name of the database.
    database: String,
    max_connections: u64,
    list_query: &'static str,
    transactions_query: &'static str,
    /// Query for the tables of locks, if the query for transactions does not return them.
    locks_query: Option<&'static str>,
    has_waits: bool,
    /// Remedy for missing privileges.
    remedy: String,
    /// Remedy for missing access to the performance schema.
    schema_remedy: String,
    /// Text of the status query.
    status_query: String,
    /// Status values at the last reading.
    last_status: BTreeMap<String, f64>,
    /// Number of samples since the last reading.
    samples_since_reading: u64,
}

/// InnoDB transaction of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Transaction {
    /// True if the transaction is not executing a statement.
    is_idle: bool,
    /// True if the transaction waits for a lock.
    is_waiting: bool,
    /// Table of the lock for which the transaction waits; empty if unknown.
    locked_table: String,
}

impl Mysql {
    /// Returns the id of the observer's session at the server.
    pub(super) fn session_id(&self) -> SessionId {
        SessionId(self.own_id)
    }

    /// Returns the name of the observer's session at the server: its user.
    pub(super) fn session_name(&self) -> &str {
        &self.user
    }

    /// Returns true if the server is MariaDB, whose list of transactions has the tables of locks.
    pub(super) fn is_mariadb(&self) -> bool {
        self.locks_query.is_none()
    }

    /// Queries the version and features of the server.
    pub(super) async fn open<C: Connection>(
        session: &mut SampledSession<C>,
        sample: &mut Sample,
    ) -> Result<Mysql, SessionEnd> {
        let reply = session.query(SESSION_QUERY).await?;
        let row = reply.rows.first().map(Vec::as_slice).unwrap_or_default();
        let (version, own) = (text(row, 0), number(row, 1));
        if !version.starts_with(|c: char| c.is_ascii_digit()) || own == 0 {
            let what = if version.is_empty() { "nothing" } else { version };
            return Err(SessionEnd::Unusable(format!(
                "the server gave the version `{what}`: it is not MySQL or MariaDB"
            )));
        }
        let is_mariadb = version.contains("MariaDB");
        // A right is granted to an account. Its host may be a pattern, and its name empty.
        let account = quoted_account(text(row, 6));
        let mut sampler = Mysql {
            own_id: own,
            remedy: format!("grant process on *.* to {account}"),
            schema_remedy: format!("grant select on performance_schema.* to {account}"),
            user: name_and_host(text(row, 2)).0.to_owned(),
            database: text(row, 3).to_owned(),
            max_connections: number(row, 5),
            list_query: PROCESS_LIST,
            transactions_query: if is_mariadb { TRANSACTIONS } else { MYSQL_TRANSACTIONS },
            locks_query: (!is_mariadb).then_some(MYSQL_LOCKS),
            has_waits: text(row, 4) == "1",
            status_query: status_query(),
            last_status: BTreeMap::new(),
            samples_since_reading: 0,
        };
        if !is_mariadb
            && sampler.has_waits
            && session.query_unless_refused(MYSQL_PROCESS_LIST).await?.is_some()
        {
            sampler.list_query = MYSQL_PROCESS_LIST;
        }
        if session
            .query_unless_refused("select count(*) from information_schema.innodb_trx")
            .await?
            .is_none()
        {
            let Mysql { user, remedy, .. } = &sampler;
            let why = format!("user `{user}` sees only its own sessions; {remedy}");
            sample.missing(SESSIONS_OF_OTHERS, why);
        }
        Ok(sampler)
    }

    /// Samples the activity of the sessions. Transactions are read before the process list. In the
    /// opposite order, a transaction that begins between the two readings would be attributed to a
    /// session that is idle in the list.
    pub(super) async fn sample_sessions<C: Connection>(
        &mut self,
        session: &mut SampledSession<C>,
        filter: SessionFilter<'_>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        let Mysql { remedy, .. } = self;
        let asked = Query { what: "locks", sql: self.transactions_query, remedy };
        let reply = session.query_or_report_missing(asked, sample).await?.unwrap_or_default();
        let asked = Query { what: SESSIONS, sql: self.list_query, remedy };
        let Some(list) = session.query_or_report_missing(asked, sample).await? else {
            return Ok(());
        };
        let known = filter.recognition_data(|| clients(&list));
        let transactions = self.read_transactions(&reply);
        let [ours, theirs] = self.classify_sessions(&list, &transactions, known);
        tally.add_samples(ours, theirs);
        self.samples_since_reading += 1;
        for transaction in transactions.values().filter(|one| !one.locked_table.is_empty()) {
            tally.add_named(&ComponentKind::Locks, &transaction.locked_table, 1);
        }
        if let Some(sql) = self.locks_query
            && transactions.values().any(|one| one.is_waiting)
        {
            let remedy = &self.schema_remedy;
            let asked = Query { what: "tables of locks", sql, remedy };
            let reply = session.query_or_report_missing(asked, sample).await?.unwrap_or_default();
            self.count_locks(&reply, tally);
        }
        Ok(())
    }

    /// Adds the sessions in an answer to [`MYSQL_LOCKS`] to the tally.
    fn count_locks(&self, reply: &Table, tally: &mut Tally) {
        let Some([name, sessions]) = column_positions(reply, ["name", "sessions"]) else { return };
        for row in &reply.rows {
            let table = self.own_name(text(row, name));
            tally.add_named(&ComponentKind::Locks, &table, count(row, sessions));
        }
    }

    /// Returns the name of a table, without the name of its database if it is the current database
    /// of the session.
    fn own_name(&self, name: &str) -> String {
        let name = table_name(name);
        let own = name.strip_prefix(&self.database).and_then(|rest| rest.strip_prefix('.'));
        own.map_or(name.clone(), str::to_owned)
    }

    /// Returns the transactions by the ids of their sessions.
    fn read_transactions(&self, reply: &Table) -> BTreeMap<u64, Transaction> {
        let names = ["id", "resting", "waiting", "locked"];
        let Some([id, resting, waiting, locked]) = column_positions(reply, names) else {
            return BTreeMap::new();
        };
        let one = |row: &Vec<Option<String>>| {
            let locked_table = self.own_name(text(row, locked));
            let is_waiting = number(row, waiting) == 1 || !locked_table.is_empty();
            let is_idle = number(row, resting) == 1;
            (number(row, id), Transaction { is_idle, is_waiting, locked_table })
        };
        reply.rows.iter().map(one).collect()
    }

    /// Returns the observations of our sessions and of other sessions, from the process list.
    /// `known` distinguishes the two.
    fn classify_sessions(
        &self,
        list: &Table,
        transactions: &BTreeMap<u64, Transaction>,
        known: RecognitionData<'_>,
    ) -> [SessionObservation; 2] {
        let (mut ours, mut theirs) = (SessionObservation::default(), SessionObservation::default());
        let names = ["id", "user", "host", "command", "time", "state", "info"];
        let Some([id, user, host, command, time, state, info]) = column_positions(list, names)
        else {
            return [ours, theirs];
        };
        for row in &list.rows {
            let [user, command, state, info] = [user, command, state, info].map(|at| text(row, at));
            let number = number(row, id);
            if number == self.own_id || !is_client(user, command) {
                continue;
            }
            let client = client(text(row, host));
            let owner = known.sockets().map(|sockets| sockets.owner(client));
            let waiting = known.sockets().and_then(|sockets| sockets.waiting(client));
            let is_ours = match known {
                RecognitionData::Own(own) => own.contains(user, number),
                RecognitionData::Sockets(sockets) => sockets.owner(client) != Owner::Others,
            };
            let observation = if is_ours { &mut ours } else { &mut theirs };
            let is_asleep = command.eq_ignore_ascii_case("sleep");
            let is_idle = transactions.get(&number).is_some_and(|one| one.is_idle);
            let is_long = self::number(row, time) >= SPARE_AFTER_S;
            if is_asleep && owner.is_some() && !is_idle && is_long {
                observation.client_waits.spare += 1;
                continue;
            }
            observation.client_waits.identified += u64::from(owner == Some(Owner::Program));
            let transaction = transactions.get(&number);
            if is_asleep {
                let client_wait = ClientWait { waiting, is_within_statement: false, is_long: None };
                observation.client_waits.add(client_wait, 1);
                match transaction {
                    Some(Transaction { is_idle: true, .. }) => observation.idle_in_transaction += 1,
                    Some(_) | None => observation.idle += 1,
                }
                continue;
            }
            let is_locked = transaction.is_some_and(|one| one.is_waiting);
            let mut wait = if is_locked { "Lock:row".to_owned() } else { wait(state) };
            // MySQL has no state for a wait for the client's file. The server's socket shows such a
            // wait: it holds no unread request, because a statement that loads rows reads data as
            // soon as they arrive.
            let is_read = waiting.is_some_and(|it| !it.has_unread_request);
            if wait == RUNNING && is_load_from_client(info) && is_read {
                wait = CLIENT_READ[1].to_owned();
            }
            if wait == CLIENT_READ[1] {
                let client_wait = ClientWait { waiting, is_within_statement: true, is_long: None };
                observation.client_waits.add(client_wait, 1);
            }
            observation.active += 1;
            if wait.starts_with("Lock:") && !info.is_empty() {
                let statement = statement_beginning(info, DoubleQuotes::Text);
                *observation.statements.entry(statement).or_default() += 1;
            }
            observation.count_wait(&wait, 1);
            if let Some(work) = maintenance_work(info) {
                *observation.background.entry(work).or_default() += 1;
            }
        }
        [ours, theirs]
    }

    /// Reads the server's own statistics.
    pub(super) async fn read<C: Connection>(
        &mut self,
        session: &mut SampledSession<C>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        sample.read(&ComponentKind::Sessions, sessions::MOST, self.max_connections as f64);
        let asked = Query { what: "statistics status", sql: &self.status_query, remedy: "" };
        let reply = session.query_or_report_missing(asked, sample).await?.unwrap_or_default();
        let variables = numbers_by_name(&reply);
        for (name, value) in &variables {
            let metric = format!("{}.{name}", status::VIEW);
            sample.read_named(&ComponentKind::Statistics, &metric, "", *value);
        }
        for work in self.background_work(&variables) {
            tally.add_named(&ComponentKind::Background, work, self.samples_since_reading);
        }
        self.last_status = variables;
        self.samples_since_reading = 0;
        if self.has_waits {
            let remedy = &self.schema_remedy;
            let asked = Query { what: "statistics performance_schema", sql: WAITS, remedy };
            let reply = session.query_or_report_missing(asked, sample).await?.unwrap_or_default();
            for row in &reply.rows {
                let event = text(row, 0);
                let seconds = text(row, 1).parse().unwrap_or_default();
                let metric = |what: &str| format!("{}.{event}.{what}", performance_schema::VIEW);
                sample.read_named(&ComponentKind::Statistics, &metric("waited"), "s", seconds);
                sample.read_named(
                    &ComponentKind::Statistics,
                    &metric("count"),
                    "",
                    number(row, 2) as f64,
                );
            }
        }
        Ok(())
    }

    /// Returns InnoDB's background work since the last reading, derived from its statistics. Old
    /// row versions are being purged if the history list is long and has become shorter. Pages are
    /// being written for a checkpoint if the log is nearly full.
    fn background_work(&self, status: &BTreeMap<String, f64>) -> Vec<&'static str> {
        let ends = |name: &str| Some((*self.last_status.get(name)?, *status.get(name)?));
        let now = |name: &str| status.get(name).copied().unwrap_or_default();
        let is_purging = ends("innodb_history_list_length")
            .is_some_and(|(before, now)| before >= LONG_HISTORY && now < before);
        let is_full =
            now("innodb_checkpoint_age") >= FULL_LOG_SHARE * now("innodb_checkpoint_max_age");
        let least_written = PAGES_PER_SAMPLE * self.samples_since_reading as f64;
        let is_writing = ends("innodb_buffer_pool_pages_flushed")
            .is_some_and(|(before, now)| now - before >= least_written);
        let is_checkpoint = is_full && is_writing && now("innodb_checkpoint_max_age") > 0.0;
        let works = [("purge", is_purging), (CHECKPOINT, is_checkpoint)];
        works.into_iter().filter(|(_, is_so)| *is_so).map(|(name, _)| name).collect()
    }
}

/// Returns the query for [`STATUS_VARIABLES`].
fn status_query() -> String {
    let names: Vec<String> = STATUS_VARIABLES.iter().map(|name| format!("'{name}'")).collect();
    format!("show global status where variable_name in ({})", names.join(", "))
}

/// Returns the name of a user and its host, as in `ann@localhost`. The name may contain an `@`, but
/// the host may not.
fn name_and_host(user: &str) -> (&str, &str) {
    user.rsplit_once('@').unwrap_or((user, "%"))
}

/// Returns an account, such as `ann@localhost`, in the form that statements need.
fn quoted_account(account: &str) -> String {
    let quoted = |part: &str| format!("'{}'", part.replace('\\', r"\\").replace('\'', "''"));
    let (name, host) = name_and_host(account);
    format!("{}@{}", quoted(name), quoted(host))
}

/// Returns the numbers in an answer that consists of names and values, by name in lower case.
fn numbers_by_name(reply: &Table) -> BTreeMap<String, f64> {
    let pair = |row: &Vec<Option<String>>| {
        let value: f64 = text(row, 1).parse().ok()?;
        value.is_finite().then(|| (text(row, 0).to_ascii_lowercase(), value))
    };
    reply.rows.iter().filter_map(pair).collect()
}

/// Returns the clients of all sessions that use TCP.
fn clients(list: &Table) -> Vec<SessionClient> {
    let Some([host]) = column_positions(list, ["host"]) else { return Vec::new() };
    list.rows.iter().filter_map(|row| client(text(row, host))).collect()
}

/// Parses a client: an address or a name, with a port. `localhost` without a port means a Unix
/// socket, which gives `None`.
fn client(address: &str) -> Option<SessionClient> {
    let (host, port) = address.rsplit_once(':')?;
    SessionClient::from_reported(host, port)
}

/// Returns true if a statement loads rows from a file of the client: `load data [low_priority |
/// concurrent] local`, or `load xml … local`.
fn is_load_from_client(info: &str) -> bool {
    let statement = statement_beginning(info, DoubleQuotes::Text).to_ascii_lowercase();
    let mut words = statement.split_whitespace();
    words.next() == Some("load") && words.take(3).any(|word| word == "local")
}

/// Returns true if a thread serves a client.
fn is_client(user: &str, command: &str) -> bool {
    let is_none = SERVER_COMMANDS.iter().any(|none| command.eq_ignore_ascii_case(none));
    !is_none && !matches!(user, "system user" | "event_scheduler" | "unauthenticated user")
}

/// Returns the wait of a statement in this state.
fn wait(state: &str) -> String {
    let small = state.to_ascii_lowercase();
    let is_in = |states: &[&str]| states.contains(&small.as_str());
    let lock = small.strip_prefix("waiting for ").and_then(|rest| rest.strip_suffix(" lock"));
    match lock {
        _ if is_in(&RUNNING_STATES) => RUNNING.to_owned(),
        _ if is_in(&COMMITTING_STATES) => "IO:commit".to_owned(),
        _ if is_in(&SENDING_STATES) => CLIENT_WRITE[1].to_owned(),
        _ if is_in(&RECEIVING_STATES) => CLIENT_READ[1].to_owned(),
        Some(lock) if lock.ends_with("metadata") => "Lock:metadata".to_owned(),
        Some("table level") => "Lock:table".to_owned(),
        Some(lock) => format!("Lock:{lock}"),
        None if small == "user lock" => "Lock:user".to_owned(),
        None => format!("state: {state}"),
    }
}

#[cfg(test)]
mod tests {
    use driver::SessionIds;

    use super::*;
    use crate::database::{ObservedSessions, OwnSessions, TargetSessions};
    use crate::sockets::SocketSnapshot;

    #[test]
    fn judged_statistics_are_queried() {
        for statistic in status::ALL {
            let is_it = |name: &&str| name.eq_ignore_ascii_case(statistic.own_name);
            assert!(STATUS_VARIABLES.iter().any(is_it), "{}", statistic.name);
        }
        for statistic in performance_schema::ALL {
            let event = statistic.own_name.trim_end_matches(".waited").trim_end_matches("/read");
            assert!(WAITS.contains(&format!("'{event}'")), "{}", statistic.name);
        }
    }

    fn sampler() -> Mysql {
        Mysql {
            own_id: 1,
            user: "ann".to_owned(),
            database: "shop".to_owned(),
            max_connections: 151,
            list_query: PROCESS_LIST,
            transactions_query: TRANSACTIONS,
            locks_query: None,
            has_waits: false,
            remedy: String::new(),
            schema_remedy: String::new(),
            status_query: status_query(),
            last_status: BTreeMap::new(),
            samples_since_reading: 0,
        }
    }

    fn by_name() -> OwnSessions {
        OwnSessions::named("ann")
    }

    /// Returns an answer with these rows. `|` separates values, and `-` stands for null.
    fn table(columns: &str, rows: &[&str]) -> Table {
        let value = |text: &str| (text != "-").then(|| text.to_owned());
        Table {
            columns: columns.split('|').map(str::to_owned).collect(),
            rows: rows.iter().map(|row| row.split('|').map(value).collect()).collect(),
            is_cut: false,
        }
    }

    fn classify(list: &[&str], transactions: &[&str]) -> [SessionObservation; 2] {
        let transactions = table("id|resting|waiting|locked", transactions);
        let list = table("Id|User|Host|db|Command|Time|State|Info|Progress", list);
        let sampler = sampler();
        sampler.classify_sessions(
            &list,
            &sampler.read_transactions(&transactions),
            RecognitionData::Own(&by_name()),
        )
    }

    #[test]
    fn row_lock_wait_is_found_by_its_transaction() {
        let [ours, theirs] = classify(
            &[
                "1|ann|h|shop|Query|0|starting|show processlist|0",
                "2|ann|h|shop|Execute|0|Updating|update hot set n = 7|0",
                "3|ann|h|shop|Execute|0|Updating|update hot set n = 8|0",
                "4|ann|h|shop|Execute|0|Updating|update hot set n = 9|0",
            ],
            &["2|0|1|`shop`.`hot`", "3|0|1|-", "4|0|0|-"],
        );
        assert_eq!((ours.active, theirs.active), (3, 0));
        let waits: Vec<_> = ours.waits.into_iter().collect();
        assert_eq!(waits, [("Lock:row".to_owned(), 2), ("cpu".to_owned(), 1)]);
        assert_eq!(
            ours.statements.into_iter().collect::<Vec<_>>(),
            [("update hot set n = ?".to_owned(), 2)]
        );
    }

    #[test]
    fn account_is_quoted_with_its_host() {
        for (account, expected) in [
            ("bench@localhost", "'bench'@'localhost'"),
            ("bench@%", "'bench'@'%'"),
            ("ann@shop@10.0.0.1", "'ann@shop'@'10.0.0.1'"),
            ("@localhost", "''@'localhost'"),
            (r"o'b\n@%", r"'o''b\\n'@'%'"),
            ("bench", "'bench'@'%'"),
        ] {
            assert_eq!(quoted_account(account), expected, "{account}");
        }
        assert_eq!(name_and_host("ann@shop@localhost"), ("ann@shop", "localhost"));
    }

    #[test]
    fn statement_that_reads_rows_from_its_client_is_recognised() {
        for (info, expected) in [
            ("load data local infile '/dev/stdin' into table t", true),
            ("/* nightly */ LOAD DATA LOW_PRIORITY LOCAL INFILE 'x' INTO TABLE t", true),
            ("load xml concurrent local infile 'x' into table t", true),
            ("load data infile '/tmp/local' into table t", false),
            ("select 'load data local'", false),
            ("", false),
        ] {
            assert_eq!(is_load_from_client(info), expected, "{info}");
        }
    }

    #[test]
    fn session_that_loads_rows_of_its_client_waits_for_them_when_its_socket_is_empty() {
        let load = "2|ann|localhost:40001|shop|Query|3|executing|load data local infile 'x'|0";
        let of = |row: &str, receive_queue| {
            let list = table("Id|User|Host|db|Command|Time|State|Info|Progress", &[row]);
            let sockets = SocketSnapshot::with_one_connection(40_001, receive_queue);
            let recognition = RecognitionData::Sockets(&sockets);
            let [ours, _] = sampler().classify_sessions(&list, &BTreeMap::new(), recognition);
            let waits: Vec<String> = ours.waits.into_keys().collect();
            (waits.join(" "), ours.client_waits.identified, ours.client_waits.paused)
        };
        assert_eq!(of(load, 0), ("Client:read".to_owned(), 1, 1));
        assert_eq!(of(load, 8_192), ("cpu".to_owned(), 1, 0));
        let select = load.replace("load data local infile 'x'", "select 1");
        assert_eq!(of(&select, 0), ("cpu".to_owned(), 1, 0));
        // MariaDB has a state for the wait for the client's file.
        let reading = load.replace("executing", "Reading from net");
        assert_eq!(of(&reading, 0), ("Client:read".to_owned(), 1, 1));
        assert_eq!(of(&reading, 8_192), ("Client:read".to_owned(), 1, 0));
    }

    #[test]
    fn session_that_a_pool_holds_in_reserve_is_not_counted_as_idle() {
        let rows =
            ["2|ann|h|shop|Sleep|9||-|0", "3|ann|h|shop|Sleep|9||-|0", "4|ann|h|shop|Sleep|1||-|0"];
        let list = table("Id|User|Host|db|Command|Time|State|Info|Progress", &rows);
        let transactions = table("id|resting|waiting|locked", &["3|1|0|-"]);
        let transactions = sampler().read_transactions(&transactions);
        let of = |known: RecognitionData<'_>| {
            let [ours, _] = sampler().classify_sessions(&list, &transactions, known);
            (ours.idle, ours.idle_in_transaction, ours.client_waits.spare)
        };
        assert_eq!(of(RecognitionData::Sockets(&SocketSnapshot::default())), (1, 1, 1));
        assert_eq!(of(RecognitionData::Own(&by_name())), (2, 1, 0), "a load generator of ours");
    }

    #[test]
    fn client_is_found_by_its_address_and_port() {
        for (shown, expected) in [
            ("localhost:47852", Some(("", "47852"))),
            ("localhost", None),
            ("10.0.0.1:5", Some(("10.0.0.1", "5"))),
            ("::1:5", Some(("::1", "5"))),
            ("", None),
        ] {
            let expected =
                expected.and_then(|(host, port)| SessionClient::from_reported(host, port));
            assert_eq!(client(shown), expected, "{shown}");
        }
    }

    #[test]
    fn locks_of_mysql_are_counted_by_table() {
        let reply = table("name|sessions", &["shop.hot|29", "other.t|1"]);
        let mut tally = Tally::of(ObservedSessions::AllClients);
        sampler().count_locks(&reply, &mut tally);
        let mut sample = Sample::default();
        tally.write(&mut sample);
        let counted: Vec<_> =
            sample.readings.iter().map(|r| (&*r.series.metric, r.value)).collect();
        assert_eq!(counted, [("hot", 29.0), ("other.t", 1.0)]);
        let reply = table("name|sessions", &["shop.hot|18446744073709551615"]);
        for _ in 0..2 {
            sampler().count_locks(&reply, &mut tally);
        }
    }

    #[test]
    fn tables_of_other_databases_keep_their_names() {
        let reply = table(
            "id|resting|waiting|locked",
            &["2|0|1|`shop`.`hot`", "3|0|1|shopping.hot", "x|1|0|-"],
        );
        let locked: Vec<_> =
            sampler().read_transactions(&reply).into_values().map(|one| one.locked_table).collect();
        assert_eq!(locked, ["", "hot", "shopping.hot"]);
    }

    #[test]
    fn idle_sessions_are_classified_by_their_transaction() {
        let [ours, theirs] = classify(
            &[
                "2|ann|h|shop|Sleep|1||-|0",
                "3|ann|h|shop|Sleep|1||-|0",
                "4|ann|h|shop|Sleep|0||-|0",
                "5|bob|h|shop|Query|0|Sending data|optimize table t|0",
                "6|system user|-|-|Daemon|-|InnoDB purge worker|-|0",
                "7|event_scheduler|h|-|Daemon|1|Waiting on empty queue|-|0",
                "8|unauthenticated user|h|-|Connect|-|login|-|0",
            ],
            &["2|1|0|-", "4|0|0|-"],
        );
        assert_eq!((ours.active, ours.idle, ours.idle_in_transaction), (0, 2, 1));
        assert_eq!(theirs.waits.into_iter().collect::<Vec<_>>(), [(RUNNING.to_owned(), 1)]);
        assert_eq!(theirs.background.into_keys().collect::<Vec<_>>(), ["optimize: t"]);
    }

    #[test]
    fn session_of_another_client_with_our_user_is_recognised_by_its_id() {
        let rows = [
            "2|ann|h|shop|Query|0|Sending data|select 1|0",
            "3|ann|h|shop|Query|0|Sending data|select 2|0",
            "4|ann|h|shop|Sleep|0||-|0",
            "5|bob|h|shop|Query|0|Sending data|select 3|0",
        ];
        let list = table("Id|User|Host|db|Command|Time|State|Info|Progress", &rows);
        let ids = SessionIds::default();
        let _open = [2, 4].map(|id| ids.add(SessionId(id)));
        let ann = TargetSessions { name: "ann".to_owned(), ids: Some(vec![ids]) };
        let bob = TargetSessions { name: "bob".to_owned(), ids: None };
        let active_and_idle = |own: &OwnSessions| {
            let seen =
                sampler().classify_sessions(&list, &BTreeMap::new(), RecognitionData::Own(own));
            seen.map(|it| (it.active, it.idle))
        };
        assert_eq!(active_and_idle(&OwnSessions::of(ann.clone(), [])), [(1, 1), (2, 0)]);
        assert_eq!(active_and_idle(&by_name()), [(2, 1), (1, 0)]);
        assert_eq!(active_and_idle(&OwnSessions::of(ann, [bob])), [(2, 1), (1, 0)]);
    }

    #[test]
    fn malformed_session_list_is_ignored() {
        assert_eq!(
            sampler().classify_sessions(
                &Table::default(),
                &BTreeMap::new(),
                RecognitionData::Own(&by_name())
            ),
            [(); 2].map(|()| SessionObservation::default())
        );
        let short = table("Id|User|Host|Command|Time|State|Info", &["2", "x|y"]);
        let [ours, theirs] =
            sampler().classify_sessions(&short, &BTreeMap::new(), RecognitionData::Own(&by_name()));
        assert_eq!((ours.idle, theirs.idle), (0, 0));
    }

    #[test]
    fn thread_states_map_to_waits() {
        for (state, expected) in [
            ("Sending data", "cpu"),
            ("Searching rows for update", "cpu"),
            ("Copying to tmp table on disk", "cpu"),
            ("", "cpu"),
            ("Commit", "IO:commit"),
            ("Updating status", "IO:commit"),
            ("waiting for handler commit", "IO:commit"),
            ("Writing to net", "Client:write"),
            ("Reading from net", "Client:read"),
            ("Waiting for table metadata lock", "Lock:metadata"),
            ("Waiting for schema metadata lock", "Lock:metadata"),
            ("Waiting for table level lock", "Lock:table"),
            ("Waiting for global read lock", "Lock:global read"),
            ("User lock", "Lock:user"),
            ("Waiting for semi-sync ACK from slave", "state: Waiting for semi-sync ACK from slave"),
        ] {
            assert_eq!(wait(state), expected, "{state}");
        }
    }

    #[test]
    fn background_work_is_derived_from_counters() {
        let status = |history: f64, age: f64, flushed: f64| -> BTreeMap<String, f64> {
            let reply = [
                ("innodb_history_list_length", history),
                ("innodb_checkpoint_age", age),
                ("innodb_checkpoint_max_age", 100.0),
                ("innodb_buffer_pool_pages_flushed", flushed),
            ];
            reply.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
        };
        let mut sampler = Mysql { samples_since_reading: 10, ..sampler() };
        let none = Vec::<&str>::new();
        assert_eq!(
            sampler.background_work(&status(9e5, 99.0, 9e9)),
            none,
            "nothing to compare with"
        );
        sampler.last_status = status(2_000.0, 0.0, 1_000.0);
        assert_eq!(sampler.background_work(&status(1_500.0, 79.0, 9_000.0)), ["purge"]);
        assert_eq!(sampler.background_work(&status(2_500.0, 81.0, 1_200.0)), ["checkpoint"]);
        assert_eq!(sampler.background_work(&status(2_500.0, 99.0, 1_199.0)), none, "it rests");
        sampler.last_status = status(500.0, 0.0, 0.0);
        assert_eq!(sampler.background_work(&status(400.0, 0.0, 9_000.0)), none);
        assert_eq!(sampler.background_work(&BTreeMap::new()), none);
    }
}
