//! The state that the clients of one job on one lane share.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::{AccountId, Code, Stamp};
use record::Gauge;
use rt::Timer;
use workload::{Job, PartId, Reconnect};

use crate::client_counts::ClientCounts;
use crate::client_handle::ClientHandle;
use crate::feed::Feeds;
use crate::gate::Gate;
use crate::parts::Parts;
use crate::results::RowSinks;

/// One job on one lane.
pub(crate) struct JobState {
    /// The job in the plan.
    pub(crate) job: Arc<Job>,
    /// The account of the job.
    pub(crate) account: AccountId,
    /// Account of the job's requests at the first server of its target, if there are several
    /// servers.
    pub(crate) first_node: Option<AccountId>,
    /// The parts to which the job's requests belong: the sections of a mix, or the job itself.
    pub(crate) parts: Arc<Parts>,
    /// The arrivals that this lane serves; `None` for a closed job, and for a job with a queue that
    /// another lane serves.
    pub(crate) gate: Option<RefCell<Gate>>,
    /// The files of a closed job; a job with arrivals has its files in the gate.
    pub(crate) feeds: RefCell<Feeds>,
    /// Timer that fires when the next arrival is due.
    pub(crate) due_timer: Timer,
    /// Handles to all clients that the job ever had.
    pub(crate) client_handles: RefCell<Vec<Rc<ClientHandle>>>,
    /// Instant from which no request of the job comes due.
    pub(crate) end: Cell<Stamp>,
    /// Number of requests that clients have taken and not settled.
    pub(crate) in_flight: Cell<u64>,
    /// Numbers of the job's clients, by the state of their connections.
    pub(crate) clients: ClientCounts,
    /// Codes of errors that were recorded as events of the job or of one of its parts.
    pub(crate) seen_errors: RefCell<BTreeMap<AccountId, Vec<Code>>>,
    /// The sinks for returned rows; empty once no client can have rows any more.
    pub(crate) results: RefCell<RowSinks<PartId>>,
}

impl JobState {
    /// Returns the current numbers of waiting requests, requests in flight and connections.
    pub(crate) fn gauge(&self) -> Gauge {
        let waiting = self.gate.as_ref().map_or(0, |gate| gate.borrow().waiting());
        Gauge {
            in_flight: self.in_flight.get(),
            queued: waiting as u64,
            connections: self.clients.connections().into(),
        }
    }

    /// Returns true if clients keep their connections; otherwise each request opens its own.
    #[inline]
    pub(crate) fn keeps_connections(&self) -> bool {
        match self.job.reconnect {
            Reconnect::No => true,
            Reconnect::PerTransaction => false,
        }
    }

    /// Returns the number of clients still to be connected; 0 if the job's clients do not keep
    /// connections.
    pub(crate) fn clients_to_connect(&self) -> u32 {
        match self.keeps_connections() {
            true => self.clients.without_connection(),
            false => 0,
        }
    }

    /// Releases the results files when no client of this lane can have rows any more.
    pub(crate) fn close_results_if_over(&self) {
        let is_over = self.gate.as_ref().is_none_or(|gate| gate.borrow().is_over());
        if is_over && self.clients.running() == 0 {
            self.results.borrow_mut().clear();
        }
    }

    /// Returns the numbers of the requests of a closed client: every n-th from `client`, the
    /// client's own number, where n is `clients`, the number of clients of the job.
    pub(crate) fn numbers(&self, client: u32, clients: u32) -> impl Iterator<Item = u64> + use<> {
        let count = self.job.count.unwrap_or(u64::MAX);
        (u64::from(client)..count).step_by(clients as usize)
    }

    /// Notes an error code of the job or of one of its parts. Returns true if the code is new for
    /// this account on this lane and the account's limit of distinct codes has not been reached.
    pub(crate) fn is_new_error(&self, account: AccountId, code: Code) -> bool {
        let mut seen = self.seen_errors.borrow_mut();
        let codes = seen.entry(account).or_default();
        let is_new = codes.len() < record::Failures::LIMIT && !codes.contains(&code);
        if is_new {
            codes.push(code);
        }
        is_new
    }

    /// Returns true if an error code of this account was noted by [`JobState::is_new_error`].
    pub(crate) fn has_seen_error(&self, account: AccountId, code: Code) -> bool {
        let seen = self.seen_errors.borrow();
        seen.get(&account).is_some_and(|codes| codes.contains(&code))
    }
}
