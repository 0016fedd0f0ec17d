//! Dispatch of arrivals: the task of each gate, and the clients that the task adds.

use std::cell::RefCell;
use std::rc::Rc;

use base::{Clock, Stamp};
use driver::Driver;
use record::{EndKind, Outcome};
use workload::Pacing;

use crate::client::Client;
use crate::client_handle::ClientHandle;
use crate::gate::Gate;
use crate::job_state::JobState;
use crate::lane_state::LaneState;
use crate::link::SIMULTANEOUS_ATTEMPTS;

impl<D: Driver> LaneState<D> {
    /// Notices a job's arrivals when they are due, gives them to idle clients, and adds clients if
    /// needed, until no arrival is left and no request waits.
    pub(super) async fn dispatch(self: Rc<Self>, job_state: &Rc<JobState>) {
        let Some(gate) = &job_state.gate else { return };
        loop {
            job_state.due_timer.arm(gate.borrow().next_due());
            job_state.due_timer.fired().await;
            let now = self.rt.now();
            gate.borrow_mut().notice(now, &mut self.ledger.borrow_mut());
            self.check_files(job_state);
            self.check_full_queue(gate);
            self.refuse_without_connections(job_state);
            gate.borrow_mut().assign(now);
            self.apply_dishonest_rules(&mut gate.borrow_mut(), now);
            self.add_needed_clients(job_state, gate.borrow().waiting());
            self.stop_reading(&mut gate.borrow_mut());
            if gate.borrow().is_over() {
                return;
            }
        }
    }

    /// Stops reading the files of a gate that gives up its arrivals, if the run ends at once or
    /// after a panic.
    fn stop_reading(&self, gate: &mut Gate) {
        if gate.gives_up() && (self.stop.is_at_once() || self.stop.has_panicked()) {
            gate.read_no_further();
        }
    }

    /// Drops waiting requests as a dishonest generator does, if the rules plant such a fault.
    fn apply_dishonest_rules(&self, gate: &mut Gate, now: Stamp) {
        let window = self.zero + self.context.plan.warmup.known();
        let resets = !self.context.rules.queues_survive_the_warm_up
            && now >= window
            && !self.has_reset_queues.get();
        if resets || !self.context.rules.makes_up_missed_arrivals {
            self.has_reset_queues.set(now >= window);
            gate.give_up_waiting(now, Outcome::Rejected, &mut self.ledger.borrow_mut());
        }
    }

    /// Adds clients to a job whose `waiting` requests outnumber the clients that are being
    /// connected, up to the job's limit, unless every server of the target has an outage.
    fn add_needed_clients(self: &Rc<Self>, job_state: &Rc<JobState>, waiting: usize) {
        let connecting = job_state.clients_to_connect() as usize;
        let room = SIMULTANEOUS_ATTEMPTS.saturating_sub(self.link(job_state).attempts());
        let more = waiting.saturating_sub(connecting).min(room);
        for _ in 0..more {
            if job_state.clients.may_grow() && !self.link(job_state).is_down() {
                self.add_client(job_state, job_state.clients.running(), None);
            }
        }
    }

    /// Ends the run if a request was rejected because the queue of a job with
    /// `on-queue-full = stop` was full.
    fn check_full_queue(&self, gate: &RefCell<Gate>) {
        if gate.borrow().has_overflowed() && !self.stop.is_requested() {
            self.stop.request(EndKind::QueueFull);
            self.check_stop();
        }
    }

    /// Starts a client of a job. `number` determines the requests of a closed client; other clients
    /// do not use it.
    pub(super) fn add_client(
        self: &Rc<Self>,
        job_state: &Rc<JobState>,
        number: u32,
        connection: Option<D::Connection>,
    ) {
        let handle = Rc::new(ClientHandle::new(&self.rt));
        job_state.client_handles.borrow_mut().push(Rc::clone(&handle));
        job_state.clients.count_joined();
        if connection.is_some() {
            job_state.clients.count_connected();
        }
        self.client_joined();
        let client = Client::new(Rc::clone(self), Rc::clone(job_state), handle, connection);
        match job_state.job.pacing {
            Pacing::Closed { clients, .. } => {
                self.spawn(client.serve_closed(number, clients), LaneState::lose_client);
            }
            Pacing::Open { .. }
            | Pacing::Queue { .. }
            | Pacing::Timetable { .. }
            | Pacing::Replay => self.spawn(client.serve_arrivals(), LaneState::lose_client),
        }
    }
}
