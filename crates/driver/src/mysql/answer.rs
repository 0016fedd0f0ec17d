//! Sinks for the replies to a request.

use base::{Field as Kept, RowLimit, Rows, Stamp};
use wire_mysql::{
    ColumnDefinition, ColumnKind, ErrPacket, ErrorKind, Field, Prepared, Refusal, ResultEnd, Row,
    Sink, Status, WireError,
};

use super::temporal;
use crate::Error;
use crate::table::TableReader;

/// Maximum length of an error message, in bytes; the rest is cut.
const LONGEST_MESSAGE: usize = 4 << 10;

/// The outcome of statements.
#[derive(Debug, Default)]
pub(super) struct StatementOutcome {
    /// Number of rows returned or affected.
    pub(super) rows: u64,
    /// The first error.
    pub(super) error: Option<Box<Refusal>>,
    /// The session's status, once the server has sent it.
    pub(super) status: Option<Status>,
    /// Number of warnings of the last result.
    pub(super) warnings: u16,
    /// Name of the file that the server is waiting for.
    pub(super) file: Option<Vec<u8>>,
    /// The reason why the file was not sent.
    pub(super) file_error: Option<Error>,
}

impl StatementOutcome {
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
            let mut kept = message[..message.len().min(LONGEST_MESSAGE)].to_vec();
            if kept.len() < message.len() {
                kept.extend_from_slice("…".as_bytes());
            }
            Box::new(Refusal { code, sqlstate, message: kept })
        });
    }
}

/// The columns of a statement's rows, kept because the server may send them only once.
#[derive(Debug, Default)]
pub(super) struct Columns {
    kinds: Vec<ColumnKind>,
    /// Number of digits after the decimal point, per column.
    decimals: Vec<u8>,
    /// Buffer in which a value is formatted as text.
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
    fn copy_row(&mut self, row: Row<'_>, capture: &mut Rows) -> Result<(), WireError> {
        match row {
            Row::Text(row) => {
                for field in row.fields(self.kinds.len() as u64) {
                    capture.push(field?.map_or(Kept::Null, Kept::Bytes));
                }
            }
            Row::Binary(row) => {
                for (at, field) in row.fields(&self.kinds)?.enumerate() {
                    // The last item is an error if bytes remain after the last column.
                    let field = field?;
                    let (column, decimals) = (self.kinds[at].column_type, self.decimals[at]);
                    let text = &mut self.text;
                    text.clear();
                    capture.push(match field {
                        Field::Null => Kept::Null,
                        Field::Int(number) => Kept::Int(number),
                        Field::Double(number) => Kept::Real(number),
                        Field::Bytes(bytes) => Kept::Bytes(bytes),
                        Field::Unsigned(number) => match i64::try_from(number) {
                            Ok(number) => Kept::Int(number),
                            Err(_) => shown(format_args!("{number}"), text),
                        },
                        // A conversion to a double would add digits. `Debug` writes a float as a
                        // double is written: `2.0` and `1e30`.
                        Field::Float(number) => shown(format_args!("{number:?}"), text),
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

fn shown<'t>(number: std::fmt::Arguments<'_>, text: &'t mut String) -> Kept<'t> {
    use std::fmt::Write as _;
    // Writing into a String cannot fail.
    let _ = text.write_fmt(number);
    Kept::Bytes(text.as_bytes())
}

/// The counts of a measured request, and its rows if they are wanted.
pub(super) struct Answer<'a> {
    /// Buffer of returned rows.
    pub(super) capture: &'a mut Rows,
    /// Columns of the current statement.
    pub(super) columns: &'a mut Columns,
    /// True if the server sends the columns only once, so they must be kept.
    pub(super) are_columns_sent_once: bool,
    /// Number of columns of the current result.
    pub(super) count: u64,
    pub(super) outcome: StatementOutcome,
}

impl Sink for Answer<'_> {
    #[inline]
    fn wants_rows(&self) -> bool {
        self.capture.is_wanted()
    }

    #[inline]
    fn wants_columns(&self) -> bool {
        self.are_columns_sent_once || self.capture.is_wanted()
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
            let context = "row of columns that were never described";
            return Err(WireError { kind: ErrorKind::Order, offset: 0, context });
        }
        self.columns.copy_row(row, self.capture)
    }

    fn can_hold(&mut self, length: usize) -> bool {
        self.capture.may_hold_row(length)
    }

    fn too_long(&mut self) {
        self.capture.set_overflow(RowLimit::Request);
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

/// The complete reply to a command other than a statement of a request: the description of a
/// statement, or a result as text.
#[derive(Debug, Default)]
pub(super) struct FullReply {
    pub(super) outcome: StatementOutcome,
    pub(super) prepared: Option<Prepared>,
    pub(super) columns: Columns,
    /// Number of columns of the current result.
    count: u64,
    pub(super) table: TableReader,
}

impl FullReply {
    /// Creates an empty reply whose rows are held by `table`.
    pub(super) fn read_by(table: TableReader) -> FullReply {
        FullReply { table, ..FullReply::default() }
    }
}

impl Sink for FullReply {
    fn wants_rows(&self) -> bool {
        true
    }

    fn columns(&mut self, count: u64, _is_known: bool) {
        self.count = count;
        self.columns.clear();
        self.table.clear();
    }

    fn column(&mut self, column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        self.columns.push(column);
        self.table.push_column(column.name);
        Ok(())
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), WireError> {
        match row {
            Row::Text(row) => self.table.push_row(row.fields(self.count)),
            Row::Binary(_) => Ok(()),
        }
    }

    fn can_hold(&mut self, length: usize) -> bool {
        self.table.can_hold(length)
    }

    fn too_long(&mut self) {
        self.table.mark_cut();
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
pub(super) trait OutcomeSink: Sink {
    /// Returns the outcome of the statements.
    fn outcome(&mut self) -> &mut StatementOutcome;

    /// Takes note of the time at which the replies so far were read; by default, does nothing.
    #[inline]
    fn note_read(&mut self, _at: Stamp) {}
}

impl OutcomeSink for Answer<'_> {
    #[inline]
    fn outcome(&mut self) -> &mut StatementOutcome {
        &mut self.outcome
    }
}

impl OutcomeSink for FullReply {
    fn outcome(&mut self) -> &mut StatementOutcome {
        &mut self.outcome
    }
}

#[cfg(test)]
mod tests {
    use base::{RowMemory, RowPart};
    use wire_mysql::{BinaryRow, ColumnType};

    use super::*;

    const NUMBER: ColumnDefinition<'_> = ColumnDefinition {
        schema: b"",
        table: b"",
        original_table: b"",
        name: b"n",
        original_name: b"n",
        collation: 63,
        display_width: 20,
        column_type: ColumnType::LONGLONG,
        flags: 0,
        decimals: 0,
    };

    #[test]
    fn binary_row_that_is_longer_or_shorter_than_its_columns_is_an_error() {
        let mut columns = Columns::default();
        columns.push(&NUMBER);
        let mut kept = |length: usize| {
            let row = BinaryRow(&[0; 20][..length]);
            columns
                .copy_row(Row::Binary(row), &mut RowMemory::default().buffer())
                .map_err(|error| error.kind)
        };
        assert_eq!(kept(10), Ok(()));
        assert_eq!(kept(11), Err(ErrorKind::Trailing));
        assert_eq!(kept(9), Err(ErrorKind::Truncated));
    }

    /// Expects single-precision numbers in the form of double-precision ones, with fewer digits.
    #[test]
    fn floats_are_written_as_reals_and_large_integers_without_a_point() {
        let written = |column_type: ColumnType, flags: u16, value: Field<'_>| {
            let mut columns = Columns::default();
            columns.push(&ColumnDefinition { column_type, flags, ..NUMBER });
            let (mut row, mut kept) = (Vec::new(), RowMemory::default().buffer());
            BinaryRow::encode(&mut row, [value]);
            columns.copy_row(Row::Binary(BinaryRow(&row)), &mut kept).expect("a row");
            let first = kept.parts().next();
            match first {
                Some(RowPart::Field(Kept::Bytes(text))) => {
                    String::from_utf8_lossy(text).into_owned()
                }
                other => format!("{other:?}"),
            }
        };
        let float = |number: f32| written(ColumnType::FLOAT, 0, Field::Float(number));
        let floats = [2.0, 0.1, -0.0, 1e30, 16_777_216.0, 1.5e-9].map(float);
        assert_eq!(floats, ["2.0", "0.1", "-0.0", "1e30", "16777216.0", "1.5e-9"]);
        let largest = Field::Unsigned(u64::MAX);
        let unsigned = ColumnDefinition::UNSIGNED;
        assert_eq!(written(ColumnType::LONGLONG, unsigned, largest), "18446744073709551615");
    }

    /// Checks that columns do not accumulate, because a reply of many results would then need
    /// unlimited memory.
    #[test]
    fn only_the_columns_of_the_last_result_are_kept() {
        let mut reply = FullReply::default();
        for _ in 0..100 {
            reply.columns(1, false);
            reply.column(&NUMBER).expect("a column");
        }
        assert_eq!(reply.columns.kinds.len(), 1);
        assert_eq!(reply.table.into_table().columns, ["n"]);
    }
}
