//! Tests of servers and networks that misbehave, and of the messages about them.
//!
//! The module [`servers`](crate::servers) tests servers that are killed, stalled or full.

use std::net::SocketAddr;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;
use testbed::{Direction, Kind, Options, Relay, Server, Tls, shared, shared_with_tls};

use crate::faulty_server::{FaultyAnswer, FaultyServer};
use crate::support::{
    CommandResult, Running, TestFolder, UNUSED_ADDRESS, assert_balanced, job, number_after,
};

const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

fn scheme(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "postgres",
        Kind::Mariadb | Kind::Mysql => "mysql",
    }
}

/// A password that no message may show.
const PASSWORD: &str = "hunter2";

/// Returns the command for `assay run` of `w.ini`, with a password in the environment.
fn command(place: &TestFolder, url: &str, password: &str, more: &[&str]) -> Command {
    let args = [&["run", "w.ini", "--json", "--out", "r.assay", "--url", url][..], more].concat();
    let mut command = place.command(&args);
    command.env("ASSAY_PASSWORD", password);
    command
}

const READ: &str = "duration = 60s\n[read]\nquery = select 1 as n\nrate = 200\narrival = uniform\n";

/// A run that is refused before it begins.
struct Refused {
    kind: Kind,
    url: String,
    /// The server's address, as in the message.
    address: String,
    /// The expected words of error and remedy.
    words: Vec<&'static str>,
}

impl Refused {
    #[track_caller]
    fn check(self) {
        let place = TestFolder::with(READ);
        let password = match self.words[0] {
            "password" => PASSWORD,
            _ => shared(self.kind).password().expose(),
        };
        let mut command = command(&place, &self.url, password, &["--quiet"]);
        let ran = CommandResult::of(&mut command).expect(4);
        for word in self.words.iter().copied().chain([self.address.as_str()]) {
            assert!(ran.stderr.contains(word), "{}: `{word}`: {}", self.url, ran.stderr);
        }
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(password), "{}", ran.stderr);
        // The message itself contains the remedy; a second remedy could contradict it.
        assert_eq!(ran.stderr.matches("help: ").count(), 0, "{}", ran.stderr);
    }
}

/// The exit code is 4, and the message names the server and a remedy.
#[test]
fn refused_login_names_the_server_and_the_remedy() {
    for kind in KINDS {
        let server = shared(kind);
        let (scheme, at) = (scheme(kind), format!("127.0.0.1:{}", server.port()));
        let check = |url: String, address: &str, words: &[&'static str]| {
            let (address, words) = (address.to_owned(), words.to_vec());
            Refused { kind, url, address, words }.check();
        };
        let url = |rest: &str| format!("{scheme}://assay@{at}/{rest}");
        check(url("assay"), &at, &["password", "ASSAY_PASSWORD", "`assay`"]);
        check(url("no_such_shop"), &at, &["no_such_shop", "name another"]);
        check(url("assay?tls=require"), &at, &["has no TLS", "`tls=off`"]);
        check(
            format!("{scheme}://{UNUSED_ADDRESS}/d"),
            UNUSED_ADDRESS,
            &["no server listens there; start it"],
        );
        let web = FaultyServer::sending(b"HTTP/1.1 400 Bad Request\r\n\r\n").address();
        check(format!("{scheme}://{web}/d"), &web, &["does not speak"]);
        let silent = FaultyServer::sending(b"").address();
        let url = format!("{scheme}://{silent}/d?connect-timeout=300ms");
        check(url, &silent, &["within 300ms", "`connect-timeout="]);
    }
}

/// Waits until requests are answered.
fn wait_until_answered(run: &mut Running) {
    run.wait_for_matching_line("some are answered", |line| {
        number_after(line, "achieved/s").is_some_and(|n| n > 0.0)
    });
}

/// Checks that all errors are disconnects, that the event of the first disconnect has these words,
/// and that every request has an outcome.
#[track_caller]
fn only_lost(place: &TestFolder, summary: &Value, words: &[&str]) {
    assert_balanced(summary);
    let read = job(summary, "read");
    assert!(read["completed"].as_u64().unwrap() > 0, "{read}");
    for error in read["errors_by_code"].as_array().unwrap() {
        assert_eq!(error["class"], "disconnect", "{read}");
    }
    assert!(read["errors"].as_u64().unwrap() > 0, "{read}");
    assert_eq!((&read["rejected"], &read["unsent"]), (&0.into(), &0.into()));
    let export = place.export_json("r.assay");
    let events = export["events"].as_array().unwrap();
    let first = events.iter().find(|event| event["kind"] == "first-error").unwrap();
    assert_eq!(first["job"], "read", "{first}");
    for word in words {
        assert!(first["text"].as_str().unwrap().contains(word), "`{word}`: {first}");
    }
    let open = export["intervals"].as_array().unwrap().iter().map(|row| &row["open"]);
    assert!(open.into_iter().all(|open| *open == 0), "{export}");
}

/// A connection is closed after an arbitrary byte of a packet or of a TLS record. Expects only the
/// request on this connection to fail.
#[test]
fn a_connection_that_is_cut_inside_a_packet_costs_its_request_and_not_the_run() {
    for (kind, tls) in KINDS.into_iter().flat_map(|kind| [(kind, Tls::Off), (kind, Tls::Server)]) {
        let server = if tls == Tls::Off { shared(kind) } else { shared_with_tls(kind) };
        let relay = Relay::start(SocketAddr::from(([127, 0, 0, 1], server.port()))).unwrap();
        let mode = if tls == Tls::Off { "off" } else { "require" };
        let at = relay.address();
        let url = format!("{}://assay@{at}/assay?tls={mode}", scheme(kind));
        let place = TestFolder::with(READ);
        let mut run = Running::of(&mut command(&place, &url, server.password().expose(), &[]));
        wait_until_answered(&mut run);
        // Requests and answers are shorter than these numbers of bytes, so each cut falls within a
        // later one.
        for (direction, bytes) in [
            (Direction::ToClient, 1_001),
            (Direction::ToClient, 1_007),
            (Direction::ToServer, 1_003),
            (Direction::ToServer, 1_009),
        ] {
            let before = relay.bytes_passed(direction);
            relay.cut_after(direction, bytes);
            run.wait_for_matching_line("bytes pass", |_| {
                relay.bytes_passed(direction) >= before + bytes
            });
        }
        wait_until_answered(&mut run);
        run.signal(Signal::SIGINT);
        let summary = run.wait_for_end().expect(130).json();
        only_lost(&place, &summary, &[&at.to_string()]);
        let errors = job(&summary, "read")["errors"].as_u64().unwrap();
        assert!(errors <= 4, "{kind:?} {mode}: {errors} requests for 4 connections");
    }
}

/// Expects malformed answers of a server to fail only their own requests.
#[test]
fn protocol_violation_costs_only_its_requests() {
    // A description of one column, x, before its row.
    let column = &b"T\0\0\0\x1a\0\x01x\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0"[..];
    let endless_row = [column, b"D\xff\xff\xff\xff\0\x01", &[b'x'; 512]].concat();
    let longest_row = [column, b"D\x7f\xff\xff\xff\0\x01\x7f\xff\xff\xf0", &[b'x'; 512]].concat();
    let longest_packet = [&b"\xff\xff\xff\x01\x01"[..], &[b'x'; 512]].concat();
    let babbles = "does not speak";
    let ends = "closed the connection";
    for (kind, bytes, hangs_up, words) in [
        (Kind::Postgres, b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), false, babbles),
        (Kind::Postgres, endless_row, false, babbles),
        (Kind::Postgres, longest_row, true, ends),
        (Kind::Postgres, b"C\0\0\0\x0dSEL".to_vec(), true, ends),
        (Kind::Mariadb, b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), false, babbles),
        (Kind::Mariadb, vec![0xff; 512], false, babbles),
        (Kind::Mariadb, longest_packet, false, babbles),
        (Kind::Mariadb, b"\x07\0\0\x01\0\0".to_vec(), true, ends),
    ] {
        let said = String::from_utf8_lossy(&bytes[..8.min(bytes.len())]).into_owned();
        let server = FaultyServer::start(kind, FaultyAnswer { bytes, hangs_up });
        let place = TestFolder::with(&format!("{READ}prepare = no\n"));
        let url = format!("{}://ann@{}/shop", scheme(kind), server.address());
        let more = ["--duration", "2s", "--quiet"];
        let ran = CommandResult::of(&mut command(&place, &url, PASSWORD, &more));
        assert!([0, 3].contains(&ran.code), "{said:?}: {} {}", ran.code, ran.stderr);
        only_lost(&place, &ran.json(), &[&server.address(), words]);
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(PASSWORD), "{}", ran.stderr);
    }
}

/// The server sends half an answer and nothing more: the request times out, and its session is
/// replaced.
#[test]
fn partial_answer_ends_with_the_timeout() {
    for (kind, bytes) in
        [(Kind::Postgres, &b"C\0\0\0\x0dSEL"[..]), (Kind::Mariadb, b"\x07\0\0\x01\0\0")]
    {
        let server =
            FaultyServer::start(kind, FaultyAnswer { bytes: bytes.to_vec(), hangs_up: false });
        let place = TestFolder::with(&format!("{READ}prepare = no\ntimeout = 100ms\n"));
        let url = format!("{}://ann@{}/shop", scheme(kind), server.address());
        let ran = CommandResult::of(&mut command(
            &place,
            &url,
            PASSWORD,
            &["--duration", "2s", "--quiet"],
        ));
        let summary = ran.json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        let (errors, timeouts) = (&read["errors"], &read["timeouts"]);
        assert!(errors == timeouts && timeouts.as_u64() > Some(0), "{kind:?}: {read}");
        // Timeouts have a service time.
        assert!(read["service_ms"]["max"].as_f64() >= Some(100.0), "{kind:?}: {read}");
    }
}

const LOCKS: &str = "\
duration = 3s
[setup]
query = create table locks (id int primary key, n int)
query = insert into locks values (1, 0), (2, 0)
[again]
transaction = yes
query = update locks set n = n + 1 where id = 1
query = update locks set n = n + 1 where id = 2
concurrency = 3
retry = 1000 on 40P01, 1213
[never]
transaction = yes
query = update locks set n = n + 1 where id = 2
query = update locks set n = n + 1 where id = 1
concurrency = 3
";

/// The loser of a deadlock retries or counts an error, and no completed transaction was executed
/// twice.
#[test]
fn deadlock_is_retried_or_counted_and_nothing_is_done_twice() {
    for (kind, code, setting) in [
        (Kind::Postgres, "40P01", ("deadlock_timeout", "10ms")),
        (Kind::Mariadb, "1213", ("innodb_deadlock_detect", "ON")),
    ] {
        let server = Server::start(&Options::new(kind).set(setting.0, setting.1)).unwrap();
        let place = TestFolder::with(LOCKS);
        let url = server.url().to_string();
        let ran =
            CommandResult::of(&mut command(&place, &url, server.password().expose(), &["--quiet"]));
        assert!([0, 3].contains(&ran.code), "{kind:?}: {} {}", ran.code, ran.stderr);
        let summary = ran.json();
        assert_balanced(&summary);
        let [again, never] = ["again", "never"].map(|name| job(&summary, name));
        assert!(again["retries"].as_u64().unwrap() > 0, "{kind:?}: {again}");
        assert_eq!(again["errors"], 0, "{kind:?}: {again}");
        let errors = &never["errors_by_code"];
        assert_eq!((&errors[0]["class"], &errors[0]["code"]), (&"conflict".into(), &code.into()));
        assert_eq!(errors[0]["count"], never["errors"], "{kind:?}: {never}");
        let done = [again, never].map(|job| job["completed"].as_i64().unwrap()).iter().sum::<i64>();
        let found = server.sql("select n from locks order by id").unwrap();
        assert_eq!(found, format!("{done}\n{done}\n"), "{kind:?}: {summary}");
        let events = place.export_json("r.assay")["events"].to_string();
        let address = format!("127.0.0.1:{}", server.port());
        for word in ["deadlock", &address, "`retry = 3 on"] {
            assert!(events.to_lowercase().contains(word), "{kind:?}: `{word}`: {events}");
        }
    }
}

/// MariaDB's `sleep` returns 1 when interrupted. A statement that does nothing else may return this
/// value before the server checks the reason for the interrupt; the second row prevents it.
const SLOW: &str = "\
duration = 2s
[slow]
query.postgres = select pg_sleep(60)
query.mysql = select sleep(60) from (select 1 union select 2) twice
concurrency = 2
[fast]
query = select 1
rate = 50
";

/// A statement timeout of the server causes an error at once, and the session continues. The
/// timeout is longer than a busy machine needs for the other statements.
#[test]
fn statement_timeout_of_the_server_is_counted_and_keeps_the_session() {
    for (kind, limit, code) in [
        (Kind::Postgres, "alter role assay set statement_timeout = '600ms'", "57014"),
        (Kind::Mariadb, "set global max_statement_time = 0.6", "1969"),
    ] {
        let server = Server::start(&Options::new(kind)).unwrap();
        // The limit applies to every session from now on.
        server.sql(limit).unwrap();
        let place = TestFolder::with(SLOW);
        let url = server.url().to_string();
        let ran =
            CommandResult::of(&mut command(&place, &url, server.password().expose(), &["--quiet"]));
        assert!([0, 3].contains(&ran.code), "{kind:?}: {} {}", ran.code, ran.stderr);
        let summary = ran.json();
        assert_balanced(&summary);
        let (slow, fast) = (job(&summary, "slow"), job(&summary, "fast"));
        assert!(slow["errors"].as_u64().unwrap() > 0, "{kind:?}: {slow}");
        assert_eq!((&slow["completed"], &slow["errors"]), (&0.into(), &slow["scheduled"]));
        let errors = &slow["errors_by_code"];
        assert_eq!((&errors[0]["class"], &errors[0]["code"]), (&"server".into(), &code.into()));
        assert_eq!(errors[0]["count"], slow["errors"], "{kind:?}: {slow}");
        assert!(slow["error_ms"]["p50"].as_f64() >= Some(590.0), "{kind:?}: {slow}");
        assert_eq!((&fast["errors"], &fast["unsent"]), (&0.into(), &0.into()), "{kind:?}: {fast}");
    }
}
