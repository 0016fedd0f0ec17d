//! Reads what a server sends. Chapter "Message Formats".

use crate::cursor::Cursor;
use crate::frame::{self, ENDLESS, HEADER, LONG, REPORT, SHORT};
use crate::list::sealed::Read;
use crate::tags::{backend as tag, both};
use crate::{
    BackendKey, CommandTag, ErrorKind, Format, List, Oid, Report, TransactionStatus, WireError,
};

use super::Authentication;

/// A message of a server, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// What the server asks for before it lets a client in.
    Authentication(Authentication<'a>),
    /// What a CancelRequest must name.
    BackendKeyData(BackendKey),
    /// A Bind is done.
    BindComplete,
    /// A Close is done.
    CloseComplete,
    /// A command is done.
    CommandComplete(CommandTag<'a>),
    /// A piece of COPY's data.
    CopyData(&'a [u8]),
    /// All of COPY's data was sent.
    CopyDone,
    /// The server waits for data.
    CopyInResponse(CopyResponse<'a>),
    /// The server will send data.
    CopyOutResponse(CopyResponse<'a>),
    /// Both will send data (replication).
    CopyBothResponse(CopyResponse<'a>),
    /// A row.
    DataRow(Row<'a>),
    /// A query without a command is done.
    EmptyQueryResponse,
    /// A statement, or the session, has failed.
    ErrorResponse(Report<'a>),
    /// The server speaks an older minor version, or does not know options.
    NegotiateProtocolVersion(Negotiation<'a>),
    /// What was described returns no rows.
    NoData,
    /// Something that the user should know.
    NoticeResponse(Report<'a>),
    /// Another session's NOTIFY.
    NotificationResponse(Notification<'a>),
    /// The types of a statement's parameters.
    ParameterDescription(List<'a, Oid>),
    /// The value of a setting.
    ParameterStatus(ParameterStatus<'a>),
    /// A Parse is done.
    ParseComplete,
    /// An Execute has returned as many rows as it was allowed to.
    PortalSuspended,
    /// The server waits for the next statement.
    ReadyForQuery(TransactionStatus),
    /// The columns of the rows that follow or were described.
    RowDescription(List<'a, Column<'a>>),
}

/// The fields of a row; `None` is NULL.
pub type Row<'a> = List<'a, Option<&'a [u8]>>;

/// The name of a mechanism of SASL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism<'a> {
    /// The name.
    pub name: &'a [u8],
}

/// A column of a result. Message RowDescription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// The table that it is of, or 0.
    pub table: Oid,
    /// Its number in that table, or 0.
    pub number: i16,
    /// Its type.
    pub type_oid: Oid,
    /// The type's size in bytes, negative if it varies (`pg_type.typlen`).
    pub type_size: i16,
    /// The type's modifier (`pg_attribute.atttypmod`).
    pub modifier: i32,
    /// How its values travel; text where that is not yet known.
    pub format: Format,
}

/// How COPY's data look. Messages CopyInResponse, CopyOutResponse, CopyBothResponse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyResponse<'a> {
    /// Of the whole: lines of text, or the binary format.
    pub format: Format,
    /// Of each column.
    pub columns: List<'a, Format>,
}

/// Another session's NOTIFY. Message NotificationResponse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification<'a> {
    /// That session's process.
    pub process: i32,
    /// The channel's name.
    pub channel: &'a [u8],
    /// The text that was passed.
    pub payload: &'a [u8],
}

/// The value of a setting. Message ParameterStatus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterStatus<'a> {
    /// The setting's name.
    pub name: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
}

/// What the server speaks instead of what it was asked for. Message NegotiateProtocolVersion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negotiation<'a> {
    /// The newest version that the server speaks: servers write the whole version (196608 for
    /// 3.0), the manual speaks of the minor part alone.
    pub newest: u32,
    /// The names of protocol options that the server does not know.
    pub unknown_options: List<'a, OptionName<'a>>,
}

/// The name of a protocol option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionName<'a> {
    /// The name.
    pub name: &'a [u8],
}

impl<'a> Message<'a> {
    /// The first message of `bytes` and how many bytes it takes; `None` if it is not whole.
    ///
    /// # Errors
    /// The bytes are not a message of a server.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<(Message<'a>, usize)>, WireError> {
        let Some(frame) = frame::first(bytes, limit)? else { return Ok(None) };
        let message = decode_body(frame.tag, frame.body, HEADER)?;
        Ok(Some((message, frame.length)))
    }
}

/// How long a message's body may be; `None` if there is no such message.
#[inline]
pub(crate) fn limit(tag: u8) -> Option<u32> {
    let limit = LIMITS.get(usize::from(tag)).copied().unwrap_or(0);
    limit.checked_sub(1)
}

/// By the message's type: one more than the longest body, 0 if there is no such message.
const LIMITS: [u32; 256] = {
    let mut limits = [0; 256];
    let mut tag: u8 = 0;
    while tag < u8::MAX {
        #[expect(clippy::indexing_slicing, reason = "computed when compiling")]
        {
            limits[tag as usize] = match limit_of(tag) {
                Some(limit) => limit + 1,
                None => 0,
            };
            tag += 1;
        }
    }
    limits
};

const fn limit_of(tag: u8) -> Option<u32> {
    match tag {
        tag::DATA_ROW | both::COPY_DATA => Some(ENDLESS),
        tag::ERROR_RESPONSE | tag::NOTICE_RESPONSE => Some(REPORT),
        tag::NOTIFICATION_RESPONSE | tag::PARAMETER_DESCRIPTION | tag::ROW_DESCRIPTION => {
            Some(LONG)
        }
        tag::AUTHENTICATION
        | tag::BACKEND_KEY_DATA
        | tag::BIND_COMPLETE
        | tag::CLOSE_COMPLETE
        | tag::COMMAND_COMPLETE
        | tag::COPY_BOTH_RESPONSE
        | tag::COPY_IN_RESPONSE
        | tag::COPY_OUT_RESPONSE
        | tag::EMPTY_QUERY_RESPONSE
        | tag::NEGOTIATE_PROTOCOL_VERSION
        | tag::NO_DATA
        | tag::PARAMETER_STATUS
        | tag::PARSE_COMPLETE
        | tag::PORTAL_SUSPENDED
        | tag::READY_FOR_QUERY
        | both::COPY_DONE => Some(SHORT),
        _ => None,
    }
}

/// The message of a type with a body that begins at `offset`.
pub(crate) fn decode_body(tag: u8, body: &[u8], offset: usize) -> Result<Message<'_>, WireError> {
    let mut cursor = Cursor::new(body, offset);
    let message = match tag {
        both::COPY_DATA => return Ok(Message::CopyData(body)),
        tag::DATA_ROW => Message::DataRow(row(&mut cursor)?),
        // The tag is all but the last byte: to look for an earlier end in each would cost more than
        // the rest of reading it, and can lose no place as the length is known.
        tag::COMMAND_COMPLETE => {
            let context = "CommandComplete, tag";
            return match body {
                [command @ .., 0] => Ok(Message::CommandComplete(CommandTag::new(command))),
                _ => Err(cursor.error(ErrorKind::Unterminated, context)),
            };
        }
        tag::READY_FOR_QUERY => Message::ReadyForQuery(status(&mut cursor)?),
        tag::ERROR_RESPONSE => Message::ErrorResponse(Report::read(&mut cursor)?),
        tag::NOTICE_RESPONSE => Message::NoticeResponse(Report::read(&mut cursor)?),
        tag::ROW_DESCRIPTION => Message::RowDescription(columns(&mut cursor)?),
        tag::PARAMETER_DESCRIPTION => {
            let count = cursor.u16("ParameterDescription, number of parameters")?;
            Message::ParameterDescription(List::counted(&mut cursor, usize::from(count))?)
        }
        tag::COPY_IN_RESPONSE => Message::CopyInResponse(copy_response(&mut cursor)?),
        tag::COPY_OUT_RESPONSE => Message::CopyOutResponse(copy_response(&mut cursor)?),
        tag::COPY_BOTH_RESPONSE => Message::CopyBothResponse(copy_response(&mut cursor)?),
        tag::NOTIFICATION_RESPONSE => Message::NotificationResponse(notification(&mut cursor)?),
        tag::PARAMETER_STATUS => Message::ParameterStatus(ParameterStatus {
            name: cursor.string("ParameterStatus, name")?,
            value: cursor.string("ParameterStatus, value")?,
        }),
        tag::AUTHENTICATION => Message::Authentication(Authentication::read(&mut cursor)?),
        tag::BACKEND_KEY_DATA => {
            Message::BackendKeyData(BackendKey::read(&mut cursor, "BackendKeyData")?)
        }
        tag::NEGOTIATE_PROTOCOL_VERSION => {
            Message::NegotiateProtocolVersion(negotiation(&mut cursor)?)
        }
        _ => empty(tag, &cursor)?,
    };
    cursor.end("a message's end")?;
    Ok(message)
}

/// The messages without a body.
fn empty<'a>(tag: u8, cursor: &Cursor<'a>) -> Result<Message<'a>, WireError> {
    Ok(match tag {
        tag::BIND_COMPLETE => Message::BindComplete,
        tag::CLOSE_COMPLETE => Message::CloseComplete,
        both::COPY_DONE => Message::CopyDone,
        tag::EMPTY_QUERY_RESPONSE => Message::EmptyQueryResponse,
        tag::NO_DATA => Message::NoData,
        tag::PARSE_COMPLETE => Message::ParseComplete,
        tag::PORTAL_SUSPENDED => Message::PortalSuspended,
        tag => return Err(cursor.error(ErrorKind::UnknownType(tag), "a message's type")),
    })
}

fn row<'a>(cursor: &mut Cursor<'a>) -> Result<Row<'a>, WireError> {
    let count = cursor.u16("DataRow, number of fields")?;
    List::counted(cursor, usize::from(count))
}

fn status(cursor: &mut Cursor<'_>) -> Result<TransactionStatus, WireError> {
    let context = "ReadyForQuery, transaction status";
    let before = *cursor;
    let letter = cursor.u8(context)?;
    TransactionStatus::parse(letter).ok_or_else(|| before.error(ErrorKind::Value, context))
}

fn columns<'a>(cursor: &mut Cursor<'a>) -> Result<List<'a, Column<'a>>, WireError> {
    let count = cursor.u16("RowDescription, number of columns")?;
    List::counted(cursor, usize::from(count))
}

impl<'a> Read<'a> for Column<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let name = cursor.string("RowDescription, column name")?;
        let table = Oid(cursor.u32("RowDescription, table")?);
        let number = cursor.i16("RowDescription, column number")?;
        let type_oid = Oid(cursor.u32("RowDescription, type")?);
        let type_size = cursor.i16("RowDescription, type size")?;
        let modifier = cursor.i32("RowDescription, type modifier")?;
        let before = *cursor;
        let code = cursor.u16("RowDescription, format")?;
        let format = Format::from_code(code, &before, "RowDescription, format")?;
        Ok(Column { name, table, number, type_oid, type_size, modifier, format })
    }
}

fn copy_response<'a>(cursor: &mut Cursor<'a>) -> Result<CopyResponse<'a>, WireError> {
    let before = *cursor;
    let code = u16::from(cursor.u8("CopyResponse, format")?);
    let format = Format::from_code(code, &before, "CopyResponse, format")?;
    let count = cursor.u16("CopyResponse, number of columns")?;
    Ok(CopyResponse { format, columns: List::counted(cursor, usize::from(count))? })
}

fn notification<'a>(cursor: &mut Cursor<'a>) -> Result<Notification<'a>, WireError> {
    Ok(Notification {
        process: cursor.i32("NotificationResponse, process")?,
        channel: cursor.string("NotificationResponse, channel")?,
        payload: cursor.string("NotificationResponse, payload")?,
    })
}

fn negotiation<'a>(cursor: &mut Cursor<'a>) -> Result<Negotiation<'a>, WireError> {
    let newest = cursor.u32("NegotiateProtocolVersion, version")?;
    let before = *cursor;
    let context = "NegotiateProtocolVersion, number of options";
    let count = usize::try_from(cursor.i32(context)?)
        .map_err(|_| before.error(ErrorKind::Length, context))?;
    Ok(Negotiation { newest, unknown_options: List::counted(cursor, count)? })
}

impl<'a> Read<'a> for OptionName<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        cursor.string("NegotiateProtocolVersion, option").map(|name| OptionName { name })
    }
}
