//! Tests of answers that contradict the statement that was sent.

use base::{Class, RowMemory, Rows};
use driver::{Connection, Driver, Error, Step, Work};
use testbed::{Kind, shared};
use wire_mysql::{
    Answers, ColumnDefinition, ColumnType, Field, Negotiated, Prepared, StatementId, Status, WANTED,
};
use wire_postgres::backend::{self, Column};
use wire_postgres::{Format, Oid, TransactionStatus};

use crate::impostor::{ScriptStep, ScriptedServer};
use crate::mariadb::{OFFERED, at, ok, open, welcome};
use crate::{check, in_real_time, postgres, text};

/// Returns a request that executes a statement without values, as a transaction if it is pipelined.
fn execution(statement: driver::PreparedId, is_pipelined: bool) -> Work {
    let mut work = Work { is_pipelined, ..Work::default() };
    work.steps.extend(is_pipelined.then_some(Step::Begin));
    work.steps.push(Step::Execute { statement, first: 0, count: 0 });
    work.steps.extend(is_pipelined.then_some(Step::Commit));
    work
}

/// Returns the description of a column of MySQL.
fn number() -> ColumnDefinition<'static> {
    ColumnDefinition::computed(b"n", ColumnType::LONGLONG, 63)
}

/// Prepares a statement that the server describes with this number of columns, and executes it.
/// `answer` is the server's answer to the execution. Returns the number of rows.
fn answered_by(
    answer: Vec<u8>,
    text: &str,
    columns: u16,
    is_pipelined: bool,
) -> Result<u64, Error> {
    let described = vec![number(); usize::from(columns)];
    let mut prepared = Vec::new();
    Answers::new(&mut prepared, Negotiated::of(OFFERED, WANTED), 1).prepared(
        &Prepared { id: StatementId(1), columns, parameters: 0, warnings: 0 },
        &[],
        &described,
    );
    // In a transaction, the first answer belongs to the command that begins the transaction.
    let answers = if is_pipelined { [ok(1), answer].concat() } else { answer };
    let steps = [ScriptStep::Send(prepared), ScriptStep::Receive, ScriptStep::Send(answers)];
    // The answer to the end of a transaction.
    let end = [ScriptStep::Receive, ScriptStep::Send(ok(1)), ScriptStep::Wait];
    let server = ScriptedServer::new(welcome().into_iter().chain(steps).chain(end).collect());
    in_real_time(async |rt| {
        let mut connection = at(server.port(), "").connect(&rt).await.expect("a session");
        let statement = connection.prepare(text).await.expect("a statement");
        let mut work = execution(statement, is_pipelined);
        connection.run(&mut work).await.map(|()| work.reply.rows)
    })
}

#[test]
fn ok_of_mysql_in_place_of_described_rows_is_a_violation() {
    for is_pipelined in [false, true] {
        for text in ["select n from t", "(select 1)", "show tables"] {
            let error = answered_by(ok(1), text, 1, is_pipelined).expect_err(text);
            let words = ["does not speak MySQL's protocol", "OK in place of the described columns"];
            check(&error, Class::Disconnect, "disconnect", &words);
        }
        for (text, columns) in
            [("call p()", 0), ("select 1 into @a", 0), ("delete from t returning n", 1)]
        {
            assert_eq!(answered_by(ok(1), text, columns, is_pipelined), Ok(0), "{text}");
        }
    }
}

#[test]
fn further_result_of_a_mysql_select_is_a_violation() {
    let mut several = Vec::new();
    let mut answers = Answers::new(&mut several, Negotiated::of(OFFERED, WANTED), 1);
    for status in [Status::AUTOCOMMIT | Status::MORE_RESULTS_EXISTS, Status::AUTOCOMMIT] {
        answers.columns(&[number()], false);
        answers.binary_row([Field::Int(7)]);
        answers.end_of_rows(status, 0);
    }
    for is_pipelined in [false, true] {
        let answered =
            |text: &str, columns| answered_by(several.clone(), text, columns, is_pipelined);
        for text in ["select n from t", "(select 1)", "show tables"] {
            let error = answered(text, 1).expect_err(text);
            let words =
                ["does not speak MySQL's protocol", "further result after the described rows"];
            check(&error, Class::Disconnect, "disconnect", &words);
        }
        assert_eq!(answered("call p()", 0), Ok(2));
    }
}

/// Each statement is executed three times: after the first execution, MariaDB may omit the columns.
#[test]
fn statements_of_mariadb_are_answered_as_described() {
    let driver = open(&shared(Kind::Mariadb).url());
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        for text in [
            "create or replace table described (id int primary key) engine = innodb",
            "create or replace procedure described_rows() begin select 1; select 2; end",
            "create or replace procedure described_ok() begin do 1; end",
        ] {
            connection.query_text(text).await.expect(text);
        }
        for (text, rows) in [
            ("select id from described where false", Some(0)),
            ("select 1 union all select 2 limit 0", Some(0)),
            ("(select 1)", Some(1)),
            ("values (1), (2)", Some(2)),
            ("with a as (select 1) select * from a", Some(1)),
            ("select 1 into @a", None),
            ("select id from described where false into @a", None),
            ("show tables", None),
            ("show warnings", Some(0)),
            ("show create table described", Some(1)),
            ("show table status like 'no such table'", Some(0)),
            ("explain select 1", Some(1)),
            ("analyze select 1", Some(1)),
            ("analyze table described", Some(1)),
            ("check table described", Some(1)),
            ("replace into described values (1) returning id", Some(1)),
            ("insert ignore into described values (1) returning id", Some(0)),
            ("insert into described select 1 from described where false returning id", Some(0)),
            ("delete from described where false returning id", Some(0)),
            ("delete from described where id = 7 returning id", Some(0)),
            ("delete from described where id is null limit 0 returning id", Some(0)),
            ("delete from described returning id", None),
            ("call described_rows()", Some(2)),
            ("call described_ok()", Some(0)),
            ("do 1", Some(0)),
            ("set @a = 1", Some(0)),
            ("update described set id = 2 where false", Some(0)),
        ] {
            let statement = connection.prepare(text).await.expect(text);
            for is_pipelined in [false, true, false] {
                let mut work = execution(statement, is_pipelined);
                let outcome = connection.run(&mut work).await;
                assert_eq!(outcome, Ok(()), "{text}");
                assert!(
                    rows.is_none_or(|rows| rows == work.reply.rows),
                    "{text}: {:?}",
                    work.reply
                );
            }
        }
        // The columns may change after the description.
        let statement = connection.prepare("select * from described").await.expect("a statement");
        for change in ["do 1", "alter table described add n int", "alter table described drop n"] {
            connection.query_text(change).await.expect(change);
            connection.run(&mut execution(statement, false)).await.expect(change);
        }
        connection.close().await;
    });
}

/// Returns a scripted PostgreSQL server that accepts a login and then gives these answers.
fn postgres_with(answers: Vec<Vec<u8>>) -> ScriptedServer {
    let login = [ScriptStep::Receive, ScriptStep::Send(postgres::welcome())];
    let exchange = |answer| [ScriptStep::Receive, ScriptStep::Send(answer)];
    let exchanges = answers.into_iter().flat_map(exchange);
    ScriptedServer::new(login.into_iter().chain(exchanges).chain([ScriptStep::Wait]).collect())
}

/// Appends the message that ends an answer.
fn ready(mut answer: Vec<u8>) -> Vec<u8> {
    backend::ready_for_query(&mut answer, TransactionStatus::Idle);
    answer
}

/// Returns an answer that completes these commands.
fn completing(tags: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for tag in tags {
        backend::command_complete(&mut out, tag).expect("a tag");
    }
    ready(out)
}

#[track_caller]
fn check_violation(error: &Error, why: &str) {
    let words = ["does not speak PostgreSQL's protocol", why];
    check(error, Class::Disconnect, "disconnect", &words);
}

/// Runs a request at a server that gives these answers. Returns the number of rows.
fn outcome(mut work: Work, answers: Vec<Vec<u8>>) -> Result<u64, Error> {
    let server = postgres_with(answers);
    in_real_time(async |rt| {
        let driver = postgres::at(server.port(), "");
        let mut connection = driver.connect(&rt).await.expect("a session");
        connection.run(&mut work).await.map(|()| work.reply.rows)
    })
}

#[test]
fn more_completions_than_statements_of_a_text_are_a_violation() {
    let (insert, twice) = ("insert into t values (1)", completing(&["INSERT 0 1", "INSERT 0 1"]));
    for one in [insert, "insert into t values (1);", "insert into t values (1) ;\n; "] {
        assert_eq!(outcome(text(one), vec![completing(&["INSERT 0 1"])]), Ok(1), "{one}");
        let error = outcome(text(one), vec![twice.clone()]).expect_err(one);
        check_violation(&error, "CommandComplete without a statement");
    }
    for several in
        ["insert into t values (1); insert into t values (1)", "insert into t values (';')"]
    {
        assert_eq!(outcome(text(several), vec![twice.clone()]), Ok(2), "{several}");
    }
    let transaction = || {
        let mut work = text(insert);
        work.steps.insert(0, Step::Begin);
        work.steps.push(Step::Commit);
        work
    };
    let all = [&["BEGIN"][..], &["INSERT 0 1"], &["COMMIT"]];
    assert_eq!(outcome(transaction(), all.map(completing).to_vec()), Ok(1));
    for (place, surplus) in [(0, ["BEGIN"; 2]), (2, ["COMMIT"; 2])] {
        let mut answers = all.map(completing).to_vec();
        answers[place] = completing(&surplus);
        let error = outcome(transaction(), answers).expect_err("a surplus completion");
        check_violation(&error, "CommandComplete without a statement");
    }
    // Statements of setup and of observers.
    let server = postgres_with(vec![twice]);
    let error = in_real_time(async |rt| {
        crate::ask(&postgres::at(server.port(), ""), &rt, insert).await.expect_err("a surplus")
    });
    check_violation(&error, "CommandComplete without a statement");
}

/// Executes a statement that the server describes with one column. `answer` is the answer to its
/// Bind and Execute.
fn executed(answer: &[u8], is_pipelined: bool, capture: Rows) -> Result<u64, Error> {
    let mut described = Vec::new();
    backend::parse_complete(&mut described);
    backend::parameter_description(&mut described, []).expect("no parameters");
    let column = Column {
        name: b"n",
        table: Oid(0),
        number: 0,
        type_oid: Oid::INT4,
        type_size: 4,
        modifier: -1,
        format: Format::Text,
    };
    backend::row_description(&mut described, [column]).expect("a column");
    let link = |tag| {
        let mut out = Vec::new();
        backend::parse_complete(&mut out);
        backend::bind_complete(&mut out);
        backend::command_complete(&mut out, tag).expect("a tag");
        out
    };
    let answer = match is_pipelined {
        false => answer.to_vec(),
        true => [&link("BEGIN")[..], answer, &link("COMMIT")[..]].concat(),
    };
    let server = postgres_with(vec![ready(described), ready(answer)]);
    in_real_time(async |rt| {
        let driver = postgres::at(server.port(), "");
        let mut connection = driver.connect(&rt).await.expect("a session");
        let statement = connection.prepare("select n from t").await.expect("a statement");
        let mut work = Work { capture, ..execution(statement, is_pipelined) };
        connection.run(&mut work).await.map(|()| work.reply.rows)
    })
}

#[test]
fn copy_in_place_of_described_rows_is_a_violation() {
    let mut copy = Vec::new();
    backend::bind_complete(&mut copy);
    backend::copy_out_response(&mut copy, Format::Text, [Format::Text]).expect("a response");
    backend::copy_data(&mut copy, b"1\n").expect("a line");
    backend::copy_done(&mut copy);
    backend::command_complete(&mut copy, "COPY 1").expect("a tag");
    for is_pipelined in [false, true] {
        let error = executed(&copy, is_pipelined, Rows::default()).expect_err("a violation");
        check_violation(&error, "CopyOutResponse to a statement that is no COPY");
    }
}

#[test]
fn number_of_described_rows_that_never_came_is_a_violation() {
    for (tag, is_violation) in [("SELECT 5", true), ("SELECT 0", false)] {
        let mut answer = Vec::new();
        backend::bind_complete(&mut answer);
        backend::command_complete(&mut answer, tag).expect("a tag");
        for is_pipelined in [false, true] {
            match executed(&answer, is_pipelined, Rows::default()) {
                Err(error) if is_violation => {
                    check_violation(&error, "CommandComplete, number of rows");
                }
                outcome => assert_eq!((outcome, is_violation), (Ok(0), false), "{tag}"),
            }
        }
    }
}

/// Only kept rows are checked: the values of other rows are not read.
#[test]
fn kept_row_that_its_values_do_not_fill_is_a_violation() {
    for (value, why) in [
        (&b"\0\0\0\x021"[..], Some("reaches beyond the end of the message")),
        (b"\0\0\0\x0112", Some("goes on after its last field")),
        (b"\0\0\0\x011", None),
    ] {
        let mut answer = Vec::new();
        backend::bind_complete(&mut answer);
        let length = value.len() as u32 + 6;
        answer.extend_from_slice(&[&b"D"[..], &length.to_be_bytes(), b"\0\x01", value].concat());
        backend::command_complete(&mut answer, "SELECT 1").expect("a tag");
        for is_pipelined in [false, true] {
            let kept = executed(&answer, is_pipelined, RowMemory::default().buffer());
            match (kept, why) {
                (Err(error), Some(why)) => check_violation(&error, why),
                (outcome, None) => assert_eq!(outcome, Ok(1)),
                (Ok(_), Some(why)) => panic!("{why}: accepted"),
            }
            assert_eq!(executed(&answer, is_pipelined, Rows::default()), Ok(1));
        }
    }
}
