//! The report of an experiment as HTML.

use std::iter::{once, repeat};

use analyze::compare::ArmComparison;

use super::alarms::FalseAlarms;
use super::appendix::Appendix;
use super::capacity::CapacityView;
use super::figures::{experiment_figures, figure_with_evidence};
use super::metric_tables::{self, MetricForm};
use super::saturation::SaturationView;
use super::sentence;
use super::shown_changes;
use super::terms::is_undecided;
use super::value_list::ListLength;
use super::view::{ArmView, DifferenceView, ExperimentView, RunPhase, RunView};
use super::{appendix_html, bets, lines, short, sweep, sweep_html};
use crate::figure::Figure;
use crate::html::{Badge, Caption, Document, Section, excerpt_sections, sections_of_excerpts};
use crate::note;
use crate::number::count;
use crate::page::{Align, ExcerptSection, Line, Table, measured_on, tone};

/// Formats the answer of an experiment as one file of HTML.
pub fn experiment_html(view: &ExperimentView) -> String {
    let excerpts = view.excerpt_section();
    let mut out = Document::new(&view.question, &sections(view, &excerpts));
    let figures = experiment_figures(view);
    out.section("answer", |out| {
        answer(out, view);
        let (empty, drawn): (Vec<&Figure>, Vec<&Figure>) =
            figures.iter().partition(|figure| figure.missing.is_some());
        out.links_to_figures(&evidence(view, &drawn));
        out.figures(drawn.into_iter().chain(empty));
    });
    out.section("question", |out| question(out, view));
    out.section("numbers", |out| numbers(out, view));
    excerpt_sections(&mut out, &excerpts);
    out.section("runs", |out| {
        let steps = view.saturation.iter().map(SaturationView::table);
        steps.for_each(|table| out.table("Steps of the search for saturation", &table));
        runs(out, view);
    });
    let appendix = Appendix::of(view);
    out.section("checks", |out| appendix_html::checks(out, view, &appendix));
    out.section("environment", |out| appendix_html::facts(out, view, &appendix.environment));
    out.section("servers", |out| appendix_html::facts(out, view, &appendix.servers));
    out.section("repeat", |out| {
        appendix_html::plan(out, view);
        out.heading("Commands");
        out.preformatted(&view.command);
        if let Some(command) = view.repeat_in_its_folder() {
            out.preformatted(&command);
        }
        lines::explanation(view).iter().for_each(|command| out.preformatted(command));
        view.resume_in_its_folder().iter().for_each(|command| out.preformatted(command));
        out.lines(&[Line::new("record", view.file())]);
    });
    out.into_text("Made by assay from the record of an experiment.")
}

/// Returns the figures of a sweep that show the evidence for the limiters of its points, each with
/// its index among all figures.
fn evidence<'f>(view: &ExperimentView, drawn: &[&'f Figure]) -> Vec<(usize, &'f Figure)> {
    let limiters = view.sweep.iter().flat_map(|sweep| view.limiters_of_sweep(sweep));
    let names = limiters.filter_map(|(_, limiter)| figure_with_evidence(limiter.component));
    let names: Vec<&str> = names.collect();
    let figures = drawn.iter().copied().enumerate();
    figures.filter(|(_, figure)| names.contains(&figure.name.as_str())).collect()
}

/// Returns the sections, in their order.
fn sections(view: &ExperimentView, excerpts: &ExcerptSection) -> Vec<Section> {
    let (question, numbers) = match (&view.capacity, &view.sweep) {
        (Some(_), _) => ("Question and search", "Trials"),
        (None, Some(_)) => ("Question and sweep", "Points"),
        (None, None) => ("Question and arms", "Metrics"),
    };
    let before = [
        Section { id: "answer", title: "Answer" },
        Section { id: "question", title: question },
        Section { id: "numbers", title: numbers },
    ];
    let after = [
        Section { id: "runs", title: "Runs" },
        Section { id: "checks", title: "Checks" },
        Section { id: "environment", title: "Environment" },
        Section { id: "servers", title: "Servers and their settings" },
        Section { id: "repeat", title: "Plan, and how to repeat it" },
    ];
    before.into_iter().chain(sections_of_excerpts(excerpts)).chain(after).collect()
}

fn numbers(out: &mut Document, view: &ExperimentView) {
    if let Some(search) = &view.capacity {
        return out.table("Trials", &search.table());
    }
    if let Some(sweep) = &view.sweep {
        return sweep_html::points(out, view, sweep);
    }
    let compared: &[ArmComparison] = view.comparison.as_ref().map_or(&[], |it| &it.arms);
    if compared.is_empty() {
        out.paragraph("There is no comparison yet: too few rounds are complete.");
    }
    for arm in compared {
        metrics(out, &view.arms, arm);
        pairs(out, &view.arms, arm);
    }
}

fn answer(out: &mut Document, view: &ExperimentView) {
    let answers = lines::first_answers(view, view.file());
    answers.iter().for_each(|sentence| out.answer("", sentence));
    if let Some(repetition) = &view.repetition {
        out.paragraph(&repetition.sentence());
        out.list(&repetition.lines());
    }
    let words = view.verdict_in_words();
    out.badge(Badge { words: &words, tone: tone(view.verdict()) }, &view.reason());
    view.resume_in_its_folder().iter().for_each(|command| out.preformatted(command));
    let mut rows = AnswerLines::default();
    let reasons = view.capacity.iter().flat_map(CapacityView::reasons);
    rows.first.extend(reasons.map(|(name, value)| Line::new(name, value)));
    rows.add("limiter", lines::limiters_once(view));
    if lines::has_different_limiters(view) {
        rows.first.push(Line::new("", lines::DIFFERENT_LIMITERS));
    }
    let mut doubts = doubts(view).into_iter();
    let first = doubts.next();
    let mut errors = view.errors().into_iter();
    // The most frequent error is shown as the first reason to doubt if there is no other reason.
    let shown = errors.by_ref().take(usize::from(first.is_none()));
    let shown: Vec<Line> = labelled_lines("errors", shown).collect();
    let hidden: Vec<Line> = labelled_lines("errors", errors).collect();
    rows.first.extend(first);
    rows.folded.extend(doubts);
    rows.add("measured on", measured_on(|name| view.facts.distinct(name)));
    rows.add("values", lines::measured_values(view));
    rows.add("bet", bets::sentences(view, ListLength::Short));
    let label = if view.capacity.is_some() { "trials" } else { "runs" };
    rows.add(label, short::counts(view));
    rows.add("SLO", lines::slos(view));
    rows.add("A/A", view.false_alarms.iter().map(FalseAlarms::line));
    let (earlier, latest) = note::split_latest(&view.notes, MOST_OF_KIND);
    rows.first.extend(labelled_lines("note", latest.iter().map(note::sentence)));
    rows.folded.extend(labelled_lines("earlier notes", earlier.iter().map(note::sentence)));
    let (durability, others): (Vec<&DifferenceView>, Vec<&DifferenceView>) =
        view.differences.iter().partition(|one| one.kind == "durability");
    let differs = |one: &DifferenceView| lines::difference(&view.arms, one);
    rows.add("differs", durability.into_iter().map(differs));
    rows.folded.extend(labelled_lines("differs", others.into_iter().map(differs)));
    let all_answers = lines::answers(view, view.file());
    if all_answers != answers {
        rows.folded.extend(labelled_lines("answer", all_answers));
    }
    out.lines(&rows.first);
    out.quotations(&shown);
    write_folded(out, &rows.folded, &hidden);
}

/// Maximum number of lines of one kind on the first screen.
const MOST_OF_KIND: usize = 3;

/// The lines below the verdict.
#[derive(Default)]
struct AnswerLines {
    /// Lines of the first screen.
    first: Vec<Line>,
    /// Lines that would push the figures below the first screen.
    folded: Vec<Line>,
}

impl AnswerLines {
    /// Adds lines of one kind; the lines beyond [`MOST_OF_KIND`] are folded.
    fn add(&mut self, label: &str, texts: impl IntoIterator<Item = String>) {
        let mut texts = texts.into_iter();
        self.first.extend(labelled_lines(label, texts.by_ref().take(MOST_OF_KIND)));
        self.folded.extend(labelled_lines(label, texts));
    }
}

/// Returns the reasons to doubt the answer, the suspect or invalid checks first.
fn doubts(view: &ExperimentView) -> Vec<Line> {
    let objecting = view.objecting().into_iter();
    let checks = objecting
        .map(|check| Line::new(check.kind.name(), check.sentence()).in_tone(tone(check.status)));
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.arms, one));
    let others = [
        ("difference", undeclared.collect::<Vec<String>>()),
        ("machine", lines::machine(view)),
        ("warning", view.warnings()),
        ("effect", lines::effects(&view.arms)),
    ];
    let line = |(label, texts): (&'static str, Vec<String>)| {
        texts.into_iter().map(move |text| Line::new(label, text))
    };
    checks.chain(others.into_iter().flat_map(line)).collect()
}

/// Writes lines that are folded unless there is only one. `errors` are written as quotations.
fn write_folded(out: &mut Document, lines: &[Line], errors: &[Line]) {
    let write = |out: &mut Document| {
        out.lines(lines);
        out.quotations(errors);
    };
    let mut labels: Vec<&str> = Vec::new();
    for line in lines.iter().chain(errors) {
        if !line.label.is_empty() && !labels.contains(&line.label.as_str()) {
            labels.push(&line.label);
        }
    }
    match lines.len() + errors.len() {
        0 | 1 => write(out),
        more => {
            let more = count(more as u64, "more remark");
            out.folded(&format!("{more}: {}", labels.join(", ")), write);
        }
    }
}

/// Returns lines; the first one has the label.
fn labelled_lines<'l>(
    label: &'l str,
    texts: impl IntoIterator<Item = String> + 'l,
) -> impl Iterator<Item = Line> + 'l {
    let labels = once(label).chain(repeat(""));
    labels.zip(texts).map(|(label, text)| Line::new(label, text))
}

fn question(out: &mut Document, view: &ExperimentView) {
    let mut entries = vec![
        Line::new("question", view.question.as_str()),
        Line::new("workload", lines::workload(view)),
    ];
    entries.extend(view.label.iter().map(|label| Line::new("label", label.as_str())));
    if let Some(search) = &view.capacity {
        entries.push(Line::new("search", search.goal()));
        entries.extend(search.numbers().into_iter().map(|(name, value)| Line::new(name, value)));
        return out.lines(&entries);
    }
    if let Some(varied) = &view.sweep {
        entries.push(Line::new("sweep", sweep::varied_line(varied)));
    }
    let arms = if view.sweep.is_some() && view.arms.len() == 1 { &[] } else { &view.arms[..] };
    for (place, arm) in arms.iter().enumerate() {
        let role = if place == 0 { "baseline" } else { "arm" };
        let differences = lines::differences(arm);
        entries.push(Line::new(role, format!("{}: {differences}", arm.name)));
    }
    entries.extend(view.saturation.iter().map(|search| Line::new("saturate", search.goal())));
    out.lines(&entries);
    if view.has_several_differences {
        out.paragraph(lines::SEVERAL_DIFFERENCES);
    }
}

/// Writes the metrics of an arm.
pub(super) fn metrics(out: &mut Document, arms: &[ArmView], arm: &ArmComparison) {
    let [baseline, own] =
        [arm.baseline, arm.arm].map(|of| sentence::name_as_code(&arms[of.index()].name));
    let table = metric_tables::metrics(arms, arm, MetricForm::Page);
    out.table(&format!("Metrics of {own} against {baseline}"), &table);
    out.paragraph(&format!("The {}.", lines::MEANS));
    if arm.changes.iter().any(is_undecided) {
        out.paragraph(lines::UNDECIDED);
    }
    if arm.changes.iter().any(|change| change.is_exploratory) {
        out.paragraph(&format!("* {}", lines::EXPLORATORY));
    }
    if arm.changes.iter().any(|change| shown_changes::is_repeated(arm, change)) {
        out.paragraph(&format!("{}.", shown_changes::NOTE));
    }
}

/// Writes the pairs of the first metric, if the runs were interleaved.
pub(super) fn pairs(out: &mut Document, arms: &[ArmView], arm: &ArmComparison) {
    let Some(pairs) = metric_tables::pairs(arms, arm, MetricForm::Page) else { return };
    // A reader can save each table as a file, and equal names of files would collide.
    let [baseline, own] =
        [arm.baseline, arm.arm].map(|of| sentence::name_as_code(&arms[of.index()].name));
    let of_arm = match arms.len() {
        0..=2 => String::new(),
        _ => format!(" of {own} against {baseline}"),
    };
    let name = format!("Pairs of {}{of_arm}", pairs.metric);
    let unit = (!pairs.unit.is_empty()).then(|| format!("in {}", pairs.unit));
    out.table_with(Caption { name: &name, remark: unit.as_deref() }, &pairs.table);
}

fn runs(out: &mut Document, view: &ExperimentView) {
    let has_points = view.runs.iter().any(|run| run.point.is_some());
    let row = |run: &RunView| {
        let mut row = vec![
            run.number.to_string(),
            match run.phase {
                RunPhase::Saturate => format!("step {}", run.round + 1),
                RunPhase::Compare | RunPhase::Sweep | RunPhase::Capacity => {
                    (run.round + 1).to_string()
                }
            },
            view.arms[run.arm.index()].name.clone(),
        ];
        row.extend(has_points.then(|| run.point.clone().unwrap_or_default()));
        row.extend([
            run.state.to_owned(),
            run.verdict.verdict().to_owned(),
            run.objections.iter().map(|(kind, _)| kind.name()).collect::<Vec<_>>().join(", "),
        ]);
        row
    };
    let mut columns = vec![("run", Align::Right), ("round", Align::Right), ("arm", Align::Left)];
    columns.extend(has_points.then_some(("value", Align::Right)));
    columns.extend(["use", "verdict", "objections"].map(|title| (title, Align::Left)));
    let rows: Vec<Vec<String>> = view.runs.iter().map(row).collect();
    out.table("Runs, in the order of time", &Table::of_texts(&columns, &rows));
}

#[cfg(test)]
mod tests {
    use analyze::compare::ArmId;
    use analyze::curve::Ranking;
    use analyze::{CheckKind, Component, ErrorSummary, Status};
    use base::{Class, Code, WallTime};
    use record::Note;

    use super::super::fixtures::{experiment, long_sweep, run_of, with_limiters};
    use super::super::remarks::JobRemark;
    use super::super::view::ArmLimiter;
    use super::*;

    #[test]
    fn page_warns_of_different_limiters_and_several_differences() {
        let [cpu, lock] = [Component::DatabaseCpu, Component::DatabaseLocks];
        let warnings = [lines::DIFFERENT_LIMITERS, lines::SEVERAL_DIFFERENCES];
        let warned = |limiters: [Component; 2], has_several_differences: bool| {
            let view = ExperimentView { has_several_differences, ..with_limiters(limiters) };
            let page = experiment_html(&view);
            warnings.map(|warning| page.contains(warning))
        };
        assert_eq!(warned([cpu, lock], false), [true, false]);
        assert_eq!(warned([cpu, cpu], true), [false, true]);
    }

    #[test]
    fn first_screen_names_each_limiter_and_number_of_runs_once() {
        let mut view = with_limiters([Component::DatabaseCpu; 2]);
        for arm in &mut view.arms {
            arm.validity.runs = 6;
            let because = "its processes used 2 of 2 processors".to_owned();
            let (component, runs) = (Component::DatabaseCpu, 6);
            arm.limiter = Some(ArmLimiter { component, because, runs, counted_runs: runs });
        }
        let page = experiment_html(&view);
        let (answer, rest) = page.split_once("<section id=\"question\"").expect("two sections");
        assert_eq!(answer.matches("plain, tls: The processors of the database").count(), 1);
        assert_eq!(answer.matches("plain, tls: 6 runs each").count(), 1, "{answer}");
        assert!(!answer.contains("database-cpu"), "{answer}");
        assert!(rest.contains("plain: database-cpu; tls: database-cpu"), "{rest}");
    }

    #[test]
    fn page_of_many_points_has_the_complete_sentences_folded() {
        let sweep = long_sweep(90, Ranking::Tie);
        let view = ExperimentView { sweep: Some(sweep), ..experiment() };
        let page = experiment_html(&view).replace('\u{a0}', " ");
        let (before, folded) = page.split_once("<details>").expect("folded lines");
        assert!(before.contains("49, 50 and 81 more (less than "), "{before}");
        assert!(!before.contains("88, 89, 90"), "{before}");
        assert!(folded.contains("ties: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "), "{folded}");
    }

    #[test]
    fn limiter_and_first_doubt_precede_the_folded_ones() {
        let mut view = with_limiters([Component::DatabaseCpu; 2]);
        let kinds = [CheckKind::SendLag, CheckKind::StolenTime, CheckKind::Errors];
        view.runs = vec![run_of(1, kinds.map(|kind| (kind, Status::Suspect)).to_vec())];
        view.arms[1].validity.suspect = vec![(0, kinds.to_vec())];
        view.arms[1].effect.not_read_back = vec!["option.via".to_owned()];
        let page = experiment_html(&view).replace('\u{a0}', " ");
        let (before, rest) = page.split_once("<details>").expect("folded lines");
        let (folded, after) = rest.split_once("</details>").expect("an end");
        assert!(before.contains("SUSPECT") && after.contains("<figure"), "{page}");
        let place = |label: &str| before.find(&format!("<bdi>{label}</bdi></dt>"));
        let [limiter, first] = ["limiter", "send-lag"].map(|label| place(label).expect(label));
        assert!(limiter < first && place("errors").is_none(), "{before}");
        for words in [
            "<summary>3 more remarks: stolen-time, errors, effect</summary>",
            "measure on a machine that is your own",
            "read the first text of each error",
            "tls: not read back: option.via",
        ] {
            assert!(folded.contains(words), "{words}: {folded}");
        }
    }

    #[test]
    fn errors_are_on_the_first_screen_if_nothing_else_is_doubtful() {
        let mut view = experiment();
        let error = |code| JobRemark {
            arm: ArmId::BASELINE,
            job: "read".to_owned(),
            runs: 1,
            fact: ErrorSummary {
                class: Class::Server,
                code: Code::new(code),
                count: 2,
                text: Some(format!("text of {code}")),
            },
        };
        view.remarks.errors = ["23505", "40001"].map(error).to_vec();
        let page = experiment_html(&view);
        let (before, folded) = page.split_once("text of 40001").expect("the second error");
        assert!(before.contains("text of 23505") && !folded.contains("text of 23505"), "{page}");
        view.remarks.errors.push(error("57014"));
        let page = experiment_html(&view).replace('\u{a0}', " ");
        assert!(page.contains("<summary>2 more remarks: errors</summary>"), "{page}");
        view.arms[1].effect.not_read_back = vec!["option.via".to_owned()];
        let page = experiment_html(&view);
        let (before, folded) = page.split_once("<details>").expect("folded lines");
        assert!(before.contains("option.via") && !before.contains("text of"), "{page}");
        assert!(folded.contains("text of 23505") && folded.contains("text of 40001"), "{page}");
    }

    #[test]
    fn single_doubt_is_not_folded() {
        let mut view = experiment();
        view.arms[1].effect.not_read_back = vec!["option.via".to_owned()];
        let page = experiment_html(&view);
        assert!(!page.contains("<details>") && page.contains("not read back"), "{page}");
    }

    #[test]
    fn latest_notes_are_shown_and_earlier_ones_folded_the_oldest_first() {
        let note = |day: i64| {
            let at = WallTime(day * 86_400_000_000_000);
            Note { at, author: Some("ann".to_owned()), text: format!("day {day}") }
        };
        let view = ExperimentView { notes: (1..=5).map(note).collect(), ..experiment() };
        let page = experiment_html(&view).replace('\u{a0}', " ");
        let (shown, folded) = page.split_once("<details>").expect("folded lines");
        let order = |text: &str| -> Vec<String> {
            let days = text.split("ann: day ").skip(1);
            days.map(|rest| rest[..1].to_owned()).collect()
        };
        assert_eq!([order(shown), order(folded)], [vec!["3", "4", "5"], vec!["1", "2"]], "{page}");
        assert!(folded.contains("<summary>2 more remarks: earlier notes</summary>"), "{page}");
    }

    #[test]
    fn texts_of_files_are_escaped_on_the_page_of_an_experiment() {
        let mut view = with_limiters([Component::DatabaseCpu; 2]);
        let odd = "<script>\"'&\u{202e}\u{7}";
        let long = format!("{odd}{}", "x".repeat(300));
        view.question.clone_from(&long);
        (view.workload, view.label) = (Some(odd.into()), Some(odd.into()));
        (view.command, view.record) = (long.clone(), format!("{odd}.assay"));
        for arm in &mut view.arms {
            arm.name = long.clone();
            arm.differences = vec![(odd.to_owned(), odd.to_owned())];
            arm.effect.not_read_back = vec![odd.to_owned()];
        }
        view.runs = vec![run_of(0, Vec::new()), run_of(1, Vec::new())];
        let page = experiment_html(&view);
        assert_eq!(page.matches("<script>").count(), 1, "the script of the page alone");
        let controls = ['\u{202e}', '\u{7}'];
        assert_eq!(page.find(controls), None);
        let whole = format!("&lt;script&gt;&quot;&#39;&amp;[U+202E][U+0007]{}", "x".repeat(300));
        assert!(page.contains(&format!("<h1><bdi>{whole}</bdi></h1>")), "{page}");
        assert!(page.matches(&whole).count() > 5, "each text is shown");
    }

    #[test]
    fn pairs_of_several_arms_are_files_of_different_names() {
        let mut view = with_limiters([Component::DatabaseCpu; 2]);
        let names = |view: &ExperimentView| {
            let page = experiment_html(view);
            let links = page.split("download=\"pairs-of-").skip(1);
            links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(names(&view), ["throughput-read.csv"]);
        view.arms.push(ArmView { name: "third".to_owned(), ..view.arms[1].clone() });
        let compared = &mut view.comparison.as_mut().unwrap().arms;
        let third = ArmComparison { arm: ArmId(2), ..compared[0].clone() };
        compared.push(third);
        let expected =
            ["tls", "third"].map(|arm| format!("throughput-read-of-{arm}-against-plain.csv"));
        assert_eq!(names(&view), expected);
    }

    #[test]
    fn page_names_what_was_not_read_back() {
        let mut view = experiment();
        view.arms[1].effect.not_read_back = vec!["option.via".to_owned()];
        let page = experiment_html(&view);
        assert!(page.contains("tls: not read back: option.via"), "{page}");
    }

    #[test]
    fn steps_of_a_search_are_distinguished_from_rounds() {
        let run = |number: u32, phase: RunPhase| RunView { number, phase, ..run_of(0, Vec::new()) };
        let runs = vec![run(1, RunPhase::Saturate), run(2, RunPhase::Compare)];
        let page = experiment_html(&ExperimentView { runs, ..experiment() });
        let row = |run: u32, round: &str| {
            let [run, round] = [run.to_string(), round.to_owned()]
                .map(|cell| format!("<td class=\"number\"><bdi>{cell}</bdi></td>"));
            format!("<tr>{run}{round}")
        };
        assert!(page.contains(&row(1, "step 1")) && page.contains(&row(2, "1")), "{page}");
    }
}
