//! Tests of PostgreSQL servers that refuse a COPY, end it early or do not store all of its rows,
//! and of rows that a server did not describe.

use base::{Class, Target};
use driver::{Connection, Driver, Duplicates, Error, Insert, Method, Postgres, Step, Work};
use testbed::{Kind, shared};
use wire_postgres::{Format, TransactionStatus, backend};

use crate::impostor::{ScriptedConnection, ScriptedServer};
use crate::mariadb::Texts;
use crate::{check, in_real_time};

/// The message that ends a COPY's data.
const COPY_DONE: &[u8] = b"c\0\0\0\x04";

/// Loads two rows of one text.
async fn load<C: Connection>(connection: &mut C, table: &str, method: Method) -> Result<(), Error> {
    let into = Insert { table, columns: &["words"], duplicates: Duplicates::Fail };
    let mut rows = Texts { text: "words", left: 2, fallback: None };
    connection.load(&into, method, &mut rows).await
}

fn ready(out: &mut Vec<u8>) {
    backend::ready_for_query(out, TransactionStatus::Idle);
}

/// Returns the error of a COPY load, if any. The server answers the statement with `first`, and the
/// end of the data with `last`.
fn copied(first: Vec<u8>, last: Vec<u8>) -> Option<Error> {
    let server = ScriptedServer::playing(move |connection: &mut ScriptedConnection| {
        let mut out = Vec::new();
        backend::authentication_ok(&mut out);
        ready(&mut out);
        connection.receive();
        connection.send(&out);
        connection.receive();
        connection.send(&first);
        let mut received = Vec::new();
        while !received.ends_with(COPY_DONE) {
            let more = connection.receive();
            if more.is_empty() {
                return;
            }
            received.extend(more);
        }
        connection.send(&last);
        connection.wait();
    });
    let url = format!("postgres://ann:hunter2@127.0.0.1:{}/shop", server.port());
    let driver = Postgres::open(&Target::parse(&url).expect("a URL")).expect("a URL of ours");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        load(&mut connection, "t", Method::Copy).await.err()
    })
}

#[test]
fn copy_that_ends_early_or_with_fewer_rows_fails() {
    let asks = || {
        let mut out = Vec::new();
        backend::copy_in_response(&mut out, Format::Text, []).expect("an answer");
        out
    };
    let done = |tag: &str| {
        let mut out = Vec::new();
        backend::command_complete(&mut out, tag).expect("a tag");
        ready(&mut out);
        out
    };
    let fails = |first: Vec<u8>, last: Vec<u8>| copied(first, last).expect("an error");

    let early = fails([asks(), done("COPY 0")].concat(), Vec::new());
    check(&early, Class::Disconnect, "disconnect", &["CommandComplete before CopyDone"]);
    // The load must not wait until the `stall-timeout` of the run.
    let never = fails(done("COPY 0"), Vec::new());
    check(&never, Class::Disconnect, "disconnect", &["CommandComplete without CopyInResponse"]);
    let fewer = fails(asks(), done("COPY 1"));
    check(&fewer, Class::Statement, "rows", &["the server stored 1 of the 2 rows of a COPY"]);

    assert_eq!(copied(asks(), done("COPY 2")), None);
    assert_eq!(copied(asks(), done("COPY")), None, "a server that does not count");
}

/// A load with COPY detects rows that a trigger skips. A load with inserts does not, because it
/// does not count the rows.
#[test]
fn rows_that_a_trigger_leaves_out_are_missed() {
    let server = shared(Kind::Postgres);
    server
        .sql(
            "create table kept (words text);\n\
             create function leave_out() returns trigger language plpgsql as \
             $$ begin return null; end $$;\n\
             create trigger leave_out before insert on kept \
             for each row execute function leave_out();",
        )
        .expect("a table");
    let driver = Postgres::open(&server.url()).expect("a URL");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        let error = load(&mut connection, "kept", Method::Auto).await.expect_err("no rows");
        let words = ["the server stored 0 of the 2 rows", "`method = insert`"];
        check(&error, Class::Statement, "rows", &words);
        load(&mut connection, "kept", Method::Insert).await.expect("statements without an error");
        connection.close().await;
    });
}

/// A view and a table with row-level security accept inserts, but no COPY.
#[test]
fn load_by_auto_inserts_the_rows_where_the_server_refuses_copy() {
    let server = shared(Kind::Postgres);
    server
        .sql(
            "create table walled (words text);\n\
             create view wall as select words from walled;\n\
             alter table walled enable row level security;\n\
             create policy any_row on walled with check (true);\n\
             create role walled_in;\n\
             grant insert on walled, wall to walled_in;",
        )
        .expect("a table");
    let driver = Postgres::open(&server.url()).expect("a URL");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        connection.query_text("set role walled_in").await.expect("a role");
        for (table, code) in [("walled", "0A000"), ("wall", "42809")] {
            let mut rows = Texts { text: "words", left: 2, fallback: None };
            let into = Insert { table, columns: &["words"], duplicates: Duplicates::Fail };
            connection.load(&into, Method::Auto, &mut rows).await.expect("rows");
            let why = rows.fallback.expect("a fallback");
            check(&why, Class::Statement, code, &[]);
            let error = load(&mut connection, table, Method::Copy).await.expect_err("a refusal");
            check(&error, Class::Statement, code, &["`method = auto` inserts the rows"]);
        }
        connection.query_text("reset role").await.expect("a role");
        let found = connection.query_text("select count(*) from walled").await.expect("a count");
        assert_eq!(found.single(), Some("4"));
        connection.close().await;
    });
}

/// Through a pooler, other clients would find the named statements of a load in their session.
#[test]
fn load_by_insert_leaves_no_named_statement() {
    let server = shared(Kind::Postgres);
    server.sql("create table unnamed (words text)").expect("a table");
    let driver = Postgres::open(&server.url()).expect("a URL");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        let into = Insert { table: "unnamed", columns: &["words"], duplicates: Duplicates::Fail };
        // Two multi-row inserts, and three single rows.
        let mut rows = Texts { text: "words", left: 203, fallback: None };
        connection.load(&into, Method::Insert, &mut rows).await.expect("rows");
        for (query, expected) in [
            ("select count(*) from unnamed", "203"),
            ("select count(*) from pg_prepared_statements", "0"),
        ] {
            let found = connection.query_text(query).await.expect("a count");
            assert_eq!(found.single(), Some(expected), "{query}");
        }
        connection.close().await;
    });
}

/// The code of the error is that of a refusal, but rows were already sent.
#[test]
fn copy_that_fails_at_a_row_is_not_replaced_by_inserts() {
    let server = shared(Kind::Postgres);
    server
        .sql(
            "create table picky (words text);\n\
             create function pick() returns trigger language plpgsql as \
             $$ begin raise exception 'not this' using errcode = '0A000'; end $$;\n\
             create trigger pick before insert on picky for each row execute function pick();",
        )
        .expect("a table");
    let driver = Postgres::open(&server.url()).expect("a URL");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        let mut rows = Texts { text: "words", left: 2, fallback: None };
        let into = Insert { table: "picky", columns: &["words"], duplicates: Duplicates::Fail };
        let error = connection.load(&into, Method::Auto, &mut rows).await.expect_err("no rows");
        check(&error, Class::Statement, "0A000", &["not this"]);
        assert_eq!(rows.fallback, None);
        connection.close().await;
    });
}

/// Expects the rows of a statement that was described without columns to be accepted: such a
/// statement may still return rows.
#[test]
fn fetch_that_was_prepared_before_its_cursor_returns_rows() {
    let driver = Postgres::open(&shared(Kind::Postgres).url()).expect("a URL");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        let statement = connection.prepare("fetch 2 from c").await.expect("a statement");
        let mut work = Work::default();
        let declare = "declare c cursor for select generate_series(1, 3)";
        work.values.push_text(|buffer| buffer.push_str(declare));
        let fetch = Step::Execute { statement, first: 0, count: 0 };
        work.steps = vec![Step::Begin, Step::ExecuteText { text: 0 }, fetch, Step::Commit];
        connection.run(&mut work).await.expect("rows");
        assert_eq!(work.reply.rows, 2);
        connection.close().await;
    });
}
