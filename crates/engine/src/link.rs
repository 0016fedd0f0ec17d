//! Reaching a target: how many attempts are made at once, and the back-off while it refuses.
//!
//! At most [`AT_ONCE`] connections of a lane are being made at the same time. An attempt fails if
//! the server is away, refuses the login for whatever reason (password changed, database dropped,
//! starting up, shutting down), or hangs up before the statements are prepared: clients had been
//! let in before time zero, so each of these is an outage of that server. Only a server that is
//! full is none; it limits the job.
//!
//! The way is down while every server of the target is away. Attempts then back off from
//! [`FIRST_PAUSE`] to [`LONGEST_PAUSE`], and the first one that succeeds ends the outage of its
//! server. Requests that open a connection of their own are held back by neither, but their
//! attempts count as well.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use base::{Class, Clock, Nanos, Stamp};
use driver::{Connection, Driver, Error};
use rt::{Rt, Slot};

use crate::crew::prepare;
use crate::parts::Text;

/// How many connections of a lane are made at the same time.
pub(crate) const AT_ONCE: usize = 16;

pub(crate) const FIRST_PAUSE: Nanos = Nanos::from_millis(50);
pub(crate) const LONGEST_PAUSE: Nanos = Nanos::from_secs(1);

/// The state of the way to one target, shared by the clients of one lane.
pub(crate) struct Link {
    connecting: Cell<usize>,
    /// Who waits for its turn; a cancelled attempt leaves an empty reference behind.
    waiting: RefCell<VecDeque<Weak<Slot<()>>>>,
    /// The servers of the target; at least one.
    servers: Box<[Server]>,
}

/// One server of a target, as the clients of one lane see it.
struct Server {
    outage: Cell<Option<Outage>>,
    /// Instant of its last answer to a request, or of the last session that it has begun since;
    /// until the first one, of the opening of the way.
    answered_at: Cell<Stamp>,
    /// Start of the earliest request that was given up without an answer. Only meaningful if the
    /// server has answered nothing since.
    silent_since: Cell<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outage {
    since: Stamp,
    next_try: Stamp,
    pause: Nanos,
}

/// The effect of an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// None: the server was and is reachable, or the attempt says nothing of that.
    None,
    /// The server still lets no client in.
    StillAway,
    /// The server lets no client in any more.
    OutageBegan {
        /// Its place in the target's list.
        server: usize,
        /// Start of the outage, as far as it can be told.
        since: Stamp,
    },
    /// The server accepted again.
    OutageEnded {
        /// Its place in the target's list.
        server: usize,
    },
}

impl Link {
    /// A way to so many servers that is open at this instant.
    pub(crate) fn new(now: Stamp, servers: usize) -> Link {
        let server = || Server {
            outage: Cell::new(None),
            answered_at: Cell::new(now),
            silent_since: Cell::new(Stamp::ZERO),
        };
        Link {
            connecting: Cell::new(0),
            waiting: RefCell::new(VecDeque::new()),
            servers: (0..servers.max(1)).map(|_| server()).collect(),
        }
    }

    /// Returns true if no server of the target lets clients in.
    pub(crate) fn is_down(&self) -> bool {
        self.servers.iter().all(|server| server.outage.get().is_some())
    }

    /// Since when no server of the target lets clients in.
    pub(crate) fn down_since(&self) -> Option<Stamp> {
        let since = self.servers.iter().map(|server| server.outage.get().map(|o| o.since));
        since.collect::<Option<Vec<Stamp>>>()?.into_iter().max()
    }

    /// Instant at which the target last answered a request or let a client in; at which the way was
    /// opened, if it never did.
    pub(crate) fn answered_at(&self) -> Stamp {
        let answered = self.servers.iter().map(|server| server.answered_at.get());
        answered.max().unwrap_or(Stamp::ZERO)
    }

    /// A server has answered a request.
    #[inline]
    pub(crate) fn note_answer(&self, server: u16, at: Stamp) {
        self.servers[usize::from(server)].answered_at.set(at);
    }

    /// A request that was sent at `sent` was given up without an answer.
    pub(crate) fn note_silence(&self, server: u16, sent: Stamp) {
        let Server { answered_at, silent_since, .. } = &self.servers[usize::from(server)];
        let is_known = silent_since.get() >= answered_at.get();
        if sent >= answered_at.get() && !(is_known && silent_since.get() <= sent) {
            silent_since.set(sent);
        }
    }

    /// How many connections are being made or wait for their turn.
    pub(crate) fn pressure(&self) -> usize {
        self.connecting.get() + self.waiting.borrow().len()
    }

    /// Makes one attempt, when it is this caller's turn and the pause of an outage is over.
    pub(crate) async fn attempt<D: Driver>(
        &self,
        driver: &D,
        rt: &Rt,
        texts: &[Text],
    ) -> (Result<D::Connection, Error>, Change) {
        let turn = Turn::take(self).await;
        self.pause(rt).await;
        let attempt = self.attempt_at_once(driver, rt, texts).await;
        drop(turn);
        attempt
    }

    /// Waits until the pause of an outage is over, if there is one.
    pub(crate) async fn pause(&self, rt: &Rt) {
        let next_tries = self.servers.iter().map(|server| server.outage.get().map(|o| o.next_try));
        let next_try =
            next_tries.collect::<Option<Vec<Stamp>>>().and_then(|all| all.into_iter().min());
        if let Some(next_try) = next_try {
            rt.sleep_until(next_try).await;
        }
    }

    /// Connects and prepares statements, whoever else does and however the last attempt ended:
    /// nothing but the target decides how long it takes.
    pub(crate) async fn attempt_at_once<D: Driver>(
        &self,
        driver: &D,
        rt: &Rt,
        texts: &[Text],
    ) -> (Result<D::Connection, Error>, Change) {
        let began = rt.now();
        let mut connection = match driver.connect(rt).await {
            Ok(connection) => connection,
            Err(error) => {
                let change = match error.class() {
                    Class::TooManyConnections => Change::None,
                    _ => self.refused(error.node(), began, rt.now()),
                };
                return (Err(error), change);
            }
        };
        let server = connection.node();
        match prepare(&mut connection, texts).await {
            Ok(()) => (Ok(connection), self.reached(server, rt.now())),
            Err((_, error)) => {
                let change = match error.class() {
                    // A pooler without a server lets clients in, and hangs up then.
                    Class::Disconnect => self.refused(server, began, rt.now()),
                    Class::TooManyConnections => Change::None,
                    _ => self.reached(server, rt.now()),
                };
                (Err(error), change)
            }
        }
    }

    /// An attempt has succeeded. A request that was given up before says nothing of what follows.
    fn reached(&self, server: usize, now: Stamp) -> Change {
        let Server { outage, answered_at, silent_since: _ } = &self.servers[server];
        answered_at.set(now);
        match outage.take() {
            Some(_) => Change::OutageEnded { server },
            None => Change::None,
        }
    }

    /// An attempt that began at `began` has failed.
    fn refused(&self, server: usize, began: Stamp, now: Stamp) -> Change {
        let Server { outage, answered_at, silent_since } = &self.servers[server];
        match outage.get() {
            None => {
                let answered_at = answered_at.get();
                // A server that vanishes without a word is away since the first request that it
                // did not answer.
                let silent = Some(silent_since.get()).filter(|since| *since >= answered_at);
                let since = silent.unwrap_or(began).min(began).max(answered_at);
                let next_try = now + FIRST_PAUSE;
                outage.set(Some(Outage { since, next_try, pause: FIRST_PAUSE }));
                Change::OutageBegan { server, since }
            }
            // Several attempts may fail in one step of the back-off; only the first moves it on.
            Some(known) if now >= known.next_try => {
                let pause = (known.pause * 2).min(LONGEST_PAUSE);
                outage.set(Some(Outage { next_try: now + pause, pause, ..known }));
                Change::StillAway
            }
            Some(_) => Change::StillAway,
        }
    }
}

/// The right to make a connection. Given back when it is dropped, also by a cancelled attempt.
struct Turn<'a>(&'a Link);

impl<'a> Turn<'a> {
    async fn take(link: &'a Link) -> Turn<'a> {
        if link.connecting.get() < AT_ONCE {
            link.connecting.set(link.connecting.get() + 1);
            return Turn(link);
        }
        let slot = Rc::new(Slot::default());
        link.waiting.borrow_mut().push_back(Rc::downgrade(&slot));
        slot.take().await;
        Turn(link)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        while let Some(next) = self.0.waiting.borrow_mut().pop_front() {
            if let Some(next) = next.upgrade() {
                // The turn passes on without being given back.
                next.put(());
                return;
            }
        }
        self.0.connecting.set(self.0.connecting.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Stamp {
        Stamp::ZERO + Nanos::from_secs(seconds)
    }

    /// A server that crashes, comes back, and crashes again before it has answered a request.
    #[test]
    fn second_outage_begins_after_the_end_of_the_first() {
        let link = Link::new(Stamp::ZERO, 1);
        link.note_answer(0, at(3));
        link.note_silence(0, at(4));
        let began = |since| Change::OutageBegan { server: 0, since };
        assert_eq!(link.refused(0, at(5), at(6)), began(at(4)));
        assert_eq!(link.reached(0, at(10)), Change::OutageEnded { server: 0 });
        // Sent before the end of the first outage.
        link.note_silence(0, at(9));
        assert_eq!(link.refused(0, at(12), at(13)), began(at(12)));
        assert_eq!(link.reached(0, at(20)), Change::OutageEnded { server: 0 });
        link.note_silence(0, at(21));
        assert_eq!(link.refused(0, at(25), at(26)), began(at(21)));
    }
}
