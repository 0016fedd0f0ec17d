//! The beginning of a session on the client's side. Chapter "Start-up".
//!
//! ```text
//!  client                                     server
//!    │ ── StartupMessage ───────────────────▶ │
//!    │ ◀─ Authentication… ─────────────────── │  asks for a password, or SASL
//!    │ ── PasswordMessage / SASLResponse ───▶ │  (again, for SASL)
//!    │ ◀─ AuthenticationOk ────────────────── │
//!    │ ◀─ ParameterStatus … BackendKeyData ── │
//!    │ ◀─ ReadyForQuery ───────────────────── │
//! ```

use std::fmt;

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};

use crate::backend::{Authentication, Mechanism, Message, Negotiation, ParameterStatus};
use crate::frame::{self, HEADER, MAX_WHOLE_BODY};
use crate::frontend::ProtocolVersion;
use crate::tags::backend as tag;
use crate::{
    BackendKey, ErrorKind, List, OwnedReport, TransactionStatus, WireError, backend, frontend,
};

/// Maximum number of settings that a server may report at the start; PostgreSQL reports about
/// fifteen.
const SETTINGS_LIMIT: usize = 1_000;

/// Total size of the settings reported at the start, in bytes, after which no further setting is
/// accepted.
const SETTINGS_BYTES: usize = 1 << 20;

/// The inputs of a login: the user, the password, and the settings of the session.
#[derive(Clone, Copy)]
pub struct Login<'l> {
    /// The user's name.
    pub user: &'l str,
    /// Name of the database; without one the server uses the user's name.
    pub database: Option<&'l str>,
    /// The password, if any.
    pub password: Option<&'l [u8]>,
    /// Settings for the session, such as `application_name`.
    pub settings: &'l [(&'l str, &'l str)],
    /// Encryption of the connection, and the channel binding of the server's certificate.
    pub channel: Channel<'l>,
}

/// The confidentiality of the connection to the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Channel<'l> {
    /// A connection that others can read: the password is never sent in clear text.
    Open,
    /// A connection that others cannot read, without channel binding: it is local, or has TLS with
    /// a certificate that does not allow channel binding.
    Plain,
    /// A connection with TLS and channel binding.
    Tls {
        /// Hash of the server's certificate, as defined by RFC 5929 for `tls-server-end-point`. It
        /// allows SCRAM to detect an attacker between client and server.
        server_end_point: &'l [u8],
    },
}

/// Formats the login without the password.
impl fmt::Debug for Login<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// A session that has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Key for a CancelRequest; some poolers send none.
    pub key: Option<BackendKey>,
    /// The settings that the server reported, in order: `server_version`, `TimeZone` and others.
    pub settings: Vec<(String, String)>,
}

impl Session {
    /// Returns the value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        settings.find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// The reason why a session could not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartupError {
    /// The received bytes violate the protocol, or the password contains a zero byte.
    Wire(WireError),
    /// The server rejected the session: a wrong password, an unknown database, too many
    /// connections.
    Server(Box<OwnedReport>),
    /// The server requested a password, and none was given.
    PasswordMissing,
    /// The server requested the password in clear text on a connection that others can read.
    Insecure,
    /// The server requested an authentication method that this crate does not support, such as
    /// GSSAPI.
    Method(String),
    /// The server could not prove that it knows the password, or violated SCRAM.
    Scram(String),
    /// The server does not support version 3.0 of the protocol, or one of its options.
    Version(String),
}

impl fmt::Display for StartupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartupError::Wire(_) => f.write_str("the server's answer is not the protocol"),
            StartupError::Server(_) => f.write_str("the server refuses the session"),
            StartupError::PasswordMissing => f.write_str("the server asks for a password"),
            StartupError::Insecure => {
                f.write_str("the server asks for the password itself where others could read it")
            }
            StartupError::Method(method) => {
                write!(f, "the server asks for authentication by {method}, which is not supported")
            }
            StartupError::Scram(why) => write!(f, "the server failed authentication: {why}"),
            StartupError::Version(what) => {
                write!(f, "the server does not speak version 3.0 of the protocol: {what}")
            }
        }
    }
}

impl std::error::Error for StartupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartupError::Wire(error) => Some(error),
            StartupError::Server(report) => Some(report),
            StartupError::PasswordMissing
            | StartupError::Insecure
            | StartupError::Method(_)
            | StartupError::Scram(_)
            | StartupError::Version(_) => None,
        }
    }
}

impl From<WireError> for StartupError {
    fn from(error: WireError) -> StartupError {
        StartupError::Wire(error)
    }
}

/// A session that is beginning: reads the server's messages and appends the replies.
pub struct Startup<'l> {
    login: Login<'l>,
    state: State,
    session: Session,
    /// Number of bytes of a notice that are still to be skipped.
    skip: usize,
}

/// The next expected message.
enum State {
    /// The first authentication request, or immediately AuthenticationOk.
    AuthRequest,
    /// The next step of SCRAM.
    Scram(Box<ScramSha256>),
    /// The server's proof that it knows the password.
    Proof(Box<ScramSha256>),
    /// AuthenticationOk; further requests are not allowed.
    AuthResult,
    /// Settings, the key, and ReadyForQuery.
    Settings,
    /// No message: the session has begun.
    Ready,
}

impl fmt::Debug for Startup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Startup")
            .field("login", &self.login)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl<'l> Startup<'l> {
    /// Begins a session: appends the StartupMessage.
    ///
    /// # Errors
    /// A name or a value contains a zero byte, the name of a setting is empty, or the message is
    /// longer than a server reads.
    pub fn begin(login: Login<'l>, out: &mut Vec<u8>) -> Result<Startup<'l>, WireError> {
        let database = login.database.map(|database| ("database", database));
        let names = [("user", login.user)].into_iter().chain(database);
        let parameters = names.chain(login.settings.iter().copied());
        let parameters = parameters.map(|(name, value)| (name, value.as_bytes()));
        frontend::startup(out, ProtocolVersion::V3_0, parameters)?;
        Ok(Startup { login, state: State::AuthRequest, session: Session::default(), skip: 0 })
    }

    /// Reads bytes, appends the replies, and returns the number of bytes consumed. Stops after
    /// ReadyForQuery: later bytes belong to the session.
    ///
    /// # Errors
    /// The session cannot begin.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, StartupError> {
        let mut used = self.skip.min(bytes.len());
        self.skip = self.skip.saturating_sub(used);
        while !self.is_ready() {
            let rest = bytes.get(used..).unwrap_or_default();
            let error =
                |error: WireError| WireError { offset: error.offset.saturating_add(used), ..error };
            if let Some(length) = notice(rest) {
                self.skip = length.saturating_sub(rest.len());
                used = used.saturating_add(length.min(rest.len()));
                continue;
            }
            let Some(frame) = frame::first_message(rest, limit).map_err(error)? else { break };
            let body = used.saturating_add(HEADER);
            let message = backend::decode_body(frame.tag, frame.body, body)?;
            self.message(message, out, used)?;
            used = used.saturating_add(frame.length);
        }
        Ok(used)
    }

    /// Returns true if the session has begun.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// Returns the session, if it has begun.
    pub fn into_session(self) -> Option<Session> {
        self.is_ready().then_some(self.session)
    }

    fn message(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
        at: usize,
    ) -> Result<(), StartupError> {
        let is_let_in = matches!(self.state, State::Settings);
        match message {
            Message::ErrorResponse(report) => {
                return Err(StartupError::Server(Box::new(report.to_owned())));
            }
            Message::NegotiateProtocolVersion(negotiation) => negotiate(&negotiation)?,
            Message::Authentication(question) if !is_let_in => {
                self.answer_authentication(question, out, at)?
            }
            Message::ParameterStatus(status) if is_let_in => self.setting(status, at)?,
            Message::BackendKeyData(key) if is_let_in => self.session.key = Some(key),
            Message::ReadyForQuery(TransactionStatus::Idle) if is_let_in => {
                self.state = State::Ready;
            }
            _ => return Err(unexpected(at, "a message during startup")),
        }
        Ok(())
    }

    /// Replies to an authentication request, if it is allowed at this point.
    fn answer_authentication(
        &mut self,
        question: Authentication<'_>,
        out: &mut Vec<u8>,
        at: usize,
    ) -> Result<(), StartupError> {
        let state = std::mem::replace(&mut self.state, State::AuthResult);
        self.state = match (state, question) {
            (State::AuthRequest | State::AuthResult, Authentication::Ok) => State::Settings,
            (State::AuthRequest, question) => self.first_answer(question, out)?,
            (State::Scram(scram), Authentication::SaslContinue { data }) => {
                State::Proof(next_step(scram, data, out)?)
            }
            (State::Proof(mut scram), Authentication::SaslFinal { data }) => {
                scram.finish(data).map_err(|error| StartupError::Scram(error.to_string()))?;
                State::AuthResult
            }
            // A server that accepts the client without a proof of its own may be an impostor.
            (State::Scram(_) | State::Proof(_), Authentication::Ok) => {
                let why = "it did not prove that it knows the password";
                return Err(StartupError::Scram(why.to_owned()));
            }
            _ => return Err(unexpected(at, "Authentication")),
        };
        Ok(())
    }

    fn first_answer(
        &self,
        question: Authentication<'_>,
        out: &mut Vec<u8>,
    ) -> Result<State, StartupError> {
        match question {
            Authentication::CleartextPassword if self.login.channel == Channel::Open => {
                Err(StartupError::Insecure)
            }
            Authentication::CleartextPassword => {
                frontend::password(out, self.password()?)?;
                Ok(State::AuthResult)
            }
            Authentication::Md5Password { salt } => {
                let hash = md5_hash(self.login.user.as_bytes(), self.password()?, salt);
                frontend::password(out, hash.as_bytes())?;
                Ok(State::AuthResult)
            }
            Authentication::Sasl { mechanisms } => self.begin_scram(mechanisms, out),
            question => Err(StartupError::Method(match question.method() {
                2 => "Kerberos V5".to_owned(),
                7 | 8 => "GSSAPI".to_owned(),
                9 => "SSPI".to_owned(),
                method => format!("method {method}"),
            })),
        }
    }

    /// Chooses a SASL mechanism and appends its first step. Chapter "SASL Authentication".
    fn begin_scram(
        &self,
        mechanisms: List<'_, Mechanism<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<State, StartupError> {
        let offers = |name: &str| mechanisms.iter().any(|found| found.name == name.as_bytes());
        let (mechanism, binding) = match self.login.channel {
            Channel::Tls { server_end_point } if offers(SCRAM_SHA_256_PLUS) => {
                let binding = ChannelBinding::tls_server_end_point(server_end_point.to_vec());
                (SCRAM_SHA_256_PLUS, binding)
            }
            // This tells the server that the client supports channel binding. A server that
            // supports it, too, then detects that an attacker removed the server's offer of channel
            // binding.
            Channel::Tls { .. } => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            Channel::Open | Channel::Plain => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        };
        if !offers(mechanism) {
            let names: Vec<_> =
                mechanisms.iter().map(|found| String::from_utf8_lossy(found.name)).collect();
            return Err(StartupError::Method(format!("SASL ({})", names.join(", "))));
        }
        let scram = Box::new(ScramSha256::new(self.password()?, binding));
        frontend::sasl_initial_response(out, mechanism, Some(scram.message()))?;
        Ok(State::Scram(scram))
    }

    fn password(&self) -> Result<&'l [u8], StartupError> {
        self.login.password.ok_or(StartupError::PasswordMissing)
    }

    fn setting(&mut self, status: ParameterStatus<'_>, at: usize) -> Result<(), StartupError> {
        let kept = |(name, value): &(String, String)| name.len().saturating_add(value.len());
        let bytes = self.session.settings.iter().map(kept).fold(0_usize, usize::saturating_add);
        if self.session.settings.len() >= SETTINGS_LIMIT || bytes >= SETTINGS_BYTES {
            let context = "ParameterStatus, number of settings";
            return Err(WireError::new(ErrorKind::TooLong, at, context).into());
        }
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        self.session.settings.push((text(status.name), text(status.value)));
        Ok(())
    }
}

/// Returns the length of the message at the beginning of some bytes, header included, if it is a
/// notice, which is skipped; `None` for all other messages.
fn notice(bytes: &[u8]) -> Option<usize> {
    let (tag, length) = frame::header(bytes.first_chunk()?)?;
    (tag == tag::NOTICE_RESPONSE).then(|| HEADER.saturating_add(length as usize))
}

/// Returns the longest body of a message while the session begins, in bytes. Rows and parts of COPY
/// may be longer later, but are not expected here.
fn limit(tag: u8) -> Option<u32> {
    backend::limit(tag).map(|limit| limit.min(MAX_WHOLE_BODY))
}

fn next_step(
    mut scram: Box<ScramSha256>,
    data: &[u8],
    out: &mut Vec<u8>,
) -> Result<Box<ScramSha256>, StartupError> {
    scram.update(data).map_err(|error| StartupError::Scram(error.to_string()))?;
    frontend::sasl_response(out, scram.message())?;
    Ok(scram)
}

/// Checks the server's version. The client requested 3.0 without options: a server that supports
/// 3.0 agrees. The server may send the whole version or its minor part.
fn negotiate(negotiation: &Negotiation<'_>) -> Result<(), StartupError> {
    let agrees = negotiation.newest == 0 || negotiation.newest == ProtocolVersion::V3_0.number();
    if agrees && negotiation.unknown_options.is_empty() {
        return Ok(());
    }
    let options: Vec<_> = negotiation
        .unknown_options
        .iter()
        .map(|option| String::from_utf8_lossy(option.name))
        .collect();
    Err(StartupError::Version(match options.is_empty() {
        true => {
            let newest = ProtocolVersion::from_number(negotiation.newest);
            format!("its newest version is {newest}")
        }
        false => format!("it does not know the options {}", options.join(", ")),
    }))
}

fn unexpected(at: usize, context: &'static str) -> StartupError {
    WireError::new(ErrorKind::Unexpected, at, context).into()
}
