//! Round trips of every message, in both roles.

use proptest::prelude::*;
use wire_postgres::backend::{
    self, Authentication, Column, Message as Reply, Notification, ParameterStatus,
};
use wire_postgres::frontend::{self, Message as Request, ProtocolVersion, StartupPacket};
use wire_postgres::{
    BackendKey, CommandTag, ErrorKind, Format, Object, Oid, TransactionStatus, WireError,
};

/// Generates the bytes of a String of the protocol.
fn string() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1_u8.., 0..20)
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..40)
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Text), Just(Format::Binary)]
}

fn formats() -> impl Strategy<Value = Vec<Format>> {
    prop::collection::vec(format(), 0..5)
}

fn oids() -> impl Strategy<Value = Vec<Oid>> {
    prop::collection::vec(any::<u32>().prop_map(Oid), 0..6)
}

fn object() -> impl Strategy<Value = Object> {
    prop_oneof![Just(Object::Statement), Just(Object::Portal)]
}

fn values() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    prop::collection::vec(prop::option::of(data()), 0..6)
}

fn borrowed(values: &[Option<Vec<u8>>]) -> Vec<Option<&[u8]>> {
    values.iter().map(|value| value.as_deref()).collect()
}

/// Checks the decoded form of a server message, and that an incomplete message is not decoded.
fn replied(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>,
    check: impl FnOnce(Reply<'_>),
) {
    let mut bytes = Vec::new();
    encode(&mut bytes).expect("what can be encoded");
    for end in 0..bytes.len() {
        assert_eq!(Reply::decode(&bytes[..end]), Ok(None));
    }
    let whole = bytes.len();
    bytes.extend_from_slice(b"behind");
    let (message, used) = Reply::decode(&bytes).expect("a message").expect("a whole one");
    assert_eq!(used, whole);
    let mut again = Vec::new();
    message.encode(&mut again).expect("what was decoded");
    assert_eq!(again, bytes[..whole]);
    check(message);
}

/// Checks the decoded form of a client message, and that an incomplete message is not decoded.
fn requested(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>,
    check: impl FnOnce(Request<'_>),
) {
    let mut bytes = Vec::new();
    encode(&mut bytes).expect("what can be encoded");
    for end in 0..bytes.len() {
        assert_eq!(Request::decode(&bytes[..end]), Ok(None));
    }
    let whole = bytes.len();
    bytes.extend_from_slice(b"behind");
    let (message, used) = Request::decode(&bytes).expect("a message").expect("a whole one");
    assert_eq!(used, whole);
    let mut again = Vec::new();
    message.encode(&mut again).expect("what was decoded");
    assert_eq!(again, bytes[..whole]);
    check(message);
}

/// Adapts an encoder that cannot fail.
fn always(encode: impl FnOnce(&mut Vec<u8>)) -> impl FnOnce(&mut Vec<u8>) -> Result<(), WireError> {
    |out| {
        encode(out);
        Ok(())
    }
}

#[test]
fn messages_without_fields() {
    let reply = |encode: fn(&mut Vec<u8>), expected: Reply<'_>| {
        replied(always(encode), |message| assert_eq!(message, expected));
    };
    reply(backend::bind_complete, Reply::BindComplete);
    reply(backend::close_complete, Reply::CloseComplete);
    reply(backend::copy_done, Reply::CopyDone);
    reply(backend::empty_query_response, Reply::EmptyQueryResponse);
    reply(backend::no_data, Reply::NoData);
    reply(backend::parse_complete, Reply::ParseComplete);
    reply(backend::portal_suspended, Reply::PortalSuspended);
    reply(backend::authentication_ok, Reply::Authentication(Authentication::Ok));
    let cleartext = Reply::Authentication(Authentication::CleartextPassword);
    reply(backend::authentication_cleartext_password, cleartext);
    for status in [TransactionStatus::Idle, TransactionStatus::Active, TransactionStatus::Failed] {
        let encode = always(|out| backend::ready_for_query(out, status));
        replied(encode, |message| assert_eq!(message, Reply::ReadyForQuery(status)));
    }
    let request = |encode: fn(&mut Vec<u8>), expected: Request<'_>| {
        requested(always(encode), |message| assert_eq!(message, expected));
    };
    request(frontend::copy_done, Request::CopyDone);
    request(frontend::flush, Request::Flush);
    request(frontend::sync, Request::Sync);
    request(frontend::terminate, Request::Terminate);
}

proptest! {
    #[test]
    fn replies_of_strings_and_numbers(
        (name, value, data) in (string(), string(), data()),
        (process, secret) in any::<(i32, i32)>(),
        salt in any::<[u8; 4]>(),
        method in 13_u32..,
    ) {
        let key = BackendKey { process, secret };
        replied(always(|out| backend::backend_key_data(out, key)), |message| {
            assert_eq!(message, Reply::BackendKeyData(key));
        });
        replied(|out| backend::command_complete(out, &name), |message| {
            assert_eq!(message, Reply::CommandComplete(CommandTag::new(&name)));
        });
        replied(|out| backend::copy_data(out, &data), |message| {
            assert_eq!(message, Reply::CopyData(&data));
        });
        let status = ParameterStatus { name: &name, value: &value };
        replied(|out| backend::parameter_status(out, status), |message| {
            assert_eq!(message, Reply::ParameterStatus(status));
        });
        let notification = Notification { process, channel: &name, payload: &value };
        replied(|out| backend::notification_response(out, notification), |message| {
            assert_eq!(message, Reply::NotificationResponse(notification));
        });
        replied(always(|out| backend::authentication_md5_password(out, salt)), |message| {
            let expected = Authentication::Md5Password { salt };
            assert_eq!(message, Reply::Authentication(expected));
        });
        let check = |encode: fn(&mut Vec<u8>, &[u8]) -> Result<(), WireError>, expected| {
            let expected = Reply::Authentication(expected);
            replied(|out| encode(out, &data), |message| assert_eq!(message, expected));
        };
        let step = Authentication::SaslContinue { data: &data };
        check(backend::authentication_sasl_continue, step);
        let last = Authentication::SaslFinal { data: &data };
        check(backend::authentication_sasl_final, last);
        replied(|out| backend::authentication_other(out, method, &data), |message| {
            let expected = Authentication::Other { method, data: &data };
            assert_eq!(message, Reply::Authentication(expected));
        });
    }

    #[test]
    fn replies_of_lists(
        (values, oids, formats, whole) in (values(), oids(), formats(), format()),
        names in prop::collection::vec(prop::collection::vec(1_u8.., 1..9), 0..4),
        newest in any::<u32>(),
    ) {
        let fields = borrowed(&values);
        replied(|out| backend::data_row(out, fields.iter().copied()), |message| {
            let Reply::DataRow(row) = message else { panic!("{message:?}") };
            assert_eq!(row.iter().collect::<Vec<_>>(), fields);
            assert_eq!((row.len(), row.is_empty()), (fields.len(), fields.is_empty()));
        });
        replied(|out| backend::parameter_description(out, oids.clone()), |message| {
            let Reply::ParameterDescription(types) = message else { panic!("{message:?}") };
            assert_eq!(types.iter().collect::<Vec<_>>(), oids);
        });
        replied(|out| backend::copy_in_response(out, whole, formats.clone()), |message| {
            let Reply::CopyInResponse(it) = message else { panic!("{message:?}") };
            assert_eq!((it.format, it.columns.iter().collect()), (whole, formats.clone()));
        });
        replied(|out| backend::copy_out_response(out, whole, formats.clone()), |message| {
            let Reply::CopyOutResponse(it) = message else { panic!("{message:?}") };
            assert_eq!((it.format, it.columns.iter().collect()), (whole, formats.clone()));
        });
        replied(|out| backend::copy_both_response(out, whole, formats.clone()), |message| {
            let Reply::CopyBothResponse(it) = message else { panic!("{message:?}") };
            assert_eq!((it.format, it.columns.iter().collect()), (whole, formats.clone()));
        });
        replied(|out| backend::authentication_sasl(out, &names), |message| {
            let Reply::Authentication(Authentication::Sasl { mechanisms }) = message else {
                panic!("{message:?}");
            };
            assert!(mechanisms.iter().map(|it| it.name).eq(names.iter()));
        });
        replied(|out| backend::negotiate_protocol_version(out, newest, &names), |message| {
            let Reply::NegotiateProtocolVersion(it) = message else { panic!("{message:?}") };
            assert_eq!(it.newest, newest);
            assert!(it.unknown_options.iter().map(|it| it.name).eq(names.iter()));
        });
    }

    #[test]
    fn reports(fields in prop::collection::vec((1_u8.., string()), 0..6)) {
        let borrowed = || fields.iter().map(|(code, text)| (*code, text));
        replied(|out| backend::error_response(out, borrowed()), |message| {
            let Reply::ErrorResponse(report) = message else { panic!("{message:?}") };
            let read = report.fields.iter().map(|field| (field.code, field.text.to_vec()));
            assert_eq!(read.collect::<Vec<_>>(), fields);
        });
        replied(|out| backend::notice_response(out, borrowed()), |message| {
            let Reply::NoticeResponse(report) = message else { panic!("{message:?}") };
            assert_eq!(report.fields.len(), fields.len());
        });
    }

    #[test]
    fn descriptions_of_rows(
        columns in prop::collection::vec(
            (string(), any::<(u32, i16, u32, i16, i32)>(), format()), 0..4
        )
    ) {
        let columns: Vec<Column<'_>> = columns
            .iter()
            .map(|(name, (table, number, type_oid, type_size, modifier), format)| Column {
                name,
                table: Oid(*table),
                number: *number,
                type_oid: Oid(*type_oid),
                type_size: *type_size,
                modifier: *modifier,
                format: *format,
            })
            .collect();
        replied(|out| backend::row_description(out, columns.iter().copied()), |message| {
            let Reply::RowDescription(read) = message else { panic!("{message:?}") };
            assert_eq!(read.iter().collect::<Vec<_>>(), columns);
        });
    }

    #[test]
    fn requests_of_strings_and_numbers(
        (name, text, data) in (string(), string(), data()),
        object in object(),
        rows in any::<u32>(),
        mechanism in "[A-Z0-9-]{1,20}",
        first in prop::option::of(data()),
    ) {
        requested(|out| frontend::query(out, &text), |message| {
            assert_eq!(message, Request::Query(&text));
        });
        requested(|out| frontend::describe(out, object, &name), |message| {
            assert_eq!(message, Request::Describe(object, &name));
        });
        requested(|out| frontend::close(out, object, &name), |message| {
            assert_eq!(message, Request::Close(object, &name));
        });
        requested(|out| frontend::execute(out, &name, rows), |message| {
            assert_eq!(message, Request::Execute { portal: &name, rows });
        });
        requested(|out| frontend::copy_fail(out, &text), |message| {
            assert_eq!(message, Request::CopyFail(&text));
        });
        requested(|out| frontend::copy_data(out, |out| out.extend(&data)), |message| {
            assert_eq!(message, Request::CopyData(&data));
        });
        requested(|out| frontend::password(out, &text), |message| {
            let Request::Password(body) = message else { panic!("{message:?}") };
            assert_eq!(Request::password(body), Ok(&text[..]));
        });
        requested(|out| frontend::sasl_response(out, &data), |message| {
            assert_eq!(message, Request::Password(&data));
        });
        let encode = |out: &mut Vec<u8>| {
            frontend::sasl_initial_response(out, &mechanism, first.as_deref())
        };
        requested(encode, |message| {
            let Request::Password(body) = message else { panic!("{message:?}") };
            let read = frontend::SaslInitialResponse::decode(body).expect("the first step");
            assert_eq!((read.mechanism, read.data), (mechanism.as_bytes(), first.as_deref()));
        });
    }

    #[test]
    fn requests_of_lists(
        (portal, statement, text) in (string(), string(), string()),
        (parameters, results, oids, values) in (formats(), formats(), oids(), values()),
    ) {
        let encode = |out: &mut Vec<u8>| {
            let values = borrowed(&values);
            frontend::bind(out, &portal, &statement, parameters.clone(), values, results.clone())
        };
        requested(encode, |message| {
            let Request::Bind(bind) = message else { panic!("{message:?}") };
            assert_eq!((bind.portal, bind.statement), (&portal[..], &statement[..]));
            assert_eq!(bind.formats.iter().collect::<Vec<_>>(), parameters);
            assert_eq!(bind.values.iter().collect::<Vec<_>>(), borrowed(&values));
            assert_eq!(bind.results.iter().collect::<Vec<_>>(), results);
        });
        requested(|out| frontend::parse(out, &statement, &text, oids.clone()), |message| {
            let Request::Parse(parse) = message else { panic!("{message:?}") };
            assert_eq!((parse.statement, parse.text), (&statement[..], &text[..]));
            assert_eq!(parse.types.iter().collect::<Vec<_>>(), oids);
        });
    }

    #[test]
    fn startup_packets(
        parameters in prop::collection::vec(("[a-z_.]{1,9}", string()), 0..5),
        (process, secret) in any::<(i32, i32)>(),
        minor in any::<u16>(),
    ) {
        let version = ProtocolVersion { major: 3, minor };
        let mut bytes = Vec::new();
        let given = parameters.iter().map(|(name, value)| (name.as_str(), &value[..]));
        frontend::startup(&mut bytes, version, given).expect("names and values");
        let (packet, used) = StartupPacket::decode(&bytes).expect("a packet").expect("a whole one");
        prop_assert_eq!(used, bytes.len());
        let StartupPacket::Startup(startup) = packet else { panic!("{packet:?}") };
        prop_assert_eq!(startup.version, version);
        let read = startup.parameters.iter().map(|it| (it.name.to_vec(), it.value.to_vec()));
        let given =
            parameters.iter().map(|(name, value)| (name.clone().into_bytes(), value.clone()));
        prop_assert!(read.eq(given));

        let key = BackendKey { process, secret };
        for (encode, expected) in [
            (&(|out: &mut Vec<u8>| frontend::cancel_request(out, key)) as &dyn Fn(&mut Vec<u8>),
                StartupPacket::CancelRequest(key)),
            (&frontend::ssl_request, StartupPacket::SslRequest),
            (&frontend::gssenc_request, StartupPacket::GssEncRequest),
        ] {
            let mut bytes = Vec::new();
            encode(&mut bytes);
            prop_assert_eq!(StartupPacket::decode(&bytes), Ok(Some((expected, bytes.len()))));
            prop_assert_eq!(StartupPacket::decode(&bytes[..bytes.len() - 1]), Ok(None));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(Some((_, used))) = Reply::decode(&bytes) {
            prop_assert!(used <= bytes.len());
        }
        if let Ok(Some((_, used))) = Request::decode(&bytes) {
            prop_assert!(used <= bytes.len());
        }
        if let Ok(Some((_, used))) = StartupPacket::decode(&bytes) {
            prop_assert!(used <= bytes.len());
        }
    }
}

#[test]
fn unencodable_message_is_an_error_and_appends_nothing() {
    let check = |encode: &dyn Fn(&mut Vec<u8>) -> Result<(), WireError>, context: &str| {
        let mut out = b"before".to_vec();
        let error = encode(&mut out).expect_err("an error");
        assert_eq!((error.context, &out[..]), (context, &b"before"[..]));
    };
    check(&|out| frontend::query(out, "a\0"), "Query, text");
    check(&|out| frontend::parse(out, "a\0", "", []), "Parse, statement name");
    check(&|out| frontend::password(out, b"\0"), "PasswordMessage, password");
    check(&|out| backend::command_complete(out, "\0"), "CommandComplete, tag");
    check(&|out| backend::error_response(out, [(0, "x")]), "ErrorResponse, field type");
    let many = vec![None; 65_536];
    check(&|out| backend::data_row(out, many.iter().copied()), "DataRow, number of fields");
    let version = ProtocolVersion::V3_0;
    let (long, name) = (vec![b'x'; 10_000], "StartupMessage, parameter name");
    check(&|out| frontend::startup(out, version, [("", &b"x"[..])]), name);
    let parameters = "StartupMessage, parameters";
    check(&|out| frontend::startup(out, version, [("user", &long[..])]), parameters);
}

#[test]
fn each_kind_of_message_has_a_length_limit() {
    let packet = |bytes: &[u8]| StartupPacket::decode(bytes).map(drop).map_err(|it| it.kind);
    assert_eq!(packet(&10_000_u32.to_be_bytes()), Ok(()));
    assert_eq!(packet(&10_001_u32.to_be_bytes()), Err(ErrorKind::TooLong));
    assert_eq!(packet(&7_u32.to_be_bytes()), Err(ErrorKind::Length));
    let header = |tag: u8, body: u32| [&[tag][..], &(body + 4).to_be_bytes()].concat();
    let most = i32::MAX as u32 - 4;
    for (tag, longest) in [(b'p', 30_000), (b'X', 30_000), (b'B', most), (b'd', most)] {
        assert_eq!(Request::decode(&header(tag, longest)), Ok(None), "{}", tag.escape_ascii());
        let error = Request::decode(&header(tag, longest + 1)).expect_err("too long");
        assert!(matches!(error.kind, ErrorKind::TooLong | ErrorKind::Length), "{error}");
    }
    for (tag, longest) in [(b'C', 30_000), (b'E', 16 << 20), (b'T', 1 << 20), (b'D', most)] {
        assert_eq!(Reply::decode(&header(tag, longest)), Ok(None), "{}", tag.escape_ascii());
        let error = Reply::decode(&header(tag, longest + 1)).expect_err("too long");
        assert!(matches!(error.kind, ErrorKind::TooLong | ErrorKind::Length), "{error}");
    }
}
