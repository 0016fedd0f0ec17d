//! The short answer of an experiment: the parts that fit a screen, the most important ones last.
//!
//! It leaves out explanations and keeps warnings. Each suspect or invalid check is included with
//! its finding and remedy, as are undeclared differences, missed SLOs, warnings and errors.

use analyze::Status;
use base::shell_word;

use super::alarms::FalseAlarms;
use super::short_tables::{MostRows, ShortTable, tables};
use super::value_list::ListLength;
use super::view::{ArmView, DifferenceView, ExperimentView};
use super::{bets, lines, sweep};
use crate::note;
use crate::number::count;
use crate::page::{Line, Remark, Tone, commands_to_continue, tone};

/// Maximum number of notes.
const MOST_NOTES: usize = 2;

/// Number of lines that each list keeps, even if the limit on rows is lower.
const LEAST_LINES: usize = 4;

/// The parts of the short answer, in the order in which they are shown.
pub(super) struct ShortExperiment {
    /// Verdict of the experiment.
    pub(super) status: Status,
    /// Question, workload, arms, and the searched or varied value.
    pub(super) subject: Vec<Line>,
    /// Numbers of a search, bets, models, and errors.
    pub(super) results: Vec<Line>,
    /// Metrics, steps, trials or points nearest to the answer.
    pub(super) tables: Vec<ShortTable>,
    /// Word of the verdict with its reason.
    pub(super) verdict: Remark,
    /// Runs by arm, or trials by outcome.
    pub(super) counts: Vec<Line>,
    /// Suspect or invalid checks with their remedies.
    pub(super) objections: Vec<Line>,
    /// Effects of the arms, undeclared differences, and changes of the machine.
    pub(super) doubts: Vec<Line>,
    /// Limiters with their evidence.
    pub(super) limiters: Vec<Remark>,
    /// Sentences that answer the question.
    pub(super) answers: Vec<Remark>,
    /// Repetition, SLOs, false alarms, and warnings.
    pub(super) remarks: Vec<Remark>,
    /// Latest notes.
    pub(super) reviews: Vec<Line>,
    /// Commands to continue with, each labelled with its purpose.
    pub(super) next: Vec<Line>,
}

impl ShortExperiment {
    /// Chooses the parts. Lists keep at least [`LEAST_LINES`] lines. If `most` allows no rows,
    /// tables still have one row, and models of a sweep are left out.
    pub(super) fn of(view: &ExperimentView, most: MostRows) -> ShortExperiment {
        let lines = most.of_each.max(LEAST_LINES);
        let status = view.verdict();
        let reason = format!(": {}", view.reason());
        let answers = lines::short_answers(view, &view.record, lines);
        ShortExperiment {
            status,
            subject: subject(view, lines),
            results: results(view, lines, most.of_each > 0),
            tables: tables(view, most),
            verdict: Remark::sentence(tone(status), view.verdict_in_words(), reason),
            counts: unlabelled_lines(limit_lines(counts(view), lines)),
            objections: objections(view),
            doubts: unlabelled_lines(limit_lines(doubts(view), lines)),
            limiters: limiters(view, lines),
            answers: limit_lines(answers, lines).iter().map(strong_remark).collect(),
            remarks: remarks(view, lines),
            reviews: labelled_lines("note", note::latest_notes(&view.notes, MOST_NOTES)),
            next: next_commands(view),
        }
    }
}

/// Returns at most `most` texts; if there are more, the last one states the number left out.
fn limit_lines(mut texts: Vec<String>, most: usize) -> Vec<String> {
    if texts.len() > most {
        let more = texts.len() - (most - 1);
        texts.truncate(most - 1);
        texts.push(format!("and {more} more in the full answer"));
    }
    texts
}

fn labelled_lines(label: &str, texts: Vec<String>) -> Vec<Line> {
    texts.into_iter().map(|text| Line::new(label, text)).collect()
}

/// Returns lines with empty labels, which are indented alike.
fn unlabelled_lines(texts: Vec<String>) -> Vec<Line> {
    labelled_lines("", texts)
}

fn strong_remark(text: impl AsRef<str>) -> Remark {
    Remark::sentence(Tone::Strong, text.as_ref(), "")
}

fn subject(view: &ExperimentView, most: usize) -> Vec<Line> {
    let mut subject = vec![
        Line::new("question", view.question.as_str()),
        Line::new("workload", lines::workload(view)),
    ];
    subject.extend(view.capacity.iter().map(|search| Line::new("search", search.goal())));
    let sweeps = view.sweep.iter();
    subject.extend(sweeps.map(|it| Line::new("sweep", sweep::short_varied_line(it))));
    if view.capacity.is_none() && (view.sweep.is_none() || view.arms.len() > 1) {
        let arms = view.arms.iter();
        let arms = arms.map(|arm| format!("{}: {}", arm.name, lines::differences(arm))).collect();
        let arms = limit_lines(arms, most).into_iter().enumerate();
        let role = |place: usize| if place == 0 { "baseline" } else { "arm" };
        subject.extend(arms.map(|(place, text)| Line::new(role(place), text)));
    }
    subject.extend(view.saturation.iter().map(|search| Line::new("saturate", search.short_goal())));
    subject.extend(view.label.iter().map(|label| Line::new("label", label.as_str())));
    subject
}

fn results(view: &ExperimentView, most: usize, with_models: bool) -> Vec<Line> {
    let numbers = view.capacity.iter().flat_map(|search| search.numbers());
    // The limiter follows below the verdict with its evidence.
    let numbers = numbers.filter(|(name, _)| *name != "limiter");
    let mut results: Vec<Line> = numbers.map(|(name, value)| Line::new(name, value)).collect();
    let bets = bets::sentences(view, ListLength::Short);
    results.extend(labelled_lines("bet", limit_lines(bets, most)));
    for (label, texts) in models(view).into_iter().filter(|_| with_models) {
        results.extend(labelled_lines(label, limit_lines(texts, most)));
    }
    results.extend(labelled_lines("errors", limit_lines(view.errors(), most)));
    results
}

/// Returns the points of a sweep that cannot be the best, and one sentence about each model.
fn models(view: &ExperimentView) -> [(&'static str, Vec<String>); 3] {
    let Some(sweep) = &view.sweep else { return Default::default() };
    let curves = view.arms.iter().zip(&sweep.curves);
    let named = |name: &str, text: String| match view.arms.len() {
        1 => text,
        _ => format!("{name}: {text}"),
    };
    let (mut excluded, mut usl, mut model) = (Vec::new(), Vec::new(), Vec::new());
    for (arm, curve) in curves {
        let name = |text: String| named(&arm.name, text);
        excluded.extend(sweep::excluded_points(sweep, curve).into_iter().map(name));
        usl.extend(curve.usl.iter().filter_map(|it| sweep::usl(it).pop()).map(name));
        model.extend(
            curve.model.iter().filter_map(|it| sweep::model(it).into_iter().next()).map(name),
        );
    }
    [("not best", excluded), ("USL", usl), ("model", model)]
}

/// Returns the numbers of runs of each arm. Arms with equal numbers share a line, unless the line
/// would list several checks or rounds. A single arm whose runs are all VALID or all SUSPECT has no
/// line if none was repeated, because the verdict states the number of runs and the checks. For a
/// capacity search, returns the numbers of trials by outcome.
pub(super) fn counts(view: &ExperimentView) -> Vec<String> {
    if let Some(search) = &view.capacity {
        return vec![search.outcomes()];
    }
    if let [ArmView { validity, .. }] = view.arms.as_slice() {
        let is_in_verdict = match view.verdict() {
            Status::Pass => true,
            Status::Suspect => validity.suspect.len() == validity.runs as usize,
            Status::Invalid | Status::NotPossible => false,
        };
        if is_in_verdict && validity.repeated == 0 {
            return Vec::new();
        }
    }
    let mut shared: Vec<(Vec<&str>, String)> = Vec::new();
    for arm in &view.arms {
        let text = lines::counts(arm);
        // A comma without a blank belongs to a number, such as 1,000.
        let is_plain = !text.contains(", ");
        match shared.iter_mut().find(|(_, known)| is_plain && *known == text) {
            Some((names, _)) => names.push(&arm.name),
            None => shared.push((vec![&arm.name], text)),
        }
    }
    let line = |(names, text): (Vec<&str>, String)| match names.as_slice() {
        [only] => format!("{only}: {text}"),
        [first, second, third, _, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more: {}", rest.len() + 1, with_each(&text))
        }
        all => format!("{}: {}", all.join(", "), with_each(&text)),
    };
    shared.into_iter().map(line).collect()
}

/// Adds `each` to a number of runs that applies to each of several arms: `6 runs each; 6 SUSPECT
/// (drift)`.
fn with_each(counts: &str) -> String {
    match counts.split_once("; ") {
        Some((runs, rest)) => format!("{runs} each; {rest}"),
        None => format!("{counts} each"),
    }
}

fn objections(view: &ExperimentView) -> Vec<Line> {
    let mut objections = Vec::new();
    for check in view.objecting() {
        let remedy = format!("What to do: {}", check.remedy);
        let (finding, remedy) = match check.finding {
            Some(finding) => (finding, Some(remedy)),
            None => (remedy, None),
        };
        objections.push(Line::new(check.kind.name(), finding).in_tone(tone(check.status)));
        objections.extend(remedy.map(Line::remark));
    }
    objections
}

fn doubts(view: &ExperimentView) -> Vec<String> {
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.arms, one));
    let is_durability = |one: &&DifferenceView| one.kind == "durability";
    let durability = view.differences.iter().filter(is_durability);
    let durability =
        durability.map(|one| format!("differs: {}", lines::difference(&view.arms, one)));
    let effects = lines::effects(&view.arms);
    undeclared.chain(durability).chain(lines::machine(view)).chain(effects).collect()
}

fn limiters(view: &ExperimentView, most: usize) -> Vec<Remark> {
    let sentences = limit_lines(lines::limiters_once(view), most).into_iter();
    let mut remarks: Vec<Remark> =
        sentences.map(|text| Remark::sentence(Tone::Plain, text, "")).collect();
    if lines::has_different_limiters(view) {
        remarks.push(Remark::sentence(Tone::Doubtful, lines::DIFFERENT_LIMITERS, ""));
    }
    remarks
}

fn remarks(view: &ExperimentView, most: usize) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some(repetition) = &view.repetition {
        remarks.push(strong_remark(repetition.sentence()));
        remarks.extend(limit_lines(repetition.short_lines(), most).into_iter().map(Remark::note));
    }
    if view.has_several_differences {
        remarks.push(Remark::sentence(Tone::Doubtful, lines::SEVERAL_DIFFERENCES, ""));
    }
    remarks.extend(slos(view, most));
    let alarms = view.false_alarms.iter().map(FalseAlarms::line);
    remarks.extend(alarms.map(|line| Remark::sentence(Tone::Plain, "A/A", format!(": {line}"))));
    let warnings = limit_lines(view.warnings(), most).into_iter();
    let warning = |text: String| Remark::sentence(Tone::Doubtful, "Warning", format!(": {text}"));
    remarks.extend(warnings.map(warning));
    remarks
}

/// Returns remarks on the SLOs that were missed. If none was missed and the experiment is not
/// INVALID, returns one remark that all were met.
fn slos(view: &ExperimentView, most: usize) -> Vec<Remark> {
    let all: Vec<_> = view.arms.iter().flat_map(|arm| &arm.slos).collect();
    if view.capacity.is_some() || all.is_empty() {
        return Vec::new();
    }
    let missed = lines::slos_with(view, |slo| slo.missed > 0);
    if missed.is_empty() {
        let of_first = view.arms[0].slos.len() as u64;
        let rest = format!(": {} in each arm", count(of_first, "condition"));
        let met = Remark::sentence(Tone::Good, "Every SLO is met in every run", rest);
        return if view.verdict() == Status::Invalid { Vec::new() } else { vec![met] };
    }
    let missed = limit_lines(missed, most).into_iter();
    missed.map(|text| Remark::sentence(Tone::Bad, "SLO", format!(" of {text}"))).collect()
}

fn next_commands(view: &ExperimentView) -> Vec<Line> {
    let file = view.file();
    let page = format!("{}.html", file.strip_suffix(".assay").unwrap_or(file));
    let report = format!("assay report {}", shell_word(&view.record));
    let mut next = commands_to_continue(&report, &page, lines::explanation(view));
    next.extend(view.resume().map(|command| Line::new("resume", command)));
    next.push(Line::new("repeat", view.repeat()));
    next
}

#[cfg(test)]
mod tests {
    use analyze::CheckKind;

    use super::super::fixtures::experiment;
    use super::*;

    #[test]
    fn arms_share_a_line_unless_it_lists_several_rounds() {
        let check = |rounds: &[u32], expected: &[&str]| {
            let mut view = experiment();
            for arm in &mut view.arms {
                let suspect = rounds.iter().map(|round| (*round, vec![CheckKind::Drift]));
                (arm.validity.runs, arm.validity.suspect) = (1_000, suspect.collect());
            }
            assert_eq!(counts(&view), expected);
        };
        check(&[], &["plain, tls: 1,000 runs each"]);
        let [plain, tls] = ["plain", "tls"]
            .map(|arm| format!("{arm}: 1,000 runs; 2 SUSPECT (drift) in rounds 1, 2"));
        check(&[0, 1], &[plain.as_str(), tls.as_str()]);
    }
}
