//! The report of a comparison as Markdown, for pull requests.

use super::comparison::ComparisonView;
use super::comparison_text::{DRIFT, answer, limit};
use super::markdown::{all_escaped, table, title};
use super::{lines, objection};
use crate::markdown::{Document, escaped};

/// Formats a comparison for a pull request: the sentences first, then validity, limits and
/// differences, and the metrics in a collapsed table. It has at most 40 lines.
pub fn comparison_markdown(view: &ComparisonView) -> String {
    let mut out = Document::default();
    match answer(view).as_slice() {
        [only] => out.line(escaped(only)),
        answers => out.list(&all_escaped(answers), 7),
    }
    out.gap();
    if view.is_unpaired() {
        out.line(escaped(DRIFT));
        out.gap();
    }
    if view.has_several_differences {
        out.line(escaped(lines::SEVERAL_DIFFERENCES));
        out.gap();
    }
    out.line(format!("**{}**", view.verdict().verdict()));
    validity(&mut out, view);
    out.gap();
    let limits: Vec<String> = view.limits.iter().map(|one| limit(view, one)).collect();
    out.list(&all_escaped(&limits), 5);
    let differs = |one| format!("differs: {}", lines::difference(&view.groups, one));
    let differences: Vec<String> = view.differences.iter().map(differs).collect();
    out.list(&all_escaped(&differences), 4);
    let comparison = view.comparison.as_ref();
    out.with_table(&title(comparison), &table(&view.groups, comparison))
}

fn validity(out: &mut Document, view: &ComparisonView) {
    let groups: Vec<String> = view
        .groups
        .iter()
        .map(|group| format!("{}: {}", group.name, lines::counts(group)))
        .collect();
    out.list(&all_escaped(&groups), 4);
    let objections = view.objections.iter().map(|one| {
        let reason = objection::reason(&one.objection, &view.groups[one.objection.group].name);
        format!("{}: {reason}", one.objection.kind().name())
    });
    out.list(&all_escaped(&objections.collect::<Vec<String>>()), 3);
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.groups, one));
    let effects = lines::effects(&view.groups).into_iter();
    let found: Vec<String> = effects.chain(undeclared).chain(view.machine_lines()).collect();
    out.list(&all_escaped(&found), 3);
}
