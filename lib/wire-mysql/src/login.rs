//! The client's way into a session.
//!
//! Protocol manual: "Connection Phase".

use crate::answer::{ERR, ErrPacket, OK, OkPacket, Status};
use crate::auth::{Channel, Method, Password, Proof, ServerKey, Talk};
use crate::capabilities::{Capabilities, Negotiated, REQUIRED};
use crate::error::{ErrorKind, WireError, fault};
use crate::frame::{self, Payloads, Taken};
use crate::handshake::{
    AUTH_MORE, AUTH_SWITCH, Attribute, AuthMoreData, AuthSwitchRequest, Handshake,
    HandshakeResponse, SslRequest,
};
use crate::server_key::Seed;

/// Who logs in, and how.
#[derive(Clone, Copy, Debug)]
pub struct LoginOptions<'a> {
    /// The user.
    pub user: &'a [u8],
    /// Its password; empty if it has none.
    pub password: Password<'a>,
    /// The database to be in.
    pub database: Option<&'a [u8]>,
    /// What the client would like: [`WANTED`](crate::WANTED), perhaps with or without others.
    /// TLS and the database are asked for by the other options.
    pub wanted: Capabilities,
    /// The way to the server. With `Tls` the login asks for it before it says anything.
    pub channel: Channel,
    /// Whose key may be believed without TLS.
    pub server_key: ServerKey<'a>,
    /// Fresh random bytes: for the padding of a password under the server's key.
    pub seed: Seed,
    /// The client's collation: 45 is `utf8mb4_general_ci`, which all servers know.
    pub collation: u8,
    /// What the client says of itself, for the server's lists of sessions.
    pub attributes: &'a [Attribute<'a>],
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// Send what was appended, and read more.
    NeedBytes,
    /// Send what was appended, begin TLS, then call [`Login::tls_is_on`].
    StartTls,
    /// The session is open.
    Done(Session),
    /// The server does not want this client.
    Refused(Refusal),
}

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What both sides agreed on.
    pub agreed: Negotiated,
    /// The server's number for the session, for `KILL`.
    pub thread_id: u32,
    /// The server's version, as it came: MariaDB puts `5.5.5-` in front of its own.
    pub server_version: Vec<u8>,
    /// The status that it begins with.
    pub status: Status,
}

/// Why the server does not want this client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The server's number for it.
    pub code: u16,
    /// The SQLSTATE, if it gave one.
    pub sqlstate: Option<[u8; 5]>,
    /// What it says, for people.
    pub message: Vec<u8>,
}

/// How often a server may ask for another method.
const MAX_SWITCHES: u8 = 8;

/// The longest payload that the client says to take: nothing limits it.
const MAX_PACKET: u32 = 1 << 30;

/// A login under way.
#[derive(Debug)]
pub struct Login<'a> {
    options: LoginOptions<'a>,
    payloads: Payloads,
    state: State,
    session: Session,
    hello: Hello,
    talk: Talk,
    switches: u8,
    /// The number of the next packet, whoever sends it.
    sequence: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The server's handshake.
    Greeting,
    /// The caller begins TLS.
    Tls,
    /// The server's judgement.
    Answer,
    /// Nothing more.
    Over,
}

/// What the handshake said that the response needs.
#[derive(Clone, Copy, Debug)]
struct Hello {
    nonce: [u8; 20],
    method: Method,
}

impl<'a> Login<'a> {
    /// Waits for the server, which speaks first.
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
            hello: Hello { nonce: [0; 20], method: Method::Native },
            talk: Talk::Over,
            switches: 0,
            sequence: 0,
        }
    }

    /// Reads on and appends to `out` what is to be sent. Returns how many bytes were used; those
    /// that are left belong to the next call, with more behind them.
    ///
    /// # Errors
    /// `Insecure` if the server asks for what would show the password, `Unsupported` for methods
    /// and versions that this crate does not speak and for TLS that the server does not. The
    /// offset is that within `bytes`.
    pub fn read(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, LoginStep), WireError> {
        let mut at = 0_usize;
        let mut payloads = std::mem::take(&mut self.payloads);
        loop {
            let given = bytes.get(at..).unwrap_or_default();
            let Taken { used, sequence, payload } =
                payloads.next(given).map_err(|error| error.behind(at))?;
            let end = at.saturating_add(used);
            let Some(payload) = payload else {
                self.payloads = payloads;
                return Ok((end, LoginStep::NeedBytes));
            };
            let start = end.saturating_sub(payload.len());
            self.sequence = sequence;
            let step = self.payload(payload, out).map_err(|error| error.behind(start))?;
            at = end;
            payloads.expect(self.sequence);
            match step {
                LoginStep::NeedBytes => {}
                LoginStep::StartTls if at < bytes.len() => {
                    // Whoever stands between could have said it before TLS kept him out.
                    return Err(fault(ErrorKind::Order, at, "bytes in front of TLS"));
                }
                LoginStep::StartTls | LoginStep::Done(_) | LoginStep::Refused(_) => {
                    self.payloads = payloads;
                    return Ok((at, step));
                }
            }
        }
    }

    /// Says that TLS is on; appends the login.
    ///
    /// # Errors
    /// `Order` if it was not asked for; `Value` for a user, database or method with a zero byte.
    pub fn tls_is_on(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.state != State::Tls {
            return Err(fault(ErrorKind::Order, 0, "TLS that was not asked for"));
        }
        self.respond(out)?;
        self.payloads.expect(self.sequence);
        Ok(())
    }

    fn payload(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<LoginStep, WireError> {
        if payload.first() == Some(&ERR) {
            return self.refused(payload);
        }
        match self.state {
            State::Greeting => self.greeted(payload, out),
            State::Answer => self.answered(payload, out),
            State::Tls | State::Over => Err(fault(ErrorKind::Order, 0, "packet of the login")),
        }
    }

    fn refused(&mut self, payload: &[u8]) -> Result<LoginStep, WireError> {
        let ErrPacket { code, sqlstate, message } = ErrPacket::decode(payload)?;
        self.state = State::Over;
        Ok(LoginStep::Refused(Refusal { code, sqlstate, message: message.to_vec() }))
    }

    fn greeted(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<LoginStep, WireError> {
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
        // A server that prefers what this client cannot begin with asks for another method.
        let method = method.unwrap_or(Method::Native);
        self.hello = Hello { nonce: handshake.nonce, method };
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

    /// Whether the nonce of the handshake is one for this method, and the way safe for it.
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

    /// The login itself.
    fn respond(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let agreed = self.session.agreed;
        let Hello { nonce, method } = self.hello;
        let (answer, talk) = self.proof().begin(method, &nonce)?;
        let method = method.name().as_bytes();
        let response = HandshakeResponse {
            client: self.client(),
            user: self.options.user,
            answer: &answer,
            database: self.options.database.filter(|_| agreed.has(Capabilities::CONNECT_WITH_DB)),
            method: agreed.has(Capabilities::PLUGIN_AUTH).then_some(method),
            attributes: self.options.attributes.to_vec(),
        };
        let mut payload = Vec::new();
        response.encode(&mut payload)?;
        self.send(out, &payload);
        (self.talk, self.state) = (talk, State::Answer);
        Ok(())
    }

    fn send(&mut self, out: &mut Vec<u8>, payload: &[u8]) {
        self.sequence = frame::packet(out, self.sequence, |out| out.extend_from_slice(payload));
    }

    fn answered(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<LoginStep, WireError> {
        let answer = match payload.first() {
            Some(&OK) => {
                self.session.status = OkPacket::decode(payload, self.session.agreed)?.status;
                self.state = State::Over;
                return Ok(LoginStep::Done(self.session.clone()));
            }
            Some(&AUTH_SWITCH) => Some(self.switched(&AuthSwitchRequest::decode(payload)?)?),
            Some(&AUTH_MORE) => {
                let AuthMoreData(data) = AuthMoreData::decode(payload)?;
                self.proof().go_on(&mut self.talk, data)?
            }
            _ => return Err(fault(ErrorKind::Order, 0, "packet of the login")),
        };
        if let Some(answer) = answer {
            self.send(out, &answer);
        }
        Ok(LoginStep::NeedBytes)
    }

    fn switched(&mut self, request: &AuthSwitchRequest<'_>) -> Result<Vec<u8>, WireError> {
        self.switches = self.switches.saturating_add(1);
        if self.switches > MAX_SWITCHES {
            return Err(fault(ErrorKind::TooLong, 0, "auth switches of one login"));
        }
        let method = Method::of_name(request.method).ok_or(fault(
            ErrorKind::Unsupported,
            1,
            "auth switch, method",
        ))?;
        let (answer, talk) = self.proof().begin(method, request.data)?;
        self.talk = talk;
        Ok(answer)
    }
}
