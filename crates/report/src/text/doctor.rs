//! Diagnosis before a run.

use analyze::doctor::{Diagnosis, Finding, NotPossible};

use crate::number::count;
use crate::page::{Line, Tone};
use crate::text::canvas::{Canvas, Style};
use crate::words::doctor;

/// Formats the problems that would spoil a run, and the checks that were not possible.
pub fn diagnosis(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut canvas = Canvas::new(*style);
    match diagnosis.findings.len() {
        0 => canvas.sentence(Tone::Good, "nothing would spoil a run", ""),
        n => canvas.sentence(Tone::Doubtful, &count(n as u64, "thing"), " here would spoil a run"),
    }
    for Finding { check, problem } in &diagnosis.findings {
        canvas.gap();
        let text = format!("{}: {}", doctor::problem(problem), doctor::importance(problem));
        canvas.lines(0, &[Line::new(*check, text).in_tone(Tone::Doubtful)]);
        canvas.whole(2, &doctor::cure(problem));
    }
    if !diagnosis.not_possible.is_empty() {
        canvas.gap();
        canvas.heading("Not possible here");
        let line = |NotPossible { check, missing }: &NotPossible| {
            Line::new(*check, doctor::not_possible(*missing))
        };
        canvas.lines(2, &diagnosis.not_possible.iter().map(line).collect::<Vec<_>>());
    }
    if !diagnosis.passed.is_empty() {
        canvas.gap();
        canvas.lines(0, &[Line::new("in order", diagnosis.passed.join(", "))]);
    }
    canvas.into_text()
}
