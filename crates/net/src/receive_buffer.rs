//! The buffers of received bytes, and the memory that they share.
//!
//! The invariant: buffers of one [`ReceiveMemory`] take at most [`ReceiveMemory::LIMIT`] bytes
//! together, in addition to their initial sizes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Initial size of a connection's receive buffer, in bytes.
const INITIAL_SIZE: usize = 16 << 10;

/// Size, in bytes, up to which a receive buffer grows because much data arrives. Only a message
/// that must be buffered whole makes the buffer larger.
pub(crate) const MAX_KEPT_SIZE: usize = 64 << 10;

/// The memory of the receive buffers of a driver's connections: the bytes taken beyond the initial
/// sizes of the buffers. A clone is a handle to the same memory.
#[derive(Clone, Debug, Default)]
pub struct ReceiveMemory(Arc<AtomicUsize>);

impl ReceiveMemory {
    /// Maximum memory of all buffers together, in bytes, without the initial size of each.
    pub const LIMIT: usize = 20 << 20;

    /// Maximum memory of all buffers together, in bytes, for an enlargement that only saves reads.
    /// A buffer that is not enlarged needs more reads, but nothing fails.
    const FOR_SPEED: usize = 4 << 20;

    /// Takes memory for a buffer, in bytes. Returns false, and takes nothing, if all buffers
    /// together would then exceed `limit`.
    fn take(&self, bytes: usize, limit: usize) -> bool {
        let add = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= limit);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    /// Returns true if at most `FOR_SPEED` bytes are taken.
    fn is_ample(&self) -> bool {
        self.0.load(Ordering::Relaxed) <= ReceiveMemory::FOR_SPEED
    }

    fn give_back(&self, bytes: usize) {
        if bytes > 0 {
            self.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// A reused buffer of received bytes.
pub(crate) struct ReceiveBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    memory: ReceiveMemory,
}

impl ReceiveBuffer {
    /// Creates an empty buffer.
    pub(crate) fn new(memory: ReceiveMemory) -> ReceiveBuffer {
        ReceiveBuffer { bytes: vec![0; INITIAL_SIZE], start: 0, end: 0, memory }
    }

    /// Returns the bytes that are not consumed.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the free space for the next bytes, which is not empty; `None` if there is too little
    /// memory.
    #[inline]
    pub(crate) fn free_space(&mut self) -> Option<&mut [u8]> {
        // The length of the message is unknown, so as much room as possible is requested. If there
        // is too little memory, only the space of consumed bytes is free.
        let is_full = |buffer: &ReceiveBuffer| buffer.end == buffer.bytes.len();
        if is_full(self) && !self.make_room(usize::MAX) && is_full(self) {
            return None;
        }
        Some(&mut self.bytes[self.end..])
    }

    /// Counts bytes that were written to the beginning of the
    /// [free space](ReceiveBuffer::free_space).
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.end += count;
    }

    /// Removes consumed bytes. A buffer that was full is enlarged, because much data is arriving.
    #[inline]
    pub(crate) fn consume(&mut self, used: usize) {
        self.start += used;
        if self.start == self.end {
            let was_full = self.end == self.bytes.len();
            (self.start, self.end) = (0, 0);
            if was_full && self.bytes.len() < MAX_KEPT_SIZE {
                self.enlarge(self.bytes.len() * 2, ReceiveMemory::FOR_SPEED);
            }
        }
    }

    /// Makes room for a message of `message` bytes that begins with the unread bytes. One call
    /// makes room for at most [`MAX_KEPT_SIZE`] bytes after the unread bytes. Returns false if
    /// there is too little memory.
    ///
    /// A buffer that was enlarged for a longer message is shrunk, even if the beginning of the next
    /// message is already there. Otherwise, the buffer would stay large if a server sends without
    /// pause.
    #[inline]
    pub(crate) fn make_room(&mut self, message: usize) -> bool {
        let unread = self.end - self.start;
        let wanted = message.min(unread + MAX_KEPT_SIZE);
        if self.bytes.len() > INITIAL_SIZE {
            self.release_surplus(wanted.max(unread));
        }
        self.bytes.len() - self.start >= wanted || self.grow(wanted)
    }

    /// Moves the unread bytes to the front, and makes room for `wanted` bytes including them.
    fn grow(&mut self, wanted: usize) -> bool {
        self.move_to_front();
        self.bytes.len() >= wanted || self.enlarge(wanted, ReceiveMemory::LIMIT)
    }

    fn move_to_front(&mut self) {
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
    }

    /// Enlarges the buffer to `size` bytes. Returns false if all buffers together would then exceed
    /// `limit`.
    fn enlarge(&mut self, size: usize, limit: usize) -> bool {
        let is_taken = self.memory.take(size - self.bytes.len(), limit);
        if is_taken {
            self.bytes.resize(size, 0);
        }
        is_taken
    }

    /// Gives back memory. The buffer keeps at most the larger of two sizes: `wanted` bytes, which
    /// include the unread bytes, and the size that may be kept.
    fn release_surplus(&mut self, wanted: usize) {
        let most = if self.memory.is_ample() { MAX_KEPT_SIZE } else { INITIAL_SIZE };
        let kept = wanted.max(most);
        if self.bytes.len() > kept {
            self.shrink(kept);
        }
    }

    #[cold]
    fn shrink(&mut self, size: usize) {
        self.move_to_front();
        self.memory.give_back(self.bytes.len() - size);
        self.bytes.truncate(size);
        self.bytes.shrink_to(size);
    }
}

impl Drop for ReceiveBuffer {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes.len() - INITIAL_SIZE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length of a long message, in bytes.
    const LONG: usize = 15 << 20;

    /// Receives a message of `length` bytes. Returns false if there is too little memory.
    fn receive(buffer: &mut ReceiveBuffer, length: usize) -> bool {
        while buffer.unread().len() < length {
            buffer.make_room(length);
            let rest = length - buffer.unread().len();
            let Some(room) = buffer.free_space().map(|room| room.len()) else { return false };
            buffer.advance(room.min(rest));
        }
        true
    }

    /// If a full buffer grew in small steps, a large amount of data would be read byte by byte.
    #[test]
    fn full_receive_buffer_grows_by_large_steps() {
        let mut receive_buffer = ReceiveBuffer::new(ReceiveMemory::default());
        for _ in 0..100 {
            let room = receive_buffer.free_space().expect("memory").len();
            assert!(room >= INITIAL_SIZE, "there is room for {room} bytes");
            receive_buffer.advance(room);
        }
        let unread = receive_buffer.unread().len();
        receive_buffer.consume(unread);
        receive_buffer.make_room(5);
        let kept = receive_buffer.bytes.len();
        assert!(kept <= MAX_KEPT_SIZE, "{kept} bytes are kept");
    }

    #[test]
    fn beginning_of_the_next_message_does_not_keep_the_memory_of_a_long_one() {
        let mut buffer = ReceiveBuffer::new(ReceiveMemory::default());
        assert!(receive(&mut buffer, LONG));
        buffer.bytes[LONG - 3..LONG].copy_from_slice(b"abc");
        buffer.consume(LONG - 3);
        buffer.make_room(100);
        assert_eq!(buffer.unread(), b"abc");
        assert!(buffer.bytes.capacity() <= MAX_KEPT_SIZE, "{} bytes", buffer.bytes.capacity());
    }

    #[test]
    fn memory_of_many_buffers_has_one_limit() {
        const BUFFERS: usize = 1_000;
        for length in [LONG, 50 << 10] {
            let memory = ReceiveMemory::default();
            let mut buffers: Vec<ReceiveBuffer> =
                (0..BUFFERS).map(|_| ReceiveBuffer::new(memory.clone())).collect();
            let complete =
                buffers.iter_mut().map(|it| receive(it, length)).filter(|it| *it).count();
            assert!((1..BUFFERS).contains(&complete), "{complete} are complete");
            let extra = |buffers: &[ReceiveBuffer]| -> usize {
                buffers.iter().map(|it| it.bytes.len() - INITIAL_SIZE).sum()
            };
            assert!(extra(&buffers) <= ReceiveMemory::LIMIT, "{} bytes", extra(&buffers));
            // Once the messages are read, each buffer can receive a long one again.
            for buffer in &mut buffers {
                buffer.consume(buffer.unread().len());
                buffer.make_room(5);
            }
            assert!(extra(&buffers) <= ReceiveMemory::FOR_SPEED, "{} bytes", extra(&buffers));
            for buffer in buffers.iter_mut().take(20) {
                assert!(receive(buffer, length));
                buffer.consume(buffer.unread().len());
                buffer.make_room(5);
            }
            drop(buffers);
            assert_eq!(memory.0.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn buffers_without_memory_for_speed_are_read_in_small_pieces() {
        let memory = ReceiveMemory::default();
        let mut buffers: Vec<ReceiveBuffer> =
            (0..1_000).map(|_| ReceiveBuffer::new(memory.clone())).collect();
        for _ in 0..10 {
            for buffer in &mut buffers {
                let room = buffer.free_space().expect("room for unread bytes").len();
                buffer.advance(room);
                buffer.consume(room);
                buffer.make_room(5);
            }
        }
        let taken = memory.0.load(Ordering::Relaxed);
        let expected = ReceiveMemory::FOR_SPEED / 2..=ReceiveMemory::FOR_SPEED;
        assert!(expected.contains(&taken), "{taken} bytes");
    }
}
