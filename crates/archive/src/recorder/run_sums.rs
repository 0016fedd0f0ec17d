//! The sums over all lanes, before they are written to the disk.
//!
//! Recently used rows are in memory; the others are on disk, and are read again for very late
//! answers. A row in memory is always complete: writing it replaces the row on disk.

use std::mem;

use base::{AccountId, Class, StatementId};
use record::{
    Cell, Counts, End, EndCounts, Failure, Gauge, Grid, Header, Histograms, Interval, Kind,
    LateAnswer, LateBatch, LiveJob, LiveState, Outcome, Sample, Scale, StatementSet, TimeBuckets,
};

use super::cache::{Cache, Evicted};
use crate::error::RowError;
use crate::writer::{IntervalData, Writer};

/// The number of seconds per job in memory, without their histograms.
const CACHED_SECONDS: usize = 128;

/// The number of histogram rows per job in memory: the current row, and the previous row, which
/// receives late answers. Each takes about half a megabyte.
const CACHED_ROWS: usize = 2;

/// The number of empty histograms per job that are kept for reuse.
const MOST_SPARES: usize = 1;

/// The sums of all deliveries, and the writer of the record.
pub(super) struct RunSums {
    grid: Grid,
    accounts: Vec<AccountSums>,
    seconds: Cache<IntervalData>,
    rows: Cache<Histograms>,
    pub(super) writer: Writer,
}

struct AccountSums {
    statements: u16,
    /// Statements that returned or changed a row.
    with_rows: StatementSet,
    /// The latest second with data. No later second can be on disk.
    last_second: Option<Interval>,
    /// The first interval of the latest histogram row. No later row can be on disk.
    last_row: Option<Interval>,
    counts: Counts,
    ends: EndCounts,
    /// Response times since time zero, if a display needs them.
    response: Option<Box<TimeBuckets>>,
    /// Empty histograms for reuse, at most [`MOST_SPARES`].
    spares: Vec<Histograms>,
}

impl RunSums {
    pub(super) fn new(writer: Writer, header: &Header) -> RunSums {
        let accounts: Vec<AccountSums> = header
            .jobs
            .iter()
            .map(|account| AccountSums {
                statements: account.statements.len() as u16,
                with_rows: StatementSet::default(),
                last_second: None,
                last_row: None,
                counts: Counts::default(),
                ends: EndCounts::default(),
                response: None,
                spares: Vec::new(),
            })
            .collect();
        RunSums {
            grid: header.grid(),
            seconds: Cache::new(CACHED_SECONDS * accounts.len()),
            rows: Cache::new(CACHED_ROWS * accounts.len()),
            accounts,
            writer,
        }
    }

    /// Returns the number of arrivals so far, over all accounts.
    pub(super) fn arrivals(&self) -> u64 {
        self.accounts.iter().map(|account| account.counts.arrivals).sum()
    }

    /// Counts response times from now on, for a display.
    pub(super) fn count_times(&mut self) {
        for account in &mut self.accounts {
            account.response.get_or_insert_default();
        }
    }

    /// Adds a cell and empties it.
    pub(super) fn add_cell(&mut self, cell: &mut Cell) -> Result<(), RowError> {
        let Cell { account, interval, ref mut tally } = *cell;
        let account_sums = &mut self.accounts[account.index()];
        account_sums.counts.merge(&tally.counts);
        account_sums.ends.merge(&tally.ends);
        if let Some(response) = &mut account_sums.response {
            response.add(tally.histograms.times(Kind::Response), Scale::of(Kind::Response));
        }
        let second = self.second_of(account, interval)?;
        second.counts.merge(&tally.counts);
        second.ends.merge(&tally.ends);
        second.failures.merge(&tally.failures);
        if !tally.histograms.are_empty() {
            self.add_histograms(account, interval, &mut tally.histograms)?;
        }
        tally.reset();
        Ok(())
    }

    /// Adds the histograms of a cell, and may leave them unchanged. The first ones of a row are not
    /// copied but swapped for empty ones.
    fn add_histograms(
        &mut self,
        account: AccountId,
        interval: Interval,
        histograms: &mut Histograms,
    ) -> Result<(), RowError> {
        let row = self.grid.row(interval);
        if self.accounts[account.index()].last_row < Some(row) {
            let full = mem::replace(histograms, self.take_spare(account));
            self.open_row(account, row, full)
        } else {
            self.histogram_row(account, row)?.merge(histograms);
            Ok(())
        }
    }

    /// Adds requests with late answers.
    pub(super) fn add_late<'a>(
        &mut self,
        batches: impl Iterator<Item = &'a LateBatch> + Clone,
    ) -> Result<(), RowError> {
        for (account, interval) in batches.clone().flat_map(LateBatch::arrivals) {
            self.accounts[account.index()].counts.arrivals += 1;
            self.second_of(account, interval)?.counts.arrivals += 1;
        }
        // Sorting by account and start makes each row be read from disk only once.
        let mut requests: Vec<LateAnswer<'_>> = batches.flat_map(LateBatch::requests).collect();
        requests.sort_by_key(|late| (late.account, late.start));
        requests.iter().try_for_each(|late| self.add_request(late))
    }

    fn add_request(&mut self, late: &LateAnswer<'_>) -> Result<(), RowError> {
        let LateAnswer { account, start, end, sample, statements } = *late;
        let row = self.grid.row(start);
        let overflows = self.histogram_row(account, row)?.record_request(sample, statements);
        let second = self.second_of(account, start)?;
        second.counts.record(sample);
        second.counts.overflows += overflows;
        second.failures.record(sample);
        self.second_of(account, end)?.ends.record(sample);
        let account_sums = &mut self.accounts[account.index()];
        account_sums.counts.record(sample);
        account_sums.counts.overflows += overflows;
        account_sums.ends.record(sample);
        if let Some(response) = account_sums.response.as_mut().filter(|_| has_response(sample)) {
            response.add_one(sample.timestamps.response());
        }
        Ok(())
    }

    /// Stores the gauges of the jobs at the end of an interval.
    pub(super) fn set_gauges(
        &mut self,
        interval: Interval,
        gauges: Option<&[Gauge]>,
    ) -> Result<(), RowError> {
        for place in 0..self.accounts.len() {
            let gauge = gauges.and_then(|gauges| gauges.get(place));
            self.second_of(AccountId(place as u16), interval)?.gauge = gauge.copied();
        }
        Ok(())
    }

    /// Returns the figures of an interval for a display.
    pub(super) fn live_figures(&self, interval: Interval) -> LiveState {
        let length = self.grid.end(interval).saturating_sub(self.grid.start(interval));
        let per_s = |count: u64| count as f64 / length.as_secs_f64();
        let job_figures = |(place, account_sums): (usize, &AccountSums)| {
            let account = AccountId(place as u16);
            let second = self.seconds.peek((interval, account));
            let response = self.rows.peek((self.grid.row(interval), account));
            let quantile = |q| response.and_then(|row| row.times(Kind::Response).quantile(q));
            LiveJob {
                offered_per_s: per_s(second.map_or(0, |second| second.counts.arrivals)),
                achieved_per_s: per_s(second.map_or(0, |second| second.ends.completed)),
                p50: quantile(0.5),
                p99: quantile(0.99),
                errors: account_sums.counts.balance.errors(),
                gauge: second.and_then(|second| second.gauge),
                counts: account_sums.counts,
                response: account_sums.response.clone(),
            }
        };
        let jobs = self.accounts.iter().enumerate().map(job_figures).collect();
        LiveState { interval, at: self.grid.end(interval), jobs }
    }

    /// Adds the statements of each account that returned or changed a row on a lane.
    pub(super) fn add_with_rows(&mut self, sets: &[StatementSet]) {
        for (account_sums, set) in self.accounts.iter_mut().zip(sets) {
            account_sums.with_rows.merge(*set);
        }
    }

    /// Writes which statements returned or changed a row, once every lane has reported its own.
    pub(super) fn write_with_rows(&mut self) -> Result<(), RowError> {
        let accounts = (0..).map(AccountId).zip(&self.accounts);
        let with_rows = accounts.flat_map(|(account, account_sums)| {
            let statements = (0..account_sums.statements).map(StatementId);
            let with_rows = account_sums.with_rows;
            let has_rows = move |id: &StatementId| with_rows.contains(id.0.into());
            statements.filter(has_rows).map(move |id| (account, id))
        });
        self.writer.set_with_rows(with_rows)
    }

    /// Writes every changed row and commits.
    pub(super) fn save(&mut self) -> Result<(), RowError> {
        self.write()?;
        self.writer.commit()
    }

    /// Writes everything, then the end of the run and its seal, and commits.
    pub(super) fn seal(&mut self, end: &End, events_dropped: u64) -> Result<(), RowError> {
        self.write()?;
        let sums: Vec<_> = self
            .accounts
            .iter()
            .map(|account_sums| (account_sums.counts, account_sums.ends))
            .collect();
        self.writer.seal(end, &sums, events_dropped)?;
        self.writer.commit()
    }

    fn write(&mut self) -> Result<(), RowError> {
        let RunSums { seconds, rows, writer, .. } = self;
        for ((interval, account), second) in seconds.take_unsaved() {
            writer.save_second(account, interval, second)?;
        }
        for ((interval, account), row) in rows.take_unsaved() {
            writer.save_histograms(account, interval, row)?;
        }
        Ok(())
    }

    fn second_of(
        &mut self,
        account: AccountId,
        interval: Interval,
    ) -> Result<&mut IntervalData, RowError> {
        let key = (interval, account);
        if self.seconds.peek(key).is_none() {
            let account_sums = &mut self.accounts[account.index()];
            let is_new = account_sums.last_second < Some(interval);
            let second = if is_new {
                account_sums.last_second = Some(interval);
                IntervalData::default()
            } else {
                self.writer.load_second(account, interval)?
            };
            if let Some(Evicted { key, value, is_saved: false }) = self.seconds.insert(key, second)
            {
                self.writer.save_second(key.1, key.0, &value)?;
            }
        }
        Ok(self.seconds.touch(key).expect("it was put there if it was not there"))
    }

    fn histogram_row(
        &mut self,
        account: AccountId,
        row: Interval,
    ) -> Result<&mut Histograms, RowError> {
        let key = (row, account);
        if self.rows.peek(key).is_none() {
            let mut histograms = self.take_spare(account);
            if self.accounts[account.index()].last_row >= Some(row) {
                self.writer.load_histograms(account, row, &mut histograms)?;
            }
            self.open_row(account, row, histograms)?;
        }
        Ok(self.rows.touch(key).expect("it was put there if it was not there"))
    }

    fn open_row(
        &mut self,
        account: AccountId,
        row: Interval,
        histograms: Histograms,
    ) -> Result<(), RowError> {
        let account_sums = &mut self.accounts[account.index()];
        account_sums.last_row = account_sums.last_row.max(Some(row));
        if let Some(evicted) = self.rows.insert((row, account), histograms) {
            let Evicted { key: (row, account), value: mut histograms, is_saved } = evicted;
            if !is_saved {
                self.writer.save_histograms(account, row, &histograms)?;
            }
            let spares = &mut self.accounts[account.index()].spares;
            if spares.len() < MOST_SPARES {
                histograms.reset();
                spares.push(histograms);
            }
        }
        Ok(())
    }

    fn take_spare(&mut self, account: AccountId) -> Histograms {
        let account_sums = &mut self.accounts[account.index()];
        account_sums.spares.pop().unwrap_or_else(|| Histograms::new(account_sums.statements))
    }
}

/// Returns true if a request counts in the histogram of response times: it was completed, unsent or
/// timed out. Rejected requests and other errors do not count there.
fn has_response(sample: &Sample) -> bool {
    match &sample.outcome {
        Outcome::Completed
        | Outcome::Unsent
        | Outcome::Failed(Failure { class: Class::Timeout, .. }) => true,
        Outcome::Failed(_) | Outcome::Rejected => false,
    }
}
