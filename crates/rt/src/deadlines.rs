//! The heap of deadlines, which is the same type in both executors.
//!
//! A timer is a slot with a current deadline. Moving a deadline *later* is one store: the heap
//! keeps the earlier entry, which is pushed again at the true deadline when it reaches the top.
//! This makes the timeouts of requests cheap: a deadline is nearly always moved before it passes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::task::{Context, Poll, Waker};

use base::Stamp;

#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// Earliest first; equal deadlines in the order in which they were pushed.
    heap: BinaryHeap<Reverse<Entry>>,
    slots: Vec<TimerSlot>,
    free: Vec<SlotIndex>,
    pushed: u64,
}

pub(crate) type SlotIndex = u32;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Stamp,
    sequence: u64,
    slot: SlotIndex,
}

#[derive(Debug)]
struct TimerSlot {
    /// The deadline; [`Stamp::NEVER`] when the timer is not armed.
    deadline: Stamp,
    /// Time of this slot's only valid entry in the heap; other entries are stale. Never later than
    /// `deadline` while the timer is armed.
    queued: Option<Stamp>,
    fired: bool,
    waker: Option<Waker>,
}

const IDLE: TimerSlot =
    TimerSlot { deadline: Stamp::NEVER, queued: None, fired: false, waker: None };

impl Deadlines {
    /// Adds an unarmed timer.
    pub(crate) fn add(&mut self) -> SlotIndex {
        match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = SlotIndex::try_from(self.slots.len());
                self.slots.push(IDLE);
                slot.expect("fewer than 2^32 timers")
            }
        }
    }

    /// Releases a timer.
    pub(crate) fn remove(&mut self, slot: SlotIndex) {
        // An entry of the slot may still be in the heap. When it reaches the top, it is either
        // skipped or pushed again at the deadline of the slot's next owner.
        let queued = self.slots[slot as usize].queued;
        self.slots[slot as usize] = TimerSlot { queued, ..IDLE };
        self.free.push(slot);
    }

    /// Sets the deadline of a timer, and cancels a firing that was not polled yet.
    /// [`Stamp::NEVER`] disarms the timer.
    pub(crate) fn arm(&mut self, slot: SlotIndex, at: Stamp) {
        let timer = &mut self.slots[slot as usize];
        timer.deadline = at;
        timer.fired = false;
        let covered = timer.queued.is_some_and(|queued| queued <= at);
        if !covered && at != Stamp::NEVER {
            timer.queued = Some(at);
            self.push(slot, at);
        }
    }

    pub(crate) fn disarm(&mut self, slot: SlotIndex) {
        self.arm(slot, Stamp::NEVER);
    }

    /// Returns `Ready` once per firing of the timer; arming it again cancels an earlier firing.
    pub(crate) fn poll(&mut self, slot: SlotIndex, context: &mut Context<'_>) -> Poll<()> {
        let timer = &mut self.slots[slot as usize];
        if std::mem::take(&mut timer.fired) {
            return Poll::Ready(());
        }
        match &mut timer.waker {
            Some(waker) => waker.clone_from(context.waker()),
            None => timer.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Returns true if a timer may be due: cheap, and never false for a due timer.
    #[inline]
    pub(crate) fn may_be_due(&self, now: Stamp) -> bool {
        self.heap.peek().is_some_and(|Reverse(entry)| entry.at <= now)
    }

    /// Returns the earliest deadline of an armed timer.
    pub(crate) fn earliest(&mut self) -> Option<Stamp> {
        loop {
            let Reverse(top) = self.heap.peek()?;
            let timer = &self.slots[top.slot as usize];
            if timer.queued == Some(top.at) && timer.deadline == top.at {
                return Some(top.at);
            }
            self.settle_top();
        }
    }

    /// Fires every timer with a deadline up to `now`. Returns true if there was one.
    pub(crate) fn fire_due(&mut self, now: Stamp) -> bool {
        let mut any = false;
        while self.may_be_due(now) {
            if let Some(slot) = self.settle_top() {
                any = true;
                let timer = &mut self.slots[slot as usize];
                timer.deadline = Stamp::NEVER;
                timer.fired = true;
                if let Some(waker) = &timer.waker {
                    waker.wake_by_ref();
                }
            }
        }
        any
    }

    /// Removes the top entry. Returns its timer if the entry is the timer's true deadline; if the
    /// deadline was moved, pushes the true one.
    fn settle_top(&mut self) -> Option<SlotIndex> {
        let Reverse(entry) = self.heap.pop()?;
        let timer = &mut self.slots[entry.slot as usize];
        if timer.queued != Some(entry.at) {
            return None;
        }
        timer.queued = None;
        if timer.deadline == entry.at {
            return Some(entry.slot);
        }
        if timer.deadline != Stamp::NEVER {
            let at = timer.deadline;
            timer.queued = Some(at);
            self.push(entry.slot, at);
        }
        None
    }

    fn push(&mut self, slot: SlotIndex, at: Stamp) {
        self.pushed += 1;
        self.heap.push(Reverse(Entry { at, sequence: self.pushed, slot }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(deadlines: &mut Deadlines, slots: &[SlotIndex], now: u64) -> Vec<bool> {
        deadlines.fire_due(Stamp(now));
        let mut context = Context::from_waker(Waker::noop());
        slots.iter().map(|&slot| deadlines.poll(slot, &mut context).is_ready()).collect()
    }

    #[test]
    fn timers_fire_at_their_deadline_and_once() {
        let mut deadlines = Deadlines::default();
        let slots = [deadlines.add(), deadlines.add()];
        deadlines.arm(slots[0], Stamp(10));
        deadlines.arm(slots[1], Stamp(5));
        assert_eq!(deadlines.earliest(), Some(Stamp(5)));
        assert_eq!(due(&mut deadlines, &slots, 4), [false, false]);
        assert_eq!(due(&mut deadlines, &slots, 5), [false, true]);
        assert_eq!(due(&mut deadlines, &slots, 20), [true, false]);
        assert_eq!(due(&mut deadlines, &slots, 30), [false, false]);
        assert_eq!(deadlines.earliest(), None);
    }

    #[test]
    fn a_deadline_moved_later_fires_later_and_moved_earlier_fires_earlier() {
        let mut deadlines = Deadlines::default();
        let slots = [deadlines.add()];
        deadlines.arm(slots[0], Stamp(10));
        deadlines.arm(slots[0], Stamp(20));
        assert_eq!(deadlines.earliest(), Some(Stamp(20)));
        assert_eq!(due(&mut deadlines, &slots, 15), [false]);
        deadlines.arm(slots[0], Stamp(17));
        assert_eq!(deadlines.earliest(), Some(Stamp(17)));
        assert_eq!(due(&mut deadlines, &slots, 17), [true]);
        assert_eq!(due(&mut deadlines, &slots, 20), [false]);
    }

    #[test]
    fn repeatedly_postponed_deadline_keeps_the_heap_small() {
        let mut deadlines = Deadlines::default();
        let slot = deadlines.add();
        for at in 1..10_000 {
            deadlines.arm(slot, Stamp(at));
        }
        assert_eq!(deadlines.heap.len(), 1);
        deadlines.disarm(slot);
        assert_eq!(deadlines.earliest(), None);
    }

    #[test]
    fn released_timer_slot_is_clean_for_its_next_owner() {
        let mut deadlines = Deadlines::default();
        let first = deadlines.add();
        deadlines.arm(first, Stamp(10));
        deadlines.remove(first);
        let second = deadlines.add();
        assert_eq!(first, second);
        assert_eq!(due(&mut deadlines, &[second], 15), [false]);
        deadlines.arm(second, Stamp(30));
        assert_eq!(due(&mut deadlines, &[second], 29), [false]);
        assert_eq!(due(&mut deadlines, &[second], 30), [true]);
    }

    #[test]
    fn equal_deadlines_fire_in_the_order_of_arming() {
        let mut deadlines = Deadlines::default();
        let slots: Vec<SlotIndex> = (0..5).map(|_| deadlines.add()).collect();
        for &slot in slots.iter().rev() {
            deadlines.arm(slot, Stamp(7));
        }
        let mut order = Vec::new();
        while deadlines.may_be_due(Stamp(7)) {
            order.extend(deadlines.settle_top());
        }
        assert_eq!(order, [4, 3, 2, 1, 0]);
    }
}
