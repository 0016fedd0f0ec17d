//! Tests of the reader of replies: its counts, its grammar and its limits, for replies that arrive
//! whole or in pieces.

use proptest::prelude::*;
use wire_postgres::backend::{self, Column, Notification, ParameterStatus, Row};
use wire_postgres::{
    Completion, Cycle, ErrorKind, Format, List, Object, Oid, Replies, Report, Sink,
    TransactionStatus, WireError,
};

/// A sink that logs all its calls.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    pub(crate) wants_data: bool,
}

impl Log {
    pub(crate) fn new(wants_data: bool) -> Log {
        Log { lines: Vec::new(), wants_data }
    }

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}

fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

impl Sink for Log {
    fn complete(&mut self, completion: Completion<'_>) {
        let what = match completion {
            Completion::Done { tag, .. } => tag.text().into_owned(),
            Completion::Suspended { .. } => "suspended".to_owned(),
            Completion::Empty => "empty".to_owned(),
        };
        self.line(format!("complete {what} rows {}", completion.rows()));
    }

    fn error(&mut self, report: Report<'_>) {
        self.line(format!("error {}", report.to_owned()));
    }

    fn ready(&mut self, status: TransactionStatus) {
        self.line(format!("ready {status:?}"));
    }

    fn wants_data(&self) -> bool {
        self.wants_data
    }

    fn wants_notices(&self) -> bool {
        true
    }

    fn too_long(&mut self, length: usize) {
        self.line(format!("too long {length}"));
    }

    fn row(&mut self, row: Row<'_>) {
        let fields: Vec<String> =
            row.iter().map(|field| field.map_or("NULL".to_owned(), text)).collect();
        self.line(format!("row {}", fields.join(", ")));
    }

    fn columns(&mut self, columns: List<'_, Column<'_>>) {
        let names: Vec<String> = columns
            .iter()
            .map(|column| {
                format!("{} {} {:?}", text(column.name), column.type_oid.0, column.format)
            })
            .collect();
        self.line(format!("columns {}", names.join(", ")));
    }

    fn copy_data(&mut self, data: &[u8]) {
        self.line(format!("copy data {}", text(data)));
    }

    fn parameters(&mut self, types: List<'_, Oid>) {
        let types: Vec<u32> = types.iter().map(|oid| oid.0).collect();
        self.line(format!("parameters {types:?}"));
    }

    fn no_columns(&mut self) {
        self.line("no columns");
    }

    fn copy_in(&mut self, response: backend::CopyResponse<'_>) {
        self.line(format!("copy in {:?} {}", response.format, response.columns.len()));
    }

    fn copy_out(&mut self, response: backend::CopyResponse<'_>) {
        self.line(format!("copy out {:?} {}", response.format, response.columns.len()));
    }

    fn notice(&mut self, report: Report<'_>) {
        self.line(format!("notice {}", report.to_owned()));
    }

    fn notification(&mut self, notification: Notification<'_>) {
        let (channel, payload) = (text(notification.channel), text(notification.payload));
        self.line(format!("notification {channel} {payload}"));
    }

    fn setting(&mut self, status: ParameterStatus<'_>) {
        self.line(format!("setting {} = {}", text(status.name), text(status.value)));
    }
}

/// Reads bytes in pieces that end at `ends`, like a connection that keeps unconsumed bytes.
pub(crate) fn read_in_pieces(
    replies: &mut Replies,
    bytes: &[u8],
    ends: &[usize],
    log: &mut impl Sink,
) -> Result<usize, WireError> {
    let mut buffer = Vec::new();
    let mut from = 0;
    for end in ends.iter().copied().chain([bytes.len()]) {
        let end = end.clamp(from, bytes.len());
        buffer.extend_from_slice(&bytes[from..end]);
        from = end;
        let used = replies.read(&buffer, log)?;
        buffer.drain(..used);
        assert!(buffer.is_empty() || buffer.len() < replies.needed(), "a whole message is left");
    }
    Ok(buffer.len())
}

/// Returns a reader that expects the replies to these requests.
fn awaiting(cycles: &[Cycle]) -> Replies {
    let mut replies = Replies::new();
    cycles.iter().for_each(|cycle| replies.expect(*cycle));
    replies
}

/// Returns the log of a reader that gets all bytes at once.
fn lines(cycles: &[Cycle], bytes: &[u8]) -> Vec<String> {
    let mut log = Log::new(false);
    let mut replies = awaiting(cycles);
    assert_eq!(replies.read(bytes, &mut log), Ok(bytes.len()));
    assert!(replies.is_idle());
    log.lines
}

fn row(out: &mut Vec<u8>, fields: &[Option<&[u8]>]) {
    backend::data_row(out, fields.iter().copied()).expect("well made");
}

/// Appends a reply to one statement that returned this number of rows.
fn select(out: &mut Vec<u8>, rows: usize) {
    backend::bind_complete(out);
    (0..rows).for_each(|_| row(out, &[Some(b"42"), None]));
    backend::command_complete(out, format!("SELECT {rows}")).expect("well made");
}

fn failed(out: &mut Vec<u8>, sqlstate: &str, message: &str) {
    let fields = [(b'S', "FEHLER"), (b'V', "ERROR"), (b'C', sqlstate), (b'M', message)];
    backend::error_response(out, fields).expect("well made");
}

#[test]
fn rows_are_counted_without_being_kept() {
    let mut bytes = Vec::new();
    select(&mut bytes, 3);
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    assert_eq!(lines(&[Cycle::STATEMENT], &bytes), ["complete SELECT 3 rows 3", "ready Idle"]);
}

#[test]
fn error_in_one_request_does_not_affect_the_next() {
    let mut bytes = Vec::new();
    backend::bind_complete(&mut bytes);
    row(&mut bytes, &[None]);
    failed(&mut bytes, "22012", "division by zero");
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    select(&mut bytes, 2);
    backend::bind_complete(&mut bytes);
    backend::command_complete(&mut bytes, "INSERT 0 5").expect("well made");
    backend::ready_for_query(&mut bytes, TransactionStatus::Active);
    assert_eq!(
        lines(&[Cycle::STATEMENT, Cycle::STATEMENT.bind().execute()], &bytes),
        [
            "error division by zero (SQLSTATE 22012)",
            "ready Idle",
            "complete SELECT 2 rows 2",
            "complete INSERT 0 5 rows 5",
            "ready Active",
        ]
    );
}

#[test]
fn failed_transaction_is_reported() {
    let mut bytes = Vec::new();
    backend::bind_complete(&mut bytes);
    backend::command_complete(&mut bytes, "BEGIN").expect("well made");
    failed(&mut bytes, "40001", "could not serialize access");
    backend::ready_for_query(&mut bytes, TransactionStatus::Failed);
    let error = "error could not serialize access (SQLSTATE 40001)";
    let cycles = [Cycle::STATEMENT.bind().execute()];
    assert_eq!(lines(&cycles, &bytes), ["complete BEGIN rows 0", error, "ready Failed"]);
}

#[test]
fn row_longer_than_the_buffer_is_skipped() {
    let mut bytes = Vec::new();
    backend::bind_complete(&mut bytes);
    row(&mut bytes, &[Some(&vec![b'x'; 1 << 20])]);
    let body = bytes.len();
    backend::command_complete(&mut bytes, "SELECT 1").expect("well made");
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    let mut replies = awaiting(&[Cycle::STATEMENT]);
    let mut log = Log::new(false);
    for piece in bytes[..body].chunks(16 << 10) {
        assert_eq!(replies.read(piece, &mut log), Ok(piece.len()));
        assert!(!replies.is_idle());
    }
    let rest = &bytes[body..];
    assert_eq!(replies.read(rest, &mut log), Ok(rest.len()));
    assert_eq!(log.lines, ["complete SELECT 1 rows 1", "ready Idle"]);
}

#[test]
fn wanted_rows_must_be_complete() {
    let mut bytes = Vec::new();
    row(&mut bytes, &[Some(b"a"), None, Some(b"")]);
    let mut replies = awaiting(&[Cycle::STATEMENT]);
    let mut log = Log::new(true);
    assert_eq!(replies.read(b"2\0\0\0\x04", &mut log), Ok(5));
    assert_eq!(replies.read(&bytes[..9], &mut log), Ok(0));
    assert_eq!(replies.needed(), bytes.len());
    assert_eq!(replies.read(&bytes, &mut log), Ok(bytes.len()));
    assert_eq!(log.lines, ["row a, NULL, "]);
}

#[test]
fn unexpected_answer_is_an_error() {
    let mut bytes = Vec::new();
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    let check = |bytes: &[u8], kind: ErrorKind, offset: usize| {
        let mut replies = awaiting(if offset == 0 { &[] } else { &[Cycle::STATEMENT] });
        let error = replies.read(bytes, &mut Log::new(false)).unwrap_err();
        assert_eq!((error.kind, error.offset), (kind, offset), "{}", bytes.escape_ascii());
    };
    check(&bytes, ErrorKind::Unexpected, 0);
    check(b"R\0\0\0\x08\0\0\0\0", ErrorKind::Unexpected, 0);
    check(b"Z\0\0\0\x05X", ErrorKind::Value, 5);
    check(b"Z\0\0\0\x06II", ErrorKind::Surplus, 6);
    check(b"2\0\0\0\x04C\0\0\0\x06AB", ErrorKind::Unterminated, 10);
    check(b"?\0\0\0\x04", ErrorKind::UnknownType(b'?'), 0);
    check(b"C\0\x10\0\0", ErrorKind::TooLong, 1);
    check(b"D\0\0\0\x03", ErrorKind::Length, 1);
    check(b"D\xff\xff\xff\xff", ErrorKind::Length, 1);
}

fn column(name: &[u8]) -> Column<'_> {
    Column {
        name,
        table: Oid(0),
        number: 0,
        type_oid: Oid::INT4,
        type_size: 4,
        modifier: -1,
        format: Format::Text,
    }
}

/// Encodes a server's messages, each given by its letter, with typical contents if it has any. `E`
/// is an error, `e` an error that ends the session.
fn server(letters: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rows = 0;
    for letter in letters.bytes() {
        let written = match letter {
            b'C' => {
                let tag = format!("SELECT {}", std::mem::take(&mut rows));
                backend::command_complete(&mut out, tag)
            }
            b's' => {
                rows = 0;
                backend::portal_suspended(&mut out);
                Ok(())
            }
            b'D' => {
                rows += 1;
                backend::data_row(&mut out, [Some(&b"1"[..])])
            }
            b'E' => backend::error_response(&mut out, [(b'V', "ERROR"), (b'C', "22012")]),
            b'e' => backend::error_response(&mut out, [(b'V', "FATAL"), (b'C', "57P01")]),
            b'G' => backend::copy_in_response(&mut out, Format::Text, []),
            b'H' => backend::copy_out_response(&mut out, Format::Text, []),
            b'N' => backend::notice_response(&mut out, [(b'M', "careful")]),
            b'S' => backend::parameter_status(
                &mut out,
                ParameterStatus { name: b"TimeZone", value: b"UTC" },
            ),
            b'A' => backend::notification_response(
                &mut out,
                Notification { process: 1, channel: b"c", payload: b"" },
            ),
            b'T' => backend::row_description(&mut out, [column(b"n")]),
            b'd' => backend::copy_data(&mut out, b"1\n"),
            b't' => backend::parameter_description(&mut out, []),
            b'Z' => {
                backend::ready_for_query(&mut out, TransactionStatus::Idle);
                Ok(())
            }
            bare => {
                out.extend_from_slice(&[bare, 0, 0, 0, 4]);
                Ok(())
            }
        };
        written.expect("well made");
    }
    out
}

/// Returns the error in a reply; `None` if the reply is valid. Checks that the result is the same
/// whether the reply arrives whole or byte by byte, and whether or not its data are wanted.
fn fault(cycles: &[Cycle], letters: &str) -> Option<&'static str> {
    let bytes = server(letters);
    let every: Vec<usize> = (0..bytes.len()).collect();
    let faults = [false, true].map(|wants_data| {
        [&[][..], &every].map(|ends| {
            let (mut replies, mut log) = (awaiting(cycles), Log::new(wants_data));
            let fault = read_in_pieces(&mut replies, &bytes, ends, &mut log).err();
            assert_eq!(fault.is_none(), replies.is_idle() && fault.is_none(), "{letters}");
            fault.map(|fault| {
                assert_eq!(fault.kind, ErrorKind::Unexpected, "{letters}");
                fault.context
            })
        })
    });
    let first = faults[0][0];
    assert!(faults.as_flattened().iter().all(|fault| *fault == first), "{letters}: {faults:?}");
    first
}

/// Returns the cycle of a BEGIN and this statement.
fn chain(statement: Cycle) -> Cycle {
    Cycle::STATEMENT.without_copy().followed_by(statement)
}

#[test]
fn complete_answers_of_all_kinds_are_accepted() {
    let described = Cycle::SYNC.parse().describe(Object::Statement);
    let portal = Cycle::SYNC.parse().bind().describe(Object::Portal).execute();
    for (cycle, answers) in [
        (Cycle::SYNC, &["Z", "EZ", "NZ"][..]),
        (Cycle::STATEMENT, &["2CZ", "2DDCZ", "2NDSDACZ", "EZ", "2EZ", "2DEZ", "2CEZ"]),
        (Cycle::STATEMENT.with_text(";"), &["2IZ", "2CZ"]),
        (Cycle::STATEMENT.with_row_limit(), &["2sZ", "2DsZ", "2DCZ"]),
        (Cycle::STATEMENT, &["2GEZ", "2HddcCZ", "2HdEZ"]),
        (chain(Cycle::STATEMENT), &["2C2HdcCZ", "2C2CZ"]),
        (chain(Cycle::STATEMENT.with_columns(1)), &["2C2DCZ", "2C2CZ"]),
        (Cycle::STATEMENT.parse(), &["12CZ", "12DCZ", "1EZ"]),
        (Cycle::STATEMENT.bind().execute(), &["2DC2CZ", "2C2EZ", "2DEZ"]),
        (described, &["1tTZ", "1tnZ", "EZ", "1EZ"]),
        (portal, &["12TDCZ", "12nCZ"]),
        (portal.with_text("--"), &["12nIZ"]),
        (portal.execute().with_row_limit(), &["12TDsDCZ"]),
        (Cycle::QUERY, &["CZ", "TDCZ", "TCZ", "CTDCCZ", "EZ", "TDEZ", "CEZ", "EeZ"]),
        (Cycle::QUERY.with_text(""), &["IZ"]),
        (Cycle::QUERY, &["GEZ", "HdcCZ", "HcCTDCZ"]),
    ] {
        for answer in answers {
            assert_eq!(fault(&[cycle], answer), None, "{answer} to {cycle:?}");
        }
    }
    let several = [Cycle::QUERY, Cycle::STATEMENT, Cycle::QUERY];
    assert_eq!(fault(&several, "GEZ2CZGEZ"), None);
}

#[test]
fn copy_completes_only_after_its_data_has_ended() {
    for (cycle, begin) in [(Cycle::QUERY, "G"), (Cycle::STATEMENT, "2G")] {
        for end in ["CZ", "EZ"] {
            let (mut replies, mut log) = (awaiting(&[cycle]), Log::new(true));
            replies.read(&server(begin), &mut log).expect("the data is awaited");
            replies.end_copy();
            replies.read(&server(end), &mut log).expect("the data has ended");
            assert!(replies.is_idle(), "{end} to {cycle:?}");
        }
        let early = fault(&[cycle], &format!("{begin}CZ"));
        assert_eq!(early, Some("CommandComplete before CopyDone"), "{cycle:?}");
    }
    // Without a COPY in progress, `end_copy` has no effect.
    let mut replies = awaiting(&[Cycle::QUERY]);
    replies.end_copy();
    assert!(replies.read(&server("CZ"), &mut Log::new(true)).is_ok());
}

#[test]
fn answer_that_breaks_the_grammar_is_a_fault() {
    let all = "ReadyForQuery before all answers";
    let end = "ReadyForQuery without CommandComplete";
    let two = "ReadyForQuery without a request";
    let no_copy = "CopyOutResponse to a statement that is no COPY";
    let portal = Cycle::SYNC.parse().bind().describe(Object::Portal).execute();
    let change_and_rows = chain(Cycle::STATEMENT).followed_by(Cycle::STATEMENT.with_columns(1));
    for (cycle, answer, expected) in [
        (Cycle::STATEMENT, "Z", all),
        (Cycle::STATEMENT, "CZ", "CommandComplete without BindComplete"),
        (Cycle::STATEMENT, "DCZ", "DataRow without BindComplete"),
        (Cycle::STATEMENT, "2Z", end),
        (Cycle::STATEMENT, "2DZ", end),
        (Cycle::STATEMENT, "2CCZ", "CommandComplete without BindComplete"),
        (Cycle::STATEMENT, "2C2CZ", "BindComplete"),
        (Cycle::STATEMENT, "2CDZ", "DataRow without BindComplete"),
        (Cycle::STATEMENT, "2CZZ", two),
        (Cycle::STATEMENT, "2CZ2CZ", "a message without a request"),
        (Cycle::STATEMENT, "2CZD", "a message without a request"),
        (Cycle::STATEMENT, "12CZ", "ParseComplete"),
        (Cycle::STATEMENT, "2TDCZ", "RowDescription"),
        (Cycle::STATEMENT, "2nCZ", "NoData"),
        (Cycle::STATEMENT, "tCZ", "ParameterDescription"),
        (Cycle::STATEMENT, "2ECZ", "a message after ErrorResponse"),
        (Cycle::STATEMENT, "E2CZ", "a message after ErrorResponse"),
        (Cycle::STATEMENT, "2GZ", end),
        (Cycle::STATEMENT, "2HCZ", "CommandComplete"),
        (Cycle::STATEMENT, "2HdCZ", "CommandComplete"),
        (Cycle::STATEMENT, "2HdZ", end),
        (Cycle::STATEMENT, "2dCZ", "CopyData"),
        (Cycle::STATEMENT, "2DGCZ", "CopyInResponse"),
        (Cycle::STATEMENT.with_columns(1), "2GEZ", "CopyInResponse to a statement that is no COPY"),
        (Cycle::STATEMENT.with_columns(1), "2HdcCZ", no_copy),
        (chain(Cycle::STATEMENT.with_columns(1)), "2C2HdcCZ", no_copy),
        (change_and_rows, "2C2C2HdcCZ", "CopyOutResponse"),
        (change_and_rows, "2C2C2GEZ", "CopyInResponse"),
        (portal, "12THdcCZ", "CopyOutResponse"),
        (Cycle::STATEMENT, "23CZ", "CloseComplete"),
        (Cycle::STATEMENT.bind().execute(), "2CZ", all),
        (Cycle::STATEMENT.bind().execute(), "22CCZ", "BindComplete"),
        (Cycle::STATEMENT.parse(), "2CZ", all),
        (Cycle::SYNC.parse().describe(Object::Statement), "1Z", all),
        (Cycle::SYNC.parse().describe(Object::Statement), "1tZ", end),
        (Cycle::SYNC.parse(), "11Z", "ParseComplete"),
        (Cycle::QUERY, "Z", end),
        (Cycle::QUERY, "TDZ", end),
        (Cycle::QUERY, "DCZ", "DataRow without RowDescription"),
        (Cycle::QUERY, "CDZ", "DataRow without RowDescription"),
        (Cycle::QUERY, "2CZ", "BindComplete"),
        (Cycle::QUERY, "TTCZ", "RowDescription"),
        (Cycle::QUERY.with_row_limit(), "TDsZ", "PortalSuspended"),
        (Cycle::STATEMENT, "2DsZ", "PortalSuspended without a row limit"),
        (Cycle::STATEMENT, "2IZ", "EmptyQueryResponse to a command"),
        (Cycle::QUERY, "IZ", "EmptyQueryResponse to a command"),
        (Cycle::QUERY, "CZCZ", "a message without a request"),
    ] {
        assert_eq!(fault(&[cycle], answer), Some(expected), "{answer} to {cycle:?}");
    }
}

/// Returns the kind of the error in a reply; `None` if the reply is valid. Checks that the result
/// is the same if the reply arrives whole and if it arrives byte by byte.
fn fault_of_rows(cycle: Cycle, bytes: &[u8], wants_data: bool) -> Option<ErrorKind> {
    let every: Vec<usize> = (0..bytes.len()).collect();
    let [first, second] = [&[][..], &every].map(|ends| {
        let (mut replies, mut log) = (awaiting(&[cycle]), Log::new(wants_data));
        let fault = read_in_pieces(&mut replies, bytes, ends, &mut log).err();
        fault.map(|fault| (fault.kind, fault.context))
    });
    assert_eq!(first, second, "{}", bytes.escape_ascii());
    first.map(|(kind, _)| kind)
}

/// If a message arrives in pieces, its header alone shows that the body is too short. The error is
/// nevertheless that of the whole message.
#[test]
fn misplaced_message_whose_body_is_too_short_is_misplaced_in_pieces_too() {
    let cycle = Cycle::STATEMENT.parse().describe(Object::Portal);
    for tag in *b"TD" {
        // A ParseComplete, and a message with a body of one byte.
        let bytes = [b'1', 0, 0, 0, 4, tag, 0, 0, 0, 5, 0];
        assert_eq!(fault_of_rows(cycle, &bytes, false), Some(ErrorKind::Unexpected));
    }
}

/// A reply that only seems to be complete must not count as completed.
#[test]
fn rows_that_contradict_their_columns_or_their_number_are_a_fault() {
    let one: &[Option<&[u8]>] = &[Some(b"1")];
    let two: &[Option<&[u8]>] = &[Some(b"1"), None];
    let answer = |is_query: bool, described: Option<usize>, rows: &[&[_]], tag: &str| {
        let mut out = Vec::new();
        if !is_query {
            backend::bind_complete(&mut out);
        }
        if let Some(columns) = described {
            let columns = (0..columns).map(|_| column(b"n")).collect::<Vec<_>>();
            backend::row_description(&mut out, columns).expect("well made");
        }
        rows.iter().for_each(|fields| row(&mut out, fields));
        backend::command_complete(&mut out, tag).expect("well made");
        backend::ready_for_query(&mut out, TransactionStatus::Idle);
        out
    };
    let (plain, value) = (Cycle::STATEMENT, Some(ErrorKind::Value));
    for (cycle, rows, tag, expected) in [
        (plain, &[one, one][..], "SELECT 2", None),
        (plain, &[two, one], "SELECT 2", value),
        (plain.with_columns(1), &[one], "SELECT 1", None),
        (plain.with_columns(1), &[two], "SELECT 1", value),
        (plain.with_columns(1), &[], "SELECT 0", None),
        (plain.with_columns(1), &[], "SELECT 7", value),
        (plain.with_columns(1), &[], "INSERT 0 7", None),
        (plain.with_columns(1), &[one], "INSERT 0 1", None),
        // A `select into` returns none of its rows.
        (plain, &[], "SELECT 7", None),
        (plain, &[one, one], "SELECT 7", value),
        (plain, &[one, one], "FETCH 1", value),
        (plain, &[one; 12], "SELECT 12", None),
        (plain, &[one; 12], "SELECT 2", value),
        (plain, &[one], "SELECT", None),
        (plain, &[one], "EXPLAIN", None),
        (plain, &[], "UPDATE -5", value),
        (plain, &[], "UPDATE 5x", value),
        (plain, &[], "UPDATE 99999999999999999999999", value),
        (plain, &[], "INSERT 0 -1", value),
        (plain, &[one], "INSERT 0 -1", value),
        (plain, &[], "UPDATE 18446744073709551615", None),
        (plain, &[], "CREATE TABLE", None),
    ] {
        let bytes = answer(false, None, rows, tag);
        for wants_data in [false, true] {
            assert_eq!(fault_of_rows(cycle, &bytes, wants_data), expected, "{tag} {rows:?}");
        }
    }
    for (columns, rows, tag, expected) in [
        (1, &[one][..], "SELECT 1", None),
        (1, &[two], "SELECT 1", value),
        (2, &[one], "SELECT 1", value),
        (2, &[], "SELECT 7", value),
    ] {
        let bytes = answer(true, Some(columns), rows, tag);
        for wants_data in [false, true] {
            assert_eq!(fault_of_rows(Cycle::QUERY, &bytes, wants_data), expected, "{rows:?}");
        }
    }
}

/// A pipeline sends several statements in one cycle. Each statement keeps its own description.
#[test]
fn rows_that_a_statement_of_a_chain_counts_must_have_come() {
    let answer = |results: &[(usize, &str)]| {
        let mut out = Vec::new();
        for (rows, tag) in results {
            backend::bind_complete(&mut out);
            (0..*rows).for_each(|_| row(&mut out, &[Some(b"1")]));
            backend::command_complete(&mut out, tag).expect("well made");
        }
        backend::ready_for_query(&mut out, TransactionStatus::Idle);
        out
    };
    let rows = Cycle::STATEMENT.with_columns(1);
    let (begin, value) = ((0, "BEGIN"), Some(ErrorKind::Value));
    let chained = chain(rows).followed_by(Cycle::STATEMENT);
    let chained_last = chain(Cycle::STATEMENT).followed_by(rows);
    for (cycle, results, expected) in [
        (chain(rows), &[begin, (0, "SELECT 5")][..], value),
        (chain(rows), &[begin, (1, "SELECT 1")], None),
        (chain(rows), &[begin, (0, "SELECT 0")], None),
        // A `select into` returns none of its rows.
        (chained, &[begin, (1, "SELECT 1"), (0, "SELECT 7")], None),
        (chained, &[begin, (0, "SELECT 7"), (0, "SELECT 7")], value),
        (chained_last, &[begin, (0, "SELECT 7"), (1, "SELECT 1")], None),
        (chained_last, &[begin, (0, "SELECT 7"), (0, "SELECT 1")], value),
    ] {
        assert_eq!(fault_of_rows(cycle, &answer(results), false), expected, "{results:?}");
    }
    // Only the first 63 statements keep their descriptions.
    for (before, expected) in [(62, value), (63, None), (64, None)] {
        let join = |cycle: Cycle, _| cycle.followed_by(Cycle::STATEMENT);
        let cycle = (0..before).fold(Cycle::SYNC, join).followed_by(rows);
        let results = [&vec![begin; before][..], &[(0, "SELECT 5")]].concat();
        assert_eq!(fault_of_rows(cycle, &answer(&results), false), expected, "{before}");
    }
}

/// The values are read only if the row is wanted. An unwanted row is an error only if it is too
/// short for the number of its values.
#[test]
fn rows_that_their_values_do_not_fill_are_a_fault() {
    let (truncated, surplus) = (Some(ErrorKind::Truncated), Some(ErrorKind::Surplus));
    for (body, skipped, read) in [
        (&b""[..], truncated, truncated),
        (b"\0", truncated, truncated),
        (b"\0\x01", truncated, truncated),
        (b"\0\x01\0\0\0", truncated, truncated),
        (b"\0\x01\0\0\0\x021", None, truncated),
        (b"\0\x01\0\0\0\x0112", None, surplus),
        (b"\0\x01\xff\xff\xff\xff1", None, surplus),
        (b"\0\x01\xff\xff\xff\xfe", None, Some(ErrorKind::Length)),
        (b"\0\x01\xff\xff\xff\xff", None, None),
        (b"\0\x01\0\0\0\x011", None, None),
    ] {
        let length = body.len() as u32 + 4;
        let row = [&b"D"[..], &length.to_be_bytes(), body].concat();
        let end = &server("2DCZ")[server("2D").len()..];
        let bytes = [&server("2")[..], &row, end].concat();
        for (wants_data, expected) in [(false, skipped), (true, read)] {
            let found = fault_of_rows(Cycle::STATEMENT, &bytes, wants_data);
            assert_eq!(found, expected, "{} {wants_data}", body.escape_ascii());
        }
    }
    let description = b"T\0\0\0\x05\0".to_vec();
    for wants_data in [false, true] {
        assert_eq!(fault_of_rows(Cycle::QUERY, &description, wants_data), truncated);
    }
}

/// Expects notices, notifications and settings to be skipped. If they were buffered whatever their
/// length, a server could exhaust the memory with them.
#[test]
fn unwanted_messages_of_any_length_are_skipped() {
    struct Count(u64);
    impl Sink for Count {
        fn complete(&mut self, completion: Completion<'_>) {
            self.0 += completion.rows();
        }
        fn error(&mut self, _report: Report<'_>) {}
        fn ready(&mut self, _status: TransactionStatus) {}
    }
    let mut replies = awaiting(&[Cycle::STATEMENT]);
    let mut count = Count(0);
    for letter in "NSA".bytes() {
        let length: u32 = 1 << 30;
        let head = [&[letter][..], &length.to_be_bytes()].concat();
        assert_eq!(replies.read(&head, &mut count), Ok(5));
        let piece = vec![b'x'; 1 << 20];
        let mut left = length as usize - 4;
        while left > 0 {
            let piece = &piece[..left.min(piece.len())];
            assert_eq!(replies.read(piece, &mut count), Ok(piece.len()));
            left -= piece.len();
        }
    }
    let rest = server("2DCZ");
    assert_eq!(replies.read(&rest, &mut count), Ok(rest.len()));
    assert!(replies.is_idle() && count.0 == 1);
}

#[test]
fn long_error_text_is_truncated() {
    let words = "x".repeat(2 << 20);
    let mut bytes = Vec::new();
    backend::error_response(&mut bytes, [(b'C', "P0001"), (b'M', words.as_str())]).expect("made");
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    let printed = lines(&[Cycle::STATEMENT], &bytes);
    let [error, ready] = &printed[..] else { panic!("{} lines", printed.len()) };
    assert!(error.ends_with("x… (SQLSTATE P0001)") && error.len() < 20_000, "{}", error.len());
    assert_eq!(ready, "ready Idle");
}

#[test]
fn wanted_row_beyond_the_limit_is_reported_and_skipped() {
    let body = vec![b'x'; Replies::LONGEST_WANTED + 1];
    let length = body.len() as u32 + 4;
    let row = [&b"D"[..], &length.to_be_bytes(), &body].concat();
    let end = &server("2DCZ")[server("2D").len()..];
    let bytes = [&server("2")[..], &row, end].concat();
    for ends in [&[][..], &[100, 1 << 20]] {
        let (mut replies, mut log) = (awaiting(&[Cycle::STATEMENT]), Log::new(true));
        assert_eq!(read_in_pieces(&mut replies, &bytes, ends, &mut log), Ok(0));
        let printed = format!("too long {}", body.len());
        assert_eq!(log.lines, [&printed[..], "complete SELECT 1 rows 1", "ready Idle"]);
    }
}

/// A sink that has room for incomplete rows of at most `room` bytes, and counts the rows that it
/// receives.
struct Bounded {
    room: usize,
    rows: usize,
}

impl Sink for Bounded {
    fn complete(&mut self, _completion: Completion<'_>) {}

    fn error(&mut self, _report: Report<'_>) {}

    fn ready(&mut self, _status: TransactionStatus) {}

    fn wants_data(&self) -> bool {
        true
    }

    fn can_hold(&mut self, length: usize) -> bool {
        length <= self.room
    }

    fn row(&mut self, _row: Row<'_>) {
        self.rows += 1;
    }
}

#[test]
fn incomplete_row_is_held_only_if_its_receiver_has_room() {
    let long = vec![b'x'; 1_000];
    let mut bytes = server("2");
    backend::data_row(&mut bytes, [Some(&long[..])]).expect("a row");
    backend::data_row(&mut bytes, [Some(&b"short"[..])]).expect("a row");
    backend::command_complete(&mut bytes, "SELECT 2").expect("a tag");
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    for (room, ends, rows) in [(500, &[100][..], 1), (2_000, &[100], 2), (500, &[], 2)] {
        let (mut replies, mut sink) = (awaiting(&[Cycle::STATEMENT]), Bounded { room, rows: 0 });
        assert_eq!(read_in_pieces(&mut replies, &bytes, ends, &mut sink), Ok(0));
        assert!(replies.is_idle());
        assert_eq!(sink.rows, rows, "room for {room} bytes, in pieces up to {ends:?}");
    }
}

/// Generates an encoded message of a server.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let encoded = |encode: fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        encode(&mut out);
        Just(out)
    };
    prop_oneof![
        encoded(backend::bind_complete),
        encoded(backend::parse_complete),
        encoded(backend::portal_suspended),
        encoded(backend::no_data),
        encoded(|out| failed(out, "23505", "duplicate")),
        encoded(|out| backend::notice_response(out, [(b'M', "careful")]).expect("well made")),
        encoded(|out| backend::parameter_description(out, [Oid::INT4]).expect("well made")),
        encoded(
            |out| backend::copy_out_response(out, Format::Text, [Format::Text]).expect("well made")
        ),
        encoded(|out| backend::copy_data(out, b"1\t2\n").expect("well made")),
        encoded(|out| backend::ready_for_query(out, TransactionStatus::Active)),
        (0_u64..100).prop_map(|rows| {
            let mut out = Vec::new();
            backend::command_complete(&mut out, format!("UPDATE {rows}")).expect("well made");
            out
        }),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|field| {
            let mut out = Vec::new();
            row(&mut out, &[Some(&field), None]);
            out
        }),
    ]
}

/// Generates a request.
fn cycle() -> impl Strategy<Value = Cycle> {
    let count = || 0_usize..3;
    let extended =
        (count(), count(), count(), count()).prop_map(|(parses, described, binds, runs)| {
            let mut cycle = Cycle::SYNC;
            (0..parses).for_each(|_| cycle = cycle.parse());
            (0..described).for_each(|_| cycle = cycle.describe(Object::Statement));
            (0..binds).for_each(|_| cycle = cycle.bind());
            (0..runs).for_each(|_| cycle = cycle.execute());
            cycle
        });
    prop_oneof![Just(Cycle::QUERY), Just(Cycle::STATEMENT), extended]
}

proptest! {
    #[test]
    fn replies_are_the_same_however_they_are_split(
        messages in prop::collection::vec(message(), 0..20),
        cycles in prop::collection::vec(cycle(), 0..4),
        junk in prop::option::of(prop::collection::vec(any::<u8>(), 0..12)),
        mut ends in prop::collection::vec(0_usize..800, 0..20),
        wants_data in any::<bool>(),
    ) {
        let bytes = [messages.concat(), junk.unwrap_or_default()].concat();
        ends.sort_unstable();
        let (mut whole, mut pieces) = (Log::new(wants_data), Log::new(wants_data));
        let (mut first, mut second) = (awaiting(&cycles), awaiting(&cycles));
        let expected = first.read(&bytes, &mut whole).map(|used| bytes.len() - used);
        let found = read_in_pieces(&mut second, &bytes, &ends, &mut pieces);
        let kinds = |read: Result<usize, WireError>| read.map_err(|e| (e.kind, e.context));
        prop_assert_eq!(kinds(found), kinds(expected));
        prop_assert_eq!(pieces.lines, whole.lines);
        prop_assert_eq!(first.is_idle(), second.is_idle());
    }
}
