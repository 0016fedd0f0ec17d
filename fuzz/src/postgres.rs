//! Fuzz targets of PostgreSQL's protocol: bytes of a server, of a client, and values for templates.

use wire_postgres::backend::{Message as Reply, Row};
use wire_postgres::frontend::{Message as Request, SaslInitialResponse, StartupPacket};
use wire_postgres::{
    Channel, Completion, CopyText, Cycle, Format, Login, LoginProgress, Object, Oid, Replies,
    Report, ServerAuth, ServerLogin, Sink, Startup, Template, TransactionStatus, Value, ValueError,
    WireError, copy_text_fields, ssl_answer,
};

/// Decodes the messages of a server and encodes each again.
///
/// # Panics
/// Panics if an encoded message differs from its source, or if more bytes are used than there are.
pub fn backend(data: &[u8]) {
    let _ = ssl_answer(data);
    let mut rest = data;
    while let Ok(Some((message, used))) = Reply::decode(rest) {
        let (frame, after) = rest.split_at(used);
        let mut again = Vec::new();
        // A command tag may contain a zero byte, which decoding accepts and encoding rejects.
        let written = message.encode(&mut again);
        let is_odd = matches!(message, Reply::CommandComplete(tag) if tag.bytes().contains(&0));
        assert!(is_odd || (written.is_ok() && again == frame), "{message:?}");
        explain(&message);
        rest = after;
    }
}

/// Calls the accessors of a message that interpret its bytes.
fn explain(message: &Reply<'_>) {
    match message {
        Reply::CommandComplete(tag) => drop((tag.rows(), tag.command().len(), tag.text())),
        Reply::ErrorResponse(report) | Reply::NoticeResponse(report) => {
            drop(report.to_owned().to_string());
        }
        Reply::CopyData(data) => drop(copy_text_fields(data).collect::<Vec<_>>()),
        _ => {}
    }
}

/// Decodes the messages of a client, with and without a startup packet, and encodes each again.
///
/// # Panics
/// Panics as [`backend`] does.
pub fn frontend(data: &[u8]) {
    let packet = StartupPacket::decode(data).ok().flatten();
    if let Some((packet, used)) = packet {
        assert!(used <= data.len());
        let _ = format!("{packet:?}");
        messages(&data[used..]);
    }
    messages(data);
}

fn messages(mut rest: &[u8]) {
    while let Ok(Some((message, used))) = Request::decode(rest) {
        let (frame, after) = rest.split_at(used);
        let mut again = Vec::new();
        message.encode(&mut again).expect("what was decoded can be encoded");
        assert_eq!(again, frame);
        if let Request::Password(body) = message {
            let _ = (Request::password(body), SaslInitialResponse::decode(body));
        }
        rest = after;
    }
}

/// Reads the replies of a server as a whole, byte by byte, and in pieces whose size the first byte
/// selects.
///
/// # Panics
/// Panics if the results differ.
pub fn replies(data: &[u8]) {
    for wants_data in [false, true] {
        let whole = read(data, data.len().max(1), wants_data);
        for piece in [1, 1 + usize::from(data.first().copied().unwrap_or(6))] {
            assert_eq!(read(data, piece, wants_data), whole);
        }
    }
}

/// Reads replies in pieces. Returns the reported events, and the number of unread bytes or the
/// error.
fn read(data: &[u8], piece: usize, wants_data: bool) -> (Events, Result<usize, String>) {
    let mut events = Events { wants_data, ..Events::default() };
    let (mut replies, mut buffer) = (Replies::new(), Vec::new());
    for cycle in [Cycle::STATEMENT.parse().describe(Object::Portal), Cycle::QUERY, Cycle::STATEMENT]
    {
        replies.expect(cycle);
    }
    for part in data.chunks(piece) {
        buffer.extend_from_slice(part);
        match replies.read(&buffer, &mut events) {
            Ok(used) => drop(buffer.drain(..used)),
            // The offset is left out: it depends on the number of bytes that are still in the
            // buffer.
            Err(WireError { kind, context, .. }) => {
                return (events, Err(format!("{kind:?} {context}")));
            }
        }
    }
    (events, Ok(buffer.len()))
}

/// The events that a reader reported.
#[derive(Debug, Default, PartialEq)]
struct Events {
    wants_data: bool,
    lines: Vec<String>,
}

impl Sink for Events {
    fn complete(&mut self, completion: Completion<'_>) {
        self.lines.push(format!("{completion:?} {}", completion.rows()));
    }

    fn error(&mut self, report: Report<'_>) {
        self.lines.push(format!("{report:?}"));
    }

    fn ready(&mut self, status: TransactionStatus) {
        self.lines.push(format!("{status:?}"));
    }

    fn wants_data(&self) -> bool {
        self.wants_data
    }

    fn row(&mut self, row: Row<'_>) {
        self.lines.push(format!("{row:?}"));
    }
}

/// Runs the startup of a session from both sides.
///
/// # Panics
/// Panics if more bytes are used than there are.
pub fn startup(data: &[u8]) {
    let login = Login {
        user: "user",
        database: None,
        password: Some(b"password"),
        settings: &[],
        channel: Channel::Tls { server_end_point: &[0; 32] },
    };
    let mut out = Vec::new();
    let mut client = Startup::begin(login, &mut out).expect("a login");
    if let Ok(used) = client.read(data, &mut out) {
        assert!(used <= data.len());
    }
    for policy in [
        ServerAuth::Trust,
        // The password of `startup-cleartext.hex`, to let at least one login succeed.
        ServerAuth::Cleartext { password: b"hMR0FIJKYLI" },
        ServerAuth::Md5 { password: b"password", salt: [0; 4] },
    ] {
        let (mut server, mut rest) = (ServerLogin::new(policy), data);
        while let Ok((used, visit)) = server.read(rest, &mut out) {
            assert!(used <= rest.len());
            rest = &rest[used..];
            if used == 0
                || matches!(visit, LoginProgress::Authenticated | LoginProgress::LoginRejected)
            {
                break;
            }
        }
    }
}

/// Encodes a text and a number as values of each type. A template must produce a Bind message that
/// can be decoded, and a row for COPY must give the text back.
///
/// # Panics
/// Panics if one of them fails.
pub fn values(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let types = [
        Oid::BOOL,
        Oid::INT2,
        Oid::INT4,
        Oid::INT8,
        Oid::OID,
        Oid::FLOAT4,
        Oid::FLOAT8,
        Oid::DATE,
        Oid::TIME,
        Oid::TIMESTAMP,
        Oid::TIMESTAMPTZ,
        Oid::UUID,
        Oid::TEXT,
    ];
    for oid in types {
        for value in [Value::Text(&text), number(data)] {
            let Ok(bytes) = request(oid, value) else { continue };
            let (message, used) = Request::decode(&bytes).expect("a message").expect("a whole one");
            let Request::Bind(bind) = message else { panic!("{message:?}") };
            assert_eq!((bind.formats.len(), bind.values.len()), (2, 2));
            messages(&bytes[used..]);
        }
    }
    let mut row = Vec::new();
    let mut rows = CopyText::new(&mut row);
    rows.field(Value::Text(&text));
    rows.field(Value::Null);
    rows.end_row();
    let fields: Vec<_> = copy_text_fields(&row).collect();
    assert_eq!(fields, [Some(text.into_owned().into_bytes()), None]);
}

/// Returns the first eight bytes as a number: real if the length is odd, else an integer. Fewer
/// bytes give their count.
fn number(data: &[u8]) -> Value<'static> {
    match data.first_chunk::<8>() {
        Some(bytes) if data.len() % 2 == 1 => Value::Real(f64::from_le_bytes(*bytes)),
        Some(bytes) => Value::Int(i64::from_le_bytes(*bytes)),
        None => Value::Int(data.len() as i64),
    }
}

fn request(oid: Oid, value: Value<'_>) -> Result<Vec<u8>, ValueError> {
    let mut template = Template::new(Format::Text);
    template.statement("s", &[oid, Oid::INT4]).expect("a name");
    template.sync();
    let mut out = Vec::new();
    template.fill(&mut out, [value, Value::Int(1)].into_iter()).map(|()| out)
}
