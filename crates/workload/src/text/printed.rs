//! The syntax of printed statements.

use base::Dialect;

use super::piece::Piece;
use super::scan::{ScanOptions, ValuePositions, has_pieces, scan};
use super::shell;
use crate::read::LocatedText;

/// The syntax in which a printed statement is read back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PrintedSyntax {
    /// A shell command.
    Command,
    /// An SQL statement.
    Sql {
        /// Its dialect.
        dialect: Dialect,
        /// True if `?` or `$1` refers to a field of a record.
        placeholders: bool,
    },
}

impl PrintedSyntax {
    /// Returns true if a statement printed in this syntax scans into the pieces from which it was
    /// printed.
    pub(crate) fn has_pieces(self, text: &str, pieces: &[Piece]) -> bool {
        let located = LocatedText::outside(text);
        let marks = ValuePositions::Written;
        let scan = match self {
            PrintedSyntax::Command => shell::scan(located.excerpt(), marks),
            PrintedSyntax::Sql { dialect, placeholders } => {
                scan(located.excerpt(), ScanOptions { dialect, placeholders, marks })
            }
        };
        has_pieces(text, scan, pieces)
    }
}
