//! Cases about values sent to a database and read back.

use base::{Class, Dialect, Field, RowMemory, RowPart, Rows, Value};

use super::harness::{COLUMNS, TABLE, count, ensure, execute_with, run_steps, work};
use super::{CaseContext, Finding, StoringFixture, Verdict};
use crate::{Connection, Driver, Step, Work};

/// A value that is sent and expected back.
enum Sent<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
}

impl Sent<'_> {
    /// Returns the column for the value.
    fn column(&self) -> &'static str {
        let [_, number, ratio, words] = COLUMNS;
        match self {
            Sent::Int(_) => number,
            Sent::Real(_) => ratio,
            Sent::Null | Sent::Text(_) => words,
        }
    }

    fn push(&self, work: &mut Work) {
        match *self {
            Sent::Null => work.values.push(Value::Null),
            Sent::Int(number) => work.values.push(Value::Int(number)),
            Sent::Real(number) => work.values.push(Value::Real(number)),
            Sent::Text(text) => work.values.push_text(|buffer| buffer.push_str(text)),
        }
    }

    fn is(&self, found: Option<&str>) -> bool {
        match *self {
            Sent::Null => found.is_none(),
            Sent::Int(number) => found == Some(&number.to_string()),
            Sent::Real(number) => found.and_then(|text| text.parse().ok()) == Some(number),
            Sent::Text(text) => found == Some(text),
        }
    }

    /// Returns the value as text for a message; long texts are shortened.
    fn shown(&self) -> String {
        match self {
            Sent::Null => "NULL".to_owned(),
            Sent::Int(number) => number.to_string(),
            Sent::Real(number) => number.to_string(),
            Sent::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        }
    }
}

/// Checks that values of each type are read back unchanged: also the greatest and smallest ones,
/// and texts that a careless driver would misread.
pub async fn values_round_trip<F: StoringFixture>(context: CaseContext<'_, F>) -> Verdict {
    let megabyte = "0123456789abcdeß".repeat(1 << 16);
    let sent = [
        Sent::Null,
        Sent::Int(0),
        Sent::Int(-1),
        Sent::Int(i64::MIN),
        Sent::Int(i64::MAX),
        Sent::Real(0.1),
        Sent::Real(-1.5e300),
        Sent::Real(f64::MIN_POSITIVE),
        Sent::Real(f64::MAX),
        Sent::Text(""),
        Sent::Text("7"),
        Sent::Text("it's \"quoted\" and `quoted`"),
        Sent::Text("? $1 ; -- /* %s :name @name"),
        Sent::Text("two\nlines\r\nand\ta tab"),
        Sent::Text("a \\ and a \\' and a \\n"),
        Sent::Text("naïve Grüße, 東京, 🚀"),
        Sent::Text(&megabyte),
    ];
    let mut connection = context.with_table().await?;
    for value in &sent {
        let column = value.column();
        let text = format!("update {TABLE} set {column} = ? where id = 1");
        let statement = context.prepare(&mut connection, &text).await?;
        let mut work = Work::default();
        value.push(&mut work);
        work.steps.push(execute_with(statement, 0, 1));
        connection.run(&mut work).await?;
        let query = format!("select {column} from {TABLE} where id = 1");
        let table = connection.query_text(&query).await?;
        ensure!(
            table.rows.len() == 1 && value.is(table.single()),
            "{} does not come back as it went",
            value.shown()
        );
    }
    Ok(())
}

/// Checks that quoted texts are read back unchanged. The values of unprepared requests are quoted
/// by fixed rules; no setting of the session may make the server read them by other rules.
pub async fn literals_round_trip<F: StoringFixture>(context: CaseContext<'_, F>) -> Verdict {
    let ascii: String = (1..128).map(char::from).collect();
    let sent = [
        "it's 'quoted', \"quoted\" and `quoted`",
        "'",
        "''",
        "\\",
        "\\'",
        "ends with \\",
        "\\n, \\0, \\%, \\x41, \\\\",
        "two\nlines\r\nand\ta tab",
        "-- no comment",
        "# no comment",
        "/* no comment",
        "one; two; '; three",
        "? ?? $1 $$ $a$ %s :name @name ${x}",
        &ascii,
        "naïve Grüße, 東京, 🚀, a\u{301}, \u{feff}",
        "  ",
        "",
    ];
    let dialect = context.fixture.driver().dialect();
    let mut connection = context.with_table().await?;
    for (text, is_pipelined) in sent.iter().flat_map(|text| [(text, false), (text, true)]) {
        let literal = between_quotes(text, dialect);
        let update = format!("update {TABLE} set words = {literal} where id = 1");
        let mut work = Work { is_pipelined, ..Work::default() };
        work.values.push_text(|buffer| buffer.push_str(&update));
        work.steps.push(Step::ExecuteText { text: 0 });
        if is_pipelined {
            work.steps.insert(0, Step::Begin);
            work.steps.push(Step::Commit);
        }
        connection.run(&mut work).await?;
        let query = format!("select words, {literal} from {TABLE} where id = 1");
        let table = connection.query_text(&query).await?;
        let expected = vec![Some((*text).to_owned()); 2];
        ensure!(
            table.rows == [expected],
            "{text:?} comes back from its literal as {:?}",
            table.rows
        );
        clear(&mut connection).await?;
    }
    Ok(())
}

/// Returns a text as an SQL literal.
fn between_quotes(text: &str, dialect: Dialect) -> String {
    let text = text.replace('\'', "''");
    match dialect {
        Dialect::Mysql => format!("'{}'", text.replace('\\', "\\\\")),
        Dialect::Postgres | Dialect::Sqlite => format!("'{text}'"),
    }
}

/// Removes the text from the row, because the next round must not find it.
async fn clear(connection: &mut impl Connection) -> Verdict {
    connection.query_text(&format!("update {TABLE} set words = null where id = 1")).await?;
    Ok(())
}

/// Checks that a text of a thousand bytes counts as slightly more than a thousand bytes, in both
/// directions.
pub async fn bytes_are_counted<F: StoringFixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.with_table().await?;
    let write = format!("update {TABLE} set words = ? where id = 1");
    let write = context.prepare(&mut connection, &write).await?;
    let read = format!("select words from {TABLE} where id = 1");
    let read = connection.prepare(&read).await?;
    let text = "x".repeat(1_000);
    let mut work = Work::default();
    work.values.push_text(|buffer| buffer.push_str(&text));
    work.steps.push(execute_with(write, 0, 1));
    connection.run(&mut work).await?;
    let sent = work.reply.bytes_sent;
    let received =
        run_steps(&mut connection, [execute_with(read, 0, 0)]).await?.reply.bytes_received;
    for (direction, bytes) in [("sent", sent), ("received", received)] {
        ensure!(
            (1_000..1_200).contains(&bytes),
            "a text of 1,000 bytes was {direction}, and {bytes} bytes are counted"
        );
    }
    Ok(())
}

/// Checks that rows are captured if they are wanted, including rows of a request or a pipelined
/// transaction that failed later on.
pub async fn requested_rows_are_captured<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let odd = "a,\"b\"\n";
    let insert = format!("insert into {TABLE} values (2, -7, 0.5, '{odd}'), (3, 0, 2.25, '')");
    connection.query_text(&insert).await?;
    let all = connection.prepare(&format!("select * from {TABLE} order by id")).await?;
    let none = connection.prepare(&format!("update {TABLE} set number = 0 where id = 3")).await?;
    let two = connection.prepare(&format!("select id from {TABLE} where id = 2")).await?;
    let bad = connection.prepare(&context.fixture.failing().text).await?;
    let steps = || [all, none, two].map(|statement| execute_with(statement, 0, 0));
    let unasked = run_steps(&mut connection, steps()).await?;
    ensure!(unasked.capture.is_empty(), "rows are captured without being wanted");

    let row = |words: &[&str]| words.iter().map(|word| Some((*word).to_owned())).collect();
    let mut first: Vec<Option<String>> = row(&["1", "0"]);
    first.extend([None, None]);
    let expected: Vec<Vec<Option<String>>> =
        vec![first, row(&["2", "-7", "0.5", odd]), row(&["3", "0", "2.25", ""]), row(&["2"])];
    let failing = || steps().into_iter().chain([execute_with(bad, 0, 0)]);
    let transaction = [Step::Begin].into_iter().chain(failing()).chain([Step::Commit]);
    let pipeline = Work { is_pipelined: true, ..work(transaction, &[]) };
    for mut work in [work(steps(), &[]), work(failing(), &[]), pipeline] {
        work.capture = RowMemory::default().buffer();
        // All requests except the first fail; other cases check their errors.
        let _ = connection.run(&mut work).await;
        let found = captured(&work.capture);
        ensure!(found == expected, "{expected:?} is returned and {found:?} captured");
    }
    Ok(())
}

/// Returns captured rows as text.
fn captured(rows: &Rows) -> Vec<Vec<Option<String>>> {
    let mut all = Vec::new();
    let mut row = Vec::new();
    for part in rows.parts() {
        match part {
            RowPart::End => all.push(std::mem::take(&mut row)),
            RowPart::Field(field) => row.push(match field {
                Field::Null => None,
                Field::Int(number) => Some(number.to_string()),
                Field::Real(number) => Some(number.to_string()),
                Field::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            }),
        }
    }
    all
}

/// Checks that a statement without result rows counts its own changed rows, and not the rows that
/// the previous statement changed.
pub async fn affected_rows_are_counted<F: StoringFixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.with_table().await?;
    for (text, rows) in [
        (format!("insert into {TABLE} (id) values (2), (3), (4)"), 3),
        (format!("update {TABLE} set number = 7 where id > 1"), 3),
        (format!("delete from {TABLE} where id > 100"), 0),
        (format!("delete from {TABLE} where id > 2"), 2),
        (format!("create index by_number on {TABLE} (number)"), 0),
    ] {
        let statement = connection.prepare(&text).await?;
        let found = run_steps(&mut connection, [execute_with(statement, 0, 0)]).await?.reply.rows;
        ensure!(found == rows, "`{text}` changes {rows} rows and {found} are counted");
    }
    Ok(())
}

/// Checks that a wrong number of values in a workload can be detected before the run.
pub async fn placeholders_are_counted_when_prepared<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    for (text, wanted) in [
        (format!("select number from {TABLE}"), 0),
        (format!("select number from {TABLE} where id = ?"), 1),
        (format!("update {TABLE} set number = ?, ratio = ? where id = ?"), 3),
    ] {
        let statement = context.prepare(&mut connection, &text).await?;
        let found = connection.parameters(statement);
        ensure!(
            found == Some(wanted),
            "`{text}` takes {wanted} values and the driver says {found:?}"
        );
    }
    Ok(())
}

/// Checks that missing values are not filled in, and that excess values are not ignored.
pub async fn a_wrong_number_of_values_is_an_error<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let statement = context.prepare_insert(&mut connection).await?;
    for given in [0, 1, 3] {
        let mut work = work([execute_with(statement, 0, given)], &[Value::Int(5); 3]);
        let class = connection.run(&mut work).await.err().map(|e| e.class());
        ensure!(
            class == Some(Class::Statement),
            "a statement with 2 placeholders takes {given} values: {class:?}"
        );
    }
    let rows = count(&mut connection).await?;
    ensure!(rows == "1", "of 3 wrong insertions {rows} took place");
    Ok(())
}

/// Checks that a second statement in a text is refused: it would be executed without being
/// measured, or not at all.
pub async fn two_statements_in_one_text_are_refused<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let text = format!("delete from {TABLE}; delete from {TABLE}");
    let class = connection.prepare(&text).await.err().map(|e| e.class());
    ensure!(class == Some(Class::Statement), "`{text}` is prepared: {class:?}");
    let rows = count(&mut connection).await?;
    ensure!(rows == "1", "preparing has changed the table");
    Ok(())
}

/// Checks that NULL is not a text, and that columns have the names given by the query.
pub async fn a_query_as_text_returns_names_and_values<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let query = format!("select id as one, words as two, 'x y' as three from {TABLE}");
    let table = connection.query_text(&query).await?;
    ensure!(table.columns == ["one", "two", "three"], "the columns are called {:?}", table.columns);
    let row = vec![Some("1".to_owned()), None, Some("x y".to_owned())];
    ensure!(table.rows == [row], "the rows are {:?}", table.rows);
    Ok(())
}

/// Checks that a duplicate key has its own class, and a code that a workload can accept.
pub async fn a_duplicate_key_is_a_violated_constraint<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let insert = context.prepare_insert(&mut connection).await?;
    let mut work = work([execute_with(insert, 0, 2)], &[Value::Int(1); 2]);
    let Err(error) = connection.run(&mut work).await else {
        return Err(Finding::new("a duplicate key is accepted"));
    };
    ensure!(
        error.class() == Class::Constraint && !error.code().as_str().is_empty(),
        "a duplicate key is an error of class {} with code `{}`",
        error.class(),
        error.code()
    );
    Ok(())
}
