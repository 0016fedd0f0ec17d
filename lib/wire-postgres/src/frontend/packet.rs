//! What a client sends first: packets without a type. Messages StartupMessage, SSLRequest,
//! GSSENCRequest, CancelRequest.

use std::fmt;

use crate::cursor::Cursor;
use crate::frame::{counted, string};
use crate::list::sealed::Read;
use crate::{BackendKey, ErrorKind, List, WireError};

/// The longest startup packet that a server reads, as PostgreSQL's own does
/// (`MAX_STARTUP_PACKET_LENGTH`).
const LIMIT: usize = 10_000;

const SSL_REQUEST: u32 = 80_877_103;
const GSSENC_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// What a client sends first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartupPacket<'a> {
    /// It wants to encrypt with TLS; the answer is one byte.
    SslRequest,
    /// It wants to encrypt with GSSAPI; the answer is one byte.
    GssEncRequest,
    /// It wants a statement of another session to end; there is no answer.
    CancelRequest(BackendKey),
    /// It wants to begin a session.
    Startup(Startup<'a>),
}

/// The begin of a session. Message StartupMessage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Startup<'a> {
    /// The version of the protocol that the client would like.
    pub version: ProtocolVersion,
    /// `user`, `database`, settings, and options of the protocol (`_pq_.…`).
    pub parameters: List<'a, StartupParameter<'a>>,
}

impl<'a> Startup<'a> {
    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&'a [u8]> {
        let mut parameters = self.parameters.iter();
        parameters.find(|parameter| parameter.name == name.as_bytes()).map(|found| found.value)
    }
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolVersion {
    /// 3 for all servers since 2003.
    pub major: u16,
    /// 0 for what this crate speaks.
    pub minor: u16,
}

impl ProtocolVersion {
    /// What this crate speaks.
    pub const V3_0: ProtocolVersion = ProtocolVersion { major: 3, minor: 0 };

    /// The number that stands for it.
    pub fn number(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor)
    }

    /// The version that a number stands for.
    pub fn from_number(number: u32) -> ProtocolVersion {
        let [a, b, c, d] = number.to_be_bytes();
        ProtocolVersion { major: u16::from_be_bytes([a, b]), minor: u16::from_be_bytes([c, d]) }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A parameter of a session: `user`, `database`, the name of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupParameter<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
}

impl<'a> Read<'a> for StartupParameter<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(StartupParameter {
            name: cursor.string("StartupMessage, parameter name")?,
            value: cursor.string("StartupMessage, parameter value")?,
        })
    }
}

impl<'a> StartupPacket<'a> {
    /// The first packet of `bytes` and how many bytes it takes; `None` if it is not whole.
    ///
    /// # Errors
    /// The bytes are not what a client may begin with.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<(StartupPacket<'a>, usize)>, WireError> {
        let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let context = "a startup packet's length";
        let Some(body) = length.checked_sub(4).filter(|body| *body >= 4) else {
            return Err(WireError::new(ErrorKind::Length, 0, context));
        };
        if length > LIMIT {
            return Err(WireError::new(ErrorKind::TooLong, 0, context));
        }
        let Some(body) = rest.get(..body) else { return Ok(None) };
        Ok(Some((StartupPacket::read(&mut Cursor::new(body, 4))?, length)))
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<StartupPacket<'a>, WireError> {
        let packet = match cursor.u32("a startup packet's code")? {
            SSL_REQUEST => StartupPacket::SslRequest,
            GSSENC_REQUEST => StartupPacket::GssEncRequest,
            CANCEL_REQUEST => {
                StartupPacket::CancelRequest(BackendKey::read(cursor, "CancelRequest")?)
            }
            version => {
                let version = ProtocolVersion::from_number(version);
                let parameters = List::terminated(cursor, "StartupMessage, parameters")?;
                StartupPacket::Startup(Startup { version, parameters })
            }
        };
        cursor.end("a startup packet's end")?;
        Ok(packet)
    }
}

/// StartupMessage: begins a session of this version.
///
/// # Errors
/// A name or a value holds a zero byte, a name is empty, or they are longer than a server reads.
pub fn startup<'p>(
    out: &mut Vec<u8>,
    version: ProtocolVersion,
    parameters: impl IntoIterator<Item = (&'p str, &'p [u8])>,
) -> Result<(), WireError> {
    let start = out.len();
    let context = "StartupMessage, parameters";
    counted(out, |out| {
        out.extend_from_slice(&version.number().to_be_bytes());
        for (name, value) in parameters {
            // An empty name would end the list.
            if name.is_empty() {
                return Err(WireError::new(ErrorKind::Value, 0, "StartupMessage, parameter name"));
            }
            string(out, name.as_bytes(), "StartupMessage, parameter name")?;
            string(out, value, "StartupMessage, parameter value")?;
        }
        out.push(0);
        match out.len().saturating_sub(start) {
            0..=LIMIT => Ok(()),
            _ => Err(WireError::new(ErrorKind::TooLong, start, context)),
        }
    })
}

/// SSLRequest: asks for TLS. The answer is one byte: [`ssl_answer`](crate::ssl_answer).
pub fn ssl_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&SSL_REQUEST.to_be_bytes());
}

/// GSSENCRequest: asks for encryption with GSSAPI. The answer is one byte.
pub fn gssenc_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&GSSENC_REQUEST.to_be_bytes());
}

/// CancelRequest: asks, on a connection of its own, for the end of a session's statement. There is
/// no answer.
pub fn cancel_request(out: &mut Vec<u8>, key: BackendKey) {
    out.extend_from_slice(&16_u32.to_be_bytes());
    out.extend_from_slice(&CANCEL_REQUEST.to_be_bytes());
    out.extend_from_slice(&key.process.to_be_bytes());
    out.extend_from_slice(&key.secret.to_be_bytes());
}
