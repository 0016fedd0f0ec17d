//! Expected and retried errors: `error = CODE, …` and `retry = N on CODE, …`.

use base::{Code, Diagnostic, Dialect};

use super::checker::Checker;
use super::dialect;
use super::fields::Fields;
use super::role::Role;
use crate::plan::{Flow, Retry};
use crate::read::Excerpt;
use crate::wording::quoted;

/// Maximum number of codes in all `error` lines of a section together, and in its `retry`.
const MOST_CODES: usize = 1_000;

/// Maximum number of retries of a request.
const MOST_RETRIES: u64 = 1_000;

impl<'f> Checker<'f> {
    /// Parses the codes in all `error` lines, without duplicates.
    pub(super) fn codes(&mut self, fields: &Fields<'f>) -> Vec<Code> {
        let mut codes = Vec::new();
        for entry in fields.all("error") {
            let Some(resolved) = self.resolved(entry) else {
                continue;
            };
            self.code_list(resolved.excerpt(), &mut codes);
        }
        codes
    }

    /// Appends the codes of a list, without duplicates.
    fn code_list(&mut self, list: Excerpt<'_>, codes: &mut Vec<Code>) {
        for item in list.list() {
            if codes.len() >= MOST_CODES {
                self.sink.error(|| list.error("more than 1,000 error codes are listed"));
                return;
            }
            match code(item) {
                Ok(code) if codes.contains(&code) => {}
                Ok(code) => codes.push(code),
                Err(diagnostic) => self.sink.error(|| diagnostic),
            }
        }
    }

    /// Parses `retry`: the number of retries and the errors that are retried.
    pub(super) fn retry(&mut self, fields: &Fields<'f>) -> Option<Retry> {
        let resolved = self.resolved(fields.one("retry")?)?;
        let value = resolved.excerpt();
        let Some((times, list)) = split_on(value) else {
            self.sink.error(|| {
                value
                    .error(format!("{} names no error codes", quoted(value.text())))
                    .help("write for example `retry = 3 on 40001, 1213`")
            });
            return None;
        };
        let times = match base::units::parse_count(times.text()) {
            Ok(number @ 1..=MOST_RETRIES) => number as u32,
            Ok(_) => {
                self.sink.error(|| {
                    times.error(format!("{} is not between 1 and 1,000", quoted(times.text())))
                });
                1
            }
            Err(error) => {
                self.sink.error(|| {
                    times
                        .error(format!("{} {error}", quoted(times.text())))
                        .help("write for example `retry = 3 on 40001, 1213`")
                });
                1
            }
        };
        let mut codes = Vec::new();
        self.code_list(list, &mut codes);
        Some(Retry { times, codes })
    }

    /// Reports `retry` in a job whose statements run separately: the statements that succeeded
    /// would be executed again.
    pub(super) fn no_retry_of_separate_statements(
        &mut self,
        fields: &Fields<'f>,
        flow: &Flow,
        role: Role<'_>,
        dialect_of_target: Dialect,
    ) {
        if *flow != Flow::Separately {
            return;
        }
        let help = "a retry would send the statements that succeeded once more: leave out one of \
                    the two";
        if let Some(entry) = fields.one("retry") {
            self.report_unusable_key(entry, "and `multi-query-mode` cannot be set together", help);
        }
        let of_the_mix = match role {
            Role::Standalone => None,
            Role::Part(membership) => dialect::line(membership.mix, "retry", dialect_of_target),
        };
        if let Some(entry) = of_the_mix {
            let why = "of a mix holds for its sections, and one has a `multi-query-mode`";
            self.report_unusable_key(entry, why, help);
        }
    }
}

/// Splits a text at the word `on`; `None` if the text does not contain this word.
fn split_on(value: Excerpt<'_>) -> Option<(Excerpt<'_>, Excerpt<'_>)> {
    let text = value.text();
    let blank = |at: usize| text[at..].starts_with(char::is_whitespace);
    let before = text
        .match_indices("on")
        .map(|(at, _)| at)
        .find(|at| text[..*at].ends_with(char::is_whitespace) && blank(at + 2))?;
    let codes = value.part(before + 2..text.len()).trim();
    Some((value.part(0..before).trim(), codes))
}

/// Parses a database's error code.
fn code(item: Excerpt<'_>) -> Result<Code, Diagnostic> {
    let text = item.text();
    let help = "codes are separated by commas: `40001, 1213`";
    if text.is_empty() {
        return Err(item.error("an error code is missing next to a comma").help(help));
    }
    if text.len() > Code::CAPACITY {
        let message = format!("{} has more than {} characters", quoted(text), Code::CAPACITY);
        return Err(item.error(message).help(help));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !text.chars().all(allowed) {
        return Err(item.error(format!("{} is not an error code", quoted(text))).help(help));
    }
    Ok(Code::new(text))
}
