//! Reading of records.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::{AccountId, Class, Code, Nanos, StatementId, WallTime};
use hdrhistogram::Histogram;
use record::{
    ClientSample, Counts, End, EndCounts, Event, EventError, EventKind, Excerpt, Gauge, Grid,
    Header, InputFile, Interval, Kind, Load, Note, OpLogReport, RunFacts, SampleRange, Series,
    StatementAnswers, TimesSum,
};
use rusqlite::{Connection, Params, Row, params};

use crate::encoding::{HistogramSummary, add_to, add_to_sum};
use crate::error::{RecordError, RecordErrorKind, RowError};
use crate::open::{OpenedRecord, PrivateCopy, TABLES, check_pages, open};
use crate::reviewer_note::read_reviewer_notes;
use crate::v1;

/// A record opened for reading.
///
/// The record of a run that was killed or is in progress has no [`Archive::end`] and is complete up
/// to the last second that was written; requests without an outcome at that time are
/// [`Counts::open`].
pub struct Archive {
    path: PathBuf,
    header: Header,
    time_zero: Option<WallTime>,
    end: Option<End>,
    /// Sums over the rows of the table `interval` by account, for accounts whose rows were all
    /// read; `None` for an account without rows.
    sums: RefCell<BTreeMap<AccountId, Option<v1::IntervalSums>>>,
    // The connection is closed before the copy that it reads is removed.
    connection: Connection,
    _copy: Option<PrivateCopy>,
}

/// The times of a range of intervals. Its memory is reused when another range is read.
#[derive(Debug)]
pub struct RangeTimes {
    kind: Kind,
    /// Times of the last range that was read.
    pub sum: TimesSum,
}

impl RangeTimes {
    /// Creates empty times of the given kind.
    pub fn new(kind: Kind) -> RangeTimes {
        RangeTimes { kind, sum: TimesSum::new(kind) }
    }
}

/// The counters of one account in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalCounts {
    /// The interval.
    pub interval: Interval,
    /// Counters by intended start.
    pub counts: Counts,
    /// Counters by end.
    pub ends: EndCounts,
    /// Requests in flight, waiting requests and connections at the end of the interval. `None` for
    /// a job at one server, or if a lane did not report them.
    pub gauge: Option<Gauge>,
}

/// Errors of one class and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// Class of the errors.
    pub class: Class,
    /// Error code of the database, or one of Assay's own.
    pub code: Code,
    /// Number of errors.
    pub count: u64,
}

/// A histogram of a part of the run.
#[derive(Clone, Copy, Debug)]
pub struct HistogramSlice<'a> {
    /// First interval of the part.
    pub interval: Interval,
    /// Start of the part, after time zero.
    pub start: Nanos,
    /// Length of the part.
    pub length: Nanos,
    /// Times of the requests with intended starts in the part.
    pub histogram: &'a Histogram<u64>,
}

/// The resource usage of the load generator at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientReading {
    /// Instant, after time zero.
    pub at: Nanos,
    /// Resource usage until then.
    pub sample: ClientSample,
}

/// A series with its observations.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesReadings {
    /// The series.
    pub series: Series,
    /// Instants after time zero, with the values. Beyond two hours, a value summarizes the samples
    /// since the previous value ([`record::Thinning`]).
    pub points: Vec<(Nanos, f64)>,
    /// The extremes of the samples that a value beyond two hours summarizes, if they differ.
    pub ranges: Vec<SampleRange>,
}

/// The report of filling a table.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadReport {
    /// State of the load at its end, or the last known state.
    pub load: Load,
    /// Progress, once a second.
    pub progress: Vec<LoadPoint>,
    /// Observations during the load, at instants since its beginning; none in virtual time.
    pub series: Vec<SeriesReadings>,
}

/// The progress of a load at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPoint {
    /// Instant, since the beginning of the load.
    pub at: Nanos,
    /// Rows committed so far.
    pub rows: u64,
    /// Bytes in which these rows were sent.
    pub bytes: u64,
    /// Processor time of the load generator, user and system, since its process began; `None` in
    /// virtual time.
    pub cpu: Option<(Nanos, Nanos)>,
}

impl Archive {
    /// Opens the record of a single run.
    ///
    /// The open transaction of a killed run is rolled back in the file or, if that is not writable,
    /// in a copy in the temporary directory.
    ///
    /// # Errors
    /// Fails if the file does not exist, is not a record, is the record of an experiment, has a
    /// later version, or is damaged; the error says which.
    pub fn open(path: &Path) -> Result<Archive, RecordError> {
        Archive::open_checked(path, None)
    }

    /// Opens a single run in the record of an experiment.
    ///
    /// # Errors
    /// Fails if the file does not exist, is not a record, is the record of a single run, has a
    /// later version, or is damaged, or if the experiment has no such run; the error says which.
    pub fn open_run(path: &Path, run: u32) -> Result<Archive, RecordError> {
        Archive::open_checked(path, Some(run))
    }

    /// Opens the record of a single run, or one run in the record of an experiment, and checks its
    /// pages and its seal.
    pub(crate) fn open_checked(path: &Path, run: Option<u32>) -> Result<Archive, RecordError> {
        let opened = open(path, run)?;
        check_pages(&opened.connection).map_err(|failure| failure.into_read_error(path, TABLES))?;
        Archive::read_sealed(path, opened)
    }

    /// Reads the facts of a record whose pages have already been checked, and checks its seal.
    pub(crate) fn read_sealed(path: &Path, opened: OpenedRecord) -> Result<Archive, RecordError> {
        let archive = Archive::read_unchecked(path, opened)?;
        if archive.end.is_some() {
            let seal = v1::Seal::read(&archive.connection);
            archive.check_sums(seal.map_err(|failure| archive.broken_seal(failure))?)?;
        }
        Ok(archive)
    }

    /// Reads the facts of a record whose pages and seal are not checked.
    pub(crate) fn read_unchecked(
        path: &Path,
        opened: OpenedRecord,
    ) -> Result<Archive, RecordError> {
        let OpenedRecord { connection, copy } = opened;
        let damage = |failure: RowError| failure.into_read_error(path, "table `meta`");
        let (header, time_zero) = v1::read_header(&connection).map_err(damage)?;
        let end = v1::read_end(&connection).map_err(damage)?;
        let (path, sums) = (path.to_owned(), RefCell::default());
        Ok(Archive { path, header, time_zero, end, sums, connection, _copy: copy })
    }

    /// Compares the seal with the numbers of rows, and with the sums of the rows of `interval`.
    pub(crate) fn check_sums(&self, seal: v1::Seal) -> Result<(), RecordError> {
        let sums = match self.sums_of_rows() {
            Some(sums) => Ok(sums),
            None => v1::sums_on_disk(&self.connection),
        };
        let checked = sums.and_then(|sums| seal.check(sums));
        checked.map_err(|failure| self.broken_seal(failure))
    }

    /// Returns the sums of the rows that were read; `None` if the rows of at least one account were
    /// not read.
    fn sums_of_rows(&self) -> Option<v1::Totals> {
        let sums = self.sums.borrow();
        let mut totals = v1::Totals::new();
        for account in self.accounts() {
            let named = (*sums.get(&account)?).into_iter().flat_map(v1::IntervalSums::with_names);
            totals.extend(named.map(|(what, sum)| ((what.to_owned(), account.0.into()), sum)));
        }
        Some(totals)
    }

    fn broken_seal(&self, failure: RowError) -> RecordError {
        failure.into_read_error(&self.path, "table `seal`")
    }

    /// Returns the path of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the facts that were known before the run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the grid of the run's intervals.
    pub fn grid(&self) -> Grid {
        self.header.grid()
    }

    /// Returns the accounts: the jobs and parts in the order of the plan, then the jobs at single
    /// servers.
    pub fn accounts(&self) -> impl Iterator<Item = AccountId> + use<> {
        (0..self.header.jobs.len() as u16).map(AccountId)
    }

    /// Returns the kinds of histogram that an account may have.
    pub fn kinds(&self, account: AccountId) -> impl Iterator<Item = Kind> + use<> {
        let statements = self.header.jobs[account.index()].statements.len() as u16;
        Kind::OF_A_JOB.into_iter().chain((0..statements).map(StatementId).map(Kind::Statement))
    }

    /// Returns the wall-clock time of time zero; `None` if the run did not reach it.
    pub fn time_zero(&self) -> Option<WallTime> {
        self.time_zero
    }

    /// Returns the end of the run; `None` if the run was killed or is in progress.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Returns the intervals of an account, in order. Intervals without any data may be missing.
    ///
    /// # Errors
    /// Fails if the record is damaged or can no longer be read.
    pub fn intervals(&self, account: AccountId) -> Result<Vec<IntervalCounts>, RecordError> {
        let mut all = Vec::new();
        self.each_interval(account, |row| {
            all.push(row);
            Ok(())
        })?;
        Ok(all)
    }

    /// Calls `show` with each interval of an account, in order. Memory use does not depend on the
    /// length of the run.
    ///
    /// # Errors
    /// As for [`Archive::intervals`], and the first error of `show`, which is then not called
    /// again. The remaining rows are still read, for the check of the seal. The rows shown before
    /// an error are as they are in the file.
    pub fn each_interval(
        &self,
        account: AccountId,
        mut show: impl FnMut(IntervalCounts) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let all = params![account.0, 0, i64::MAX];
        let mut shown = Ok(());
        let mut sums: Option<v1::IntervalSums> = None;
        let others = self.total_of_others(account);
        self.each("interval", v1::IntervalRow::SELECT, all, |row| {
            let row = v1::IntervalRow::read(row)?;
            sums.get_or_insert_default().add(&row, others)?;
            let v1::IntervalRow { interval, counts, ends, gauge } = row;
            if shown.is_ok() {
                shown = show(IntervalCounts { interval, counts, ends, gauge });
            }
            Ok(())
        })?;
        self.sums.borrow_mut().insert(account, sums);
        shown
    }

    /// Returns the total of the rows that were read of the other accounts.
    fn total_of_others(&self, account: AccountId) -> u64 {
        let sums = self.sums.borrow();
        let others = sums.iter().filter(|(other, _)| **other != account);
        let totals = others.filter_map(|(_, sums)| *sums).map(v1::IntervalSums::total);
        totals.fold(0, u64::saturating_add)
    }

    /// Returns the errors of requests with intended starts in a range of intervals.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn failures(
        &self,
        account: AccountId,
        range: Range<Interval>,
    ) -> Result<Vec<FailureCount>, RecordError> {
        let range = params![account.0, range.start, range.end];
        self.rows("failure", v1::Failure::SELECT, range, |row| {
            let v1::Failure { class, code, count } = v1::Failure::read(row)?;
            Ok(FailureCount { class, code, count })
        })
    }

    /// Returns the events of the run, in the order in which they became known.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn events(&self) -> Result<Vec<Event>, RecordError> {
        let events = self.rows("event", v1::Event::SELECT, [], v1::Event::read)?;
        match self.is_missing("event_error")? {
            true => self.with_errors_in_texts(events.into_iter().map(|(_, event)| event)),
            false => self.with_errors(events),
        }
    }

    /// Adds the errors that events report.
    fn with_errors(&self, events: Vec<(i64, Event)>) -> Result<Vec<Event>, RecordError> {
        let errors = self.rows("event_error", v1::EventError::SELECT, [], v1::EventError::read)?;
        let errors = BTreeMap::from_iter(errors);
        let with_error = |(number, event)| Event { error: errors.get(&number).copied(), ..event };
        Ok(events.into_iter().map(with_error).collect())
    }

    /// Adds the errors to the events of a record without the table `event_error`. Such an older
    /// record names an error only in the text of an event about a first error.
    fn with_errors_in_texts(
        &self,
        events: impl Iterator<Item = Event>,
    ) -> Result<Vec<Event>, RecordError> {
        let mut failures: BTreeMap<AccountId, Vec<FailureCount>> = BTreeMap::new();
        let with_error = |event: Event| {
            let Some(account) = event.account.filter(|_| event.kind == EventKind::FirstError)
            else {
                return Ok(event);
            };
            let known = match failures.entry(account) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.failures(account, 0..Interval::MAX)?),
            };
            let errors = known.iter().map(|failure| {
                let FailureCount { class, code, count: _ } = *failure;
                EventError { class, code }
            });
            Ok(Event { error: v1::EventError::find_in_text(&event.text, errors), ..event })
        };
        events.map(with_error).collect()
    }

    /// Returns the number of events that were not recorded because there were too many.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn events_dropped(&self) -> Result<u64, RecordError> {
        v1::read_events_dropped(&self.connection)
            .map_err(|failure| failure.into_read_error(&self.path, "table `meta`"))
    }

    /// Returns the start of the window that all runs of a round share, counted from time zero.
    ///
    /// It is `None` unless this run was exported from an experiment, and its plan has
    /// `warmup = auto`.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn window_from(&self) -> Result<Option<Nanos>, RecordError> {
        v1::read_window_from(&self.connection)
            .map_err(|failure| failure.into_read_error(&self.path, "table `meta`"))
    }

    /// Returns, for each statement of an account, the number of its answers in the whole run, and
    /// true if the statement returned or changed a row. `None` if the record does not say which
    /// statements did so, because it is older than this information, or because the run was killed.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn statement_answers(
        &self,
        account: AccountId,
    ) -> Result<Option<Vec<StatementAnswers>>, RecordError> {
        let with_rows = v1::read_with_rows(&self.connection)
            .map_err(|failure| failure.into_read_error(&self.path, "table `meta`"))?;
        let Some(with_rows) = with_rows else { return Ok(None) };
        let answers = |id: StatementId| {
            let parameters = params![account.0, Kind::Statement(id).name()];
            let (count, read) = (v1::HistogramRow::COUNT, v1::HistogramRow::read_count);
            let counts = self.rows("histogram", count, parameters, read)?;
            let has_rows = with_rows.contains(&(account, id));
            Ok(StatementAnswers { count: counts.iter().sum(), has_rows })
        };
        let statements = 0..self.header.jobs[account.index()].statements.len() as u16;
        statements.map(StatementId).map(answers).collect::<Result<_, _>>().map(Some)
    }

    /// Returns the result of the op-log; `None` if there was none, or if the run was killed.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn op_log(&self) -> Result<Option<OpLogReport>, RecordError> {
        v1::read_op_log(&self.connection)
            .map_err(|failure| failure.into_read_error(&self.path, "table `meta`"))
    }

    /// Returns the resource usage of the load generator at the ends of intervals; empty in virtual
    /// time. Beyond two hours, only the last sample of each bin ([`record::Thinning`]) is recorded.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn client(&self) -> Result<Vec<ClientReading>, RecordError> {
        self.rows("client", v1::Client::SELECT, [], |row| {
            let (at, sample) = v1::Client::read(row)?;
            Ok(ClientReading { at, sample })
        })
    }

    /// Returns the observations during the run, sorted by component and metric; empty in virtual
    /// time. A value that is not finite is missing.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn series(&self) -> Result<Vec<SeriesReadings>, RecordError> {
        let has_ranges = !self.is_missing(v1::SAMPLE_RANGE)?;
        let readings = |(place, series): (i64, Series)| {
            let select = v1::SampleRow::SELECT;
            let mut points = self.rows("sample", select, [place], v1::SampleRow::read)?;
            points.retain(|(_, value)| value.is_finite());
            let select = v1::SampleRangeRow::SELECT;
            let mut ranges = match has_ranges {
                true => self.rows("sample_range", select, [place], v1::SampleRangeRow::read)?,
                false => Vec::new(),
            };
            ranges.retain(|range| range.least.is_finite() && range.most.is_finite());
            Ok(SeriesReadings { series, points, ranges })
        };
        let read: Result<Vec<_>, _> = self.known_series()?.into_iter().map(readings).collect();
        // Some series have values only from the filling of tables.
        Ok(read?.into_iter().filter(|series| !series.points.is_empty()).collect())
    }

    /// Returns all series with their numbers, sorted by component and metric.
    fn known_series(&self) -> Result<Vec<(i64, Series)>, RecordError> {
        match self.is_missing("series")? {
            true => Ok(Vec::new()),
            false => self.rows("series", v1::SeriesRow::SELECT, [], v1::SeriesRow::read),
        }
    }

    /// Returns true if the record lacks a table because it is older than the table.
    fn is_missing(&self, table: &str) -> Result<bool, RecordError> {
        v1::is_missing(&self.connection, table)
            .map_err(|failure| failure.into_read_error(&self.path, &format!("table `{table}`")))
    }

    /// Returns the names and values of settings, sorted by name.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn settings(&self) -> Result<Vec<(String, String)>, RecordError> {
        self.rows("setting", v1::Setting::SELECT, [], v1::Setting::read)
    }

    /// Returns the files that were read before the run, sorted by path.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn files(&self) -> Result<Vec<InputFile>, RecordError> {
        match self.is_missing("file")? {
            true => Ok(Vec::new()),
            false => v1::read_files(&self.connection)
                .map_err(|failure| failure.into_read_error(&self.path, "table `file`")),
        }
    }

    /// Returns true if the record contains the text of every file that was read before the run,
    /// including the workload file, and none of these files was outside of the folder of the
    /// workload or experiment file.
    fn keeps_files(&self) -> Result<bool, RecordError> {
        let files = self.files()?;
        let has_workload = files.iter().any(|file| file.path == self.header.workload);
        Ok(has_workload && files.iter().all(|file| file.text.is_some() && file.is_inside()))
    }

    /// Returns the database that is read: the record, or a private copy of it.
    pub(crate) fn database(&self) -> &Path {
        self.connection.path().map_or(&self.path, Path::new)
    }

    /// Returns the facts about the run, without its measurements.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn facts(&self) -> Result<RunFacts, RecordError> {
        Ok(RunFacts {
            record: self.path.clone(),
            header: self.header.clone(),
            end: self.end.clone(),
            op_log: self.op_log()?,
            settings: self.settings()?,
            notes: self.notes()?,
            excerpts: self.excerpts()?,
            keeps_files: self.keeps_files()?,
        })
    }

    /// Returns the excerpts of statements and tables, sorted by subject and kind.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn excerpts(&self) -> Result<Vec<Excerpt>, RecordError> {
        match self.is_missing(v1::EXCERPT)? {
            true => Ok(Vec::new()),
            false => v1::read_excerpts(&self.connection)
                .map_err(|failure| failure.into_read_error(&self.path, "table `excerpt`")),
        }
    }

    fn notes(&self) -> Result<Vec<Note>, RecordError> {
        read_reviewer_notes(&self.connection)
            .map_err(|failure| failure.into_read_error(&self.path, "table `reviewer_note`"))
    }

    /// Returns the error for an inconsistent record, for callers that interpret its content.
    pub fn damaged(&self, what: String) -> RecordError {
        RecordError::new(&self.path, RecordErrorKind::Damaged(what))
    }

    /// Returns the error for an export that could not be written.
    pub fn cannot_export(&self, cause: std::io::Error) -> RecordError {
        RecordError::new(&self.path, RecordErrorKind::Output).with_cause(cause)
    }

    /// Returns the tables that were filled, in the order in which their loads began.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
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

    /// Returns the observations during the filling of a table, of the `known` series.
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
            if value.is_finite() {
                points.entry(place).or_default().push((at, value));
            }
            Ok(())
        })?;
        let readings = |(place, series): &(i64, Series)| {
            let (series, points) = (series.clone(), points.remove(place)?);
            Some(SeriesReadings { series, points, ranges: Vec::new() })
        };
        Ok(known.iter().filter_map(readings).collect())
    }

    /// Returns the times of the requests with intended starts in a range of intervals.
    ///
    /// A row that is longer than an interval belongs to the interval in which it begins. No row
    /// extends across the beginning of the window.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn histogram(
        &self,
        account: AccountId,
        kind: Kind,
        range: Range<Interval>,
    ) -> Result<Histogram<u64>, RecordError> {
        let mut times = RangeTimes::new(kind);
        self.read_times(account, range, &mut times)?;
        let mut histogram = kind.histogram();
        times.sum.add_to(&mut histogram);
        Ok(histogram)
    }

    /// Reads the same times as [`Archive::histogram`] into memory that can be reused.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn read_times(
        &self,
        account: AccountId,
        range: Range<Interval>,
        into: &mut RangeTimes,
    ) -> Result<(), RecordError> {
        let RangeTimes { kind, sum } = into;
        sum.clear();
        self.each_row(account, *kind, range, |row| compare(row, add_to_sum(sum, row.bytes, *kind)?))
    }

    /// Calls `read` in one transaction, to read much of a complete record. Without a transaction,
    /// each of thousands of short reads would lock the file and look for a writer. If the run has
    /// not ended or was killed, or if a transaction is open already, `read` is called without one.
    ///
    /// # Errors
    /// `read` fails, or the record cannot be locked.
    pub fn in_transaction<T>(
        &self,
        read: impl FnOnce() -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        // A recorder that is still writing would have to wait during a long transaction.
        if self.end.is_none() || !self.connection.is_autocommit() {
            return read();
        }
        let begun = self.connection.unchecked_transaction();
        let failed = |error| RowError::from(error).into_read_error(&self.path, "its first page");
        let transaction = begun.map_err(failed)?;
        let found = read()?;
        transaction.finish().map_err(failed)?;
        Ok(found)
    }

    /// Calls `show` with the histogram rows of a range of intervals, in order.
    ///
    /// # Errors
    /// As for [`Archive::intervals`]. The rows shown before an error are as they are in the file.
    pub fn each_histogram(
        &self,
        account: AccountId,
        kind: Kind,
        range: Range<Interval>,
        mut show: impl FnMut(HistogramSlice<'_>),
    ) -> Result<(), RecordError> {
        let grid = self.grid();
        let mut histogram = kind.histogram();
        self.each_row(account, kind, range, |row| {
            histogram.reset();
            compare(row, add_to(&mut histogram, row.bytes, kind)?)?;
            let interval = row.interval;
            let (start, length) = (grid.start(interval), grid.row_length(interval));
            show(HistogramSlice { interval, start, length, histogram: &histogram });
            Ok(())
        })
    }

    /// Returns the first interval of each row of a histogram, in order.
    ///
    /// # Errors
    /// As for [`Archive::intervals`].
    pub fn histogram_rows(
        &self,
        account: AccountId,
        kind: Kind,
    ) -> Result<Vec<Interval>, RecordError> {
        let select =
            "select interval from histogram where job = ?1 and kind = ?2 order by interval";
        let only = params![account.0, kind.name()];
        self.rows("histogram", select, only, |row| Ok(row.get(0)?))
    }

    fn each_row(
        &self,
        account: AccountId,
        kind: Kind,
        range: Range<Interval>,
        mut visit: impl FnMut(&v1::HistogramRow<'_>) -> Result<(), RowError>,
    ) -> Result<(), RecordError> {
        let mut next = range.start;
        let mut walk = || {
            let mut select = self.connection.prepare_cached(v1::HistogramRow::SELECT)?;
            let mut rows = select.query(params![account.0, kind.name(), range.start, range.end])?;
            while let Some(row) = rows.next()? {
                let row = v1::HistogramRow::read(row)?;
                next = row.interval;
                visit(&row)?;
            }
            Ok(())
        };
        walk().map_err(|failure: RowError| {
            let (job, kind) = (account.0, kind.name());
            let place = format!("table `histogram`, job {job}, {kind}, interval {next} or later");
            failure.into_read_error(&self.path, &place)
        })
    }

    fn rows<T>(
        &self,
        table: &str,
        select: &str,
        parameters: impl Params,
        read: impl Fn(&Row<'_>) -> Result<T, RowError>,
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
        mut visit: impl FnMut(&Row<'_>) -> Result<(), RowError>,
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
        let walked: Result<(), RowError> = walk();
        walked.map_err(|failure| {
            let place = format!("table `{table}`, row {}", visited + 1);
            failure.into_read_error(&self.path, &place)
        })
    }
}

/// Checks that a histogram agrees with the summary in its row.
fn compare(row: &v1::HistogramRow<'_>, held: HistogramSummary) -> Result<(), RowError> {
    if held == row.held {
        Ok(())
    } else {
        let HistogramSummary { count, max } = row.held;
        Err(RowError::content(format!(
            "the histogram has {} times up to {} ns, and its row says {count} up to {max} ns",
            held.count, held.max
        )))
    }
}
