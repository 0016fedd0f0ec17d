//! Sinks for the answers to a request.

use std::convert::Infallible;

use base::{Field, RowLimit, RowMark, Rows, Stamp};
use record::StatementSet;
use wire_postgres::backend::{Column, CopyResponse, Row};
use wire_postgres::{Completion, List, Oid, OwnedReport, Report, Sink, TransactionStatus};

use crate::table::TableReader;

/// The counts of a measured request, and its rows if they are wanted.
pub(super) struct Answer<'a> {
    /// Buffer of returned rows.
    pub(super) capture: &'a mut Rows,
    /// End of the rows of the last completed command in the buffer.
    pub(super) complete_rows: RowMark,
    pub(super) outcome: StatementOutcome,
}

/// The outcome of statements.
#[derive(Debug, Default)]
pub(super) struct StatementOutcome {
    /// Number of rows returned or affected.
    pub(super) rows: u64,
    /// Number of completed commands.
    pub(super) completed: u32,
    /// Completed commands with rows, each by its index among the completed commands.
    pub(super) with_rows: StatementSet,
    /// The first error.
    pub(super) error: Option<Box<OwnedReport>>,
    /// The session's transaction status, once the server has sent it.
    pub(super) status: Option<TransactionStatus>,
    /// True if the server waits for COPY data.
    pub(super) wants_data: bool,
    /// Time at which the last bytes were read.
    pub(super) read_at: Stamp,
}

impl StatementOutcome {
    #[inline]
    fn complete(&mut self, completion: &Completion<'_>) {
        let rows = completion.rows();
        self.rows = self.rows.saturating_add(rows);
        self.with_rows.insert_if(self.completed as usize, rows > 0);
        self.completed = self.completed.saturating_add(1);
    }

    #[cold]
    fn fail(&mut self, report: &Report<'_>) {
        self.error.get_or_insert_with(|| Box::new(report.to_owned()));
    }
}

impl Sink for Answer<'_> {
    #[inline]
    fn complete(&mut self, completion: Completion<'_>) {
        self.complete_rows = self.capture.mark();
        self.outcome.complete(&completion);
    }

    fn error(&mut self, report: Report<'_>) {
        self.outcome.fail(&report);
    }

    #[inline]
    fn ready(&mut self, status: TransactionStatus) {
        self.outcome.status = Some(status);
    }

    #[inline]
    fn wants_data(&self) -> bool {
        self.capture.is_wanted() && self.capture.overflow().is_none()
    }

    fn row(&mut self, row: Row<'_>) {
        for value in row {
            self.capture.push(value.map_or(Field::Null, Field::Bytes));
        }
        self.capture.end_row();
    }

    fn can_hold(&mut self, length: usize) -> bool {
        self.capture.may_hold_row(length)
    }

    fn too_long(&mut self, _length: usize) {
        self.capture.set_overflow(RowLimit::Request);
    }

    fn copy_in(&mut self, _response: CopyResponse<'_>) {
        self.outcome.wants_data = true;
    }
}

/// The complete answer to a command other than a statement of a request: the description of a
/// statement, or a result as text.
#[derive(Debug, Default)]
pub(super) struct FullReply {
    pub(super) outcome: StatementOutcome,
    /// Number of rows stored by the last command, if the server has reported it.
    pub(super) stored: Option<u64>,
    /// Types of the statement's parameters.
    pub(super) parameters: Vec<Oid>,
    /// Number of columns, if the statement returns rows.
    pub(super) columns: Option<u16>,
    pub(super) table: TableReader,
}

impl FullReply {
    /// Creates an empty reply whose rows are held by `table`.
    pub(super) fn read_by(table: TableReader) -> FullReply {
        FullReply { table, ..FullReply::default() }
    }
}

impl Sink for FullReply {
    fn complete(&mut self, completion: Completion<'_>) {
        self.stored = match completion {
            Completion::Done { tag, .. } => tag.rows(),
            Completion::Suspended { .. } | Completion::Empty => None,
        };
        self.outcome.complete(&completion);
    }

    fn error(&mut self, report: Report<'_>) {
        self.outcome.fail(&report);
    }

    fn ready(&mut self, status: TransactionStatus) {
        self.outcome.status = Some(status);
    }

    fn wants_data(&self) -> bool {
        true
    }

    fn columns(&mut self, columns: List<'_, Column<'_>>) {
        self.table.clear();
        self.columns = u16::try_from(columns.len()).ok();
        columns.iter().for_each(|column| self.table.push_column(column.name));
    }

    fn row(&mut self, row: Row<'_>) {
        let Ok(()) = self.table.push_row(row.iter().map(Ok::<_, Infallible>));
    }

    fn can_hold(&mut self, length: usize) -> bool {
        self.table.can_hold(length)
    }

    fn too_long(&mut self, _length: usize) {
        self.table.mark_cut();
    }

    fn parameters(&mut self, types: List<'_, Oid>) {
        self.parameters = types.iter().collect();
    }

    fn copy_in(&mut self, _response: CopyResponse<'_>) {
        self.outcome.wants_data = true;
    }
}

/// A sink with an outcome.
pub(super) trait OutcomeSink: Sink {
    /// Returns the outcome of the statements.
    fn outcome(&mut self) -> &mut StatementOutcome;
}

impl OutcomeSink for Answer<'_> {
    #[inline]
    fn outcome(&mut self) -> &mut StatementOutcome {
        &mut self.outcome
    }
}

impl OutcomeSink for FullReply {
    fn outcome(&mut self) -> &mut StatementOutcome {
        &mut self.outcome
    }
}
