//! The server's role: writing the replies of a simulated server.
//!
//! Protocol manual: "Command Phase".

use crate::answer::{EofPacket, ErrPacket, OkKind, OkPacket, Status};
use crate::capabilities::{Capabilities, Negotiated};
use crate::column::ColumnDefinition;
use crate::file::FILE_REQUEST;
use crate::frame;
use crate::prepared::Prepared;
use crate::put;
use crate::row::{BinaryRow, Field, TextRow};

/// A writer of the packets of one reply. It numbers the packets.
///
/// The caller must append them in an order that [`Replies`](crate::Replies) accepts.
#[derive(Debug)]
pub struct Answers<'o> {
    out: &'o mut Vec<u8>,
    agreed: Negotiated,
    sequence: u8,
}

impl<'o> Answers<'o> {
    /// Begins the reply to a command. `sequence` is the number of the reply's first packet:
    /// [`NextPayload::sequence`](crate::NextPayload).
    pub fn new(out: &'o mut Vec<u8>, agreed: Negotiated, sequence: u8) -> Answers<'o> {
        Answers { out, agreed, sequence }
    }

    /// Returns the sequence number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet. Needed after the client has sent a file.
    pub fn resume(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    fn packet(&mut self, payload: impl FnOnce(&mut Vec<u8>)) {
        self.sequence = frame::packet(self.out, self.sequence, payload);
    }

    /// Appends an OK packet as the reply to a command.
    pub fn ok(&mut self, ok: &OkPacket<'_>) {
        let agreed = self.agreed;
        self.packet(|out| ok.encode(out, OkKind::Answer, agreed));
    }

    /// Appends an ERR packet.
    pub fn error(&mut self, error: &ErrPacket<'_>) {
        self.packet(|out| error.encode(out));
    }

    /// Begins a result. The column definitions are omitted if `is_known` is true and the client
    /// caches definitions.
    pub fn columns(&mut self, columns: &[ColumnDefinition<'_>], is_known: bool) {
        let can_cache = self.agreed.has(Capabilities::CACHE_METADATA);
        let is_left_out = is_known && can_cache;
        self.packet(|out| {
            put::length(out, columns.len() as u64);
            if can_cache {
                out.push(u8::from(!is_left_out));
            }
        });
        self.definitions(if is_left_out { &[] } else { columns });
        self.end_of_definitions();
    }

    fn definitions(&mut self, columns: &[ColumnDefinition<'_>]) {
        let agreed = self.agreed;
        for column in columns {
            self.packet(|out| column.encode(out, agreed));
        }
    }

    fn end_of_definitions(&mut self) {
        if !self.agreed.has(Capabilities::DEPRECATE_EOF) {
            self.packet(|out| EofPacket { warnings: 0, status: Status::AUTOCOMMIT }.encode(out));
        }
    }

    /// Appends a row of a text result; `None` is NULL.
    pub fn text_row<'v>(&mut self, values: impl IntoIterator<Item = Option<&'v [u8]>>) {
        self.packet(|out| TextRow::encode(out, values));
    }

    /// Appends a row of a binary result. Each value must have its column's kind.
    pub fn binary_row<'v, I>(&mut self, values: I)
    where
        I: IntoIterator<Item = Field<'v>>,
        I::IntoIter: ExactSizeIterator,
    {
        self.packet(|out| BinaryRow::encode(out, values));
    }

    /// Ends the rows of a result.
    pub fn end_of_rows(&mut self, status: Status, warnings: u16) {
        let agreed = self.agreed;
        self.packet(|out| {
            if agreed.has(Capabilities::DEPRECATE_EOF) {
                let ok = OkPacket { status, warnings, ..OkPacket::default() };
                ok.encode(out, OkKind::EndOfRows, agreed);
            } else {
                EofPacket { warnings, status }.encode(out);
            }
        });
    }

    /// Replies that a statement was prepared, with definitions of its parameters and columns.
    pub fn prepared(
        &mut self,
        prepared: &Prepared,
        parameters: &[ColumnDefinition<'_>],
        columns: &[ColumnDefinition<'_>],
    ) {
        self.packet(|out| prepared.encode(out));
        for definitions in [parameters, columns] {
            if !definitions.is_empty() {
                self.definitions(definitions);
                self.end_of_definitions();
            }
        }
    }

    /// Requests a file from the client.
    pub fn file(&mut self, name: &[u8]) {
        self.packet(|out| {
            out.push(FILE_REQUEST);
            out.extend_from_slice(name);
        });
    }
}
