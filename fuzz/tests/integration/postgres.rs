//! Fuzz tests of PostgreSQL's protocol, from recorded exchanges with real servers and from texts as
//! values.

use fuzz::{postgres, run, run_kept};

use crate::support::{bytes_of, bytes_sent_by};

const FIXTURES: &str = "lib/wire-postgres/tests/fixtures";

#[test]
fn postgres_servers_of_any_bytes_are_read_or_refused() {
    let corpus = bytes_sent_by(FIXTURES, '<', "");
    run_kept("postgres_backend", &corpus, postgres::backend, 6_000);
    run_kept("postgres_replies", &corpus, postgres::replies, 3_000);
    run_kept("postgres_startup", &corpus, postgres::startup, 3_000);
}

#[test]
fn postgres_clients_of_any_bytes_are_read_or_refused() {
    let corpus = bytes_sent_by(FIXTURES, '>', "");
    run_kept("postgres_frontend", &corpus, postgres::frontend, 6_000);
    run(&corpus, postgres::startup, 3_000);
}

#[test]
fn postgres_values_of_any_text_fit_or_are_refused() {
    let texts = [
        "-42",
        "1e-300",
        "Infinity",
        "yes",
        "2024-02-29 13:45:00.25+02:30",
        "13:45",
        "a\t\\\n",
        "{00112233-4455-6677-8899-aabbccddeeff}",
        "0001-01-01",
        "9223372036854775808",
    ];
    run_kept("postgres_values", &bytes_of(&texts), postgres::values, 6_000);
}
