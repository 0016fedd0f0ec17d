//! The reader of a session's replies, which accepts them in pieces of any size: the hot path.
//!
//! Protocol manual: "COM_QUERY Response", "COM_STMT_PREPARE Response", "COM_STMT_EXECUTE Response",
//! "Multi-Resultset".
//!
//! ```text
//! reply    =  OK | ERR | result | file request, file…, (OK | ERR)
//! result   =  column count, definition…, [EOF], row…, (EOF | OK | ERR)
//! prepared =  prepare OK, parameter definition…, [EOF], column definition…, [EOF]
//! ```
//!
//! After an OK or EOF with `MORE_RESULTS_EXISTS` another OK, ERR or result follows; an ERR ends the
//! reply of its command. The reply to a statement that always returns rows ([`ReplyKind::Rows`])
//! does not begin with an OK, and has no further result. The first byte and the length of a packet
//! among rows determine its kind:
//!
//! * 0xFF: an ERR.
//! * 0xFE without `DEPRECATE_EOF`: an EOF if it is shorter than 9 bytes.
//! * 0xFE with `DEPRECATE_EOF`: an OK if it is shorter than 2²⁴ - 1 bytes.
//! * 0xFE and 2²⁴ - 1 bytes long, in a text result: a row whose first value has at least 2²⁴ bytes.
//! * 0x00: a row; in a text result a row whose first value is empty.
//! * All others: a row of a text result; invalid in a binary one.
//!
//! The values of an unwanted row are not read; only its length is checked, against the minimum for
//! their number. A packet of 2²⁴ - 1 bytes is continued by the next packet, whatever the first byte
//! of that packet is. A row that continues in a second packet is counted and never buffered. The
//! only packet that may follow the last expected reply is an ERR with sequence number 0, with which
//! a server ends the session.

use std::collections::VecDeque;

use crate::answer::{EOF, ERR, EofPacket, ErrPacket, OK, OkPacket, Status};
use crate::capabilities::{Capabilities, Negotiated};
use crate::column::ColumnDefinition;
use crate::error::{ErrorKind, WireError, fault};
use crate::frame::{HEADER, Header, check_sequence, first_whole_packet, usual_packet};
use crate::partial::{GatheredPayload, MAX_READ_ERROR, PartialPacket};
use crate::prepared::Prepared;
use crate::reply_kind::ReplyKind;
use crate::row::{BinaryRow, NULL, Row, TextRow};
use crate::sink::{ResultEnd, Sink};
use crate::take::FieldReader;

/// Maximum number of commands that wait for their replies while an earlier reply is read.
pub const MAX_EXPECTED: usize = 1 << 16;

/// Longest packet that is buffered until it is complete, in bytes, if it is neither a row nor an
/// ERR.
const MAX_WHOLE_PACKET: usize = 1 << 20;

/// Maximum number of columns that is accepted. A server allows 4096 columns in a result; this limit
/// only rejects a corrupt number.
const MAX_COLUMNS: u64 = 0xFFFF;

/// A reader of the replies of one session after its login.
///
/// It buffers at most one packet, which must be decoded as a whole, and no unwanted rows.
/// Invariant: `kind` and `state` belong to the first outstanding reply, and `later_replies` holds
/// the replies after it.
#[derive(Clone, Debug)]
pub struct Replies {
    agreed: Negotiated,
    kind: ReplyKind,
    state: State,
    sequence: u8,
    /// True if the payload of the last packet, which was skipped, continues in the next packet.
    is_continued: bool,
    partial: PartialPacket,
    /// Number of outstanding definitions.
    definitions: u64,
    /// Number of column definitions of a prepared statement, which follow the definitions of the
    /// parameters.
    columns: u16,
    /// Minimum length of a row of the current result, in bytes.
    least_row_length: usize,
    rows: u64,
    later_replies: VecDeque<(ReplyKind, u8)>,
    gathered_payload: GatheredPayload,
}

/// The part of a reply that is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No command waits for a reply.
    Idle,
    /// The first packet of a reply.
    Start,
    /// The first packet of a further result.
    Next,
    /// Definitions of columns.
    Columns,
    /// The EOF after the definitions of columns.
    ColumnsEnd,
    /// Definitions of a prepared statement's parameters.
    Parameters,
    /// The EOF after the definitions of parameters.
    ParametersEnd,
    /// Definitions of a prepared statement's columns.
    PreparedColumns,
    /// The EOF after the definitions of a prepared statement's columns.
    PreparedColumnsEnd,
    /// Rows or their end.
    Rows,
    /// The caller must send a file.
    File,
    /// The reply to the file.
    FileEnd,
}

impl Replies {
    /// Creates a reader for a session.
    pub fn new(agreed: Negotiated) -> Replies {
        Replies {
            agreed,
            kind: ReplyKind::Simple,
            state: State::Idle,
            sequence: 0,
            is_continued: false,
            partial: PartialPacket::default(),
            definitions: 0,
            columns: 0,
            least_row_length: 0,
            rows: 0,
            later_replies: VecDeque::new(),
            gathered_payload: GatheredPayload::default(),
        }
    }

    /// Expects the reply to a command that was sent. `sequence` is the number of the reply's first
    /// packet, as returned when the command was appended. Must be called for each command in the
    /// order of sending, except for commands without a reply.
    ///
    /// # Errors
    /// `TooLong` if [`MAX_EXPECTED`] commands already wait behind the current reply.
    #[inline]
    pub fn expect(&mut self, kind: ReplyKind, sequence: u8) -> Result<(), WireError> {
        if self.state == State::Idle {
            self.begin(kind, sequence);
            return Ok(());
        }
        if self.later_replies.len() >= MAX_EXPECTED {
            return Err(fault(ErrorKind::TooLong, 0, "commands without a reply"));
        }
        self.later_replies.push_back((kind, sequence));
        Ok(())
    }

    /// Returns the number of commands whose replies are incomplete.
    pub fn expected(&self) -> usize {
        let first = usize::from(self.state != State::Idle);
        self.later_replies.len().saturating_add(first)
    }

    /// Returns true if all replies are complete.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Returns the sequence number for [`file_data`](crate::file_data) if the server waits for a
    /// file. To refuse the request, send an empty file.
    pub fn wanted_file(&self) -> Option<u8> {
        (self.state == State::File).then_some(self.sequence)
    }

    /// Continues after the file was sent; `sequence` is the number that
    /// [`file_end`](crate::file_end) returned.
    ///
    /// # Errors
    /// `Order` if the server did not request a file.
    pub fn file_sent(&mut self, sequence: u8) -> Result<(), WireError> {
        if self.state != State::File {
            return Err(fault(ErrorKind::Order, 0, "content of a file"));
        }
        (self.state, self.sequence) = (State::FileEnd, sequence);
        Ok(())
    }

    /// Reads bytes and passes their contents to `sink`. Returns the number of bytes consumed: all,
    /// unless the server requests a file, or ends the session after the last expected reply.
    ///
    /// # Errors
    /// The bytes are not replies to the expected commands. The offset in the error counts from the
    /// start of `bytes`. For a packet that arrives in pieces, the offset is only the place at which
    /// the error was found. After an error the session is unusable.
    #[inline]
    pub fn read<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, WireError> {
        let mut rest = bytes;
        if self.partial.length != 0 {
            rest = self.resume_packet(bytes, rest, sink)?;
        }
        while !matches!(self.state, State::Idle | State::File) {
            if !sink.wants_rows() {
                if let Some(after) = self.read_usual_reply(rest, sink) {
                    rest = after;
                    continue;
                }
                rest = self.skip_usual_packets(rest, sink);
            }
            rest = match first_whole_packet(rest) {
                Some((header, payload, after)) => {
                    self.packet(header, payload, sink)
                        .map_err(|error| error.shifted_by(consumed(bytes, rest)))?;
                    after
                }
                None if rest.is_empty() => return Ok(bytes.len()),
                None => self.resume_packet(bytes, rest, sink)?,
            };
        }
        if !rest.is_empty() && self.state == State::Idle {
            check_surplus_bytes(rest).map_err(|error| error.shifted_by(consumed(bytes, rest)))?;
        }
        Ok(consumed(bytes, rest))
    }

    /// Reads the usual reply, one result with rows, if the reply is complete, and returns the bytes
    /// after it. For speed, no state changes before the end of the reply has been found; anything
    /// unusual is left to the packet-by-packet path.
    #[inline]
    fn read_usual_reply<'b, S: Sink>(&mut self, bytes: &'b [u8], sink: &mut S) -> Option<&'b [u8]> {
        let end = match (self.state, self.kind) {
            (State::Start, ReplyKind::Text) => EOF,
            (State::Start, ReplyKind::Binary | ReplyKind::Rows) => OK.wrapping_add(1),
            _ => return None,
        };
        let (has_eof, has_flag) = (self.has_eof(), self.agreed.has(Capabilities::CACHE_METADATA));
        let mut sequence = u32::from(self.sequence) << 24;
        let (payload, mut rest) = usual_packet(bytes, &mut sequence)?;
        let (count, is_known) = match *payload {
            [count @ 1..=0xFA] if !has_flag => (count, false),
            [count @ 1..=0xFA, flag] if has_flag => (count, flag == 0),
            _ => return None,
        };
        if !is_known && sink.wants_columns() {
            return None;
        }
        for _ in 0..if is_known { 0 } else { count } {
            let (definition, after) = usual_packet(rest, &mut sequence)?;
            rest = after;
            definition.first().filter(|first| **first < EOF)?;
        }
        if has_eof {
            let (payload, after) = usual_packet(rest, &mut sequence)?;
            rest = after;
            let [EOF, _, _, _, _] = payload else { return None };
        }
        let least_row_length = self.least_length_of_row(u64::from(count));
        let mut rows = 0_u64;
        let last = loop {
            let (payload, after) = usual_packet(rest, &mut sequence)?;
            rest = after;
            if *payload.first()? >= end {
                break payload;
            }
            if payload.len() < least_row_length {
                return None;
            }
            rows = rows.wrapping_add(1);
        };
        let (status, warnings) = match *last {
            [EOF, a, b, c, d] if has_eof => ([c, d], [a, b]),
            [EOF, 0, 0, a, b, c, d] if !has_eof => ([a, b], [c, d]),
            _ => return None,
        };
        let (status, warnings) = (Status(u16::from_le_bytes(status)), u16::from_le_bytes(warnings));
        if status.contains(Status::MORE_RESULTS_EXISTS) {
            return None;
        }
        sink.columns(u64::from(count), is_known);
        let (affected_rows, last_insert_id) = (0, 0);
        sink.result(ResultEnd { rows, affected_rows, last_insert_id, status, warnings });
        self.end(sink);
        Some(rest)
    }

    /// Skips complete definitions and rows of the usual form at the beginning of `rest`. Returns
    /// the remaining bytes.
    #[inline]
    fn skip_usual_packets<'b, S: Sink>(&mut self, rest: &'b [u8], sink: &mut S) -> &'b [u8] {
        let mut rest = rest;
        if self.is_continued {
            return rest;
        }
        if self.state == State::Columns && !sink.wants_columns() {
            let passed;
            (passed, rest) = self.count_packets(rest, self.definitions, EOF, 0);
            self.definitions = self.definitions.wrapping_sub(passed);
            if self.definitions == 0 {
                self.end_definitions(sink);
            }
        }
        if self.state == State::Rows {
            let end = if self.kind.is_binary() { OK.wrapping_add(1) } else { EOF };
            let passed;
            (passed, rest) = self.count_packets(rest, u64::MAX, end, self.least_row_length);
            self.rows = self.rows.wrapping_add(passed);
        }
        rest
    }

    /// Counts at most `most` packets at the beginning of `rest`. Each must have the right sequence
    /// number, fewer than 2²⁴ - 1 bytes, at least `min_length` bytes and a first byte below `end`;
    /// the first packet without these properties ends the count. Returns the number of packets, and
    /// the remaining bytes.
    #[inline]
    fn count_packets<'b>(
        &mut self,
        rest: &'b [u8],
        most: u64,
        end: u8,
        min_length: usize,
    ) -> (u64, &'b [u8]) {
        let (mut rest, mut count) = (rest, 0_u64);
        let mut sequence = u32::from(self.sequence) << 24;
        while count < most {
            let before = sequence;
            let Some((payload, after)) = usual_packet(rest, &mut sequence) else { break };
            if payload.first().is_none_or(|first| *first >= end) || payload.len() < min_length {
                sequence = before;
                break;
            }
            count = count.wrapping_add(1);
            rest = after;
        }
        self.sequence = (sequence >> 24) as u8;
        (count, rest)
    }

    /// Processes a complete packet. Offsets of errors are relative to its header.
    #[inline]
    fn packet<S: Sink>(
        &mut self,
        header: Header,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), WireError> {
        let is_usual =
            header.sequence == self.sequence && !header.continues_in_next() && !self.is_continued;
        if !is_usual {
            return self.unusual_packet(header, payload, sink);
        }
        self.sequence = header.sequence.wrapping_add(1);
        match (self.state, payload) {
            (State::Parameters, [first, ..]) if *first < EOF => {
                self.count_definition(sink);
                Ok(())
            }
            _ => self.payload(payload, sink).map_err(|error| error.shifted_by(HEADER)),
        }
    }

    /// Processes a packet of maximum length, the packet after such a packet, or a packet with a
    /// wrong sequence number.
    #[cold]
    fn unusual_packet<S: Sink>(
        &mut self,
        header: Header,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), WireError> {
        let first = payload.first().copied();
        self.check(header, first)?;
        if self.is_skipped(header, first, sink) {
            return self.skip(header, sink);
        }
        if header.continues_in_next() {
            return Err(fault(ErrorKind::TooLong, 0, "packet that is no row"));
        }
        self.payload(payload, sink).map_err(|error| error.shifted_by(HEADER))
    }

    /// Checks and increments the sequence number.
    #[inline]
    fn check(&mut self, header: Header, first: Option<u8>) -> Result<(), WireError> {
        // If a server ends the session (on idle timeout or shutdown), its ERR has sequence number
        // 0: it does not answer the latest command, which the server has not read.
        let is_unasked = header.sequence == 0 && self.state == State::Start && first == Some(ERR);
        if !is_unasked {
            check_sequence(self.sequence, header)?;
        }
        self.sequence = header.sequence.wrapping_add(1);
        Ok(())
    }

    /// Returns true if a packet does not need to be decoded.
    #[inline]
    fn is_skipped<S: Sink>(&self, header: Header, first: Option<u8>, sink: &S) -> bool {
        if self.is_continued {
            return true;
        }
        match self.state {
            State::Rows => {
                (header.continues_in_next() || !sink.wants_rows())
                    && self.is_row(first, header.continues_in_next())
            }
            State::Columns => !sink.wants_columns() && is_definition(first),
            State::Parameters => is_definition(first),
            State::Idle
            | State::Start
            | State::Next
            | State::ColumnsEnd
            | State::ParametersEnd
            | State::PreparedColumns
            | State::PreparedColumnsEnd
            | State::File
            | State::FileEnd => false,
        }
    }

    /// Returns true if an incomplete packet is a row. Valid only if the packet is not skipped.
    fn is_wanted_row(&self, first: Option<u8>) -> bool {
        self.state == State::Rows && self.is_row(first, false)
    }

    /// Returns true if a packet is a row. It must be a packet among rows that does not continue the
    /// packet before it.
    #[inline]
    fn is_row(&self, first: Option<u8>, continues_in_next: bool) -> bool {
        match (first, self.kind) {
            (Some(OK), _) => true,
            (Some(ERR) | None, _) => false,
            (Some(_), ReplyKind::Binary | ReplyKind::Rows) => false,
            // A value of 16 MB or more can fill a packet completely; no OK packet is that long.
            (Some(EOF), _) => continues_in_next,
            (Some(_), _) => true,
        }
    }

    /// Skips a packet; its payload may be incomplete.
    #[inline]
    fn skip<S: Sink>(&mut self, header: Header, sink: &mut S) -> Result<(), WireError> {
        if !self.is_continued {
            match self.state {
                State::Rows => {
                    self.check_row(header.length)?;
                    self.rows = self.rows.wrapping_add(1);
                    if sink.wants_rows() {
                        sink.too_long();
                    }
                }
                _ => self.count_definition(sink),
            }
        }
        self.is_continued = header.continues_in_next();
        Ok(())
    }

    /// Returns the minimum length of a row with this number of columns, in bytes.
    #[inline]
    fn least_length_of_row(&self, columns: u64) -> usize {
        // At most `MAX_COLUMNS`.
        let columns = columns as usize;
        if self.kind.is_binary() { BinaryRow::least_length(columns) } else { columns }
    }

    /// Checks the length of a row, in bytes.
    fn check_row(&self, length: usize) -> Result<(), WireError> {
        match length < self.least_row_length {
            true => Err(fault(ErrorKind::Truncated, 0, "row, values")),
            false => Ok(()),
        }
    }

    /// Begins or continues an incomplete packet. Returns the remaining bytes.
    #[inline(never)]
    fn resume_packet<'b, S: Sink>(
        &mut self,
        bytes: &'b [u8],
        rest: &'b [u8],
        sink: &mut S,
    ) -> Result<&'b [u8], WireError> {
        let at = self.resume(bytes, consumed(bytes, rest), sink)?;
        Ok(bytes.get(at..).unwrap_or_default())
    }

    fn resume<S: Sink>(
        &mut self,
        bytes: &[u8],
        at: usize,
        sink: &mut S,
    ) -> Result<usize, WireError> {
        let mut at = at;
        let Some(header) = self.partial.header() else {
            at = self.begin_packet(bytes, at, sink)?;
            return Ok(at);
        };
        let given = bytes.get(at..).unwrap_or_default();
        let piece = given.get(..self.partial.left).unwrap_or(given);
        at = at.saturating_add(piece.len());
        self.partial.left = self.partial.left.saturating_sub(piece.len());
        if self.partial.is_gathered {
            self.gathered_payload.push(self.partial, piece);
        }
        if self.partial.left > 0 {
            return Ok(at);
        }
        let is_gathered = self.partial.is_gathered;
        self.partial = PartialPacket::default();
        if is_gathered {
            self.finish_gathered(header, sink)
                .map_err(|error| WireError { offset: at.saturating_sub(1), ..error })?;
        }
        Ok(at)
    }

    /// Completes the header of a packet and the first byte after it, which determine whether the
    /// payload is skipped or buffered.
    fn begin_packet<S: Sink>(
        &mut self,
        bytes: &[u8],
        at: usize,
        sink: &mut S,
    ) -> Result<usize, WireError> {
        let mut at = at;
        while self.partial.header().is_none() {
            let Some(byte) = bytes.get(at) else { return Ok(at) };
            self.partial.push(*byte);
            at = at.saturating_add(1);
        }
        let [head @ .., first] = self.partial.head;
        let header = Header::decode(head);
        let first = (header.length > 0).then_some(first);
        self.check(header, first)
            .map_err(|error| WireError { offset: at.saturating_sub(1), ..error })?;
        self.partial.left = header.length.saturating_sub(1);
        let is_row = self.is_wanted_row(first);
        self.partial.is_gathered =
            !self.is_skipped(header, first, sink) && (!is_row || sink.can_hold(header.length));
        if self.partial.is_gathered {
            if !is_row && first != Some(ERR) && header.length > MAX_WHOLE_PACKET {
                return Err(fault(ErrorKind::TooLong, at, "packet that is no row"));
            }
            self.gathered_payload.push(self.partial, first.as_slice());
        } else {
            self.skip(header, sink)
                .map_err(|error| WireError { offset: at.saturating_sub(1), ..error })?;
        }
        self.resume(bytes, at, sink)
    }

    /// Processes a packet that was buffered completely.
    #[cold]
    fn finish_gathered<S: Sink>(&mut self, header: Header, sink: &mut S) -> Result<(), WireError> {
        if header.continues_in_next() {
            return Err(fault(ErrorKind::TooLong, 0, "packet that is no row"));
        }
        let payload = self.gathered_payload.take();
        let read = self.payload(&payload, sink);
        self.gathered_payload.reuse(payload);
        read
    }

    /// Processes a payload that must be decoded.
    #[inline]
    fn payload<S: Sink>(&mut self, payload: &[u8], sink: &mut S) -> Result<(), WireError> {
        let first = payload.first().copied();
        if first == Some(ERR) {
            let read = payload.get(..MAX_READ_ERROR).unwrap_or(payload);
            sink.error(&ErrPacket::decode(read)?);
            self.end(sink);
            return Ok(());
        }
        match self.state {
            State::Start | State::Next => self.first_packet(first, payload, sink),
            State::Rows => self.row_or_end(payload, sink),
            State::Columns | State::PreparedColumns => {
                sink.column(&ColumnDefinition::decode(payload, self.agreed)?)?;
                self.count_definition(sink);
                Ok(())
            }
            State::ColumnsEnd | State::ParametersEnd | State::PreparedColumnsEnd => {
                EofPacket::decode(payload)?;
                self.leave_definitions(sink);
                Ok(())
            }
            State::FileEnd => self.result(OkPacket::decode(payload, self.agreed)?, sink),
            State::Parameters | State::Idle | State::File => {
                Err(fault(ErrorKind::Order, 0, "packet"))
            }
        }
    }

    /// Processes the first packet of a reply or of a further result.
    #[inline]
    fn first_packet<S: Sink>(
        &mut self,
        first: Option<u8>,
        payload: &[u8],
        sink: &mut S,
    ) -> Result<(), WireError> {
        match (self.kind, first) {
            (ReplyKind::Prepared, _) => self.prepared(payload, sink),
            (ReplyKind::Rows, Some(OK)) if self.state == State::Start => {
                Err(fault(ErrorKind::Order, 0, "OK in place of the described columns"))
            }
            (_, Some(OK)) => self.result(OkPacket::decode(payload, self.agreed)?, sink),
            (ReplyKind::Simple, _) => Err(fault(ErrorKind::Order, 0, "answer of a simple command")),
            // MariaDB can also prepare statements that load a file.
            (_, Some(NULL)) => self.file_request(payload, sink),
            _ => self.column_count(payload, sink),
        }
    }

    #[inline]
    fn column_count<S: Sink>(&mut self, payload: &[u8], sink: &mut S) -> Result<(), WireError> {
        let has_flag = self.agreed.has(Capabilities::CACHE_METADATA);
        let (count, has_definitions) = match *payload {
            [count @ 1..=0xFA] if !has_flag => (u64::from(count), true),
            [count @ 1..=0xFA, flag] if has_flag => (u64::from(count), flag != 0),
            _ => self.long_column_count(payload)?,
        };
        sink.columns(count, !has_definitions);
        self.least_row_length = self.least_length_of_row(count);
        self.rows = 0;
        self.definitions = if has_definitions { count } else { 0 };
        self.state = match (has_definitions, self.has_eof()) {
            (true, _) => State::Columns,
            (false, true) => State::ColumnsEnd,
            (false, false) => State::Rows,
        };
        Ok(())
    }

    #[cold]
    fn long_column_count(&self, payload: &[u8]) -> Result<(u64, bool), WireError> {
        let mut take = FieldReader::new(payload);
        let count = take.length("column count")?;
        let has_definitions = !self.agreed.has(Capabilities::CACHE_METADATA)
            || take.u8("column count, metadata follow")? != 0;
        take.end("column count")?;
        if count == 0 || count > MAX_COLUMNS {
            return Err(fault(ErrorKind::Value, 0, "column count"));
        }
        Ok((count, has_definitions))
    }

    #[inline]
    fn has_eof(&self) -> bool {
        !self.agreed.has(Capabilities::DEPRECATE_EOF)
    }

    /// Counts a definition that was skipped or passed on.
    #[inline]
    fn count_definition<S: Sink>(&mut self, sink: &mut S) {
        self.definitions = self.definitions.wrapping_sub(1);
        if self.definitions == 0 {
            self.end_definitions(sink);
        }
    }

    /// Ends the definitions; an EOF may follow.
    #[inline]
    fn end_definitions<S: Sink>(&mut self, sink: &mut S) {
        if !self.has_eof() {
            return self.leave_definitions(sink);
        }
        self.state = match self.state {
            State::Parameters => State::ParametersEnd,
            State::PreparedColumns => State::PreparedColumnsEnd,
            _ => State::ColumnsEnd,
        };
    }

    /// Continues after the last definition and the EOF after it, if any.
    #[inline]
    fn leave_definitions<S: Sink>(&mut self, sink: &mut S) {
        match self.state {
            State::Columns | State::ColumnsEnd => self.state = State::Rows,
            State::Parameters | State::ParametersEnd if self.columns > 0 => {
                self.definitions = u64::from(self.columns);
                self.state = State::PreparedColumns;
            }
            _ => self.end(sink),
        }
    }

    fn prepared<S: Sink>(&mut self, payload: &[u8], sink: &mut S) -> Result<(), WireError> {
        let prepared = Prepared::decode(payload)?;
        sink.prepared(prepared);
        self.columns = prepared.columns;
        self.definitions = u64::from(prepared.parameters);
        self.state = State::Parameters;
        if prepared.parameters == 0 {
            self.leave_definitions(sink);
        }
        Ok(())
    }

    #[inline]
    fn row_or_end<S: Sink>(&mut self, payload: &[u8], sink: &mut S) -> Result<(), WireError> {
        let first = payload.first().copied();
        if self.is_row(first, false) {
            return self.row(payload, sink);
        }
        match first {
            Some(EOF) if !self.has_eof() => {
                self.result(OkPacket::decode(payload, self.agreed)?, sink)
            }
            Some(EOF) if payload.len() < EofPacket::TOO_LONG => {
                let EofPacket { warnings, status } = EofPacket::decode(payload)?;
                self.result(OkPacket { warnings, status, ..OkPacket::default() }, sink)
            }
            Some(_) => Err(fault(ErrorKind::Value, 0, "row, first byte")),
            None => Err(fault(ErrorKind::Truncated, 0, "row, first byte")),
        }
    }

    fn row<S: Sink>(&mut self, payload: &[u8], sink: &mut S) -> Result<(), WireError> {
        self.check_row(payload.len())?;
        self.rows = self.rows.wrapping_add(1);
        sink.row(match self.kind.is_binary() {
            true => Row::Binary(BinaryRow(payload)),
            false => Row::Text(TextRow(payload)),
        })
    }

    /// Ends a result, with or without rows.
    #[inline]
    fn result<S: Sink>(&mut self, ok: OkPacket<'_>, sink: &mut S) -> Result<(), WireError> {
        let OkPacket { affected_rows, last_insert_id, status, warnings, info: _ } = ok;
        let has_more = status.contains(Status::MORE_RESULTS_EXISTS);
        if has_more && self.kind == ReplyKind::Rows {
            return Err(fault(ErrorKind::Order, 0, "further result after the described rows"));
        }
        let rows = std::mem::take(&mut self.rows);
        sink.result(ResultEnd { rows, affected_rows, last_insert_id, status, warnings });
        if has_more {
            self.state = State::Next;
        } else {
            self.end(sink);
        }
        Ok(())
    }

    #[cold]
    fn file_request<S: Sink>(&mut self, payload: &[u8], sink: &mut S) -> Result<(), WireError> {
        if !self.agreed.has(Capabilities::LOCAL_FILES) {
            return Err(fault(ErrorKind::Order, 0, "file request of a server that was told no"));
        }
        if !self.later_replies.is_empty() {
            // The server would read the next commands as the contents of the file.
            return Err(fault(ErrorKind::Order, 0, "file request with further commands sent"));
        }
        sink.file(payload.get(1..).unwrap_or_default());
        self.state = State::File;
        Ok(())
    }

    /// Completes the reply of one command.
    #[inline]
    fn end<S: Sink>(&mut self, sink: &mut S) {
        self.rows = 0;
        match self.later_replies.pop_front() {
            Some((kind, sequence)) => self.begin(kind, sequence),
            None => self.state = State::Idle,
        }
        sink.end();
    }

    #[inline]
    fn begin(&mut self, kind: ReplyKind, sequence: u8) {
        (self.kind, self.sequence, self.state) = (kind, sequence, State::Start);
    }
}

/// Returns the number of bytes before `rest`.
#[inline]
fn consumed(bytes: &[u8], rest: &[u8]) -> usize {
    bytes.len().saturating_sub(rest.len())
}

/// Returns true if a packet among definitions is a definition, and not an ERR or an EOF.
#[inline]
fn is_definition(first: Option<u8>) -> bool {
    first.is_some_and(|first| first < EOF)
}

/// Checks the bytes after the last expected reply. A server that ends the session may send an ERR
/// there.
#[cold]
fn check_surplus_bytes(rest: &[u8]) -> Result<(), WireError> {
    let Some((head, payload)) = rest.split_first_chunk() else { return Ok(()) };
    let header = Header::decode(*head);
    let is_error = payload.first().is_none_or(|first| *first == ERR);
    if header.sequence == 0 && header.length > 0 && is_error {
        return Ok(());
    }
    Err(fault(ErrorKind::Order, 0, "packet after the last reply"))
}
