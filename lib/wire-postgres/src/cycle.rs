//! The grammar of a server's answers. Chapters "Message Flow", "Simple Query" and "Extended Query".
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
//! Notices, notifications and settings may stand anywhere; nothing but ReadyForQuery follows an
//! ErrorResponse.
//!
//! A statement that was described without columns may return rows all the same: `fetch` does, if
//! its cursor was declared after the description.

use crate::tags::{backend as tag, both};
use crate::{ErrorKind, Object, WireError};

/// The messages that a client sends before the server answers with one ReadyForQuery: a Query, or
/// messages of the extended protocol up to a Sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    is_query: bool,
    left: Left,
}

/// Messages of the extended protocol that are not answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Left {
    parses: u32,
    statements: u32,
    portals: u32,
    binds: u32,
    executes: u32,
    closes: u32,
}

impl Left {
    #[inline]
    fn is_nothing(self) -> bool {
        let Left { parses, statements, portals, binds, executes, closes } = self;
        parses | statements | portals | binds | executes | closes == 0
    }
}

impl Cycle {
    /// A Query.
    pub const QUERY: Cycle = Cycle { is_query: true, ..Cycle::SYNC };

    /// A Sync alone.
    pub const SYNC: Cycle = Cycle {
        is_query: false,
        left: Left { parses: 0, statements: 0, portals: 0, binds: 0, executes: 0, closes: 0 },
    };

    /// The Bind and the Execute of one statement, and a Sync.
    pub const STATEMENT: Cycle = Cycle::SYNC.bind().execute();

    /// The same with a Parse more.
    #[must_use]
    pub const fn parse(mut self) -> Cycle {
        self.left.parses = self.left.parses.wrapping_add(1);
        self
    }

    /// The same with a Describe more.
    #[must_use]
    pub const fn describe(mut self, object: Object) -> Cycle {
        match object {
            Object::Statement => self.left.statements = self.left.statements.wrapping_add(1),
            Object::Portal => self.left.portals = self.left.portals.wrapping_add(1),
        }
        self
    }

    /// The same with a Bind more.
    #[must_use]
    pub const fn bind(mut self) -> Cycle {
        self.left.binds = self.left.binds.wrapping_add(1);
        self
    }

    /// The same with an Execute more.
    #[must_use]
    pub const fn execute(mut self) -> Cycle {
        self.left.executes = self.left.executes.wrapping_add(1);
        self
    }

    /// The same with a Close more.
    #[must_use]
    pub const fn close(mut self) -> Cycle {
        self.left.closes = self.left.closes.wrapping_add(1);
        self
    }
}

/// Checks that each message of a server may come where it comes. One compare for a message of the
/// kinds that every answer has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grammar {
    state: State,
    cycle: Cycle,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing is awaited.
    #[default]
    Idle,
    /// The next message of the extended protocol is answered, or the Sync.
    Between,
    /// Rows of a statement, or its end.
    Rows,
    /// The parameters of a statement were described, and its columns follow.
    Described,
    /// The first statement of a Query.
    Query,
    /// A further statement of a Query, or its end.
    Queried,
    /// The server waits for COPY's data.
    CopyIn,
    /// The server sends COPY's data.
    CopyOut,
    /// COPY's data is complete, and its end follows.
    Copied,
    /// An error has ended the cycle.
    Failed,
}

impl Grammar {
    /// Returns true if no answer is awaited.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// The answer to a cycle begins.
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

    /// A Bind is done. Returns whether it may be.
    #[inline]
    pub(crate) fn bound(&mut self) -> bool {
        let permits = self.state == State::Between && self.cycle.left.binds > 0;
        if permits {
            self.cycle.left.binds = self.cycle.left.binds.wrapping_sub(1);
            // Without an Execute the portal is of no use, and no row follows.
            if self.cycle.left.executes > 0 || self.cycle.left.portals > 0 {
                self.state = State::Rows;
            }
        }
        permits
    }

    /// A command is done. Returns whether it may be.
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

    /// A command of a Query, or one that copies, is done.
    fn queried(&mut self) -> bool {
        match (self.state, self.cycle.is_query) {
            (State::Query | State::Queried | State::Rows | State::Copied, true) => {
                self.state = State::Queried;
                true
            }
            (State::Copied, false) => {
                self.state = State::Rows;
                self.completed()
            }
            _ => false,
        }
    }

    /// The client has sent the last of COPY's data.
    pub(crate) fn end_copy(&mut self) {
        // An error may have ended the COPY before.
        if self.state == State::CopyIn {
            self.state = State::Copied;
        }
    }

    /// The server waits for the next cycle. Returns whether it may.
    #[inline]
    pub(crate) fn ready(&mut self) -> bool {
        let permits = match self.state {
            State::Between => self.cycle.left.is_nothing(),
            State::Queried | State::Failed => true,
            _ => false,
        };
        if permits {
            self.state = State::Idle;
        }
        permits
    }

    /// Any message, `returned` rows after the last result.
    ///
    /// # Errors
    /// `Unexpected` if it may not come now.
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
                // The next Execute may be of the same portal.
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
            (tag::ROW_DESCRIPTION, State::Query | State::Queried) => {
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

    /// A COPY begins. Returns whether it may.
    fn copies(&mut self, direction: State, returned: u64) -> bool {
        match std::mem::replace(&mut self.state, direction) {
            State::Query | State::Queried => true,
            State::Rows => !self.cycle.is_query && returned == 0,
            _ => false,
        }
    }

    /// The error of a message that may not come now.
    #[cold]
    pub(crate) fn misplaced(&self, tag: u8, at: usize) -> WireError {
        let context = match (tag, self.state) {
            (tag::READY_FOR_QUERY, State::Idle) => "ReadyForQuery without a request",
            (tag::READY_FOR_QUERY, State::Between) => "ReadyForQuery before all answers",
            (tag::READY_FOR_QUERY, _) => "ReadyForQuery without CommandComplete",
            (tag::DATA_ROW, State::Between) => "DataRow without BindComplete",
            (tag::DATA_ROW, State::Query | State::Queried) => "DataRow without RowDescription",
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

/// Counts one of them as answered. Returns false if there is none.
fn take(count: &mut u32) -> bool {
    match count.checked_sub(1) {
        Some(left) => {
            *count = left;
            true
        }
        None => false,
    }
}
