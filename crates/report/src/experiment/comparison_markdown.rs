//! The report of a comparison as Markdown, for pull requests.

use analyze::compare::{JudgedLimit, RegressionOutcome};

use super::comparison::ComparisonView;
use super::comparison_text::{NOT_INTERLEAVED, answer, limit};
use super::markdown::{all_escaped, table, title};
use super::view::ArmView;
use super::{lines, objection};
use crate::markdown::{Document, Rank, escaped};

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
        out.line(escaped(NOT_INTERLEAVED));
        out.gap();
    }
    if view.has_several_differences {
        out.line(escaped(lines::SEVERAL_DIFFERENCES));
        out.gap();
    }
    out.line(format!("**{}**", view.verdict_in_words()));
    validity(&mut out, view);
    out.gap();
    let limits = view.limits.iter().map(|one| (rank(one), escaped(&limit(view, one))));
    out.ranked_list(&limits.collect::<Vec<(Rank, String)>>(), 5);
    let differs = |one| format!("differs: {}", lines::difference(&view.groups, one));
    let differences: Vec<String> = view.differences.iter().map(differs).collect();
    out.list(&all_escaped(&differences), 4);
    let comparison = view.comparison.as_ref();
    out.with_table(&title(comparison), &table(&view.groups, comparison))
}

fn rank(limit: &JudgedLimit) -> Rank {
    match limit.outcome {
        Ok(RegressionOutcome::Exceeded) | Err(_) => Rank::Decisive,
        Ok(RegressionOutcome::Undecided) => Rank::Doubtful,
        Ok(RegressionOutcome::Within) => Rank::Ordinary,
    }
}

fn validity(out: &mut Document, view: &ComparisonView) {
    let group = |group: &ArmView| {
        let text = format!("{}: {}", group.name, lines::counts(group));
        (Rank::from(group.validity.status()), escaped(&text))
    };
    out.ranked_list(&view.groups.iter().map(group).collect::<Vec<(Rank, String)>>(), 4);
    let objections = view.objections.iter().map(|one| {
        let reason = objection::reason(&one.objection, &view.groups[one.objection.group].name);
        format!("{}: {reason}", one.objection.kind().name())
    });
    out.list(&all_escaped(&objections.collect::<Vec<String>>()), 3);
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.groups, one));
    let effects = lines::effects(&view.groups).into_iter();
    let found: Vec<String> = undeclared.chain(view.machine_lines()).chain(effects).collect();
    out.list(&all_escaped(&found), 3);
}
