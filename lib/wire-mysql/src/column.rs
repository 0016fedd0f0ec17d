//! Column definitions and types.
//!
//! Protocol manual: "Column Definition", "enum_field_types".

use crate::capabilities::{Capabilities, Negotiated};
use crate::error::{ErrorKind, WireError};
use crate::put;
use crate::take::FieldReader;

/// The type of a column or a value ("enum_field_types").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType(pub u8);

impl ColumnType {
    /// An integer of one byte.
    pub const TINY: ColumnType = ColumnType(0x01);
    /// An integer of two bytes.
    pub const SHORT: ColumnType = ColumnType(0x02);
    /// An integer of four bytes.
    pub const LONG: ColumnType = ColumnType(0x03);
    /// A float of four bytes.
    pub const FLOAT: ColumnType = ColumnType(0x04);
    /// A float of eight bytes.
    pub const DOUBLE: ColumnType = ColumnType(0x05);
    /// No value.
    pub const NULL: ColumnType = ColumnType(0x06);
    /// A point in time.
    pub const TIMESTAMP: ColumnType = ColumnType(0x07);
    /// An integer of eight bytes.
    pub const LONGLONG: ColumnType = ColumnType(0x08);
    /// An integer of three bytes, sent as four.
    pub const INT24: ColumnType = ColumnType(0x09);
    /// A date.
    pub const DATE: ColumnType = ColumnType(0x0A);
    /// A time of day or a duration.
    pub const TIME: ColumnType = ColumnType(0x0B);
    /// A date with a time.
    pub const DATETIME: ColumnType = ColumnType(0x0C);
    /// A year, as two bytes.
    pub const YEAR: ColumnType = ColumnType(0x0D);
    /// A decimal number, as text.
    pub const NEWDECIMAL: ColumnType = ColumnType(0xF6);
    /// Bytes.
    pub const BLOB: ColumnType = ColumnType(0xFC);
    /// A text of variable width.
    pub const VAR_STRING: ColumnType = ColumnType(0xFD);
    /// A text of fixed width.
    pub const STRING: ColumnType = ColumnType(0xFE);
}

/// The part of a column definition that is needed to read values. With
/// [`Capabilities::CACHE_METADATA`], the server may omit the definitions from the next execution of
/// a statement, so a client must keep this part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnKind {
    /// Type of the values.
    pub column_type: ColumnType,
    /// True if integers are unsigned.
    pub is_unsigned: bool,
}

/// `Protocol::ColumnDefinition41`: a column of a result, or a parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    /// Name of the database.
    pub schema: &'a [u8],
    /// Alias of the table in the statement.
    pub table: &'a [u8],
    /// Name of the table.
    pub original_table: &'a [u8],
    /// Alias of the column in the statement.
    pub name: &'a [u8],
    /// Name of the column.
    pub original_name: &'a [u8],
    /// Number of the collation.
    pub collation: u16,
    /// Maximum length of a value as text, in bytes.
    pub display_width: u32,
    /// Type of the values.
    pub column_type: ColumnType,
    /// Flags ("Column Definition Flags").
    pub flags: u16,
    /// Number of displayed digits after the decimal point.
    pub decimals: u8,
}

/// The catalog, which is always `def`.
const CATALOG: &[u8] = b"def";

/// Length of the fixed-width fields, in bytes.
const FIXED: u8 = 0x0C;

impl<'a> ColumnDefinition<'a> {
    /// The flag of unsigned integers.
    pub const UNSIGNED: u16 = 0x0020;

    /// Creates the definition of a computed column, which belongs to no table.
    pub fn computed(
        name: &'a [u8],
        column_type: ColumnType,
        collation: u16,
    ) -> ColumnDefinition<'a> {
        ColumnDefinition {
            schema: b"",
            table: b"",
            original_table: b"",
            name,
            original_name: b"",
            collation,
            display_width: 20,
            column_type,
            flags: 0,
            decimals: 0,
        }
    }

    /// Returns the part that is needed to read the values.
    pub fn kind(&self) -> ColumnKind {
        let is_unsigned = self.flags & Self::UNSIGNED != 0;
        ColumnKind { column_type: self.column_type, is_unsigned }
    }

    /// Reads the payload. MariaDB's extended metadata are discarded.
    ///
    /// # Errors
    /// `Truncated`, `Value` or `Trailing`.
    pub fn decode(
        payload: &'a [u8],
        agreed: Negotiated,
    ) -> Result<ColumnDefinition<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        let _catalog = take.text("column definition, catalog")?;
        let schema = take.text("column definition, schema")?;
        let table = take.text("column definition, table")?;
        let original_table = take.text("column definition, original table")?;
        let name = take.text("column definition, name")?;
        let original_name = take.text("column definition, original name")?;
        if agreed.has(Capabilities::EXTENDED_METADATA) {
            take.text("column definition, extended metadata")?;
        }
        let fixed = take;
        if take.length("column definition, fixed length")? != u64::from(FIXED) {
            return Err(fixed.fault(ErrorKind::Value, "column definition, fixed length"));
        }
        let definition = ColumnDefinition {
            schema,
            table,
            original_table,
            name,
            original_name,
            collation: take.u16("column definition, collation")?,
            display_width: take.u32("column definition, display width")?,
            column_type: ColumnType(take.u8("column definition, type")?),
            flags: take.u16("column definition, flags")?,
            decimals: take.u8("column definition, decimals")?,
        };
        take.array::<2>("column definition, filler")?;
        take.end("column definition")?;
        Ok(definition)
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>, agreed: Negotiated) {
        let ColumnDefinition { schema, table, original_table, name, original_name, .. } = *self;
        for text in [CATALOG, schema, table, original_table, name, original_name] {
            put::text(out, text);
        }
        if agreed.has(Capabilities::EXTENDED_METADATA) {
            put::text(out, &[]);
        }
        out.push(FIXED);
        out.extend_from_slice(&self.collation.to_le_bytes());
        out.extend_from_slice(&self.display_width.to_le_bytes());
        out.push(self.column_type.0);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0; 2]);
    }
}
