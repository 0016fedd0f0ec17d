//! Loading rows into a table.
//!
//! A loading connection takes [batches](Batches) of rows until none is left, and writes each in a
//! transaction of its own. Values are generated while they are sent, so a batch may be larger than
//! memory.

use base::{Class, Code, Placeholders, Values};

use crate::error::Error;

/// Size of the pieces in which a stream of rows is generated and sent, in bytes.
pub(crate) const PIECE: usize = 64 << 10;

/// Maximum number of values of a multi-row insert; protocols count them with 16 bits.
const MOST_VALUES: usize = 4_000;

/// Maximum number of rows of an insert; more rows are not faster.
const MOST_ROWS: usize = 100;

/// Destination of loaded rows, and the treatment of duplicates.
#[derive(Clone, Copy, Debug)]
pub struct Insert<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns in order.
    pub columns: &'a [&'a str],
    /// Treatment of a row whose key exists.
    pub duplicates: Duplicates,
}

/// Treatment of a row whose key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// The load fails.
    Fail,
    /// The new row is skipped.
    Ignore,
    /// The new row replaces the existing one.
    Replace,
}

/// Method of loading rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The fastest method that the database offers for these rows.
    Auto,
    /// `INSERT`, with many rows per statement where this is faster.
    Insert,
    /// PostgreSQL's `COPY`.
    Copy,
    /// MySQL's `LOAD DATA LOCAL INFILE`.
    LoadData,
}

/// Builds the error for a COPY or LOAD DATA whose number of rows `stored` differs from the number
/// `sent`. Triggers of some databases skip rows, or store them elsewhere.
#[cold]
pub(crate) fn row_count_mismatch(statement: &str, stored: u64, sent: u64) -> Error {
    let words = format!(
        "the server stored {stored} of the {sent} rows of a {statement}; if a trigger of the table \
         omits or moves rows, `method = insert` loads without counting them"
    );
    Error::new(Class::Statement, Code::ROWS, words)
}

/// The parts of an insert that differ between databases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InsertSyntax<'a> {
    pub(crate) verb: &'a str,
    /// Text after the values.
    pub(crate) after: &'a str,
    pub(crate) placeholders: Placeholders,
}

impl InsertSyntax<'_> {
    /// The insert syntax of the databases that write placeholders as `?`.
    pub(crate) const PLAIN: InsertSyntax<'static> =
        InsertSyntax { verb: "insert", after: "", placeholders: Placeholders::Question };
}

impl Method {
    /// Returns the word for the method in a workload file.
    pub fn word(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Insert => "insert",
            Method::Copy => "copy",
            Method::LoadData => "load-data",
        }
    }
}

/// A source of rows, in batches.
pub trait Batches {
    /// Begins the next batch; returns false if there is none.
    fn next_batch(&mut self) -> bool;

    /// Appends the values of the batch's next row; returns false at the end of the batch.
    fn next_row(&mut self, values: &mut Values) -> bool;

    /// Records that a batch of `rows` rows, sent in `bytes` bytes, is committed.
    ///
    /// The next batch may already have begun.
    fn committed(&mut self, rows: u64, bytes: u64);

    /// Returns true if all texts are ASCII: their bytes are then the same in most character sets.
    fn is_ascii(&self) -> bool;

    /// Records that [`Method::Auto`] falls back to inserts because the server does not allow the
    /// faster method. The error holds the reason and, if there is one, the remedy.
    fn falls_back(&mut self, _why: &Error) {}
}

/// Batches whose first batch has begun without having returned a row.
pub(crate) struct StartedBatches<'a, B> {
    batches: &'a mut B,
    is_first: bool,
}

impl<'a, B: Batches> StartedBatches<'a, B> {
    pub(crate) fn new(batches: &'a mut B) -> StartedBatches<'a, B> {
        StartedBatches { batches, is_first: true }
    }
}

impl<B: Batches> Batches for StartedBatches<'_, B> {
    fn next_batch(&mut self) -> bool {
        std::mem::take(&mut self.is_first) || self.batches.next_batch()
    }

    fn next_row(&mut self, values: &mut Values) -> bool {
        self.batches.next_row(values)
    }

    fn committed(&mut self, rows: u64, bytes: u64) {
        self.batches.committed(rows, bytes);
    }

    fn is_ascii(&self) -> bool {
        self.batches.is_ascii()
    }
}

impl Insert<'_> {
    /// Returns the number of rows of a multi-row insert.
    pub(crate) fn rows_at_once(&self) -> usize {
        (MOST_VALUES / self.columns.len().max(1)).clamp(1, MOST_ROWS)
    }

    /// Returns the text of an insert of `rows` rows with a placeholder for each value, in the
    /// syntax of a database.
    pub(crate) fn text(&self, syntax: InsertSyntax<'_>, rows: usize) -> String {
        let InsertSyntax { verb, after, placeholders } = syntax;
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
        text + ")" + after
    }
}

/// Builds the error for a method that a database does not have.
pub(crate) fn unsupported_method(kind: &str, method: Method) -> Error {
    let words = format!("{kind} has no method `{}`: write `method = auto`", method.word());
    Error::new(Class::Statement, Code::new("method"), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_has_a_placeholder_for_each_value_of_each_row() {
        let into = Insert { table: "t", columns: &["a", "b"], duplicates: Duplicates::Fail };
        assert_eq!(into.text(InsertSyntax::PLAIN, 1), "insert into t (a, b) values (?, ?)");
        let numbered = InsertSyntax {
            after: " on conflict do nothing",
            placeholders: Placeholders::Dollar,
            ..InsertSyntax::PLAIN
        };
        assert_eq!(
            into.text(numbered, 2),
            "insert into t (a, b) values ($1, $2), ($3, $4) on conflict do nothing"
        );
        let odd = Insert { columns: &["\"a?b\""], ..into };
        assert_eq!(odd.text(numbered, 1).matches('$').count(), 1);
    }
}
