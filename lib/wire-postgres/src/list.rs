//! Lists inside a message, validated once and then read without copying.

use std::fmt;
use std::marker::PhantomData;

use crate::WireError;
use crate::cursor::Cursor;

/// An item of a [`List`].
pub trait Item<'a>: Sized + sealed::Read<'a> {}

pub(crate) mod sealed {
    use super::{Cursor, WireError};

    /// The decoding of an item. Private to the crate, as it needs a cursor.
    pub trait Read<'a>: Sized {
        /// Reads the item at the cursor.
        ///
        /// # Errors
        /// The bytes are not a valid item.
        fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError>;
    }
}

impl<'a, T: sealed::Read<'a>> Item<'a> for T {}

/// A list in a message, borrowed from its bytes. Reading it cannot fail, because it was validated
/// together with the message.
pub struct List<'a, T> {
    count: usize,
    bytes: &'a [u8],
    items: PhantomData<fn() -> T>,
}

impl<'a, T: Item<'a>> List<'a, T> {
    /// Validates a list of this many items, and moves the cursor to its end.
    pub(crate) fn counted(cursor: &mut Cursor<'a>, count: usize) -> Result<Self, WireError> {
        let bytes = cursor.rest();
        for _ in 0..count {
            T::read(cursor)?;
        }
        Ok(List { count, bytes, items: PhantomData })
    }

    /// Validates a list that a zero byte ends, and moves the cursor behind that byte.
    pub(crate) fn terminated(
        cursor: &mut Cursor<'a>,
        context: &'static str,
    ) -> Result<Self, WireError> {
        let bytes = cursor.rest();
        let mut count: usize = 0;
        while !cursor.ends_list(context)? {
            T::read(cursor)?;
            count = count.saturating_add(1);
        }
        Ok(List { count, bytes, items: PhantomData })
    }

    /// Returns the items in order.
    pub fn iter(&self) -> Items<'a, T> {
        Items { left: self.count, cursor: Cursor::new(self.bytes, 0), items: PhantomData }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl<'a, T: Item<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Items<'a, T> {
        self.iter()
    }
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<'a, T: Item<'a> + fmt::Debug> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Item<'a> + PartialEq> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// An iterator over the items of a [`List`].
pub struct Items<'a, T> {
    left: usize,
    cursor: Cursor<'a>,
    items: PhantomData<fn() -> T>,
}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        Items { left: self.left, cursor: self.cursor, items: PhantomData }
    }
}

impl<'a, T: Item<'a>> Iterator for Items<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        T::read(&mut self.cursor).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: Item<'a>> ExactSizeIterator for Items<'a, T> {}
