//! Recognition of the observed sessions among all sessions of a server.

use driver::{SessionId, SessionIds};

use crate::environment::Root;
use crate::sockets::{Pairs, SocketSnapshot};

/// Sessions of a run on the observed server: those of the main target, and those of other targets
/// that may be the same server. Clones share the ids.
#[derive(Clone, Debug)]
pub struct OwnSessions {
    main: TargetSessions,
    others: Vec<TargetSessions>,
}

/// Sessions with which a run uses one target.
#[derive(Clone, Debug)]
pub struct TargetSessions {
    /// Name that the client gives to the server: PostgreSQL's `application_name`, the user of MySQL
    /// and MariaDB.
    pub name: String,
    /// Ids that the server gave; `None` if the name alone decides.
    pub ids: Option<SessionIds>,
}

impl TargetSessions {
    /// Returns the ids of the sessions, if the server gave them. A pooler gives ids of its own.
    fn ids_of_server(&self) -> Option<&SessionIds> {
        self.ids.as_ref().filter(|ids| !ids.are_of_pooler())
    }

    /// Returns true if a session with this id is one of these.
    fn contains(&self, id: u64) -> bool {
        self.ids_of_server().is_none_or(|ids| ids.contains(SessionId(id)))
    }
}

impl OwnSessions {
    /// Combines the sessions of the main target and of others.
    pub fn of(
        main: TargetSessions,
        others: impl IntoIterator<Item = TargetSessions>,
    ) -> OwnSessions {
        OwnSessions { main, others: others.into_iter().collect() }
    }

    /// Returns the sessions with a name.
    pub(super) fn named(name: &str) -> OwnSessions {
        OwnSessions::of(TargetSessions { name: name.to_owned(), ids: None }, [])
    }

    /// Returns these sessions as the server shows them. `name` is the name of the main target's
    /// sessions there, which a proxy may have changed. Their ids are the server's own if the
    /// observer `is_direct`ly connected to it.
    pub(super) fn shown_as(&self, name: &str, is_direct: bool) -> OwnSessions {
        let ids = self.main.ids.clone().filter(|_| is_direct);
        let main = TargetSessions { name: name.to_owned(), ids };
        OwnSessions { main, others: self.others.clone() }
    }

    /// Returns the names of the sessions, each once.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.targets().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns true if the ids of the main target's sessions are known, so none of them is taken
    /// for another client's.
    pub(super) fn are_identified(&self) -> bool {
        self.main.ids_of_server().is_some()
    }

    /// Returns true if the session with this name and id is one of the run.
    pub(super) fn contains(&self, name: &str, id: u64) -> bool {
        self.targets().any(|target| target.name == name && target.contains(id))
    }

    /// Returns the number of the run's sessions among `sessions` with this name; their ids are
    /// separated by spaces.
    pub(super) fn count(&self, name: &str, ids: &str, sessions: u64) -> u64 {
        let mut named = self.targets().filter(|target| target.name == name);
        if named.any(|target| target.ids_of_server().is_none()) {
            return sessions;
        }
        let ids = ids.split(' ').filter_map(|id| id.parse().ok());
        (ids.filter(|id| self.contains(name, *id)).count() as u64).min(sessions)
    }

    fn targets(&self) -> impl Iterator<Item = &TargetSessions> {
        std::iter::once(&self.main).chain(&self.others)
    }
}

/// The method that recognises sessions.
#[derive(Debug)]
pub(super) enum SessionFilter<'a> {
    /// The names and ids of a run's sessions.
    Own(&'a OwnSessions),
    /// The sockets of an observed program.
    Sockets(&'a mut Pairs),
}

/// The knowledge by which the sessions of one sample are recognised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<'a> {
    /// Names and ids.
    Own(&'a OwnSessions),
    /// Sockets.
    Sockets(&'a SocketSnapshot),
}

impl<'a> SessionFilter<'a> {
    /// Returns the knowledge for the sessions with these client ports.
    pub(super) fn look(self, ports: impl FnOnce() -> Vec<u16>) -> Known<'a> {
        match self {
            SessionFilter::Own(own) => Known::Own(own),
            SessionFilter::Sockets(pairs) => Known::Sockets(pairs.look(&Root::system(), &ports())),
        }
    }
}

impl<'a> Known<'a> {
    /// Returns the sockets of an observed program.
    pub(super) fn sockets(self) -> Option<&'a SocketSnapshot> {
        match self {
            Known::Sockets(sockets) => Some(sockets),
            Known::Own(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, ids: &SessionIds) -> TargetSessions {
        TargetSessions { name: name.to_owned(), ids: Some(ids.clone()) }
    }

    #[test]
    fn session_of_another_target_has_its_own_name() {
        let [main, other] = [(); 2].map(|()| SessionIds::default());
        let _open = [main.add(SessionId(1)), other.add(SessionId(2))];
        let own = OwnSessions::of(target("app", &main), [target("admin", &other)]);
        for (name, id, expected) in
            [("app", 1, true), ("admin", 2, true), ("app", 2, false), ("admin", 1, false)]
        {
            assert_eq!(own.contains(name, id), expected, "{name} {id}");
        }
        assert_eq!([own.count("app", "1 2 3", 3), own.count("psql", "1 2", 2)], [1, 0]);
        assert_eq!(own.names(), ["admin", "app"]);
    }

    #[test]
    fn sessions_behind_a_pooler_are_recognised_by_their_name() {
        let [main, other] = [(); 2].map(|()| SessionIds::default());
        let _open = main.add(SessionId(1));
        let own = OwnSessions::of(target("app", &main), [target("pool", &other)]);
        other.note_pooler();
        assert!(own.contains("pool", 7) && !own.contains("app", 7) && own.are_identified());
        let shown = own.shown_as("proxy", false);
        assert!(shown.contains("proxy", 7) && shown.contains("pool", 7));
        assert!(!shown.contains("app", 1) && !shown.are_identified());
        assert_eq!((own.count("pool", "7 8", 2), own.count("app", "7 8", 2)), (2, 0));
        let direct = own.shown_as("app", true);
        assert!(direct.contains("app", 1) && !direct.contains("app", 7));
    }
}
