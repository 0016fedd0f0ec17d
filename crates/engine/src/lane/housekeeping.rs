//! Housekeeping of a lane: its intervals, its end, its drain and its outcome.

use std::rc::Rc;

use base::{Clock, Nanos, Stamp};
use driver::Driver;
use record::{EndKind, EventKind, Gauge, Grid, Outcome};
use workload::JobTarget;

use crate::job_state::JobState;
use crate::lane_state::LaneState;
use crate::panics::panic_message;
use crate::stop::CHECK_INTERVAL;

/// The outcome of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaneOutcome {
    /// Time zero.
    pub(crate) zero: Stamp,
    /// Time from time zero to the end of the lane's schedule.
    pub(crate) length: Nanos,
    /// The state of the link to each target.
    pub(crate) target_states: Vec<TargetState>,
    /// Message of the first task of the lane that panicked, if any.
    pub(crate) panic: Option<String>,
}

/// The state of the link to one target at the end, as one lane saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TargetState {
    pub(crate) target: JobTarget,
    /// Beginning of the outage in progress at the end, if there was one.
    pub(crate) lost_since: Option<Stamp>,
    /// Instant of the latest refusal in that outage, if there was one.
    pub(crate) refused_at: Option<Stamp>,
    /// Number of clients that had a connection at the end of the schedule.
    pub(crate) connections: u32,
    /// Instant at which the target last answered a request or accepted a client; time zero if
    /// never.
    pub(crate) answered_at: Stamp,
}

impl<D: Driver> LaneState<D> {
    /// Does the lane's periodic work until the schedule is over, or until all clients have left and
    /// no request can come due any more. Returns the end of the schedule.
    pub(super) async fn work_until_end(&self) -> Stamp {
        self.stop_all_at(self.stop.end());
        let mut now = self.rt.now();
        let grid = Grid::new(self.context.plan.warmup.known(), self.context.plan.duration);
        loop {
            let interval = grid.interval(now.since(self.zero));
            let interval_ends = self.zero + grid.end(interval);
            let end = self.stop.end();
            let horizon = self.zero + self.horizon();
            let next = if now < horizon { horizon.min(end) } else { end };
            self.wakeup_timer.arm(interval_ends.min(now + CHECK_INTERVAL).min(next));
            self.wakeup_timer.fired().await;
            now = self.rt.now();
            if now >= interval_ends {
                self.close_interval(now);
            }
            if self.ledger.borrow().is_broken() {
                self.stop.request(EndKind::RecorderFailed);
            }
            if self.context.files.is_broken() {
                self.stop.request(EndKind::FileFailed);
            }
            self.check_stop();
            if now >= self.stop.end() {
                return self.stop.end();
            }
            if self.client_count.get() == 0 && now >= horizon {
                return self.last_client_left_at.get().max(horizon);
            }
        }
    }

    /// Returns the latest `stop` of the jobs without a fixed number of requests, as a time since
    /// time zero: [`Nanos::MAX`] if one of them has no `stop`, and 0 if there is no such job. Until
    /// then requests may still come due, so the run does not end when all clients have left.
    fn horizon(&self) -> Nanos {
        let plan = &self.context.plan;
        let jobs = plan.jobs.iter().filter(|job| !job.has_fixed_request_count());
        jobs.map(|job| job.stop.unwrap_or(Nanos::MAX)).max().unwrap_or(Nanos::ZERO)
    }

    /// Delivers the intervals of the ledger that ended before `now`, with the gauges of the jobs.
    fn close_interval(&self, now: Stamp) {
        // A part of a mix has no queue and no connections of its own.
        let gauges = |job_state: &Rc<JobState>| {
            let parts = std::iter::repeat_n(Gauge::default(), job_state.parts.accounts());
            std::iter::once(job_state.gauge()).chain(parts)
        };
        let gauges = || self.job_states.values().flat_map(gauges).collect();
        self.ledger.borrow_mut().close_interval(now, gauges);
    }

    /// Lets waiting and in-flight requests finish within the plan's `drain` after `end`, then gives
    /// them up. Waits until every task of the lane has ended.
    pub(super) async fn drain(&self, end: Stamp) {
        let mut now = self.rt.now();
        for job_state in self.job_states.values() {
            self.link(job_state).note_left_at_end(job_state.clients.connections());
        }
        self.stop_all_at(end);
        self.give_up_at.set(end + self.context.plan.drain);
        // The timers wake the dispatchers, which then notice the requests that were due before the
        // end, and the end of the schedule.
        self.job_states.values().for_each(|job_state| job_state.due_timer.arm(now));
        self.expire_all();
        while self.client_count.get() > 0 && now < self.give_up_at.get() {
            self.wakeup_timer.arm((now + CHECK_INTERVAL).min(self.give_up_at.get()));
            self.wakeup_timer.fired().await;
            now = self.rt.now();
            // After a panic, other tasks may wait forever for the task that panicked.
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
                        self.panic.borrow_mut().get_or_insert_with(|| panic_message(&panic));
                    }
                }
                None => return,
            }
        }
    }

    /// Sets the end of the drain as the latest instant at which each client gives up its work in
    /// flight.
    fn expire_all(&self) {
        for job_state in self.job_states.values() {
            job_state
                .client_handles
                .borrow()
                .iter()
                .for_each(|handle| handle.expire_by(self.give_up_at.get()));
        }
    }

    /// Settles all requests that still wait, and dismisses idle clients.
    fn give_up_waiting(&self, now: Stamp) {
        for job_state in self.job_states.values() {
            if let Some(gate) = &job_state.gate {
                let mut gate = gate.borrow_mut();
                gate.give_up(now, Outcome::Unsent, &mut self.ledger.borrow_mut());
                gate.assign(now);
                job_state.due_timer.arm(now);
            }
        }
    }

    /// Closes the ledger and returns the outcome of the lane.
    pub(super) fn finish(self, end: Stamp) -> LaneOutcome {
        self.close_interval(self.rt.now());
        if self.stop.reason() == EndKind::Interrupted && self.share.lane == 0 {
            let kind = EventKind::Interrupted;
            self.ledger.borrow_mut().event(end, None, kind, "by the user".to_owned());
        }
        let target_states = self.links.iter().map(|(target, link)| TargetState {
            target,
            lost_since: link.down_since(),
            refused_at: link.refused_at(),
            connections: link.left_at_end(),
            answered_at: link.answered_at(),
        });
        let target_states = target_states.collect();
        self.ledger.into_inner().finish();
        let panic = self.panic.into_inner();
        LaneOutcome { zero: self.zero, length: end.since(self.zero), target_states, panic }
    }
}
