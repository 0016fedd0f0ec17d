//! The part of a server that its threads share.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Nanos;

use crate::access::Access;
use crate::busy::refuse;
use crate::head::Head;
use crate::policy::Policy;
use crate::response::Response;
use crate::route::{Pages, Route};

/// The limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections at once, each of which has a thread.
    pub connections: usize,
    /// Maximum time until a request has arrived.
    pub request: Nanos,
    /// Maximum time until an answer, or one event of a stream, is sent.
    pub answer: Nanos,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 32, request: Nanos::from_secs(10), answer: Nanos::from_secs(60) }
    }
}

/// Access, limits and pages of a server, and its open connections.
pub(crate) struct Site {
    access: Access,
    pub(crate) limits: Limits,
    pub(crate) policy: Policy,
    pages: Arc<dyn Pages>,
    open: Mutex<Connections>,
    closed: Condvar,
}

impl Site {
    pub(crate) fn new(
        access: Access,
        limits: Limits,
        policy: Policy,
        pages: Arc<dyn Pages>,
    ) -> Site {
        Site { access, limits, policy, pages, open: Mutex::default(), closed: Condvar::new() }
    }

    /// Returns the route that a request may see, or send a form to.
    pub(crate) fn route(&self, head: &Head) -> Result<Route, Response> {
        self.access.route(head)
    }

    /// Returns the pages.
    pub(crate) fn pages(&self) -> &dyn Pages {
        &*self.pages
    }

    /// Waits until no connection is open, but not longer than `span`.
    pub(crate) fn drain(&self, span: Duration) {
        // A poisoned lock or an expired limit ends the wait, too.
        let _ = self.closed.wait_timeout_while(self.open(), span, |open| !open.all.is_empty());
    }

    fn open(&self) -> MutexGuard<'_, Connections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connections that count as open.
#[derive(Default)]
struct Connections {
    /// The connections, the oldest first.
    all: Vec<Entry>,
    /// Number of the latest connection.
    latest: u64,
}

/// A connection that counts as open.
struct Entry {
    number: u64,
    /// The connection, while a new one may take its place. `None` once its request is admitted, or
    /// if it has no second handle.
    pending: Option<TcpStream>,
}

impl Connections {
    /// Removes and returns the oldest connection whose request has not arrived or is refused. Such
    /// connections must not keep others out: a browser opens some in advance, and an attacker needs
    /// no token to open them.
    fn remove_pending(&mut self) -> Option<TcpStream> {
        let place = self.all.iter().position(|entry| entry.pending.is_some())?;
        self.all.remove(place).pending
    }
}

/// A guard for an open connection. The connection counts as open until the guard is dropped, also
/// by a panic, or until another connection takes its place.
pub(crate) struct OpenConnection {
    site: Arc<Site>,
    number: u64,
}

impl OpenConnection {
    /// Counts a connection. If there are as many as the limits allow, the new connection takes the
    /// place of the oldest one whose request has not arrived or is refused. Returns `None` if there
    /// is no such connection.
    pub(crate) fn register(site: &Arc<Site>, stream: &TcpStream) -> Option<OpenConnection> {
        let mut open = site.open();
        if open.all.len() >= site.limits.connections {
            let mut pending = open.remove_pending()?;
            // A viewer that has gone, or already has its answer, needs no refusal. The end of the
            // stream ends the thread of the connection.
            let _ = refuse(&mut pending, &site.policy);
            let _ = pending.shutdown(Shutdown::Both);
        }
        open.latest += 1;
        let number = open.latest;
        // A connection without a second handle never loses its place to another one.
        open.all.push(Entry { number, pending: stream.try_clone().ok() });
        Some(OpenConnection { site: Arc::clone(site), number })
    }

    /// Records that a request has arrived and is not refused; returns false if another connection
    /// has taken the place of this one.
    pub(crate) fn mark_admitted(&self) -> bool {
        let mut open = self.site.open();
        let entry = open.all.iter_mut().find(|entry| entry.number == self.number);
        entry.map(|entry| entry.pending = None).is_some()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.site.open().all.retain(|entry| entry.number != self.number);
        self.site.closed.notify_all();
    }
}
