//! Texts of statements and commands: text, values, literals and comments.

mod piece;
mod printed;
mod scan;
mod shell;

pub use piece::Piece;
pub(crate) use piece::{mark, skeleton};
pub(crate) use printed::PrintedSyntax;
pub(crate) use scan::{
    Fragment, MOST_VALUES, Scan, ScanOptions, ScriptPart, SyntaxContext, ValuePositions,
    begins_line_comment, holds_several, is_sound, scan, split,
};
pub(crate) use shell::{quote_for_shell, scan as scan_command};
