//! Preparation of statements, with and without a name.

use wire_postgres::{Cycle, Template};

use super::answer::FullReply;
use super::faults;
use super::session::{PostgresConnection, Statement};
use crate::connection::InsertIds;
use crate::service::PREPARING;
use crate::{Error, PreparedId};

impl PostgresConnection {
    /// Prepares a statement with a name of its own.
    pub(super) async fn prepare_named(&mut self, text: &str) -> Result<PreparedId, Error> {
        let id = PreparedId::nth(self.statements.len())?;
        let name = format!("assay{}", id.0);
        let (shared, rt, node) = (self.shared.clone(), self.rt.clone(), self.node);
        let answer = self.describe(&name, text);
        let described = shared.service.session_in_time(&rt, node, PREPARING, answer).await?;
        let mut template = Template::new(self.shared.results);
        template
            .statement(&name, &described.parameters)
            .map_err(|error| faults::unencodable_text(&error))?;
        let cycle = execution_cycle(text, described.columns);
        self.statements.push(Statement { template, cycle });
        Ok(id)
    }

    /// Adds an insert statement without a name. The first execution in a pipeline parses the text.
    ///
    /// A pooler may assign each transaction to a different session of the server, in which a named
    /// statement may be missing or may exist already. The server may answer late, because the other
    /// writers' batches may occupy all of its sessions: only the limits of the load end the wait.
    pub(super) async fn add_unnamed(&mut self, text: &str) -> Result<InsertIds, Error> {
        let first = PreparedId::nth(self.statements.len())?;
        let further = PreparedId::nth(self.statements.len() + 1)?;
        let FullReply { parameters, columns, .. } = self.describe("", text).await?;
        let results = self.shared.results;
        let (mut parsing, mut executing) = (Template::new(results), Template::new(results));
        parsing
            .text(text, &parameters)
            .and_then(|()| executing.statement("", &parameters))
            .map_err(|error| faults::unencodable_text(&error))?;
        let cycle = execution_cycle(text, columns);
        self.statements.push(Statement { template: parsing, cycle: cycle.parse() });
        self.statements.push(Statement { template: executing, cycle });
        Ok(InsertIds { first, further })
    }

    /// Prepares a statement and returns its description. A statement with an empty name lasts until
    /// the next text is parsed.
    async fn describe(&mut self, name: &str, text: &str) -> Result<FullReply, Error> {
        self.append_preparation(name, text)?;
        let table = self.short_table();
        let described = self.ask(text, table).await?;
        self.own_traffic().prepared();
        Ok(described)
    }
}

/// Returns the messages of an execution. `columns` is the number in the server's description.
fn execution_cycle(text: &str, columns: Option<u16>) -> Cycle {
    let cycle = Cycle::STATEMENT.with_text(text);
    match columns.filter(|_| keeps_columns(text)) {
        Some(columns) => cycle.with_columns(columns),
        None => cycle,
    }
}

/// Returns true if the rows of a prepared statement always have the columns that were described.
/// The rows of `fetch` and `execute` have the columns of the cursor or statement that they name
/// when they run.
fn keeps_columns(text: &str) -> bool {
    const FIRST: [&str; 8] =
        ["select", "with", "values", "table", "insert", "update", "delete", "merge"];
    let text = text.trim_start_matches(|first: char| first.is_whitespace() || first == '(');
    let word = text.split(|next: char| !next.is_ascii_alphabetic()).next().unwrap_or_default();
    FIRST.iter().any(|first| word.eq_ignore_ascii_case(first))
}
