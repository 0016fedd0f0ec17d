//! The tables that were filled before the jobs began.

use std::collections::BTreeMap;

use analyze::{LoadSummary, SHORTEST_LOAD};
use base::Nanos;
use base::units::grouped;

use crate::number::{NONE, bytes, count, rate_or_none, time};
use crate::text::layout::Tone;
use crate::text::page::Page;
use crate::text::seen;
use crate::text::table::{Align, Table};
use crate::text::unseen;
use crate::view::{View, client_cpu};
use crate::words;

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
        ("server CPU", Align::Right),
    ])
    .with_optional_columns(&[
        "last 5 %",
        "bytes",
        "client CPU",
        "server CPU",
        "time",
        "rows/s",
    ]);
    let cpu = |used: Option<Nanos>| used.map_or_else(|| NONE.to_owned(), |it| time(it.0 as f64));
    for load in &view.summary.loads {
        table.row([
            load.table.clone(),
            planned(view, load).map_or_else(|| grouped(load.rows), |of| part(load.rows, of)),
            time(load.took.0 as f64),
            rate_or_none(load.rows_per_s),
            rate_or_none(load.exit_rows_per_s),
            bytes(load.bytes),
            cpu(client_cpu(load)),
            cpu(load.server_cpu),
        ]);
    }
    if !table.is_empty() {
        page.gap();
        page.heading("Loads");
        page.table(&table);
        view.summary.loads.iter().for_each(|load| write_fallback(page, load));
        view.summary.loads.iter().for_each(|load| write_limiter(page, load));
        write_unseen(page, view);
    }
}

/// Writes that the rows were sent by a slower method than the server has, and the remedy.
fn write_fallback(page: &mut Page, load: &LoadSummary) {
    if let Some(why) = &load.fallback {
        let lead = format!("{} was filled by inserts, which is slower than LOAD DATA", load.table);
        page.sentence(Tone::Doubtful, &lead, &format!(": {why}"));
    }
}

/// Writes the limiter of a load that was long enough to have one.
fn write_limiter(page: &mut Page, load: &LoadSummary) {
    let component = load.limiter.component;
    let because = words::because(&load.limiter.finding);
    if let Some(relief) = words::relief_of_load(component) {
        let lead = format!("{} was limited by {}", load.table, component.name());
        page.sentence(Tone::Plain, &lead, &format!(": {because}; {relief}"));
    } else if load.took >= SHORTEST_LOAD {
        let lead = format!("What limited {} is unknown", load.table);
        page.sentence(Tone::Plain, &lead, &format!(": {because}"));
        seen::write(page, &load.seen);
    }
}

/// Writes the sources that could not be observed during loads that were long enough, unless the run
/// has the same.
fn write_unseen(page: &mut Page, view: &View) {
    let of_run = &view.summary.limiter.unseen;
    let long = view.summary.loads.iter().filter(|load| load.took >= SHORTEST_LOAD);
    let mut tables: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for load in long {
        let news = load.unseen.iter().filter(|one| !of_run.contains(one));
        for it in news.filter(|it| unseen::is_always_reported(view, words::source(it))) {
            let key = (words::source(it), words::reason(it));
            tables.entry(key).or_default().push(&load.table);
        }
    }
    for ((what, why), tables) in tables {
        let tables = tables.join(", ");
        page.note(&format!("Not all was seen of {what} while {tables} was filled: {why}."));
    }
}

/// Formats the number of rows of a table, with the planned number if it is larger.
pub(super) fn rows(view: &View, load: &LoadSummary) -> String {
    match planned(view, load) {
        None => count(load.rows, "row"),
        Some(of) => format!("{} rows", part(load.rows, of)),
    }
}

/// Returns the planned number of rows if a table did not get all of them.
fn planned(view: &View, load: &LoadSummary) -> Option<u64> {
    let plan = view.evidence.plan.loads.iter().find(|plan| plan.table == load.table)?;
    (load.rows < plan.rows).then_some(plan.rows)
}

fn part(rows: u64, of: u64) -> String {
    format!("{} of {}", grouped(rows), grouped(of))
}
