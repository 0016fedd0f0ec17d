//! How does a request get a connection of its own?
//!
//! With `reconnect = per-transaction` a request connects and prepares its statements when it
//! begins, which is a part of its service, and closes the connection when it is settled, which is
//! part of nothing. No limit holds its attempt back and no pause of others: either would be
//! measured as the target's. Whoever is refused therefore fails, and only with `outage = wait` does
//! a request wait for a target that is away: then it gets its worker when that is back.
//!
//! This is the one place of the measured path that allocates: a session cannot be had without.

use std::pin::pin;

use base::{Class, Clock, Nanos, Stamp};
use driver::{Connection, Driver, Error};
use rt::unless_fired;
use workload::OnOutage;

use crate::client::{Attempt, Client, Course};
use crate::link::{FIRST_PAUSE, LONGEST_PAUSE};
use crate::rules::Rules;

/// How a request that connects began.
pub(crate) enum Begun {
    /// With a connection.
    Connected,
    /// With none, which ends the attempt in this way.
    Refused(Attempt),
    /// The run ended before its target was back.
    TooLate,
}

/// How long a client without arrivals pauses after its request was refused a connection: it would
/// ask again at once, for as long as it is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackOff(Nanos);

impl BackOff {
    /// The pause before the next request; none if the last one was not refused.
    pub(crate) fn pause(self) -> Nanos {
        self.0
    }

    fn longer(self) -> BackOff {
        BackOff((self.0 * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE))
    }
}

impl<D: Driver, R: Rules> Client<D, R> {
    /// Begins a request by connecting for it.
    pub(crate) async fn connect_own(&mut self, course: &mut Course) -> Begun {
        self.work.reply.reset();
        let waits = match self.crew.job.on_outage {
            OnOutage::Fail => false,
            OnOutage::Wait => true,
        };
        loop {
            if waits && self.lane.link(&self.crew).is_down() {
                if !self.outlast_pause().await {
                    return Begun::TooLate;
                }
                course.assigned = self.lane.rt.now();
            }
            let sent = self.lane.rt.now();
            course.sent = Some(sent);
            match self.connect_until_expiry(sent).await {
                Some(Ok(connection)) => {
                    self.found_connection(connection);
                    self.back_off = BackOff::default();
                    return Begun::Connected;
                }
                // The way is down only if it was connecting that failed, here or elsewhere.
                Some(Err(error))
                    if waits
                        && error.class() != Class::TooManyConnections
                        && self.lane.link(&self.crew).is_down() =>
                {
                    course.sent = None;
                }
                Some(Err(error)) => {
                    self.back_off = self.back_off.longer();
                    return Begun::Refused(Attempt::Answered(Err(error)));
                }
                None => return Begun::Refused(Attempt::GivenUp),
            }
        }
    }

    /// Waits until the target may be asked again. False if the run ends first.
    async fn outlast_pause(&self) -> bool {
        self.seat.expire_at(self.lane.give_up_at.get());
        let pause = self.lane.link(&self.crew).pause(&self.lane.rt);
        unless_fired(pin!(pause), &self.seat.expiry).await.is_some()
    }

    /// Connects for a request that began at `sent`; `None` if its time is over first.
    async fn connect_until_expiry(&mut self, sent: Stamp) -> Option<Result<D::Connection, Error>> {
        self.make_ready(sent);
        let texts = &self.crew.texts[self.present().texts.clone()];
        let connecting = Box::pin(self.lane.connect_at_once(&self.crew, texts));
        unless_fired(connecting, &self.seat.expiry).await
    }

    /// Closes the connection of a request that ended at `done`. Returns when the client was free
    /// again: whoever closes does not notice late what is due meanwhile, but has no time for it.
    pub(crate) async fn close_own(&mut self, done: Stamp) -> Stamp {
        let Some(connection) = self.connection.take() else { return done };
        self.seat.expire_at(self.lane.give_up_at.get());
        // A connection that is not closed when the run is over is dropped.
        let _is_closed = unless_fired(pin!(connection.close()), &self.seat.expiry).await;
        self.crew.connected.set(self.crew.connected.get() - 1);
        self.lane.rt.now()
    }
}
