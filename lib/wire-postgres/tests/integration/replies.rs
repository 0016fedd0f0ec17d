//! Answers are counted the same in whatever pieces they come.

use proptest::prelude::*;
use wire_postgres::backend::{self, Column, Notification, ParameterStatus, Row};
use wire_postgres::{
    Completion, ErrorKind, Format, List, Oid, Replies, Report, Sink, TransactionStatus, WireError,
};

/// Writes down everything that it is told.
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

/// Reads bytes that come in pieces which end at `ends`, as a connection does that keeps what was
/// not used.
pub(crate) fn read_in_pieces(
    replies: &mut Replies,
    bytes: &[u8],
    ends: &[usize],
    log: &mut Log,
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

/// The lines of a reader that is given everything at once.
fn lines(awaited: u32, bytes: &[u8]) -> Vec<String> {
    let mut log = Log::new(false);
    let mut replies = Replies::new();
    replies.await_ready(awaited);
    assert_eq!(replies.read(bytes, &mut log), Ok(bytes.len()));
    assert!(replies.is_idle());
    log.lines
}

fn row(out: &mut Vec<u8>, fields: &[Option<&[u8]>]) {
    backend::data_row(out, fields.iter().copied()).expect("well made");
}

/// A reply to one statement that returned so many rows.
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
    assert_eq!(lines(1, &bytes), ["complete SELECT 3 rows 3", "ready Idle"]);
}

#[test]
fn an_error_in_one_request_leaves_the_next_countable() {
    let mut bytes = Vec::new();
    backend::bind_complete(&mut bytes);
    row(&mut bytes, &[None]);
    failed(&mut bytes, "22012", "division by zero");
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    select(&mut bytes, 2);
    backend::command_complete(&mut bytes, "INSERT 0 5").expect("well made");
    backend::ready_for_query(&mut bytes, TransactionStatus::Active);
    assert_eq!(
        lines(2, &bytes),
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
fn a_transaction_that_fails_is_said_so() {
    let mut bytes = Vec::new();
    backend::bind_complete(&mut bytes);
    backend::command_complete(&mut bytes, "BEGIN").expect("well made");
    failed(&mut bytes, "40001", "could not serialize access");
    backend::ready_for_query(&mut bytes, TransactionStatus::Failed);
    let error = "error could not serialize access (SQLSTATE 40001)";
    assert_eq!(lines(1, &bytes), ["complete BEGIN rows 0", error, "ready Failed"]);
}

#[test]
fn a_row_that_is_longer_than_the_buffer_is_passed_over() {
    let mut bytes = Vec::new();
    row(&mut bytes, &[Some(&vec![b'x'; 1 << 20])]);
    let body = bytes.len();
    backend::command_complete(&mut bytes, "SELECT 1").expect("well made");
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    let mut replies = Replies::new();
    replies.await_ready(1);
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
fn rows_that_are_wanted_must_be_whole() {
    let mut bytes = Vec::new();
    row(&mut bytes, &[Some(b"a"), None, Some(b"")]);
    let mut replies = Replies::new();
    let mut log = Log::new(true);
    assert_eq!(replies.read(&bytes[..9], &mut log), Ok(0));
    assert_eq!(replies.needed(), bytes.len());
    assert_eq!(replies.read(&bytes, &mut log), Ok(bytes.len()));
    assert_eq!(log.lines, ["row a, NULL, "]);
}

#[test]
fn an_answer_that_nobody_asked_for_is_an_error() {
    let mut bytes = Vec::new();
    backend::ready_for_query(&mut bytes, TransactionStatus::Idle);
    let check = |bytes: &[u8], kind: ErrorKind, offset: usize| {
        let error = Replies::new().read(bytes, &mut Log::new(false)).unwrap_err();
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

/// A message of a server, encoded.
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

proptest! {
    #[test]
    fn any_splits_give_the_same_as_the_whole(
        messages in prop::collection::vec(message(), 0..20),
        junk in prop::option::of(prop::collection::vec(any::<u8>(), 0..12)),
        mut ends in prop::collection::vec(0_usize..800, 0..20),
        wants_data in any::<bool>(),
    ) {
        let bytes = [messages.concat(), junk.unwrap_or_default()].concat();
        ends.sort_unstable();
        let (mut whole, mut pieces) = (Log::new(wants_data), Log::new(wants_data));
        let (mut first, mut second) = (Replies::new(), Replies::new());
        first.await_ready(20);
        second.await_ready(20);
        let expected = first.read(&bytes, &mut whole).map(|used| bytes.len() - used);
        let found = read_in_pieces(&mut second, &bytes, &ends, &mut pieces);
        let kinds = |read: Result<usize, WireError>| read.map_err(|e| (e.kind, e.context));
        prop_assert_eq!(kinds(found), kinds(expected));
        prop_assert_eq!(pieces.lines, whole.lines);
        prop_assert_eq!(first.is_idle(), second.is_idle());
    }
}
