//! Handoff between a task and the thread of its connection.
//!
//! Calls of SQLite block, and waiting for a program blocks too. Each connection of these two kinds
//! therefore has its own thread. Task and thread share a slot that holds one message at a time: a
//! command for the thread, or its answer for the task. The slot is a mutex with a condition
//! variable for the thread and a waker for the task. This mutex is an exception to the rule that
//! the measured path takes no lock: only the task and the thread contend for it, and neither holds
//! it while working. The cost per request, beyond the work itself, is waking the thread and
//! the task: about 5 µs of processor time and 5 to 10 µs of delay (2 cores, Linux, November 2026).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base::Nanos;

/// A slot for one command (`O`) or its answer (`A`).
pub(crate) struct Mailbox<O, A> {
    slot: Mutex<Slot<O, A>>,
    /// Condition that is signalled when the thread has something to do: a command, or the end.
    wakeup: Condvar,
    /// True once the caller has gone. Set under the lock; a working thread reads it without the
    /// lock.
    is_abandoned: AtomicBool,
}

struct Slot<O, A> {
    state: SlotState<O, A>,
    /// Waker of the task that waits for the answer.
    waker: Option<Waker>,
    thread_exited: bool,
}

enum SlotState<O, A> {
    None,
    Command(O),
    /// The thread has taken the command and has not answered yet.
    Working,
    Answer(A),
}

impl<O, A> Mailbox<O, A> {
    /// Creates a mailbox whose thread is already busy with an implicit first command: to start up.
    pub(crate) fn new() -> Mailbox<O, A> {
        Mailbox {
            slot: Mutex::new(Slot { state: SlotState::Working, waker: None, thread_exited: false }),
            wakeup: Condvar::new(),
            is_abandoned: AtomicBool::new(false),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot<O, A>> {
        self.slot.lock().expect("nothing panics under the lock")
    }

    /// Polls the task's side of an exchange, for a hand-written future: the first call hands over
    /// the command, a later one returns the answer. `None` means that the thread has ended.
    ///
    /// # Panics
    /// If the answer to the previous command has not been returned.
    pub(crate) fn poll_exchange(
        &self,
        command: &mut Option<O>,
        context: &mut Context<'_>,
    ) -> Poll<Option<A>> {
        let mut slot = self.slot();
        if slot.thread_exited && command.is_some() {
            return Poll::Ready(None);
        }
        if let Some(command) = command.take() {
            assert!(
                matches!(slot.state, SlotState::None),
                "a connection that owes an answer can only be abandoned"
            );
            slot.state = SlotState::Command(command);
            slot.wake_later(context.waker());
            drop(slot);
            self.wakeup.notify_one();
            return Poll::Pending;
        }
        match std::mem::replace(&mut slot.state, SlotState::None) {
            SlotState::Answer(answer) => Poll::Ready(Some(answer)),
            _ if slot.thread_exited => Poll::Ready(None),
            state => {
                slot.state = state;
                slot.wake_later(context.waker());
                Poll::Pending
            }
        }
    }

    /// Tells the thread to end after its current work. Returns true if the thread is working.
    pub(crate) fn hang_up(&self) -> bool {
        let slot = self.slot();
        self.is_abandoned.store(true, Ordering::Release);
        let busy = matches!(slot.state, SlotState::Working) && !slot.thread_exited;
        drop(slot);
        self.wakeup.notify_one();
        busy
    }

    /// Blocks the thread until the next command; `None` means that the caller has gone.
    pub(crate) fn next_command(&self) -> Option<O> {
        let mut slot = self.slot();
        loop {
            if self.is_abandoned() {
                return None;
            }
            match std::mem::replace(&mut slot.state, SlotState::Working) {
                SlotState::Command(command) => return Some(command),
                other => slot.state = other,
            }
            slot = self.wakeup.wait(slot).expect("nothing panics under the lock");
        }
    }

    /// Hands over the thread's answer and wakes the task.
    pub(crate) fn answer(&self, answer: A) {
        let mut slot = self.slot();
        slot.state = SlotState::Answer(answer);
        wake(slot);
    }

    /// Returns true if the caller has gone and the thread can stop working.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Acquire)
    }

    /// Pauses the working thread for about `span`, or until the caller goes away. Returns true if
    /// the caller is still there.
    pub(crate) fn wait(&self, span: Nanos) -> bool {
        let slot = self.slot();
        if !self.is_abandoned() {
            let woken = self.wakeup.wait_timeout(slot, Duration::from_nanos(span.0));
            drop(woken.expect("nothing panics under the lock"));
        }
        !self.is_abandoned()
    }

    /// Returns true if the thread is working on a command.
    #[cfg(test)]
    pub(crate) fn is_working(&self) -> bool {
        matches!(self.slot().state, SlotState::Working)
    }

    /// Records that the thread has ended, by returning or by panicking, and wakes the task.
    pub(crate) fn thread_exited(&self) {
        let mut slot = self.slot();
        slot.thread_exited = true;
        wake(slot);
    }
}

/// Wakes the waiting task after releasing the lock, which the task needs at once.
fn wake<O, A>(mut slot: MutexGuard<'_, Slot<O, A>>) {
    let waker = slot.waker.take();
    drop(slot);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<O, A> Slot<O, A> {
    fn wake_later(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            None => self.waker = Some(waker.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::tests::joined;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll(mailbox: &Mailbox<u32, u32>, command: Option<u32>) -> Poll<Option<u32>> {
        let mut command = command;
        mailbox.poll_exchange(&mut command, &mut Context::from_waker(Waker::noop()))
    }

    fn begun() -> Mailbox<u32, u32> {
        let mailbox = Mailbox::new();
        mailbox.answer(0);
        assert_eq!(poll(&mailbox, None), Poll::Ready(Some(0)));
        mailbox
    }

    #[test]
    fn mailbox_carries_a_command_and_its_answer() {
        let mailbox = begun();
        assert_eq!(poll(&mailbox, Some(7)), Poll::Pending);
        assert_eq!(poll(&mailbox, None), Poll::Pending);
        assert_eq!(mailbox.next_command(), Some(7));
        assert_eq!(poll(&mailbox, None), Poll::Pending);
        mailbox.answer(8);
        assert_eq!(poll(&mailbox, None), Poll::Ready(Some(8)));
        assert_eq!(poll(&mailbox, Some(9)), Poll::Pending);
    }

    #[test]
    fn the_answer_wakes_the_task_that_waits() {
        let mailbox = begun();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut command = Some(1);
        let polled = mailbox.poll_exchange(&mut command, &mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        assert_eq!(mailbox.next_command(), Some(1));
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        mailbox.answer(2);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn thread_notices_that_its_caller_has_gone() {
        let mailbox = begun();
        assert!(!mailbox.hang_up(), "there is nothing to interrupt");
        assert!(mailbox.is_abandoned());
        assert_eq!(mailbox.next_command(), None);
        assert!(!mailbox.wait(Nanos::from_secs(3_600)), "the wait for the thread ends");
    }

    #[test]
    fn hanging_up_returns_true_if_the_thread_is_working() {
        let mailbox = begun();
        assert!(poll(&mailbox, Some(1)).is_pending());
        assert_eq!(mailbox.next_command(), Some(1));
        assert!(mailbox.hang_up());
    }

    #[test]
    fn hanging_up_ends_a_wait() {
        let mailbox = Arc::new(begun());
        let thread = std::thread::spawn({
            let mailbox = Arc::clone(&mailbox);
            move || mailbox.wait(Nanos::from_secs(3_600))
        });
        mailbox.hang_up();
        assert!(!joined(thread));
    }

    #[test]
    fn ended_thread_gives_no_further_answer() {
        let mailbox = begun();
        assert!(poll(&mailbox, Some(1)).is_pending());
        assert_eq!(mailbox.next_command(), Some(1));
        mailbox.thread_exited();
        assert_eq!(poll(&mailbox, None), Poll::Ready(None));
        assert_eq!(poll(&mailbox, Some(2)), Poll::Ready(None));
    }

    #[test]
    fn the_last_answer_of_a_thread_is_not_lost() {
        let mailbox = begun();
        assert!(poll(&mailbox, Some(1)).is_pending());
        assert_eq!(mailbox.next_command(), Some(1));
        mailbox.answer(2);
        mailbox.thread_exited();
        assert_eq!(poll(&mailbox, None), Poll::Ready(Some(2)));
        assert_eq!(poll(&mailbox, None), Poll::Ready(None));
    }

    #[test]
    #[should_panic(expected = "can only be abandoned")]
    fn second_command_before_the_answer_panics() {
        let mailbox = begun();
        assert!(poll(&mailbox, Some(1)).is_pending());
        let _ = poll(&mailbox, Some(2));
    }
}
