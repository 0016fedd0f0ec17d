//! Reaching the target: how many connect at once, and what happens while nobody can.
//!
//! At most [`AT_ONCE`] connections of a lane are being made at the same time. When the target
//! refuses one, the link is down: attempts back off from [`FIRST_PAUSE`] to [`LONGEST_PAUSE`], and
//! the first one that succeeds ends the outage for everybody. Requests that open a connection of
//! their own are held back by neither, but what becomes of their attempts counts as well.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use base::{Clock, Nanos, Stamp};
use driver::{Driver, Error};
use rt::{Rt, Slot};

/// How many connections of a lane are made at the same time.
pub(crate) const AT_ONCE: usize = 16;

pub(crate) const FIRST_PAUSE: Nanos = Nanos::from_millis(50);
pub(crate) const LONGEST_PAUSE: Nanos = Nanos::from_secs(1);

/// The state of the way to one target, shared by the clients of one lane.
pub(crate) struct Link {
    connecting: Cell<usize>,
    /// Who waits for its turn; a cancelled attempt leaves an empty reference behind.
    waiting: RefCell<VecDeque<Weak<Slot<()>>>>,
    outage: Cell<Option<Outage>>,
    /// When the target last answered a request.
    answered_at: Cell<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outage {
    since: Stamp,
    next_try: Stamp,
    pause: Nanos,
}

/// What an attempt to connect changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing: the target was and is reachable, or was and is not.
    None,
    /// The target refused for the first time.
    OutageBegan,
    /// The target accepted again.
    OutageEnded,
}

impl Link {
    /// A way that is open at this instant.
    pub(crate) fn new(now: Stamp) -> Link {
        Link {
            connecting: Cell::new(0),
            waiting: RefCell::new(VecDeque::new()),
            outage: Cell::new(None),
            answered_at: Cell::new(now),
        }
    }

    /// Whether the target refuses connections.
    pub(crate) fn is_down(&self) -> bool {
        self.outage.get().is_some()
    }

    /// Since when the target refuses connections.
    pub(crate) fn down_since(&self) -> Option<Stamp> {
        self.outage.get().map(|outage| outage.since)
    }

    /// When the target last answered a request; when the way was opened, if it never did.
    pub(crate) fn answered_at(&self) -> Stamp {
        self.answered_at.get()
    }

    pub(crate) fn note_answer(&self, at: Stamp) {
        self.answered_at.set(at);
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
    ) -> (Result<D::Connection, Error>, Change) {
        let turn = Turn::take(self).await;
        self.pause(rt).await;
        let attempt = self.attempt_at_once(driver, rt).await;
        drop(turn);
        attempt
    }

    /// Waits until the pause of an outage is over, if there is one.
    pub(crate) async fn pause(&self, rt: &Rt) {
        if let Some(outage) = self.outage.get() {
            rt.sleep_until(outage.next_try).await;
        }
    }

    /// Makes one attempt, whoever else does and however the last one ended: nothing but the target
    /// decides how long it takes.
    pub(crate) async fn attempt_at_once<D: Driver>(
        &self,
        driver: &D,
        rt: &Rt,
    ) -> (Result<D::Connection, Error>, Change) {
        let result = driver.connect(rt).await;
        let change = match &result {
            Ok(_) => self.reached(),
            Err(error) if error.class() == base::Class::Disconnect => self.refused(rt.now()),
            Err(_) => Change::None,
        };
        (result, change)
    }

    fn reached(&self) -> Change {
        match self.outage.take() {
            Some(_) => Change::OutageEnded,
            None => Change::None,
        }
    }

    fn refused(&self, now: Stamp) -> Change {
        match self.outage.get() {
            None => {
                let next_try = now + FIRST_PAUSE;
                self.outage.set(Some(Outage { since: now, next_try, pause: FIRST_PAUSE }));
                Change::OutageBegan
            }
            // Several attempts may fail in one step of the back-off; only the first moves it on.
            Some(outage) if now >= outage.next_try => {
                let pause = (outage.pause * 2).min(LONGEST_PAUSE);
                self.outage.set(Some(Outage { next_try: now + pause, pause, ..outage }));
                Change::None
            }
            Some(_) => Change::None,
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
