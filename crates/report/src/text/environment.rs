//! The environment of a run, grouped by subject.

use crate::page::Environment;
use crate::text::canvas::{Canvas, Style};
use crate::text::layout::{columns, padded};

/// Formats the settings and facts of a record.
pub fn environment(environment: &Environment, style: &Style) -> String {
    let mut canvas = Canvas::new(*style);
    let widest = environment.facts.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
    for subject in &environment.subjects {
        canvas.gap();
        canvas.heading(&subject.heading);
        for (name, value) in &subject.facts {
            canvas.entry(2, &padded(name, widest), value);
        }
    }
    if let Some(note) = &environment.note {
        canvas.gap();
        canvas.remark(note);
    }
    canvas.into_text()
}
