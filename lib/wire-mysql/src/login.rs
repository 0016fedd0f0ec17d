//! The client's login.
//!
//! Protocol manual: "Connection Phase".

use crate::answer::{ERR, ErrPacket, OK, OkPacket, Status};
use crate::auth::{AuthState, Channel, Method, Password, Proof, ServerKey};
use crate::capabilities::{Capabilities, Negotiated, REQUIRED};
use crate::error::{ErrorKind, WireError, fault};
use crate::frame::{self, NextPayload, Payloads};
use crate::handshake::{
    AUTH_MORE, AUTH_SWITCH, Attribute, AuthMoreData, AuthSwitchRequest, Handshake,
    HandshakeResponse, SslRequest,
};
use crate::server_key::Seed;

/// Settings of a login.
#[derive(Clone, Copy, Debug)]
pub struct LoginOptions<'a> {
    /// The user.
    pub user: &'a [u8],
    /// The user's password; empty if there is none.
    pub password: Password<'a>,
    /// Initial database.
    pub database: Option<&'a [u8]>,
    /// Capabilities that the client requests: [`WANTED`](crate::WANTED), possibly with changes.
    /// Other options determine whether TLS and the database are requested.
    pub wanted: Capabilities,
    /// Kind of connection to the server. With `Tls`, TLS begins before the user is sent.
    pub channel: Channel,
    /// Key that may encrypt the password on a connection without TLS.
    pub server_key: ServerKey<'a>,
    /// Fresh random bytes for the padding of an encrypted password.
    pub seed: Seed,
    /// Collation of the client: 45 is `utf8mb4_general_ci`, which all servers support.
    pub collation: u8,
    /// Connection attributes, which servers list with their sessions.
    pub attributes: &'a [Attribute<'a>],
}

/// The next step of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Send the appended bytes, and read more.
    NeedBytes,
    /// Send the appended bytes, begin TLS, then call [`Login::tls_started`].
    StartTls,
    /// The session is open.
    Done(Session),
    /// The server rejected the login.
    Refused(Refusal),
}

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Negotiated capabilities.
    pub agreed: Negotiated,
    /// Id of the session on the server, for `KILL`.
    pub thread_id: u32,
    /// Version of the server as received: MariaDB puts `5.5.5-` in front of its own version.
    pub server_version: Vec<u8>,
    /// Initial status of the session.
    pub status: Status,
}

/// An error that a server sent, with an owned message, such as the rejection of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// MySQL's error code.
    pub code: u16,
    /// The SQLSTATE, if the server sent one.
    pub sqlstate: Option<[u8; 5]>,
    /// Human-readable message.
    pub message: Vec<u8>,
}

/// Maximum number of authentication switches per login.
const MAX_SWITCHES: u8 = 8;

/// Longest payload that the client claims to accept, in bytes. Nothing here enforces it.
const MAX_PACKET: u32 = 1 << 30;

/// A login in progress.
#[derive(Debug)]
pub struct Login<'a> {
    options: LoginOptions<'a>,
    payloads: Payloads,
    state: State,
    session: Session,
    handshake: HandshakeFields,
    auth_state: AuthState,
    switches: u8,
    /// Sequence number of the next packet from either side.
    sequence: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Waiting for the server's handshake.
    Greeting,
    /// Waiting for the caller to begin TLS.
    Tls,
    /// Waiting for the result of authentication.
    Answer,
    /// Finished.
    Over,
}

/// The fields of the handshake that are needed for the response.
#[derive(Clone, Copy, Debug)]
struct HandshakeFields {
    nonce: [u8; 20],
    method: Method,
}

impl<'a> Login<'a> {
    /// Creates a login that waits for the server's handshake.
    pub fn new(options: LoginOptions<'a>) -> Login<'a> {
        let agreed = Negotiated::of(Capabilities::default(), Capabilities::default());
        Login {
            options,
            payloads: Payloads::new(),
            state: State::Greeting,
            session: Session {
                agreed,
                thread_id: 0,
                server_version: Vec::new(),
                status: Status::default(),
            },
            handshake: HandshakeFields { nonce: [0; 20], method: Method::Native },
            auth_state: AuthState::Over,
            switches: 0,
            sequence: 0,
        }
    }

    /// Reads bytes and appends the client's packets to `out`. Returns the number of bytes consumed;
    /// the caller must pass the other bytes again in the next call, followed by new ones.
    ///
    /// # Errors
    /// `Insecure` if the server requests something that would expose the password; `Unsupported`
    /// for a method or version that this crate does not support, and if TLS is requested from a
    /// server without TLS; other kinds for packets that are malformed or not allowed, and for data
    /// that cannot be sent. The offset counts from the start of `bytes`. After an error the login
    /// is unusable.
    pub fn read(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, LoginStep), WireError> {
        let mut at = 0_usize;
        let mut payloads = std::mem::take(&mut self.payloads);
        loop {
            let given = bytes.get(at..).unwrap_or_default();
            let NextPayload { used, sequence, payload } =
                payloads.next(given).map_err(|error| error.shifted_by(at))?;
            let end = at.saturating_add(used);
            let Some(payload) = payload else {
                self.payloads = payloads;
                return Ok((end, LoginStep::NeedBytes));
            };
            let start = end.saturating_sub(payload.len());
            self.sequence = sequence;
            let step = self.payload(payload, out).map_err(|error| error.shifted_by(start))?;
            at = end;
            payloads.expect(self.sequence);
            match step {
                LoginStep::NeedBytes => {}
                LoginStep::StartTls if at < bytes.len() => {
                    // An attacker could have injected these bytes before TLS began.
                    return Err(fault(ErrorKind::Order, at, "bytes in front of TLS"));
                }
                LoginStep::StartTls | LoginStep::Done(_) | LoginStep::Refused(_) => {
                    self.payloads = payloads;
                    return Ok((at, step));
                }
            }
        }
    }

    /// Continues the login after TLS began; appends the login packet.
    ///
    /// # Errors
    /// `Order` if TLS was not requested; `Value` for a user or a database with a zero byte;
    /// `TooLong` if the response to the nonce is longer than the capabilities allow.
    pub fn tls_started(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.state != State::Tls {
            return Err(fault(ErrorKind::Order, 0, "TLS that was not asked for"));
        }
        self.respond(out)?;
        self.payloads.expect(self.sequence);
        Ok(())
    }

    fn payload(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<LoginStep, WireError> {
        if payload.first() == Some(&ERR) {
            return self.read_refusal(payload);
        }
        match self.state {
            State::Greeting => self.read_greeting(payload, out),
            State::Answer => self.read_auth_reply(payload, out),
            State::Tls | State::Over => Err(fault(ErrorKind::Order, 0, "packet of the login")),
        }
    }

    fn read_refusal(&mut self, payload: &[u8]) -> Result<LoginStep, WireError> {
        let ErrPacket { code, sqlstate, message } = ErrPacket::decode(payload)?;
        self.state = State::Over;
        Ok(LoginStep::Refused(Refusal { code, sqlstate, message: message.to_vec() }))
    }

    fn read_greeting(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<LoginStep, WireError> {
        let handshake = Handshake::decode(payload)?;
        let agreed = Negotiated::of(handshake.offered, self.wanted());
        if !agreed.has(REQUIRED) {
            return Err(fault(ErrorKind::Unsupported, 0, "handshake, protocol before 4.1"));
        }
        self.session = Session {
            agreed,
            thread_id: handshake.thread_id,
            server_version: handshake.server_version.to_vec(),
            status: handshake.status,
        };
        let method = Method::of_name(handshake.method).filter(|method| self.can_begin(*method));
        // A server that prefers a method which cannot be used yet will request a switch.
        let method = method.unwrap_or(Method::Native);
        self.handshake = HandshakeFields { nonce: handshake.nonce, method };
        if self.options.channel != Channel::Tls {
            self.respond(out)?;
            return Ok(LoginStep::NeedBytes);
        }
        if !agreed.has(Capabilities::SSL) {
            return Err(fault(ErrorKind::Unsupported, 0, "handshake of a server without TLS"));
        }
        let request = self.client();
        self.sequence = frame::packet(out, self.sequence, |out| request.encode(out));
        self.state = State::Tls;
        Ok(LoginStep::StartTls)
    }

    /// Returns true if the method can use the handshake's nonce and is safe on the connection.
    fn can_begin(&self, method: Method) -> bool {
        match method {
            Method::Native | Method::CachingSha2 => true,
            Method::Ed25519 => false,
            Method::Clear => self.options.channel == Channel::Tls,
        }
    }

    fn wanted(&self) -> Capabilities {
        let LoginOptions { wanted, channel, database, .. } = &self.options;
        let given = [
            (Capabilities::SSL, *channel == Channel::Tls),
            (Capabilities::CONNECT_WITH_DB, database.is_some()),
        ];
        let wanted = *wanted | REQUIRED;
        given.into_iter().fold(wanted, |wanted, (capability, is_given)| match is_given {
            true => wanted | capability,
            false => wanted.without(capability),
        })
    }

    fn client(&self) -> SslRequest {
        SslRequest {
            wanted: self.session.agreed.capabilities(),
            max_packet: MAX_PACKET,
            collation: self.options.collation,
        }
    }

    fn proof(&self) -> Proof<'a> {
        let LoginOptions { password, channel, server_key, seed, .. } = self.options;
        Proof { password, channel, server_key, seed }
    }

    /// Appends the login packet.
    fn respond(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let agreed = self.session.agreed;
        let HandshakeFields { nonce, method } = self.handshake;
        let (answer, auth_state) = self.proof().begin(method, &nonce)?;
        let method = method.name().as_bytes();
        let response = HandshakeResponse {
            client: self.client(),
            user: self.options.user,
            auth_response: &answer,
            database: self.options.database.filter(|_| agreed.has(Capabilities::CONNECT_WITH_DB)),
            method: agreed.has(Capabilities::PLUGIN_AUTH).then_some(method),
            attributes: self.options.attributes.to_vec(),
        };
        let mut payload = Vec::new();
        response.encode(&mut payload)?;
        self.send(out, &payload);
        (self.auth_state, self.state) = (auth_state, State::Answer);
        Ok(())
    }

    fn send(&mut self, out: &mut Vec<u8>, payload: &[u8]) {
        self.sequence = frame::packet(out, self.sequence, |out| out.extend_from_slice(payload));
    }

    fn read_auth_reply(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<LoginStep, WireError> {
        let answer = match payload.first() {
            Some(&OK) => {
                self.session.status = OkPacket::decode(payload, self.session.agreed)?.status;
                self.state = State::Over;
                return Ok(LoginStep::Done(self.session.clone()));
            }
            Some(&AUTH_SWITCH) => Some(self.switch_method(&AuthSwitchRequest::decode(payload)?)?),
            Some(&AUTH_MORE) => {
                let AuthMoreData(data) = AuthMoreData::decode(payload)?;
                self.proof().continue_auth(&mut self.auth_state, data)?
            }
            _ => return Err(fault(ErrorKind::Order, 0, "packet of the login")),
        };
        if let Some(answer) = answer {
            self.send(out, &answer);
        }
        Ok(LoginStep::NeedBytes)
    }

    fn switch_method(&mut self, request: &AuthSwitchRequest<'_>) -> Result<Vec<u8>, WireError> {
        self.switches = self.switches.saturating_add(1);
        if self.switches > MAX_SWITCHES {
            return Err(fault(ErrorKind::TooLong, 0, "auth switches of one login"));
        }
        let method = Method::of_name(request.method).ok_or(fault(
            ErrorKind::Unsupported,
            1,
            "auth switch, method",
        ))?;
        let (answer, auth_state) = self.proof().begin(method, request.data)?;
        self.auth_state = auth_state;
        Ok(answer)
    }
}
