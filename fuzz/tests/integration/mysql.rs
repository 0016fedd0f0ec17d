//! Fuzz tests of MySQL's protocol, from recorded exchanges with real servers.

use fuzz::{mysql, run_kept};

use crate::support;

/// Returns the bytes that one side sent in the exchanges whose names begin with `prefix`.
fn bytes_sent_by(side: char, prefix: &str) -> Vec<Vec<u8>> {
    support::bytes_sent_by("lib/wire-mysql/tests/fixtures", side, prefix)
}

/// Returns a packet with a payload shorter than 64 KiB.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [low, high, ..] = payload.len().to_le_bytes();
    [&[low, high, 0, sequence], payload].concat()
}

/// Returns every combination of a head and a body.
fn after(heads: &[&[u8]], bodies: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let all = |head: &&[u8]| -> Vec<Vec<u8>> {
        bodies.iter().map(|body| [*head, &body[..]].concat()).collect()
    };
    heads.iter().flat_map(all).collect()
}

#[test]
fn replies_of_any_bytes_decode_alike_in_any_pieces() {
    // Bits 0 and 1: without EOF packets, with the cache of definitions.
    let heads: [&[u8]; 5] = [
        &[3, 1, 1, 1, 1, 1],
        &[2, 3, 1, 1, 1, 1],
        &[1, 7, 1, 1, 1, 1],
        &[0, 64, 1, 1, 1, 1],
        &[7, 2, 3, 3, 3, 3],
    ];
    let mut corpus = after(&heads, &bytes_sent_by('<', "text"));
    corpus.extend(after(&heads, &bytes_sent_by('<', "execute")));
    corpus.extend(after(&[&[3, 5, 3, 2, 1, 0]], &bytes_sent_by('<', "bulk")));
    // Bits 5 and above: the number of packets of a file; the refused file has none. In the last
    // case, further commands follow the statement.
    let files: [&[u8]; 3] =
        [&[0x07, 5, 1, 4, 4, 4], &[0x27, 5, 2, 4, 4, 4], &[0x27, 5, 1, 0, 0, 0]];
    corpus.extend(after(&files, &bytes_sent_by('<', "file")));
    run_kept("mysql_replies", &corpus, mysql::replies, 20_000);
}

#[test]
fn logins_of_any_bytes_are_done_or_refused() {
    let mut bytes = bytes_sent_by('<', "login");
    bytes.extend(bytes_sent_by('>', "login"));
    // The messages alone, without packet headers.
    bytes.extend(bytes.clone().iter().map(|bytes| bytes[4..].to_vec()));
    bytes.push(include_bytes!("../../../lib/wire-mysql/tests/keys/public.pem").to_vec());
    // Other messages that may follow a handshake.
    let handshake = bytes_sent_by('<', "login-native")[0].clone();
    let greeting = &handshake[..4 + usize::from(handshake[0])];
    let sha2 =
        [packet(2, b"\xFEcaching_sha2_password\0abcdefghijklmnopqrst\0"), packet(4, b"\x01\x04")];
    let key = include_bytes!("../../../lib/wire-mysql/tests/keys/public.pem");
    let key = packet(6, &[b"\x01", &key[..]].concat());
    bytes.push([greeting, &sha2.concat(), &key].concat());
    bytes.push([greeting, &packet(2, b"\xFEmysql_clear_password\0")].concat());
    let heads: Vec<[u8; 1]> = (0..9).map(|setting| [setting]).collect();
    let heads: Vec<&[u8]> = heads.iter().map(<[u8; 1]>::as_slice).collect();
    run_kept("mysql_startup", &after(&heads, &bytes), mysql::startup, 20_000);
}

#[test]
fn commands_of_any_bytes_are_read_or_refused() {
    let mut bytes = bytes_sent_by('>', "execute");
    bytes.extend(bytes_sent_by('>', "bulk"));
    bytes.extend(bytes_sent_by('>', "session"));
    run_kept("mysql_commands", &after(&[&[0], &[2], &[3]], &bytes), mysql::commands, 20_000);
}
