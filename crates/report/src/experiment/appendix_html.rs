//! The part of an experiment's page that follows its answer.

use super::appendix::{Appendix, FactTables};
use super::lines;
use super::view::ExperimentView;
use crate::html::Document;
use crate::page::{Align, Line, Table};

/// Writes the checks that objected by arm, the results of all checks, and the limiters by name.
pub(super) fn checks(out: &mut Document, view: &ExperimentView, appendix: &Appendix) {
    let objections = Table::of_texts(&columns("check", view), &appendix.checks);
    out.table("Objections by check and arm", &objections);
    out.paragraph(&appendix.other_checks);
    let counts = ["passed", "SUSPECT", "INVALID", "not possible"];
    let counts = counts.map(|title| (title, Align::Right));
    let columns = [&[("check", Align::Left)][..], &counts].concat();
    out.table("Checks of all runs", &Table::of_texts(&columns, &view.check_rows()));
    let limiters = view.compared().map(|arm| {
        // The answer already has the evidence of the limiters.
        Line::new("limiter", lines::limiters(&view.arms, arm))
    });
    out.lines(&limiters.collect::<Vec<Line>>());
}

/// Writes the facts about some subjects.
pub(super) fn facts(out: &mut Document, view: &ExperimentView, subjects: &[FactTables]) {
    if subjects.is_empty() {
        out.paragraph("The record has no such facts.");
    }
    for FactTables { heading, differing, same } in subjects {
        let caption = format!("{heading}, not the same in all runs");
        out.table(&caption, &Table::of_texts(&columns("name", view), differing));
        let columns = [("name", Align::Left), ("value", Align::Left)];
        let same = Table::of_texts(&columns, same);
        out.table(&format!("{heading}, the same in all runs"), &same);
    }
}

/// Writes the plan as text.
pub(super) fn plan(out: &mut Document, view: &ExperimentView) {
    for (heading, text) in view.plan.sections() {
        out.heading(&heading);
        out.preformatted(text);
    }
}

fn columns<'v>(first: &'v str, view: &'v ExperimentView) -> Vec<(&'v str, Align)> {
    let arms = view.arms.iter().map(|arm| (arm.name.as_str(), Align::Left));
    [(first, Align::Left)].into_iter().chain(arms).collect()
}
