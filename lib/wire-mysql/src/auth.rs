//! Authentication methods.
//!
//! Protocol manual: "Authentication Method"; MariaDB: "Authentication Plugin - ed25519". The
//! cryptographic functions are those of `mysql_common`; this module implements the exchange of
//! messages and the rules for sending secrets.

use std::fmt;

use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::client_ed25519::ClientEd25519;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;
use mysql_common::auth::plugins::{ChallengeResponsePlugin, Context};

use crate::error::{ErrorKind, WireError, fault};
use crate::handshake::Nonce;
use crate::server_key::{Seed, encrypt};

/// A password, which is never printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Password<'a>(pub &'a [u8]);

impl fmt::Debug for Password<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// The confidentiality of the connection to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// TCP: anyone on the network path can read the traffic.
    Open,
    /// TLS: only client and server can read the traffic.
    Tls,
    /// A local socket: the traffic never leaves the machine.
    Local,
}

/// The RSA key with which a password may be encrypted on a connection without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKey<'a> {
    /// Any key that the server sends. An attacker on the network path can send a key of their own.
    Ask,
    /// This key, as PEM.
    Known(&'a [u8]),
    /// No key: over TCP without TLS, a login with `caching_sha2_password` fails unless the server
    /// has the user in its cache.
    Refuse,
}

/// An authentication method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`.
    CachingSha2,
    /// MariaDB's `client_ed25519`.
    Ed25519,
    /// `mysql_clear_password`: the password itself, over TLS only.
    Clear,
}

impl Method {
    const ALL: [Method; 4] = [Method::Native, Method::CachingSha2, Method::Ed25519, Method::Clear];

    /// Returns the method with this name; `None` if this crate does not support it.
    pub fn of_name(name: &[u8]) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name().as_bytes() == name)
    }

    /// Returns the name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Method::Native => "mysql_native_password",
            Method::CachingSha2 => "caching_sha2_password",
            Method::Ed25519 => "client_ed25519",
            Method::Clear => "mysql_clear_password",
        }
    }
}

/// Returns the correct response of `mysql_native_password`, with which a server compares the
/// client's response.
pub fn native_answer(password: Password<'_>, nonce: &Nonce) -> Vec<u8> {
    scramble_native(nonce, password.0).map(|answer| answer.to_vec()).unwrap_or_default()
}

/// Returns the correct response of the fast path of `caching_sha2_password`. A server compares the
/// client's response with it.
pub fn sha2_answer(password: Password<'_>, nonce: &Nonce) -> Vec<u8> {
    scramble_sha256(nonce, password.0).map(|answer| answer.to_vec()).unwrap_or_default()
}

/// The inputs of an authentication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof<'a> {
    pub(crate) password: Password<'a>,
    pub(crate) channel: Channel,
    pub(crate) server_key: ServerKey<'a>,
    pub(crate) seed: Seed,
}

/// The state of an authentication in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AuthState {
    /// Waiting for OK or ERR only.
    Over,
    /// `caching_sha2_password`: waiting for the result of the server's cache lookup.
    Sha2(Nonce),
    /// `caching_sha2_password`: waiting for the server's key.
    Sha2Key(Nonce),
}

/// Data with which the server reports that the user is in its cache ("fast_auth_success").
const USER_IS_CACHED: &[u8] = &[3];
/// Data with which the server requests the password ("perform_full_authentication").
const PASSWORD_REQUESTED: &[u8] = &[4];
/// Data with which the client requests the server's key ("request_public_key").
const REQUEST_KEY: &[u8] = &[2];

impl Proof<'_> {
    /// Returns the response to the first data of a method, and the next state.
    pub(crate) fn begin(
        &self,
        method: Method,
        data: &[u8],
    ) -> Result<(Vec<u8>, AuthState), WireError> {
        match method {
            Method::Native => Ok((native_answer(self.password, &nonce(data)?), AuthState::Over)),
            Method::CachingSha2 => {
                let nonce = nonce(data)?;
                Ok((sha2_answer(self.password, &nonce), AuthState::Sha2(nonce)))
            }
            Method::Ed25519 => Ok((self.ed25519(data)?, AuthState::Over)),
            Method::Clear if self.channel == Channel::Tls => {
                Ok((self.clear_text(), AuthState::Over))
            }
            Method::Clear => Err(fault(ErrorKind::Insecure, 0, "mysql_clear_password")),
        }
    }

    /// Returns the response to further data of the method; `None` if the data require no response.
    pub(crate) fn continue_auth(
        &self,
        auth_state: &mut AuthState,
        data: &[u8],
    ) -> Result<Option<Vec<u8>>, WireError> {
        match (*auth_state, data) {
            (AuthState::Sha2(_), USER_IS_CACHED) => {
                *auth_state = AuthState::Over;
                Ok(None)
            }
            (AuthState::Sha2(nonce), PASSWORD_REQUESTED) => {
                self.password_response(auth_state, nonce).map(Some)
            }
            (AuthState::Sha2Key(nonce), key) => {
                *auth_state = AuthState::Over;
                encrypt(self.password.0, &nonce, key, self.seed).map(Some)
            }
            (AuthState::Sha2(_), _) => Err(fault(ErrorKind::Value, 1, "auth more data")),
            (AuthState::Over, _) => Err(fault(ErrorKind::Order, 0, "auth more data")),
        }
    }

    fn password_response(
        &self,
        auth_state: &mut AuthState,
        nonce: Nonce,
    ) -> Result<Vec<u8>, WireError> {
        *auth_state = AuthState::Over;
        match (self.channel, self.server_key) {
            (Channel::Tls | Channel::Local, _) => Ok(self.clear_text()),
            (Channel::Open, ServerKey::Known(key)) => {
                encrypt(self.password.0, &nonce, key, self.seed)
            }
            (Channel::Open, ServerKey::Ask) => {
                *auth_state = AuthState::Sha2Key(nonce);
                Ok(REQUEST_KEY.to_vec())
            }
            (Channel::Open, ServerKey::Refuse) => {
                Err(fault(ErrorKind::Insecure, 0, "caching_sha2_password without TLS"))
            }
        }
    }

    fn clear_text(&self) -> Vec<u8> {
        let mut answer = self.password.0.to_vec();
        answer.push(0);
        answer
    }

    fn ed25519(&self, data: &[u8]) -> Result<Vec<u8>, WireError> {
        let nonce = without_final_zero::<32>(data)?;
        let response = ClientEd25519::default().run(Password(self.password.0), &nonce);
        let answer = response.ok().and_then(|response| response.data().map(<[u8]>::to_vec));
        answer.ok_or(fault(ErrorKind::Value, 0, "auth switch, nonce"))
    }
}

impl Context for Password<'_> {
    fn pass(&self) -> &[u8] {
        self.0
    }

    // `client_ed25519`, for which this context is used, needs only the password.
    fn is_ipc_transport(&self) -> bool {
        false
    }

    fn is_tls_transport(&self) -> bool {
        false
    }

    fn scramble(&self) -> &[u8] {
        &[]
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

fn nonce(data: &[u8]) -> Result<Nonce, WireError> {
    without_final_zero(data)
}

/// Returns the `N` bytes of `data`, after which one zero byte may follow.
///
/// # Errors
/// Other data follow, or there are fewer bytes.
fn without_final_zero<const N: usize>(data: &[u8]) -> Result<[u8; N], WireError> {
    match data.split_first_chunk() {
        Some((nonce, [] | [0])) => Ok(*nonce),
        _ => Err(fault(ErrorKind::Value, 0, "auth switch, nonce")),
    }
}
