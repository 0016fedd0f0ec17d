//! The blocks of a file's records between the thread that reads the file and the lanes.
//!
//! A group is the records of one request or of one batch. In a job with a schedule or a log, the
//! groups go to the lanes in turn, as the arrivals do, so each lane has a queue of its own. In a
//! closed job the next group belongs to the next free client on any lane, so all lanes share one
//! queue, and take the groups of a block one by one.
//!
//! Invariant: the reading thread waits only while no lane lacks blocks, or while a lane is
//! [`BLOCKS_BEHIND`] blocks behind. Up to that number, a lane that takes few groups, or none, does
//! not delay the other lanes. A lane locks the queues only to take a block, never for a group.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use workload::feed::Records;

use crate::stop::Stop;

/// Number of blocks that are read ahead for each lane.
const BLOCKS_AHEAD: usize = 2;

/// Number of waiting blocks of a queue at which the reading thread pauses. A lane that is far
/// behind its schedule may need that many: some 256 MiB, or a million short records.
const BLOCKS_BEHIND: usize = 4_096;

/// Maximum number of a queue's blocks that the reading thread reuses; further ones are freed after
/// use.
const BLOCKS_REUSED: usize = 64;

/// Interval at which a lane that waits in virtual time checks whether the run is over.
const STOP_POLL: Duration = Duration::from_millis(50);

/// The distribution of a file's groups to the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distribution {
    /// Each of n lanes gets every n-th group.
    InTurn,
    /// Each group goes to the lane that asks first.
    OnDemand,
}

/// A block of groups.
#[derive(Debug, Default)]
pub(crate) struct Block {
    records: Records,
    /// Index of the next group. It may exceed the number of groups.
    next: AtomicUsize,
}

/// The answer to a lane that asks for a block.
pub(crate) enum Taken {
    /// A block. Other lanes that share the queue may have taken its groups meanwhile.
    Block(Arc<Block>),
    /// Nothing yet: the file is being read, its writer is slow, or the reading thread waits for
    /// another lane.
    Pending,
    /// Nothing more.
    End(FileEnd),
}

/// The end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileEnd {
    /// The file was read to its end, and the lane has no more blocks.
    Exhausted,
    /// The file could not be read to its end, for this reason.
    Failed(String),
    /// The reading thread ended unexpectedly, or a stop ended the lane's wait for the file.
    GivenUp,
}

/// Creates the queues of a file: the side of the reading thread and that of each lane.
pub(crate) fn feed_queues(
    lanes: usize,
    distribution: Distribution,
) -> (BlockSender, Vec<LaneQueue>) {
    let (count, lanes_each) = match distribution {
        Distribution::InTurn => (lanes, 1),
        Distribution::OnDemand => (1, lanes),
    };
    let mut all = Vec::new();
    all.resize_with(count, || Queue::of_lanes(lanes_each));
    let state = State { queues: all, end: None, is_reader_waiting: false };
    let queues = Arc::new(Queues { state: Mutex::new(state), changed: Condvar::new() });
    let lane_queue = |lane: usize| LaneQueue { queues: Arc::clone(&queues), index: lane % count };
    let lane_queues = (0..lanes).map(lane_queue).collect();
    let mut pools = Vec::new();
    pools.resize_with(count, BlockPool::default);
    (BlockSender { queues, pools }, lane_queues)
}

impl Block {
    /// Returns the records of all groups.
    #[inline]
    pub(crate) fn records(&self) -> &Records {
        &self.records
    }

    /// Takes the next group and returns its index; `None` if all groups were taken.
    #[inline]
    pub(crate) fn take(&self) -> Option<usize> {
        // Relaxed is enough: the lock under which a lane got the block made its records visible.
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.records.len()).then_some(index)
    }
}

/// A lane's side of a queue. A lane that drops it gets no more blocks.
pub(crate) struct LaneQueue {
    queues: Arc<Queues>,
    /// Index of the lane's queue.
    index: usize,
}

impl LaneQueue {
    /// Returns the current block or, if that is `used`, the block after it. `used` is a block whose
    /// groups were all taken, or `None` before the first block. With a `virtual_stop`, waits for
    /// the reading thread until the stop is requested, unless the thread itself waits for another
    /// lane.
    #[cold]
    pub(crate) fn next_block(
        &self,
        used: Option<&Arc<Block>>,
        virtual_stop: Option<&Stop>,
    ) -> Taken {
        let mut state = self.queues.lock();
        loop {
            if let Some(block) = state.queues[self.index].next_block(used) {
                self.queues.wake_reader(&mut state);
                return Taken::Block(block);
            }
            if let Some(end) = &state.end {
                return Taken::End(end.clone());
            }
            let Some(stop) = virtual_stop else { return Taken::Pending };
            // The reading thread waits for another lane, which is far behind. In virtual time, that
            // lane cannot proceed while this one waits, because they share a thread.
            if state.is_reader_waiting {
                return Taken::Pending;
            }
            let waited = self.queues.changed.wait_timeout(state, STOP_POLL);
            let (guard, timeout) = waited.expect("nothing panics under the lock");
            state = guard;
            if timeout.timed_out() && stop.is_requested() {
                return Taken::End(FileEnd::GivenUp);
            }
        }
    }

    /// Returns true if any lane has got a block from the queue.
    pub(crate) fn has_begun(&self) -> bool {
        self.queues.lock().queues[self.index].current.is_some()
    }
}

impl Drop for LaneQueue {
    fn drop(&mut self) {
        let mut state = self.queues.lock();
        state.queues[self.index].remove_lane();
        self.queues.wake_reader(&mut state);
    }
}

/// The reading thread's side of the queues. Dropping it ends the file for the lanes.
pub(crate) struct BlockSender {
    queues: Arc<Queues>,
    /// The blocks of each queue that are reused.
    pools: Vec<BlockPool>,
}

impl BlockSender {
    /// Returns the number of queues.
    pub(crate) fn queue_count(&self) -> usize {
        self.pools.len()
    }

    /// Appends the groups of `records` to a queue, and leaves `records` empty.
    pub(crate) fn send(&mut self, queue: usize, records: &mut Records, per_group: usize) {
        let block = self.pools[queue].fill(records, per_group);
        let mut state = self.queues.lock();
        if state.queues[queue].lanes > 0 {
            state.queues[queue].blocks.push_back(block);
            self.queues.changed.notify_all();
        }
    }

    /// Waits until a lane needs more blocks and none is too far behind. Returns false if no lane is
    /// left.
    pub(crate) fn wait_for_demand(&self) -> bool {
        let changed = &self.queues.changed;
        let mut state = self.queues.lock();
        while state.has_lanes() {
            if state.has_demand() {
                return true;
            }
            state.is_reader_waiting = true;
            // A lane in virtual time may wait for a block that will not come now.
            changed.notify_all();
            let waited = changed.wait_while(state, |state| state.is_reader_waiting);
            state = waited.expect("nothing panics under the lock");
        }
        false
    }

    /// Lets the lanes know that no more blocks follow. Only the first call has an effect.
    pub(crate) fn end(&self, end: FileEnd) {
        self.queues.lock().end.get_or_insert(end);
        self.queues.changed.notify_all();
    }
}

impl Drop for BlockSender {
    fn drop(&mut self) {
        // If the thread panicked, the lanes must not wait for it.
        self.end(FileEnd::GivenUp);
    }
}

/// The queues of one file.
struct Queues {
    state: Mutex<State>,
    /// Notified when the reading thread sends a block, begins to wait or ends, and when a lane
    /// takes a block or leaves while the thread waits.
    changed: Condvar,
}

impl Queues {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under the lock")
    }

    /// If the reading thread waits, lets it check again whether a lane needs more blocks.
    fn wake_reader(&self, state: &mut State) {
        if std::mem::take(&mut state.is_reader_waiting) {
            self.changed.notify_all();
        }
    }
}

struct State {
    queues: Vec<Queue>,
    /// The end of the file; `None` while it is being read.
    end: Option<FileEnd>,
    /// True if the reading thread waits, and no lane has taken a block or left since then.
    is_reader_waiting: bool,
}

impl State {
    fn has_lanes(&self) -> bool {
        self.queues.iter().any(|queue| queue.lanes > 0)
    }

    /// Returns true if a lane needs more blocks and no lane is too far behind.
    fn has_demand(&self) -> bool {
        let in_use = || self.queues.iter().filter(|queue| queue.lanes > 0);
        in_use().any(|queue| queue.blocks.len() < queue.ahead)
            && in_use().all(|queue| queue.blocks.len() < BLOCKS_BEHIND)
    }
}

struct Queue {
    blocks: VecDeque<Arc<Block>>,
    /// The block that was taken last, from which all lanes of the queue take groups.
    current: Option<Arc<Block>>,
    /// Number of lanes that have not left.
    lanes: usize,
    /// Number of blocks that the thread reads ahead.
    ahead: usize,
}

impl Queue {
    fn of_lanes(lanes: usize) -> Queue {
        Queue { blocks: VecDeque::new(), current: None, lanes, ahead: BLOCKS_AHEAD * lanes }
    }

    /// Returns the current block or, if that is `used`, the next one.
    fn next_block(&mut self, used: Option<&Arc<Block>>) -> Option<Arc<Block>> {
        let is_new = |block: &&Arc<Block>| used.is_none_or(|used| !Arc::ptr_eq(used, block));
        if let Some(current) = self.current.as_ref().filter(is_new) {
            return Some(Arc::clone(current));
        }
        let block = self.blocks.pop_front()?;
        self.current = Some(Arc::clone(&block));
        Some(block)
    }

    /// Counts a lane that leaves. After the last one, the blocks are no longer needed.
    fn remove_lane(&mut self) {
        self.lanes -= 1;
        if self.lanes == 0 {
            self.blocks.clear();
        }
    }
}

/// The blocks of a queue that the reading thread reuses.
#[derive(Default)]
struct BlockPool(Vec<Arc<Block>>);

impl BlockPool {
    /// Moves groups into a block that no request uses any more, or into a new one.
    fn fill(&mut self, groups: &mut Records, per_group: usize) -> Arc<Block> {
        let free = self.0.iter_mut().position(|block| Arc::get_mut(block).is_some());
        let mut full = free.map_or_else(Arc::default, |index| self.0.swap_remove(index));
        if let Some(Block { records, next }) = Arc::get_mut(&mut full) {
            records.reset(per_group);
            std::mem::swap(records, groups);
            *next.get_mut() = 0;
        }
        if self.0.len() < BLOCKS_REUSED {
            self.0.push(Arc::clone(&full));
        }
        full
    }
}

#[cfg(test)]
mod tests {
    use workload::feed::{Format, Reader};

    use super::*;

    /// Sends a block of `count` groups to a queue.
    fn send(sender: &mut BlockSender, queue: usize, count: usize) {
        let text = "x\n".repeat(count);
        let mut reader = Reader::new(text.as_bytes(), Format::Csv { delimiter: b',' }, 1);
        let mut records = Records::default();
        records.reset(1);
        let filled = reader.fill(std::slice::from_mut(&mut records), |_| 0, |_| false);
        assert!(filled.is_ok(), "{filled:?}");
        sender.send(queue, &mut records, 1);
    }

    /// Returns the block that a lane takes after `used`.
    fn block_after(lane: &LaneQueue, used: Option<&Arc<Block>>) -> Arc<Block> {
        match lane.next_block(used, None) {
            Taken::Block(block) => block,
            Taken::Pending | Taken::End(_) => panic!("no block"),
        }
    }

    #[test]
    fn lanes_that_share_a_queue_take_each_group_once() {
        let (mut sender, lanes) = feed_queues(2, Distribution::OnDemand);
        assert_eq!((sender.queue_count(), lanes.len()), (1, 2));
        send(&mut sender, 0, 3);
        send(&mut sender, 0, 1);
        let (first, same) = (block_after(&lanes[0], None), block_after(&lanes[1], None));
        assert_eq!([first.take(), same.take(), first.take()], [Some(0), Some(1), Some(2)]);
        assert_eq!((first.take(), same.take()), (None, None));
        let last = block_after(&lanes[1], Some(&same));
        let used_up = block_after(&lanes[0], Some(&first));
        assert_eq!((last.take(), used_up.take()), (Some(0), None));
        assert!(matches!(lanes[0].next_block(Some(&used_up), None), Taken::Pending));
        sender.end(FileEnd::Exhausted);
        for (lane, used) in lanes.iter().zip([used_up, last]) {
            let next = lane.next_block(Some(&used), None);
            assert!(matches!(next, Taken::End(FileEnd::Exhausted)));
        }
    }

    #[test]
    fn lane_that_takes_nothing_does_not_delay_another() {
        let (mut sender, lanes) = feed_queues(2, Distribution::InTurn);
        let mut block = None;
        for _ in 0..10 * BLOCKS_AHEAD {
            assert!(sender.wait_for_demand());
            (0..2).for_each(|queue| send(&mut sender, queue, 1));
            block = Some(block_after(&lanes[0], block.as_ref()));
        }
        drop(lanes);
        assert!(!sender.wait_for_demand());
    }

    /// Lanes in virtual time share a thread. If one lane waited for the reading thread while that
    /// thread waits for another lane, the other lane could not proceed, and both would wait
    /// forever.
    #[test]
    fn lane_in_virtual_time_does_not_wait_for_a_thread_that_waits_for_another_lane() {
        let (mut sender, lanes) = feed_queues(2, Distribution::InTurn);
        (0..BLOCKS_BEHIND).for_each(|_| send(&mut sender, 1, 1));
        let waiting = std::thread::spawn(move || sender.wait_for_demand());
        let stop = Stop::default();
        assert!(matches!(lanes[0].next_block(None, Some(&stop)), Taken::Pending));
        block_after(&lanes[1], None);
        assert!(waiting.join().expect("the thread ends"));
        // The thread has dropped its side.
        let next = lanes[0].next_block(None, Some(&stop));
        assert!(matches!(next, Taken::End(FileEnd::GivenUp)));
    }
}
