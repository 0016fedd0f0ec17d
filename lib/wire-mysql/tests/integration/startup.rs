//! The login, with this crate in both roles.

use num_bigint::BigUint;
use sha1::{Digest as _, Sha1};
use wire_mysql::{
    AuthMoreData, AuthSwitchRequest, Capabilities, Channel, ClientHello, ErrPacket, ErrorKind,
    Handshake, HandshakeResponse, Login, LoginOptions, LoginStep, Nonce, OkKind, OkPacket,
    Password, Payloads, Refusal, ServerKey, Status, WANTED, WireError, native_answer, packet,
    sha2_answer,
};

const NONCE: Nonce = *b"abcdefghijklmnopqrst";
const PASSWORD: Password<'static> = Password(b"a secret of the tests");
const PUBLIC: &str = include_str!("../keys/public.pem");
const PUBLIC_PKCS1: &str = include_str!("../keys/public-pkcs1.pem");

fn options(channel: Channel) -> LoginOptions<'static> {
    LoginOptions {
        user: b"tester",
        password: PASSWORD,
        database: Some(b"test"),
        wanted: WANTED,
        channel,
        server_key: ServerKey::Ask,
        seed: [7; 20],
        collation: 45,
        attributes: &[(b"program_name", b"assay")],
    }
}

fn offered() -> Capabilities {
    WANTED | Capabilities::SSL | Capabilities::CONNECT_WITH_DB
}

fn handshake(method: &'static str, offered: Capabilities) -> Handshake<'static> {
    Handshake {
        server_version: b"8.0.0-test",
        thread_id: 77,
        nonce: NONCE,
        offered,
        collation: 45,
        status: Status::AUTOCOMMIT,
        method: method.as_bytes(),
    }
}

/// A client, and the server's side of the exchange with it.
struct Line {
    login: Login<'static>,
    sent: Vec<u8>,
    sequence: u8,
}

impl Line {
    fn new(options: LoginOptions<'static>) -> Line {
        Line { login: Login::new(options), sent: Vec::new(), sequence: 0 }
    }

    /// Sends a packet of the server and returns the client's step; the client's packets are then in
    /// `sent`. Also checks that a part of the packet alone has no effect.
    fn say(&mut self, payload: impl Fn(&mut Vec<u8>)) -> Result<LoginStep, WireError> {
        let mut bytes = Vec::new();
        self.sequence = packet(&mut bytes, self.sequence, payload);
        self.sent.clear();
        for end in 0..bytes.len() {
            let waiting = self.login.read(&bytes[..end], &mut self.sent);
            assert_eq!(waiting, Ok((0, LoginStep::NeedBytes)));
        }
        let (used, step) = self.login.read(&bytes, &mut self.sent)?;
        assert_eq!(used, bytes.len());
        Ok(step)
    }

    /// Returns the payload that the client sent.
    fn received(&mut self) -> Vec<u8> {
        let mut payloads = Payloads::new();
        payloads.expect(self.sequence);
        let taken = payloads.next(&self.sent).expect("the client's packet");
        assert_eq!(taken.used, self.sent.len(), "the client sent one packet");
        self.sequence = taken.sequence;
        taken.payload.expect("the client sent something").to_vec()
    }

    fn greet(&mut self, method: &'static str) -> Vec<u8> {
        let greeting = handshake(method, offered());
        assert_eq!(self.say(|out| greeting.encode(out)), Ok(LoginStep::NeedBytes));
        self.received()
    }

    fn finish(&mut self) {
        let status = Status::AUTOCOMMIT | Status::NO_BACKSLASH_ESCAPES;
        let ok = OkPacket { status, ..OkPacket::default() };
        let agreed = wire_mysql::Negotiated::of(offered(), WANTED);
        let step = self.say(|out| ok.encode(out, OkKind::Answer, agreed)).expect("an OK packet");
        let LoginStep::Done(session) = step else { panic!("not done: {step:?}") };
        assert_eq!((session.thread_id, &session.server_version[..]), (77, &b"8.0.0-test"[..]));
        assert!(session.agreed.has(Capabilities::DEPRECATE_EOF));
        assert_eq!(session.status, status);
    }
}

fn response(payload: &[u8]) -> HandshakeResponse<'_> {
    match ClientHello::decode(payload).expect("the client's login") {
        ClientHello::Response(response) => response,
        ClientHello::Ssl(request) => panic!("not a login: {request:?}"),
    }
}

#[test]
fn a_native_password_is_proved() {
    let mut line = Line::new(options(Channel::Open));
    let login = line.greet("mysql_native_password");
    let response = response(&login);
    assert_eq!((response.user, response.database), (&b"tester"[..], Some(&b"test"[..])));
    assert_eq!(response.method, Some(&b"mysql_native_password"[..]));
    assert_eq!(response.attributes, [(&b"program_name"[..], &b"assay"[..])]);
    assert_eq!(response.auth_response, native_answer(PASSWORD, &NONCE));
    assert!(response.negotiated_with(offered()).has(Capabilities::CACHE_METADATA));
    line.finish();
}

#[test]
fn cached_sha2_password_takes_the_fast_path() {
    let mut line = Line::new(options(Channel::Open));
    let login = line.greet("caching_sha2_password");
    assert_eq!(response(&login).auth_response, sha2_answer(PASSWORD, &NONCE));
    assert_eq!(line.say(|out| AuthMoreData(&[3]).encode(out)), Ok(LoginStep::NeedBytes));
    assert!(line.sent.is_empty(), "nothing is to be said");
    line.finish();
}

#[test]
fn uncached_sha2_password_is_sent_in_clear_over_secure_channels() {
    let mut line = Line::new(options(Channel::Local));
    line.greet("caching_sha2_password");
    assert_eq!(line.say(|out| AuthMoreData(&[4]).encode(out)), Ok(LoginStep::NeedBytes));
    assert_eq!(line.received(), [PASSWORD.0, b"\0"].concat());
    line.finish();
}

#[test]
fn uncached_sha2_password_is_encrypted_over_insecure_channels() {
    for pem in [PUBLIC, PUBLIC_PKCS1] {
        let mut line = Line::new(options(Channel::Open));
        line.greet("caching_sha2_password");
        assert_eq!(line.say(|out| AuthMoreData(&[4]).encode(out)), Ok(LoginStep::NeedBytes));
        assert_eq!(line.received(), [2], "asks for the key");
        let key = line.say(|out| AuthMoreData(pem.as_bytes()).encode(out));
        assert_eq!(key, Ok(LoginStep::NeedBytes));
        assert_eq!(opened(&line.received()), [PASSWORD.0, b"\0"].concat());
        line.finish();
    }
}

#[test]
fn known_server_key_is_not_requested() {
    let server_key = ServerKey::Known(PUBLIC.as_bytes());
    let mut line = Line::new(LoginOptions { server_key, ..options(Channel::Open) });
    line.greet("caching_sha2_password");
    assert_eq!(line.say(|out| AuthMoreData(&[4]).encode(out)), Ok(LoginStep::NeedBytes));
    assert_eq!(opened(&line.received()), [PASSWORD.0, b"\0"].concat());
    line.finish();
}

#[test]
fn server_key_is_refused_on_request() {
    let server_key = ServerKey::Refuse;
    let mut line = Line::new(LoginOptions { server_key, ..options(Channel::Open) });
    line.greet("caching_sha2_password");
    let error = line.say(|out| AuthMoreData(&[4]).encode(out)).map_err(|error| error.kind);
    assert_eq!((error, line.sent.len()), (Err(ErrorKind::Insecure), 0));
}

/// Decrypts a message by RFC 8017 7.1.2 and removes the nonce.
fn opened(secret: &[u8]) -> Vec<u8> {
    let number = |text: &str| BigUint::parse_bytes(text.trim().as_bytes(), 16).expect("hex");
    let exponent = number(include_str!("../keys/private-exponent.hex"));
    let modulus = number(include_str!("../keys/modulus.hex"));
    assert_eq!(secret.len(), 128);
    let mut block = BigUint::from_bytes_be(secret).modpow(&exponent, &modulus).to_bytes_be();
    block.splice(0..0, vec![0; 127 - block.len()]);
    let (seed, data) = block.split_at(20);
    let seed = masked(seed, &mask(data, 20));
    assert_eq!(seed, [7; 20], "the caller's random bytes");
    let data = masked(data, &mask(&seed, data.len()));
    assert_eq!(data[..20], Sha1::digest([])[..]);
    let start = 21 + data[20..].iter().position(|byte| *byte == 1).expect("the end of the padding");
    let nonce: Vec<u8> = NONCE.iter().copied().cycle().take(data.len() - start).collect();
    masked(&data[start..], &nonce)
}

fn masked(data: &[u8], mask: &[u8]) -> Vec<u8> {
    data.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

fn mask(seed: &[u8], length: usize) -> Vec<u8> {
    let block = |count: u32| Sha1::digest([seed, &count.to_be_bytes()].concat());
    (0..).flat_map(block).take(length).collect()
}

#[test]
fn malformed_server_keys_are_refused() {
    let mut keys = vec![Vec::new(), b"-----BEGIN PUBLIC KEY-----".to_vec()];
    keys.extend((0..PUBLIC.len()).map(|at| {
        let mut pem = PUBLIC.as_bytes().to_vec();
        pem[at] = b'A';
        pem
    }));
    keys.extend((0..PUBLIC.len()).step_by(7).map(|end| PUBLIC.as_bytes()[..end].to_vec()));
    let mut refused = 0;
    for pem in keys {
        let mut line = Line::new(options(Channel::Open));
        line.greet("caching_sha2_password");
        line.say(|out| AuthMoreData(&[4]).encode(out)).expect("asks for the key");
        line.received();
        let step = line.say(|out| AuthMoreData(&pem).encode(out));
        refused += usize::from(step.is_err());
    }
    assert!(refused > 40, "{refused} keys were refused");
}

#[test]
fn clear_text_password_needs_tls() {
    let request = AuthSwitchRequest { method: b"mysql_clear_password", data: b"" };
    for channel in [Channel::Open, Channel::Local] {
        let mut line = Line::new(options(channel));
        let login = line.greet("mysql_clear_password");
        assert_eq!(response(&login).method, Some(&b"mysql_native_password"[..]));
        let error = line.say(|out| request.encode(out)).map_err(|error| error.kind);
        assert_eq!((error, line.sent.len()), (Err(ErrorKind::Insecure), 0));
    }
    let mut line = Line::new(options(Channel::Tls));
    encrypt(&mut line, "caching_sha2_password");
    assert_eq!(line.say(|out| request.encode(out)), Ok(LoginStep::NeedBytes));
    assert_eq!(line.received(), [PASSWORD.0, b"\0"].concat());
    line.finish();
}

/// Greets a client that wants TLS, and returns its login.
fn encrypt(line: &mut Line, method: &'static str) -> Vec<u8> {
    let greeting = handshake(method, offered());
    assert_eq!(line.say(|out| greeting.encode(out)), Ok(LoginStep::StartTls));
    let request = line.received();
    let ClientHello::Ssl(ssl) = ClientHello::decode(&request).expect("a request for TLS") else {
        panic!("a login in the open: {request:?}")
    };
    assert!(ssl.wanted.contains(Capabilities::SSL));
    line.sent.clear();
    line.login.tls_started(&mut line.sent).expect("TLS was asked for");
    line.received()
}

#[test]
fn login_is_sent_after_tls_has_started() {
    let mut line = Line::new(options(Channel::Tls));
    let login = encrypt(&mut line, "caching_sha2_password");
    assert_eq!(response(&login).user, b"tester");
    assert_eq!(line.say(|out| AuthMoreData(&[4]).encode(out)), Ok(LoginStep::NeedBytes));
    assert_eq!(line.received(), [PASSWORD.0, b"\0"].concat());
    line.finish();
}

#[test]
fn missing_tls_is_refused() {
    let mut line = Line::new(options(Channel::Tls));
    let greeting = handshake("", offered().without(Capabilities::SSL));
    let error = line.say(|out| greeting.encode(out)).map_err(|error| error.kind);
    assert_eq!((error, line.sent.len()), (Err(ErrorKind::Unsupported), 0));
}

#[test]
fn bytes_before_tls_are_refused() {
    let mut bytes = Vec::new();
    let next = packet(&mut bytes, 0, |out| handshake("", offered()).encode(out));
    packet(&mut bytes, next, |out| out.extend_from_slice(&[0, 0, 0, 2, 0, 0, 0]));
    let error = Login::new(options(Channel::Tls)).read(&bytes, &mut Vec::new());
    assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Order));
    let error = Login::new(options(Channel::Open)).tls_started(&mut Vec::new());
    assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Order));
}

#[test]
fn known_alternative_login_method_is_used() {
    let mut line = Line::new(options(Channel::Open));
    line.greet("caching_sha2_password");
    let nonce = b"tsrqponmlkjihgfedcba\0";
    let request = AuthSwitchRequest { method: b"mysql_native_password", data: nonce };
    assert_eq!(line.say(|out| request.encode(out)), Ok(LoginStep::NeedBytes));
    assert_eq!(line.received(), native_answer(PASSWORD, b"tsrqponmlkjihgfedcba"));
    let unknown = AuthSwitchRequest { method: b"auth_gssapi_client", data: b"" };
    let error = line.say(|out| unknown.encode(out)).map_err(|error| error.kind);
    assert_eq!(error, Err(ErrorKind::Unsupported));
    let mut line = Line::new(options(Channel::Open));
    line.greet("mysql_native_password");
    let error = line.say(|out| out.push(0xFE)).map_err(|error| error.kind);
    assert_eq!(error, Err(ErrorKind::Unsupported), "the method of 1999");
}

#[test]
fn server_may_switch_methods_once() {
    let mut line = Line::new(options(Channel::Open));
    line.greet("mysql_native_password");
    let request = AuthSwitchRequest { method: b"mysql_native_password", data: &NONCE };
    let error = (0..9).find_map(|_| {
        let step = line.say(|out| request.encode(out));
        step.map(|_| line.received()).err()
    });
    assert_eq!(error.map(|error| error.kind), Some(ErrorKind::TooLong));
}

#[test]
fn empty_password_is_sent_as_an_empty_response() {
    for method in ["mysql_native_password", "caching_sha2_password"] {
        let mut line =
            Line::new(LoginOptions { password: Password(b""), ..options(Channel::Open) });
        assert_eq!(response(&line.greet(method)).auth_response, b"");
        line.finish();
    }
}

#[test]
fn refusal_is_reported() {
    let full = ErrPacket { code: 1040, sqlstate: None, message: b"Too many connections" };
    let denied = ErrPacket { code: 1045, sqlstate: Some(*b"28000"), message: b"Access denied" };
    let expected = |error: &ErrPacket<'_>| {
        let ErrPacket { code, sqlstate, message } = *error;
        Ok(LoginStep::Refused(Refusal { code, sqlstate, message: message.to_vec() }))
    };
    let mut line = Line::new(options(Channel::Open));
    assert_eq!(line.say(|out| full.encode(out)), expected(&full));
    let mut line = Line::new(options(Channel::Open));
    line.greet("mysql_native_password");
    assert_eq!(line.say(|out| denied.encode(out)), expected(&denied));
}

#[test]
fn name_with_nul_is_refused() {
    let mut line = Line::new(LoginOptions { user: b"a\0b", ..options(Channel::Open) });
    let greeting = handshake("mysql_native_password", offered());
    let error = line.say(|out| greeting.encode(out)).map_err(|error| error.kind);
    assert_eq!((error, line.sent.len()), (Err(ErrorKind::Value), 0));
}

#[test]
fn debug_output_of_a_password_is_hidden() {
    let shown = format!("{:?} {:?}", options(Channel::Open), Login::new(options(Channel::Open)));
    assert!(shown.contains("Password(…)") && !shown.contains("a secret"), "{shown}");
    let bytes = format!("{:?}", PASSWORD.0);
    assert!(!shown.contains(&bytes), "{shown}");
}
