//! Writes what a server sends. Chapter "Message Formats".
//!
//! Each function appends one message. What can fail appends nothing then: a String of the protocol
//! holds no zero byte, a list has at most 65,535 items, a message is shorter than 2 GiB.

use crate::frame::{bare, count, fixed, message, string, value};
use crate::tags::{backend as tag, both};
use crate::{BackendKey, Format, Oid, TransactionStatus, WireError};

use super::{Column, Notification, ParameterStatus};

/// AuthenticationOk: the client is let in.
pub fn authentication_ok(out: &mut Vec<u8>) {
    fixed(out, tag::AUTHENTICATION, [0, 0, 0, 0]);
}

/// AuthenticationCleartextPassword: asks for the password itself.
pub fn authentication_cleartext_password(out: &mut Vec<u8>) {
    fixed(out, tag::AUTHENTICATION, [0, 0, 0, 3]);
}

/// AuthenticationMD5Password: asks for the password, hashed with a salt.
pub fn authentication_md5_password(out: &mut Vec<u8>, salt: [u8; 4]) {
    let [a, b, c, d] = salt;
    fixed(out, tag::AUTHENTICATION, [0, 0, 0, 5, a, b, c, d]);
}

/// AuthenticationSASL: asks for one of some mechanisms.
///
/// # Errors
/// A name holds a zero byte.
pub fn authentication_sasl(out: &mut Vec<u8>, mechanisms: &[&str]) -> Result<(), WireError> {
    message(out, tag::AUTHENTICATION, |out| {
        out.extend_from_slice(&[0, 0, 0, 10]);
        for mechanism in mechanisms {
            string(out, mechanism.as_bytes(), "AuthenticationSASL, mechanism")?;
        }
        out.push(0);
        Ok(())
    })
}

/// AuthenticationSASLContinue: the next step of SASL.
///
/// # Errors
/// The data are too long for a message.
pub fn authentication_sasl_continue(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    authentication(out, 11, data)
}

/// AuthenticationSASLFinal: the last step of SASL.
///
/// # Errors
/// The data are too long for a message.
pub fn authentication_sasl_final(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    authentication(out, 12, data)
}

/// Asks for another method by its number, such as 7 for GSSAPI.
///
/// # Errors
/// The data are too long for a message.
pub fn authentication_other(out: &mut Vec<u8>, method: u32, data: &[u8]) -> Result<(), WireError> {
    authentication(out, method, data)
}

fn authentication(out: &mut Vec<u8>, method: u32, data: &[u8]) -> Result<(), WireError> {
    message(out, tag::AUTHENTICATION, |out| {
        out.extend_from_slice(&method.to_be_bytes());
        out.extend_from_slice(data);
        Ok(())
    })
}

/// BackendKeyData: what a CancelRequest must name.
pub fn backend_key_data(out: &mut Vec<u8>, key: BackendKey) {
    let [a, b, c, d] = key.process.to_be_bytes();
    let [e, f, g, h] = key.secret.to_be_bytes();
    fixed(out, tag::BACKEND_KEY_DATA, [a, b, c, d, e, f, g, h]);
}

/// BindComplete: a Bind is done.
#[inline]
pub fn bind_complete(out: &mut Vec<u8>) {
    bare(out, tag::BIND_COMPLETE);
}

/// CloseComplete: a Close is done.
pub fn close_complete(out: &mut Vec<u8>) {
    bare(out, tag::CLOSE_COMPLETE);
}

/// CommandComplete: a command is done, with its tag.
///
/// # Errors
/// The tag holds a zero byte.
pub fn command_complete(out: &mut Vec<u8>, command: &str) -> Result<(), WireError> {
    message(out, tag::COMMAND_COMPLETE, |out| {
        string(out, command.as_bytes(), "CommandComplete, tag")
    })
}

/// CopyData: a piece of COPY's data.
///
/// # Errors
/// The data are too long for a message.
pub fn copy_data(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    message(out, both::COPY_DATA, |out| {
        out.extend_from_slice(data);
        Ok(())
    })
}

/// CopyDone: all of COPY's data was sent.
pub fn copy_done(out: &mut Vec<u8>) {
    bare(out, both::COPY_DONE);
}

/// CopyInResponse: the server waits for data.
///
/// # Errors
/// There are more than 65,535 columns.
pub fn copy_in_response(
    out: &mut Vec<u8>,
    format: Format,
    columns: &[Format],
) -> Result<(), WireError> {
    copy_response(out, tag::COPY_IN_RESPONSE, format, columns)
}

/// CopyOutResponse: the server will send data.
///
/// # Errors
/// There are more than 65,535 columns.
pub fn copy_out_response(
    out: &mut Vec<u8>,
    format: Format,
    columns: &[Format],
) -> Result<(), WireError> {
    copy_response(out, tag::COPY_OUT_RESPONSE, format, columns)
}

/// CopyBothResponse: both will send data (replication).
///
/// # Errors
/// There are more than 65,535 columns.
pub fn copy_both_response(
    out: &mut Vec<u8>,
    format: Format,
    columns: &[Format],
) -> Result<(), WireError> {
    copy_response(out, tag::COPY_BOTH_RESPONSE, format, columns)
}

fn copy_response(
    out: &mut Vec<u8>,
    tag: u8,
    format: Format,
    columns: &[Format],
) -> Result<(), WireError> {
    message(out, tag, |out| {
        let [_, code] = format.code().to_be_bytes();
        out.push(code);
        count(out, columns.len(), "CopyResponse, number of columns")?;
        for column in columns {
            out.extend_from_slice(&column.code().to_be_bytes());
        }
        Ok(())
    })
}

/// DataRow: a row; `None` is NULL.
///
/// # Errors
/// There are more than 65,535 fields, or they are too long for a message.
pub fn data_row<'f>(
    out: &mut Vec<u8>,
    fields: impl ExactSizeIterator<Item = Option<&'f [u8]>>,
) -> Result<(), WireError> {
    message(out, tag::DATA_ROW, |out| {
        count(out, fields.len(), "DataRow, number of fields")?;
        for field in fields {
            value(out, field, "DataRow, field")?;
        }
        Ok(())
    })
}

/// EmptyQueryResponse: a query without a command is done.
pub fn empty_query_response(out: &mut Vec<u8>) {
    bare(out, tag::EMPTY_QUERY_RESPONSE);
}

/// ErrorResponse: a statement, or the session, has failed. A field is its letter and its text.
///
/// # Errors
/// A text holds a zero byte.
pub fn error_response<'f>(
    out: &mut Vec<u8>,
    fields: impl IntoIterator<Item = (u8, &'f str)>,
) -> Result<(), WireError> {
    report(out, tag::ERROR_RESPONSE, fields)
}

/// NoticeResponse: something that the user should know. A field is its letter and its text.
///
/// # Errors
/// A text holds a zero byte.
pub fn notice_response<'f>(
    out: &mut Vec<u8>,
    fields: impl IntoIterator<Item = (u8, &'f str)>,
) -> Result<(), WireError> {
    report(out, tag::NOTICE_RESPONSE, fields)
}

fn report<'f>(
    out: &mut Vec<u8>,
    tag: u8,
    fields: impl IntoIterator<Item = (u8, &'f str)>,
) -> Result<(), WireError> {
    message(out, tag, |out| {
        for (code, text) in fields {
            out.push(code);
            string(out, text.as_bytes(), "ErrorResponse, field value")?;
        }
        out.push(0);
        Ok(())
    })
}

/// NegotiateProtocolVersion: the newest version that the server speaks (196608 for 3.0), and the
/// names of protocol options that it does not know.
///
/// # Errors
/// A name holds a zero byte.
pub fn negotiate_protocol_version<'f>(
    out: &mut Vec<u8>,
    newest: u32,
    unknown_options: impl ExactSizeIterator<Item = &'f [u8]>,
) -> Result<(), WireError> {
    let context = "NegotiateProtocolVersion, option";
    message(out, tag::NEGOTIATE_PROTOCOL_VERSION, |out| {
        out.extend_from_slice(&newest.to_be_bytes());
        // An Int32 here, where other lists have an Int16.
        out.extend_from_slice(&[0, 0]);
        count(out, unknown_options.len(), context)?;
        for name in unknown_options {
            string(out, name, context)?;
        }
        Ok(())
    })
}

/// NoData: what was described returns no rows.
pub fn no_data(out: &mut Vec<u8>) {
    bare(out, tag::NO_DATA);
}

/// NotificationResponse: another session's NOTIFY.
///
/// # Errors
/// A text holds a zero byte.
pub fn notification_response(
    out: &mut Vec<u8>,
    notification: Notification<'_>,
) -> Result<(), WireError> {
    message(out, tag::NOTIFICATION_RESPONSE, |out| {
        out.extend_from_slice(&notification.process.to_be_bytes());
        string(out, notification.channel, "NotificationResponse, channel")?;
        string(out, notification.payload, "NotificationResponse, payload")
    })
}

/// ParameterDescription: the types of a statement's parameters.
///
/// # Errors
/// There are more than 65,535 parameters.
pub fn parameter_description(out: &mut Vec<u8>, types: &[Oid]) -> Result<(), WireError> {
    message(out, tag::PARAMETER_DESCRIPTION, |out| {
        count(out, types.len(), "ParameterDescription, number of parameters")?;
        types.iter().for_each(|oid| out.extend_from_slice(&oid.0.to_be_bytes()));
        Ok(())
    })
}

/// ParameterStatus: the value of a setting.
///
/// # Errors
/// A text holds a zero byte.
pub fn parameter_status(out: &mut Vec<u8>, setting: ParameterStatus<'_>) -> Result<(), WireError> {
    message(out, tag::PARAMETER_STATUS, |out| {
        string(out, setting.name, "ParameterStatus, name")?;
        string(out, setting.value, "ParameterStatus, value")
    })
}

/// ParseComplete: a Parse is done.
pub fn parse_complete(out: &mut Vec<u8>) {
    bare(out, tag::PARSE_COMPLETE);
}

/// PortalSuspended: an Execute has returned as many rows as it was allowed to.
pub fn portal_suspended(out: &mut Vec<u8>) {
    bare(out, tag::PORTAL_SUSPENDED);
}

/// ReadyForQuery: the server waits for the next statement.
#[inline]
pub fn ready_for_query(out: &mut Vec<u8>, status: TransactionStatus) {
    fixed(out, tag::READY_FOR_QUERY, [status.letter()]);
}

/// RowDescription: the columns of the rows that follow or were described.
///
/// # Errors
/// A name holds a zero byte, or there are more than 65,535 columns.
pub fn row_description(out: &mut Vec<u8>, columns: &[Column<'_>]) -> Result<(), WireError> {
    message(out, tag::ROW_DESCRIPTION, |out| {
        count(out, columns.len(), "RowDescription, number of columns")?;
        columns.iter().try_for_each(|described| column(out, described))
    })
}

fn column(out: &mut Vec<u8>, column: &Column<'_>) -> Result<(), WireError> {
    let Column { name, table, number, type_oid, type_size, modifier, format } = column;
    string(out, name, "RowDescription, column name")?;
    out.extend_from_slice(&table.0.to_be_bytes());
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&type_oid.0.to_be_bytes());
    out.extend_from_slice(&type_size.to_be_bytes());
    out.extend_from_slice(&modifier.to_be_bytes());
    out.extend_from_slice(&format.code().to_be_bytes());
    Ok(())
}
