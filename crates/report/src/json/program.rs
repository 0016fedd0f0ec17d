//! Object `program` of `assay.summary/1`.

use analyze::ProgramSummary;
use serde::Serialize;

/// The throughput of an observed program.
#[derive(Serialize)]
pub(super) struct Program {
    requests_per_s: Option<f64>,
    sent_bytes_per_s: Option<f64>,
    received_bytes_per_s: Option<f64>,
    statements_per_s: Option<f64>,
    transactions_per_s: Option<f64>,
    rows_per_s: Option<f64>,
}

impl Program {
    pub(super) fn of(program: ProgramSummary) -> Program {
        Program {
            requests_per_s: program.requests_per_s.filter(|it| it.is_finite()),
            sent_bytes_per_s: program.sent_bytes_per_s.filter(|it| it.is_finite()),
            received_bytes_per_s: program.received_bytes_per_s.filter(|it| it.is_finite()),
            statements_per_s: program.statements_per_s.filter(|it| it.is_finite()),
            transactions_per_s: program.transactions_per_s.filter(|it| it.is_finite()),
            rows_per_s: program.rows_per_s.filter(|it| it.is_finite()),
        }
    }
}
