//! Tests of faulty and unusual PostgreSQL servers.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use base::{Class, Clock, Endpoint, Secret, Target};
use driver::{Connection, Driver, Postgres, Step, Work};
use testbed::{Kind, Options, Server, shared};
use wire_mysql::{ErrPacket, Handshake, packet};
use wire_postgres::backend;
use wire_postgres::{BackendKey, TransactionStatus};

use crate::impostor::{ScriptStep, ScriptedServer};
use crate::mariadb::{NONCE, OFFERED};
use crate::{changed, check, error_after_identification, in_real_time, refused, text, with_option};

fn open(target: &Target) -> Postgres {
    Postgres::open(target).expect("a URL")
}

/// Returns a driver for a port of this machine.
pub(crate) fn at(port: u16, options: &str) -> Postgres {
    let url = format!("postgres://ann:hunter2@127.0.0.1:{port}/shop?{options}");
    open(&Target::parse(&url).expect("a URL"))
}

#[test]
fn wrong_password_is_reported_without_the_password() {
    let server = shared(Kind::Postgres);
    let target = changed(&server.url(), |endpoint| {
        if let Endpoint::Network { password, .. } = endpoint {
            *password = Some(Secret::new("hunter2"));
        }
    });
    let error = refused(&open(&target));
    let port = server.port().to_string();
    check(&error, Class::Statement, "28P01", &["127.0.0.1", &port, "`assay`", "ASSAY_PASSWORD"]);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

/// Expects the password to be hidden in the server's message: a server or a pooler may quote data
/// that the client sent.
#[test]
fn server_that_repeats_the_password_is_quoted_without_it() {
    let mut report = Vec::new();
    let message = "`hunter2` is not hunter23, see postgres://ann:hunter2@h";
    let fields = [(b'S', "FATAL"), (b'C', "28P01"), (b'M', message)];
    backend::error_response(&mut report, fields).expect("an error");
    let server = ScriptedServer::new(vec![ScriptStep::Receive, ScriptStep::Send(report)]);
    let error = refused(&at(server.port(), ""));
    let words = ["`(secret)` is not (secret)3, see postgres://ann:(secret)@h", "user `ann`"];
    check(&error, Class::Statement, "28P01", &words);
}

#[test]
fn missing_database_is_named() {
    let target = changed(&shared(Kind::Postgres).url(), |endpoint| {
        if let Endpoint::Network { database, .. } = endpoint {
            *database = Some("no_such_shop".to_owned());
        }
    });
    let words = ["database `no_such_shop`", "does not exist", "name another"];
    check(&refused(&open(&target)), Class::Statement, "3D000", &words);
}

#[test]
fn connection_without_a_listener_is_refused() {
    // No test server has this port: the operating system assigns free ports from a higher range.
    let words = ["127.0.0.1:1", "no server listens there"];
    check(&refused(&at(1, "")), Class::Disconnect, "disconnect", &words);
    let target = Target::parse("postgres://ann@/shop?socket=/no/such/socket").expect("a URL");
    let words = ["user `ann`", "/no/such/socket", "no server has created it"];
    check(&refused(&open(&target)), Class::Disconnect, "disconnect", &words);
}

/// Expects an error with a remedy for a NUL character, which PostgreSQL refuses in every form.
/// Generated texts and input files may contain it.
#[test]
fn nul_character_in_a_text_is_an_error_with_the_remedy() {
    let driver = open(&shared(Kind::Postgres).url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let literal = connection.query_text("select 'a'||chr(0)||'b'").await.unwrap_err();
        check(&literal, Class::Statement, "54000", &["null character", "no NUL character"]);
        let statement = connection.prepare("select $1::text").await.expect("a statement");
        let mut work = Work::default();
        work.values.push_text(|buffer| buffer.push_str("a\0b"));
        work.steps.push(Step::Execute { statement, first: 0, count: 1 });
        let bound = connection.run(&mut work).await.expect_err("no such text");
        check(&bound, Class::Statement, "22021", &["0x00", "no NUL character"]);
        connection.close().await;
    });
}

#[test]
fn server_without_tls_gets_no_plain_login() {
    let target = with_option(&shared(Kind::Postgres).url(), "tls", "require");
    let words = ["has no TLS", "`tls=require`", "`tls=off`"];
    check(&refused(&open(&target)), Class::Statement, "tls", &words);
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let silent = ScriptedServer::new(vec![ScriptStep::Wait]);
    let error = refused(&at(silent.port(), "connect-timeout=50ms"));
    let words = ["did not complete a login within 50ms", "connect-timeout"];
    check(&error, Class::Disconnect, "disconnect", &words);
}

#[test]
fn too_many_connections_have_a_class_of_their_own() {
    let server = Server::start(&Options::postgres().max_connections(5)).expect("a server");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut held = Vec::new();
        let error = loop {
            match driver.connect(&rt).await {
                Ok(connection) => held.push(connection),
                Err(error) => break error,
            }
        };
        check(&error, Class::TooManyConnections, "53300", &["max_connections"]);
        for connection in held {
            connection.close().await;
        }
    });
}

#[test]
fn junk_is_a_protocol_error() {
    for junk in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0; 64], &[0xff; 64]] {
        let server = ScriptedServer::new(vec![
            ScriptStep::Receive,
            ScriptStep::Send(junk.to_vec()),
            ScriptStep::Wait,
        ]);
        let words = ["127.0.0.1", "does not speak PostgreSQL's protocol"];
        check(&refused(&at(server.port(), "")), Class::Disconnect, "disconnect", &words);
    }
}

/// Returns the first packet of a MySQL server of this version.
fn greeting(version: &str) -> Vec<u8> {
    let handshake = Handshake {
        server_version: version.as_bytes(),
        thread_id: 7,
        nonce: NONCE,
        offered: OFFERED,
        collation: 45,
        status: wire_mysql::Status::AUTOCOMMIT,
        method: b"mysql_native_password",
    };
    let mut out = Vec::new();
    packet(&mut out, 0, |out| handshake.encode(out));
    out
}

/// Returns an error that a MySQL server sends before the login: a packet without an SQLSTATE.
fn refusal(code: u16, message: &'static [u8]) -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, 0, |out| ErrPacket { code, sqlstate: None, message }.encode(out));
    out
}

#[test]
fn mysql_server_is_recognised_by_its_first_packet() {
    // The first byte of each greeting is also a valid answer of PostgreSQL: no TLS, and TLS.
    let (no, yes) = (greeting("8.0.36-log"), greeting("5.7.44-log-test"));
    assert_eq!((no[0], yes[0]), (b'N', b'S'));
    let with_error = [greeting("8.0.36"), refusal(1156, b"Got packets out of order")].concat();
    let host = refusal(1130, b"Host '127.0.0.1' is not allowed to connect to this MySQL server");
    for packets in [no, yes, with_error, host] {
        for options in ["tls=off", "tls=require"] {
            let server =
                ScriptedServer::new(vec![ScriptStep::Send(packets.clone()), ScriptStep::Wait]);
            let words = ["127.0.0.1", "MySQL or MariaDB server", "`mysql://`"];
            check(&refused(&at(server.port(), options)), Class::Disconnect, "disconnect", &words);
        }
    }
    let error = refused(&at(shared(Kind::Mariadb).port(), ""));
    check(&error, Class::Disconnect, "disconnect", &["MySQL or MariaDB server", "`mysql://`"]);
}

/// Expects an error of 255 bytes to be taken for PostgreSQL's, although it begins like a MySQL
/// error of 69 bytes.
#[test]
fn error_of_postgres_is_not_taken_for_one_of_mysql() {
    fn error_of(message: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let fields = [(b'S', "FATAL"), (b'C', "28000"), (b'M', message)];
        backend::error_response(&mut out, fields).expect("an error");
        out
    }
    let room = 256 - error_of("").len();
    let error = error_of(&"x".repeat(room));
    assert_eq!(error[..5], [b'E', 0, 0, 0, 255]);
    let server =
        ScriptedServer::new(vec![ScriptStep::Receive, ScriptStep::Send(error), ScriptStep::Wait]);
    check(&refused(&at(server.port(), "")), Class::Statement, "28000", &["xxx"]);
}

/// Returns the messages with which a server accepts a login.
pub(crate) fn welcome() -> Vec<u8> {
    let mut out = Vec::new();
    backend::authentication_ok(&mut out);
    backend::ready_for_query(&mut out, TransactionStatus::Idle);
    out
}

/// Returns the error class of a first query to a server that accepts the login and then performs
/// these steps.
fn after_welcome(answer: Vec<ScriptStep>) -> base::Class {
    let mut acts = vec![ScriptStep::Receive, ScriptStep::Send(welcome()), ScriptStep::Receive];
    acts.extend(answer);
    let server = ScriptedServer::new(acts);
    let error = refused(&at(server.port(), ""));
    assert!(error.message().contains("127.0.0.1"), "{error}");
    error.class()
}

#[test]
fn connection_closed_within_a_message_is_lost() {
    // The header of a row, and the first three of the ten bytes of its body.
    let row = b"D\0\0\0\x0e\0\x01\0".to_vec();
    assert_eq!(after_welcome(vec![ScriptStep::Send(row)]), Class::Disconnect);
    assert_eq!(after_welcome(vec![ScriptStep::Send(b"D\0\0".to_vec())]), Class::Disconnect);
    assert_eq!(after_welcome(Vec::new()), Class::Disconnect);
}

#[test]
fn impossible_length_allocates_nothing_and_is_a_protocol_error() {
    let message = |tag: u8, length: u32| {
        let mut message = vec![tag];
        message.extend(length.to_be_bytes());
        message.extend([0; 32]);
        message
    };
    for length in [u32::MAX, 0x7fff_ffff, 3] {
        let message = message(b'E', length);
        assert_eq!(
            after_welcome(vec![ScriptStep::Send(message), ScriptStep::Wait]),
            Class::Disconnect
        );
    }
    for length in [u32::MAX, 3] {
        let message = message(b'D', length);
        assert_eq!(
            after_welcome(vec![ScriptStep::Send(message), ScriptStep::Wait]),
            Class::Disconnect
        );
    }
}

/// An error that makes an answer unreadable is ignored while the server is identified, so the next
/// statement must report it.
#[test]
fn statement_after_an_unreadable_answer_reports_why_it_could_not_be_read() {
    let junk = b"E\0\0\0\x03".to_vec();
    let server = ScriptedServer::new(vec![
        ScriptStep::Receive,
        ScriptStep::Send(welcome()),
        ScriptStep::Receive,
        ScriptStep::Send(junk),
        ScriptStep::Wait,
    ]);
    let error = error_after_identification(&at(server.port(), ""));
    check(&error, Class::Disconnect, "disconnect", &["does not speak PostgreSQL's protocol"]);
}

/// Expects a lost connection if the rest of a row of the maximum length never arrives. The client
/// waits for the rest, because a row may be that long.
#[test]
fn unfinished_longest_row_allocates_nothing_and_is_a_lost_connection() {
    // One column of 2 GiB - 16 bytes.
    let head = b"D\x7f\xff\xff\xff\0\x01\x7f\xff\xff\xf0";
    let half = [&head[..], &vec![b'x'; 8 << 20]].concat();
    assert_eq!(after_welcome(vec![ScriptStep::Send(half)]), Class::Disconnect);
}

#[test]
fn a_killed_server_is_a_lost_connection() {
    let mut server = Server::start(&Options::postgres()).expect("a server");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        server.kill();
        let error = connection.run(&mut text("select 1")).await.expect_err("the server is gone");
        assert_eq!(error.class(), Class::Disconnect, "{error}");
        let error = driver.connect(&rt).await.err().expect("the server is gone");
        assert_eq!(error.class(), Class::Disconnect, "{error}");
        server.restart().expect("a server");
        let mut connection = driver.connect(&rt).await.expect("a connection");
        connection.run(&mut text("select 1")).await.expect("an answer");
    });
}

#[test]
fn session_ended_by_the_server_reports_the_reason() {
    let server = shared(Kind::Postgres);
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let pid = connection.query_text("select pg_backend_pid()").await.expect("a number");
        let pid = pid.single().expect("a number").to_owned();
        server.sql(&format!("select pg_terminate_backend({pid}, 5000)")).expect("it ends");
        let error = connection.run(&mut text("select 1")).await.expect_err("it has ended");
        check(&error, Class::Disconnect, "57P01", &["administrator"]);
    });
}

/// Expects the session to stay in use after an error that the server passes on from another server,
/// as `postgres_fdw` does if the other server is gone.
#[test]
fn connection_error_of_another_server_is_no_disconnect() {
    let driver = open(&shared(Kind::Postgres).url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        for code in ["08001", "08006", "57P01"] {
            let sql = format!("do $$ begin raise 'it is gone' using errcode = '{code}'; end $$");
            let error = connection.query_text(&sql).await.expect_err("an error");
            check(&error, Class::Server, code, &["it is gone"]);
            connection.run(&mut text("select 1")).await.expect("an answer");
        }
    });
}

#[test]
fn a_statement_timeout_leaves_the_session_as_it_was() {
    // The time limit is longer than a busy machine needs for the other statement.
    let driver = open(&shared(Kind::Postgres).url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        connection.query_text("set statement_timeout = '300ms'").await.expect("a setting");
        let error = connection.run(&mut text("select pg_sleep(60)")).await.expect_err("too slow");
        check(
            &error,
            Class::Server,
            "57014",
            &["127.0.0.1:", "statement timeout", "statement_timeout"],
        );
        connection.run(&mut text("select 1")).await.expect("an answer");
    });
}

#[test]
fn abandoned_statement_is_cancelled_on_the_server() {
    let server = shared(Kind::Postgres);
    let driver = open(&server.url());
    let sleeping = "select count(*) from pg_stat_activity where query = 'select pg_sleep(4711)'";
    let counts = |number: &str| {
        (0..100).any(|_| {
            let found = server.sql(&format!("select pg_sleep(0.05); {sleeping}"));
            found.expect("a number").ends_with(&format!("\n{number}\n"))
        })
    };
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut work = text("select pg_sleep(4711)");
        let run = connection.run(&mut work);
        let given_up = rt::within(&rt, base::Nanos::from_millis(300), run).await;
        assert!(given_up.is_none(), "{given_up:?}");
        assert!(counts("1"), "the server works on it");
        connection.abandon();
    });
    // Dropping the driver waits until the cancellation is sent.
    drop(driver);
    assert!(counts("0"), "the server still works on it");
}

/// Accepts a client's session and sends it the process ID that its cancel requests must contain.
fn session(listener: &TcpListener, process: i32) -> TcpStream {
    let (mut session, _) = listener.accept().expect("a session");
    let _ = session.read(&mut [0; 1_000]).expect("a startup");
    let mut welcome = Vec::new();
    backend::authentication_ok(&mut welcome);
    backend::backend_key_data(&mut welcome, BackendKey { process, secret: 2 });
    backend::ready_for_query(&mut welcome, TransactionStatus::Idle);
    session.write_all(&welcome).expect("a client");
    session
}

/// A server ignores a cancellation that arrives before its statement. If the cancellation were sent
/// only once, the server would run a statement whose client has given up. The cancellation is
/// therefore repeated, and the session stays open meanwhile, because a pooler passes on a
/// cancellation only for an open session.
#[test]
fn a_cancellation_that_comes_too_early_is_repeated_while_the_session_is_open() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        let mut session = session(&listener, 1);
        let mut received = [0; 1_000];
        let _ = session.read(&mut received).expect("a query");
        let mut cancels = 0;
        while cancels < 2 {
            let (mut caller, _) = listener.accept().expect("a connection");
            if caller.read_exact(&mut received[..16]).is_err() {
                break;
            }
            cancels += 1;
        }
        session.set_nonblocking(true).expect("a socket");
        let read = session.read(&mut received);
        let is_open = read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        session.set_nonblocking(false).expect("a socket");
        let mut answer = Vec::new();
        backend::ready_for_query(&mut answer, TransactionStatus::Idle);
        session.write_all(&answer).expect("a client");
        let ended = session.read(&mut received).expect("an end");
        (cancels, is_open, ended)
    });
    let driver = at(port, "");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut work = text("select pg_sleep(4711)");
        let run = connection.run(&mut work);
        let given_up = rt::within(&rt, base::Nanos::from_millis(100), run).await;
        assert!(given_up.is_none(), "{given_up:?}");
        connection.abandon();
    });
    drop(driver);
    // The server may still wait for a connection; this connection lets it continue.
    drop(TcpStream::connect(("127.0.0.1", port)));
    assert_eq!(server.join().expect("no panic"), (2, true, 0));
}

/// The cancellation of a session without an answer is repeated for more than a second. The other
/// session's cancellation must arrive meanwhile.
#[test]
fn session_without_an_answer_does_not_delay_the_cancellation_of_another() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        let sessions = [1, 2].map(|process| session(&listener, process));
        // The server is slow: it closes no connection before it has read both requests.
        let callers = [(); 2].map(|()| {
            let mut request = [0; 16];
            let (mut caller, _) = listener.accept().expect("a connection");
            caller.read_exact(&mut request).expect("a request");
            (caller, request[11])
        });
        drop(sessions);
        callers.map(|(_, process)| process)
    });
    let driver = at(port, "");
    in_real_time(async |rt| {
        let mut connections = Vec::new();
        for _ in 0..2 {
            connections.push(driver.connect(&rt).await.expect("a connection"));
        }
        for connection in &mut connections {
            let mut work = text("select pg_sleep(4711)");
            let run = connection.run(&mut work);
            let given_up = rt::within(&rt, base::Nanos::from_millis(20), run).await;
            assert!(given_up.is_none(), "{given_up:?}");
        }
        connections.into_iter().for_each(Connection::abandon);
    });
    drop(driver);
    let mut cancelled = server.join().expect("no panic");
    cancelled.sort_unstable();
    assert_eq!(cancelled, [1, 2]);
}

#[test]
fn a_deadlock_is_a_conflict_for_one_of_two() {
    let server = shared(Kind::Postgres);
    server
        .sql("create table locks (id int primary key); insert into locks values (1), (2)")
        .expect("a table");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut one = driver.connect(&rt).await.expect("a connection");
        let mut two = driver.connect(&rt).await.expect("a connection");
        for (connection, id) in [(&mut one, 1), (&mut two, 2)] {
            let lock = format!("begin; select id from locks where id = {id} for update");
            connection.run(&mut text(&lock)).await.expect("a lock");
        }
        let other = rt.spawn(async move {
            let outcome = one.run(&mut text("select id from locks where id = 2 for update")).await;
            (one, outcome)
        });
        let mine = two.run(&mut text("select id from locks where id = 1 for update")).await;
        if mine.is_ok() {
            two.query_text("commit").await.expect("an end");
        }
        let (mut one, theirs) = other.await;
        let errors: Vec<_> = [mine, theirs].into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        check(
            &errors[0],
            Class::Conflict,
            "40P01",
            &["127.0.0.1:", "deadlock detected", "`retry = 3 on"],
        );
        // The loser of the deadlock is no longer in a transaction.
        one.run(&mut text("select 1")).await.expect("an answer");
        two.run(&mut text("select 1")).await.expect("an answer");
    });
}

/// A server may answer a request before it has read the whole request. The time of that answer is
/// recorded.
#[test]
fn an_answer_that_comes_before_the_request_is_sent_has_a_time() {
    for is_pipelined in [false, true] {
        let mut answer = Vec::new();
        if is_pipelined {
            backend::parse_complete(&mut answer);
            backend::bind_complete(&mut answer);
        }
        backend::command_complete(&mut answer, "SELECT 1").expect("a tag");
        backend::ready_for_query(&mut answer, TransactionStatus::Idle);
        let acts = vec![
            ScriptStep::Receive,
            ScriptStep::Send(welcome()),
            ScriptStep::Receive,
            ScriptStep::Send(answer),
            ScriptStep::Wait,
        ];
        let server = ScriptedServer::new(acts);
        let driver = at(server.port(), "");
        in_real_time(async |rt| {
            let mut connection = driver.connect(&rt).await.expect("a connection");
            // A text that is larger than the sum of all buffers on the way.
            let mut work = text(&" ".repeat(64 << 20));
            work.is_pipelined = is_pipelined;
            let before = rt.now();
            connection.run(&mut work).await.expect("an answer");
            let stamps = [Some(before), work.reply.sent, Some(work.reply.done), Some(rt.now())];
            assert!(stamps.is_sorted(), "{stamps:?}");
            assert_eq!(work.reply.statements.len(), 1);
        });
    }
}

/// Lines of a COPY are not result rows, but the server reports their number.
#[test]
fn copy_to_the_client_is_counted_and_keeps_the_session() {
    let driver = open(&shared(Kind::Postgres).url());
    let copy = "copy (select repeat('x', 99) from generate_series(1, 10000)) to stdout";
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let statement = connection.prepare(copy).await.expect("a statement");
        let mut prepared = Work::default();
        prepared.steps.push(Step::Execute { statement, first: 0, count: 0 });
        let mut works = vec![text(copy), prepared];
        // Also within a transaction.
        for work in works.clone() {
            let steps = vec![Step::Begin, work.steps[0], Step::Commit];
            works.push(Work { steps: steps.clone(), ..work.clone() });
            works.push(Work { steps, is_pipelined: true, ..work });
        }
        for mut work in works {
            connection.run(&mut work).await.expect("an answer");
            let case = (&work.steps, work.is_pipelined);
            assert_eq!((work.reply.rows, work.reply.statements.len()), (10_000, 1), "{case:?}");
            // Each line ends with a line feed and is a message with a header of five bytes.
            let lines = 10_000 * (100 + 5);
            let received = lines..lines + 200;
            assert!(received.contains(&work.reply.bytes_received), "{case:?}: {:?}", work.reply);
            let one = connection.query_text("select 1").await.expect("an answer");
            assert_eq!(one.single(), Some("1"), "{case:?}");
        }
    });
}
