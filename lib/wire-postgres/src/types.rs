//! Types of values, formats, and other small types that both sides use.

use crate::cursor::Cursor;
use crate::list::sealed::Read;
use crate::{ErrorKind, WireError};

/// The object id of a type (system catalog `pg_type`) or of a table (`pg_class`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub u32);

impl Oid {
    /// Unspecified: the server infers the type.
    pub const UNSPECIFIED: Oid = Oid(0);
    /// `boolean`.
    pub const BOOL: Oid = Oid(16);
    /// `bytea`.
    pub const BYTEA: Oid = Oid(17);
    /// `bigint`.
    pub const INT8: Oid = Oid(20);
    /// `smallint`.
    pub const INT2: Oid = Oid(21);
    /// `integer`.
    pub const INT4: Oid = Oid(23);
    /// `text`.
    pub const TEXT: Oid = Oid(25);
    /// `oid`.
    pub const OID: Oid = Oid(26);
    /// `real`.
    pub const FLOAT4: Oid = Oid(700);
    /// `double precision`.
    pub const FLOAT8: Oid = Oid(701);
    /// `character varying`.
    pub const VARCHAR: Oid = Oid(1043);
    /// `date`.
    pub const DATE: Oid = Oid(1082);
    /// `time without time zone`.
    pub const TIME: Oid = Oid(1083);
    /// `timestamp without time zone`.
    pub const TIMESTAMP: Oid = Oid(1114);
    /// `timestamp with time zone`.
    pub const TIMESTAMPTZ: Oid = Oid(1184);
    /// `numeric`.
    pub const NUMERIC: Oid = Oid(1700);
    /// `uuid`.
    pub const UUID: Oid = Oid(2950);
}

impl<'a> Read<'a> for Oid {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        cursor.u32("a type's number").map(Oid)
    }
}

/// The transfer format of a value. Chapter "Formats and Format Codes".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text (code 0).
    #[default]
    Text,
    /// The type's binary form (code 1).
    Binary,
}

impl Format {
    /// Returns the code of the format.
    pub fn code(self) -> u16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
        }
    }

    pub(crate) fn from_code(
        code: u16,
        cursor: &Cursor<'_>,
        context: &'static str,
    ) -> Result<Format, WireError> {
        match code {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            _ => Err(cursor.error(ErrorKind::Value, context)),
        }
    }
}

impl<'a> Read<'a> for Format {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let before = *cursor;
        let code = cursor.u16("a format code")?;
        Format::from_code(code, &before, "a format code")
    }
}

/// Reads a field of a row or a parameter: its bytes, or NULL.
impl<'a> Read<'a> for Option<&'a [u8]> {
    #[inline]
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        cursor.value("a value's length")
    }
}

/// The transaction status of the session. Message ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// Outside a transaction (`I`).
    Idle,
    /// Inside a transaction (`T`).
    Active,
    /// Inside a failed transaction: every statement except one that ends it is rejected (`E`).
    Failed,
}

impl TransactionStatus {
    /// Returns its letter.
    pub fn letter(self) -> u8 {
        match self {
            TransactionStatus::Idle => b'I',
            TransactionStatus::Active => b'T',
            TransactionStatus::Failed => b'E',
        }
    }

    #[inline]
    pub(crate) fn parse(letter: u8) -> Option<TransactionStatus> {
        match letter {
            b'I' => Some(TransactionStatus::Idle),
            b'T' => Some(TransactionStatus::Active),
            b'E' => Some(TransactionStatus::Failed),
            _ => None,
        }
    }
}

/// The kind of object in a Describe or a Close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A prepared statement (`S`).
    Statement,
    /// A portal: a statement with its values (`P`).
    Portal,
}

impl Object {
    /// Returns its letter.
    pub fn letter(self) -> u8 {
        match self {
            Object::Statement => b'S',
            Object::Portal => b'P',
        }
    }

    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        context: &'static str,
    ) -> Result<Object, WireError> {
        let before = *cursor;
        match cursor.u8(context)? {
            b'S' => Ok(Object::Statement),
            b'P' => Ok(Object::Portal),
            _ => Err(before.error(ErrorKind::Value, context)),
        }
    }
}

/// The key with which a CancelRequest identifies a session. Message BackendKeyData.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BackendKey {
    /// Process id of the session's server process.
    pub process: i32,
    /// Secret of the session.
    pub secret: i32,
}

impl BackendKey {
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        context: &'static str,
    ) -> Result<BackendKey, WireError> {
        Ok(BackendKey { process: cursor.i32(context)?, secret: cursor.i32(context)? })
    }
}

/// Formats the key without the secret.
impl std::fmt::Debug for BackendKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackendKey").field("process", &self.process).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_key_does_not_show_its_secret() {
        let key = BackendKey { process: 7, secret: 4_242 };
        assert_eq!(format!("{key:?}"), "BackendKey { process: 7, .. }");
    }
}
