//! A cache of rows that may still change.

use base::AccountId;
use record::Interval;
use std::collections::BTreeMap;

/// The key of a row. Keys are ordered by interval first, and so by time.
pub(super) type Key = (Interval, AccountId);

/// A cache with a bounded number of rows; the least recently changed one is evicted.
pub(super) struct Cache<V> {
    rows: BTreeMap<Key, CachedRow<V>>,
    /// The keys of all rows, in the order of their last changes.
    order: BTreeMap<u64, Key>,
    most: usize,
    touches: u64,
}

struct CachedRow<V> {
    value: V,
    touched: u64,
    is_saved: bool,
}

/// An evicted row.
pub(super) struct Evicted<V> {
    pub(super) key: Key,
    pub(super) value: V,
    pub(super) is_saved: bool,
}

impl<V> Cache<V> {
    /// Creates a cache for this many rows, at least one.
    pub(super) fn new(most: usize) -> Cache<V> {
        Cache { rows: BTreeMap::new(), order: BTreeMap::new(), most: most.max(1), touches: 0 }
    }

    /// Returns a row for reading; `None` if it is not in the cache.
    pub(super) fn peek(&self, key: Key) -> Option<&V> {
        self.rows.get(&key).map(|open| &open.value)
    }

    /// Returns a row for a change, and marks it as unsaved; `None` if it is not in the cache.
    pub(super) fn touch(&mut self, key: Key) -> Option<&mut V> {
        let open = self.rows.get_mut(&key)?;
        if open.touched != self.touches {
            self.touches += 1;
            self.order.remove(&open.touched);
            self.order.insert(self.touches, key);
            open.touched = self.touches;
        }
        open.is_saved = false;
        Some(&mut open.value)
    }

    /// Adds a row that is not in the cache. Returns the row that is evicted if the cache was full.
    pub(super) fn insert(&mut self, key: Key, value: V) -> Option<Evicted<V>> {
        let evicted = if self.rows.len() >= self.most { self.evict() } else { None };
        self.touches += 1;
        let open = CachedRow { value, touched: self.touches, is_saved: false };
        let replaced = self.rows.insert(key, open);
        debug_assert!(replaced.is_none(), "{key:?} was there");
        self.order.insert(self.touches, key);
        evicted
    }

    fn evict(&mut self) -> Option<Evicted<V>> {
        let (_, key) = self.order.pop_first()?;
        let CachedRow { value, touched: _, is_saved } = self.rows.remove(&key)?;
        Some(Evicted { key, value, is_saved })
    }

    /// Returns the rows changed since the last call, in the order of time. Each is marked as saved
    /// when the iterator reaches it.
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

    const JOB: AccountId = AccountId(0);

    #[test]
    fn least_recently_used_row_is_evicted() {
        let mut cache = Cache::new(2);
        assert!(cache.insert((1, JOB), "one").is_none());
        assert!(cache.insert((2, JOB), "two").is_none());
        assert!(cache.touch((1, JOB)).is_some());
        let evicted = cache.insert((3, JOB), "three").unwrap();
        assert_eq!((evicted.key, evicted.value, evicted.is_saved), ((2, JOB), "two", false));
        assert_eq!(cache.peek((2, JOB)), None);
        assert!(cache.touch((3, JOB)).is_some() && cache.touch((1, JOB)).is_some());
        assert_eq!(cache.insert((4, JOB), "four").unwrap().key, (3, JOB));
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
