//! The state that the tasks of one lane share: its dispatchers and its clients.
//!
//! Dispatchers and clients both call the methods of this module, which record events, agree with
//! the other lanes on the end of the schedule, and connect. [`lane`](crate::lane) has the methods
//! that clients do not call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use base::{AccountId, ById, Class, Clock, Nanos, Stamp};
use driver::{Driver, Error};
use record::{EndKind, EventError, EventKind, Ledger, Outlet};
use rt::{Rt, Task, Timer};
use workload::{JobId, OnOutage, Pacing, PartId};

use crate::back_off::LONGEST_PAUSE;
use crate::job_state::JobState;
use crate::link::{Link, LinkChange};
use crate::panics::PanicGuard;
use crate::results::RowSinks;
use crate::run_context::RunContext;
use crate::share::Share;
use crate::statements::StatementText;
use crate::stop::Stop;
use crate::targets::{PerTarget, target_phrase};

/// Time from the moment when a lane notices a stop request to the end of the schedule, in a run
/// with several lanes. Longer than [`CHECK_INTERVAL`](crate::stop::CHECK_INTERVAL), so every lane
/// learns the end of the schedule before it comes.
const STOP_NOTICE: Nanos = Nanos::from_millis(60);

/// Pause of a client after the database refused its session for a reason that may pass.
const PAUSE_AFTER_REFUSAL: Nanos = Nanos::from_secs(1);

/// A lane's outlet for its part of the record.
pub type LaneOutlet = Box<dyn Outlet + Send>;

/// The outlets of a lane.
pub(crate) struct Outlets {
    /// Outlet for the lane's part of the record.
    pub(crate) record: LaneOutlet,
    /// Sinks for the rows that the statements of the lane's jobs return.
    pub(crate) results: RowSinks<AccountId>,
}

/// The state of one lane.
pub(crate) struct LaneState<D> {
    pub(crate) rt: Rt,
    pub(crate) context: RunContext<D>,
    /// The share of the run that this lane executes.
    pub(crate) share: Share,
    /// Time zero of the run.
    pub(crate) zero: Stamp,
    pub(crate) stop: Stop,
    pub(crate) ledger: RefCell<Ledger<LaneOutlet>>,
    /// The link to each target.
    pub(crate) links: PerTarget<Link>,
    /// The state of each job.
    pub(crate) job_states: ById<JobId, Rc<JobState>>,
    /// Instant at which waiting and in-flight requests are given up: the end of the drain.
    /// [`Stamp::NEVER`] until the schedule has ended.
    pub(crate) give_up_at: Cell<Stamp>,
    /// Number of running clients of all jobs.
    pub(crate) client_count: Cell<usize>,
    /// Instant at which the number of running clients last became 0; time zero if it never did.
    pub(crate) last_client_left_at: Cell<Stamp>,
    /// The tasks of the dispatchers and clients.
    pub(crate) tasks: RefCell<Vec<Task<()>>>,
    /// Timer that wakes the lane's own task.
    pub(crate) wakeup_timer: Timer,
    /// Message of the first task that panicked.
    pub(crate) panic: RefCell<Option<String>>,
    /// True if the queues were reset, which only the rules of a planted fault do.
    pub(crate) has_reset_queues: Cell<bool>,
}

/// Tasks and clients.
impl<D: Driver> LaneState<D> {
    /// Starts a task of the lane and calls `on_panic` if it panics.
    pub(crate) fn spawn(
        self: &Rc<Self>,
        task: impl Future<Output = ()> + 'static,
        on_panic: impl Fn(&LaneState<D>) + 'static,
    ) {
        let lane = Rc::downgrade(self);
        let task = self.rt.spawn(async move {
            let _guard = PanicGuard::new(|| {
                if let Some(lane) = lane.upgrade() {
                    on_panic(&lane);
                }
            });
            task.await;
        });
        self.tasks.borrow_mut().push(task);
    }

    /// Counts a client that begins.
    pub(crate) fn client_joined(&self) {
        self.client_count.set(self.client_count.get() + 1);
    }

    /// Stops counting a client that panicked and therefore never calls `client_left`.
    pub(crate) fn lose_client(&self) {
        self.stop.note_panic();
        self.client_count.set(self.client_count.get().saturating_sub(1));
    }

    /// Stops counting a client that leaves. The last one wakes the lane's own task.
    pub(crate) fn client_left(&self) {
        self.client_count.set(self.client_count.get() - 1);
        if self.client_count.get() == 0 {
            self.last_client_left_at.set(self.rt.now());
            self.wakeup_timer.arm(self.rt.now());
        }
    }
}

/// The end of the schedule.
impl<D: Driver> LaneState<D> {
    /// If a stop was requested, agrees with the other lanes on the end of the schedule.
    pub(crate) fn check_stop(&self) {
        if self.stop.is_requested() {
            let notice = if self.share.lanes == 1 { Nanos::ZERO } else { STOP_NOTICE };
            // If a queue is full, the end is a nanosecond later: the request that found the queue
            // full must be due before the end.
            let is_full = self.stop.reason() == EndKind::QueueFull;
            self.stop.end_by(self.rt.now() + notice + Nanos(u64::from(is_full)));
            self.stop_all_at(self.stop.end());
        }
    }

    /// Ends the schedules of the lane's jobs: no request comes due at `end` or later. Requests that
    /// came due before may still be sent. If a stop was requested, also ends the pauses of closed
    /// clients at `end`.
    pub(crate) fn stop_all_at(&self, end: Stamp) {
        self.ledger.borrow_mut().end_at(end);
        for job_state in self.job_states.values() {
            let own = job_state.job.stop.map_or(Stamp::NEVER, |stop| self.zero + stop);
            job_state.end.set(end.min(own));
            if let Some(gate) = &job_state.gate {
                gate.borrow_mut().end_at(end);
            } else if self.stop.is_requested() {
                job_state
                    .client_handles
                    .borrow()
                    .iter()
                    .for_each(|handle| handle.end_pause_by(end));
            }
        }
    }

    /// Ends the run if an input file of a job could not be read to its end, and records the reason
    /// as an event.
    pub(crate) fn check_files(&self, job_state: &JobState) {
        let failure = match &job_state.gate {
            Some(gate) => gate.borrow_mut().take_failure(),
            None => job_state.feeds.borrow_mut().take_failure(),
        };
        let Some((part, why)) = failure else { return };
        let part = job_state.parts.part(part);
        let file = part.requests.feed.as_ref().map_or("", |feed| feed.file.as_str());
        let section = &part.requests.section;
        let text = format!("the file `{file}` of [{section}] could not be read to its end: {why}");
        let kind = EventKind::FileFailed;
        self.ledger.borrow_mut().event(self.rt.now(), Some(part.account), kind, text);
        self.stop.request(EndKind::FileFailed);
        self.check_stop();
    }

    /// Records, as an event, that an input file yielded nothing until the end of its closed job.
    pub(crate) fn note_empty_file(&self, job_state: &JobState, part: PartId) {
        if !job_state.feeds.borrow_mut().take_no_input(part) {
            return;
        }
        let part = job_state.parts.part(part);
        let (kind, text) = (EventKind::FileFailed, part.no_input_message());
        self.ledger.borrow_mut().event(self.rt.now(), Some(part.account), kind, text);
    }

    /// Marks the results files as failed, because one of them accepts no more rows. This ends the
    /// run.
    pub(crate) fn note_stalled_file(&self) {
        self.context.files.fail();
    }

    /// Returns the plan's `stall-timeout`.
    pub(crate) fn stall_timeout(&self) -> Nanos {
        self.context.plan.stall_timeout
    }
}

/// Connections.
impl<D: Driver> LaneState<D> {
    /// Returns the link to the target of a job.
    pub(crate) fn link(&self, job_state: &JobState) -> &Link {
        self.links.of(job_state.job.target)
    }

    /// Connects and prepares the job's statements, once it is this attempt's turn and the pause of
    /// an outage is over. The caller records the effect of the attempt.
    pub(crate) async fn connect(
        &self,
        job_state: &JobState,
    ) -> (Result<D::Connection, Error>, LinkChange) {
        let driver = self.context.drivers.of(job_state.job.target);
        let tolerance = || self.full_server_tolerance(job_state);
        self.link(job_state).attempt(driver, &self.rt, tolerance, job_state.parts.texts()).await
    }

    /// Returns the time after which a full server counts as an outage for a job if it answers no
    /// request. A server is full if it accepts no client for lack of connections. While the job has
    /// a connection, or after its end, a full server is no outage: [`Nanos::MAX`].
    fn full_server_tolerance(&self, job_state: &JobState) -> Nanos {
        // After the end of the job, clients leave with their connections, so the lack of
        // connections says nothing about the server.
        if self.rt.now() >= job_state.end.get() {
            return Nanos::MAX;
        }
        let target = job_state.job.target;
        let of_target = self.job_states.values().filter(|other| other.job.target == target);
        let connections: u32 = of_target.map(|other| other.clients.connections()).sum();
        match (job_state.clients.connections(), connections) {
            (0, 0) if job_state.keeps_connections() => Nanos::ZERO,
            // Requests that open their own connections often find a busy server full for a moment,
            // and the job has no connection before or after them. Idle connections of other jobs
            // may be broken.
            (0, _) => LONGEST_PAUSE,
            (_, _) => Nanos::MAX,
        }
    }

    /// Connects for one request and prepares its statements. Waits for neither the limit on
    /// simultaneous attempts nor the back-off. Records the effect of the attempt.
    pub(crate) async fn connect_immediately(
        &self,
        job_state: &JobState,
        texts: &[StatementText],
    ) -> (Result<D::Connection, Error>, LinkChange) {
        let driver = self.context.drivers.of(job_state.job.target);
        let tolerance = || self.full_server_tolerance(job_state);
        let (connection, change) =
            self.link(job_state).attempt_immediately(driver, &self.rt, tolerance, texts).await;
        self.note_change(change, connection.as_ref().err(), job_state);
        (connection, change)
    }

    /// Records the effect of an attempt to connect as an event, if there was an effect. `why` is
    /// the error of a failed attempt.
    pub(crate) fn note_change(
        &self,
        change: LinkChange,
        why: Option<&Error>,
        job_state: &JobState,
    ) {
        let (kind, server, at, verb) = match change {
            LinkChange::None => return,
            LinkChange::StillRefused => return self.note_reason(why, job_state),
            LinkChange::OutageBegan { server, since } => {
                (EventKind::OutageBegan, server, since, "refuses connections")
            }
            LinkChange::OutageEnded { server } => {
                (EventKind::OutageEnded, server, self.rt.now(), "accepts connections again")
            }
        };
        let mut target = target_phrase(&self.context.plan, job_state.job.target);
        if let Some(address) =
            self.context.drivers.of(job_state.job.target).nodes().get(server.index())
        {
            target = format!("{address} of {target}");
        }
        match why.filter(|_| kind == EventKind::OutageBegan) {
            Some(why) => {
                let text = format!("{target} {verb}: {}", why.message());
                self.ledger.borrow_mut().error_event(at, None, kind, event_error(why), text);
            }
            None => self.ledger.borrow_mut().event(at, None, kind, format!("{target} {verb}")),
        }
    }

    /// Records the reason why an unreachable server still refuses clients, if the reason is new and
    /// more than a lost or refused connection.
    fn note_reason(&self, why: Option<&Error>, job_state: &JobState) {
        if let Some(error) = why.filter(|error| error.class() != Class::Disconnect) {
            self.note_refusal(error, job_state);
        }
    }

    /// Records a refusal as an event of the whole job, if its code is new for the job.
    fn note_refusal(&self, error: &Error, job_state: &JobState) {
        if !job_state.is_new_error(job_state.account, error.code()) {
            return;
        }
        let text = format!("while reconnecting: {error}");
        let (account, kind) = (Some(job_state.account), EventKind::FirstError);
        let (at, error) = (self.rt.now(), event_error(error));
        self.ledger.borrow_mut().error_event(at, account, kind, error, text);
    }

    /// Records that the database refused a session for a reason that may pass, and pauses for
    /// [`PAUSE_AFTER_REFUSAL`], but not beyond the end of the drain.
    pub(crate) async fn pause_after(&self, error: &Error, job_state: &JobState) {
        self.note_refusal(error, job_state);
        let until = (self.rt.now() + PAUSE_AFTER_REFUSAL).min(self.give_up_at.get());
        self.rt.sleep_until(until).await;
    }

    /// Limits the job to its current connections on this lane, because the server accepts no more,
    /// and records the new limit as an event.
    pub(crate) fn note_connection_limit(&self, job_state: &JobState, error: &Error) {
        if let Some(limit) = job_state.clients.limit_to_connected() {
            let consequence = match job_state.job.pacing {
                Pacing::Closed { .. } => ", and clients without one send nothing",
                Pacing::Open { .. }
                | Pacing::Queue { .. }
                | Pacing::Timetable { .. }
                | Pacing::Replay => "",
            };
            let text = format!("{limit} connections are the limit{consequence}: {error}");
            let (account, kind) = (Some(job_state.account), EventKind::ConnectionLimit);
            let (at, error) = (self.rt.now(), event_error(error));
            self.ledger.borrow_mut().error_event(at, account, kind, error, text);
        }
    }

    /// Fails the waiting requests of a job if every server of its target has an outage and the job
    /// has no connection left on this lane. Does nothing if the job has `outage = wait`, or if its
    /// requests open their own connections.
    pub(crate) fn refuse_without_connections(&self, job_state: &JobState) {
        let fail = match job_state.job.on_outage {
            OnOutage::Fail => true,
            OnOutage::Wait => false,
        };
        let is_cut_off = self.link(job_state).is_down() && job_state.clients.connections() == 0;
        // Requests that open their own connections are refused by the target itself.
        let are_refused = fail && is_cut_off && job_state.keeps_connections();
        let Some(gate) = job_state.gate.as_ref().filter(|_| are_refused) else { return };
        let now = self.rt.now();
        let stopping = gate.borrow_mut().refuse_waiting(now, &mut self.ledger.borrow_mut());
        if let Some(part) = stopping.filter(|_| !self.stop.is_requested()) {
            self.stop_by_refusal(job_state, part);
        }
    }

    /// Ends the run because a waiting request of a part with `on-error = stop` was refused.
    #[cold]
    fn stop_by_refusal(&self, job_state: &JobState, part: PartId) {
        let target = target_phrase(&self.context.plan, job_state.job.target);
        let error = Error::disconnect(format!("{target} refuses connections"));
        let account = job_state.parts.part(part).account;
        let note = |kind| {
            let (at, text) = (self.rt.now(), error.to_string());
            let (account, error) = (Some(account), event_error(&error));
            self.ledger.borrow_mut().error_event(at, account, kind, error, text);
        };
        if job_state.is_new_error(account, error.code()) {
            note(EventKind::FirstError);
        }
        note(EventKind::StoppedByError);
        self.stop.request(EndKind::StoppedByError);
        self.check_stop();
    }
}

/// Returns the class and the code of an error, for an event.
fn event_error(error: &Error) -> EventError {
    EventError { class: error.class(), code: error.code() }
}
