//! Requests that open a connection of their own.
//!
//! With `reconnect = per-transaction` a request connects and prepares its statements when it
//! begins, within its service time, and closes the connection when it is settled, outside of all
//! its times. Neither the limit on simultaneous attempts nor the back-off delays the request, since
//! such a delay would be measured as the target's time. A refused request therefore fails. Only
//! with `outage = wait` does a request try the other servers of its target and wait for an
//! unreachable one; the time of its assignment is then the time of the last attempt.
//!
//! This is the only code of the measured path that allocates: opening a session cannot avoid
//! allocations.

use std::pin::pin;

use base::{Clock, Stamp};
use driver::{Connection, Driver, Error};
use rt::unless_fired;
use workload::OnOutage;

use crate::back_off::{BackOff, FIRST_PAUSE};
use crate::link::LinkChange;

use super::state::{Attempt, Client, RequestProgress};

/// The outcome of connecting for one request.
pub(super) enum OwnConnection {
    /// The request has a connection.
    Connected,
    /// The request got no connection; its attempt ends with this outcome.
    Refused(Attempt),
    /// The run ended before the target of the request was back.
    TooLate,
}

impl<D: Driver> Client<D> {
    /// Begins a request by connecting for it.
    pub(super) async fn connect_own(&mut self, progress: &mut RequestProgress) -> OwnConnection {
        self.work.reply.reset();
        let waits = match self.job_state.job.on_outage {
            OnOutage::Fail => false,
            OnOutage::Wait => true,
        };
        let mut refusals = 0;
        loop {
            let link = self.lane.link(&self.job_state);
            // Attempts take turns among the servers: other requests may have had the turns of the
            // servers that accept clients.
            if waits && (link.is_down() || refusals >= link.servers()) {
                if !self.wait_for_backoff().await {
                    return OwnConnection::TooLate;
                }
                progress.assigned = self.lane.rt.now();
                refusals = 0;
            }
            let sent = self.lane.rt.now();
            progress.sent = Some(sent);
            match self.connect_until_expiry(sent).await {
                Some((Ok(connection), _)) => {
                    self.take_connection(connection);
                    self.back_off = BackOff::default();
                    return OwnConnection::Connected;
                }
                // The next attempt goes to the next server, or follows a pause.
                Some((Err(_), change)) if waits && change.is_outage() => {
                    progress.sent = None;
                    progress.assigned = self.lane.rt.now();
                    refusals += 1;
                }
                Some((Err(error), _)) => {
                    self.back_off = self.back_off.longer();
                    return OwnConnection::Refused(Attempt::Answered(Err(error)));
                }
                None => return OwnConnection::Refused(Attempt::GivenUp),
            }
        }
    }

    /// Waits until the next attempt is allowed: until the pause of the target's outage is over or,
    /// if one of its servers accepts clients, for a short time. Returns false if the run ends
    /// first.
    async fn wait_for_backoff(&self) -> bool {
        self.handle.expire_at(self.lane.give_up_at.get());
        let link = self.lane.link(&self.job_state);
        let pause = async {
            match link.is_down() {
                true => link.pause(&self.lane.rt).await,
                false => self.lane.rt.sleep(FIRST_PAUSE).await,
            }
        };
        unless_fired(pin!(pause), &self.handle.expiry).await.is_some()
    }

    /// Connects for a request that began at `sent`; returns `None` if the request's time is over
    /// first.
    async fn connect_until_expiry(
        &mut self,
        sent: Stamp,
    ) -> Option<(Result<D::Connection, Error>, LinkChange)> {
        self.prepare_attempt(sent);
        let texts = &self.job_state.parts.texts()[self.current_part().texts.clone()];
        let connecting = Box::pin(self.lane.connect_immediately(&self.job_state, texts));
        unless_fired(connecting, &self.handle.expiry).await
    }

    /// Closes the connection of a request that ended at `done`. Returns the instant at which the
    /// client was free again, because arrivals that come due during the close wait for the client.
    pub(super) async fn close_own(&mut self, done: Stamp) -> Stamp {
        let Some(connection) = self.connection.take() else { return done };
        self.handle.expire_at(self.lane.give_up_at.get());
        // A connection that is not closed at the end of the run is dropped.
        let _is_closed = unless_fired(pin!(connection.close()), &self.handle.expiry).await;
        self.job_state.clients.count_closed();
        self.lane.rt.now()
    }
}
