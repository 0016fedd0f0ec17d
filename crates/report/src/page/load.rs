//! The tables that were filled before the jobs began.

use std::collections::BTreeMap;

use analyze::{LoadSummary, SHORTEST_LOAD};
use base::Nanos;

use super::limiter::{UnseenSource, is_always_reported, observations};
use super::quantity::Quantity;
use super::remark::{Remark, Tone};
use super::table::{Align, Cell, Table};
use crate::number::{bytes, count};
use crate::view::View;
use crate::words;

/// Columns that a narrow page drops, in this order.
const DROPPED_COLUMNS: [&str; 6] =
    ["last 5 %", "bytes", "client CPU", "server CPU", "time", "rows/s"];

/// The tables that were filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadsSection {
    /// Each load.
    pub loads: Vec<LoadSection>,
    /// A row for each load; an empty table if there is none.
    pub table: Table,
    /// Slow methods, sizes of tables, limiters, and sources that were not observed.
    pub remarks: Vec<Remark>,
    /// Faults among `remarks`: slow methods, and sources that were not observed.
    pub faults: Vec<Remark>,
    /// True if each table got all of its rows.
    pub is_complete: bool,
}

/// A table that was filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSection {
    /// All numbers of the load.
    pub summary: LoadSummary,
    /// Processor time of the generator; `None` if it was not sampled twice.
    pub client_cpu: Option<Nanos>,
    /// Reason for the limiter in one sentence.
    pub because: String,
    /// Action that would raise the limit.
    pub relief: Option<&'static str>,
    /// Sources that could not be observed.
    pub unseen: Vec<UnseenSource>,
}

impl LoadsSection {
    pub(super) fn of(view: &View) -> LoadsSection {
        let loads: Vec<LoadSection> = view.summary.loads.iter().map(LoadSection::of).collect();
        let summaries = view.summary.loads.iter();
        let mut faults: Vec<Remark> = summaries.filter_map(fallback_remark).collect();
        let mut remarks = faults.clone();
        remarks.extend(view.summary.loads.iter().filter_map(size));
        remarks.extend(loads.iter().flat_map(limiter));
        remarks.extend(missing_sources(view));
        faults.extend(missing_sources(view));
        let is_complete = view.summary.loads.iter().all(|load| planned_rows(view, load).is_none());
        LoadsSection { table: table(view, &loads), remarks, faults, is_complete, loads }
    }
}

impl LoadSection {
    fn of(load: &LoadSummary) -> LoadSection {
        LoadSection {
            summary: load.clone(),
            // Processor time is counted from the first sample on.
            client_cpu: load.client_cpu.filter(|_| load.points.len() > 1),
            because: words::limiter_reason(&load.limiter.finding),
            relief: words::relief_of_load(load.limiter.component),
            unseen: load.unseen.iter().map(UnseenSource::of).collect(),
        }
    }
}

fn table(view: &View, loads: &[LoadSection]) -> Table {
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
    .with_optional_columns(DROPPED_COLUMNS);
    let time = |time: Nanos| Quantity::Time(time.0 as f64);
    for LoadSection { summary: load, client_cpu, .. } in loads {
        table.row([
            Cell::from(load.table.as_str()),
            rows_cell(view, load),
            time(load.took).into(),
            load.rows_per_s.map(Quantity::Rate).into(),
            load.exit_rows_per_s.map(Quantity::Rate).into(),
            Quantity::Bytes(load.bytes).into(),
            client_cpu.map(time).into(),
            load.server_cpu.map(time).into(),
        ]);
    }
    table
}

/// Returns the remark that the rows were sent by a slower method than the server offers, with the
/// remedy; `None` if the fastest method was used.
fn fallback_remark(load: &LoadSummary) -> Option<Remark> {
    let why = load.fallback.as_ref()?;
    let lead = words::filled_by_inserts(&load.table);
    Some(Remark::sentence(Tone::Doubtful, lead, format!(": {why}")))
}

/// Returns a remark on the size of a table at the end of the run; `None` if the size is unknown.
fn size(load: &LoadSummary) -> Option<Remark> {
    let size = load.size?;
    let [allocated, logical] = [size.allocated, size.logical].map(|size| bytes(size as u64));
    let lead = format!("{} occupies {allocated} on the disk", load.table);
    let server = format!(" at the end of the run; {logical} by the server's account");
    Some(Remark::sentence(Tone::Plain, lead, server))
}

/// Returns remarks on the limiter of a load. If it is unknown, the observations follow; for a short
/// load without a known limiter, there is no remark.
fn limiter(load: &LoadSection) -> Vec<Remark> {
    let LoadSection { summary, because, .. } = load;
    let component = summary.limiter.component;
    let table = &summary.table;
    if let Some(relief) = load.relief {
        let lead = format!("{table} was limited by {}", component.name());
        vec![Remark::sentence(Tone::Plain, lead, format!(": {because}; {relief}"))]
    } else if summary.took >= SHORTEST_LOAD {
        let lead = format!("What limited {table} is unknown");
        let unknown = Remark::sentence(Tone::Plain, lead, format!(": {because}"));
        std::iter::once(unknown).chain(observations(&summary.seen)).collect()
    } else {
        Vec::new()
    }
}

/// Returns remarks on the sources that could not be observed during a load of at least
/// [`SHORTEST_LOAD`]. Left out are sources that could not be observed during the run either, and
/// those whose loss is not always reported.
fn missing_sources(view: &View) -> impl Iterator<Item = Remark> {
    let of_run = &view.summary.limiter.unseen;
    let long = view.summary.loads.iter().filter(|load| load.took >= SHORTEST_LOAD);
    let mut tables: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for load in long {
        let not_of_run = load.unseen.iter().filter(|one| !of_run.contains(one));
        for it in not_of_run.filter(|it| is_always_reported(view, words::unseen_source(it))) {
            let key = (words::unseen_source(it), words::reason(it));
            tables.entry(key).or_default().push(&load.table);
        }
    }
    tables.into_iter().map(|((what, why), tables)| {
        let tables = tables.join(", ");
        Remark::note(format!("Incomplete data for {what} while {tables} was filled: {why}."))
    })
}

/// Formats the number of rows of a table, with the planned number if it is larger.
pub(super) fn rows(view: &View, load: &LoadSummary) -> String {
    match planned_rows(view, load) {
        None => count(load.rows, "row"),
        Some(_) => format!("{} rows", rows_cell(view, load)),
    }
}

/// Returns the number of rows of a table, with the planned number if it is larger.
fn rows_cell(view: &View, load: &LoadSummary) -> Cell {
    match planned_rows(view, load) {
        None => Quantity::Count(load.rows).into(),
        Some(of) => Cell::Part { part: load.rows, of },
    }
}

/// Returns the planned number of rows if a table did not get all of them.
fn planned_rows(view: &View, load: &LoadSummary) -> Option<u64> {
    let plan = view.evidence.plan.loads.iter().find(|plan| plan.table == load.table)?;
    (load.rows < plan.rows).then_some(plan.rows)
}
