//! A buffer for the rows that statements return.
//!
//! A driver that is to return rows copies values into this buffer unchanged. They are converted to
//! text later, outside of the measurement.

/// A reusable buffer of returned rows. A driver fills it only if it is [wanted](Rows::wanted).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    is_wanted: bool,
    /// True if there were more rows than the buffer holds; it is then empty.
    is_overfull: bool,
    bytes: Vec<u8>,
    rows: u64,
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

/// A position in a buffer, to which it can be truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMark {
    bytes: usize,
    rows: u64,
}

/// Memory that an empty buffer keeps for the next rows, in bytes.
const KEPT: usize = 1 << 20;

const NULL: u8 = 0;
const INT: u8 = 1;
const REAL: u8 = 2;
const BYTES: u8 = 3;
const END: u8 = 4;

impl Rows {
    /// Maximum size of a buffer, in bytes. A server decides how long its answers are, and must not
    /// decide how much memory they take.
    pub const LIMIT: usize = 16 << 20;

    /// Makes an empty buffer that is to be filled.
    pub fn wanted() -> Rows {
        Rows { is_wanted: true, ..Rows::default() }
    }

    /// Returns true if the buffer is to be filled.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Returns true if more was appended than a buffer [holds](Rows::LIMIT). Its rows are then
    /// discarded.
    #[inline]
    pub fn is_overfull(&self) -> bool {
        self.is_overfull
    }

    /// Discards all rows and marks the buffer as overfull.
    #[cold]
    pub fn overflow(&mut self) {
        *self = Rows { is_wanted: self.is_wanted, is_overfull: true, ..Rows::default() };
    }

    /// Appends a value to the current row.
    pub fn push(&mut self, field: Field<'_>) {
        let length = match field {
            Field::Bytes(bytes) => bytes.len(),
            Field::Null | Field::Int(_) | Field::Real(_) => 0,
        };
        // Room for the head of a value, and for the end of its row.
        if self.is_overfull || self.bytes.len() + length + 10 > Rows::LIMIT {
            return self.overflow();
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
        if self.is_overfull || self.bytes.len() >= Rows::LIMIT {
            return self.overflow();
        }
        self.bytes.push(END);
        self.rows += 1;
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
        if !self.is_overfull {
            self.bytes.truncate(mark.bytes);
            self.rows = mark.rows;
        }
    }

    /// Removes all rows; keeps the memory up to a limit.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.rows = 0;
        self.is_overfull = false;
    }

    /// Iterates over values and ends of rows, in order.
    pub fn parts(&self) -> impl Iterator<Item = RowPart<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (part, behind) = split_part(rest)?;
            rest = behind;
            Some(part)
        })
    }
}

/// Splits off the first element of a buffer.
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
        let mut rows = Rows::wanted();
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
            let mut rows = Rows::wanted();
            while !rows.is_overfull() {
                assert!(rows.bytes.capacity() <= 2 * Rows::LIMIT);
                rows.push(Field::Bytes(text));
                rows.end_row();
            }
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
            assert!(rows.is_wanted() && !rows.is_overfull() && rows.len() == 1);
        }
    }

    #[test]
    fn rows_of_a_failed_statement_are_removed() {
        let mut rows = Rows::wanted();
        rows.push(Field::Int(1));
        rows.end_row();
        let (mark, before) = (rows.mark(), rows.clone());
        rows.push(Field::Int(2));
        rows.end_row();
        rows.push(Field::Int(3));
        rows.truncate(mark);
        assert_eq!(rows, before);
        rows.clear();
        assert!(rows.is_empty() && rows.is_wanted() && rows.weight() == 0);
    }
}
