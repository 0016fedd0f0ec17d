//! A lane's own books: where every request is opened and closed.
//!
//! The ledger is on the measured path. It belongs to one lane, allocates nothing once its cells
//! have made a round through the [`Outlet`], and takes no lock. A request whose start and end lie
//! in the present interval is counted in place; one with a late answer is noted and counted by
//! whoever keeps the record.

use base::{Nanos, Stamp};

use crate::balance::Outcome;
use crate::delivery::{
    Cell, Delivery, Event, EventKind, Gauge, JobIndex, Late, LateBatch, Outlet, Returned,
};
use crate::grid::{Grid, Interval};
use crate::histogram::Kind;
use crate::life::Life;
use crate::spool::{OpLane, OpRow};
use crate::tally::{Effort, Sample, Tally, UNANSWERED};

/// A request that is due and has no outcome. It can neither be copied nor made by hand: only
/// [`Ledger::arrive`] opens one, and only [`Ledger::settle`] ends it.
#[must_use = "every request is settled"]
#[derive(Debug)]
pub struct Request {
    job: JobIndex,
    /// The part of a mix that it is, which counts it as well.
    part: Option<JobIndex>,
    number: u64,
    intended: Stamp,
    noticed: Stamp,
}

impl Request {
    /// The number of the request in its job, from 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// I: when the schedule wanted it to begin.
    pub fn intended(&self) -> Stamp {
        self.intended
    }

    /// P: when the generator noticed that it was due.
    pub fn noticed(&self) -> Stamp {
        self.noticed
    }

    /// The request with its intended start forgotten, as a generator without a schedule would
    /// record it. Never called by the engine: it exists so that tests can plant this fault and show
    /// that the oracles notice.
    pub fn as_if_meant_for(self, at: Stamp) -> Request {
        Request { intended: at, noticed: at, ..self }
    }
}

/// The proof that a request was settled.
#[derive(Debug)]
pub struct Settled(());

/// How and when a request ended.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// How.
    pub outcome: Outcome,
    /// A and S, if its first byte was sent.
    pub sent: Option<Dispatch>,
    /// D: when the last byte of the last answer was read, or when the request was given up.
    pub done: Stamp,
    /// What it moved.
    pub effort: Effort,
    /// The service times of the statements that were answered, in order.
    pub statements: &'a [Nanos],
    /// The account of the server that it was sent to, if that is one of several.
    pub node: Option<JobIndex>,
}

/// When a request got its worker, and when its first byte left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// A: when a worker and a connection were free for it.
    pub assigned: Stamp,
    /// S: when the first byte was sent.
    pub sent: Stamp,
}

impl Ending<'_> {
    /// The end of a request that was never sent.
    pub fn without_sending(outcome: Outcome, done: Stamp) -> Ending<'static> {
        Ending { outcome, sent: None, done, effort: Effort::default(), statements: &[], node: None }
    }
}

/// The books of one lane.
pub struct Ledger<O> {
    lane: u16,
    zero: Stamp,
    grid: Grid,
    /// The first interval behind the schedule's end, once that is known.
    behind: Option<Behind>,
    present: Interval,
    jobs: Vec<JobBook>,
    late: Box<LateBatch>,
    #[expect(clippy::vec_box, reason = "the box itself makes the round through the outlet")]
    spare_late: Vec<Box<LateBatch>>,
    ops: Option<OpLane>,
    outlet: O,
}

/// What happens after the schedule's end is not part of the interval in which that lies: a window
/// that ends with the schedule counts what ended in it, to the nanosecond.
#[derive(Clone, Copy, Debug)]
struct Behind {
    end: Stamp,
    first: Interval,
}

struct JobBook {
    statements: u16,
    cell: Box<Cell>,
    #[expect(clippy::vec_box, reason = "the box itself makes the round through the outlet")]
    spares: Vec<Box<Cell>>,
}

impl<O: Outlet> Ledger<O> {
    /// Books that begin at time zero for jobs with these numbers of statements.
    pub fn new(lane: u16, zero: Stamp, grid: Grid, statements: &[u16], mut outlet: O) -> Ledger<O> {
        let jobs = statements
            .iter()
            .enumerate()
            .map(|(job, &statements)| JobBook {
                statements,
                cell: new_cell(JobIndex(job as u16), 0, statements),
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
            behind: None,
            present: 0,
            jobs,
            late,
            spare_late: Vec::new(),
            ops,
            outlet,
        }
    }

    /// The schedule ends at `end`: what ends later counts in later intervals.
    pub fn end_at(&mut self, end: Stamp) {
        self.behind = (end != Stamp::NEVER).then(|| {
            let last = Nanos(end.since(self.zero).0.saturating_sub(1));
            Behind { end, first: self.grid.interval(last).saturating_add(1) }
        });
    }

    /// A request has come due: `number` in its job, meant for `intended`, noticed at `noticed`.
    #[inline]
    pub fn arrive(
        &mut self,
        job: JobIndex,
        number: u64,
        intended: Stamp,
        noticed: Stamp,
    ) -> Request {
        debug_assert!(intended <= noticed, "nothing is noticed before it is due");
        self.count_arrival(job, intended);
        Request { job, part: None, number, intended, noticed }
    }

    /// Between an arrival of a job, which this lane has noticed just now, and the one before lay so
    /// much time.
    #[inline]
    pub fn space(&mut self, job: JobIndex, gap: Nanos) {
        self.jobs[usize::from(job.0)].cell.tally.histograms.record(Kind::Gap, gap);
    }

    /// A request of a mix turned out to be this part of it: from here on it counts in both.
    #[inline]
    pub fn take_part(&mut self, request: Request, part: JobIndex) -> Request {
        debug_assert!(request.part.is_none(), "a request is one part of its mix");
        self.count_arrival(part, request.intended);
        Request { part: Some(part), ..request }
    }

    fn count_arrival(&mut self, job: JobIndex, intended: Stamp) {
        let interval = self.grid.interval(intended.since(self.zero));
        if interval > self.present {
            self.begin(interval);
        }
        if interval == self.present {
            self.jobs[usize::from(job.0)].cell.tally.counts.arrivals += 1;
        } else {
            self.late.push_arrival(job, interval);
            self.hand_over_late_if_full();
        }
    }

    /// A request has ended.
    #[inline]
    pub fn settle(&mut self, request: Request, ending: Ending<'_>) -> Settled {
        let Request { job, part, number, intended, noticed } = request;
        let Ending { outcome, sent, done, effort, statements, node } = ending;
        let dispatch = sent.unwrap_or(Dispatch { assigned: noticed, sent: noticed });
        let life = Life {
            intended,
            noticed,
            assigned: dispatch.assigned,
            sent: dispatch.sent,
            done: done.max(dispatch.sent),
        };
        debug_assert!(life.is_ordered(), "{life:?}");
        let sample = Sample { life, sent: sent.is_some(), outcome, effort };
        if let Some(ops) = &mut self.ops {
            let job = part.unwrap_or(job);
            let of = self.jobs[usize::from(job.0)].statements;
            let failed = failed_statements(&outcome, statements, of);
            ops.push(OpRow { job, number, sample, failed });
        }
        match part {
            None => self.record(job, &sample, statements),
            Some(part) => {
                // The statements are the part's: a mix has none of its own.
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

    fn record(&mut self, job: JobIndex, sample: &Sample, statements: &[Nanos]) {
        let start = self.grid.interval(sample.life.intended.since(self.zero));
        let end = self.interval_of_end(sample.life.done);
        if end > self.present {
            self.begin(end);
        }
        if start == self.present && end == self.present {
            let tally = &mut self.jobs[usize::from(job.0)].cell.tally;
            tally.record_start(sample, statements);
            tally.record_end(sample);
        } else {
            self.late.push(&Late { job, start, end, sample, statements });
            self.hand_over_late_if_full();
        }
    }

    #[inline]
    fn interval_of_end(&self, done: Stamp) -> Interval {
        let interval = self.grid.interval(done.since(self.zero));
        match self.behind {
            Some(behind) if done >= behind.end => interval.max(behind.first),
            _ => interval,
        }
    }

    /// Hands over all that lies before the interval of `now`, with the jobs' present gauges. To
    /// be called once an interval, also when nothing happens.
    pub fn turn(&mut self, now: Stamp, gauges: impl FnOnce() -> Vec<Gauge>) {
        let interval = self.grid.interval(now.since(self.zero));
        if interval > self.present {
            self.begin(interval);
        }
        if let Some(ended) = interval.checked_sub(1) {
            let (lane, gauges) = (self.lane, gauges());
            self.outlet.deliver(Delivery::Gauges { lane, interval: ended, gauges });
        }
    }

    /// Hands over everything: the lane has ended.
    pub fn finish(mut self) {
        self.begin(self.present.saturating_add(1));
    }

    /// Notes that something happened at `at`.
    pub fn event(&mut self, at: Stamp, job: Option<JobIndex>, kind: EventKind, text: String) {
        let at = at.since(self.zero);
        self.outlet.deliver(Delivery::Event(Event { at, job, kind, text }));
    }

    /// Whether the record can no longer be kept, so that the run must end.
    pub fn is_broken(&self) -> bool {
        self.outlet.is_broken()
    }

    /// Begins an interval: hands over the cells of the present one and what came late.
    #[cold]
    fn begin(&mut self, interval: Interval) {
        self.take_back();
        for job in &mut self.jobs {
            if job.cell.tally.is_empty() {
                job.cell.interval = interval;
                continue;
            }
            let index = job.cell.job;
            let fresh = job.spares.pop().map(|mut spare| {
                spare.interval = interval;
                spare
            });
            let fresh = fresh.unwrap_or_else(|| new_cell(index, interval, job.statements));
            let full = std::mem::replace(&mut job.cell, fresh);
            self.outlet.deliver(Delivery::Cell(full));
        }
        self.hand_over_late();
        if let Some(ops) = &mut self.ops {
            ops.hand_over();
        }
        self.present = interval;
    }

    fn hand_over_late_if_full(&mut self) {
        if self.late.is_full() {
            self.take_back();
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

    fn take_back(&mut self) {
        while let Some(returned) = self.outlet.returned() {
            match returned {
                Returned::Cell(cell) => self.jobs[usize::from(cell.job.0)].spares.push(cell),
                Returned::Late(batch) => self.spare_late.push(batch),
            }
        }
    }
}

/// How many of a job's statements failed in a request: those that were passed over, and the one
/// that ended it.
fn failed_statements(outcome: &Outcome, answers: &[Nanos], of: u16) -> u32 {
    if !matches!(outcome, Outcome::Failed(_)) {
        return 0;
    }
    let passed_over = answers.iter().filter(|service| **service == UNANSWERED).count() as u32;
    let is_cut_short = answers.len() < usize::from(of);
    (passed_over + u32::from(is_cut_short)).max(1)
}

fn new_cell(job: JobIndex, interval: Interval, statements: u16) -> Box<Cell> {
    Box::new(Cell { job, interval, tally: Tally::new(statements) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Balance;
    use crate::totals::{MemoryOutlet, Totals};

    const JOB: JobIndex = JobIndex(0);
    const MS: u64 = 1_000_000;

    fn ledger() -> (Ledger<MemoryOutlet>, MemoryOutlet) {
        let grid = Grid::new(Nanos::from_secs(1), Some(Nanos::from_secs(10)));
        let outlet = MemoryOutlet::new(Totals::new(grid, &[1]));
        (Ledger::new(0, Stamp(5_000 * MS), grid, &[1], outlet.clone()), outlet)
    }

    /// A request meant for `intended` and answered at `done`, in ms after time zero.
    fn request(ledger: &mut Ledger<MemoryOutlet>, intended: u64, done: u64) {
        let at = |ms: u64| Stamp((5_000 + ms) * MS);
        let request = ledger.arrive(JOB, 0, at(intended), at(intended));
        let dispatch = Dispatch { assigned: at(intended), sent: at(intended) };
        let service = [Nanos::from_millis(done - intended)];
        let Settled(()) = ledger.settle(
            request,
            Ending {
                outcome: Outcome::Completed,
                sent: Some(dispatch),
                done: at(done),
                effort: Effort { rows: 1, ..Effort::default() },
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
        let job = totals.job(JOB);
        let arrivals: Vec<u64> = job.intervals.iter().map(|(c, _)| c.arrivals).collect();
        let completed: Vec<u64> =
            job.intervals.iter().map(|(c, _)| c.balance.completed()).collect();
        let ended: Vec<u64> = job.intervals.iter().map(|(_, e)| e.completed).collect();
        assert_eq!(arrivals, [1, 1, 0, 0, 1]);
        assert_eq!(completed, [1, 1, 0, 0, 1]);
        assert_eq!(ended, [1, 0, 0, 0, 2]);
        assert_eq!(job.window.counts.balance, Balance::of(2, 0, 0, 0));
        assert_eq!(job.window.ends.completed, 2);
        assert_eq!(job.window.histograms.of(crate::Kind::Statement(0)).len(), 2);
        assert_eq!(job.window.histograms.of(crate::Kind::Response).max() / MS, 2_300);
    }

    #[test]
    fn what_ends_after_the_schedule_does_not_count_in_its_last_interval() {
        let (mut ledger, outlet) = ledger();
        ledger.end_at(Stamp((5_000 + 2_500) * MS));
        request(&mut ledger, 2_100, 2_499);
        request(&mut ledger, 2_200, 2_500);
        request(&mut ledger, 2_300, 2_700);
        ledger.finish();
        let totals = outlet.totals();
        let intervals = &totals.job(JOB).intervals;
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
        assert_eq!(outlet.totals().job(JOB).intervals[0].0.balance.completed(), 5_000);
        assert_eq!(outlet.totals().job(JOB).intervals[0].0.open(), 0);
        assert_eq!(outlet.totals().job(JOB).intervals[3].1.completed, 5_001);
    }

    #[test]
    fn what_was_never_sent_is_counted_too() {
        let (mut ledger, outlet) = ledger();
        for (number, outcome) in [(0, Outcome::Rejected), (1, Outcome::Unsent)] {
            let at = Stamp(7_000 * MS);
            let request = ledger.arrive(JOB, number, at, at);
            assert_eq!((request.number(), request.intended()), (number, at));
            let Settled(()) =
                ledger.settle(request, Ending::without_sending(outcome, at + Nanos(9)));
        }
        ledger.finish();
        let totals = outlet.totals();
        assert_eq!(totals.job(JOB).window.counts.balance, Balance::of(0, 0, 1, 1));
        assert_eq!(totals.job(JOB).window.histograms.of(crate::Kind::Response).len(), 1);
    }

    /// Notes the intervals whose gauges are handed over.
    struct Turns<'a>(&'a mut Vec<Interval>);

    impl Outlet for Turns<'_> {
        fn deliver(&mut self, delivery: Delivery) {
            if let Delivery::Gauges { interval, .. } = delivery {
                self.0.push(interval);
            }
        }

        fn returned(&mut self) -> Option<Returned> {
            None
        }

        fn is_broken(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_turn_is_about_the_interval_that_has_ended() {
        let mut turns = Vec::new();
        let grid = Grid::new(Nanos::from_secs(1), None);
        let mut ledger = Ledger::new(0, Stamp(0), grid, &[0], Turns(&mut turns));
        for millis in [400, 1_000, 2_001] {
            ledger.turn(Stamp(millis * MS), Vec::new);
        }
        ledger.finish();
        assert_eq!(turns, [0, 1]);
    }

    #[test]
    fn cells_make_a_round_and_are_used_again() {
        let (mut ledger, _outlet) = ledger();
        for second in 0..9 {
            request(&mut ledger, second * 1_000, second * 1_000 + 1);
        }
        // One cell is being filled, and the one before it has come back.
        ledger.take_back();
        assert_eq!(ledger.jobs[0].spares.len(), 1);
    }
}
