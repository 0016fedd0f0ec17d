//! Borrowed views of rows, whose values are read one by one.
//!
//! Protocol manual: "Text Resultset Row", "Binary Protocol Resultset Row", "Binary Protocol
//! Value".

use crate::column::{ColumnKind, ColumnType};
use crate::error::{ErrorKind, WireError};
use crate::put;
use crate::take::FieldReader;

/// A row as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// A row of a text statement.
    Text(TextRow<'a>),
    /// A row of a prepared statement.
    Binary(BinaryRow<'a>),
}

/// A row of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRow<'a>(pub &'a [u8]);

/// The first byte of a value that is NULL.
pub(crate) const NULL: u8 = 0xFB;

impl<'a> TextRow<'a> {
    /// Returns the values in order, `None` for NULL. If a value is malformed, or the number of
    /// values differs from `columns`, the iterator ends with an error.
    pub fn fields(self, columns: u64) -> impl Iterator<Item = Result<Option<&'a [u8]>, WireError>> {
        let mut take = FieldReader::new(self.0);
        let mut left = columns;
        std::iter::from_fn(move || {
            let field = match (left, take.peek()) {
                (0, None) => return None,
                (0, Some(_)) | (_, None) => {
                    Err(take.fault(ErrorKind::Value, "text row, number of values"))
                }
                (_, Some(NULL)) => take.u8("text row, NULL").map(|_| None),
                (_, Some(_)) => take.text("text row, value").map(Some),
            };
            left = left.saturating_sub(1);
            if field.is_err() {
                // Bytes after an error have no meaning.
                (left, _) = (0, take.rest());
            }
            Some(field)
        })
    }

    /// Appends the payload.
    pub fn encode<'v>(out: &mut Vec<u8>, values: impl IntoIterator<Item = Option<&'v [u8]>>) {
        for value in values {
            match value {
                None => out.push(NULL),
                Some(text) => put::text(out, text),
            }
        }
    }
}

/// A row of values in the binary format of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinaryRow<'a>(pub &'a [u8]);

/// A value in the binary protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// SQL's NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A float of four bytes.
    Float(f32),
    /// A float of eight bytes.
    Double(f64),
    /// A text, a blob or a decimal number.
    Bytes(&'a [u8]),
    /// A date with or without a time, or a duration, without the length byte ("Binary Protocol
    /// Value", `ProtocolBinary::MYSQL_TYPE_DATE` and `MYSQL_TYPE_TIME`).
    Temporal(&'a [u8]),
}

/// Number of reserved bits at the beginning of a row's NULL bitmap.
const ROW_BITS: usize = 2;

/// Returns the length of a bitmap with this number of bits, in bytes.
pub(crate) fn bitmap_bytes(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Returns true if a bit of a bitmap is set.
pub(crate) fn is_bit_set(bitmap: &[u8], at: usize) -> bool {
    bitmap.get(at / 8).is_some_and(|byte| byte & (1 << (at % 8)) != 0)
}

/// Sets a bit of a bitmap.
pub(crate) fn set_bit(bitmap: &mut [u8], at: usize) {
    if let Some(byte) = bitmap.get_mut(at / 8) {
        *byte |= 1 << (at % 8);
    }
}

impl<'a> BinaryRow<'a> {
    /// Returns the length of a row with this number of columns that are all NULL, in bytes.
    #[inline]
    pub(crate) fn least_length(columns: usize) -> usize {
        bitmap_bytes(columns.saturating_add(ROW_BITS)).saturating_add(1)
    }

    /// Returns the values in order, given the kinds of the columns. If a value is malformed, or
    /// bytes remain after the last value, the iterator ends with an error.
    ///
    /// # Errors
    /// The row is too short for the bitmap of its columns.
    pub fn fields<'k>(
        self,
        columns: &'k [ColumnKind],
    ) -> Result<impl Iterator<Item = Result<Field<'a>, WireError>> + use<'a, 'k>, WireError> {
        let mut take = FieldReader::new(self.0);
        take.u8("binary row, first byte")?;
        let bits = columns.len().saturating_add(ROW_BITS);
        let bitmap = take.bytes(bitmap_bytes(bits) as u64, "binary row, NULL bitmap")?;
        let mut columns = columns.iter().enumerate();
        Ok(std::iter::from_fn(move || {
            let field = match columns.next() {
                Some((at, _)) if is_bit_set(bitmap, at.saturating_add(ROW_BITS)) => Ok(Field::Null),
                Some((_, kind)) => Field::take(&mut take, *kind, "binary row, value"),
                None if take.is_empty() => return None,
                None => Err(take.fault(ErrorKind::Trailing, "binary row")),
            };
            if field.is_err() {
                // Bytes after an error have no meaning.
                (columns, _) = (Default::default(), take.rest());
            }
            Some(field)
        }))
    }

    /// Appends the payload. Values are written unchanged and must have their columns' kinds.
    pub fn encode<'v, I>(out: &mut Vec<u8>, values: I)
    where
        I: IntoIterator<Item = Field<'v>>,
        I::IntoIter: ExactSizeIterator,
    {
        let values = values.into_iter();
        out.push(0);
        let start = out.len();
        let bits = values.len().saturating_add(ROW_BITS);
        out.resize(start.saturating_add(bitmap_bytes(bits)), 0);
        for (at, value) in values.enumerate() {
            if value == Field::Null {
                set_bit(out.get_mut(start..).unwrap_or_default(), at.saturating_add(ROW_BITS));
            } else {
                value.encode(out);
            }
        }
    }
}

impl<'a> Field<'a> {
    pub(crate) fn take(
        take: &mut FieldReader<'a>,
        kind: ColumnKind,
        field: &'static str,
    ) -> Result<Field<'a>, WireError> {
        Ok(match kind.column_type {
            ColumnType::NULL => Field::Null,
            ColumnType::TINY => {
                let [byte] = take.array(field)?;
                kind.integer(i64::from(byte as i8), u64::from(byte))
            }
            ColumnType::SHORT | ColumnType::YEAR => {
                let bytes = take.array(field)?;
                kind.integer(i16::from_le_bytes(bytes).into(), u16::from_le_bytes(bytes).into())
            }
            ColumnType::LONG | ColumnType::INT24 => {
                let bytes = take.array(field)?;
                kind.integer(i32::from_le_bytes(bytes).into(), u32::from_le_bytes(bytes).into())
            }
            ColumnType::LONGLONG => {
                let bytes = take.array(field)?;
                kind.integer(i64::from_le_bytes(bytes), u64::from_le_bytes(bytes))
            }
            ColumnType::FLOAT => Field::Float(f32::from_le_bytes(take.array(field)?)),
            ColumnType::DOUBLE => Field::Double(f64::from_le_bytes(take.array(field)?)),
            ColumnType::DATE | ColumnType::DATETIME | ColumnType::TIMESTAMP | ColumnType::TIME => {
                let before = *take;
                let length = take.u8(field)?;
                if !matches!(length, 0 | 4 | 7 | 8 | 11 | 12) {
                    return Err(before.fault(ErrorKind::Value, field));
                }
                Field::Temporal(take.bytes(u64::from(length), field)?)
            }
            // All other types are sent as texts.
            _ => Field::Bytes(take.text(field)?),
        })
    }

    /// Appends the value at the width of its Rust type: all integers take eight bytes.
    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        match self {
            Field::Null => {}
            Field::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
            Field::Unsigned(number) => out.extend_from_slice(&number.to_le_bytes()),
            Field::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
            Field::Double(number) => out.extend_from_slice(&number.to_le_bytes()),
            Field::Bytes(text) | Field::Temporal(text) => put::text(out, text),
        }
    }
}

impl ColumnKind {
    fn integer<'a>(self, signed: i64, unsigned: u64) -> Field<'a> {
        if self.is_unsigned { Field::Unsigned(unsigned) } else { Field::Int(signed) }
    }
}
