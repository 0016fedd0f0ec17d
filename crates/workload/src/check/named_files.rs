//! Contents of the files that a workload file names.

use std::rc::Rc;

use base::{Diagnostic, Dialect, Span};

use super::checker::Checker;
use crate::folder::unreadable;
use crate::plan::{Piece, ScriptLine};
use crate::read::{Entry, Excerpt, LARGEST_FILE, LocatedText, decode};
use crate::sink::ReferencedFile;
use crate::text::{ScriptPart, split};
use crate::wording::quoted;

/// Limit of the length of a path on Linux (`PATH_MAX`), in bytes.
const LONGEST_NAME: usize = 4_096;

impl<'f> Checker<'f> {
    /// Returns the name of the file that a key gives, with parameters replaced.
    pub(super) fn file_name(&mut self, entry: &'f Entry<'f>) -> Option<String> {
        Some(self.resolved(entry)?.excerpt().text().to_owned())
    }

    /// Returns the name of a file that the plan in the record names as well. Reports a name that
    /// cannot be written in a workload file; `example` is a correct line for the message.
    pub(super) fn recorded_file_name(
        &mut self,
        entry: &'f Entry<'f>,
        example: &str,
    ) -> Option<String> {
        let name = self.file_name(entry)?;
        if is_path(&name) {
            return Some(name);
        }
        self.sink.error(|| {
            let message = format!("{} is not the name of a file", quoted(&name));
            entry.value().error(message).help(format!("write `{example}`"))
        });
        None
    }

    /// Reads the file that a key names; `None` if an error was reported.
    pub(super) fn file_of_key(&mut self, entry: &'f Entry<'f>) -> Option<ReferencedFile> {
        let name = self.file_name(entry)?;
        self.file_named(entry, name)
    }

    /// Reads the file whose name is a part of a key's value; `None` if an error was reported.
    pub(super) fn file_named(
        &mut self,
        entry: &'f Entry<'f>,
        name: String,
    ) -> Option<ReferencedFile> {
        let named_at = entry.value().span();
        let bytes = match self.folder.read(&name, LARGEST_FILE as u64) {
            Ok(bytes) => bytes,
            Err(error) => {
                let (why, help) = unreadable(&name, LARGEST_FILE, &error);
                self.sink.error(|| entry.value().error(why).help(help));
                return None;
            }
        };
        match decode(&bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                Some(ReferencedFile { name, text: Rc::from(text), named_at })
            }
            Err(diagnostic) => {
                let message = format!("{}: {}", quoted(&name), diagnostic.message);
                self.sink.error(|| Diagnostic { message, span: named_at, ..diagnostic });
                None
            }
        }
    }

    /// Returns the statements of a script in `dialect`, each converted by `make`, with their lines.
    /// Errors are reported at their lines in the script.
    pub(super) fn statements_of(
        &mut self,
        entry: &'f Entry<'f>,
        dialect: Dialect,
        mut make: impl FnMut(&mut Checker<'f>, Excerpt<'_>) -> Vec<Piece>,
    ) -> Vec<(Vec<Piece>, ScriptLine)> {
        if self.inserted.is_full() {
            return Vec::new();
        }
        let Some(script) = self.file_of_key(entry) else { return Vec::new() };
        let text = Rc::clone(&script.text);
        if let Some(odd) = text.find(|c: char| c.is_ascii_control() && !"\t\r\n".contains(c)) {
            let at = Span::new(odd, odd + 1);
            self.sink.set_file(Some(script));
            self.sink.error(|| {
                Diagnostic::error(at, "found a control character in the line").help("remove it")
            });
            self.sink.set_file(None);
            return Vec::new();
        }
        let located = LocatedText::whole(&text, 0);
        let pieces = split(located.excerpt(), dialect);
        if pieces.is_empty() {
            let name = quoted(&script.name);
            self.sink.error(|| entry.value().error(format!("{name} has no statement")));
        }
        let file = script.name.clone();
        self.sink.set_file(Some(script));
        let mut statements = Vec::new();
        let (mut line, mut counted) = (1, 0);
        for ScriptPart { text: piece, code } in pieces {
            // Each statement has a copy of the file's name.
            if let Err(refused) = self.inserted.add_to_memory(file.len(), piece) {
                self.report_invalid(refused);
                break;
            }
            let start = piece.span().map_or(0, |span| span.start) + code;
            line += text[counted..start].matches('\n').count();
            counted = start;
            statements.push((make(self, piece), ScriptLine { file: file.clone(), line }));
        }
        self.sink.set_file(None);
        statements
    }
}

/// Returns true if a text can be the path of a file and can be written in a workload file.
fn is_path(text: &str) -> bool {
    let mut before = ' ';
    let begins_comment = text.chars().any(|character| {
        let begins = character == ';' && before.is_whitespace();
        before = character;
        begins
    });
    let is_odd = begins_comment || text.ends_with('\\') || text.contains(char::is_control);
    !text.is_empty() && text.len() <= LONGEST_NAME && !is_odd
}
