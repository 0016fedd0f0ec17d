//! The parser for sections, keys and values.

use std::ops::Range;

use base::{Diagnostic, Span, TargetError};

use super::decode::LARGEST_FILE;
use super::lines::Lines;
use super::located_text::{Excerpt, LocatedText};
use crate::keys;
use crate::sink::Sink;
use crate::wording::{self, quoted};

/// Maximum number of keys in a file: far more than a file written by hand has, and low enough to
/// keep the memory for a file of the largest size within ten times that size.
pub(crate) const MOST_ENTRIES: usize = 200_000;

/// Maximum number of sections in a file.
pub(crate) const MOST_SECTIONS: usize = 10_000;

/// A parsed file: its sections with their keys and values, not yet checked.
#[derive(Clone, Debug)]
pub struct File<'a> {
    source: &'a str,
    errors: usize,
    /// The lines above the first section.
    pub(crate) globals: Vec<Entry<'a>>,
    /// The sections in order.
    pub(crate) sections: Vec<Section<'a>>,
}

/// A section: `[name]` and the lines after it.
#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    /// The text between the brackets, with blanks as in [`section_name`].
    pub(crate) name: String,
    /// Position of the brackets in the file.
    pub(crate) span: Span,
    /// Its keys in order.
    pub(crate) entries: Vec<Entry<'a>>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    line: LocatedText<'a>,
    key: Range<u32>,
    value: Range<u32>,
}

impl Entry<'_> {
    /// Returns the key.
    pub(crate) fn key(&self) -> Excerpt<'_> {
        self.line.part(widen(&self.key))
    }

    /// Returns the value.
    pub(crate) fn value(&self) -> Excerpt<'_> {
        self.line.part(widen(&self.value))
    }

    /// Returns the key, the equals sign and the value.
    pub(crate) fn whole(&self) -> Excerpt<'_> {
        self.key().to(self.value())
    }
}

impl File<'_> {
    /// Returns the number of the line of a byte, from 1.
    pub(crate) fn line_number(&self, at: usize) -> usize {
        let before = self.source.as_bytes().get(..at).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Returns the error about an invalid URL. If the line may hold a password, the error has the
    /// number of the line in place of its text.
    pub(crate) fn invalid_url(&self, url: Excerpt<'_>, error: &TargetError) -> Diagnostic {
        // A diagnostic with a span would print the line.
        let secret = url.span().filter(|_| error.may_have_password(url.text()));
        let diagnostic = match secret.map(|span| self.line_number(span.start)) {
            Some(line) => wording::error(None, format!("`url` in line {line}: {error}")),
            None => url.part(error.place(url.text())).error(error.to_string()),
        };
        match error.remedy() {
            Some(remedy) => diagnostic.help(remedy),
            None => diagnostic,
        }
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> &str {
        self.source
    }

    /// Returns the number of errors found by the parser.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }
}

/// Parses the sections, keys and values of a text.
///
/// Parsing is total: anything but a section, key or comment becomes a diagnostic, and parsing
/// continues after it. Parsing stops only at the limits of the size of a file and of the number of
/// sections and keys.
pub fn parse(source: &str) -> (File<'_>, Vec<Diagnostic>) {
    let mut parser = Parser {
        file: File { source, errors: 0, globals: Vec::new(), sections: Vec::new() },
        entries: 0,
        sink: Sink::default(),
    };
    if source.len() > LARGEST_FILE {
        parser.sink.error(too_large);
        return parser.finish();
    }
    parser.control_characters();
    let mut lines = Lines::new(source);
    while let Some(line) = lines.next(&mut parser.sink) {
        if !parser.line(line) {
            break;
        }
    }
    parser.finish()
}

/// Parses a line that is not in the file; `option` names its origin in messages. Reports an invalid
/// line, and then returns `None`.
pub(crate) fn line_outside(
    key: &str,
    value: &str,
    option: String,
    sink: &mut Sink,
) -> Option<Entry<'static>> {
    if value.contains(|character: char| character.is_ascii_control() && character != '\t') {
        sink.error(|| {
            let error = crate::wording::error(None, "the value has a control character");
            let error = error.help("write the value on one line, as in a file");
            Diagnostic { option: Some(option.into()), ..error }
        });
        return None;
    }
    property(LocatedText::of_option(format!("{key} = {value}"), option), sink)
}

struct Parser<'a> {
    file: File<'a>,
    entries: usize,
    sink: Sink,
}

impl<'a> Parser<'a> {
    fn finish(mut self) -> (File<'a>, Vec<Diagnostic>) {
        self.file.errors = self.sink.errors();
        (self.file, self.sink.finish())
    }

    /// Reports the first control character, because editors do not display such characters.
    fn control_characters(&mut self) {
        let bytes = self.file.source.as_bytes();
        let odd = |(at, byte): (usize, &u8)| match byte {
            b'\t' | b'\n' => false,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => byte.is_ascii_control(),
        };
        if let Some(at) = bytes.iter().enumerate().position(odd) {
            self.sink.error(|| control_character(at, bytes[at]));
        }
    }

    /// Parses one line; returns false if the file has too many sections or keys.
    fn line(&mut self, line: LocatedText<'a>) -> bool {
        if line.excerpt().trim().text().starts_with('[') {
            let section = header(&line, &mut self.sink);
            self.file.sections.push(section);
        } else if let Some(entry) = property(line, &mut self.sink) {
            self.entries += 1;
            let last = self.file.sections.last_mut();
            match last {
                Some(section) => section.entries.push(entry),
                None => self.file.globals.push(entry),
            }
        }
        self.within_limits()
    }

    fn within_limits(&mut self) -> bool {
        let many_sections = self.file.sections.len() > MOST_SECTIONS;
        let many_entries = self.entries > MOST_ENTRIES;
        if many_sections {
            self.file.sections.pop();
            self.sink.error(too_many_sections);
        } else if many_entries {
            self.sink.error(too_many_entries);
        }
        !many_sections && !many_entries
    }
}

fn header(line: &LocatedText<'_>, sink: &mut Sink) -> Section<'static> {
    let line = line.excerpt().trim();
    let text = line.text();
    let end = text.find(']').unwrap_or_else(|| {
        sink.error(|| {
            line.part(0..1).error("the section's `[` is not closed").help("write `[name]`")
        });
        comment_start(text).unwrap_or(text.len())
    });
    let name = line.part(1..end).trim();
    let after = line.part((end + 1).min(text.len())..text.len());
    let comment = comment_start(after.text()).unwrap_or(after.text().len());
    let trailing = after.part(0..comment).trim();
    if !trailing.text().is_empty() {
        sink.error(|| after_header(trailing));
    }
    if name.text().is_empty() {
        sink.error(|| line.error("the section has no name").help("write `[name]`"));
    }
    let span = line.part(0..(end + 1).min(text.len())).span();
    let name = section_name(name.text());
    Section { name, span: span.unwrap_or_default(), entries: Vec::new() }
}

/// Returns the name of a section or job in the form in which names are compared: without outer
/// blanks and with single blanks between its words. Blanks in a quoted name of a table stay.
pub(crate) fn section_name(text: &str) -> String {
    match text.contains(['"', '`']) {
        true => text.trim().to_owned(),
        false => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn property<'a>(line: LocatedText<'a>, sink: &mut Sink) -> Option<Entry<'a>> {
    let all = line.excerpt();
    let Some(equals) = all.text().find('=') else {
        sink.error(|| no_property(all.trim()));
        return None;
    };
    let key = all.part(0..equals).trim();
    if key.text().is_empty() {
        let sign = all.part(equals..equals + 1);
        sink.error(|| sign.error("there is no key before the `=`").help("write `key = value`"));
        return None;
    }
    let after = all.part(equals + 1..all.text().len());
    let value =
        if keys::is_literal(key.text()) { after.trim() } else { without_comment(after, sink) };
    if value.text().ends_with('\\') {
        sink.error(|| blanks_after_backslash(value));
    }
    let (key, value) = (narrow(key.place()), narrow(value.place()));
    Some(Entry { line, key, value })
}

/// Returns a value up to a comment: a `;` after white space.
fn without_comment<'p>(after: Excerpt<'p>, sink: &mut Sink) -> Excerpt<'p> {
    let Some(comment) = comment_start(after.text()) else {
        return after.trim();
    };
    if after.is_joined_after(comment) {
        sink.error(|| swallowing_comment(after.part(comment..comment + 1)));
    }
    after.part(0..comment).trim()
}

/// Returns the offset of the first `;` after white space, if there is one.
fn comment_start(text: &str) -> Option<usize> {
    let mut blank = false;
    for (at, character) in text.char_indices() {
        if character == ';' && blank {
            return Some(at);
        }
        blank = character.is_whitespace();
    }
    None
}

fn widen(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Narrows the offsets. A file is far shorter than 4 GiB: see [`LARGEST_FILE`].
fn narrow(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

fn control_character(at: usize, byte: u8) -> Diagnostic {
    let span = Span::new(at, at + 1);
    if byte == b'\r' {
        return Diagnostic::error(span, "found a carriage return without a line feed")
            .help("save the file with LF or CRLF line ends");
    }
    Diagnostic::error(span, format!("found the control character U+{byte:04X} in the file"))
        .help("remove it; if there are many, this is probably not a text file")
}

fn after_header(trailing: Excerpt<'_>) -> Diagnostic {
    let message = format!("found {} after the section's header", quoted(trailing.text()));
    trailing
        .error(message)
        .help("write the first key on a line of its own, and a comment after white space and a `;`")
}

fn no_property(line: Excerpt<'_>) -> Diagnostic {
    let found = quoted(line.text());
    let message = format!("expected a section, a comment or `key = value`, found {found}");
    line.error(message).help("if it belongs to the value above, end that line with `\\`")
}

fn blanks_after_backslash(value: Excerpt<'_>) -> Diagnostic {
    let length = value.text().len();
    value
        .part(length - 1..length)
        .error("white space follows this `\\`, so it does not continue the line")
        .help("remove the white space at the end of the line")
}

fn swallowing_comment(semicolon: Excerpt<'_>) -> Diagnostic {
    semicolon
        .error("this comment swallows the lines that `\\` joins to it")
        .help("move the comment above the key")
}

fn too_large() -> Diagnostic {
    let megabytes = LARGEST_FILE >> 20;
    crate::wording::error(None, format!("the file has more than {megabytes} MB"))
        .help("give data in a `[load TABLE]` section instead of in statements")
}

fn too_many_sections() -> Diagnostic {
    crate::wording::error(None, format!("the file has more than {MOST_SECTIONS} sections"))
}

fn too_many_entries() -> Diagnostic {
    crate::wording::error(None, format!("the file sets more than {MOST_ENTRIES} keys"))
        .help("give data in a `[load TABLE]` section instead of in statements")
}
