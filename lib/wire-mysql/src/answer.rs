//! Packets that end a reply or a result: OK, EOF and ERR.
//!
//! Protocol manual: "OK_Packet", "EOF_Packet", "ERR_Packet".

use std::ops::BitOr;

use crate::capabilities::{Capabilities, Negotiated};
use crate::error::{ErrorKind, WireError};
use crate::put;
use crate::take::FieldReader;

/// The first byte of an OK packet.
pub(crate) const OK: u8 = 0x00;
/// The first byte of an EOF packet, and of the OK packet that replaces it.
pub(crate) const EOF: u8 = 0xFE;
/// The first byte of an ERR packet.
pub(crate) const ERR: u8 = 0xFF;

/// Flags of the status of a session ("SERVER_STATUS_flags_enum").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status(pub u16);

impl Status {
    /// A transaction is open.
    pub const IN_TRANSACTION: Status = Status(0x0001);
    /// Autocommit is on.
    pub const AUTOCOMMIT: Status = Status(0x0002);
    /// Another result follows.
    pub const MORE_RESULTS_EXISTS: Status = Status(0x0008);
    /// A backslash in a text has no special meaning.
    pub const NO_BACKSLASH_ESCAPES: Status = Status(0x0200);
    /// The reply reports changes of the session's state.
    pub const SESSION_STATE_CHANGED: Status = Status(0x4000);

    /// Returns true if all flags of `others` are set.
    #[inline]
    pub const fn contains(self, others: Status) -> bool {
        self.0 & others.0 == others.0
    }
}

impl BitOr for Status {
    type Output = Status;

    fn bitor(self, other: Status) -> Status {
        Status(self.0 | other.0)
    }
}

/// The success of a command or of the login, or the end of the rows of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OkPacket<'a> {
    /// Number of rows inserted, changed or deleted; with [`Capabilities::FOUND_ROWS`], an update
    /// counts the rows found.
    pub affected_rows: u64,
    /// The first `AUTO_INCREMENT` value that the statement generated.
    pub last_insert_id: u64,
    /// The status of the session.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// Human-readable information about the result.
    pub info: &'a [u8],
}

/// The kind of an OK packet, which determines its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OkKind {
    /// The reply to a command.
    Answer,
    /// The end of rows, instead of an EOF packet.
    EndOfRows,
}

impl<'a> OkPacket<'a> {
    /// Reads the payload of either kind. Changes of the session's state are discarded.
    ///
    /// # Errors
    /// `Truncated`, `Value` or `Trailing`.
    #[inline]
    pub fn decode(payload: &'a [u8], agreed: Negotiated) -> Result<OkPacket<'a>, WireError> {
        // Nearly all OK packets are this short.
        if let [OK | EOF, rows @ 0..=0xFA, id @ 0..=0xFA, a, b, c, d] = *payload {
            return Ok(OkPacket {
                affected_rows: u64::from(rows),
                last_insert_id: u64::from(id),
                status: Status(u16::from_le_bytes([a, b])),
                warnings: u16::from_le_bytes([c, d]),
                info: &[],
            });
        }
        OkPacket::decode_long(payload, agreed)
    }

    #[inline(never)]
    fn decode_long(payload: &'a [u8], agreed: Negotiated) -> Result<OkPacket<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        match take.u8("OK, first byte")? {
            OK | EOF => {}
            _ => return Err(FieldReader::new(payload).fault(ErrorKind::Value, "OK, first byte")),
        }
        let affected_rows = take.length("OK, affected rows")?;
        let last_insert_id = take.length("OK, last insert id")?;
        let status = Status(take.u16("OK, status")?);
        let warnings = take.u16("OK, warnings")?;
        let info = if take.is_empty() { &[] } else { info(&mut take, status, agreed)? };
        Ok(OkPacket { affected_rows, last_insert_id, status, warnings, info })
    }

    /// Appends the payload. If session tracking was negotiated and the status reports changes, an
    /// empty list of changes is included.
    pub fn encode(&self, out: &mut Vec<u8>, kind: OkKind, agreed: Negotiated) {
        out.push(match kind {
            OkKind::Answer => OK,
            OkKind::EndOfRows => EOF,
        });
        put::length(out, self.affected_rows);
        put::length(out, self.last_insert_id);
        out.extend_from_slice(&self.status.0.to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        let has_changes = agreed.has(Capabilities::SESSION_TRACK)
            && self.status.contains(Status::SESSION_STATE_CHANGED);
        if has_changes || !self.info.is_empty() {
            put::text(out, self.info);
        }
        if has_changes {
            put::text(out, &[]);
        }
    }
}

/// Reads the information at the end of an OK packet. Without session tracking, the manual defines
/// it as the rest of the payload. MySQL and MariaDB nevertheless send its length first;
/// go-mysql-server does not.
#[cold]
fn info<'a>(
    take: &mut FieldReader<'a>,
    status: Status,
    agreed: Negotiated,
) -> Result<&'a [u8], WireError> {
    if !agreed.has(Capabilities::SESSION_TRACK) {
        let rest = take.rest();
        let mut counted = FieldReader::new(rest);
        let info = counted.text("OK, info").ok().filter(|_| counted.is_empty());
        return Ok(info.unwrap_or(rest));
    }
    let info = take.text("OK, info")?;
    if status.contains(Status::SESSION_STATE_CHANGED) {
        take.text("OK, session state")?;
    }
    take.end("OK")?;
    Ok(info)
}

/// The end of column definitions or rows if [`Capabilities::DEPRECATE_EOF`] was not negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EofPacket {
    /// Number of warnings.
    pub warnings: u16,
    /// The status of the session.
    pub status: Status,
}

impl EofPacket {
    /// Length in bytes of the shortest payload that begins like an EOF packet but is none.
    pub(crate) const TOO_LONG: usize = 9;

    /// Reads the payload.
    ///
    /// # Errors
    /// `Truncated`, `Value` or `Trailing`.
    #[inline]
    pub fn decode(payload: &[u8]) -> Result<EofPacket, WireError> {
        let mut take = FieldReader::new(payload);
        if take.u8("EOF, first byte")? != EOF {
            return Err(FieldReader::new(payload).fault(ErrorKind::Value, "EOF, first byte"));
        }
        let warnings = take.u16("EOF, warnings")?;
        let status = Status(take.u16("EOF, status")?);
        take.end("EOF")?;
        Ok(EofPacket { warnings, status })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(EOF);
        out.extend_from_slice(&self.warnings.to_le_bytes());
        out.extend_from_slice(&self.status.0.to_le_bytes());
    }
}

/// An error from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// MySQL's error code.
    pub code: u16,
    /// The SQLSTATE; a server may omit it before the login.
    pub sqlstate: Option<[u8; 5]>,
    /// Human-readable message.
    pub message: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    /// Reads the payload.
    ///
    /// # Errors
    /// `Truncated` or `Value`.
    pub fn decode(payload: &'a [u8]) -> Result<ErrPacket<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        if take.u8("ERR, first byte")? != ERR {
            return Err(FieldReader::new(payload).fault(ErrorKind::Value, "ERR, first byte"));
        }
        let code = take.u16("ERR, code")?;
        let sqlstate = match take.peek() {
            Some(b'#') => Some(take.array::<6>("ERR, SQLSTATE")?),
            _ => None,
        };
        let sqlstate = sqlstate.map(|[_, state @ ..]| state);
        Ok(ErrPacket { code, sqlstate, message: take.rest() })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(ERR);
        out.extend_from_slice(&self.code.to_le_bytes());
        if let Some(state) = self.sqlstate {
            out.push(b'#');
            out.extend_from_slice(&state);
        }
        out.extend_from_slice(self.message);
    }
}
