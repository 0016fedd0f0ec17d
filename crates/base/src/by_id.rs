//! Lists that are indexed by an id instead of a bare number.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id that is also an index: ids count from 0.
pub trait Id: Copy {
    /// Returns the id at an index.
    fn at(index: usize) -> Self;

    /// Returns the index.
    fn index(self) -> usize;
}

/// One value for each id of type `I`, in the order of the ids.
#[derive(Clone, Debug)]
pub struct ById<I, T> {
    values: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> ById<I, T> {
    /// Adds the value of the next id, and returns that id.
    pub fn push(&mut self, value: T) -> I {
        self.values.push(value);
        I::at(self.values.len() - 1)
    }

    /// Returns a mutable reference to the value of an id; `None` if the id has no value.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.values.get_mut(id.index())
    }

    /// Iterates over the ids with their values.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.values.iter().enumerate().map(|(index, value)| (I::at(index), value))
    }

    /// Iterates over the ids with mutable references to their values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.values.iter_mut().enumerate().map(|(index, value)| (I::at(index), value))
    }

    /// Iterates over the values.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// Iterates over the ids with their values, and consumes the list.
    pub fn into_pairs(self) -> impl Iterator<Item = (I, T)> {
        self.values.into_iter().enumerate().map(|(index, value)| (I::at(index), value))
    }

    /// Returns the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns true if there are no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.values.clear();
    }
}

impl<I, T> Default for ById<I, T> {
    fn default() -> ById<I, T> {
        ById { values: Vec::new(), ids: PhantomData }
    }
}

impl<I, T> FromIterator<T> for ById<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(values: V) -> ById<I, T> {
        ById { values: values.into_iter().collect(), ids: PhantomData }
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.values[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.values[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccountId;

    #[test]
    fn values_are_found_by_the_ids_in_their_order() {
        let mut names: ById<AccountId, &str> = ["a", "b"].into_iter().collect();
        let third = names.push("c");
        assert_eq!((third, names[third], names[AccountId(0)]), (AccountId(2), "c", "a"));
        names[third] = "d";
        let pairs: Vec<(AccountId, &str)> = names.iter().map(|(id, name)| (id, *name)).collect();
        assert_eq!(pairs, [(AccountId(0), "a"), (AccountId(1), "b"), (AccountId(2), "d")]);
        assert!(names.get_mut(AccountId(3)).is_none());
    }
}
