//! The kinds of replies.

/// The kind of reply to a command, by which the reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// OK or ERR: `COM_PING`, `COM_INIT_DB`, `COM_STMT_RESET`, `COM_RESET_CONNECTION`.
    Simple,
    /// Results with text rows: `COM_QUERY`.
    Text,
    /// Results with binary rows: `COM_STMT_EXECUTE`, `COM_STMT_BULK_EXECUTE`.
    Binary,
    /// Exactly one result with binary rows; an OK in its place is an error. For `COM_STMT_EXECUTE`
    /// of a statement that was described with columns and always has one result, such as a
    /// `select`.
    Rows,
    /// `COM_STMT_PREPARE`.
    Prepared,
}

impl ReplyKind {
    /// Returns true if the rows of the results are binary.
    #[inline]
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, ReplyKind::Binary | ReplyKind::Rows)
    }
}
