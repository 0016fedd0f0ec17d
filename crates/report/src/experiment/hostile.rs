//! Tests that texts from outside are harmless in the answer of an experiment: none acts on a
//! terminal, is markup, or begins a line of its own.

use analyze::compare::ArmId;
use analyze::{EmptySuccess, ErrorSummary};
use base::{Class, Code, WallTime, is_terminal_control, printable_json};
use record::Note;
use workload::question::Bet;

use super::fixtures::{comparison, experiment, run_of};
use super::load_fallbacks::LoadFallback;
use super::remarks::JobRemark;
use super::view::{DifferenceView, DifferingRuns, ExperimentState, ExperimentView};
use super::{
    StoredMetric, StoredRun, StoredRunsView, experiment_full_text, experiment_html,
    experiment_json, experiment_markdown, experiment_text, stored_runs_html, stored_runs_json,
    stored_runs_markdown, stored_runs_text,
};
use crate::text::Style;
use crate::{TestSuite, junit};

/// A text that clears the screen, renames the window, changes the direction of writing, forges
/// lines, and is markup in pages, Markdown and XML.
const WORDS: &str = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}\u{2028}\r\n\
                     VALID: 20 checks passed\n# forged\n| a | b |\n<script>alert(1)</script>\
                     ]]><!-- &amp; \"' [a](javascript:b) `c` ![d](http://e)";

const STYLES: [Style; 2] =
    [Style { color: false, width: 60 }, Style { color: false, width: usize::MAX }];

/// Returns an experiment with [`WORDS`] in every text that may come from a file, a record or a
/// reviewer.
fn hostile(state: ExperimentState) -> ExperimentView {
    let words = || WORDS.to_owned();
    let mut view = experiment();
    let bet = Bet::parse(&format!("throughput({}) -5% .. -15%", WORDS.replace(')', "")));
    view.bets.extend(bet);
    let mut compared = comparison(-0.1);
    for arm in &mut compared.arms {
        for change in &mut arm.changes {
            change.metric.of = Some(words());
        }
    }
    view.comparison = Some(compared);
    view.runs = vec![run_of(0, Vec::new()), run_of(1, Vec::new())];
    for (number, arm) in (1..).zip(&mut view.arms) {
        arm.name = format!("{number}{WORDS}");
        arm.differences = vec![(words(), words()), ("before".to_owned(), words())];
    }
    let job = || WORDS.to_owned();
    view.remarks.warnings = vec![JobRemark {
        arm: ArmId(1),
        job: job(),
        runs: 2,
        fact: EmptySuccess::NoRows { answers: 5, statements: Vec::new() },
    }];
    view.remarks.errors = vec![JobRemark {
        arm: ArmId(1),
        job: job(),
        runs: 2,
        fact: ErrorSummary {
            class: Class::Statement,
            code: Code::new(WORDS),
            count: 3,
            text: Some(words()),
        },
    }];
    view.load_fallbacks =
        vec![LoadFallback { arm: ArmId(1), table: words(), reason: words(), runs: 2 }];
    view.undeclared = vec![DifferenceView {
        kind: "setting",
        name: words(),
        baseline: ArmId(0),
        arm: ArmId(1),
        between: DifferingRuns::Arms,
        values: [words(), words()],
        cause: None,
    }];
    let note = |author| Note { at: WallTime(1), author, text: words() };
    view.notes = vec![note(None), note(Some(words()))];
    ExperimentView {
        question: words(),
        workload: Some(words()),
        command: words(),
        command_with_path: words(),
        record: words(),
        label: Some(words()),
        invalid_arm: Some(words()),
        state,
        ..view
    }
}

/// Returns stored runs with [`WORDS`] in their texts.
fn hostile_runs() -> StoredRunsView {
    let words = || WORDS.to_owned();
    let metric = StoredMetric { of: words(), name: words(), value: 1.0 };
    let run = StoredRun {
        number: 1,
        phase: "compare",
        round: 0,
        position: 0,
        attempt: 0,
        arm: words(),
        point: Some(words()),
        state: "counts",
        verdict: words(),
        objections: words(),
        seed: 1,
        metrics: vec![metric],
    };
    StoredRunsView {
        record: words(),
        reason: words(),
        remedy: "none".to_owned(),
        text: words(),
        version: Some(words()),
        label: Some(words()),
        notes: vec![Note { at: WallTime(1), author: Some(words()), text: words() }],
        runs: vec![run],
    }
}

/// Checks that a text has no control character except its own line ends, and no forged line.
#[track_caller]
fn check_harmless(what: &str, text: &str) {
    let acts = |c: char| c != '\n' && is_terminal_control(c);
    assert!(!text.contains(acts), "{what}: {text:?}");
    for forged in ["VALID: 20", "# forged", "| a | b |", "<script"] {
        // The continuation lines of a wrapped text are indented, so they forge no line.
        let begins = |line: &str| line.starts_with(forged);
        assert!(!text.lines().any(begins), "{what}: {forged}: {text}");
    }
    assert!(text.contains("alert"), "{what} does not show the text");
}

/// Checks that a page, an XML document or Markdown has none of the tags in [`WORDS`] as markup.
#[track_caller]
fn check_no_markup(what: &str, text: &str) {
    // Markdown shows an escaped character as it is.
    let text = text.replace("\\<", "");
    assert!(!text.contains("<script>alert"), "{what}: {text}");
    assert!(!text.contains("<!-- &amp; "), "{what}: {text}");
}

const STATES: [ExperimentState; 3] =
    [ExperimentState::Complete, ExperimentState::Interrupted, ExperimentState::NotInEffect];

#[test]
fn hostile_texts_in_an_experiment_cannot_act_on_a_terminal_or_forge_lines() {
    for state in STATES {
        let view = hostile(state);
        for style in STYLES {
            check_harmless("short", &experiment_text(&view, &style));
            check_harmless("full", &experiment_full_text(&view, &style));
        }
    }
    let runs = hostile_runs();
    for (style, is_full) in STYLES.into_iter().zip([false, true]) {
        check_harmless("stored runs", &stored_runs_text(&runs, is_full, &style));
    }
}

#[test]
fn hostile_texts_in_an_experiment_are_escaped_in_markup() {
    for state in STATES {
        let view = hostile(state);
        let markdown = experiment_markdown(&view);
        check_harmless("markdown", &markdown);
        // The text in a command is a code span between double backticks, because it contains a
        // backtick.
        let markdown: String = markdown.split("``").step_by(2).collect();
        check_no_markup("markdown", &markdown);
        for live in ["[a](javascript", "![d](http"] {
            assert!(!markdown.contains(live), "{live}: {markdown}");
        }
        let cases = junit(&TestSuite::of_experiment(&view, false));
        check_no_markup("junit", &cases);
        let is_xml = |c: char| c == '\n' || !c.is_control();
        assert!(cases.chars().all(is_xml), "{cases:?}");
        check_no_markup("page", &experiment_html(&view));
    }
    let runs = hostile_runs();
    check_harmless("markdown", &stored_runs_markdown(&runs));
    check_no_markup("markdown", &stored_runs_markdown(&runs));
    check_no_markup("page", &stored_runs_html(&runs));
}

#[test]
fn hostile_texts_in_documents_are_escaped_and_unchanged() {
    let documents =
        [experiment_json(&hostile(ExperimentState::Complete)), stored_runs_json(&hostile_runs())];
    for document in documents {
        let text = printable_json(&document.to_string()).into_owned();
        check_harmless("json", &text);
        assert_eq!(document["question"], WORDS);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
    }
}
