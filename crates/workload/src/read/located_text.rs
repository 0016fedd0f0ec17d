//! The position in the file of each byte of a value.
//!
//! A value is not always a contiguous part of the file: `\` joins lines, `${…}` is replaced by its
//! value, and `--set` gives values from outside. A [`LocatedText`] is a text with the origin of
//! each of its bytes; an [`Excerpt`] is a part of such a text. They give the position that a
//! diagnostic marks.

use std::borrow::Cow;
use std::ops::Range;

use base::{Diagnostic, Span};

use crate::wording;

/// A text with the positions of its bytes in the file.
#[derive(Clone, Debug)]
pub(crate) struct LocatedText<'a> {
    text: Cow<'a, str>,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    /// Outside the file, with the option that messages name, if there is one.
    Outside(Option<String>),
    /// Contiguous, from this byte of the file on.
    Whole(usize),
    /// Composed of parts, in order.
    Parts(Vec<Part>),
}

/// The bytes of a text from `at` up to the next part.
#[derive(Clone, Copy, Debug)]
struct Part {
    at: usize,
    from: PartOrigin,
}

#[derive(Clone, Copy, Debug)]
enum PartOrigin {
    /// The same bytes are in the file from this offset on.
    Verbatim(usize),
    /// The bytes replace this range of the file as a whole.
    Replaced(Span),
}

impl<'a> LocatedText<'a> {
    /// Creates a located text from text at offset `start` of the file.
    pub(crate) fn whole(text: &'a str, start: usize) -> LocatedText<'a> {
        LocatedText { text: Cow::Borrowed(text), origin: Origin::Whole(start) }
    }

    /// Creates a located text from text outside the file.
    pub(crate) fn outside(text: &'a str) -> LocatedText<'a> {
        LocatedText { text: Cow::Borrowed(text), origin: Origin::Outside(None) }
    }

    /// Creates a located text from the value of an option. Diagnostics about the text name the
    /// option.
    pub(crate) fn of_option(text: String, option: String) -> LocatedText<'static> {
        LocatedText { text: Cow::Owned(text), origin: Origin::Outside(Some(option)) }
    }

    /// Returns the whole text as an excerpt.
    pub(crate) fn excerpt(&self) -> Excerpt<'_> {
        self.part(0..self.text.len())
    }

    /// Returns a part of the text.
    pub(crate) fn part(&self, range: Range<usize>) -> Excerpt<'_> {
        Excerpt { located: self, start: range.start, end: range.end }
    }

    /// Returns true if another line was joined to the text after `at`.
    pub(crate) fn is_joined_after(&self, at: usize) -> bool {
        match &self.origin {
            Origin::Outside(_) | Origin::Whole(_) => false,
            Origin::Parts(parts) => parts.last().is_some_and(|part| part.at > at),
        }
    }

    /// Returns the position of one byte in the file, or of the text that it replaces; `None` if the
    /// text is not in the file.
    fn locate(&self, at: usize) -> Option<Span> {
        let (from, _) = self.origin_from(at)?;
        Some(match from {
            PartOrigin::Verbatim(place) => Span::new(place, place + 1),
            PartOrigin::Replaced(span) => span,
        })
    }

    /// Returns the origin of the bytes from `at` up to the end of their part, and this end; `None`
    /// if the text is not in the file.
    fn origin_from(&self, at: usize) -> Option<(PartOrigin, usize)> {
        match &self.origin {
            Origin::Outside(_) => None,
            Origin::Whole(start) => Some((PartOrigin::Verbatim(start + at), self.text.len())),
            Origin::Parts(parts) => {
                let next = parts.partition_point(|part| part.at <= at);
                let part = parts.get(next.checked_sub(1)?)?;
                let from = match part.from {
                    PartOrigin::Verbatim(start) => PartOrigin::Verbatim(start + at - part.at),
                    PartOrigin::Replaced(span) => PartOrigin::Replaced(span),
                };
                Some((from, parts.get(next).map_or(self.text.len(), |part| part.at)))
            }
        }
    }
}

/// A builder for a located text of several parts.
#[derive(Debug, Default)]
pub(crate) struct LocatedTextBuilder {
    text: String,
    parts: Vec<Part>,
    /// The origin of a part that is not in the file, if there is one; the whole text then counts as
    /// outside the file.
    outside: Option<Origin>,
}

impl LocatedTextBuilder {
    /// Returns the number of bytes so far.
    pub(crate) fn length(&self) -> usize {
        self.text.len()
    }

    /// Appends text from offset `start` of the file.
    pub(crate) fn verbatim(&mut self, text: &str, start: usize) {
        self.push(text, PartOrigin::Verbatim(start));
    }

    /// Appends a part of another located text, with the positions of its bytes.
    pub(crate) fn copy(&mut self, excerpt: Excerpt<'_>) {
        let mut rest = excerpt;
        loop {
            let Some((from, end)) = rest.located.origin_from(rest.start) else {
                return self.push_outside(rest.text(), rest);
            };
            let length = end.min(rest.end) - rest.start;
            self.push(&rest.text()[..length], from);
            rest = rest.part(length..rest.text().len());
            if rest.text().is_empty() {
                return;
            }
        }
    }

    /// Appends text that replaces `original`.
    pub(crate) fn replace(&mut self, original: Excerpt<'_>, text: &str) {
        match original.span() {
            Some(span) => self.push(text, PartOrigin::Replaced(span)),
            None => self.push_outside(text, original),
        }
    }

    fn push(&mut self, text: &str, from: PartOrigin) {
        self.parts.push(Part { at: self.text.len(), from });
        self.text.push_str(text);
    }

    fn push_outside(&mut self, text: &str, original: Excerpt<'_>) {
        self.outside = Some(original.located.origin.clone());
        self.text.push_str(text);
    }

    /// Returns the located text.
    pub(crate) fn finish(self) -> LocatedText<'static> {
        let origin = self.outside.unwrap_or(Origin::Parts(self.parts));
        LocatedText { text: Cow::Owned(self.text), origin }
    }
}

/// A part of a [`LocatedText`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excerpt<'p> {
    located: &'p LocatedText<'p>,
    start: usize,
    end: usize,
}

impl<'p> Excerpt<'p> {
    /// Returns its text.
    pub(crate) fn text(self) -> &'p str {
        &self.located.text[self.start..self.end]
    }

    /// Returns the position of the excerpt in the file, if it is in the file.
    pub(crate) fn span(self) -> Option<Span> {
        let first = self.located.locate(self.start)?;
        if self.start == self.end {
            return Some(Span::new(first.start, first.start));
        }
        let last = self.located.locate(self.end - 1)?;
        Some(Span::new(first.start, last.end.max(first.start)))
    }

    /// Returns a part of the excerpt, by offsets into its text.
    pub(crate) fn part(self, range: Range<usize>) -> Excerpt<'p> {
        Excerpt {
            located: self.located,
            start: self.start + range.start,
            end: self.start + range.end,
        }
    }

    /// Returns its range in the [`LocatedText`].
    pub(crate) fn place(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the excerpt from the beginning of this one to the end of `other`.
    pub(crate) fn to(self, other: Excerpt<'p>) -> Excerpt<'p> {
        Excerpt { end: other.end, ..self }
    }

    /// Returns the excerpt without white space at its ends.
    pub(crate) fn trim(self) -> Excerpt<'p> {
        let text = self.text();
        let start = text.len() - text.trim_start().len();
        let length = text.trim().len();
        self.part(start..start + length)
    }

    /// Returns true if another line was joined to the text after `at`.
    pub(crate) fn is_joined_after(self, at: usize) -> bool {
        self.located.is_joined_after(self.start + at)
    }

    /// Creates an error about this excerpt.
    pub(crate) fn error(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { option: self.option(), ..wording::error(self.span(), message) }
    }

    /// Creates a warning about this excerpt.
    pub(crate) fn warning(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic { option: self.option(), ..wording::warning(self.span(), message) }
    }

    /// Returns the option from which the text came; `None` for a text from another source.
    fn option(self) -> Option<Box<str>> {
        match &self.located.origin {
            Origin::Outside(option) => option.as_deref().map(Box::from),
            Origin::Whole(_) | Origin::Parts(_) => None,
        }
    }

    /// Returns the trimmed pieces of the excerpt, separated by commas outside parentheses, braces
    /// and quotes. A blank excerpt has no pieces.
    pub(crate) fn list(self) -> impl Iterator<Item = Excerpt<'p>> {
        let length = self.text().len();
        let mut commas = top_level(self.text(), b',');
        let mut start = if self.trim().text().is_empty() { None } else { Some(0) };
        std::iter::from_fn(move || {
            let from = start?;
            let comma = commas.next();
            start = comma.map(|comma| comma + 1);
            Some(self.part(from..comma.unwrap_or(length)).trim())
        })
    }

    /// Splits the excerpt at the first `separator` outside parentheses, braces and quotes, if there
    /// is one.
    pub(crate) fn split_once(self, separator: u8) -> Option<(Excerpt<'p>, Excerpt<'p>)> {
        let at = top_level(self.text(), separator).next()?;
        let after = self.part(at + 1..self.text().len());
        Some((self.part(0..at).trim(), after.trim()))
    }
}

/// Returns the offsets of a byte outside parentheses, braces and quotes. A quote that is never
/// closed encloses nothing, like an apostrophe.
fn top_level(text: &str, wanted: u8) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut depth = 0_usize;
    // After a failed search for a closing quote, later quotes of its kind are ignored: they enclose
    // nothing but quotes, and a search to the end of the text for each of them would take quadratic
    // time.
    let mut unclosed = Vec::new();
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let here = at;
            at += 1;
            match byte {
                b'(' | b'{' => depth += 1,
                b')' | b'}' => depth = depth.saturating_sub(1),
                b'\'' | b'"' if !unclosed.contains(&byte) => match closing_quote(bytes, here) {
                    Some(end) => at = end + 1,
                    None => unclosed.push(byte),
                },
                _ if byte == wanted && depth == 0 => return Some(here),
                _ => {}
            }
        }
        None
    })
}

/// Returns the offset of the quote that closes the one at `open`, if any, by the rules of texts in
/// expressions: a doubled quote is a quote, and between `"` a backslash escapes the next character.
pub(crate) fn closing_quote(bytes: &[u8], open: usize) -> Option<usize> {
    let quote = bytes[open];
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' && quote == b'"' {
            at += 1;
        } else if byte == quote {
            if bytes.get(at + 1) == Some(&quote) {
                at += 1;
            } else {
                return Some(at);
            }
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_text_maps_back_to_its_lines() {
        let mut builder = LocatedTextBuilder::default();
        builder.verbatim("abc", 10);
        builder.verbatim("defg", 20);
        let located = builder.finish();
        assert_eq!(located.part(1..2).span(), Some(Span::new(11, 12)));
        assert_eq!(located.part(3..5).span(), Some(Span::new(20, 22)));
        assert_eq!(located.part(2..4).span(), Some(Span::new(12, 21)));
        assert!(located.is_joined_after(2));
        assert!(!located.is_joined_after(3));
    }

    #[test]
    fn replaced_text_maps_back_to_the_parameter() {
        let original = LocatedText::whole("${n}k", 5);
        let mut builder = LocatedTextBuilder::default();
        builder.replace(original.part(0..4), "100");
        builder.copy(original.part(4..5));
        let located = builder.finish();
        assert_eq!(located.excerpt().text(), "100k");
        assert_eq!(located.part(1..2).span(), Some(Span::new(5, 9)));
        assert_eq!(located.part(3..4).span(), Some(Span::new(9, 10)));
        assert_eq!(LocatedText::outside("100k").excerpt().span(), None);
    }

    #[test]
    fn copied_text_maps_back_to_the_lines_that_were_joined() {
        let mut lines = LocatedTextBuilder::default();
        lines.verbatim("${n} ab", 10);
        lines.verbatim("cd, ", 30);
        lines.verbatim("ef", 50);
        let lines = lines.finish();
        let mut builder = LocatedTextBuilder::default();
        builder.replace(lines.part(0..4), "100");
        builder.copy(lines.part(4..12));
        let located = builder.finish();
        assert_eq!(located.excerpt().text(), "100 abcd, e");
        let span = |range: Range<usize>| located.part(range).span();
        assert_eq!(span(0..2), Some(Span::new(10, 14)));
        assert_eq!(span(4..6), Some(Span::new(15, 17)));
        assert_eq!(span(6..8), Some(Span::new(30, 32)));
        assert_eq!(span(5..11), Some(Span::new(16, 51)));
    }

    #[test]
    fn copied_text_of_an_option_stays_outside_the_file() {
        let option = LocatedText::of_option("a${n}".to_owned(), "--set".to_owned());
        let mut builder = LocatedTextBuilder::default();
        builder.copy(option.part(0..1));
        builder.replace(option.part(1..5), "100");
        builder.copy(option.part(5..5));
        let located = builder.finish();
        assert_eq!(located.excerpt().text(), "a100");
        assert_eq!(located.excerpt().span(), None);
        assert_eq!(located.excerpt().option().as_deref(), Some("--set"));
    }

    #[test]
    fn lists_are_split_at_commas_outside_quotes_and_parentheses() {
        let pieces = |text: &str| -> Vec<String> {
            let located = LocatedText::whole(text, 0);
            let list = located.excerpt().list();
            list.map(|piece| piece.text().to_owned()).collect()
        };
        assert_eq!(
            pieces("a: pick('x, y', \"z\\\", \"), b"),
            ["a: pick('x, y', \"z\\\", \")", "b"]
        );
        assert_eq!(pieces("it's, here"), ["it's", "here"]);
        assert_eq!(pieces("it's, \"a, b\", c"), ["it's", "\"a, b\"", "c"]);
        assert_eq!(pieces("5\" wide, 'a, b', c"), ["5\" wide", "'a, b'", "c"]);
        assert_eq!(pieces("it's, ''a, b'', 5\", c"), ["it's", "''a", "b''", "5\"", "c"]);
        assert_eq!(pieces(" "), Vec::<String>::new());
        assert_eq!(pieces("a,,"), ["a", "", ""]);
    }
}
