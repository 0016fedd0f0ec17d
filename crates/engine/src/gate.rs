//! The gate of one job on one lane, which passes arrivals from a schedule or a log to the clients.
//!
//! Requests that are due wait here in order; idle clients wait on a stack, the last one used on
//! top. The gate is plain data: it awaits nothing and reads no clock.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use base::units::grouped;
use base::{AccountId, Class, Code, Nanos, Stamp};
use record::{EventKind, Failure, Ledger, Outcome, Outlet, RequestEnd};
use workload::{OnError, PartId};

use crate::client_handle::{ClientHandle, DueRequest, Instruction};
use crate::feed::{self, Feeds, Input};
use crate::pacer::{Arrival, Times};
use crate::parts::Parts;

/// Number of requests after which a call of `notice` returns, although more are due: about a tenth
/// of a millisecond of work.
const REQUESTS_PER_CALL: u64 = 4_096;

/// Time between two attempts to take input from a file that has none yet.
pub(crate) const FILE_RETRY: Nanos = Nanos::from_millis(1);

/// Time between two attempts to take input for requests that are given up. Shorter than
/// [`FILE_RETRY`], because the end of the run waits for these requests.
const GIVE_UP_RETRY: Nanos = Nanos::from_micros(100);

/// Time, after the drain, for which a file may yield nothing before the remaining requests are
/// given up without their input.
const STALL_LIMIT: Nanos = Nanos::from_secs(1);

/// Longest time, after the drain, for which a file is read only to count the requests that are
/// given up.
const GIVE_UP_LIMIT: Nanos = Nanos::from_secs(10);

/// The constant settings of a gate.
pub(crate) struct GateSettings {
    pub(crate) job: AccountId,
    /// Requests per arrival.
    pub(crate) batch: u32,
    /// The number of waiting requests from which further requests are rejected or held back.
    pub(crate) limit: usize,
    /// True if requests beyond the limit stay in the schedule or the log until there is room,
    /// instead of being rejected.
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
    /// The next arrival, unless it waits for a file.
    next: Option<Arrival>,
    /// Inputs of the next arrival: one for each part that has a file and a request in the arrival.
    inputs: Vec<(PartId, Input)>,
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
    /// Time from which arrivals are given up as soon as they are opened; `None` before the end of
    /// the drain.
    given_up_at: Option<Stamp>,
}

/// The state of the inputs of an arrival.
enum InputState {
    /// Each request has its input, or needs none.
    Complete,
    /// The file of this part has nothing yet.
    Pending(PartId),
    /// A file has ended, and the schedule ends with it.
    Ended,
}

/// A state in which the next arrival waits for a file.
struct FileWait {
    /// The arrival; `None` if its time comes from the file as well.
    arrival: Option<Arrival>,
    /// The part that has the file.
    part: PartId,
    /// Time at which the wait began.
    since: Stamp,
    /// Time at which to try the file again.
    retry_at: Stamp,
}

impl Gate {
    /// Creates a gate, and determines its first arrival. `now` is time zero or earlier.
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
            inputs: Vec::new(),
            file_wait: None,
            end: Stamp::NEVER,
            waiting: VecDeque::new(),
            idle: Vec::new(),
            was_full: false,
            full_until: Stamp::ZERO,
            last_noticed: None,
            given_up_at: None,
        };
        gate.advance(now);
        gate
    }

    /// Returns the time at which the next arrival is due or its file is to be tried again;
    /// [`Stamp::NEVER`] if the schedule is over, or while arrivals are held back because too many
    /// requests wait.
    pub(crate) fn next_due(&self) -> Stamp {
        if self.is_held_back() {
            return Stamp::NEVER;
        }
        let due = self.next.map(|arrival| self.settings.zero + arrival.at);
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
        if self.next.as_ref().is_some_and(is_late) {
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

    /// Returns true if the run must end because more requests arrived than may wait
    /// (`on-queue-full = stop`).
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
        let wait = self.file_wait.take();
        let since = wait.as_ref().map_or(now, |wait| wait.since);
        let known = wait.and_then(|wait| wait.arrival);
        if known.is_none() {
            self.inputs.clear();
        }
        let arrival = match (known, &mut self.times) {
            (Some(arrival), _) => arrival,
            (None, Times::Schedule(pacer)) => match pacer.next() {
                Some(arrival) => arrival,
                None => return,
            },
            (None, Times::Log(log)) => match self.feeds.next(PartId::FIRST) {
                feed::Next::Input(input) => {
                    let Some(arrival) = log.arrival(&input) else { return };
                    self.inputs.push((PartId::FIRST, input));
                    arrival
                }
                feed::Next::Pending => {
                    let part = PartId::FIRST;
                    self.file_wait = Some(FileWait { arrival: None, part, since, retry_at });
                    return;
                }
                feed::Next::End => return,
            },
        };
        match self.take_inputs(arrival) {
            InputState::Complete => self.next = Some(arrival),
            InputState::Pending(part) => {
                let arrival = Some(arrival);
                self.file_wait = Some(FileWait { arrival, part, since, retry_at });
            }
            InputState::Ended => {}
        }
        self.end_at(self.end);
    }

    /// Takes the inputs that an arrival still lacks: one from the file of each part to which its
    /// requests belong.
    fn take_inputs(&mut self, arrival: Arrival) -> InputState {
        if !self.feeds.is_any() {
            return InputState::Complete;
        }
        let batch = u64::from(self.settings.batch);
        let first = arrival.number * batch;
        for number in first..first + batch {
            let part = self.parts.choose(number);
            if self.input_of(part).is_some() {
                continue;
            }
            match self.feeds.next_if_any(part) {
                None => {}
                Some(feed::Next::Input(input)) => self.inputs.push((part, input)),
                Some(feed::Next::Pending) => return InputState::Pending(part),
                Some(feed::Next::End) => return InputState::Ended,
            }
        }
        InputState::Complete
    }

    /// Returns the input that the next arrival's requests of a part share; `None` if the part has
    /// no file.
    fn input_of(&self, part: PartId) -> Option<&Input> {
        self.inputs.iter().find(|(of, _)| *of == part).map(|(_, input)| input)
    }

    /// Opens the requests that are due at `now`. After [`REQUESTS_PER_CALL`] opened requests, a
    /// call leaves further arrivals to later calls, so a lane far behind its schedule still does
    /// its other work in between.
    #[inline]
    pub(crate) fn notice(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        let mut opened = 0;
        if self.is_held_back() {
            self.full_until = now;
        }
        while self.next_due() <= now && opened < REQUESTS_PER_CALL {
            if self.file_wait.is_some() {
                opened += self.retry_file(now, ledger);
            } else {
                self.notice_one(now, ledger);
                opened += u64::from(self.settings.batch);
            }
        }
    }

    /// Opens the requests of the next arrival.
    fn notice_one(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        let Some(arrival) = self.next.take() else { return };
        let GateSettings { job, batch, zero, .. } = self.settings;
        for position in 0..u64::from(batch) {
            let number = arrival.number * u64::from(batch) + position;
            let intended = zero + arrival.at;
            // If a request came due while the queue was full, it counts as noticed on time: its
            // delay is wait, not send lag.
            let noticed = if intended <= self.full_until { intended } else { now };
            let request = ledger.arrive(job, number, intended, noticed);
            let (request, part) = self.parts.assign(request, ledger);
            let input = self.input_of(part).cloned();
            self.enqueue(DueRequest { request, part, input }, now, ledger);
        }
        self.advance(now);
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

    /// Tries again to take input for the next arrival. Returns the number of requests that were
    /// opened and given up.
    #[cold]
    fn retry_file(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) -> u64 {
        let part = self.file_wait.as_ref().map_or(PartId::FIRST, |wait| wait.part);
        self.advance(now);
        if self.file_wait.is_some() && now >= self.end && self.feeds.is_any() {
            self.drop_slow_files(now, ledger);
        }
        // During the drain, clients serve even arrivals whose input comes after the end.
        match self.gives_up() || !self.feeds.is_any() {
            true => self.give_up_due(part, now, ledger),
            false => 0,
        }
    }

    /// Drops the feeds of all files if the file for which the next arrival waits is too slow.
    /// Called only at or after the end of the schedule. Reports a file that had no input for
    /// requests that were due, or a log that was not read to its end. Arrivals that were due before
    /// the end of the schedule count as scheduled, although there is no input for them; unread
    /// lines of a log do not count.
    fn drop_slow_files(&mut self, now: Stamp, ledger: &mut Ledger<impl Outlet>) {
        let Some(FileWait { arrival, part, since, .. }) = self.file_wait else { return };
        // A wait that began after the end of the schedule does not mean that the file is slow:
        // arrivals that were held back are then given up faster than any file can be read.
        let was_late = since < self.end;
        let lasts = |limit: Nanos, since: Stamp| {
            self.given_up_at.is_some_and(|given_up_at| now.since(given_up_at.max(since)) >= limit)
        };
        let is_limit_reached = lasts(GIVE_UP_LIMIT, Stamp::ZERO);
        if !was_late && !is_limit_reached && !lasts(STALL_LIMIT, since) {
            return;
        }
        // A log whose lines so far were all taken may have no more lines, so it is reported only
        // after the limit.
        let settings = self.parts.part(part);
        let text = match (was_late && arrival.is_some()) || self.feeds.take_no_input(part) {
            true => Some(settings.no_input_message()),
            false if is_limit_reached && arrival.is_none() => Some(settings.unread_message()),
            false => None,
        };
        if let Some(text) = text {
            ledger.event(now, Some(self.settings.job), EventKind::FileFailed, text);
        }
        self.read_no_further();
        self.advance(now);
    }

    /// Returns true if arrivals are given up as soon as they are opened.
    pub(crate) fn gives_up(&self) -> bool {
        self.given_up_at.is_some()
    }

    /// Drops the feeds of all files. Arrivals of a schedule that were due before its end still
    /// count as scheduled, although there is no input for them; unread lines of a log do not count.
    pub(crate) fn read_no_further(&mut self) {
        self.feeds.drop_all();
    }

    /// Opens the requests of the next arrivals, which waited for the file of `part`, and settles
    /// the requests without sending them. After [`REQUESTS_PER_CALL`] opened requests, a call
    /// leaves further arrivals to later calls. Returns the number of opened requests.
    fn give_up_due(&mut self, part: PartId, now: Stamp, ledger: &mut Ledger<impl Outlet>) -> u64 {
        let mut opened = 0;
        while self.next.is_some() && opened < REQUESTS_PER_CALL {
            self.notice_one(now, ledger);
            self.give_up_waiting(now, Outcome::Unsent, ledger);
            opened += u64::from(self.settings.batch);
        }
        if let Some(wait) = &mut self.file_wait {
            wait.retry_at = now + GIVE_UP_RETRY;
        }
        // A later call must give up the next arrival too, and not let it wait for a client.
        if let Some(arrival) = self.next.take() {
            let arrival = Some(arrival);
            self.file_wait = Some(FileWait { arrival, part, since: now, retry_at: now });
        }
        opened
    }

    /// Lets a request wait, or rejects it if too many wait already and the gate does not hold
    /// arrivals back.
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

    /// Gives waiting requests to idle clients, and dismisses the idle clients when no more requests
    /// will come.
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

    /// Settles all requests that wait or are due, without sending them. Requests without their
    /// input from a file follow when [`Gate::notice`] is called later.
    pub(crate) fn give_up(
        &mut self,
        now: Stamp,
        outcome: Outcome,
        ledger: &mut Ledger<impl Outlet>,
    ) {
        self.given_up_at.get_or_insert(now);
        self.give_up_waiting(now, outcome, ledger);
        while self.next_due() <= now {
            self.notice(now, ledger);
            self.give_up_waiting(now, outcome, ledger);
        }
    }

    /// Settles all waiting requests as failed, because the target refuses connections. Returns the
    /// part of the first request whose error ends the run; `None` if no error does.
    pub(crate) fn refuse_waiting(
        &mut self,
        now: Stamp,
        ledger: &mut Ledger<impl Outlet>,
    ) -> Option<PartId> {
        let code = Code::DISCONNECT;
        let mut stopping = None;
        for due in self.waiting.drain(..) {
            let requests = &self.parts.part(due.part).requests;
            let accepted = requests.accepted.contains(&code);
            if !accepted && requests.on_error == OnError::Stop {
                stopping.get_or_insert(due.part);
            }
            let outcome = Outcome::Failed(Failure { class: Class::Disconnect, code, accepted });
            ledger.settle(due.request, RequestEnd::without_sending(outcome, now));
        }
        stopping
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
    use std::path::Path;

    use base::Seed;
    use record::{Grid, MemoryOutlet, Totals};

    use super::*;
    use crate::events::{Listener, NoListener};
    use crate::feed::InputFiles;
    use crate::pacer::{LogTimes, Pacer};
    use crate::share::Share;
    use crate::stop::Stop;

    /// Returns a gate for the first job of a workload file, with the input files in `folder`. The
    /// gate waits for input, as in virtual time.
    fn gate(file: &str, folder: &Path) -> (Gate, Ledger<MemoryOutlet>, MemoryOutlet) {
        gate_in_time(file, folder, Some(&Stop::default()))
    }

    fn gate_in_time(
        file: &str,
        folder: &Path,
        virtual_stop: Option<&Stop>,
    ) -> (Gate, Ledger<MemoryOutlet>, MemoryOutlet) {
        let (plan, diagnostics) = workload::plan(file, &workload::Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let settings = GateSettings {
            job: AccountId(0),
            batch: plan.jobs[0].arrivals().map_or(1, |(_, batch)| batch),
            limit: 100_000,
            holds_back: true,
            ends_run: false,
            zero: Stamp(0),
        };
        let times = match plan.jobs[0].arrivals() {
            Some(_) => Times::Schedule(Pacer::new(&plan.jobs[0], Seed(1), Share::ALL)),
            None => Times::Log(LogTimes::new(&plan.jobs[0])),
        };
        let parts = Arc::new(Parts::of(&plan, workload::JobId(0), base::Dialect::Sqlite));
        let listener: Arc<dyn Listener> = Arc::new(NoListener);
        let files = InputFiles::open(&plan, &folder.into(), 1, virtual_stop, &listener);
        let mut of_lane = files.expect("threads start").take(0);
        let feeds = Feeds::new(parts.all().map(|part| of_lane[part.account].take()).collect());
        let grid = Grid::new(Nanos::ZERO, Some(Nanos::from_secs(10)));
        let statements: Vec<u16> =
            plan.jobs_and_parts().map(|either| either.requests().statements.len() as u16).collect();
        let memory = MemoryOutlet::new(Totals::new(grid, &statements));
        let ledger = Ledger::new(0, Stamp(0), grid, &statements, memory.clone());
        (Gate::new(settings, times, parts, feeds, Stamp(0)), ledger, memory)
    }

    /// Expects that a call opens at most [`REQUESTS_PER_CALL`] overdue requests, and that none is
    /// lost.
    #[test]
    fn overdue_arrivals_are_noticed_in_batches() {
        // Ten arrivals per microsecond from time zero on.
        let file = "[read]\nquery = select 1\nrate = 10M\narrival = uniform\n";
        let (mut gate, mut ledger, memory) = gate(file, Path::new(""));
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

    /// End of the schedule in the tests of [`waiting_gate`].
    const END: Stamp = Stamp(2_000_000);

    const ROWS: &str = "[read]\nquery = a ?\nquery-args-file = in\nrate = 1M\narrival = uniform\n";

    /// Returns `count` rows or log lines. `line` gets the number of each, and long text with which
    /// a lane is faster than the reading thread.
    fn lines(count: usize, line: impl Fn(usize, &str) -> String) -> String {
        (0..count).map(|number| line(number, &"x".repeat(4_000))).collect()
    }

    /// Returns a gate whose input is `text` and whose next arrival has waited for it since [`END`].
    fn waiting_gate(file: &str, text: &str) -> (Gate, Ledger<MemoryOutlet>, MemoryOutlet) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("in"), text).expect("a file");
        let (mut gate, ledger, memory) = gate_in_time(file, folder.path(), None);
        while gate.file_wait.is_some() {
            std::thread::yield_now();
            gate.advance(Stamp(0));
        }
        gate.end_at(END);
        let arrival = gate.next.take();
        let part = PartId::FIRST;
        gate.file_wait = Some(FileWait { arrival, part, since: END, retry_at: END });
        (gate, ledger, memory)
    }

    /// Expects as many unsent requests as were due and had input, however late the input was read.
    /// The file is not reported as slow: a lane gives arrivals up faster than any file is read.
    #[test]
    fn arrivals_that_are_given_up_end_with_their_file() {
        let row = |_: usize, text: &str| format!("{text}\n");
        let line = |number: usize, text: &str| format!("{number},select '{text}'\n");
        let log = "[read]\nquery-log-file = in\n";
        for (file, text, expected) in [
            (ROWS, lines(1_000, row), 1_000),
            (ROWS, lines(3_000, row), 1_999),
            (log, lines(1_000, line), 1_000),
            (log, lines(3_000, line), 2_000),
        ] {
            let (mut gate, mut ledger, memory) = waiting_gate(file, &text);
            gate.give_up(END, Outcome::Unsent, &mut ledger);
            // The time stands still: a busy machine is not a file that stalls.
            while gate.file_wait.is_some() {
                std::thread::yield_now();
                gate.retry_file(END, &mut ledger);
            }
            assert!(gate.is_over());
            ledger.finish();
            let totals = memory.totals();
            let unsent = totals.account(AccountId(0)).window.counts.balance.unsent();
            assert_eq!(unsent, expected, "{file}");
            assert!(totals.events.is_empty(), "{:?}", totals.events);
        }
    }

    #[test]
    fn input_that_comes_after_the_end_is_served_during_the_drain() {
        let (mut gate, mut ledger, _) = waiting_gate(ROWS, &lines(10, |_, _| "x\n".to_owned()));
        gate.notice(END, &mut ledger);
        assert!(gate.waiting() > 0);
        gate.give_up_waiting(END, Outcome::Unsent, &mut ledger);
    }

    /// Expects all requests that were due to count, although the file has input for ten only.
    #[test]
    fn file_that_stalls_after_the_end_is_read_no_further() {
        let (mut gate, mut ledger, memory) =
            waiting_gate(ROWS, &lines(10, |_, _| "x\n".to_owned()));
        gate.given_up_at = Some(END);
        gate.drop_slow_files(END + Nanos(STALL_LIMIT.0 - 1), &mut ledger);
        assert!(gate.feeds.is_any());
        gate.drop_slow_files(END + STALL_LIMIT, &mut ledger);
        assert!(!gate.feeds.is_any());
        gate.give_up_due(PartId::FIRST, END + STALL_LIMIT, &mut ledger);
        assert!(gate.is_over());
        ledger.finish();
        let totals = memory.totals();
        assert_eq!(totals.account(AccountId(0)).window.counts.balance.unsent(), 1_999);
        assert!(totals.events.is_empty(), "{:?}", totals.events);
    }

    /// Expects a log that is read for too long to be reported, because its other lines do not
    /// count.
    #[test]
    fn log_that_is_not_read_to_its_end_is_reported() {
        let text = lines(10, |number, _| format!("{number},select 1\n"));
        let (mut gate, mut ledger, memory) = waiting_gate("[read]\nquery-log-file = in\n", &text);
        gate.given_up_at = Some(END);
        gate.file_wait =
            Some(FileWait { arrival: None, part: PartId::FIRST, since: END, retry_at: END });
        gate.drop_slow_files(END + GIVE_UP_LIMIT, &mut ledger);
        assert!(!gate.feeds.is_any());
        ledger.finish();
        let totals = memory.totals();
        let [event] = &totals.events[..] else { panic!("{:?}", totals.events) };
        assert!(event.text.contains("was not read to the last line"), "{}", event.text);
    }

    /// Expects input that has come meanwhile to be taken before its file is judged.
    #[test]
    fn file_is_not_slow_if_its_input_came_before_the_end() {
        let (mut gate, mut ledger, memory) = waiting_gate(ROWS, &lines(5, |_, _| "x\n".to_owned()));
        let arrival = gate.file_wait.take().and_then(|wait| wait.arrival);
        let since = Stamp(END.0 - 1);
        gate.file_wait = Some(FileWait { arrival, part: PartId::FIRST, since, retry_at: END });
        gate.give_up(END, Outcome::Unsent, &mut ledger);
        while gate.file_wait.is_some() {
            std::thread::yield_now();
            gate.retry_file(END, &mut ledger);
        }
        ledger.finish();
        let totals = memory.totals();
        assert_eq!(totals.account(AccountId(0)).window.counts.balance.unsent(), 5);
        assert!(totals.events.is_empty(), "{:?}", totals.events);
    }

    #[test]
    fn file_is_read_no_further_if_the_run_ends_at_once() {
        let text = lines(3_000, |_, text| format!("{text}\n"));
        let (mut gate, mut ledger, memory) = waiting_gate(ROWS, &text);
        assert!(!gate.gives_up());
        gate.give_up(END, Outcome::Unsent, &mut ledger);
        assert!(gate.gives_up());
        gate.read_no_further();
        gate.give_up(END + GIVE_UP_RETRY, Outcome::Unsent, &mut ledger);
        assert!(gate.is_over());
        ledger.finish();
        let totals = memory.totals();
        assert_eq!(totals.account(AccountId(0)).window.counts.balance.unsent(), 1_999);
    }

    /// Expects the rest of a long file to be counted in portions, none of which a client gets.
    #[test]
    fn arrivals_that_are_given_up_leave_time_for_other_tasks() {
        let file = ROWS.replace("1M", "10M");
        let (mut gate, mut ledger, _) = waiting_gate(&file, &lines(10, |_, _| "x\n".to_owned()));
        gate.feeds.drop_all();
        assert_eq!(gate.retry_file(END, &mut ledger), REQUESTS_PER_CALL);
        assert_eq!((gate.next_due(), gate.waiting()), (END, 0));
        gate.give_up(END, Outcome::Unsent, &mut ledger);
        assert!(gate.is_over());
    }

    const MIX: &str = "[mix]\nmix = a, b, c\nevery = 1s\nbatch-size = 50\n\
                       [a]\nquery = a ?\nquery-args-file = a.csv\n\
                       [b]\nquery = b ?\nquery-args-file = b.csv\n[c]\nquery = c\n";

    /// Expects the requests of one part in a batch to share a record, and the mix to end with the
    /// first file that has no more.
    #[test]
    fn requests_of_a_batch_take_records_of_their_own_part() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, records) in [("a.csv", "a0\na1\na2\n"), ("b.csv", "b0\nb1\nb2\nb3\n")] {
            std::fs::write(folder.path().join(name), records).expect("a file");
        }
        let (mut gate, mut ledger, _) = gate(MIX, folder.path());
        let now = Stamp(9_000_000_000);
        gate.notice(now, &mut ledger);
        assert_eq!(gate.waiting(), 150);
        while let Some(due) = gate.take() {
            let batch = due.request.number() / 50;
            let expected = ["a", "b"].get(due.part.index()).map(|name| format!("{name}{batch}"));
            let record = due.input.as_ref().and_then(|input| input.group().record(0));
            let field = record.and_then(|record| record.field(0));
            assert_eq!(field, expected.as_deref(), "{:?} in batch {batch}", due.part);
            ledger.settle(due.request, RequestEnd::without_sending(Outcome::Unsent, now));
        }
        assert!(gate.is_over());
    }
}
