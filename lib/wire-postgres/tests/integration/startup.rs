//! Start-up of sessions between clients and servers, including all failures.

use proptest::prelude::*;
use wire_postgres::backend::{self, ParameterStatus};
use wire_postgres::frontend::{self, Message, ProtocolVersion, SaslInitialResponse};
use wire_postgres::{
    BackendKey, Channel, ErrorKind, Login, LoginProgress, ServerAuth, ServerLogin, Session,
    SslAnswer, Startup, StartupError, TransactionStatus, WireError,
};

use crate::scram::{Proof, Server};

const KEY: BackendKey = BackendKey { process: 42, secret: -7 };

fn login(password: Option<&str>) -> Login<'_> {
    Login {
        user: "ann",
        database: Some("shop"),
        password: password.map(str::as_bytes),
        settings: &[("application_name", "assay")],
        channel: Channel::Plain,
    }
}

/// Appends the messages of a server after authentication.
fn welcome(out: &mut Vec<u8>) {
    let status = ParameterStatus { name: b"server_version", value: b"15.18" };
    backend::parameter_status(out, status).expect("a setting");
    backend::notice_response(out, [(b'M', "welcome")]).expect("a notice");
    backend::backend_key_data(out, KEY);
    backend::ready_for_query(out, TransactionStatus::Idle);
}

/// Runs the exchange of a client with a server, whose bytes arrive in pieces of this size.
fn talk(
    login: Login<'_>,
    policy: ServerAuth<'_>,
    piece: usize,
) -> Result<Option<Session>, StartupError> {
    let (mut sent, mut answer, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
    let mut client = Startup::begin(login, &mut sent)?;
    let mut server = ServerLogin::new(policy);
    for _ in 0..8 {
        let (used, visit) = server.read(&sent, &mut answer)?;
        sent.drain(..used);
        if visit == LoginProgress::Authenticated {
            welcome(&mut answer);
        }
        for part in std::mem::take(&mut answer).chunks(piece) {
            buffer.extend_from_slice(part);
            let used = client.read(&buffer, &mut sent)?;
            buffer.drain(..used);
        }
        if client.is_ready() {
            assert_eq!(server.user(), Some(&b"ann"[..]));
            break;
        }
    }
    Ok(client.into_session())
}

fn session() -> Session {
    let settings = vec![("server_version".to_owned(), "15.18".to_owned())];
    Session { key: Some(KEY), settings }
}

#[test]
fn a_session_begins_with_each_kind_of_password() {
    let password = b"s3cret".as_slice();
    for policy in [
        ServerAuth::Trust,
        ServerAuth::Cleartext { password },
        ServerAuth::Md5 { password, salt: [1, 2, 3, 4] },
    ] {
        for piece in [1, 3, 1_000] {
            let begun = talk(login(Some("s3cret")), policy, piece);
            assert_eq!(begun, Ok(Some(session())), "{policy:?} in pieces of {piece}");
        }
    }
    assert_eq!(session().setting("server_version"), Some("15.18"));
}

#[test]
fn wrong_password_is_refused_with_the_message_of_the_server() {
    let password = b"s3cret".as_slice();
    for policy in [ServerAuth::Cleartext { password }, ServerAuth::Md5 { password, salt: [0; 4] }] {
        let Err(StartupError::Server(report)) = talk(login(Some("guess")), policy, 7) else {
            panic!("a wrong password must be refused");
        };
        assert_eq!(report.sqlstate.map(|it| it.to_string()).as_deref(), Some("28P01"));
        assert_eq!(report.message, "password authentication failed for user \"ann\"");
        let missing = talk(login(None), policy, 7);
        assert_eq!(missing, Err(StartupError::PasswordMissing));
    }
}

#[test]
fn passwords_are_not_shown() {
    let shown =
        format!("{:?} {:?}", login(Some("s3cret")), ServerAuth::Cleartext { password: b"s3c" });
    assert!(!shown.contains("s3c") && !shown.contains("115"), "{shown}");
    let mut out = Vec::new();
    let client = Startup::begin(login(Some("s3cret")), &mut out).expect("a login");
    assert!(!format!("{client:?}").contains("115"), "{client:?}");
}

/// Returns the client's reaction to one reply to its StartupMessage.
fn answered(answer: &[u8]) -> Result<Vec<u8>, StartupError> {
    let mut out = Vec::new();
    let mut client = Startup::begin(login(Some("s3cret")), &mut out)?;
    out.clear();
    assert_eq!(client.read(answer, &mut out)?, answer.len());
    Ok(out)
}

#[test]
fn unsupported_login_request_is_named() {
    let check = |encode: &dyn Fn(&mut Vec<u8>), expected: &str| {
        let mut answer = Vec::new();
        encode(&mut answer);
        let error = answered(&answer).expect_err("an error");
        assert_eq!(error.to_string(), expected);
    };
    let other = |method: u32| {
        move |out: &mut Vec<u8>| {
            backend::authentication_other(out, method, b"").expect("a method");
        }
    };
    let asks = "the server asks for authentication by";
    check(&other(7), &format!("{asks} GSSAPI, which is not supported"));
    check(&other(99), &format!("{asks} method 99, which is not supported"));
    check(
        &|out| backend::authentication_sasl(out, ["SCRAM-SHA-512"]).expect("a name"),
        &format!("{asks} SASL (SCRAM-SHA-512), which is not supported"),
    );
    let version = "the server does not speak version 3.0 of the protocol:";
    let none: [&[u8]; 0] = [];
    check(
        &|out| backend::negotiate_protocol_version(out, 2 << 16, none).expect("no names"),
        &format!("{version} its newest version is 2.0"),
    );
    check(
        &|out| {
            backend::negotiate_protocol_version(out, 3 << 16, ["_pq_.x"]).expect("a name");
        },
        &format!("{version} it does not know the options _pq_.x"),
    );
}

#[test]
fn protocol_version_3_0_is_accepted() {
    let none: [&[u8]; 0] = [];
    for newest in [0, 3 << 16] {
        let mut answer = Vec::new();
        backend::negotiate_protocol_version(&mut answer, newest, none).expect("no names");
        backend::authentication_ok(&mut answer);
        assert_eq!(answered(&answer), Ok(Vec::new()));
    }
}

#[test]
fn messages_out_of_order_are_errors() {
    let check = |encode: &dyn Fn(&mut Vec<u8>)| {
        let mut answer = Vec::new();
        backend::notice_response(&mut answer, [(b'M', "hm")]).expect("a notice");
        let place = answer.len();
        encode(&mut answer);
        let Err(StartupError::Wire(WireError { kind, offset, .. })) = answered(&answer) else {
            panic!("{} is out of order", answer.escape_ascii());
        };
        assert_eq!((kind, offset), (ErrorKind::Unexpected, place));
    };
    check(&|out| backend::ready_for_query(out, TransactionStatus::Idle));
    check(&|out| backend::backend_key_data(out, KEY));
    check(&|out| backend::bind_complete(out));
    let mut answer = Vec::new();
    backend::authentication_cleartext_password(&mut answer);
    backend::authentication_md5_password(&mut answer, [0; 4]);
    assert!(matches!(answered(&answer), Err(StartupError::Wire(_))), "a second question");
}

#[test]
fn empty_mechanism_name_appends_nothing() {
    let mut out = Vec::new();
    let error = backend::authentication_sasl(&mut out, ["SCRAM-SHA-256", ""]);
    assert_eq!(error.expect_err("it would end the list").kind, ErrorKind::Value);
    assert!(out.is_empty(), "{out:?}");
}

#[test]
fn long_message_before_login_is_refused() {
    // Rows and parts of COPY's data may have 2 GiB later, but are not allowed before the login.
    for tag in [b'D', b'd'] {
        let mut out = Vec::new();
        let mut client = Startup::begin(login(None), &mut out).expect("a login");
        let error = client.read(&[tag, 0x7f, 0xff, 0xff, 0xff], &mut out).expect_err("an error");
        let StartupError::Wire(error) = error else { panic!("{error}") };
        assert_eq!((error.kind, error.offset), (ErrorKind::TooLong, 1));
    }
    let (mut sent, mut out) = (Vec::new(), Vec::new());
    Startup::begin(login(None), &mut sent).expect("a login");
    let mut server = ServerLogin::new(ServerAuth::Cleartext { password: b"s3cret" });
    assert_eq!(server.read(&sent, &mut out), Ok((sent.len(), LoginProgress::NeedsBytes)));
    let error = server.read(b"Q", &mut out).expect_err("no password");
    assert_eq!((error.kind, error.context), (ErrorKind::Unexpected, "PasswordMessage"));
}

#[test]
fn long_notice_during_startup_is_skipped() {
    let mut answer = Vec::new();
    backend::authentication_ok(&mut answer);
    let words = "x".repeat(2 << 20);
    backend::notice_response(&mut answer, [(b'M', words.as_str())]).expect("a notice");
    welcome(&mut answer);
    let mut out = Vec::new();
    let mut client = Startup::begin(login(None), &mut out).expect("a login");
    for piece in answer.chunks(100_000) {
        // No part of the notice is buffered.
        assert_eq!(client.read(piece, &mut out), Ok(piece.len()));
    }
    assert!(client.is_ready());
}

#[test]
fn settings_during_startup_are_kept_up_to_a_limit() {
    let mut answer = Vec::new();
    backend::authentication_ok(&mut answer);
    let (mut out, mut held) = (Vec::new(), 0);
    let mut client = Startup::begin(login(None), &mut out).expect("a login");
    client.read(&answer, &mut out).expect("let in");
    let value = vec![b'x'; 20_000];
    let mut setting = Vec::new();
    let status = ParameterStatus { name: b"application_name", value: &value };
    backend::parameter_status(&mut setting, status).expect("a setting");
    let fault = loop {
        match client.read(&setting, &mut out) {
            Ok(used) => held += used,
            Err(fault) => break fault,
        }
    };
    let StartupError::Wire(fault) = fault else { panic!("{fault}") };
    assert_eq!(fault.kind, ErrorKind::TooLong);
    assert!(held < 2 << 20, "{held} bytes are held");
}

#[test]
fn startup_handles_tls_cancel_and_other_versions() {
    let visit = |encode: &dyn Fn(&mut Vec<u8>)| {
        let (mut sent, mut answer) = (Vec::new(), Vec::new());
        encode(&mut sent);
        let mut server = ServerLogin::new(ServerAuth::Trust);
        assert_eq!(server.read(&sent[..3], &mut answer), Ok((0, LoginProgress::NeedsBytes)));
        let (used, visit) = server.read(&sent, &mut answer).expect("a packet");
        assert_eq!(used, sent.len());
        (visit, answer)
    };
    assert_eq!(visit(&|out| frontend::ssl_request(out)).0, LoginProgress::TlsRequested);
    assert_eq!(visit(&|out| frontend::gssenc_request(out)).0, LoginProgress::GssRequested);
    assert_eq!(
        visit(&|out| frontend::cancel_request(out, KEY)).0,
        LoginProgress::CancelRequested(KEY)
    );
    let startup = |major, minor, name: &'static str| {
        visit(&move |out| {
            let parameters = [(name, &b"x"[..]), ("_pq_.y", b"1")];
            frontend::startup(out, ProtocolVersion { major, minor }, parameters).expect("names");
        })
    };
    // An unknown option, with a newer version and with version 3.0.
    for minor in [2, 0] {
        let (visit, answer) = startup(3, minor, "user");
        assert_eq!(visit, LoginProgress::Authenticated);
        let (first, _) =
            backend::Message::decode(&answer).expect("a message").expect("a whole one");
        let backend::Message::NegotiateProtocolVersion(it) = first else { panic!("{first:?}") };
        assert_eq!((it.newest, it.unknown_options.len()), (3 << 16, 1));
    }
    assert_eq!(startup(2, 0, "user").0, LoginProgress::LoginRejected);
    assert_eq!(startup(3, 0, "database").0, LoginProgress::LoginRejected);
}

#[test]
fn an_answer_to_ssl_request_is_read_and_written() {
    let mut out = Vec::new();
    wire_postgres::answer_ssl(&mut out, SslAnswer::Accepted);
    assert_eq!(wire_postgres::ssl_answer(&out), Ok(Some(SslAnswer::Accepted)));
}

/// Hash of the server's certificate that the client sees.
const END_POINT: [u8; 32] = [7; 32];

/// Runs SCRAM between a client and a server with this password.
fn scram(
    channel: Channel<'_>,
    mechanisms: &[&str],
    server: Server<'_>,
) -> Result<(), StartupError> {
    let mut sent = Vec::new();
    let mut client = Startup::begin(Login { channel, ..login(Some("s3cret")) }, &mut sent)?;
    sent.clear();
    let mut answer = Vec::new();
    backend::authentication_sasl(&mut answer, mechanisms).expect("names");
    client.read(&answer, &mut sent)?;
    let first = password(&sent);
    let first = SaslInitialResponse::decode(&first).expect("the first step");
    answer.clear();
    let (challenge, bare) = server.challenge(first.mechanism, first.data.unwrap_or_default());
    backend::authentication_sasl_continue(&mut answer, challenge.as_bytes()).expect("short");
    sent.clear();
    client.read(&answer, &mut sent)?;
    answer.clear();
    match server.proof(&bare, &challenge, &password(&sent)) {
        Some(_) if server.proof == Proof::Omitted => {}
        Some(proof) => backend::authentication_sasl_final(&mut answer, &proof).expect("short"),
        None => {
            backend::error_response(&mut answer, [(b'C', "28P01"), (b'M', "no")]).expect("a report")
        }
    }
    backend::authentication_ok(&mut answer);
    welcome(&mut answer);
    assert_eq!(client.read(&answer, &mut sent)?, answer.len());
    assert_eq!(client.into_session(), Some(session()));
    Ok(())
}

/// Returns the body of the only message, which must respond to an authentication request.
fn password(sent: &[u8]) -> Vec<u8> {
    match Message::decode(sent) {
        Ok(Some((Message::Password(body), used))) if used == sent.len() => body.to_vec(),
        other => panic!("an answer to authentication, not {other:?}"),
    }
}

const PLAIN: &str = "SCRAM-SHA-256";
const PLUS: &str = "SCRAM-SHA-256-PLUS";

#[test]
fn clear_text_password_needs_a_secure_channel() {
    let policy = ServerAuth::Cleartext { password: b"s3cret" };
    let open = Login { channel: Channel::Open, ..login(Some("s3cret")) };
    let refused = talk(open, policy, 100).expect_err("it would be read");
    assert!(matches!(refused, StartupError::Insecure), "{refused}");
    let policy = ServerAuth::Cleartext { password: b"s3cret" };
    assert!(talk(login(Some("s3cret")), policy, 100).expect("a login").is_some());
}

#[test]
fn scram_authenticates_both_sides_and_binds_the_channel() {
    let tls = Channel::Tls { server_end_point: &END_POINT };
    let server = |mechanism, header, end_point| Server {
        password: b"s3cret",
        mechanism,
        header,
        end_point,
        proof: Proof::Right,
    };
    let none: &[u8] = &[];
    for (channel, mechanisms, server) in [
        (Channel::Plain, &[PLAIN][..], server(PLAIN, "n,,", none)),
        (Channel::Open, &[PLAIN], server(PLAIN, "n,,", none)),
        (Channel::Plain, &[PLUS, PLAIN], server(PLAIN, "n,,", none)),
        (tls, &[PLAIN], server(PLAIN, "y,,", none)),
        (tls, &[PLUS, PLAIN], server(PLUS, "p=tls-server-end-point,,", &END_POINT)),
    ] {
        assert_eq!(scram(channel, mechanisms, server), Ok(()), "{mechanisms:?}");
    }
    let other = server(PLUS, "p=tls-server-end-point,,", &[8; 32]);
    let refused = scram(tls, &[PLUS], other).expect_err("another certificate");
    assert!(matches!(refused, StartupError::Server(_)), "{refused}");
    let only_plus = scram(Channel::Plain, &[PLUS], server(PLUS, "", none));
    assert!(matches!(only_plus, Err(StartupError::Method(_))), "{only_plus:?}");
}

#[test]
fn server_without_the_password_is_detected() {
    for proof in [Proof::Forged, Proof::Omitted] {
        let (mechanism, header) = (PLAIN, "n,,");
        let other = Server { password: b"s3cret", mechanism, header, end_point: &[], proof };
        let error = scram(Channel::Plain, &[PLAIN], other).expect_err("no proof");
        assert!(matches!(error, StartupError::Scram(_)), "{proof:?}: {error}");
    }
    let (mut answer, mut out) = (Vec::new(), Vec::new());
    let mut client = Startup::begin(login(Some("s3cret")), &mut out).expect("a login");
    backend::authentication_sasl(&mut answer, [PLAIN]).expect("a name");
    backend::authentication_ok(&mut answer);
    let error = client.read(&answer, &mut out).expect_err("no proof at all");
    assert!(matches!(error, StartupError::Scram(_)), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_understood_or_refused_by_both_sides(
        bytes in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        let mut out = Vec::new();
        let mut client = Startup::begin(login(None), &mut out).expect("a login");
        if let Ok(used) = client.read(&bytes, &mut out) {
            prop_assert!(used <= bytes.len());
        }
        if let Ok((used, _)) = ServerLogin::new(ServerAuth::Trust).read(&bytes, &mut out) {
            prop_assert!(used <= bytes.len());
        }
    }
}
