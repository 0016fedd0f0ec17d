//! Diagnosis before a run.

use analyze::doctor::{Diagnosis, DoctorInput, Finding, NotPossible};

use crate::page::{Line, Tone};
use crate::text::canvas::{Canvas, Style};
use crate::words::doctor;

/// Formats the problems that would spoil a run, and the checks that were not possible. `input` is
/// the data that was judged.
pub fn diagnosis(input: &DoctorInput, diagnosis: &Diagnosis, style: &Style) -> String {
    let mut canvas = Canvas::new(*style);
    let tone = match diagnosis.findings.is_empty() {
        true => Tone::Good,
        false => Tone::Doubtful,
    };
    let (lead, rest) = doctor::answer(diagnosis);
    canvas.sentence(tone, &lead, rest);
    for Finding { check, host, problem } in &diagnosis.findings {
        canvas.gap();
        let text = format!("{}: {}", doctor::problem(problem), doctor::importance(problem));
        let text = doctor::at_host(host.as_deref(), text);
        canvas.lines(0, &[Line::new(*check, text).in_tone(Tone::Doubtful)]);
        canvas.unwrapped(2, &doctor::remedy(problem, input));
    }
    if !diagnosis.not_possible.is_empty() {
        canvas.gap();
        canvas.heading(doctor::NOT_POSSIBLE);
        let line = |NotPossible { check, host, missing }: &NotPossible| {
            let text = doctor::at_host(host.as_deref(), doctor::not_possible(*missing));
            Line::new(*check, text)
        };
        canvas.lines(2, &diagnosis.not_possible.iter().map(line).collect::<Vec<_>>());
    }
    if !diagnosis.passed.is_empty() {
        canvas.gap();
        canvas.lines(0, &[Line::new(doctor::PASSED, diagnosis.passed.join(", "))]);
    }
    canvas.into_text()
}
