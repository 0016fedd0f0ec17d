//! The messages of authentication, which share one type. Messages Authentication….

use crate::cursor::Cursor;
use crate::list::sealed::Read;
use crate::{List, WireError};

use super::Mechanism;

/// What the server asks for before it lets a client in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Authentication<'a> {
    /// Nothing more: the client is let in. AuthenticationOk.
    Ok,
    /// The password itself. AuthenticationCleartextPassword.
    CleartextPassword,
    /// The password, hashed with this salt. AuthenticationMD5Password.
    Md5Password {
        /// The salt.
        salt: [u8; 4],
    },
    /// One of these mechanisms of SASL. AuthenticationSASL.
    Sasl {
        /// Their names, the server's favourite first.
        mechanisms: List<'a, Mechanism<'a>>,
    },
    /// The next step of SASL. AuthenticationSASLContinue.
    SaslContinue {
        /// What the mechanism says.
        data: &'a [u8],
    },
    /// The last step of SASL. AuthenticationSASLFinal.
    SaslFinal {
        /// What the mechanism says.
        data: &'a [u8],
    },
    /// Another method: Kerberos (2), GSSAPI (7, 8), SSPI (9) or one that came later.
    Other {
        /// Its number.
        method: u32,
        /// What comes with it.
        data: &'a [u8],
    },
}

impl Authentication<'_> {
    /// The number of the method on the wire.
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
