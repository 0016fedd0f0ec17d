//! Tests of the calls that the reader of replies makes for each form of result.

use wire_mysql::{
    Answers, Capabilities, ColumnDefinition, ColumnType, ErrPacket, ErrorKind, Field, MAX_PAYLOAD,
    Negotiated, OkPacket, Prepared, Replies, ReplyKind, StatementId, Status, TextRow, file_data,
    file_end, packet,
};

use crate::log::{Log, agreed, new, old, printed, read};

pub(crate) fn column(name: &str, column_type: ColumnType) -> ColumnDefinition<'_> {
    ColumnDefinition {
        schema: b"test",
        table: b"t",
        original_table: b"t",
        name: name.as_bytes(),
        original_name: name.as_bytes(),
        collation: 63,
        display_width: 20,
        column_type,
        flags: 0,
        decimals: 0,
    }
}

fn id_and_name() -> [ColumnDefinition<'static>; 2] {
    [column("id", ColumnType::LONGLONG), column("name", ColumnType::VAR_STRING)]
}

fn answer(agreed: Negotiated, write: impl FnOnce(&mut Answers<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Answers::new(&mut out, agreed, 1));
    out
}

const MORE: Status = Status::MORE_RESULTS_EXISTS;

fn refusal(code: u16) -> ErrPacket<'static> {
    ErrPacket { code, sqlstate: Some(*b"42S02"), message: b"no such table" }
}

#[test]
fn rows_are_counted_and_skipped_or_returned() {
    for agreed in [old(), new()] {
        let bytes = answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.text_row([Some(&b""[..]), None]);
            answers.text_row([None, Some(&b"b"[..])]);
            answers.text_row([Some(&b"3"[..]), Some(&b"\xFE\xFF\0"[..])]);
            answers.end_of_rows(Status::AUTOCOMMIT, 7);
        });
        let end = "result: 3 rows, 0 affected, id 0, status 0x0002, 7 warnings";
        let skipped = printed(agreed, &[ReplyKind::Text], &bytes, false, 40);
        assert_eq!(skipped, ["2 columns", end, "end"]);
        let lines = printed(agreed, &[ReplyKind::Text], &bytes, true, 40);
        let wanted = ["row , NULL", "row NULL, b", "row 3, \u{fffd}\u{fffd}\0", end, "end"];
        assert_eq!(lines[1..3], ["column id ColumnType(8)", "column name ColumnType(253)"]);
        assert_eq!(lines[3..], wanted);
    }
}

#[test]
fn binary_rows_are_counted_and_skipped_or_returned() {
    for agreed in [old(), new()] {
        let bytes = answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.binary_row([Field::Int(-2), Field::Bytes(b"two")]);
            answers.binary_row([Field::Null, Field::Null]);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        let end = "result: 2 rows, 0 affected, id 0, status 0x0002, 0 warnings";
        let skipped = printed(agreed, &[ReplyKind::Binary], &bytes, false, 40);
        assert_eq!(skipped, ["2 columns", end, "end"]);
        let lines = printed(agreed, &[ReplyKind::Binary], &bytes, true, 40);
        assert_eq!(lines[3..5], ["row Int(-2), Bytes([116, 119, 111])", "row Null, Null"]);
    }
}

/// The values are read only if the row is wanted. An unwanted row is an error only if it is too
/// short for the number of its values.
#[test]
fn rows_that_are_too_short_for_their_columns_are_a_fault() {
    let cut = [
        (ReplyKind::Text, &b"\x011"[..], true),
        (ReplyKind::Text, b"1", false),
        (ReplyKind::Binary, b"\0\0", true),
        (ReplyKind::Binary, b"\0", false),
    ];
    for (agreed, (kind, row, is_enough)) in
        [old(), new()].into_iter().flat_map(|agreed| cut.map(|cut| (agreed, cut)))
    {
        let mut bytes = answer(agreed, |answers| answers.columns(&id_and_name(), false));
        let sequence = next_sequence(&bytes);
        packet(&mut bytes, sequence, |out| out.extend_from_slice(row));
        let mut end = Vec::new();
        Answers::new(&mut end, agreed, sequence + 1).end_of_rows(Status::AUTOCOMMIT, 0);
        bytes.extend_from_slice(&end);
        for piece in [1, 7, bytes.len()] {
            let mut log = Log::wanting(false);
            let mut replies = Replies::new(agreed);
            replies.expect(kind, 1).expect("one command");
            let read =
                bytes.chunks(piece).try_for_each(|piece| replies.read(piece, &mut log).map(drop));
            assert_eq!(read.is_ok(), is_enough, "{kind:?} {} {read:?}", row.escape_ascii());
        }
    }
}

#[test]
fn wanted_text_row_must_have_a_value_for_each_column() {
    for (row, is_right) in [
        (&b"\x011\x012"[..], true),
        (b"\x011\xfb", true),
        (b"\x031\x01", false),
        (b"\x011\x012\x013", false),
    ] {
        let fields: Result<Vec<_>, _> = TextRow(row).fields(2).collect();
        assert_eq!(fields.is_ok(), is_right, "{} {fields:?}", row.escape_ascii());
    }
    let missing = TextRow(b"\x011").fields(2).last();
    let context = missing.map(|field| field.map_err(|error| error.context));
    assert_eq!(context, Some(Err("text row, number of values")));
}

/// Returns the sequence number after the last of some packets.
fn next_sequence(packets: &[u8]) -> u8 {
    let (mut rest, mut sequence) = (packets, 0);
    while let [a, b, c, number, after @ ..] = rest {
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        (rest, sequence) = (&after[length..], number + 1);
    }
    sequence
}

#[test]
fn known_definitions_are_omitted() {
    for agreed in [agreed(Capabilities::DEPRECATE_EOF), agreed(Capabilities::default())] {
        let bytes = answer(agreed, |answers| {
            answers.columns(&id_and_name(), true);
            answers.binary_row([Field::Null, Field::Null]);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        for wants_rows in [false, true] {
            let lines = printed(agreed, &[ReplyKind::Binary], &bytes, wants_rows, 30);
            assert_eq!(lines[0], "2 columns, known");
            assert!(!lines.iter().any(|line| line.starts_with("column ")), "{lines:?}");
            assert!(lines.iter().any(|line| line.starts_with("result: 1 rows")), "{lines:?}");
        }
    }
}

#[test]
fn definitions_without_rows_are_returned_on_request() {
    for agreed in [old(), new(), agreed(Capabilities::default())] {
        let bytes = answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.binary_row([Field::Null, Field::Null]);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        for size in 1..=bytes.len() {
            let mut log = Log { wants_columns: true, ..Log::default() };
            let mut replies = Replies::new(agreed);
            replies.expect(ReplyKind::Binary, 1).expect("one command");
            for piece in bytes.chunks(size) {
                replies.read(piece, &mut log).expect("a well-formed reply");
            }
            let expected = [
                "2 columns",
                "column id ColumnType(8)",
                "column name ColumnType(253)",
                "result: 1 rows, 0 affected, id 0, status 0x0002, 0 warnings",
                "end",
            ];
            assert_eq!(log.lines, expected, "in pieces of {size}");
        }
    }
}

#[test]
fn one_command_has_several_results() {
    for agreed in [old(), new()] {
        let bytes = answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.text_row([None, None]);
            answers.end_of_rows(MORE, 0);
            answers.ok(&OkPacket { affected_rows: 300, status: MORE, ..OkPacket::default() });
            answers.columns(&id_and_name()[..1], false);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        let lines = printed(agreed, &[ReplyKind::Text], &bytes, false, 20);
        let expected = [
            "2 columns",
            "result: 1 rows, 0 affected, id 0, status 0x0008, 0 warnings",
            "result: 0 rows, 300 affected, id 0, status 0x0008, 0 warnings",
            "1 columns",
            "result: 0 rows, 0 affected, id 0, status 0x0002, 0 warnings",
            "end",
        ];
        assert_eq!(lines, expected);
    }
}

/// Expects an error. Otherwise, a server that loses the rows of a `select` would seem to have found
/// none.
#[test]
fn ok_in_place_of_described_columns_is_a_fault() {
    for agreed in [old(), new()] {
        let ok = answer(agreed, |answers| answers.ok(&OkPacket::default()));
        for (kind, expected) in [
            (ReplyKind::Text, None),
            (ReplyKind::Binary, None),
            (ReplyKind::Rows, Some("OK in place of the described columns")),
        ] {
            for piece in [1, ok.len()] {
                let mut replies = Replies::new(agreed);
                replies.expect(kind, 1).expect("one command");
                let mut log = Log::default();
                let read =
                    ok.chunks(piece).try_for_each(|part| replies.read(part, &mut log).map(drop));
                assert_eq!(read.err().map(|fault| fault.context), expected, "{kind:?}");
            }
        }
        let rows = answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.binary_row([Field::Int(1), Field::Null]);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        let refused = answer(agreed, |answers| answers.error(&refusal(1146)));
        for (bytes, wants_rows) in [(&rows, false), (&rows, true), (&refused, false)] {
            let lines = printed(agreed, &[ReplyKind::Rows], bytes, wants_rows, 20);
            assert_eq!(lines, printed(agreed, &[ReplyKind::Binary], bytes, wants_rows, 20));
        }
    }
}

/// Expects an error. Otherwise, the rows of another statement would count as those of a `select`.
#[test]
fn further_result_after_described_rows_is_a_fault() {
    for agreed in [old(), new()] {
        let several = answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.binary_row([Field::Int(1), Field::Null]);
            answers.end_of_rows(MORE, 0);
            answers.ok(&OkPacket::default());
        });
        for (kind, expected) in [
            (ReplyKind::Binary, None),
            (ReplyKind::Rows, Some("further result after the described rows")),
        ] {
            for (piece, wants_rows) in
                [1, several.len()].into_iter().flat_map(|piece| [(piece, false), (piece, true)])
            {
                let mut replies = Replies::new(agreed);
                replies.expect(kind, 1).expect("one command");
                let mut log = Log::wanting(wants_rows);
                let read = several
                    .chunks(piece)
                    .try_for_each(|part| replies.read(part, &mut log).map(drop));
                assert_eq!(read.err().map(|fault| fault.context), expected, "{kind:?}");
            }
        }
    }
}

#[test]
fn error_does_not_affect_the_next_replies() {
    for agreed in [old(), new()] {
        let mut bytes = answer(agreed, |answers| answers.error(&refusal(1146)));
        // An error may also occur among rows.
        bytes.extend(answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.binary_row([Field::Int(1), Field::Null]);
            answers.error(&refusal(1317));
        }));
        bytes.extend(answer(agreed, |answers| {
            answers.columns(&id_and_name(), false);
            answers.text_row([None, None]);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        }));
        bytes.extend(answer(agreed, |answers| answers.ok(&OkPacket::default())));
        let kinds = [ReplyKind::Text, ReplyKind::Binary, ReplyKind::Text, ReplyKind::Simple];
        let expected = [
            "error 1146 42S02 no such table",
            "end",
            "2 columns",
            "error 1317 42S02 no such table",
            "end",
            "2 columns",
            "result: 1 rows, 0 affected, id 0, status 0x0002, 0 warnings",
            "end",
            "result: 0 rows, 0 affected, id 0, status 0x0000, 0 warnings",
            "end",
        ];
        assert_eq!(printed(agreed, &kinds, &bytes, false, 20), expected);
    }
}

#[test]
fn long_error_is_read_from_its_beginning() {
    for agreed in [old(), new()] {
        let message = [b'x'; 20_000];
        let error = ErrPacket { code: 1105, sqlstate: Some(*b"HY000"), message: &message };
        let mut bytes = answer(agreed, |answers| answers.error(&error));
        bytes.extend(answer(agreed, |answers| answers.ok(&OkPacket::default())));
        let lines = printed(agreed, &[ReplyKind::Text, ReplyKind::Simple], &bytes, true, 20);
        // The first byte, the code, and the SQLSTATE with its `#` take nine bytes.
        let read = (5 << 10) - 9;
        assert_eq!(lines[0], format!("error 1105 HY000 {read} bytes"));
        assert!(lines[2].starts_with("result: 0 rows"), "{lines:#?}");
    }
}

#[test]
fn incomplete_packet_that_is_neither_row_nor_error_has_a_limit() {
    for (length, is_refused) in [(1 << 20, false), ((1 << 20) + 1, true)] {
        let mut replies = Replies::new(new());
        replies.expect(ReplyKind::Simple, 1).expect("one command");
        let head = [&u32::to_le_bytes(length | 1 << 24)[..], &[0]].concat();
        let error = replies.read(&head, &mut Log::default()).err();
        let expected = is_refused.then_some(ErrorKind::TooLong);
        assert_eq!(error.map(|error| error.kind), expected);
    }
}

#[test]
fn reply_to_prepare_ends_with_its_definitions() {
    for agreed in [old(), new()] {
        for (parameters, columns) in [(0, 0), (2, 0), (0, 2), (1, 2)] {
            let definitions = id_and_name();
            let prepared = Prepared { id: StatementId(9), columns, parameters, warnings: 0 };
            let mut bytes = answer(agreed, |answers| {
                let (left, right) = (usize::from(parameters), usize::from(columns));
                answers.prepared(&prepared, &definitions[..left], &definitions[..right]);
            });
            bytes.extend(answer(agreed, |answers| answers.ok(&OkPacket::default())));
            let kinds = [ReplyKind::Prepared, ReplyKind::Simple];
            let lines = printed(agreed, &kinds, &bytes, false, 20);
            assert_eq!(lines[0], format!("prepared 9: {parameters} -> {columns}"));
            let printed = lines.iter().filter(|line| line.starts_with("column ")).count();
            assert_eq!(printed, usize::from(columns));
            assert_eq!(lines.iter().filter(|line| *line == "end").count(), 2);
        }
    }
}

/// Returns values of rows whose payload is almost as long as a packet allows, exactly as long, or
/// longer. Each value repeats the first byte of an ERR, or of the packet that ends the rows: a
/// second packet of such a row begins with this byte.
fn long_values() -> impl Iterator<Item = Vec<u8>> {
    // The prefix of a long value is a byte 0xFE and eight bytes of length.
    let heads = 1 + 8;
    [(MAX_PAYLOAD - heads - 1, 0xFE), (MAX_PAYLOAD - heads, 0xFF), (MAX_PAYLOAD, 0xFE)]
        .into_iter()
        .map(|(length, fill)| vec![fill; length])
}

#[test]
fn row_of_16_mb_is_not_taken_for_an_end_or_an_error() {
    for agreed in [old(), new()] {
        for value in long_values() {
            let bytes = answer(agreed, |answers| {
                answers.columns(&id_and_name()[1..], false);
                answers.text_row([Some(&value[..])]);
                answers.text_row([None]);
                answers.end_of_rows(Status::AUTOCOMMIT, 0);
            });
            check_long(agreed, ReplyKind::Text, &bytes);
            let bytes = answer(agreed, |answers| {
                answers.columns(&id_and_name()[1..], false);
                answers.binary_row([Field::Bytes(&value)]);
                answers.binary_row([Field::Null]);
                answers.end_of_rows(Status::AUTOCOMMIT, 0);
            });
            check_long(agreed, ReplyKind::Binary, &bytes);
        }
    }
}

fn check_long(agreed: Negotiated, kind: ReplyKind, bytes: &[u8]) {
    for wants_rows in [false, true] {
        let mut whole = Log::wanting(wants_rows);
        assert_eq!(read(agreed, &[kind], bytes, &mut whole), Ok(bytes.len()));
        let ends = whole.lines.iter().filter(|line| line.starts_with("result: 2 rows")).count();
        assert_eq!(ends, 1, "{:#?}", whole.lines);
        let is_row = |line: &&String| line.starts_with("row ") || *line == "too long";
        let rows = whole.lines.iter().filter(is_row).count();
        assert_eq!(rows, if wants_rows { 2 } else { 0 });
        let mut log = Log::wanting(wants_rows);
        let mut replies = Replies::new(agreed);
        replies.expect(kind, 1).expect("one command");
        for piece in bytes.chunks(65_537) {
            assert_eq!(replies.read(piece, &mut log), Ok(piece.len()));
        }
        assert_eq!(log.lines, whole.lines);
    }
}

#[test]
fn unwanted_and_multi_packet_rows_are_not_kept() {
    let kinds = [(ReplyKind::Text, 0xFE), (ReplyKind::Binary, 0xAA)];
    for ((kind, fill), wants_rows) in kinds.into_iter().flat_map(|k| [(k, false), (k, true)]) {
        let value = vec![fill; MAX_PAYLOAD];
        let bytes = answer(new(), |answers| {
            answers.columns(&id_and_name()[1..], false);
            match kind {
                ReplyKind::Binary => answers.binary_row([Field::Bytes(&value)]),
                _ => answers.text_row([Some(&value[..])]),
            }
        });
        let mut replies = Replies::new(new());
        replies.expect(kind, 1).expect("one command");
        for piece in bytes.chunks(1 << 20) {
            replies.read(piece, &mut Log::wanting(wants_rows)).expect("a part of a row");
            let kept = format!("{replies:?}").len();
            assert!(kept < 2_000, "{kept} letters tell what is kept");
        }
    }
}

#[test]
fn incomplete_row_is_buffered_only_if_its_receiver_has_room() {
    for (room, expected) in
        [(500, ["too long", "row short"]), (2_000, ["row 1000 bytes", "row short"])]
    {
        let bytes = answer(new(), |answers| {
            answers.columns(&id_and_name()[1..], false);
            answers.text_row([Some(&[b'x'; 1_000][..])]);
            answers.text_row([Some(&b"short"[..])]);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        let mut replies = Replies::new(new());
        replies.expect(ReplyKind::Text, 1).expect("one command");
        let mut log = Log { room: Some(room), ..Log::wanting(true) };
        for piece in bytes.chunks(100) {
            assert_eq!(replies.read(piece, &mut log), Ok(piece.len()));
        }
        assert!(replies.is_idle());
        let rows: Vec<&String> = log
            .lines
            .iter()
            .filter(|line| line.starts_with("row ") || *line == "too long")
            .collect();
        assert_eq!(rows, expected);
    }
}

#[test]
fn a_file_is_sent_or_refused() {
    let agreed = new();
    // MariaDB can also prepare statements that load a file.
    let kinds = [ReplyKind::Text, ReplyKind::Binary];
    let contents = [&b"1\ta\n2\tb\n"[..], b""];
    for (kind, content) in kinds.into_iter().flat_map(|kind| contents.map(|c| (kind, c))) {
        let mut log = Log::default();
        let mut replies = Replies::new(agreed);
        replies.expect(kind, 1).expect("one command");
        let request = answer(agreed, |answers| answers.file(b"a.csv"));
        let after = [&request[..], b"more"].concat();
        assert_eq!(replies.read(&after, &mut log), Ok(request.len()), "reading pauses");
        let first = replies.wanted_file().expect("a file is wanted");
        let mut sent = Vec::new();
        let last = file_data(&mut sent, first, content);
        let next = file_end(&mut sent, last);
        let packets = if content.is_empty() { 1 } else { 2 };
        assert_eq!((first, next), (2, 2 + packets));
        replies.file_sent(next).expect("it was wanted");
        let mut reply = Vec::new();
        Answers::new(&mut reply, agreed, next).ok(&OkPacket::default());
        assert_eq!(replies.read(&reply, &mut log), Ok(reply.len()));
        let end = "result: 0 rows, 0 affected, id 0, status 0x0000, 0 warnings";
        assert_eq!(log.lines, ["file a.csv", end, "end"]);
        assert!(replies.is_idle());
        assert_eq!(replies.file_sent(1).map_err(|error| error.kind), Err(ErrorKind::Order));
    }
}

#[test]
fn a_file_that_was_not_offered_is_an_error() {
    let agreed = agreed(Capabilities::LOCAL_FILES);
    let request = answer(agreed, |answers| answers.file(b"/etc/passwd"));
    let error = read(agreed, &[ReplyKind::Text], &request, &mut Log::default());
    assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Order));
    // Further commands would be read as the file's contents.
    let kinds = [ReplyKind::Text, ReplyKind::Simple];
    let error = read(new(), &kinds, &request, &mut Log::default());
    assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Order));
}

#[test]
fn packets_with_the_wrong_sequence_number_are_errors() {
    let ok = answer(new(), |answers| answers.ok(&OkPacket::default()));
    let mut late = ok.clone();
    late[3] = 2;
    for bytes in [&late[..], &[&ok[..], &late[..]].concat()] {
        for size in [1, 100] {
            let mut replies = Replies::new(new());
            replies.expect(ReplyKind::Simple, 1).expect("few commands");
            replies.expect(ReplyKind::Simple, 1).expect("few commands");
            let error = bytes
                .chunks(size)
                .find_map(|piece| replies.read(piece, &mut Log::default()).err())
                .expect("packet 2 is not packet 1");
            assert_eq!(error.kind, ErrorKind::Sequence { expected: 1, found: 2 });
        }
    }
}

#[test]
fn session_end_by_the_server_is_reported() {
    let mut bytes = Vec::new();
    packet(&mut bytes, 0, |out| refusal(4031).encode(out));
    let lines = printed(new(), &[ReplyKind::Binary], &bytes, false, 9);
    assert_eq!(lines, ["error 4031 42S02 no such table", "end"]);
}

#[test]
fn packet_after_the_last_reply_is_an_error() {
    let ok = answer(new(), |answers| answers.ok(&OkPacket::default()));
    let kinds = [ReplyKind::Simple];
    for stray in [&ok[..], b"\0\0\0\0", b"\x07\0\0\x01"] {
        let bytes = [&ok[..], stray].concat();
        let error = read(new(), &kinds, &bytes, &mut Log::default()).expect_err("unasked");
        assert_eq!((error.kind, error.offset), (ErrorKind::Order, ok.len()), "{error}");
    }
    // A server that ends the session may send this error at any time; it is read with the next
    // reply.
    let mut last_words = Vec::new();
    packet(&mut last_words, 0, |out| refusal(4031).encode(out));
    for words in [&last_words[..], &last_words[..4], &last_words[..2]] {
        let bytes = [&ok[..], words].concat();
        assert_eq!(read(new(), &kinds, &bytes, &mut Log::default()), Ok(ok.len()));
    }
}

#[test]
fn definitions_that_end_early_are_an_error() {
    for agreed in [old(), new()] {
        let bytes = answer(agreed, |answers| {
            answers.columns(&id_and_name()[..1], false);
            answers.end_of_rows(Status::AUTOCOMMIT, 0);
        });
        let mut short = bytes.clone();
        // The number of columns.
        short[4] = 9;
        for (size, wants_rows) in [(1, false), (1, true), (1_000, false), (1_000, true)] {
            let mut replies = Replies::new(agreed);
            replies.expect(ReplyKind::Text, 1).expect("one command");
            let mut log = Log::wanting(wants_rows);
            let fault = short.chunks(size).find_map(|piece| replies.read(piece, &mut log).err());
            assert!(fault.is_some(), "{agreed:?} in pieces of {size}");
        }
    }
}

#[test]
fn malformed_replies_are_errors_at_their_place() {
    let count = |payload: &[u8]| {
        let mut bytes = Vec::new();
        packet(&mut bytes, 1, |out| out.extend_from_slice(payload));
        read(old(), &[ReplyKind::Text], &bytes, &mut Log::default())
            .map_err(|error| (error.kind, error.offset, error.context))
    };
    let context = "column count";
    assert_eq!(count(&[0xFC, 1]), Err((ErrorKind::Truncated, 5, context)));
    assert_eq!(count(&[0xFE; 9]), Err((ErrorKind::Value, 4, context)));
    assert_eq!(count(&[2, 2]), Err((ErrorKind::Trailing, 5, context)));
    assert_eq!(count(&[]), Err((ErrorKind::Truncated, 4, context)));
    let bytes = answer(old(), |answers| {
        answers.columns(&id_and_name(), false);
        answers.text_row([]);
    });
    let error = read(old(), &[ReplyKind::Text], &bytes, &mut Log::default());
    assert_eq!(error.map_err(|error| error.context), Err("row, first byte"));
    let bytes = answer(old(), |answers| {
        answers.columns(&id_and_name(), false);
        answers.text_row([Some(&b"1"[..])]);
    });
    let error = read(old(), &[ReplyKind::Binary], &bytes, &mut Log::default());
    assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Value));
}

/// Expects the information to be read in the form that go-mysql-server writes. MySQL and MariaDB
/// write its length first.
#[test]
fn info_without_its_length_is_the_rest_of_the_packet() {
    let agreed = Negotiated::of(Capabilities(0), Capabilities(0));
    let words = b"#Records: 7  Duplicates: 0  Warnings: 0 and more of it";
    let payload = [&[0, 7, 0, 2, 0, 0, 0], words.as_slice()].concat();
    let ok = OkPacket::decode(&payload, agreed).expect("an OK packet");
    assert_eq!((ok.affected_rows, ok.info), (7, words.as_slice()));
}
