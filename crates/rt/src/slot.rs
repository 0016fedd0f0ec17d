//! A hand-off between two tasks of one thread.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// A slot for one value that one task puts and another takes. It neither locks nor allocates.
pub struct Slot<T> {
    value: Cell<Option<T>>,
    waker: RefCell<Option<Waker>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { value: Cell::new(None), waker: RefCell::new(None) }
    }
}

impl<T> Slot<T> {
    /// Puts a value and wakes the task that waits for it.
    ///
    /// # Panics
    /// If the previous value was not taken: only one task may put values into a slot.
    pub fn put(&self, value: T) {
        let before = self.value.replace(Some(value));
        assert!(before.is_none(), "the slot is empty when a value is put");
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Waits for a value, and removes it from the slot. Only one task may wait.
    pub async fn take(&self) -> T {
        poll_fn(|context| {
            if let Some(value) = self.value.take() {
                return Poll::Ready(value);
            }
            match &mut *self.waker.borrow_mut() {
                Some(waker) => waker.clone_from(context.waker()),
                empty => *empty = Some(context.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}
