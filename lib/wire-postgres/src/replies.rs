//! A reader of a server's replies, which checks that they match the requests. Rows are counted and
//! skipped by their length, unless a [`Sink`] wants them.
//!
//! A row must have the number of columns of its result, and must be long enough for that number of
//! values. The values must fill the row exactly; this is checked for wanted rows only, whose values
//! are read anyway. A skipped row of two columns costs 39 instructions, and 94 with the check;
//! checking only the first row of each result still costs 2 % of a request. Wanted rows that are
//! skipped as too long are not checked.

use std::collections::VecDeque;

use crate::backend::{self, Column, CopyResponse, Message, Notification, ParameterStatus, Row};
use crate::cycle::{Cycle, Grammar};
use crate::frame::{self, HEADER};
use crate::tags::{backend as tag, both};
use crate::{CommandTag, ErrorKind, List, Oid, Report, TransactionStatus, WireError};

/// A receiver of a server's replies, with at most one call per message. Borrowed arguments are
/// valid only during the call.
pub trait Sink {
    /// Called when a command was completed.
    fn complete(&mut self, completion: Completion<'_>);

    /// Called when a statement failed; the server skips the rest of the request, up to its Sync or
    /// the end of its Query. After an error that [ends the
    /// session](crate::Severity::ends_session) nothing follows.
    fn error(&mut self, report: Report<'_>);

    /// Called when the server is ready for the next statement.
    fn ready(&mut self, status: TransactionStatus);

    /// Returns true if [`row`](Sink::row), [`columns`](Sink::columns) and
    /// [`copy_data`](Sink::copy_data) are to be called. Otherwise these messages are skipped,
    /// whatever their length; if they are wanted, each must be complete in the buffer.
    #[inline]
    fn wants_data(&self) -> bool {
        false
    }

    /// Returns true if [`notice`](Sink::notice), [`notification`](Sink::notification) and
    /// [`setting`](Sink::setting) are to be called. Otherwise these messages are skipped, whatever
    /// their length.
    #[inline]
    fn wants_notices(&self) -> bool {
        false
    }

    /// Returns true if a wanted row, or part of COPY's data, of `length` bytes may be held in the
    /// buffer until it is complete. If not, the row or part is skipped as if it were [too
    /// long](Sink::too_long). Called each time that a piece of an incomplete row or part arrives.
    #[inline]
    fn can_hold(&mut self, _length: usize) -> bool {
        true
    }

    /// Called for a wanted row, or part of COPY's data, that is skipped because it is longer than
    /// [`Replies::LONGEST_WANTED`] or cannot be held; `length` is its length in bytes.
    #[inline]
    fn too_long(&mut self, _length: usize) {}

    /// Called with a row.
    #[inline]
    fn row(&mut self, _row: Row<'_>) {}

    /// Called with the columns of the rows that follow, or of a described statement.
    #[inline]
    fn columns(&mut self, _columns: List<'_, Column<'_>>) {}

    /// Called with a part of COPY's data.
    #[inline]
    fn copy_data(&mut self, _data: &[u8]) {}

    /// Called with the types of a described statement's parameters.
    #[inline]
    fn parameters(&mut self, _types: List<'_, Oid>) {}

    /// Called if the described statement returns no rows.
    #[inline]
    fn no_columns(&mut self) {}

    /// Called when the server is ready to receive COPY's data.
    #[inline]
    fn copy_in(&mut self, _response: CopyResponse<'_>) {}

    /// Called before the server sends COPY's data.
    #[inline]
    fn copy_out(&mut self, _response: CopyResponse<'_>) {}

    /// Called with a warning or other notice.
    #[inline]
    fn notice(&mut self, _report: Report<'_>) {}

    /// Called with a NOTIFY of this or another session, at any time.
    #[inline]
    fn notification(&mut self, _notification: Notification<'_>) {}

    /// Called when a setting changed, at any time.
    #[inline]
    fn setting(&mut self, _status: ParameterStatus<'_>) {}
}

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion<'a> {
    /// The command was completed.
    Done {
        /// Kind of the command and its number of rows.
        tag: CommandTag<'a>,
        /// Number of rows returned or, if there are none, of rows changed.
        rows: u64,
    },
    /// The command returned as many rows as Execute's limit allows, and may have more.
    Suspended {
        /// Number of rows returned.
        returned: u64,
    },
    /// The text contained no command.
    Empty,
}

impl Completion<'_> {
    /// Returns the number of rows returned or, if there are none, the number of rows changed.
    #[inline]
    pub fn rows(&self) -> u64 {
        match self {
            Completion::Done { rows, .. } => *rows,
            Completion::Suspended { returned } => *returned,
            Completion::Empty => 0,
        }
    }
}

/// A reader of the replies of one connection, which accepts them in pieces of any size.
///
/// The buffer is the caller's: [`read`](Replies::read) returns the number of bytes consumed; the
/// caller must keep the remaining bytes and append the next ones to them.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    /// Number of bytes to skip of a body that began in an earlier piece.
    skip: usize,
    /// Number of rows that the running command has returned.
    returned: u64,
    /// Number of bytes that the buffer must contain before more of it can be read.
    needed: usize,
    /// The messages allowed in reply to the first outstanding request.
    grammar: Grammar,
    /// The requests after the first outstanding one.
    later_cycles: VecDeque<Cycle>,
}

impl Replies {
    /// Longest body of a row, or of a part of COPY's data, that is passed to a sink, in bytes.
    pub const LONGEST_WANTED: usize = 16 << 20;

    /// Creates a reader for a session that is ready for its first request.
    pub fn new() -> Replies {
        Replies::default()
    }

    /// Expects the reply to a request that was sent, up to its ReadyForQuery. Must be called for
    /// each request in the order of sending.
    #[inline]
    pub fn expect(&mut self, cycle: Cycle) {
        match self.grammar.is_idle() {
            true => self.grammar.begin(cycle),
            false => self.later_cycles.push_back(cycle),
        }
    }

    /// Records that the client has sent a CopyDone. Until then, a CommandComplete of a server that
    /// waits for COPY's data is an error.
    pub fn end_copy(&mut self) {
        self.grammar.end_copy();
    }

    /// Returns true if all replies are complete.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.grammar.is_idle() && self.skip == 0
    }

    /// Returns the number of bytes that the buffer must contain before more of it can be read,
    /// after a [`read`](Replies::read) that left some bytes. At most 16 MiB plus the length of a
    /// message's header.
    #[inline]
    pub fn needed(&self) -> usize {
        self.needed
    }

    /// Reads all complete messages, and the beginnings of messages that are skipped. Returns the
    /// number of bytes consumed.
    ///
    /// # Errors
    /// The bytes are not valid server messages, or not the reply to the request. The connection
    /// must then be closed.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<usize, WireError> {
        let mut rest = bytes;
        if self.skip > 0 {
            rest = self.skip_body(bytes);
        }
        self.needed = HEADER;
        while let Some((head, after)) = rest.split_first_chunk::<HEADER>() {
            // Position of the reader, for errors.
            let at = || bytes.len().wrapping_sub(rest.len());
            let Some((tag, length)) = frame::header(head) else {
                return Err(frame::invalid_length(at()));
            };
            let split = after.split_at_checked(length as usize);
            if tag == tag::DATA_ROW && !sink.wants_data() {
                let Some(columns) = after.first_chunk() else {
                    return self.begin_skipped(tag, length, at());
                };
                self.grammar.row(u16::from_be_bytes(*columns), length, at())?;
                self.returned = self.returned.wrapping_add(1);
                let Some((_, next)) = split else { return Ok(self.begin(length, after, bytes)) };
                rest = next;
                continue;
            }
            let Some((body, next)) = split else {
                return match self.skips_incomplete(tag, length, after, at(), sink)? {
                    true => Ok(self.begin(length, after, bytes)),
                    false => Ok(at()),
                };
            };
            self.message(tag, body, at, sink)?;
            rest = next;
        }
        Ok(bytes.len().wrapping_sub(rest.len()))
    }

    /// Requests the bytes of a skipped message up to the end of its number of columns. Returns the
    /// number of bytes consumed before this message.
    ///
    /// # Errors
    /// The message is not allowed at this point, or is too short for the number.
    #[cold]
    fn begin_skipped(&mut self, tag: u8, length: u32, at: usize) -> Result<usize, WireError> {
        let is_too_short = (length as usize) < COUNT;
        if tag == tag::DATA_ROW || is_too_short {
            // A misplaced message is reported as misplaced, whatever its number of columns.
            self.grammar.message(tag, self.returned, at)?;
        }
        if is_too_short {
            return Err(too_short(tag, at));
        }
        self.needed = HEADER.saturating_add(COUNT);
        Ok(at)
    }

    /// Processes an incomplete message. Returns true if it is skipped; otherwise more bytes are
    /// needed.
    #[cold]
    fn skips_incomplete(
        &mut self,
        tag: u8,
        length: u32,
        after: &[u8],
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<bool, WireError> {
        if is_skipped(tag, length, sink) || !has_room(tag, length, sink) {
            if tag == tag::ROW_DESCRIPTION && after.len() < COUNT {
                self.begin_skipped(tag, length, at)?;
                return Ok(false);
            }
            self.skip_unwanted(tag, length, after, at, sink)?;
            return Ok(true);
        }
        frame::check_length(tag, length, backend::limit(tag), at)?;
        self.needed = (length as usize).saturating_add(HEADER);
        Ok(false)
    }

    /// Processes a message that is skipped because it is unwanted or too long; `body` is the body,
    /// or its beginning.
    fn skip_unwanted(
        &mut self,
        tag: u8,
        length: u32,
        body: &[u8],
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<(), WireError> {
        self.grammar.message(tag, self.returned, at)?;
        if tag == tag::ROW_DESCRIPTION {
            let columns = body.first_chunk().ok_or_else(|| too_short(tag, at))?;
            self.grammar.described(u16::from_be_bytes(*columns));
        }
        if tag == tag::DATA_ROW {
            self.returned = self.returned.saturating_add(1);
        }
        if sink.wants_data() && matches!(tag, tag::DATA_ROW | both::COPY_DATA) {
            sink.too_long(length as usize);
        }
        Ok(())
    }

    /// Begins to skip a body that is incomplete. Returns the number of bytes consumed: all of them.
    fn begin(&mut self, length: u32, after: &[u8], bytes: &[u8]) -> usize {
        self.skip = (length as usize).saturating_sub(after.len());
        bytes.len()
    }

    /// Returns the bytes after the skipped body.
    fn skip_body<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        match bytes.split_at_checked(self.skip) {
            Some((_, rest)) => {
                self.skip = 0;
                rest
            }
            None => {
                self.skip = self.skip.saturating_sub(bytes.len());
                &[]
            }
        }
    }

    /// Passes one message, which begins at `at`, to the sink. The most frequent messages come
    /// first.
    #[inline]
    fn message(
        &mut self,
        tag: u8,
        body: &[u8],
        at: impl Fn() -> usize,
        sink: &mut impl Sink,
    ) -> Result<(), WireError> {
        match (tag, body) {
            (tag::BIND_COMPLETE, []) if self.grammar.bound() => Ok(()),
            (tag::COMMAND_COMPLETE, [command @ .., 0])
                if body.len() <= frame::MAX_SHORT_BODY as usize && self.grammar.completed() =>
            {
                self.complete(CommandTag::new(command), at, sink)
            }
            (tag::READY_FOR_QUERY, [letter]) => {
                let Some(status) = TransactionStatus::parse(*letter) else {
                    return self.rare_message(tag, body, at(), sink);
                };
                if !self.grammar.ready() {
                    return Err(self.grammar.unexpected_message(tag, at()));
                }
                if !self.later_cycles.is_empty() {
                    self.begin_next();
                }
                // The rows counted so far belong to a statement that failed after returning them.
                self.returned = 0;
                sink.ready(status);
                Ok(())
            }
            _ => self.rare_message(tag, body, at(), sink),
        }
    }

    /// Ends a command.
    #[inline]
    fn complete(
        &mut self,
        tag: CommandTag<'_>,
        at: impl Fn() -> usize,
        sink: &mut impl Sink,
    ) -> Result<(), WireError> {
        let Some(rows) = self.grammar.rows(tag, self.returned) else {
            let at = at().saturating_add(HEADER);
            return Err(WireError::new(ErrorKind::Value, at, "CommandComplete, number of rows"));
        };
        self.returned = 0;
        self.grammar.end_rows();
        sink.complete(Completion::Done { tag, rows });
        Ok(())
    }

    /// Begins the reply to the next of several requests.
    #[cold]
    fn begin_next(&mut self) {
        if let Some(cycle) = self.later_cycles.pop_front() {
            self.grammar.begin(cycle);
        }
    }

    /// Processes messages that are rare or invalid.
    #[cold]
    fn rare_message(
        &mut self,
        tag: u8,
        body: &[u8],
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<(), WireError> {
        // The length of a complete body fits an Int32.
        let length = body.len() as u32;
        if is_skipped(tag, length, sink) {
            return self.skip_unwanted(tag, length, body, at, sink);
        }
        frame::check_length(tag, length, backend::limit(tag), at)?;
        let message = backend::decode_body(tag, body, at.saturating_add(HEADER))?;
        self.grammar.message(tag, self.returned, at)?;
        match message {
            Message::DataRow(row) => {
                // The number was read from two bytes.
                self.grammar.row(row.len() as u16, length, at)?;
                self.returned = self.returned.saturating_add(1);
                sink.row(row);
            }
            Message::CommandComplete(command) => self.complete(command, || at, sink)?,
            Message::PortalSuspended => {
                let returned = std::mem::take(&mut self.returned);
                sink.complete(Completion::Suspended { returned });
            }
            Message::EmptyQueryResponse => sink.complete(Completion::Empty),
            Message::ErrorResponse(report) => sink.error(report),
            Message::NoticeResponse(report) => sink.notice(report),
            Message::RowDescription(columns) => {
                self.grammar.described(columns.len() as u16);
                sink.columns(columns);
            }
            Message::ParameterDescription(types) => sink.parameters(types),
            Message::NoData => sink.no_columns(),
            Message::CopyData(data) => sink.copy_data(data),
            Message::CopyInResponse(response) => sink.copy_in(response),
            Message::CopyOutResponse(response) => sink.copy_out(response),
            Message::NotificationResponse(notification) => sink.notification(notification),
            Message::ParameterStatus(status) => sink.setting(status),
            Message::BindComplete
            | Message::CloseComplete
            | Message::CopyDone
            | Message::ParseComplete => {}
            // ReadyForQuery was processed above; the grammar rejects the other messages.
            Message::ReadyForQuery(_)
            | Message::Authentication(_)
            | Message::BackendKeyData(_)
            | Message::CopyBothResponse(_)
            | Message::NegotiateProtocolVersion(_) => {
                return Err(self.grammar.unexpected_message(tag, at));
            }
        }
        Ok(())
    }
}

/// Size of the column count at the beginning of a row or a row description, in bytes.
const COUNT: usize = 2;

/// Returns the error for a body without room for the number of columns.
#[cold]
fn too_short(tag: u8, at: usize) -> WireError {
    let context = match tag {
        tag::DATA_ROW => "DataRow, number of columns",
        _ => "RowDescription, number of columns",
    };
    WireError::new(ErrorKind::Truncated, at.saturating_add(HEADER), context)
}

/// Returns false if the sink has no room for an incomplete message.
fn has_room(tag: u8, length: u32, sink: &mut impl Sink) -> bool {
    !matches!(tag, tag::DATA_ROW | both::COPY_DATA) || sink.can_hold(length as usize)
}

/// Returns true if a message is skipped because it is unwanted or too long.
fn is_skipped(tag: u8, length: u32, sink: &impl Sink) -> bool {
    match tag {
        tag::DATA_ROW | both::COPY_DATA => {
            !sink.wants_data() || length as usize > Replies::LONGEST_WANTED
        }
        tag::ROW_DESCRIPTION => !sink.wants_data(),
        tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE | tag::PARAMETER_STATUS => {
            !sink.wants_notices()
        }
        _ => false,
    }
}
