//! The next need of a session.

/// The next need of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionNeed {
    /// More bytes.
    Bytes,
    /// The answer to the statement that was just read.
    Statement,
    /// The end of the connection.
    End,
}
