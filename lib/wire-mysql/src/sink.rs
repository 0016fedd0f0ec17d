//! Who hears what the replies say.

use crate::answer::{ErrPacket, Status};
use crate::column::ColumnDefinition;
use crate::error::WireError;
use crate::prepared::Prepared;
use crate::row::Row;

/// One result is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultEnd {
    /// Rows returned.
    pub rows: u64,
    /// Rows inserted, changed or deleted.
    pub affected_rows: u64,
    /// The number that the statement gave to its first row.
    pub last_insert_id: u64,
    /// The status of the session.
    pub status: Status,
    /// How many warnings there are.
    pub warnings: u16,
}

/// Who hears what the replies say. All that is borrowed is valid for the call.
pub trait Sink {
    /// Whether rows and columns are to be handed over: else they are skipped. Asked at each of
    /// them, so it should be a constant or a field; it must stay the same within a reply.
    #[inline]
    fn wants_rows(&self) -> bool {
        false
    }

    /// Whether the definitions of columns are to be handed over even if the rows are not: whoever
    /// may want the rows of a later execution must know them, as the server may leave them out
    /// then. Asked like [`wants_rows`](Sink::wants_rows).
    #[inline]
    fn wants_columns(&self) -> bool {
        self.wants_rows()
    }

    /// A result with so many columns begins. Their definitions follow, unless the server left
    /// them out because they are the ones that it has sent before for this statement.
    #[inline]
    fn columns(&mut self, _count: u64, _is_known: bool) {}

    /// The next column's definition: of a result whose columns are wanted, or of a statement that
    /// was prepared.
    ///
    /// # Errors
    /// Whatever the sink cannot bear; reading ends.
    #[inline]
    fn column(&mut self, _column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        Ok(())
    }

    /// The next row.
    ///
    /// # Errors
    /// Whatever the sink cannot bear; reading ends.
    #[inline]
    fn row(&mut self, _row: Row<'_>) -> Result<(), WireError> {
        Ok(())
    }

    /// A wanted row is longer than a packet; it is counted and passed over.
    #[inline]
    fn too_long(&mut self) {}

    /// A result is complete.
    fn result(&mut self, result: ResultEnd);

    /// The server refused; the reply ends with it.
    fn error(&mut self, error: &ErrPacket<'_>);

    /// A statement was prepared.
    #[inline]
    fn prepared(&mut self, _prepared: Prepared) {}

    /// The server asks for the content of a file by name. Reading pauses:
    /// see [`Replies::file_is_wanted`](crate::Replies::file_is_wanted).
    #[inline]
    fn file(&mut self, _name: &[u8]) {}

    /// The reply of one command is complete.
    #[inline]
    fn end(&mut self) {}
}
