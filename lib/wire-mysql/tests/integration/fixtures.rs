//! Recorded exchanges with real servers.
//!
//! Each file in `tests/fixtures` is one exchange: comments begin with `#`, the client's bytes with
//! `>`, the server's with `<`, the expected calls of the sink with `=`. The other lines are
//! settings.

use std::path::Path;

use wire_mysql::{
    Capabilities, Channel, ClientHello, Command, Handshake, Login, LoginOptions, LoginStep,
    Negotiated, Password, Payloads, Replies, ReplyKind, ServerKey, WANTED,
};

use crate::log::{Log, shown};

#[derive(Default)]
struct Exchange {
    name: String,
    user: String,
    password: String,
    agreed: Option<Negotiated>,
    kinds: Vec<ReplyKind>,
    /// Bytes in the order in which they were sent; true marks bytes of the client.
    bytes: Vec<(bool, Vec<u8>)>,
    printed: Vec<String>,
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("hex is ASCII");
        u8::from_str_radix(pair, 16).expect("hex")
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

fn kind(name: &str) -> ReplyKind {
    let kinds = [ReplyKind::Simple, ReplyKind::Text, ReplyKind::Binary, ReplyKind::Prepared];
    kinds.into_iter().find(|kind| format!("{kind:?}") == name).expect("a kind of reply")
}

fn parse(name: String, text: &str) -> Exchange {
    let mut exchange = Exchange { name, ..Exchange::default() };
    for line in text.lines() {
        let (key, value) = line.split_once(' ').expect("a key and a value");
        match key {
            "#" => {}
            ">" => exchange.bytes.push((true, unhex(value))),
            "<" => exchange.bytes.push((false, unhex(value))),
            "=" => exchange.printed.push(value.to_owned()),
            "user" => exchange.user = value.to_owned(),
            "password" => exchange.password = value.to_owned(),
            "kinds" => exchange.kinds = value.split(' ').map(kind).collect(),
            "agreed" => {
                let bits = u64::from_str_radix(value.trim_start_matches("0x"), 16).expect("hex");
                let all = Capabilities(bits);
                exchange.agreed = Some(Negotiated::of(all, all));
            }
            _ => panic!("{}: {line}", exchange.name),
        }
    }
    exchange
}

/// Returns the exchanges whose names begin with `prefix`; all others if `begins` is false.
fn exchanges(prefix: &str, begins: bool) -> Vec<Exchange> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found: Vec<Exchange> = std::fs::read_dir(folder)
        .expect("the folder of fixtures")
        .map(|entry| entry.expect("a file").path())
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a fixture"))
        })
        .filter(|(name, _)| name.starts_with(prefix) == begins)
        .map(|(name, text)| parse(name, &text))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() >= 4, "fixtures are missing");
    found
}

#[test]
fn logins_with_real_servers_are_repeated_byte_for_byte() {
    for exchange in exchanges("login", true) {
        let mut login = Login::new(LoginOptions {
            user: exchange.user.as_bytes(),
            password: Password(exchange.password.as_bytes()),
            database: Some(b"assay"),
            wanted: WANTED,
            channel: Channel::Open,
            server_key: ServerKey::Refuse,
            seed: [0; 20],
            collation: 45,
            attributes: &[(b"program_name", b"assay")],
        });
        let (mut sent, mut printed) = (Vec::new(), Vec::new());
        for (is_client, bytes) in &exchange.bytes {
            if *is_client {
                assert_eq!(sent, *bytes, "{}", exchange.name);
                continue;
            }
            sent.clear();
            let (used, step) = login.read(bytes, &mut sent).expect(&exchange.name);
            assert_eq!(used, bytes.len(), "{}", exchange.name);
            printed.extend(step_as_text(&step));
        }
        assert_eq!(printed, exchange.printed, "{}", exchange.name);
    }
}

fn step_as_text(step: &LoginStep) -> Option<String> {
    match step {
        LoginStep::NeedBytes => None,
        LoginStep::StartTls => panic!("TLS was not requested"),
        LoginStep::Done(session) => {
            Some(format!("done, agreed {:#x}", session.agreed.capabilities().0))
        }
        LoginStep::Refused(refusal) => {
            let state = shown(&refusal.sqlstate.expect("a SQLSTATE"));
            Some(format!("refused {} {state} {}", refusal.code, shown(&refusal.message)))
        }
    }
}

#[test]
fn real_handshakes_round_trip() {
    for exchange in exchanges("login", true) {
        let greeting = &exchange.bytes[0].1[4..];
        let handshake = Handshake::decode(greeting).expect(&exchange.name);
        assert!(handshake.server_version.ends_with(b"MariaDB-0+deb12u1"));
        let mut again = Vec::new();
        handshake.encode(&mut again);
        assert_eq!(again, greeting, "{}", exchange.name);
        let response = &exchange.bytes[1].1[4..];
        let ClientHello::Response(login) = ClientHello::decode(response).expect(&exchange.name)
        else {
            panic!("{}: not a login", exchange.name)
        };
        let mut again = Vec::new();
        login.encode(&mut again).expect("what was read can be written");
        assert_eq!(again, response, "{}", exchange.name);
    }
}

/// Reads the server's bytes in pieces of a given size.
fn replay(exchange: &Exchange, size: usize, wants_rows: bool) -> Vec<String> {
    let mut replies = Replies::new(exchange.agreed.expect("a line `agreed`"));
    let mut log = Log::wanting(wants_rows);
    exchange.kinds.iter().for_each(|kind| replies.expect(*kind, 1).expect("few commands"));
    for (is_client, bytes) in &exchange.bytes {
        if *is_client {
            if let Some(first) = replies.wanted_file() {
                let packets = payloads(bytes, first).len() as u8;
                replies.file_sent(first + packets).expect("it was wanted");
            }
            continue;
        }
        for piece in bytes.chunks(size) {
            let used = replies.read(piece, &mut log).expect(&exchange.name);
            assert_eq!(used, piece.len(), "{} in pieces of {size}", exchange.name);
        }
    }
    assert!(replies.is_idle(), "{}", exchange.name);
    log.lines
}

fn payloads(bytes: &[u8], first: u8) -> Vec<Vec<u8>> {
    let (mut found, mut at, mut payloads) = (Vec::new(), 0, Payloads::new());
    payloads.expect(first);
    while at < bytes.len() {
        let taken = payloads.next(&bytes[at..]).expect("packets");
        found.push(taken.payload.expect("whole packets").to_vec());
        at += taken.used;
        if first == 0 {
            payloads.expect(0);
        }
    }
    found
}

#[test]
fn replies_of_real_servers_decode_whole_and_in_pieces() {
    for exchange in exchanges("login", false) {
        let is_kept = |line: &&String| !line.starts_with("row ") && !line.starts_with("column ");
        let counted: Vec<&String> = exchange.printed.iter().filter(is_kept).collect();
        for size in [1, 2, 3, 5, 64, usize::MAX] {
            assert_eq!(replay(&exchange, size, true), exchange.printed, "{}", exchange.name);
            let skipped = replay(&exchange, size, false);
            let skipped: Vec<&String> = skipped.iter().filter(is_kept).collect();
            assert_eq!(skipped, counted, "{}", exchange.name);
        }
    }
}

#[test]
fn commands_to_real_servers_round_trip() {
    let mut commands = 0;
    for exchange in exchanges("login", false) {
        let sent = exchange.bytes.iter().filter(|(is_client, _)| *is_client);
        for (_, bytes) in sent.filter(|(_, bytes)| bytes[3] == 0) {
            let mut again = Vec::new();
            for payload in payloads(bytes, 0) {
                Command::decode(&payload).expect(&exchange.name).append(&mut again);
                commands += 1;
            }
            assert_eq!(again, *bytes, "{}", exchange.name);
        }
    }
    assert!(commands > 100, "{commands} commands");
}
