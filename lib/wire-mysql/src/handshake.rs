//! The beginning of a session: the server's greeting and the client's login.
//!
//! Protocol manual: "Connection Phase Packets": "Protocol::HandshakeV10", "Protocol::SSLRequest",
//! "Protocol::HandshakeResponse41"; MariaDB: "Connection".

use crate::answer::Status;
use crate::capabilities::{Capabilities, Negotiated};
use crate::error::{ErrorKind, WireError, fault};
use crate::put;
use crate::take::FieldReader;

/// The bytes from the server that are mixed into the password.
pub type Nonce = [u8; 20];

/// Lengths of the two parts of a nonce in the handshake, in bytes.
const NONCE_PARTS: (usize, usize) = (8, 12);

/// `Protocol::HandshakeV10`: the server's first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake<'a> {
    /// The server's version.
    pub server_version: &'a [u8],
    /// Id of the session on the server.
    pub thread_id: u32,
    /// Nonce for the password.
    pub nonce: Nonce,
    /// Capabilities of the server.
    pub offered: Capabilities,
    /// Number of the server's collation, limited to its lower 8 bits.
    pub collation: u8,
    /// The status of the session.
    pub status: Status,
    /// Authentication method that the server prefers; empty without [`Capabilities::PLUGIN_AUTH`].
    pub method: &'a [u8],
}

/// The version of the handshake.
const VERSION: u8 = 10;

/// Length of the nonce with the zero byte after it.
const NONCE_LENGTH: u8 = 21;

impl<'a> Handshake<'a> {
    /// Reads the payload.
    ///
    /// # Errors
    /// `Truncated`; `Unsupported` for another version of the handshake.
    pub fn decode(payload: &'a [u8]) -> Result<Handshake<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        if take.u8("handshake, version")? != VERSION {
            return Err(fault(ErrorKind::Unsupported, 0, "handshake, version"));
        }
        let server_version = take.until_nul("handshake, server version")?;
        let thread_id = take.u32("handshake, thread id")?;
        let first = take.array::<{ NONCE_PARTS.0 }>("handshake, nonce")?;
        take.u8("handshake, filler")?;
        let low = take.u16("handshake, capabilities")?;
        let collation = take.u8("handshake, collation")?;
        let status = Status(take.u16("handshake, status")?);
        let high = take.u16("handshake, capabilities")?;
        let length = take.u8("handshake, length of nonce")?;
        take.array::<6>("handshake, filler")?;
        let upper = take.u32("handshake, capabilities of MariaDB")?;
        let lower = u32::from(low) | u32::from(high) << 16;
        let offered = Capabilities::of_halves(lower, upper);
        let length = u64::from(length).saturating_sub(NONCE_PARTS.0 as u64).max(13);
        let second = FieldReader::new(take.bytes(length, "handshake, nonce")?)
            .array::<{ NONCE_PARTS.1 }>("handshake, nonce")?;
        let method = if offered.contains(Capabilities::PLUGIN_AUTH) {
            name_or_rest(take.rest())
        } else {
            &[]
        };
        let nonce = join_nonce(first, second);
        Ok(Handshake { server_version, thread_id, nonce, offered, collation, status, method })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let [a, b, c, d] = self.offered.lower().to_le_bytes();
        let (first, second) = self.nonce.split_at(NONCE_PARTS.0);
        out.push(VERSION);
        put::until_nul(out, self.server_version);
        out.extend_from_slice(&self.thread_id.to_le_bytes());
        out.extend_from_slice(first);
        out.extend_from_slice(&[0, a, b, self.collation]);
        out.extend_from_slice(&self.status.0.to_le_bytes());
        out.extend_from_slice(&[c, d, NONCE_LENGTH, 0, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&self.offered.upper().to_le_bytes());
        out.extend_from_slice(second);
        out.push(0);
        if self.offered.contains(Capabilities::PLUGIN_AUTH) {
            put::until_nul(out, self.method);
        }
    }
}

fn join_nonce(first: [u8; NONCE_PARTS.0], second: [u8; NONCE_PARTS.1]) -> Nonce {
    let mut nonce = [0; 20];
    let parts = first.iter().chain(&second);
    nonce.iter_mut().zip(parts).for_each(|(place, byte)| *place = *byte);
    nonce
}

/// Returns the name at the end of a payload: some servers omit its zero byte.
fn name_or_rest(rest: &[u8]) -> &[u8] {
    rest.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// `Protocol::SSLRequest`: the fields at the beginning of every client's first packet. A packet
/// without further fields requests TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SslRequest {
    /// Capabilities that the client requests.
    pub wanted: Capabilities,
    /// Longest payload that the client accepts, in bytes.
    pub max_packet: u32,
    /// The client's collation.
    pub collation: u8,
}

/// Length of the fields at the beginning of every client's first packet, in bytes.
const SSL_REQUEST: usize = 32;

impl SslRequest {
    fn take(take: &mut FieldReader<'_>) -> Result<SslRequest, WireError> {
        let lower = take.u32("client's first packet, capabilities")?;
        let max_packet = take.u32("client's first packet, longest payload")?;
        let collation = take.u8("client's first packet, collation")?;
        take.array::<19>("client's first packet, filler")?;
        let upper = take.u32("client's first packet, capabilities of MariaDB")?;
        let wanted = Capabilities::of_halves(lower, upper);
        if !wanted.contains(Capabilities::PROTOCOL_41) {
            return Err(fault(ErrorKind::Unsupported, 0, "client's first packet, protocol"));
        }
        Ok(SslRequest { wanted, max_packet, collation })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.wanted.lower().to_le_bytes());
        out.extend_from_slice(&self.max_packet.to_le_bytes());
        out.push(self.collation);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&self.wanted.upper().to_le_bytes());
    }
}

/// A connection attribute of the client: a name and a value.
pub type Attribute<'a> = (&'a [u8], &'a [u8]);

/// `Protocol::HandshakeResponse41`: the client's login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// The client's capabilities, which determine the format of the other fields.
    pub client: SslRequest,
    /// The user.
    pub user: &'a [u8],
    /// Response to the nonce.
    pub auth_response: &'a [u8],
    /// The database, with [`Capabilities::CONNECT_WITH_DB`].
    pub database: Option<&'a [u8]>,
    /// Authentication method, with [`Capabilities::PLUGIN_AUTH`].
    pub method: Option<&'a [u8]>,
    /// Connection attributes, with [`Capabilities::CONNECT_ATTRS`]: names and values.
    pub attributes: Vec<Attribute<'a>>,
}

/// A client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientHello<'a> {
    /// A request to begin TLS; the login follows inside it.
    Ssl(SslRequest),
    /// The login.
    Response(HandshakeResponse<'a>),
}

impl<'a> ClientHello<'a> {
    /// Reads the payload of a client's packet before or inside TLS.
    ///
    /// # Errors
    /// `Truncated`, `Value`; `Unsupported` for protocols before 4.1.
    pub fn decode(payload: &'a [u8]) -> Result<ClientHello<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        let client = SslRequest::take(&mut take)?;
        if payload.len() == SSL_REQUEST && client.wanted.contains(Capabilities::SSL) {
            return Ok(ClientHello::Ssl(client));
        }
        HandshakeResponse::take(client, &mut take).map(ClientHello::Response)
    }
}

impl<'a> HandshakeResponse<'a> {
    /// Returns the capabilities negotiated with a server that offered `offered`.
    pub fn negotiated_with(&self, offered: Capabilities) -> Negotiated {
        Negotiated::of(offered, self.client.wanted)
    }

    fn take(
        client: SslRequest,
        take: &mut FieldReader<'a>,
    ) -> Result<HandshakeResponse<'a>, WireError> {
        let has = |capability| client.wanted.contains(capability);
        let user = take.until_nul("handshake response, user")?;
        let auth_response = if has(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            take.text("handshake response, answer")?
        } else if has(Capabilities::SECURE_CONNECTION) {
            let length = take.u8("handshake response, answer")?;
            take.bytes(u64::from(length), "handshake response, answer")?
        } else {
            take.until_nul("handshake response, answer")?
        };
        let database = match has(Capabilities::CONNECT_WITH_DB) {
            true => Some(take.until_nul("handshake response, database")?),
            false => None,
        };
        let method = match has(Capabilities::PLUGIN_AUTH) {
            true => Some(take.until_nul("handshake response, method")?),
            false => None,
        };
        let mut attributes = Vec::new();
        if has(Capabilities::CONNECT_ATTRS) && !take.is_empty() {
            let list = take.text("handshake response, attributes")?;
            let start = take.offset().saturating_sub(list.len());
            attributes = pairs(list).map_err(|error| error.shifted_by(start))?;
        }
        // Newer clients append fields, such as the level of compression, which are ignored.
        Ok(HandshakeResponse { client, user, auth_response, database, method, attributes })
    }

    /// Appends the payload. `client` must include the capability of each field that is given.
    /// Attributes without their capability are omitted.
    ///
    /// # Errors
    /// `Value` if a field that ends with a zero byte also contains one, or if the database or the
    /// method is given without its capability or vice versa; `TooLong` if `auth_response` is longer
    /// than the capabilities allow. Bytes appended before an error must be discarded.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let has = |capability| self.client.wanted.contains(capability);
        self.client.encode(out);
        put_name(out, self.user, "handshake response, user")?;
        if has(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            put::text(out, self.auth_response);
        } else if has(Capabilities::SECURE_CONNECTION) {
            let length = u8::try_from(self.auth_response.len())
                .map_err(|_| fault(ErrorKind::TooLong, 0, "handshake response, answer"))?;
            out.push(length);
            out.extend_from_slice(self.auth_response);
        } else {
            put_name(out, self.auth_response, "handshake response, answer")?;
        }
        let optional = [
            (self.database, Capabilities::CONNECT_WITH_DB, "handshake response, database"),
            (self.method, Capabilities::PLUGIN_AUTH, "handshake response, method"),
        ];
        for (name, capability, field) in optional {
            match name {
                Some(name) if has(capability) => put_name(out, name, field)?,
                None if !has(capability) => {}
                _ => return Err(fault(ErrorKind::Value, 0, field)),
            }
        }
        if has(Capabilities::CONNECT_ATTRS) {
            let mut list = Vec::new();
            for (name, value) in &self.attributes {
                put::text(&mut list, name);
                put::text(&mut list, value);
            }
            put::text(out, &list);
        }
        Ok(())
    }
}

fn put_name(out: &mut Vec<u8>, name: &[u8], field: &'static str) -> Result<(), WireError> {
    if name.contains(&0) {
        return Err(fault(ErrorKind::Value, 0, field));
    }
    put::until_nul(out, name);
    Ok(())
}

fn pairs(list: &[u8]) -> Result<Vec<Attribute<'_>>, WireError> {
    let mut take = FieldReader::new(list);
    let mut pairs = Vec::new();
    while !take.is_empty() {
        let name = take.text("handshake response, name of an attribute")?;
        pairs.push((name, take.text("handshake response, value of an attribute")?));
    }
    Ok(pairs)
}

/// `Protocol::AuthSwitchRequest`: the server requests another authentication method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSwitchRequest<'a> {
    /// Name of the method.
    pub method: &'a [u8],
    /// Initial data of the method: a nonce.
    pub data: &'a [u8],
}

pub(crate) const AUTH_SWITCH: u8 = 0xFE;
pub(crate) const AUTH_MORE: u8 = 0x01;

impl<'a> AuthSwitchRequest<'a> {
    /// Reads the payload.
    ///
    /// # Errors
    /// `Truncated`, `Value`; `Unsupported` for a request without a method name, which means
    /// `mysql_old_password`.
    pub fn decode(payload: &'a [u8]) -> Result<AuthSwitchRequest<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        if take.u8("auth switch, first byte")? != AUTH_SWITCH {
            return Err(fault(ErrorKind::Value, 0, "auth switch, first byte"));
        }
        if take.is_empty() {
            return Err(take.fault(ErrorKind::Unsupported, "auth switch to mysql_old_password"));
        }
        let method = take.until_nul("auth switch, method")?;
        Ok(AuthSwitchRequest { method, data: take.rest() })
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(AUTH_SWITCH);
        put::until_nul(out, self.method);
        out.extend_from_slice(self.data);
    }
}

/// `Protocol::AuthMoreData`: further data of an authentication method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthMoreData<'a>(pub &'a [u8]);

impl<'a> AuthMoreData<'a> {
    /// Reads the payload.
    ///
    /// # Errors
    /// `Truncated` or `Value`.
    pub fn decode(payload: &'a [u8]) -> Result<AuthMoreData<'a>, WireError> {
        let mut take = FieldReader::new(payload);
        if take.u8("auth more data, first byte")? != AUTH_MORE {
            return Err(fault(ErrorKind::Value, 0, "auth more data, first byte"));
        }
        Ok(AuthMoreData(take.rest()))
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(AUTH_MORE);
        out.extend_from_slice(self.0);
    }
}
