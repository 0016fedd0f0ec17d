//! The report of an experiment as Markdown, for pull requests.

use analyze::Status;
use analyze::compare::{ArmComparison, ArmSlo, BetOutcome, Comparison, MetricChange};

use super::bets::{self, BetSummary};
use super::capacity::CapacityView;
use super::saturation::SaturationView;
use super::short_tables::trials;
use super::shown_changes;
use super::value_list::ListLength;
use super::view::{ArmView, ExperimentView};
use super::{lines, sweep_markdown, sweep_table};
use crate::markdown::{Document, Rank, Table, code, escaped, origin};
use crate::note;
use crate::page::Align;

/// Maximum number of sentences of the answer.
const MOST_ANSWERS: usize = 5;

/// Formats the answer of an experiment for a pull request: its sentences, the verdict, validity,
/// bets and SLOs, and the metrics in a collapsed table. An INVALID verdict comes first. The
/// document has at most 40 lines.
pub fn experiment_markdown(view: &ExperimentView) -> String {
    let mut out = Document::default();
    let verdict = format!("**{}**: {}", view.verdict_in_words(), escaped(&view.reason()));
    let is_invalid = view.verdict() == Status::Invalid;
    if is_invalid {
        // The sentences of an INVALID experiment are no answer.
        out.line(verdict.as_str());
        out.gap();
    }
    match lines::short_answers(view, view.file(), MOST_ANSWERS).as_slice() {
        [only] => out.line(escaped(only)),
        answers => out.list(&all_escaped(answers), MOST_ANSWERS),
    }
    out.gap();
    if let Some(repetition) = &view.repetition {
        out.line(format!("**{}**", escaped(&repetition.sentence())));
        out.list(&all_escaped(&repetition.short_lines()), 3);
        out.gap();
    }
    if !is_invalid {
        out.line(verdict);
    }
    if let Some(command) = view.resume_in_its_folder() {
        out.list(&[format!("resume: {}", code(&command))], 1);
    }
    validity(&mut out, view);
    out.gap();
    conditions(&mut out, view);
    sweep_markdown::models(&mut out, view);
    out.gap();
    out.line(format!("Question: {}", escaped(&view.question)));
    out.line(origin(&view.command, view.file(), view.label.as_deref()));
    let comparison = view.comparison.as_ref();
    match (&view.capacity, &view.sweep) {
        (Some(search), _) => {
            let shown = trials(search, usize::MAX);
            out.with_table(&shown.heading, &Table::of(&shown.table))
        }
        (None, Some(sweep)) => {
            out.with_table("Points", &Table::of(&sweep_table::points(view, sweep)))
        }
        (None, None) => out.with_table(&title(comparison), &table(&view.arms, comparison)),
    }
}

/// Returns the title of the table of metrics, with the confidence of its intervals.
pub(super) fn title(comparison: Option<&Comparison>) -> String {
    let arms = comparison.into_iter().flat_map(|comparison| &comparison.arms);
    match lines::levels(arms.flat_map(shown_changes::table_changes)) {
        Some(levels) => format!("Metrics ({levels})"),
        None => "Metrics".to_owned(),
    }
}

fn validity(out: &mut Document, view: &ExperimentView) {
    let arm = |arm: &ArmView| {
        let text = format!("{} ({}): {}", arm.name, lines::differences(arm), lines::counts(arm));
        (Rank::from(arm.validity.status()), escaped(&text))
    };
    match &view.capacity {
        Some(search) => out.list(&all_escaped(&[search.goal(), search.counts()]), 3),
        None => out.ranked_list(&view.arms.iter().map(arm).collect::<Vec<(Rank, String)>>(), 3),
    }
    let remedies = view.remedies().into_iter();
    let remedies = remedies.map(|(check, remedy)| format!("`{}`: {remedy}", check.name()));
    out.list(&all_escaped(&remedies.collect::<Vec<String>>()), 3);
    let warnings = view.warnings().into_iter().map(|it| format!("warning: {it}"));
    out.list(&all_escaped(&warnings.collect::<Vec<String>>()), 2);
    let errors = view.errors().into_iter().map(|it| format!("errors: {it}"));
    out.list(&all_escaped(&errors.collect::<Vec<String>>()), 2);
    let asked = |search: &SaturationView| {
        let asked = format!("saturate: {}", search.short_goal());
        [asked].into_iter().chain(search.steps_in_a_line())
    };
    let asked: Vec<String> = view.saturation.iter().flat_map(asked).collect();
    out.list(&all_escaped(&asked), 2);
    out.list(&all_escaped(&lines::effects(&view.arms)), 2);
    let several = view.has_several_differences.then(|| lines::SEVERAL_DIFFERENCES.to_owned());
    out.list(&all_escaped(several.as_slice()), 1);
    let undeclared = view.undeclared.iter().map(|one| lines::undeclared(&view.arms, one));
    let differs = |one| format!("differs: {}", lines::difference(&view.arms, one));
    let differences = undeclared.chain(view.differences.iter().map(differs));
    out.list(&all_escaped(&differences.collect::<Vec<String>>()), 3);
    out.list(&all_escaped(&lines::machine(view)), 2);
}

fn conditions(out: &mut Document, view: &ExperimentView) {
    if let Some(search) = &view.capacity {
        out.list(&all_escaped(&numbers(search)), 2);
    }
    let bets = bets::summaries(view, ListLength::Short).into_iter().map(|summary| {
        let BetSummary { arm, text, outcomes } = summary;
        let rank = outcomes.into_iter().map(rank_of_bet).min().unwrap_or(Rank::Ordinary);
        (rank, escaped(&format!("bet on {arm}: {text}")))
    });
    out.ranked_list(&bets.collect::<Vec<(Rank, String)>>(), 4);
    let ranks = view.arms.iter().flat_map(|arm| &arm.slos).map(rank_of_slo);
    let slos = lines::slos(view).into_iter().map(|slo| escaped(&format!("SLO of {slo}")));
    out.ranked_list(&ranks.zip(slos).collect::<Vec<(Rank, String)>>(), 3);
    out.list(&all_escaped(&lines::limiters_once(view)), 2);
    let differ = lines::has_different_limiters(view).then(|| lines::DIFFERENT_LIMITERS.to_owned());
    out.list(&all_escaped(differ.as_slice()), 1);
    let alarms = view.false_alarms.iter().map(|alarms| format!("A/A: {}", alarms.line()));
    out.list(&all_escaped(&alarms.collect::<Vec<String>>()), 1);
    let notes = note::latest_notes(&view.notes, 2).into_iter().map(|note| format!("note: {note}"));
    out.list(&all_escaped(&notes.collect::<Vec<String>>()), 3);
}

fn rank_of_slo(slo: &ArmSlo) -> Rank {
    if slo.missed > 0 { Rank::Decisive } else { Rank::Ordinary }
}

fn rank_of_bet(outcome: Option<BetOutcome>) -> Rank {
    match outcome {
        Some(BetOutcome::Failed) => Rank::Decisive,
        Some(BetOutcome::Undecided { .. }) | None => Rank::Doubtful,
        Some(BetOutcome::Held) => Rank::Ordinary,
    }
}

/// Returns the numbers of a search that the sentence of the answer does not state, on at most two
/// lines.
fn numbers(search: &CapacityView) -> Vec<String> {
    let named = |names: &[&str]| {
        let numbers = search.numbers().into_iter().filter(|(name, _)| names.contains(name));
        numbers.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<String>>().join("; ")
    };
    let lines = [named(&["confirmed"]), named(&["estimate", "binding", "boundary"])];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// Returns the table of all metrics of all arms; declared metrics come first.
pub(super) fn table(groups: &[ArmView], comparison: Option<&Comparison>) -> Table {
    let titles = [
        ("metric", Align::Left),
        ("arm", Align::Left),
        ("baseline", Align::Right),
        ("value", Align::Right),
        ("change", Align::Right),
        ("interval", Align::Right),
        ("", Align::Left),
    ];
    let columns = titles.map(|(title, align)| (title.to_owned(), align)).to_vec();
    let cells = |(arm, change): &(&ArmComparison, &MetricChange)| {
        let [metric, baseline, own, size, interval, conclusion] = lines::row(change);
        let conclusion = if change.is_exploratory { "exploratory".to_owned() } else { conclusion };
        let metric = metric.trim_end_matches(" *").to_owned();
        let name = groups[arm.arm.index()].name.clone();
        all_escaped(&[metric, name, baseline, own, size, interval, conclusion])
    };
    Table { columns, rows: shown_changes::changes(comparison).iter().map(cells).collect() }
}

pub(super) fn all_escaped(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escaped(text)).collect()
}

#[cfg(test)]
mod tests {
    use analyze::{CheckKind, Component};

    use super::super::fixtures::{experiment, with_limiters};
    use super::*;

    #[test]
    fn lists_that_are_cut_keep_what_failed() {
        let slo = |number: u32| ArmSlo {
            job: format!("job{number}"),
            text: "p99 < 5ms".to_owned(),
            runs: 8,
            missed: u32::from(number == 5),
        };
        let mut view = experiment();
        view.arms[1].slos = (1..=6).map(slo).collect();
        let arm = |number: u32| ArmView { name: format!("arm{number}"), ..view.arms[0].clone() };
        let mut all: Vec<ArmView> = view.arms.clone();
        all.extend((2..=5).map(arm));
        all[5].validity.invalid = vec![(0, vec![CheckKind::Errors])];
        view.arms = all;
        let markdown = experiment_markdown(&view);
        assert!(markdown.contains("- SLO of tls: job5 p99 < 5ms: missed in 1"), "{markdown}");
        assert!(markdown.contains("- arm5 "), "{markdown}");
        view.arms[1].slos.truncate(3);
        assert!(markdown.starts_with("**INVALID**: "), "{markdown}");
        let whole = experiment_markdown(&view);
        let places = [1, 2, 3].map(|number| whole.find(&format!("job{number}")).unwrap());
        assert!(places.is_sorted(), "{whole}");
    }

    #[test]
    fn arms_with_different_limiters_are_warned_of() {
        let [cpu, lock] = [Component::DatabaseCpu, Component::DatabaseLocks];
        let differ = experiment_markdown(&with_limiters([cpu, lock]));
        let line = "- plain: database-cpu; tls: database-locks\n- The arms have different \
                    limiters: the change is not the cost of one thing\n";
        assert!(differ.contains(line), "{differ}");
        let same = experiment_markdown(&with_limiters([cpu, cpu]));
        assert!(!same.contains("different limiters"), "{same}");
    }
}
