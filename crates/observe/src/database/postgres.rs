//! PostgreSQL 11 and later (PostgreSQL manual, "Monitoring Database Activity").
//!
//! Each sample is one statement over `pg_stat_get_activity`, the function behind
//! `pg_stat_activity`: without the view's joins, it costs the server half as much. If a session
//! waits for a lock, `pg_locks` is queried for the table. Each reading of the statistics, at the
//! sampling interval of the other sources, queries `pg_stat_database`, `pg_stat_bgwriter`,
//! `pg_stat_checkpointer` (from version 17 on), `pg_stat_wal` and `pg_stat_progress_copy` (from 14
//! on), and `pg_stat_io` (from 16 on). Every tenth reading also queries `pg_stat_statements` if it
//! is installed.
//!
//! A user without the role `pg_monitor` sees that sessions of other users exist, but nothing else
//! about them.

use std::collections::HashSet;

use driver::{Connection, SessionId, Table};
use record::ComponentKind;
use record::component_name::{
    AUTOVACUUM_WORKER, CHECKPOINTER, SESSIONS, SESSIONS_OF_OTHERS, WALSENDER,
};
use record::metric::{AUTOVACUUM, BASE_BACKUP, CHECKPOINT, RUNNING, sessions};
use record::statistic::{pg_stat_database, pg_stat_databases, pg_stat_progress_copy, pg_stat_wal};

use super::session::{Query, QueryFailure, SampledSession, SessionEnd};
use super::session_filter::{OwnSessions, RecognitionData, SessionFilter};
use super::tally::{ClientWait, SessionObservation, Tally};
use super::text::{
    DoubleQuotes, column_positions, count, maintenance_work, number, read_columns,
    statement_beginning, table_name, text,
};
use crate::sample::Sample;
use crate::sockets::{Owner, SessionClient, WaitingData};

/// Query for the version of the server, process and name of the session, and privileges of the
/// user.
const SESSION_QUERY: &str = "select version(), current_setting('server_version_num'), \
    pg_backend_pid(), current_user, current_setting('track_activities'), \
    pg_has_role(current_user, 'pg_read_all_stats', 'usage'), \
    (select extnamespace::regnamespace::text from pg_extension \
    where extname = 'pg_stat_statements'), current_setting('application_name'), \
    quote_ident(current_user)";

/// Query for the number of sessions by activity. The texts of statements are read only for sessions
/// that wait or do maintenance work. `NAMES` is replaced by the names of our sessions, and `LEADER`
/// by the process for which a parallel worker works. `hidden` are the sessions that this user may
/// not see. The query groups neither by the names of other sessions nor by process ids, because an
/// answer with a row per session would cost more.
const ACTIVITY: &str = "select backend_type, state, wait_event_type, wait_event, \
    case when application_name in (NAMES) then application_name end as name, \
    case when state = 'active' and wait_event_type is not null \
        or backend_type in ('autovacuum worker', 'walsender') \
        or state = 'active' and query ~* \
        '^\\s*(vacuum|analy[sz]e|create|alter|reindex|cluster|refresh)\\M' \
    then left(query, 200) end as query, \
    backend_type is null and usesysid is not null as hidden, count(*) as sessions, \
    string_agg(case backend_type when 'parallel worker' then LEADER else pid end::text, ' ') \
        as pids \
    from pg_stat_get_activity(null) \
    where pid <> pg_backend_pid() and (backend_type in \
        ('client backend', 'parallel worker', 'autovacuum worker', 'checkpointer', \
        'walsender') \
        or backend_type is null and usesysid is not null) \
    group by 1, 2, 3, 4, 5, 6, 7";

/// Returns [`ACTIVITY`] for sessions with these names and for a version of the server. Before
/// version 13, a server does not show the process for which a parallel worker works.
fn activity_query(names: &[&str], version: u64) -> String {
    let literals = names.iter().map(|name| format!("'{}'", name.replace('\'', "''")));
    let leader = if version >= 130_000 { "leader_pid" } else { "null" };
    ACTIVITY
        .replace("LEADER", leader)
        .replace("NAMES", &literals.collect::<Vec<String>>().join(", "))
}

/// Returns [`ACTIVITY`] for an observed program and a version of the server, with three more
/// columns: the client's address, its port, and the class of the session's idle time. The class is
/// `spare` after 5 s outside of a transaction: the session counts as unused. The class is `long`
/// after 4 ms, which is more than a switch between processes takes, and null before.
fn program_activity_query(version: u64) -> String {
    let columns = "as pids, host(client_addr) as address, client_port as port, \
        case when state = 'idle' and clock_timestamp() > state_change + interval '5 s' \
            then 'spare' \
        when state like 'idle%' and clock_timestamp() > state_change + interval '4 ms' \
            then 'long' end as rests";
    activity_query(&[""], version)
        .replace("as pids", columns)
        .replace("group by 1, 2, 3, 4, 5, 6, 7", "group by 1, 2, 3, 4, 5, 6, 7, 10, 11, 12")
}

/// Query for the sessions that wait for a lock, by table. A session that waits for the end of
/// another transaction has already locked the position of the row (`tuple`), or at least holds a
/// lock on the table that it writes to. Table ids of other databases are left out, because here
/// they would stand for other tables.
const LOCKS: &str = "with l as materialized (select pid, locktype, mode, granted, \
        case when database in (0, (select oid from pg_database \
            where datname = current_database())) then relation end as relation \
        from pg_locks where pid <> pg_backend_pid()), \
    w as (select l.pid, coalesce(l.relation, \
        (select t.relation from l t where t.pid = l.pid and t.granted \
            and t.locktype = 'tuple' limit 1), \
        (select min(t.relation::oid) from l t join pg_class c on c.oid = t.relation \
            where l.locktype = 'transactionid' and t.pid = l.pid and t.granted \
            and t.mode = 'RowExclusiveLock' and c.relkind in ('r', 'p') \
            and t.relation >= 16384)) as relation \
        from l where not l.granted) \
    select w.relation::regclass::text as name, count(distinct w.pid) as sessions from w \
    where w.relation is not null group by 1";

/// Returns [`LOCKS`] for a version of the server. Before version 12, a server materialises the
/// subquery without the keyword.
fn locks_query(version: u64) -> String {
    match version {
        ..120_000 => LOCKS.replace("as materialized", "as"),
        120_000.. => LOCKS.to_owned(),
    }
}

const DATABASE: &str = "select * from pg_stat_database where datname = current_database()";

/// Query for sums over all databases, and for the number of sessions that the server admits.
const DATABASES: &str = "select sum(xact_commit) as xact_commit, \
    sum(xact_rollback) as xact_rollback, sum(blks_read) as blks_read, \
    sum(blks_hit) as blks_hit, sum(blk_read_time) as blk_read_time, \
    sum(blk_write_time) as blk_write_time, sum(temp_bytes) as temp_bytes, \
    sum(deadlocks) as deadlocks, sum(tup_returned) as tup_returned, \
    sum(tup_fetched) as tup_fetched, sum(tup_inserted) as tup_inserted, \
    sum(tup_updated) as tup_updated, sum(tup_deleted) as tup_deleted, \
    current_setting('max_connections') as max_connections from pg_stat_database";

/// Query for input and output by process type and context, without rows that are zero. From version
/// 18 on, the log is reported separately.
const IO: &str = "select backend_type || '/' || context LOG as name, sum(reads) as reads, \
    sum(read_time) as read_time, sum(writes) as writes, sum(write_time) as write_time, \
    sum(extends) as extends, sum(evictions) as evictions, sum(fsyncs) as fsyncs, \
    sum(fsync_time) as fsync_time from pg_stat_io where backend_type in ('client backend', \
        'autovacuum worker', 'background writer', 'checkpointer', 'walwriter') \
    group by 1 having sum(reads) > 0 or sum(writes) > 0 or sum(fsyncs) > 0";

/// Query for the rows and bytes of running `copy … from` statements. The other statistics include
/// them only when the statements end.
const COPIES: &str = "select sum(tuples_processed) as tuples_processed, \
    sum(bytes_processed) as bytes_processed from pg_stat_progress_copy \
    where command = 'COPY FROM'";

/// Returns [`IO`] for a version of the server. Before version 18, the view does not include the
/// log.
fn io_query(version: u64) -> String {
    let log = match version {
        ..180_000 => "",
        180_000.. => "|| case when object = 'wal' then '/wal' else '' end",
    };
    IO.replace("LOG", log)
}

/// Views whose columns are read under their own names. Each has its query and the first version of
/// the server that has the view.
const VIEWS: [(&str, &str, u64); 4] = [
    ("pg_stat_bgwriter", "select * from pg_stat_bgwriter", 0),
    ("pg_stat_checkpointer", "select * from pg_stat_checkpointer", 170_000),
    (pg_stat_wal::VIEW, "select * from pg_stat_wal", 140_000),
    (pg_stat_progress_copy::VIEW, COPIES, 140_000),
];

/// Wait event of a session that waits for its client.
const CLIENT_READ_EVENT: &str = "ClientRead";

/// Number of readings after which `pg_stat_statements` is queried again. Such a query costs the
/// server milliseconds.
const STATEMENTS_EVERY: u64 = 10;

/// Sampler for a PostgreSQL server.
pub(super) struct Postgres {
    /// Process id of this session.
    own_id: u64,
    /// Name of the observer's session.
    name: String,
    version: u64,
    /// Remedy for missing privileges.
    remedy: String,
    /// True if the user may see the activity of all sessions.
    can_see_all: bool,
    /// Queries in the form that this version of the server needs.
    locks: String,
    activity: String,
    program_activity_query: String,
    io: String,
    statements: Option<String>,
    readings: u64,
}

impl Postgres {
    /// Queries the version and features of the server.
    pub(super) async fn open<C: Connection>(
        session: &mut SampledSession<C>,
        sample: &mut Sample,
    ) -> Result<Postgres, SessionEnd> {
        let reply = session.query(SESSION_QUERY).await?;
        let row = reply.rows.first().map(Vec::as_slice).unwrap_or_default();
        let (server, version, own) = (text(row, 0), number(row, 1), number(row, 2));
        if !server.starts_with("PostgreSQL ") || version == 0 {
            let what = if server.is_empty() { "nothing" } else { server };
            return Err(SessionEnd::Unusable(format!(
                "the server gave the version `{what}`: it is not PostgreSQL"
            )));
        }
        let user = text(row, 3);
        let remedy = format!("grant pg_monitor to {}", text(row, 8));
        if text(row, 4) != "on" {
            let why = "track_activities is off; set it on";
            sample.missing(SESSIONS, why);
        }
        let can_see_all = text(row, 5) == "t";
        if !can_see_all {
            let why = format!("user `{user}` sees nothing of the server's own processes; {remedy}");
            sample.missing("background", why);
        }
        let statements = statements_query(version, text(row, 6));
        let name = text(row, 7).to_owned();
        Ok(Postgres {
            own_id: own,
            version,
            remedy,
            can_see_all,
            locks: locks_query(version),
            activity: activity_query(&[&name], version),
            program_activity_query: program_activity_query(version),
            name,
            io: io_query(version),
            statements,
            readings: 0,
        })
    }

    /// Returns the id of the observer's session at the server.
    pub(super) fn session_id(&self) -> SessionId {
        SessionId(self.own_id)
    }

    /// Returns the name of the observer's session at the server.
    pub(super) fn session_name(&self) -> &str {
        &self.name
    }

    /// Prepares the query for the activity to recognise these sessions by name.
    pub(super) fn set_own_sessions(&mut self, own: &OwnSessions) {
        self.activity = activity_query(&own.names(), self.version);
    }

    /// Samples the activity of the sessions.
    pub(super) async fn sample_sessions<C: Connection>(
        &mut self,
        session: &mut SampledSession<C>,
        filter: SessionFilter<'_>,
        tally: &mut Tally,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        let remedy = &self.remedy;
        let sql = match filter {
            SessionFilter::Sockets(_) => &self.program_activity_query,
            SessionFilter::Own(_) => &self.activity,
        };
        let question = Query { what: SESSIONS, sql, remedy };
        let Some(activity) = session.query_or_report_missing(question, sample).await? else {
            return Ok(());
        };
        let known = filter.recognition_data(|| clients(&activity));
        let SampledSessions { ours, theirs, hidden } = classify_sessions(&activity, known);
        // If the user may see all sessions, hidden ones are parallel workers that have just ended
        // and no longer have a type.
        if hidden > 0 && !self.can_see_all {
            let why = format!("sessions of other users are hidden: {hidden}; {remedy}");
            sample.missing(SESSIONS_OF_OTHERS, why);
        }
        let has_lock = |observation: &SessionObservation| {
            observation.waits.keys().any(|event| event.starts_with("Lock:"))
        };
        let is_locked = has_lock(&ours) || has_lock(&theirs);
        tally.add_samples(ours, theirs);
        if is_locked {
            let question = Query { what: "locks", sql: &self.locks, remedy };
            if let Some(locks) = session.query_or_report_missing(question, sample).await? {
                count_locks(&locks, tally);
            }
        }
        Ok(())
    }

    /// Reads the server's own statistics.
    pub(super) async fn read<C: Connection>(
        &mut self,
        session: &mut SampledSession<C>,
        sample: &mut Sample,
    ) -> Result<(), QueryFailure> {
        let remedy = &self.remedy;
        let question = |what, sql| Query { what, sql, remedy };
        let asked = question("statistics pg_stat_database", DATABASE);
        if let Some(table) = session.query_or_report_missing(asked, sample).await? {
            read_columns(pg_stat_database::VIEW, &without_column(table, "datid"), sample);
        }
        let asked = question("statistics of all databases", DATABASES);
        if let Some(table) = session.query_or_report_missing(asked, sample).await? {
            read_all(table, sample);
        }
        for (view, sql, from) in VIEWS {
            if self.version >= from
                && let Some(table) =
                    session.query_or_report_missing(question(view, sql), sample).await?
            {
                read_columns(view, &table, sample);
            }
        }
        if self.version >= 160_000
            && let Some(table) =
                session.query_or_report_missing(question("pg_stat_io", &self.io), sample).await?
        {
            read_rows("pg_stat_io", &table, sample);
        }
        if let Some(sql) = &self.statements
            && self.readings.is_multiple_of(STATEMENTS_EVERY)
        {
            let asked = question("pg_stat_statements", sql);
            if let Some(table) = session.query_or_report_missing(asked, sample).await? {
                read_rows("pg_stat_statements", &table, sample);
            }
        }
        self.readings += 1;
        Ok(())
    }
}

/// Returns the query for the five statements with the largest total time. A statement is identified
/// by the beginning of its text. `None` without `pg_stat_statements`.
fn statements_query(version: u64, schema: &str) -> Option<String> {
    if schema.is_empty() {
        return None;
    }
    let time = if version >= 130_000 { "total_exec_time" } else { "total_time" };
    Some(format!(
        "select left(query, 60) as name, sum(calls) as calls, sum({time}) as {time} \
         from {schema}.pg_stat_statements group by 1 order by 3 desc limit 5"
    ))
}

/// Observations of our sessions and of other sessions, and the number of hidden sessions.
#[derive(Debug, Default, PartialEq, Eq)]
struct SampledSessions {
    ours: SessionObservation,
    theirs: SessionObservation,
    hidden: u64,
}

/// Returns the clients of all sessions over TCP.
fn clients(activity: &Table) -> Vec<SessionClient> {
    let Some(places) = column_positions(activity, ["address", "port"]) else { return Vec::new() };
    activity.rows.iter().filter_map(|row| client(row, places)).collect()
}

/// Returns the client of a session; `None` over a Unix socket. `places` are the positions of the
/// columns with its address and port.
fn client(row: &[Option<String>], places: [usize; 2]) -> Option<SessionClient> {
    let [address, port] = places.map(|place| text(row, place));
    SessionClient::from_reported(address, port)
}

/// Reads the answer to [`ACTIVITY`]. `known` distinguishes our sessions from others.
fn classify_sessions(activity: &Table, known: RecognitionData<'_>) -> SampledSessions {
    let mut sampled = SampledSessions::default();
    let names = [
        "backend_type",
        "state",
        "wait_event_type",
        "wait_event",
        "name",
        "query",
        "hidden",
        "sessions",
    ];
    let Some(places) = column_positions(activity, names) else { return sampled };
    let pids = column_positions(activity, ["pids"]).map(|[place]| place);
    let of_program = known.sockets().zip(column_positions(activity, ["address", "port", "rests"]));
    let mut workers = Vec::new();
    let mut our_processes = HashSet::new();
    for row in &activity.rows {
        let [kind, state, wait_type, event, name, query, hidden] =
            [0, 1, 2, 3, 4, 5, 6].map(|place| text(row, places[place]));
        let sessions = count(row, places[7]);
        let pids = ids(pids.map_or("", |place| text(row, place)));
        match kind {
            "client backend" => {
                let wait = Wait { kind: wait_type, event };
                let (owner, client_wait, is_spare) = match of_program {
                    Some((sockets, [address, port, idle_time])) => {
                        let (client, idle_time) =
                            (client(row, [address, port]), text(row, idle_time));
                        let client_wait =
                            client_wait(state, wait, idle_time, sockets.waiting(client));
                        (Some(sockets.owner(client)), client_wait, idle_time == "spare")
                    }
                    None => (None, None, false),
                };
                let clients = ClientSessions { state, wait, query, owner, client_wait, is_spare };
                let ours = match (owner, known) {
                    (Some(Owner::Others), _) => 0,
                    (None, RecognitionData::Own(own)) => {
                        our_processes.extend(pids.iter().filter(|pid| own.contains(name, **pid)));
                        own.count(name, &pids, sessions)
                    }
                    (Some(Owner::Program | Owner::Unknown) | None, _) => {
                        our_processes.extend(pids);
                        sessions
                    }
                };
                clients.count_in(&mut sampled.ours, ours);
                clients.count_in(&mut sampled.theirs, sessions - ours);
            }
            "parallel worker" => {
                let is_running = state == "active" && wait_type.is_empty();
                workers.push(ParallelWorkers { leaders: pids, name, is_running, sessions });
            }
            CHECKPOINTER if wait_type != "Activity" => {
                count_background_work(&mut sampled.ours, CHECKPOINT);
            }
            AUTOVACUUM_WORKER => count_background_work(&mut sampled.ours, &autovacuum(query)),
            WALSENDER if query.starts_with("BASE_BACKUP") => {
                count_background_work(&mut sampled.ours, BASE_BACKUP);
            }
            _ if hidden == "t" => sampled.hidden += sessions,
            _ => {}
        }
    }
    workers.iter().for_each(|workers| workers.count_in(&mut sampled, &our_processes, known));
    sampled
}

/// Returns the numbers in a list that is separated by spaces.
fn ids(list: &str) -> Vec<u64> {
    list.split(' ').filter_map(|id| id.parse().ok()).collect()
}

/// Parallel workers with the same activity.
struct ParallelWorkers<'a> {
    /// Process ids of the sessions for which the workers work: one id for each worker whose session
    /// the server shows.
    leaders: Vec<u64>,
    /// Name that the workers inherit from these sessions.
    name: &'a str,
    /// True if these workers do not wait.
    is_running: bool,
    sessions: u64,
}

impl ParallelWorkers<'_> {
    /// Counts the workers. A worker counts for the owner of the session for which it works.
    fn count_in(
        &self,
        sampled: &mut SampledSessions,
        our_processes: &HashSet<u64>,
        known: RecognitionData<'_>,
    ) {
        let ParallelWorkers { leaders, name, is_running, sessions } = self;
        let led = leaders.iter().filter(|leader| our_processes.contains(*leader)).count() as u64;
        let unled = sessions.saturating_sub(leaders.len() as u64);
        let has_our_name = match known {
            RecognitionData::Own(own) => own.has_name(name),
            RecognitionData::Sockets(_) => true,
        };
        let ours = (led + if has_our_name { unled } else { 0 }).min(*sessions);
        let SampledSessions { ours: our_observation, theirs: their_observation, .. } = sampled;
        for (observation, workers) in
            [(our_observation, ours), (their_observation, sessions - ours)]
        {
            observation.parallel_workers += workers;
            observation.running_workers += if *is_running { workers } else { 0 };
        }
    }
}

/// Client sessions with the same activity.
#[derive(Clone, Copy)]
struct ClientSessions<'a> {
    state: &'a str,
    wait: Wait<'a>,
    query: &'a str,
    /// The owner of the sessions' sockets, if a program is observed.
    owner: Option<Owner>,
    client_wait: Option<ClientWait>,
    is_spare: bool,
}

impl ClientSessions<'_> {
    /// Counts this number of sessions with this activity.
    fn count_in(self, observation: &mut SessionObservation, sessions: u64) {
        let ClientSessions { state, wait, query, owner, client_wait, is_spare } = self;
        if sessions == 0 {
            return;
        }
        if is_spare {
            observation.client_waits.spare += sessions;
            return;
        }
        if owner == Some(Owner::Program) {
            observation.client_waits.identified += sessions;
        }
        if let Some(client_wait) = client_wait {
            observation.client_waits.add(client_wait, sessions);
        }
        count_clients(observation, state, wait, query, sessions);
    }
}

/// Returns the wait of a session for its client; `None` if the session does not wait for its
/// client.
fn client_wait(
    state: &str,
    wait: Wait<'_>,
    idle_time: &str,
    waiting: Option<WaitingData>,
) -> Option<ClientWait> {
    let is_within_statement =
        state == "active" && (wait.kind, wait.event) == ("Client", CLIENT_READ_EVENT);
    let is_idle = state.starts_with("idle");
    let is_long = is_idle.then_some(idle_time == "long");
    (is_within_statement || is_idle).then_some(ClientWait { waiting, is_within_statement, is_long })
}

/// Wait event of a session; both fields are empty if the session does not wait.
#[derive(Clone, Copy)]
struct Wait<'w> {
    kind: &'w str,
    event: &'w str,
}

/// Counts the client sessions that are in a state.
fn count_clients(
    observation: &mut SessionObservation,
    state: &str,
    wait: Wait<'_>,
    query: &str,
    sessions: u64,
) {
    match state {
        "idle" => observation.idle += sessions,
        "active" | "fastpath function call" => {
            observation.active += sessions;
            if wait.kind.is_empty() {
                observation.count_wait(RUNNING, sessions);
            } else {
                observation.count_wait(&format!("{}:{}", wait.kind, wait.event), sessions);
                let statement = statement_beginning(query, DoubleQuotes::Name);
                if wait.kind == "Lock" && !statement.is_empty() {
                    *observation.statements.entry(statement).or_default() += sessions;
                }
            }
            if let Some(work) = maintenance_work(query) {
                count_background_work(observation, &work);
            }
        }
        state if state.starts_with("idle in transaction") => {
            observation.idle_in_transaction += sessions;
        }
        // The state is `disabled`, or has not been set yet.
        _ => {}
    }
}

fn count_background_work(observation: &mut SessionObservation, name: &str) {
    *observation.background.entry(name.to_owned()).or_default() += 1;
}

/// Returns the work of an autovacuum worker, whose text is `autovacuum: VACUUM ANALYZE public.t
/// (…)`.
fn autovacuum(query: &str) -> String {
    let words: Vec<&str> = query.split_whitespace().skip(1).collect();
    let is_verb = |word: &&&str| matches!(**word, "VACUUM" | "ANALYZE");
    let verbs = words.iter().take_while(is_verb).count();
    let [vacuum, analyze] = AUTOVACUUM;
    let name = if words.first() == Some(&"ANALYZE") { analyze } else { vacuum };
    match words.get(verbs) {
        Some(table) => format!("{name}: {}", table_name(table)),
        None => name.to_owned(),
    }
}

/// Adds the sessions in an answer to [`LOCKS`] to the tally.
fn count_locks(locks: &Table, tally: &mut Tally) {
    let Some([name, sessions]) = column_positions(locks, ["name", "sessions"]) else { return };
    for row in &locks.rows {
        let name = table_name(text(row, name));
        tally.add_named(&ComponentKind::Locks, &name, count(row, sessions));
    }
}

/// Reads the statistics of all databases together.
fn read_all(table: Table, sample: &mut Sample) {
    if let Some([most]) = column_positions(&table, ["max_connections"])
        && let Some(row) = table.rows.first()
    {
        sample.read(&ComponentKind::Sessions, sessions::MOST, number(row, most) as f64);
    }
    read_columns(pg_stat_databases::VIEW, &without_column(table, "max_connections"), sample);
}

/// Removes a column from a table.
fn without_column(mut table: Table, name: &str) -> Table {
    if let Some([place]) = column_positions(&table, [name]) {
        table.columns.remove(place);
        for row in &mut table.rows {
            if place < row.len() {
                row.remove(place);
            }
        }
    }
    table
}

/// Reads every number of every row as a counter; the first column names the row.
fn read_rows(view: &str, table: &Table, sample: &mut Sample) {
    for row in &table.rows {
        let name = statement_beginning(text(row, 0), DoubleQuotes::Name);
        let columns = table.columns.clone();
        let one = Table { columns, rows: vec![row.clone()], is_cut: table.is_cut };
        read_columns(&format!("{view}.{name}"), &without_column(one, "name"), sample);
    }
}

#[cfg(test)]
mod tests {
    use driver::SessionIds;
    use record::statistic::pg_stat_io_log;

    use super::*;
    use crate::database::TargetSessions;
    use crate::sockets::SocketSnapshot;

    #[test]
    fn judged_statistics_are_queried() {
        for (view, sql, statistics) in [
            (pg_stat_databases::VIEW, DATABASES.to_owned(), pg_stat_databases::ALL),
            (pg_stat_progress_copy::VIEW, COPIES.to_owned(), pg_stat_progress_copy::ALL),
            (pg_stat_io_log::VIEW, io_query(180_000), pg_stat_io_log::ALL),
        ] {
            for statistic in statistics {
                let column = format!(" as {}", statistic.own_name);
                assert!(sql.contains(&column), "{view}: {}", statistic.name);
            }
        }
        let names = io_query(180_000);
        for word in pg_stat_io_log::VIEW.strip_prefix("pg_stat_io.").unwrap().split('/') {
            assert!(names.contains(word) || word == "normal", "{word}");
        }
    }

    /// Returns an answer to [`ACTIVITY`] with these rows. `|` separates values, and `-` stands for
    /// null.
    fn activity(rows: &[&str]) -> Table {
        let columns = "backend_type|state|wait_event_type|wait_event|name|query|hidden|sessions";
        let value = |text: &str| (text != "-").then(|| text.to_owned());
        Table {
            columns: columns.split('|').map(str::to_owned).collect(),
            rows: rows.iter().map(|row| row.split('|').map(value).collect()).collect(),
            is_cut: false,
        }
    }

    fn classify_without_sockets(activity: &Table) -> SampledSessions {
        classify_sessions(activity, RecognitionData::Own(&OwnSessions::named("assay")))
    }

    #[test]
    fn session_in_copy_waits_for_the_rows_of_its_client() {
        let of = |state, kind, event, idle_time| {
            let client_wait = client_wait(state, Wait { kind, event }, idle_time, None)?;
            Some((client_wait.is_within_statement, client_wait.is_long))
        };
        assert_eq!(of("active", "Client", "ClientRead", "f"), Some((true, None)));
        assert_eq!(of("idle", "Client", "ClientRead", "long"), Some((false, Some(true))));
        assert_eq!(
            of("idle in transaction", "Client", "ClientRead", "f"),
            Some((false, Some(false)))
        );
        assert_eq!(of("active", "Client", "ClientWrite", "f"), None);
        assert_eq!(of("active", "IO", "WALSync", "f"), None);
        assert_eq!(of("active", "", "", "f"), None);
    }

    #[test]
    fn session_that_a_pool_holds_in_reserve_is_not_counted_as_idle() {
        let mut table = activity(&[
            "client backend|idle|Client|ClientRead|assay|-|f|1|127.0.0.1|40001|spare",
            "client backend|idle|Client|ClientRead|assay|-|f|1|127.0.0.1|40002|long",
            "client backend|active|-|-|assay|-|f|1|127.0.0.1|40003|-",
        ]);
        table.columns.extend(["address", "port", "rests"].map(str::to_owned));
        let SampledSessions { ours, .. } =
            classify_sessions(&table, RecognitionData::Sockets(&SocketSnapshot::default()));
        assert_eq!((ours.active, ours.idle), (1, 1));
        assert_eq!((ours.client_waits.spare, ours.client_waits.paused), (1, 1));
    }

    #[test]
    fn names_of_sessions_are_quoted() {
        let sql = activity_query(&["assay", "ann's"], 150_000);
        assert!(sql.contains("application_name in ('assay', 'ann''s') then"), "{sql}");
    }

    #[test]
    fn sessions_of_a_program_are_queried_by_client() {
        let sql = program_activity_query(150_000);
        assert!(
            sql.contains(" as pids, host(client_addr) as address, client_port as port, case when"),
            "{sql}"
        );
        assert!(sql.contains(" as rests from"), "{sql}");
        assert!(sql.ends_with("group by 1, 2, 3, 4, 5, 6, 7, 10, 11, 12"), "{sql}");
    }

    #[test]
    fn sessions_are_counted_by_activity() {
        let SampledSessions { ours, theirs, hidden } = classify_without_sockets(&activity(&[
            "client backend|active|-|-|assay|-|f|2",
            "client backend|active|Lock|tuple|assay|update hot set n = 5|f|30",
            "client backend|active|Lock|tuple|assay|update hot set n = 6|f|1",
            "client backend|active|-|-|-|vacuum t|f|1",
            "client backend|active|Timeout|PgSleep|-|-|f|5",
            "client backend|active|IO|WalSync|assay|commit|f|2",
            "client backend|idle|Client|ClientRead|assay|-|f|7",
            "client backend|idle|Client|ClientRead|-|-|f|70",
            "client backend|idle in transaction (aborted)|Client|ClientRead|assay|-|f|3",
            "client backend|disabled|-|-|assay|-|f|5",
            "parallel worker|active|-|-|assay|-|f|2",
            "checkpointer|-|Activity|CheckpointerMain|-|-|f|1",
            "autovacuum worker|active|-|-|-|autovacuum: VACUUM ANALYZE public.t|f|1",
            "-|-|-|-|-|-|t|9",
        ]));
        assert_eq!((ours.active, ours.idle, ours.idle_in_transaction), (35, 7, 3));
        assert_eq!((theirs.active, theirs.idle, ours.parallel_workers, hidden), (6, 70, 2, 9));
        let waits: Vec<_> = ours.waits.iter().map(|(event, n)| (event.as_str(), *n)).collect();
        assert_eq!(waits, [("IO:WalSync", 2), ("Lock:tuple", 31), ("cpu", 2)]);
        let statements: Vec<_> = ours.statements.into_iter().collect();
        assert_eq!(statements, [("update hot set n = ?".to_owned(), 31)]);
        assert_eq!(ours.background.into_keys().collect::<Vec<_>>(), ["autovacuum: t"]);
        assert_eq!(theirs.background.into_keys().collect::<Vec<_>>(), ["vacuum: t"]);
    }

    #[test]
    fn session_of_another_client_with_our_name_is_recognised_by_its_process() {
        let mut table = activity(&[
            "client backend|active|-|-|assay|-|f|3|11 12 13",
            "client backend|idle|Client|ClientRead|assay|-|f|2|14 11",
            "client backend|active|-|-|-|-|f|1|12",
        ]);
        table.columns.push("pids".to_owned());
        let ids = SessionIds::default();
        let _open = [11, 12].map(|pid| ids.add(SessionId(pid)));
        let own = by_id("assay", ids);
        let active_and_idle = |own: &OwnSessions| {
            let SampledSessions { ours, theirs, .. } =
                classify_sessions(&table, RecognitionData::Own(own));
            [ours, theirs].map(|it| (it.active, it.idle))
        };
        assert_eq!(active_and_idle(&own), [(2, 1), (2, 1)]);
        assert_eq!(active_and_idle(&OwnSessions::named("assay")), [(3, 2), (1, 0)]);
    }

    fn by_id(name: &str, ids: SessionIds) -> OwnSessions {
        OwnSessions::of(TargetSessions { name: name.to_owned(), ids: Some(vec![ids]) }, [])
    }

    /// Returns the number of all parallel workers and the number of running ones, first for our
    /// sessions, then for the sessions of others.
    fn workers(table: &Table, known: RecognitionData<'_>) -> [(u64, u64); 2] {
        let SampledSessions { ours, theirs, .. } = classify_sessions(table, known);
        [ours, theirs].map(|it| (it.parallel_workers, it.running_workers))
    }

    #[test]
    fn parallel_worker_belongs_to_the_owner_of_its_leader() {
        let mut table = activity(&[
            "parallel worker|active|-|-|assay|-|f|4|11 11 14 99",
            "parallel worker|active|IO|DataFileRead|assay|-|f|1|11",
            "parallel worker|active|-|-|-|-|f|2|20 20",
            "client backend|active|IPC|ExecuteGather|assay|-|f|2|11 14",
            "client backend|active|-|-|-|-|f|1|20",
        ]);
        table.columns.push("pids".to_owned());
        let ids = SessionIds::default();
        let _open = ids.add(SessionId(11));
        let [own, named] = [by_id("assay", ids), OwnSessions::named("assay")];
        assert_eq!(workers(&table, RecognitionData::Own(&own)), [(3, 2), (4, 4)]);
        assert_eq!(workers(&table, RecognitionData::Own(&named)), [(4, 3), (3, 3)]);
    }

    #[test]
    fn parallel_worker_of_an_old_server_is_recognised_by_its_name() {
        let table = activity(&[
            "parallel worker|active|-|-|assay|-|f|2",
            "parallel worker|active|-|-|-|-|f|1",
        ]);
        let ids = SessionIds::default();
        let _open = ids.add(SessionId(11));
        assert_eq!(workers(&table, RecognitionData::Own(&by_id("assay", ids))), [(2, 2), (1, 1)]);
        let sockets = SocketSnapshot::default();
        assert_eq!(workers(&table, RecognitionData::Sockets(&sockets)), [(3, 3), (0, 0)]);
    }

    #[test]
    fn checkpoint_and_backup_are_background_work() {
        let SampledSessions { ours, .. } = classify_without_sockets(&activity(&[
            "checkpointer|-|Timeout|CheckpointWriteDelay|-|-|f|1",
            "walsender|active|-|-|-|BASE_BACKUP ( LABEL 'x' )|f|1",
            "walsender|active|-|-|-|START_REPLICATION 0/1|f|1",
        ]));
        assert_eq!(ours.background.into_keys().collect::<Vec<_>>(), ["base backup", "checkpoint"]);
    }

    #[test]
    fn malformed_answer_is_ignored() {
        assert_eq!(classify_without_sockets(&Table::default()), SampledSessions::default());
        let mut short = activity(&["client backend|active"]);
        assert_eq!(classify_without_sockets(&short).ours.active, 0);
        short.columns.pop();
        assert_eq!(classify_without_sockets(&short), SampledSessions::default());
    }

    #[test]
    fn autovacuum_names_its_table() {
        for (query, expected) in [
            ("autovacuum: VACUUM public.t (to prevent wraparound)", "autovacuum: t"),
            ("autovacuum: ANALYZE shop.orders", "autoanalyze: shop.orders"),
            ("autovacuum: VACUUM ANALYZE t", "autovacuum: t"),
            ("", "autovacuum"),
        ] {
            assert_eq!(autovacuum(query), expected, "{query}");
        }
    }

    #[test]
    fn queries_match_the_server_version() {
        assert!(
            !locks_query(110_000).contains("materialized")
                && locks_query(150_000).contains("materialized")
        );
        for (version, leader) in [(120_000, "then null else"), (130_000, "then leader_pid else")] {
            for sql in [activity_query(&["a"], version), program_activity_query(version)] {
                assert!(sql.contains(leader) && !sql.contains("LEADER"), "{sql}");
            }
        }
        assert!(
            !io_query(170_000).contains("wal'")
                && io_query(180_000).contains("|| '/' || context || case")
        );
        let old = statements_query(120_000, "public").expect("a statement");
        assert!(old.contains("sum(total_time)") && old.contains("public.pg_stat_statements"));
        assert_eq!(statements_query(150_000, ""), None);
    }

    #[test]
    fn session_limit_is_not_a_statistic() {
        let table = Table {
            columns: vec!["deadlocks".to_owned(), "max_connections".to_owned()],
            rows: vec![vec![Some("3".to_owned()), Some("100".to_owned())]],
            is_cut: false,
        };
        let mut sample = Sample::default();
        read_all(table, &mut sample);
        let read: Vec<_> = sample
            .readings
            .iter()
            .map(|r| format!("{} {} {}", r.series.component, r.series.metric, r.value))
            .collect();
        assert_eq!(read, ["sessions most 100", "statistics pg_stat_database.all.deadlocks 3"]);
    }
}
