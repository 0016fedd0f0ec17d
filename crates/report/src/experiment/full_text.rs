//! The full report of an experiment for people: its answer and the details.

use std::fmt::Write as _;

use base::printable;

use super::answer_text::AnswerText;
use super::appendix::{Appendix, FactTables};
use super::text::answer_text;
use super::view::ExperimentView;
use crate::text::Style;

/// Formats the answer of an experiment, and after it the checks by arm, examples of the statements
/// and rows of the tables, the environment, the settings of the servers, and the plan.
pub fn experiment_full_text(view: &ExperimentView, style: &Style) -> String {
    let appendix = Appendix::of(view);
    let mut out = AnswerText::new(style);
    let _ = writeln!(out, "\nchecks");
    for row in &appendix.checks {
        out.sentence(2, &in_words(view, row));
    }
    out.sentence(2, &appendix.other_checks);
    for row in view.check_rows() {
        let words = ["passed", "SUSPECT", "INVALID", "not possible"];
        let counts = row[1..].iter().zip(words).filter(|(number, _)| !number.is_empty());
        let counts: Vec<String> = counts.map(|(number, word)| format!("{number} {word}")).collect();
        out.sentence(2, &format!("{}: {}", row[0], counts.join(", ")));
    }
    for table in view.excerpt_section().tables() {
        let _ = writeln!(out, "\n{}", printable(&table.heading()));
        table.lines().iter().for_each(|it| out.sentence(2, &format!("{}: {}", it.label, it.text)));
    }
    for subject in appendix.environment.iter().chain(&appendix.servers) {
        facts(&mut out, view, subject);
    }
    for (heading, text) in view.plan.sections() {
        let _ = writeln!(out, "\n{}", heading.to_lowercase());
        for line in text.lines() {
            let _ = writeln!(out, "{}", format!("  {}", printable(line)).trim_end());
        }
    }
    answer_text(view, style) + &out.into_text()
}

fn facts(out: &mut AnswerText, view: &ExperimentView, subject: &FactTables) {
    let FactTables { heading, differing, same } = subject;
    for (rows, kind) in [(differing, "not the same in all runs"), (same, "the same in all runs")] {
        if !rows.is_empty() {
            let _ = writeln!(out, "\n{}, {kind}", printable(heading));
        }
        for row in rows {
            out.sentence(2, &in_words(view, row));
        }
    }
}

/// Returns a row as a sentence: its name, and its only value or the value of each arm.
fn in_words(view: &ExperimentView, row: &[String]) -> String {
    let Some((name, values)) = row.split_first() else { return String::new() };
    let values: Vec<String> = match values {
        [only] => vec![only.clone()],
        several => {
            let arms = view.arms.iter().zip(several);
            arms.map(|(arm, value)| format!("{} {value}", arm.name)).collect()
        }
    };
    format!("{name}: {}", values.join("; "))
}
