//! Object `program` of `assay.summary/1`.

use analyze::{ProgramSummary, RequestsUnseen};
use serde::Serialize;

/// The throughput of an observed program.
#[derive(Serialize)]
pub(super) struct Program {
    requests_per_s: Option<f64>,
    requests_unseen: Option<&'static str>,
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
            requests_unseen: program.requests_unseen.map(name),
            sent_bytes_per_s: program.sent_bytes_per_s.filter(|it| it.is_finite()),
            received_bytes_per_s: program.received_bytes_per_s.filter(|it| it.is_finite()),
            statements_per_s: program.statements_per_s.filter(|it| it.is_finite()),
            transactions_per_s: program.transactions_per_s.filter(|it| it.is_finite()),
            rows_per_s: program.rows_per_s.filter(|it| it.is_finite()),
        }
    }
}

/// Returns the word for the reason why requests are unknown.
fn name(why: RequestsUnseen) -> &'static str {
    match why {
        RequestsUnseen::UnixSocket => "unix-socket",
        RequestsUnseen::NoConnection => "no-connection",
        RequestsUnseen::NotCounted => "not-counted",
    }
}
