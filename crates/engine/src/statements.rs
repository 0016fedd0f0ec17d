//! Statements as connections prepare them.

use base::{AccountId, Class, Code, StatementId};
use driver::{Connection, Error};

/// A statement as a connection prepares it.
#[derive(Clone, Debug)]
pub(crate) struct StatementText {
    /// Account of its section.
    pub(crate) account: AccountId,
    /// Its place in the section.
    pub(crate) statement: StatementId,
    /// Its text, with placeholders for the values.
    pub(crate) sql: String,
    /// The number of its values.
    pub(crate) values: usize,
}

/// Prepares a job's statements on a connection, in order.
///
/// # Errors
/// The statement that the database rejects or whose number of values differs from the given ones,
/// with the error.
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
