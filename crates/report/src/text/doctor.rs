//! Diagnosis before a run.

use analyze::doctor::{Diagnosis, Finding, NotPossible};

use crate::number::count;
use crate::text::layout::Tone;
use crate::text::page::{Line, Page, Style};
use crate::words::doctor;

/// Formats the problems that would spoil a run, and the checks that were not possible.
pub fn diagnosis(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut page = Page::new(*style);
    match diagnosis.findings.len() {
        0 => page.sentence(Tone::Good, "nothing would spoil a run", ""),
        n => page.sentence(Tone::Doubtful, &count(n as u64, "thing"), " here would spoil a run"),
    }
    for Finding { check, problem } in &diagnosis.findings {
        page.gap();
        let text = format!("{}: {}", doctor::problem(problem), doctor::importance(problem));
        page.lines(0, &[Line::new(*check, text).in_tone(Tone::Doubtful)]);
        page.whole(2, &doctor::cure(problem));
    }
    if !diagnosis.not_possible.is_empty() {
        page.gap();
        page.heading("Not possible here");
        let line = |NotPossible { check, missing }: &NotPossible| {
            Line::new(*check, doctor::not_possible(*missing))
        };
        page.lines(2, &diagnosis.not_possible.iter().map(line).collect::<Vec<_>>());
    }
    if !diagnosis.passed.is_empty() {
        page.gap();
        page.lines(0, &[Line::new("in order", diagnosis.passed.join(", "))]);
    }
    page.into_text()
}
