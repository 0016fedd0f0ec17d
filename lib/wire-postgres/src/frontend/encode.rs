//! Encoding of client messages. Chapter "Message Formats".
//!
//! Each function appends one message, or nothing if it fails. It fails if a String of the protocol
//! would contain a zero byte, a list would have more than 65,535 items, or a message would take
//! 2 GiB or more.
//!
//! Frequent requests are better encoded as a [`Template`](crate::Template).

use crate::frame::{count, empty_message, message, string, value};
use crate::tags::{both, frontend as tag};
use crate::{Format, Object, Oid, WireError};

use super::Message;

pub use super::packet::{cancel_request, gssenc_request, ssl_request, startup};

impl Message<'_> {
    /// Appends the message with the function for its type.
    ///
    /// # Errors
    /// As for that function; decoded messages never fail.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match *self {
            Message::Bind(it) => {
                bind(out, it.portal, it.statement, it.formats, it.values, it.results)
            }
            Message::Close(object, name) => close(out, object, name),
            Message::CopyData(data) => copy_data(out, |out| out.extend_from_slice(data)),
            Message::CopyFail(reason) => copy_fail(out, reason),
            Message::Describe(object, name) => describe(out, object, name),
            Message::Execute { portal, rows } => execute(out, portal, rows),
            Message::Parse(it) => parse(out, it.statement, it.text, it.types),
            Message::Password(body) => sasl_response(out, body),
            Message::Query(text) => query(out, text),
            Message::CopyDone => {
                copy_done(out);
                Ok(())
            }
            Message::Flush => {
                flush(out);
                Ok(())
            }
            Message::Sync => {
                sync(out);
                Ok(())
            }
            Message::Terminate => {
                terminate(out);
                Ok(())
            }
        }
    }
}

/// Appends PasswordMessage: the password, or its hash, as requested.
///
/// # Errors
/// The password contains a zero byte.
pub fn password(out: &mut Vec<u8>, password: &[u8]) -> Result<(), WireError> {
    message(out, tag::PASSWORD, |out| string(out, password, "PasswordMessage, password"))
}

/// Appends SASLInitialResponse: the chosen mechanism and its first step, if it has one.
///
/// # Errors
/// The mechanism contains a zero byte.
pub fn sasl_initial_response(
    out: &mut Vec<u8>,
    mechanism: impl AsRef<[u8]>,
    data: Option<&[u8]>,
) -> Result<(), WireError> {
    message(out, tag::PASSWORD, |out| {
        string(out, mechanism.as_ref(), "SASLInitialResponse, mechanism")?;
        value(out, data, "SASLInitialResponse, data")
    })
}

/// Appends SASLResponse: a further step of the mechanism.
///
/// # Errors
/// The data are too long for a message.
pub fn sasl_response(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    message(out, tag::PASSWORD, |out| {
        out.extend_from_slice(data);
        Ok(())
    })
}

/// Appends Query: one text of one or more statements, whose reply ends with one ReadyForQuery.
/// Chapter "Simple Query".
///
/// # Errors
/// The text contains a zero byte.
pub fn query(out: &mut Vec<u8>, text: impl AsRef<[u8]>) -> Result<(), WireError> {
    message(out, tag::QUERY, |out| string(out, text.as_ref(), "Query, text"))
}

/// Appends Parse: prepares a statement, with the types of its first parameters; the server infers
/// the others. Chapter "Extended Query".
///
/// # Errors
/// The name or the text contains a zero byte, or there are more than 65,535 types.
pub fn parse(
    out: &mut Vec<u8>,
    statement: impl AsRef<[u8]>,
    text: impl AsRef<[u8]>,
    types: impl IntoIterator<Item = Oid, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    message(out, tag::PARSE, |out| {
        string(out, statement.as_ref(), "Parse, statement name")?;
        string(out, text.as_ref(), "Parse, text")?;
        let types = types.into_iter();
        count(out, types.len(), "Parse, number of parameter types")?;
        types.for_each(|oid| out.extend_from_slice(&oid.0.to_be_bytes()));
        Ok(())
    })
}

/// Appends Bind: creates a portal from a statement and values; `None` is NULL. `parameters` has one
/// format for each value, one format for all values, or no format if all are text. `results` has
/// the formats of the result columns in the same way.
///
/// # Errors
/// A name contains a zero byte, there are more than 65,535 values, or they are too long for a
/// message.
pub fn bind<'v>(
    out: &mut Vec<u8>,
    portal: impl AsRef<[u8]>,
    statement: impl AsRef<[u8]>,
    parameters: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
    values: impl IntoIterator<Item = Option<&'v [u8]>, IntoIter: ExactSizeIterator>,
    results: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
) -> Result<(), WireError> {
    message(out, tag::BIND, |out| {
        string(out, portal.as_ref(), "Bind, portal name")?;
        string(out, statement.as_ref(), "Bind, statement name")?;
        formats(out, parameters, "Bind, number of parameter formats")?;
        let values = values.into_iter();
        count(out, values.len(), "Bind, number of parameters")?;
        for bytes in values {
            value(out, bytes, "Bind, parameter")?;
        }
        formats(out, results, "Bind, number of result formats")
    })
}

/// Appends a list of formats.
pub(crate) fn formats(
    out: &mut Vec<u8>,
    formats: impl IntoIterator<Item = Format, IntoIter: ExactSizeIterator>,
    context: &'static str,
) -> Result<(), WireError> {
    let formats = formats.into_iter();
    count(out, formats.len(), context)?;
    formats.for_each(|format| out.extend_from_slice(&format.code().to_be_bytes()));
    Ok(())
}

/// Appends Describe: requests the columns of the result and, for a statement, the types of its
/// parameters.
///
/// # Errors
/// The name contains a zero byte.
pub fn describe(
    out: &mut Vec<u8>,
    object: Object,
    name: impl AsRef<[u8]>,
) -> Result<(), WireError> {
    message(out, tag::DESCRIBE, |out| {
        out.push(object.letter());
        string(out, name.as_ref(), "Describe, name")
    })
}

/// Appends Execute: runs a portal and returns at most `rows` rows, 0 for all.
///
/// # Errors
/// The name contains a zero byte.
pub fn execute(out: &mut Vec<u8>, portal: impl AsRef<[u8]>, rows: u32) -> Result<(), WireError> {
    message(out, tag::EXECUTE, |out| {
        string(out, portal.as_ref(), "Execute, portal name")?;
        out.extend_from_slice(&rows.to_be_bytes());
        Ok(())
    })
}

/// Appends Close: deallocates a statement or a portal.
///
/// # Errors
/// The name contains a zero byte.
pub fn close(out: &mut Vec<u8>, object: Object, name: impl AsRef<[u8]>) -> Result<(), WireError> {
    message(out, tag::CLOSE, |out| {
        out.push(object.letter());
        string(out, name.as_ref(), "Close, name")
    })
}

/// Appends Flush: requests the pending replies. Unlike a Sync, it does not end the series of
/// messages.
pub fn flush(out: &mut Vec<u8>) {
    empty_message(out, tag::FLUSH);
}

/// Appends Sync: ends a series of messages; the reply is ReadyForQuery. After an error the server
/// skips everything up to the Sync.
#[inline]
pub fn sync(out: &mut Vec<u8>) {
    empty_message(out, tag::SYNC);
}

/// Appends CopyData: a part of COPY's data, which `write` appends. A part may end inside a row.
///
/// # Errors
/// The data are too long for a message.
pub fn copy_data(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), WireError> {
    message(out, both::COPY_DATA, |out| {
        write(out);
        Ok(())
    })
}

/// Appends CopyDone: the end of COPY's data. In the extended protocol a Sync follows.
pub fn copy_done(out: &mut Vec<u8>) {
    empty_message(out, both::COPY_DONE);
}

/// Appends CopyFail: makes the COPY fail, with this reason.
///
/// # Errors
/// The reason contains a zero byte.
pub fn copy_fail(out: &mut Vec<u8>, reason: impl AsRef<[u8]>) -> Result<(), WireError> {
    message(out, tag::COPY_FAIL, |out| string(out, reason.as_ref(), "CopyFail, reason"))
}

/// Appends Terminate: ends the session.
pub fn terminate(out: &mut Vec<u8>) {
    empty_message(out, tag::TERMINATE);
}
