//! Readiness of sockets.
//!
//! One `epoll` instance per thread, edge-triggered: the kernel reports once that a socket has
//! become ready, and the readiness is stored here until an attempt would block (`epoll(7)`,
//! "Level-triggered and edge-triggered"). A socket belongs to one thread, and so does its state:
//! reading it takes neither a lock nor an atomic operation.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::task::Waker;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

/// Maximum number of sockets that the kernel reports at once.
const EVENTS: usize = 256;

/// The sockets of a thread.
pub(crate) struct Poller {
    epoll: OwnedFd,
    sockets: RefCell<SocketSlots>,
    events: RefCell<Vec<Event>>,
    resting: RefCell<Vec<RestingSocket>>,
}

/// A resting socket: it has more to read, and its task waits until the next poll of the kernel.
#[derive(Clone, Copy, Debug)]
struct RestingSocket {
    slot: u32,
    generation: u32,
}

/// The slots of the sockets.
#[derive(Default)]
struct SocketSlots {
    slots: Vec<SocketState>,
    free: Vec<u32>,
}

/// The state of a socket.
#[derive(Default)]
struct SocketState {
    /// The number of earlier sockets in this slot. Events with another generation belong to one of
    /// these sockets and are ignored.
    generation: u32,
    read: DirectionState,
    write: DirectionState,
}

/// The state of one direction of a socket.
#[derive(Default)]
pub(crate) struct DirectionState {
    pub(crate) is_ready: bool,
    /// True if there will be no further event, so the readiness is final.
    pub(crate) has_ended: bool,
    /// Number of reads that have filled their buffers since the last read that did not, or since
    /// the last pause for other work.
    pub(crate) full_reads: u8,
    waker: Option<Waker>,
}

impl DirectionState {
    #[inline]
    fn set_ready(&mut self, has_ended: bool) {
        self.is_ready = true;
        self.has_ended |= has_ended;
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    /// Stores the waker of the task that waits for this direction.
    pub(crate) fn set_waker(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }
}

/// A direction of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reading, or accepting a connection.
    Read,
    /// Writing, or opening a connection.
    Write,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Poller> {
        Ok(Poller {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            sockets: RefCell::default(),
            events: RefCell::new(Vec::with_capacity(EVENTS)),
            resting: RefCell::default(),
        })
    }

    /// Returns true if there is a resting socket. In that case the thread must not sleep.
    #[inline]
    pub(crate) fn has_resting(&self) -> bool {
        !self.resting.borrow().is_empty()
    }

    /// Polls the kernel for events and wakes the tasks that wait for them, then the tasks of the
    /// resting sockets. Waits for the first event if `waits`.
    pub(crate) fn poll_kernel(&self, waits: bool) {
        let mut events = self.events.borrow_mut();
        events.clear();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = if waits { None } else { Some(&at_once) };
        match epoll::wait(&self.epoll, spare_capacity(&mut *events), limit) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("an epoll instance of our own can be waited on: {error}"),
        }
        let mut sockets = self.sockets.borrow_mut();
        for event in &*events {
            let (slot, generation) = from_key(event.data.u64());
            let Some(socket) = sockets.slots.get_mut(slot as usize) else { continue };
            if socket.generation != generation {
                continue;
            }
            let flags = event.flags;
            let is_over = flags.intersects(EventFlags::ERR | EventFlags::HUP);
            let no_more = is_over || flags.contains(EventFlags::RDHUP);
            if no_more || flags.contains(EventFlags::IN) {
                socket.read.set_ready(no_more);
            }
            if is_over || flags.contains(EventFlags::OUT) {
                socket.write.set_ready(is_over);
            }
        }
        for RestingSocket { slot, generation } in self.resting.borrow_mut().drain(..) {
            let socket = &mut sockets.slots[slot as usize];
            if socket.generation == generation {
                socket.read.set_ready(false);
            }
        }
    }

    /// Passes the state of one direction of a socket to `act`.
    #[inline]
    pub(crate) fn with_direction<R>(
        &self,
        slot: u32,
        direction: Direction,
        act: impl FnOnce(&mut DirectionState) -> R,
    ) -> R {
        let mut sockets = self.sockets.borrow_mut();
        let socket = &mut sockets.slots[slot as usize];
        act(match direction {
            Direction::Read => &mut socket.read,
            Direction::Write => &mut socket.write,
        })
    }

    /// Makes a socket rest until the next poll of the kernel.
    #[cold]
    pub(crate) fn rest(&self, slot: u32) {
        let generation = self.sockets.borrow().slots[slot as usize].generation;
        self.resting.borrow_mut().push(RestingSocket { slot, generation });
    }

    /// Adds a file of the executor itself that only wakes the thread and has no state.
    pub(crate) fn add_wakeup(&self, wakeup: impl AsFd) -> io::Result<()> {
        let key = EventData::new_u64(key(u32::MAX, 0));
        Ok(epoll::add(&self.epoll, wakeup, key, EventFlags::IN | EventFlags::ET)?)
    }

    /// Adds a socket. Returns its slot.
    pub(crate) fn add(&self, socket: impl AsFd) -> io::Result<u32> {
        let mut sockets = self.sockets.borrow_mut();
        let slot = match sockets.free.pop() {
            Some(slot) => slot,
            None => {
                sockets.slots.push(SocketState::default());
                u32::try_from(sockets.slots.len() - 1).expect("fewer than 2^32 sockets")
            }
        };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let key = key(slot, sockets.slots[slot as usize].generation);
        match epoll::add(&self.epoll, socket, EventData::new_u64(key), flags) {
            Ok(()) => Ok(slot),
            Err(error) => {
                sockets.free.push(slot);
                Err(error.into())
            }
        }
    }

    /// Removes a socket.
    pub(crate) fn remove(&self, socket: impl AsFd, slot: u32) {
        // Cannot fail: the socket was added, and only this function removes it.
        let _ = epoll::delete(&self.epoll, socket);
        let mut sockets = self.sockets.borrow_mut();
        let generation = sockets.slots[slot as usize].generation.wrapping_add(1);
        sockets.slots[slot as usize] = SocketState { generation, ..SocketState::default() };
        sockets.free.push(slot);
    }
}

fn key(slot: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(slot)
}

fn from_key(key: u64) -> (u32, u32) {
    (key as u32, (key >> 32) as u32)
}
