//! A client's first packets, which have no type byte: StartupMessage, SSLRequest, GSSENCRequest and
//! CancelRequest.

use std::fmt;

use crate::cursor::Cursor;
use crate::frame::{length_prefixed, string};
use crate::list::sealed::Read;
use crate::{BackendKey, ErrorKind, List, WireError};

/// Longest startup packet that a server reads, in bytes, as in PostgreSQL
/// (`MAX_STARTUP_PACKET_LENGTH`).
const LIMIT: usize = 10_000;

const SSL_REQUEST: u32 = 80_877_103;
const GSSENC_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// A client's first packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartupPacket<'a> {
    /// A request for encryption with TLS; the reply is one byte.
    SslRequest,
    /// A request for encryption with GSSAPI; the reply is one byte.
    GssEncRequest,
    /// A request to cancel a statement of another session; there is no reply.
    CancelRequest(BackendKey),
    /// The beginning of a session.
    Startup(Startup<'a>),
}

/// The beginning of a session. Message StartupMessage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Startup<'a> {
    /// Protocol version that the client requests.
    pub version: ProtocolVersion,
    /// `user`, `database`, settings, and options of the protocol (`_pq_.…`).
    pub parameters: List<'a, StartupParameter<'a>>,
}

impl<'a> Startup<'a> {
    /// Returns the value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&'a [u8]> {
        let mut parameters = self.parameters.iter();
        parameters.find(|parameter| parameter.name == name.as_bytes()).map(|found| found.value)
    }
}

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolVersion {
    /// Major version: 3 for all servers since 2003.
    pub major: u16,
    /// Minor version: this crate supports 0.
    pub minor: u16,
}

impl ProtocolVersion {
    /// The version that this crate supports.
    pub const V3_0: ProtocolVersion = ProtocolVersion { major: 3, minor: 0 };

    /// Returns the version as a number.
    pub fn number(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor)
    }

    /// Returns the version for a number.
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
    /// Name of the parameter.
    pub name: &'a [u8],
    /// Value of the parameter.
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
    /// Returns the first packet of `bytes` and its length in bytes; `None` if it is incomplete.
    ///
    /// # Errors
    /// The bytes are not a valid first packet of a client.
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

/// Appends StartupMessage: begins a session of this protocol version.
///
/// # Errors
/// A name or a value contains a zero byte, a name is empty, or the packet is longer than a server
/// reads.
pub fn startup<'p>(
    out: &mut Vec<u8>,
    version: ProtocolVersion,
    parameters: impl IntoIterator<Item = (&'p str, &'p [u8])>,
) -> Result<(), WireError> {
    let start = out.len();
    let context = "StartupMessage, parameters";
    length_prefixed(out, |out| {
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

/// Appends SSLRequest: requests TLS. The reply is one byte: [`ssl_answer`](crate::ssl_answer).
pub fn ssl_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&SSL_REQUEST.to_be_bytes());
}

/// Appends GSSENCRequest: requests encryption with GSSAPI. The reply is one byte.
pub fn gssenc_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&GSSENC_REQUEST.to_be_bytes());
}

/// Appends CancelRequest. Sent on a separate connection, it asks the server to cancel the running
/// statement of a session. There is no reply.
pub fn cancel_request(out: &mut Vec<u8>, key: BackendKey) {
    out.extend_from_slice(&16_u32.to_be_bytes());
    out.extend_from_slice(&CANCEL_REQUEST.to_be_bytes());
    out.extend_from_slice(&key.process.to_be_bytes());
    out.extend_from_slice(&key.secret.to_be_bytes());
}
