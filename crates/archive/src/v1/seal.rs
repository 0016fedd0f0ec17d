//! The seal: sums over the rows of a record, by which missing rows are detected.

use std::collections::BTreeMap;

use record::{Counts, EndCounts, MAX_ROWS};
use rusqlite::{Connection, params};

use super::content::{read_sample_ranges, write_sample_ranges};
use super::rows::{SCALARS, integer, natural, scalars};
use super::schema::{SAMPLE_RANGE, is_missing};
use crate::error::RowError;

/// The tables whose rows are counted.
const COUNTED: [&str; 13] = [
    "meta",
    "job",
    "account",
    "statement",
    "event",
    "event_error",
    "client",
    "series",
    "sample",
    "setting",
    "load",
    "load_progress",
    "load_sample",
];

/// The tables whose rows are counted job by job.
const COUNTED_BY_JOB: [&str; 3] = ["interval", "histogram", "failure"];

/// The job number of a total over all jobs.
const ALL_JOBS: i64 = -1;

/// Totals by name and job.
pub(crate) type Totals = BTreeMap<(String, i64), u64>;

/// Returns the sums of `interval` for the counts of each job.
pub(crate) fn sums(of_jobs: &[(Counts, EndCounts)]) -> Totals {
    let of_jobs = of_jobs.iter().zip(0..).flat_map(|((counts, ends), job)| {
        let scalars = SCALARS.into_iter().zip(scalars(counts, ends));
        scalars.map(move |(what, total)| ((what.to_owned(), job), total))
    });
    of_jobs.collect()
}

/// The columns of `interval` whose values come from servers and can be arbitrary.
const SERVER_COLUMNS: [&str; 2] = ["rows", "ended_rows"];

/// Returns the expressions that sum a column. Values from servers may sum to more than SQLite's
/// integers hold, which is an error there: such a column is summed in two halves.
fn sums_of(scalar: &str) -> String {
    match SERVER_COLUMNS.contains(&scalar) {
        true => format!("sum({scalar} >> 31), sum({scalar} & 0x7fffffff)"),
        false => format!("0, sum({scalar})"),
    }
}

/// Combines a sum of rows from its two halves.
fn whole(high: u64, low: u64) -> u64 {
    high.saturating_mul(1 << 31).saturating_add(low).min(MAX_ROWS)
}

/// Returns the sums of the rows of `interval`. A job without rows is missing.
pub(crate) fn sums_on_disk(of: &Connection) -> Result<Totals, RowError> {
    let sums = SCALARS.map(sums_of).join(", ");
    let mut select = of.prepare(&format!("select job, {sums} from interval group by job"))?;
    let mut rows = select.query([])?;
    let mut totals = Totals::new();
    while let Some(row) = rows.next()? {
        let job = row.get(0)?;
        for (place, what) in SCALARS.into_iter().enumerate() {
            let [high, low] = [1 + 2 * place, 2 + 2 * place].map(|column| natural(row, column));
            totals.insert((what.to_owned(), job), whole(high?, low?));
        }
    }
    Ok(totals)
}

/// Writes the sums of `interval`, and the number of rows in each table.
pub(crate) fn write_seal(to: &Connection, sums: &Totals) -> Result<(), RowError> {
    write_sample_ranges(to, count_sample_ranges(to)?)?;
    let mut insert = to.prepare("insert into seal values (?, ?, ?)")?;
    for ((what, job), total) in sums.iter().chain(&count_rows(to)?) {
        insert.execute(params![what, job, integer(*total)])?;
    }
    Ok(())
}

/// Compares the seal of a record with its rows. The record must have a seal.
pub(crate) fn check_seal(of: &Connection) -> Result<(), RowError> {
    let mut sealed = read_seal(of)?;
    let mut found = count_rows(of)?;
    found.extend(sums_on_disk(of)?);
    // A job without rows has only zero sums.
    sealed.retain(|what, total| *total > 0 || found.contains_key(what));
    for (what, job) in sealed.keys().chain(found.keys()) {
        let key = (what.clone(), *job);
        let [sealed, found] = [&sealed, &found].map(|totals| totals.get(&key).copied());
        if sealed != found {
            let [sealed, found] = [sealed, found].map(Option::unwrap_or_default);
            let of_job = if *job == ALL_JOBS { String::new() } else { format!(" of job {job}") };
            return Err(RowError::content(format!(
                "there were {sealed} {what}{of_job}, and there are {found}"
            )));
        }
    }
    check_sample_ranges(of)
}

/// Compares the number of rows of `sample_range` with that in `meta`. An earlier version has copied
/// the run without the table, if there is none.
fn check_sample_ranges(of: &Connection) -> Result<(), RowError> {
    if is_missing(of, SAMPLE_RANGE)? {
        return Ok(());
    }
    let [sealed, found] = [read_sample_ranges(of)?, count_sample_ranges(of)?];
    match sealed == found {
        true => Ok(()),
        false => Err(RowError::content(format!(
            "there were {sealed} rows of {SAMPLE_RANGE}, and there are {found}"
        ))),
    }
}

fn count_sample_ranges(of: &Connection) -> Result<u64, RowError> {
    let mut count = of.prepare("select count(*) from sample_range")?;
    let mut rows = count.query([])?;
    rows.next()?.map_or(Ok(0), |row| natural(row, 0))
}

fn read_seal(from: &Connection) -> Result<Totals, RowError> {
    let mut select = from.prepare("select what, job, total from seal")?;
    let mut rows = select.query([])?;
    let mut totals = Totals::new();
    while let Some(row) = rows.next()? {
        totals.insert((row.get(0)?, row.get(1)?), natural(row, 2)?);
    }
    Ok(totals)
}

fn count_rows(of: &Connection) -> Result<Totals, RowError> {
    let all = COUNTED.map(|table| (table, "-1", ""));
    let by_job = COUNTED_BY_JOB.map(|table| (table, "job", " group by job"));
    let mut totals = Totals::new();
    for (table, job, group) in all.into_iter().chain(by_job) {
        if is_missing(of, table)? {
            continue;
        }
        let mut count = of.prepare(&format!("select {job}, count(*) from {table}{group}"))?;
        let mut rows = count.query([])?;
        while let Some(row) = rows.next()? {
            totals.insert((format!("rows of {table}"), row.get(0)?), natural(row, 1)?);
        }
    }
    Ok(totals)
}
