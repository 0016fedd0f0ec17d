//! Requests of a client, as decoded by a server.

use wire_mysql::{
    BoundTypes, BulkExecute, Command, ErrorKind, Execute, Field, MAX_PAYLOAD, Parameter,
    ParameterType, Payloads, StatementId,
};

/// Returns the values of the executions in `bytes`, as read by a server that has the statement.
fn executions(bytes: &[u8], parameters: u16) -> Vec<Vec<String>> {
    let mut bound = BoundTypes::new();
    let mut found = Vec::new();
    let (mut payloads, mut at) = (Payloads::new(), 0);
    while at < bytes.len() {
        payloads.expect(0);
        let taken = payloads.next(&bytes[at..]).expect("our own packets");
        at += taken.used;
        let payload = taken.payload.expect("whole packets");
        let Command::Execute(execute) = Command::decode(payload).expect("our own command") else {
            panic!("not an execution")
        };
        assert_eq!(execute.id, StatementId(0x0403_0201));
        let mut values = Vec::new();
        execute
            .values(parameters, &mut bound, |value| values.push(format!("{value:?}")))
            .expect("our own values");
        found.push(values);
    }
    found
}

const ID: StatementId = StatementId(0x0403_0201);

#[test]
fn execute_packet_matches_the_manual() {
    let mut execute = Execute::new(ID, 1);
    let mut out = Vec::new();
    let values = [Parameter::Int(5)];
    assert_eq!(execute.append(&mut out, values.into_iter()), Ok(1));
    let first = out.len();
    assert_eq!(execute.append(&mut out, values.into_iter()), Ok(1));
    let bound = [
        &[0x16, 0, 0, 0][..],
        &[0x17, 1, 2, 3, 4, 0, 1, 0, 0, 0],
        &[0, 1, 8, 0],
        &[5, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(out[..first], bound.concat());
    let again = [&[0x14, 0, 0, 0][..], bound[1], &[0, 0], bound[3]];
    assert_eq!(out[first..], again.concat());
}

#[test]
fn all_execute_encodings_agree() {
    use Parameter::{Double, Int, Null, Text};
    let requests: &[[Parameter<'_>; 3]] = &[
        [Int(1), Double(1.5), Int(-1)],
        [Int(2), Double(2.5), Int(i64::MIN)],
        [Int(3), Null, Int(-3)],
        [Int(4), Double(f64::INFINITY), Int(-4)],
        [Int(5), Text(b"five"), Int(-5)],
        [Int(6), Text(b""), Null],
        [Null, Null, Null],
        [Int(8), Double(8.5), Int(-8)],
        [Int(9), Double(9.5), Int(-9)],
    ];
    let mut execute = Execute::new(ID, 3);
    let (mut out, mut sizes) = (Vec::new(), Vec::new());
    for request in requests {
        let before = out.len();
        execute.append(&mut out, request.iter().copied()).expect("three values");
        sizes.push(out.len() - before);
    }
    let shown = |value: &Parameter<'_>| {
        let field = match *value {
            Null => Field::Null,
            Int(number) => Field::Int(number),
            Double(number) => Field::Double(number),
            Text(text) => Field::Bytes(text),
        };
        format!("{field:?}")
    };
    let expected: Vec<Vec<String>> =
        requests.iter().map(|request| request.iter().map(shown).collect()).collect();
    assert_eq!(executions(&out, 3), expected);
    let fixed = 4 + 10 + 2 + 24;
    assert_eq!(sizes[..2], [fixed + 6, fixed], "types go once");
    assert_eq!(sizes[3], fixed, "a NULL changes no type");
    assert_eq!(sizes[7..], [fixed + 6, fixed], "types go again when they change");
}

#[test]
fn types_are_sent_again_after_a_rebind() {
    let mut execute = Execute::new(ID, 1);
    let mut thrown_away = Vec::new();
    execute.append(&mut thrown_away, [Parameter::Int(1)].into_iter()).expect("one value");
    let mut out = Vec::new();
    execute.append(&mut out, [Parameter::Int(1)].into_iter()).expect("one value");
    let Ok(Command::Execute(unknown)) = Command::decode(&out[4..]) else { panic!("{out:?}") };
    let error = unknown.values(1, &mut BoundTypes::new(), |_| {});
    assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Order));
    out.clear();
    execute.rebind();
    execute.append(&mut out, [Parameter::Int(1)].into_iter()).expect("one value");
    assert_eq!(out, thrown_away);
}

#[test]
fn a_wrong_number_of_values_appends_nothing() {
    let mut out = Vec::new();
    for values in [&[][..], &[Parameter::Null; 2]] {
        let error = Execute::new(ID, 1).append(&mut out, values.iter().copied());
        assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Value));
    }
    assert_eq!(Execute::new(ID, 0).append(&mut out, [].into_iter()), Ok(1));
    assert_eq!(out, [10, 0, 0, 0, 0x17, 1, 2, 3, 4, 0, 1, 0, 0, 0]);
}

#[test]
fn value_of_16_mb_advances_the_sequence_number_of_the_answer() {
    let text = vec![b'x'; MAX_PAYLOAD];
    let mut execute = Execute::new(ID, 1);
    let mut out = Vec::new();
    assert_eq!(execute.append(&mut out, [Parameter::Text(&text)].into_iter()), Ok(2));
    assert_eq!(executions(&out, 1), [[format!("{:?}", Field::Bytes(&text))]]);
    out.clear();
    assert_eq!(Command::Query(&text).append(&mut out), 2);
}

#[test]
fn bulk_rows_share_one_packet() {
    use Parameter::{Int, Null, Text};
    let types = [ParameterType::Int, ParameterType::Text];
    let mut out = Vec::new();
    let mut bulk = BulkExecute::begin(&mut out, ID, &types);
    bulk.row([Int(1), Text(b"a")].into_iter()).expect("a row of the right types");
    let length = bulk.length();
    for wrong in [&[Int(2)][..], &[Text(b"2"), Text(b"b")], &[Int(2), Null, Null]] {
        let error = bulk.row(wrong.iter().copied()).map_err(|error| error.kind);
        assert_eq!((error, bulk.length()), (Err(ErrorKind::Value), length));
    }
    bulk.row([Null, Null].into_iter()).expect("NULL has every type");
    assert_eq!(bulk.end(), 1);
    let expected = [
        &[0x1B, 0, 0, 0][..],
        &[0xFA, 1, 2, 3, 4, 0x80, 0],
        &[8, 0, 0xFD, 0],
        &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'a'],
        &[1, 1],
    ];
    assert_eq!(out[4..], expected.concat()[4..]);
    let Ok(Command::BulkExecute(bulk)) = Command::decode(&out[4..]) else { panic!("{out:?}") };
    let mut values = Vec::new();
    bulk.values(2, &mut BoundTypes::new(), |row, value| values.push(format!("{row} {value:?}")))
        .expect("our own rows");
    assert_eq!(values, ["0 Int(1)", "0 Bytes([97])", "1 Null", "1 Null"]);
    assert_eq!(out[0] as usize, out.len() - 4);
}

#[test]
fn unknown_and_unfinished_commands_are_errors() {
    for (payload, kind) in [
        (&[][..], ErrorKind::Truncated),
        (&[0x19, 1, 2, 3], ErrorKind::Truncated),
        (&[0x0E, 0], ErrorKind::Trailing),
        (&[0x12], ErrorKind::Unsupported),
    ] {
        assert_eq!(Command::decode(payload).map_err(|error| error.kind), Err(kind), "{payload:?}");
    }
}
