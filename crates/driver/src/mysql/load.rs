//! Loading rows, with LOAD DATA from a generated stream or with multi-row inserts.

use std::fmt::Write as _;

use base::{Class, Code, Value, Values};
use wire_mysql::{Refusal, file_data};

use super::answer::FullReply;
use super::faults;
use super::session::{MysqlConnection, error_of};
use crate::connection::insert_rows;
use crate::load::{InsertSyntax, PIECE, StartedBatches, row_count_mismatch, unsupported_method};
use crate::{Batches, Duplicates, Error, Insert, Method, Reply, Table};

/// Character sets that encode ASCII characters as ASCII bytes.
const LIKE_ASCII: [&str; 5] = ["ascii", "latin1", "utf8", "utf8mb3", "utf8mb4"];

/// Statement that adds strict mode to the modes of the session (MySQL manual, "Server SQL Modes").
const STRICT_MODE: &str = "set session sql_mode = concat(@@session.sql_mode, ',STRICT_ALL_TABLES')";

/// Rows in the format of LOAD DATA.
#[derive(Default)]
struct Rows {
    text: String,
    /// Number of rows generated for the current batch.
    count: u64,
    values: Values,
}

impl Rows {
    /// Generates the rows to be sent next. At the end of the batch, `text` stays empty.
    fn take_from(&mut self, batches: &mut impl Batches) {
        self.text.clear();
        while self.text.len() < PIECE {
            self.values.clear();
            if !batches.next_row(&mut self.values) {
                return;
            }
            self.count += 1;
            write_row(&self.values, &mut self.text);
        }
    }
}

/// The reply to the LOAD DATA of a batch.
#[derive(Clone, Copy, Debug)]
struct StoredBatch {
    /// Number of rows stored, as the server reports it; a row that replaces another counts twice.
    rows: u64,
    /// Number of warnings.
    warnings: u16,
}

pub(super) fn check(method: Method) -> Result<(), Error> {
    match method {
        Method::Copy => Err(unsupported_method("MySQL", method)),
        Method::Auto | Method::Insert | Method::LoadData => Ok(()),
    }
}

impl MysqlConnection {
    pub(super) async fn load_rows(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        match (method, self.takes_files) {
            (Method::LoadData, _) => match self.load_data(into, batches).await {
                Err(error) if faults::forbids_files(&error) => Err(with_insert_as_remedy(&error)),
                ended => ended,
            },
            // Some servers announce at the login that they accept no files. MySQL and MariaDB say
            // so only in reply to the statement.
            (Method::Auto, true) => match self.load_data(into, batches).await {
                Err(error) if faults::forbids_files(&error) && !self.has_sent_rows => {
                    batches.falls_back(&error);
                    self.insert(into, &mut StartedBatches::new(batches)).await
                }
                ended => ended,
            },
            (Method::Auto, false) => {
                batches.falls_back(&faults::files_declined());
                self.insert(into, batches).await
            }
            (Method::Insert | Method::Copy, _) => self.insert(into, batches).await,
        }
    }

    /// Inserts the rows. Unless duplicates are ignored, a batch fails if a value does not fit its
    /// column: strict mode turns the warning into an error. Warnings of inserts are not counted.
    /// Unlike LOAD DATA, an insert may round a decimal, of which the server only makes a note.
    async fn insert(&mut self, into: &Insert<'_>, batches: &mut impl Batches) -> Result<(), Error> {
        match into.duplicates {
            Duplicates::Fail | Duplicates::Replace => drop(self.query_short(STRICT_MODE).await?),
            Duplicates::Ignore => {}
        }
        let verb = match into.duplicates {
            Duplicates::Fail => "insert",
            Duplicates::Ignore => "insert ignore",
            Duplicates::Replace => "replace",
        };
        let text = |rows| into.text(InsertSyntax { verb, ..InsertSyntax::PLAIN }, rows);
        insert_rows(self, into.columns.len(), into.rows_at_once(), text, batches).await
    }

    /// Loads each batch with one LOAD DATA in a transaction, because it is known only after the
    /// statement whether all rows were accepted unchanged.
    ///
    /// The first rows of a batch are generated while the previous batch is committed. The rows of
    /// the first batch are generated when the server requests them, because the server may forbid
    /// the statement.
    async fn load_data(
        &mut self,
        into: &Insert<'_>,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        let charset = self.charset_for(into.table, batches).await;
        let text = statement(into, charset);
        let (mut rows, mut reply) = (Rows::default(), Reply::default());
        self.has_sent_rows = false;
        let mut has_batch = batches.next_batch();
        if has_batch {
            self.ask_text("begin", &mut reply).await?;
        }
        while has_batch {
            let loaded = match self.load_batch(&text, batches, &mut rows, &mut reply).await {
                Ok(_) if into.duplicates == Duplicates::Ignore => Ok(()),
                Ok(StoredBatch { warnings: 1.., .. }) => Err(self.first_warning(&mut reply).await),
                // The number is known only for `Fail`: a row that replaces another counts twice.
                Ok(StoredBatch { rows: stored, .. })
                    if into.duplicates == Duplicates::Fail && stored != rows.count =>
                {
                    Err(row_count_mismatch("LOAD DATA", stored, rows.count))
                }
                Ok(_) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = loaded {
                return Err(self.roll_back(error, &mut reply).await);
            }
            let count = std::mem::take(&mut rows.count);
            has_batch = batches.next_batch();
            self.line.append_query(if has_batch { "commit and chain" } else { "commit" })?;
            self.line.send(&mut reply).await;
            if has_batch {
                rows.take_from(batches);
            }
            let committed = self.ask("", &mut reply).await;
            if let Err(error) = committed {
                return Err(self.roll_back(error, &mut reply).await);
            }
            batches.committed(count, std::mem::take(&mut reply.bytes_sent));
        }
        Ok(())
    }

    /// Returns the character set with which rows arrive unchanged.
    ///
    /// It is `binary` if the columns store the bytes as sent: the server then skips validation,
    /// which takes up to a third of the time that it needs for a row.
    async fn charset_for(&mut self, table: &str, batches: &impl Batches) -> &'static str {
        match self.query_short(&format!("show full columns from {table}")).await {
            Ok(columns) if keeps_bytes(&columns, batches.is_ascii()) => "binary",
            // If the table does not exist, the load itself reports it.
            Ok(_) | Err(_) => "utf8mb4",
        }
    }

    /// Sends the rows of a batch. `rows` may already hold the first of them.
    async fn load_batch(
        &mut self,
        text: &str,
        batches: &mut impl Batches,
        rows: &mut Rows,
        reply: &mut Reply,
    ) -> Result<StoredBatch, Error> {
        self.line.append_query(text)?;
        let mut whole = FullReply::read_by(self.short_table());
        let mut is_requested = false;
        while !self.line.replies.is_idle() {
            self.line.send_and_read(&mut whole, reply).await?;
            if let Some(sequence) = self.line.replies.wanted_file() {
                is_requested = true;
                self.send_rows(sequence, batches, rows, reply).await?;
            }
        }
        self.note_status(whole.outcome.status);
        let stored = StoredBatch { rows: whole.outcome.rows, warnings: whole.outcome.warnings };
        match error_of(whole.outcome, self.secrets()) {
            Some(error) => Err(error),
            None if is_requested => Ok(stored),
            None => Err(rows_not_requested()),
        }
    }

    async fn send_rows(
        &mut self,
        sequence: u8,
        batches: &mut impl Batches,
        rows: &mut Rows,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let mut sequence = sequence;
        if rows.count == 0 {
            rows.take_from(batches);
        }
        self.has_sent_rows = true;
        while !rows.text.is_empty() && !self.line.channel.is_broken() {
            sequence = file_data(self.line.channel.out(), sequence, rows.text.as_bytes());
            self.line.send(reply).await;
            rows.take_from(batches);
        }
        self.line.end_file(sequence, reply).await
    }

    /// Returns the first warning as an error. The server changed or skipped a value, and only warns
    /// about it because the file comes from a client.
    async fn first_warning(&mut self, reply: &mut Reply) -> Error {
        let found = match self.ask_text("show warnings limit 1", reply).await {
            Ok((_, FullReply { table, .. })) => {
                table.into_table().rows.into_iter().next().unwrap_or_default()
            }
            Err(error) => return error,
        };
        match found.as_slice() {
            [_, Some(code), Some(message)] => {
                let code = code.parse().unwrap_or(0);
                let message = message.as_bytes().to_vec();
                faults::fault(&Refusal { code, sqlstate: None, message }, self.secrets())
            }
            _ => {
                let words = "the server changed or omitted values that were sent";
                Error::new(Class::Statement, Code::new("load-data"), words)
            }
        }
    }
}

/// Builds the error for a server that ended a LOAD DATA without having received a row.
fn rows_not_requested() -> Error {
    let words = "the server ended a LOAD DATA without requesting its rows: write `method = insert`";
    Error::new(Class::Statement, Code::ROWS, words)
}

/// Adds the remedy of inserting the rows to the error of a server that accepts no files.
fn with_insert_as_remedy(error: &Error) -> Error {
    let words = format!("{}, or write `method = auto`, which inserts the rows", error.message());
    Error::new(error.class(), error.code(), words)
}

/// Returns true if all columns of a table, as `show full columns` lists them, store the bytes of
/// UTF-8 text unchanged. `is_ascii` is true if all texts are ASCII.
fn keeps_bytes(table: &Table, is_ascii: bool) -> bool {
    table.rows.iter().all(|row| match row.as_slice() {
        // MySQL refuses bytes without a character set for JSON.
        [_, Some(kind), ..] if kind == "json" => false,
        // A column without a collation holds no characters.
        [_, Some(_), None, ..] => true,
        [_, Some(_), Some(collation), ..] => {
            let charset = collation.split('_').next().unwrap_or_default();
            charset == "utf8mb4" || is_ascii && LIKE_ASCII.contains(&charset)
        }
        _ => false,
    })
}

/// Returns the statement that loads a batch from a stream (MySQL manual, "LOAD DATA Statement").
fn statement(into: &Insert<'_>, charset: &str) -> String {
    let duplicates = match into.duplicates {
        Duplicates::Fail => "",
        Duplicates::Ignore => "ignore ",
        Duplicates::Replace => "replace ",
    };
    format!(
        "load data local infile 'rows' {duplicates}into table {} character set {charset} \
         fields terminated by '\\t' enclosed by '' escaped by '\\\\' \
         lines terminated by '\\n' starting by '' ({})",
        into.table,
        into.columns.join(", ")
    )
}

fn write_row(values: &Values, out: &mut String) {
    for (place, value) in values.items().iter().enumerate() {
        if place > 0 {
            out.push('\t');
        }
        // Writing into a String cannot fail.
        let _ = match value {
            Value::Null => out.write_str("\\N"),
            Value::Int(number) => write!(out, "{number}"),
            Value::Real(number) => write!(out, "{number:e}"),
            Value::Text(text) => write_text(values.resolve(*text), out),
        };
    }
    out.push('\n');
}

fn write_text(text: &str, out: &mut String) -> std::fmt::Result {
    // Examining all bytes without stopping at a match is vectorized, and faster than a search.
    let is_special = |byte: &u8| matches!(byte, b'\\' | b'\t' | b'\n' | 0);
    if !text.as_bytes().iter().fold(false, |found, byte| found | is_special(byte)) {
        return out.write_str(text);
    }
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '\t', '\n', '\0']) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        out.push_str(match special.as_bytes()[0] {
            b'\t' => "\\t",
            b'\n' => "\\n",
            0 => "\\0",
            _ => "\\\\",
        });
        rest = &special[1..];
    }
    out.write_str(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_text_is_escaped() {
        let mut values = Values::new();
        values.push(Value::Null);
        values.push(Value::Int(-7));
        values.push(Value::Real(0.25));
        values.push_text(|out| out.push_str("a\tb\nc\\N\0'ß"));
        values.push_text(|_| {});
        let mut out = String::new();
        write_row(&values, &mut out);
        assert_eq!(out, "\\N\t-7\t2.5e-1\ta\\tb\\nc\\\\N\\0'ß\t\n");
    }

    #[test]
    fn bytes_are_unchanged_if_the_column_has_the_same_character_set() {
        let keeps = |columns: &[(&str, Option<&str>)], is_ascii| {
            let row = |(kind, collation): &(&str, Option<&str>)| {
                vec![Some("c".to_owned()), Some((*kind).to_owned()), collation.map(str::to_owned)]
            };
            let table = Table { rows: columns.iter().map(row).collect(), ..Table::default() };
            keeps_bytes(&table, is_ascii)
        };
        let number = ("int(11)", None);
        for (collation, any, ascii) in [
            ("utf8mb4_general_ci", true, true),
            ("utf8mb4_0900_ai_ci", true, true),
            ("latin1_swedish_ci", false, true),
            ("utf8mb3_general_ci", false, true),
            ("ucs2_general_ci", false, false),
            ("utf16_bin", false, false),
        ] {
            let columns = [number, ("char(5)", Some(collation))];
            assert_eq!(
                (keeps(&columns, false), keeps(&columns, true)),
                (any, ascii),
                "{collation}"
            );
        }
        assert!(keeps(&[number, ("blob", None)], false));
        assert!(!keeps(&[number, ("json", None)], true));
        assert!(!keeps_bytes(&Table { rows: vec![vec![None]], ..Table::default() }, true));
    }

    #[test]
    fn batch_states_its_handling_of_duplicates() {
        let text = |duplicates| {
            statement(&Insert { table: "t", columns: &["a", "b"], duplicates }, "binary")
        };
        assert!(text(Duplicates::Fail).starts_with("load data local infile 'rows' into table t "));
        assert!(text(Duplicates::Ignore).contains("'rows' ignore into"));
        assert!(text(Duplicates::Replace).contains("'rows' replace into"));
        assert!(text(Duplicates::Fail).ends_with("starting by '' (a, b)"));
    }
}
