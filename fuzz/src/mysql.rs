//! Fuzz targets of MySQL's protocol: arbitrary bytes in place of a server or client.

use wire_mysql::{
    AuthMoreData, AuthSwitchRequest, BoundTypes, Capabilities, Channel, ClientHello,
    ColumnDefinition, ColumnKind, Command, EofPacket, ErrPacket, Handshake, Login, LoginOptions,
    LoginStep, Negotiated, OkKind, OkPacket, Password, Payloads, Prepared, Replies, ReplyKind,
    ResultEnd, Row, ServerKey, Sink, WANTED, WireError,
};

/// Reads replies as a whole and in pieces, which must give the same results.
///
/// The first byte selects the negotiated capabilities and the number of packets of a file that the
/// server requests; the second is the size of the pieces; the next four are the commands to be
/// answered.
///
/// # Panics
/// Panics if the results differ.
pub fn replies(data: &[u8]) {
    let Some((setting, bytes)) = data.split_first_chunk::<6>() else { return };
    let [agreed, size, kinds @ ..] = *setting;
    for wants_rows in [false, true] {
        let whole = read_in_pieces(agreed, kinds, bytes, bytes.len().max(1), wants_rows);
        let pieces = read_in_pieces(agreed, kinds, bytes, usize::from(size).max(1), wants_rows);
        assert_eq!(whole, pieces, "in pieces of {size}");
    }
}

/// Returns negotiated capabilities, selected by the bits of a number.
fn agreed(bits: u8) -> Negotiated {
    let optional = [
        Capabilities::DEPRECATE_EOF,
        Capabilities::CACHE_METADATA,
        Capabilities::LOCAL_FILES,
        Capabilities::SESSION_TRACK,
        Capabilities::EXTENDED_METADATA,
    ];
    let chosen = (0..).zip(optional).filter(|(bit, _)| bits >> bit & 1 == 1);
    let all = chosen.fold(Capabilities::PROTOCOL_41, |all, (_, capability)| all | capability);
    Negotiated::of(all, all)
}

/// Reads replies in pieces. Returns the reported events, the number of bytes used (0 after an
/// error), and the error that ended the read, if any.
fn read_in_pieces(
    bits: u8,
    kinds: [u8; 4],
    bytes: &[u8],
    size: usize,
    wants_rows: bool,
) -> (Vec<String>, usize, Option<(wire_mysql::ErrorKind, &'static str)>) {
    let all = [
        ReplyKind::Simple,
        ReplyKind::Text,
        ReplyKind::Binary,
        ReplyKind::Prepared,
        ReplyKind::Rows,
    ];
    let mut replies = Replies::new(agreed(bits));
    // The number after the last kind stands for no command. Thus there may be a single command,
    // which can request a file: only the last command can.
    for kind in kinds.iter().filter_map(|kind| all.get(usize::from(*kind) % (all.len() + 1))) {
        replies.expect(*kind, 1).expect("few commands");
    }
    let mut log = Log { wants_rows, ..Log::default() };
    let mut used = 0;
    // Bytes after the last reply stay unread, and are read again with the next piece.
    let mut held = Vec::new();
    for piece in bytes.chunks(size) {
        held.extend_from_slice(piece);
        loop {
            match replies.read(&held, &mut log) {
                Ok(of_held) => {
                    used += of_held;
                    held.drain(..of_held);
                }
                Err(error) => {
                    assert!(error.offset <= held.len(), "a place within the bytes: {error:?}");
                    return (log.lines, 0, Some((error.kind, error.context)));
                }
            }
            let Some(sequence) = replies.wanted_file() else { break };
            // The packets of the file, plus the empty one that ends it.
            let answer = sequence.wrapping_add(bits >> 5).wrapping_add(1);
            replies.file_sent(answer).expect("it is wanted");
        }
    }
    (log.lines, used, None)
}

#[derive(Default)]
struct Log {
    lines: Vec<String>,
    kinds: Vec<ColumnKind>,
    columns: u64,
    wants_rows: bool,
}

impl Sink for Log {
    fn wants_rows(&self) -> bool {
        self.wants_rows
    }

    fn columns(&mut self, count: u64, is_known: bool) {
        self.kinds.clear();
        self.columns = count;
        self.lines.push(format!("{count} {is_known}"));
    }

    fn column(&mut self, column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        self.kinds.push(column.kind());
        self.lines.push(format!("{column:?}"));
        Ok(())
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), WireError> {
        match row {
            Row::Text(row) => row.fields(self.columns).try_for_each(|field| {
                self.lines.push(format!("{:?}", field?));
                Ok(())
            }),
            Row::Binary(row) => row.fields(&self.kinds)?.try_for_each(|field| {
                self.lines.push(format!("{:?}", field?));
                Ok(())
            }),
        }
    }

    fn result(&mut self, result: ResultEnd) {
        self.lines.push(format!("{result:?}"));
    }

    fn error(&mut self, error: &ErrPacket<'_>) {
        self.lines.push(format!("{error:?}"));
    }

    fn prepared(&mut self, prepared: Prepared) {
        self.lines.push(format!("{prepared:?}"));
    }

    fn file(&mut self, name: &[u8]) {
        self.lines.push(format!("{name:?}"));
    }

    fn end(&mut self) {
        self.lines.push("end".to_owned());
    }
}

/// Runs a login, and decodes each of its messages alone. A decoded message must survive encoding
/// and decoding.
///
/// # Panics
/// Panics if a message does not survive, or if a password is sent in clear text over an open
/// channel.
pub fn startup(data: &[u8]) {
    let Some((setting, bytes)) = data.split_first() else { return };
    login(*setting, bytes);
    messages(agreed(*setting), bytes);
}

const PASSWORD: &[u8] = b"a secret";

fn login(setting: u8, bytes: &[u8]) {
    let channels = [Channel::Open, Channel::Tls, Channel::Local];
    let keys = [ServerKey::Ask, ServerKey::Refuse, ServerKey::Known(bytes)];
    let channel = channels[usize::from(setting) % 3];
    let mut login = Login::new(LoginOptions {
        user: b"user",
        password: Password(PASSWORD),
        database: Some(b"test"),
        wanted: WANTED,
        channel,
        server_key: keys[usize::from(setting / 3) % 3],
        seed: [1; 20],
        collation: 45,
        attributes: &[],
    });
    let (mut out, mut at) = (Vec::new(), 0);
    // The bytes arrive in two pieces; unread bytes of the first piece are read again with the
    // second.
    for end in [bytes.len() / 2, bytes.len()] {
        match login.read(&bytes[at..end], &mut out) {
            Ok((used, step)) => {
                at += used;
                if step == LoginStep::StartTls {
                    login.tls_started(&mut out).expect("it was asked for");
                }
            }
            Err(_) => break,
        }
    }
    let is_said = out.windows(PASSWORD.len()).any(|window| window == PASSWORD);
    assert!(channel != Channel::Open || !is_said, "the password was said aloud");
}

fn messages(agreed: Negotiated, bytes: &[u8]) {
    let mut out = Vec::new();
    if let Ok(message) = Handshake::decode(bytes) {
        message.encode(&mut out);
        assert_eq!(Handshake::decode(&out), Ok(message));
    }
    out.clear();
    match ClientHello::decode(bytes) {
        Ok(ClientHello::Ssl(request)) => {
            request.encode(&mut out);
            assert_eq!(ClientHello::decode(&out), Ok(ClientHello::Ssl(request)));
        }
        Ok(ClientHello::Response(response)) => {
            response.encode(&mut out).expect("what was read can be written");
            assert_eq!(ClientHello::decode(&out), Ok(ClientHello::Response(response)));
        }
        Err(_) => {}
    }
    out.clear();
    if let Ok(message) = AuthSwitchRequest::decode(bytes) {
        message.encode(&mut out);
        assert_eq!(AuthSwitchRequest::decode(&out), Ok(message));
    }
    out.clear();
    if let Ok(message) = AuthMoreData::decode(bytes) {
        message.encode(&mut out);
        assert_eq!(AuthMoreData::decode(&out), Ok(message));
    }
    answers(agreed, bytes);
}

fn answers(agreed: Negotiated, bytes: &[u8]) {
    let mut out = Vec::new();
    if let Ok(message) = OkPacket::decode(bytes, agreed) {
        message.encode(&mut out, OkKind::Answer, agreed);
        assert_eq!(OkPacket::decode(&out, agreed), Ok(message));
    }
    out.clear();
    if let Ok(message) = ErrPacket::decode(bytes) {
        message.encode(&mut out);
        assert_eq!(ErrPacket::decode(&out), Ok(message));
    }
    out.clear();
    if let Ok(message) = EofPacket::decode(bytes) {
        message.encode(&mut out);
        assert_eq!(EofPacket::decode(&out), Ok(message));
    }
    out.clear();
    if let Ok(message) = ColumnDefinition::decode(bytes, agreed) {
        message.encode(&mut out, agreed);
        assert_eq!(ColumnDefinition::decode(&out, agreed), Ok(message));
    }
    out.clear();
    if let Ok(message) = Prepared::decode(bytes) {
        message.encode(&mut out);
        assert_eq!(Prepared::decode(&out), Ok(message));
    }
}

/// Decodes the commands of a client. A decoded command must survive encoding and decoding.
///
/// # Panics
/// Panics if a command does not survive.
pub fn commands(data: &[u8]) {
    let Some((parameters, bytes)) = data.split_first() else { return };
    let (mut payloads, mut at, mut bound) = (Payloads::new(), 0, BoundTypes::new());
    loop {
        payloads.expect(0);
        let Ok(taken) = payloads.next(&bytes[at..]) else { return };
        at += taken.used;
        let Some(payload) = taken.payload else { return };
        let Ok(command) = Command::decode(payload) else { continue };
        let mut out = Vec::new();
        command.append(&mut out);
        assert_eq!(Command::decode(&out[4..]), Ok(command));
        let parameters = u16::from(parameters % 8);
        match command {
            Command::Execute(execute) => {
                let _ = execute.values(parameters, &mut bound, |_| {});
            }
            Command::BulkExecute(bulk) => {
                let _ = bulk.values(parameters, &mut bound, |_, _| {});
            }
            Command::Quit
            | Command::InitDatabase(_)
            | Command::Query(_)
            | Command::Ping
            | Command::Prepare(_)
            | Command::Close(_)
            | Command::Reset(_)
            | Command::ResetConnection => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If no file were sent, nothing after a request for a file would ever be read.
    #[test]
    fn file_is_sent_and_its_answer_read() {
        let request = b"\x06\0\0\x01\xfba.csv";
        let ok = b"\x07\0\0\x04\0\x02\0\x02\0\0\0";
        let bytes = [&request[..], ok].concat();
        for size in [1, 7, bytes.len()] {
            // Files are negotiated and have one packet. One text command is to be answered.
            let (lines, used, error) = read_in_pieces(0x27, [1, 5, 5, 5], &bytes, size, false);
            assert_eq!((used, error), (bytes.len(), None));
            assert_eq!(lines.last().map(String::as_str), Some("end"), "{lines:?}");
        }
    }
}
