//! The state of a client, its connection and its preparation for an attempt.

use std::rc::Rc;

use base::{Dialect, NodeId, Rows, Stamp, WallTime};
use driver::{Connection, Driver, Error, Reply, Step, Work};
use record::{Dispatch, RequestWork, StatementSet};
use workload::{Generator, PartId};

use crate::back_off::BackOff;
use crate::client_counts::ClientStatus;
use crate::client_handle::ClientHandle;
use crate::job_state::JobState;
use crate::lane_state::LaneState;
use crate::parts::Part;
use crate::results::RowSinks;

/// One client of a job on a lane.
pub(crate) struct Client<D: Driver> {
    pub(super) lane: Rc<LaneState<D>>,
    pub(super) job_state: Rc<JobState>,
    pub(super) handle: Rc<ClientHandle>,
    pub(super) connection: Option<D::Connection>,
    /// The server of the current connection or, without a connection, of the last one.
    pub(super) node: NodeId,
    /// True if the client lost its connection and has no new one yet.
    pub(super) is_disconnected: bool,
    /// Pause before the next request if requests open their own connections and the last one was
    /// refused.
    pub(super) back_off: BackOff,
    /// Generators of values: one for each part of the job, in their order, and for a mix one more
    /// for its pauses.
    pub(super) generators: Vec<Generator>,
    /// The part of the job to which the current request belongs.
    pub(super) part: PartId,
    /// Statements of that part that have returned or changed a row since the part was chosen.
    pub(super) with_rows: StatementSet,
    /// Statements and values to send, and the reply.
    pub(super) work: Work,
    /// Number of requests so far, modulo 2^32.
    pub(super) served: u32,
    /// Sinks for the rows that statements return, one for each part that has a results file.
    pub(super) results: RowSinks<PartId>,
}

/// A request's progress through its attempts.
pub(super) struct RequestProgress {
    /// Instant at which the request got its client. If the request opens its own connection with
    /// `outage = wait` and was refused, the instant at which its last attempt to connect could
    /// begin.
    pub(super) assigned: Stamp,
    /// Instant at which the first attempt began to send or, if the request opens its own
    /// connection, at which the last attempt to connect began. `None` if nothing was sent.
    pub(super) sent: Option<Stamp>,
    /// Instant at which the request ended.
    pub(super) done: Stamp,
    /// Bytes and waits of all attempts, the number of retries, and the rows of a completed request.
    pub(super) work: RequestWork,
}

impl RequestProgress {
    /// Returns the progress of a request that has its client and is not sent yet.
    pub(super) fn assigned_at(assigned: Stamp) -> RequestProgress {
        RequestProgress { assigned, sent: None, done: assigned, work: RequestWork::default() }
    }

    /// Adds the bytes and waits of an attempt, and sets the start of the first attempt if it is not
    /// known yet.
    pub(super) fn add_reply(&mut self, reply: &Reply) {
        self.sent = self.sent.or(reply.sent);
        self.work.bytes_sent += reply.bytes_sent;
        self.work.bytes_received += reply.bytes_received;
        self.work.busy_waits += reply.busy_waits;
    }

    /// Returns the instant from which the timeout of the request runs: the start of the first
    /// attempt or, before it is known, the assignment of the request.
    pub(super) fn start(&self) -> Stamp {
        self.sent.unwrap_or(self.assigned)
    }

    /// Returns the times at which the request was assigned and sent; `None` if it was not sent.
    pub(super) fn dispatch(&self) -> Option<Dispatch> {
        self.sent.map(|sent| Dispatch { assigned: self.assigned, sent })
    }
}

/// The outcome of one attempt.
pub(super) enum Attempt {
    /// The target answered, or the connection failed.
    Answered(Result<(), Error>),
    /// The time of the request was over before an answer or a failure.
    GivenUp,
}

impl<D: Driver> Client<D> {
    /// Creates a client of a job, with its connection if the job keeps connections.
    pub(crate) fn new(
        lane: Rc<LaneState<D>>,
        job_state: Rc<JobState>,
        handle: Rc<ClientHandle>,
        connection: Option<D::Connection>,
    ) -> Client<D> {
        let dialect = lane.context.drivers.of(job_state.job.target).dialect();
        let started = lane.context.started;
        let results = job_state.results.borrow().clone();
        Client {
            handle,
            is_disconnected: false,
            back_off: BackOff::default(),
            node: connection.as_ref().map_or_else(NodeId::default, |connection| connection.node()),
            connection,
            generators: generators(&job_state, started, dialect),
            part: PartId::FIRST,
            with_rows: StatementSet::default(),
            work: job_state.parts.part(PartId::FIRST).work(),
            served: 0,
            results,
            lane,
            job_state,
        }
    }

    /// Counts the loss of the client's connection. The client wants a new one only if the job keeps
    /// connections.
    pub(super) fn lost_connection(&mut self) {
        match self.job_state.keeps_connections() {
            true => {
                self.job_state.clients.count_lost();
                self.is_disconnected = true;
            }
            false => self.job_state.clients.count_closed(),
        }
    }

    /// Takes over a connection: the client's first one, a new one after a loss, or the own
    /// connection of a request.
    pub(super) fn take_connection(&mut self, connection: D::Connection) {
        self.node = connection.node();
        self.connection = Some(connection);
        match std::mem::take(&mut self.is_disconnected) {
            true => self.job_state.clients.count_regained(),
            false => self.job_state.clients.count_connected(),
        }
    }

    /// Returns the state under which the job counts the client.
    pub(super) fn status(&self) -> ClientStatus {
        match (&self.connection, self.is_disconnected) {
            (Some(_), _) => ClientStatus::Connected,
            (None, true) => ClientStatus::Disconnected,
            (None, false) => ClientStatus::Unconnected,
        }
    }

    /// Returns true if the client needs a connection before it takes a request.
    pub(super) fn lacks_connection(&self) -> bool {
        self.connection.is_none() && self.job_state.keeps_connections()
    }

    /// Returns the part of the job to which the current request belongs.
    #[inline]
    pub(super) fn current_part(&self) -> &Part {
        self.job_state.parts.part(self.part)
    }

    /// Prepares for an attempt at a request whose timeout runs from `since`.
    #[inline]
    pub(super) fn prepare_attempt(&mut self, since: Stamp) {
        self.work.reply.reset();
        self.empty_capture();
        let timeout = self.current_part().requests.timeout;
        let times_out = timeout.map_or(Stamp::NEVER, |timeout| since + timeout);
        let expires = times_out.min(self.lane.give_up_at.get());
        self.handle.expire_at(expires);
    }

    /// Copies the steps of an exchange, which are sent together, into `self.work`. Does nothing if
    /// the steps never change, because all requests have the same steps in a single exchange.
    #[inline]
    pub(super) fn load_exchange(&mut self, exchange: usize) {
        if self.job_state.parts.has_varying_steps() {
            let part = self.job_state.parts.part(self.part);
            let steps = &part.steps[part.exchanges[exchange].clone()];
            set_steps(&mut self.work, steps, part.requests.pipeline);
        }
    }

    /// Copies all steps of the current part into `self.work` again: a driver whose connection ended
    /// may have kept them.
    pub(super) fn restore_steps(&mut self) {
        let part = self.job_state.parts.part(self.part);
        set_steps(&mut self.work, &part.steps, part.requests.pipeline);
    }

    /// Provides an empty buffer for the rows of an attempt, if the current part has a results file.
    /// A driver may have kept the buffer of the previous attempt.
    #[inline]
    fn empty_capture(&mut self) {
        match (&self.results[self.part], self.work.capture.is_wanted()) {
            (None, false) => {}
            (Some(_), true) => self.work.capture.clear(),
            (Some(results), false) => self.work.capture = results.buffer(),
            (None, true) => self.work.capture = Rows::default(),
        }
    }
}

fn set_steps(work: &mut Work, steps: &[Step], is_pipelined: bool) {
    work.steps.clear();
    work.steps.extend_from_slice(steps);
    work.is_pipelined = is_pipelined;
}

/// Returns the value generators of a client: one for each part, and for a mix one more for its
/// pauses.
fn generators(job_state: &JobState, started: WallTime, dialect: Dialect) -> Vec<Generator> {
    let job = Generator::new(&job_state.job, started, dialect);
    let parts = job_state.job.parts.iter();
    parts.map(|part| Generator::of_part(part, started, dialect)).chain([job]).collect()
}
