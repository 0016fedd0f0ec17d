//! The part of a server that its threads share.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Nanos;

use crate::access::Access;
use crate::head::Head;
use crate::policy::Policy;
use crate::response::Response;
use crate::route::{Pages, Route};

/// The limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections at once, each of which has a thread.
    pub connections: usize,
    /// Longest time until a request has arrived.
    pub request: Nanos,
    /// Longest time until an answer is sent.
    pub answer: Nanos,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 32, request: Nanos::from_secs(10), answer: Nanos::from_secs(60) }
    }
}

/// Access, limits and pages of a server, and the number of its open connections.
pub(crate) struct Site {
    access: Access,
    pub(crate) limits: Limits,
    pub(crate) policy: Policy,
    pages: Arc<dyn Pages>,
    open: Mutex<usize>,
    closed: Condvar,
}

impl Site {
    pub(crate) fn new(
        access: Access,
        limits: Limits,
        policy: Policy,
        pages: Arc<dyn Pages>,
    ) -> Site {
        Site { access, limits, policy, pages, open: Mutex::new(0), closed: Condvar::new() }
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
        // A poisoned or an expired wait ends it too.
        let _ = self.closed.wait_timeout_while(self.open(), span, |open| *open > 0);
    }

    fn open(&self) -> MutexGuard<'_, usize> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that counts as open until it is dropped, also by a panic.
pub(crate) struct OpenConnection(Arc<Site>);

impl OpenConnection {
    /// Counts a connection; `None` if there are as many as the limits allow.
    pub(crate) fn take(site: &Arc<Site>) -> Option<OpenConnection> {
        let mut open = site.open();
        if *open >= site.limits.connections {
            return None;
        }
        *open += 1;
        Some(OpenConnection(Arc::clone(site)))
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        *self.0.open() -= 1;
        self.0.closed.notify_all();
    }
}
