//! The part of a server that its threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::Nanos;

use crate::access::Access;
use crate::head::Head;
use crate::response::Response;
use crate::route::Pages;

/// The limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most connections at once, each of which has a thread.
    pub connections: usize,
    /// Longest time until the head of a request has arrived.
    pub head: Nanos,
    /// Longest time until an answer is sent.
    pub answer: Nanos,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 32, head: Nanos::from_secs(10), answer: Nanos::from_secs(60) }
    }
}

/// Access, limits and pages of a server, and the number of its open connections.
pub(crate) struct Site {
    access: Access,
    pub(crate) limits: Limits,
    pub(crate) style: &'static str,
    pages: Arc<dyn Pages>,
    open: AtomicUsize,
}

impl Site {
    pub(crate) fn new(
        access: Access,
        limits: Limits,
        style: &'static str,
        pages: Arc<dyn Pages>,
    ) -> Site {
        Site { access, limits, style, pages, open: AtomicUsize::new(0) }
    }

    /// Returns the answer to a request.
    pub(crate) fn answer(&self, head: &Head) -> Response {
        match self.access.route(head) {
            Ok(route) => self.pages.answer(&route),
            Err(refusal) => refusal,
        }
    }
}

/// A connection that counts as open until it is dropped, also by a panic.
pub(crate) struct Turn(Arc<Site>);

impl Turn {
    /// Counts a connection; `None` if there are as many as the limits allow.
    pub(crate) fn take(site: &Arc<Site>) -> Option<Turn> {
        let before = site.open.fetch_add(1, Ordering::Relaxed);
        let turn = Turn(Arc::clone(site));
        (before < site.limits.connections).then_some(turn)
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
