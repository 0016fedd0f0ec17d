//! Where do complaints go? Into a list that never grows beyond what a person reads.

use base::{Diagnostic, Severity};

use crate::wording;

/// How many diagnostics are kept; the rest are counted.
pub(crate) const KEPT: usize = 100;

/// Collects diagnostics. They are made only while there is room for them, so that a million
/// mistakes cost no more than a hundred.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    kept: Vec<Diagnostic>,
    errors: usize,
    dropped: usize,
}

impl Sink {
    /// Records an error.
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.errors += 1;
        self.keep(make);
    }

    /// Records a warning.
    pub(crate) fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.keep(make);
    }

    fn keep(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < KEPT {
            self.kept.push(make());
        } else {
            self.dropped += 1;
        }
    }

    /// How many errors were recorded.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// The diagnostics in the order of the file, those without a place last.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        sort(&mut self.kept);
        if self.dropped > 0 {
            self.kept.push(more(self.dropped));
        }
        self.kept
    }
}

/// Orders diagnostics as the file does, those without a place last.
pub(crate) fn sort(diagnostics: &mut [Diagnostic]) {
    let place = |diagnostic: &Diagnostic| diagnostic.span.map_or(usize::MAX, |span| span.start);
    diagnostics.sort_by_key(place);
}

fn more(dropped: usize) -> Diagnostic {
    let problems = if dropped == 1 { "problem" } else { "problems" };
    Diagnostic {
        severity: Severity::Error,
        ..wording::error(None, format!("{dropped} more {problems} not shown"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;

    #[test]
    fn the_hundred_and_first_diagnostic_is_counted_and_not_made() {
        let mut sink = Sink::default();
        for at in (0..KEPT).rev() {
            sink.warning(|| Diagnostic::warning(Span::new(at, at), "odd"));
        }
        sink.error(|| panic!("made although there is no room"));
        assert_eq!(sink.errors(), 1);
        let kept = sink.finish();
        assert_eq!(kept.len(), KEPT + 1);
        assert_eq!(kept[0].span, Some(Span::new(0, 0)));
        assert_eq!(kept[KEPT].message, "1 more problem not shown");
    }
}
