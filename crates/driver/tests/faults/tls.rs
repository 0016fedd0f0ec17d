//! Tests of TLS: trust in servers, client certificates, and the error messages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use base::{Class, Endpoint, Target, TargetKind};
use driver::{AnyDriver, Connection, Driver, Error, Mysql, Postgres};
use rcgen::{CertificateParams, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};
use tempfile::{NamedTempFile, TempPath};
use testbed::{Auth, Kind, Options, Server, Tls, shared_with_tls};
use wire_mysql::Capabilities;

use crate::impostor::{ScriptedConnection, ScriptedServer};
use crate::mariadb::{OFFERED, greeting_with};
use crate::{check, in_real_time, refused, text};

const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

fn open(target: &Target) -> Result<AnyDriver, Error> {
    match target.kind {
        TargetKind::Mysql => Mysql::open(target, ".").map(AnyDriver::Mysql),
        _ => Postgres::open(target).map(AnyDriver::Postgres),
    }
}

/// Returns the error of a connection, and checks that it names the server and not the password.
#[track_caller]
fn refusal(target: &Target) -> Error {
    let error = refused(&open(target).expect("a URL"));
    assert!(error.message().contains("127.0.0.1") || is_socket(target), "{error}");
    if let Endpoint::Network { password: Some(password), .. } = &target.endpoint {
        assert!(!error.to_string().contains(password.expose()), "{error}");
    }
    error
}

fn is_socket(target: &Target) -> bool {
    target.option("socket").is_some()
}

/// Returns a copy of a URL with exactly these options.
fn with(target: &Target, options: &[(&str, &Path)]) -> Target {
    let option = |(name, value): &(&str, &Path)| {
        ((*name).to_owned(), value.to_str().expect("a text").to_owned())
    };
    Target { options: options.iter().map(option).collect(), ..target.clone() }
}

fn start(options: &Options) -> Server {
    Server::start(options).expect("a server")
}

/// Returns a setting of a new connection, as the driver reports it.
fn setting_of(target: &Target, name: &str) -> String {
    let driver = open(target).expect("a URL");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap_or_else(|error| panic!("{error}"));
        let settings = connection.settings().await;
        connection.close().await;
        let found = settings.into_iter().find(|(found, _)| found == name);
        found.expect("a setting").1
    })
}

/// Returns the value that the server reports for its TLS settings on an unencrypted connection.
fn unencrypted(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "empty",
        Kind::Mariadb | Kind::Mysql => "''",
    }
}

#[test]
fn settings_report_the_encryption_of_traffic() {
    for (kind, setting) in
        [(Kind::Postgres, "ssl_max_protocol_version"), (Kind::Mariadb, "tls_version")]
    {
        let older = start(&Options::new(kind).tls(Tls::Server).set(setting, "TLSv1.2"));
        let newer = shared_with_tls(kind);
        for (server, version) in [(&older, "TLSv1.2"), (newer, "TLSv1.3")] {
            let url = server.url();
            assert_eq!(setting_of(&url, "tls"), "verify");
            assert_eq!(setting_of(&url, "ssl_version"), version);
            let cipher = setting_of(&url, "ssl_cipher");
            assert!(cipher.contains("AES") || cipher.contains("CHACHA"), "{cipher}");
            let require = with(&url, &[("tls", "require".as_ref())]);
            assert_eq!(setting_of(&require, "tls"), "require");
            assert_eq!(setting_of(&require, "ssl_version"), version);
            assert_eq!(setting_of(&require, "client_tls_version"), version);
            assert!(setting_of(&require, "client_tls_cipher").starts_with("TLS_"));
            let plain = with(&url, &[("tls", "off".as_ref())]);
            assert_eq!(setting_of(&plain, "tls"), "off");
            assert_eq!(setting_of(&plain, "ssl_version"), unencrypted(kind));
            assert_eq!(setting_of(&plain, "client_tls_version"), "none");
            assert_eq!(setting_of(&plain, "client_tls_cipher"), "none");
        }
    }
}

#[test]
fn certificate_of_an_untrusted_authority_is_refused() {
    for kind in KINDS {
        let server = shared_with_tls(kind);
        let unrelated = &server.certificates().expect("certificates").unrelated_authority;
        let error = refusal(&with(&server.url(), &[("tls-ca", unrelated)]));
        let address = format!("127.0.0.1:{}", server.port());
        let words = [&address, "is not trusted", "UnknownIssuer", "`tls-ca=FILE`", "`tls=require`"];
        check(&error, Class::Statement, "tls", &words);
    }
}

/// A test authority, and a server configuration with a certificate signed by it.
pub(crate) struct Forged {
    /// File of the authority's certificate.
    pub(crate) authority: TempPath,
    pub(crate) config: Arc<ServerConfig>,
}

impl Forged {
    /// Creates a certificate for a server of this name, valid until the beginning of `last_year`.
    pub(crate) fn new(name: &str, last_year: i32) -> Forged {
        Forged::with_others(name, last_year, 0)
    }

    /// Creates such a certificate, followed in its chain by `others` copies of the authority's
    /// certificate.
    fn with_others(name: &str, last_year: i32, others: usize) -> Forged {
        let mut authority = CertificateParams::default();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let signed = authority.self_signed(&key).expect("a certificate");
        // A unique name, because concurrent tests create certificates for the same server name.
        let mut file = NamedTempFile::new().expect("a file");
        file.write_all(signed.pem().as_bytes()).expect("a certificate in the file");
        let issuer = Issuer::new(authority, key);
        let mut server = CertificateParams::new([name.to_owned()]).expect("a name");
        server.not_before = date_time_ymd(2000, 1, 1);
        server.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = server.signed_by(&key, &issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let others = std::iter::repeat_n(signed.der().clone(), others);
        let chain = std::iter::once(certificate.der().clone()).chain(others).collect();
        Forged { authority: file.into_temp_path(), config: config(chain, key) }
    }
}

fn config(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder().with_no_client_auth();
    Arc::new(builder.with_single_cert(chain, key).expect("a certificate"))
}

/// Plays a server of this kind up to the start of TLS.
fn offer_tls(kind: Kind, connection: &mut ScriptedConnection, config: &Arc<ServerConfig>) {
    match kind {
        Kind::Postgres => {
            connection.read_exactly(8);
            connection.send(b"S");
        }
        Kind::Mariadb | Kind::Mysql => {
            connection.send(&greeting_with("mysql_native_password", OFFERED | Capabilities::SSL));
            // The header of a packet, and the client's request for TLS before it names the user.
            connection.read_exactly(4 + 32);
        }
    }
    connection.start_tls(config);
}

/// Connects a client that trusts the test authority to a server with this certificate, and returns
/// the error.
fn error_with(kind: Kind, forged: Forged) -> Error {
    let Forged { authority, config } = forged;
    let impostor = ScriptedServer::playing(move |connection| {
        offer_tls(kind, connection, &config);
        assert!(connection.receive().is_empty(), "a login was sent to an untrusted server");
    });
    let scheme = match kind {
        Kind::Postgres => "postgres",
        Kind::Mariadb | Kind::Mysql => "mysql",
    };
    let url = format!("{scheme}://ann:hunter2@127.0.0.1:{}/shop", impostor.port());
    refusal(&with(&Target::parse(&url).expect("a URL"), &[("tls-ca", &authority)]))
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    for kind in KINDS {
        let error = error_with(kind, Forged::new("db1.example", 2999));
        let words = ["is not trusted", "not valid for name \"127.0.0.1\"", "db1.example"];
        check(&error, Class::Statement, "tls", &words);
        check(&error, Class::Statement, "tls", &["in the URL", "`tls=require`"]);
        assert!(!error.message().contains("tls-ca"), "it does not help: {error}");
    }
}

/// A server's first flight can be longer than the TLS library accepts at once: because of long
/// chains, or the names of all authorities that a system trusts. The rest must not be lost.
#[test]
fn long_first_tls_flight_is_read_completely() {
    for kind in KINDS {
        // A first flight of about the length that one read of the socket returns.
        let Forged { authority, config } = Forged::with_others("127.0.0.1", 2998, 30);
        let impostor = ScriptedServer::playing(move |connection| {
            offer_tls(kind, connection, &config);
            assert!(!connection.receive().is_empty(), "no login was sent");
        });
        let scheme = if kind == Kind::Postgres { "postgres" } else { "mysql" };
        let url = format!("{scheme}://ann:hunter2@127.0.0.1:{}/shop", impostor.port());
        let error = refusal(&with(&Target::parse(&url).expect("a URL"), &[("tls-ca", &authority)]));
        check(&error, Class::Disconnect, "disconnect", &["closed the connection"]);
    }
}

#[test]
fn a_certificate_that_has_expired_is_refused() {
    for kind in KINDS {
        let error = error_with(kind, Forged::new("127.0.0.1", 2001));
        let words = ["is not trusted", "expired", "clock", "`tls=require`"];
        check(&error, Class::Statement, "tls", &words);
        assert!(!error.message().contains("tls-ca"), "it does not help: {error}");
    }
}

#[test]
fn non_tls_answer_is_reported() {
    for kind in KINDS {
        let impostor = ScriptedServer::playing(move |connection| {
            match kind {
                Kind::Postgres => connection.read_exactly(8),
                Kind::Mariadb | Kind::Mysql => {
                    connection
                        .send(&greeting_with("mysql_native_password", OFFERED | Capabilities::SSL));
                    connection.read_exactly(4 + 32)
                }
            };
            if kind == Kind::Postgres {
                connection.send(b"S");
            }
            connection.receive();
            connection.send(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            connection.wait();
        });
        let scheme = if kind == Kind::Postgres { "postgres" } else { "mysql" };
        let url = format!("{scheme}://ann:hunter2@127.0.0.1:{}/?tls=require", impostor.port());
        let error = refusal(&Target::parse(&url).expect("a URL"));
        check(&error, Class::Statement, "tls", &["127.0.0.1:", "agreed to TLS", "tls=off"]);
    }
}

/// Expects the login to be bound to the certificate (SCRAM-SHA-256-PLUS). An attacker in between
/// has a different certificate, for which the client's proof is useless.
#[test]
fn a_login_is_bound_to_the_certificate_that_was_shown() {
    let server = shared_with_tls(Kind::Postgres);
    let real = server.certificates().expect("certificates").authority.clone();
    let port = server.port();
    let files = start(&Options::mariadb().tls(Tls::Server));
    let files = files.certificates().expect("certificates");
    let chain = CertificateDer::pem_file_iter(&files.server).expect("a file");
    let chain = chain.collect::<Result<_, _>>().expect("certificates");
    let key = PrivateKeyDer::from_pem_file(&files.server_key).expect("a key");
    let config = config(chain, key);
    let between = ScriptedServer::playing(move |connection| {
        offer_tls(Kind::Postgres, connection, &config);
        let mut server = encrypted(port, &real);
        let mut answer = vec![0; 64 << 10];
        // Startup, choice of SCRAM-SHA-256-PLUS, proof.
        for _ in 0..3 {
            server.write_all(&connection.receive()).expect("a server");
            let count = server.read(&mut answer).expect("an answer");
            connection.send(&answer[..count]);
        }
        connection.wait();
    });
    let mut target = with(&server.url(), &[("tls", "require".as_ref())]);
    if let Endpoint::Network { addresses, .. } = &mut target.endpoint {
        addresses[0].port = Some(between.port());
    }
    let error = refusal(&target);
    check(
        &error,
        Class::Statement,
        "28000",
        &["channel binding check failed", "a machine in between"],
    );
}

/// Opens a connection to a PostgreSQL server, and completes the TLS handshake.
fn encrypted(port: u16, authority: &Path) -> StreamOwned<ClientConnection, TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    let mut request = Vec::new();
    wire_postgres::frontend::ssl_request(&mut request);
    stream.write_all(&request).expect("a server");
    let mut answer = [0];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(answer, *b"S");
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(authority).expect("a certificate");
    roots.add(authority).expect("an authority");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").expect("a name");
    let session = ClientConnection::new(Arc::new(config), name).expect("a configuration");
    StreamOwned::new(session, stream)
}

#[test]
fn requested_client_certificate_is_presented() {
    for (kind, code, words) in [
        (Kind::Postgres, "28000", "requires a valid client certificate"),
        (Kind::Mariadb, "1045", "Access denied"),
    ] {
        let server = start(&Options::new(kind).tls(Tls::Mutual));
        let url = server.url();
        assert_eq!(setting_of(&url, "tls"), "verify");
        let files = server.certificates().expect("certificates");
        let ca = ("tls-ca", &*files.authority);
        let error = refusal(&with(&url, &[ca]));
        check(&error, Class::Statement, code, &[words, "`tls-cert=FILE&tls-key=FILE`"]);
        // Signed by an authority that this server does not know.
        let other = shared_with_tls(kind).certificates().expect("certificates");
        let (cert, key) = (("tls-cert", &*other.client), ("tls-key", &*other.client_key));
        let error = refusal(&with(&url, &[ca, cert, key]));
        let words = ["refused TLS", "`tls-cert=FILE&tls-key=FILE`"];
        check(&error, Class::Statement, "tls", &words);
        // With TLS required, an unencrypted connection is refused as well.
        let error = refusal(&with(&url, &[("tls", "off".as_ref())]));
        check(&error, Class::Statement, code, &["`tls=require`", "`tls=verify`"]);
    }
}

#[test]
fn refusal_without_required_tls_is_reported() {
    let options = Options::mariadb().tls(Tls::Server).set("require_secure_transport", "ON");
    let server = start(&options);
    let error = refusal(&with(&server.url(), &[("tls", "off".as_ref())]));
    check(&error, Class::Statement, "1045", &["Access denied", "`tls=require` or `tls=verify`"]);
}

#[test]
fn postgres_uses_no_tls_over_a_unix_socket() {
    let server = shared_with_tls(Kind::Postgres);
    let mut target = server.url_over_socket();
    target.options.push(("tls".to_owned(), "require".to_owned()));
    let error = refusal(&target);
    check(&error, Class::Statement, "tls", &["does not encrypt a socket", "`tls=off`"]);
    let server = shared_with_tls(Kind::Mariadb);
    let mut target = server.url_over_socket();
    target.options.push(("tls".to_owned(), "require".to_owned()));
    assert_eq!(setting_of(&target, "ssl_version"), "TLSv1.3");
}

/// Expects each error to name the faulty file, or the two options whose files do not belong
/// together. The files are read before any connection is made.
#[test]
fn wrong_tls_files_are_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let pem = |label: &str, body: &str| {
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
    };
    let files = shared_with_tls(Kind::Postgres).certificates().expect("certificates");
    let other = shared_with_tls(Kind::Mariadb).certificates().expect("certificates");
    let missing = folder.join("no-such-file.pem");
    let empty = file("empty.pem", "");
    let words = file("words.pem", "not PEM at all\n");
    let broken = file("broken.pem", &pem("CERTIFICATE", "%%%"));
    let junk = file("junk.pem", &pem("CERTIFICATE", "AAAA"));
    let locked = file("locked.pem", &pem("ENCRYPTED PRIVATE KEY", "AAAA"));
    let (cert, key) = (("tls-cert", &*files.client), ("tls-key", &*files.client_key));
    for (options, complaint) in [
        (vec![("tls-ca", &*missing)], "cannot read `FILE` of the option `tls-ca`: No such file"),
        (vec![("tls-ca", folder)], "cannot read `FILE` of the option `tls-ca`: Is a directory"),
        (
            vec![("tls-ca", &empty)],
            "`FILE` of the option `tls-ca` contains no certificate in PEM \
                format",
        ),
        (
            vec![("tls-ca", &words)],
            "`FILE` of the option `tls-ca` contains no certificate in PEM \
                format",
        ),
        (
            vec![("tls-ca", key.1)],
            "`FILE` of the option `tls-ca` contains no certificate in PEM \
                format",
        ),
        (vec![("tls-ca", &broken)], "`FILE` of the option `tls-ca` does not hold a certificate"),
        (
            vec![("tls-ca", &junk)],
            "`FILE` of the option `tls-ca` contains no certificate authority",
        ),
        (vec![key, ("tls-cert", &missing)], "cannot read `FILE` of the option `tls-cert`"),
        (vec![cert, ("tls-key", &missing)], "cannot read `FILE` of the option `tls-key`"),
        (
            vec![cert, ("tls-key", &locked)],
            "`FILE` of the option `tls-key` does not hold a private",
        ),
        (vec![cert, ("tls-key", cert.1)], "`FILE` of the option `tls-key` does not hold a private"),
        (vec![cert, ("tls-key", &other.client_key)], "do not belong together"),
    ] {
        let last = options.last().expect("an option").1.display().to_string();
        for scheme in ["postgres", "mysql"] {
            let url = format!("{scheme}://ann:hunter2@127.0.0.1/shop");
            let target = with(&Target::parse(&url).expect("a URL"), &options);
            let error = open(&target).expect_err("a complaint");
            check(&error, Class::Statement, "url", &[&complaint.replace("FILE", &last)]);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}

#[test]
fn mariadb_logins_work_with_and_without_tls() {
    for auth in [Auth::Ed25519, Auth::Native] {
        let server = start(&Options::mariadb().auth(auth).tls(Tls::Server));
        let plain = with(&server.url(), &[("tls", "off".as_ref())]);
        let unencrypted = unencrypted(Kind::Mariadb);
        for (target, version) in [(server.url(), "TLSv1.3"), (plain, unencrypted)] {
            assert_eq!(setting_of(&target, "ssl_version"), version, "{auth:?}");
        }
    }
}

/// Expects a lost connection if the server is killed while an encrypted connection to it is open.
#[test]
fn an_encrypted_connection_that_is_cut_is_lost() {
    for kind in KINDS {
        let mut server = start(&Options::new(kind).tls(Tls::Server));
        let driver = open(&server.url()).expect("a URL");
        in_real_time(async |rt| {
            let mut connection = driver.connect(&rt).await.expect("a connection");
            server.kill();
            let error =
                connection.run(&mut text("select 1")).await.expect_err("the server is gone");
            check(&error, Class::Disconnect, "disconnect", &["127.0.0.1"]);
        });
    }
}
