//! What is kept of the replies to a request.

use base::{Field as Kept, Rows, Stamp};
use wire_mysql::{
    ColumnDefinition, ColumnKind, ErrPacket, ErrorKind, Field, Prepared, Refusal, ResultEnd, Row,
    Sink, Status, WireError,
};

use super::temporal;
use crate::Error;
use crate::table::TableReader;

/// Longest part of an error's message that is kept, in bytes.
const LONGEST_MESSAGE: usize = 16 << 10;

/// How statements ended.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Rows returned or affected.
    pub(super) rows: u64,
    /// The first error.
    pub(super) error: Option<Box<Refusal>>,
    /// The status of the session, once the server has said it.
    pub(super) status: Option<Status>,
    /// How many warnings the last result has.
    pub(super) warnings: u16,
    /// The name of the file that the server waits for.
    pub(super) file: Option<Vec<u8>>,
    /// Why it did not get it.
    pub(super) file_error: Option<Error>,
}

impl Outcome {
    #[inline]
    pub(super) fn add(&mut self, result: &ResultEnd) {
        self.rows = self.rows.saturating_add(result.rows).saturating_add(result.affected_rows);
        self.status = Some(result.status);
        self.warnings = result.warnings;
    }

    #[cold]
    pub(super) fn fail(&mut self, error: &ErrPacket<'_>) {
        self.error.get_or_insert_with(|| {
            let ErrPacket { code, sqlstate, message } = *error;
            let message = &message[..message.len().min(LONGEST_MESSAGE)];
            Box::new(Refusal { code, sqlstate, message: message.to_vec() })
        });
    }
}

/// The columns of a statement's rows: the server says once what they are.
#[derive(Debug, Default)]
pub(super) struct Columns {
    kinds: Vec<ColumnKind>,
    /// How many digits stand behind the point.
    decimals: Vec<u8>,
    /// Where a date becomes a text.
    text: String,
}

impl Columns {
    pub(super) fn clear(&mut self) {
        self.kinds.clear();
        self.decimals.clear();
    }

    pub(super) fn push(&mut self, column: &ColumnDefinition<'_>) {
        self.kinds.push(column.kind());
        self.decimals.push(column.decimals);
    }

    /// Copies a row into the buffer of returned rows.
    fn keep(&mut self, row: Row<'_>, capture: &mut Rows) -> Result<(), WireError> {
        match row {
            Row::Text(row) => {
                for field in row.fields() {
                    capture.push(field?.map_or(Kept::Null, Kept::Bytes));
                }
            }
            Row::Binary(row) => {
                for (at, field) in row.fields(&self.kinds)?.enumerate() {
                    let (column, decimals) = (self.kinds[at].column_type, self.decimals[at]);
                    let text = &mut self.text;
                    text.clear();
                    capture.push(match field? {
                        Field::Null => Kept::Null,
                        Field::Int(number) => Kept::Int(number),
                        Field::Double(number) => Kept::Real(number),
                        Field::Bytes(bytes) => Kept::Bytes(bytes),
                        Field::Unsigned(number) => match i64::try_from(number) {
                            Ok(number) => Kept::Int(number),
                            Err(_) => shown(&number, text),
                        },
                        // As a double it would have digits that it does not have.
                        Field::Float(number) => shown(&number, text),
                        Field::Temporal(bytes) => {
                            temporal::write(column, decimals, bytes, text);
                            Kept::Bytes(text.as_bytes())
                        }
                    });
                }
            }
        }
        capture.end_row();
        Ok(())
    }
}

fn shown<'t>(number: &impl std::fmt::Display, text: &'t mut String) -> Kept<'t> {
    use std::fmt::Write as _;
    // Writing into a String cannot fail.
    let _ = write!(text, "{number}");
    Kept::Bytes(text.as_bytes())
}

/// What is counted of a measured request, and its rows if they are wanted.
pub(super) struct Answer<'a> {
    /// Where returned rows go.
    pub(super) capture: &'a mut Rows,
    /// Those of the statement.
    pub(super) columns: &'a mut Columns,
    /// Whether the server says once what they are, so that they must be kept.
    pub(super) is_said_once: bool,
    /// How many of them the present result has.
    pub(super) count: u64,
    pub(super) outcome: Outcome,
}

impl Sink for Answer<'_> {
    #[inline]
    fn wants_rows(&self) -> bool {
        self.capture.is_wanted()
    }

    #[inline]
    fn wants_columns(&self) -> bool {
        self.is_said_once || self.capture.is_wanted()
    }

    #[inline]
    fn columns(&mut self, count: u64, is_known: bool) {
        self.count = count;
        if !is_known && self.wants_columns() {
            self.columns.clear();
        }
    }

    fn column(&mut self, column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        self.columns.push(column);
        Ok(())
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), WireError> {
        if self.columns.kinds.len() as u64 != self.count {
            let context = "row of columns that were never told";
            return Err(WireError { kind: ErrorKind::Order, offset: 0, context });
        }
        self.columns.keep(row, self.capture)
    }

    fn too_long(&mut self) {
        self.capture.overflow();
    }

    #[inline]
    fn result(&mut self, result: ResultEnd) {
        self.outcome.add(&result);
    }

    fn error(&mut self, error: &ErrPacket<'_>) {
        self.outcome.fail(error);
    }

    #[cold]
    fn file(&mut self, name: &[u8]) {
        self.outcome.file = Some(name.to_vec());
    }
}

/// What a statement is, as the server describes it, or what it returns as text.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) outcome: Outcome,
    pub(super) prepared: Option<Prepared>,
    pub(super) columns: Columns,
    pub(super) table: TableReader,
}

impl Sink for Whole {
    fn wants_rows(&self) -> bool {
        true
    }

    fn columns(&mut self, _count: u64, _is_known: bool) {
        self.table.clear();
    }

    fn column(&mut self, column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        self.columns.push(column);
        self.table.push_column(column.name);
        Ok(())
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), WireError> {
        match row {
            Row::Text(row) => self.table.push_row(row.fields()),
            Row::Binary(_) => Ok(()),
        }
    }

    fn too_long(&mut self) {
        self.table.cut();
    }

    fn result(&mut self, result: ResultEnd) {
        self.outcome.add(&result);
    }

    fn error(&mut self, error: &ErrPacket<'_>) {
        self.outcome.fail(error);
    }

    fn prepared(&mut self, prepared: Prepared) {
        self.prepared = Some(prepared);
    }

    fn file(&mut self, name: &[u8]) {
        self.outcome.file = Some(name.to_vec());
    }
}

/// A sink with an outcome.
pub(super) trait Ended: Sink {
    /// How the statements ended.
    fn outcome(&mut self) -> &mut Outcome;

    /// Notes when the replies until here were read.
    #[inline]
    fn note_read(&mut self, _at: Stamp) {}
}

impl Ended for Answer<'_> {
    #[inline]
    fn outcome(&mut self) -> &mut Outcome {
        &mut self.outcome
    }
}

impl Ended for Whole {
    fn outcome(&mut self) -> &mut Outcome {
        &mut self.outcome
    }
}
