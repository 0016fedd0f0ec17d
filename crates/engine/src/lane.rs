//! A lane: one thread's part of a run.
//!
//! A lane opens its connections, waits for the common time zero, starts its clients and the
//! dispatchers of its gates, and closes an interval of its ledger each second. At the end of the
//! schedule nothing new starts, queued and in-flight requests drain, and the rest is given up when
//! the drain is over.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::{Class, Clock, Dialect, Nanos, Stamp, WallTime};
use driver::{Connection, Driver, Error};
use record::{EventKind, FileHealth, Grid, JobIndex, Ledger, Outcome, Outlet};
use rt::{Rt, Task, Timer};
use workload::{Generator, Job, JobTarget, OnOutage, OnQueueFull, Pacing, Plan};

use crate::client::Client;
use crate::feed::{Feeds, Files, LaneFeed};
use crate::gate::{Gate, Seat, Settings};
use crate::job_state::JobState;
use crate::link::{AT_ONCE, Change, Link};
use crate::news::Listener;
use crate::nodes::{first_node_entry, node_entries};
use crate::opening::{self, Opened};
use crate::pacer::{LogTimes, Pacer, Share, Times};
use crate::panics::{PanicGuard, in_words as panic_in_words};
use crate::parts::{Parts, Text};
use crate::reconnect::BackOff;
use crate::results::Hands;
use crate::rules::Rules;
use crate::stop::{Reason, Stop};
use crate::targets::{Drivers, PerTarget, in_words};

/// Interval at which a lane checks for a stop request and other outside events.
pub(crate) const HOUSEKEEPING: Nanos = Nanos::from_millis(50);

/// Time between the announcement and the end of the schedule of a run that is stopped. Longer than
/// [`HOUSEKEEPING`], to let all lanes end at the same instant.
const NOTICE: Nanos = Nanos::from_millis(60);

/// Pause of a client whose session the database refused for a reason of its own.
const PAUSE_AFTER_REFUSAL: Nanos = Nanos::from_secs(1);

/// A lane's outlet for its part of the record.
pub type LaneOutlet = Box<dyn Outlet + Send>;

/// The context that all lanes of a run share.
#[derive(Clone)]
pub(crate) struct Common<D> {
    pub(crate) plan: Arc<Plan>,
    pub(crate) drivers: Drivers<D>,
    pub(crate) started: WallTime,
    pub(crate) feeds: Files,
    pub(crate) stop: Stop,
    pub(crate) listener: Arc<dyn Listener>,
    /// Health of the files that jobs read and write.
    pub(crate) files: FileHealth,
    /// True if the server's statistics could be read before the lanes began.
    pub(crate) has_server_stats: Arc<AtomicBool>,
}

/// The outlets of a lane.
pub(crate) struct Outlets {
    /// Its part of the record.
    pub(crate) record: LaneOutlet,
    /// The rows that its jobs' statements return.
    pub(crate) results: Hands,
}

pub(crate) struct Lane<D, R> {
    pub(crate) rt: Rt,
    common: Common<D>,
    pub(crate) zero: Stamp,
    pub(crate) stop: Stop,
    pub(crate) ledger: RefCell<Ledger<LaneOutlet>>,
    links: PerTarget<Link>,
    /// Instant at which queued and in-flight requests are given up.
    pub(crate) give_up_at: Cell<Stamp>,
    crews: Vec<Rc<JobState>>,
    share: Share,
    clients: Cell<usize>,
    /// Instant at which the last client left.
    left_at: Cell<Stamp>,
    tasks: RefCell<Vec<Task<()>>>,
    /// Wakes the lane's own task.
    alarm: Timer,
    /// Message of the first task that panicked.
    panic: RefCell<Option<String>>,
    /// True if the queues were reset; used only under rules other than the honest ones.
    has_reset: Cell<bool>,
    rules: PhantomData<R>,
}

/// The outcome of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Time zero.
    pub(crate) zero: Stamp,
    /// End of its schedule, since time zero.
    pub(crate) at: Nanos,
    /// The state of the connection path to each target.
    pub(crate) target_states: Vec<TargetState>,
    /// Message of the first of its tasks that panicked, if one did.
    pub(crate) panic: Option<String>,
}

/// The state of the connection path to one target at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetState {
    pub(crate) target: JobTarget,
    /// Beginning of the outage that was still going on, if there was one.
    pub(crate) lost_since: Option<Stamp>,
    /// Instant at which the target last answered a request or accepted a client; time zero if
    /// never.
    pub(crate) answered_at: Stamp,
}

impl<D: Driver, R: Rules> Lane<D, R> {
    /// Runs a lane from time zero to its end.
    pub(crate) async fn run(
        rt: Rt,
        common: Common<D>,
        share: Share,
        zero: Stamp,
        outlets: Outlets,
        opened: Opened<D>,
    ) -> Ended {
        let lane = Lane::<D, R>::assemble(rt, common, share, zero, outlets);
        let lane = Rc::new(lane);
        for (place, connections) in opened.connections.into_iter().enumerate() {
            lane.start(place, connections);
            lane.crews[place].close_results_if_over();
        }
        for (job, error) in &opened.limited {
            lane.note_connection_limit(&lane.crews[usize::from(job.0)], error);
        }
        let end = lane.watch().await;
        lane.drain(end).await;
        match Rc::into_inner(lane) {
            Some(lane) => lane.finish(end),
            None => unreachable!("every task of the lane has ended"),
        }
    }

    fn assemble(
        rt: Rt,
        common: Common<D>,
        share: Share,
        zero: Stamp,
        outlets: Outlets,
    ) -> Lane<D, R> {
        let plan = Arc::clone(&common.plan);
        let grid = Grid::new(plan.warmup.known(), plan.duration);
        let statements: Vec<u16> =
            plan.jobs.iter().map(|job| job.statements.len() as u16).collect();
        let accounts = node_entries(&plan, &common.drivers);
        let statements = [statements, vec![0; accounts.len()]].concat();
        let mut files = common.feeds.take(share.lane);
        let mut hands = outlets.results;
        let crews = (0..plan.jobs.len())
            .map(|place| {
                let first_node = first_node_entry(&plan, &accounts, place);
                let files = (files.as_mut_slice(), &mut hands);
                JobState { first_node, ..job_state(&rt, &common, share, zero, place, files) }
            })
            .map(Rc::new)
            .collect();
        let servers = |target| common.drivers.of(target).nodes().len();
        let link = |target| Ok::<_, Infallible>(Link::new(zero, servers(target)));
        let Ok(links) = PerTarget::of_plan(&plan, link);
        Lane {
            zero,
            stop: common.stop.clone(),
            ledger: RefCell::new(Ledger::new(share.lane, zero, grid, &statements, outlets.record)),
            links,
            give_up_at: Cell::new(Stamp::NEVER),
            crews,
            share,
            clients: Cell::new(0),
            left_at: Cell::new(zero),
            tasks: RefCell::new(Vec::new()),
            alarm: rt.timer(),
            rt,
            common,
            panic: RefCell::new(None),
            has_reset: Cell::new(false),
            rules: PhantomData,
        }
    }

    /// Starts a job's clients, on their connections if the job keeps connections, and the
    /// dispatcher of its arrivals.
    fn start(self: &Rc<Self>, place: usize, connections: Vec<(u32, D::Connection)>) {
        let job_state = &self.crews[place];
        for (client, connection) in connections {
            job_state.connected.set(job_state.connected.get() + 1);
            self.add_client(job_state, client, Some(connection));
        }
        if !job_state.keeps_connections() {
            for client in opening::clients(&self.common.plan, place, self.share) {
                self.add_client(job_state, client, None);
            }
        }
        if job_state.gate.is_some() {
            let (lane, job_state) = (Rc::clone(self), Rc::clone(job_state));
            self.begin(async move { lane.dispatch(&job_state).await }, |lane| {
                lane.stop.note_panic()
            });
        }
    }

    fn add_client(
        self: &Rc<Self>,
        job_state: &Rc<JobState>,
        number: u32,
        connection: Option<D::Connection>,
    ) {
        let seat = Rc::new(Seat::new(&self.rt));
        job_state.seats.borrow_mut().push(Rc::clone(&seat));
        job_state.clients.set(job_state.clients.get() + 1);
        self.clients.set(self.clients.get() + 1);
        let dialect = self.common.drivers.of(job_state.job.target).dialect();
        let client = Client {
            lane: Rc::clone(self),
            job_state: Rc::clone(job_state),
            seat,
            is_disconnected: false,
            back_off: BackOff::default(),
            node: connection.as_ref().map_or(0, |connection| connection.node() as u16),
            connection,
            generators: generators(job_state, self.common.started, dialect),
            part: 0,
            work: job_state.parts.part(0).work(),
            served: 0,
            results: job_state.results.borrow().clone(),
        };
        match job_state.job.pacing {
            Pacing::Closed { clients, .. } => {
                self.begin(client.serve_closed(number, clients), Lane::lose_client);
            }
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay
            | Pacing::Part { .. } => self.begin(client.serve_arrivals(), Lane::lose_client),
        }
    }

    /// Starts a task of the lane and calls `ring` if it panics.
    fn begin(
        self: &Rc<Self>,
        task: impl Future<Output = ()> + 'static,
        ring: impl Fn(&Lane<D, R>) + 'static,
    ) {
        let lane = Rc::downgrade(self);
        let task = self.rt.spawn(async move {
            let _alarm = PanicGuard::new(|| {
                if let Some(lane) = lane.upgrade() {
                    ring(&lane);
                }
            });
            task.await;
        });
        self.tasks.borrow_mut().push(task);
    }

    /// Counts out a client that panicked, because it does not leave by itself.
    fn lose_client(&self) {
        self.stop.note_panic();
        self.clients.set(self.clients.get().saturating_sub(1));
    }

    /// Notices arrivals when they are due, gives them to idle clients, and adds clients if needed.
    async fn dispatch(self: Rc<Self>, job_state: &Rc<JobState>) {
        let Some(gate) = &job_state.gate else { return };
        loop {
            job_state.due.arm(gate.borrow().next_due());
            job_state.due.fired().await;
            let now = self.rt.now();
            gate.borrow_mut().notice(now, &mut self.ledger.borrow_mut());
            self.check_files(job_state);
            self.check_full_queue(gate);
            self.refuse_without_connections(job_state);
            gate.borrow_mut().assign(now);
            self.apply_dishonest_rules(&mut gate.borrow_mut(), now);
            self.grow(job_state, gate.borrow().waiting());
            if gate.borrow().is_over() {
                return;
            }
        }
    }

    /// Drops waiting requests as a dishonest generator does; only under rules other than the honest
    /// ones.
    fn apply_dishonest_rules(&self, gate: &mut Gate, now: Stamp) {
        let window = self.zero + self.common.plan.warmup.known();
        let resets = !R::QUEUES_SURVIVE_THE_WARM_UP && now >= window && !self.has_reset.get();
        if resets || !R::MAKES_UP_MISSED_ARRIVALS {
            self.has_reset.set(now >= window);
            gate.give_up_waiting(now, Outcome::Rejected, &mut self.ledger.borrow_mut());
        }
    }

    /// Adds clients to an open job whose requests wait for a connection.
    fn grow(self: &Rc<Self>, job_state: &Rc<JobState>, waiting: usize) {
        let coming = job_state.coming() as usize;
        let room = AT_ONCE.saturating_sub(self.link(job_state).pressure());
        let more = waiting.saturating_sub(coming).min(room);
        for _ in 0..more {
            if job_state.may_grow() && !self.link(job_state).is_down() {
                self.add_client(job_state, job_state.clients.get(), None);
            }
        }
    }

    /// Returns the link to the target of a job.
    pub(crate) fn link(&self, job_state: &JobState) -> &Link {
        self.links.of(job_state.job.target)
    }

    /// Connects and prepares the job's statements.
    pub(crate) async fn connect(
        &self,
        job_state: &JobState,
    ) -> (Result<D::Connection, Error>, Change) {
        let driver = self.common.drivers.of(job_state.job.target);
        self.link(job_state).attempt(driver, &self.rt, &job_state.texts).await
    }

    /// Connects for one request and prepares its statements, without a limit and without a pause.
    pub(crate) async fn connect_at_once(
        &self,
        job_state: &JobState,
        texts: &[Text],
    ) -> Result<D::Connection, Error> {
        let driver = self.common.drivers.of(job_state.job.target);
        let link = self.link(job_state);
        let (connection, change) = link.attempt_at_once(driver, &self.rt, texts).await;
        self.note_change(change, connection.as_ref().err(), job_state);
        connection
    }

    /// Ends the run if a file of a job cannot be read to its end.
    pub(crate) fn check_files(&self, job_state: &JobState) {
        let failure = match &job_state.gate {
            Some(gate) => gate.borrow_mut().take_failure(),
            None => job_state.feeds.borrow_mut().take_failure(),
        };
        let Some((part, why)) = failure else { return };
        let part = job_state.parts.part(part);
        let file = part.job.feed.as_ref().map_or("", |feed| feed.file.as_str());
        let section = part.job.section();
        let text = format!("the file `{file}` of [{section}] could not be read to its end: {why}");
        let kind = EventKind::FileFailed;
        self.ledger.borrow_mut().event(self.rt.now(), Some(part.index), kind, text);
        self.stop.ask(Reason::FileFailed);
        self.check_stop();
    }

    /// Returns the longest stall that the plan allows.
    pub(crate) fn stall_timeout(&self) -> Nanos {
        self.common.plan.stall_timeout
    }

    /// Ends the run because a results file accepts no more rows.
    pub(crate) fn note_stalled_file(&self) {
        self.common.files.fail();
    }

    /// Records a file of a closed job that yielded nothing during the whole job.
    pub(crate) fn note_silence(&self, job_state: &JobState, part: usize) {
        if !job_state.feeds.borrow_mut().take_no_input(part) {
            return;
        }
        let part = job_state.parts.part(part);
        let (kind, text) = (EventKind::FileFailed, part.no_input_message());
        self.ledger.borrow_mut().event(self.rt.now(), Some(part.index), kind, text);
    }

    /// Fails waiting arrivals at once while the target refuses connections and the job has none
    /// left, unless the job lets them wait.
    pub(crate) fn refuse_without_connections(&self, job_state: &JobState) {
        let fail = match job_state.job.on_outage {
            OnOutage::Fail => true,
            OnOutage::Wait => false,
        };
        let is_cut_off = self.link(job_state).is_down() && job_state.connected.get() == 0;
        // Requests that open their own connections are refused by the target itself.
        let nobody = fail && is_cut_off && job_state.keeps_connections();
        if let (true, Some(gate)) = (nobody, &job_state.gate) {
            let mut ledger = self.ledger.borrow_mut();
            gate.borrow_mut().refuse_waiting(self.rt.now(), &job_state.job.accepted, &mut ledger);
        }
    }

    /// Records the effect of an attempt to connect; `why` is its error if it failed.
    pub(crate) fn note_change(&self, change: Change, why: Option<&Error>, job_state: &JobState) {
        let (kind, server, at, verb) = match change {
            Change::None => return,
            Change::StillAway => return self.note_reason(why, job_state),
            Change::OutageBegan { server, since } => {
                (EventKind::OutageBegan, server, since, "refuses connections")
            }
            Change::OutageEnded { server } => {
                (EventKind::OutageEnded, server, self.rt.now(), "accepts connections again")
            }
        };
        let mut target = in_words(&self.common.plan, job_state.job.target);
        if let Some(address) = self.common.drivers.of(job_state.job.target).nodes().get(server) {
            target = format!("{address} of {target}");
        }
        let text = match why.filter(|_| kind == EventKind::OutageBegan) {
            Some(why) => format!("{target} {verb}: {}", why.message()),
            None => format!("{target} {verb}"),
        };
        self.ledger.borrow_mut().event(at, None, kind, text);
    }

    /// Records the reason for which an unreachable server still refuses, if the reason is new.
    fn note_reason(&self, why: Option<&Error>, job_state: &JobState) {
        let why = why.filter(|error| error.class() != Class::Disconnect);
        if let Some(error) = why.filter(|error| job_state.is_news(error.code())) {
            self.note_refusal(error, job_state);
        }
    }

    fn note_refusal(&self, error: &Error, job_state: &JobState) {
        let text = format!("while reconnecting: {error}");
        let kind = EventKind::FirstError;
        self.ledger.borrow_mut().event(self.rt.now(), Some(job_state.index), kind, text);
    }

    /// Limits the job to its current connections, because the server accepts no more.
    pub(crate) fn note_connection_limit(&self, job_state: &JobState, error: &Error) {
        if job_state.most_clients.get() > job_state.connected.get() {
            job_state.most_clients.set(job_state.connected.get());
            let consequence = match job_state.job.pacing {
                Pacing::Closed { .. } => ", and clients without one send nothing",
                Pacing::Open { .. }
                | Pacing::Queue { .. }
                | Pacing::Timetable { .. }
                | Pacing::Replay
                | Pacing::Part { .. } => "",
            };
            let connections = job_state.connected.get();
            let text = format!("{connections} connections are the limit{consequence}: {error}");
            let kind = EventKind::ConnectionLimit;
            self.ledger.borrow_mut().event(self.rt.now(), Some(job_state.index), kind, text);
        }
    }

    /// Pauses after the database refused a session for a reason that may pass.
    pub(crate) async fn pause_after(&self, error: &Error, job_state: &JobState) {
        if job_state.is_news(error.code()) {
            self.note_refusal(error, job_state);
        }
        let until = (self.rt.now() + PAUSE_AFTER_REFUSAL).min(self.give_up_at.get());
        self.rt.sleep_until(until).await;
    }

    pub(crate) fn client_left(&self) {
        self.clients.set(self.clients.get() - 1);
        if self.clients.get() == 0 {
            self.left_at.set(self.rt.now());
            self.alarm.arm(self.rt.now());
        }
    }

    /// Does the lane's periodic work until the schedule is over. Returns the end of the schedule.
    async fn watch(&self) -> Stamp {
        self.stop_all_at(self.stop.end());
        let mut now = self.rt.now();
        let grid = Grid::new(self.common.plan.warmup.known(), self.common.plan.duration);
        loop {
            let interval = grid.interval(now.since(self.zero));
            let turn = self.zero + grid.end(interval);
            let end = self.stop.end();
            let horizon = self.zero + self.horizon();
            let next = if now < horizon { horizon.min(end) } else { end };
            self.alarm.arm(turn.min(now + HOUSEKEEPING).min(next));
            self.alarm.fired().await;
            now = self.rt.now();
            if now >= turn {
                self.turn(now);
            }
            if self.ledger.borrow().is_broken() {
                self.stop.ask(Reason::RecorderFailed);
            }
            if self.common.files.is_broken() {
                self.stop.ask(Reason::FileFailed);
            }
            self.check_stop();
            if now >= self.stop.end() {
                return self.stop.end();
            }
            if self.clients.get() == 0 && now >= horizon {
                return self.left_at.get().max(horizon);
            }
        }
    }

    /// Returns the time until which requests may become due without every job having made all of
    /// its requests. Early last arrivals do not end a run before that.
    fn horizon(&self) -> Nanos {
        let plan = &self.common.plan;
        let open_ended = plan.counting_jobs().filter(|place| !plan.has_fixed_request_count(*place));
        let jobs = open_ended.map(|place| &plan.jobs[place]);
        jobs.map(|job| job.stop.unwrap_or(Nanos::MAX)).max().unwrap_or(Nanos::ZERO)
    }

    fn turn(&self, now: Stamp) {
        let gauges = || self.crews.iter().map(|job_state| job_state.gauge()).collect();
        self.ledger.borrow_mut().turn(now, gauges);
    }

    /// Agrees with the other lanes on an end of the schedule if a stop was asked for.
    pub(crate) fn check_stop(&self) {
        if self.stop.is_asked() {
            let notice = if self.share.lanes == 1 { Nanos::ZERO } else { NOTICE };
            // The request that found a queue full was due before the end.
            let is_full = self.stop.reason() == Reason::QueueFull;
            self.stop.end_by(self.rt.now() + notice + Nanos(u64::from(is_full)));
            self.stop_all_at(self.stop.end());
        }
    }

    /// Ends the run if a queue is full whose job has `on-queue-full = stop`.
    fn check_full_queue(&self, gate: &RefCell<Gate>) {
        if gate.borrow().has_overflowed() && !self.stop.is_asked() {
            self.stop.ask(Reason::QueueFull);
            self.check_stop();
        }
    }

    /// Lets no request begin at `end` or later.
    fn stop_all_at(&self, end: Stamp) {
        self.ledger.borrow_mut().end_at(end);
        for job_state in &self.crews {
            let own = job_state.job.stop.map_or(Stamp::NEVER, |stop| self.zero + stop);
            job_state.end.set(end.min(own));
            if let Some(gate) = &job_state.gate {
                gate.borrow_mut().end_at(end);
            } else if self.stop.is_asked() {
                job_state.seats.borrow().iter().for_each(|seat| seat.end_pause_by(end));
            }
        }
    }

    /// Lets queued and in-flight requests finish within the plan's `drain`, then gives them up.
    async fn drain(&self, end: Stamp) {
        let mut now = self.rt.now();
        self.stop_all_at(end);
        self.give_up_at.set(end + self.common.plan.drain);
        // The dispatchers notice what was due before the end, and that the schedule is over.
        self.crews.iter().for_each(|job_state| job_state.due.arm(now));
        self.expire_all();
        while self.clients.get() > 0 && now < self.give_up_at.get() {
            self.alarm.arm((now + HOUSEKEEPING).min(self.give_up_at.get()));
            self.alarm.fired().await;
            now = self.rt.now();
            // Others may wait for the task that panicked.
            if self.stop.is_at_once() || self.stop.has_panicked() {
                self.give_up_at.set(self.give_up_at.get().min(now));
                self.expire_all();
            }
        }
        self.give_up_waiting(now);
        // An in-flight request is given up by its own client, whose timer fires at the same
        // instant.
        loop {
            let task = self.tasks.borrow_mut().pop();
            match task {
                Some(task) => {
                    if let Err(panic) = task.outcome().await {
                        self.panic.borrow_mut().get_or_insert_with(|| panic_in_words(&panic));
                    }
                }
                None => return,
            }
        }
    }

    /// Gives up everything in flight when the drain is over, at the latest.
    fn expire_all(&self) {
        for job_state in &self.crews {
            job_state.seats.borrow().iter().for_each(|seat| seat.expire_by(self.give_up_at.get()));
        }
    }

    fn give_up_waiting(&self, now: Stamp) {
        for job_state in &self.crews {
            if let Some(gate) = &job_state.gate {
                let mut gate = gate.borrow_mut();
                gate.give_up(now, Outcome::Unsent, &mut self.ledger.borrow_mut());
                gate.assign(now);
                job_state.due.arm(now);
            }
        }
    }

    fn finish(self, end: Stamp) -> Ended {
        self.turn(self.rt.now());
        if self.stop.reason() == Reason::Interrupted && self.share.lane == 0 {
            let kind = EventKind::Interrupted;
            self.ledger.borrow_mut().event(end, None, kind, "by the user".to_owned());
        }
        let target_states = self.links.iter().map(|(target, link)| TargetState {
            target,
            lost_since: link.down_since(),
            answered_at: link.answered_at(),
        });
        let target_states = target_states.collect();
        self.ledger.into_inner().finish();
        let panic = self.panic.into_inner();
        Ended { zero: self.zero, at: end.since(self.zero), target_states, panic }
    }
}

/// Returns the value generators of a client: one for each part, and for a mix one more for its
/// pauses.
fn generators(job_state: &JobState, started: WallTime, dialect: Dialect) -> Vec<Generator> {
    let parts = job_state.parts.all().iter().map(|part| &part.job);
    let pauses = (!job_state.job.mix.is_empty()).then_some(&*job_state.job);
    let made = parts.chain(pauses).map(|job| Generator::new(job, started, dialect));
    made.collect()
}

/// Makes one job's state on one lane; `files` and `hands` are those of the lane for all jobs.
fn job_state<D: Driver>(
    rt: &Rt,
    common: &Common<D>,
    share: Share,
    zero: Stamp,
    place: usize,
    (files, hands): (&mut [Option<LaneFeed>], &mut Hands),
) -> JobState {
    let plan = &common.plan;
    let job = &plan.jobs[place];
    let (parts, texts) = Parts::of(plan, place, common.drivers.of(job.target).dialect());
    let parts = Rc::new(parts);
    let own = parts.all().iter().map(|part| files[usize::from(part.index.0)].take());
    let mut feeds = Feeds::new(own.collect());
    let results = parts.all().iter().map(|part| hands[usize::from(part.index.0)].take());
    let results = RefCell::new(results.collect());
    let index = JobIndex(place as u16);
    let gate = times(common, share, index, job).map(|times| {
        let batch = job.arrivals().map_or(1, |(_, batch)| batch);
        let limit = crate::opening::queue_limit(job);
        let ends_run = matches!(job.pacing, Pacing::Queue { on_full: OnQueueFull::Stop, .. });
        let holds_back = !matches!(job.pacing, Pacing::Queue { .. });
        let settings = Settings { job: index, batch, limit, holds_back, ends_run, zero };
        let feeds = std::mem::take(&mut feeds);
        RefCell::new(Gate::new(settings, times, Rc::clone(&parts), feeds, rt.now()))
    });
    JobState {
        job: Arc::new(job.clone()),
        index,
        first_node: None,
        texts,
        parts,
        gate,
        feeds: RefCell::new(feeds),
        due: rt.timer(),
        seats: RefCell::new(Vec::new()),
        end: Cell::new(Stamp::NEVER),
        in_flight: Cell::new(0),
        connected: Cell::new(0),
        lost: Cell::new(0),
        clients: Cell::new(0),
        most_clients: Cell::new(crate::opening::most_clients(plan, job, share)),
        seen: RefCell::new(Vec::new()),
        results,
    }
}

/// Returns the arrival times that this lane serves: its share, or all of a queue that it owns.
fn times<D>(common: &Common<D>, share: Share, index: JobIndex, job: &Job) -> Option<Times> {
    let share = match job.pacing {
        Pacing::Closed { .. } | Pacing::Part { .. } => return None,
        Pacing::Replay => return Some(Times::Log(LogTimes::new(job))),
        Pacing::Queue { .. } if !share.has(index.0.into()) => return None,
        Pacing::Queue { .. } => Share::ALL,
        Pacing::Open { .. } | Pacing::Timetable { .. } => share,
    };
    Some(Times::Schedule(Pacer::new(job, common.plan.seed, share)))
}
