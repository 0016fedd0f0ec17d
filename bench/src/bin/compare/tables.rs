//! Formatting of figures as Markdown tables.

use std::fmt::Write as _;

use crate::cells::{CONNECTIONS, Cell};
use crate::figures::{Raw, Spread};
use crate::runner::Runner;

/// A load generator that could not be measured in a cell.
pub(crate) struct Gap {
    pub(crate) cell: Cell,
    pub(crate) runner: Runner,
    pub(crate) reason: String,
}

/// Returns all tables of the comparison.
pub(crate) fn rounds(cells: &[Cell], raws: &[Raw], gaps: &[Gap]) -> String {
    let mut text = String::new();
    let mut rest = cells;
    while let [first, ..] = rest {
        let (table, after): (Vec<Cell>, Vec<Cell>) = split(rest, first);
        text.push_str(&table_of_cells(&table, raws));
        text.push_str(&remarks(&table, gaps));
        rest = &rest[rest.len() - after.len()..];
    }
    text.trim_end().to_owned()
}

/// Splits off the cells of the first table.
fn split(cells: &[Cell], first: &Cell) -> (Vec<Cell>, Vec<Cell>) {
    let end = cells.iter().position(|cell| !cell.shares_table(first)).unwrap_or(cells.len());
    (cells[..end].to_vec(), cells[end..].to_vec())
}

/// Returns the table of cells that differ only in their connections.
fn table_of_cells(cells: &[Cell], raws: &[Raw]) -> String {
    let Some(first) = cells.first() else { return String::new() };
    let mut text = format!("### {}\n\n", first.heading());
    text.push_str(
        "| connections | client | CPU µs/query | lowest | highest | user | system | x limit | \
         x pgbench | queries/s | peak MB |\n\
         | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for cell in cells {
        let limit = total(cell, Runner::Limit, raws);
        let pgbench = total(cell, Runner::Pgbench, raws);
        for runner in Runner::ALL {
            if let Some(row) = row(cell, runner, raws, limit, pgbench) {
                text.push_str(&row);
            }
        }
    }
    text.push('\n');
    text
}

/// Returns all rounds of one load generator in one cell.
pub(crate) fn of<'r>(
    cell: &Cell,
    runner: Runner,
    raws: &'r [Raw],
) -> impl Iterator<Item = &'r Raw> + Clone {
    let cell = *cell;
    raws.iter().filter(move |raw| {
        raw.runner == runner
            && raw.database == cell.database
            && raw.statement == cell.statement
            && raw.tls == cell.tls
            && raw.connections == cell.connections
    })
}

/// Returns the spread of the processor time per query, in microseconds.
pub(crate) fn total(cell: &Cell, runner: Runner, raws: &[Raw]) -> Option<Spread> {
    Spread::of(of(cell, runner, raws).map(Raw::total_us))
}

fn row(
    cell: &Cell,
    runner: Runner,
    raws: &[Raw],
    limit: Option<Spread>,
    pgbench: Option<Spread>,
) -> Option<String> {
    let found = of(cell, runner, raws);
    let Spread { median, lowest, highest } = total(cell, runner, raws)?;
    let user = Spread::of(found.clone().map(|raw| raw.processor_us().0))?.median;
    let system = Spread::of(found.clone().map(|raw| raw.processor_us().1))?.median;
    let rate = Spread::of(found.clone().map(Raw::queries_per_s))?.median;
    let memory = Spread::of(found.map(|raw| raw.peak_rss_bytes as f64 / 1e6))?.median;
    let ratio = |to: Option<Spread>| {
        to.filter(|to| to.median > 0.0)
            .map_or(String::new(), |to| format!("{:.2}", median / to.median))
    };
    let mut text = String::new();
    writeln!(
        text,
        "| {} | {} | {median:.2} | {lowest:.2} | {highest:.2} | {user:.2} | {system:.2} | {} | {} \
         | {rate:.0} | {memory:.1} |",
        cell.connections,
        runner.word(),
        ratio(limit),
        ratio(pgbench),
    )
    .expect("a text takes what is written");
    Some(text)
}

/// Returns the remarks below a table.
fn remarks(cells: &[Cell], gaps: &[Gap]) -> String {
    let mut lines = Vec::new();
    let Some(first) = cells.first() else { return String::new() };
    for runner in Runner::ALL.into_iter().filter(|runner| runner.supports(first)) {
        if let Some(note) = runner.note(first) {
            lines.push(format!("* {} {note}.", runner.word()));
        }
        let missing: Vec<&Gap> = gaps
            .iter()
            .filter(|gap| gap.runner == runner && gap.cell.shares_table(first))
            .collect();
        let Some(gap) = missing.first() else { continue };
        let connections: Vec<String> =
            missing.iter().map(|gap| gap.cell.connections.to_string()).collect();
        let at = match missing.len() == CONNECTIONS.len() {
            true => String::new(),
            false => format!(" at {} connections", connections.join(", ")),
        };
        lines.push(format!("* {} was not measured{at}: {}.", runner.word(), gap.reason));
    }
    match lines.is_empty() {
        true => String::new(),
        false => lines.join("\n") + "\n\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Sample;

    fn sample(user_s: f64) -> Sample {
        Sample {
            queries: 1_000_000,
            elapsed_s: 11.0,
            user_s,
            system_s: 4.0,
            peak_rss: 3_000_000,
            steal: 0.0,
            stolen_ticks: 0,
            load: 1.0,
        }
    }

    #[test]
    fn table_has_medians_ratios_and_missing_results() {
        let cells: Vec<Cell> =
            Cell::all().into_iter().filter(|cell| cell.connections == 16).collect();
        let nothing =
            Sample { queries: 0, elapsed_s: 1.0, user_s: 0.0, system_s: 0.0, ..sample(0.0) };
        let raws: Vec<Raw> = [(Runner::Limit, 1.0), (Runner::Pgbench, 6.0), (Runner::Pgbench, 8.0)]
            .into_iter()
            .map(|(runner, user)| Raw::new(&cells[0], runner, 1, &sample(user), &nothing))
            .collect();
        let gaps = [Gap { cell: cells[0], runner: Runner::Assay, reason: "no driver".to_owned() }];
        let text = rounds(&cells[..1], &raws, &gaps);
        let row =
            "| 16 | pgbench | 11.00 | 10.00 | 12.00 | 7.00 | 4.00 | 2.20 | 1.00 | 100000 | 3.0 |";
        assert!(text.contains(row), "{text}");
        assert!(text.starts_with("### PostgreSQL, prepared, no TLS\n"), "{text}");
        assert!(text.contains("* assay was not measured at 16 connections: no driver."), "{text}");
        assert!(text.contains("* dbbench keeps no prepared statements"), "{text}");
        assert_eq!(rounds(&cells, &raws, &gaps).matches("### ").count(), 8);
    }
}
