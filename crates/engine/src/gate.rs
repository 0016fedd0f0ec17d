//! The gate of one job on one lane: passes arrivals from the schedule to the clients.
//!
//! Requests that are due wait here in order; idle clients wait on a stack, the last one used on
//! top. The gate is plain data: it awaits nothing and reads no clock.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use base::units::grouped;
use base::{AccountId, Class, Code, Nanos, Stamp};
use record::{EventKind, Failure, Ledger, Outcome, Outlet, RequestEnd};
use workload::PartId;

use crate::client_handle::{ClientHandle, DueRequest, Instruction};
use crate::feed::{self, Feeds, Input};
use crate::pacer::{Arrival, Times};
use crate::parts::Parts;

/// Number of requests that one call of `notice` opens before it returns: about a tenth of a
/// millisecond of work.
const REQUESTS_PER_CALL: u64 = 4_096;

/// Time between two attempts to take input from a file that has none yet.
pub(crate) const FILE_RETRY: Nanos = Nanos::from_millis(1);

/// The constant settings of a gate.
pub(crate) struct GateSettings {
    pub(crate) job: AccountId,
    /// Requests per arrival.
    pub(crate) batch: u32,
    /// The maximum number of waiting requests.
    pub(crate) limit: usize,
    /// True if requests beyond the limit stay in the schedule until there is room, instead of being
    /// rejected.
    pub(crate) holds_back: bool,
    /// True if the first request beyond the limit ends the run.
    pub(crate) ends_run: bool,
    /// Time zero of the run.
    pub(crate) zero: Stamp,
}

/// The gate of one job on one lane.
pub(crate) struct Gate {
    settings: GateSettings,
    times: Times,
    parts: Arc<Parts>,
    feeds: Feeds,
    /// The next arrival, unless it waits for its file.
    next: Option<DueArrival>,
    file_wait: Option<FileWait>,
    /// End of the schedule.
    end: Stamp,
    /// Requests that wait for a client, in order.
    waiting: VecDeque<DueRequest>,
    /// Clients without a request, as a stack: the last client gets the next request.
    idle: Vec<Rc<ClientHandle>>,
    /// True if a request was rejected because too many waited.
    was_full: bool,
    /// Last time at which so many requests waited that further arrivals were held back.
    full_until: Stamp,
    /// Time at which the previous arrival was noticed.
    last_noticed: Option<Stamp>,
}

/// An arrival with the input of its requests.
struct DueArrival {
    arrival: Arrival,
    input: Option<Input>,
}

/// A state in which the next arrival waits for its file.
struct FileWait {
    /// The arrival; `None` if its time comes from the file as well.
    arrival: Option<Arrival>,
    /// Time at which to try the file again.
    retry_at: Stamp,
}

impl Gate {
    /// Creates a gate that opens at `now`, which is time zero of its lane or earlier.
    pub(crate) fn new(
        settings: GateSettings,
        times: Times,
        parts: Arc<Parts>,
        feeds: Feeds,
        now: Stamp,
    ) -> Gate {
        let mut gate = Gate {
            settings,
            times,
            parts,
            feeds,
            next: None,
            file_wait: None,
            end: Stamp::NEVER,
            waiting: VecDeque::new(),
            idle: Vec::new(),
            was_full: false,
            full_until: Stamp::ZERO,
            last_noticed: None,
        };
        gate.advance(now);
        gate
    }

    /// Returns the time at which the next arrival is due or its file is to be tried again;
    /// [`Stamp::NEVER`] when the schedule is over.
    pub(crate) fn next_due(&self) -> Stamp {
        if self.is_held_back() {
            return Stamp::NEVER;
        }
        let due = self.next.as_ref().map(|due| self.settings.zero + due.arrival.at);
        let retry_at = self.file_wait.as_ref().map(|wait| wait.retry_at);
        due.or(retry_at).unwrap_or(Stamp::NEVER)
    }

    /// Returns true if so many requests wait that further arrivals stay in the schedule or the log.
    fn is_held_back(&self) -> bool {
        self.settings.holds_back && self.waiting.len() >= self.settings.limit
    }

    /// Ends the schedule at `end`: arrivals due then or later are dropped.
    pub(crate) fn end_at(&mut self, end: Stamp) {
        self.end = self.end.min(end);
        let is_late = |arrival: &Arrival| self.settings.zero + arrival.at >= self.end;
        if self.next.as_ref().is_some_and(|due| is_late(&due.arrival)) {
            self.next = None;
        }
        let awaited = self.file_wait.as_ref().and_then(|wait| wait.arrival.as_ref());
        if awaited.is_some_and(is_late) {
            self.file_wait = None;
        }
    }

    /// Returns true if no arrivals are left.
    pub(crate) fn has_ended(&self) -> bool {
        self.next.is_none() && self.file_wait.is_none()
    }

    /// Returns true if no arrivals are left and no requests wait.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended() && self.waiting.is_empty()
    }

    /// Returns true if the run must end because more requests arrived than may wait.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.was_full && self.settings.ends_run
    }

    /// Returns the number of requests that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the part and the reason if reading a part's file has failed. Reports each failure
    /// once.
    pub(crate) fn take_failure(&mut self) -> Option<(PartId, String)> {
        self.feeds.take_failure()
    }

    /// Determines the next arrival: its time and its input.
    fn advance(&mut self, now: Stamp) {
        let retry_at = now + FILE_RETRY;
        let known = self.file_wait.take().and_then(|wait| wait.arrival);
        let (arrival, input) = match (known, &mut self.times) {
            (Some(arrival), _) => (arrival, None),
            (None, Times::Schedule(pacer)) => match pacer.next() {
                Some(arrival) => (arrival, None),
                None => return,
            },
            (None, Times::Log(log)) => match self.feeds.next(PartId::FIRST) {
                feed::Next::Input(input) => match log.arrival(&input) {
                    Some(arrival) => (arrival, Some(input)),
                    None => return,
                },
                feed::Next::Pending => {
                    self.file_wait = Some(FileWait { arrival: None, retry_at });
                    return;
                }
                feed::Next::End => return,
            },
        };
        if input.is_some() || !self.feeds.is_any() {
            self.next = Some(DueArrival { arrival, input });
            self.end_at(self.end);
            return;
        }
        let part = self.parts.choose(arrival.number * u64::from(self.settings.batch));
        match self.feeds.next_if_any(part) {
            None => self.next = Some(DueArrival { arrival, input: None }),
            Some(feed::Next::Input(input)) => {
                self.next = Some(DueArrival { arrival, input: Some(input) });
            }
            Some(feed::Next::Pending) => {
                self.file_wait = Some(FileWait { arrival: Some(arrival), retry_at });
            }
            Some(feed::Next::End) => {}
        }
        self.end_at(self.end);
    }

    /// Opens the requests that are due at `now`, but at most [`REQUESTS_PER_CALL`]. Later calls
    /// open the others, and a lane far behind its schedule still does its other work in between.
    #[inline]
    pub(crate) fn notice(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        let mut opened = 0;
        if self.is_held_back() {
            self.full_until = now;
        }
        while self.next_due() <= now && opened < REQUESTS_PER_CALL {
            if self.file_wait.is_some() {
                self.retry_file(now, ledger);
            } else {
                self.notice_one(now, ledger);
                opened += u64::from(self.settings.batch);
            }
        }
    }

    /// Opens the requests of the next arrival.
    fn notice_one(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        let Some(DueArrival { arrival, input }) = self.next.take() else { return };
        self.advance(now);
        let GateSettings { job, batch, zero, .. } = self.settings;
        for position in 0..u64::from(batch) {
            let number = arrival.number * u64::from(batch) + position;
            let intended = zero + arrival.at;
            // A request that came due while the queue was full waited; it was not noticed late.
            let noticed = if intended <= self.full_until { intended } else { now };
            let request = ledger.arrive(job, number, intended, noticed);
            let (request, part) = self.parts.assign(request, ledger);
            self.enqueue(DueRequest { request, part, input: input.clone() }, now, ledger);
        }
        self.record_gap(arrival.at, now, ledger);
    }

    /// Records the time between the notices of two arrivals. An arrival that came due while the
    /// queue was full counts as noticed on time.
    fn record_gap(&mut self, at: Nanos, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        let intended = self.settings.zero + at;
        let noticed = if intended <= self.full_until { intended } else { now };
        if let Some(last) = self.last_noticed.replace(noticed) {
            ledger.record_gap(self.settings.job, noticed.since(last));
        }
    }

    /// Tries the file again. After the end of the schedule, gives up the arrivals that wait for the
    /// file.
    #[cold]
    fn retry_file(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        if now < self.end {
            self.advance(now);
            return;
        }
        // Arrivals that were due count as scheduled, although their file had nothing for them.
        if let Some(arrival) = self.file_wait.as_ref().and_then(|wait| wait.arrival.as_ref()) {
            let number = arrival.number * u64::from(self.settings.batch);
            let text = self.parts.part(self.parts.choose(number)).no_input_message();
            ledger.event(now, Some(self.settings.job), EventKind::FileFailed, text);
        } else if self.feeds.take_no_input(PartId::FIRST) {
            let text = self.parts.part(PartId::FIRST).no_input_message();
            ledger.event(now, Some(self.settings.job), EventKind::FileFailed, text);
        }
        self.feeds.drop_all();
        self.advance(now);
        while self.next.is_some() {
            self.notice_one(now, ledger);
            self.give_up_waiting(now, Outcome::Unsent, ledger);
        }
    }

    /// Lets a request wait, or rejects it if too many wait already.
    fn enqueue(&mut self, due: DueRequest, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        if self.waiting.len() < self.settings.limit || self.settings.holds_back {
            self.waiting.push_back(due);
            return;
        }
        if !std::mem::replace(&mut self.was_full, true) {
            let text = format!("{} requests wait", grouped(self.settings.limit as u64));
            ledger.event(now, Some(self.settings.job), EventKind::QueueFull, text);
        }
        ledger.settle(due.request, RequestEnd::without_sending(Outcome::Rejected, now));
    }

    /// Takes the request that has waited longest, if one waits.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<DueRequest> {
        self.waiting.pop_front()
    }

    /// Gives waiting requests to idle clients, and dismisses the clients when no more requests will
    /// come.
    #[inline]
    pub(crate) fn assign(&mut self, now: Stamp) {
        while !self.idle.is_empty() {
            let Some(due) = self.waiting.pop_front() else {
                break;
            };
            if let Some(handle) = self.idle.pop() {
                handle.instructions.put(Instruction::Serve(due, now));
            }
        }
        if self.is_over() {
            for handle in self.idle.drain(..) {
                handle.instructions.put(Instruction::Leave);
            }
        }
    }

    /// Registers an idle client.
    pub(crate) fn add_idle(&mut self, handle: Rc<ClientHandle>) {
        self.idle.push(handle);
    }

    /// Opens all requests that are due and settles them without sending.
    pub(crate) fn give_up(
        &mut self,
        now: Stamp,
        outcome: Outcome,
        ledger: &mut Ledger<impl Outlet>,
    ) {
        self.give_up_waiting(now, outcome, ledger);
        while self.next_due() <= now {
            self.notice(now, ledger);
            self.give_up_waiting(now, outcome, ledger);
        }
    }

    /// Fails all waiting requests, because the target refuses connections.
    pub(crate) fn refuse_waiting(
        &mut self,
        now: Stamp,
        accepted: &[Code],
        ledger: &mut Ledger<impl Outlet>,
    ) {
        let code = Code::DISCONNECT;
        let failure =
            Failure { class: Class::Disconnect, code, accepted: accepted.contains(&code) };
        self.give_up_waiting(now, Outcome::Failed(failure), ledger);
    }

    /// Settles all waiting requests without sending them.
    pub(crate) fn give_up_waiting(
        &mut self,
        now: Stamp,
        outcome: Outcome,
        ledger: &mut Ledger<impl Outlet>,
    ) {
        for due in self.waiting.drain(..) {
            ledger.settle(due.request, RequestEnd::without_sending(outcome, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Seed;
    use record::{Grid, MemoryOutlet, Totals};

    use super::*;
    use crate::pacer::Pacer;
    use crate::share::Share;

    /// Returns a gate with ten arrivals per microsecond from time zero on.
    fn gate() -> (Gate, Ledger<MemoryOutlet>, MemoryOutlet) {
        let file = "[read]\nquery = select 1\nrate = 10M\narrival = uniform\n";
        let (plan, diagnostics) = workload::plan(file, &workload::Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let settings = GateSettings {
            job: AccountId(0),
            batch: 1,
            limit: 100_000,
            holds_back: true,
            ends_run: false,
            zero: Stamp(0),
        };
        let times = Times::Schedule(Pacer::new(&plan.jobs[0], Seed(1), Share::ALL));
        let parts = Arc::new(Parts::of(&plan, workload::JobId(0), base::Dialect::Sqlite));
        let grid = Grid::new(Nanos::ZERO, Some(Nanos::from_secs(10)));
        let memory = MemoryOutlet::new(Totals::new(grid, &[1]));
        let ledger = Ledger::new(0, Stamp(0), grid, &[1], memory.clone());
        (Gate::new(settings, times, parts, Feeds::default(), Stamp(0)), ledger, memory)
    }

    /// Expects that a call opens at most [`REQUESTS_PER_CALL`] overdue requests, and that none is
    /// lost.
    #[test]
    fn overdue_arrivals_are_noticed_in_batches() {
        let (mut gate, mut ledger, memory) = gate();
        let now = Stamp(1_000_000);
        gate.end_at(now);
        gate.notice(now, &mut ledger);
        assert_eq!(gate.waiting(), REQUESTS_PER_CALL as usize);
        assert!(gate.next_due() < now, "there is more to notice");
        gate.give_up(now, Outcome::Unsent, &mut ledger);
        assert!(gate.is_over());
        ledger.finish();
        let counts = memory.totals().account(AccountId(0)).window.counts;
        assert_eq!((counts.arrivals, counts.balance.unsent()), (9_999, 9_999));
    }
}
