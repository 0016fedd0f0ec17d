//! Tests of values longer than the maximum packet of MySQL and than any initial buffer.

use base::{Field, RowLimit, RowMemory, RowPart, Rows, Target};
use driver::{Connection, Driver, Mysql, Postgres, Step, Work};
use testbed::{Kind, Options, Server, shared};

use crate::{in_real_time, text};

/// Length of the values, in bytes.
const LONG: usize = 20 << 20;

/// Returns a text in which each position is distinct, which exposes parts in wrong places.
fn long() -> String {
    let mut text: String = (0..LONG / 8).map(|place| format!("{place:07}ß")).collect();
    text.truncate(LONG - 1);
    text.push('.');
    text
}

/// Returns the only captured value.
fn value(rows: &Rows) -> &[u8] {
    let parts: Vec<RowPart<'_>> = rows.parts().collect();
    match parts[..] {
        [RowPart::Field(Field::Bytes(bytes)), RowPart::End] => bytes,
        _ => panic!("{} parts", parts.len()),
    }
}

/// Runs one request and returns it with its reply.
async fn run(connection: &mut impl Connection, mut work: Work) -> Work {
    work.reply.reset();
    connection.run(&mut work).await.expect("an answer");
    work
}

/// Returns a query as a prepared statement and as a text.
async fn forms(connection: &mut impl Connection, query: &str) -> [Work; 2] {
    let statement = connection.prepare(query).await.expect("a statement");
    let mut prepared = Work::default();
    prepared.steps.push(Step::Execute { statement, first: 0, count: 0 });
    [prepared, text(query)]
}

/// Writes a long text, bound and as a literal. Reads the text in both row formats. The whole text
/// exceeds the capture limit, so it is captured in halves.
fn check<D: Driver>(driver: &D, [kind, mark]: [&str; 2]) {
    let long = long();
    let half = long.chars().count() / 2;
    let halves = [format!("left(words, {half})"), format!("substring(words, {})", half + 1)];
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let create = format!("create table long_texts (id int primary key, words {kind})");
        connection.query_text(&create).await.expect("a table");
        let insert = format!("insert into long_texts values (1, {mark})");
        let statement = connection.prepare(&insert).await.expect("a statement");
        let mut bound = Work::default();
        bound.values.push_text(|buffer| buffer.push_str(&long));
        bound.steps.push(Step::Execute { statement, first: 0, count: 1 });
        let literal = text(&format!("insert into long_texts values (2, '{long}')"));
        for work in [bound, literal] {
            let reply = run(&mut connection, work).await.reply;
            assert_eq!(reply.rows, 1);
            assert!((LONG..LONG + 1_000).contains(&(reply.bytes_sent as usize)), "{reply:?}");
        }
        for id in [1, 2] {
            let mut found = [Vec::new(), Vec::new()];
            let query = format!("select words from long_texts where id = {id}");
            for mut work in forms(&mut connection, &query).await {
                let reply = run(&mut connection, work.clone()).await.reply;
                assert_eq!(reply.rows, 1, "of a row that is passed over");
                let received = reply.bytes_received as usize;
                assert!((LONG..LONG + 1_000).contains(&received), "{reply:?}");
                work.capture = RowMemory::default().buffer();
                let work = run(&mut connection, work).await;
                assert_eq!(work.capture.overflow(), Some(RowLimit::Request));
                assert!(work.capture.is_empty());
            }
            for half in &halves {
                let query = format!("select {half} from long_texts where id = {id}");
                for (found, mut work) in found.iter_mut().zip(forms(&mut connection, &query).await)
                {
                    work.capture = RowMemory::default().buffer();
                    found.extend_from_slice(value(&run(&mut connection, work).await.capture));
                }
            }
            // `assert_eq!` would print all 20 MB.
            assert!(found.iter().all(|it| it == long.as_bytes()), "{id}: another text comes back");
        }
        connection.close().await;
    });
}

fn open(target: &Target) -> Mysql {
    Mysql::open(target, ".").expect("a URL")
}

#[test]
fn text_of_20_mb_comes_back_from_mariadb_in_halves() {
    let options = Options::mariadb().set("max_allowed_packet", "64M");
    let server = Server::start(&options).expect("a server");
    check(&open(&server.url()), ["longtext character set utf8mb4", "?"]);
}

#[test]
fn text_of_20_mb_comes_back_from_postgresql_in_halves() {
    let driver = Postgres::open(&shared(Kind::Postgres).url()).expect("a URL");
    check(&driver, ["text", "$1"]);
}

/// Expects statements of about the length of a packet to be read to their end. Only the length of a
/// packet shows that the packet is continued: a full packet is followed by another, which may be
/// empty.
#[test]
fn a_statement_that_fills_its_packet_is_read_to_its_end_and_no_further() {
    const FULL: usize = wire_mysql::MAX_PAYLOAD;
    let options = Options::mariadb().set("max_allowed_packet", "64M");
    let server = Server::start(&options).expect("a server");
    let driver = open(&server.url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        // One byte is the command's.
        for length in [FULL - 2, FULL - 1, FULL, 2 * FULL - 1] {
            let (head, tail) = ("select length('", "')");
            let inner = length - head.len() - tail.len();
            let query = format!("{head}{}{tail}", "x".repeat(inner));
            let table = connection.query_text(&query).await.expect("a length");
            assert_eq!(table.single(), Some(inner.to_string().as_str()));
        }
    });
}
