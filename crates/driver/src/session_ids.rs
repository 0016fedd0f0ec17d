//! Ids of a driver's sessions. An observer uses them to distinguish these sessions from sessions of
//! other clients. The ids are kept for each address, because two servers may give the same id.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use base::{Clock, Monotonic, Nanos, Stamp};

use crate::table::Table;

/// Time for which the id of an ended session is kept. A server may list a session for a moment
/// after its client has left it, and reading that list takes time on a busy machine. Older ids are
/// removed when the next session ends.
const ENDED_ID_LIFETIME: Nanos = Nanos::from_secs(5);

/// Maximum number of ids of ended sessions that are kept, for jobs that open a connection per
/// request.
const MOST_ENDED: usize = 100_000;

/// Id that a server gave to a session: the connection id of MySQL and MariaDB, the process id of
/// PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub u64);

/// Identity of a server, the same at each of its addresses and after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerId(String);

impl ServerId {
    /// Builds the identity from a server's description of itself; `None` if the description is
    /// empty.
    pub fn of(description: &Table) -> Option<ServerId> {
        let values = description.rows.iter().flatten().map(|value| value.as_deref());
        let values: Vec<&str> = values.map(Option::unwrap_or_default).collect();
        (!values.is_empty()).then(|| ServerId(values.join("\n")))
    }
}

/// Ids of a driver's sessions at one address, both open sessions and those that ended recently.
/// Clones share the ids.
#[derive(Clone, Debug, Default)]
pub struct SessionIds(Arc<SharedIds>);

#[derive(Debug, Default)]
struct SharedIds {
    ids: Mutex<Ids>,
    /// The server at the address, once it has identified itself.
    server: Mutex<Option<ServerId>>,
    are_of_pooler: AtomicBool,
}

#[derive(Debug, Default)]
struct Ids {
    /// Number of open sessions with each id: a pooler, or several servers behind one address, may
    /// give the same id to more than one session.
    open: HashMap<SessionId, u32>,
    /// Sessions that ended recently, oldest first.
    ended: VecDeque<(Stamp, SessionId)>,
    /// Number of recently ended sessions with each id.
    ended_by_id: HashMap<SessionId, u32>,
}

impl Ids {
    /// Moves the id of a session that has ended at `now` from the open to the ended sessions.
    fn end(&mut self, id: SessionId, now: Stamp) {
        remove_one(&mut self.open, id);
        let is_old = |(at, _): &(Stamp, SessionId)| now.since(*at) > ENDED_ID_LIFETIME;
        while self.ended.len() >= MOST_ENDED || self.ended.front().is_some_and(is_old) {
            let Some((_, oldest)) = self.ended.pop_front() else { break };
            remove_one(&mut self.ended_by_id, oldest);
        }
        self.ended.push_back((now, id));
        *self.ended_by_id.entry(id).or_default() += 1;
    }
}

/// Removes one session with an id.
fn remove_one(sessions: &mut HashMap<SessionId, u32>, id: SessionId) {
    match sessions.get_mut(&id) {
        Some(count) if *count > 1 => *count -= 1,
        Some(_) | None => {
            sessions.remove(&id);
        }
    }
}

/// An open session. Its id stays registered until this value is dropped, and for some seconds after
/// that.
#[derive(Debug)]
pub struct KnownSession {
    id: SessionId,
    ids: SessionIds,
}

impl SessionIds {
    /// Returns true if the id belongs to a session that is open or has ended recently.
    pub fn contains(&self, id: SessionId) -> bool {
        let ids = self.lock();
        ids.open.contains_key(&id) || ids.ended_by_id.contains_key(&id)
    }

    /// Adds the id of a session that has just been opened.
    pub fn add(&self, id: SessionId) -> KnownSession {
        *self.lock().open.entry(id).or_default() += 1;
        KnownSession { id, ids: self.clone() }
    }

    /// Records the identity of the server at the address.
    pub fn note_server(&self, server: ServerId) {
        *self.lock_server() = Some(server);
    }

    /// Returns false if these sessions and those of `other` are known to be at different servers.
    /// Sessions of a pooler may be at any of its servers, even if one of these servers has
    /// identified itself.
    pub fn may_share_server(&self, other: &SessionIds) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) || self.are_of_pooler() || other.are_of_pooler() {
            return true;
        }
        let server = self.lock_server().clone();
        server.zip(other.lock_server().clone()).is_none_or(|(one, another)| one == another)
    }

    /// Returns true if these sessions and those of `other` are known to be at the same server, and
    /// all their ids are the server's own.
    pub fn share_server(&self, other: &SessionIds) -> bool {
        if self.are_of_pooler() || other.are_of_pooler() {
            return false;
        }
        Arc::ptr_eq(&self.0, &other.0)
            || self.may_share_server(other)
                && [self, other].iter().all(|ids| ids.lock_server().is_some())
    }

    /// Records that a pooler or proxy in between gave these ids, and that the server has different
    /// ids for the same sessions.
    pub fn note_pooler(&self) {
        self.0.are_of_pooler.store(true, Ordering::Relaxed);
    }

    /// Returns true if a session was found to have a different id at the server.
    pub fn are_of_pooler(&self) -> bool {
        self.0.are_of_pooler.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.0.ids.lock().expect("nothing panics under the lock")
    }

    fn lock_server(&self) -> MutexGuard<'_, Option<ServerId>> {
        self.0.server.lock().expect("nothing panics under the lock")
    }
}

impl KnownSession {
    /// Returns the id of the session.
    pub fn id(&self) -> SessionId {
        self.id
    }
}

impl Drop for KnownSession {
    fn drop(&mut self) {
        self.ids.lock().end(self.id, Monotonic.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_of_an_ended_session_is_kept_for_a_while() {
        let ids = SessionIds::default();
        let open = ids.add(SessionId(1));
        drop(ids.add(SessionId(2)));
        let known = || [1, 2, 3].map(|id| ids.contains(SessionId(id)));
        (0..1_000).for_each(|number| drop(ids.add(SessionId(100 + number))));
        assert_eq!(known(), [true, true, false], "whatever the number of the others");
        ids.lock().end(SessionId(3), Monotonic.now() + Nanos(2 * ENDED_ID_LIFETIME.0));
        assert_eq!(known(), [true, false, true]);
        assert_eq!(ids.lock().ended.len(), 1);
        assert_eq!(ids.lock().ended_by_id.len(), 1);
        drop(open);
        assert!(ids.lock().open.is_empty());
    }

    #[test]
    fn server_is_recognised_by_its_description_at_each_address() {
        let described = |rows: &[&[&str]]| {
            let row = |row: &&[&str]| row.iter().map(|value| Some((*value).to_owned())).collect();
            ServerId::of(&Table { rows: rows.iter().map(row).collect(), ..Table::default() })
        };
        let [one, alias, another, unknown] = [(); 4].map(|()| SessionIds::default());
        for (ids, port) in [(&one, "3306"), (&alias, "3306"), (&another, "3307")] {
            ids.note_server(described(&[&["hostname", "db"], &["port", port]]).expect("a server"));
        }
        for (ids, expected) in [(&one, true), (&alias, true), (&another, false), (&unknown, true)] {
            assert_eq!(one.may_share_server(ids), expected);
            assert_eq!(ids.may_share_server(&one), expected);
        }
        let known = [&one, &alias, &another, &unknown].map(|ids| ids.share_server(&one));
        assert_eq!(known, [true, true, false, false]);
        assert!(unknown.share_server(&unknown.clone()));
        assert_eq!(described(&[]), None);
        alias.note_pooler();
        another.note_pooler();
        assert!(one.may_share_server(&another) && another.may_share_server(&one));
        assert!(!one.share_server(&alias) && !alias.share_server(&one));
    }

    #[test]
    fn ended_sessions_are_bounded() {
        let mut ids = Ids::default();
        let now = Monotonic.now();
        (0..=MOST_ENDED as u64).for_each(|number| ids.end(SessionId(number), now));
        assert_eq!((ids.ended.len(), ids.ended_by_id.len()), (MOST_ENDED, MOST_ENDED));
    }

    #[test]
    fn id_of_two_sessions_is_known_until_both_have_ended() {
        let ids = SessionIds::default();
        let (first, second) = (ids.add(SessionId(7)), ids.add(SessionId(7)));
        drop(first);
        assert!(ids.lock().open.contains_key(&second.id()));
        drop(second);
        assert!(ids.lock().open.is_empty());
    }
}
