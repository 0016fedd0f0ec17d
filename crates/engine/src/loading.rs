//! Loads: tables that are filled before the measured phase, each by several writers.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use base::{Class, Clock, Nanos, Stamp, Values, WallTime};
use driver::{Batches, Connection, Driver, Duplicates, Error, Insert, Method};
use rt::{Rt, Timer, unless_fired};
use workload::keys::STALL_TIMEOUT;
use workload::{JobTarget, Load, LoadMethod, OnDuplicate, RowGenerator};

use crate::error::{Location, RunFailure, statement_timeout};
use crate::events::RunEvent;
use crate::run_context::RunContext;
use crate::stop::Stop;
use crate::waits::unless;

/// Maximum number of progress reports of a load, without the report at its end.
const PROGRESS_POINTS: u64 = 1_000;

/// Time after which a load is reported as long, so observers start. To observe a shorter load costs
/// more than it is worth.
const LONG_LOAD: Nanos = Nanos::from_millis(250);

/// Time that writers have to finish their last batches after all rows are committed or a stop was
/// requested. Batches that take longer are given up.
const LAST_BATCH_TIMEOUT: Nanos = Nanos::from_secs(5);

/// Interval between checks of a load's progress.
const PROGRESS_POLL: Nanos = Nanos::from_millis(20);

/// A table that was filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedTable {
    /// The name of the table.
    pub table: String,
    /// The number of rows that were committed.
    pub rows: u64,
    /// Bytes in which the committed rows were sent.
    pub bytes: u64,
    /// Beginning of the load, on the run's clock.
    pub began: Stamp,
    /// Time from the beginning of the load to its last commit.
    pub took: Nanos,
}

/// Checks that a table can be filled by the requested method.
///
/// # Errors
/// The target does not support the method, or cannot treat duplicates as requested.
pub(crate) fn check<D: Driver>(driver: &D, load: &Load) -> Result<(), RunFailure> {
    let columns = column_names(load);
    let checked = driver.check_load(&insert_for(load, &columns), method(load));
    checked.map_err(|error| RunFailure::from_control_error(Location::of_load(load), error))
}

/// Fills a table with the number of writers that the load sets.
///
/// # Errors
/// The target cannot be reached, rejects a batch or stalls.
pub(crate) async fn fill<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    load: &Load,
) -> Result<LoadedTable, RunFailure> {
    let driver = context.drivers.of(JobTarget::Main);
    let began = rt.now();
    let shared = Rc::new(LoadProgress::new(load, rt));
    let writers: Vec<_> = (0..load.writers as usize)
        .map(|writer| {
            let (shared, driver) = (Rc::clone(&shared), driver.clone());
            let (own_rt, stop, started) = (rt.clone(), context.stop.clone(), context.started);
            rt.spawn(async move { shared.write(writer, &driver, &own_rt, &stop, started).await })
        })
        .collect();
    report_progress(rt, context, load, &shared, began).await;
    let mut connections = Vec::new();
    for writer in writers {
        connections.extend(writer.await);
    }
    if let Some(why) = shared.fallback.take() {
        context.listener.on_event(&RunEvent::LoadFallback { table: &load.table, why: &why });
    }
    let took = shared.last_commit.get().since(began);
    report(context, load, &shared, took);
    // Sent before the sessions end, while their resource use can still be read.
    context.listener.on_event(&RunEvent::LoadEnded);
    for connection in connections {
        connection.close().await;
    }
    if let Some(error) = shared.failed.take() {
        return Err(failure(load, &shared, error));
    }
    let is_short = shared.committed.get() < load.rows && !context.stop.is_requested();
    if let Some(error) = shared.refused.take().filter(|_| is_short) {
        return Err(RunFailure::Unreachable(error.into()));
    }
    Ok(LoadedTable {
        table: load.table.clone(),
        rows: shared.committed.get(),
        bytes: shared.bytes.get(),
        began,
        took,
    })
}

/// Returns the failure of a load that ended with `error`. If the load stalled, the database counts
/// as unreachable.
fn failure(load: &Load, progress: &LoadProgress, error: Error) -> RunFailure {
    if error.class() != Class::Timeout {
        return RunFailure::from_control_error(Location::of_load(load), error);
    }
    let message = format!(
        "[load {}]: {}: {} of {} rows are committed, and the database takes no more",
        load.table,
        error.message(),
        progress.committed.get(),
        load.rows
    );
    RunFailure::Unreachable(Error::new(error.class(), error.code(), message).into())
}

/// Reports the progress of a load until the load is over: all rows are committed, no writer is
/// left, the load has stalled, or the run is stopped.
///
/// A load that takes longer than [`LONG_LOAD`] is reported once as long. That report waits until
/// all writers are connected or refused, because an observer connects after the report, and must
/// not take a writer's connection.
///
/// Writers that are still at work when the load is over have [`LAST_BATCH_TIMEOUT`] to finish; if
/// the load stalled, they give up at once.
async fn report_progress<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    load: &Load,
    progress: &LoadProgress,
    began: Stamp,
) {
    let step = progress_step(load.rows);
    let (mut reported, mut is_reported_as_long) = (0, false);
    let (mut counters, mut moved_at) = (progress.counters(), began);
    while !progress.is_over(load, &context.stop) {
        rt.sleep(PROGRESS_POLL).await;
        let now = rt.now();
        let elapsed = now.since(began);
        if !is_reported_as_long && elapsed >= LONG_LOAD && progress.opening.get() == 0 {
            context.listener.on_event(&RunEvent::LongLoad { table: &load.table, began, elapsed });
            is_reported_as_long = true;
        }
        let committed = progress.committed.get();
        if committed >= reported + step {
            reported = committed - committed % step;
            report(context, load, progress, progress.last_commit.get().since(began));
        }
        if counters != progress.counters() {
            (counters, moved_at) = (progress.counters(), now);
        } else if now.since(moved_at) >= context.plan.stall_timeout {
            progress.fail(statement_timeout(STALL_TIMEOUT, context.plan.stall_timeout));
            return progress.give_up_at(now);
        }
    }
    progress.give_up_at(rt.now() + LAST_BATCH_TIMEOUT);
}

/// Returns the number of rows between two progress reports of a load of `rows` rows.
fn progress_step(rows: u64) -> u64 {
    rows.div_ceil(PROGRESS_POINTS).max(1)
}

/// Reports the rows and bytes of a load that are committed so far.
fn report<D>(context: &RunContext<D>, load: &Load, progress: &LoadProgress, elapsed: Nanos) {
    context.listener.on_event(&RunEvent::Loading {
        table: &load.table,
        rows: progress.committed.get(),
        of: load.rows,
        bytes: progress.bytes.get(),
        elapsed,
    });
}

fn column_names(load: &Load) -> Vec<&str> {
    load.columns.iter().map(|column| column.name.as_str()).collect()
}

fn insert_for<'a>(load: &'a Load, columns: &'a [&'a str]) -> Insert<'a> {
    let duplicates = match load.on_duplicate {
        OnDuplicate::Error => Duplicates::Fail,
        OnDuplicate::Ignore => Duplicates::Ignore,
        OnDuplicate::Replace => Duplicates::Replace,
    };
    Insert { table: &load.table, columns, duplicates }
}

fn method(load: &Load) -> Method {
    match load.method {
        LoadMethod::Auto => Method::Auto,
        LoadMethod::Insert => Method::Insert,
        LoadMethod::Copy => Method::Copy,
        LoadMethod::LoadData => Method::LoadData,
    }
}

/// The state that the writers of one table share.
struct LoadProgress {
    load: Arc<Load>,
    next_row: Cell<u64>,
    committed: Cell<u64>,
    bytes: Cell<u64>,
    last_commit: Cell<Stamp>,
    /// Number of rows generated so far.
    generated: Cell<u64>,
    /// One timer per writer, which fires when the writer is to give up.
    give_up: Vec<Timer>,
    /// Number of writers that have not ended.
    writers: Cell<u32>,
    /// Number of writers that are neither connected nor refused yet.
    opening: Cell<u32>,
    /// Error of a writer that got no connection; the other writers continue.
    refused: RefCell<Option<Error>>,
    /// Error that ends the load: of a batch that was not written, or of a load that stalled.
    failed: RefCell<Option<Error>>,
    /// Reason why rows were inserted although the server has a faster method.
    fallback: RefCell<Option<Error>>,
}

impl LoadProgress {
    fn new(load: &Load, rt: &Rt) -> LoadProgress {
        LoadProgress {
            load: Arc::new(load.clone()),
            next_row: Cell::new(0),
            committed: Cell::new(0),
            bytes: Cell::new(0),
            last_commit: Cell::new(rt.now()),
            generated: Cell::new(0),
            give_up: (0..load.writers).map(|_| rt.timer()).collect(),
            writers: Cell::new(load.writers),
            opening: Cell::new(load.writers),
            refused: RefCell::new(None),
            failed: RefCell::new(None),
            fallback: RefCell::new(None),
        }
    }

    /// Returns the counters of progress: generated rows, committed rows, opening writers and all
    /// writers. At least one of them changes while the load makes progress. Generated rows count,
    /// because a row is generated only when there is room to send it.
    fn counters(&self) -> (u64, u64, u32, u32) {
        (self.generated.get(), self.committed.get(), self.opening.get(), self.writers.get())
    }

    fn fail(&self, error: Error) {
        self.failed.borrow_mut().get_or_insert(error);
    }

    fn give_up_at(&self, at: Stamp) {
        self.give_up.iter().for_each(|timer| timer.arm(at));
    }

    fn is_over(&self, load: &Load, stop: &Stop) -> bool {
        let has_no_writer = self.writers.get() == 0;
        self.committed.get() >= load.rows || has_no_writer || stop.is_requested()
    }

    /// Connects, and writes batches until none is left. Returns the connection; `None` if the
    /// writer got none, or had to give up and abandoned the connection.
    async fn write<D: Driver>(
        &self,
        writer: usize,
        driver: &D,
        rt: &Rt,
        stop: &Stop,
        started: WallTime,
    ) -> Option<D::Connection> {
        let opened = unless(self.open(driver, rt), rt, || self.is_over(&self.load, stop)).await;
        self.opening.set(self.opening.get() - 1);
        let mut connection = match opened {
            Some(Ok(connection)) => Some(connection),
            Some(Err(error)) => {
                self.refused.borrow_mut().get_or_insert(error);
                None
            }
            None => None,
        };
        let mut is_given_up = false;
        if let Some(open) = &mut connection {
            let writing = pin!(self.write_on(open, rt, stop, started));
            match unless_fired(writing, &self.give_up[writer]).await {
                Some(Ok(())) => {}
                Some(Err(error)) => self.fail(error),
                None => is_given_up = true,
            }
        }
        if is_given_up {
            connection.take().into_iter().for_each(Connection::abandon);
        }
        self.writers.set(self.writers.get() - 1);
        connection
    }

    /// Connects, and waits until the connection has a session that answers. A connection without a
    /// session is abandoned, because it might get a session only when other connections end.
    async fn open<D: Driver>(&self, driver: &D, rt: &Rt) -> Result<D::Connection, Error> {
        let mut connection = driver.connect(rt).await?;
        match connection.await_session().await {
            Ok(()) => Ok(connection),
            Err(error) => {
                connection.abandon();
                Err(error)
            }
        }
    }

    /// Takes batches of rows from the shared counter until none is left. A row's values depend on
    /// its number alone, so any writer may write it.
    async fn write_on(
        &self,
        connection: &mut impl Connection,
        rt: &Rt,
        stop: &Stop,
        started: WallTime,
    ) -> Result<(), Error> {
        let rows = RowGenerator::new(&self.load, started);
        let columns = column_names(&self.load);
        let mut writer = Writer { progress: self, rt, stop, rows, batch: 0..0 };
        connection.load(&insert_for(&self.load, &columns), method(&self.load), &mut writer).await
    }
}

/// A writer of a load: the source of the rows that one connection writes.
struct Writer<'a> {
    progress: &'a LoadProgress,
    rt: &'a Rt,
    stop: &'a Stop,
    rows: RowGenerator,
    /// The row numbers of the current batch that are still to be generated.
    batch: Range<u64>,
}

impl Batches for Writer<'_> {
    fn next_batch(&mut self) -> bool {
        let LoadProgress { load, next_row, failed, .. } = self.progress;
        let first = next_row.get();
        if first >= load.rows || self.stop.is_requested() || failed.borrow().is_some() {
            return false;
        }
        let after = load.rows.min(first + u64::from(load.batch));
        next_row.set(after);
        self.batch = first..after;
        true
    }

    fn next_row(&mut self, values: &mut Values) -> bool {
        let Some(number) = self.batch.next() else { return false };
        self.progress.generated.set(self.progress.generated.get() + 1);
        self.rows.fill(number, values);
        true
    }

    fn committed(&mut self, rows: u64, bytes: u64) {
        let LoadProgress { last_commit, committed, bytes: sent, .. } = self.progress;
        last_commit.set(self.rt.now());
        committed.set(committed.get() + rows);
        sent.set(sent.get() + bytes);
    }

    fn is_ascii(&self) -> bool {
        self.rows.is_ascii()
    }

    fn falls_back(&mut self, why: &Error) {
        self.progress.fallback.borrow_mut().get_or_insert_with(|| why.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_progress_reports_is_limited_for_any_number_of_rows() {
        for rows in [1, 999, 1_000, 1_001, 1_999, 2_000, 10_001] {
            assert!(rows / progress_step(rows) <= PROGRESS_POINTS, "{rows} rows");
        }
        assert_eq!([0, 1_000, 1_001].map(progress_step), [1, 1, 2]);
    }
}
