//! Recognition of the observed sessions among all sessions of a server.

use base::NodeId;
use driver::{SessionId, SessionIds};

use crate::environment::Root;
use crate::sockets::{SessionClient, SocketPairs, SocketSnapshot};

/// Sessions of a run on the observed server: those of the main target, and those of other targets
/// that may be on the same server. Clones share the lists of ids.
#[derive(Clone, Debug)]
pub struct OwnSessions {
    main: TargetSessions,
    others: Vec<TargetSessions>,
    /// Ids at the observed server, once it is known which server is observed. A session with one of
    /// these ids belongs to the run, whatever its name, because a statement may have changed the
    /// name.
    ids_at_observed: Vec<SessionIds>,
}

/// The sessions of a run at one target.
#[derive(Clone, Debug)]
pub struct TargetSessions {
    /// Name that the client gives to the server: PostgreSQL's `application_name`, or the user of
    /// MySQL and MariaDB.
    pub name: String,
    /// Ids that the servers assigned, by [`NodeId`]; `None` if sessions can be recognised only by
    /// name.
    pub ids: Option<Vec<SessionIds>>,
}

impl TargetSessions {
    /// Returns the ids of the sessions; `None` if they are unknown, or if a pooler assigned them
    /// instead of the servers.
    fn ids_from_servers(&self) -> Option<&[SessionIds]> {
        self.ids.as_deref().filter(|ids| !ids.iter().any(SessionIds::are_of_pooler))
    }

    /// Returns true if a session with this id may belong to this target: the id is one of the known
    /// ids, or no ids are known.
    fn contains(&self, id: u64) -> bool {
        let has_id = |ids: &SessionIds| ids.contains(SessionId(id));
        self.ids_from_servers().is_none_or(|ids| ids.iter().any(has_id))
    }

    /// Returns those sessions that may be at the same server as the sessions `others`; `None` if
    /// there are none.
    fn at_server_of(&self, others: &SessionIds) -> Option<TargetSessions> {
        let Some(ids) = &self.ids else { return Some(self.clone()) };
        let there = ids.iter().filter(|ids| ids.may_share_server(others));
        let ids: Vec<SessionIds> = there.cloned().collect();
        (!ids.is_empty()).then(|| TargetSessions { name: self.name.clone(), ids: Some(ids) })
    }
}

impl OwnSessions {
    /// Combines the sessions of the main target and of other targets.
    pub fn of(
        main: TargetSessions,
        others: impl IntoIterator<Item = TargetSessions>,
    ) -> OwnSessions {
        OwnSessions { main, others: others.into_iter().collect(), ids_at_observed: Vec::new() }
    }

    /// Returns the sessions with a name.
    pub(super) fn named(name: &str) -> OwnSessions {
        OwnSessions::of(TargetSessions { name: name.to_owned(), ids: None }, [])
    }

    /// Returns these sessions as the server `node` of the main target shows them, without sessions
    /// at other servers. `name` is the name of the main target's sessions there, which a proxy may
    /// have changed. With `is_direct`, the observer is connected to the server directly, so the ids
    /// of the sessions are those of the server.
    pub(super) fn at_observed_server(
        &self,
        name: &str,
        is_direct: bool,
        node: NodeId,
    ) -> OwnSessions {
        let observed = self.main.ids.as_ref().and_then(|ids| ids.get(node.index()));
        let shown = |target: &TargetSessions| match observed {
            Some(observed) => target.at_server_of(observed),
            None => Some(target.clone()),
        };
        let ids = shown(&self.main).and_then(|main| main.ids).filter(|_| is_direct);
        let main = TargetSessions { name: name.to_owned(), ids };
        let mut own = OwnSessions::of(main, self.others.iter().filter_map(shown));
        let all = own.targets().filter_map(TargetSessions::ids_from_servers).flatten();
        let is_at_observed = |ids: &&SessionIds| observed.is_some_and(|it| ids.share_server(it));
        own.ids_at_observed = all.filter(is_at_observed).cloned().collect();
        own
    }

    /// Returns the names of the sessions, each once.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.targets().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns true if the ids of the main target's sessions are known. No session of the run is
    /// then mistaken for a session of another client.
    pub(super) fn are_identified(&self) -> bool {
        self.main.ids_from_servers().is_some()
    }

    /// Returns true if the session with this name and id belongs to the run.
    pub(super) fn contains(&self, name: &str, id: u64) -> bool {
        self.ids_at_observed.iter().any(|ids| ids.contains(SessionId(id)))
            || self.targets().any(|target| target.name == name && target.contains(id))
    }

    /// Returns true if this is the name of sessions of the run.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.targets().any(|target| target.name == name)
    }

    /// Returns the number of sessions that belong to the run, out of `sessions` sessions with this
    /// name and these ids.
    pub(super) fn count(&self, name: &str, ids: &[u64], sessions: u64) -> u64 {
        let mut named = self.targets().filter(|target| target.name == name);
        if named.any(|target| target.ids_from_servers().is_none()) {
            return sessions;
        }
        (ids.iter().filter(|id| self.contains(name, **id)).count() as u64).min(sessions)
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
    Sockets(&'a mut SocketPairs),
}

/// The data by which the sessions of one sample are recognised.
#[derive(Clone, Copy, Debug)]
pub(super) enum RecognitionData<'a> {
    /// Names and ids of a run's sessions.
    Own(&'a OwnSessions),
    /// Sockets of an observed program.
    Sockets(&'a SocketSnapshot),
}

impl<'a> SessionFilter<'a> {
    /// Returns the data by which sessions are recognised in one sample; `clients` returns the
    /// clients of the sessions.
    pub(super) fn recognition_data(
        self,
        clients: impl FnOnce() -> Vec<SessionClient>,
    ) -> RecognitionData<'a> {
        match self {
            SessionFilter::Own(own) => RecognitionData::Own(own),
            SessionFilter::Sockets(pairs) => {
                RecognitionData::Sockets(pairs.read_snapshot(&Root::system(), &clients()))
            }
        }
    }
}

impl<'a> RecognitionData<'a> {
    /// Returns the sockets of an observed program; `None` if sessions are recognised by names and
    /// ids.
    pub(super) fn sockets(self) -> Option<&'a SocketSnapshot> {
        match self {
            RecognitionData::Sockets(sockets) => Some(sockets),
            RecognitionData::Own(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use driver::{ServerId, Table};

    use super::*;

    fn target(name: &str, ids: &SessionIds) -> TargetSessions {
        TargetSessions { name: name.to_owned(), ids: Some(vec![ids.clone()]) }
    }

    const FIRST: NodeId = NodeId(0);

    /// Records that the sessions are at a server.
    fn at(ids: &SessionIds, server: &str) {
        let rows = vec![vec![Some(server.to_owned())]];
        let description = Table { rows, ..Table::default() };
        ids.note_server(ServerId::of(&description).expect("a server"));
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
        assert_eq!([own.count("app", &[1, 2, 3], 3), own.count("psql", &[1, 2], 2)], [1, 0]);
        assert_eq!(own.names(), ["admin", "app"]);
    }

    #[test]
    fn sessions_behind_a_pooler_are_recognised_by_their_name() {
        let [main, other] = [(); 2].map(|()| SessionIds::default());
        let _open = main.add(SessionId(1));
        let own = OwnSessions::of(target("app", &main), [target("pool", &other)]);
        other.note_pooler();
        assert!(own.contains("pool", 7) && !own.contains("app", 7) && own.are_identified());
        let shown = own.at_observed_server("proxy", false, FIRST);
        assert!(shown.contains("proxy", 7) && shown.contains("pool", 7));
        assert!(!shown.contains("app", 1) && !shown.are_identified());
        assert_eq!((own.count("pool", &[7, 8], 2), own.count("app", &[7, 8], 2)), (2, 0));
        let direct = own.at_observed_server("app", true, FIRST);
        assert!(direct.contains("app", 1) && !direct.contains("app", 7));
    }

    #[test]
    fn session_at_another_server_may_have_an_id_of_ours() {
        let [main, same, elsewhere, unknown] = [(); 4].map(|()| SessionIds::default());
        let all = [(&main, 1), (&same, 2), (&elsewhere, 3), (&unknown, 4)];
        let _open = all.map(|(ids, id)| ids.add(SessionId(id)));
        for (ids, server) in [(&main, "one"), (&same, "one"), (&elsewhere, "two")] {
            at(ids, server);
        }
        let others = [&same, &elsewhere, &unknown].map(|ids| target("app", ids));
        let shown =
            OwnSessions::of(target("app", &main), others).at_observed_server("app", true, FIRST);
        let contained = [1, 2, 3, 4].map(|id| shown.contains("app", id));
        assert_eq!(contained, [true, true, false, true]);
    }

    #[test]
    fn session_that_changes_its_name_stays_ours() {
        let [main, second, unknown] = [(); 3].map(|()| SessionIds::default());
        let all = [(&main, 1), (&second, 2), (&unknown, 3)];
        let _open = all.map(|(ids, id)| ids.add(SessionId(id)));
        at(&main, "one");
        at(&second, "one");
        let others = [target("admin", &second), target("far", &unknown)];
        let own =
            OwnSessions::of(target("app", &main), others).at_observed_server("app", true, FIRST);
        assert_eq!([1, 2, 3, 4].map(|id| own.contains("report", id)), [true, true, false, false]);
        assert_eq!(own.count("", &[1, 2, 3, 4], 4), 2);
        assert!(own.contains("far", 3));
        main.note_pooler();
        let own = own.at_observed_server("app", false, FIRST);
        assert!(!own.contains("report", 1) && own.contains("app", 9));
    }

    #[test]
    fn pooler_may_lead_to_several_servers() {
        let [main, pooler] = [(); 2].map(|()| SessionIds::default());
        at(&main, "one");
        at(&pooler, "two");
        pooler.note_pooler();
        let own = OwnSessions::of(target("app", &main), [target("pool", &pooler)]);
        let shown = own.at_observed_server("app", true, FIRST);
        assert!(shown.contains("pool", 7) && !shown.contains("app", 7));
    }

    #[test]
    fn hosts_of_one_target_have_ids_of_their_own() {
        let [first, second] = [(); 2].map(|()| SessionIds::default());
        let _open = [first.add(SessionId(1)), second.add(SessionId(2))];
        at(&first, "one");
        at(&second, "two");
        let ids = Some(vec![first, second]);
        let own = OwnSessions::of(TargetSessions { name: "app".to_owned(), ids }, []);
        for (node, expected) in [(0, [true, false]), (1, [false, true])] {
            let shown = own.at_observed_server("app", true, NodeId(node));
            assert_eq!([1, 2].map(|id| shown.contains("app", id)), expected, "host {node}");
        }
    }
}
