//! Decoding of client messages. Chapter "Message Formats".

use crate::cursor::Cursor;
use crate::frame::{self, HEADER, MAX_BODY, MAX_SHORT_BODY};
use crate::tags::{both, frontend as tag};
use crate::{ErrorKind, Format, List, Object, Oid, WireError};

/// A message of a client, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// Creates a portal from a statement and values.
    Bind(Bind<'a>),
    /// Deallocates the statement or the portal with this name.
    Close(Object, &'a [u8]),
    /// A part of COPY's data.
    CopyData(&'a [u8]),
    /// The end of COPY's data.
    CopyDone,
    /// Makes the COPY fail, with this reason.
    CopyFail(&'a [u8]),
    /// Requests the columns of the statement or the portal with this name and, for a statement, the
    /// types of its parameters.
    Describe(Object, &'a [u8]),
    /// Runs a portal.
    Execute {
        /// The portal's name.
        portal: &'a [u8],
        /// Maximum number of rows to return; 0 for no limit.
        rows: u32,
    },
    /// Requests the pending replies.
    Flush,
    /// Prepares a statement.
    Parse(Parse<'a>),
    /// A response to an authentication request. Its decoding depends on the request:
    /// [`Message::password`], [`SaslInitialResponse::decode`], or the step of a mechanism.
    Password(&'a [u8]),
    /// Statements as text.
    Query(&'a [u8]),
    /// Ends a series of messages.
    Sync,
    /// Ends the session.
    Terminate,
}

/// The creation of a portal from a statement and values. Message Bind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bind<'a> {
    /// The portal's name.
    pub portal: &'a [u8],
    /// The statement's name.
    pub statement: &'a [u8],
    /// Formats of the values: one for each value, one for all values, or no format if all are text.
    pub formats: List<'a, Format>,
    /// The values; `None` is NULL.
    pub values: List<'a, Option<&'a [u8]>>,
    /// Formats of the result columns: one for each column, one for all columns, or no format if all
    /// are text.
    pub results: List<'a, Format>,
}

/// The preparation of a statement. Message Parse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parse<'a> {
    /// The statement's name.
    pub statement: &'a [u8],
    /// Text of the statement.
    pub text: &'a [u8],
    /// Types of the first parameters of the statement.
    pub types: List<'a, Oid>,
}

/// The chosen mechanism and its first step. Message SASLInitialResponse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaslInitialResponse<'a> {
    /// The mechanism's name.
    pub mechanism: &'a [u8],
    /// First step of the mechanism, if it has one.
    pub data: Option<&'a [u8]>,
}

impl<'a> SaslInitialResponse<'a> {
    /// Decodes the body of a [`Message::Password`] that replies to AuthenticationSASL.
    ///
    /// # Errors
    /// The body is malformed.
    pub fn decode(body: &'a [u8]) -> Result<SaslInitialResponse<'a>, WireError> {
        let mut cursor = Cursor::new(body, 0);
        let response = SaslInitialResponse {
            mechanism: cursor.string("SASLInitialResponse, mechanism")?,
            data: cursor.value("SASLInitialResponse, data")?,
        };
        cursor.end("SASLInitialResponse, end")?;
        Ok(response)
    }
}

impl<'a> Message<'a> {
    /// Returns the first message of `bytes` and its length in bytes; `None` if it is incomplete.
    ///
    /// # Errors
    /// The bytes are not a client message.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<(Message<'a>, usize)>, WireError> {
        let Some(frame) = frame::first_message(bytes, limit)? else { return Ok(None) };
        let mut cursor = Cursor::new(frame.body, HEADER);
        let message = read(frame.tag, frame.body, &mut cursor)?;
        Ok(Some((message, frame.length)))
    }

    /// Decodes the body of a [`Message::Password`] that replies to a request for a password.
    ///
    /// # Errors
    /// The body is malformed.
    pub fn password(body: &'a [u8]) -> Result<&'a [u8], WireError> {
        let mut cursor = Cursor::new(body, 0);
        let password = cursor.string("PasswordMessage, password")?;
        cursor.end("PasswordMessage, end")?;
        Ok(password)
    }
}

fn limit(tag: u8) -> Option<u32> {
    match tag {
        tag::BIND | tag::PARSE | tag::QUERY | both::COPY_DATA => Some(MAX_BODY),
        tag::CLOSE
        | tag::COPY_FAIL
        | tag::DESCRIBE
        | tag::EXECUTE
        | tag::FLUSH
        | tag::PASSWORD
        | tag::SYNC
        | tag::TERMINATE
        | both::COPY_DONE => Some(MAX_SHORT_BODY),
        _ => None,
    }
}

fn read<'a>(tag: u8, body: &'a [u8], cursor: &mut Cursor<'a>) -> Result<Message<'a>, WireError> {
    let message = match tag {
        both::COPY_DATA => return Ok(Message::CopyData(body)),
        tag::PASSWORD => return Ok(Message::Password(body)),
        tag::BIND => Message::Bind(bind(cursor)?),
        tag::EXECUTE => Message::Execute {
            portal: cursor.string("Execute, portal name")?,
            rows: cursor.u32("Execute, number of rows")?,
        },
        tag::PARSE => Message::Parse(parse(cursor)?),
        tag::QUERY => Message::Query(cursor.string("Query, text")?),
        tag::CLOSE => {
            let object = Object::read(cursor, "Close, what")?;
            Message::Close(object, cursor.string("Close, name")?)
        }
        tag::DESCRIBE => {
            let object = Object::read(cursor, "Describe, what")?;
            Message::Describe(object, cursor.string("Describe, name")?)
        }
        tag::COPY_FAIL => Message::CopyFail(cursor.string("CopyFail, reason")?),
        tag::SYNC => Message::Sync,
        tag::FLUSH => Message::Flush,
        tag::TERMINATE => Message::Terminate,
        both::COPY_DONE => Message::CopyDone,
        tag => return Err(cursor.error(ErrorKind::UnknownType(tag), "a message's type")),
    };
    cursor.end("a message's end")?;
    Ok(message)
}

fn bind<'a>(cursor: &mut Cursor<'a>) -> Result<Bind<'a>, WireError> {
    let portal = cursor.string("Bind, portal name")?;
    let statement = cursor.string("Bind, statement name")?;
    let count = cursor.u16("Bind, number of parameter formats")?;
    let formats = List::counted(cursor, usize::from(count))?;
    let count = cursor.u16("Bind, number of parameters")?;
    let values = List::counted(cursor, usize::from(count))?;
    let count = cursor.u16("Bind, number of result formats")?;
    let results = List::counted(cursor, usize::from(count))?;
    Ok(Bind { portal, statement, formats, values, results })
}

fn parse<'a>(cursor: &mut Cursor<'a>) -> Result<Parse<'a>, WireError> {
    let statement = cursor.string("Parse, statement name")?;
    let text = cursor.string("Parse, text")?;
    let count = cursor.u16("Parse, number of parameter types")?;
    Ok(Parse { statement, text, types: List::counted(cursor, usize::from(count))? })
}
