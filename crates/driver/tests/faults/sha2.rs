//! Tests of `caching_sha2_password`, MySQL's default login method, which no server in the
//! distribution's packages offers. The server is a script that uses the server side of the protocol
//! crate.

use std::path::{Path, PathBuf};

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use base::Class;
use driver::{Connection, Driver, Error};
use wire_mysql::{
    AuthMoreData, AuthSwitchRequest, Capabilities, ClientHello, ErrPacket, Password, packet,
    sha2_answer,
};

use crate::impostor::{ScriptedConnection, ScriptedServer};
use crate::mariadb::{NONCE, OFFERED, at, greeting_with, ok};
use crate::tls::Forged;
use crate::{check, in_real_time, text};

/// The password in the URLs of [`at`].
const PASSWORD: &[u8] = b"hunter2";

/// Name of the login method.
const METHOD: &str = "caching_sha2_password";

/// Message "fast_auth_success": the server has the user's hash in its cache.
const KNOWN: &[u8] = &[3];

/// Message "perform_full_authentication": the server needs the password.
const FULL: &[u8] = &[4];

/// Message "request_public_key": the client asks for the server's key.
const ASK_KEY: &[u8] = &[2];

/// The server side of a login.
struct Login<'s> {
    connection: &'s mut ScriptedConnection,
    /// Sequence number of the next packet.
    sequence: u8,
}

impl<'s> Login<'s> {
    /// Sends the greeting, then reads and checks the client's response.
    fn greet(connection: &'s mut ScriptedConnection, method: &'static str) -> Login<'s> {
        connection.send(&greeting_with(method, OFFERED));
        let mut login = Login { connection, sequence: 0 };
        login.hear_proof();
        login
    }

    /// Sends the greeting and switches to TLS, then reads and checks the client's response.
    fn greet_over_tls(connection: &'s mut ScriptedConnection, forged: &Forged) -> Login<'s> {
        connection.send(&greeting_with(METHOD, OFFERED | Capabilities::SSL));
        let request = connection.read_exactly(4 + 32);
        assert!(matches!(ClientHello::decode(&request[4..]), Ok(ClientHello::Ssl(_))));
        connection.start_tls(&forged.config);
        let mut login = Login { connection, sequence: 0 };
        login.hear_proof();
        login
    }

    /// Checks the client's response against the password.
    fn hear_proof(&mut self) {
        let payload = self.receive();
        let Ok(ClientHello::Response(response)) = ClientHello::decode(&payload) else {
            panic!("no login: {payload:?}")
        };
        assert_eq!(response.user, b"ann");
        assert_eq!(response.method, Some(METHOD.as_bytes()));
        assert_eq!(response.auth_response, sha2_answer(Password(PASSWORD), &NONCE));
    }

    /// Returns the payload of the next packet.
    fn receive(&mut self) -> Vec<u8> {
        let mut received = self.connection.receive();
        self.sequence = received.get(3).map_or(0, |sequence| sequence + 1);
        received.drain(..received.len().min(4));
        received
    }

    fn say(&mut self, payload: impl Fn(&mut Vec<u8>)) {
        let mut out = Vec::new();
        self.sequence = packet(&mut out, self.sequence, payload);
        self.connection.send(&out);
    }

    fn say_more(&mut self, data: &[u8]) {
        self.say(|out| AuthMoreData(data).encode(out));
    }

    /// Accepts the login, and answers the first statement.
    fn finish(self) {
        self.connection.send(&ok(self.sequence));
        self.connection.receive();
        self.connection.send(&ok(1));
        self.connection.wait();
    }

    /// Reads a password encrypted with this key, and checks it.
    fn hear_encrypted(&mut self, key: &OaepPrivateDecryptingKey) {
        let secret = self.receive();
        let mut room = vec![0; key.min_output_size()];
        let opened = key.decrypt(&OAEP_SHA1_MGF1SHA1, &secret, &mut room, None).expect("ours");
        let plain = opened.iter().zip(NONCE.iter().cycle()).map(|(byte, mask)| byte ^ mask);
        assert_eq!(plain.collect::<Vec<u8>>(), [PASSWORD, b"\0"].concat());
    }
}

/// Logs in with these options and runs a statement.
fn log_in(
    options: &str,
    play: impl FnOnce(&mut ScriptedConnection) + Send + 'static,
) -> Result<(), Error> {
    let server = ScriptedServer::playing(play);
    let driver = at(server.port(), options);
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await?;
        let ran = connection.run(&mut text("do 1")).await;
        connection.close().await;
        ran
    })
}

/// Generates a key pair of the server, and returns the public key in PEM as well.
fn key_pair() -> (OaepPrivateDecryptingKey, String) {
    let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).expect("a key");
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().expect("a key");
    let pem = pem(der.as_ref());
    (OaepPrivateDecryptingKey::new(key).expect("a key"), pem)
}

/// Encodes a public key in PEM (RFC 7468).
fn pem(der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut body = String::new();
    for three in der.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            body.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn cached_user_takes_the_fast_path() {
    let ran = log_in("", |connection| {
        let mut login = Login::greet(connection, METHOD);
        login.say_more(KNOWN);
        login.finish();
    });
    assert_eq!(ran, Ok(()));
}

#[test]
fn password_is_sent_over_tls() {
    for name in ["require", "verify"] {
        let forged = Forged::new("127.0.0.1", 2998);
        let ca = match name {
            "verify" => format!("&tls-ca={}", forged.authority.display()),
            _ => String::new(),
        };
        let ran = log_in(&format!("tls={name}{ca}"), move |connection| {
            let mut login = Login::greet_over_tls(connection, &forged);
            login.say_more(FULL);
            assert_eq!(login.receive(), [PASSWORD, b"\0"].concat());
            login.finish();
        });
        assert_eq!(ran, Ok(()), "{name}");
    }
}

#[test]
fn password_is_encrypted_with_the_key_of_a_local_server() {
    let (key, pem) = key_pair();
    let ran = log_in("", move |connection| {
        let mut login = Login::greet(connection, METHOD);
        login.say_more(FULL);
        assert_eq!(login.receive(), ASK_KEY);
        login.say_more(pem.as_bytes());
        login.hear_encrypted(&key);
        login.finish();
    });
    assert_eq!(ran, Ok(()));
}

#[test]
fn given_server_key_is_not_requested() {
    let (key, pem) = key_pair();
    let path = file("server-key.pem", &pem);
    let ran = log_in(&format!("server-public-key={}", path.display()), move |connection| {
        let mut login = Login::greet(connection, METHOD);
        login.say_more(FULL);
        login.hear_encrypted(&key);
        login.finish();
    });
    assert_eq!(ran, Ok(()));
}

#[test]
fn server_may_switch_the_login_method() {
    let ran = log_in("", |connection| {
        connection.send(&greeting_with("mysql_native_password", OFFERED));
        let mut login = Login { connection, sequence: 0 };
        login.receive();
        login.say(|out| AuthSwitchRequest { method: METHOD.as_bytes(), data: &NONCE }.encode(out));
        assert_eq!(login.receive(), sha2_answer(Password(PASSWORD), &NONCE));
        login.say_more(KNOWN);
        login.finish();
    });
    assert_eq!(ran, Ok(()));
}

#[test]
fn wrong_password_is_reported_on_each_login_path() {
    let refuse = |login: &mut Login<'_>| {
        let message = b"Access denied for user 'ann'@'127.0.0.1' (using password: YES)";
        let refusal = ErrPacket { code: 1045, sqlstate: Some(*b"28000"), message };
        login.say(|out| refusal.encode(out));
        login.connection.wait();
    };
    let forged = Forged::new("127.0.0.1", 2997);
    let short = log_in("", move |connection| refuse(&mut Login::greet(connection, METHOD)));
    let long = log_in("tls=require", move |connection| {
        let mut login = Login::greet_over_tls(connection, &forged);
        login.say_more(FULL);
        login.receive();
        refuse(&mut login);
    });
    for ran in [short, long] {
        let error = ran.expect_err("a refusal");
        let words = ["127.0.0.1", "`ann`", "Access denied", "ASSAY_PASSWORD"];
        check(&error, Class::Statement, "1045", &words);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn invalid_server_key_is_not_used() {
    let ran = log_in("", |connection| {
        let mut login = Login::greet(connection, METHOD);
        login.say_more(FULL);
        assert_eq!(login.receive(), ASK_KEY);
        login.say_more(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n");
        assert!(login.receive().is_empty(), "a password was sent under no key");
    });
    let error = ran.expect_err("no key");
    check(&error, Class::Statement, "login", &["127.0.0.1", "`ann`", "server's public key"]);
}

#[test]
fn a_file_that_holds_no_key_is_named() {
    let path = file("no-key.pem", "no key");
    let url = format!("mysql://ann:hunter2@127.0.0.1/?server-public-key={}", path.display());
    let error = driver::Mysql::open(&base::Target::parse(&url).expect("a URL"), ".").err();
    let file = path.display().to_string();
    let words = [&*file, "server-public-key", "contains no public key in PEM format"];
    check(&error.expect("a complaint"), Class::Statement, "url", &words);
}
