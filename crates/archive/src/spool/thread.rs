//! The thread that writes one file, and the queue of blocks between it and its producers.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::sink::{Progress, Sink, WriteResult};

/// The interval of the checks for progress while waiting for the end of a spool.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of checks without progress after which waiting ends: 10 s.
const MAX_IDLE_POLLS: u32 = 200;

/// A block of data for a file.
pub(crate) trait Block: Send + 'static {
    /// Returns the size of the block's content in memory, in bytes.
    fn weight(&self) -> usize;

    /// Empties the block and keeps its memory.
    fn clear(&mut self);
}

/// The limits of pending data for a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingLimits {
    /// Number of empty blocks at the beginning, in addition to the blocks of producers.
    pub(crate) blocks: usize,
    /// Number of pending bytes above which no further block is accepted.
    pub(crate) weight: usize,
}

/// A handle to the thread that writes a file, for waiting until the thread has ended.
pub(crate) struct Spool<B> {
    shared: Arc<Shared<B>>,
    progress: Arc<Progress>,
}

/// A producer's handle to a spool. The file is closed when the last handle is dropped.
pub(crate) struct SpoolHandle<B: Block> {
    shared: Arc<Shared<B>>,
}

struct Shared<B> {
    state: Mutex<State<B>>,
    /// Notified when a block is handed over, or the last producer is dropped.
    work_available: Condvar,
    /// Notified when there is room, or the thread ends.
    room: Condvar,
    /// True if there is room, or the thread has ended; readable without the lock.
    has_room: AtomicBool,
    most_weight: usize,
}

struct State<B> {
    full: VecDeque<B>,
    weight: usize,
    empty: Vec<B>,
    /// Wakers of tasks that wait for room.
    wakers: Vec<Waker>,
    producers: usize,
    /// True if a producer gave up waiting.
    has_discarded: bool,
    /// Result of writing the file, once the thread has ended.
    written: Option<WriteResult>,
}

/// The next action of the thread.
enum NextStep<B> {
    Block(B),
    /// No block at the moment.
    Nothing,
    /// All producers have been dropped.
    End,
}

impl<B: Block> Spool<B> {
    /// Starts the thread of a file, and returns its spool with the handle of the first producer.
    /// `make` creates an empty block, and `append` writes the content of a block to the sink.
    pub(crate) fn start(
        sink: Sink,
        room: PendingLimits,
        make: impl FnMut() -> B,
        append: impl FnMut(&B, &mut Sink) + Send + 'static,
    ) -> io::Result<(Spool<B>, SpoolHandle<B>)> {
        let mut empty = Vec::with_capacity(room.blocks);
        empty.resize_with(room.blocks, make);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                full: VecDeque::with_capacity(room.blocks),
                weight: 0,
                empty,
                wakers: Vec::new(),
                producers: 1,
                has_discarded: false,
                written: None,
            }),
            work_available: Condvar::new(),
            room: Condvar::new(),
            has_room: AtomicBool::new(true),
            most_weight: room.weight,
        });
        let (ours, progress) = (Arc::clone(&shared), sink.progress());
        std::thread::Builder::new()
            .name("spool".to_owned())
            .spawn(move || ours.run(sink, append))?;
        Ok((Spool { shared: Arc::clone(&shared), progress }, SpoolHandle { shared }))
    }

    /// Waits until every producer has been dropped and everything is written.
    ///
    /// Stops waiting if the file makes no progress, as with a pipe whose reader does not read, or
    /// if `waits` returns false.
    pub(crate) fn finish(self, mut waits: impl FnMut() -> bool) -> WriteResult {
        let mut state = self.shared.state();
        let (mut bytes, mut idle_polls) = (self.progress.bytes(), 0);
        while state.written.is_none() && idle_polls < MAX_IDLE_POLLS && waits() {
            let (woken, wait) =
                self.shared.room.wait_timeout(state, POLL_INTERVAL).expect(NO_PANIC);
            state = woken;
            let before = std::mem::replace(&mut bytes, self.progress.bytes());
            // A returned block ends the wait early: its rows are in the buffer of the file.
            let is_idle = before == bytes && wait.timed_out();
            idle_polls = if is_idle { idle_polls + 1 } else { 0 };
        }
        let mut written = state.written.take().unwrap_or_else(|| self.progress.timed_out());
        if state.has_discarded && written.failure.is_none() {
            written = self.progress.timed_out();
        }
        written
    }
}

impl<B: Block> SpoolHandle<B> {
    /// Swaps a filled block for an empty one; returns false if there is no room. Never waits.
    pub(crate) fn try_swap(&self, block: &mut B) -> bool {
        self.shared.has_room.load(Ordering::Acquire)
            && self.shared.swap(&mut self.shared.state(), block)
    }

    /// Swaps a filled block for an empty one, blocking the thread until there is room.
    pub(crate) fn swap(&self, block: &mut B) {
        let mut state = self.shared.state();
        while !self.shared.swap(&mut state, block) {
            state = self.shared.room.wait(state).expect(NO_PANIC);
        }
    }

    /// Hands over the last block of a producer, beyond the limits of pending data: never waits.
    /// Each producer may do so once. If the thread has ended, the block is discarded.
    pub(crate) fn hand_in(&self, block: B) {
        let mut state = self.shared.state();
        if state.written.is_none() {
            self.shared.enqueue(&mut state, block);
        }
    }

    /// Swaps a filled block for an empty one; pending until there is room.
    pub(crate) fn poll_swap(&self, block: &mut B, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.state();
        if self.shared.swap(&mut state, block) {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Returns the number of empty blocks.
    #[cfg(test)]
    pub(super) fn empty_blocks(&self) -> usize {
        self.shared.state().empty.len()
    }

    /// Discards data that were not accepted in time. The file then counts as failed.
    pub(crate) fn discard(&self, block: &mut B) {
        block.clear();
        self.shared.state().has_discarded = true;
    }
}

impl<B: Block> Clone for SpoolHandle<B> {
    fn clone(&self) -> SpoolHandle<B> {
        self.shared.state().producers += 1;
        SpoolHandle { shared: Arc::clone(&self.shared) }
    }
}

impl<B: Block> Drop for SpoolHandle<B> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.producers -= 1;
        if state.producers == 0 {
            self.shared.work_available.notify_one();
        }
    }
}

const NO_PANIC: &str = "nothing panics under the lock";

impl<B> Shared<B> {
    fn state(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().expect(NO_PANIC)
    }
}

impl<B: Block> Shared<B> {
    /// Swaps a filled block for an empty one; returns false if there is no room. After a panic of
    /// the thread, which the result of the file reports, the block is discarded instead.
    fn swap(&self, state: &mut State<B>, block: &mut B) -> bool {
        if state.written.is_some() {
            block.clear();
            return true;
        }
        if state.weight > self.most_weight {
            return false;
        }
        let Some(empty) = state.empty.pop() else { return false };
        self.enqueue(state, std::mem::replace(block, empty));
        true
    }

    /// Queues a filled block for the thread.
    fn enqueue(&self, state: &mut State<B>, full: B) {
        state.weight += full.weight();
        state.full.push_back(full);
        self.update_has_room(state);
        self.work_available.notify_one();
    }

    fn update_has_room(&self, state: &State<B>) {
        let has_room = !state.empty.is_empty() && state.weight <= self.most_weight;
        self.has_room.store(has_room, Ordering::Release);
    }

    /// Runs the thread until its end.
    fn run(&self, mut sink: Sink, mut append: impl FnMut(&B, &mut Sink)) {
        // Reports the end even on a panic, as others may be waiting for it.
        let mut end = End { shared: self, progress: sink.progress(), written: None };
        let mut wakers = Vec::new();
        loop {
            match self.next_step() {
                NextStep::Block(block) => {
                    append(&block, &mut sink);
                    self.return_block(block, &mut wakers);
                }
                // Flushes when idle: a kill then loses only data that were not handed over yet.
                NextStep::Nothing => {
                    sink.flush();
                    self.wait();
                }
                NextStep::End => break,
            }
        }
        end.written = Some(sink.finish());
    }

    fn next_step(&self) -> NextStep<B> {
        let mut state = self.state();
        match state.full.pop_front() {
            Some(block) => NextStep::Block(block),
            None if state.producers == 0 => NextStep::End,
            None => NextStep::Nothing,
        }
    }

    fn wait(&self) {
        let state = self.state();
        let idle = |state: &mut State<B>| state.full.is_empty() && state.producers > 0;
        drop(self.work_available.wait_while(state, idle).expect(NO_PANIC));
    }

    fn return_block(&self, mut block: B, wakers: &mut Vec<Waker>) {
        let weight = block.weight();
        block.clear();
        let mut state = self.state();
        state.weight -= weight;
        state.empty.push(block);
        self.update_has_room(&state);
        std::mem::swap(&mut state.wakers, wakers);
        drop(state);
        self.room.notify_all();
        wakers.drain(..).for_each(Waker::wake);
    }
}

/// A guard that reports the result of the file when the thread ends.
struct End<'a, B: Block> {
    shared: &'a Shared<B>,
    progress: Arc<Progress>,
    written: Option<WriteResult>,
}

impl<B: Block> Drop for End<'_, B> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.written = self.written.take().or_else(|| Some(self.progress.crashed()));
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.shared.has_room.store(true, Ordering::Release);
        self.shared.room.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }
}
