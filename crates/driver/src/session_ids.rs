//! Ids of a driver's sessions, by which an observer tells them from those of other clients.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

/// Number of ended sessions whose ids are kept: a server may list a session for a moment after its
/// client has left it.
const MOST_ENDED: usize = 256;

/// Id that a server gave to a session: the connection id of MySQL and MariaDB, the process id of
/// PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub u64);

/// Ids of the sessions of a driver that are open or ended recently. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct SessionIds(Arc<Mutex<Ids>>);

#[derive(Debug, Default)]
struct Ids {
    /// Open sessions by id: a pooler, or several servers, may give the same id to more than one.
    open: HashMap<SessionId, u32>,
    /// Ids of the sessions that ended last, oldest first.
    ended: VecDeque<SessionId>,
}

/// An open session, whose id is known until it is dropped and for a while after.
#[derive(Debug)]
pub struct KnownSession {
    id: SessionId,
    ids: SessionIds,
}

impl SessionIds {
    /// Returns true if the id belongs to a session that is open or ended recently.
    pub fn contains(&self, id: SessionId) -> bool {
        let ids = self.lock();
        ids.open.contains_key(&id) || ids.ended.contains(&id)
    }

    /// Adds the id of a session that has just been opened.
    pub fn add(&self, id: SessionId) -> KnownSession {
        *self.lock().open.entry(id).or_default() += 1;
        KnownSession { id, ids: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.0.lock().expect("nothing panics under the lock")
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
        let mut ids = self.ids.lock();
        match ids.open.get_mut(&self.id) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                ids.open.remove(&self.id);
            }
        }
        if ids.ended.len() == MOST_ENDED {
            ids.ended.pop_front();
        }
        ids.ended.push_back(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_of_an_ended_session_is_kept_until_many_others_have_ended() {
        let ids = SessionIds::default();
        let open = ids.add(SessionId(1));
        drop(ids.add(SessionId(2)));
        let known = || [1, 2, 3].map(|id| ids.contains(SessionId(id)));
        assert_eq!(known(), [true, true, false]);
        for number in 0..MOST_ENDED as u64 {
            drop(ids.add(SessionId(100 + number)));
        }
        assert_eq!(known(), [true, false, false]);
        assert_eq!(ids.lock().ended.len(), MOST_ENDED);
        drop(open);
        assert_eq!(known(), [true, false, false]);
        assert!(ids.lock().open.is_empty());
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
