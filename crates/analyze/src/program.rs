//! Throughput of an observed program, from its sockets and from the database.

use std::ops::Range;

use base::Nanos;
use record::metric::sockets;
use record::statistic::{pg_stat_database, pg_stat_progress_copy, status};
use record::{ComponentKind, MeasuredSide, ObservedMetric, ServerStatistic};

use crate::evidence::Evidence;
use crate::observed::{Growth, Observed};

/// The throughput of an observed program, as means over the time of its observation. Unknown
/// figures are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramSummary {
    /// Requests per second on its connections, where a request is any message with an answer.
    pub requests_per_s: Option<f64>,
    /// The reason why the requests are unknown; `None` if they are known.
    pub requests_unseen: Option<RequestsUnseen>,
    /// Bytes per second that the program sent to the database.
    pub sent_bytes_per_s: Option<f64>,
    /// Bytes per second that the program received from the database.
    pub received_bytes_per_s: Option<f64>,
    /// Statements per second that the database counted, of all clients.
    pub statements_per_s: Option<f64>,
    /// Transactions per second that the database counted.
    pub transactions_per_s: Option<f64>,
    /// Rows per second that the database inserted, updated or deleted.
    pub rows_per_s: Option<f64>,
}

/// The reason why the requests of an observed program are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestsUnseen {
    /// The program's connections are Unix sockets, whose data the kernel does not count.
    UnixSocket,
    /// The program has no connection to the target or to a pooler in front of it.
    NoConnection,
    /// The program's connections could not be read, or this kernel does not count their segments.
    NotCounted,
}

/// Counters of changed rows, by server.
const CHANGED_ROWS: [&[ServerStatistic]; 3] = [
    &[pg_stat_database::TUP_INSERTED, pg_stat_database::TUP_UPDATED, pg_stat_database::TUP_DELETED],
    &[status::INNODB_ROWS_INSERTED, status::INNODB_ROWS_UPDATED, status::INNODB_ROWS_DELETED],
    // From version 10.6 on, MariaDB has no counters of rows in InnoDB.
    &[status::HANDLER_WRITE, status::HANDLER_UPDATE, status::HANDLER_DELETE],
];

/// Counters of transactions, by server.
const TRANSACTIONS: [&[ServerStatistic]; 2] = [
    &[pg_stat_database::XACT_COMMIT, pg_stat_database::XACT_ROLLBACK],
    &[status::COM_COMMIT, status::COM_ROLLBACK],
];

/// Fraction of the observation that the readings of a database's counter must cover.
const COVERAGE: f64 = 0.5;

/// Sum of the rows that running statements have loaded; the counters include them when the
/// statements end. The sum falls when a statement ends, and a fall is not a reset.
const LOADED_ROWS: ServerStatistic = pg_stat_progress_copy::TUPLES_PROCESSED;

/// Summarizes the throughput of the observed program; `None` if the record is not an observation of
/// a program, or if no figure is known.
pub(crate) fn summarize(evidence: &Evidence) -> Option<ProgramSummary> {
    if !evidence.jobs.is_empty() || !evidence.loads.is_empty() || evidence.is_virtual {
        return None;
    }
    let socket = |metric| socket_rate(evidence, metric);
    let statistic = |it: ServerStatistic| statistic_rate(evidence, it, Observed::counter_growth);
    let loaded = statistic_rate(evidence, LOADED_ROWS, Observed::growth);
    let sum = |groups: &[&[ServerStatistic]]| {
        let of = |group: &[ServerStatistic]| {
            group.iter().filter_map(|it| statistic(*it)).reduce(|a, b| a + b)
        };
        groups.iter().find_map(|group| of(group))
    };
    let requests = requests_per_s(evidence);
    let summary = ProgramSummary {
        requests_per_s: requests,
        requests_unseen: requests.is_none().then(|| requests_unseen(evidence)),
        sent_bytes_per_s: socket(sockets::BYTES_SENT),
        received_bytes_per_s: socket(sockets::BYTES_RECEIVED),
        statements_per_s: statistic(status::QUESTIONS),
        transactions_per_s: sum(&TRANSACTIONS),
        rows_per_s: sum(&CHANGED_ROWS).into_iter().chain(loaded).reduce(f64::max),
    };
    let is_empty = summary
        == ProgramSummary { requests_unseen: summary.requests_unseen, ..Default::default() };
    (!is_empty).then_some(summary)
}

/// Returns the growth per second of a statistic of the database; `None` if it was not read for long
/// enough.
fn statistic_rate(
    evidence: &Evidence,
    statistic: ServerStatistic,
    growth: fn(&Observed, &Range<Nanos>) -> Option<Growth>,
) -> Option<f64> {
    let observed = evidence.observed_named(&ComponentKind::Statistics, statistic.name)?;
    let growth = growth(observed, &evidence.window())?;
    // An observer that waits for its session may take both readings at nearly the same time, and
    // servers report their counts in portions.
    let is_long = growth.span.as_secs_f64() >= COVERAGE * evidence.window_length().as_secs_f64();
    rate(growth).filter(|_| is_long)
}

/// Returns the requests per second on the program's connections; `None` if segments were not
/// counted. The estimate is the smaller of two rates, the segments with data sent and those
/// received, because a long request or a long answer takes several segments.
pub(crate) fn requests_per_s(evidence: &Evidence) -> Option<f64> {
    let sent = socket_rate(evidence, sockets::DATA_SENT)?;
    Some(sent.min(socket_rate(evidence, sockets::DATA_RECEIVED)?))
}

/// Returns the growth per second of a counter of the program's connections, between the first and
/// the last sample with the largest number of connections. Before the first, logins would count as
/// requests; after the last, connections have ended whose last counts are lost. Without two such
/// samples, the growth in the whole window counts.
fn socket_rate(evidence: &Evidence, metric: ObservedMetric) -> Option<f64> {
    let readings =
        |metric| evidence.observed(&ComponentKind::Sockets(MeasuredSide::Generator), metric);
    let window = evidence.window();
    let counted = readings(metric)?;
    let span = readings(sockets::CONNECTIONS).and_then(|connections| {
        let inside = connections.points.iter().filter(|(at, _)| window.contains(at));
        let most = connections.most(&window)?;
        // A reading that summarizes several samples counts if all of them had the largest number of
        // connections.
        let least = |at: Nanos, value: f64| connections.range_at(at).map_or(value, |it| it.least);
        let mut full = inside.filter(|(at, value)| least(*at, *value) >= most).map(|(at, _)| *at);
        let first = full.next()?;
        Some(first..full.next_back()?)
    });
    let per_s = |span: &Range<Nanos>| counted.growth(span).and_then(rate);
    span.and_then(|span| per_s(&span)).or_else(|| per_s(&window))
}

fn rate(growth: Growth) -> Option<f64> {
    Some(growth.by / growth.span.as_secs_f64()).filter(|per_s| per_s.is_finite())
}

/// Returns the reason why requests were not counted.
fn requests_unseen(evidence: &Evidence) -> RequestsUnseen {
    let readings =
        |metric| evidence.observed(&ComponentKind::Sockets(MeasuredSide::Generator), metric);
    let connections = readings(sockets::CONNECTIONS);
    let most =
        connections.and_then(|it| it.points.iter().map(|(_, value)| *value).reduce(f64::max));
    match most {
        None => RequestsUnseen::NotCounted,
        Some(0.0) => RequestsUnseen::NoConnection,
        // Times are reported for TCP only.
        Some(_) if readings(sockets::BUSY).is_none() => RequestsUnseen::UnixSocket,
        Some(_) => RequestsUnseen::NotCounted,
    }
}
