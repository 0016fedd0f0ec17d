//! Tests of a request's allocations, of returned values and of pipelined transactions.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use base::{Endpoint, RowMemory, RowPart, Rows, Secret, Target, Value};
use rt::{Options, run_real};
use testbed::{Kind, shared};
use wire_mysql::{
    Answers, Capabilities, ColumnDefinition, ColumnType, Command, Field, Handshake, Negotiated,
    OkPacket, Payloads, Prepared, StatementId as ServerId, Status, WANTED, packet,
};

use super::Mysql;
use super::activity_counters::OTHERS;
use crate::{Connection, Driver, PreparedId, Step, Work};

/// Serves one client: accepts any login, answers every prepared statement with one row, and every
/// text with OK.
fn serve(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().expect("a client");
    stream.set_nodelay(true).expect("answers go as they are written");
    let offered = WANTED | Capabilities::CONNECT_WITH_DB;
    let agreed = Negotiated::of(offered, WANTED);
    let mut out = Vec::new();
    let greeting = Handshake {
        server_version: b"5.5.5-10.11.0-MariaDB",
        thread_id: 1,
        nonce: [1; 20],
        offered,
        collation: 45,
        status: Status::AUTOCOMMIT,
        method: b"mysql_native_password",
    };
    packet(&mut out, 0, |out| greeting.encode(out));
    let ok = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
    let column = ColumnDefinition::computed(b"n", ColumnType::LONGLONG, 63);
    let (mut is_in, mut received) = (false, Vec::new());
    loop {
        stream.write_all(&out).expect("a client");
        out.clear();
        let sequence = u8::from(!is_in);
        let Some((sequence, payload)) = receive(&mut stream, &mut received, sequence) else {
            return;
        };
        let mut answers = Answers::new(&mut out, agreed, sequence);
        if !is_in {
            is_in = true;
            answers.ok(&ok);
            continue;
        }
        match Command::decode(&payload) {
            Ok(Command::Prepare(_)) => {
                let prepared = Prepared { id: ServerId(1), columns: 1, parameters: 1, warnings: 0 };
                answers.prepared(&prepared, &[column], &[column]);
            }
            Ok(Command::Execute(_)) => {
                answers.columns(&[column], true);
                answers.binary_row([Field::Int(7)]);
                answers.end_of_rows(Status::AUTOCOMMIT, 0);
            }
            Ok(Command::Query(_)) => answers.ok(&ok),
            _ => return,
        }
    }
}

/// Returns the sequence number and the payload of the client's next packet; `None` at the end.
fn receive(stream: &mut TcpStream, received: &mut Vec<u8>, sequence: u8) -> Option<(u8, Vec<u8>)> {
    let mut payloads = Payloads::new();
    payloads.expect(sequence);
    let mut piece = [0; 4096];
    loop {
        let taken = payloads.next(received).ok()?;
        if let Some(payload) = taken.payload {
            let found = (taken.sequence, payload.to_vec());
            let used = taken.used;
            received.drain(..used);
            return Some(found);
        }
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        received.extend_from_slice(&piece[..count]);
    }
}

/// Invariant 3: the measured path allocates nothing, whether it runs a prepared statement with a
/// number or a text, an unprepared text, or a transaction, pipelined or not.
#[test]
fn invariant_3_a_request_to_mysql_allocates_nothing() {
    let count = |requests: u32| {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = std::thread::spawn(move || serve(&listener));
        let url = format!("mysql://ann@127.0.0.1:{port}/shop");
        let driver = Mysql::open(&Target::parse(&url).expect("a URL"), ".").expect("a driver");
        let counted = allocation_counter::measure(|| {
            run_real(&Options::default(), async |rt| {
                let mut connection = driver.connect(&rt).await.expect("a connection");
                let statement = connection.prepare("select ?").await.expect("a statement");
                let mut work = Work::default();
                for number in 0..requests {
                    request(&mut work, statement, number);
                    connection.run(&mut work).await.expect("an answer");
                    assert_eq!(work.reply.rows, 2);
                }
                connection.close().await;
            })
            .expect("the system grants a runtime");
        });
        server.join().expect("no panic");
        counted.count_total
    };
    // A first run causes the allocations that happen once per process.
    count(1);
    assert_eq!(count(10), count(1_010), "allocations for requests");
}

fn request(work: &mut Work, statement: PreparedId, number: u32) {
    work.steps.clear();
    work.values.clear();
    work.reply.reset();
    work.is_pipelined = number.is_multiple_of(2);
    work.values.push(Value::Int(number.into()));
    work.values.push_text(|out| out.push_str("select 'a text that is run as it is'"));
    work.steps.extend([
        Step::Begin,
        Step::Execute { statement, first: 0, count: 1 },
        Step::Execute { statement, first: 1, count: 1 },
        Step::ExecuteText { text: 1 },
        Step::Commit,
    ]);
}

/// Returns a driver for a database shared by all tests of this file.
fn driver() -> Mysql {
    Mysql::open(&shared(Kind::Mariadb).url(), ".").expect("a URL")
}

/// Returns the rows of a request as text.
fn captured(rows: &Rows) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for part in rows.parts() {
        let row = all.last_mut().expect("a row");
        match part {
            RowPart::End => all.push(Vec::new()),
            RowPart::Field(base::Field::Null) => row.push("NULL".to_owned()),
            RowPart::Field(base::Field::Int(number)) => row.push(number.to_string()),
            RowPart::Field(base::Field::Real(number)) => row.push(number.to_string()),
            RowPart::Field(base::Field::Bytes(bytes)) => {
                row.push(String::from_utf8_lossy(bytes).into_owned());
            }
        }
    }
    all.pop();
    all
}

#[test]
fn rows_are_captured_as_the_server_would_write_them() {
    let create = "create or replace table kinds (a tinyint, b smallint unsigned, c mediumint, \
        d int unsigned, e bigint, f bigint unsigned, g float, h double, i decimal(12, 3), j date, \
        k datetime, l datetime(6), m timestamp(3) null, n time, o time(2), p year, q char(3), \
        r varchar(9), s text, t enum('x', 'y'), u set('v', 'w'), z blob)";
    let insert = "insert into kinds values (-128, 65535, -8388608, 4294967295, \
        -9223372036854775808, 18446744073709551615, 0.1, 1.5e300, 123.45, '2026-02-09', \
        '1999-12-31 23:59:59', '2026-02-09 01:02:03.000004', '2026-02-09 01:02:03.250', \
        '-838:59:59', '12:00:00.5', 2026, 'abc', 'naïve', '', 'y', 'v,w', 'blob'), \
        (0, 0, 0, 0, 0, 0, 0, 0, 0, '0000-01-01', '1000-01-01', '1000-01-01', null, \
        0, 0, 1901, '', '', '', 'x', '', ''), \
        (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, \
        null, null, null, null, null, null, null)";
    let select = "select * from kinds order by a";
    let found = run_real(&Options::default(), async |rt| {
        let mut connection = driver().connect(&rt).await.expect("a connection");
        connection.query_text("set names utf8mb4").await.expect("a setting");
        connection.query_text(create).await.expect("a table");
        connection.query_text(insert).await.expect("rows");
        let statement = connection.prepare(select).await.expect("a statement");
        let text = |work: &mut Work| work.values.push_text(|out| out.push_str(select));
        let mut found = Vec::new();
        for step in [
            Step::Execute { statement, first: 0, count: 0 },
            Step::ExecuteText { text: 0 },
            Step::Execute { statement, first: 0, count: 0 },
        ] {
            let mut work = Work { capture: RowMemory::default().buffer(), ..Work::default() };
            text(&mut work);
            work.steps.push(step);
            connection.run(&mut work).await.expect("rows");
            found.push(captured(&work.capture));
        }
        let table = connection.query_text(select).await.expect("rows").rows;
        let shown = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
        found.push(table.into_iter().map(|row| row.into_iter().map(shown).collect()).collect());
        found
    });
    let found = found.expect("the system grants a runtime");
    let [first, text, again, table] = &found[..] else { panic!("four results") };
    assert_eq!(text, table);
    assert_eq!(first, again);
    assert_eq!(text.len(), 3);
    for (binary, text) in first.iter().flatten().zip(text.iter().flatten()) {
        let same = binary == text
            || binary.parse::<f64>().ok().is_some_and(|number| text.parse() == Ok(number));
        assert!(same, "{binary} is written {text} by the server");
    }
}

#[test]
fn a_procedure_returns_all_its_results() {
    let create = "create or replace procedure both_of_them(n int) begin select n as a; \
                  select n as b, 'x' as c union all select n + 1, 'y'; do 1; end";
    run_real(&Options::default(), async |rt| {
        let mut connection = driver().connect(&rt).await.expect("a connection");
        connection.query_text(create).await.expect("a procedure");
        let call = connection.prepare("call both_of_them(?)").await.expect("a statement");
        for is_wanted in [false, true, true, false, true] {
            let mut work = Work::default();
            if is_wanted {
                work.capture = RowMemory::default().buffer();
            }
            work.values.push(Value::Int(5));
            work.values.push_text(|out| out.push_str("call both_of_them(5)"));
            work.steps.push(Step::Execute { statement: call, first: 0, count: 1 });
            work.steps.push(Step::ExecuteText { text: 1 });
            connection.run(&mut work).await.expect("rows");
            assert_eq!((work.reply.rows, work.reply.statements.len()), (6, 2));
            let rows: [&[&str]; 3] = [&["5"], &["5", "x"], &["6", "y"]];
            let expected = [rows, rows].concat();
            assert_eq!(captured(&work.capture), if is_wanted { expected } else { Vec::new() });
        }
    })
    .expect("the system grants a runtime");
}

#[test]
fn unpreparable_statement_is_sent_as_text() {
    run_real(&Options::default(), async |rt| {
        let mut connection = driver().connect(&rt).await.expect("a connection");
        let prepare = connection.prepare("prepare p from 'select 1 union select ?'").await;
        let prepare = prepare.expect("a text");
        let deallocate = connection.prepare("deallocate prepare p").await.expect("a text");
        assert_eq!(connection.parameters(prepare), Some(0));
        for _ in 0..2 {
            let mut work = Work::default();
            for statement in [prepare, deallocate] {
                work.steps.push(Step::Execute { statement, first: 0, count: 0 });
            }
            connection.run(&mut work).await.expect("an answer");
            assert_eq!(work.reply.statements.len(), 2);
        }
        let error = connection.prepare("execute p using ?").await.expect_err("it takes a value");
        assert_eq!(error.class(), base::Class::Statement, "{error}");
    })
    .expect("the system grants a runtime");
}

/// Builds the work of one transaction with these texts.
fn transaction(texts: &[&str], is_pipelined: bool) -> Work {
    let mut work = Work { is_pipelined, ..Work::default() };
    work.steps.push(Step::Begin);
    for (text, place) in texts.iter().zip(0..) {
        work.values.push_text(|out| out.push_str(text));
        work.steps.push(Step::ExecuteText { text: place });
    }
    work.steps.push(Step::Commit);
    work
}

/// Builds a part of a transaction that inserts these numbers with a prepared statement.
fn part(insert: PreparedId, numbers: [i64; 2], [begins, commits]: [bool; 2]) -> Work {
    let mut work = Work { is_pipelined: true, ..Work::default() };
    work.steps.extend(begins.then_some(Step::Begin));
    for (number, first) in numbers.into_iter().zip(0..) {
        work.values.push(Value::Int(number));
        work.steps.push(Step::Execute { statement: insert, first, count: 1 });
    }
    work.steps.extend(commits.then_some(Step::Commit));
    work
}

/// Expects the parts of a transaction to be stored together or not at all. A batch that is too
/// large for memory is sent in such parts.
#[test]
fn parts_of_a_transaction_are_batched_and_committed_together() {
    run_real(&Options::default(), async |rt| {
        let mut connection = driver().connect(&rt).await.expect("a connection");
        let mut other = driver().connect(&rt).await.expect("a connection");
        let create = "create or replace table in_parts (id int primary key) engine = innodb";
        connection.query_text(create).await.expect("a table");
        let insert = connection.prepare("insert into in_parts values (?)").await;
        let insert = insert.expect("a statement");
        let (first, middle, last) = ([true, false], [false, false], [false, true]);
        // A part of the second transaction fails, and the commit of the third is sent separately.
        for (parts, rows) in [
            (vec![([1, 2], first), ([3, 4], middle), ([5, 6], last)], "6"),
            (vec![([7, 8], first), ([9, 1], middle)], "6"),
            (vec![([7, 8], first)], "8"),
        ] {
            for (numbers, ends) in parts {
                let mut work = part(insert, numbers, ends);
                assert!(connection.is_pipelined_transaction(&work), "{numbers:?}");
                let ended = connection.run(&mut work).await;
                assert_eq!(ended.is_err(), numbers.contains(&9), "{numbers:?}: {ended:?}");
                assert_eq!(work.reply.statements.len(), if ended.is_ok() { 2 } else { 1 });
            }
            let mut end = Work::default();
            end.steps.push(Step::Commit);
            connection.run(&mut end).await.expect("an end");
            let found = other.query_text("select count(*) from in_parts").await.expect("rows");
            assert_eq!(found.single(), Some(rows));
            let mode = connection.query_text("select @@autocommit").await.expect("a mode");
            assert_eq!(mode.single(), Some("1"));
        }
    })
    .expect("the system grants a runtime");
}

/// Expects that a transaction with a failing statement stores nothing, even after a `rollback` in
/// the middle, which stands in for the rollback by the server after a deadlock.
#[test]
fn pipelined_chain_is_executed_completely_or_not_at_all() {
    run_real(&Options::default(), async |rt| {
        let mut connection = driver().connect(&rt).await.expect("a connection");
        let create = "create or replace table chained (id int primary key) engine = innodb";
        connection.query_text(create).await.expect("a table");
        let insert = |id: u32| format!("insert into chained values ({id})");
        let (one, two, three) = (insert(1), insert(2), insert(3));
        let mut whole = transaction(&[&one, &two], true);
        connection.run(&mut whole).await.expect("two rows");
        assert_eq!((whole.reply.rows, whole.reply.statements.len()), (2, 2));
        for broken in [
            &[&*three, &one, "delete from chained"][..],
            &[&three, "rollback", &three, &three, "delete from chained"],
            &["selec 1", "delete from chained"],
        ] {
            let mut work = transaction(broken, true);
            connection.run(&mut work).await.expect_err("a duplicate, or no SQL");
            let table = "select (select count(*) from chained), @@autocommit";
            let mut found = driver().connect(&rt).await.expect("a connection");
            for witness in [&mut found, &mut connection] {
                let rows = witness.query_text(table).await.expect("a number").rows;
                assert_eq!(rows[0], [Some("2".to_owned()), Some("1".to_owned())], "{broken:?}");
            }
        }
        connection.query_text(&three).await.expect("a row that is committed by itself");
        let mut other = driver().connect(&rt).await.expect("a connection");
        let found = other.query_text("select count(*) from chained").await.expect("a number");
        assert_eq!(found.single(), Some("3"));
    })
    .expect("the system grants a runtime");
}

#[test]
fn other_sessions_of_a_user_with_an_at_sign_are_counted() {
    let server = shared(Kind::Mariadb);
    for name in ["at", "at@sign"] {
        let create = format!("create or replace user `{name}`@'%' identified by 'at'");
        server.sql(&create).expect("a user");
    }
    let driver_of = |name: &str| {
        let mut target = server.url();
        if let Endpoint::Network { user, password, database, .. } = &mut target.endpoint {
            *user = Some(name.to_owned());
            *password = Some(Secret::new("at"));
            *database = None;
        }
        Mysql::open(&target, ".").expect("a URL")
    };
    run_real(&Options::default(), async |rt| {
        let (plain, with_sign) = (driver_of("at"), driver_of("at@sign"));
        let _other_user = plain.connect(&rt).await.expect("a connection");
        let _other = with_sign.connect(&rt).await.expect("a connection");
        let mut connection = with_sign.connect(&rt).await.expect("a connection");
        let others = connection.query_text(OTHERS).await.expect("a number");
        assert_eq!(others.single(), Some("1"));
    })
    .expect("the system grants a runtime");
}
