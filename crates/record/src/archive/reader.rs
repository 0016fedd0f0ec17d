//! The side that reads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::{Class, Code, Nanos, WallTime};
use hdrhistogram::Histogram;
use rusqlite::{Connection, Params, Row, params};

use super::encoding::{Held, Sum, add_to};
use super::error::{RecordError, RecordErrorKind, Trouble};
use super::open::{Opened, PrivateCopy, open};
use super::v1;
use crate::balance::{Counts, Ends};
use crate::delivery::{Event, Gauge, JobIndex};
use crate::facts::{ClientSample, End, Header, Load, Series};
use crate::grid::{Grid, Interval};
use crate::histogram::Kind;
use crate::spool::OpLogTold;

/// A record that is read.
///
/// The record of a run that was killed has no [`Archive::end`] and is whole up to the last second
/// that was written; requests that were open there are [`Counts::open`].
pub struct Archive {
    path: PathBuf,
    header: Header,
    time_zero: Option<WallTime>,
    end: Option<End>,
    // The connection is closed before the copy that it reads is removed.
    connection: Connection,
    _copy: Option<PrivateCopy>,
}

/// One job in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalCounts {
    /// The interval.
    pub interval: Interval,
    /// By intended start.
    pub counts: Counts,
    /// By end.
    pub ends: Ends,
    /// As the interval ended, if every lane said so.
    pub gauge: Option<Gauge>,
}

/// Errors of one class and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// Their class.
    pub class: Class,
    /// The database's code.
    pub code: Code,
    /// How many.
    pub count: u64,
}

/// A histogram with the time that it is about.
#[derive(Clone, Copy, Debug)]
pub struct HistogramSlice<'a> {
    /// Its first interval.
    pub interval: Interval,
    /// When that begins, after time zero.
    pub start: Nanos,
    /// How long it is.
    pub length: Nanos,
    /// The times of the requests that were meant to start then.
    pub histogram: &'a Histogram<u64>,
}

/// What the load generator had used by an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientReading {
    /// When, after time zero.
    pub at: Nanos,
    /// What.
    pub sample: ClientSample,
}

/// A series with what was read of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesReadings {
    /// Which.
    pub series: Series,
    /// When, after time zero, and what it was.
    pub points: Vec<(Nanos, f64)>,
}

/// A table that was filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadReport {
    /// All of it, or as far as it came.
    pub load: Load,
    /// How it went, once a second.
    pub progress: Vec<LoadPoint>,
    /// What was watched meanwhile, with instants since it began; nothing in virtual time.
    pub series: Vec<SeriesReadings>,
}

/// How far a load was at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPoint {
    /// When, since the load began.
    pub at: Nanos,
    /// Rows so far.
    pub rows: u64,
    /// Bytes of values so far.
    pub bytes: u64,
    /// The load generator's processor time, user and system, since its process began; `None` in
    /// virtual time.
    pub cpu: Option<(Nanos, Nanos)>,
}

impl Archive {
    /// Opens a record.
    ///
    /// What a killed run left half written is rolled back in the file, or, if that cannot be
    /// changed, in a copy in the temporary directory.
    ///
    /// # Errors
    /// No file, no record, a record of a later version, or a damaged one; the error says which.
    pub fn open(path: &Path) -> Result<Archive, RecordError> {
        let Opened { connection, copy } = open(path)?;
        let damage = |trouble: Trouble| trouble.while_reading(path, "table `meta`");
        let (header, time_zero) = v1::read_header(&connection).map_err(damage)?;
        let end = v1::read_end(&connection).map_err(damage)?;
        if end.is_some() {
            v1::check_seal(&connection)
                .map_err(|trouble| trouble.while_reading(path, "table `seal`"))?;
        }
        Ok(Archive { path: path.to_owned(), header, time_zero, end, connection, _copy: copy })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known before the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where the intervals lie.
    pub fn grid(&self) -> Grid {
        self.header.grid()
    }

    /// The jobs, by their places in the plan.
    pub fn jobs(&self) -> impl Iterator<Item = JobIndex> + use<> {
        (0..self.header.jobs.len() as u16).map(JobIndex)
    }

    /// The kinds of histogram that a job may have.
    pub fn kinds(&self, job: JobIndex) -> impl Iterator<Item = Kind> + use<> {
        let statements = self.header.jobs[usize::from(job.0)].statements.len() as u16;
        Kind::OF_A_JOB.into_iter().chain((0..statements).map(Kind::Statement))
    }

    /// The wall clock's reading at time zero; `None` if the run did not come that far.
    pub fn time_zero(&self) -> Option<WallTime> {
        self.time_zero
    }

    /// How the run ended; `None` if it was killed.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The intervals of a job, in order. One in which nothing was recorded may be missing.
    ///
    /// # Errors
    /// The record is damaged, or cannot be read any more.
    pub fn intervals(&self, job: JobIndex) -> Result<Vec<IntervalCounts>, RecordError> {
        let mut all = Vec::new();
        self.each_interval(job, |row| {
            all.push(row);
            Ok(())
        })?;
        Ok(all)
    }

    /// Shows the intervals of a job one by one, in order, so that a long run needs no more memory
    /// than a short one.
    ///
    /// # Errors
    /// As [`Archive::intervals`], and the first that `show` returns, which sees no more rows then;
    /// what was shown before the error is right.
    pub fn each_interval(
        &self,
        job: JobIndex,
        mut show: impl FnMut(IntervalCounts) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let all = params![job.0, 0, i64::MAX];
        let mut shown = Ok(());
        self.each("interval", v1::IntervalRow::SELECT, all, |row| {
            let v1::IntervalRow { interval, counts, ends, gauge } = v1::IntervalRow::read(row)?;
            if shown.is_ok() {
                shown = show(IntervalCounts { interval, counts, ends, gauge });
            }
            Ok(())
        })?;
        shown
    }

    /// The errors of requests that were meant to start in a range of intervals.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn failures(
        &self,
        job: JobIndex,
        range: Range<Interval>,
    ) -> Result<Vec<FailureCount>, RecordError> {
        let range = params![job.0, range.start, range.end];
        self.rows("failure", v1::Failure::SELECT, range, |row| {
            let v1::Failure { class, code, count } = v1::Failure::read(row)?;
            Ok(FailureCount { class, code, count })
        })
    }

    /// What happened to the run, in the order in which it became known.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn events(&self) -> Result<Vec<Event>, RecordError> {
        self.rows("event", v1::Event::SELECT, [], v1::Event::read)
    }

    /// How many events are not in the record because there were too many.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn events_dropped(&self) -> Result<u64, RecordError> {
        v1::read_events_dropped(&self.connection)
            .map_err(|trouble| trouble.while_reading(&self.path, "table `meta`"))
    }

    /// What came of the op-log; `None` if there was none.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn op_log(&self) -> Result<Option<OpLogTold>, RecordError> {
        v1::read_op_log(&self.connection)
            .map_err(|trouble| trouble.while_reading(&self.path, "table `meta`"))
    }

    /// What the load generator had used at the ends of the intervals; nothing in virtual time.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn client(&self) -> Result<Vec<ClientReading>, RecordError> {
        self.rows("client", v1::Client::SELECT, [], |row| {
            let (at, sample) = v1::Client::read(row)?;
            Ok(ClientReading { at, sample })
        })
    }

    /// What was watched beside the requests, sorted by component and metric; nothing in virtual
    /// time.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn series(&self) -> Result<Vec<SeriesReadings>, RecordError> {
        let readings = |(place, series): (i64, Series)| {
            let select = v1::SampleRow::SELECT;
            let points = self.rows("sample", select, [place], v1::SampleRow::read)?;
            Ok(SeriesReadings { series, points })
        };
        let read: Result<Vec<_>, _> = self.known_series()?.into_iter().map(readings).collect();
        // Of some there are readings while tables were filled only.
        Ok(read?.into_iter().filter(|series| !series.points.is_empty()).collect())
    }

    /// All series with their numbers, sorted by component and metric.
    fn known_series(&self) -> Result<Vec<(i64, Series)>, RecordError> {
        match self.is_missing("series")? {
            true => Ok(Vec::new()),
            false => self.rows("series", v1::SeriesRow::SELECT, [], v1::SeriesRow::read),
        }
    }

    /// Whether the record is of before there was a table.
    fn is_missing(&self, table: &str) -> Result<bool, RecordError> {
        v1::is_missing(&self.connection, table)
            .map_err(|trouble| trouble.while_reading(&self.path, &format!("table `{table}`")))
    }

    /// Names and values of settings, sorted by name.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn settings(&self) -> Result<Vec<(String, String)>, RecordError> {
        self.rows("setting", v1::Setting::SELECT, [], v1::Setting::read)
    }

    /// An error that says that the record holds something that makes no sense: for those who
    /// understand more of its content than the archive does.
    pub fn damaged(&self, what: String) -> RecordError {
        RecordError::new(&self.path, RecordErrorKind::Damaged(what))
    }

    /// An error that says that what was read from the record could not be written elsewhere: for
    /// exports.
    pub fn unwritable(&self, cause: std::io::Error) -> RecordError {
        RecordError::new(&self.path, RecordErrorKind::Output).because(cause)
    }

    /// The tables that were filled, in the order in which they were begun.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn loads(&self) -> Result<Vec<LoadReport>, RecordError> {
        let loads = self.rows("load", v1::LoadRow::SELECT, [], v1::LoadRow::read)?;
        let known = self.known_series()?;
        let report = |load: Load| {
            let select = v1::LoadProgressRow::SELECT;
            let progress = self.rows("load_progress", select, [&load.table], |row| {
                let v1::LoadProgressRow { at, rows, bytes, cpu } = v1::LoadProgressRow::read(row)?;
                Ok(LoadPoint { at, rows, bytes, cpu })
            })?;
            let series = self.load_series(&load.table, &known)?;
            Ok(LoadReport { load, progress, series })
        };
        loads.into_iter().map(report).collect()
    }

    /// What was watched while a table was filled, of all that is `known`.
    fn load_series(
        &self,
        table: &str,
        known: &[(i64, Series)],
    ) -> Result<Vec<SeriesReadings>, RecordError> {
        if self.is_missing("load_sample")? {
            return Ok(Vec::new());
        }
        let select = v1::LoadSampleRow::SELECT;
        let mut points: BTreeMap<i64, Vec<(Nanos, f64)>> = BTreeMap::new();
        self.each("load_sample", select, [table], |row| {
            let (place, at, value) = v1::LoadSampleRow::read(row)?;
            points.entry(place).or_default().push((at, value));
            Ok(())
        })?;
        let readings = |(place, series): &(i64, Series)| {
            Some(SeriesReadings { series: series.clone(), points: points.remove(place)? })
        };
        Ok(known.iter().filter_map(readings).collect())
    }

    /// The times of the requests that were meant to start in a range of intervals. A row that is
    /// longer than an interval belongs where it begins; rows never reach across the beginning of
    /// the window.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn histogram(
        &self,
        job: JobIndex,
        kind: Kind,
        range: Range<Interval>,
    ) -> Result<Histogram<u64>, RecordError> {
        let mut sum = Sum::new(kind);
        self.each_row(job, kind, range, |row| compare(row, sum.add(row.bytes)?))?;
        Ok(sum.histogram())
    }

    /// Shows the rows of a range of intervals one by one, in order.
    ///
    /// # Errors
    /// As [`Archive::intervals`]; what was shown before the error is right.
    pub fn each_histogram(
        &self,
        job: JobIndex,
        kind: Kind,
        range: Range<Interval>,
        mut show: impl FnMut(HistogramSlice<'_>),
    ) -> Result<(), RecordError> {
        let grid = self.grid();
        let mut histogram = kind.histogram();
        self.each_row(job, kind, range, |row| {
            histogram.reset();
            compare(row, add_to(&mut histogram, row.bytes, kind)?)?;
            let interval = row.interval;
            let (start, length) = (grid.start(interval), grid.row_length(interval));
            show(HistogramSlice { interval, start, length, histogram: &histogram });
            Ok(())
        })
    }

    /// The first intervals of the rows that a kind of histogram has, in order.
    ///
    /// # Errors
    /// As [`Archive::intervals`].
    pub fn histogram_rows(&self, job: JobIndex, kind: Kind) -> Result<Vec<Interval>, RecordError> {
        let select =
            "select interval from histogram where job = ?1 and kind = ?2 order by interval";
        let only = params![job.0, kind.name()];
        self.rows("histogram", select, only, |row| Ok(row.get(0)?))
    }

    fn each_row(
        &self,
        job: JobIndex,
        kind: Kind,
        range: Range<Interval>,
        mut visit: impl FnMut(&v1::HistogramRow<'_>) -> Result<(), Trouble>,
    ) -> Result<(), RecordError> {
        let mut next = range.start;
        let mut walk = || {
            let mut select = self.connection.prepare_cached(v1::HistogramRow::SELECT)?;
            let mut rows = select.query(params![job.0, kind.name(), range.start, range.end])?;
            while let Some(row) = rows.next()? {
                let row = v1::HistogramRow::read(row)?;
                next = row.interval;
                visit(&row)?;
            }
            Ok(())
        };
        walk().map_err(|trouble: Trouble| {
            let (job, kind) = (job.0, kind.name());
            let place = format!("table `histogram`, job {job}, {kind}, interval {next} or later");
            trouble.while_reading(&self.path, &place)
        })
    }

    fn rows<T>(
        &self,
        table: &str,
        select: &str,
        parameters: impl Params,
        read: impl Fn(&Row<'_>) -> Result<T, Trouble>,
    ) -> Result<Vec<T>, RecordError> {
        let mut found = Vec::new();
        self.each(table, select, parameters, |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn each(
        &self,
        table: &str,
        select: &str,
        parameters: impl Params,
        mut visit: impl FnMut(&Row<'_>) -> Result<(), Trouble>,
    ) -> Result<(), RecordError> {
        let mut visited = 0u64;
        let walk = || {
            let mut select = self.connection.prepare_cached(select)?;
            let mut rows = select.query(parameters)?;
            while let Some(row) = rows.next()? {
                visit(row)?;
                visited += 1;
            }
            Ok(())
        };
        let walked: Result<(), Trouble> = walk();
        walked.map_err(|trouble| {
            let place = format!("table `{table}`, row {}", visited + 1);
            trouble.while_reading(&self.path, &place)
        })
    }
}

/// Compares what a histogram held with what its row says.
fn compare(row: &v1::HistogramRow<'_>, held: Held) -> Result<(), Trouble> {
    if held == row.held {
        Ok(())
    } else {
        Err(Trouble::content(format!("the histogram holds {held:?} instead of {:?}", row.held)))
    }
}
