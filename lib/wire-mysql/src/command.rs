//! Commands of the client.
//!
//! Protocol manual: "Command Phase". The first packet of each command has sequence number 0.

use crate::error::{ErrorKind, WireError};
use crate::execute::{BulkExecuteCommand, ExecuteCommand, SEND_TYPES, StatementId};
use crate::frame;
use crate::opcode::{
    BULK_EXECUTE, CLOSE, EXECUTE, INIT_DB, PING, PREPARE, QUERY, QUIT, RESET, RESET_CONNECTION,
};
use crate::take::FieldReader;

/// A command. To append an execution, a client uses [`Execute`](crate::Execute) or
/// [`BulkExecute`](crate::BulkExecute) instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `COM_QUIT`: ends the session. Has no reply.
    Quit,
    /// `COM_INIT_DB`: changes the default database of the session.
    InitDatabase(&'a [u8]),
    /// `COM_QUERY`: statements as text.
    Query(&'a [u8]),
    /// `COM_PING`: checks that the server answers.
    Ping,
    /// `COM_STMT_PREPARE`: prepares a statement, given as text.
    Prepare(&'a [u8]),
    /// `COM_STMT_EXECUTE`: executes a prepared statement once.
    Execute(ExecuteCommand<'a>),
    /// `COM_STMT_CLOSE`: deallocates a prepared statement. Has no reply.
    Close(StatementId),
    /// `COM_STMT_RESET`: closes the cursor of a prepared statement, and discards the values that
    /// were sent with `COM_STMT_SEND_LONG_DATA`.
    Reset(StatementId),
    /// `COM_RESET_CONNECTION`: resets the session to its state after login, without prepared
    /// statements.
    ResetConnection,
    /// MariaDB's `COM_STMT_BULK_EXECUTE`: executes a prepared statement for each row of values.
    BulkExecute(BulkExecuteCommand<'a>),
}

impl<'a> Command<'a> {
    /// Reads the payload of a command.
    ///
    /// # Errors
    /// `Truncated` or `Trailing`; `Unsupported` for a command that this type does not list.
    pub fn decode(payload: &'a [u8]) -> Result<Command<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        let command = match take.u8("command, first byte")? {
            QUIT => Command::Quit,
            INIT_DB => Command::InitDatabase(take.rest()),
            QUERY => Command::Query(take.rest()),
            PING => Command::Ping,
            PREPARE => Command::Prepare(take.rest()),
            EXECUTE => Command::Execute(ExecuteCommand::decode(&mut take)?),
            CLOSE => Command::Close(StatementId(take.u32("COM_STMT_CLOSE, statement")?)),
            RESET => Command::Reset(StatementId(take.u32("COM_STMT_RESET, statement")?)),
            RESET_CONNECTION => Command::ResetConnection,
            BULK_EXECUTE => Command::BulkExecute(BulkExecuteCommand::decode(&mut take)?),
            _ => return Err(FieldReader::new(payload).fault(ErrorKind::Unsupported, "command")),
        };
        take.end("command")?;
        Ok(command)
    }

    /// Appends the command. Returns the sequence number of the first packet of its reply.
    pub fn append(&self, out: &mut Vec<u8>) -> u8 {
        frame::packet(out, 0, |out| match self {
            Command::Quit => out.push(QUIT),
            Command::InitDatabase(name) => put(out, INIT_DB, name),
            Command::Query(text) => put(out, QUERY, text),
            Command::Ping => out.push(PING),
            Command::Prepare(text) => put(out, PREPARE, text),
            Command::Execute(ExecuteCommand { id, body }) => {
                put(out, EXECUTE, &id.0.to_le_bytes());
                out.extend_from_slice(&[0, 1, 0, 0, 0]);
                out.extend_from_slice(body);
            }
            Command::Close(id) => put(out, CLOSE, &id.0.to_le_bytes()),
            Command::Reset(id) => put(out, RESET, &id.0.to_le_bytes()),
            Command::ResetConnection => out.push(RESET_CONNECTION),
            Command::BulkExecute(BulkExecuteCommand { id, has_types, body }) => {
                put(out, BULK_EXECUTE, &id.0.to_le_bytes());
                let flags = if *has_types { SEND_TYPES } else { 0 };
                out.extend_from_slice(&flags.to_le_bytes());
                out.extend_from_slice(body);
            }
        })
    }
}

fn put(out: &mut Vec<u8>, command: u8, rest: &[u8]) {
    out.push(command);
    out.extend_from_slice(rest);
}
