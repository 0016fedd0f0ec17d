//! The export as a table: one row per job and second of intended starts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use base::{AccountId, Nanos, escaped, spreadsheet_cell};
use hdrhistogram::Histogram;
use record::{Interval, Kind};

use crate::error::RecordError;
use crate::reader::{Archive, IntervalCounts};

/// Columns. The first four identify the row. Then follow the requests with an intended start in the
/// row's second, the requests that ended in that second, and the state at its end. Times come from
/// a histogram row, and are given in its first second. In runs of more than two hours, a histogram
/// row can be longer than a second. New columns are appended, for programs that refer to columns by
/// number.
const COLUMNS: [&str; 39] = [
    "job",
    "start_s",
    "length_s",
    "in_window",
    "scheduled",
    "completed",
    "errors",
    "rejected",
    "unsent",
    "open",
    "timeouts",
    "accepted_errors",
    "retries",
    "busy_waits",
    "rows",
    "bytes_sent",
    "bytes_received",
    "overflows",
    "ended_completed",
    "ended_errors",
    "ended_rows",
    "in_flight",
    "queued",
    "connections",
    "response_count",
    "response_p50_ms",
    "response_p99_ms",
    "response_max_ms",
    "service_p50_ms",
    "service_p99_ms",
    "service_max_ms",
    "wait_max_ms",
    "send_lag_max_ms",
    "response_p90_ms",
    "response_p99_9_ms",
    "service_p90_ms",
    "service_p99_9_ms",
    "response_p95_ms",
    "service_p95_ms",
];

/// Writes a table of the seconds of a run: RFC 4180, UTF-8, with a header. Missing values are
/// empty. `warm` is the time from time zero to the beginning of the window.
///
/// # Errors
/// Fails if the record cannot be read, or `out` cannot be written to.
pub fn csv(archive: &Archive, warm: Nanos, out: &mut impl Write) -> Result<(), RecordError> {
    let cannot_write = |error| archive.cannot_export(error);
    write_row(out, COLUMNS.iter().map(|&column| column.to_owned())).map_err(cannot_write)?;
    for account in archive.accounts() {
        let name = &archive.header().jobs[account.index()].name;
        let times = Times::read(archive, account)?;
        archive.each_interval(account, |row| {
            write_row(out, row_cells(archive, warm, name, &row, &times)).map_err(cannot_write)
        })?;
    }
    out.flush().map_err(cannot_write)
}

/// The times of a job's histogram rows, by their first intervals.
struct Times {
    response: BTreeMap<Interval, Quantiles>,
    service: BTreeMap<Interval, Quantiles>,
    wait: BTreeMap<Interval, Quantiles>,
    send_lag: BTreeMap<Interval, Quantiles>,
}

struct Quantiles {
    count: u64,
    p50: String,
    p90: String,
    p95: String,
    p99: String,
    p99_9: String,
    max: String,
}

impl Times {
    fn read(archive: &Archive, account: AccountId) -> Result<Times, RecordError> {
        let of = |kind| {
            let mut rows = BTreeMap::new();
            archive.each_histogram(account, kind, 0..Interval::MAX, |slice| {
                rows.insert(slice.interval, Quantiles::of(slice.histogram));
            })?;
            Ok(rows)
        };
        Ok(Times {
            response: of(Kind::Response)?,
            service: of(Kind::Service)?,
            wait: of(Kind::Wait)?,
            send_lag: of(Kind::SendLag)?,
        })
    }
}

impl Quantiles {
    fn of(histogram: &Histogram<u64>) -> Quantiles {
        Quantiles {
            count: histogram.len(),
            p50: ms(histogram.value_at_quantile(0.50)),
            p90: ms(histogram.value_at_quantile(0.90)),
            p95: ms(histogram.value_at_quantile(0.95)),
            p99: ms(histogram.value_at_quantile(0.99)),
            p99_9: ms(histogram.value_at_quantile(0.999)),
            max: ms(histogram.max()),
        }
    }
}

fn row_cells(
    archive: &Archive,
    warm: Nanos,
    job: &str,
    row: &IntervalCounts,
    times: &Times,
) -> Vec<String> {
    let IntervalCounts { interval, counts, ends, gauge } = row;
    let (start, end) = (archive.grid().start(*interval), archive.grid().end(*interval));
    let balance = &counts.balance;
    let of = |kind: &BTreeMap<Interval, Quantiles>, get: fn(&Quantiles) -> String| {
        kind.get(interval).map(get).unwrap_or_default()
    };
    let mut cells = vec![
        job.to_owned(),
        seconds(start),
        seconds(end.saturating_sub(start)),
        if start >= warm && is_scheduled(archive, start) { "yes" } else { "no" }.to_owned(),
    ];
    let counted = [
        counts.arrivals,
        balance.completed(),
        balance.errors(),
        balance.rejected(),
        balance.unsent(),
        counts.open(),
        counts.timeouts,
        counts.accepted_errors,
        counts.retries,
        counts.busy_waits,
        counts.rows,
        counts.bytes_sent,
        counts.bytes_received,
        counts.overflows,
        ends.completed,
        ends.errors,
        ends.rows,
    ];
    cells.extend(counted.map(|number| number.to_string()));
    let gauges = gauge.map(|gauge| [gauge.in_flight, gauge.queued, gauge.connections]);
    cells.extend((0..3).map(|at| gauges.map_or(String::new(), |all| all[at].to_string())));
    cells.extend([
        of(&times.response, |row| row.count.to_string()),
        of(&times.response, |row| row.p50.clone()),
        of(&times.response, |row| row.p99.clone()),
        of(&times.response, |row| row.max.clone()),
        of(&times.service, |row| row.p50.clone()),
        of(&times.service, |row| row.p99.clone()),
        of(&times.service, |row| row.max.clone()),
        of(&times.wait, |row| row.max.clone()),
        of(&times.send_lag, |row| row.max.clone()),
        of(&times.response, |row| row.p90.clone()),
        of(&times.response, |row| row.p99_9.clone()),
        of(&times.service, |row| row.p90.clone()),
        of(&times.service, |row| row.p99_9.clone()),
        of(&times.response, |row| row.p95.clone()),
        of(&times.service, |row| row.p95.clone()),
    ]);
    cells
}

/// Returns true if the schedule has not ended at `start`. After its end, requests are only
/// answered. The window of a killed run ends with its record.
fn is_scheduled(archive: &Archive, start: Nanos) -> bool {
    archive.end().is_none_or(|end| start < end.at)
}

fn write_row(out: &mut impl Write, cells: impl IntoIterator<Item = String>) -> io::Result<()> {
    let shown = |cell: String| quoted(&spreadsheet_cell(&cell, escaped));
    let cells: Vec<String> = cells.into_iter().map(shown).collect();
    write!(out, "{}\r\n", cells.join(","))
}

/// Returns a cell, in quotes if it needs them (RFC 4180, section 2).
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// Formats nanoseconds as milliseconds, exactly and without trailing zeros.
fn ms(ns: u64) -> String {
    decimal(ns, 1_000_000)
}

fn seconds(time: Nanos) -> String {
    decimal(time.0, 1_000_000_000)
}

/// Formats `number` divided by `unit`, a power of ten, exactly and without trailing zeros.
fn decimal(number: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let (whole, part) = (number / unit, number % unit);
    let text = format!("{whole}.{part:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        assert_eq!(ms(1_234_567), "1.234567");
        assert_eq!(ms(999), "0.000999");
        assert_eq!(ms(5_000_000), "5");
        assert_eq!(ms(0), "0");
        assert_eq!(seconds(Nanos::from_secs(10)), "10");
    }

    #[test]
    fn csv_cells_are_quoted_if_necessary() {
        assert_eq!(quoted("read"), "read");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
        let mut row = Vec::new();
        write_row(&mut row, ["a\r\nb".to_owned(), "\u{9b}2J\u{202e}".to_owned()]).unwrap();
        assert_eq!(String::from_utf8(row).unwrap(), "a\\u{d}\\u{a}b,\\u{9b}2J\\u{202e}\r\n");
        let mut row = Vec::new();
        write_row(&mut row, ["=1,2", "a=1", "-1.5"].map(str::to_owned)).unwrap();
        assert_eq!(String::from_utf8(row).unwrap(), "\"'=1,2\",a=1,-1.5\r\n");
    }
}
