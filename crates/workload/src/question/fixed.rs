//! Statements around the runs of an arm.

use base::{Diagnostic, Severity, Span};

use crate::check::{Overrides, check};
use crate::folder::Folder;
use crate::plan::FixedStatement;
use crate::read::{File, Section, line_outside};
use crate::sink::Sink;
use crate::wording::quoted;

/// The workload to whose parameters statements refer.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) workload: &'c File<'c>,
    pub(super) overrides: &'c Overrides,
    pub(super) folder: &'c dyn Folder,
}

/// Returns statements with their parameters replaced, like the statements of `[setup]`; reports
/// their errors at `span`.
pub(super) fn statements(
    context: Context<'_>,
    key: &str,
    texts: &[&str],
    span: Option<Span>,
    sink: &mut Sink,
) -> Vec<FixedStatement> {
    if texts.is_empty() {
        return Vec::new();
    }
    let option = quoted(key);
    let line = |text: &&str| line_outside("query", text, option.clone(), sink);
    let entries = texts.iter().filter_map(line).collect();
    let mut file = context.workload.clone();
    file.sections.retain(|section| section.name == "params");
    file.sections.push(Section { name: "setup".to_owned(), span: Span::default(), entries });
    let (plan, found) = check(&file, &context.overrides.of_whole_file(), context.folder);
    for one in found.into_iter().filter(|one| one.severity == Severity::Error) {
        let foreign = one.option.filter(|name| **name != *option);
        // Every arm reads `restore`.
        sink.error_once(Diagnostic { option: foreign, span, ..one });
    }
    plan.map_or_else(Vec::new, |plan| plan.setup)
}
