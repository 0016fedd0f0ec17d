//! The kinds of replies.

/// The kind of reply to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// OK or ERR: `COM_PING`, `COM_INIT_DB`, `COM_STMT_RESET`, `COM_RESET_CONNECTION`.
    Simple,
    /// Results with text rows: `COM_QUERY`.
    Text,
    /// Results with binary rows: `COM_STMT_EXECUTE`, `COM_STMT_BULK_EXECUTE`.
    Binary,
    /// One result with binary rows, which is not an OK. `COM_STMT_EXECUTE` of a statement that was
    /// described with columns and always returns them once, such as a `select`.
    Rows,
    /// `COM_STMT_PREPARE`.
    Prepared,
}

impl ReplyKind {
    /// Returns true if the rows of its results are binary.
    #[inline]
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, ReplyKind::Binary | ReplyKind::Rows)
    }
}
