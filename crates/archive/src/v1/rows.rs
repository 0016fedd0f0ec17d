//! Rows that are added during a run.

use base::{AccountId, Class, Code, Nanos, WallTime};
use record::{
    Balance, ClientSample, Counts, EndCounts, EventKind, Gauge, Grid, Interval, Kind, Load,
    MAX_ROWS, SampleRange, Series, Times,
};
use rusqlite::{Connection, Row, params};

use crate::encoding::{Encoder, HistogramSummary};
use crate::error::RowError;

/// The columns of `interval` with counters, in order.
pub(crate) const SCALARS: [&str; 16] = [
    "arrivals",
    "completed",
    "errors",
    "rejected",
    "unsent",
    "timeouts",
    "accepted_errors",
    "retries",
    "rows",
    "bytes_sent",
    "bytes_received",
    "busy_waits",
    "overflows",
    "ended_completed",
    "ended_errors",
    "ended_rows",
];

/// The columns of `interval` whose values come from servers and can be arbitrarily large.
pub(super) const SERVER_COLUMNS: [&str; 2] = ["rows", "ended_rows"];

/// A row of `interval`.
pub(crate) struct IntervalRow {
    pub(crate) interval: Interval,
    pub(crate) counts: Counts,
    pub(crate) ends: EndCounts,
    pub(crate) gauge: Option<Gauge>,
}

impl IntervalRow {
    pub(crate) const SELECT: &str = "
        select interval, arrivals, completed, errors, rejected, unsent, timeouts, accepted_errors,
            retries, rows, bytes_sent, bytes_received, busy_waits, overflows, ended_completed,
            ended_errors, ended_rows, in_flight, queued, connections
        from interval where job = ?1 and interval >= ?2 and interval < ?3 order by interval";

    pub(crate) fn write(
        &self,
        to: &Connection,
        account: AccountId,
        grid: &Grid,
    ) -> Result<(), RowError> {
        let IntervalRow { interval, counts, ends, gauge } = self;
        let (start, end) = (grid.start(*interval), grid.end(*interval));
        let scalars = scalars(counts, ends).map(integer);
        let gauge = gauge.map(|gauge| {
            let Gauge { in_flight, queued, connections } = gauge;
            [in_flight, queued, connections].map(integer)
        });
        let mut insert = to.prepare_cached(
            "insert or replace into interval values
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        insert.raw_bind_parameter(1, account.0)?;
        insert.raw_bind_parameter(2, interval)?;
        insert.raw_bind_parameter(3, seconds(start))?;
        insert.raw_bind_parameter(4, seconds(end.saturating_sub(start)))?;
        for (place, scalar) in scalars.into_iter().enumerate() {
            insert.raw_bind_parameter(5 + place, scalar)?;
        }
        for place in 0..3 {
            insert.raw_bind_parameter(21 + place, gauge.map(|gauge| gauge[place]))?;
        }
        insert.raw_execute()?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<IntervalRow, RowError> {
        let mut scalars = [0; SCALARS.len()];
        for (place, scalar) in scalars.iter_mut().enumerate() {
            *scalar = natural(row, 1 + place)?;
        }
        let (counts, ends) = counts_and_ends(scalars);
        let gauge = match row.get::<_, Option<i64>>(17)? {
            None => None,
            Some(_) => Some(Gauge {
                in_flight: natural(row, 17)?,
                queued: natural(row, 18)?,
                connections: natural(row, 19)?,
            }),
        };
        Ok(IntervalRow { interval: interval(row, 0)?, counts, ends, gauge })
    }
}

/// Returns the numbers in the order of [`SCALARS`].
pub(crate) fn scalars(counts: &Counts, ends: &EndCounts) -> [u64; SCALARS.len()] {
    let Counts {
        arrivals,
        balance,
        timeouts,
        accepted_errors,
        retries,
        rows,
        bytes_sent,
        bytes_received,
        busy_waits,
        overflows,
    } = *counts;
    let EndCounts { completed: ended_completed, errors: ended_errors, rows: ended_rows } = *ends;
    [
        arrivals,
        balance.completed(),
        balance.errors(),
        balance.rejected(),
        balance.unsent(),
        timeouts,
        accepted_errors,
        retries,
        rows,
        bytes_sent,
        bytes_received,
        busy_waits,
        overflows,
        ended_completed,
        ended_errors,
        ended_rows,
    ]
}

fn counts_and_ends(scalars: [u64; SCALARS.len()]) -> (Counts, EndCounts) {
    let [
        arrivals,
        completed,
        errors,
        rejected,
        unsent,
        timeouts,
        accepted_errors,
        retries,
        rows,
        bytes_sent,
        bytes_received,
        busy_waits,
        overflows,
        ended_completed,
        ended_errors,
        ended_rows,
    ] = scalars;
    let counts = Counts {
        arrivals,
        balance: Balance::of(completed, errors, rejected, unsent),
        timeouts,
        accepted_errors,
        retries,
        rows,
        bytes_sent,
        bytes_received,
        busy_waits,
        overflows,
    };
    (counts, EndCounts { completed: ended_completed, errors: ended_errors, rows: ended_rows })
}

/// Sums of the columns [`SCALARS`] over an account's rows in the table `interval`.
#[derive(Clone, Copy, Default)]
pub(crate) struct IntervalSums([u64; SCALARS.len()]);

impl IntervalSums {
    /// Adds a row. `others` is the sum of the [totals](IntervalSums::total) of other accounts.
    ///
    /// # Errors
    /// A sum is larger than an integer of SQLite, unless its values come from servers. The total of
    /// all accounts has the same limit, because readers add columns and accounts together.
    pub(crate) fn add(&mut self, row: &IntervalRow, others: u64) -> Result<(), RowError> {
        let added = scalars(&row.counts, &row.ends);
        for ((sum, added), what) in self.0.iter_mut().zip(added).zip(SCALARS) {
            *sum = sum.saturating_add(added).min(MAX_ROWS);
            if *sum == MAX_ROWS && !SERVER_COLUMNS.contains(&what) {
                return Err(RowError::content(format!("the sum of {what} is too large")));
            }
        }
        match self.total().saturating_add(others) < MAX_ROWS {
            true => Ok(()),
            false => Err(RowError::content("the sum of all counts is too large")),
        }
    }

    /// Returns the sum of all columns, except those whose values come from servers.
    pub(crate) fn total(self) -> u64 {
        let own = self.with_names().filter(|(what, _)| !SERVER_COLUMNS.contains(what));
        own.map(|(_, sum)| sum).fold(0, u64::saturating_add)
    }

    /// Returns the sums, each with the name of its column.
    pub(crate) fn with_names(self) -> impl Iterator<Item = (&'static str, u64)> {
        SCALARS.into_iter().zip(self.0)
    }
}

/// A row of `histogram`, its bytes borrowed from SQLite.
pub(crate) struct HistogramRow<'a> {
    pub(crate) interval: Interval,
    pub(crate) held: HistogramSummary,
    pub(crate) bytes: &'a [u8],
}

impl HistogramRow<'_> {
    pub(crate) const SELECT: &'static str = "
        select interval, count, max_ns, v2 from histogram
        where job = ?1 and kind = ?2 and interval >= ?3 and interval < ?4 order by interval";

    /// The query for the number of measured times of one kind in the whole run.
    pub(crate) const COUNT: &'static str =
        "select coalesce(sum(count), 0) from histogram where job = ?1 and kind = ?2";

    /// Writes the histogram of a row that begins with `interval`.
    pub(crate) fn write(
        to: &Connection,
        (account, kind, interval): (AccountId, Kind, Interval),
        grid: &Grid,
        times: &Times,
        encoder: &mut Encoder,
    ) -> Result<(), RowError> {
        to.prepare_cached(
            "insert into histogram values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            on conflict do update set count = ?6, max_ns = ?7, v2 = ?8",
        )?
        .execute(params![
            account.0,
            kind.name(),
            interval,
            seconds(grid.start(interval)),
            seconds(grid.row_length(interval)),
            integer(times.len()),
            integer(times.max()),
            encoder.encode(times, kind),
        ])?;
        Ok(())
    }

    pub(crate) fn read_count(row: &Row<'_>) -> Result<u64, RowError> {
        natural(row, 0)
    }

    pub(crate) fn read<'a>(row: &'a Row<'_>) -> Result<HistogramRow<'a>, RowError> {
        let bytes = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        let held = HistogramSummary { count: natural(row, 1)?, max: natural(row, 2)? };
        Ok(HistogramRow { interval: interval(row, 0)?, held, bytes })
    }
}

/// A row of `failure`.
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) code: Code,
    pub(crate) count: u64,
}

impl Failure {
    pub(crate) const SELECT: &str = "
        select class, code, sum(count) from failure
        where job = ?1 and interval >= ?2 and interval < ?3 group by class, code
        order by class, code";

    pub(crate) fn write(
        &self,
        to: &Connection,
        account: AccountId,
        interval: Interval,
    ) -> Result<(), RowError> {
        to.prepare_cached("insert or replace into failure values (?, ?, ?, ?, ?)")?.execute(
            params![
                account.0,
                interval,
                self.class.name(),
                self.code.as_str(),
                integer(self.count)
            ],
        )?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<Failure, RowError> {
        let class = class(row, 0)?;
        Ok(Failure { class, code: Code::new(text(row, 1)?), count: natural(row, 2)? })
    }
}

/// A row of `event`.
pub(crate) struct Event;

impl Event {
    pub(crate) const SELECT: &str = "select event, at_s, job, kind, text from event order by event";

    /// Writes an event, and the error that it reports.
    pub(crate) fn write(to: &Connection, event: &record::Event) -> Result<(), RowError> {
        let record::Event { at, account, kind, error, text } = event;
        to.prepare_cached("insert into event (at_s, job, kind, text) values (?, ?, ?, ?)")?
            .execute(params![seconds(*at), account.map(|account| account.0), kind.name(), text])?;
        match error {
            Some(error) => EventError::write(to, to.last_insert_rowid(), *error),
            None => Ok(()),
        }
    }

    /// Returns the number of an event, and the event without its error.
    pub(crate) fn read(row: &Row<'_>) -> Result<(i64, record::Event), RowError> {
        let kind = text(row, 3)?;
        let kind = EventKind::from_name(kind)
            .ok_or_else(|| RowError::content(format!("unknown kind of event `{kind}`")))?;
        let account = row.get::<_, Option<u16>>(2)?.map(AccountId);
        let (at, text) = (nanos(row, 1)?, text(row, 4)?.to_owned());
        Ok((row.get(0)?, record::Event { at, account, kind, error: None, text }))
    }
}

/// A row of `event_error`.
pub(crate) struct EventError;

impl EventError {
    pub(crate) const SELECT: &str = "select event, class, code from event_error order by event";

    fn write(to: &Connection, event: i64, error: record::EventError) -> Result<(), RowError> {
        let record::EventError { class, code } = error;
        to.prepare_cached("insert into event_error values (?, ?, ?)")?.execute(params![
            event,
            class.name(),
            code.as_str()
        ])?;
        Ok(())
    }

    /// Returns the number of an event, and its error.
    pub(crate) fn read(row: &Row<'_>) -> Result<(i64, record::EventError), RowError> {
        let (class, code) = (class(row, 1)?, Code::new(text(row, 2)?));
        Ok((row.get(0)?, record::EventError { class, code }))
    }

    /// Returns the error of an event in a record without this table: the first one whose code is at
    /// the end of the event's text. `failures` are those of the event's account.
    pub(crate) fn find_in_text(
        text: &str,
        mut failures: impl Iterator<Item = record::EventError>,
    ) -> Option<record::EventError> {
        failures.find(|error| text.ends_with(&format!("({})", error.code)))
    }
}

/// A row of `series`.
pub(crate) struct SeriesRow;

impl SeriesRow {
    pub(crate) const SELECT: &str =
        "select series, component, metric, unit from series order by component, metric";

    pub(crate) fn write(to: &Connection, place: i64, series: &Series) -> Result<(), RowError> {
        let Series { component, metric, unit } = series;
        to.prepare_cached("insert into series values (?, ?, ?, ?)")?
            .execute(params![place, component, metric, unit])?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<(i64, Series), RowError> {
        let text = |column| text(row, column).map(str::to_owned);
        let series = Series { component: text(1)?, metric: text(2)?, unit: text(3)? };
        Ok((row.get(0)?, series))
    }
}

/// A row of `sample`.
pub(crate) struct SampleRow;

impl SampleRow {
    pub(crate) const SELECT: &str =
        "select at_s, value from sample where series = ?1 order by at_s";

    pub(crate) fn write(
        to: &Connection,
        series: i64,
        at: Nanos,
        value: f64,
    ) -> Result<(), RowError> {
        // If there are two observations at one instant, the later one is kept.
        to.prepare_cached("insert or replace into sample values (?, ?, ?)")?.execute(params![
            series,
            seconds(at),
            value
        ])?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<(Nanos, f64), RowError> {
        Ok((nanos(row, 0)?, row.get(1)?))
    }
}

/// A row of `sample_range`.
pub(crate) struct SampleRangeRow;

impl SampleRangeRow {
    pub(crate) const SELECT: &str =
        "select at_s, samples, least, most from sample_range where series = ?1 order by at_s";

    pub(crate) fn write(to: &Connection, series: i64, range: &SampleRange) -> Result<(), RowError> {
        let SampleRange { at, samples, least, most } = *range;
        to.prepare_cached("insert or replace into sample_range values (?, ?, ?, ?, ?)")?
            .execute(params![series, seconds(at), samples, least, most])?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<SampleRange, RowError> {
        let samples = u32::try_from(natural(row, 1)?).unwrap_or(u32::MAX);
        Ok(SampleRange { at: nanos(row, 0)?, samples, least: row.get(2)?, most: row.get(3)? })
    }
}

/// A row of `load_sample`.
pub(crate) struct LoadSampleRow;

impl LoadSampleRow {
    pub(crate) const SELECT: &str = "select series, at_s, value from load_sample
        where table_name = ?1 order by series, at_s";

    pub(crate) fn write(
        to: &Connection,
        table: &str,
        series: i64,
        at: Nanos,
        value: f64,
    ) -> Result<(), RowError> {
        to.prepare_cached("insert or replace into load_sample values (?, ?, ?, ?)")?
            .execute(params![table, series, seconds(at), value])?;
        Ok(())
    }

    /// Returns the number of the series, the instant and the value.
    pub(crate) fn read(row: &Row<'_>) -> Result<(i64, Nanos, f64), RowError> {
        Ok((row.get(0)?, nanos(row, 1)?, row.get(2)?))
    }
}

/// A row of `client`.
pub(crate) struct Client;

impl Client {
    pub(crate) const SELECT: &str = "
        select at_s, cpu_user_s, cpu_system_s, rss_bytes, peak_rss_bytes, threads from client
        order by client";

    pub(crate) fn write(to: &Connection, at: Nanos, sample: &ClientSample) -> Result<(), RowError> {
        let ClientSample { cpu_user, cpu_system, rss_bytes, peak_rss_bytes, threads } = sample;
        to.prepare_cached(
            "insert into client
            (at_s, cpu_user_s, cpu_system_s, rss_bytes, peak_rss_bytes, threads)
            values (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            seconds(at),
            seconds(*cpu_user),
            seconds(*cpu_system),
            rss_bytes.map(integer),
            peak_rss_bytes.map(integer),
            threads.map(integer),
        ])?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<(Nanos, ClientSample), RowError> {
        let sample = ClientSample {
            cpu_user: nanos(row, 1)?,
            cpu_system: nanos(row, 2)?,
            rss_bytes: optional(row, 3)?,
            peak_rss_bytes: optional(row, 4)?,
            threads: optional(row, 5)?,
        };
        Ok((nanos(row, 0)?, sample))
    }
}

/// A row of `setting`.
pub(crate) struct Setting;

impl Setting {
    pub(crate) const SELECT: &str = "select name, value from setting order by name";

    pub(crate) fn write(to: &Connection, name: &str, value: &str) -> Result<(), RowError> {
        to.prepare_cached("insert or replace into setting values (?, ?)")?
            .execute([name, value])?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<(String, String), RowError> {
        Ok((text(row, 0)?.to_owned(), text(row, 1)?.to_owned()))
    }
}

/// A row of `load`.
pub(crate) struct LoadRow;

impl LoadRow {
    pub(crate) const SELECT: &str = "
        select table_name, started_ns, length_s, rows, bytes from load
        order by started_ns, table_name";

    pub(crate) fn write(to: &Connection, load: &Load) -> Result<(), RowError> {
        let Load { table, started, length, rows, bytes } = load;
        to.prepare_cached("insert or replace into load values (?, ?, ?, ?, ?)")?.execute(
            params![table, started.0, seconds(*length), integer(*rows), integer(*bytes)],
        )?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<Load, RowError> {
        Ok(Load {
            table: text(row, 0)?.to_owned(),
            started: WallTime(row.get(1)?),
            length: nanos(row, 2)?,
            rows: natural(row, 3)?,
            bytes: natural(row, 4)?,
        })
    }
}

/// A row of `load_progress`: the progress of a load, and the processor time of the load generator
/// until then.
pub(crate) struct LoadProgressRow {
    /// Time since the beginning of the load.
    pub(crate) at: Nanos,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// User and system time of the generator's process since its start.
    pub(crate) cpu: Option<(Nanos, Nanos)>,
}

impl LoadProgressRow {
    pub(crate) const SELECT: &str = "
        select at_s, rows, bytes, cpu_user_s, cpu_system_s from load_progress
        where table_name = ?1 order by second";

    pub(crate) fn write(&self, to: &Connection, table: &str) -> Result<(), RowError> {
        let LoadProgressRow { at, rows, bytes, cpu } = self;
        to.prepare_cached("insert or replace into load_progress values (?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                table,
                integer(at.0 / 1_000_000_000),
                seconds(*at),
                integer(*rows),
                integer(*bytes),
                cpu.map(|(user, _)| seconds(user)),
                cpu.map(|(_, system)| seconds(system)),
            ])?;
        Ok(())
    }

    pub(crate) fn read(row: &Row<'_>) -> Result<LoadProgressRow, RowError> {
        let cpu = match row.get::<_, Option<f64>>(3)? {
            None => None,
            Some(_) => Some((nanos(row, 3)?, nanos(row, 4)?)),
        };
        Ok(LoadProgressRow {
            at: nanos(row, 0)?,
            rows: natural(row, 1)?,
            bytes: natural(row, 2)?,
            cpu,
        })
    }
}

/// Converts a number to an integer of SQLite. No count of a run reaches 2⁶³; a larger number would
/// become the largest integer.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn seconds(span: Nanos) -> f64 {
    span.as_secs_f64()
}

pub(super) fn natural(row: &Row<'_>, column: usize) -> Result<u64, RowError> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| RowError::content(format!("there is {number} in it")))
}

fn optional(row: &Row<'_>, column: usize) -> Result<Option<u64>, RowError> {
    match row.get::<_, Option<i64>>(column)? {
        None => Ok(None),
        Some(_) => natural(row, column).map(Some),
    }
}

fn interval(row: &Row<'_>, column: usize) -> Result<Interval, RowError> {
    let number = natural(row, column)?;
    Interval::try_from(number)
        .map_err(|_| RowError::content(format!("there is no interval {number}")))
}

fn nanos(row: &Row<'_>, column: usize) -> Result<Nanos, RowError> {
    let seconds: f64 = row.get(column)?;
    // A double resolves nanoseconds for the first hundred days; rounding restores them.
    let nanos = (seconds * 1e9).round();
    if (0.0..1.8e19).contains(&nanos) {
        Ok(Nanos(nanos as u64))
    } else {
        Err(RowError::content(format!("{seconds} s is not a valid time")))
    }
}

fn class(row: &Row<'_>, column: usize) -> Result<Class, RowError> {
    let name = text(row, column)?;
    Class::from_name(name).ok_or_else(|| RowError::content(format!("unknown error class `{name}`")))
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, RowError> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}
