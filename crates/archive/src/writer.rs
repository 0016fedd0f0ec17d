//! Writing of records: one connection, one transaction at a time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{AccountId, Nanos, StatementId, WallTime};
use record::{
    ClientSample, Counts, End, EndCounts, Event, Excerpt, Failures, Gauge, Grid, Header,
    Histograms, InputFile, Interval, Kind, Load, OpLogReport, Reading,
};
use rusqlite::{Connection, OpenFlags, params};

use crate::create::{create_file, open_database, remove_unfilled};
use crate::encoding::{Encoder, add_to_times};
use crate::error::{RecordError, RowError};
use crate::observations::Observations;
use crate::v1;

/// The longest wait of a transaction for a reader of the record. The lanes of a run with a few jobs
/// can store their deliveries for at least this time.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The data of one job in one interval, except for its histograms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntervalData {
    pub(crate) counts: Counts,
    pub(crate) ends: EndCounts,
    pub(crate) failures: Failures,
    pub(crate) gauge: Option<Gauge>,
}

/// A record that is being written.
pub(crate) struct Writer {
    path: PathBuf,
    grid: Grid,
    connection: Connection,
    encoder: Encoder,
    observations: Observations,
}

impl Writer {
    /// Creates the file and writes the header.
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Writer, RecordError> {
        create_file(path)?;
        let connection =
            begin_file(path, header).map_err(|failure| remove_unfilled(path, failure))?;
        let (encoder, observations) = (Encoder::default(), Observations::new(header));
        let path = path.to_owned();
        Ok(Writer { grid: header.grid(), connection, encoder, observations, path })
    }

    /// Returns the path of the record, as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn is_in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Commits the current transaction.
    pub(crate) fn commit(&mut self) -> Result<(), RowError> {
        if self.is_in_transaction() {
            self.connection.prepare_cached("commit")?.execute([])?;
        }
        Ok(())
    }

    fn begin(&self) -> Result<&Connection, RowError> {
        if !self.is_in_transaction() {
            self.connection.prepare_cached("begin immediate")?.execute([])?;
        }
        Ok(&self.connection)
    }

    /// Writes a row of `interval` and its errors.
    pub(crate) fn save_second(
        &mut self,
        account: AccountId,
        interval: Interval,
        second: &IntervalData,
    ) -> Result<(), RowError> {
        let IntervalData { counts, ends, failures, gauge } = second;
        let to = self.begin()?;
        let row = v1::IntervalRow { interval, counts: *counts, ends: *ends, gauge: *gauge };
        row.write(to, account, &self.grid)?;
        for (class, code, count) in failures.iter() {
            v1::Failure { class, code, count }.write(to, account, interval)?;
        }
        Ok(())
    }

    /// Reads the rows that [`Writer::save_second`] wrote; empty if it wrote none.
    pub(crate) fn load_second(
        &self,
        account: AccountId,
        interval: Interval,
    ) -> Result<IntervalData, RowError> {
        let only = params![account.0, interval, i64::from(interval) + 1];
        let mut second = IntervalData::default();
        let mut select = self.connection.prepare_cached(v1::IntervalRow::SELECT)?;
        let mut rows = select.query(only)?;
        while let Some(row) = rows.next()? {
            let v1::IntervalRow { interval: _, counts, ends, gauge } = v1::IntervalRow::read(row)?;
            second = IntervalData { counts, ends, gauge, failures: Failures::default() };
        }
        let mut select = self.connection.prepare_cached(v1::Failure::SELECT)?;
        let mut rows = select.query(only)?;
        while let Some(row) = rows.next()? {
            let v1::Failure { class, code, count } = v1::Failure::read(row)?;
            second.failures.add(class, code, count);
        }
        Ok(second)
    }

    /// Writes the nonempty histograms of the row that begins with an interval.
    pub(crate) fn save_histograms(
        &mut self,
        account: AccountId,
        row: Interval,
        histograms: &Histograms,
    ) -> Result<(), RowError> {
        self.begin()?;
        for (kind, times) in histograms.iter().filter(|(_, times)| !times.is_empty()) {
            let (to, key) = (&self.connection, (account, kind, row));
            v1::HistogramRow::write(to, key, &self.grid, times, &mut self.encoder)?;
        }
        Ok(())
    }

    /// Adds the histograms that [`Writer::save_histograms`] wrote, if any, to `histograms`.
    pub(crate) fn load_histograms(
        &self,
        account: AccountId,
        row: Interval,
        histograms: &mut Histograms,
    ) -> Result<(), RowError> {
        let mut select = self.connection.prepare_cached(v1::HistogramRow::SELECT)?;
        let kinds: Vec<Kind> = histograms.iter().map(|(kind, _)| kind).collect();
        for kind in kinds {
            let only = params![account.0, kind.name(), row, i64::from(row) + 1];
            let mut rows = select.query(only)?;
            while let Some(row) = rows.next()? {
                let row = v1::HistogramRow::read(row)?;
                add_to_times(histograms.times_mut(kind), row.bytes, kind)?;
            }
        }
        Ok(())
    }

    /// Adds an event.
    pub(crate) fn add_event(&mut self, event: &Event) -> Result<(), RowError> {
        v1::Event::write(self.begin()?, event)
    }

    /// Adds a sample of the load generator's resource usage. Beyond two hours, only the last sample
    /// of each bin is written, when the bin has ended.
    pub(crate) fn add_client(&mut self, at: Nanos, sample: &ClientSample) -> Result<(), RowError> {
        self.begin()?;
        self.observations.add_client(&self.connection, at, sample)
    }

    /// Adds observations at an instant. Beyond two hours, the observations of a bin are written
    /// when the bin has ended.
    pub(crate) fn add_readings(&mut self, at: Nanos, readings: &[Reading]) -> Result<(), RowError> {
        self.begin()?;
        self.observations.add(&self.connection, at, readings)
    }

    /// Adds observations at a time since the beginning of a load.
    pub(crate) fn add_load_readings(
        &mut self,
        table: &str,
        at: Nanos,
        readings: &[Reading],
    ) -> Result<(), RowError> {
        self.begin()?;
        self.observations.add_of_load(&self.connection, table, at, readings)
    }

    /// Writes the observations of bins that are still open.
    pub(crate) fn flush_bins(&mut self) -> Result<(), RowError> {
        self.begin()?;
        self.observations.end(&self.connection)
    }

    /// Writes a setting; a later value replaces an earlier one.
    pub(crate) fn set_setting(&mut self, name: &str, value: &str) -> Result<(), RowError> {
        v1::Setting::write(self.begin()?, name, value)
    }

    /// Writes a file that was read before the run.
    pub(crate) fn add_file(&mut self, file: &InputFile) -> Result<(), RowError> {
        v1::write_file(self.begin()?, file)
    }

    /// Writes an excerpt; a later one of the same subject and kind replaces an earlier one.
    pub(crate) fn set_excerpt(&mut self, excerpt: &Excerpt) -> Result<(), RowError> {
        v1::write_excerpt(self.begin()?, excerpt)
    }

    /// Writes the progress of a load, with the processor time of the load generator until then. It
    /// replaces an earlier progress in the same second.
    pub(crate) fn set_load(
        &mut self,
        load: &Load,
        client: Option<&ClientSample>,
    ) -> Result<(), RowError> {
        let to = self.begin()?;
        v1::LoadRow::write(to, load)?;
        let cpu = client.map(|client| (client.cpu_user, client.cpu_system));
        let Load { table, started: _, length, rows, bytes } = load;
        v1::LoadProgressRow { at: *length, rows: *rows, bytes: *bytes, cpu }.write(to, table)
    }

    /// Writes the wall-clock time of time zero.
    pub(crate) fn set_time_zero(&mut self, zero: WallTime) -> Result<(), RowError> {
        v1::write_time_zero(self.begin()?, zero)
    }

    /// Writes the result of the op-log.
    pub(crate) fn set_op_log(&mut self, outcome: &OpLogReport) -> Result<(), RowError> {
        v1::write_op_log(self.begin()?, outcome)
    }

    /// Writes the statements that returned or changed a row.
    pub(crate) fn set_with_rows(
        &mut self,
        statements: impl Iterator<Item = (AccountId, StatementId)>,
    ) -> Result<(), RowError> {
        v1::write_with_rows(self.begin()?, statements)
    }

    /// Writes the end of the run and its seal, without committing. The rows must add up to `sums`
    /// for each job; `events_dropped` is the number of events that were not recorded.
    pub(crate) fn seal(
        &mut self,
        end: &End,
        sums: &[(Counts, EndCounts)],
        events_dropped: u64,
    ) -> Result<(), RowError> {
        self.flush_bins()?;
        let to = self.begin()?;
        v1::write_end(to, end)?;
        v1::write_events_dropped(to, events_dropped)?;
        v1::write_seal(to, &v1::sums(sums))
    }

    /// Rolls back uncommitted data, marks the run as ended with the committed rows, and commits.
    pub(crate) fn seal_as_is(&mut self, end: &End) -> Result<(), RowError> {
        if self.is_in_transaction() {
            self.connection.execute_batch("rollback")?;
        }
        let to = self.begin()?;
        v1::write_end(to, end)?;
        v1::write_seal(to, &v1::sums_on_disk(to)?)?;
        self.commit()
    }

    /// Returns the connection, for tests that break it.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}

fn begin_file(path: &Path, header: &Header) -> Result<Connection, RowError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open_database(path, flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(32);
    // Nothing is flushed, to leave the measured disk alone: a killed process loses its last
    // transaction, and a power failure may lose the record.
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // Histograms of 1 to 6 KB waste less space in these pages than in the default ones of half the
    // size.
    connection.pragma_update(None, "page_size", 8_192)?;
    connection.execute_batch("begin immediate")?;
    connection.pragma_update(None, "application_id", v1::APPLICATION)?;
    connection.pragma_update(None, "user_version", v1::VERSION)?;
    for (_, statement) in v1::statements() {
        connection.execute_batch(statement)?;
    }
    v1::write_header(&connection, header)?;
    connection.execute_batch("commit")?;
    Ok(connection)
}
