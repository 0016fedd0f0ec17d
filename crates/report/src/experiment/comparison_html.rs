//! The page of a comparison of recorded groups.

use analyze::Status;
use analyze::compare::ArmId;

use super::comparison::{ComparisonView, ObjectionView};
use super::comparison_text::{NOT_INTERLEAVED, answer, limit};
use super::figures::comparison_figures;
use super::{bets, html, lines, objection};
use crate::html::{Badge, Document, Section, links};
use crate::page::{Line, Tone, tone};

/// The sections, in their order; a comparison that is refused has no metrics.
const SECTIONS: [Section; 3] = [
    Section { id: "answer", title: "Answer" },
    Section { id: "groups", title: "Groups and their differences" },
    METRICS,
];

const METRICS: Section = Section { id: "numbers", title: "Metrics" };

/// Remark on the figures of two single runs.
const ONE_RUN_EACH: &str = "One run against one run is no verdict: the figures show what happened \
                            in both, and not what would happen again";

/// The place where a page is read, which decides its links and remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageMedium {
    /// A file written by a command.
    File,
    /// The address `overlay` of a server, next to its list of records.
    Server,
}

/// Formats a comparison as one file of HTML.
pub fn comparison_html(view: &ComparisonView) -> String {
    page(view, PageMedium::File)
}

/// Formats a comparison as a page of a server, next to its list of records. The page has a link to
/// the list, and its remedies do not assume that the reader ran a command.
pub fn served_comparison_html(view: &ComparisonView) -> String {
    page(view, PageMedium::Server)
}

fn page(view: &ComparisonView, place: PageMedium) -> String {
    let names: Vec<&str> = view.groups.iter().map(|group| group.name.as_str()).collect();
    let has_metrics = view.comparison.is_some();
    let sections = SECTIONS.into_iter().filter(|section| has_metrics || *section != METRICS);
    let sections: Vec<Section> = sections.collect();
    let mut out = Document::new(&format!("Comparison of {}", names.join(", ")), &sections);
    out.section("answer", |out| {
        sentences(out, view, place);
        if place == PageMedium::Server {
            out.markup(&links("./", None));
        }
        let figures = comparison_figures(view);
        out.figures(figures.iter().filter(|figure| has_metrics || figure.missing.is_none()));
    });
    out.section("groups", |out| groups(out, view));
    if has_metrics {
        out.section(METRICS.id, |out| {
            for arm in view.arms() {
                html::metrics(out, &view.groups, arm);
                html::pairs(out, &view.groups, arm);
            }
        });
    }
    out.into_text("Made by assay from the records of the groups.")
}

fn sentences(out: &mut Document, view: &ComparisonView, place: PageMedium) {
    answer(view).iter().for_each(|sentence| out.answer("", sentence));
    if !view.overlay.is_empty() {
        out.paragraph(ONE_RUN_EACH);
    }
    if view.is_unpaired() {
        out.paragraph(NOT_INTERLEAVED);
    }
    if view.has_several_differences {
        out.paragraph(lines::SEVERAL_DIFFERENCES);
    }
    let (words, verdict) = (view.verdict_in_words(), view.verdict());
    out.badge(Badge { words: &words, tone: tone(verdict) }, &judged_runs(view));
    let mut rows: Vec<Line> = Vec::new();
    rows.extend(view.groups.iter().map(|it| Line::new(it.name.as_str(), lines::counts(it))));
    rows.extend(objections(view, place));
    rows.extend(view.limits.iter().map(|one| Line::new("limit", limit(view, one))));
    for arm in view.arms() {
        rows.extend(bets::of_arm(arm).map(|bet| Line::new("bet", bet)));
        rows.push(Line::new("limiter", lines::limiters(&view.groups, arm)));
    }
    out.lines(&rows);
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.groups, one));
    let found = lines::effects(&view.groups).into_iter().chain(undeclared);
    out.list(&found.chain(view.machine_lines()).collect::<Vec<String>>());
}

/// Returns the number of runs that a verdict is about, and the meaning of VALID.
fn judged_runs(view: &ComparisonView) -> String {
    let runs = view.number_of_runs();
    match view.verdict() {
        Status::Pass => format!("{runs}, no check objects"),
        // The verdict already states the number of runs.
        Status::Suspect if view.has_suspect_runs() => String::new(),
        Status::Suspect | Status::Invalid | Status::NotPossible => runs,
    }
}

/// Returns one line for each different objection: with the reason if the objection was accepted,
/// otherwise with the remedy, because the answer already states the reason.
fn objections(view: &ComparisonView, place: PageMedium) -> Vec<Line> {
    let line = |one: &ObjectionView| {
        let kind = one.objection.kind().name();
        if one.is_accepted {
            let group = &view.groups[one.objection.group].name;
            let reason = objection::reason(&one.objection, group);
            return Line::new(kind, format!("accepted: {reason}")).in_tone(Tone::Doubtful);
        }
        let remedy = match place {
            PageMedium::File => objection::remedy_or_consent(&one.objection),
            PageMedium::Server => objection::remedy_in_browser(&one.objection),
        };
        Line::new(kind, format!("What to do: {remedy}")).in_tone(Tone::Bad)
    };
    let mut lines: Vec<Line> = Vec::new();
    for line in view.objections.iter().map(line) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn groups(out: &mut Document, view: &ComparisonView) {
    let line = |(place, group): (usize, &super::ArmView)| {
        let role = if view.baselines[place] == ArmId(place) { "baseline" } else { "group" };
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

#[cfg(test)]
mod tests {
    use analyze::CheckKind;
    use analyze::compare::{Objection, Problem};

    use super::super::fixtures::{comparison, experiment};
    use super::*;

    fn view(objections: &[(Problem, bool)]) -> ComparisonView {
        let view = experiment();
        let is_refused = objections.iter().any(|(_, is_accepted)| !is_accepted);
        let objection = |(problem, is_accepted): &(Problem, bool)| {
            let objection = Objection { group: 1, problem: problem.clone() };
            ObjectionView { objection, is_accepted: *is_accepted }
        };
        ComparisonView {
            groups: view.arms,
            baselines: vec![ArmId::BASELINE; 2],
            objections: objections.iter().map(objection).collect(),
            comparison: (!is_refused).then(|| comparison(-0.1)),
            repetitions: Vec::new(),
            limits: Vec::new(),
            machine: Vec::new(),
            undeclared: Vec::new(),
            differences: Vec::new(),
            has_several_differences: false,
            overlay: Vec::new(),
        }
    }

    fn invalid() -> Problem {
        Problem::Invalid { runs: 2, checks: vec![CheckKind::Drift] }
    }

    #[test]
    fn refused_comparison_has_reasons_and_remedies_and_nothing_else() {
        let ended = |run: &str| Problem::RunEnded { run: run.to_owned(), ended: None };
        let refused = [(ended("a.assay"), false), (ended("b.assay"), false), (invalid(), false)];
        let page = comparison_html(&view(&refused));
        for expected in [
            "Not compared: the run a.assay was killed, or still runs",
            "Not compared: the run b.assay was killed, or still runs",
            "Not compared: 2 runs of <code>tls</code> INVALID (drift)",
            "What to do: repeat the run, or leave it out, or accept it with \
             <code>--despite incomplete</code>",
            "<code>assay report</code> prints the remedy of each check",
            "<code>--despite invalid</code>",
        ] {
            assert_eq!(page.matches(expected).count(), 1, "{expected}: {page}");
        }
        for missing in ["<figure", "The comparison is refused", ">Metrics<"] {
            assert!(!page.contains(missing), "{missing}: {page}");
        }
    }

    #[test]
    fn page_of_a_server_names_what_a_browser_can_do() {
        let page = served_comparison_html(&view(&[(invalid(), false)]));
        for expected in [
            "<code>assay compare --despite invalid</code> accepts it",
            "<a href=\"./\">All records</a>",
        ] {
            assert_eq!(page.matches(expected).count(), 1, "{expected}: {page}");
        }
        assert!(!page.contains("or accept it"), "{page}");
    }

    #[test]
    fn accepted_objection_has_its_reason_next_to_the_metrics() {
        let page = comparison_html(&view(&[(invalid(), true)]));
        let accepted = "accepted: 2 runs of <code>tls</code> INVALID (drift)";
        for expected in [accepted, "<figure", ">Metrics<"] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        assert!(!page.contains("--despite"), "{page}");
    }
}
