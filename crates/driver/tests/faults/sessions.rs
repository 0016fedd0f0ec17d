//! Tests of sessions that are lost, delayed, or begin with unusual settings, for both protocols.

use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, SyncSender};

use base::{Class, Clock, Endpoint, Nanos, NodeId, Stamp, Target};
use driver::{Connection, Driver, Mysql, Postgres, Step, Work};
use rt::Rt;
use testbed::{Kind, Relay, Server, shared};
use wire_postgres::{TransactionStatus, backend};

use crate::impostor::{ScriptStep, ScriptedServer};
use crate::{changed, check, in_real_time, mariadb, text, with_option};

fn postgres(target: &Target) -> Postgres {
    Postgres::open(target).expect("a URL")
}

fn mysql(target: &Target) -> Mysql {
    Mysql::open(target, ".").expect("a URL")
}

/// Starts a relay in front of a server, and returns it with the server's URL through it.
fn relayed(server: &Server) -> (Relay, Target) {
    let relay = Relay::start(SocketAddr::from(([127, 0, 0, 1], server.port()))).expect("a relay");
    let target = changed(&server.url(), |endpoint| {
        if let Endpoint::Network { addresses, .. } = endpoint {
            addresses[0].port = Some(relay.address().port());
        }
    });
    (relay, target)
}

/// Builds a transaction of these texts.
fn transaction(texts: &[&str], is_pipelined: bool) -> Work {
    let mut work = Work { is_pipelined, ..Work::default() };
    work.steps.push(Step::Begin);
    for (place, text) in texts.iter().enumerate() {
        work.values.push_text(|buffer| buffer.push_str(text));
        work.steps.push(Step::ExecuteText { text: place as u32 });
    }
    work.steps.push(Step::Commit);
    work
}

fn loses_a_later_step<D: Driver>(driver: &D, relay: &Relay, sleep: &str) {
    for is_pipelined in [false, true] {
        in_real_time(async |rt| {
            let mut connection = driver.connect(&rt).await.expect("a connection");
            let mut work = transaction(&["select 1", sleep], is_pipelined);
            let (cut, error) = {
                let mut run = std::pin::pin!(connection.run(&mut work));
                let early = rt::within(&rt, Nanos::from_millis(200), run.as_mut()).await;
                assert!(early.is_none(), "{early:?}");
                let cut = rt.now();
                relay.cut();
                (cut, run.await.expect_err("the server is gone"))
            };
            assert_eq!(error.class(), Class::Disconnect, "{error}");
            let done = work.reply.done;
            assert!(done >= cut, "over at {done:?}, and lost at {cut:?}; {is_pipelined}");
        });
    }
}

/// A request whose connection is lost in a later step ends at the loss, not at the first answer:
/// otherwise the time from that answer to the loss would be missing.
#[test]
fn a_request_ends_when_its_connection_is_lost() {
    let (relay, target) = relayed(shared(Kind::Postgres));
    loses_a_later_step(&postgres(&target), &relay, "select pg_sleep(60)");
    let (relay, target) = relayed(shared(Kind::Mariadb));
    loses_a_later_step(&mysql(&target), &relay, "select sleep(60)");
}

/// Opens a connection to a server. On a busy machine, the driver's time limit may pass first, so
/// several attempts are made.
async fn connected_to<D: Driver>(driver: &D, rt: &Rt, node: NodeId) -> D::Connection {
    for _ in 0..20 {
        match driver.connect(rt).await {
            Ok(connection) if connection.node() == node => return connection,
            _ => {}
        }
    }
    panic!("no connection in time")
}

async fn connected<D: Driver>(driver: &D, rt: &Rt) -> D::Connection {
    connected_to(driver, rt, NodeId(0)).await
}

/// Opens a connection to the first server and prepares a statement on it, in several attempts if
/// necessary.
async fn served<D: Driver>(driver: &D, rt: &Rt) -> D::Connection {
    for _ in 0..20 {
        let mut connection = connected(driver, rt).await;
        if connection.prepare("select 1").await.is_ok() {
            return connection;
        }
    }
    panic!("no statement in time")
}

async fn prepares_nothing<D: Driver>(driver: &D, rt: &Rt, relay: &Relay, address: &str) {
    let mut connection = connected(driver, rt).await;
    relay.stall(Nanos::from_secs(60));
    let error = connection.prepare("select 1").await.expect_err("no answer");
    check(&error, Class::Disconnect, "disconnect", &[address, "within 300ms", "connect-timeout"]);
    assert!(error.is_unanswered(), "{error}");
    // The client does not wait for settings either, and it invents none.
    let settings = connection.settings().await;
    let isolation = settings.iter().find(|(name, _)| name == "isolation");
    assert_eq!(isolation.map(|(_, value)| value.as_str()), Some("unknown"));
}

/// Checks that the connect timeout limits the preparation too: a pooler may accept a client at once
/// and delay its first statement until a server is free.
#[test]
fn statements_are_prepared_in_time_or_not_at_all() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let (relay, target) = relayed(shared(kind));
        let target = with_option(&target, "connect-timeout", "300ms");
        let address = relay.address().to_string();
        in_real_time(async |rt| match kind {
            Kind::Postgres => prepares_nothing(&postgres(&target), &rt, &relay, &address).await,
            Kind::Mariadb | Kind::Mysql => {
                prepares_nothing(&mysql(&target), &rt, &relay, &address).await
            }
        });
    }
}

/// Checks the errors of sessions that get no answer, at a server that has answered another session.
async fn lacks_sessions<D: Driver>(driver: &D, rt: &Rt, relay: &Relay) {
    let mut connections = Vec::new();
    for _ in 0..3 {
        connections.push(connected(driver, rt).await);
    }
    let [late, writer, later] = &mut connections[..] else { unreachable!("three") };
    let _served = served(driver, rt).await;
    relay.stall(Nanos::from_secs(60));
    for error in [late.prepare("select 1").await.err(), writer.await_session().await.err()] {
        let error = error.expect("no answer");
        let words = ["had no session for it within 300ms", "enlarge the pool", "connect-timeout"];
        check(&error, Class::TooManyConnections, "no-session", &words);
    }
    driver.time_zero(rt.now());
    let error = later.prepare("select 1").await.expect_err("no answer");
    check(&error, Class::Disconnect, "disconnect", &["did not prepare", "within 300ms"]);
    assert!(error.is_unanswered(), "{error}");
}

/// Checks the error class before and after time zero. During a run, a driver cannot distinguish a
/// full pooler from a server that has stopped.
#[test]
fn connection_without_a_session_is_a_limit_only_before_time_zero() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let (relay, target) = relayed(shared(kind));
        let target = with_option(&target, "connect-timeout", "300ms");
        in_real_time(async |rt| match kind {
            Kind::Postgres => lacks_sessions(&postgres(&target), &rt, &relay).await,
            Kind::Mariadb | Kind::Mysql => lacks_sessions(&mysql(&target), &rt, &relay).await,
        });
    }
}

#[test]
fn sessions_at_one_server_do_not_make_another_one_full() {
    let server = shared(Kind::Postgres);
    let ((_served, target), (stalled, other)) = (relayed(server), relayed(server));
    let target = changed(&with_option(&target, "connect-timeout", "300ms"), |endpoint| {
        let Endpoint::Network { addresses, .. } = endpoint else { return };
        if let Endpoint::Network { addresses: others, .. } = other.endpoint {
            addresses.extend(others);
        }
    });
    let driver = postgres(&target);
    in_real_time(async |rt| {
        let _first = served(&driver, &rt).await;
        let mut second = connected_to(&driver, &rt, NodeId(1)).await;
        stalled.stall(Nanos::from_secs(60));
        let error = second.prepare("select 1").await.expect_err("no answer");
        check(&error, Class::Disconnect, "disconnect", &["did not prepare", "within 300ms"]);
    });
}

/// Opens a connection whose settings arrive 300 ms after the client stopped waiting for them.
async fn with_late_settings<D: Driver>(driver: &D, rt: &Rt, relay: &Relay) -> D::Connection {
    for _ in 0..20 {
        let mut connection = connected(driver, rt).await;
        relay.stall(Nanos::from_millis(600));
        let settings = connection.settings().await;
        // On a busy machine, the settings may be queried so late that they arrive in time.
        if settings.iter().any(|(name, value)| name == "isolation" && value == "unknown") {
            return connection;
        }
    }
    panic!("no late settings")
}

/// Checks that a late answer is not taken for the answer to the next statement.
async fn answers_are_not_mistaken<D: Driver>(driver: &D, rt: &Rt, relay: &Relay, address: &str) {
    let mut connection = with_late_settings(driver, rt, relay).await;
    rt.sleep(Nanos::from_millis(600)).await;
    let error = connection.query_text("select 42").await.expect_err("another one comes first");
    check(&error, Class::Disconnect, "disconnect", &[address, "still owes"]);
    let facts = connection.facts().await;
    let size = facts.iter().find(|(name, _)| name == "database.size_bytes");
    assert_eq!(size.map(|(_, value)| value.as_str()), Some("unknown"));
}

#[test]
fn late_answer_is_not_given_to_the_next_statement() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let (relay, target) = relayed(shared(kind));
        let target = with_option(&target, "connect-timeout", "300ms");
        let address = relay.address().to_string();
        in_real_time(async |rt| match kind {
            Kind::Postgres => {
                answers_are_not_mistaken(&postgres(&target), &rt, &relay, &address).await;
            }
            Kind::Mariadb | Kind::Mysql => {
                answers_are_not_mistaken(&mysql(&target), &rt, &relay, &address).await;
            }
        });
    }
}

/// Runs a request that exceeds all buffers on the way to the server, which at first reads only the
/// beginning of the request. Each time that the server has reached a pause, lets it continue after
/// a while. Returns the times at which the pauses ended.
async fn run_long<D: Driver>(driver: &D, rt: &Rt, work: &mut Work, gates: Vec<Gate>) -> Vec<Stamp> {
    let mut connection = driver.connect(rt).await.expect("a connection");
    let mut run = std::pin::pin!(connection.run(work));
    // This gives the request time to be built.
    let made = rt::within(rt, Nanos::from_millis(1), run.as_mut()).await;
    assert!(made.is_none(), "{made:?}");
    let mut allowed = Vec::new();
    for gate in gates {
        while gate.reached.try_recv().is_err() {
            let early = rt::within(rt, Nanos::from_millis(5), run.as_mut()).await;
            assert!(early.is_none(), "{early:?}");
        }
        let early = rt::within(rt, Nanos::from_millis(300), run.as_mut()).await;
        assert!(early.is_none(), "{early:?}");
        allowed.push(rt.now());
        gate.allow.send(()).expect("a server");
    }
    run.await.expect("an answer");
    allowed
}

/// Builds a transaction of two short statements, and two that exceed all buffers on the way.
fn long_chain() -> Work {
    let long = " ".repeat(15 << 20);
    transaction(&["select 1", "select 2", &long, &long], true)
}

/// Checks the order of events: the first statement was answered before the test first allowed the
/// server to continue. The other three were answered between the first and the second permission.
fn check_stamps(work: &Work, allowed: &[Stamp]) {
    let sent = work.reply.sent.expect("it was sent");
    let answered: Vec<Stamp> = work.reply.statements.iter().map(|time| sent + *time).collect();
    let [first, second, third, fourth] = answered[..] else { panic!("{answered:?}") };
    let stamps = [sent, first, allowed[0], second, third, fourth, allowed[1]];
    assert!(stamps.is_sorted(), "{stamps:?}");
}

/// The test's side of a pause of a scripted server.
struct Gate {
    /// Receives a message when the server has reached the pause.
    reached: Receiver<()>,
    /// Ends the pause.
    allow: SyncSender<()>,
}

/// Returns pauses of a server, and the gates that end them.
fn pauses<const N: usize>() -> (Vec<Gate>, [ScriptStep; N]) {
    let pause = |_| {
        let (allow, allowed) = mpsc::sync_channel(1);
        let (reaching, reached) = mpsc::sync_channel(1);
        (Gate { reached, allow }, ScriptStep::Pause { reaching, allowed })
    };
    let (gates, acts): (Vec<_>, Vec<_>) = (0..N).map(pause).unzip();
    (gates, acts.try_into().ok().expect("as many"))
}

/// Each answer has its own time of arrival, even if the rest of the pipeline is not sent yet.
#[test]
fn answers_of_postgresql_during_a_long_chain_have_times_of_their_own() {
    let answers = |count: u32| {
        let mut out = Vec::new();
        for _ in 0..count {
            backend::parse_complete(&mut out);
            backend::bind_complete(&mut out);
            backend::command_complete(&mut out, "SELECT 1").expect("a tag");
        }
        out
    };
    let mut rest = answers(4);
    backend::ready_for_query(&mut rest, TransactionStatus::Idle);
    let (gates, [one, two]) = pauses();
    let welcome =
        [ScriptStep::Receive, ScriptStep::Send(crate::postgres::welcome()), ScriptStep::Receive];
    // The answers to `begin` and to the first statement.
    let replies =
        [ScriptStep::Send(answers(2)), one, ScriptStep::Send(rest), two, ScriptStep::Wait];
    let server = ScriptedServer::new(welcome.into_iter().chain(replies).collect());
    let driver = crate::postgres::at(server.port(), "");
    let mut work = long_chain();
    let allowed = in_real_time(async |rt| run_long(&driver, &rt, &mut work, gates).await);
    check_stamps(&work, &allowed);
    assert!(work.reply.done <= allowed[1], "{:?}, {allowed:?}", work.reply.done);
}

#[test]
fn answers_of_mysql_during_a_long_chain_have_times_of_their_own() {
    let ok = |count| ScriptStep::Send(mariadb::ok(1).repeat(count));
    let (gates, [one, two]) = pauses();
    let end = ScriptStep::ReadUntil(b"set autocommit = 1");
    let replies = [ok(2), one, ok(3), two, end, ok(1), ScriptStep::Wait];
    let server = ScriptedServer::new(mariadb::welcome().into_iter().chain(replies).collect());
    let driver = mariadb::at(server.port(), "");
    let mut work = long_chain();
    let allowed = in_real_time(async |rt| run_long(&driver, &rt, &mut work, gates).await);
    check_stamps(&work, &allowed);
}

#[test]
fn long_statement_of_mysql_ends_with_its_last_byte_read() {
    let (gates, [one]) = pauses();
    let acts = mariadb::welcome().into_iter().chain([
        ScriptStep::Send(mariadb::ok(1)),
        one,
        ScriptStep::Wait,
    ]);
    let server = ScriptedServer::new(acts.collect());
    let driver = mariadb::at(server.port(), "");
    let mut work = text(&" ".repeat(15 << 20));
    let allowed = in_real_time(async |rt| run_long(&driver, &rt, &mut work, gates).await);
    assert!(work.reply.done <= allowed[0], "{:?}, {allowed:?}", work.reply.done);
}

/// Expects the last error of the server to be reported. The statements of a transaction are sent at
/// once, and the server ends the session at the first.
#[test]
fn final_error_of_a_closing_server_is_reported_in_a_chain() {
    let mut said = Vec::new();
    wire_mysql::packet(&mut said, 1, |out| {
        out.push(0xff);
        out.extend_from_slice(&1927_u16.to_le_bytes());
        out.extend_from_slice(b"#70100Connection was killed");
    });
    let acts = mariadb::welcome().into_iter().chain([ScriptStep::Send(said)]);
    let server = ScriptedServer::new(acts.collect());
    let driver = mariadb::at(server.port(), "");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut work = transaction(&["select 1", "select 2"], true);
        let error = connection.run(&mut work).await.expect_err("it has ended");
        check(&error, Class::Disconnect, "1927", &["Connection was killed"]);
    });
}

/// A job has no data for a COPY. The driver makes the COPY fail, and the session continues unless
/// the statements are pipelined.
#[test]
fn copy_from_the_client_in_a_job_is_refused() {
    let server = shared(Kind::Postgres);
    server.sql("create table nothing_to_copy (a int)").expect("a table");
    let driver = postgres(&server.url());
    let copy = "copy nothing_to_copy from stdin";
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let statement = connection.prepare(copy).await.expect("a statement");
        let mut prepared = Work::default();
        prepared.steps.push(Step::Execute { statement, first: 0, count: 0 });
        for mut work in [prepared, text(copy), transaction(&[copy], false)] {
            let run = connection.run(&mut work);
            let answer = rt::within(&rt, Nanos::from_secs(10), run).await.expect("an answer");
            let error = answer.expect_err("no data");
            check(&error, Class::Statement, "57014", &["use a [load] section"]);
            let found = connection.query_text("select 4711").await.expect("a session");
            assert_eq!(found.single(), Some("4711"), "{:?}", work.steps);
        }
        // The server receives the next statement instead of the data, and ends the session.
        for texts in [&[copy][..], &["select 1", copy, "select 2"]] {
            let mut connection = driver.connect(&rt).await.expect("a connection");
            let mut work = transaction(texts, true);
            let run = connection.run(&mut work);
            let answer = rt::within(&rt, Nanos::from_secs(10), run).await.expect("an answer");
            let error = answer.expect_err("no data");
            check(&error, Class::Disconnect, "08P01", &["use a [load] section"]);
        }
    });
}

/// Expects sessions to use standard-conforming strings. If backslashes were escapes, a text could
/// break out of its quotes.
#[test]
fn sessions_use_standard_conforming_strings() {
    let server = shared(Kind::Postgres);
    server
        .sql(
            "create role old_escapes login superuser password 'old'; \
             alter role old_escapes set standard_conforming_strings = off",
        )
        .expect("a role");
    let target = changed(&server.url(), |endpoint| {
        if let Endpoint::Network { user, password, .. } = endpoint {
            *user = Some("old_escapes".to_owned());
            *password = Some(base::Secret::new("old"));
        }
    });
    let driver = postgres(&target);
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let found = connection.query_text(r"select 'a\n\'").await.expect("a text");
        assert_eq!(found.single(), Some(r"a\n\"));
    });
}

async fn settings_of<D: Driver>(driver: &D, rt: &Rt) -> Vec<(String, String)> {
    let mut connection = driver.connect(rt).await.expect("a connection");
    let (mut settings, facts) = (connection.settings().await, connection.facts().await);
    connection.close().await;
    settings.extend(facts.into_iter().filter(|(name, _)| name.starts_with("database.setting.")));
    settings
}

/// Expects a setting whose value equals the password to be reported unchanged. Hiding the value
/// would reveal the password, and the setting would be misjudged.
#[test]
fn settings_with_the_value_of_the_password_are_not_hidden() {
    for (kind, setting, account) in [
        (Kind::Postgres, "wal_level", "create role same login superuser password 'VALUE'"),
        (
            Kind::Mariadb,
            "binlog_format",
            "create user same identified by 'VALUE'; grant all on *.* to same",
        ),
    ] {
        let server = shared(kind);
        in_real_time(async |rt| {
            let settings = async |target: &Target| match kind {
                Kind::Postgres => settings_of(&postgres(target), &rt).await,
                Kind::Mariadb | Kind::Mysql => settings_of(&mysql(target), &rt).await,
            };
            let expected = settings(&server.url()).await;
            let (_, value) = expected.iter().find(|(name, _)| name == setting).expect("a setting");
            server.sql(&account.replace("VALUE", value)).expect("the counters");
            let target = changed(&server.url(), |endpoint| {
                if let Endpoint::Network { user, password, .. } = endpoint {
                    *user = Some("same".to_owned());
                    *password = Some(base::Secret::new(value));
                }
            });
            assert_eq!(settings(&target).await, expected);
        });
    }
}

/// Expects a zero byte to be an error of the URL: no protocol can carry one in a name.
#[test]
fn a_zero_byte_in_a_url_is_an_error_of_the_url() {
    for rest in ["ann%00@h/d", "ann:p%00@h/d", "h%00/d", "h/d%00", "h/d?application-name=%00"] {
        for (scheme, check) in [
            ("postgres", Postgres::check as fn(&Target) -> Result<(), driver::Error>),
            ("mysql", Mysql::check),
        ] {
            let target = Target::parse(&format!("{scheme}://{rest}")).expect("a URL");
            let error = check(&target).expect_err("a zero byte");
            crate::check(&error, Class::Statement, "url", &["zero byte"]);
        }
    }
}

#[test]
fn host_that_is_a_path_suggests_a_socket() {
    let target = |url| Target::parse(url).expect("a URL");
    for (error, words) in [
        (
            Postgres::check(&target("postgres://ann@%2Frun%2Fpostgresql:6432/d")),
            "write `socket=/run/postgresql/.s.PGSQL.6432` and no host",
        ),
        (
            Mysql::check(&target("mysql://%2Frun%2Fmysqld%2Fmysqld.sock/d")),
            "write `socket=/run/mysqld/mysqld.sock` and no host",
        ),
    ] {
        let error = error.expect_err("a path");
        crate::check(&error, Class::Statement, "url", &[words]);
    }
}
