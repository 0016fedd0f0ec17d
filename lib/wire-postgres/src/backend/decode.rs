//! Decoding of server messages. Chapter "Message Formats".

use crate::cursor::Cursor;
use crate::frame::{self, HEADER, MAX_BODY, MAX_REPORT_BODY, MAX_SHORT_BODY, MAX_WHOLE_BODY};
use crate::list::sealed::Read;
use crate::tags::{backend as tag, both};
use crate::{
    BackendKey, CommandTag, ErrorKind, Format, List, Oid, Report, TransactionStatus, WireError,
};

use super::Authentication;

/// A message of a server, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// An authentication request.
    Authentication(Authentication<'a>),
    /// The key for a CancelRequest.
    BackendKeyData(BackendKey),
    /// A Bind was completed.
    BindComplete,
    /// A Close was completed.
    CloseComplete,
    /// A command was completed.
    CommandComplete(CommandTag<'a>),
    /// A part of COPY's data.
    CopyData(&'a [u8]),
    /// The end of COPY's data.
    CopyDone,
    /// The server is ready to receive data.
    CopyInResponse(CopyResponse<'a>),
    /// The server will send data.
    CopyOutResponse(CopyResponse<'a>),
    /// Client and server will send data (replication).
    CopyBothResponse(CopyResponse<'a>),
    /// A row.
    DataRow(Row<'a>),
    /// A query without a command was completed.
    EmptyQueryResponse,
    /// A statement, or the session, failed.
    ErrorResponse(Report<'a>),
    /// The server supports only an older minor version, or not all protocol options.
    NegotiateProtocolVersion(Negotiation<'a>),
    /// The described statement or portal returns no rows.
    NoData,
    /// A warning or other notice.
    NoticeResponse(Report<'a>),
    /// A NOTIFY of this or another session.
    NotificationResponse(Notification<'a>),
    /// The types of a statement's parameters.
    ParameterDescription(List<'a, Oid>),
    /// The value of a setting.
    ParameterStatus(ParameterStatus<'a>),
    /// A Parse was completed.
    ParseComplete,
    /// An Execute returned as many rows as its limit allows.
    PortalSuspended,
    /// The server is ready for the next statement.
    ReadyForQuery(TransactionStatus),
    /// The columns of the rows that follow or of a described statement.
    RowDescription(List<'a, Column<'a>>),
}

/// The fields of a row; `None` is NULL.
pub type Row<'a> = List<'a, Option<&'a [u8]>>;

/// A column of a result. Message RowDescription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// Name of the column.
    pub name: &'a [u8],
    /// Object id of its table; 0 if the column belongs to none.
    pub table: Oid,
    /// Number of the column in that table, or 0.
    pub number: i16,
    /// Type of the column.
    pub type_oid: Oid,
    /// The type's size in bytes, negative if it varies (`pg_type.typlen`).
    pub type_size: i16,
    /// The type's modifier (`pg_attribute.atttypmod`).
    pub modifier: i32,
    /// Format of its values; text if it is not yet known.
    pub format: Format,
}

/// The format of COPY's data. Messages CopyInResponse, CopyOutResponse, CopyBothResponse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyResponse<'a> {
    /// Format of the data: lines of text, or the binary format.
    pub format: Format,
    /// Format of each column.
    pub columns: List<'a, Format>,
}

/// A NOTIFY of this or another session. Message NotificationResponse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification<'a> {
    /// Process id of that session.
    pub process: i32,
    /// Name of the channel.
    pub channel: &'a [u8],
    /// Payload of the notification.
    pub payload: &'a [u8],
}

/// The value of a setting. Message ParameterStatus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterStatus<'a> {
    /// The setting's name.
    pub name: &'a [u8],
    /// Value of the setting.
    pub value: &'a [u8],
}

/// The server's answer to an unsupported protocol version. Message NegotiateProtocolVersion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Negotiation<'a> {
    /// Newest version that the server supports. Servers send the whole version (196608 for 3.0);
    /// according to the manual, this is the minor part alone.
    pub newest: u32,
    /// Names of protocol options that the server does not support.
    pub unknown_options: List<'a, OptionName<'a>>,
}

/// The name of a protocol option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionName<'a> {
    /// The name.
    pub name: &'a [u8],
}

impl<'a> Message<'a> {
    /// Returns the first message of `bytes` and its length in bytes; `None` if it is incomplete.
    ///
    /// # Errors
    /// The bytes are not a server message.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<(Message<'a>, usize)>, WireError> {
        let Some(frame) = frame::first_message(bytes, limit)? else { return Ok(None) };
        let message = decode_body(frame.tag, frame.body, HEADER)?;
        Ok(Some((message, frame.length)))
    }
}

/// Returns the longest body that is allowed for a message type, in bytes; `None` for an unknown
/// type.
#[inline]
pub(crate) fn limit(tag: u8) -> Option<u32> {
    let limit = LIMITS.get(usize::from(tag)).copied().unwrap_or(0);
    limit.checked_sub(1)
}

/// Longest body of each message type plus one, in bytes; 0 for an unknown type.
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
        tag::DATA_ROW | both::COPY_DATA => Some(MAX_BODY),
        tag::ERROR_RESPONSE | tag::NOTICE_RESPONSE => Some(MAX_REPORT_BODY),
        tag::NOTIFICATION_RESPONSE | tag::PARAMETER_DESCRIPTION | tag::ROW_DESCRIPTION => {
            Some(MAX_WHOLE_BODY)
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
        | both::COPY_DONE => Some(MAX_SHORT_BODY),
        _ => None,
    }
}

/// Decodes a message of the given type from its body. `offset` is the position of the body, and is
/// added to the offsets of errors.
pub(crate) fn decode_body(tag: u8, body: &[u8], offset: usize) -> Result<Message<'_>, WireError> {
    let mut cursor = Cursor::new(body, offset);
    let message = match tag {
        both::COPY_DATA => return Ok(Message::CopyData(body)),
        tag::DATA_ROW => Message::DataRow(row(&mut cursor)?),
        // The command tag is the body without its last byte. Searching each command tag for an
        // earlier zero byte would cost more than the rest of decoding. In spite of such a byte, the
        // reader finds the next message by the length of this one.
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

/// Decodes a message without a body.
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
