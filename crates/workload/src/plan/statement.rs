//! Statements of jobs: text with values.

use base::{Placeholders, Span};

use crate::expr::Expr;
use crate::text::Piece;
use crate::wording::words;

/// A statement of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The text in pieces, with values in between.
    pub pieces: Vec<Piece>,
    /// Position in the workload file.
    pub span: Span,
    /// Position in the file of statements, if the statement comes from one.
    pub script: Option<ScriptLine>,
}

/// A line of a file of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// Name of the file, as in the workload file.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
}

/// A statement whose text is the same in every execution.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedStatement {
    /// Text to send, with parameters replaced.
    pub text: String,
    /// Position in the workload file.
    pub span: Span,
    /// Position in the file of statements, if the statement comes from one.
    pub script: Option<ScriptLine>,
}

impl Statement {
    /// Returns the number of bound values.
    pub fn parameters(&self) -> usize {
        let is_value = |piece: &&Piece| matches!(piece, Piece::Value(_));
        self.pieces.iter().filter(is_value).count()
    }

    /// Returns true if the text differs from request to request: a value is spliced into it, or a
    /// value names the file that the statement loads.
    pub fn is_dynamic(&self) -> bool {
        self.spliced().next().is_some() || self.names_its_file_by_a_value()
    }

    /// Returns true if a value is the file name of MySQL's `LOAD DATA` or `LOAD XML`, which is part
    /// of their syntax and cannot be bound (MySQL manual, "LOAD DATA Statement").
    fn names_its_file_by_a_value(&self) -> bool {
        self.pieces.windows(2).any(|pair| match pair {
            [Piece::Text(before), Piece::Value(_)] => {
                let is_sign = |c: char| !c.is_alphanumeric() && c != '_' && c != '$';
                let word = before.trim_end().rsplit(is_sign).next();
                word.is_some_and(|word| word.eq_ignore_ascii_case("infile"))
            }
            _ => false,
        })
    }

    /// Returns the expressions whose values are bound, in order.
    pub(crate) fn bound(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(expr) => Some(expr),
            Piece::Text(_) | Piece::Splice(_) | Piece::Quoted(_) => None,
        })
    }

    /// Returns the expressions whose values are spliced into the text, in order.
    pub(crate) fn spliced(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Splice(expr) | Piece::Quoted(expr) => Some(expr),
            Piece::Text(_) | Piece::Value(_) => None,
        })
    }

    /// Returns a sample of the text, with `0` for each value; `None` if unquoted texts are spliced
    /// in, because these could change its meaning.
    pub fn sample(&self) -> Option<String> {
        let sample = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Value(_) | Piece::Quoted(_) => Some("0".to_owned()),
            Piece::Splice(_) => None,
        };
        self.pieces.iter().map(sample).collect()
    }

    /// Returns the first word, if it is the same in every request.
    pub fn first_word(&self) -> Option<&str> {
        let Piece::Text(text) = self.pieces.first()? else { return None };
        let ends = self.pieces.len() == 1 || text.contains(char::is_whitespace);
        text.split_whitespace().next().filter(|_| ends)
    }

    /// Returns the words of the statement's fixed parts, including the words of literals.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Value(_) | Piece::Splice(_) | Piece::Quoted(_) => None,
        });
        texts.flat_map(|text| words(text))
    }

    /// Returns the text to prepare, with placeholders for the values.
    ///
    /// For a dynamic statement this is only its label, with `…` for spliced texts; its whole text
    /// is among the values that [`Generator::fill`](crate::Generator::fill) computes.
    pub fn text(&self, placeholders: Placeholders) -> String {
        let mut text = String::new();
        let mut bound = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(_) => {
                    bound += 1;
                    placeholders.write(bound, &mut text);
                }
                Piece::Splice(_) | Piece::Quoted(_) => text.push('…'),
            }
        }
        text
    }
}
