//! Logical lines of a file.
//!
//! Comment lines (`;` or `#`) and blank lines are skipped. A `\` at the end of a line joins the
//! next line to it without a separator. Lines end with LF or CRLF.

use base::{Diagnostic, Span};

use super::located_text::{LocatedText, LocatedTextBuilder};
use crate::sink::Sink;

/// Maximum number of lines that `\` may join into one.
const MOST_JOINED: u32 = 65_536;

/// An iterator over the logical lines of a source.
pub(super) struct Lines<'a> {
    source: &'a str,
    at: usize,
}

/// A physical line of the file, without its line end.
#[derive(Clone, Copy)]
struct PhysicalLine<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Lines<'a> {
    /// Creates an iterator over the lines of a text, without the byte order mark at its beginning.
    pub(super) fn new(source: &'a str) -> Lines<'a> {
        let at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        Lines { source, at }
    }

    /// Returns the next line that is neither blank nor a comment, with continuations joined; `None`
    /// at the end of the text.
    pub(super) fn next(&mut self, sink: &mut Sink) -> Option<LocatedText<'a>> {
        loop {
            let line = self.next_physical_line()?;
            if line.is_comment() || line.text.trim().is_empty() {
                continue;
            }
            return Some(match line.text.strip_suffix('\\') {
                None => LocatedText::whole(line.text, line.start),
                Some(text) => self.joined(PhysicalLine { text, ..line }, sink),
            });
        }
    }

    fn next_physical_line(&mut self) -> Option<PhysicalLine<'a>> {
        let start = self.at;
        let rest = self.source.get(start..)?;
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').unwrap_or(rest.len());
        self.at = start + length + 1;
        let text = &rest[..length];
        let text = text.strip_suffix('\r').unwrap_or(text);
        Some(PhysicalLine { text, start })
    }

    fn joined(&mut self, first: PhysicalLine<'a>, sink: &mut Sink) -> LocatedText<'a> {
        let mut builder = LocatedTextBuilder::default();
        builder.verbatim(first.text, first.start);
        let mut backslash = first.end();
        let mut joined = 0;
        loop {
            let Some(line) = self.next_physical_line() else {
                sink.error(|| nothing_to_continue(backslash));
                break;
            };
            if line.is_comment() {
                sink.error(|| comment_inside(line));
                continue;
            }
            joined += 1;
            let text = line.text.strip_suffix('\\').unwrap_or(line.text);
            match joined {
                ..MOST_JOINED => builder.verbatim(text, line.start),
                MOST_JOINED => sink.error(|| too_many_joined(backslash)),
                _ => {}
            }
            if text.len() == line.text.len() {
                break;
            }
            backslash = line.start + text.len();
        }
        builder.finish()
    }
}

impl PhysicalLine<'_> {
    fn is_comment(self) -> bool {
        self.text.trim_start().starts_with([';', '#'])
    }

    fn end(self) -> usize {
        self.start + self.text.len()
    }
}

fn nothing_to_continue(backslash: usize) -> Diagnostic {
    let span = Span::new(backslash, backslash + 1);
    Diagnostic::error(span, "the `\\` continues the line, but the file ends here")
        .help("remove the `\\`, or write the rest of the value on the next line")
}

fn too_many_joined(backslash: usize) -> Diagnostic {
    let span = Span::new(backslash, backslash + 1);
    Diagnostic::error(span, "more than 65,536 lines are joined by `\\` into one")
}

fn comment_inside(line: PhysicalLine<'_>) -> Diagnostic {
    let comment = line.start + line.text.len() - line.text.trim_start().len();
    Diagnostic::error(
        Span::new(comment, line.end()),
        "found a comment line inside a value that `\\` continues",
    )
    .help("move the comment above the key")
}
