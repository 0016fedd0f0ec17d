//! The runs of an experiment whose question cannot be read, as they are stored in its record.
//!
//! The runs are neither compared nor judged, because only the question says which of them belong
//! together.

use record::Note;
use serde_json::{Value, json};

use super::answer_text::AnswerText;
use super::markdown::all_escaped;
use crate::html::{Document, Section};
use crate::markdown::{self, escaped};
use crate::note;
use crate::page::{Align, Cell, Line, Table};
use crate::text::Style;

/// Maximum number of notes in a text; the page and the JSON document have all notes.
const MOST_NOTES: usize = 8;

/// The runs of an experiment whose question cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRunsView {
    /// Path of the record.
    pub record: String,
    /// The reason why the question cannot be read.
    pub reason: String,
    /// The remedy for this reason.
    pub remedy: String,
    /// The question as it is stored; may be empty.
    pub text: String,
    /// Version of the program that made the record, if the record states it.
    pub version: Option<String>,
    /// The label of the experiment; `None` if the user gave it none.
    pub label: Option<String>,
    /// Remarks of the program and notes of reviewers, the oldest first.
    pub notes: Vec<Note>,
    /// The runs, in the order in which they were made.
    pub runs: Vec<StoredRun>,
}

/// A run as it is stored in the record.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its number, from 1.
    pub number: u32,
    /// The phase of the experiment in which the run was made.
    pub phase: &'static str,
    /// Its round, from 0.
    pub round: u32,
    /// Its position in the round, from 0.
    pub position: u32,
    /// Number of earlier attempts at the round.
    pub attempt: u32,
    /// The name of its arm.
    pub arm: String,
    /// The value of the key that a sweep or a search varies, if there is one.
    pub point: Option<String>,
    /// State of the run: `counts`, `repeated` or `abandoned`.
    pub state: &'static str,
    /// The word of its verdict.
    pub verdict: String,
    /// Names of the suspect or invalid checks, separated by commas.
    pub objections: String,
    /// The seed of its schedule and values.
    pub seed: u64,
    /// Its metrics.
    pub metrics: Vec<StoredMetric>,
}

/// A metric of a run as it is stored in the record.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMetric {
    /// The job or table; empty for the whole run.
    pub of: String,
    /// The name of the metric.
    pub name: String,
    /// The value, in the unit of the metric.
    pub value: f64,
}

impl StoredRunsView {
    fn sentence(&self) -> String {
        format!("No answer: the question cannot be read: {}", self.reason)
    }

    /// Returns the sentence that says what is shown instead of an answer.
    fn substitute_sentence(&self) -> String {
        let made_by = self.version.as_ref();
        let made_by =
            made_by.map_or_else(String::new, |version| format!(", made by assay {version}"));
        format!("The runs are shown as the record has them{made_by}; nothing is compared")
    }

    fn command(&self) -> String {
        let record = base::shell_word(&self.record);
        format!("assay report {record} --run N")
    }

    fn run_table(&self) -> Table {
        let [left, right] = [Align::Left, Align::Right];
        let mut table = Table::new([
            ("run", right),
            ("arm", left),
            ("value", left),
            ("phase", left),
            ("round", right),
            ("state", left),
            ("verdict", left),
            ("objections", left),
        ]);
        for run in &self.runs {
            table.row([
                run.number.to_string().into(),
                run.arm.clone().into(),
                run.point.clone().map_or(Cell::Empty, Cell::from),
                run.phase.to_owned().into(),
                // Rounds are shown from 1.
                (u64::from(run.round) + 1).to_string().into(),
                run.state.to_owned().into(),
                run.verdict.to_uppercase().into(),
                run.objections.clone().into(),
            ]);
        }
        table
    }

    fn metric_table(&self) -> Table {
        let mut table = Table::new([
            ("run", Align::Right),
            ("arm", Align::Left),
            ("metric", Align::Left),
            ("value", Align::Right),
        ]);
        for run in &self.runs {
            for StoredMetric { of, name, value } in &run.metrics {
                let metric = if of.is_empty() { name.clone() } else { format!("{name}({of})") };
                table.row([
                    run.number.to_string().into(),
                    run.arm.clone().into(),
                    metric.into(),
                    value.to_string().into(),
                ]);
            }
        }
        table
    }
}

/// Formats the stored runs for people; with all metrics if `is_full`.
pub fn stored_runs_text(view: &StoredRunsView, is_full: bool, style: &Style) -> String {
    let mut out = AnswerText::new(style);
    out.sentence(0, &view.sentence());
    out.sentence(0, &view.substitute_sentence());
    out.labelled("runs", [format!("{} in the record", view.runs.len())]);
    out.table(&view.run_table());
    if is_full {
        out.labelled("metrics", [String::from("as they were stored, in the units of the guide")]);
        out.table(&view.metric_table());
    }
    out.labelled("label", view.label.clone());
    out.labelled("note", note::latest_notes(&view.notes, MOST_NOTES));
    out.labelled("remedy", [view.remedy.clone()]);
    out.labelled("one run", [view.command()]);
    out.into_text()
}

/// Formats the stored runs as Markdown.
pub fn stored_runs_markdown(view: &StoredRunsView) -> String {
    let mut out = markdown::Document::default();
    out.list(&all_escaped(&[view.sentence(), view.substitute_sentence(), view.remedy.clone()]), 3);
    let notes = note::latest_notes(&view.notes, 2).into_iter().map(|note| format!("note: {note}"));
    out.list(&all_escaped(&notes.collect::<Vec<String>>()), 3);
    out.with_table(&escaped("Runs"), &markdown::Table::of(&view.run_table()))
}

/// Formats the stored runs as one file of HTML.
pub fn stored_runs_html(view: &StoredRunsView) -> String {
    let sections = [
        Section { id: "answer", title: "No answer" },
        Section { id: "runs", title: "Runs" },
        Section { id: "metrics", title: "Metrics" },
        Section { id: "question", title: "Question as it is stored" },
    ];
    let mut out = Document::new("An experiment whose question cannot be read", &sections);
    out.section("answer", |out| {
        out.paragraph(&format!("{}.", view.sentence()));
        out.paragraph(&format!("{}.", view.substitute_sentence()));
        out.paragraph(&format!("What to do: {}.", view.remedy));
        let label = view.label.iter().map(|label| Line::new("label", label.clone()));
        let record = [Line::new("record", view.record.clone())];
        let notes = view.notes.iter().map(|note| Line::new("note", note::sentence(note)));
        out.lines(&record.into_iter().chain(label).chain(notes).collect::<Vec<Line>>());
    });
    out.section("runs", |out| {
        out.table("Runs as they were stored", &view.run_table());
        out.preformatted(&view.command());
    });
    out.section("metrics", |out| {
        out.table("Metrics as they were stored", &view.metric_table());
    });
    out.section("question", |out| out.preformatted(&view.text));
    out.into_text("Made by assay from the record of an experiment.")
}

/// Returns the JSON document of the stored runs: `assay.stored-runs/1`.
pub fn stored_runs_json(view: &StoredRunsView) -> Value {
    json!({
        "schema": "assay.stored-runs/1",
        "record": view.record,
        "reason": view.reason,
        "remedy": view.remedy,
        "question": view.text,
        "version": view.version,
        "label": view.label,
        "notes": note::documents(&view.notes),
        "runs": view.runs.iter().map(run).collect::<Vec<Value>>(),
    })
}

fn run(run: &StoredRun) -> Value {
    let metrics = run
        .metrics
        .iter()
        .map(|metric| json!({ "of": metric.of, "metric": metric.name, "value": metric.value }));
    json!({
        "run": run.number,
        "phase": run.phase,
        "round": run.round,
        "position": run.position,
        "attempt": run.attempt,
        "arm": run.arm,
        "point": run.point,
        "state": run.state,
        "verdict": run.verdict,
        "objections": run.objections,
        // Many JSON readers cannot hold an integer beyond 2^53.
        "seed": run.seed.to_string(),
        "metrics": metrics.collect::<Vec<Value>>(),
    })
}
