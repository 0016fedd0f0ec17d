//! Cases about loading rows, with every method that a database has.

use base::{Class, Dialect, Value, Values};

use super::harness::{COLUMNS, TABLE, ensure, number};
use super::{CaseContext, Finding, StoringFixture, Verdict};
use crate::{Batches, Connection, Driver, Duplicates, Insert, Method};

const METHODS: [Method; 4] = [Method::Auto, Method::Insert, Method::Copy, Method::LoadData];

/// Batches of rows with ascending ids.
struct Rows {
    /// Numbers of rows of the remaining batches, last batch first.
    sizes: Vec<u64>,
    /// Next id.
    next: i64,
    /// Number of rows left in the current batch.
    left: u64,
    number: i64,
    /// Number of rows and of bytes sent, for each committed batch.
    committed: Vec<(u64, u64)>,
}

impl Rows {
    /// Creates batches of these sizes, with ids from `first` on and `number` in each row.
    fn new(sizes: &[u64], first: i64, number: i64) -> Rows {
        let sizes = sizes.iter().rev().copied().collect();
        Rows { sizes, next: first, left: 0, number, committed: Vec::new() }
    }
}

/// A text with the characters that each method must escape.
const TEXT_TO_ESCAPE: &str = "tab\tline\nback\\slash \\N 'quote' \"double\", naïve 東京";

impl Batches for Rows {
    fn next_batch(&mut self) -> bool {
        self.left = self.sizes.last().copied().unwrap_or(0);
        self.sizes.pop().is_some()
    }

    fn next_row(&mut self, values: &mut Values) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        values.push(Value::Int(self.next));
        values.push(Value::Int(self.number));
        values.push(if self.next % 2 == 0 { Value::Null } else { Value::Real(0.25) });
        values.push_text(|buffer| buffer.push_str(TEXT_TO_ESCAPE));
        self.next += 1;
        true
    }

    fn committed(&mut self, rows: u64, bytes: u64) {
        self.committed.push((rows, bytes));
    }

    fn is_ascii(&self) -> bool {
        TEXT_TO_ESCAPE.is_ascii()
    }
}

fn into(duplicates: Duplicates) -> Insert<'static> {
    Insert { table: TABLE, columns: &COLUMNS, duplicates }
}

/// Checks that batches of all sizes are written completely, that texts are unchanged, and that each
/// commit is reported.
pub async fn every_load_method_writes_every_row<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let driver = context.fixture.driver();
    let mut connection = context.with_table().await?;
    let into = into(Duplicates::Fail);
    let ways = METHODS.into_iter().filter(|method| driver.check_load(&into, *method).is_ok());
    for (method, first) in ways.zip((0..).map(|way| 10 + way * 10_000)) {
        let word = method.word();
        let mut rows = Rows::new(&[1, 2_500, 0, 107], first, 5);
        connection.load(&into, method, &mut rows).await?;
        let query = format!(
            "select count(*), sum(id), count(ratio), sum(ratio) from {TABLE} \
             where id >= {first} and number = 5"
        );
        let table = connection.query_text(&query).await?;
        let found: Vec<f64> =
            table.rows.concat().into_iter().flatten().flat_map(|v| v.parse()).collect();
        let last = first + 2_607;
        let halves = ((first + 1)..=last).filter(|id| id % 2 != 0).count() as f64;
        let ids: i64 = (first..=last).sum();
        let expected = [2_608.0, ids as f64, halves, halves * 0.25];
        ensure!(found == expected, "loading by `{word}` gives {found:?} instead of {expected:?}");
        let words = connection
            .query_text(&format!("select distinct words from {TABLE} where id >= {first}"))
            .await?;
        ensure!(
            words.single() == Some(TEXT_TO_ESCAPE) && words.rows.len() == 1,
            "loading by `{word}` turns {TEXT_TO_ESCAPE:?} into {:?}",
            words.rows
        );
        let (counts, bytes): (Vec<u64>, Vec<u64>) = rows.committed.into_iter().unzip();
        ensure!(counts == [1, 2_500, 0, 107], "loading by `{word}` commits {counts:?} rows");
        ensure!(
            bytes[1] > bytes[3] && bytes[3] > bytes[0],
            "loading by `{word}` 1, 2,500, 0 and 107 rows sends {bytes:?} bytes"
        );
    }
    Ok(())
}

/// Checks that column names may contain placeholders.
pub async fn a_load_fills_columns_of_any_name<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let driver = context.fixture.driver();
    let mut connection = context.connect().await?;
    let names = ["a?b", "?", "$1", "words"].map(|name| match driver.dialect() {
        Dialect::Mysql => format!("`{name}`"),
        Dialect::Postgres | Dialect::Sqlite => format!("\"{name}\""),
    });
    let columns = names.each_ref().map(String::as_str);
    let kinds = {
        let CaseContext { fixture, .. } = &context;
        [fixture.integer(), fixture.integer(), fixture.real(), fixture.text()]
    };
    let described: Vec<String> =
        names.iter().zip(kinds).map(|(name, kind)| format!("{name} {kind}")).collect();
    connection.query_text(&format!("create table odd_names ({})", described.join(", "))).await?;
    let into = Insert { table: "odd_names", columns: &columns, duplicates: Duplicates::Fail };
    let sums = format!("select count(*), sum({}), sum({}) from odd_names", names[0], names[1]);
    for method in METHODS {
        if driver.check_load(&into, method).is_err() {
            continue;
        }
        // More rows than a multi-row insert holds, and a remainder.
        connection.load(&into, method, &mut Rows::new(&[213, 37], 1, 5)).await?;
        let table = connection.query_text(&sums).await?;
        let found: Vec<f64> =
            table.rows.concat().into_iter().flatten().flat_map(|v| v.parse()).collect();
        let expected = [250.0, 31_375.0, 1_250.0];
        let word = method.word();
        ensure!(found == expected, "loading by `{word}` gives {found:?} instead of {expected:?}");
        connection.query_text("delete from odd_names").await?;
    }
    Ok(())
}

/// Checks that a duplicate key makes the load fail, skips the row, or replaces the existing row.
pub async fn a_load_treats_duplicates_as_requested<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let driver = context.fixture.driver();
    let mut connection = context.with_table().await?;
    for method in METHODS {
        for (duplicates, succeeds, after) in [
            (Duplicates::Fail, false, "0"),
            (Duplicates::Ignore, true, "0"),
            (Duplicates::Replace, true, "9"),
        ] {
            let into = into(duplicates);
            if driver.check_load(&into, method).is_err() {
                continue;
            }
            connection.query_text(&format!("delete from {TABLE} where id <> 1")).await?;
            connection.query_text(&format!("update {TABLE} set number = 0")).await?;
            let outcome = connection.load(&into, method, &mut Rows::new(&[2], 1, 9)).await;
            let found = number(&mut connection, 1).await?;
            let beside = number(&mut connection, 2).await?;
            ensure!(
                outcome.is_ok() == succeeds && found.as_deref() == Some(after),
                "after a load by `{}` of a duplicate to be treated as {duplicates:?}, which ended \
                 as {outcome:?}, the row holds {found:?}",
                method.word()
            );
            ensure!(
                beside.is_some() == succeeds,
                "a batch that ended as {outcome:?} leaves its other row as {beside:?}"
            );
        }
    }
    Ok(())
}

/// Checks that a missing table is reported by the database, and that the connection stays usable.
pub async fn refused_load_leaves_connection_usable<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let driver = context.fixture.driver();
    let mut connection = context.with_table().await?;
    let into = Insert { table: "no_such_table", ..into(Duplicates::Fail) };
    for method in METHODS {
        if driver.check_load(&into, method).is_err() {
            continue;
        }
        let outcome = connection.load(&into, method, &mut Rows::new(&[3], 1, 9)).await;
        ensure!(
            outcome.as_ref().is_err_and(|error| error.message().contains("no_such_table")),
            "loading by `{}` into a table that is not there ends as {outcome:?}",
            method.word()
        );
        let number = number(&mut connection, 1).await?;
        ensure!(number.as_deref() == Some("0"), "after it a query returns {number:?}");
    }
    Ok(())
}

/// Checks a load whose second batch of three fails: the first batch is stored and was reported,
/// nothing of the other batches is stored, and the connection stays usable.
pub async fn a_load_keeps_the_batches_before_one_that_fails<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let driver = context.fixture.driver();
    let mut connection = context.with_table().await?;
    let into = into(Duplicates::Fail);
    for method in METHODS {
        if driver.check_load(&into, method).is_err() {
            continue;
        }
        let word = method.word();
        connection.query_text(&format!("delete from {TABLE} where id >= 10")).await?;
        // The second batch has the ids from 1,010 to 3,009, more rows than are sent at once.
        let taken = format!("insert into {TABLE} (id, number) values (3009, 7)");
        connection.query_text(&taken).await?;
        let mut rows = Rows::new(&[1_000, 2_000, 5], 10, 9);
        let outcome = connection.load(&into, method, &mut rows).await;
        ensure!(
            outcome.as_ref().is_err_and(|error| error.class() == Class::Constraint),
            "loading by `{word}` what is there ends as {outcome:?}"
        );
        let reported: Vec<u64> = rows.committed.iter().map(|(rows, _)| *rows).collect();
        ensure!(
            reported == [1_000],
            "the batches by `{word}` before one that fails are reported as {reported:?}"
        );
        let query = format!("select count(*), max(id) from {TABLE} where id >= 10 and number = 9");
        let table = connection.query_text(&query).await?;
        let found: Vec<Option<String>> = table.rows.concat();
        ensure!(
            found == [Some("1000".to_owned()), Some("1009".to_owned())],
            "of the batches by `{word}` before and after one that fails {found:?} are left"
        );
    }
    Ok(())
}
