//! Encoding of server messages. Chapter "Message Formats".
//!
//! Each function appends one message, or nothing if it fails. It fails if a String of the protocol
//! would contain a zero byte, a list would have more than 65,535 items, or a message would take
//! 2 GiB or more.

use crate::frame::{count, empty_message, fixed_size_message, message, string, value};
use crate::frontend::formats;
use crate::tags::{backend as tag, both};
use crate::{BackendKey, ErrorKind, Format, Oid, TransactionStatus, WireError};

use super::{Authentication, Column, Message, Notification, ParameterStatus};

impl Message<'_> {
    /// Appends the message with the function for its type.
    ///
    /// # Errors
    /// As for that function. Of decoded messages, only a command tag with a zero byte inside fails.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match *self {
            Message::Authentication(question) => return encode_authentication(out, question),
            Message::BackendKeyData(key) => backend_key_data(out, key),
            Message::BindComplete => bind_complete(out),
            Message::CloseComplete => close_complete(out),
            Message::CommandComplete(command) => return command_complete(out, command.bytes()),
            Message::CopyData(data) => return copy_data(out, data),
            Message::CopyDone => copy_done(out),
            Message::CopyInResponse(it) => return copy_in_response(out, it.format, it.columns),
            Message::CopyOutResponse(it) => return copy_out_response(out, it.format, it.columns),
            Message::CopyBothResponse(it) => return copy_both_response(out, it.format, it.columns),
            Message::DataRow(row) => return data_row(out, row),
            Message::EmptyQueryResponse => empty_query_response(out),
            Message::ErrorResponse(report) => {
                return error_response(out, report.fields.iter().map(|it| (it.code, it.text)));
            }
            Message::NoticeResponse(report) => {
                return notice_response(out, report.fields.iter().map(|it| (it.code, it.text)));
            }
            Message::NegotiateProtocolVersion(it) => {
                let options = it.unknown_options.iter().map(|option| option.name);
                return negotiate_protocol_version(out, it.newest, options);
            }
            Message::NoData => no_data(out),
            Message::NotificationResponse(it) => return notification_response(out, it),
            Message::ParameterDescription(types) => return parameter_description(out, types),
            Message::ParameterStatus(status) => return parameter_status(out, status),
            Message::ParseComplete => parse_complete(out),
            Message::PortalSuspended => portal_suspended(out),
            Message::ReadyForQuery(status) => ready_for_query(out, status),
            Message::RowDescription(columns) => return row_description(out, columns),
        }
        Ok(())
    }
}

fn encode_authentication(out: &mut Vec<u8>, question: Authentication<'_>) -> Result<(), WireError> {
    match question {
        Authentication::Ok => authentication_ok(out),
        Authentication::CleartextPassword => authentication_cleartext_password(out),
        Authentication::Md5Password { salt } => authentication_md5_password(out, salt),
        Authentication::Sasl { mechanisms } => {
            return authentication_sasl(out, mechanisms.iter().map(|it| it.name));
        }
        Authentication::SaslContinue { data } => return authentication_sasl_continue(out, data),
        Authentication::SaslFinal { data } => return authentication_sasl_final(out, data),
        Authentication::Other { method, data } => return authentication_other(out, method, data),
    }
    Ok(())
}

/// Appends AuthenticationOk: the client is authenticated.
pub fn authentication_ok(out: &mut Vec<u8>) {
    fixed_size_message(out, tag::AUTHENTICATION, [0, 0, 0, 0]);
}

/// Appends AuthenticationCleartextPassword: requests the password in clear text.
pub fn authentication_cleartext_password(out: &mut Vec<u8>) {
    fixed_size_message(out, tag::AUTHENTICATION, [0, 0, 0, 3]);
}

/// Appends AuthenticationMD5Password: requests the password, hashed with a salt.
pub fn authentication_md5_password(out: &mut Vec<u8>, salt: [u8; 4]) {
    let [a, b, c, d] = salt;
    fixed_size_message(out, tag::AUTHENTICATION, [0, 0, 0, 5, a, b, c, d]);
}

/// Appends AuthenticationSASL: offers the client these mechanisms.
///
/// # Errors
/// A name is empty or contains a zero byte.
pub fn authentication_sasl(
    out: &mut Vec<u8>,
    mechanisms: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Result<(), WireError> {
    message(out, tag::AUTHENTICATION, |out| {
        out.extend_from_slice(&[0, 0, 0, 10]);
        for mechanism in mechanisms {
            // An empty name would end the list.
            if mechanism.as_ref().is_empty() {
                return Err(WireError::new(ErrorKind::Value, 0, "AuthenticationSASL, mechanism"));
            }
            string(out, mechanism.as_ref(), "AuthenticationSASL, mechanism")?;
        }
        out.push(0);
        Ok(())
    })
}

/// Appends AuthenticationSASLContinue: the next step of SASL.
///
/// # Errors
/// The data are too long for a message.
pub fn authentication_sasl_continue(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    authentication(out, 11, data)
}

/// Appends AuthenticationSASLFinal: the last step of SASL.
///
/// # Errors
/// The data are too long for a message.
pub fn authentication_sasl_final(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    authentication(out, 12, data)
}

/// Appends a request for another method by its number, such as 7 for GSSAPI.
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

/// Appends BackendKeyData: the key for a CancelRequest.
pub fn backend_key_data(out: &mut Vec<u8>, key: BackendKey) {
    let [a, b, c, d] = key.process.to_be_bytes();
    let [e, f, g, h] = key.secret.to_be_bytes();
    fixed_size_message(out, tag::BACKEND_KEY_DATA, [a, b, c, d, e, f, g, h]);
}

/// Appends BindComplete: a Bind was completed.
#[inline]
pub fn bind_complete(out: &mut Vec<u8>) {
    empty_message(out, tag::BIND_COMPLETE);
}

/// Appends CloseComplete: a Close was completed.
pub fn close_complete(out: &mut Vec<u8>) {
    empty_message(out, tag::CLOSE_COMPLETE);
}

/// Appends CommandComplete: a command was completed, with its tag.
///
/// # Errors
/// The tag contains a zero byte.
pub fn command_complete(out: &mut Vec<u8>, command: impl AsRef<[u8]>) -> Result<(), WireError> {
    message(out, tag::COMMAND_COMPLETE, |out| string(out, command.as_ref(), "CommandComplete, tag"))
}

/// Appends CopyData: a part of COPY's data.
///
/// # Errors
/// The data are too long for a message.
pub fn copy_data(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    message(out, both::COPY_DATA, |out| {
        out.extend_from_slice(data);
        Ok(())
    })
}

/// Appends CopyDone: the end of COPY's data.
pub fn copy_done(out: &mut Vec<u8>) {
    empty_message(out, both::COPY_DONE);
}

/// Appends CopyInResponse: the server is ready to receive data.
///
/// # Errors
/// There are more than 65,535 columns.
pub fn copy_in_response(
    out: &mut Vec<u8>,
    format: Format,
    columns: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    copy_response(out, tag::COPY_IN_RESPONSE, format, columns)
}

/// Appends CopyOutResponse: the server will send data.
///
/// # Errors
/// There are more than 65,535 columns.
pub fn copy_out_response(
    out: &mut Vec<u8>,
    format: Format,
    columns: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    copy_response(out, tag::COPY_OUT_RESPONSE, format, columns)
}

/// Appends CopyBothResponse: both sides will send data (replication).
///
/// # Errors
/// There are more than 65,535 columns.
pub fn copy_both_response(
    out: &mut Vec<u8>,
    format: Format,
    columns: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    copy_response(out, tag::COPY_BOTH_RESPONSE, format, columns)
}

fn copy_response(
    out: &mut Vec<u8>,
    tag: u8,
    format: Format,
    columns: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    message(out, tag, |out| {
        let [_, code] = format.code().to_be_bytes();
        out.push(code);
        formats(out, columns, "CopyResponse, number of columns")
    })
}

/// Appends DataRow: a row; `None` is NULL.
///
/// # Errors
/// There are more than 65,535 fields, or they are too long for a message.
pub fn data_row<'f>(
    out: &mut Vec<u8>,
    fields: impl IntoIterator<Item = Option<&'f [u8]>, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    message(out, tag::DATA_ROW, |out| {
        let fields = fields.into_iter();
        count(out, fields.len(), "DataRow, number of fields")?;
        for field in fields {
            value(out, field, "DataRow, field")?;
        }
        Ok(())
    })
}

/// Appends EmptyQueryResponse: a query without a command was completed.
pub fn empty_query_response(out: &mut Vec<u8>) {
    empty_message(out, tag::EMPTY_QUERY_RESPONSE);
}

/// Appends ErrorResponse: a statement, or the session, failed. Each field is a letter and a text.
///
/// # Errors
/// A letter is zero, or a text contains a zero byte.
pub fn error_response(
    out: &mut Vec<u8>,
    fields: impl IntoIterator<Item = (u8, impl AsRef<[u8]>)>,
) -> Result<(), WireError> {
    report(out, tag::ERROR_RESPONSE, fields)
}

/// Appends NoticeResponse: a warning or other notice. Each field is a letter and a text.
///
/// # Errors
/// A letter is zero, or a text contains a zero byte.
pub fn notice_response(
    out: &mut Vec<u8>,
    fields: impl IntoIterator<Item = (u8, impl AsRef<[u8]>)>,
) -> Result<(), WireError> {
    report(out, tag::NOTICE_RESPONSE, fields)
}

fn report(
    out: &mut Vec<u8>,
    tag: u8,
    fields: impl IntoIterator<Item = (u8, impl AsRef<[u8]>)>,
) -> Result<(), WireError> {
    message(out, tag, |out| {
        for (code, text) in fields {
            // A zero would end the list.
            if code == 0 {
                let context = "ErrorResponse, field type";
                return Err(WireError::new(ErrorKind::ZeroByte, out.len(), context));
            }
            out.push(code);
            string(out, text.as_ref(), "ErrorResponse, field value")?;
        }
        out.push(0);
        Ok(())
    })
}

/// Appends NegotiateProtocolVersion: the newest version that the server supports (196608 for 3.0),
/// and the names of protocol options that it does not support.
///
/// # Errors
/// A name contains a zero byte.
pub fn negotiate_protocol_version(
    out: &mut Vec<u8>,
    newest: u32,
    unknown_options: impl IntoIterator<Item = impl AsRef<[u8]>, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    let context = "NegotiateProtocolVersion, option";
    message(out, tag::NEGOTIATE_PROTOCOL_VERSION, |out| {
        out.extend_from_slice(&newest.to_be_bytes());
        // The count is an Int32 here; other lists have an Int16.
        out.extend_from_slice(&[0, 0]);
        let unknown_options = unknown_options.into_iter();
        count(out, unknown_options.len(), context)?;
        for name in unknown_options {
            string(out, name.as_ref(), context)?;
        }
        Ok(())
    })
}

/// Appends NoData: the described statement or portal returns no rows.
pub fn no_data(out: &mut Vec<u8>) {
    empty_message(out, tag::NO_DATA);
}

/// Appends NotificationResponse: a NOTIFY of this or another session.
///
/// # Errors
/// A text contains a zero byte.
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

/// Appends ParameterDescription: the types of a statement's parameters.
///
/// # Errors
/// There are more than 65,535 parameters.
pub fn parameter_description(
    out: &mut Vec<u8>,
    types: impl IntoIterator<Item = Oid, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    message(out, tag::PARAMETER_DESCRIPTION, |out| {
        let types = types.into_iter();
        count(out, types.len(), "ParameterDescription, number of parameters")?;
        types.for_each(|oid| out.extend_from_slice(&oid.0.to_be_bytes()));
        Ok(())
    })
}

/// Appends ParameterStatus: the value of a setting.
///
/// # Errors
/// A text contains a zero byte.
pub fn parameter_status(out: &mut Vec<u8>, setting: ParameterStatus<'_>) -> Result<(), WireError> {
    message(out, tag::PARAMETER_STATUS, |out| {
        string(out, setting.name, "ParameterStatus, name")?;
        string(out, setting.value, "ParameterStatus, value")
    })
}

/// Appends ParseComplete: a Parse was completed.
pub fn parse_complete(out: &mut Vec<u8>) {
    empty_message(out, tag::PARSE_COMPLETE);
}

/// Appends PortalSuspended: an Execute returned as many rows as its limit allows.
pub fn portal_suspended(out: &mut Vec<u8>) {
    empty_message(out, tag::PORTAL_SUSPENDED);
}

/// Appends ReadyForQuery: the server is ready for the next statement.
#[inline]
pub fn ready_for_query(out: &mut Vec<u8>, status: TransactionStatus) {
    fixed_size_message(out, tag::READY_FOR_QUERY, [status.letter()]);
}

/// Appends RowDescription: the columns of the rows that follow or of a described statement.
///
/// # Errors
/// A name contains a zero byte, or there are more than 65,535 columns.
pub fn row_description<'c>(
    out: &mut Vec<u8>,
    columns: impl IntoIterator<Item = Column<'c>, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    message(out, tag::ROW_DESCRIPTION, |out| {
        let mut columns = columns.into_iter();
        count(out, columns.len(), "RowDescription, number of columns")?;
        columns.try_for_each(|described| column(out, &described))
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
