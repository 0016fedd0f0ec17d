//! The beginning of a session on the server's side, for simulated servers. Chapter "Start-up".

use postgres_protocol::authentication::md5_hash;

use crate::frontend::{self, ProtocolVersion, StartupPacket};
use crate::tags::frontend as tag;
use crate::{BackendKey, ErrorKind, WireError, backend};

/// The authentication method of a server.
#[derive(Clone, Copy)]
pub enum ServerAuth<'p> {
    /// No authentication.
    Trust,
    /// The password in clear text.
    Cleartext {
        /// Password of all users.
        password: &'p [u8],
    },
    /// A hash of the password.
    Md5 {
        /// Password of all users.
        password: &'p [u8],
        /// Salt of the hash: four bytes, different for each session.
        salt: [u8; 4],
    },
}

/// Formats the method without the password.
impl std::fmt::Debug for ServerAuth<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ServerAuth::Trust => "Trust",
            ServerAuth::Cleartext { .. } => "Cleartext { .. }",
            ServerAuth::Md5 { .. } => "Md5 { .. }",
        })
    }
}

/// The state of a client that begins a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginProgress {
    /// More bytes of the client are needed; the caller must send the replies appended so far.
    NeedsBytes,
    /// The client requests TLS. The caller appends [`answer_ssl`](crate::answer_ssl), and continues
    /// after encryption has begun or was refused. Bytes after the request are not encrypted: a
    /// server that accepts must not read them (CVE-2021-23214).
    TlsRequested,
    /// The client requests encryption with GSSAPI. The caller refuses it as it refuses TLS, and
    /// continues. [`SslAnswer::Accepted`](crate::SslAnswer::Accepted) is no answer to this request.
    GssRequested,
    /// The client requests the cancellation of another session's statement, and disconnects.
    CancelRequested(BackendKey),
    /// The client is authenticated. The caller appends the settings, the key and ReadyForQuery.
    Authenticated,
    /// The client was rejected. The error is appended; the caller must send it and close the
    /// connection.
    LoginRejected,
}

/// A client's login on the server's side: reads the client's messages and appends the replies.
#[derive(Clone, Debug)]
pub struct ServerLogin<'p> {
    auth: ServerAuth<'p>,
    user: Option<Vec<u8>>,
}

impl<'p> ServerLogin<'p> {
    /// Creates the state before the client's first byte.
    pub fn new(auth: ServerAuth<'p>) -> ServerLogin<'p> {
        ServerLogin { auth, user: None }
    }

    /// Returns the name of the user, once it is known.
    pub fn user(&self) -> Option<&[u8]> {
        self.user.as_deref()
    }

    /// Reads one message of the client. Returns the number of bytes consumed, and the state of the
    /// client.
    ///
    /// # Errors
    /// The bytes are not the expected message of a client.
    pub fn read(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, LoginProgress), WireError> {
        match self.user.take() {
            None => self.read_startup(bytes, out),
            Some(user) => {
                let read = self.password(bytes, &user, out);
                self.user = Some(user);
                read
            }
        }
    }

    fn read_startup(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, LoginProgress), WireError> {
        let Some((packet, used)) = StartupPacket::decode(bytes)? else {
            return Ok((0, LoginProgress::NeedsBytes));
        };
        let progress = match packet {
            StartupPacket::SslRequest => LoginProgress::TlsRequested,
            StartupPacket::GssEncRequest => LoginProgress::GssRequested,
            StartupPacket::CancelRequest(key) => LoginProgress::CancelRequested(key),
            StartupPacket::Startup(startup) => self.request_password(startup, out)?,
        };
        Ok((used, progress))
    }

    fn request_password(
        &mut self,
        startup: frontend::Startup<'_>,
        out: &mut Vec<u8>,
    ) -> Result<LoginProgress, WireError> {
        if startup.version.major != ProtocolVersion::V3_0.major {
            let why = format!("unsupported frontend protocol {}", startup.version);
            return reject(out, "0A000", &why);
        }
        let Some(user) = startup.parameter("user").filter(|user| !user.is_empty()) else {
            return reject(out, "28000", "no PostgreSQL user name specified in startup packet");
        };
        self.user = Some(user.to_vec());
        let is_option = |name: &[u8]| name.starts_with(b"_pq_.");
        let names = startup.parameters.iter().map(|parameter| parameter.name);
        let options: Vec<&[u8]> = names.filter(|name| is_option(name)).collect();
        if startup.version != ProtocolVersion::V3_0 || !options.is_empty() {
            let newest = ProtocolVersion::V3_0.number();
            backend::negotiate_protocol_version(out, newest, options)?;
        }
        Ok(match self.auth {
            ServerAuth::Trust => accept(out),
            ServerAuth::Cleartext { .. } => {
                backend::authentication_cleartext_password(out);
                LoginProgress::NeedsBytes
            }
            ServerAuth::Md5 { salt, .. } => {
                backend::authentication_md5_password(out, salt);
                LoginProgress::NeedsBytes
            }
        })
    }

    fn password(
        &self,
        bytes: &[u8],
        user: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, LoginProgress), WireError> {
        // Other messages may be long; an unauthenticated client must not make the server wait for
        // them.
        if bytes.first().is_some_and(|first| *first != tag::PASSWORD) {
            return Err(WireError::new(ErrorKind::Unexpected, 0, "PasswordMessage"));
        }
        let Some((frontend::Message::Password(body), used)) = frontend::Message::decode(bytes)?
        else {
            return Ok((0, LoginProgress::NeedsBytes));
        };
        let given = frontend::Message::password(body)?;
        let is_right = match self.auth {
            ServerAuth::Trust => true,
            ServerAuth::Cleartext { password } => given == password,
            ServerAuth::Md5 { password, salt } => {
                given == md5_hash(user, password, salt).as_bytes()
            }
        };
        let progress = match is_right {
            true => accept(out),
            false => {
                let user = String::from_utf8_lossy(user);
                let why = format!("password authentication failed for user \"{user}\"");
                reject(out, "28P01", &why)?
            }
        };
        Ok((used, progress))
    }
}

fn accept(out: &mut Vec<u8>) -> LoginProgress {
    backend::authentication_ok(out);
    LoginProgress::Authenticated
}

fn reject(out: &mut Vec<u8>, sqlstate: &str, why: &str) -> Result<LoginProgress, WireError> {
    let fields = [(b'S', "FATAL"), (b'V', "FATAL"), (b'C', sqlstate), (b'M', why)];
    backend::error_response(out, fields)?;
    Ok(LoginProgress::LoginRejected)
}
