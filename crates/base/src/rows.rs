//! Buffers for the rows that statements return, and the memory that they share.
//!
//! A driver that is to return rows copies values into a buffer unchanged. They are converted to
//! text later, outside of the measurement.
//!
//! The invariant: buffers of one [`RowMemory`] hold at most [`RowMemory::LIMIT`] bytes together,
//! however many they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory for the returned rows of a run: the bytes taken by its buffers. A clone is a handle
/// to the same memory.
#[derive(Clone, Debug, Default)]
pub struct RowMemory(Arc<AtomicUsize>);

impl RowMemory {
    /// Maximum memory of all buffers together, in bytes.
    pub const LIMIT: usize = 36 << 20;

    /// Part of the memory that only [small](Rows::SMALL_BYTES) buffers may take, in bytes: ordinary
    /// answers do not fail because of large ones.
    const RESERVED_FOR_SMALL: usize = 4 << 20;

    /// Makes an empty buffer that drivers fill with returned rows.
    pub fn buffer(&self) -> Rows {
        let share = Share { memory: self.clone(), buffer: 0, arriving: 0 };
        Rows { share: Some(share), ..Rows::default() }
    }

    /// Takes `bytes` bytes for a buffer or an arriving row of `size` bytes in all; returns false if
    /// too few are free.
    fn take(&self, bytes: usize, size: usize) -> bool {
        let limit = match size <= Rows::SMALL_BYTES {
            true => RowMemory::LIMIT,
            false => RowMemory::LIMIT - RowMemory::RESERVED_FOR_SMALL,
        };
        let add = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= limit);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    #[inline]
    fn give_back(&self, bytes: usize) {
        if bytes > 0 {
            self.0.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Returns true if at least three quarters of the memory is free.
    fn is_ample(&self) -> bool {
        self.0.load(Ordering::Relaxed) <= RowMemory::LIMIT / 4
    }
}

/// The part of the shared memory that one buffer has taken.
#[derive(Debug)]
struct Share {
    memory: RowMemory,
    /// Capacity of the buffer, in bytes.
    buffer: usize,
    /// Bytes of a long row that its driver holds until the row is complete.
    arriving: usize,
}

impl Share {
    /// Takes memory for a buffer of `capacity` bytes; returns false if there is too little.
    fn grow(&mut self, capacity: usize) -> bool {
        let more = capacity.saturating_sub(self.buffer);
        let is_taken = more == 0 || self.memory.take(more, capacity);
        if is_taken {
            self.buffer += more;
        }
        is_taken
    }

    /// Takes memory for a row of `length` bytes that is arriving; returns false if there is too
    /// little.
    fn reserve_row(&mut self, length: usize) -> bool {
        let more = length.saturating_sub(self.arriving);
        let is_taken = more == 0 || self.memory.take(more, length);
        if is_taken {
            self.arriving += more;
        }
        is_taken
    }

    /// Gives back the memory of a row that has arrived.
    #[inline]
    fn release_row(&mut self) {
        self.memory.give_back(std::mem::take(&mut self.arriving));
    }

    /// Gives back all memory beyond that of a buffer of `capacity` bytes.
    fn shrink(&mut self, capacity: usize) {
        self.release_row();
        let less = self.buffer.saturating_sub(capacity);
        self.memory.give_back(less);
        self.buffer -= less;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

/// A reusable buffer of returned rows. A driver fills it only if it is [wanted](Rows::is_wanted).
#[derive(Debug, Default)]
pub struct Rows {
    /// Memory of the buffer; `None` if no rows are wanted.
    share: Option<Share>,
    /// The limit that the rows exceeded, if any; the buffer is then empty.
    overflow: Option<RowLimit>,
    bytes: Vec<u8>,
    rows: u64,
}

/// A limit of returned rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLimit {
    /// [`Rows::LIMIT`], the limit of one request.
    Request,
    /// [`RowMemory::LIMIT`], the limit of all requests together.
    Run,
}

/// A returned value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// SQL's NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text or a blob, as the database sent it.
    Bytes(&'a [u8]),
}

/// An element of a buffer of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowPart<'a> {
    /// The next value of the row.
    Field(Field<'a>),
    /// The end of the row.
    End,
}

/// A position in a buffer, to which the buffer can be truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMark {
    bytes: usize,
    rows: u64,
}

/// Maximum memory that an empty buffer keeps for the next rows while the shared memory is ample, in
/// bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Minimum memory that a buffer takes for its first value, in bytes.
const FIRST_CAPACITY: usize = 64;

/// Length, in bytes, up to which an arriving row is not counted: the buffer of a connection has
/// that much room anyway.
const UNCOUNTED_ROW: usize = 4 << 10;

const NULL: u8 = 0;
const INT: u8 = 1;
const REAL: u8 = 2;
const BYTES: u8 = 3;
const END: u8 = 4;

/// A copy takes memory of its own, like every buffer. If too little is free, the copy overflows.
impl Clone for Rows {
    fn clone(&self) -> Rows {
        let mut copy = self.share.as_ref().map_or_else(Rows::default, |it| it.memory.buffer());
        copy.overflow = self.overflow;
        if !self.bytes.is_empty() && copy.has_room(self.bytes.len()) {
            copy.bytes.extend_from_slice(&self.bytes);
            copy.rows = self.rows;
        }
        copy
    }
}

impl Rows {
    /// Maximum size of a buffer, in bytes. A server decides how long its answers are, and must not
    /// decide how much memory they take.
    pub const LIMIT: usize = 16 << 20;

    /// Maximum size of a small buffer, in bytes. Small buffers may take all of the shared memory.
    pub const SMALL_BYTES: usize = 64 << 10;

    /// Returns true if the buffer is to be filled.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.share.is_some()
    }

    /// Returns the limit that the appended rows exceeded, if any. In that case the rows were
    /// discarded.
    #[inline]
    pub fn overflow(&self) -> Option<RowLimit> {
        self.overflow
    }

    /// Discards all rows because they exceed a limit. If several limits are exceeded, the first is
    /// reported.
    #[cold]
    pub fn set_overflow(&mut self, limit: RowLimit) {
        self.overflow.get_or_insert(limit);
        self.bytes = Vec::new();
        self.rows = 0;
        if let Some(share) = &mut self.share {
            share.shrink(0);
        }
    }

    /// Returns true if the driver may hold a row of `length` bytes until the row is complete. If
    /// not, the rows exceed a limit and are discarded. May be called several times for a row.
    pub fn may_hold_row(&mut self, length: usize) -> bool {
        if self.overflow.is_some() || length <= UNCOUNTED_ROW {
            return self.overflow.is_none();
        }
        if !self.has_room(length) {
            return false;
        }
        let is_reserved = self.share.as_mut().is_some_and(|share| share.reserve_row(length));
        if !is_reserved {
            self.set_overflow(RowLimit::Run);
        }
        is_reserved
    }

    /// Appends a value to the current row.
    pub fn push(&mut self, field: Field<'_>) {
        let length = match field {
            Field::Bytes(bytes) => bytes.len(),
            Field::Null | Field::Int(_) | Field::Real(_) => 0,
        };
        // Besides the bytes of a text, a value has at most nine bytes; one byte ends its row.
        if !self.has_room(length + 10) {
            return;
        }
        match field {
            Field::Null => self.bytes.push(NULL),
            Field::Int(number) => self.put(INT, &number.to_le_bytes()),
            Field::Real(number) => self.put(REAL, &number.to_le_bytes()),
            Field::Bytes(bytes) => {
                self.put(BYTES, &(bytes.len() as u64).to_le_bytes());
                self.bytes.extend_from_slice(bytes);
            }
        }
    }

    fn put(&mut self, tag: u8, number: &[u8; 8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(number);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        if !self.has_room(1) {
            return;
        }
        self.bytes.push(END);
        self.rows += 1;
        if let Some(share) = &mut self.share {
            share.release_row();
        }
    }

    /// Returns true if `more` bytes can be appended; otherwise the buffer overflows.
    #[inline]
    fn has_room(&mut self, more: usize) -> bool {
        let needed = self.bytes.len() + more;
        self.overflow.is_none() && (needed <= self.bytes.capacity() || self.grow(needed))
    }

    /// Makes room for `needed` bytes. Returns false if that exceeds a limit.
    #[cold]
    fn grow(&mut self, needed: usize) -> bool {
        if needed > Rows::LIMIT {
            self.set_overflow(RowLimit::Request);
            return false;
        }
        let capacity = needed.max(2 * self.bytes.capacity()).clamp(FIRST_CAPACITY, Rows::LIMIT);
        if !self.share.as_mut().is_some_and(|share| share.grow(capacity)) {
            self.set_overflow(RowLimit::Run);
            return false;
        }
        self.bytes.reserve_exact(capacity - self.bytes.len());
        true
    }

    /// Returns the number of complete rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Returns true if there is no complete row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the size of the rows in the buffer, in bytes.
    pub fn weight(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the current end of the buffer.
    pub fn mark(&self) -> RowMark {
        RowMark { bytes: self.bytes.len(), rows: self.rows }
    }

    /// Removes the rows appended since `mark`, such as the rows of a statement that failed midway.
    pub fn truncate(&mut self, mark: RowMark) {
        if self.overflow.is_none() {
            self.bytes.truncate(mark.bytes);
            self.rows = mark.rows;
        }
    }

    /// Removes all rows and resets the overflow. Keeps the memory up to a limit.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows = 0;
        self.overflow = None;
        self.shrink();
    }

    /// Gives back memory that the next rows probably do not need, or that other buffers may need
    /// before them.
    fn shrink(&mut self) {
        let Some(share) = &mut self.share else { return };
        let kept = if share.memory.is_ample() { KEPT_BYTES } else { 0 };
        if self.bytes.capacity() > kept {
            self.bytes.shrink_to(kept);
        }
        share.shrink(self.bytes.capacity());
    }

    /// Iterates over values and ends of rows, in order.
    pub fn parts(&self) -> impl Iterator<Item = RowPart<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (part, after) = split_part(rest)?;
            rest = after;
            Some(part)
        })
    }
}

/// Splits off the first element of a buffer; `None` at its end.
fn split_part(bytes: &[u8]) -> Option<(RowPart<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let field = |(field, rest)| Some((RowPart::Field(field), rest));
    match *tag {
        NULL => field((Field::Null, rest)),
        INT => number(rest).and_then(|(n, rest)| field((Field::Int(i64::from_le_bytes(n)), rest))),
        REAL => {
            number(rest).and_then(|(n, rest)| field((Field::Real(f64::from_le_bytes(n)), rest)))
        }
        BYTES => {
            let (length, rest) = number(rest)?;
            let (bytes, rest) = rest.split_at_checked(u64::from_le_bytes(length) as usize)?;
            field((Field::Bytes(bytes), rest))
        }
        _ => Some((RowPart::End, rest)),
    }
}

fn number(bytes: &[u8]) -> Option<([u8; 8], &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (*number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let fields = [
            Field::Null,
            Field::Int(i64::MIN),
            Field::Real(-0.5),
            Field::Bytes(b""),
            Field::Bytes(b"\x04\x00a"),
        ];
        let mut rows = RowMemory::default().buffer();
        for _ in 0..2 {
            fields.iter().for_each(|field| rows.push(*field));
            rows.end_row();
        }
        let row = || fields.iter().map(|field| RowPart::Field(*field)).chain([RowPart::End]);
        let expected: Vec<RowPart<'_>> = row().chain(row()).collect();
        assert_eq!(rows.parts().collect::<Vec<_>>(), expected);
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn buffer_beyond_its_limit_holds_nothing_until_it_is_cleared() {
        for text in [&b""[..], &[b'x'; 1_000], &vec![b'x'; 3 << 20]] {
            let mut rows = RowMemory::default().buffer();
            while rows.overflow().is_none() {
                assert!(rows.bytes.capacity() <= Rows::LIMIT);
                rows.push(Field::Bytes(text));
                rows.end_row();
            }
            assert_eq!(rows.overflow(), Some(RowLimit::Request));
            let mark = rows.mark();
            for _ in 0..3 {
                rows.push(Field::Null);
                rows.end_row();
            }
            rows.truncate(mark);
            assert_eq!((rows.len(), rows.weight(), rows.bytes.capacity()), (0, 0, 0));
            rows.clear();
            rows.push(Field::Int(1));
            rows.end_row();
            assert!(rows.is_wanted() && rows.overflow().is_none() && rows.len() == 1);
        }
    }

    #[test]
    fn rows_of_a_failed_statement_are_removed() {
        let mut rows = RowMemory::default().buffer();
        rows.push(Field::Int(1));
        rows.end_row();
        let (mark, before) = (rows.mark(), rows.clone());
        rows.push(Field::Int(2));
        rows.end_row();
        rows.push(Field::Int(3));
        rows.truncate(mark);
        assert_eq!((rows.len(), rows.weight()), (1, before.weight()));
        assert!(rows.parts().eq(before.parts()));
        rows.clear();
        assert!(rows.is_empty() && rows.is_wanted() && rows.weight() == 0);
    }

    /// Appends rows of one value until the buffer has `bytes` bytes or overflows.
    fn fill(rows: &mut Rows, bytes: usize) {
        while rows.overflow().is_none() && rows.weight() < bytes {
            rows.push(Field::Bytes(&[b'x'; 1_000]));
            rows.end_row();
        }
    }

    #[test]
    fn all_buffers_of_a_run_stay_below_one_limit_and_small_answers_always_have_room() {
        let memory = RowMemory::default();
        let mut buffers: Vec<Rows> = (0..64).map(|_| memory.buffer()).collect();
        buffers.iter_mut().for_each(|rows| fill(rows, 4 << 20));
        let held: usize = buffers.iter().map(|rows| rows.bytes.capacity()).sum();
        assert!(held <= RowMemory::LIMIT, "{held} bytes");
        let full = buffers.iter().filter(|rows| rows.overflow() == Some(RowLimit::Run)).count();
        assert!((40..64).contains(&full), "{full} overflow");
        let mut small = memory.buffer();
        fill(&mut small, Rows::SMALL_BYTES / 2);
        assert_eq!(small.overflow(), None);
        // A buffer that was written, or whose connection was lost, makes room for another answer.
        let mut full = buffers.remove(63);
        buffers[0].clear();
        drop(buffers.remove(1));
        full.clear();
        fill(&mut full, 4 << 20);
        assert_eq!(full.overflow(), None);
        drop((buffers, full, small));
        assert_eq!(memory.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn memory_of_any_number_of_buffers_has_one_limit() {
        for (number, bytes) in [(1_000, 4 << 20), (1_000, 30_000), (20_000, 3_000)] {
            let memory = RowMemory::default();
            let mut buffers: Vec<Rows> = (0..number).map(|_| memory.buffer()).collect();
            for rows in &mut buffers {
                if rows.may_hold_row(bytes) {
                    fill(rows, bytes);
                }
            }
            let capacity = |buffers: &[Rows]| -> usize {
                buffers.iter().map(|rows| rows.bytes.capacity()).sum()
            };
            let held = capacity(&buffers);
            let expected = RowMemory::LIMIT / 2..=RowMemory::LIMIT;
            assert!(expected.contains(&held), "{number} buffers of {bytes}: {held} bytes");
            // Idle buffers leave most of the memory to others.
            buffers.iter_mut().for_each(Rows::clear);
            let kept = capacity(&buffers);
            assert!(kept <= RowMemory::LIMIT / 4 + KEPT_BYTES, "{kept} bytes are kept");
            assert_eq!(memory.0.load(Ordering::Relaxed), kept);
        }
    }

    #[test]
    fn long_row_takes_its_memory_before_it_arrives() {
        let memory = RowMemory::default();
        let long = 15 << 20;
        let (mut first, mut second) = (memory.buffer(), memory.buffer());
        assert!(first.may_hold_row(long) && first.may_hold_row(long));
        assert!(!second.may_hold_row(long));
        assert_eq!(second.overflow(), Some(RowLimit::Run));
        assert!(memory.buffer().may_hold_row(1_000));
        first.push(Field::Bytes(&vec![b'x'; long]));
        first.end_row();
        assert_eq!((first.len(), first.overflow()), (1, None));
        first.clear();
        second.clear();
        assert!(second.may_hold_row(long));
        assert!(!first.may_hold_row(Rows::LIMIT + 1));
        assert_eq!(first.overflow(), Some(RowLimit::Request));
    }

    #[test]
    fn copy_of_a_buffer_takes_memory_too() {
        let memory = RowMemory::default();
        let mut rows = memory.buffer();
        fill(&mut rows, 15 << 20);
        let copies: Vec<Rows> = (0..3).map(|_| rows.clone()).collect();
        assert!(copies[0].parts().eq(rows.parts()));
        assert_eq!(copies[2].overflow(), Some(RowLimit::Run));
        drop((rows, copies));
        assert_eq!(memory.0.load(Ordering::Relaxed), 0);
    }
}
