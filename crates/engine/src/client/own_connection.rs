//! Requests that open a connection of their own.
//!
//! With `reconnect = per-transaction` a request connects and prepares its statements when it
//! begins, within its service time. Its client closes the connection once the request is settled,
//! outside of all times of the request. Neither the limit on simultaneous attempts nor the back-off
//! delays the request, since such a delay would be measured as the target's time. A refused request
//! therefore fails. Only with `outage = wait` does a request try the other servers of its target,
//! and wait for an unreachable target. The recorded assignment of the request is then the beginning
//! of its last attempt to connect.
//!
//! Apart from errors and from rows that go to a results file, this is the only code of the measured
//! path that allocates: opening a session cannot avoid allocations.

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
    /// The request was refused, or its time was over before it got a connection. Its attempt ends
    /// with this outcome.
    Refused(Attempt),
    /// The drain ended before the target of the request accepted connections again.
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
            // Attempts of all requests take turns among the servers, so this request may have met
            // only servers that refuse. After one attempt per server, it waits for a short time.
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

    /// Waits until the next attempt is allowed: for a short time if one of the target's servers has
    /// no outage, otherwise until the pause of the target's outage is over. Returns false if the
    /// drain ends first.
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

    /// Connects for a request whose attempt began at `sent`; returns `None` if the request times
    /// out or the drain ends first.
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
    /// client was free again: arrivals that come due during the close wait for the client.
    pub(super) async fn close_own(&mut self, done: Stamp) -> Stamp {
        let Some(connection) = self.connection.take() else { return done };
        self.handle.expire_at(self.lane.give_up_at.get());
        // A connection that is not closed by the end of the drain is dropped.
        let _is_closed = unless_fired(pin!(connection.close()), &self.handle.expiry).await;
        self.job_state.clients.count_closed();
        self.lane.rt.now()
    }
}
