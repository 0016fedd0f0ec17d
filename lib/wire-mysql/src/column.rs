//! What a column is called and how its values are written.
//!
//! Protocol manual: "Column Definition", "enum_field_types".

use crate::capabilities::{Capabilities, Negotiated};
use crate::error::{ErrorKind, WireError};
use crate::put;
use crate::take::Take;

/// How a value is written ("enum_field_types").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType(pub u8);

impl ColumnType {
    /// One byte.
    pub const TINY: ColumnType = ColumnType(0x01);
    /// Two bytes.
    pub const SHORT: ColumnType = ColumnType(0x02);
    /// Four bytes.
    pub const LONG: ColumnType = ColumnType(0x03);
    /// A float of four bytes.
    pub const FLOAT: ColumnType = ColumnType(0x04);
    /// A float of eight bytes.
    pub const DOUBLE: ColumnType = ColumnType(0x05);
    /// Nothing.
    pub const NULL: ColumnType = ColumnType(0x06);
    /// A point in time.
    pub const TIMESTAMP: ColumnType = ColumnType(0x07);
    /// Eight bytes.
    pub const LONGLONG: ColumnType = ColumnType(0x08);
    /// Three bytes, which go as four.
    pub const INT24: ColumnType = ColumnType(0x09);
    /// A day.
    pub const DATE: ColumnType = ColumnType(0x0A);
    /// A span of time.
    pub const TIME: ColumnType = ColumnType(0x0B);
    /// A day with a time.
    pub const DATETIME: ColumnType = ColumnType(0x0C);
    /// A year, in two bytes.
    pub const YEAR: ColumnType = ColumnType(0x0D);
    /// A decimal number, as text.
    pub const NEWDECIMAL: ColumnType = ColumnType(0xF6);
    /// Bytes.
    pub const BLOB: ColumnType = ColumnType(0xFC);
    /// A text.
    pub const VAR_STRING: ColumnType = ColumnType(0xFD);
    /// A text of fixed width.
    pub const STRING: ColumnType = ColumnType(0xFE);
}

/// What decides how the values of a column are read: to be kept for as long as the server may
/// leave the definitions out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnKind {
    /// How they are written.
    pub column_type: ColumnType,
    /// Whether whole numbers have no sign.
    pub is_unsigned: bool,
}

/// `ColumnDefinition41`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    /// The database.
    pub schema: &'a [u8],
    /// The table as the statement calls it.
    pub table: &'a [u8],
    /// The table.
    pub original_table: &'a [u8],
    /// The column as the statement calls it.
    pub name: &'a [u8],
    /// The column.
    pub original_name: &'a [u8],
    /// The number of its collation.
    pub collation: u16,
    /// The width that its values are shown with.
    pub display_width: u32,
    /// How values are written.
    pub column_type: ColumnType,
    /// Flags ("Column Definition Flags").
    pub flags: u16,
    /// How many digits behind the point are shown.
    pub decimals: u8,
}

/// The catalog, which is always this one.
const CATALOG: &[u8] = b"def";

/// The length of the fields of fixed width.
const FIXED: u8 = 0x0C;

impl<'a> ColumnDefinition<'a> {
    /// The flag that says that whole numbers have no sign.
    pub const UNSIGNED: u16 = 0x0020;

    /// What decides how the values are read.
    pub fn kind(&self) -> ColumnKind {
        let is_unsigned = self.flags & Self::UNSIGNED != 0;
        ColumnKind { column_type: self.column_type, is_unsigned }
    }

    /// Reads the payload. MariaDB's extended metadata are not kept.
    ///
    /// # Errors
    /// `Truncated`, `Value` or `Trailing`.
    pub fn decode(
        payload: &'a [u8],
        agreed: Negotiated,
    ) -> Result<ColumnDefinition<'a>, WireError> {
        let mut take = Take::new(payload);
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
