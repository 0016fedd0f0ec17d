//! A socket that a task waits for.

use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::Rt;
use crate::poller::{Direction, Poller};

/// Number of consecutive reads that fill their buffers after which a socket rests. It rests until
/// the executor has polled the other sockets and the timers, because a server that sends without
/// end must not monopolize the thread.
const FULL_READS: u8 = 4;

/// A socket or other pollable file that belongs to a thread's executor.
///
/// The file must be non-blocking: [`poll_io`](ReadyFd::poll_io) attempts an operation, and is
/// `Pending` if the attempt would block.
pub struct ReadyFd<T: AsFd> {
    inner: T,
    slot: u32,
    poller: Rc<Poller>,
}

impl<T: AsFd> ReadyFd<T> {
    /// Registers a socket with the thread's executor.
    ///
    /// # Errors
    /// The operating system refuses `inner`: it is a regular file, or memory is short.
    ///
    /// # Panics
    /// In virtual time, which has no sockets.
    pub fn new(rt: &Rt, inner: T) -> io::Result<ReadyFd<T>> {
        let poller = Rc::clone(rt.poller().expect("sockets take real time"));
        let slot = poller.add(&inner)?;
        Ok(ReadyFd { inner, slot, poller })
    }

    /// Returns the socket.
    pub fn get(&self) -> &T {
        &self.inner
    }

    /// Attempts an operation. If it would block, returns `Pending`, and the task is woken when the
    /// socket is ready for this direction.
    ///
    /// # Errors
    /// Any error of the operation other than `WouldBlock` and `Interrupted`.
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
                    self.poller
                        .with_direction(self.slot, direction, |state| state.is_ready = false);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Records that an attempt did not block but left nothing for the next one, such as a read that
    /// did not fill its buffer. The next attempt then waits without a useless system call, unless
    /// the kernel has reported that the peer has finished.
    #[inline]
    pub fn mark_drained(&self, direction: Direction) {
        self.poller.with_direction(self.slot, direction, |state| {
            (state.is_ready, state.full_reads) = (state.has_ended, 0)
        });
    }

    /// Records that a read has filled its buffer, which means there may be more. After
    /// [`FULL_READS`] such reads, the next read waits until the executor has polled everything
    /// else.
    pub(crate) fn note_full_read(&self) {
        let is_spent = self.poller.with_direction(self.slot, Direction::Read, |state| {
            state.full_reads += 1;
            let is_spent = state.full_reads == FULL_READS;
            if is_spent {
                (state.full_reads, state.is_ready) = (0, false);
            }
            is_spent
        });
        if is_spent {
            self.poller.rest(self.slot);
        }
    }

    #[inline]
    fn is_ready_or_waits(&self, direction: Direction, context: &mut Context<'_>) -> bool {
        self.poller.with_direction(self.slot, direction, |state| {
            if !state.is_ready {
                state.set_waker(context.waker());
            }
            state.is_ready
        })
    }
}

impl<T: AsFd> Drop for ReadyFd<T> {
    fn drop(&mut self) {
        self.poller.remove(&self.inner, self.slot);
    }
}
