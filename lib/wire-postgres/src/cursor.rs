//! A reader of the fields of a message, which never reads beyond the message's end.

use crate::{ErrorKind, WireError};

/// A position in the body of a message.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the first byte of `body`. `offset` is the position of this byte in the
    /// decoded bytes.
    #[inline]
    pub(crate) fn new(body: &'a [u8], offset: usize) -> Cursor<'a> {
        Cursor { rest: body, offset }
    }

    pub(crate) fn error(&self, kind: ErrorKind, context: &'static str) -> WireError {
        WireError::new(kind, self.offset, context)
    }

    /// Returns the unread bytes.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(crate) fn take(
        &mut self,
        length: usize,
        context: &'static str,
    ) -> Result<&'a [u8], WireError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.error(ErrorKind::Truncated, context));
        };
        self.advance(rest, length);
        Ok(taken)
    }

    #[inline]
    fn chunk<const N: usize>(&mut self, context: &'static str) -> Result<[u8; N], WireError> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.error(ErrorKind::Truncated, context));
        };
        self.advance(rest, N);
        Ok(*taken)
    }

    #[inline]
    fn advance(&mut self, rest: &'a [u8], by: usize) {
        self.rest = rest;
        self.offset = self.offset.saturating_add(by);
    }

    pub(crate) fn u8(&mut self, context: &'static str) -> Result<u8, WireError> {
        self.chunk::<1>(context).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, context: &'static str) -> Result<u16, WireError> {
        self.chunk(context).map(u16::from_be_bytes)
    }

    pub(crate) fn i16(&mut self, context: &'static str) -> Result<i16, WireError> {
        self.chunk(context).map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self, context: &'static str) -> Result<i32, WireError> {
        self.chunk(context).map(i32::from_be_bytes)
    }

    pub(crate) fn u32(&mut self, context: &'static str) -> Result<u32, WireError> {
        self.chunk(context).map(u32::from_be_bytes)
    }

    pub(crate) fn bytes4(&mut self, context: &'static str) -> Result<[u8; 4], WireError> {
        self.chunk(context)
    }

    /// Reads a String of the manual: bytes up to a zero byte, which is consumed but not returned.
    #[inline]
    pub(crate) fn string(&mut self, context: &'static str) -> Result<&'a [u8], WireError> {
        let Some(length) = self.rest.iter().position(|byte| *byte == 0) else {
            return Err(self.error(ErrorKind::Unterminated, context));
        };
        let string = self.take(length, context)?;
        self.take(1, context)?;
        Ok(string)
    }

    /// Reads a value that may be NULL: its length, -1 for NULL, and its bytes.
    #[inline]
    pub(crate) fn value(&mut self, context: &'static str) -> Result<Option<&'a [u8]>, WireError> {
        let before = *self;
        match self.i32(context)? {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(length) => self.take(length, context).map(Some),
                Err(_) => Err(before.error(ErrorKind::Length, context)),
            },
        }
    }

    /// Returns true at the zero byte that ends a list, and consumes that byte.
    pub(crate) fn ends_list(&mut self, context: &'static str) -> Result<bool, WireError> {
        match self.rest.first() {
            None => Err(self.error(ErrorKind::Unterminated, context)),
            Some(0) => self.take(1, context).map(|_| true),
            Some(_) => Ok(false),
        }
    }

    /// Checks that the message ends here.
    #[inline]
    pub(crate) fn end(&self, context: &'static str) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.error(ErrorKind::Surplus, context)) }
    }
}
