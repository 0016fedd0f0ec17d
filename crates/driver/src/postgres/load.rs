//! Rows into a table: by COPY, or by inserts of many rows.

use base::{Placeholders, Values};
use wire_postgres::{CopyText, frontend};

use super::answer::Whole;
use super::faults;
use super::session::{PostgresConnection, parameter};
use crate::given::refusal;
use crate::load::{InsertWords, PIECE, insert_rows, no_method};
use crate::{Batches, Connection, Duplicates, Error, Insert, Method, Reply};

pub(super) fn check(into: &Insert<'_>, method: Method) -> Result<(), Error> {
    match (method, into.duplicates) {
        (Method::LoadData, _) => Err(no_method("PostgreSQL", method)),
        (Method::Copy, Duplicates::Ignore | Duplicates::Replace) => Err(refusal(
            "COPY fails with the first row whose key exists: write `method = auto`, or leave out \
             `on-duplicate`",
        )),
        (Method::Auto | Method::Insert | Method::Copy, _) => Ok(()),
    }
}

impl PostgresConnection {
    pub(super) async fn load_rows(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        match (method, into.duplicates) {
            (Method::Auto, Duplicates::Fail) | (Method::Copy, _) => self.copy(into, batches).await,
            (Method::Auto | Method::Insert | Method::LoadData, _) => {
                self.insert(into, batches).await
            }
        }
    }

    async fn insert(&mut self, into: &Insert<'_>, batches: &mut impl Batches) -> Result<(), Error> {
        let (behind, at_once) = match into.duplicates {
            Duplicates::Fail => (String::new(), into.rows_at_once()),
            Duplicates::Ignore => (" on conflict do nothing".to_owned(), into.rows_at_once()),
            // One statement must not replace a row twice.
            Duplicates::Replace => (self.replacement(into).await?, 1),
        };
        let words =
            InsertWords { verb: "insert", behind: &behind, placeholders: Placeholders::Dollar };
        let text = |rows| into.text(words, rows);
        insert_rows(self, into.columns.len(), at_once, text, batches).await
    }

    /// The words behind an insertion that let a row replace that which has its primary key.
    async fn replacement(&mut self, into: &Insert<'_>) -> Result<String, Error> {
        let table = into.table.replace('\'', "''");
        let query = format!(
            "select quote_ident(attname) from pg_index \
             join pg_attribute on attrelid = indrelid and attnum = any (indkey) \
             where indrelid = '{table}'::regclass and indisprimary"
        );
        let found = self.query_text(&query).await?;
        let key: Vec<String> = found.rows.into_iter().flatten().flatten().collect();
        if key.is_empty() {
            return Err(refusal(format!(
                "the table `{}` has no primary key by which `on-duplicate = replace` could know \
                 that a row exists",
                into.table
            )));
        }
        let others = into.columns.iter().filter(|column| !key.iter().any(|k| k == *column));
        let others: Vec<String> =
            others.map(|column| format!("{column} = excluded.{column}")).collect();
        let key = key.join(", ");
        Ok(match others.as_slice() {
            [] => format!(" on conflict ({key}) do nothing"),
            others => format!(" on conflict ({key}) do update set {}", others.join(", ")),
        })
    }

    /// One COPY for each batch. Chapter "COPY Operations".
    async fn copy(&mut self, into: &Insert<'_>, batches: &mut impl Batches) -> Result<(), Error> {
        let text = format!("copy {} ({}) from stdin", into.table, into.columns.join(", "));
        let mut values = Values::new();
        while batches.next_batch() {
            let mut reply = Reply::default();
            self.begin_copy(&text, &mut reply).await?;
            let mut whole = Whole::default();
            while whole.outcome.error.is_none() && self.append_rows(batches, &mut values)? {
                self.send(&mut reply).await;
                // What the server says meanwhile would otherwise gather.
                self.read(&mut whole, &mut reply)?;
            }
            // After an error the server passes over it.
            frontend::copy_done(self.channel.out());
            self.exchange(&mut whole, &mut reply).await?;
            if let Some(report) = whole.outcome.error {
                return Err(faults::fault(&report));
            }
            batches.committed(reply.bytes_sent);
        }
        Ok(())
    }

    /// Sends a COPY and waits until the server wants its data.
    async fn begin_copy(&mut self, text: &str, reply: &mut Reply) -> Result<(), Error> {
        self.append_query(text)?;
        self.send(reply).await;
        let mut whole = Whole::default();
        loop {
            self.read(&mut whole, reply)?;
            if whole.outcome.wants_data {
                return Ok(());
            }
            if let Some(report) = whole.outcome.error.take() {
                // What follows says only that the session goes on.
                self.exchange(&mut whole, reply).await?;
                return Err(faults::fault(&report));
            }
            self.receive(&mut whole).await?;
        }
    }

    /// Appends rows until there is enough to be sent at once, or no further one.
    fn append_rows(
        &mut self,
        batches: &mut impl Batches,
        values: &mut Values,
    ) -> Result<bool, Error> {
        let mut has_rows = false;
        let appended = frontend::copy_data(self.channel.out(), |out| {
            while out.len() < PIECE {
                values.clear();
                if !batches.next_row(values) {
                    break;
                }
                has_rows = true;
                let mut row = CopyText::new(out);
                for value in values.items() {
                    row.field(parameter(*value, values));
                }
                row.end_row();
            }
        });
        appended.map_err(|error| faults::unsendable(&error))?;
        Ok(has_rows)
    }
}
