//! Tests of answers that contradict the statement that was sent.

use base::Class;
use driver::{Connection, Driver, Error, Step, Work};
use testbed::{Kind, shared};
use wire_mysql::{
    Answers, ColumnDefinition, ColumnType, Negotiated, Prepared, StatementId, WANTED,
};

use crate::impostor::{ScriptStep, ScriptedServer};
use crate::mariadb::{OFFERED, at, ok, open, welcome};
use crate::{check, in_real_time};

/// Returns a request that executes a statement without values, as a transaction if it is pipelined.
fn execution(statement: driver::PreparedId, is_pipelined: bool) -> Work {
    let mut work = Work { is_pipelined, ..Work::default() };
    work.steps.extend(is_pipelined.then_some(Step::Begin));
    work.steps.push(Step::Execute { statement, first: 0, count: 0 });
    work.steps.extend(is_pipelined.then_some(Step::Commit));
    work
}

/// Prepares a statement that the server describes with this number of columns, and executes it. The
/// server answers with an OK. Returns the number of rows.
fn answered_by_ok(text: &str, columns: u16, is_pipelined: bool) -> Result<u64, Error> {
    let column = ColumnDefinition {
        schema: b"",
        table: b"",
        original_table: b"",
        name: b"n",
        original_name: b"",
        collation: 63,
        display_width: 20,
        column_type: ColumnType::LONGLONG,
        flags: 0,
        decimals: 0,
    };
    let described = vec![column; usize::from(columns)];
    let mut prepared = Vec::new();
    Answers::new(&mut prepared, Negotiated::of(OFFERED, WANTED), 1).prepared(
        &Prepared { id: StatementId(1), columns, parameters: 0, warnings: 0 },
        &[],
        &described,
    );
    // In a transaction, the first one belongs to the command that begins it.
    let answers = if is_pipelined { [ok(1), ok(1)].concat() } else { ok(1) };
    let steps = [ScriptStep::Send(prepared), ScriptStep::Receive, ScriptStep::Send(answers)];
    // The end of a transaction.
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
            let error = answered_by_ok(text, 1, is_pipelined).expect_err(text);
            let words = ["does not speak MySQL's protocol", "OK in place of the described columns"];
            check(&error, Class::Disconnect, "disconnect", &words);
        }
        for (text, columns) in
            [("call p()", 0), ("select 1 into @a", 0), ("delete from t returning n", 1)]
        {
            assert_eq!(answered_by_ok(text, columns, is_pipelined), Ok(0), "{text}");
        }
    }
}

/// Each statement is executed twice: in the second execution, MariaDB may omit the columns.
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
