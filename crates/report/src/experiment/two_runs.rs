//! Two single runs side by side, without a conclusion.

use std::fmt::Write as _;

use analyze::compare::RunFigures;
use workload::question::Scale;

use super::answer_text::AnswerText;
use super::sentence;
use crate::page::{Align, Cell, Table};
use crate::text::Style;

/// Formats the metrics that two runs have in common. Two single runs have no scatter, so there is
/// no interval and no claim.
pub fn two_runs(first: &RunFigures, second: &RunFigures) -> String {
    let numbers = ["first", "now", "change"].map(|title| (title, Align::Right));
    let mut table = Table::new([("metric", Align::Left)].into_iter().chain(numbers));
    let rows = first.metrics.iter().filter_map(|(metric, before)| {
        let now = second.get(metric).ok()?;
        let scale = metric.quantity.scale();
        let change = match scale {
            Scale::Ratio => now / before - 1.0,
            Scale::Difference => now - before,
        };
        let unit = metric.quantity.unit();
        let [before, now] = [*before, now].map(|value| sentence::value(value, unit));
        let change =
            if change.is_finite() { sentence::signed(change, scale) } else { String::new() };
        Some([metric.to_string(), before, now, change])
    });
    rows.for_each(|row| table.row(row.map(Cell::from)));
    let mut out = AnswerText::new(&Style::PLAIN);
    let _ = writeln!(out, "One run against one run: there is no interval and no verdict");
    let verdicts = [first, second].map(|run| run.verdict.status().verdict());
    let _ = writeln!(out, "  first {}, now {}", verdicts[0], verdicts[1]);
    out.table(&table);
    out.into_text()
}
