//! How do rows get into a table?
//!
//! A writer of a load takes [batches](Batches) of rows until there are none, and writes each in a
//! transaction of its own. Values are made while they are sent: nothing is kept but one batch.

use base::{Class, Code, Placeholders, Values};

use crate::{Connection, Error, StatementId, Step, Work};

/// How many bytes of a stream of rows are made and sent at once.
pub(crate) const PIECE: usize = 64 << 10;

/// How many values an insert of many rows may take; protocols count them with 16 bits.
const MOST_VALUES: usize = 4_000;

/// How many rows an insert has at most: more of them gain nothing.
const MOST_ROWS: usize = 100;

/// Where rows go.
#[derive(Clone, Copy, Debug)]
pub struct Insert<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns in order.
    pub columns: &'a [&'a str],
    /// What happens to a row whose key exists.
    pub duplicates: Duplicates,
}

/// What happens to a row whose key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// The load fails.
    Fail,
    /// The row is left out.
    Ignore,
    /// The row replaces the other.
    Replace,
}

/// The way in which rows travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The fastest that the database has for these rows.
    Auto,
    /// `INSERT`, of many rows at once where the database gains by it.
    Insert,
    /// PostgreSQL's `COPY`.
    Copy,
    /// MySQL's `LOAD DATA LOCAL INFILE`.
    LoadData,
}

/// The words of an insert that are a database's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InsertWords<'a> {
    pub(crate) verb: &'a str,
    /// Behind the values.
    pub(crate) behind: &'a str,
    pub(crate) placeholders: Placeholders,
}

impl InsertWords<'_> {
    /// Those that databases share which write `?`.
    pub(crate) const PLAIN: InsertWords<'static> =
        InsertWords { verb: "insert", behind: "", placeholders: Placeholders::Question };
}

impl Method {
    /// The word for it in a workload file.
    pub fn word(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Insert => "insert",
            Method::Copy => "copy",
            Method::LoadData => "load-data",
        }
    }
}

/// Where a writer gets its rows.
pub trait Batches {
    /// Begins the next batch; false if there is none.
    fn next_batch(&mut self) -> bool;

    /// Appends the values of the batch's next row; false if it has no further one.
    fn next_row(&mut self, values: &mut Values) -> bool;

    /// A batch of so many rows is committed, for which so many bytes were sent.
    ///
    /// The next may have begun before.
    fn committed(&mut self, rows: u64, bytes: u64);

    /// Whether all texts are of ASCII only: their bytes are then the same in most character sets.
    fn is_ascii(&self) -> bool;
}

impl Insert<'_> {
    /// How many rows an insert of many has.
    pub(crate) fn rows_at_once(&self) -> usize {
        (MOST_VALUES / self.columns.len().max(1)).clamp(1, MOST_ROWS)
    }

    /// A text that inserts so many rows, with a placeholder for each value: `verb` and the words
    /// behind the values are the database's own.
    pub(crate) fn text(&self, words: InsertWords<'_>, rows: usize) -> String {
        let InsertWords { verb, behind, placeholders } = words;
        let columns = self.columns.len();
        let mut text = format!("{verb} into {} ({}) values ", self.table, self.columns.join(", "));
        for place in 0..rows * columns {
            text.push_str(match (place, place % columns) {
                (0, _) => "(",
                (_, 0) => "), (",
                _ => ", ",
            });
            placeholders.write(place + 1, &mut text);
        }
        text + ")" + behind
    }
}

/// A method that a database does not have.
pub(crate) fn no_method(kind: &str, method: Method) -> Error {
    let words = format!("{kind} has no method `{}`: write `method = auto`", method.word());
    Error::new(Class::Statement, Code::new("method"), words)
}

/// Writes all batches by inserts of `at_once` rows, and of one row where fewer are left. `text` is
/// the statement for so many rows.
pub(crate) async fn insert_rows<C: Connection>(
    connection: &mut C,
    columns: usize,
    at_once: usize,
    text: impl Fn(usize) -> String,
    batches: &mut impl Batches,
) -> Result<(), Error> {
    let one = connection.prepare(&text(1)).await?;
    let many = match at_once {
        0 | 1 => one,
        _ => connection.prepare(&text(at_once)).await?,
    };
    let mut work = Work { is_pipelined: true, ..Work::default() };
    while batches.next_batch() {
        work.values.clear();
        work.reply.reset();
        let mut rows = 0;
        while batches.next_row(&mut work.values) {
            rows += 1;
        }
        work.steps.clear();
        work.steps.push(Step::Begin);
        let whole = rows / at_once.max(1);
        let execute = |statement: StatementId, first: usize, rows: usize| Step::Execute {
            statement,
            first: (first * columns) as u32,
            count: (rows * columns) as u32,
        };
        work.steps.extend((0..whole).map(|chunk| execute(many, chunk * at_once, at_once)));
        work.steps.extend((whole * at_once..rows).map(|row| execute(one, row, 1)));
        work.steps.push(Step::Commit);
        connection.run(&mut work).await?;
        batches.committed(rows as u64, work.reply.bytes_sent);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_place_for_each_value_of_each_row() {
        let into = Insert { table: "t", columns: &["a", "b"], duplicates: Duplicates::Fail };
        assert_eq!(into.text(InsertWords::PLAIN, 1), "insert into t (a, b) values (?, ?)");
        let numbered = InsertWords {
            behind: " on conflict do nothing",
            placeholders: Placeholders::Dollar,
            ..InsertWords::PLAIN
        };
        assert_eq!(
            into.text(numbered, 2),
            "insert into t (a, b) values ($1, $2), ($3, $4) on conflict do nothing"
        );
        let odd = Insert { columns: &["\"a?b\""], ..into };
        assert_eq!(odd.text(numbered, 1).matches('$').count(), 1);
    }
}
