//! Tests of runs on PostgreSQL through a pooler, which verify what the guide says about poolers.

use base::{Clock, Monotonic, Nanos};
use nix::sys::signal::Signal;
use testbed::{Options, Server, Via};

use crate::support::{
    CommandResult, Running, TestFolder, assert_balanced, job, number_after, wait_until,
};

const PGPOOL: Via = Via::Pgpool { cache: None };

fn run(place: &TestFolder, server: &Server) -> CommandResult {
    let url = server.url().to_string();
    let args = ["run", "w.ini", "--json", "--out", "r.assay", "--quiet", "--url", &url];
    CommandResult::of(place.command(&args).env("ASSAY_PASSWORD", server.password().expose()))
}

fn start(place: &TestFolder, server: &Server) -> Running {
    let url = server.url().to_string();
    let args = ["run", "w.ini", "--json", "--out", "r.assay", "--url", &url];
    Running::of(place.command(&args).env("ASSAY_PASSWORD", server.password().expose()))
}

const COUNTER: &str = "\
duration = 2s
[setup]
query = create table counter (id int primary key, n bigint)
query = create table seen (session int)
[load counter]
rows = 100
columns = id: row(), n: 0
";

/// Jobs with a single statement, a pipelined transaction, and a statement that the server cancels.
/// The setting of the last job applies to its own transaction only, and not to the next user of the
/// session.
const JOBS: &str = "\
[single]
query = update counter set n = n + 1 where id = ${uniform(1, 100)}
concurrency = 2
[pipelined]
transaction = yes
pipeline = yes
query = update counter set n = n + 1 where id = ${uniform(1, 100)}
query = insert into seen values (pg_backend_pid())
concurrency = 2
[ended]
transaction = yes
query = set local statement_timeout = '50ms'
query = select pg_sleep(60)
concurrency = 2
";

/// Returns the same jobs with different names and without prepared statements.
fn unprepared() -> String {
    JOBS.replace("[", "[unprepared-").replace("concurrency", "prepare = no\nconcurrency")
}

/// Runs a file and checks the answers of each job, and that every completed update took effect.
/// Returns the number of server sessions that the pipelined transactions used.
#[track_caller]
fn sessions_of(server: &Server, file: &str) -> u64 {
    let place = TestFolder::with(file);
    let ran = run(&place, server);
    assert!([0, 3].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    let summary = ran.json();
    assert_balanced(&summary);
    let mut done = 0;
    for job in summary["jobs"].as_array().unwrap() {
        let (scheduled, completed) = (&job["scheduled"], job["completed"].as_u64().unwrap());
        assert!(scheduled.as_u64() > Some(0), "{job}");
        if job["name"].as_str().unwrap().ends_with("ended") {
            assert_eq!((completed, &job["errors"]), (0, scheduled), "{job}");
            let error = &job["errors_by_code"][0];
            let said = (&error["class"], &error["code"], &error["count"]);
            assert_eq!(said, (&"server".into(), &"57014".into(), scheduled), "{job}");
        } else {
            assert_eq!(completed, *scheduled, "{job}: {}", server.pooler_log());
            done += completed;
        }
    }
    assert_eq!(server.sql("select sum(n) from counter").unwrap(), format!("{done}\n"));
    let sessions = server.sql("select count(distinct session) from seen").unwrap();
    sessions.trim().parse().unwrap()
}

#[test]
fn pooler_with_a_session_per_client_needs_no_options() {
    for via in [Via::Pgbouncer, PGPOOL] {
        let server = Server::start(&Options::postgres().via(via)).unwrap();
        let file = [COUNTER, JOBS, &unprepared()].concat();
        // The two clients of each of the two jobs with pipelined transactions record their session.
        assert_eq!(sessions_of(&server, &file), 4, "{via:?}");
    }
}

/// Six clients share two server sessions; each transaction may get either session.
#[test]
fn transaction_pooling_needs_unprepared_statements() {
    let options = Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", "transaction");
    let server = Server::start(&options.set_via("default_pool_size", "2")).unwrap();
    assert!(sessions_of(&server, &[COUNTER, &unprepared()].concat()) <= 2);
}

/// Uses URLs as a user writes them; the testbed starts the servers and the poolers.
#[test]
fn private_server_is_used_through_a_pooler() {
    for (url, key) in [
        ("testbed:postgres?via=pgbouncer", ""),
        ("testbed:postgres?via=pgbouncer&via.pool_mode=transaction", "prepare = no\n"),
        ("testbed:postgres?via=pgpool", ""),
    ] {
        let read = "duration = 2s\n[read]\nquery = select 1\nrate = 100\n";
        let place = TestFolder::with(&format!("{read}{key}"));
        let run = ["run", "w.ini", "--url", url, "--out", "r.assay", "--json"];
        let summary = place.assay(&run).json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        assert!(read["completed"].as_u64() > Some(0), "{url}: {read}");
        assert_eq!(read["completed"], read["scheduled"], "{url}: {read}");
        assert_eq!(read["rows"], read["completed"], "{url}: {read}");
        let text = place.assay(&["report", "r.assay", "--full"]).stdout;
        assert!(text.contains(&format!("target    {url}, tls off\n")), "{text}");
    }
}

/// The processes of the pooler, of the database behind it and of a named target are known, so other
/// programs are distinguished from them.
#[test]
fn other_programs_are_judged_beside_a_pooler_and_a_named_target() {
    let place = TestFolder::with(
        "duration = 8s\nwarmup = 3s\n[read]\nquery = select 1\nrate = 50\n\
         [write]\ntarget = copy\nquery = select 1\nrate = 50\n\
         [target copy]\nurl = testbed:postgres\n",
    );
    let run = ["run", "w.ini", "--allow-commands", "--out", "r.assay", "--json"];
    let url = ["--url", "testbed:postgres?via=pgbouncer"];
    let summary = place.assay(&[&run[..], &url].concat()).json();
    let checks = summary["verdict"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "other-programs").unwrap();
    // Tests that run at the same time count as other programs, so the check may object.
    assert!(check["status"] != "not-possible" && check["value"].is_number(), "{check}");
}

/// Runs endless statements through a pooler, and checks that the server no longer works on them
/// afterwards.
///
/// # Errors
/// The server still works on them. The text is the pooler's log.
fn expect_cancelled(via: Via) -> Result<(), String> {
    const SLOW: &str = "\
duration = 1s
[slow]
query = select pg_sleep(4711)
rate = 8
arrival = uniform
timeout = 200ms
";
    let sleeping = "select count(*) from pg_stat_activity where query like '%(4711)%' \
                    and state = 'active' and pid <> pg_backend_pid()";
    let server = Server::start(&Options::postgres().via(via)).unwrap();
    let place = TestFolder::with(SLOW);
    let summary = run(&place, &server).json();
    assert_balanced(&summary);
    let slow = job(&summary, "slow");
    // A busy pooler may refuse some of the clients instead.
    assert_eq!(slow["completed"], 0, "{slow}");
    assert!(slow["timeouts"].as_u64() > Some(0), "{slow}");
    let is_cancelled = (0..100).any(|_| {
        let found = server.sql(&format!("select pg_sleep(0.05); {sleeping}"));
        found.unwrap().ends_with("\n0\n")
    });
    if is_cancelled { Ok(()) } else { Err(server.pooler_log()) }
}

/// The pooler passes on the cancellation key of a session, and the request to cancel its statement.
/// The request is repeated for about a second. A server that is too busy to begin the statement in
/// this time executes it later. This does not happen in every attempt.
#[test]
fn abandoned_statement_is_cancelled_behind_a_pooler() {
    for via in [Via::Pgbouncer, PGPOOL] {
        let logs: Vec<String> = (0..3).map_while(|_| expect_cancelled(via).err()).collect();
        let log = logs.join("\n--- next attempt ---\n");
        assert!(logs.len() < 3, "{via:?}: the server still works on it:\n{log}");
    }
}

/// A full pooler limits the job like a full server.
#[test]
fn a_pooler_that_is_full_limits_the_job() {
    let options = Options::postgres().via(Via::Pgbouncer).set_via("max_client_conn", "3");
    let server = Server::start(&options).unwrap();
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nconcurrency = 6\n");
    let ran = run(&place, &server);
    assert!([0, 3].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    let summary = ran.json();
    assert_balanced(&summary);
    let read = job(&summary, "read");
    assert!(read["completed"].as_u64() > Some(0), "{read}");
    let events = place.export_json("r.assay")["events"].to_string();
    assert!(events.contains("max_client_conn, or ask for fewer connections"), "{events}");
}

/// Expects tables to be filled through a pooler in both modes. After the commit of a `batch`, a
/// pooler in transaction mode may give the session to another client. Rows of the next `batch` that
/// were sent before the answer to the commit would then never be answered. A named statement of an
/// insert would be missing in one of the sessions, or would exist there already.
#[test]
fn tables_are_filled_through_a_pooler_of_either_kind() {
    const LOAD: &str = "\
duration = 1s
[setup]
query = create table t (id int primary key, note text)
query = create table inserted (id int primary key, note text)
query = create table replaced (id int primary key, note text)
[load t]
rows = 20k
batch = 1000
writers = 4
columns = id: row(), note: text(10, 40)
[load inserted]
rows = 2k
batch = 130
writers = 4
method = insert
columns = id: row(), note: text(10, 40)
[load replaced]
rows = 2k
batch = 130
writers = 4
on-duplicate = replace
columns = id: row(), note: text(10, 40)
[read]
query = select count(*) from t
prepare = no
concurrency = 1
";
    for mode in ["transaction", "session"] {
        let options = Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", mode);
        let server = Server::start(&options.set_via("default_pool_size", "2")).unwrap();
        let place = TestFolder::with(LOAD);
        let ran = run(&place, &server);
        assert!([0, 3].contains(&ran.code), "{mode}: {} {}", ran.code, ran.stderr);
        for (table, rows) in [("t", "20000\n"), ("inserted", "2000\n"), ("replaced", "2000\n")] {
            let count = server.sql(&format!("select count(*) from {table}")).unwrap();
            assert_eq!(count, rows, "{mode}: {table}");
        }
    }
}

#[test]
fn pooler_with_fewer_sessions_than_clients_limits_the_job() {
    let options = Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", "session");
    let server = Server::start(&options.set_via("default_pool_size", "2")).unwrap();
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nconcurrency = 24\n");
    let ran = run(&place, &server);
    assert!([0, 3].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    let summary = ran.json();
    assert!(job(&summary, "read")["completed"].as_u64() > Some(0), "{summary}");
    let limit = crate::support::check(&summary, "connections");
    assert_eq!(limit["status"], "suspect");
    let words = limit["explain"].as_str().unwrap();
    assert!(words.starts_with("2 connections are the limit"), "{words}");
    assert!(words.contains("had no session for it within 5s"), "{words}");
}

/// Interrupts a load whose writers wait for a session.
///
/// # Errors
/// The load ended late, or the writers got a session. The text contains the load's stderr.
fn interrupt_a_waiting_load(server: &Server) -> Result<(), String> {
    let logins = || server.pooler_log().matches("login attempt").count();
    let before = logins();
    let place = TestFolder::with(
        "[setup]\nquery = create table if not exists t (id int)\n\
         [load t]\nrows = 1k\nwriters = 2\ncolumns = id: row()\n[read]\nquery = select 1\n",
    );
    let loading = start(&place, server);
    wait_until("three logins at the pooler", || logins() >= before + 3);
    let signalled = Monotonic.now();
    loading.signal(Signal::SIGINT);
    let ran = loading.wait_for_end().expect(130);
    let took = Monotonic.now().since(signalled);
    let rows = &ran.json()["loads"][0]["rows"];
    if took < Nanos::from_secs(4) && *rows == 0 {
        return Ok(());
    }
    Err(format!("it ended after {took} with {rows} rows: {}", ran.stderr))
}

/// Expects one signal to end the load. A client of another run holds one of the two sessions, and
/// the connection of `[setup]` holds the other. The pooler accepts the connections of the writers
/// but does not answer them.
#[test]
fn one_signal_ends_a_load_through_a_pool_whose_sessions_are_taken() {
    let options = Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", "session");
    let server = Server::start(&options.set_via("default_pool_size", "2")).unwrap();
    let holder = TestFolder::with(
        "duration = 1h\n[hold]\nquery = select 1\nconcurrency = 1\nthink = 50ms\n\
         [observe]\ndatabase = no\n",
    );
    let mut holding = start(&holder, &server);
    holding.wait_for_matching_line("some are answered", |line| {
        number_after(line, "achieved/s") > Some(0.0)
    });
    // A writer waits up to five seconds for its first answer, and an interrupted load gives its
    // writers up to five seconds to end. On a busy machine, a load may end only then, but not in
    // every attempt.
    let late: Vec<String> = (0..3).map_while(|_| interrupt_a_waiting_load(&server).err()).collect();
    assert!(late.len() < 3, "{}", late.join("\n--- next attempt ---\n"));
    holding.signal(Signal::SIGINT);
    holding.wait_for_end().expect(130);
}
