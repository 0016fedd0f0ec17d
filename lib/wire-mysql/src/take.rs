//! The reader of fields: each read is checked and names its field in errors.
//!
//! Protocol manual: "Protocol Data Types".

use crate::error::{ErrorKind, WireError, fault};

/// The name of a field, for errors.
type Field = &'static str;

/// A reader of the fields of one payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldReader<'a> {
    rest: &'a [u8],
    whole: usize,
}

impl<'a> FieldReader<'a> {
    #[inline]
    pub(crate) fn new(payload: &'a [u8]) -> FieldReader<'a> {
        FieldReader { rest: payload, whole: payload.len() }
    }

    /// Returns the number of bytes read.
    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.whole.saturating_sub(self.rest.len())
    }

    #[cold]
    pub(crate) fn fault(&self, kind: ErrorKind, field: Field) -> WireError {
        fault(kind, self.offset(), field)
    }

    /// Returns true if everything was read.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next byte without consuming it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self, field: Field) -> Result<[u8; N], WireError> {
        match self.rest.split_first_chunk::<N>() {
            Some((chunk, rest)) => {
                self.rest = rest;
                Ok(*chunk)
            }
            None => Err(self.fault(ErrorKind::Truncated, field)),
        }
    }

    #[inline]
    pub(crate) fn u8(&mut self, field: Field) -> Result<u8, WireError> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self, field: Field) -> Result<u16, WireError> {
        self.array(field).map(u16::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self, field: Field) -> Result<u32, WireError> {
        self.array(field).map(u32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u64(&mut self, field: Field) -> Result<u64, WireError> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// Reads a length-encoded integer.
    #[inline]
    pub(crate) fn length(&mut self, field: Field) -> Result<u64, WireError> {
        match self.u8(field)? {
            small @ 0..=0xFA => Ok(u64::from(small)),
            wide => self.wide_length(wide, field),
        }
    }

    #[inline(never)]
    fn wide_length(&mut self, first: u8, field: Field) -> Result<u64, WireError> {
        match first {
            0xFC => self.u16(field).map(u64::from),
            0xFD => {
                let [a, b, c] = self.array(field)?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xFE => self.u64(field),
            // 0xFB is NULL and 0xFF an error: neither is a number.
            _ => Err(fault(ErrorKind::Value, self.offset().saturating_sub(1), field)),
        }
    }

    /// Reads this number of bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, length: u64, field: Field) -> Result<&'a [u8], WireError> {
        let split = usize::try_from(length).ok().and_then(|at| self.rest.split_at_checked(at));
        match split {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.fault(ErrorKind::Truncated, field)),
        }
    }

    /// Reads a length-encoded string.
    #[inline]
    pub(crate) fn text(&mut self, field: Field) -> Result<&'a [u8], WireError> {
        let length = self.length(field)?;
        self.bytes(length, field)
    }

    /// Reads a string that ends with a zero byte, which is consumed but not returned.
    pub(crate) fn until_nul(&mut self, field: Field) -> Result<&'a [u8], WireError> {
        let end = self.rest.iter().position(|byte| *byte == 0);
        match end.and_then(|end| self.rest.split_at_checked(end)) {
            Some((text, [_, rest @ ..])) => {
                self.rest = rest;
                Ok(text)
            }
            _ => Err(self.fault(ErrorKind::Truncated, field)),
        }
    }

    /// Reads all remaining bytes.
    #[inline]
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Checks that the whole payload was read.
    #[inline]
    pub(crate) fn end(&self, message: Field) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.fault(ErrorKind::Trailing, message)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_read_in_each_of_its_four_widths() {
        for (bytes, expected) in [
            (&[0xFAu8][..], Ok(0xFA)),
            (&[0xFC, 1, 2], Ok(0x201)),
            (&[0xFD, 1, 2, 3], Ok(0x3_0201)),
            (&[0xFE, 1, 0, 0, 0, 0, 0, 0, 128], Ok(0x8000_0000_0000_0001)),
            (&[0xFB], Err((ErrorKind::Value, 0))),
            (&[0xFF], Err((ErrorKind::Value, 0))),
            (&[0xFD, 1, 2], Err((ErrorKind::Truncated, 1))),
            (&[], Err((ErrorKind::Truncated, 0))),
        ] {
            let found = FieldReader::new(bytes).length("a length");
            assert_eq!(found.map_err(|error| (error.kind, error.offset)), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_text_longer_than_the_payload_is_refused() {
        let mut take = FieldReader::new(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(take.text("a text").map_err(|error| error.offset), Err(9));
    }
}
