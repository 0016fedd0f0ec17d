//! Rows that may still change.

use std::collections::BTreeMap;

use crate::delivery::JobIndex;
use crate::grid::Interval;

/// A row by its first interval and its job: in the order of time.
pub(super) type Key = (Interval, JobIndex);

/// A bounded number of rows, of which the one that was not touched for the longest time makes room.
pub(super) struct Cache<V> {
    rows: BTreeMap<Key, Open<V>>,
    most: usize,
    touches: u64,
}

struct Open<V> {
    value: V,
    touched: u64,
    is_saved: bool,
}

/// A row that had to make room.
pub(super) struct Evicted<V> {
    pub(super) key: Key,
    pub(super) value: V,
    pub(super) is_saved: bool,
}

impl<V> Cache<V> {
    /// A cache for so many rows, at least one.
    pub(super) fn new(most: usize) -> Cache<V> {
        Cache { rows: BTreeMap::new(), most: most.max(1), touches: 0 }
    }

    /// A row to look at.
    pub(super) fn peek(&self, key: Key) -> Option<&V> {
        self.rows.get(&key).map(|open| &open.value)
    }

    /// A row to be changed.
    pub(super) fn touch(&mut self, key: Key) -> Option<&mut V> {
        self.touches += 1;
        let open = self.rows.get_mut(&key)?;
        open.touched = self.touches;
        open.is_saved = false;
        Some(&mut open.value)
    }

    /// Adds a row that is not there, and returns the one that made room for it.
    pub(super) fn insert(&mut self, key: Key, value: V) -> Option<Evicted<V>> {
        let evicted = if self.rows.len() >= self.most { self.evict() } else { None };
        self.touches += 1;
        let open = Open { value, touched: self.touches, is_saved: false };
        let replaced = self.rows.insert(key, open);
        debug_assert!(replaced.is_none(), "{key:?} was there");
        evicted
    }

    fn evict(&mut self) -> Option<Evicted<V>> {
        let oldest = self.rows.iter().min_by_key(|(_, open)| open.touched);
        let key = oldest.map(|(key, _)| *key)?;
        let Open { value, touched: _, is_saved } = self.rows.remove(&key)?;
        Some(Evicted { key, value, is_saved })
    }

    /// The rows that were changed since the last time, in the order of time. They count as saved.
    pub(super) fn take_unsaved(&mut self) -> impl Iterator<Item = (Key, &V)> {
        let unsaved = self.rows.iter_mut().filter(|(_, open)| !open.is_saved);
        unsaved.map(|(key, open)| {
            open.is_saved = true;
            (*key, &open.value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobIndex = JobIndex(0);

    #[test]
    fn the_row_that_was_not_touched_for_the_longest_time_makes_room() {
        let mut cache = Cache::new(2);
        assert!(cache.insert((1, JOB), "one").is_none());
        assert!(cache.insert((2, JOB), "two").is_none());
        assert!(cache.touch((1, JOB)).is_some());
        let evicted = cache.insert((3, JOB), "three").unwrap();
        assert_eq!((evicted.key, evicted.value, evicted.is_saved), ((2, JOB), "two", false));
        assert_eq!(cache.peek((2, JOB)), None);
    }

    #[test]
    fn only_changed_rows_are_saved_again() {
        let mut cache = Cache::new(2);
        cache.insert((2, JOB), "two");
        cache.insert((1, JOB), "one");
        let first: Vec<_> = cache.take_unsaved().map(|(key, _)| key.0).collect();
        assert_eq!(first, [1, 2]);
        *cache.touch((2, JOB)).unwrap() = "more";
        let then: Vec<_> = cache.take_unsaved().map(|(_, value)| *value).collect();
        assert_eq!(then, ["more"]);
        assert!(cache.insert((3, JOB), "three").unwrap().is_saved);
    }
}
