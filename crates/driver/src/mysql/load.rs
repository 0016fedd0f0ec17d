//! Rows into a table: by LOAD DATA from a stream of ours, or by inserts of many rows.

use std::fmt::Write as _;

use base::{Class, Code, Value, Values};
use wire_mysql::{Refusal, file_data};

use super::answer::Whole;
use super::faults;
use super::session::{MysqlConnection, error_of};
use crate::load::{InsertWords, PIECE, insert_rows, no_method};
use crate::{Batches, Duplicates, Error, Insert, Method, Reply};

pub(super) fn check(method: Method) -> Result<(), Error> {
    match method {
        Method::Copy => Err(no_method("MySQL", method)),
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
            (Method::Auto, true) | (Method::LoadData, _) => self.load_data(into, batches).await,
            (Method::Auto, false) | (Method::Insert | Method::Copy, _) => {
                self.insert(into, batches).await
            }
        }
    }

    async fn insert(&mut self, into: &Insert<'_>, batches: &mut impl Batches) -> Result<(), Error> {
        let verb = match into.duplicates {
            Duplicates::Fail => "insert",
            Duplicates::Ignore => "insert ignore",
            Duplicates::Replace => "replace",
        };
        let text = |rows| into.text(InsertWords { verb, ..InsertWords::PLAIN }, rows);
        insert_rows(self, into.columns.len(), into.rows_at_once(), text, batches).await
    }

    /// One LOAD DATA for each batch, in a transaction: only behind it is known whether all of its
    /// rows were taken as they are.
    async fn load_data(
        &mut self,
        into: &Insert<'_>,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        let text = statement(into);
        let mut values = Values::new();
        while batches.next_batch() {
            let mut reply = Reply::default();
            self.ask_text("begin", &mut reply).await?;
            let loaded = match self.load_batch(&text, batches, &mut values, &mut reply).await {
                Ok(warnings) if warnings == 0 || into.duplicates == Duplicates::Ignore => {
                    self.ask_text("commit", &mut reply).await.map(drop)
                }
                Ok(_) => Err(self.first_warning(&mut reply).await),
                Err(error) => Err(error),
            };
            if let Err(error) = loaded {
                return Err(self.roll_back(error, &mut reply).await);
            }
            batches.committed(reply.bytes_sent);
        }
        Ok(())
    }

    /// Sends the rows of a batch. Returns how many warnings there are.
    async fn load_batch(
        &mut self,
        text: &str,
        batches: &mut impl Batches,
        values: &mut Values,
        reply: &mut Reply,
    ) -> Result<u16, Error> {
        self.line.append_query(text)?;
        let mut whole = Whole::default();
        while !self.line.replies.is_idle() {
            self.line.turn(&mut whole, reply).await?;
            if let Some(sequence) = self.line.replies.file_is_wanted() {
                self.send_rows(sequence, batches, values, reply).await?;
            }
        }
        self.note(whole.outcome.status);
        let warnings = whole.outcome.warnings;
        error_of(whole.outcome).map_or(Ok(warnings), Err)
    }

    async fn send_rows(
        &mut self,
        sequence: u8,
        batches: &mut impl Batches,
        values: &mut Values,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let mut sequence = sequence;
        let mut rows = String::with_capacity(PIECE + PIECE / 4);
        loop {
            rows.clear();
            while rows.len() < PIECE {
                values.clear();
                if !batches.next_row(values) {
                    break;
                }
                write_row(values, &mut rows);
            }
            if rows.is_empty() || self.line.channel.is_broken() {
                return self.line.end_file(sequence, reply).await;
            }
            sequence = file_data(self.line.channel.out(), sequence, rows.as_bytes());
            self.line.send(reply).await;
        }
    }

    /// What the server has taken otherwise than it was sent, or has left out: for a file from a
    /// client that is only worth a warning to it.
    async fn first_warning(&mut self, reply: &mut Reply) -> Error {
        let found = match self.ask_text("show warnings limit 1", reply).await {
            Ok((_, Whole { table, .. })) => table.rows.into_iter().next().unwrap_or_default(),
            Err(error) => return error,
        };
        match found.as_slice() {
            [_, Some(code), Some(message)] => {
                let code = code.parse().unwrap_or(0);
                let message = message.as_bytes().to_vec();
                faults::fault(&Refusal { code, sqlstate: None, message })
            }
            _ => {
                let words = "the server has not taken all values as they were sent";
                Error::new(Class::Statement, Code::new("load-data"), words)
            }
        }
    }
}

/// The statement that loads a batch from a stream (MySQL manual, "LOAD DATA Statement").
fn statement(into: &Insert<'_>) -> String {
    let duplicates = match into.duplicates {
        Duplicates::Fail => "",
        Duplicates::Ignore => "ignore ",
        Duplicates::Replace => "replace ",
    };
    format!(
        "load data local infile 'rows' {duplicates}into table {} character set utf8mb4 \
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
    fn nothing_in_a_text_ends_its_field_or_its_row() {
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
    fn a_batch_says_what_happens_to_duplicates() {
        let text = |duplicates| statement(&Insert { table: "t", columns: &["a", "b"], duplicates });
        assert!(text(Duplicates::Fail).starts_with("load data local infile 'rows' into table t "));
        assert!(text(Duplicates::Ignore).contains("'rows' ignore into"));
        assert!(text(Duplicates::Replace).contains("'rows' replace into"));
        assert!(text(Duplicates::Fail).ends_with("starting by '' (a, b)"));
    }
}
