//! Recognition of the observed sessions among all sessions of a server.

use driver::{SessionId, SessionIds};

use crate::environment::Root;
use crate::sockets::{Pairs, SocketSnapshot};

/// Ids of the sessions of a run. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct OwnSessions(Vec<SessionIds>);

impl OwnSessions {
    /// Returns the sessions of drivers with these ids.
    pub fn of(drivers: impl IntoIterator<Item = SessionIds>) -> OwnSessions {
        OwnSessions(drivers.into_iter().collect())
    }

    /// Returns true if the session with this id is one of the run.
    pub(super) fn contains(&self, id: u64) -> bool {
        self.0.iter().any(|ids| ids.contains(SessionId(id)))
    }

    /// Returns the number of the run's sessions among those with these ids, which spaces separate.
    pub(super) fn count(&self, ids: &str) -> u64 {
        let ids = ids.split(' ').filter_map(|id| id.parse().ok());
        ids.filter(|id| self.contains(*id)).count() as u64
    }
}

/// The method that recognises sessions.
#[derive(Debug)]
pub(super) enum SessionFilter<'a> {
    /// The name that a client gives to the server: PostgreSQL's `application_name`, the user of
    /// MySQL and MariaDB. A proxy may show the server other names.
    Name,
    /// The name, and the id that the server gave to the session.
    Id(&'a OwnSessions),
    /// The sockets of an observed program.
    Sockets(&'a mut Pairs),
}

/// The knowledge by which the sessions of one sample are recognised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<'a> {
    /// Names alone.
    Names,
    /// Names and ids.
    Ids(&'a OwnSessions),
    /// Sockets.
    Sockets(&'a SocketSnapshot),
}

impl<'a> SessionFilter<'a> {
    /// Returns the knowledge for the sessions with these client ports.
    pub(super) fn look(self, ports: impl FnOnce() -> Vec<u16>) -> Known<'a> {
        match self {
            SessionFilter::Name => Known::Names,
            SessionFilter::Id(own) => Known::Ids(own),
            SessionFilter::Sockets(pairs) => Known::Sockets(pairs.look(&Root::system(), &ports())),
        }
    }
}

impl<'a> Known<'a> {
    /// Returns the sockets of an observed program.
    pub(super) fn sockets(self) -> Option<&'a SocketSnapshot> {
        match self {
            Known::Sockets(sockets) => Some(sockets),
            Known::Names | Known::Ids(_) => None,
        }
    }
}
