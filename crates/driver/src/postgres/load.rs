//! Loading rows, with COPY or with multi-row inserts.

use base::{Placeholders, Values};
use wire_postgres::{CopyText, frontend};

use super::answer::FullReply;
use super::faults;
use super::session::{PostgresConnection, parameter};
use crate::connection::Inserts;
use crate::load::{InsertSyntax, PIECE, StartedBatches, row_count_mismatch, unsupported_method};
use crate::{Batches, Duplicates, Error, Insert, Method, Reply};

pub(super) fn check(into: &Insert<'_>, method: Method) -> Result<(), Error> {
    match (method, into.duplicates) {
        (Method::LoadData, _) => Err(unsupported_method("PostgreSQL", method)),
        (Method::Copy, Duplicates::Ignore | Duplicates::Replace) => Err(Error::url(
            "COPY fails with the first row whose key exists: write `method = auto`, or leave out \
             `on-duplicate`",
        )),
        (Method::Auto | Method::Insert | Method::Copy, _) => Ok(()),
    }
}

/// The numbers of rows and bytes of a batch that were sent so far.
#[derive(Default)]
struct Batch {
    rows: u64,
    bytes: u64,
}

impl Batch {
    /// Compares the number of rows with the number `stored` by the server. Servers before
    /// PostgreSQL 8.2 report none, which is accepted.
    ///
    /// # Errors
    /// The numbers differ: the benchmark would run on a table with a different number of rows than
    /// the workload file requests.
    fn check_stored_rows(&self, stored: Option<u64>) -> Result<(), Error> {
        match stored {
            Some(stored) if stored != self.rows => {
                Err(row_count_mismatch("COPY", stored, self.rows))
            }
            Some(_) | None => Ok(()),
        }
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
            (Method::Auto, Duplicates::Fail) => self.copy_or_insert(into, batches).await,
            (Method::Copy, _) => match self.copy(into, batches).await {
                Err(error) if faults::forbids_copy(&error) => Err(with_insert_as_remedy(&error)),
                ended => ended,
            },
            (Method::Auto | Method::Insert | Method::LoadData, _) => {
                self.insert(into, batches).await
            }
        }
    }

    /// Loads each batch with one COPY, or with inserts if the server refuses the COPY.
    async fn copy_or_insert(
        &mut self,
        into: &Insert<'_>,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        // The server refuses the COPY into a view only after it has requested the rows.
        if self.is_plain_view(into.table).await {
            batches.falls_back(&faults::copy_into_view(into.table));
            return self.insert(into, batches).await;
        }
        match self.copy(into, batches).await {
            Err(error) if faults::forbids_copy(&error) && !self.has_sent_rows => {
                batches.falls_back(&error);
                self.insert(into, &mut StartedBatches::new(batches)).await
            }
            ended => ended,
        }
    }

    /// Returns true for a view without a trigger that would take the rows of a COPY. The type of
    /// such a trigger has the bits INSERT (4) and INSTEAD OF (64).
    async fn is_plain_view(&mut self, table: &str) -> bool {
        let table = table.replace('\'', "''");
        let query = format!(
            "select 1 from pg_class as c where c.oid = '{table}'::regclass and c.relkind = 'v' \
             and not exists (select 1 from pg_trigger where tgrelid = c.oid and tgtype & 68 = 68)"
        );
        // If the table does not exist, the load itself reports it.
        self.query_short(&query).await.is_ok_and(|found| !found.rows.is_empty())
    }

    async fn insert(&mut self, into: &Insert<'_>, batches: &mut impl Batches) -> Result<(), Error> {
        let (after, at_once) = match into.duplicates {
            Duplicates::Fail => (String::new(), into.rows_at_once()),
            Duplicates::Ignore => (" on conflict do nothing".to_owned(), into.rows_at_once()),
            // PostgreSQL refuses a statement that replaces a row twice, so each row has a statement
            // of its own.
            Duplicates::Replace => (self.replacement(into).await?, 1),
        };
        let words =
            InsertSyntax { verb: "insert", after: &after, placeholders: Placeholders::Dollar };
        let one = self.add_unnamed(&into.text(words, 1)).await?;
        let many = match at_once {
            1 => one,
            _ => self.add_unnamed(&into.text(words, at_once)).await?,
        };
        let inserts = Inserts { one, many, at_once, columns: into.columns.len() };
        inserts.write(self, batches).await
    }

    /// Returns the conflict clause with which a new row replaces the row that has the same primary
    /// key.
    async fn replacement(&mut self, into: &Insert<'_>) -> Result<String, Error> {
        let table = into.table.replace('\'', "''");
        let query = format!(
            "select quote_ident(attname) from pg_index \
             join pg_attribute on attrelid = indrelid and attnum = any (indkey) \
             where indrelid = '{table}'::regclass and indisprimary"
        );
        let found = self.query_short(&query).await?;
        let key: Vec<String> = found.rows.into_iter().flatten().flatten().collect();
        if key.is_empty() {
            return Err(Error::url(format!(
                "the table `{}` has no primary key by which `on-duplicate = replace` could find an \
                 existing row",
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

    /// Loads each batch with one COPY.
    ///
    /// The rows of the first batch are generated when the server requests them, because it may
    /// refuse the COPY. The first rows of each further batch are generated while the previous batch
    /// is committed. They are sent only after the server's answer to the commit. With that answer,
    /// a pooler that assigns sessions per transaction gives the session to another client; rows
    /// that were sent earlier would never be answered. Protocol chapter "COPY Operations".
    async fn copy(&mut self, into: &Insert<'_>, batches: &mut impl Batches) -> Result<(), Error> {
        let text = format!("copy {} ({}) from stdin", into.table, into.columns.join(", "));
        let (mut values, mut piece) = (Values::new(), Vec::new());
        self.has_sent_rows = false;
        let (mut has_batch, mut rows) = (batches.next_batch(), 0);
        while has_batch {
            let (mut reply, mut batch) = (FullReply::read_by(self.short_table()), Batch::default());
            self.append_query(&text)?;
            batch.bytes += self.channel.out().len() as u64;
            self.channel.flush().await;
            self.wait_for_copy(&mut reply).await?;
            if !self.has_sent_rows && reply.outcome.error.is_none() {
                self.has_sent_rows = true;
                rows = make_rows(&mut piece, batches, &mut values)?;
            }
            while rows > 0 && reply.outcome.error.is_none() {
                batch.rows += rows;
                batch.bytes += piece.len() as u64;
                std::mem::swap(self.channel.out(), &mut piece);
                self.channel.flush().await;
                // If nothing were read here, the server's messages would accumulate.
                self.read_available(&mut reply).await?;
                rows = make_rows(&mut piece, batches, &mut values)?;
            }
            if reply.outcome.error.is_some() {
                return Err(self.give_up_copy(reply).await);
            }
            frontend::copy_done(self.channel.out());
            batch.bytes += self.channel.out().len() as u64;
            self.channel.flush().await;
            // From here on the server may report that it has stored the rows.
            self.end_copy();
            has_batch = batches.next_batch();
            let made = match has_batch {
                true => make_rows(&mut piece, batches, &mut values),
                false => Ok(0),
            };
            self.exchange(&mut reply, &mut Reply::default()).await?;
            if let Some(report) = reply.outcome.error {
                return Err(self.fault(&report));
            }
            self.check_completions(&text, reply.outcome.completed)?;
            batch.check_stored_rows(reply.stored)?;
            batches.committed(batch.rows, batch.bytes);
            rows = made?;
        }
        Ok(())
    }

    /// Reads until the server requests the data of a COPY, or refuses it.
    ///
    /// # Errors
    /// The session is over, or the server has completed the command without any data.
    async fn wait_for_copy(&mut self, reply: &mut FullReply) -> Result<(), Error> {
        while !reply.outcome.wants_data && reply.outcome.error.is_none() {
            self.receive(reply).await?;
            self.read(reply, &mut Reply::default())?;
            if reply.outcome.completed > 0 {
                return Err(faults::copy_without_data(self.channel.address()));
            }
        }
        reply.outcome.wants_data = false;
        Ok(())
    }

    /// Ends a COPY after an error, discards the rows not yet sent, and returns the error.
    #[cold]
    async fn give_up_copy(&mut self, mut reply: FullReply) -> Error {
        self.channel.out().clear();
        if !self.replies_are_complete() {
            // Cannot fail: the reason has no zero byte. A server not in COPY mode ignores the
            // message.
            let _ = frontend::copy_fail(self.channel.out(), "the load has failed");
        }
        let ended = self.exchange(&mut reply, &mut Reply::default()).await;
        match (reply.outcome.error, ended) {
            (Some(report), _) => self.fault(&report),
            (None, Err(error)) => error,
            (None, Ok(_)) => Error::disconnect("a load has failed without a message"),
        }
    }
}

/// Adds the remedy of inserting the rows to the error of a server that refuses a COPY.
fn with_insert_as_remedy(error: &Error) -> Error {
    let remedy = "if the table takes no COPY, `method = auto` inserts the rows";
    let words = format!("{}; {remedy}", error.message());
    Error::new(error.class(), error.code(), words)
}

/// Generates rows of the current batch until they fill a piece or the batch ends. Returns their
/// number.
fn make_rows(
    out: &mut Vec<u8>,
    batches: &mut impl Batches,
    values: &mut Values,
) -> Result<u64, Error> {
    out.clear();
    let mut rows = 0;
    let appended = frontend::copy_data(out, |out| {
        while out.len() < PIECE {
            values.clear();
            if !batches.next_row(values) {
                break;
            }
            rows += 1;
            let mut row = CopyText::new(out);
            for value in values.items() {
                row.field(parameter(*value, values));
            }
            row.end_row();
        }
    });
    appended.map_err(|error| faults::unencodable_text(&error))?;
    if rows == 0 {
        out.clear();
    }
    Ok(rows)
}
