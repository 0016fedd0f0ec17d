//! The export as one JSON document, `assay.export/1`: the facts about the run, and one array for
//! each exported table, with decoded histograms.

use std::io::{self, Write};

use base::{AccountId, Nanos, printable_json};
use record::{Event, Interval};
use serde::Serialize;
use serde_json::{Value, json as value};

use crate::error::RecordError;
use crate::reader::{
    Archive, ClientReading, HistogramSlice, IntervalCounts, LoadPoint, LoadReport,
};

/// Name of this version of the format. Fields may be added, and are never renamed.
const SCHEMA: &str = "assay.export/1";

/// Writes the record as one JSON document, one line per row. Series of observations, input files,
/// excerpts and notes are left out.
///
/// # Errors
/// Fails if the record cannot be read, or `out` cannot be written to.
pub fn json(archive: &Archive, out: &mut impl Write) -> Result<(), RecordError> {
    let mut document = Document { archive, out };
    document.text(&format!("{{\"schema\":\"{SCHEMA}\""))?;
    document.field("run", &run(archive)?)?;
    document.field("settings", &settings(archive)?)?;
    document.table("jobs", |rows| {
        archive.header().jobs.iter().try_for_each(|job| rows.push(&job_row(job)))
    })?;
    document.table("loads", |rows| {
        archive.loads()?.iter().try_for_each(|load| rows.push(&load_row(load)))
    })?;
    document.table("events", |rows| {
        archive.events()?.iter().try_for_each(|event| rows.push(&event_row(archive, event)))
    })?;
    document.table("client", |rows| {
        archive.client()?.iter().try_for_each(|reading| rows.push(&client_row(reading)))
    })?;
    document.table("intervals", |rows| write_intervals(archive, rows))?;
    document.table("failures", |rows| write_failures(archive, rows))?;
    document.table("histograms", |rows| write_histograms(archive, rows))?;
    document.text("}\n")?;
    document.out.flush().map_err(|error| archive.cannot_export(error))
}

/// A document that is being written.
struct Document<'a, W> {
    archive: &'a Archive,
    out: &'a mut W,
}

impl<W: Write> Document<'_, W> {
    fn text(&mut self, text: &str) -> Result<(), RecordError> {
        let text = printable_json(text);
        self.out.write_all(text.as_bytes()).map_err(|error| self.archive.cannot_export(error))
    }

    fn field(&mut self, name: &str, content: &Value) -> Result<(), RecordError> {
        self.text(&format!(",\n\"{name}\":{content}"))
    }

    /// Writes a field that is an array, row by row.
    fn table(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Rows<'_, W>) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        self.text(&format!(",\n\"{name}\":["))?;
        write(&mut Rows { archive: self.archive, out: self.out, is_first: true })?;
        self.text("]")
    }
}

/// An array that is being written.
struct Rows<'a, W> {
    archive: &'a Archive,
    out: &'a mut W,
    is_first: bool,
}

impl<W: Write> Rows<'_, W> {
    fn push(&mut self, row: &impl Serialize) -> Result<(), RecordError> {
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        let mut write = || -> io::Result<()> {
            self.out.write_all(separator.as_bytes())?;
            let row = serde_json::to_string(row)?;
            self.out.write_all(printable_json(&row).as_bytes())
        };
        write().map_err(|error| self.archive.cannot_export(error))
    }
}

fn run(archive: &Archive) -> Result<Value, RecordError> {
    let header = archive.header();
    let end = archive.end();
    Ok(value!({
        "assay": header.assay,
        "started": header.started.to_string(),
        "time_zero": archive.time_zero().map(|zero| zero.to_string()),
        "pace": header.pace.name(),
        "threads": header.lanes,
        // Seeds may be larger than the integers that every JSON reader reads exactly.
        "seed": header.seed.0.to_string(),
        "target": header.target.as_str(),
        "command": header.command,
        "workload": header.workload,
        "plan": header.plan,
        "warmup_s": header.warmup.as_secs_f64(),
        "duration_s": header.duration.map(Nanos::as_secs_f64),
        "ended": end.map(|end| end.kind.name()),
        "ended_at_s": end.map(|end| end.at.as_secs_f64()),
        "ended_because": end.map(|end| end.text.as_str()),
        "events_dropped": archive.events_dropped()?,
        "op_log": archive.op_log()?.map(|outcome| value!({
            "rows": outcome.rows,
            "dropped": outcome.dropped,
            "failure": outcome.failure,
        })),
    }))
}

fn settings(archive: &Archive) -> Result<Value, RecordError> {
    let settings = archive.settings()?.into_iter();
    Ok(Value::Object(settings.map(|(name, text)| (name, Value::String(text))).collect()))
}

fn job_row(job: &record::JobHeader) -> Value {
    value!({
        "name": job.name,
        "model": job.model,
        "arrival": job.arrival,
        "offered_per_s": job.offered_per_s,
        "connections_asked": job.connections_asked,
        "statements": job.statements,
    })
}

fn load_row(report: &LoadReport) -> Value {
    let load = &report.load;
    value!({
        "table": load.table,
        "started": load.started.to_string(),
        "length_s": load.length.as_secs_f64(),
        "rows": load.rows,
        "bytes": load.bytes,
        "progress": report.progress.iter().map(progress_row).collect::<Vec<_>>(),
    })
}

fn progress_row(point: &LoadPoint) -> Value {
    value!({
        "at_s": point.at.as_secs_f64(),
        "rows": point.rows,
        "bytes": point.bytes,
        "cpu_user_s": point.cpu.map(|(user, _)| user.as_secs_f64()),
        "cpu_system_s": point.cpu.map(|(_, system)| system.as_secs_f64()),
    })
}

fn event_row(archive: &Archive, event: &Event) -> Value {
    value!({
        "at_s": event.at.as_secs_f64(),
        "job": event.account.map(|account| name(archive, account)),
        "kind": event.kind.name(),
        "text": event.text,
    })
}

fn client_row(reading: &ClientReading) -> Value {
    let sample = &reading.sample;
    value!({
        "at_s": reading.at.as_secs_f64(),
        "cpu_user_s": sample.cpu_user.as_secs_f64(),
        "cpu_system_s": sample.cpu_system.as_secs_f64(),
        "rss_bytes": sample.rss_bytes,
        "peak_rss_bytes": sample.peak_rss_bytes,
        "threads": sample.threads,
    })
}

fn write_intervals<W: Write>(archive: &Archive, rows: &mut Rows<'_, W>) -> Result<(), RecordError> {
    for account in archive.accounts() {
        archive.each_interval(account, |row| rows.push(&interval_row(archive, account, &row)))?;
    }
    Ok(())
}

fn interval_row(archive: &Archive, account: AccountId, row: &IntervalCounts) -> Value {
    let IntervalCounts { interval, counts, ends, gauge } = row;
    let (start, end) = (archive.grid().start(*interval), archive.grid().end(*interval));
    let balance = &counts.balance;
    value!({
        "job": name(archive, account),
        "start_s": start.as_secs_f64(),
        "length_s": end.saturating_sub(start).as_secs_f64(),
        "scheduled": counts.arrivals,
        "completed": balance.completed(),
        "errors": balance.errors(),
        "rejected": balance.rejected(),
        "unsent": balance.unsent(),
        "open": counts.open(),
        "timeouts": counts.timeouts,
        "accepted_errors": counts.accepted_errors,
        "retries": counts.retries,
        "busy_waits": counts.busy_waits,
        "rows": counts.rows,
        "bytes_sent": counts.bytes_sent,
        "bytes_received": counts.bytes_received,
        "overflows": counts.overflows,
        "ended_completed": ends.completed,
        "ended_errors": ends.errors,
        "ended_rows": ends.rows,
        "in_flight": gauge.map(|gauge| gauge.in_flight),
        "queued": gauge.map(|gauge| gauge.queued),
        "connections": gauge.map(|gauge| gauge.connections),
    })
}

fn write_failures<W: Write>(archive: &Archive, rows: &mut Rows<'_, W>) -> Result<(), RecordError> {
    for account in archive.accounts() {
        archive.each_interval(account, |IntervalCounts { interval, counts, .. }| {
            match counts.balance.errors() {
                0 => Ok(()),
                _ => write_failures_of(archive, account, interval, rows),
            }
        })?;
    }
    Ok(())
}

fn write_failures_of<W: Write>(
    archive: &Archive,
    account: AccountId,
    interval: Interval,
    rows: &mut Rows<'_, W>,
) -> Result<(), RecordError> {
    let failures = archive.failures(account, interval..interval.saturating_add(1))?;
    failures.into_iter().try_for_each(|failure| {
        rows.push(&value!({
            "job": name(archive, account),
            "start_s": archive.grid().start(interval).as_secs_f64(),
            "class": failure.class.name(),
            "code": failure.code.to_string(),
            "count": failure.count,
        }))
    })
}

fn write_histograms<W: Write>(
    archive: &Archive,
    rows: &mut Rows<'_, W>,
) -> Result<(), RecordError> {
    for account in archive.accounts() {
        for kind in archive.kinds(account) {
            let (job_name, kind_name) = (name(archive, account), kind.name());
            let mut written = Ok(());
            archive.each_histogram(account, kind, 0..Interval::MAX, |slice| {
                if written.is_ok() {
                    written = rows.push(&HistogramRow::of(job_name, &kind_name, &slice));
                }
            })?;
            written?;
        }
    }
    Ok(())
}

/// A decoded histogram. Each bucket is a pair: a time in nanoseconds, and the number of measured
/// times that are at most this time and longer than the time of the previous pair.
#[derive(Serialize)]
struct HistogramRow<'a> {
    job: &'a str,
    kind: &'a str,
    start_s: f64,
    length_s: f64,
    count: u64,
    buckets: Vec<(u64, u64)>,
}

impl<'a> HistogramRow<'a> {
    fn of(job: &'a str, kind: &'a str, slice: &HistogramSlice<'_>) -> HistogramRow<'a> {
        let buckets = slice.histogram.iter_recorded();
        HistogramRow {
            job,
            kind,
            start_s: slice.start.as_secs_f64(),
            length_s: slice.length.as_secs_f64(),
            count: slice.histogram.len(),
            buckets: buckets
                .map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()))
                .collect(),
        }
    }
}

fn name(archive: &Archive, account: AccountId) -> &str {
    archive.header().jobs.get(account.index()).map_or("", |job| job.name.as_str())
}
