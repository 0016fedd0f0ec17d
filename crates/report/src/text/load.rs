//! The tables that were filled before the jobs began.

use analyze::LoadSummary;
use base::units::grouped;

use crate::number::{NONE, bytes, count, rate_or_none, time};
use crate::text::page::Page;
use crate::text::table::{Align, Table};
use crate::view::{View, client_cpu};

/// Writes a line for each table.
pub(super) fn write(page: &mut Page, view: &View) {
    let mut table = Table::new([
        ("table", Align::Left),
        ("rows", Align::Right),
        ("time", Align::Right),
        ("rows/s", Align::Right),
        ("last 5 %", Align::Right),
        ("bytes", Align::Right),
        ("client CPU", Align::Right),
    ]);
    for load in &view.summary.loads {
        let cpu = client_cpu(load).map(|cpu| time(cpu.0 as f64));
        table.row([
            load.table.clone(),
            planned(view, load).map_or_else(|| grouped(load.rows), |of| part(load.rows, of)),
            time(load.took.0 as f64),
            rate_or_none(load.rows_per_s),
            rate_or_none(load.exit_rows_per_s),
            bytes(load.bytes),
            cpu.unwrap_or_else(|| NONE.to_owned()),
        ]);
    }
    if !table.is_empty() {
        page.gap();
        page.heading("Loads");
        page.table(&table);
    }
}

/// The rows of a table, for sentences, and of how many if that is not all that was planned.
pub(super) fn rows(view: &View, load: &LoadSummary) -> String {
    match planned(view, load) {
        None => count(load.rows, "row"),
        Some(of) => format!("{} rows", part(load.rows, of)),
    }
}

/// How many rows a table was to have that did not get them all.
fn planned(view: &View, load: &LoadSummary) -> Option<u64> {
    let plan = view.evidence.plan.loads.iter().find(|plan| plan.table == load.table)?;
    (load.rows < plan.rows).then_some(plan.rows)
}

fn part(rows: u64, of: u64) -> String {
    format!("{} of {}", grouped(rows), grouped(of))
}
