//! Statements before and after the runs of an arm.

use std::collections::BTreeSet;

use base::{Diagnostic, Severity, Span};

use super::sections::QUESTION;
use super::statement_key::StatementKey;
use crate::check::{Overrides, check_with_tables, secret_params};
use crate::generate::Tables;
use crate::plan::FixedStatement;
use crate::read::{File, Section, line_outside, parse};
use crate::sink::Sink;
use crate::wording::quoted;

/// The workload to whose parameters statements refer.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) workload: &'c File<'c>,
    pub(super) overrides: &'c Overrides,
    pub(super) tables: &'c Tables<'c>,
}

/// Returns statements with their parameters replaced, like the statements of `[setup]`; reports
/// their errors at `span`.
pub(super) fn statements(
    context: Context<'_>,
    key: StatementKey,
    texts: &[&str],
    span: Option<Span>,
    sink: &mut Sink,
) -> Vec<FixedStatement> {
    if texts.is_empty() {
        return Vec::new();
    }
    let option = quoted(key.name());
    let file = workload_of(context, key, texts, sink);
    let (plan, found) =
        check_with_tables(&file, &context.overrides.of_whole_file(), context.tables);
    for one in found.into_iter().filter(|one| one.severity == Severity::Error) {
        let foreign = one.option.filter(|name| **name != *option);
        // Every arm reads `restore`, so the same error is found for each arm.
        sink.error_once(Diagnostic { option: foreign, span, ..one });
    }
    plan.map_or_else(Vec::new, |plan| plan.setup)
}

/// Returns a file whose only statements are these, with the parameters of the workload.
fn workload_of<'c>(
    context: Context<'c>,
    key: StatementKey,
    texts: &[&str],
    sink: &mut Sink,
) -> File<'c> {
    let option = quoted(key.name());
    let line = |text: &&str| line_outside("query", text, option.clone(), sink);
    let entries = texts.iter().filter_map(line).collect();
    let mut file = context.workload.clone();
    file.sections.retain(|section| section.name == "params");
    file.sections.push(Section { name: "setup".to_owned(), span: Span::default(), entries });
    file
}

/// Returns the parameters that are secret in the workload, or in one of these statements.
pub(super) fn secrets(context: Context<'_>, texts: &[&str]) -> BTreeSet<String> {
    let Context { workload, overrides, tables } = context;
    if workload.sections.iter().all(|section| section.name != "params") {
        return BTreeSet::new();
    }
    // Errors are reported when the statements are read.
    let statements = workload_of(context, StatementKey::Before, texts, &mut Sink::default());
    let mut found = secret_params(workload, overrides, tables);
    found.extend(secret_params(&statements, &overrides.of_whole_file(), tables));
    found
}

/// A statement that runs before or after each run of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookStatement<'a> {
    /// The name of the arm.
    pub arm: &'a str,
    /// The key that sets the statement.
    pub key: StatementKey,
    /// The number of the statement under this key, from 1.
    pub number: usize,
}

impl HookStatement<'_> {
    /// Returns the position of the statement's line in the text of an experiment file, if found.
    pub fn span_in(&self, text: &str) -> Option<Span> {
        let (file, _) = parse(text);
        let owner = match self.key {
            StatementKey::Restore => QUESTION.to_owned(),
            StatementKey::Before | StatementKey::After => format!("arm {}", self.arm),
        };
        let section = file.sections.iter().find(|section| section.name == owner)?;
        let mut lines =
            section.entries.iter().filter(|entry| entry.key().text() == self.key.name());
        lines.nth(self.number.checked_sub(1)?)?.whole().span()
    }
}

#[cfg(test)]
mod tests {
    use super::StatementKey::{After, Before, Restore};
    use super::*;

    #[test]
    fn line_of_a_statement_is_found_by_its_arm_and_number() {
        let text = "[question]\nrestore = delete from t\nrestore = select 1\n[arm a]\n\
                    before = select 2\n[arm b]\nbefore = select 3\nafter = select 4\n\
                    before = select 5\n";
        let line = |arm, key, number| {
            let span = HookStatement { arm, key, number }.span_in(text)?;
            text.get(span.start..span.end)
        };
        assert_eq!(line("a", Restore, 2), Some("restore = select 1"));
        assert_eq!(line("a", Before, 1), Some("before = select 2"));
        assert_eq!(line("b", Before, 2), Some("before = select 5"));
        assert_eq!(line("b", After, 1), Some("after = select 4"));
        assert_eq!([line("b", After, 2), line("c", After, 1), line("b", After, 0)], [None; 3]);
    }
}
