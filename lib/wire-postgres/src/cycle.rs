//! The grammar of a server's replies. Chapters "Message Flow", "Simple Query" and "Extended Query".
//!
//! ```text
//! query       = statement , { statement } , ReadyForQuery
//! statement   = [ RowDescription , { DataRow } ] , ( CommandComplete | EmptyQueryResponse ) | copy
//! extended    = { ParseComplete | CloseComplete | description
//!               | BindComplete , [ columns ] , { result } } , ReadyForQuery
//! description = ParameterDescription , columns
//! columns     = RowDescription | NoData
//! result      = { DataRow } , ( CommandComplete | EmptyQueryResponse | PortalSuspended ) | copy
//! copy        = CopyInResponse , ( the client's CopyDone ) , CommandComplete
//!             | CopyOutResponse , { CopyData } , CopyDone , CommandComplete
//! ```
//!
//! Notices, notifications and settings may occur anywhere. An ErrorResponse may replace the rest of
//! the reply at any point; after it, only ReadyForQuery or a further ErrorResponse may follow.
//!
//! A further result of the same portal follows only a result that ends with PortalSuspended.
//!
//! A statement that was described without columns may still return rows: `fetch` does, if its
//! cursor was declared after the description. All rows of a result have the same number of columns.
//!
//! Only a [`Cycle`] with a text that contains no command is answered with EmptyQueryResponse, and
//! only a cycle with a row limit is answered with PortalSuspended.
//!
//! A statement that was described with columns is not answered with CopyInResponse or
//! CopyOutResponse. If its CommandComplete counts returned rows, these rows must have come.

use crate::frame::HEADER;
use crate::tags::{backend as tag, both};
use crate::{CommandTag, ErrorKind, Object, WireError};

/// The messages that a client sends for one ReadyForQuery of the server: a Query, or messages of
/// the extended protocol up to a Sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// True for a Query, false for messages of the extended protocol.
    is_query: bool,
    /// True if a text contains no command.
    may_be_empty: bool,
    /// True if an Execute has a row limit.
    may_suspend: bool,
    /// True if a statement may be a COPY.
    may_copy: bool,
    /// Number of columns of the rows, if an earlier Describe has reported it.
    columns: Option<u16>,
    /// Bit *n* is set if an earlier Describe has reported columns for the statement of the *n*-th
    /// outstanding Bind, from 1. Bit 0 is that of the last answered Bind. Binds after the 63rd have
    /// no bit: their statements count as not described.
    described_binds: u64,
    left: OutstandingReplies,
}

/// Numbers of messages of the extended protocol whose replies are outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OutstandingReplies {
    parses: u32,
    /// Describes of statements.
    statements: u32,
    /// Describes of portals.
    portals: u32,
    binds: u32,
    executes: u32,
    closes: u32,
}

impl OutstandingReplies {
    #[inline]
    fn is_empty(self) -> bool {
        let OutstandingReplies { parses, statements, portals, binds, executes, closes } = self;
        parses | statements | portals | binds | executes | closes == 0
    }
}

impl Cycle {
    /// A single Query.
    pub const QUERY: Cycle = Cycle { is_query: true, may_copy: true, ..Cycle::SYNC };

    /// A single Sync.
    pub const SYNC: Cycle = Cycle {
        is_query: false,
        may_be_empty: false,
        may_suspend: false,
        may_copy: false,
        columns: None,
        described_binds: 0,
        left: OutstandingReplies {
            parses: 0,
            statements: 0,
            portals: 0,
            binds: 0,
            executes: 0,
            closes: 0,
        },
    };

    /// The Bind and the Execute of one statement, and a Sync.
    pub const STATEMENT: Cycle = Cycle::SYNC.bind().execute();

    /// Returns the cycle with one more Parse.
    #[must_use]
    pub const fn parse(mut self) -> Cycle {
        self.left.parses = self.left.parses.wrapping_add(1);
        self
    }

    /// Returns the cycle with one more Describe.
    #[must_use]
    pub const fn describe(mut self, object: Object) -> Cycle {
        match object {
            Object::Statement => self.left.statements = self.left.statements.wrapping_add(1),
            Object::Portal => self.left.portals = self.left.portals.wrapping_add(1),
        }
        self
    }

    /// Returns the cycle with one more Bind.
    #[must_use]
    pub const fn bind(mut self) -> Cycle {
        self.left.binds = self.left.binds.wrapping_add(1);
        self
    }

    /// Returns the cycle with one more Execute.
    #[must_use]
    pub const fn execute(mut self) -> Cycle {
        self.left.executes = self.left.executes.wrapping_add(1);
        self.may_copy = true;
        self
    }

    /// Returns the cycle for a statement with this text. EmptyQueryResponse is accepted as an
    /// answer only if the text contains no command.
    #[inline]
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Cycle {
        self.may_be_empty |= has_no_command(text);
        self
    }

    /// Returns the cycle with a row limit in an Execute, whose reply may then be PortalSuspended.
    #[must_use]
    pub const fn with_row_limit(mut self) -> Cycle {
        self.may_suspend = true;
        self
    }

    /// Returns the cycle whose only statement returns rows with this many columns, the number in
    /// the server's description of the statement. Such a statement is never a COPY.
    #[must_use]
    pub const fn with_columns(mut self, columns: u16) -> Cycle {
        self.columns = Some(columns);
        self.described_binds = 1 << 1;
        self.without_copy()
    }

    /// Returns the cycle with the promise that none of its statements is a COPY. A later
    /// [`execute`](Cycle::execute) allows COPY again.
    #[must_use]
    pub const fn without_copy(mut self) -> Cycle {
        self.may_copy = false;
        self
    }

    /// Returns the cycle followed by the messages of `other`. The number of columns is discarded,
    /// because it holds for one statement only. For the first 63 Binds, the cycle still knows if
    /// their statements were described with columns.
    #[must_use]
    pub fn followed_by(mut self, other: Cycle) -> Cycle {
        let OutstandingReplies { parses, statements, portals, binds, executes, closes } =
            other.left;
        let binds_before = self.left.binds;
        self.described_binds |= other.described_binds.checked_shl(binds_before).unwrap_or(0);
        let left = &mut self.left;
        left.parses = left.parses.wrapping_add(parses);
        left.statements = left.statements.wrapping_add(statements);
        left.portals = left.portals.wrapping_add(portals);
        left.binds = left.binds.wrapping_add(binds);
        left.executes = left.executes.wrapping_add(executes);
        left.closes = left.closes.wrapping_add(closes);
        self.may_be_empty |= other.may_be_empty;
        self.may_suspend |= other.may_suspend;
        self.may_copy |= other.may_copy;
        self.columns = None;
        self
    }

    /// Returns the cycle with one more Close.
    #[must_use]
    pub const fn close(mut self) -> Cycle {
        self.left.closes = self.left.closes.wrapping_add(1);
        self
    }
}

/// A checker of the order of a server's messages. The messages that occur in every reply have
/// methods of their own, which are faster than the method for any message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grammar {
    state: State,
    cycle: Cycle,
    /// Number of columns of the current rows: the described number, or the number of the first row.
    columns: Option<u16>,
}

/// The part of a reply that is expected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// No reply is expected.
    #[default]
    Idle,
    /// The reply to the next message of the extended protocol, or to the Sync.
    Between,
    /// Rows of a statement, or its end.
    Rows,
    /// The columns of a described statement, whose parameters have been received.
    Described,
    /// The reply to the first statement of a Query.
    Query,
    /// The reply to a further statement of a Query, or its end.
    NextStatement,
    /// The server waits for COPY's data.
    CopyIn,
    /// The server sends COPY's data.
    CopyOut,
    /// The end of the command, after COPY's data.
    Copied,
    /// ReadyForQuery, after an error that ended the cycle.
    Failed,
}

impl Grammar {
    /// Returns true if no reply is expected.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Begins the reply to a cycle.
    #[inline]
    pub(crate) fn begin(&mut self, cycle: Cycle) {
        self.state = if cycle.is_query { State::Query } else { State::Between };
        self.columns = cycle.columns;
        self.cycle = cycle;
    }

    /// Checks a row of this many columns in a body of `length` bytes.
    ///
    /// # Errors
    /// `Unexpected` if no row may come, `Value` if the description or an earlier row has a
    /// different number of columns, `Truncated` if the body is too short for this number of values.
    #[inline]
    pub(crate) fn row(&mut self, columns: u16, length: u32, at: usize) -> Result<(), WireError> {
        // Each value begins with its length, which takes four bytes.
        let least = u32::from(columns).wrapping_mul(4).wrapping_add(2);
        if self.state == State::Rows && self.columns == Some(columns) && length >= least {
            return Ok(());
        }
        self.first_row(columns, length, at)
    }

    /// Checks a row that is invalid, or is the first row of a result without a description.
    #[cold]
    fn first_row(&mut self, columns: u16, length: u32, at: usize) -> Result<(), WireError> {
        if self.state != State::Rows {
            return Err(self.unexpected_message(tag::DATA_ROW, at));
        }
        let count = "DataRow, number of columns";
        let (kind, context) = if length < 2 {
            (ErrorKind::Truncated, count)
        } else if *self.columns.get_or_insert(columns) != columns {
            (ErrorKind::Value, count)
        } else if length < u32::from(columns).wrapping_mul(4).wrapping_add(2) {
            (ErrorKind::Truncated, "DataRow, values")
        } else {
            return Ok(());
        };
        Err(WireError::new(kind, at.saturating_add(HEADER), context))
    }

    /// Forgets the columns of a result that is complete.
    #[inline]
    pub(crate) fn end_rows(&mut self) {
        self.columns = None;
    }

    /// Records the number of columns of a RowDescription that [`message`](Grammar::message) has
    /// already processed.
    pub(crate) fn described(&mut self, columns: u16) {
        // The description of one statement does not apply to the rows of another.
        if self.state == State::Rows {
            self.columns = Some(columns);
        }
    }

    /// Returns the number of rows of a command: the number returned or, if there are none, the
    /// number changed. `None` if the command's tag contradicts the rows or has a count that is not
    /// a number.
    #[inline]
    pub(crate) fn rows(&self, command: CommandTag<'_>, returned: u64) -> Option<u64> {
        match returned {
            0 => match command.rows() {
                Some(rows) if rows == 0 || !self.returns_rows() => Some(rows),
                _ => self.unusual_rows(command, returned),
            },
            1..=9 if command.ends_with_digit(returned) => Some(returned),
            _ => self.unusual_rows(command, returned),
        }
    }

    #[cold]
    fn unusual_rows(&self, command: CommandTag<'_>, returned: u64) -> Option<u64> {
        // Only the tags of these commands count the rows that were returned. A `select into`
        // returns none, although its tag counts rows.
        let counts = matches!(command.command(), b"SELECT" | b"FETCH");
        match command.rows() {
            Some(rows) if counts && (returned > 0 || self.returns_rows()) => {
                (rows == returned).then_some(rows)
            }
            Some(rows) => Some(if returned == 0 { rows } else { returned }),
            None => command.is_without_count().then_some(returned),
        }
    }

    /// Returns true if the current statement was described with columns, so it returns rows.
    #[inline]
    fn returns_rows(&self) -> bool {
        self.columns.is_some() || self.cycle.described_binds & 1 == 1
    }

    /// Processes a BindComplete. Returns true if the message is allowed.
    #[inline]
    pub(crate) fn bound(&mut self) -> bool {
        let permits = self.state == State::Between && self.cycle.left.binds > 0;
        if permits {
            self.cycle.left.binds = self.cycle.left.binds.wrapping_sub(1);
            self.cycle.described_binds >>= 1;
            // Without an Execute or a Describe of the portal, neither rows nor columns follow.
            if self.cycle.left.executes > 0 || self.cycle.left.portals > 0 {
                self.state = State::Rows;
            }
        }
        permits
    }

    /// Processes a CommandComplete. Returns true if the message is allowed.
    #[inline]
    pub(crate) fn completed(&mut self) -> bool {
        let permits = self.state == State::Rows && self.cycle.left.executes > 0;
        if permits {
            self.cycle.left.executes = self.cycle.left.executes.wrapping_sub(1);
            self.state = State::Between;
            return true;
        }
        self.end_command()
    }

    /// Processes the end of a command of a Query, or of a COPY.
    fn end_command(&mut self) -> bool {
        match (self.state, self.cycle.is_query) {
            (State::Query | State::NextStatement | State::Rows | State::Copied, true) => {
                self.state = State::NextStatement;
                true
            }
            (State::Copied, false) => {
                self.state = State::Rows;
                self.completed()
            }
            _ => false,
        }
    }

    /// Records that the client has sent the end of COPY's data.
    pub(crate) fn end_copy(&mut self) {
        // An error may have ended the COPY earlier.
        if self.state == State::CopyIn {
            self.state = State::Copied;
        }
    }

    /// Processes a ReadyForQuery. Returns true if the message is allowed.
    #[inline]
    pub(crate) fn ready(&mut self) -> bool {
        let permits = match self.state {
            State::Between => self.cycle.left.is_empty(),
            State::NextStatement | State::Failed => true,
            _ => false,
        };
        if permits {
            self.state = State::Idle;
        }
        permits
    }

    /// Processes any message; `returned` is the number of rows of the current result so far.
    ///
    /// # Errors
    /// `Unexpected` if the message is not allowed at this point.
    pub(crate) fn message(&mut self, tag: u8, returned: u64, at: usize) -> Result<(), WireError> {
        let left = &mut self.cycle.left;
        let is_query = self.cycle.is_query;
        let permits = match (tag, self.state) {
            (tag::NOTICE_RESPONSE | tag::NOTIFICATION_RESPONSE | tag::PARAMETER_STATUS, _) => true,
            (tag::ERROR_RESPONSE, state) => {
                if state != State::Idle {
                    self.state = State::Failed;
                }
                true
            }
            (tag::DATA_ROW, state) => state == State::Rows,
            (tag::BIND_COMPLETE, _) => self.bound(),
            (tag::COMMAND_COMPLETE, _) => self.completed(),
            (tag::EMPTY_QUERY_RESPONSE, _) => self.cycle.may_be_empty && self.completed(),
            (tag::READY_FOR_QUERY, _) => self.ready(),
            (tag::PORTAL_SUSPENDED, State::Rows)
                if self.cycle.may_suspend && !is_query && left.executes > 0 =>
            {
                left.executes = left.executes.wrapping_sub(1);
                // With more Executes than Binds, the next Execute runs the same portal again.
                if left.executes <= left.binds {
                    self.state = State::Between;
                }
                true
            }
            (tag::PARSE_COMPLETE, State::Between) => take(&mut left.parses),
            (tag::CLOSE_COMPLETE, State::Between) => take(&mut left.closes),
            (tag::PARAMETER_DESCRIPTION, State::Between) => {
                self.state = State::Described;
                take(&mut left.statements)
            }
            (tag::ROW_DESCRIPTION | tag::NO_DATA, State::Described) => {
                self.state = State::Between;
                true
            }
            (tag::ROW_DESCRIPTION, State::Query | State::NextStatement) => {
                self.state = State::Rows;
                true
            }
            (tag::ROW_DESCRIPTION | tag::NO_DATA, State::Rows) if returned == 0 => {
                if left.executes == 0 {
                    self.state = State::Between;
                }
                take(&mut left.portals)
            }
            (tag::COPY_IN_RESPONSE, _) => self.begin_copy(State::CopyIn, returned),
            (tag::COPY_OUT_RESPONSE, _) => self.begin_copy(State::CopyOut, returned),
            (both::COPY_DATA, state) => state == State::CopyOut,
            (both::COPY_DONE, State::CopyOut) => {
                self.state = State::Copied;
                true
            }
            _ => false,
        };
        if permits { Ok(()) } else { Err(self.unexpected_message(tag, at)) }
    }

    /// Begins a COPY. Returns true if a COPY is allowed.
    fn begin_copy(&mut self, direction: State, returned: u64) -> bool {
        let permits = match self.state {
            State::Query | State::NextStatement => true,
            // A portal that was described with columns is answered with rows.
            State::Rows => !self.cycle.is_query && returned == 0 && !self.returns_rows(),
            _ => false,
        };
        let permits = permits && self.cycle.may_copy;
        if permits {
            self.state = direction;
        }
        permits
    }

    /// Returns the error for a message that is not allowed at this point.
    #[cold]
    pub(crate) fn unexpected_message(&self, tag: u8, at: usize) -> WireError {
        let context = match (tag, self.state) {
            (tag::READY_FOR_QUERY, State::Idle) => "ReadyForQuery without a request",
            (tag::READY_FOR_QUERY, State::Between) => "ReadyForQuery before all answers",
            (tag::READY_FOR_QUERY, _) => "ReadyForQuery without CommandComplete",
            (tag::DATA_ROW, State::Between) => "DataRow without BindComplete",
            (tag::DATA_ROW, State::Query | State::NextStatement) => {
                "DataRow without RowDescription"
            }
            (tag::COMMAND_COMPLETE, State::Between) => "CommandComplete without BindComplete",
            (tag::COMMAND_COMPLETE, State::CopyIn) => "CommandComplete before CopyDone",
            (_, State::Idle) => "a message without a request",
            (_, State::Failed) => "a message after ErrorResponse",
            (tag::DATA_ROW, _) => "DataRow",
            (tag::COMMAND_COMPLETE, _) => "CommandComplete",
            (tag::BIND_COMPLETE, _) => "BindComplete",
            (tag::PARSE_COMPLETE, _) => "ParseComplete",
            (tag::CLOSE_COMPLETE, _) => "CloseComplete",
            (tag::ROW_DESCRIPTION, _) => "RowDescription",
            (tag::PARAMETER_DESCRIPTION, _) => "ParameterDescription",
            (tag::NO_DATA, _) => "NoData",
            (tag::EMPTY_QUERY_RESPONSE, _) if !self.cycle.may_be_empty => {
                "EmptyQueryResponse to a command"
            }
            (tag::EMPTY_QUERY_RESPONSE, _) => "EmptyQueryResponse",
            (tag::PORTAL_SUSPENDED, _) if !self.cycle.may_suspend => {
                "PortalSuspended without a row limit"
            }
            (tag::PORTAL_SUSPENDED, _) => "PortalSuspended",
            (tag::COPY_IN_RESPONSE, State::Rows) if !self.cycle.may_copy => {
                "CopyInResponse to a statement that is no COPY"
            }
            (tag::COPY_OUT_RESPONSE, State::Rows) if !self.cycle.may_copy => {
                "CopyOutResponse to a statement that is no COPY"
            }
            (tag::COPY_IN_RESPONSE, _) => "CopyInResponse",
            (tag::COPY_OUT_RESPONSE, _) => "CopyOutResponse",
            (both::COPY_DATA, _) => "CopyData",
            (both::COPY_DONE, _) => "CopyDone",
            _ => "a message that was not asked for",
        };
        WireError::new(ErrorKind::Unexpected, at, context)
    }
}

/// Returns true if a text contains only spaces, comments and semicolons. PostgreSQL manual, chapter
/// "SQL Syntax", section "Comments".
#[inline]
fn has_no_command(text: &str) -> bool {
    match text.as_bytes() {
        [b'a'..=b'z' | b'A'..=b'Z' | b'(', ..] => false,
        text => is_blank(text),
    }
}

#[cold]
fn is_blank(text: &[u8]) -> bool {
    let mut rest = text;
    // Depth of the current block comment, which may contain others.
    let mut depth: usize = 0;
    loop {
        rest = match (depth, rest) {
            (_, []) => return depth == 0,
            (_, [b'/', b'*', after @ ..]) => {
                depth = depth.saturating_add(1);
                after
            }
            (1.., [b'*', b'/', after @ ..]) => {
                depth = depth.saturating_sub(1);
                after
            }
            (1.., [_, after @ ..]) => after,
            (0, [first, ..]) if is_space(*first) => {
                let end = rest.iter().position(|byte| !is_space(*byte));
                end.and_then(|end| rest.get(end..)).unwrap_or_default()
            }
            (0, [b'-', b'-', comment @ ..]) => {
                let end = comment.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                end.and_then(|end| comment.get(end..)).unwrap_or_default()
            }
            (0, _) => return false,
        };
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | b';')
}

/// Counts one reply. Returns false if none is outstanding.
fn take(count: &mut u32) -> bool {
    match count.checked_sub(1) {
        Some(left) => {
            *count = left;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_spaces_comments_and_semicolons_is_empty() {
        for text in ["", " ;\n;", "-- a; select 1", "--\n", "/* a /* b */ c */ ;", "\t/**/--x\r"] {
            assert!(has_no_command(text), "{text:?}");
        }
        for text in ["select 1", "(select 1)", "-- a\nselect 1", "/* a */ b", "/* a", "- 1", "/"] {
            assert!(!has_no_command(text), "{text:?}");
        }
    }
}
