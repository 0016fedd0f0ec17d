//! A statement that is sent again and again.

use base::{Placeholders, Span};

use super::ScriptLine;
use crate::expr::Expr;

/// A statement of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The text in pieces, values between them.
    pub pieces: Vec<Piece>,
    /// Where the file says so.
    pub span: Span,
    /// Where it stands itself, if that is in another file.
    pub script: Option<ScriptLine>,
}

/// A part of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Text that is sent as it is.
    Text(String),
    /// A bound parameter.
    Value(Expr),
    /// In a command: a value that is spliced in as one word of the shell, in quotes where it needs
    /// them. (A constant one has become [`Piece::Text`].)
    Quoted(Expr),
    /// Text that is made anew for each request and spliced in unquoted: `${raw(…)}` of a value
    /// that is not constant. (A constant one has become [`Piece::Text`].)
    Splice(Expr),
}

impl Statement {
    /// How many values are bound.
    pub fn parameters(&self) -> usize {
        let is_value = |piece: &&Piece| matches!(piece, Piece::Value(_));
        self.pieces.iter().filter(is_value).count()
    }

    /// Whether the text differs from request to request: something is spliced into it, or it names
    /// by a value the file that it loads.
    pub fn is_dynamic(&self) -> bool {
        self.spliced().next().is_some() || self.names_its_file_by_a_value()
    }

    /// Whether a value stands where MySQL's `LOAD DATA` and `LOAD XML` have the name of a file,
    /// which is a part of their syntax that no server binds (MySQL manual, "LOAD DATA Statement").
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

    /// The expressions whose values are bound, in order.
    pub(crate) fn bound(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(expr) => Some(expr),
            Piece::Text(_) | Piece::Splice(_) | Piece::Quoted(_) => None,
        })
    }

    /// The expressions whose values are spliced into the text, in order.
    pub(crate) fn spliced(&self) -> impl Iterator<Item = &Expr> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Splice(expr) | Piece::Quoted(expr) => Some(expr),
            Piece::Text(_) | Piece::Value(_) => None,
        })
    }

    /// A text that a request could send, as far as that is known without one: each quoted value is
    /// `0`. `None` if spliced texts decide what it means.
    pub fn sample(&self) -> Option<String> {
        let sample = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Value(_) | Piece::Quoted(_) => Some("0".to_owned()),
            Piece::Splice(_) => None,
        };
        self.pieces.iter().map(sample).collect()
    }

    /// The first word, if it is the same in every request.
    pub fn first_word(&self) -> Option<&str> {
        let Piece::Text(text) = self.pieces.first()? else { return None };
        let ends = self.pieces.len() == 1 || text.contains(char::is_whitespace);
        text.split_whitespace().next().filter(|_| ends)
    }

    /// The text to prepare, with placeholders for the values. Of a dynamic statement this is what
    /// it is called, with `…` for what is spliced in; its whole text is among the values that
    /// [`Generator::fill`](crate::Generator::fill) makes.
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
