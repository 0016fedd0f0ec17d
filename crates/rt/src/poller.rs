//! What the kernel knows: which sockets can be read or written.
//!
//! One `epoll` instance per thread, edge-triggered: the kernel tells once that a socket has become
//! ready, and the note of it is kept here until an attempt finds it empty (`epoll(7)`, "Level-
//! triggered and edge-triggered"). A socket belongs to one thread, and so do its notes: looking at
//! them takes neither a lock nor an atomic operation.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

use crate::Rt;

/// How many sockets the kernel tells of at once.
const EVENTS: usize = 256;

/// Number of reads in a row that may fill their buffers before a socket rests until the executor
/// has looked at the others and at its timers. A server that sends without an end must not have
/// the thread.
const FULL_READS: u8 = 4;

/// The sockets of a thread.
pub(crate) struct Poller {
    epoll: OwnedFd,
    sources: RefCell<Sources>,
    events: RefCell<Vec<Event>>,
    /// Sockets that rest, though there is more to read.
    resting: RefCell<Vec<Resting>>,
}

/// A socket that rests.
#[derive(Clone, Copy, Debug)]
struct Resting {
    slot: u32,
    generation: u32,
}

#[derive(Default)]
struct Sources {
    slots: Vec<Notes>,
    free: Vec<u32>,
}

/// What is known of a socket.
#[derive(Default)]
struct Notes {
    /// How many sockets have had this slot: what the kernel says of one that is gone is not meant
    /// for the next.
    generation: u32,
    read: Side,
    write: Side,
}

/// One direction.
#[derive(Default)]
struct Side {
    is_ready: bool,
    /// Nothing new will come: what is ready stays so.
    has_ended: bool,
    /// Number of reads that have filled their buffers since the last one that did not.
    full_reads: u8,
    waker: Option<Waker>,
}

impl Side {
    #[inline]
    fn note(&mut self, has_ended: bool) {
        self.is_ready = true;
        self.has_ended |= has_ended;
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    fn keep(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }
}

/// A direction in which bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To be read, or a connection to be accepted.
    Read,
    /// To be written, or a connection that is being made.
    Write,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Poller> {
        Ok(Poller {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            sources: RefCell::default(),
            events: RefCell::new(Vec::with_capacity(EVENTS)),
            resting: RefCell::default(),
        })
    }

    /// Returns true if a socket rests. The thread must not sleep then.
    #[inline]
    pub(crate) fn has_resting(&self) -> bool {
        !self.resting.borrow().is_empty()
    }

    /// Takes what the kernel knows and wakes who waits for it, and behind these the sockets that
    /// rest. Waits for the first news if `waits`.
    pub(crate) fn take_news(&self, waits: bool) {
        let mut events = self.events.borrow_mut();
        events.clear();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = if waits { None } else { Some(&at_once) };
        match epoll::wait(&self.epoll, spare_capacity(&mut *events), limit) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("an epoll instance of our own can be waited on: {error}"),
        }
        let mut sources = self.sources.borrow_mut();
        for event in &*events {
            let (slot, generation) = from_key(event.data.u64());
            let Some(notes) = sources.slots.get_mut(slot as usize) else { continue };
            if notes.generation != generation {
                continue;
            }
            let flags = event.flags;
            let is_over = flags.intersects(EventFlags::ERR | EventFlags::HUP);
            let no_more = is_over || flags.contains(EventFlags::RDHUP);
            if no_more || flags.contains(EventFlags::IN) {
                notes.read.note(no_more);
            }
            if is_over || flags.contains(EventFlags::OUT) {
                notes.write.note(is_over);
            }
        }
        for Resting { slot, generation } in self.resting.borrow_mut().drain(..) {
            let notes = &mut sources.slots[slot as usize];
            if notes.generation == generation {
                notes.read.note(false);
            }
        }
    }

    /// Lets a socket rest until the next news.
    #[cold]
    fn rest(&self, slot: u32) {
        let generation = self.sources.borrow().slots[slot as usize].generation;
        self.resting.borrow_mut().push(Resting { slot, generation });
    }

    /// Waits for something of the executor's own as well, of which there is nothing to note.
    pub(crate) fn add_nameless(&self, source: impl AsFd) -> io::Result<()> {
        let key = EventData::new_u64(key(u32::MAX, 0));
        Ok(epoll::add(&self.epoll, source, key, EventFlags::IN | EventFlags::ET)?)
    }

    fn add(&self, source: impl AsFd) -> io::Result<u32> {
        let mut sources = self.sources.borrow_mut();
        let slot = match sources.free.pop() {
            Some(slot) => slot,
            None => {
                sources.slots.push(Notes::default());
                u32::try_from(sources.slots.len() - 1).expect("fewer than 2^32 sockets")
            }
        };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let key = key(slot, sources.slots[slot as usize].generation);
        match epoll::add(&self.epoll, source, EventData::new_u64(key), flags) {
            Ok(()) => Ok(slot),
            Err(error) => {
                sources.free.push(slot);
                Err(error.into())
            }
        }
    }

    fn remove(&self, source: impl AsFd, slot: u32) {
        // It was added, and nobody else removes it.
        let _ = epoll::delete(&self.epoll, source);
        let mut sources = self.sources.borrow_mut();
        let generation = sources.slots[slot as usize].generation.wrapping_add(1);
        sources.slots[slot as usize] = Notes { generation, ..Notes::default() };
        sources.free.push(slot);
    }
}

fn key(slot: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(slot)
}

fn from_key(key: u64) -> (u32, u32) {
    (key as u32, (key >> 32) as u32)
}

/// A socket, or anything else that can be waited for, that belongs to a thread's executor.
///
/// It must not block: [`poll_io`](Source::poll_io) tries, and waits where that would.
pub struct Source<T: AsFd> {
    inner: T,
    slot: u32,
    poller: Rc<Poller>,
}

impl<T: AsFd> Source<T> {
    /// Registers it with the thread's executor.
    ///
    /// # Errors
    /// The operating system does not take it: it is a file, or there is no room.
    ///
    /// # Panics
    /// In virtual time, where nothing happens outside.
    pub fn new(rt: &Rt, inner: T) -> io::Result<Source<T>> {
        let poller = Rc::clone(rt.poller().expect("sockets take real time"));
        let slot = poller.add(&inner)?;
        Ok(Source { inner, slot, poller })
    }

    /// What it is.
    pub fn get(&self) -> &T {
        &self.inner
    }

    /// Tries something, and waits where that would block.
    ///
    /// # Errors
    /// What it ends with, other than that it would block.
    #[inline]
    pub fn poll_io<R>(
        &self,
        direction: Direction,
        context: &mut Context<'_>,
        mut attempt: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        loop {
            if !self.is_ready_or_waits(direction, context) {
                return Poll::Pending;
            }
            match attempt(&self.inner) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.with_side(direction, |side| side.is_ready = false);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Notes that an attempt has left nothing for the next, though it did not block: a read that
    /// was shorter than its buffer. The next attempt then waits without asking the kernel in vain,
    /// unless the kernel has said that the other side is done.
    #[inline]
    pub fn has_been_emptied(&self, direction: Direction) {
        self.with_side(direction, |side| (side.is_ready, side.full_reads) = (side.has_ended, 0));
    }

    /// Notes that a read has filled its room, so that there may be more. After some of these the
    /// next one waits until the executor has looked at all else.
    pub(crate) fn has_been_filled(&self) {
        let is_spent = self.with_side(Direction::Read, |side| {
            side.full_reads += 1;
            let is_spent = side.full_reads == FULL_READS;
            if is_spent {
                (side.full_reads, side.is_ready) = (0, false);
            }
            is_spent
        });
        if is_spent {
            self.poller.rest(self.slot);
        }
    }

    #[inline]
    fn is_ready_or_waits(&self, direction: Direction, context: &mut Context<'_>) -> bool {
        self.with_side(direction, |side| {
            if !side.is_ready {
                side.keep(context.waker());
            }
            side.is_ready
        })
    }

    #[inline]
    fn with_side<R>(&self, direction: Direction, act: impl FnOnce(&mut Side) -> R) -> R {
        let mut sources = self.poller.sources.borrow_mut();
        let notes = &mut sources.slots[self.slot as usize];
        act(match direction {
            Direction::Read => &mut notes.read,
            Direction::Write => &mut notes.write,
        })
    }
}

impl<T: AsFd> Drop for Source<T> {
    fn drop(&mut self) {
        self.poller.remove(&self.inner, self.slot);
    }
}
