//! A sink that logs its calls.

use wire_mysql::{
    Capabilities, ColumnDefinition, ColumnKind, ErrPacket, Negotiated, Prepared, Replies,
    ReplyKind, ResultEnd, Row, Sink, WANTED, WireError,
};

/// A log with one line per call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) lines: Vec<String>,
    pub(crate) wants_rows: bool,
    pub(crate) wants_columns: bool,
    pub(crate) kinds: Vec<ColumnKind>,
    /// Number of columns of the current result.
    pub(crate) columns: u64,
    /// Length of the longest incomplete row that the sink has room for, in bytes; `None` for any
    /// length.
    pub(crate) room: Option<usize>,
}

impl Log {
    pub(crate) fn wanting(wants_rows: bool) -> Log {
        Log { wants_rows, wants_columns: wants_rows, ..Log::default() }
    }
}

/// Formats bytes as readable text.
pub(crate) fn shown(bytes: &[u8]) -> String {
    if bytes.len() > 100 {
        return format!("{} bytes", bytes.len());
    }
    String::from_utf8_lossy(bytes).into_owned()
}

impl Sink for Log {
    fn wants_rows(&self) -> bool {
        self.wants_rows
    }

    fn wants_columns(&self) -> bool {
        self.wants_columns
    }

    fn columns(&mut self, count: u64, is_known: bool) {
        if !is_known {
            self.kinds.clear();
        }
        self.columns = count;
        let known = if is_known { ", known" } else { "" };
        self.lines.push(format!("{count} columns{known}"));
    }

    fn column(&mut self, column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        self.kinds.push(column.kind());
        self.lines.push(format!("column {} {:?}", shown(column.name), column.column_type));
        Ok(())
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), WireError> {
        let fields: Vec<String> = match row {
            Row::Text(row) => row
                .fields(self.columns)
                .map(|field| Ok(field?.map_or("NULL".to_owned(), shown)))
                .collect::<Result<_, WireError>>()?,
            Row::Binary(row) => row
                .fields(&self.kinds)?
                .map(|field| Ok(format!("{:?}", field?)))
                .collect::<Result<_, WireError>>()?,
        };
        self.lines.push(format!("row {}", fields.join(", ")));
        Ok(())
    }

    fn can_hold(&mut self, length: usize) -> bool {
        self.room.is_none_or(|room| length <= room)
    }

    fn too_long(&mut self) {
        self.lines.push("too long".to_owned());
    }

    fn result(&mut self, result: ResultEnd) {
        let ResultEnd { rows, affected_rows, last_insert_id, status, warnings } = result;
        self.lines.push(format!(
            "result: {rows} rows, {affected_rows} affected, id {last_insert_id}, status {:#06x}, \
             {warnings} warnings",
            status.0
        ));
    }

    fn error(&mut self, error: &ErrPacket<'_>) {
        let state = error.sqlstate.map_or(String::new(), |state| shown(&state));
        self.lines.push(format!("error {} {state} {}", error.code, shown(error.message)));
    }

    fn prepared(&mut self, prepared: Prepared) {
        self.kinds.clear();
        let Prepared { id, columns, parameters, warnings: _ } = prepared;
        self.lines.push(format!("prepared {}: {parameters} -> {columns}", id.0));
    }

    fn file(&mut self, name: &[u8]) {
        self.lines.push(format!("file {}", shown(name)));
    }

    fn end(&mut self) {
        self.lines.push("end".to_owned());
    }
}

/// Returns the capabilities that a client and a server with all features of this crate negotiate,
/// except the capabilities in `without`.
pub(crate) fn agreed(without: Capabilities) -> Negotiated {
    let all = WANTED | Capabilities::LOCAL_FILES;
    Negotiated::of(all, all.without(without))
}

/// Returns capabilities with EOF packets and without the cache of definitions.
pub(crate) fn old() -> Negotiated {
    agreed(Capabilities::DEPRECATE_EOF | Capabilities::CACHE_METADATA)
}

/// Returns capabilities without EOF packets and without the cache of definitions.
pub(crate) fn new() -> Negotiated {
    agreed(Capabilities::CACHE_METADATA)
}

/// Reads bytes in one piece.
pub(crate) fn read(
    agreed: Negotiated,
    kinds: &[ReplyKind],
    bytes: &[u8],
    log: &mut Log,
) -> Result<usize, WireError> {
    let mut replies = Replies::new(agreed);
    for kind in kinds {
        replies.expect(*kind, 1)?;
    }
    replies.read(bytes, log)
}

/// Returns the calls of the sink for bytes that are read in one piece, which must all be consumed.
/// Reading them in pieces of every size up to `pieces` must give the same calls.
pub(crate) fn printed(
    agreed: Negotiated,
    kinds: &[ReplyKind],
    bytes: &[u8],
    wants_rows: bool,
    pieces: usize,
) -> Vec<String> {
    let mut whole = Log::wanting(wants_rows);
    let used = read(agreed, kinds, bytes, &mut whole).expect("well-formed replies");
    assert_eq!(used, bytes.len(), "everything is used after {:#?}", whole.lines);
    for size in 1..=pieces {
        let mut log = Log::wanting(wants_rows);
        let mut replies = Replies::new(agreed);
        kinds.iter().for_each(|kind| replies.expect(*kind, 1).expect("few commands"));
        for piece in bytes.chunks(size) {
            let used = replies.read(piece, &mut log).expect("well-formed replies");
            assert_eq!(used, piece.len(), "in pieces of {size}");
        }
        assert!(replies.is_idle(), "in pieces of {size}");
        assert_eq!(log.lines, whole.lines, "in pieces of {size}");
    }
    whole.lines
}
