//! Links to targets: the limit on simultaneous attempts to connect, and the back-off after
//! failures.
//!
//! For each target, a lane opens at most [`SIMULTANEOUS_ATTEMPTS`] connections at the same time. An
//! attempt shows an outage of the server in three cases:
//!
//! * The server is unreachable.
//! * It refuses the login for any reason (password changed, database dropped, starting up, shutting
//!   down).
//! * It closes the connection or does not answer before the statements are prepared (if there are
//!   none, before a first statement is answered).
//!
//! These failures are outages because the server had accepted clients before time zero. A statement
//! that the server rejects is no outage.
//!
//! There are two exceptions. A full server is no outage, but limits the job, while a client of the
//! job has a connection or the server answers other jobs. In every other case it is an outage as
//! well, once the tolerance of the job is over (`LaneState::full_server_tolerance`). A server that
//! does not answer an attempt in time, but answers other clients, counts as a full pooler.
//!
//! The link is down while every server of the target has an outage. Attempts then back off from
//! [`FIRST_PAUSE`] to [`LONGEST_PAUSE`]. The first attempt that succeeds at a server ends the
//! outage of this server. Requests that open a connection of their own do not wait for the limit,
//! and wait for the back-off only with `outage = wait`. The results of their attempts begin and end
//! outages as well.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use base::{Class, Clock, Code, Nanos, NodeId, Stamp};
use driver::{Connection, Driver, Error};
use rt::{Rt, Slot};

use crate::back_off::{FIRST_PAUSE, LONGEST_PAUSE};
use crate::statements::{StatementText, prepare};

/// Maximum number of connections to one target that a lane opens at the same time; before time
/// zero, to all targets together. Requests that open their own connections do not count.
pub(crate) const SIMULTANEOUS_ATTEMPTS: usize = 16;

/// The state of the link to one target, shared by the clients of one lane.
pub(crate) struct Link {
    /// Number of attempts in progress, without those of requests that open their own connections.
    connecting: Cell<usize>,
    /// Attempts that wait for their turn; a cancelled one leaves an empty reference behind.
    waiting: RefCell<VecDeque<Weak<Slot<()>>>>,
    /// The servers of the target; at least one.
    servers: Box<[Server]>,
    /// Number of connections of all jobs of the target that still existed at the end of the
    /// schedule.
    left_at_end: Cell<u32>,
}

/// One server of a target, as the clients of one lane see it.
struct Server {
    outage: Cell<Option<Outage>>,
    /// Instant of the server's last answer to a request or of its last new session, whichever is
    /// later; at first, the instant at which the link was created.
    answered_at: Cell<Stamp>,
    /// Start of the earliest request that was sent after the server's last answer and given up
    /// without an answer. Only meaningful if not earlier than `answered_at`.
    silent_since: Cell<Stamp>,
    /// Start of the first attempt refused for lack of connections since the server last accepted a
    /// client; `None` if there was none.
    full_since: Cell<Option<Stamp>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outage {
    since: Stamp,
    /// Instant of the latest refusal.
    refused_at: Stamp,
    next_try: Stamp,
    pause: Nanos,
}

/// The effect of an attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkChange {
    /// The reachability of the server has not changed, or the attempt says nothing about it.
    None,
    /// The server still accepts no client.
    StillRefused,
    /// The server no longer accepts clients.
    OutageBegan {
        /// Index of the server.
        server: NodeId,
        /// Start of the outage, as closely as it is known.
        since: Stamp,
    },
    /// The server accepts clients again.
    OutageEnded {
        /// Index of the server.
        server: NodeId,
    },
}

impl LinkChange {
    /// Returns true if the server to which the attempt went has an outage.
    pub(crate) fn is_outage(self) -> bool {
        match self {
            LinkChange::StillRefused | LinkChange::OutageBegan { .. } => true,
            LinkChange::None | LinkChange::OutageEnded { .. } => false,
        }
    }
}

impl Link {
    /// Creates a link to `servers` servers, all of them reachable at `now`.
    pub(crate) fn new(now: Stamp, servers: usize) -> Link {
        let server = || Server {
            outage: Cell::new(None),
            answered_at: Cell::new(now),
            silent_since: Cell::new(Stamp::ZERO),
            full_since: Cell::new(None),
        };
        Link {
            connecting: Cell::new(0),
            waiting: RefCell::new(VecDeque::new()),
            servers: (0..servers.max(1)).map(|_| server()).collect(),
            left_at_end: Cell::new(0),
        }
    }

    /// Returns the number of servers of the target.
    pub(crate) fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Returns true if every server of the target has an outage.
    pub(crate) fn is_down(&self) -> bool {
        self.servers.iter().all(|server| server.outage.get().is_some())
    }

    /// Returns the instant since which every server of the target has had an outage; `None` if a
    /// server has none.
    pub(crate) fn down_since(&self) -> Option<Stamp> {
        let since = self.servers.iter().map(|server| server.outage.get().map(|o| o.since));
        since.collect::<Option<Vec<Stamp>>>()?.into_iter().max()
    }

    /// Returns the instant of the latest refusal by a server of the target; `None` if a server has
    /// no outage.
    pub(crate) fn refused_at(&self) -> Option<Stamp> {
        let refused = self.servers.iter().map(|server| server.outage.get().map(|o| o.refused_at));
        refused.collect::<Option<Vec<Stamp>>>()?.into_iter().max()
    }

    /// Returns the instant at which the target last answered a request or accepted a client; if it
    /// never did, the instant at which the link was created.
    pub(crate) fn answered_at(&self) -> Stamp {
        let answered = self.servers.iter().map(|server| server.answered_at.get());
        answered.max().unwrap_or(Stamp::ZERO)
    }

    /// Records that a server answered a request at `at`.
    #[inline]
    pub(crate) fn note_answer(&self, server: NodeId, at: Stamp) {
        self.servers[server.index()].answered_at.set(at);
    }

    /// Records that a request sent at `sent` was given up without an answer.
    pub(crate) fn note_unanswered(&self, server: NodeId, sent: Stamp) {
        let Server { answered_at, silent_since, .. } = &self.servers[server.index()];
        let is_known = silent_since.get() >= answered_at.get();
        if sent >= answered_at.get() && !(is_known && silent_since.get() <= sent) {
            silent_since.set(sent);
        }
    }

    /// Adds the number of connections that a job still had at the end of the schedule.
    pub(crate) fn note_left_at_end(&self, connections: u32) {
        self.left_at_end.set(self.left_at_end.get() + connections);
    }

    /// Returns the number of connections that the jobs still had at the end of the schedule.
    pub(crate) fn left_at_end(&self) -> u32 {
        self.left_at_end.get()
    }

    /// Returns the number of attempts that are in progress or wait for their turn, without those of
    /// requests that open their own connections.
    pub(crate) fn attempts(&self) -> usize {
        self.connecting.get() + self.waiting.borrow().len()
    }

    /// Attempts to connect once, as soon as it is this attempt's turn and the pause of an outage is
    /// over, and prepares the statements in `texts`. If `texts` is empty, waits until the server
    /// has answered a first statement, because a pooler without a server accepts clients as well.
    /// `tolerance` returns the time after which a full server is an outage for the client's job.
    pub(crate) async fn attempt<D: Driver>(
        &self,
        driver: &D,
        rt: &Rt,
        tolerance: impl Fn() -> Nanos,
        texts: &[StatementText],
    ) -> (Result<D::Connection, Error>, LinkChange) {
        let permit = ConnectPermit::take(self).await;
        self.pause(rt).await;
        let begin = async |connection: &mut D::Connection| match texts {
            [] => connection.await_session().await,
            _ => prepare(connection, texts).await.map_err(|(_, error)| error),
        };
        let attempt = self.open_session(driver, rt, tolerance, begin).await;
        drop(permit);
        attempt
    }

    /// While the link is down, waits until the pause of one of its servers is over.
    pub(crate) async fn pause(&self, rt: &Rt) {
        let next_tries = self.servers.iter().map(|server| server.outage.get().map(|o| o.next_try));
        let next_try =
            next_tries.collect::<Option<Vec<Stamp>>>().and_then(|all| all.into_iter().min());
        if let Some(next_try) = next_try {
            rt.sleep_until(next_try).await;
        }
    }

    /// Connects and prepares statements without waiting for other attempts or for the back-off.
    /// Only the target decides how long this takes.
    pub(crate) async fn attempt_immediately<D: Driver>(
        &self,
        driver: &D,
        rt: &Rt,
        tolerance: impl Fn() -> Nanos,
        texts: &[StatementText],
    ) -> (Result<D::Connection, Error>, LinkChange) {
        // Without statements, no answer is awaited: it would lengthen the measured time.
        let begin = async |connection: &mut D::Connection| {
            prepare(connection, texts).await.map_err(|(_, error)| error)
        };
        self.open_session(driver, rt, tolerance, begin).await
    }

    /// Connects, calls `begin` with the connection, and records what the result says about the
    /// server. The server is reachable if both steps succeed, or if it rejects a statement.
    async fn open_session<D: Driver>(
        &self,
        driver: &D,
        rt: &Rt,
        tolerance: impl Fn() -> Nanos,
        begin: impl AsyncFnOnce(&mut D::Connection) -> Result<(), Error>,
    ) -> (Result<D::Connection, Error>, LinkChange) {
        let began = rt.now();
        let note_full = |server| self.note_full(server, began, rt.now(), tolerance());
        let mut connection = match driver.connect(rt).await {
            Ok(connection) => connection,
            Err(error) => {
                let change = match error.class() {
                    Class::TooManyConnections => note_full(error.node()),
                    _ => self.note_refused(error.node(), began, rt.now()),
                };
                return (Err(error), change);
            }
        };
        let server = connection.node();
        match begin(&mut connection).await {
            Ok(()) => (Ok(connection), self.note_reached(server, rt.now())),
            // A server that answers others but not this session is a pooler without a free session.
            // A closed connection is different: it may mean that the server has ended.
            Err(error) if error.is_unanswered() && self.is_answering(server, began, rt.now()) => {
                let words = error.message();
                let error = Error::new(Class::TooManyConnections, Code::NO_SESSION, words);
                (Err(error), note_full(server))
            }
            Err(error) => {
                let change = match error.class() {
                    // A pooler without a server accepts clients and then closes the connection.
                    Class::Disconnect => self.note_refused(server, began, rt.now()),
                    Class::TooManyConnections => note_full(server),
                    _ => self.note_reached(server, rt.now()),
                };
                (Err(error), change)
            }
        }
    }

    /// Returns true if the server has answered other clients since `began`, the last of them less
    /// than [`LONGEST_PAUSE`] before `now`. A server that stalled after `began` may also have
    /// answered, but not as recently.
    fn is_answering(&self, server: NodeId, began: Stamp, now: Stamp) -> bool {
        let answered_at = self.servers[server.index()].answered_at.get();
        answered_at > began && now.since(answered_at) < LONGEST_PAUSE
    }

    /// Records that an attempt to reach the server succeeded. The server's earlier unanswered
    /// requests no longer count.
    fn note_reached(&self, server: NodeId, now: Stamp) -> LinkChange {
        let Server { outage, answered_at, full_since, silent_since: _ } =
            &self.servers[server.index()];
        answered_at.set(now);
        full_since.set(None);
        match outage.take() {
            Some(_) => LinkChange::OutageEnded { server },
            None => LinkChange::None,
        }
    }

    /// Records an attempt that began at `began` and that a full server refused. The refusal is an
    /// outage if the server has been full for `tolerance` and answered no request in this time, or
    /// if the server already has an outage.
    fn note_full(&self, server: NodeId, began: Stamp, now: Stamp, tolerance: Nanos) -> LinkChange {
        let Server { outage, full_since, answered_at, .. } = &self.servers[server.index()];
        let since = full_since.get().unwrap_or(began);
        full_since.set(Some(since));
        let silent = now.since(since.max(answered_at.get()));
        // Attempts of all jobs share the back-off of an outage.
        match outage.get().is_some() || silent >= tolerance {
            true => self.note_refused(server, since, now),
            false => LinkChange::None,
        }
    }

    /// Records a failed attempt that began at `began`: begins or continues an outage.
    fn note_refused(&self, server: NodeId, began: Stamp, now: Stamp) -> LinkChange {
        let Server { outage, answered_at, silent_since, full_since: _ } =
            &self.servers[server.index()];
        match outage.get() {
            None => {
                let answered_at = answered_at.get();
                // A server that vanishes silently has been unreachable since the first request that
                // it did not answer.
                let silent = Some(silent_since.get()).filter(|since| *since >= answered_at);
                let since = silent.unwrap_or(began).min(began).max(answered_at);
                let next_try = now + FIRST_PAUSE;
                outage.set(Some(Outage { since, refused_at: now, next_try, pause: FIRST_PAUSE }));
                LinkChange::OutageBegan { server, since }
            }
            // Several attempts may fail in one round of the back-off; only the first lengthens the
            // pause.
            Some(known) if now >= known.next_try => {
                let pause = (known.pause * 2).min(LONGEST_PAUSE);
                outage.set(Some(Outage { refused_at: now, next_try: now + pause, pause, ..known }));
                LinkChange::StillRefused
            }
            Some(known) => {
                outage.set(Some(Outage { refused_at: now, ..known }));
                LinkChange::StillRefused
            }
        }
    }
}

/// The right to open a connection. When dropped, even because the attempt is cancelled, the right
/// goes to the next attempt that waits.
struct ConnectPermit<'a>(&'a Link);

impl<'a> ConnectPermit<'a> {
    async fn take(link: &'a Link) -> ConnectPermit<'a> {
        if link.connecting.get() < SIMULTANEOUS_ATTEMPTS {
            link.connecting.set(link.connecting.get() + 1);
            return ConnectPermit(link);
        }
        let slot = Rc::new(Slot::default());
        link.waiting.borrow_mut().push_back(Rc::downgrade(&slot));
        slot.take().await;
        ConnectPermit(link)
    }
}

impl Drop for ConnectPermit<'_> {
    fn drop(&mut self) {
        while let Some(next) = self.0.waiting.borrow_mut().pop_front() {
            if let Some(next) = next.upgrade() {
                // The count stays the same, because the right passes to the next attempt.
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

    const NODE: NodeId = NodeId(0);

    fn at(seconds: u64) -> Stamp {
        Stamp::ZERO + Nanos::from_secs(seconds)
    }

    /// A server crashes, comes back, and crashes again before it has answered a request. Expects
    /// that each outage begins after the end of the previous one.
    #[test]
    fn second_outage_begins_after_the_end_of_the_first() {
        let link = Link::new(Stamp::ZERO, 1);
        link.note_answer(NODE, at(3));
        link.note_unanswered(NODE, at(4));
        let began = |since| LinkChange::OutageBegan { server: NODE, since };
        assert_eq!(link.note_refused(NODE, at(5), at(6)), began(at(4)));
        assert_eq!(link.note_reached(NODE, at(10)), LinkChange::OutageEnded { server: NODE });
        // Sent before the end of the first outage.
        link.note_unanswered(NODE, at(9));
        assert_eq!(link.note_refused(NODE, at(12), at(13)), began(at(12)));
        assert_eq!(link.note_reached(NODE, at(20)), LinkChange::OutageEnded { server: NODE });
        link.note_unanswered(NODE, at(21));
        assert_eq!(link.note_refused(NODE, at(25), at(26)), began(at(21)));
    }

    /// A server is full, accepts a client, is full again, and answers a client that is still
    /// connected. Expects an outage once the server has been full, without an answer, for as long
    /// as the job tolerates.
    #[test]
    fn full_server_is_an_outage_beyond_the_tolerance_of_the_job() {
        let link = Link::new(Stamp::ZERO, 1);
        link.note_answer(NODE, at(1));
        let full = |began, now, tolerance| link.note_full(NODE, at(began), at(now), tolerance);
        let (none, some) = (Nanos::ZERO, Nanos::from_secs(2));
        let began = |since| LinkChange::OutageBegan { server: NODE, since };
        assert_eq!(full(3, 4, Nanos::MAX), LinkChange::None);
        assert_eq!(full(4, 4, some), LinkChange::None);
        assert_eq!(full(4, 5, some), began(at(3)));
        assert_eq!(full(6, 6, Nanos::MAX), LinkChange::StillRefused);
        assert_eq!(link.note_reached(NODE, at(7)), LinkChange::OutageEnded { server: NODE });
        assert_eq!(full(8, 8, some), LinkChange::None);
        link.note_answer(NODE, at(9));
        assert_eq!(full(10, 10, some), LinkChange::None);
        assert_eq!(full(10, 10, none), began(at(9)));
    }
}
