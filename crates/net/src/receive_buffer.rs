//! The buffer of received bytes.

/// Initial size of a connection's receive buffer, in bytes.
const INITIAL_SIZE: usize = 16 << 10;

/// Size, in bytes, up to which a receive buffer grows because much data arrives. Only a message
/// that must be buffered whole makes it larger.
pub(crate) const MAX_KEPT_SIZE: usize = 64 << 10;

/// A reused buffer of received bytes.
pub(crate) struct ReceiveBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReceiveBuffer {
    /// Creates an empty buffer.
    pub(crate) fn new() -> ReceiveBuffer {
        ReceiveBuffer { bytes: vec![0; INITIAL_SIZE], start: 0, end: 0 }
    }

    /// Returns the bytes that are not consumed.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the free space for the next bytes; never empty.
    #[inline]
    pub(crate) fn free_space(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() {
            // The rest of the message has an unknown length.
            self.make_room(usize::MAX);
        }
        &mut self.bytes[self.end..]
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
            self.resize(was_full);
        }
    }

    /// Enlarges a buffer that was full. Shrinks a buffer that was enlarged for an unusually long
    /// message.
    #[inline]
    fn resize(&mut self, was_full: bool) {
        if was_full && self.bytes.len() < MAX_KEPT_SIZE {
            self.bytes.resize(self.bytes.len() * 2, 0);
        } else if self.bytes.len() > MAX_KEPT_SIZE {
            self.bytes.truncate(MAX_KEPT_SIZE);
            self.bytes.shrink_to(MAX_KEPT_SIZE);
        }
    }

    /// Makes room for a message of `message` bytes that begins with the unread bytes, but at once
    /// for at most [`MAX_KEPT_SIZE`] further bytes.
    #[inline]
    pub(crate) fn make_room(&mut self, message: usize) {
        let unread = self.end - self.start;
        let wanted = message.min(unread + MAX_KEPT_SIZE);
        if self.bytes.len() - self.start < wanted {
            self.grow(unread, wanted);
        }
    }

    /// Moves the unread bytes to the front, and makes room for `wanted` bytes including them.
    fn grow(&mut self, unread: usize, wanted: usize) {
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, unread);
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If a full buffer grew in small steps, much data from a server would be read byte by byte.
    #[test]
    fn full_receive_buffer_grows_by_large_steps() {
        let mut receive_buffer = ReceiveBuffer::new();
        for _ in 0..100 {
            let room = receive_buffer.free_space().len();
            assert!(room >= INITIAL_SIZE, "there is room for {room} bytes");
            receive_buffer.advance(room);
        }
        let unread = receive_buffer.unread().len();
        receive_buffer.consume(unread);
        assert!(
            receive_buffer.bytes.len() <= MAX_KEPT_SIZE,
            "{} bytes are kept",
            receive_buffer.bytes.len()
        );
    }
}
