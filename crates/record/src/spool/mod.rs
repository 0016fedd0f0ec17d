//! Files that a run writes beside its record, off the measured path.
//!
//! A [`Spool`] is a thread that writes one file. Its givers fill blocks of their own and swap a
//! full one for an empty one through a [`Hand`]; the blocks circulate, so their number is the limit
//! of what can be on its way. A giver who finds no empty block does what its file allows: it drops
//! what it has and counts that ([`OpLog`]), or it waits (the results of a job).
//!
//! The lock of the queue is held to move a block and never while anybody works or writes.
//!
//! The invariants: what was given and not reported as missing is in the file when
//! [`Spool::finish`] returns; a file that cannot be written makes nobody wait.

mod csv;
mod op_log;
mod results;
mod sink;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub(crate) use op_log::OpRow;
pub use op_log::{Logged, OpFormat, OpLane, OpLog, OpLogError, OpLogPlan, OpLogTold};
pub use results::{ResultsFile, ResultsHand};
pub use sink::{FileHealth, Unwritten, Written};

use sink::{Progress, Sink};

/// How often whoever waits for the end of a spool looks whether it goes on.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// After so many looks at a file that does not grow nobody waits for it any longer: 10 s.
const MOST_LOOKS: u32 = 200;

/// What travels to a file.
pub(crate) trait Block: Send + 'static {
    /// How many bytes of memory its content takes.
    fn weight(&self) -> usize;

    /// Makes it empty and keeps its memory.
    fn clear(&mut self);
}

/// How much may be on its way to a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Empty blocks at the beginning, beside those that givers have.
    pub(crate) blocks: usize,
    /// Beyond this number of bytes no further block is taken.
    pub(crate) weight: usize,
}

/// The thread of a file, for whoever waits for its end.
pub(crate) struct Spool<B> {
    shared: Arc<Shared<B>>,
    progress: Arc<Progress>,
}

/// A hand on a spool for a giver. The file is closed when the last of them is gone.
pub(crate) struct Hand<B: Block> {
    shared: Arc<Shared<B>>,
}

struct Shared<B> {
    state: Mutex<State<B>>,
    /// Notified when there is something for the thread.
    news: Condvar,
    /// Notified when there is something for those who block: room, or the end.
    room: Condvar,
    /// Whether there is room, for a look without the lock.
    has_room: AtomicBool,
    most_weight: usize,
}

struct State<B> {
    full: VecDeque<B>,
    weight: usize,
    empty: Vec<B>,
    /// Tasks that wait for room.
    wakers: Vec<Waker>,
    hands: usize,
    /// Whether a giver gave up waiting.
    has_lost: bool,
    /// What came of the file, once the thread has ended.
    written: Option<Written>,
}

/// What the thread finds.
enum Found<B> {
    Block(B),
    /// Nothing at the moment.
    Nothing,
    /// Every hand has gone.
    End,
}

impl<B: Block> Spool<B> {
    /// Starts the thread of a file; `append` writes the content of a block. The hand is the first.
    pub(crate) fn start(
        sink: Sink,
        room: Room,
        make: impl FnMut() -> B,
        append: impl FnMut(&B, &mut Sink) + Send + 'static,
    ) -> io::Result<(Spool<B>, Hand<B>)> {
        let mut empty = Vec::with_capacity(room.blocks);
        empty.resize_with(room.blocks, make);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                full: VecDeque::with_capacity(room.blocks),
                weight: 0,
                empty,
                wakers: Vec::new(),
                hands: 1,
                has_lost: false,
                written: None,
            }),
            news: Condvar::new(),
            room: Condvar::new(),
            has_room: AtomicBool::new(true),
            most_weight: room.weight,
        });
        let (ours, progress) = (Arc::clone(&shared), sink.progress());
        std::thread::Builder::new()
            .name("spool".to_owned())
            .spawn(move || ours.work(sink, append))?;
        Ok((Spool { shared: Arc::clone(&shared), progress }, Hand { shared }))
    }

    /// Waits until every hand has gone and everything is written, but not for a file that does not
    /// grow any more, such as a pipe whose reader takes nothing, and only while `waits` says so.
    pub(crate) fn finish(self, mut waits: impl FnMut() -> bool) -> Written {
        let mut state = self.shared.state();
        let (mut bytes, mut looks) = (self.progress.bytes(), 0);
        while state.written.is_none() && looks < MOST_LOOKS && waits() {
            let woken = self.shared.room.wait_timeout(state, LOOK_EVERY);
            state = woken.expect(NO_PANIC).0;
            let before = std::mem::replace(&mut bytes, self.progress.bytes());
            looks = if before == bytes { looks + 1 } else { 0 };
        }
        let mut written = state.written.take().unwrap_or_else(|| self.progress.given_up());
        if state.has_lost && written.failure.is_none() {
            written = self.progress.given_up();
        }
        written
    }
}

impl<B: Block> Hand<B> {
    /// Swaps a filled block for an empty one, unless there is none now. Never waits.
    pub(crate) fn try_swap(&self, block: &mut B) -> bool {
        self.shared.has_room.load(Ordering::Acquire)
            && self.shared.swap(&mut self.shared.state(), block)
    }

    /// Swaps a filled block for an empty one, and blocks the thread until there is one.
    pub(crate) fn swap(&self, block: &mut B) {
        let mut state = self.shared.state();
        while !self.shared.swap(&mut state, block) {
            state = self.shared.room.wait(state).expect(NO_PANIC);
        }
    }

    /// Swaps a filled block for an empty one, for a hand-written future.
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

    /// Throws away what could not be given in time. The file is then not what it should be.
    pub(crate) fn lose(&self, block: &mut B) {
        block.clear();
        self.shared.state().has_lost = true;
    }
}

impl<B: Block> Clone for Hand<B> {
    fn clone(&self) -> Hand<B> {
        self.shared.state().hands += 1;
        Hand { shared: Arc::clone(&self.shared) }
    }
}

impl<B: Block> Drop for Hand<B> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.hands -= 1;
        if state.hands == 0 {
            self.shared.news.notify_one();
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
    /// Whether the swap was made. Nobody waits for a thread that has ended: it has said why.
    fn swap(&self, state: &mut State<B>, block: &mut B) -> bool {
        if state.written.is_some() {
            block.clear();
            return true;
        }
        if state.weight > self.most_weight {
            return false;
        }
        let Some(empty) = state.empty.pop() else { return false };
        let full = std::mem::replace(block, empty);
        state.weight += full.weight();
        state.full.push_back(full);
        self.note_room(state);
        self.news.notify_one();
        true
    }

    fn note_room(&self, state: &State<B>) {
        let has_room = !state.empty.is_empty() && state.weight <= self.most_weight;
        self.has_room.store(has_room, Ordering::Release);
    }

    /// The whole life of the thread.
    fn work(&self, mut sink: Sink, mut append: impl FnMut(&B, &mut Sink)) {
        // Also when it panics somebody may wait for it.
        let mut end = End { shared: self, progress: sink.progress(), written: None };
        let mut wakers = Vec::new();
        loop {
            match self.look() {
                Found::Block(block) => {
                    append(&block, &mut sink);
                    self.give_back(block, &mut wakers);
                }
                // What a kill takes away is what nobody has handed over yet.
                Found::Nothing => {
                    sink.flush();
                    self.wait();
                }
                Found::End => break,
            }
        }
        end.written = Some(sink.finish());
    }

    fn look(&self) -> Found<B> {
        let mut state = self.state();
        match state.full.pop_front() {
            Some(block) => Found::Block(block),
            None if state.hands == 0 => Found::End,
            None => Found::Nothing,
        }
    }

    fn wait(&self) {
        let state = self.state();
        let idle = |state: &mut State<B>| state.full.is_empty() && state.hands > 0;
        drop(self.news.wait_while(state, idle).expect(NO_PANIC));
    }

    fn give_back(&self, mut block: B, wakers: &mut Vec<Waker>) {
        let weight = block.weight();
        block.clear();
        let mut state = self.state();
        state.weight -= weight;
        state.empty.push(block);
        self.note_room(&state);
        std::mem::swap(&mut state.wakers, wakers);
        drop(state);
        self.room.notify_all();
        wakers.drain(..).for_each(Waker::wake);
    }
}

/// Tells what came of the file when the thread ends.
struct End<'a, B: Block> {
    shared: &'a Shared<B>,
    progress: Arc<Progress>,
    written: Option<Written>,
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
