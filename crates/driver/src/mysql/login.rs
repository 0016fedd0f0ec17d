//! The login, and the message that kills a session.

use std::net::SocketAddr;
use std::sync::Arc;

use base::{Class, Code, Nanos, NodeId};
use net::{Address, CancelService, Cancellation, Channel, TlsMode};
use rt::Rt;
use wire_mysql::{
    Capabilities, Channel as ChannelSecrecy, Command, ErrorKind, Header, Login, LoginOptions,
    LoginStep, Password, Refusal, Seed, ServerKey, Session, WANTED, WireError,
};

use super::config::{ServiceConfig, TrustedKey};
use super::faults;
use crate::Error;
use crate::service::{AwaitedGreeting, LOGGING_IN, RefusedLogin, Service};
use crate::session_ids::KnownSession;

/// Maximum length of an unfinished packet during a login, in bytes. The longest packet that servers
/// send is a key of a few kilobytes.
const LONGEST_UNFINISHED_PACKET: usize = 64 << 10;

/// Id of `utf8mb4_general_ci`, the only collation of all Unicode characters that every server has.
const UTF8MB4: u8 = 45;

/// Capabilities requested from the server. A text holds one statement: the server refuses a second
/// one. Files are sent only if a statement names them.
const CAPABILITIES: Capabilities =
    Capabilities(WANTED.without(Capabilities::MULTI_STATEMENTS).0 | Capabilities::LOCAL_FILES.0);

/// State that a driver shares with its sessions.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) config: Arc<ServiceConfig>,
    pub(super) cancels: CancelService<KillRequest>,
}

/// Connects to the address of `node`, or to `peer` if given, and begins a session. `silence`
/// is set until the server's greeting arrives.
pub(super) async fn log_in(
    rt: &Rt,
    config: &ServiceConfig,
    node: NodeId,
    peer: Option<SocketAddr>,
    silence: &AwaitedGreeting,
) -> Result<(Channel, Session), Error> {
    let service = &config.service;
    let mut channel = service.connect(rt, node, peer).await?;
    silence.begin();
    let address = channel.address().clone();
    let mode = service.options.tls_mode_for(&address);
    let application = service.options.application_name.as_bytes();
    let attributes = [(&b"_client_name"[..], &b"assay"[..]), (b"program_name", application)];
    let seed = random()?;
    let password = service.password(node).map_or("", |password| password.expose());
    let mut login = Login::new(LoginOptions {
        user: service.user.as_bytes(),
        password: Password(password.as_bytes()),
        database: service.database.as_deref().map(str::as_bytes),
        wanted: CAPABILITIES,
        channel: channel_secrecy(&address, mode),
        server_key: server_key(&config.key, &address),
        seed,
        collation: UTF8MB4,
        attributes: &attributes,
    });
    let fails = |error| login_impossible(service, &address, mode, &error);
    loop {
        channel.receive().await?;
        service.note_greeting(node, silence);
        let mut out = std::mem::take(channel.out());
        let read = login.read(channel.unread(), &mut out);
        *channel.out() = out;
        let (used, step) = read.map_err(fails)?;
        channel.consume(used, 0);
        channel.flush().await;
        match step {
            LoginStep::NeedBytes => check_first_bytes(&address, channel.unread())?,
            LoginStep::StartTls => {
                channel.start_tls(&service.tls, mode).await?;
                login.tls_started(channel.out()).map_err(fails)?;
                channel.flush().await;
            }
            LoginStep::Done(session) => return Ok((channel, session)),
            LoginStep::Refused(refusal) => return Err(login_refused(service, &address, &refusal)),
        }
    }
}

/// Checks that the server speaks MySQL's protocol: the first bytes of another protocol look like
/// the header of a packet that never ends.
fn check_first_bytes(address: &Address, unread: &[u8]) -> Result<(), Error> {
    match unread.first_chunk().map(|head| Header::decode(*head)) {
        Some(Header { length, .. }) if length > LONGEST_UNFINISHED_PACKET => {
            let why = format!("it announces a packet of {length} bytes in its login");
            Err(faults::protocol_violation(address, &why))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns random bytes from the operating system. Initializing the TLS library's generator would
/// take a tenth of a second of processor time, and the client would count as busy.
fn random() -> Result<Seed, Error> {
    let mut seed = Seed::default();
    match rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty()) {
        Ok(count) if count == seed.len() => Ok(seed),
        Ok(_) | Err(_) => {
            Err(Error::disconnect("the operating system provides no random numbers for a login"))
        }
    }
}

/// Returns the secrecy of the connection: who could read a password sent on it.
fn channel_secrecy(address: &Address, mode: TlsMode) -> ChannelSecrecy {
    match (mode, address) {
        (TlsMode::Require | TlsMode::Verify, _) => ChannelSecrecy::Tls,
        (TlsMode::Off, Address::Unix(_)) => ChannelSecrecy::Local,
        (TlsMode::Off, Address::Tcp(..)) => ChannelSecrecy::Open,
    }
}

fn server_key<'k>(key: &'k TrustedKey, address: &Address) -> ServerKey<'k> {
    match key {
        TrustedKey::Known(pem) => ServerKey::Known(pem),
        TrustedKey::Any => ServerKey::Ask,
        TrustedKey::AnyIfLocal if address.is_local() => ServerKey::Ask,
        TrustedKey::AnyIfLocal => ServerKey::Refuse,
    }
}

/// Builds the error for a login refused by the server.
fn login_refused(service: &Service, address: &Address, refusal: &Refusal) -> Error {
    let (class, code) = faults::class_and_code_in_login(refusal);
    let message = faults::message_without_secrets(refusal, &service.secrets);
    let refused = RefusedLogin {
        message: &message,
        remedy: faults::remedy(refusal.code),
        is_of_password: faults::is_of_password(refusal.code),
    };
    Error::new(class, code, service.refusal(address, &refused))
}

/// Builds the error for a login that this client cannot complete.
fn login_impossible(
    service: &Service,
    address: &Address,
    mode: TlsMode,
    error: &WireError,
) -> Error {
    let user = &service.user;
    let (code, message) = match (error.kind, error.context) {
        (ErrorKind::Unsupported, "handshake of a server without TLS") => {
            let mode = mode.word();
            let message = format!(
                "{address} has no TLS, and `tls={mode}` asks for it: switch it on there \
                 (`ssl-cert` and `ssl-key`), or write `tls=off`"
            );
            ("tls", message)
        }
        (ErrorKind::Insecure, _) => {
            let message = format!(
                "{address} asks for the password of user `{user}` over an unprotected connection \
                 ({}): write `tls=require` or `tls=verify`, or name the key that may encrypt it: \
                 `server-public-key=FILE`, or `server-public-key=ask` to accept any key",
                error.context
            );
            ("login", message)
        }
        (ErrorKind::Unsupported, context) => {
            let message = format!(
                "{address} asks user `{user}` for an unsupported kind of login ({context}): give \
                 the user mysql_native_password, caching_sha2_password or ed25519"
            );
            ("login", message)
        }
        (ErrorKind::Value | ErrorKind::TooLong, context @ "server's public key")
        | (ErrorKind::TooLong, context @ "password for the server's public key") => {
            ("login", format!("{address} cannot be sent the password of user `{user}`: {context}"))
        }
        _ => return faults::malformed_message(address, error),
    };
    Error::new(Class::Statement, Code::new(code), message)
}

/// A request to kill a session, whatever the session is doing. KILL QUERY is not enough: a server
/// that has not begun the statement ignores this command.
#[derive(Debug)]
pub(super) struct KillRequest {
    pub(super) config: Arc<ServiceConfig>,
    pub(super) node: NodeId,
    /// Address of the server to which the session is connected; `None` for a Unix domain socket.
    pub(super) peer: Option<SocketAddr>,
    /// The session. Its id stays registered as one of Assay's own until the kill request is
    /// dropped.
    pub(super) session: KnownSession,
}

/// Shortest pause after the first login attempt of a kill request, if the server is full. Each
/// further pause is twice as long.
const FIRST_PAUSE: Nanos = Nanos::from_millis(6);

/// Maximum number of login attempts for one kill request. The pauses between the attempts take 0.8
/// to 1.4 seconds in total, because the end of a run waits at most two seconds for kill requests.
const MOST_ATTEMPTS: u32 = 8;

impl KillRequest {
    /// Begins the session that sends the kill request. If the server is full, tries again: each
    /// other kill request that gets a session frees two, its own and the killed one.
    async fn log_in(&self, rt: &Rt) -> Result<Channel, Error> {
        let mut pause = self.first_pause();
        for _ in 1..MOST_ATTEMPTS {
            match self.try_login(rt).await {
                Err(error) if error.class() == Class::TooManyConnections => rt.sleep(pause).await,
                done => return done,
            }
            pause = pause * 2;
        }
        self.try_login(rt).await
    }

    /// Returns a pause that differs between sessions. A server counts each attempt as a session
    /// until it refuses the attempt. If all requests tried again at the same time, it might
    /// therefore refuse all of them.
    fn first_pause(&self) -> Nanos {
        let eighths = self.session.id().0 % 8;
        Nanos(FIRST_PAUSE.0 + FIRST_PAUSE.0 / 8 * eighths)
    }

    async fn try_login(&self, rt: &Rt) -> Result<Channel, Error> {
        let KillRequest { config, node, peer, .. } = self;
        let (channel, _) = log_in(rt, config, *node, *peer, &AwaitedGreeting::default()).await?;
        Ok(channel)
    }
}

impl Cancellation for KillRequest {
    async fn send(self, rt: &Rt) {
        let KillRequest { config, node, session, .. } = &self;
        let kill = async {
            let mut channel = self.log_in(rt).await?;
            let kill = format!("kill {}", session.id().0);
            Command::Query(kill.as_bytes()).append(channel.out());
            channel.flush().await;
            channel.receive().await?;
            Command::Quit.append(channel.out());
            channel.flush().await;
            Ok(())
        };
        let _ = config.service.in_time(rt, *node, LOGGING_IN, kill).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: &str) -> Address {
        Address::Tcp(host.to_owned(), 3306)
    }

    #[test]
    fn server_key_is_trusted_on_local_connections_only() {
        let known = TrustedKey::Known(b"pem".to_vec());
        for (key, host, expected) in [
            (&TrustedKey::AnyIfLocal, "127.0.0.1", ServerKey::Ask),
            (&TrustedKey::AnyIfLocal, "db1.example", ServerKey::Refuse),
            (&TrustedKey::Any, "db1.example", ServerKey::Ask),
            (&known, "127.0.0.1", ServerKey::Known(b"pem")),
        ] {
            assert_eq!(server_key(key, &at(host)), expected, "{key:?} {host}");
        }
    }

    #[test]
    fn unix_socket_counts_as_secure() {
        let socket = Address::Unix("/s".into());
        assert_eq!(channel_secrecy(&socket, TlsMode::Off), ChannelSecrecy::Local);
        assert_eq!(channel_secrecy(&socket, TlsMode::Verify), ChannelSecrecy::Tls);
        assert_eq!(channel_secrecy(&at("127.0.0.1"), TlsMode::Off), ChannelSecrecy::Open);
        assert_eq!(channel_secrecy(&at("db1.example"), TlsMode::Require), ChannelSecrecy::Tls);
    }
}
