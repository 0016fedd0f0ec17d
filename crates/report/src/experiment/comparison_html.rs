//! The page of a comparison of recorded groups.

use super::charts::comparison_figures;
use super::comparison::ComparisonView;
use super::comparison_text::{DRIFT, answer, limit};
use super::{html, lines, objection};
use crate::html::{Document, Section};
use crate::page::{Line, Tone};

/// The sections, in their order.
const SECTIONS: [Section; 3] = [
    Section { id: "answer", title: "Answer" },
    Section { id: "groups", title: "Groups and their differences" },
    Section { id: "numbers", title: "Metrics" },
];

/// Remark on the figures of two single runs.
const ONE_RUN_EACH: &str = "One run against one run is no verdict: the figures show what happened \
                            in both, and not what would happen again";

/// Formats a comparison as one file of HTML.
pub fn comparison_html(view: &ComparisonView) -> String {
    let names: Vec<&str> = view.groups.iter().map(|group| group.name.as_str()).collect();
    let mut out = Document::new(&format!("Comparison of {}", names.join(", ")), &SECTIONS);
    out.section("answer", |out| {
        sentences(out, view);
        out.figures(&comparison_figures(view));
    });
    out.section("groups", |out| groups(out, view));
    out.section("numbers", |out| {
        for arm in view.arms() {
            html::metrics(out, &view.groups, arm);
            html::pairs(out, &view.groups, arm);
        }
    });
    out.into_text("Made by assay from the records of the groups.")
}

fn sentences(out: &mut Document, view: &ComparisonView) {
    answer(view).iter().for_each(|sentence| out.answer("", sentence));
    if !view.overlay.is_empty() {
        out.paragraph(ONE_RUN_EACH);
    }
    if view.is_unpaired() {
        out.paragraph(DRIFT);
    }
    let runs: u64 = view.groups.iter().map(|group| u64::from(group.validity.runs)).sum();
    out.badge(html::badge(view.verdict()), &html::judged(view.verdict(), runs));
    let mut rows: Vec<Line> = Vec::new();
    rows.extend(view.groups.iter().map(|it| Line::new(it.name.as_str(), lines::counts(it))));
    rows.extend(view.objections.iter().map(|one| {
        let reason = objection::reason(&one.objection, &view.groups[one.objection.group].name);
        let (tone, rest) = match one.is_accepted {
            true => (Tone::Doubtful, "accepted".to_owned()),
            false => (Tone::Bad, objection::remedy(&one.objection.problem).to_owned()),
        };
        let text = format!("{reason}. {rest}");
        Line { tone, ..Line::new(one.objection.kind().name(), text) }
    }));
    rows.extend(view.limits.iter().map(|one| Line::new("limit", limit(view, one))));
    for arm in view.arms() {
        rows.extend(lines::bets(arm).map(|bet| Line::new("bet", bet)));
        rows.push(Line::new("limiter", lines::limiters(&view.groups, arm)));
    }
    out.lines(&rows);
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.groups, one));
    let found = lines::effects(&view.groups).into_iter().chain(undeclared);
    out.list(&found.chain(view.machine_lines()).collect::<Vec<String>>());
}

fn groups(out: &mut Document, view: &ComparisonView) {
    let line = |(place, group): (usize, &super::ArmView)| {
        let role = if view.baselines[place] == place { "baseline" } else { "group" };
        let text = match group.differences.is_empty() {
            true => group.name.clone(),
            false => format!("{}: {}", group.name, lines::differences(group)),
        };
        Line::new(role, text)
    };
    out.lines(&view.groups.iter().enumerate().map(line).collect::<Vec<Line>>());
    let differs = view.differences.iter().map(|one| lines::difference(&view.groups, one));
    out.lines(&differs.map(|text| Line::new("differs", text)).collect::<Vec<Line>>());
}
