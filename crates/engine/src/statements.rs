//! Statements as connections prepare them.

use base::{AccountId, Class, Code, StatementId};
use driver::{Connection, Error};

/// A statement as a connection prepares it.
#[derive(Clone, Debug)]
pub(crate) struct StatementText {
    /// The account of its section in the ledger.
    pub(crate) account: AccountId,
    /// The statement within its section.
    pub(crate) statement: StatementId,
    /// Text of the statement, with placeholders for the values.
    pub(crate) sql: String,
    /// Number of values that a request gives to the statement.
    pub(crate) values: usize,
}

/// Prepares a job's statements on a connection, in order.
///
/// # Errors
/// The first statement that the database rejects, or for which the job gives a wrong number of
/// values, with the error.
pub(crate) async fn prepare<'t, C: Connection>(
    connection: &mut C,
    texts: &'t [StatementText],
) -> Result<(), (&'t StatementText, Error)> {
    for text in texts {
        let rejected = |error| (text, error);
        let id = connection.prepare(&text.sql).await.map_err(rejected)?;
        let wanted = connection.parameters(id).unwrap_or(text.values);
        if wanted != text.values {
            let noun = if wanted == 1 { "value" } else { "values" };
            let message = format!(
                "the database wants {wanted} {noun} for it, and the file gives {}: write `${{…}}` \
                 for each value and no other placeholder, or name a `query-args-file` whose \
                 records have them",
                text.values
            );
            return Err(rejected(Error::new(Class::Statement, Code::new("parameters"), message)));
        }
    }
    Ok(())
}
