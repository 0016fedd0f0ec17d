//! Round trips of every message, in both roles.

use proptest::collection::vec;
use proptest::prelude::*;
use wire_mysql::{
    Answers, AuthMoreData, AuthSwitchRequest, BinaryRow, BoundTypes, BulkExecute, Capabilities,
    ClientHello, ColumnDefinition, ColumnKind, ColumnType, Command, EofPacket, ErrPacket, Execute,
    Field, Handshake, HandshakeResponse, Negotiated, OkKind, OkPacket, Parameter, ParameterType,
    Prepared, ReplyKind, SslRequest, StatementId, Status, TextRow,
};

use crate::log::{agreed, printed};
use crate::replies::column;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => vec(any::<u8>(), 0..12), 1 => vec(any::<u8>(), 240..300)]
}

/// Generates names without zero bytes.
fn name() -> impl Strategy<Value = Vec<u8>> {
    vec(1..=255_u8, 0..12)
}

fn capabilities() -> impl Strategy<Value = Capabilities> {
    any::<u64>().prop_map(|bits| {
        let needed = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION;
        let all = Capabilities(bits) | needed;
        let has_upper = !all.contains(Capabilities::MYSQL);
        if has_upper { all } else { Capabilities(all.0 & 0xFFFF_FFFF) }
    })
}

fn negotiated() -> impl Strategy<Value = Negotiated> {
    capabilities().prop_map(|all| Negotiated::of(all, all))
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = b"before".to_vec();
    write(&mut out);
    out.split_off(6)
}

/// An owned value.
#[derive(Clone, Debug)]
enum Value {
    Null,
    Int(i64),
    Double(f64),
    Text(Vec<u8>),
}

impl Value {
    fn parameter(&self) -> Parameter<'_> {
        match self {
            Value::Null => Parameter::Null,
            Value::Int(number) => Parameter::Int(*number),
            Value::Double(number) => Parameter::Double(*number),
            Value::Text(text) => Parameter::Text(text),
        }
    }

    fn field(&self) -> Field<'_> {
        match self {
            Value::Null => Field::Null,
            Value::Int(number) => Field::Int(*number),
            Value::Double(number) => Field::Double(*number),
            Value::Text(text) => Field::Bytes(text),
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Int),
        (-1e300..1e300_f64).prop_map(Value::Double),
        bytes().prop_map(Value::Text),
    ]
}

fn value_of(kind: ParameterType) -> BoxedStrategy<Value> {
    let filled = match kind {
        ParameterType::Int => any::<i64>().prop_map(Value::Int).boxed(),
        ParameterType::Double => (-1e300..1e300_f64).prop_map(Value::Double).boxed(),
        ParameterType::Text => bytes().prop_map(Value::Text).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 3 => filled].boxed()
}

fn types() -> impl Strategy<Value = Vec<ParameterType>> {
    let all = [ParameterType::Int, ParameterType::Double, ParameterType::Text];
    vec(proptest::sample::select(all.to_vec()), 1..20)
}

fn rows() -> impl Strategy<Value = (Vec<ParameterType>, Vec<Vec<Value>>)> {
    types().prop_flat_map(|types| {
        let row: Vec<_> = types.iter().map(|kind| value_of(*kind)).collect();
        (Just(types), vec(row, 0..5))
    })
}

/// Returns the type of a column with values of this type.
fn column_type(kind: ParameterType) -> ColumnType {
    match kind {
        ParameterType::Int => ColumnType::LONGLONG,
        ParameterType::Double => ColumnType::DOUBLE,
        ParameterType::Text => ColumnType::VAR_STRING,
    }
}

proptest! {
    #[test]
    fn answers(
        (affected_rows, last_insert_id) in (any::<u64>(), any::<u64>()),
        (status, warnings, info) in (any::<u16>(), any::<u16>(), bytes()),
        agreed in negotiated(),
        is_end in any::<bool>(),
    ) {
        let status = Status(status);
        let ok = OkPacket { affected_rows, last_insert_id, status, warnings, info: &info };
        let kind = if is_end { OkKind::EndOfRows } else { OkKind::Answer };
        let payload = written(|out| ok.encode(out, kind, agreed));
        prop_assert_eq!(OkPacket::decode(&payload, agreed), Ok(ok));
        let eof = EofPacket { warnings, status };
        prop_assert_eq!(EofPacket::decode(&written(|out| eof.encode(out))), Ok(eof));
    }

    #[test]
    fn errors(
        (code, state) in (any::<u16>(), proptest::option::of(any::<[u8; 5]>())),
        message in bytes(),
    ) {
        prop_assume!(state.is_some() || message.first() != Some(&b'#'));
        let error = ErrPacket { code, sqlstate: state, message: &message };
        let payload = written(|out| error.encode(out));
        prop_assert_eq!(ErrPacket::decode(&payload), Ok(error));
    }

    #[test]
    fn definitions(
        (schema, table, original_table, name) in (bytes(), bytes(), bytes(), bytes()),
        (collation, display_width, code) in (any::<u16>(), any::<u32>(), any::<u8>()),
        (flags, decimals) in (any::<u16>(), any::<u8>()),
        agreed in negotiated(),
    ) {
        let definition = ColumnDefinition {
            schema: &schema,
            table: &table,
            original_table: &original_table,
            name: &name,
            original_name: &table,
            collation,
            display_width,
            column_type: ColumnType(code),
            flags,
            decimals,
        };
        let payload = written(|out| definition.encode(out, agreed));
        prop_assert_eq!(ColumnDefinition::decode(&payload, agreed), Ok(definition));
    }

    #[test]
    fn handshakes(
        (version, method) in (name(), name()),
        (thread_id, collation, status) in (any::<u32>(), any::<u8>(), any::<u16>()),
        (nonce, offered) in (any::<[u8; 20]>(), capabilities()),
    ) {
        let has_method = offered.contains(Capabilities::PLUGIN_AUTH);
        let handshake = Handshake {
            server_version: &version,
            thread_id,
            nonce,
            offered,
            collation,
            status: Status(status),
            method: if has_method { &method } else { &[] },
        };
        let payload = written(|out| handshake.encode(out));
        prop_assert_eq!(Handshake::decode(&payload), Ok(handshake));
    }

    #[test]
    fn logins(
        (user, database, method) in (name(), name(), name()),
        (answer, attributes) in (vec(any::<u8>(), 0..200), vec((bytes(), bytes()), 0..4)),
        (max_packet, collation, wanted) in (any::<u32>(), any::<u8>(), capabilities()),
    ) {
        let has = |capability| wanted.contains(capability);
        let client = SslRequest { wanted, max_packet, collation };
        let request = SslRequest { wanted: wanted | Capabilities::SSL, ..client };
        let payload = written(|out| request.encode(out));
        prop_assert_eq!(ClientHello::decode(&payload), Ok(ClientHello::Ssl(request)));
        let pairs = attributes.iter().map(|(name, value)| (&name[..], &value[..]));
        let response = HandshakeResponse {
            client,
            user: &user,
            auth_response: &answer,
            database: has(Capabilities::CONNECT_WITH_DB).then_some(&database[..]),
            method: has(Capabilities::PLUGIN_AUTH).then_some(&method[..]),
            attributes: if has(Capabilities::CONNECT_ATTRS) { pairs.collect() } else { Vec::new() },
        };
        let payload = written(|out| response.encode(out).expect("names without zero bytes"));
        prop_assert_eq!(ClientHello::decode(&payload), Ok(ClientHello::Response(response)));
    }

    #[test]
    fn talks(method in name(), data in bytes()) {
        let request = AuthSwitchRequest { method: &method, data: &data };
        let payload = written(|out| request.encode(out));
        prop_assert_eq!(AuthSwitchRequest::decode(&payload), Ok(request));
        let more = AuthMoreData(&data);
        let payload = written(|out| more.encode(out));
        prop_assert_eq!(AuthMoreData::decode(&payload), Ok(more));
    }

    #[test]
    fn commands(text in bytes(), id in any::<u32>()) {
        let id = StatementId(id);
        for command in [
            Command::Quit,
            Command::InitDatabase(&text),
            Command::Query(&text),
            Command::Ping,
            Command::Prepare(&text),
            Command::Close(id),
            Command::Reset(id),
            Command::ResetConnection,
        ] {
            let packet = written(|out| assert_eq!(command.append(out), 1));
            prop_assert_eq!(Command::decode(&packet[4..]), Ok(command));
            let head = (packet.len() as u32 - 4).to_le_bytes();
            prop_assert_eq!(&packet[..4], &head);
        }
    }

    #[test]
    fn prepared_statements(
        (id, warnings) in (any::<u32>(), any::<u16>()),
        (parameters, columns) in (any::<u16>(), any::<u16>()),
    ) {
        let prepared = Prepared { id: StatementId(id), columns, parameters, warnings };
        prop_assert_eq!(Prepared::decode(&written(|out| prepared.encode(out))), Ok(prepared));
    }

    #[test]
    fn executions(requests in (0..20_usize).prop_flat_map(|n| vec(vec(value(), n), 1..6))) {
        let parameters = requests[0].len() as u16;
        let mut execute = Execute::new(StatementId(7), parameters);
        let mut bound = BoundTypes::new();
        for request in &requests {
            let packet = written(|out| {
                let values = request.iter().map(Value::parameter);
                execute.append(out, values).expect("as many values as there are");
            });
            let command = Command::decode(&packet[4..]);
            let Ok(Command::Execute(command)) = command else { panic!("{command:?}") };
            let mut values = Vec::new();
            command.values(parameters, &mut bound, |value| values.push(value)).expect("our own");
            let expected: Vec<Field<'_>> = request.iter().map(Value::field).collect();
            prop_assert_eq!(values, expected);
            let again = written(|out| assert_eq!(Command::Execute(command).append(out), 1));
            prop_assert_eq!(again, packet);
        }
    }

    #[test]
    fn bulk_executions((types, rows) in rows()) {
        let packet = written(|out| {
            let mut bulk = BulkExecute::begin(out, StatementId(7), &types);
            for row in &rows {
                bulk.row(row.iter().map(Value::parameter)).expect("values of the right types");
            }
            bulk.end();
        });
        let command = Command::decode(&packet[4..]);
        let Ok(Command::BulkExecute(command)) = command else { panic!("{command:?}") };
        let mut values = Vec::new();
        let parameters = types.len() as u16;
        command
            .values(parameters, &mut BoundTypes::new(), |row, value| values.push((row, value)))
            .expect("our own rows");
        let expected: Vec<_> = (0..)
            .zip(&rows)
            .flat_map(|(number, row)| row.iter().map(move |value| (number, value.field())))
            .collect();
        prop_assert_eq!(values, expected);
        let again = written(|out| assert_eq!(Command::BulkExecute(command).append(out), 1));
        prop_assert_eq!(again, packet);
    }

    #[test]
    fn rows_of_results((types, rows) in rows()) {
        let kinds: Vec<ColumnKind> = types
            .iter()
            .map(|kind| ColumnKind { column_type: column_type(*kind), is_unsigned: false })
            .collect();
        for row in &rows {
            let payload = written(|out| BinaryRow::encode(out, row.iter().map(Value::field)));
            let fields = BinaryRow(&payload).fields(&kinds).expect("a bitmap");
            let fields: Vec<_> = fields.map(|field| field.expect("a value")).collect();
            let expected: Vec<_> = row.iter().map(Value::field).collect();
            prop_assert_eq!(fields, expected);
            let texts: Vec<Option<Vec<u8>>> = row.iter().map(text).collect();
            let values = texts.iter().map(Option::as_deref);
            let payload = written(|out| TextRow::encode(out, values));
            let fields: Result<Vec<_>, _> = TextRow(&payload).fields(row.len() as u64).collect();
            prop_assert_eq!(fields, Ok(texts.iter().map(Option::as_deref).collect()));
        }
    }

    #[test]
    fn replies_in_any_pieces((types, rows) in rows(), without in any::<u64>(), at in any::<u8>()) {
        let agreed = agreed(Capabilities(without));
        let columns: Vec<_> = types.iter().map(|kind| column("c", column_type(*kind))).collect();
        let mut bytes = Vec::new();
        let mut answers = Answers::new(&mut bytes, agreed, 1);
        for status in [Status::MORE_RESULTS_EXISTS, Status::AUTOCOMMIT] {
            answers.columns(&columns, false);
            rows.iter().for_each(|row| answers.binary_row(row.iter().map(Value::field)));
            answers.end_of_rows(status, 0);
        }
        Answers::new(&mut bytes, agreed, 1).ok(&OkPacket::default());
        let kinds = [ReplyKind::Binary, ReplyKind::Simple];
        for wants_rows in [false, true] {
            let lines = printed(agreed, &kinds, &bytes, wants_rows, usize::from(at % 40));
            let expected = format!("result: {} rows", rows.len());
            let ends = lines.iter().filter(|line| line.starts_with(&expected)).count();
            prop_assert!(ends >= 2, "{:#?}", lines);
        }
    }
}

fn text(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => None,
        Value::Int(number) => Some(number.to_string().into_bytes()),
        Value::Double(number) => Some(number.to_string().into_bytes()),
        Value::Text(text) => Some(text.clone()),
    }
}
