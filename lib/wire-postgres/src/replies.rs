//! Walks over what the server answers, and checks that it answers what was sent. Rows are counted
//! and passed over by their length; nobody keeps them unless a [`Sink`] asks for them.

use std::collections::VecDeque;

use crate::backend::{self, Column, CopyResponse, Message, Notification, ParameterStatus, Row};
use crate::cycle::{Cycle, Grammar};
use crate::frame::{self, HEADER};
use crate::tags::{backend as tag, both};
use crate::{CommandTag, List, Oid, Report, TransactionStatus, WireError};

/// Takes what the server answers, one call per message. What is borrowed lives until the call
/// returns.
pub trait Sink {
    /// A command is done.
    fn complete(&mut self, completion: Completion<'_>);

    /// A statement has failed; the server skips everything up to the next Sync. After an error that
    /// [ends the session](crate::Severity::ends_session) nothing more will come.
    fn error(&mut self, report: Report<'_>);

    /// The server waits for the next statement.
    fn ready(&mut self, status: TransactionStatus);

    /// Whether [`row`](Sink::row), [`columns`](Sink::columns) and [`copy_data`](Sink::copy_data)
    /// are to be called. Without them these messages are passed over, however long they are; with
    /// them each must be whole in the buffer.
    #[inline]
    fn wants_data(&self) -> bool {
        false
    }

    /// Returns true if [`notice`](Sink::notice), [`notification`](Sink::notification) and
    /// [`setting`](Sink::setting) are to be called. Otherwise these messages are passed over,
    /// however long they are.
    #[inline]
    fn wants_news(&self) -> bool {
        false
    }

    /// A row or a piece of COPY's data of so many bytes is wanted and longer than
    /// [`Replies::LONGEST_WANTED`]; it is passed over.
    #[inline]
    fn too_long(&mut self, _length: usize) {}

    /// A row.
    #[inline]
    fn row(&mut self, _row: Row<'_>) {}

    /// The columns of the rows that follow, or of the statement that was described.
    #[inline]
    fn columns(&mut self, _columns: List<'_, Column<'_>>) {}

    /// A piece of COPY's data.
    #[inline]
    fn copy_data(&mut self, _data: &[u8]) {}

    /// The types of the parameters of the statement that was described.
    #[inline]
    fn parameters(&mut self, _types: List<'_, Oid>) {}

    /// The statement that was described returns no rows.
    #[inline]
    fn no_columns(&mut self) {}

    /// The server waits for COPY's data.
    #[inline]
    fn copy_in(&mut self, _response: CopyResponse<'_>) {}

    /// The server will send COPY's data.
    #[inline]
    fn copy_out(&mut self, _response: CopyResponse<'_>) {}

    /// Something that the user should know.
    #[inline]
    fn notice(&mut self, _report: Report<'_>) {}

    /// Another session's NOTIFY. May come at any time.
    #[inline]
    fn notification(&mut self, _notification: Notification<'_>) {}

    /// A setting has changed. May come at any time.
    #[inline]
    fn setting(&mut self, _status: ParameterStatus<'_>) {}
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion<'a> {
    /// It was carried out.
    Done {
        /// What it was, and how many rows it touched.
        tag: CommandTag<'a>,
        /// How many rows it returned.
        returned: u64,
    },
    /// It has returned as many rows as Execute allowed, and may have more.
    Suspended {
        /// How many rows it returned.
        returned: u64,
    },
    /// There was no command in the text.
    Empty,
}

impl Completion<'_> {
    /// How many rows it returned or, if it returned none, how many it changed.
    #[inline]
    pub fn rows(&self) -> u64 {
        match self {
            Completion::Done { tag, returned: 0 } => tag.rows().unwrap_or(0),
            Completion::Done { returned, .. } | Completion::Suspended { returned } => *returned,
            Completion::Empty => 0,
        }
    }
}

/// Reads the answers of one connection, in whatever pieces they come.
///
/// The buffer is the caller's: [`read`](Replies::read) says how much of it was used, and the rest
/// must stand before the next bytes.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    /// How many bytes of a body that began in an earlier piece are still to be passed over.
    skip: usize,
    /// How many rows the running command has returned.
    returned: u64,
    /// How long the first message is that was not whole.
    needed: usize,
    /// The messages that may come in answer to the first request that is not answered.
    grammar: Grammar,
    /// The requests behind it.
    later: VecDeque<Cycle>,
}

impl Replies {
    /// The longest body of a row, or of a piece of COPY's data, that a sink is given.
    pub const LONGEST_WANTED: usize = 16 << 20;

    /// Before the first answer of a session that is ready.
    pub fn new() -> Replies {
        Replies::default()
    }

    /// A request was sent that one ReadyForQuery ends. To be said of each in the order of sending.
    #[inline]
    pub fn expect(&mut self, cycle: Cycle) {
        match self.grammar.is_idle() {
            true => self.grammar.begin(cycle),
            false => self.later.push_back(cycle),
        }
    }

    /// Takes note that the client has sent a CopyDone: before it, a server that has asked for
    /// COPY's data may not complete the command.
    pub fn end_copy(&mut self) {
        self.grammar.end_copy();
    }

    /// Whether all that was sent is answered.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.grammar.is_idle() && self.skip == 0
    }

    /// How many bytes the buffer must hold for the message at its begin to be read, after a
    /// [`read`](Replies::read) that left some. At most 16 MiB.
    #[inline]
    pub fn needed(&self) -> usize {
        self.needed
    }

    /// Reads all messages that are whole, and the beginnings of those that are passed over. Returns
    /// how many bytes were used.
    ///
    /// # Errors
    /// The bytes are not a server's, or not the answer to what was sent. The connection can then
    /// only be closed.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<usize, WireError> {
        let mut rest = bytes;
        if self.skip > 0 {
            rest = self.pass_over(bytes);
        }
        self.needed = HEADER;
        while let Some((head, behind)) = rest.split_first_chunk::<HEADER>() {
            // How far the reader is, for what stops it.
            let at = || bytes.len().wrapping_sub(rest.len());
            let Some((tag, length)) = frame::header(head) else {
                return Err(frame::not_a_length(at()));
            };
            let split = behind.split_at_checked(length as usize);
            if tag == tag::DATA_ROW && !sink.wants_data() {
                if !self.grammar.permits_row() {
                    return Err(self.grammar.misplaced(tag, at()));
                }
                self.returned = self.returned.wrapping_add(1);
                let Some((_, next)) = split else { return Ok(self.begin(length, behind, bytes)) };
                rest = next;
                continue;
            }
            let Some((body, next)) = split else {
                return match self.passes_unfinished(tag, length, at(), sink)? {
                    true => Ok(self.begin(length, behind, bytes)),
                    false => Ok(at()),
                };
            };
            self.message(tag, body, at, sink)?;
            rest = next;
        }
        Ok(bytes.len().wrapping_sub(rest.len()))
    }

    /// A message that is not whole. Returns whether it is passed over; else it is waited for.
    #[cold]
    fn passes_unfinished(
        &mut self,
        tag: u8,
        length: u32,
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<bool, WireError> {
        if is_passed_over(tag, length, sink) {
            self.unwanted(tag, length, at, sink)?;
            return Ok(true);
        }
        frame::permit(tag, length, backend::limit(tag), at)?;
        self.needed = (length as usize).saturating_add(HEADER);
        Ok(false)
    }

    /// A message that is passed over because nobody wants it, or because it is too long.
    fn unwanted(
        &mut self,
        tag: u8,
        length: u32,
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<(), WireError> {
        self.grammar.message(tag, self.returned, at)?;
        if tag == tag::DATA_ROW {
            self.returned = self.returned.saturating_add(1);
        }
        if sink.wants_data() && matches!(tag, tag::DATA_ROW | both::COPY_DATA) {
            sink.too_long(length as usize);
        }
        Ok(())
    }

    /// Begins to pass over a body of which only a part, or nothing, is there. All bytes are used.
    fn begin(&mut self, length: u32, behind: &[u8], bytes: &[u8]) -> usize {
        self.skip = (length as usize).saturating_sub(behind.len());
        bytes.len()
    }

    /// What follows the body that is passed over.
    fn pass_over<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
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

    /// Tells the sink of one message, which begins at `at`. Those of every request come first.
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
                if body.len() <= frame::SHORT as usize && self.grammar.completed() =>
            {
                let returned = std::mem::take(&mut self.returned);
                sink.complete(Completion::Done { tag: CommandTag::new(command), returned });
                Ok(())
            }
            (tag::READY_FOR_QUERY, [letter]) => {
                let Some(status) = TransactionStatus::parse(*letter) else {
                    return self.other(tag, body, at(), sink);
                };
                if !self.grammar.ready() {
                    return Err(self.grammar.misplaced(tag, at()));
                }
                if !self.later.is_empty() {
                    self.begin_next();
                }
                // Of a statement that failed after its first rows.
                self.returned = 0;
                sink.ready(status);
                Ok(())
            }
            _ => self.other(tag, body, at(), sink),
        }
    }

    /// Begins the answer to the next of several requests.
    #[cold]
    fn begin_next(&mut self) {
        if let Some(cycle) = self.later.pop_front() {
            self.grammar.begin(cycle);
        }
    }

    /// The messages that are rare, or wrong.
    #[cold]
    fn other(
        &mut self,
        tag: u8,
        body: &[u8],
        at: usize,
        sink: &mut impl Sink,
    ) -> Result<(), WireError> {
        // A body that is there has a length that was an Int32.
        let length = body.len() as u32;
        if is_passed_over(tag, length, sink) {
            return self.unwanted(tag, length, at, sink);
        }
        frame::permit(tag, length, backend::limit(tag), at)?;
        let message = backend::decode_body(tag, body, at.saturating_add(HEADER))?;
        self.grammar.message(tag, self.returned, at)?;
        match message {
            Message::DataRow(row) => {
                self.returned = self.returned.saturating_add(1);
                sink.row(row);
            }
            Message::CommandComplete(command) => {
                let returned = std::mem::take(&mut self.returned);
                sink.complete(Completion::Done { tag: command, returned });
            }
            Message::PortalSuspended => {
                let returned = std::mem::take(&mut self.returned);
                sink.complete(Completion::Suspended { returned });
            }
            Message::EmptyQueryResponse => sink.complete(Completion::Empty),
            Message::ErrorResponse(report) => sink.error(report),
            Message::NoticeResponse(report) => sink.notice(report),
            Message::RowDescription(columns) => sink.columns(columns),
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
            // The first was read before, the others the grammar does not know.
            Message::ReadyForQuery(_)
            | Message::Authentication(_)
            | Message::BackendKeyData(_)
            | Message::CopyBothResponse(_)
            | Message::NegotiateProtocolVersion(_) => {
                return Err(self.grammar.misplaced(tag, at));
            }
        }
        Ok(())
    }
}

/// Returns true if a message is passed over, however long it is.
fn is_passed_over(tag: u8, length: u32, sink: &impl Sink) -> bool {
    match tag {
        tag::DATA_ROW | both::COPY_DATA => {
            !sink.wants_data() || length as usize > Replies::LONGEST_WANTED
        }
        tag::ROW_DESCRIPTION => !sink.wants_data(),
        tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE | tag::PARAMETER_STATUS => {
            !sink.wants_news()
        }
        _ => false,
    }
}
