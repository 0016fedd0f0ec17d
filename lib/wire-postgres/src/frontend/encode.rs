//! Writes what a client sends. Chapter "Message Formats".
//!
//! Each function appends one message. What can fail appends nothing then: a String of the protocol
//! holds no zero byte, a list has at most 65,535 items, a message is shorter than 2 GiB.
//!
//! A request that is sent often is better made into a [`Template`](crate::Template).

use crate::frame::{bare, count, message, string, value};
use crate::tags::{both, frontend as tag};
use crate::{Format, Object, Oid, WireError};

pub use super::packet::{cancel_request, gssenc_request, ssl_request, startup};

/// PasswordMessage: the password, or its hash, as it was asked for.
///
/// # Errors
/// The password holds a zero byte.
pub fn password(out: &mut Vec<u8>, password: &[u8]) -> Result<(), WireError> {
    message(out, tag::PASSWORD, |out| string(out, password, "PasswordMessage, password"))
}

/// SASLInitialResponse: the chosen mechanism and its first step.
///
/// # Errors
/// The mechanism holds a zero byte.
pub fn sasl_initial_response(
    out: &mut Vec<u8>,
    mechanism: &str,
    data: &[u8],
) -> Result<(), WireError> {
    message(out, tag::PASSWORD, |out| {
        string(out, mechanism.as_bytes(), "SASLInitialResponse, mechanism")?;
        value(out, Some(data), "SASLInitialResponse, data")
    })
}

/// SASLResponse: a further step of the mechanism.
///
/// # Errors
/// The data are too long for a message.
pub fn sasl_response(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    message(out, tag::PASSWORD, |out| {
        out.extend_from_slice(data);
        Ok(())
    })
}

/// Query: one text of one or more statements, answered by one ReadyForQuery. Chapter "Simple
/// Query".
///
/// # Errors
/// The text holds a zero byte.
pub fn query(out: &mut Vec<u8>, text: &str) -> Result<(), WireError> {
    message(out, tag::QUERY, |out| string(out, text.as_bytes(), "Query, text"))
}

/// Parse: prepares a statement, with the types of its first parameters; the server decides on the
/// others. Chapter "Extended Query".
///
/// # Errors
/// The name or the text holds a zero byte, or there are more than 65,535 types.
pub fn parse(
    out: &mut Vec<u8>,
    statement: &str,
    text: &str,
    types: &[Oid],
) -> Result<(), WireError> {
    message(out, tag::PARSE, |out| {
        string(out, statement.as_bytes(), "Parse, statement name")?;
        string(out, text.as_bytes(), "Parse, text")?;
        count(out, types.len(), "Parse, number of parameter types")?;
        types.iter().for_each(|oid| out.extend_from_slice(&oid.0.to_be_bytes()));
        Ok(())
    })
}

/// Bind: makes a portal of a statement and values; `None` is NULL. There is a format for each
/// value, or one for all, or none for text. The results travel in one format.
///
/// # Errors
/// A name holds a zero byte, there are more than 65,535 values, or they are too long for a message.
pub fn bind<'v>(
    out: &mut Vec<u8>,
    portal: &str,
    statement: &str,
    formats: &[Format],
    values: impl ExactSizeIterator<Item = Option<&'v [u8]>>,
    results: Format,
) -> Result<(), WireError> {
    message(out, tag::BIND, |out| {
        string(out, portal.as_bytes(), "Bind, portal name")?;
        string(out, statement.as_bytes(), "Bind, statement name")?;
        count(out, formats.len(), "Bind, number of parameter formats")?;
        formats.iter().for_each(|format| out.extend_from_slice(&format.code().to_be_bytes()));
        count(out, values.len(), "Bind, number of parameters")?;
        for bytes in values {
            value(out, bytes, "Bind, parameter")?;
        }
        result_format(out, results);
        Ok(())
    })
}

/// One format for all columns of a result.
pub(crate) fn result_format(out: &mut Vec<u8>, format: Format) {
    match format {
        Format::Text => out.extend_from_slice(&[0, 0]),
        Format::Binary => out.extend_from_slice(&[0, 1, 0, 1]),
    }
}

/// Describe: asks for the types of a statement's parameters and the columns of its result.
///
/// # Errors
/// The name holds a zero byte.
pub fn describe(out: &mut Vec<u8>, object: Object, name: &str) -> Result<(), WireError> {
    message(out, tag::DESCRIBE, |out| {
        out.push(object.letter());
        string(out, name.as_bytes(), "Describe, name")
    })
}

/// Execute: runs a portal and returns at most so many rows, 0 for all.
///
/// # Errors
/// The name holds a zero byte.
pub fn execute(out: &mut Vec<u8>, portal: &str, rows: u32) -> Result<(), WireError> {
    message(out, tag::EXECUTE, |out| {
        string(out, portal.as_bytes(), "Execute, portal name")?;
        out.extend_from_slice(&rows.to_be_bytes());
        Ok(())
    })
}

/// Close: forgets a statement or a portal.
///
/// # Errors
/// The name holds a zero byte.
pub fn close(out: &mut Vec<u8>, object: Object, name: &str) -> Result<(), WireError> {
    message(out, tag::CLOSE, |out| {
        out.push(object.letter());
        string(out, name.as_bytes(), "Close, name")
    })
}

/// Flush: asks for the answers so far, without ending anything.
pub fn flush(out: &mut Vec<u8>) {
    bare(out, tag::FLUSH);
}

/// Sync: ends a series of messages; it is answered by ReadyForQuery. After an error the server
/// skips everything up to it.
#[inline]
pub fn sync(out: &mut Vec<u8>) {
    bare(out, tag::SYNC);
}

/// CopyData: a piece of COPY's data, which `write` appends. A piece need not end where a row does.
///
/// # Errors
/// The data are too long for a message.
pub fn copy_data(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), WireError> {
    message(out, both::COPY_DATA, |out| {
        write(out);
        Ok(())
    })
}

/// CopyDone: all of COPY's data was sent. In the extended protocol a Sync follows.
pub fn copy_done(out: &mut Vec<u8>) {
    bare(out, both::COPY_DONE);
}

/// CopyFail: the COPY is to fail, with this reason.
///
/// # Errors
/// The reason holds a zero byte.
pub fn copy_fail(out: &mut Vec<u8>, reason: &str) -> Result<(), WireError> {
    message(out, tag::COPY_FAIL, |out| string(out, reason.as_bytes(), "CopyFail, reason"))
}

/// Terminate: ends the session.
pub fn terminate(out: &mut Vec<u8>) {
    bare(out, tag::TERMINATE);
}
