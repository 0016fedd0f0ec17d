//! Throughput of an observed program, from its sockets and from the database.

use record::metric::sockets;
use record::{Part, Side};

use crate::evidence::Evidence;
use crate::observed::Observed;

/// The throughput of an observed program, as means over the time of its observation. `None` is
/// unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramSummary {
    /// Requests per second on its connections: parts of a dialogue, each with an answer.
    pub requests_per_s: Option<f64>,
    /// Bytes per second that it sent to the database.
    pub sent_bytes_per_s: Option<f64>,
    /// Bytes per second that it received.
    pub received_bytes_per_s: Option<f64>,
    /// Statements per second that the database counted, of all clients.
    pub statements_per_s: Option<f64>,
    /// Transactions per second that the database counted.
    pub transactions_per_s: Option<f64>,
    /// Rows per second that the database inserted, updated or deleted.
    pub rows_per_s: Option<f64>,
}

/// Counters of changed rows, by server.
const ROWS: [&[&str]; 3] = [
    &[
        "pg_stat_database.tup_inserted",
        "pg_stat_database.tup_updated",
        "pg_stat_database.tup_deleted",
    ],
    &["status.innodb_rows_inserted", "status.innodb_rows_updated", "status.innodb_rows_deleted"],
    // MariaDB has no such counters of InnoDB from version 10.6 on.
    &["status.handler_write", "status.handler_update", "status.handler_delete"],
];

/// Counters of transactions, by server.
const TRANSACTIONS: [&[&str]; 2] = [
    &["pg_stat_database.xact_commit", "pg_stat_database.xact_rollback"],
    &["status.com_commit", "status.com_rollback"],
];

/// Counter of the rows that a running statement has loaded; other counters include them when it
/// ends.
const LOADING: &str = "pg_stat_progress_copy.tuples_processed";

/// Summarizes the throughput of the observed program; `None` if no program was observed.
pub(crate) fn summarize(evidence: &Evidence) -> Option<ProgramSummary> {
    if !evidence.jobs.is_empty() || !evidence.loads.is_empty() || evidence.is_virtual {
        return None;
    }
    let rate = |observed: &Observed| {
        let growth = observed.growth(&evidence.window())?;
        Some(growth.by / growth.span.as_secs_f64()).filter(|per_s| per_s.is_finite())
    };
    let socket = |metric| rate(evidence.observed(&Part::Sockets(Side::Generator), metric)?);
    let statistic = |name: &str| rate(evidence.observed_named(&Part::Statistics, name)?);
    let sum = |groups: &[&[&str]]| {
        let of =
            |names: &[&str]| names.iter().filter_map(|name| statistic(name)).reduce(|a, b| a + b);
        groups.iter().find_map(|group| of(group))
    };
    let requests = socket(sockets::DATA_SENT).zip(socket(sockets::DATA_RECEIVED));
    let summary = ProgramSummary {
        requests_per_s: requests.map(|(sent, received)| sent.min(received)),
        sent_bytes_per_s: socket(sockets::BYTES_SENT),
        received_bytes_per_s: socket(sockets::BYTES_RECEIVED),
        statements_per_s: statistic("status.questions"),
        transactions_per_s: sum(&TRANSACTIONS),
        rows_per_s: sum(&ROWS).into_iter().chain(statistic(LOADING)).reduce(f64::max),
    };
    (summary != ProgramSummary::default()).then_some(summary)
}
