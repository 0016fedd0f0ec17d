//! The login, and the message that cancels a session's statement.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;

use base::{Class, Code, Nanos, NodeId};
use net::{Address, CancelService, Cancellation, Channel, Socket, TlsMode, discard_input};
use rt::{Rt, within};
use rustix::net::Shutdown;
use wire_mysql::{ErrPacket, HEADER, Handshake, Header};
use wire_postgres::{
    BackendKey, Channel as Binding, Format, Login, Session, SslAnswer, Startup, StartupError,
    frontend, ssl_answer,
};

use super::faults;
use crate::Error;
use crate::service::{LOGGING_IN, RefusedLogin, Service};
use crate::session_ids::KnownSession;

/// State that a driver shares with its sessions.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) service: Arc<Service>,
    /// Format in which the server returns values.
    pub(super) results: Format,
    pub(super) cancels: CancelService<Cancel>,
}

/// Connects to the address of `node` and begins a session.
pub(super) async fn log_in(
    rt: &Rt,
    service: &Service,
    node: NodeId,
) -> Result<(Channel, Session), Error> {
    let (mut channel, end_point) = open(rt, service, node, None).await?;
    let is_tls = service.options.tls_mode_for(channel.address()) != TlsMode::Off;
    let binding = match end_point.as_slice() {
        [] if is_tls || channel.address().is_local() => Binding::Plain,
        [] => Binding::Open,
        hash => Binding::Tls { server_end_point: hash },
    };
    let login = Login {
        user: &service.user,
        database: service.database.as_deref(),
        password: service.password(node).map(|password| password.expose().as_bytes()),
        settings: &[
            ("application_name", &service.options.application_name),
            ("client_encoding", "UTF8"),
        ],
        channel: binding,
    };
    let mut startup = Startup::begin(login, channel.out())
        .map_err(|error| faults::malformed_message(channel.address(), &error))?;
    let mut answer = Vec::new();
    channel.flush().await;
    channel.receive().await?;
    expect_postgres(&channel)?;
    while !startup.is_ready() {
        let read = startup.read(channel.unread(), &mut answer);
        let used = read.map_err(|error| login_refused(service, &channel, error))?;
        channel.consume(used, 0);
        if !answer.is_empty() {
            channel.out().append(&mut answer);
            channel.flush().await;
        } else if !startup.is_ready() {
            channel.receive().await?;
        }
    }
    let session = startup.into_session().unwrap_or_default();
    Ok((channel, session))
}

/// Connects, and starts TLS if it is wanted. Also returns the hash of the server's certificate; the
/// hash is empty without TLS.
async fn open(
    rt: &Rt,
    service: &Service,
    node: NodeId,
    peer: Option<SocketAddr>,
) -> Result<(Channel, Vec<u8>), Error> {
    let mut channel = service.connect(rt, node, peer).await?;
    let mode = service.options.tls_mode_for(channel.address());
    if mode == TlsMode::Off {
        return Ok((channel, Vec::new()));
    }
    frontend::ssl_request(channel.out());
    channel.flush().await;
    let answer = loop {
        channel.receive().await?;
        expect_postgres(&channel)?;
        let answer = ssl_answer(channel.unread());
        if let Some(answer) =
            answer.map_err(|error| faults::malformed_message(channel.address(), &error))?
        {
            break answer;
        }
    };
    channel.consume(1, 0);
    match answer {
        SslAnswer::Accepted => {
            let end_point = channel.start_tls(&service.tls, mode).await?;
            Ok((channel, end_point))
        }
        SslAnswer::Refused => Err(without_tls(channel.address(), mode)),
    }
}

/// A number above all error codes that MySQL and MariaDB send to clients. In the place of the code,
/// a PostgreSQL error has two letters, which make a larger number.
const NO_MYSQL_CODE: u16 = 10_000;

/// Checks that the server is not MySQL or MariaDB. Such a server speaks first: its complete
/// handshake has arrived, or the error with which it refuses this host.
fn expect_postgres(channel: &Channel) -> Result<(), Error> {
    let Some((head, rest)) = channel.unread().split_first_chunk::<HEADER>() else { return Ok(()) };
    let Header { length, sequence } = Header::decode(*head);
    let Some(payload) = rest.get(..length).filter(|_| sequence == 0) else { return Ok(()) };
    let refusal = ErrPacket::decode(payload).is_ok_and(|error| error.code < NO_MYSQL_CODE);
    match refusal || Handshake::decode(payload).is_ok() {
        true => Err(faults::is_of_mysql(channel.address())),
        false => Ok(()),
    }
}

/// Builds the error for a server that continues only without TLS.
fn without_tls(address: &Address, mode: TlsMode) -> Error {
    let mode = mode.word();
    let message = match address {
        Address::Tcp(..) => format!(
            "{address} has no TLS, and `tls={mode}` asks for it: switch it on there (`ssl = on`), \
             or write `tls=off`"
        ),
        Address::Unix(_) => format!(
            "PostgreSQL does not encrypt a socket, and `tls={mode}` asks for it at {address}: \
             write `tls=off`, or name a host"
        ),
    };
    Error::new(Class::Statement, Code::new("tls"), message)
}

fn login_refused(service: &Service, channel: &Channel, error: StartupError) -> Error {
    let address = channel.address();
    let (class, code, message, remedy) = match &error {
        StartupError::Wire(error) => return faults::malformed_message(address, error),
        StartupError::Server(report) => {
            let (class, code) = match faults::is_full_pooler(report) {
                false => faults::class_and_code(report.sqlstate),
                true => (Class::TooManyConnections, Code::new("08P01")),
            };
            // A refused login has lost no session, and may be retried.
            let class = if class == Class::Server { Class::Disconnect } else { class };
            let message = faults::message_without_secrets(report, &service.secrets);
            (class, code, message, faults::remedy(code.as_str(), &report.message))
        }
        StartupError::PasswordMissing => {
            let (code, message) = (Code::new("28P01"), error.to_string());
            let remedy = faults::remedy(code.as_str(), &message);
            (Class::Statement, code, message, remedy)
        }
        StartupError::Insecure => {
            let remedy = "write `tls=verify` or `tls=require`, or let the server ask for SCRAM";
            (Class::Statement, Code::new("login"), error.to_string(), remedy)
        }
        StartupError::Method(_) | StartupError::Scram(_) | StartupError::Version(_) => {
            // These errors may quote a text of the server.
            (Class::Statement, Code::new("login"), service.secrets.hide(&error.to_string()), "")
        }
    };
    let is_of_password = faults::is_of_password(code.as_str(), &message);
    let refused = RefusedLogin { message: &message, remedy, is_of_password };
    Error::new(class, code, service.refusal(address, &refused))
}

/// Time to wait for the end of a session before its cancellation is repeated. Doubles each time.
const FIRST_PAUSE: Nanos = Nanos::from_millis(10);

/// Time limit for a server to read a cancellation and close the connection.
const CLOSE_TIMEOUT: Nanos = Nanos::from_millis(100);

/// Maximum number of cancellations per session. Together they take about a second.
const MOST_ATTEMPTS: u32 = 7;

/// A request to cancel the running statement of a session (chapter "Canceling Requests in
/// Progress").
///
/// A server that has not begun the statement ignores a cancellation, and runs the statement later.
/// The request is therefore repeated until the session has ended, at most [`MOST_ATTEMPTS`] times
/// in all. Once the server has answered something, our side of the session's socket is closed, so
/// the session ends as soon as it is idle. The socket is not closed earlier: a pooler forgets the
/// session of a client that has hung up, and could then not pass on a repeated request.
#[derive(Debug)]
pub(super) struct Cancel {
    pub(super) service: Arc<Service>,
    pub(super) node: NodeId,
    /// Address of the server to which the session is connected; `None` for a Unix domain socket.
    pub(super) peer: Option<SocketAddr>,
    pub(super) key: BackendKey,
    /// The session's socket; `None` if no file descriptor is left for it.
    pub(super) socket: Option<OwnedFd>,
    /// The session. Its id stays registered as one of Assay's own until the last cancel request has
    /// been sent.
    pub(super) session: Option<KnownSession>,
}

impl Cancellation for Cancel {
    async fn send(self, rt: &Rt) {
        let Cancel { service, node, peer, key, socket, session } = self;
        let cancel = async {
            send_cancel(rt, &service, (node, peer), key).await?;
            let mut end = pin!(end_of_session(rt, socket));
            let mut pause = FIRST_PAUSE;
            for _ in 1..MOST_ATTEMPTS {
                if within(rt, pause, end.as_mut()).await.is_some() {
                    break;
                }
                pause = pause * 2;
                send_cancel(rt, &service, (node, peer), key).await?;
            }
            Ok(())
        };
        let _ = service.in_time(rt, node, LOGGING_IN, cancel).await;
        drop(session);
    }
}

/// Waits for an answer of the server, then closes our side of the socket and waits for the end of
/// the session.
async fn end_of_session(rt: &Rt, socket: Option<OwnedFd>) {
    let Some(socket) = socket.and_then(|socket| Socket::new(rt, socket).ok()) else { return };
    if discard_input(&socket).await {
        // Fails only on a lost socket, whose peer is gone anyway.
        let _ = rustix::net::shutdown(socket.get(), Shutdown::Write);
        while discard_input(&socket).await {}
    }
}

async fn send_cancel(
    rt: &Rt,
    service: &Service,
    (node, peer): (NodeId, Option<SocketAddr>),
    key: BackendKey,
) -> Result<(), Error> {
    let (mut channel, _) = open(rt, service, node, peer).await?;
    frontend::cancel_request(channel.out(), key);
    channel.flush().await;
    // The server closes the connection when it has read the request. Pgpool closes it a second
    // later, and some servers leave it open.
    let _ = within(rt, CLOSE_TIMEOUT, pin!(channel.receive())).await;
    Ok(())
}
