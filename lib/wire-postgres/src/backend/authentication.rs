//! The messages whose names begin with `Authentication`, which share one message type.

use crate::cursor::Cursor;
use crate::list::sealed::Read;
use crate::{List, WireError};

/// An authentication request of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Authentication<'a> {
    /// No further request: the client is authenticated. AuthenticationOk.
    Ok,
    /// A request for the password in clear text. AuthenticationCleartextPassword.
    CleartextPassword,
    /// A request for the password, hashed with this salt. AuthenticationMD5Password.
    Md5Password {
        /// The salt.
        salt: [u8; 4],
    },
    /// A request for one of these SASL mechanisms. AuthenticationSASL.
    Sasl {
        /// Names of the mechanisms, in the server's order of preference.
        mechanisms: List<'a, Mechanism<'a>>,
    },
    /// The next step of SASL. AuthenticationSASLContinue.
    SaslContinue {
        /// Data of the mechanism.
        data: &'a [u8],
    },
    /// The last step of SASL. AuthenticationSASLFinal.
    SaslFinal {
        /// Data of the mechanism.
        data: &'a [u8],
    },
    /// Another method: Kerberos (2), GSSAPI (7, 8), SSPI (9) or a later one.
    Other {
        /// Number of the method.
        method: u32,
        /// Data of the method.
        data: &'a [u8],
    },
}

/// The name of a SASL mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism<'a> {
    /// The name.
    pub name: &'a [u8],
}

impl Authentication<'_> {
    /// Returns the number of the method in the protocol.
    pub fn method(&self) -> u32 {
        match self {
            Authentication::Ok => 0,
            Authentication::CleartextPassword => 3,
            Authentication::Md5Password { .. } => 5,
            Authentication::Sasl { .. } => 10,
            Authentication::SaslContinue { .. } => 11,
            Authentication::SaslFinal { .. } => 12,
            Authentication::Other { method, .. } => *method,
        }
    }
}

impl<'a> Authentication<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let method = cursor.u32("Authentication, method")?;
        Ok(match method {
            0 => Authentication::Ok,
            3 => Authentication::CleartextPassword,
            5 => Authentication::Md5Password {
                salt: cursor.bytes4("AuthenticationMD5Password, salt")?,
            },
            10 => Authentication::Sasl {
                mechanisms: List::terminated(cursor, "AuthenticationSASL, mechanisms")?,
            },
            11 => Authentication::SaslContinue { data: remainder(cursor)? },
            12 => Authentication::SaslFinal { data: remainder(cursor)? },
            method => Authentication::Other { method, data: remainder(cursor)? },
        })
    }
}

fn remainder<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], WireError> {
    cursor.take(cursor.rest().len(), "Authentication, data")
}

impl<'a> Read<'a> for Mechanism<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        cursor.string("AuthenticationSASL, mechanism").map(|name| Mechanism { name })
    }
}
