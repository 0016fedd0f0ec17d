//! The grammar of a server's replies. Chapters "Message Flow", "Simple Query" and "Extended Query".
//!
//! ```text
//! query    = { statement } , ( CommandComplete | EmptyQueryResponse | ErrorResponse ) , ready
//! extended = { ParseComplete | CloseComplete | description
//!            | BindComplete , [ columns ] , result } , [ ErrorResponse ] , ready
//! result   = { DataRow } , ( CommandComplete | EmptyQueryResponse | PortalSuspended )
//!          | CopyInResponse , ( the client's CopyDone ) , CommandComplete
//!          | CopyOutResponse , { CopyData } , CopyDone , CommandComplete
//! ```
//!
//! Notices, notifications and settings may occur anywhere; only ReadyForQuery may follow an
//! ErrorResponse.
//!
//! A statement that was described without columns may still return rows: `fetch` does, if its
//! cursor was declared after the description.

use crate::tags::{backend as tag, both};
use crate::{ErrorKind, Object, WireError};

/// The messages that a client sends for one ReadyForQuery of the server: a Query, or messages of
/// the extended protocol up to a Sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    is_query: bool,
    left: OutstandingReplies,
}

/// Numbers of messages of the extended protocol whose replies are outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OutstandingReplies {
    parses: u32,
    statements: u32,
    portals: u32,
    binds: u32,
    executes: u32,
    closes: u32,
}

impl OutstandingReplies {
    #[inline]
    fn is_nothing(self) -> bool {
        let OutstandingReplies { parses, statements, portals, binds, executes, closes } = self;
        parses | statements | portals | binds | executes | closes == 0
    }
}

impl Cycle {
    /// A single Query.
    pub const QUERY: Cycle = Cycle { is_query: true, ..Cycle::SYNC };

    /// A single Sync.
    pub const SYNC: Cycle = Cycle {
        is_query: false,
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
        self
    }

    /// Returns the cycle with one more Close.
    #[must_use]
    pub const fn close(mut self) -> Cycle {
        self.left.closes = self.left.closes.wrapping_add(1);
        self
    }
}

/// A checker of the order of a server's messages. The messages that every reply has need only one
/// comparison.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grammar {
    state: State,
    cycle: Cycle,
}

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
        self.cycle = cycle;
    }

    /// Returns true if a row may come.
    #[inline]
    pub(crate) fn permits_row(&self) -> bool {
        self.state == State::Rows
    }

    /// Processes a BindComplete. Returns true if it is allowed.
    #[inline]
    pub(crate) fn bound(&mut self) -> bool {
        let permits = self.state == State::Between && self.cycle.left.binds > 0;
        if permits {
            self.cycle.left.binds = self.cycle.left.binds.wrapping_sub(1);
            // Without an Execute the portal is not run, and no row follows.
            if self.cycle.left.executes > 0 || self.cycle.left.portals > 0 {
                self.state = State::Rows;
            }
        }
        permits
    }

    /// Processes a CommandComplete. Returns true if it is allowed.
    #[inline]
    pub(crate) fn completed(&mut self) -> bool {
        let permits = self.state == State::Rows && self.cycle.left.executes > 0;
        if permits {
            self.cycle.left.executes = self.cycle.left.executes.wrapping_sub(1);
            self.state = State::Between;
            return true;
        }
        self.queried()
    }

    /// Processes the end of a command of a Query, or of a COPY.
    fn queried(&mut self) -> bool {
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

    /// Processes a ReadyForQuery. Returns true if it is allowed.
    #[inline]
    pub(crate) fn ready(&mut self) -> bool {
        let permits = match self.state {
            State::Between => self.cycle.left.is_nothing(),
            State::NextStatement | State::Failed => true,
            _ => false,
        };
        if permits {
            self.state = State::Idle;
        }
        permits
    }

    /// Processes any message; `returned` is the number of rows since the last result.
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
            (tag::COMMAND_COMPLETE | tag::EMPTY_QUERY_RESPONSE, _) => self.completed(),
            (tag::READY_FOR_QUERY, _) => self.ready(),
            (tag::PORTAL_SUSPENDED, State::Rows) if !is_query && left.executes > 0 => {
                left.executes = left.executes.wrapping_sub(1);
                // The next Execute may run the same portal.
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
            (tag::COPY_IN_RESPONSE, _) => self.copies(State::CopyIn, returned),
            (tag::COPY_OUT_RESPONSE, _) => self.copies(State::CopyOut, returned),
            (both::COPY_DATA, state) => state == State::CopyOut,
            (both::COPY_DONE, State::CopyOut) => {
                self.state = State::Copied;
                true
            }
            _ => false,
        };
        if permits { Ok(()) } else { Err(self.misplaced(tag, at)) }
    }

    /// Begins a COPY. Returns true if it is allowed.
    fn copies(&mut self, direction: State, returned: u64) -> bool {
        match std::mem::replace(&mut self.state, direction) {
            State::Query | State::NextStatement => true,
            State::Rows => !self.cycle.is_query && returned == 0,
            _ => false,
        }
    }

    /// Returns the error for a message that is not allowed at this point.
    #[cold]
    pub(crate) fn misplaced(&self, tag: u8, at: usize) -> WireError {
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
            (_, State::Failed) => "a message behind ErrorResponse",
            (tag::DATA_ROW, _) => "DataRow",
            (tag::COMMAND_COMPLETE, _) => "CommandComplete",
            (tag::BIND_COMPLETE, _) => "BindComplete",
            (tag::PARSE_COMPLETE, _) => "ParseComplete",
            (tag::CLOSE_COMPLETE, _) => "CloseComplete",
            (tag::ROW_DESCRIPTION, _) => "RowDescription",
            (tag::PARAMETER_DESCRIPTION, _) => "ParameterDescription",
            (tag::NO_DATA, _) => "NoData",
            (tag::EMPTY_QUERY_RESPONSE, _) => "EmptyQueryResponse",
            (tag::PORTAL_SUSPENDED, _) => "PortalSuspended",
            (tag::COPY_IN_RESPONSE, _) => "CopyInResponse",
            (tag::COPY_OUT_RESPONSE, _) => "CopyOutResponse",
            (both::COPY_DATA, _) => "CopyData",
            (both::COPY_DONE, _) => "CopyDone",
            _ => "a message that was not asked for",
        };
        WireError::new(ErrorKind::Unexpected, at, context)
    }
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
