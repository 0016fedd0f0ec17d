//! Statements in pieces.

use crate::expr::Expr;

/// A part of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Text to send as it is.
    Text(String),
    /// A value: bound, or written as a literal into a text that is not prepared.
    Value(Expr),
    /// In a command: a value spliced in as one word of the shell, quoted if needed. (A constant
    /// value is a [`Piece::Text`].)
    Quoted(Expr),
    /// Text computed for each request and spliced in unquoted: `${raw(…)}` of a value that is not
    /// constant. (A constant value is a [`Piece::Text`].)
    Splice(Expr),
}

/// Returns the placeholder for a value in a [`skeleton`].
pub(crate) fn mark(is_spliced: bool) -> &'static str {
    if is_spliced { "${raw(0)}" } else { "${0}" }
}

/// Returns the text of a statement with a [`mark`] for each value, and the offsets of the marks.
pub(crate) fn skeleton(pieces: &[Piece]) -> (String, Vec<usize>) {
    let (mut text, mut marks) = (String::new(), Vec::new());
    for piece in pieces {
        let mark = match piece {
            Piece::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            Piece::Value(_) | Piece::Quoted(_) => mark(false),
            Piece::Splice(_) => mark(true),
        };
        marks.push(text.len());
        text.push_str(mark);
    }
    (text, marks)
}
