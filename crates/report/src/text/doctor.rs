//! Diagnosis before a run.

use analyze::doctor::{Diagnosis, Finding};

use crate::number::count;
use crate::text::layout::Tone;
use crate::text::page::{Line, Page, Style};

/// Formats the problems that would spoil a run, and the checks that were not possible.
pub fn diagnosis(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut page = Page::new(*style);
    match diagnosis.findings.len() {
        0 => page.sentence(Tone::Good, "nothing would spoil a run", ""),
        n => page.sentence(Tone::Doubtful, &count(n as u64, "thing"), " here would spoil a run"),
    }
    for Finding { check, found, reason, remedy } in &diagnosis.findings {
        page.gap();
        let text = format!("{found}: {reason}");
        page.lines(0, &[Line::new(*check, text).in_tone(Tone::Doubtful)]);
        page.whole(2, remedy);
    }
    if !diagnosis.not_possible.is_empty() {
        page.gap();
        page.heading("Not possible here");
        let lines = diagnosis.not_possible.iter();
        let lines: Vec<Line> = lines.map(|not| Line::new(not.check, not.reason.as_str())).collect();
        page.lines(2, &lines);
    }
    if !diagnosis.passed.is_empty() {
        page.gap();
        page.lines(0, &[Line::new("in order", diagnosis.passed.join(", "))]);
    }
    page.into_text()
}
