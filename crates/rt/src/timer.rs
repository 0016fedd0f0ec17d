//! A timer that can be rearmed.

use std::future::poll_fn;
use std::task::{Context, Poll};

use base::{Clock, Nanos, Stamp};

use crate::Rt;
use crate::deadlines::SlotIndex;

/// A timer with a movable deadline. Moving it to a later instant costs one store.
pub struct Timer {
    rt: Rt,
    slot: SlotIndex,
}

impl Timer {
    pub(crate) fn new(rt: Rt) -> Timer {
        let slot = rt.0.deadlines.borrow_mut().add();
        Timer { rt, slot }
    }

    /// Arms the timer for `at`; a past instant fires at once. Replaces the previous deadline.
    pub fn arm(&self, at: Stamp) {
        self.rt.0.deadlines.borrow_mut().arm(self.slot, at);
    }

    /// Disarms the timer.
    pub fn disarm(&self) {
        self.rt.0.deadlines.borrow_mut().disarm(self.slot);
    }

    /// Waits until the timer fires. Each firing ends one wait.
    pub async fn fired(&self) {
        poll_fn(|context| self.poll_fired(context)).await;
    }

    /// Polls like [`Timer::fired`], for hand-written futures.
    pub fn poll_fired(&self, context: &mut Context<'_>) -> Poll<()> {
        self.rt.0.deadlines.borrow_mut().poll(self.slot, context)
    }
}

impl Rt {
    /// Creates an unarmed timer.
    pub fn timer(&self) -> Timer {
        Timer::new(self.clone())
    }

    /// Waits until `at`. For a repeated wait a [`Timer`] is cheaper.
    pub async fn sleep_until(&self, at: Stamp) {
        let timer = self.timer();
        timer.arm(at);
        timer.fired().await;
    }

    /// Waits for `span`.
    pub async fn sleep(&self, span: Nanos) {
        self.sleep_until(self.now() + span).await;
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.rt.0.deadlines.borrow_mut().remove(self.slot);
    }
}
