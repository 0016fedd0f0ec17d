//! Tests of MariaDB, and of servers that only pretend to be MariaDB.

use std::net::SocketAddr;
use std::path::Path;

use base::{Class, Endpoint, Nanos, Secret, Target, Values};
use confine::{Files, Reach};
use driver::{
    Batches, Connection, Count, Counter, Driver, Duplicates, Error, Insert, Method, Mysql,
    SessionId, Step, Work,
};
use rt::Rt;
use testbed::{Kind, Options, Relay, Server, shared};
use wire_mysql::{
    Answers, Capabilities, ColumnDefinition, ColumnType, ErrPacket, Handshake, Negotiated, OkKind,
    OkPacket, Status, WANTED, packet,
};

use crate::impostor::{ScriptStep, ScriptedServer};
use crate::{
    ask, changed, check, error_after_identification, in_real_time, refused, text, with_option,
};

pub(crate) fn open(target: &Target) -> Mysql {
    Mysql::open(target, ".").expect("a URL")
}

/// Returns a driver for a port of this machine.
pub(crate) fn at(port: u16, options: &str) -> Mysql {
    let url = format!("mysql://ann:hunter2@127.0.0.1:{port}/shop?{options}");
    open(&Target::parse(&url).expect("a URL"))
}

#[test]
fn wrong_password_is_reported_without_the_password() {
    let server = shared(Kind::Mariadb);
    let target = changed(&server.url(), |endpoint| {
        if let Endpoint::Network { password, .. } = endpoint {
            *password = Some(Secret::new("hunter2"));
        }
    });
    let error = refused(&open(&target));
    let port = server.port().to_string();
    let words = ["127.0.0.1", &port, "`assay`", "ASSAY_PASSWORD", "~/.my.cnf", "Access denied"];
    check(&error, Class::Statement, "1045", &words);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

/// Expects the password to be hidden in the server's message: a server or a proxy may quote data
/// that the client sent.
#[test]
fn server_that_repeats_the_password_is_quoted_without_it() {
    let mut refusal = Vec::new();
    let message = b"wrong: hunter2";
    let error = ErrPacket { code: 1045, sqlstate: Some(*b"28000"), message };
    packet(&mut refusal, 2, |out| error.encode(out));
    let acts = [ScriptStep::Send(greeting("mysql_native_password")), ScriptStep::Receive];
    let server = ScriptedServer::new(acts.into_iter().chain([ScriptStep::Send(refusal)]).collect());
    check(&refused(&at(server.port(), "")), Class::Statement, "1045", &["wrong: (secret)"]);
}

#[test]
fn missing_database_is_named() {
    let target = changed(&shared(Kind::Mariadb).url(), |endpoint| {
        if let Endpoint::Network { database, .. } = endpoint {
            *database = Some("no_such_shop".to_owned());
        }
    });
    let words = ["database `no_such_shop`", "Unknown database", "name another"];
    check(&refused(&open(&target)), Class::Statement, "1049", &words);
}

#[test]
fn connection_without_a_listener_is_refused() {
    // No test server has this port: the operating system assigns free ports from a higher range.
    let words = ["127.0.0.1:1", "no server listens there"];
    check(&refused(&at(1, "")), Class::Disconnect, "disconnect", &words);
    let target = Target::parse("mysql://ann@/shop?socket=/no/such/socket").expect("a URL");
    let words = ["/no/such/socket", "no server has created it"];
    check(&refused(&open(&target)), Class::Disconnect, "disconnect", &words);
}

#[test]
fn server_without_tls_gets_no_plain_login() {
    let target = with_option(&shared(Kind::Mariadb).url(), "tls", "require");
    let words = ["127.0.0.1", "has no TLS", "`tls=require`", "`tls=off`"];
    check(&refused(&open(&target)), Class::Statement, "tls", &words);
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    for said in [vec![0x40, 0], greeting("ed25519")] {
        let end = |limit: &str| {
            let acts = vec![ScriptStep::Send(said.clone()), ScriptStep::Wait];
            let stalled = ScriptedServer::new(acts);
            let error = refused(&at(stalled.port(), &format!("connect-timeout={limit}")));
            (limit.to_owned(), error)
        };
        // On a busy machine the server may send nothing within a short time limit.
        let has_said = |(_, error): &(String, Error)| !error.message().contains("sent nothing");
        let mut ends = ["50ms", "500ms", "5s"].into_iter().map(end);
        let (limit, error) = ends.find(has_said).expect("a server that says something");
        let in_time = format!("did not complete a login within {limit}");
        let words = ["127.0.0.1", &in_time, "connect-timeout"];
        check(&error, Class::Disconnect, "disconnect", &words);
    }
}

#[test]
fn silent_server_suggests_the_postgres_protocol() {
    let words = ["127.0.0.1", "sent nothing within 100ms", "`postgres://`", "connect-timeout"];
    for options in ["connect-timeout=100ms", "connect-timeout=100ms&tls=require"] {
        let silent = ScriptedServer::new(vec![ScriptStep::Wait]);
        let error = refused(&at(silent.port(), options));
        check(&error, Class::Disconnect, "disconnect", &words);
    }
    let error = refused(&at(shared(Kind::Postgres).port(), "connect-timeout=100ms"));
    check(&error, Class::Disconnect, "disconnect", &words);
}

/// Expects that a silent server is not taken for PostgreSQL if it has greeted a client before: the
/// greeting shows that the server speaks MySQL's protocol, so the silence has another cause, such
/// as a network that drops packets.
#[test]
fn silent_server_that_greeted_before_is_not_taken_for_postgres() {
    let server = SocketAddr::from(([127, 0, 0, 1], shared(Kind::Mariadb).port()));
    let relay = Relay::start(server).expect("a relay");
    let driver = at(relay.address().port(), "connect-timeout=300ms");
    // On a busy machine, the server may not greet within the time limit of the first attempts.
    let has_greeted = (0..20).any(|_| refused(&driver).class() == Class::Statement);
    assert!(has_greeted, "it has greeted the client");
    relay.stall(Nanos::from_secs(60));
    let error = refused(&driver);
    check(&error, Class::Disconnect, "disconnect", &["sent nothing within 300ms"]);
    assert!(!error.message().contains("postgres"), "{error}");
}

#[test]
fn too_many_connections_have_a_class_of_their_own() {
    let server = Server::start(&Options::mariadb().max_connections(10)).expect("a server");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut held = Vec::new();
        let error = loop {
            match driver.connect(&rt).await {
                Ok(connection) => held.push(connection),
                Err(error) => break error,
            }
        };
        check(&error, Class::TooManyConnections, "1040", &["127.0.0.1", "max_connections"]);
        for connection in held {
            connection.close().await;
        }
    });
}

#[test]
fn junk_is_a_protocol_error() {
    // The last server announces a packet of 16 MiB - 1 bytes and sends part of it.
    let long = [&[0xff, 0xff, 0xff, 0][..], &[0; 100_000]].concat();
    for junk in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0; 64], &[0xff; 64], &long] {
        let server = ScriptedServer::new(vec![ScriptStep::Send(junk.to_vec()), ScriptStep::Wait]);
        let words = ["127.0.0.1", "does not speak MySQL's protocol"];
        check(&refused(&at(server.port(), "")), Class::Disconnect, "disconnect", &words);
    }
}

/// Nonce of the scripted servers' logins.
pub(crate) const NONCE: [u8; 20] = *b"01234567890123456789";

/// Capabilities of the scripted servers.
pub(crate) const OFFERED: Capabilities =
    Capabilities(WANTED.0 | Capabilities::CONNECT_WITH_DB.0 | Capabilities::LOCAL_FILES.0);

fn greeting(method: &'static str) -> Vec<u8> {
    greeting_with(method, OFFERED)
}

pub(crate) fn greeting_with(method: &'static str, offered: Capabilities) -> Vec<u8> {
    let handshake = Handshake {
        server_version: b"5.5.5-10.11.0-MariaDB",
        thread_id: 7,
        nonce: NONCE,
        offered,
        collation: 45,
        status: Status::AUTOCOMMIT,
        method: method.as_bytes(),
    };
    let mut out = Vec::new();
    packet(&mut out, 0, |out| handshake.encode(out));
    out
}

/// Returns an OK packet.
pub(crate) fn ok(sequence: u8) -> Vec<u8> {
    let ok = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
    let mut out = Vec::new();
    packet(&mut out, sequence, |out| {
        ok.encode(out, OkKind::Answer, Negotiated::of(OFFERED, WANTED));
    });
    out
}

/// Returns the steps that accept a login and read the first command.
pub(crate) fn welcome() -> Vec<ScriptStep> {
    vec![
        ScriptStep::Send(greeting("mysql_native_password")),
        ScriptStep::Receive,
        ScriptStep::Send(ok(2)),
        ScriptStep::Receive,
    ]
}

/// Returns the error of a first query that is answered by these steps.
fn after_welcome(answer: Vec<ScriptStep>) -> driver::Error {
    let server = ScriptedServer::new(welcome().into_iter().chain(answer).collect());
    let error = refused(&at(server.port(), ""));
    assert!(error.message().contains("127.0.0.1"), "{error}");
    error
}

#[test]
fn connection_closed_within_a_packet_is_lost() {
    for part in [&b""[..], b"\x01\0", b"\x07\0\0\x01\0\0\0", b"\x01\0\0\x01\x02\x20\0\0\x02\x03def"]
    {
        let error = after_welcome(vec![ScriptStep::Send(part.to_vec())]);
        assert_eq!(error.class(), Class::Disconnect, "{error}");
    }
}

#[test]
fn unfinished_longest_packet_allocates_nothing_and_is_a_lost_connection() {
    // Half of a first packet that announces 16 MiB - 1 bytes.
    let half = [&b"\xff\xff\xff\x01"[..], &vec![b'x'; 8 << 20]].concat();
    let error = after_welcome(vec![ScriptStep::Send(half)]);
    assert_eq!(error.class(), Class::Disconnect, "{error}");
}

/// An eight-byte length without any of the data that it announces.
const FOUR_GB: [u8; 9] = [0xfe, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

#[test]
fn length_of_four_gigabytes_allocates_nothing_and_is_a_protocol_error() {
    let columns = {
        let mut out = Vec::new();
        packet(&mut out, 1, |out| out.extend(FOUR_GB));
        out
    };
    let field = {
        let mut out = Vec::new();
        let column = ColumnDefinition::computed(b"a", ColumnType::VAR_STRING, 45);
        Answers::new(&mut out, Negotiated::of(OFFERED, WANTED), 1).columns(&[column], false);
        packet(&mut out, 3, |out| {
            out.extend(FOUR_GB);
            out.push(b'x');
        });
        out
    };
    for said in [columns, field] {
        let error = after_welcome(vec![ScriptStep::Send(said), ScriptStep::Wait]);
        check(&error, Class::Disconnect, "disconnect", &["does not speak MySQL's protocol"]);
    }
}

#[test]
fn answer_out_of_order_is_a_protocol_error() {
    for junk in [&b"\x01\0\0\x05\0"[..], b"\x01\0\0\x01\0", &[0; 64]] {
        let error = after_welcome(vec![ScriptStep::Send(junk.to_vec()), ScriptStep::Wait]);
        check(&error, Class::Disconnect, "disconnect", &["does not speak MySQL's protocol"]);
    }
}

/// The error of an unreadable answer is ignored while the server is identified, so the next
/// statement must report it.
#[test]
fn statement_after_an_unreadable_answer_reports_why_it_could_not_be_read() {
    let junk = [ScriptStep::Send(b"\x01\0\0\x05\0".to_vec()), ScriptStep::Wait];
    let server = ScriptedServer::new(welcome().into_iter().chain(junk).collect());
    let error = error_after_identification(&at(server.port(), ""));
    check(&error, Class::Disconnect, "disconnect", &["does not speak MySQL's protocol"]);
}

#[test]
fn a_file_that_the_statement_does_not_name_is_not_sent() {
    let request = b"\x0c\0\0\x01\xfb/etc/passwd".to_vec();
    // The client sends an empty packet instead of the file.
    let acts = vec![
        ScriptStep::Send(request),
        ScriptStep::Receive,
        ScriptStep::Send(ok(3)),
        ScriptStep::Receive,
        ScriptStep::Wait,
    ];
    let server = ScriptedServer::new(welcome().into_iter().chain(acts).collect());
    let error = refused(&at(server.port(), ""));
    check(&error, Class::Statement, "file", &["`/etc/passwd`", "does not name"]);
}

#[test]
fn confined_statement_sends_no_file_from_outside_its_folder() {
    let url = |port| Target::parse(&format!("mysql://ann:x@127.0.0.1:{port}/shop")).expect("a URL");
    let files = Files { reach: Reach::Folder, ..".".into() };
    for name in ["/etc/passwd", "../driver/Cargo.toml"] {
        let request = [b"\xfb", name.as_bytes()].concat();
        let mut packed = Vec::new();
        packet(&mut packed, 1, |out| out.extend_from_slice(&request));
        // The client sends an empty packet instead of the file.
        let acts = vec![
            ScriptStep::Send(packed),
            ScriptStep::Receive,
            ScriptStep::Send(ok(3)),
            ScriptStep::Receive,
            ScriptStep::Wait,
        ];
        let server = ScriptedServer::new(welcome().into_iter().chain(acts).collect());
        let driver = Mysql::open(&url(server.port()), files.clone()).expect("a URL");
        let statement = format!("load data local infile '{name}' into table t");
        let error =
            in_real_time(async |rt| ask(&driver, &rt, &statement).await.expect_err("a refusal"));
        let words = [name, "leads out of the folder", "--allow-files"];
        check(&error, Class::Statement, "file", &words);
    }
}

#[test]
fn unsupported_login_method_is_named() {
    let switch = |method: &[u8]| {
        let mut out = Vec::new();
        packet(&mut out, 2, |out| {
            out.push(0xfe);
            out.extend_from_slice(method);
            out.extend_from_slice(b"\0nonce");
        });
        out
    };
    for (method, words) in [
        (&b"auth_gssapi_client"[..], "an unsupported kind of login"),
        (b"mysql_clear_password", "over an unprotected connection"),
    ] {
        let hello = greeting("mysql_native_password");
        let acts = vec![
            ScriptStep::Send(hello),
            ScriptStep::Receive,
            ScriptStep::Send(switch(method)),
            ScriptStep::Wait,
        ];
        let server = ScriptedServer::new(acts);
        let error = refused(&at(server.port(), ""));
        check(&error, Class::Statement, "login", &["127.0.0.1", "`ann`", words]);
    }
}

#[test]
fn a_killed_server_is_a_lost_connection() {
    let mut server = Server::start(&Options::mariadb()).expect("a server");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut work = text("select sleep(60)");
        let killed = rt::within(&rt, Nanos::from_millis(200), connection.run(&mut work)).await;
        assert!(killed.is_none(), "{killed:?}");
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut work = text("select sleep(60)");
        let mut run = std::pin::pin!(connection.run(&mut work));
        assert!(rt::within(&rt, Nanos::from_millis(200), run.as_mut()).await.is_none());
        server.kill();
        let error = run.await.expect_err("the server is gone");
        check(&error, Class::Disconnect, "disconnect", &["127.0.0.1"]);
        let error = driver.connect(&rt).await.err().expect("the server is gone");
        assert_eq!(error.class(), Class::Disconnect, "{error}");
        server.restart().expect("a server");
        let mut connection = driver.connect(&rt).await.expect("a connection");
        connection.run(&mut text("select 1")).await.expect("an answer");
    });
}

#[test]
fn a_session_that_is_killed_is_lost() {
    let server = shared(Kind::Mariadb);
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let id = connection.query_text("select connection_id()").await.expect("a number");
        let id = id.single().expect("a number").to_owned();
        let mut work = text("select sleep(60)");
        let mut run = std::pin::pin!(connection.run(&mut work));
        assert!(rt::within(&rt, Nanos::from_millis(200), run.as_mut()).await.is_none());
        let sleeping = format!(
            "select count(*) from information_schema.processlist \
             where id = {id} and info = 'select sleep(60)'"
        );
        assert!(is_soon(server, &sleeping, 1), "the server works on it");
        server.sql(&format!("kill {id}")).expect("it ends");
        let error = run.await.expect_err("it has ended");
        check(&error, Class::Disconnect, "disconnect", &["127.0.0.1"]);
    });
}

#[test]
fn final_error_of_a_closing_server_is_reported() {
    for (sequence, code, words) in [
        (0, 1927_u16, &b"#70100Connection was killed"[..]),
        (1, 1053, b"#08S01Server shutdown in progress"),
        (0, 4031, b"#HY000The client was disconnected by the server because of inactivity."),
    ] {
        let mut said = Vec::new();
        packet(&mut said, sequence, |out| {
            out.push(0xff);
            out.extend_from_slice(&code.to_le_bytes());
            out.extend_from_slice(words);
        });
        let server =
            ScriptedServer::new(welcome().into_iter().chain([ScriptStep::Send(said)]).collect());
        let words = String::from_utf8_lossy(&words[6..]);
        let error = refused(&at(server.port(), ""));
        check(&error, Class::Disconnect, &code.to_string(), &[&words]);
    }
}

#[test]
fn a_statement_timeout_leaves_the_session_as_it_was() {
    // The time limit is longer than a busy machine needs for the other statement.
    let driver = open(&shared(Kind::Mariadb).url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        connection.query_text("set max_statement_time = 0.3").await.expect("a setting");
        let error = connection.run(&mut text("select sleep(60)")).await.expect_err("too slow");
        check(&error, Class::Server, "1969", &["127.0.0.1:", "a larger max_statement_time"]);
        connection.run(&mut text("select 1")).await.expect("an answer");
    });
}

/// Returns true if a count becomes zero within about a second. The limit is short: within five
/// seconds, a server would end the sleep of a vanished client by itself.
fn session_ends_soon(server: &Server, count: &str) -> bool {
    is_soon(server, count, 0)
}

/// Returns true if a query counts this number within about a second.
fn is_soon(server: &Server, count: &str, expected: u64) -> bool {
    (0..20).any(|_| {
        let found = server.sql(&format!("do sleep(0.05); {count}"));
        found.expect("a number").trim() == expected.to_string()
    })
}

#[test]
fn abandoned_statement_is_ended_on_the_server() {
    let server = shared(Kind::Mariadb);
    let driver = open(&server.url());
    let sleeping =
        "select count(*) from information_schema.processlist where info = 'select sleep(4711)'";
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut work = text("select sleep(4711)");
        let run = connection.run(&mut work);
        let given_up = rt::within(&rt, Nanos::from_millis(300), run).await;
        assert!(given_up.is_none(), "{given_up:?}");
        assert!(is_soon(server, sleeping, 1), "the server works on it");
        connection.abandon();
    });
    // Dropping the driver waits until the cancellation is sent.
    drop(driver);
    assert!(session_ends_soon(server, sleeping), "the server still works on it");
}

/// Expects that all statements are ended if they are abandoned at the same time. Killing a session
/// takes another session of the same user, who may open only one more. The statements wait for a
/// row and do not sleep: all calls of `sleep()` share one mutex of the server, so killing several
/// of them at the same time can take two seconds.
#[test]
fn statements_that_are_abandoned_on_a_full_server_are_ended() {
    let server = shared(Kind::Mariadb);
    let prepare = "create table crowded (id int primary key) engine = innodb; \
                   insert into crowded values (1); \
                   create user crowded identified by 'near' with max_user_connections 9; \
                   grant all on assay.* to crowded";
    server.sql(prepare).expect("a table and a user");
    let target = changed(&server.url(), |endpoint| {
        if let Endpoint::Network { user, password, .. } = endpoint {
            *user = Some("crowded".to_owned());
            *password = Some(Secret::new("near"));
        }
    });
    let lock = "select id from crowded where id = 1 for update";
    let waiting = "select count(*) from information_schema.processlist \
                   where info = 'select id from crowded where id = 1 for update'";
    let owner = open(&server.url());
    let driver = open(&target);
    in_real_time(async |rt| {
        let mut holder = owner.connect(&rt).await.expect("a connection");
        holder.query_text("begin").await.expect("a transaction");
        holder.query_text(lock).await.expect("a locked row");
        let mut connections = Vec::new();
        for _ in 0..8 {
            connections.push(driver.connect(&rt).await.expect("a connection"));
        }
        for connection in &mut connections {
            let mut work = text(lock);
            let run = connection.run(&mut work);
            let given_up = rt::within(&rt, Nanos::from_millis(100), run).await;
            assert!(given_up.is_none(), "{given_up:?}");
        }
        assert!(is_soon(server, waiting, 8), "the server works on all of them");
        connections.into_iter().for_each(Connection::abandon);
        drop(driver);
        assert!(session_ends_soon(server, waiting), "the server still works on them");
        holder.close().await;
    });
}

#[test]
fn a_deadlock_is_a_conflict_for_one_of_two() {
    let server = shared(Kind::Mariadb);
    server
        .sql(
            "create table locks (id int primary key) engine = innodb; \
             insert into locks values (1), (2)",
        )
        .expect("a table");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut one = driver.connect(&rt).await.expect("a connection");
        let mut two = driver.connect(&rt).await.expect("a connection");
        for (connection, id) in [(&mut one, 1), (&mut two, 2)] {
            let mut lock = text(&format!("select id from locks where id = {id} for update"));
            lock.steps.insert(0, Step::Begin);
            connection.run(&mut lock).await.expect("a lock");
        }
        let other = rt.spawn(async move {
            let outcome = one.run(&mut text("select id from locks where id = 2 for update")).await;
            if outcome.is_ok() {
                one.query_text("commit").await.expect("an end");
            }
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
            "1213",
            &["127.0.0.1:", "Deadlock found", "[40001]", "`retry = 3 on"],
        );
        one.run(&mut text("select 1")).await.expect("an answer");
        two.run(&mut text("select 1")).await.expect("an answer");
    });
}

#[test]
fn lock_timeout_is_a_conflict() {
    let server = shared(Kind::Mariadb);
    server
        .sql(
            "create table waits (id int primary key) engine = innodb; insert into waits values (1)",
        )
        .expect("a table");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut one = driver.connect(&rt).await.expect("a connection");
        let mut two = driver.connect(&rt).await.expect("a connection");
        let mut lock = text("update waits set id = 2 where id = 1");
        lock.steps.insert(0, Step::Begin);
        one.run(&mut lock).await.expect("a lock");
        two.query_text("set innodb_lock_wait_timeout = 0").await.expect("a setting");
        let error = two.run(&mut lock).await.expect_err("the lock is another's");
        check(&error, Class::Conflict, "1205", &["Lock wait timeout"]);
        one.query_text("rollback").await.expect("an end");
    });
}

/// Statements keep their meaning whatever the server's defaults are.
#[test]
fn sessions_use_autocommit_and_backslash_escapes() {
    let options = Options::mariadb()
        .set("sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES")
        .set("autocommit", "0")
        .set("performance_schema", "ON");
    let server = Server::start(&options).expect("a server");
    server.sql("create table t (a varchar(20) character set utf8mb4); commit").expect("a table");
    let driver = open(&with_option(&server.url(), "application-name", "shop"));
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        connection.run(&mut text("insert into t values ('a\\\\b''c東')")).await.expect("a row");
        assert_eq!(
            server
                .sql("select a from t where hex(a) = '615C622763E69DB1'")
                .unwrap()
                .lines()
                .count(),
            1
        );
        let modes = connection.query_text("select @@sql_mode").await.expect("modes");
        assert!(modes.single().is_some_and(|modes| modes.contains("ANSI_QUOTES")), "{modes:?}");
        let name = "select attr_value from performance_schema.session_connect_attrs \
                    where attr_name = 'program_name' and processlist_id = connection_id()";
        let name = connection.query_text(name).await.expect("a name");
        assert_eq!(name.single(), Some("shop"));
    });
}

#[test]
fn files_are_loaded_from_the_folder_of_the_workload() {
    let server = shared(Kind::Mariadb);
    server.sql("create table loaded (a int, b varchar(40))").expect("a table");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loaded");
    std::fs::create_dir_all(&folder).expect("a folder");
    let rows: String = (0..50_000).map(|row| format!("{row}\tword {row}\n")).collect();
    std::fs::write(folder.join("it's.tsv"), &rows).expect("a file");
    let driver = Mysql::open(&server.url(), folder.as_path()).expect("a URL");
    let load = "load data local infile 'it''s.tsv' into table loaded";
    let missing = "load data local infile 'no.tsv' into table loaded";
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let mut works = vec![text(load)];
        let statement = connection.prepare(load).await.expect("a statement");
        let mut work = Work::default();
        work.steps.push(Step::Execute { statement, first: 0, count: 0 });
        works.push(work);
        for mut work in works {
            connection.run(&mut work).await.expect("rows");
            assert_eq!(work.reply.rows, 50_000);
            assert!(work.reply.bytes_sent > rows.len() as u64, "{}", work.reply.bytes_sent);
        }
        connection.query_text(load).await.expect("rows");
        let sums =
            connection.query_text("select count(*), sum(a) from loaded").await.expect("sums");
        let expected = [Some("150000".to_owned()), Some("3749925000".to_owned())];
        assert_eq!(sums.rows[0], expected);
        let error = connection.run(&mut text(missing)).await.expect_err("no file");
        check(&error, Class::Statement, "file", &["no.tsv", "cannot be read"]);
        connection.run(&mut text("select 1")).await.expect("an answer");
    });
}

/// Rows that each hold the same text, in one batch.
pub(crate) struct Texts {
    pub(crate) text: &'static str,
    /// Number of rows that are not yet taken.
    pub(crate) left: u32,
    /// The reason that a load gave for its fallback to inserts.
    pub(crate) fallback: Option<Error>,
}

impl Batches for Texts {
    fn next_batch(&mut self) -> bool {
        self.left > 0
    }

    fn next_row(&mut self, values: &mut Values) -> bool {
        let has_row = self.left > 0;
        if has_row {
            self.left -= 1;
            values.push_text(|buffer| buffer.push_str(self.text));
        }
        has_row
    }

    fn committed(&mut self, _rows: u64, _bytes: u64) {}

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn falls_back(&mut self, why: &Error) {
        self.fallback = Some(why.clone());
    }
}

/// Expects both sessions to insert the rows: one begins before the server forbids local files, and
/// one after.
#[test]
fn load_by_auto_inserts_the_rows_where_the_server_forbids_local_files() {
    let server = Server::start(&Options::mariadb()).unwrap_or_else(|problem| panic!("{problem}"));
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let before = driver.connect(&rt).await.expect("a session");
        server.sql("create table t (words text); set global local_infile = 0").expect("a setting");
        let after = driver.connect(&rt).await.expect("a session");
        let into = Insert { table: "t", columns: &["words"], duplicates: Duplicates::Fail };
        for mut connection in [before, after] {
            let mut rows = Texts { text: "words", left: 2, fallback: None };
            connection.load(&into, Method::Auto, &mut rows).await.expect("rows");
            let why = rows.fallback.expect("a fallback");
            assert_eq!(why.code().as_str(), "4166");
            assert!(why.message().contains("set global local_infile = on"), "{why}");
            let found = connection.query_text("select count(*) from t").await.expect("a count");
            assert_eq!(found.single(), Some("2"));
            connection.query_text("delete from t").await.expect("an empty table");
            let mut rows = Texts { text: "words", left: 2, fallback: None };
            let error = connection.load(&into, Method::LoadData, &mut rows).await.unwrap_err();
            check(&error, error.class(), "4166", &["local_infile = on", "`method = auto`"]);
            assert_eq!(rows.fallback, None);
            connection.query_text("select 1").await.expect("the session lives on");
            connection.close().await;
        }
    });
}

/// Expects the same of inserts and of LOAD DATA at a server without strict mode, which would store
/// the first three letters with only a warning.
#[test]
fn batch_fails_by_each_method_if_the_server_would_change_a_value() {
    let server = shared(Kind::Mariadb);
    server.sql("create table narrow (words varchar(3))").expect("a table");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        for (method, duplicates, code) in [
            (Method::Insert, Duplicates::Fail, Some("1406")),
            (Method::Insert, Duplicates::Replace, Some("1406")),
            (Method::LoadData, Duplicates::Fail, Some("1265")),
            (Method::LoadData, Duplicates::Replace, Some("1265")),
            (Method::Insert, Duplicates::Ignore, None),
            (Method::LoadData, Duplicates::Ignore, None),
        ] {
            let mut connection = driver.connect(&rt).await.expect("a session");
            connection.query_text("set sql_mode = ''").await.expect("a mode");
            let into = Insert { table: "narrow", columns: &["words"], duplicates };
            let mut rows = Texts { text: "words", left: 2, fallback: None };
            let loaded = connection.load(&into, method, &mut rows).await;
            let found = loaded.as_ref().err().map(|error| error.code().as_str().to_owned());
            assert_eq!(found.as_deref(), code, "{method:?} {duplicates:?}: {loaded:?}");
            let stored = connection.query_text("select count(*) from narrow").await;
            let stored = stored.expect("a count").single().map(str::to_owned);
            let expected = if code.is_some() { "0" } else { "2" };
            assert_eq!(stored.as_deref(), Some(expected), "{method:?} {duplicates:?}");
            connection.query_text("delete from narrow").await.expect("an empty table");
            connection.close().await;
        }
    });
}

/// Returns the error of loading two rows. The server performs these steps when it has received the
/// LOAD DATA statement.
fn load_refused(method: Method, steps: Vec<ScriptStep>) -> Error {
    // The answers to the query for the columns and to the beginning of the transaction.
    let before = [ok(1), ok(1)].map(ScriptStep::Send);
    let before = before.into_iter().flat_map(|answer| [answer, ScriptStep::Receive]);
    let after = [ScriptStep::Receive, ScriptStep::Send(ok(1))];
    let steps = welcome().into_iter().chain(before).chain(steps).chain(after);
    let server = ScriptedServer::new(steps.collect());
    let loaded = in_real_time(async |rt| {
        let mut connection = at(server.port(), "").connect(&rt).await?;
        let into = Insert { table: "t", columns: &["words"], duplicates: Duplicates::Fail };
        let mut rows = Texts { text: "words", left: 2, fallback: None };
        connection.load(&into, method, &mut rows).await
    });
    loaded.expect_err("rows are missing")
}

#[test]
fn rows_that_a_load_data_did_not_store_are_an_error() {
    for method in [Method::LoadData, Method::Auto] {
        let unasked = load_refused(method, vec![ScriptStep::Send(ok(1))]);
        let words = ["LOAD DATA", "without requesting its rows", "`method = insert`"];
        check(&unasked, Class::Statement, "rows", &words);
        let request = b"\x05\0\0\x01\xfbrows".to_vec();
        // The rows end with an empty packet.
        let rows = ScriptStep::ReadUntil(b"words\n\0\0\0\x03");
        let fewer =
            load_refused(method, vec![ScriptStep::Send(request), rows, ScriptStep::Send(ok(4))]);
        let words = ["stored 0 of the 2 rows of a LOAD DATA", "`method = insert`"];
        check(&fewer, Class::Statement, "rows", &words);
    }
}

/// Loads a text into a column of this type, and returns the stored value.
fn loaded(kind: &str, text: &'static str) -> Result<Option<String>, Error> {
    let driver = open(&shared(Kind::Mariadb).url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await?;
        connection.query_text(&format!("create temporary table t (words {kind})")).await?;
        let into = Insert { table: "t", columns: &["words"], duplicates: Duplicates::Fail };
        connection
            .load(&into, Method::LoadData, &mut Texts { text, left: 2, fallback: None })
            .await?;
        let found = connection.query_text("select distinct words from t").await?;
        connection.close().await;
        Ok(found.single().map(str::to_owned))
    })
}

#[test]
fn a_loaded_text_arrives_whole_in_every_character_set() {
    for kind in ["char(8)", "text", "blob", "enum('a', 'words')", "json"] {
        let text = if kind == "json" { "\"words\"" } else { "words" };
        for charset in ["latin1", "utf8mb3", "utf8mb4", "ascii", "ucs2", "utf16", "utf32"] {
            let column = match kind {
                "blob" | "json" => kind.to_owned(),
                _ => format!("{kind} character set {charset}"),
            };
            let found = loaded(&column, text);
            assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(text)), "{column}");
        }
    }
    // Texts of six or seven characters and more bytes, for a column of seven characters.
    for (charset, text) in [
        ("latin1", "éßüöäâê"),
        ("utf8mb3", "東京東京東京京"),
        ("utf8mb4", "東京🦀🦀🦀🦀🦀"),
        ("utf16", "é🦀東京ßß"),
    ] {
        let column = format!("char(7) character set {charset}");
        let found = loaded(&column, text);
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(Some(text)), "{column}");
    }
}

#[test]
fn a_loaded_text_that_does_not_fit_is_refused() {
    for (column, text, code) in [
        ("char(8) character set latin1", "東京", "1366"),
        ("char(8) character set utf8mb3", "🦀", "1366"),
        ("char(4) character set utf8mb4", "words", "1265"),
        ("char(1) character set utf8mb4", "東京", "1265"),
        ("char(4) character set latin1", "words", "1265"),
        ("enum('a') character set latin1", "words", "1265"),
    ] {
        let error = loaded(column, text).expect_err(column);
        assert_eq!(error.code().as_str(), code, "{column}: {error}");
    }
}

/// The server counts no command of a session that it has killed, and neither does Assay.
#[test]
fn killed_session_sends_no_command_at_its_end() {
    let server = Server::start(&Options::mariadb()).expect("a server");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let before = account(&driver, &rt).await;
        let idle = driver.connect(&rt).await.expect("a connection");
        let SessionId(id) = idle.session_id().expect("an id");
        ask(&driver, &rt, &format!("kill {id}")).await.expect("its end");
        let left = format!("select count(*) from information_schema.processlist where id = {id}");
        while ask(&driver, &rt, &left).await.expect("an answer").single() != Some("0") {}
        idle.close().await;
        let after = account(&driver, &rt).await;
        let growth = |counter| value(&after, counter) - value(&before, counter);
        assert_eq!(growth(Counter::StatementsOfAssay), growth(Counter::Statements));
    });
}

/// Reads the server's statistics over a session of its own.
async fn account(driver: &Mysql, rt: &Rt) -> Vec<Count> {
    let mut connection = driver.connect(rt).await.expect("a connection");
    let counts = connection.activity_counters().await.expect("the counters");
    connection.close().await;
    counts
}

fn value(counts: &[Count], counter: Counter) -> f64 {
    counts.iter().find(|count| count.counter == counter).expect("a count").value
}
