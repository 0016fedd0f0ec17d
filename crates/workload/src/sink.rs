//! A bounded list of diagnostics.

use std::rc::Rc;

use base::{Diagnostic, Severity, Span};

use crate::wording;

/// The largest number of diagnostics that are kept; the others are only counted.
pub(crate) const MOST_KEPT: usize = 100;

/// A collector of diagnostics. It builds only the diagnostics that it keeps: a million mistakes
/// cost no more than a hundred.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    kept: Vec<Diagnostic>,
    errors: usize,
    dropped: usize,
    referenced_file: Option<ReferencedFile>,
}

/// A file that the checked file names. Diagnostics about its text contain its name, and point to
/// the line of the checked file that refers to it.
#[derive(Clone, Debug)]
pub(crate) struct ReferencedFile {
    /// Its name.
    pub(crate) name: String,
    /// Its text, to which the spans of diagnostics refer.
    pub(crate) text: Rc<str>,
    /// Position of its name in the checked file.
    pub(crate) named_at: Option<Span>,
}

impl ReferencedFile {
    fn attribute(&self, diagnostic: Diagnostic) -> Diagnostic {
        let Some(span) = diagnostic.span else {
            let message = format!("in {}: {}", wording::quoted(&self.name), diagnostic.sentence());
            return Diagnostic { option: None, message, span: self.named_at, ..diagnostic };
        };
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let name = wording::quoted(&self.name);
        let message = format!("in line {line} of {name}: {}", diagnostic.sentence());
        Diagnostic { option: None, message, span: self.named_at, ..diagnostic }
    }
}

impl Sink {
    /// Records an error.
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.errors += 1;
        self.push(make);
    }

    /// Records an error, unless an equal error was kept before. Otherwise a text that is read
    /// several times would have its errors reported several times.
    pub(crate) fn error_once(&mut self, error: Diagnostic) {
        if !self.kept.contains(&error) {
            self.error(|| error);
        }
    }

    /// Records a warning.
    pub(crate) fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.push(make);
    }

    /// Sets the file that later diagnostics are about; `None` is the checked file itself.
    pub(crate) fn set_file(&mut self, referenced_file: Option<ReferencedFile>) {
        self.referenced_file = referenced_file;
    }

    fn push(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MOST_KEPT {
            let diagnostic = make();
            self.kept.push(match &self.referenced_file {
                Some(referenced_file) => referenced_file.attribute(diagnostic),
                None => diagnostic,
            });
        } else {
            self.dropped += 1;
        }
    }

    /// Returns the number of recorded errors.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Returns the diagnostics in the order of the file; diagnostics without a position are last.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        sort(&mut self.kept);
        if self.dropped > 0 {
            let severity = if self.errors > 0 { Severity::Error } else { Severity::Warning };
            self.kept.push(dropped_note(self.dropped, severity));
        }
        self.kept
    }
}

/// Shortens a long list of diagnostics: the first hundred are kept, and a note gives the number of
/// the others.
pub fn shortened(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let severity = diagnostics.iter().map(|diagnostic| diagnostic.severity).max();
    let dropped = diagnostics.len().saturating_sub(MOST_KEPT);
    if let Some(severity) = severity.filter(|_| dropped > 0) {
        diagnostics.truncate(MOST_KEPT);
        diagnostics.push(dropped_note(dropped, severity));
    }
    diagnostics
}

/// Sorts diagnostics by position in the file; diagnostics without a position are last.
pub(crate) fn sort(diagnostics: &mut [Diagnostic]) {
    let place = |diagnostic: &Diagnostic| diagnostic.span.map_or(usize::MAX, |span| span.start);
    diagnostics.sort_by_key(place);
}

fn dropped_note(dropped: usize, severity: Severity) -> Diagnostic {
    let problems = if dropped == 1 { "problem" } else { "problems" };
    Diagnostic { severity, ..wording::error(None, format!("{dropped} more {problems} not shown")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;

    #[test]
    fn diagnostics_beyond_the_limit_are_only_counted() {
        let mut sink = Sink::default();
        for at in (0..MOST_KEPT).rev() {
            sink.warning(|| Diagnostic::warning(Span::new(at, at), "odd"));
        }
        sink.error(|| panic!("made although there is no room"));
        assert_eq!(sink.errors(), 1);
        let kept = sink.finish();
        assert_eq!(kept.len(), MOST_KEPT + 1);
        assert_eq!(kept[0].span, Some(Span::new(0, 0)));
        assert_eq!(kept[MOST_KEPT].message, "1 more problem not shown");
        assert_eq!(kept[MOST_KEPT].severity, Severity::Error);
    }

    #[test]
    fn long_list_is_shortened_with_the_severity_of_its_diagnostics() {
        let warning = Diagnostic::warning(Span::new(0, 1), "odd");
        assert_eq!(shortened(vec![warning.clone(); MOST_KEPT]).len(), MOST_KEPT);
        let mut sink = Sink::default();
        (0..MOST_KEPT + 7).for_each(|_| sink.warning(|| warning.clone()));
        let notes = [shortened(vec![warning; MOST_KEPT + 7]), sink.finish()];
        for found in notes {
            assert_eq!(found.len(), MOST_KEPT + 1);
            assert_eq!(found[MOST_KEPT].message, "7 more problems not shown");
            assert_eq!(found[MOST_KEPT].severity, Severity::Warning);
        }
    }
}
