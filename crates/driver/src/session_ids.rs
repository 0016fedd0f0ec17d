//! Ids of a driver's sessions, by which an observer distinguishes them from sessions of other
//! clients.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use base::{Nanos, WallTime};

/// Time for which the id of an ended session is kept: a server may list a session for a moment
/// after its client has left it, and the list itself takes time on a busy machine.
const KEPT: Nanos = Nanos::from_secs(5);

/// Maximum number of such ids, for jobs that open a connection per request.
const MOST_ENDED: usize = 100_000;

/// Id that a server gave to a session: the connection id of MySQL and MariaDB, the process id of
/// PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub u64);

/// Ids of the sessions of a driver that are open or ended recently. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct SessionIds(Arc<SharedIds>);

#[derive(Debug, Default)]
struct SharedIds {
    ids: Mutex<Ids>,
    are_of_pooler: AtomicBool,
}

#[derive(Debug, Default)]
struct Ids {
    /// Number of open sessions with each id: a pooler, or several servers, may give the same id to
    /// more than one.
    open: HashMap<SessionId, u32>,
    /// Sessions that ended recently, oldest first.
    ended: VecDeque<(WallTime, SessionId)>,
    /// Number of recently ended sessions with each id.
    ended_by_id: HashMap<SessionId, u32>,
}

impl Ids {
    /// Moves an id from the open sessions to those that have ended at a time.
    fn end(&mut self, id: SessionId, now: WallTime) {
        forget(&mut self.open, id);
        let is_old = |(at, _): &(WallTime, SessionId)| at.after(KEPT) < now;
        while self.ended.len() >= MOST_ENDED || self.ended.front().is_some_and(is_old) {
            let Some((_, oldest)) = self.ended.pop_front() else { break };
            forget(&mut self.ended_by_id, oldest);
        }
        self.ended.push_back((now, id));
        *self.ended_by_id.entry(id).or_default() += 1;
    }
}

/// Removes one session with an id.
fn forget(sessions: &mut HashMap<SessionId, u32>, id: SessionId) {
    match sessions.get_mut(&id) {
        Some(count) if *count > 1 => *count -= 1,
        Some(_) | None => {
            sessions.remove(&id);
        }
    }
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
        ids.open.contains_key(&id) || ids.ended_by_id.contains_key(&id)
    }

    /// Adds the id of a session that has just been opened.
    pub fn add(&self, id: SessionId) -> KnownSession {
        *self.lock().open.entry(id).or_default() += 1;
        KnownSession { id, ids: self.clone() }
    }

    /// Records that the server has other ids: a pooler or proxy in between gave these.
    pub fn note_pooler(&self) {
        self.0.are_of_pooler.store(true, Ordering::Relaxed);
    }

    /// Returns true if a session was found to have another id at the server.
    pub fn are_of_pooler(&self) -> bool {
        self.0.are_of_pooler.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.0.ids.lock().expect("nothing panics under the lock")
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
        self.ids.lock().end(self.id, WallTime::now());
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
        ids.lock().end(SessionId(3), WallTime::now().after(Nanos(2 * KEPT.0)));
        assert_eq!(known(), [true, false, true]);
        assert_eq!(ids.lock().ended.len(), 1);
        assert_eq!(ids.lock().ended_by_id.len(), 1);
        drop(open);
        assert!(ids.lock().open.is_empty());
    }

    #[test]
    fn ended_sessions_are_bounded() {
        let mut ids = Ids::default();
        let now = WallTime::now();
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
