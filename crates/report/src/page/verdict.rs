//! The verdict: every check with its sentence and remedy.

use analyze::{Check, Status, Unit, Verdict};

use super::remark::{Line, Tone};
use crate::number::{count, significant, trimmed};
use crate::words;

/// The verdict on the credibility of the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictSection {
    /// Gravest status of a check.
    pub status: Status,
    /// Word for the status.
    pub word: &'static str,
    /// Tone of the word.
    pub tone: Tone,
    /// Numbers of the checks by status, in words.
    pub tally: String,
    /// All checks.
    pub checks: Vec<CheckRow>,
    /// Suspect or invalid checks, the gravest first, each with its remedy.
    pub objections: Vec<Line>,
    /// Checks that could not be made, with the reasons; empty if there was nothing to judge.
    pub not_possible: Vec<Line>,
}

/// A check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckRow {
    /// Name.
    pub name: &'static str,
    /// Result.
    pub status: Status,
    /// Judged number; `None` if the check judges none.
    pub value: Option<f64>,
    /// Limit of the judged number.
    pub limit: Option<f64>,
    /// Unit of the number and of its limit.
    pub unit: Unit,
    /// Finding in one sentence.
    pub sentence: String,
    /// Remedy, if the check is suspect or invalid.
    pub remedy: Option<&'static str>,
}

impl VerdictSection {
    pub(super) fn of(verdict: &Verdict, has_jobs: bool) -> VerdictSection {
        VerdictSection {
            status: verdict.status(),
            word: verdict.word(),
            tone: tone(verdict.status()),
            tally: tally(verdict),
            checks: verdict.checks.iter().map(CheckRow::of).collect(),
            objections: objections(verdict),
            // Without a job there was nothing to judge.
            not_possible: if has_jobs { not_possible(verdict).collect() } else { Vec::new() },
        }
    }
}

impl CheckRow {
    fn of(check: &Check) -> CheckRow {
        CheckRow {
            name: check.name(),
            status: check.status,
            value: check.value,
            limit: check.limit,
            unit: check.unit,
            sentence: words::check_sentence(check),
            remedy: words::remedy_of(check),
        }
    }
}

/// Returns the tone of a verdict.
pub(crate) fn tone(status: Status) -> Tone {
    match status {
        Status::NotPossible => Tone::Quiet,
        Status::Pass => Tone::Good,
        Status::Suspect => Tone::Doubtful,
        Status::Invalid => Tone::Bad,
    }
}

/// Counts the checks by status: `8 checks passed, 1 not possible here`.
fn tally(verdict: &Verdict) -> String {
    let number = |status| verdict.with(status).count() as u64;
    let mut tally = vec![format!("{} passed", count(number(Status::Pass), "check"))];
    for (status, words) in [
        (Status::Suspect, "suspect"),
        (Status::Invalid, "invalid"),
        (Status::NotPossible, "not possible here"),
    ] {
        if number(status) > 0 {
            tally.push(format!("{} {words}", number(status)));
        }
    }
    tally.join(", ")
}

/// Returns the suspect or invalid checks, the gravest first, each with its remedy.
fn objections(verdict: &Verdict) -> Vec<Line> {
    let mut lines = Vec::new();
    for status in [Status::Invalid, Status::Suspect] {
        for check in verdict.with(status) {
            lines.push(Line::new(check.name(), sentence_with_limit(check)).in_tone(tone(status)));
            let remedy = words::remedy_of(check).map(|remedy| format!("What to do: {remedy}"));
            lines.extend(remedy.map(Line::remark));
        }
    }
    lines
}

/// Returns lines on the checks that could not be made. Checks with the same reason share a line.
fn not_possible(verdict: &Verdict) -> impl Iterator<Item = Line> {
    let mut reasons: Vec<(&Check, Vec<&str>)> = Vec::new();
    for check in verdict.with(Status::NotPossible) {
        match reasons.iter_mut().find(|(known, _)| known.finding == check.finding) {
            Some((_, names)) => names.push(check.name()),
            None => reasons.push((check, vec![check.name()])),
        }
    }
    reasons.into_iter().map(|(check, names)| {
        let reason = words::check_sentence(check);
        let line = match names.as_slice() {
            [name] => Line::new(*name, reason),
            names => Line::new(
                format!("{} checks", names.len()),
                format!("{reason} ({})", names.join(", ")),
            ),
        };
        line.in_tone(tone(Status::NotPossible))
    })
}

/// Returns the sentence of a check, with the value and the limit if it was exceeded.
fn sentence_with_limit(check: &Check) -> String {
    let sentence = words::check_sentence(check);
    let number = |value: f64| match (trimmed(&significant(value)), check.unit.name()) {
        (number, "") => number.to_owned(),
        (number, unit) => format!("{number} {unit}"),
    };
    match (check.value, check.limit) {
        // A limit of zero needs no mention: the sentence already has the number.
        (Some(value), Some(limit)) if value.is_finite() && value > limit && limit > 0.0 => {
            let measured = match has_number(&sentence, value) {
                true => String::new(),
                false => format!("{}; ", number(value)),
            };
            format!("{sentence} ({measured}accepted up to {})", number(limit))
        }
        (_, _) => sentence,
    }
}

/// Returns true if a sentence has this number, rounded to the digits that it shows.
fn has_number(sentence: &str, value: f64) -> bool {
    let words = sentence.split(|c: char| !c.is_ascii_digit() && !['.', ','].contains(&c));
    words.map(|word| word.trim_matches(['.', ',']).replace(',', "")).any(|word| {
        let digits = word.split_once('.').map_or(0, |(_, digits)| digits.len());
        !word.is_empty() && word == format!("{:.digits$}", value.abs())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_found_with_the_digits_of_the_sentence() {
        let sentence = "waited for 53.8 % of the window, 12 s after time zero.";
        for (value, is_found) in [(53.81, true), (-53.8, true), (53.9, false), (12.3, true)] {
            assert_eq!(has_number(sentence, value), is_found, "{value}");
        }
        assert!(has_number("the server counted 12,345 commits, and 3 more", 12_345.0));
        assert!(!has_number("the backlog grew...", 0.0));
    }
}
