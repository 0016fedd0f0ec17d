//! Recorded exchanges with real servers. Each file of `tests/fixtures` is one exchange. Its first
//! line names the server, and the others are turns: `>` from the client, `<` from the server.

use std::path::{Path, PathBuf};

use wire_postgres::backend::{Authentication, Message as Reply};
use wire_postgres::frontend::{Message as Request, StartupPacket};
use wire_postgres::{
    Channel, Cycle, Login, Replies, SslAnswer, Startup, StartupError, copy_text_fields, ssl_answer,
};

use crate::replies::{Log, read_in_pieces};

/// The bytes of one side up to the other side's reply.
#[derive(Debug)]
enum Turn {
    Client(Vec<u8>),
    Server(Vec<u8>),
}

/// An exchange with a real server.
struct Exchange {
    about: String,
    turns: Vec<Turn>,
}

impl Exchange {
    fn read(path: &Path) -> Exchange {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let (about, lines) = text.split_once('\n').expect("a line about the file");
        assert!(about.starts_with("# PostgreSQL 15"), "{}: which server?", path.display());
        let turns = lines.lines().map(|line| match line.split_once(' ') {
            Some((">", hex)) => Turn::Client(bytes(hex)),
            Some(("<", hex)) => Turn::Server(bytes(hex)),
            _ => panic!("{}: `{line}` is no turn", path.display()),
        });
        Exchange { about: about.to_owned(), turns: turns.collect() }
    }

    fn named(name: &str) -> Exchange {
        Exchange::read(&folder().join(format!("{name}.hex")))
    }

    /// Returns all bytes of the server.
    fn server(&self) -> Vec<u8> {
        let sent = self.turns.iter().filter_map(|turn| match turn {
            Turn::Server(bytes) => Some(&bytes[..]),
            Turn::Client(_) => None,
        });
        sent.collect::<Vec<_>>().concat()
    }

    /// Returns all bytes of the client.
    fn client(&self) -> Vec<u8> {
        let sent = self.turns.iter().filter_map(|turn| match turn {
            Turn::Client(bytes) => Some(&bytes[..]),
            Turn::Server(_) => None,
        });
        sent.collect::<Vec<_>>().concat()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| digit.to_digit(16).expect("a hexadecimal digit") as u8).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("the folder of the fixtures");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files
}

/// Decodes all messages of a server and encodes them again.
fn check_server(mut bytes: &[u8], file: &Path) -> usize {
    let mut messages = 0;
    while !bytes.is_empty() {
        let (message, used) = Reply::decode(bytes)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
            .unwrap_or_else(|| panic!("{}: half a message", file.display()));
        let mut again = Vec::new();
        message.encode(&mut again).expect("what was decoded");
        assert_eq!(again, bytes[..used], "{}: {message:?}", file.display());
        (bytes, messages) = (&bytes[used..], messages + 1);
    }
    messages
}

fn check_client(bytes: &[u8], file: &Path) {
    let begins = matches!(StartupPacket::decode(bytes), Ok(Some(_)));
    let packet = if begins { StartupPacket::decode(bytes).expect("a packet") } else { None };
    let mut rest = &bytes[packet.map_or(0, |(_, used)| used)..];
    while !rest.is_empty() {
        let (message, used) = Request::decode(rest)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
            .unwrap_or_else(|| panic!("{}: half a message", file.display()));
        let mut again = Vec::new();
        message.encode(&mut again).expect("what was decoded");
        assert_eq!(again, rest[..used], "{}: {message:?}", file.display());
        rest = &rest[used..];
    }
}

#[test]
fn recorded_sessions_round_trip() {
    let mut messages = 0;
    for file in files() {
        let exchange = Exchange::read(&file);
        check_client(&exchange.client(), &file);
        let is_tls = file.to_string_lossy().contains("ssl-request");
        messages += if is_tls { 0 } else { check_server(&exchange.server(), &file) };
    }
    assert!(messages > 200, "{messages} messages are too few for all fixtures");
}

fn utf8(text: &[u8]) -> &str {
    std::str::from_utf8(text).expect("a text")
}

/// Returns the requests of a client.
fn cycles(bytes: &[u8]) -> Vec<Cycle> {
    let (mut rest, mut open, mut cycles) = (bytes, Cycle::SYNC, Vec::new());
    while let Some((message, used)) = Request::decode(rest).expect("a client's bytes") {
        rest = &rest[used..];
        match message {
            Request::Query(text) => cycles.push(Cycle::QUERY.with_text(utf8(text))),
            Request::Sync => cycles.push(std::mem::take(&mut open)),
            Request::Parse(parse) => open = open.with_text(utf8(parse.text)).parse(),
            Request::Describe(object, _) => open = open.describe(object),
            Request::Bind(_) => open = open.bind(),
            Request::Execute { rows: 0, .. } => open = open.execute(),
            Request::Execute { .. } => open = open.execute().with_row_limit(),
            Request::Close(..) => open = open.close(),
            _ => {}
        }
    }
    cycles
}

/// Returns the bytes of a server, split at the points where it waits for COPY's data.
fn turns(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut begin, mut turns) = (bytes, bytes, Vec::new());
    while let Some((message, used)) = Reply::decode(rest).expect("a server's bytes") {
        rest = &rest[used..];
        if matches!(message, Reply::CopyInResponse(_)) {
            turns.push(&begin[..begin.len() - rest.len()]);
            begin = rest;
        }
    }
    turns.push(begin);
    turns
}

/// Returns the log of the server's side of an exchange, and checks that it does not depend on the
/// size of the pieces.
fn printed(name: &str) -> Vec<String> {
    let exchange = Exchange::named(name);
    let bytes = exchange.server();
    let read = |piece: usize, wants_data: bool| {
        let (mut log, mut replies) = (Log::new(wants_data), Replies::new());
        cycles(&exchange.client()).into_iter().for_each(|cycle| replies.expect(cycle));
        for turn in turns(&bytes) {
            let ends: Vec<usize> = (0..turn.len()).step_by(piece).collect();
            let left = read_in_pieces(&mut replies, turn, &ends, &mut log).expect("a real answer");
            assert_eq!(left, 0);
            replies.end_copy();
        }
        log.lines
    };
    let lines = read(bytes.len(), true);
    for piece in [1, 2, 7, 64] {
        assert_eq!(read(piece, true), lines, "{name} in pieces of {piece}");
    }
    let is_counted =
        |line: &String| !["row ", "columns ", "copy data "].iter().any(|it| line.starts_with(it));
    let counted: Vec<String> = lines.iter().filter(|line| is_counted(line)).cloned().collect();
    for piece in [1, 5, bytes.len()] {
        assert_eq!(read(piece, false), counted, "{name} without its rows in pieces of {piece}");
    }
    lines
}

#[test]
fn a_simple_query_with_a_notice_and_a_syntax_error() {
    let rows = ["1", "2", "4", "5", "6"].map(|number| format!("row {number}, NULL, x"));
    let mut expected = vec![
        "notice table \"nowhere\" does not exist, skipping (SQLSTATE 00000)".to_owned(),
        "complete DROP TABLE rows 0".to_owned(),
        "complete CREATE TABLE rows 0".to_owned(),
        "complete INSERT 0 5 rows 5".to_owned(),
        "complete UPDATE 3 rows 3".to_owned(),
        "columns a 23 Text, n 25 Text, t 25 Text".to_owned(),
    ];
    expected.extend(rows);
    expected.extend(
        [
            "complete SELECT 5 rows 5",
            "complete DROP TABLE rows 0",
            "ready Idle",
            "complete empty rows 0",
            "ready Idle",
            "error syntax error at or near \"selec\" (SQLSTATE 42601)",
            "ready Idle",
        ]
        .map(str::to_owned),
    );
    assert_eq!(printed("simple-query"), expected);
}

#[test]
fn prepared_statements_are_described_and_executed() {
    assert_eq!(
        printed("prepare"),
        [
            "parameters [23, 25]",
            "no columns",
            "parameters [23]",
            "columns id 23 Text, name 25 Text",
            "ready Idle"
        ]
    );
    assert_eq!(
        printed("execute"),
        [
            "complete INSERT 0 1 rows 1",
            "ready Idle",
            "row \\x00\\x00\\x00\\x01, one",
            "complete SELECT 1 rows 1",
            "ready Idle",
        ]
    );
}

#[test]
fn transactions_in_one_send_fail_as_a_whole_or_statement_by_statement() {
    let duplicate = |key: &str| {
        format!("error duplicate key value violates unique constraint \"t_pkey\" (SQLSTATE {key})")
    };
    let begin = "complete BEGIN rows 0";
    let insert = "complete INSERT 0 1 rows 1";
    let (select, commit) = ("complete SELECT 1 rows 1", "complete COMMIT rows 0");
    let (idle, active, failed) = ("ready Idle", "ready Active", "ready Failed");
    let rollback = "complete ROLLBACK rows 0";
    let error = &duplicate("23505")[..];
    assert_eq!(
        printed("transaction-one-sync"),
        [
            begin,
            insert,
            insert,
            "row 10, a",
            select,
            commit,
            idle,
            begin,
            insert,
            error,
            failed,
            rollback,
            idle
        ]
    );
    let aborted = "error current transaction is aborted, commands ignored until end of \
                   transaction block (SQLSTATE 25P02)";
    assert_eq!(
        printed("transaction-sync-each"),
        [
            begin,
            active,
            insert,
            active,
            insert,
            active,
            "row 110, a",
            select,
            active,
            commit,
            idle,
            begin,
            active,
            insert,
            active,
            error,
            failed,
            aborted,
            failed,
            rollback,
            idle
        ]
    );
}

#[test]
fn binary_values_match_the_server() {
    let lines = printed("types");
    let Some(row) = lines.iter().find_map(|line| line.strip_prefix("row ")) else {
        panic!("no row in {lines:?}");
    };
    let fields: Vec<&str> = row.split(", ").collect();
    let numbers = ["t", "-2", "3", "-9223372036854775808", "4294967295", "1.5", "0.1"];
    let times = [
        "2024-02-29",
        "13:45:00.25",
        "1999-12-31 23:59:59.999999",
        "2024-02-29 09:30:00+00",
        "00112233-4455-6677-8899-aabbccddeeff",
    ];
    assert_eq!(fields[..7], numbers);
    assert_eq!(fields[7..12], times);
    assert_eq!(fields[12].len(), 301);
    assert_eq!(fields[13..], ["7", "{\\\"a\\\": 1}", "1999-01-08 00:00:00"]);
}

#[test]
fn portals_are_read_in_parts() {
    let rows = |numbers: &[u32]| numbers.iter().map(|number| format!("row {number}")).collect();
    let first: Vec<String> = rows(&[1, 2]);
    let second: Vec<String> = rows(&[3, 4, 5]);
    let text = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let expected = [
        text(&["columns generate_series 23 Text"]),
        first,
        text(&["complete suspended rows 2"]),
        second,
        text(&["complete SELECT 3 rows 3", "ready Idle"]),
        text(&["no columns", "complete empty rows 0", "ready Idle"]),
    ];
    assert_eq!(printed("portal"), expected.concat());
}

#[test]
fn copy_transfers_rows_in_both_directions() {
    assert_eq!(
        printed("copy-in"),
        [
            "copy in Text 2",
            "complete COPY 3 rows 3",
            "ready Idle",
            "copy in Text 2",
            "error COPY from stdin failed: enough (SQLSTATE 57014)",
            "ready Idle",
        ]
    );
    let lines = printed("copy-out");
    assert_eq!((&lines[0][..], &lines[4][..]), ("copy out Text 2", "complete COPY 3 rows 3"));
    assert_eq!(lines.len(), 6);
    let server = Exchange::named("copy-out").server();
    let (_, used) = Reply::decode(&server).expect("a message").expect("a whole one");
    let Ok(Some((Reply::CopyData(line), _))) = Reply::decode(&server[used..]) else {
        panic!("the second message is a row");
    };
    let fields: Vec<_> = copy_text_fields(line).collect();
    assert_eq!(fields, [Some(b"1000".to_vec()), Some(b"a\tb\\\n".to_vec())]);
}

#[test]
fn asynchronous_messages_are_returned() {
    assert_eq!(
        printed("notification"),
        [
            "complete LISTEN rows 0",
            "complete NOTIFY rows 0",
            "complete SET rows 0",
            "notification news hello",
            "setting application_name = other",
            "ready Idle",
        ]
    );
    let cancelled = "error canceling statement due to user request (SQLSTATE 57014)";
    assert_eq!(printed("cancelled"), ["columns pg_sleep 2278 Text", cancelled, "ready Idle"]);
    let lines = printed("terminated");
    let terminated = "error terminating connection due to administrator command (SQLSTATE 57P01)";
    assert_eq!(lines.last().map(String::as_str), Some(terminated));
}

/// Begins the recorded session with our client, which must send the recorded bytes.
fn begin(name: &str, user: &str, password: Option<&str>) -> Result<Option<String>, StartupError> {
    let exchange = Exchange::named(name);
    let password = password.or_else(|| exchange.about.rsplit_once("password ").map(|(_, it)| it));
    let login = Login {
        user,
        database: Some("postgres"),
        password: password.map(str::as_bytes),
        settings: &[("application_name", "assay")],
        channel: Channel::Plain,
    };
    let mut out = Vec::new();
    let mut client = Startup::begin(login, &mut out).expect("a login");
    for turn in &exchange.turns {
        match turn {
            Turn::Client(sent) => assert_eq!(std::mem::take(&mut out), *sent, "{name}"),
            Turn::Server(sent) => assert_eq!(client.read(sent, &mut out)?, sent.len(), "{name}"),
        }
    }
    let session = client.into_session();
    let version = session.and_then(|it| it.setting("server_version").map(str::to_owned));
    Ok(version)
}

#[test]
fn recorded_sessions_begin() {
    let version = Ok(Some("15.18 (Debian 15.18-0+deb12u1)".to_owned()));
    assert_eq!(begin("startup-trust", "trusty", None), version);
    assert_eq!(begin("startup-md5", "md5er", None), version);
    let cleartext = Exchange::named("startup-cleartext");
    let client = cleartext.client();
    let (_, used) = StartupPacket::decode(&client).expect("a packet").expect("a whole one");
    let Ok(Some((Request::Password(body), _))) = Request::decode(&client[used..]) else {
        panic!("the client sent its password");
    };
    let password = Request::password(body).expect("a password");
    let password = std::str::from_utf8(password).expect("a test's password");
    assert_eq!(begin("startup-cleartext", "clear", Some(password)), version);
}

#[test]
fn recorded_refusal_is_decoded() {
    let error = begin("startup-wrong-password", "md5er", Some("wrong")).expect_err("a refusal");
    let StartupError::Server(report) = error else { panic!("{error}") };
    let text = "password authentication failed for user \"md5er\" (SQLSTATE 28P01)";
    assert_eq!(report.to_string(), text);
    assert!(report.severity.is_some_and(wire_postgres::Severity::ends_session));
}

#[test]
fn the_answers_to_ssl_request() {
    let answer = |name: &str| ssl_answer(&Exchange::named(name).server());
    assert_eq!(answer("ssl-request-accepted"), Ok(Some(SslAnswer::Accepted)));
    assert_eq!(answer("ssl-request-refused"), Ok(Some(SslAnswer::Refused)));
}

#[test]
fn a_server_negotiates_a_version_and_offers_mechanisms() {
    let first = |name: &str, check: &dyn Fn(Reply<'_>)| {
        let bytes = Exchange::named(name).server();
        let (message, _) = Reply::decode(&bytes).expect("a message").expect("a whole one");
        check(message);
    };
    first("startup-negotiate", &|message| {
        let Reply::NegotiateProtocolVersion(it) = message else { panic!("{message:?}") };
        let options: Vec<&[u8]> = it.unknown_options.iter().map(|option| option.name).collect();
        assert_eq!((it.newest, options), (3 << 16, vec![&b"_pq_.unheard_of"[..]]));
    });
    let offered = |name: &str, expected: &[&[u8]]| {
        first(name, &|message| {
            let Reply::Authentication(Authentication::Sasl { mechanisms }) = message else {
                panic!("{message:?}");
            };
            assert!(mechanisms.iter().map(|it| it.name).eq(expected.iter().copied()));
        });
    };
    offered("startup-scram", &[b"SCRAM-SHA-256"]);
    offered("startup-scram-plus", &[b"SCRAM-SHA-256-PLUS", b"SCRAM-SHA-256"]);
}
