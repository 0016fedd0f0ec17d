//! The receiver of the contents of replies.

use crate::answer::{ErrPacket, Status};
use crate::column::ColumnDefinition;
use crate::error::WireError;
use crate::prepared::Prepared;
use crate::row::Row;

/// The end of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultEnd {
    /// Number of rows returned.
    pub rows: u64,
    /// Number of rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The first `AUTO_INCREMENT` value that the statement generated.
    pub last_insert_id: u64,
    /// The status of the session.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
}

/// A receiver of the contents of replies. Borrowed arguments are valid only during the call.
pub trait Sink {
    /// Returns true if rows and columns are wanted; otherwise they are skipped. Called for each row
    /// and column, so an implementation should return a constant or a field. The result must not
    /// change within a reply.
    #[inline]
    fn wants_rows(&self) -> bool {
        false
    }

    /// Returns true if the definitions of columns are wanted even if the rows are not. A receiver
    /// that may want the rows of a later execution needs the definitions, because the server may
    /// omit them from that execution. Called as often as [`wants_rows`](Sink::wants_rows).
    #[inline]
    fn wants_columns(&self) -> bool {
        self.wants_rows()
    }

    /// Called at the beginning of a result with this number of columns. The definitions of the
    /// columns follow, unless `is_known` is true: then the server has omitted them, because it sent
    /// the same definitions for this statement before.
    #[inline]
    fn columns(&mut self, _count: u64, _is_known: bool) {}

    /// Called with the next column definition: of a result whose columns are wanted, or of a
    /// prepared statement.
    ///
    /// # Errors
    /// Any error of the receiver. Reading then ends.
    #[inline]
    fn column(&mut self, _column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        Ok(())
    }

    /// Called with the next row.
    ///
    /// # Errors
    /// Any error of the receiver. Reading then ends.
    #[inline]
    fn row(&mut self, _row: Row<'_>) -> Result<(), WireError> {
        Ok(())
    }

    /// Returns true if a wanted row of `length` bytes may be buffered until it is complete. If not,
    /// the row is skipped like a row that is [too long](Sink::too_long).
    #[inline]
    fn can_hold(&mut self, _length: usize) -> bool {
        true
    }

    /// Called instead of [`row`](Sink::row) if a wanted row exceeds one packet, or cannot be
    /// [held](Sink::can_hold). The row is counted and skipped.
    #[inline]
    fn too_long(&mut self) {}

    /// Called at the end of a result.
    fn result(&mut self, result: ResultEnd);

    /// Called with an error from the server, which ends the reply. A message of more than about 5
    /// KiB is cut.
    fn error(&mut self, error: &ErrPacket<'_>);

    /// Called when a statement was prepared.
    #[inline]
    fn prepared(&mut self, _prepared: Prepared) {}

    /// Called with the name of a file whose contents the server requests. Reading pauses: see
    /// [`Replies::wanted_file`](crate::Replies::wanted_file).
    #[inline]
    fn file(&mut self, _name: &[u8]) {}

    /// Called at the end of the reply to one command.
    #[inline]
    fn end(&mut self) {}
}
