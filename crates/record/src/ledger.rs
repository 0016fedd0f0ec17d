//! The ledger of one lane, in which every request is opened and settled.
//!
//! The ledger is on the measured path: it belongs to one lane and takes no lock. Once its cells
//! have circulated through the [`Outlet`], it allocates nothing for a request. A request whose
//! intended start and end are in the current interval is counted in the cell of that interval. Any
//! other request is stored in a [`LateBatch`], and the recorder counts it.

use base::{AccountId, Nanos, Stamp};

use crate::balance::Outcome;
use crate::delivery::{
    Cell, Delivery, Event, EventError, EventKind, Gauge, LateAnswer, LateBatch, Outlet, Returned,
};
use crate::grid::{Grid, Interval};
use crate::kind::Kind;
use crate::op_log::{OpRow, OpSink};
use crate::statement_set::StatementSet;
use crate::tally::{RequestWork, Sample, Tally, UNANSWERED};
use crate::timestamps::RequestTimestamps;

/// A request that has come due and has no outcome yet. It cannot be copied or constructed directly:
/// only [`Ledger::arrive`] opens one, and only [`Ledger::settle`] ends it.
#[must_use = "every request is settled"]
#[derive(Debug)]
pub struct Request {
    job: AccountId,
    /// The part of a mix for which the request also counts; `None` if no part is assigned.
    part: Option<AccountId>,
    number: u64,
    intended: Stamp,
    noticed: Stamp,
}

impl Request {
    /// Returns the number of the request in its job, from 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns I, the intended start by the schedule.
    pub fn intended(&self) -> Stamp {
        self.intended
    }

    /// Returns P, the time when the generator noticed that the request was due.
    pub fn noticed(&self) -> Stamp {
        self.noticed
    }

    /// Sets the intended start and the time of noticing to `at`, as a load generator with a
    /// measurement fault would.
    ///
    /// The engine does not do this in a run of a workload. The self-test does it to plant a fault
    /// that the oracles must detect.
    pub fn with_intended_start(self, at: Stamp) -> Request {
        Request { intended: at, noticed: at, ..self }
    }
}

/// Proof that a request was settled.
#[derive(Debug)]
pub struct Settled(());

/// The end of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnd<'a> {
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Timestamps A and S; `None` if no byte was sent.
    pub sent: Option<Dispatch>,
    /// D: time when the last byte of the last answer was read, or when the request was given up.
    pub done: Stamp,
    /// Numbers of rows, bytes and retries of the request.
    pub work: RequestWork,
    /// Service times of the statements of the last attempt, in order. A statement that ended the
    /// request with an error has none, nor have the statements after it. [`UNANSWERED`] stands for
    /// a statement that failed without ending the request.
    pub statements: &'a [Nanos],
    /// The account of the job at the server that received the request; `None` if no byte was sent,
    /// or if the target has only one server.
    pub node: Option<AccountId>,
}

/// The times at which a request was assigned to a worker and its first byte was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// A: time when a worker and a connection were free.
    pub assigned: Stamp,
    /// S: time when the first byte was sent.
    pub sent: Stamp,
}

impl RequestEnd<'_> {
    /// Creates the end of a request that was never sent.
    pub fn without_sending(outcome: Outcome, done: Stamp) -> RequestEnd<'static> {
        RequestEnd {
            outcome,
            sent: None,
            done,
            work: RequestWork::default(),
            statements: &[],
            node: None,
        }
    }
}

/// The ledger of one lane, which counts the lane's requests.
pub struct Ledger<O> {
    lane: u16,
    zero: Stamp,
    grid: Grid,
    /// The end of the schedule, once known.
    schedule_end: Option<ScheduleEnd>,
    current: Interval,
    accounts: Vec<AccountCounting>,
    late: Box<LateBatch>,
    #[expect(clippy::vec_box, reason = "the box itself circulates through the outlet")]
    spare_late: Vec<Box<LateBatch>>,
    ops: Option<Box<dyn OpSink + Send>>,
    outlet: O,
}

/// The end of the schedule. A request that ends at this instant or later is counted as ended in a
/// later interval than the last one of the schedule, even if the schedule ends in the middle of
/// that interval. A window that ends with the schedule therefore counts exactly the ends within it.
#[derive(Clone, Copy, Debug)]
struct ScheduleEnd {
    end: Stamp,
    /// The first interval after the one in which the schedule ends.
    first: Interval,
}

struct AccountCounting {
    statements: u16,
    /// Statements that returned or changed a row so far.
    with_rows: StatementSet,
    cell: Box<Cell>,
    #[expect(clippy::vec_box, reason = "the box itself circulates through the outlet")]
    spares: Vec<Box<Cell>>,
}

impl<O: Outlet> Ledger<O> {
    /// Creates a ledger that begins at `zero`, the time zero of the run. `statements` has the
    /// number of statements of each account.
    pub fn new(lane: u16, zero: Stamp, grid: Grid, statements: &[u16], mut outlet: O) -> Ledger<O> {
        let accounts = statements
            .iter()
            .enumerate()
            .map(|(index, &statements)| AccountCounting {
                statements,
                with_rows: StatementSet::default(),
                cell: new_cell(AccountId(index as u16), 0, statements),
                spares: Vec::new(),
            })
            .collect();
        let late = Box::new(LateBatch::new());
        let mut ops = outlet.ops();
        if let Some(ops) = &mut ops {
            ops.begin(zero);
        }
        Ledger {
            lane,
            zero,
            grid,
            schedule_end: None,
            current: 0,
            accounts,
            late,
            spare_late: Vec::new(),
            ops,
            outlet,
        }
    }

    /// Sets the end of the schedule, or moves it. A request that ends at `end` or later is counted
    /// as ended after the last interval of the schedule. [`Stamp::NEVER`] means that the schedule
    /// has no end.
    pub fn end_at(&mut self, end: Stamp) {
        self.schedule_end = (end != Stamp::NEVER).then(|| {
            let last = Nanos(end.since(self.zero).0.saturating_sub(1));
            ScheduleEnd { end, first: self.grid.interval(last).saturating_add(1) }
        });
    }

    /// Opens a request that has come due. `number` is its number in its job, `intended` is the time
    /// at which it was due, and `noticed` is the time at which the generator noticed that it was
    /// due.
    #[inline]
    pub fn arrive(
        &mut self,
        job: AccountId,
        number: u64,
        intended: Stamp,
        noticed: Stamp,
    ) -> Request {
        debug_assert!(intended <= noticed, "nothing is noticed before it is due");
        self.count_arrival(job, intended);
        Request { job, part: None, number, intended, noticed }
    }

    /// Records the time between the two latest arrivals of a job, as this lane noticed them, in the
    /// cell of the current interval.
    #[inline]
    pub fn record_gap(&mut self, job: AccountId, gap: Nanos) {
        self.accounts[job.index()].cell.tally.histograms.record(Kind::Gap, gap);
    }

    /// Assigns a request of a mix to one of the mix's parts. From then on, the request counts for
    /// both the mix and the part.
    #[inline]
    pub fn assign_part(&mut self, request: Request, part: AccountId) -> Request {
        debug_assert!(request.part.is_none(), "a request is one part of its mix");
        self.count_arrival(part, request.intended);
        Request { part: Some(part), ..request }
    }

    fn count_arrival(&mut self, account: AccountId, intended: Stamp) {
        let interval = self.grid.interval(intended.since(self.zero));
        if interval > self.current {
            self.begin(interval);
        }
        if interval == self.current {
            self.accounts[account.index()].cell.tally.counts.arrivals += 1;
        } else {
            self.late.push_arrival(account, interval);
            self.hand_over_late_if_full();
        }
    }

    /// Settles a request that has ended: counts it for its job, for its part of a mix, and for the
    /// server that received it, and adds its row to the op-log.
    #[inline]
    pub fn settle(&mut self, request: Request, end: RequestEnd<'_>) -> Settled {
        let Request { job, part, number, intended, noticed } = request;
        let RequestEnd { outcome, sent, done, work, statements, node } = end;
        let dispatch = sent.unwrap_or(Dispatch { assigned: noticed, sent: noticed });
        let timestamps = RequestTimestamps {
            intended,
            noticed,
            assigned: dispatch.assigned,
            sent: dispatch.sent,
            done: done.max(dispatch.sent),
        };
        debug_assert!(timestamps.is_ordered(), "{timestamps:?}");
        let sample = Sample { timestamps, sent: sent.is_some(), outcome, work };
        if let Some(ops) = &mut self.ops {
            let account = part.unwrap_or(job);
            let of = self.accounts[account.index()].statements;
            let failed = failed_statements(&outcome, statements, of);
            ops.push(&OpRow { account, number, sample, failed });
        }
        match part {
            None => self.record(job, &sample, statements),
            Some(part) => {
                // Statements are counted only for the part, because a mix has no statements of its
                // own.
                self.record(job, &sample, &[]);
                self.record(part, &sample, statements);
            }
        }
        if let Some(node) = node {
            self.count_arrival(node, intended);
            self.record(node, &sample, &[]);
        }
        Settled(())
    }

    fn record(&mut self, account: AccountId, sample: &Sample, statements: &[Nanos]) {
        let start = self.grid.interval(sample.timestamps.intended.since(self.zero));
        let end = self.interval_of_end(sample.timestamps.done);
        if end > self.current {
            self.begin(end);
        }
        if start == self.current && end == self.current {
            let tally = &mut self.accounts[account.index()].cell.tally;
            tally.record_start(sample, statements);
            tally.record_end(sample);
        } else {
            self.late.push(&LateAnswer { account, start, end, sample, statements });
            self.hand_over_late_if_full();
        }
    }

    #[inline]
    fn interval_of_end(&self, done: Stamp) -> Interval {
        let interval = self.grid.interval(done.since(self.zero));
        match self.schedule_end {
            Some(schedule) if done >= schedule.end => interval.max(schedule.first),
            _ => interval,
        }
    }

    /// Delivers the undelivered cells of all intervals before the one that contains `now`, and the
    /// current gauges of the jobs. Must be called once per interval, even if nothing has happened.
    pub fn close_interval(&mut self, now: Stamp, gauges: impl FnOnce() -> Vec<Gauge>) {
        let interval = self.grid.interval(now.since(self.zero));
        if interval > self.current {
            self.begin(interval);
        }
        if let Some(ended) = interval.checked_sub(1) {
            let (lane, gauges) = (self.lane, gauges());
            self.outlet.deliver(Delivery::Gauges { lane, interval: ended, gauges });
        }
    }

    /// Marks statements of an account as having returned or changed a row.
    pub fn add_with_rows(&mut self, account: AccountId, statements: StatementSet) {
        self.accounts[account.index()].with_rows.merge(statements);
    }

    /// Delivers all remaining data at the end of the lane.
    pub fn finish(mut self) {
        self.begin(self.current.saturating_add(1));
        let with_rows = self.accounts.iter().map(|account| account.with_rows).collect();
        self.outlet.deliver(Delivery::WithRows(with_rows));
    }

    /// Delivers an event that happened at `at`.
    pub fn event(&mut self, at: Stamp, account: Option<AccountId>, kind: EventKind, text: String) {
        let at = at.since(self.zero);
        self.outlet.deliver(Delivery::Event(Event { at, account, kind, error: None, text }));
    }

    /// Delivers an event that happened at `at` and reports an error.
    pub fn error_event(
        &mut self,
        at: Stamp,
        account: Option<AccountId>,
        kind: EventKind,
        error: EventError,
        text: String,
    ) {
        let (at, error) = (at.since(self.zero), Some(error));
        self.outlet.deliver(Delivery::Event(Event { at, account, kind, error, text }));
    }

    /// Returns true if the record can no longer be written, so the run must end.
    pub fn is_broken(&self) -> bool {
        self.outlet.is_broken()
    }

    /// Delivers the cells of the current interval and the late requests, then begins `interval`.
    #[cold]
    fn begin(&mut self, interval: Interval) {
        self.collect_returned();
        for account in &mut self.accounts {
            if account.cell.tally.is_empty() {
                account.cell.interval = interval;
                continue;
            }
            let index = account.cell.account;
            let fresh = account.spares.pop().map(|mut spare| {
                spare.interval = interval;
                spare
            });
            let fresh = fresh.unwrap_or_else(|| new_cell(index, interval, account.statements));
            let full = std::mem::replace(&mut account.cell, fresh);
            self.outlet.deliver(Delivery::Cell(full));
        }
        self.hand_over_late();
        if let Some(ops) = &mut self.ops {
            ops.hand_over();
        }
        self.current = interval;
    }

    fn hand_over_late_if_full(&mut self) {
        if self.late.is_full() {
            self.collect_returned();
            self.hand_over_late();
        }
    }

    #[cold]
    fn hand_over_late(&mut self) {
        if !self.late.is_empty() {
            let fresh = self.spare_late.pop().unwrap_or_else(|| Box::new(LateBatch::new()));
            let full = std::mem::replace(&mut self.late, fresh);
            self.outlet.deliver(Delivery::Late(full));
        }
    }

    fn collect_returned(&mut self) {
        while let Some(returned) = self.outlet.take_returned() {
            match returned {
                Returned::Cell(cell) => self.accounts[cell.account.index()].spares.push(cell),
                Returned::Late(batch) => self.spare_late.push(batch),
            }
        }
    }
}

/// Returns the number of failed statements of a request: the one that ended the request, if any,
/// and those that failed without ending it. At least 1 for a request that ended in an error, and 0
/// for any other. `of` is the number of all statements of the request.
fn failed_statements(outcome: &Outcome, answers: &[Nanos], of: u16) -> u32 {
    if !matches!(outcome, Outcome::Failed(_)) {
        return 0;
    }
    let skipped = answers.iter().filter(|service| **service == UNANSWERED).count() as u32;
    let is_cut_short = answers.len() < usize::from(of);
    (skipped + u32::from(is_cut_short)).max(1)
}

fn new_cell(account: AccountId, interval: Interval, statements: u16) -> Box<Cell> {
    Box::new(Cell { account, interval, tally: Tally::new(statements) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Balance;
    use crate::totals::{MemoryOutlet, Totals};

    const JOB: AccountId = AccountId(0);
    const MS: u64 = 1_000_000;

    fn ledger() -> (Ledger<MemoryOutlet>, MemoryOutlet) {
        let grid = Grid::new(Nanos::from_secs(1), Some(Nanos::from_secs(10)));
        let outlet = MemoryOutlet::new(Totals::new(grid, &[1]));
        (Ledger::new(0, Stamp(5_000 * MS), grid, &[1], outlet.clone()), outlet)
    }

    /// Records a request that was due at `intended` and answered at `done`, both in milliseconds
    /// after time zero.
    fn request(ledger: &mut Ledger<MemoryOutlet>, intended: u64, done: u64) {
        let at = |ms: u64| Stamp((5_000 + ms) * MS);
        let request = ledger.arrive(JOB, 0, at(intended), at(intended));
        let dispatch = Dispatch { assigned: at(intended), sent: at(intended) };
        let service = [Nanos::from_millis(done - intended)];
        let Settled(()) = ledger.settle(
            request,
            RequestEnd {
                outcome: Outcome::Completed,
                sent: Some(dispatch),
                done: at(done),
                work: RequestWork { rows: 1, ..RequestWork::default() },
                statements: &service,
                node: None,
            },
        );
    }

    #[test]
    fn a_late_answer_belongs_to_the_interval_of_its_intended_start() {
        let (mut ledger, outlet) = ledger();
        request(&mut ledger, 500, 600);
        request(&mut ledger, 1_900, 4_200);
        request(&mut ledger, 4_300, 4_301);
        ledger.finish();
        let totals = outlet.totals();
        let job = totals.account(JOB);
        let arrivals: Vec<u64> = job.intervals.iter().map(|(c, _)| c.arrivals).collect();
        let completed: Vec<u64> =
            job.intervals.iter().map(|(c, _)| c.balance.completed()).collect();
        let ended: Vec<u64> = job.intervals.iter().map(|(_, e)| e.completed).collect();
        assert_eq!(arrivals, [1, 1, 0, 0, 1]);
        assert_eq!(completed, [1, 1, 0, 0, 1]);
        assert_eq!(ended, [1, 0, 0, 0, 2]);
        assert_eq!(job.window.counts.balance, Balance::of(2, 0, 0, 0));
        assert_eq!(job.window.ends.completed, 2);
        assert_eq!(job.window.histograms.of(Kind::Statement(base::StatementId(0))).len(), 2);
        assert_eq!(job.window.histograms.of(Kind::Response).max() / MS, 2_300);
    }

    #[test]
    fn end_after_schedule_counts_in_a_later_interval() {
        let (mut ledger, outlet) = ledger();
        ledger.end_at(Stamp((5_000 + 2_500) * MS));
        request(&mut ledger, 2_100, 2_499);
        request(&mut ledger, 2_200, 2_500);
        request(&mut ledger, 2_300, 2_700);
        ledger.finish();
        let totals = outlet.totals();
        let intervals = &totals.account(JOB).intervals;
        assert_eq!(intervals[2].0.balance.completed(), 3);
        assert_eq!((intervals[2].1.completed, intervals[3].1.completed), (1, 2));
    }

    #[test]
    fn a_flood_of_late_answers_is_handed_over_in_batches() {
        let (mut ledger, outlet) = ledger();
        request(&mut ledger, 3_000, 3_001);
        for _ in 0..5_000 {
            request(&mut ledger, 100, 3_500);
        }
        ledger.finish();
        assert_eq!(outlet.totals().account(JOB).intervals[0].0.balance.completed(), 5_000);
        assert_eq!(outlet.totals().account(JOB).intervals[0].0.open(), 0);
        assert_eq!(outlet.totals().account(JOB).intervals[3].1.completed, 5_001);
    }

    #[test]
    fn unsent_requests_are_counted() {
        let (mut ledger, outlet) = ledger();
        for (number, outcome) in [(0, Outcome::Rejected), (1, Outcome::Unsent)] {
            let at = Stamp(7_000 * MS);
            let request = ledger.arrive(JOB, number, at, at);
            assert_eq!((request.number(), request.intended()), (number, at));
            let Settled(()) =
                ledger.settle(request, RequestEnd::without_sending(outcome, at + Nanos(9)));
        }
        ledger.finish();
        let totals = outlet.totals();
        assert_eq!(totals.account(JOB).window.counts.balance, Balance::of(0, 0, 1, 1));
        assert_eq!(totals.account(JOB).window.histograms.of(Kind::Response).len(), 1);
    }

    /// An outlet that records the intervals of delivered gauges.
    struct GaugeIntervals<'a>(&'a mut Vec<Interval>);

    impl Outlet for GaugeIntervals<'_> {
        fn deliver(&mut self, delivery: Delivery) {
            if let Delivery::Gauges { interval, .. } = delivery {
                self.0.push(interval);
            }
        }

        fn take_returned(&mut self) -> Option<Returned> {
            None
        }

        fn is_broken(&self) -> bool {
            false
        }
    }

    #[test]
    fn turn_delivers_gauges_of_the_ended_interval() {
        let mut turns = Vec::new();
        let grid = Grid::new(Nanos::from_secs(1), None);
        let mut ledger = Ledger::new(0, Stamp(0), grid, &[0], GaugeIntervals(&mut turns));
        for millis in [400, 1_000, 2_001] {
            ledger.close_interval(Stamp(millis * MS), Vec::new);
        }
        ledger.finish();
        assert_eq!(turns, [0, 1]);
    }

    #[test]
    fn cells_are_reused() {
        let (mut ledger, _outlet) = ledger();
        for second in 0..9 {
            request(&mut ledger, second * 1_000, second * 1_000 + 1);
        }
        // One cell is in use, and the previous one has been returned.
        ledger.collect_returned();
        assert_eq!(ledger.accounts[0].spares.len(), 1);
    }
}
