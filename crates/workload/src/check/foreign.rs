//! What stands in the files that a workload file names?

use std::io::ErrorKind;
use std::rc::Rc;

use base::Diagnostic;

use super::Checker;
use super::scan;
use crate::plan::Piece;
use crate::read::{Entry, Excerpt, LARGEST_FILE, Passage, decode};
use crate::sink::Aside;
use crate::wording::quoted;

impl<'f> Checker<'f> {
    /// The name of the file that a key gives, with parameters replaced.
    pub(super) fn file_name(&mut self, entry: &'f Entry<'f>) -> Option<String> {
        Some(self.resolved(entry)?.excerpt().text().to_owned())
    }

    /// The text of a file that a key names.
    pub(super) fn text_of(&mut self, entry: &'f Entry<'f>) -> Option<Aside> {
        let name = self.file_name(entry)?;
        self.text_named(entry, name)
    }

    /// The text of the file with this name, which is a part of a key's value.
    pub(super) fn text_named(&mut self, entry: &'f Entry<'f>, name: String) -> Option<Aside> {
        let named_at = entry.value().span();
        let bytes = match self.folder.read(&name, LARGEST_FILE as u64) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.sink.error(|| unreadable(entry, &name, &error));
                return None;
            }
        };
        match decode(&bytes) {
            Ok(text) => Some(Aside { name, text: Rc::from(text), named_at }),
            Err(diagnostic) => {
                let message = format!("{}: {}", quoted(&name), diagnostic.message);
                self.sink.error(|| Diagnostic { message, span: named_at, ..diagnostic });
                None
            }
        }
    }

    /// The statements of a script, each made by `make`; what is wrong with them is said of their
    /// lines in it.
    pub(super) fn statements_of(
        &mut self,
        entry: &'f Entry<'f>,
        mut make: impl FnMut(&mut Checker<'f>, Excerpt<'_>) -> Vec<Piece>,
    ) -> Vec<Vec<Piece>> {
        let Some(script) = self.text_of(entry) else { return Vec::new() };
        let text = Rc::clone(&script.text);
        let passage = Passage::whole(&text, 0);
        let pieces = scan::split(passage.excerpt(), self.dialect);
        if pieces.is_empty() {
            let name = quoted(&script.name);
            self.sink.error(|| entry.value().error(format!("{name} has no statement")));
        }
        self.sink.turn_to(Some(script));
        let statements = pieces.into_iter().map(|piece| make(self, piece)).collect();
        self.sink.turn_to(None);
        statements
    }
}

/// Complains about a file that cannot be read.
fn unreadable(entry: &Entry<'_>, name: &str, error: &std::io::Error) -> Diagnostic {
    let name = quoted(name);
    let (why, help) = match error.kind() {
        ErrorKind::NotFound => (
            format!("there is no file {name}"),
            "without a leading `/` it is looked for beside the workload file".to_owned(),
        ),
        ErrorKind::FileTooLarge => (
            format!("{name} has more than {} MiB", LARGEST_FILE >> 20),
            "name a smaller file".to_owned(),
        ),
        _ => (format!("{name} cannot be read: {error}"), "name a file that can be read".to_owned()),
    };
    entry.value().error(why).help(help)
}
