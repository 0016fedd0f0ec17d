//! The answer of an experiment at the beginning of its full report for people.

use std::fmt::Write as _;

use analyze::compare::ArmComparison;
use base::printable;

use super::alarms::FalseAlarms;
use super::answer_text::AnswerText;
use super::bets;
use super::capacity::CapacityView;
use super::lines;
use super::metric_tables::{self, CONCLUSION, INTERVAL, MetricForm, PairTable};
use super::saturation::SaturationView;
use super::sentence;
use super::shown_changes;
use super::terms::is_undecided;
use super::value_list::ListLength;
use super::view::{ArmView, ExperimentView};
use super::{sweep, sweep_text};
use crate::page::{Row, Table};
use crate::text::{Style, columns};

/// Formats the answer of an experiment: the sentence first, then the question, bets, limiters,
/// validity, metrics and pairs.
pub(super) fn answer_text(view: &ExperimentView, style: &Style) -> String {
    let mut out = AnswerText::new(style);
    answer(&mut out, view);
    repetition(&mut out, view);
    out.labelled("question", [view.question.clone()]);
    match &view.capacity {
        Some(search) => write_goal(&mut out, view, search),
        None => arms(&mut out, view),
    }
    out.labelled("bet", bets::sentences(view, ListLength::Full));
    view.compared().for_each(|arm| limiters(&mut out, &view.arms, arm));
    for (number, sentence) in lines::limiter_evidence(view).iter().enumerate() {
        let is_first = number == 0 && view.sweep.is_some();
        out.entry(if is_first { "limiter" } else { "" }, sentence);
    }
    validity(&mut out, view);
    let differs = view.differences.iter().map(|one| lines::difference(&view.arms, one));
    out.labelled("differs", differs);
    out.labelled("warning", view.warnings());
    out.labelled("errors", view.errors());
    out.labelled("SLO", lines::slos(view));
    out.labelled("A/A", view.false_alarms.iter().map(FalseAlarms::line));
    for arm in view.compared() {
        metrics(&mut out, &view.arms, arm);
        pairs(&mut out, &view.arms, arm);
    }
    view.saturation.iter().for_each(|search| steps(&mut out, view, search));
    view.capacity.iter().for_each(|search| trials(&mut out, search));
    sweep_text::results(&mut out, view);
    out.labelled("note", lines::notes(view));
    let _ = writeln!(out);
    let _ = writeln!(out, "command    {}", printable(&view.command));
    if let Some(command) = view.resume() {
        let _ = writeln!(out, "resume     {}", printable(&command));
    }
    let _ = writeln!(out, "repeat     {}", printable(&view.repeat()));
    if let Some(label) = &view.label {
        out.entry("label", label);
    }
    let _ = writeln!(out, "record     {}", printable(&view.record));
    if let Some(command) = lines::explanation(view) {
        let _ = writeln!(out, "why        {command}");
    }
    out.into_text()
}

fn answer(out: &mut AnswerText, view: &ExperimentView) {
    for sentence in lines::answers(view, &view.record) {
        out.sentence(0, &sentence);
    }
}

fn repetition(out: &mut AnswerText, view: &ExperimentView) {
    let Some(repetition) = &view.repetition else { return };
    let _ = writeln!(out);
    out.sentence(0, &repetition.sentence());
    for line in repetition.lines() {
        out.sentence(2, &line);
    }
}

/// Writes the goal of a search, and the numbers of its result.
fn write_goal(out: &mut AnswerText, view: &ExperimentView, search: &CapacityView) {
    out.entry("workload", lines::workload(view));
    out.entry("search", &search.goal());
    for (number, (name, value)) in search.numbers().into_iter().enumerate() {
        if number == 0 {
            let _ = writeln!(out);
        }
        out.entry(name, &value);
    }
}

/// Writes the table of trials; nothing before the first trial.
fn trials(out: &mut AnswerText, search: &CapacityView) {
    if search.trials.is_empty() {
        return;
    }
    let _ = writeln!(out, "\ntrials");
    table(out, &search.table());
}

/// Writes the table of the steps of a search for saturation; nothing before the first step.
fn steps(out: &mut AnswerText, view: &ExperimentView, search: &SaturationView) {
    if search.steps.is_empty() {
        return;
    }
    let baseline = sentence::name_as_code(view.arms.first().map_or("", |arm| &arm.name));
    let _ = writeln!(out, "\nsteps of [saturate] on {}", printable(&baseline));
    table(out, &search.table());
}

fn arms(out: &mut AnswerText, view: &ExperimentView) {
    out.entry("workload", lines::workload(view));
    if let Some(sweep) = &view.sweep {
        out.entry("sweep", &sweep::varied_line(sweep));
        if view.arms.len() == 1 {
            return;
        }
    }
    for (place, arm) in view.arms.iter().enumerate() {
        let role = if place == 0 { "baseline" } else { "arm" };
        out.entry(role, &format!("{}: {}", arm.name, lines::differences(arm)));
    }
    if let Some(search) = &view.saturation {
        out.entry("saturate", &search.goal());
    }
    if view.has_several_differences {
        out.entry("", lines::SEVERAL_DIFFERENCES);
    }
}

fn validity(out: &mut AnswerText, view: &ExperimentView) {
    let _ = writeln!(out, "\n{}: {}", view.verdict_in_words(), view.reason());
    match &view.capacity {
        Some(search) => out.sentence(2, &search.outcomes()),
        None => {
            for arm in &view.arms {
                out.sentence(2, &format!("{}: {}", arm.name, lines::counts(arm)));
            }
        }
    }
    for check in view.objecting() {
        out.sentence(2, &format!("{}: {}", check.kind.name(), check.sentence()));
    }
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.arms, one));
    let further = lines::effects(&view.arms).into_iter().chain(undeclared);
    further.chain(lines::machine(view)).for_each(|sentence| out.sentence(2, &sentence));
}

/// Writes the limiters of the baseline and of the arm.
pub(super) fn limiters(out: &mut AnswerText, arms: &[ArmView], arm: &ArmComparison) {
    out.labelled("limiter", [lines::limiters(arms, arm)]);
    if arm.limiters[0] != arm.limiters[1] {
        out.entry("", lines::DIFFERENT_LIMITERS);
    }
}

/// Writes the table of metrics; nothing if none is shown.
pub(super) fn metrics(out: &mut AnswerText, arms: &[ArmView], arm: &ArmComparison) {
    let table = metric_tables::metrics(arms, arm, MetricForm::FullText);
    if table.is_empty() {
        return;
    }
    let _ = writeln!(out);
    let names = [arm.baseline, arm.arm].map(|of| arms[of.index()].name.clone());
    let [baseline, own] = names.each_ref().map(|name| sentence::name_as_code(name));
    let heading = format!("metrics of {own} against {baseline}");
    if metric_tables::titles_of_values(names.clone()) != names {
        let _ = writeln!(out, "{}", printable(&heading));
    }
    let shown = out.table(&table);
    if !shown.has(CONCLUSION) {
        metric_tables::conclusions(arm).iter().for_each(|it| out.sentence(2, it));
    }
    let changes = shown_changes::table_changes(arm).map(|change| (None, change));
    metric_tables::reasons(changes).iter().for_each(|reason| out.sentence(2, reason));
    let levels = lines::levels(shown_changes::table_changes(arm)).filter(|_| shown.has(INTERVAL));
    levels.iter().for_each(|levels| out.sentence(2, levels));
    out.sentence(2, lines::MEANS);
    if arm.changes.iter().any(is_undecided) {
        out.sentence(2, lines::UNDECIDED);
    }
    if arm.changes.iter().any(|change| shown_changes::is_repeated(arm, change)) {
        out.sentence(2, shown_changes::NOTE);
    }
    if arm.changes.iter().any(|change| change.is_exploratory) {
        out.sentence(2, &format!("* {}", lines::EXPLORATORY));
    }
}

/// Writes the pairs of the first metric, if the runs were interleaved.
pub(super) fn pairs(out: &mut AnswerText, arms: &[ArmView], arm: &ArmComparison) {
    let Some(pairs) = metric_tables::pairs(arms, arm, MetricForm::FullText) else { return };
    let PairTable { metric, unit, table, estimate } = pairs;
    let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
    let _ = writeln!(out, "\n{}", printable(&format!("pairs of {metric}{unit}")));
    out.table(&table);
    out.sentence(2, &format!("Hodges-Lehmann estimate of the change: {estimate}"));
}

/// Writes a table with aligned columns; the last column is wrapped at the width of the page.
fn table(out: &mut AnswerText, table: &Table) {
    let titles = table.columns.iter().map(|column| printable(&column.title).into_owned());
    let texts = |row: &Row| -> Vec<String> {
        row.cells.iter().map(|cell| printable(&cell.to_string()).into_owned()).collect()
    };
    let rows: Vec<Vec<String>> =
        [titles.collect()].into_iter().chain(table.rows.iter().map(texts)).collect();
    let width =
        |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or_default();
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    for row in &rows {
        let [cells @ .., last] = row.as_slice() else { continue };
        let mut line = String::from("  ");
        for (column, (cell, width)) in cells.iter().zip(widths.iter().copied()).enumerate() {
            let blanks = " ".repeat(width - columns(cell));
            let _ = match column {
                0 => write!(line, "{cell}{blanks}  "),
                _ => write!(line, "{blanks}{cell}  "),
            };
        }
        out.row(&line, last);
    }
}

#[cfg(test)]
mod tests {
    use analyze::compare::{ArmId, ChangeInterval, MachineChange};
    use analyze::{CheckKind, Component, Status};

    use super::super::fixtures::{comparison, experiment, run_of, text_of, with_limiters};
    use super::super::html::experiment_html;
    use super::super::view::ArmLimiter;
    use super::*;
    use crate::page::{Align, Cell};

    fn view(machine: Vec<MachineChange>) -> ExperimentView {
        ExperimentView { machine, ..experiment() }
    }

    #[test]
    fn cells_after_a_name_of_wide_characters_stay_aligned() {
        let mut of_names =
            Table::new([("arm", Align::Left), ("runs", Align::Right), ("", Align::Left)]);
        for name in ["plain", "日本語の仕事"] {
            of_names.row([name, "12", "all"].map(Cell::from));
        }
        let mut out = AnswerText::new(&Style::PLAIN);
        table(&mut out, &of_names);
        let text = out.into_text();
        let ends: Vec<usize> = text
            .lines()
            .filter_map(|line| line.find("12  "))
            .zip(text.lines().skip(1))
            .map(|(at, line)| columns(&line[..at]))
            .collect();
        assert_eq!(ends.len(), 2, "{text}");
        assert_eq!(ends[0], ends[1], "{text}");
    }

    #[test]
    fn change_of_the_machine_is_reported_and_suspect_if_it_is_decisive() {
        let interval = ChangeInterval { low: 0.07, high: 0.092 };
        let between = |is_decisive| {
            let (arm, change, alpha) = (ArmId(1), 0.081, 0.01);
            view(vec![MachineChange::BetweenArms { arm, change, interval, alpha, is_decisive }])
        };
        let text = text_of(&between(Some(true)));
        let words = "  the machine was 8.10 % slower before the runs of `tls` than before those of \
                     `plain` (99 % CI +7.00 … +9.20 %): the change of the arm may be that of the \
                     machine\n";
        assert!(text.contains(words) && text.contains("SUSPECT"), "{text}");
        let drift = view(vec![MachineChange::Drift { change: -0.2 }]);
        let words = "the machine became 20.0 % faster during the experiment";
        assert!(text_of(&drift).contains(words), "{}", text_of(&drift));
        let all = [between(Some(true)), between(Some(false)), between(None), drift];
        let verdicts = all.map(|view| view.verdict());
        assert_eq!(verdicts, [Status::Suspect, Status::Pass, Status::Pass, Status::Pass]);
        // Without a declared change of the arm, the change of the machine is compared with nothing.
        let interval = "than before those of `plain` (99 % CI +7.00 … +9.20 %)";
        let sizes = [(Some(false), ": much less than the change of the arm\n"), (None, "\n")];
        for (is_decisive, end) in sizes {
            let text = text_of(&between(is_decisive));
            assert!(text.contains(&format!("{interval}{end}")), "{text}");
        }
    }

    #[test]
    fn tables_of_a_narrow_page_fit_and_those_of_a_file_are_whole() {
        let text = |view: &ExperimentView, width| answer_text(view, &Style { color: false, width });
        let search = super::super::capacity::tests::search();
        let compared = comparison(-0.1);
        let compared = ExperimentView { comparison: Some(compared), ..experiment() };
        for view in [ExperimentView { capacity: Some(search), ..experiment() }, compared] {
            let narrow = text(&view, 70);
            assert!(narrow.lines().all(|line| line.chars().count() <= 70), "{narrow}");
            let whole = text(&view, usize::MAX);
            let is_shown = |words: &str| whole.contains(words);
            let row = "  0 % at or beyond 20ms (1 % allowed)";
            assert!(is_shown(row) || is_shown("90.0 requests/s"), "{whole}");
        }
    }

    #[test]
    fn limiter_of_an_arm_has_its_evidence() {
        let mut view = with_limiters([Component::NotSaturated; 2]);
        let because = "every request was answered".to_owned();
        let component = Component::NotSaturated;
        let limiter = ArmLimiter { component, because, runs: 5, counted_runs: 6 };
        view.arms[1].limiter = Some(limiter.clone());
        let sentence = "tls: Throughput not limited: every request was answered (in 5 of 6 runs)";
        assert_eq!(lines::limiter_evidence(&view), [sentence]);
        assert!(text_of(&view).contains(&format!("\n           {sentence}\n")));
        assert!(experiment_html(&view).contains(sentence));
        view.arms[1].limiter = Some(ArmLimiter { runs: 6, ..limiter });
        assert!(!text_of(&view).contains("of 6 runs"));
    }

    #[test]
    fn arms_with_different_limiters_are_warned_of() {
        let [cpu, lock] = [Component::DatabaseCpu, Component::DatabaseLocks];
        let text = |limiters| text_of(&with_limiters(limiters));
        let differ = text([cpu, lock]);
        let lines = "limiter    plain: database-cpu; tls: database-locks\n           The arms have \
                     different limiters: the change is not the cost of one thing\n";
        assert!(differ.contains(lines), "{differ}");
        let same = text([cpu, cpu]);
        assert!(same.contains("\nlimiter    plain: database-cpu; tls: database-cpu\n"), "{same}");
        assert!(!same.contains("different limiters"), "{same}");
    }

    #[test]
    fn arms_with_several_differences_are_warned_of() {
        let text = |has_several_differences| {
            text_of(&ExperimentView { has_several_differences, ..experiment() })
        };
        let line = "\n           The arms may differ in several things: the cause of a change is \
                    unknown\n";
        assert!(text(true).contains(line), "{}", text(true));
        assert!(!text(false).contains("several"), "{}", text(false));
    }

    #[test]
    fn checks_that_object_are_explained_by_a_command() {
        let mut view = experiment();
        assert!(!text_of(&view).contains("assay explain"));
        let [lag, drift] =
            [CheckKind::SendLag, CheckKind::Drift].map(|kind| (kind, Status::Suspect));
        view.runs = vec![run_of(0, vec![lag, drift]), run_of(0, vec![lag])];
        let text = text_of(&view);
        assert!(text.ends_with("\nwhy        assay explain drift send-lag\n"), "{text}");
    }

    #[test]
    fn repeated_runs_are_counted() {
        let repeated = |repeated: u32| {
            let mut view = experiment();
            view.arms[1].validity.runs = 8;
            view.arms[1].validity.repeated = repeated;
            text_of(&view)
        };
        assert!(repeated(2).contains("\n  tls: 8 runs; 2 repeated\n"), "{}", repeated(2));
        assert!(repeated(0).contains("\n  tls: 8 runs\n"), "{}", repeated(0));
    }

    #[test]
    fn arm_that_reaches_the_server_of_the_baseline_is_named() {
        let mut view = experiment();
        view.arms[1].effect.shares_server = true;
        let text = text_of(&view);
        let line = "\n  tls: its `url` reached the same database of the same server as that of the \
                    baseline\n";
        assert!(text.contains(line), "{text}");
        assert!(!text_of(&experiment()).contains("reached"));
    }
}
