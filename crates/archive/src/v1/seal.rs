//! The seal: sums over the rows of a record, which reveal missing rows.

use std::collections::BTreeMap;

use record::{Counts, EndCounts, MAX_ROWS};
use rusqlite::{Connection, params};

use super::content::{read_sample_ranges, write_sample_ranges};
use super::rows::{SCALARS, SERVER_COLUMNS, integer, natural, scalars};
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

/// Returns the sums that the rows of the table `interval` must have, from the counts of each job.
pub(crate) fn sums(of_jobs: &[(Counts, EndCounts)]) -> Totals {
    let of_jobs = of_jobs.iter().zip(0..).flat_map(|((counts, ends), job)| {
        let scalars = SCALARS.into_iter().zip(scalars(counts, ends));
        scalars.map(move |(what, total)| ((what.to_owned(), job), total))
    });
    of_jobs.collect()
}

/// Returns SQL expressions for the two halves of the sum of a column. SQLite fails if a sum exceeds
/// 64 bits, which can happen in columns of values that servers report. In other columns the upper
/// half is 0.
fn sums_of(scalar: &str) -> String {
    match SERVER_COLUMNS.contains(&scalar) {
        true => format!("sum({scalar} >> 31), sum({scalar} & 0x7fffffff)"),
        false => format!("0, sum({scalar})"),
    }
}

/// Combines a sum of rows from its two halves.
fn combine_halves(high: u64, low: u64) -> u64 {
    high.saturating_mul(1 << 31).saturating_add(low).min(MAX_ROWS)
}

/// Returns the sums of the rows of `interval`. A job without rows is left out.
pub(crate) fn sums_on_disk(of: &Connection) -> Result<Totals, RowError> {
    let sums = SCALARS.map(sums_of).join(", ");
    let mut select = of.prepare(&format!("select job, {sums} from interval group by job"))?;
    let mut rows = select.query([])?;
    let mut totals = Totals::new();
    while let Some(row) = rows.next()? {
        let job = row.get(0)?;
        for (place, what) in SCALARS.into_iter().enumerate() {
            let [high, low] = [1 + 2 * place, 2 + 2 * place].map(|column| natural(row, column));
            totals.insert((what.to_owned(), job), combine_halves(high?, low?));
        }
    }
    Ok(totals)
}

/// Writes the sums of `interval`, and the numbers of rows of the counted tables.
pub(crate) fn write_seal(to: &Connection, sums: &Totals) -> Result<(), RowError> {
    write_sample_ranges(to, count_sample_ranges(to)?)?;
    let mut insert = to.prepare("insert into seal values (?, ?, ?)")?;
    for ((what, job), total) in sums.iter().chain(&count_rows(to)?) {
        insert.execute(params![what, job, integer(*total)])?;
    }
    Ok(())
}

/// The seal of a record, and the number of rows that its tables have.
pub(crate) struct Seal {
    sealed: Totals,
    rows: Totals,
    /// Number of rows of `sample_range` according to `meta`, and the number found.
    sample_ranges: [u64; 2],
}

impl Seal {
    /// Reads the seal of a record, which must have one, and counts the rows.
    pub(crate) fn read(of: &Connection) -> Result<Seal, RowError> {
        let (sealed, rows) = (read_seal(of)?, count_rows(of)?);
        Ok(Seal { sealed, rows, sample_ranges: sample_ranges(of)? })
    }

    /// Compares the seal with the rows, and with the sums of the rows of `interval`.
    pub(crate) fn check(self, sums: Totals) -> Result<(), RowError> {
        let Seal { mut sealed, rows: mut found, sample_ranges } = self;
        found.extend(sums);
        // A job without rows has only zero sums.
        sealed.retain(|what, total| *total > 0 || found.contains_key(what));
        for (what, job) in sealed.keys().chain(found.keys()) {
            let key = (what.clone(), *job);
            let [sealed, found] = [&sealed, &found].map(|totals| totals.get(&key).copied());
            if sealed != found {
                let of_job =
                    if *job == ALL_JOBS { String::new() } else { format!(" of job {job}") };
                return Err(mismatch(
                    &format!("{what}{of_job}"),
                    [sealed, found].map(Option::unwrap_or_default),
                ));
            }
        }
        match sample_ranges {
            [sealed, found] if sealed == found => Ok(()),
            numbers => Err(mismatch(&format!("rows of {SAMPLE_RANGE}"), numbers)),
        }
    }
}

fn mismatch(what: &str, [sealed, found]: [u64; 2]) -> RowError {
    RowError::content(format!("there were {sealed} {what}, and there are {found}"))
}

/// Returns the number of rows of `sample_range` according to `meta`, and the number found. Both are
/// 0 if the table is missing: an earlier version of Assay that exports a run from an experiment
/// copies `meta` but not this table.
fn sample_ranges(of: &Connection) -> Result<[u64; 2], RowError> {
    match is_missing(of, SAMPLE_RANGE)? {
        true => Ok([0, 0]),
        false => Ok([read_sample_ranges(of)?, count_sample_ranges(of)?]),
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
