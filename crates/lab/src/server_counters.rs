//! Reads the server's own statistics, and the corresponding counts of the load generator, from a
//! record.

use analyze::{JobAnswers, Observed, ServerCounters};
use archive::{Archive, RecordError};
use base::AccountId;
use driver::Counter;
use record::metric::database;
use record::{Counts, Interval, Kind, ObservedMetric, environment};

/// Returns the metric under which a counter is recorded.
pub(crate) fn metric_of(counter: Counter) -> ObservedMetric {
    match counter {
        Counter::Commits => database::COMMITS,
        Counter::Rollbacks => database::ROLLBACKS,
        Counter::Statements => database::STATEMENTS,
        Counter::CommitsOfAssay => database::COMMITS_OF_ASSAY,
        Counter::StatementsOfAssay => database::STATEMENTS_OF_ASSAY,
        Counter::StatementsOfAssayAtMost => database::STATEMENTS_OF_ASSAY_AT_MOST,
        Counter::CountedSince => database::COUNTED_SINCE,
        Counter::CountedFor => database::COUNTED_FOR,
        Counter::CheckpointsTimed => database::CHECKPOINTS_TIMED,
        Counter::CheckpointsRequested => database::CHECKPOINTS_REQUESTED,
        Counter::LogWritten => database::LOG_WRITTEN,
        Counter::LogCapacity => database::LOG_CAPACITY,
        Counter::PurgeBacklog => database::PURGE_BACKLOG,
    }
}

/// Returns the server statistics of a record. `of_server` are the values of the server's counters;
/// `jobs` has the counts of each job over the whole run.
pub(crate) fn server_counters(
    archive: &Archive,
    settings: &[(String, String)],
    of_server: Vec<Observed>,
    jobs: &[Counts],
) -> Result<ServerCounters, RecordError> {
    let refused = settings.iter().find(|(name, _)| name == environment::database::ACCOUNT);
    let jobs =
        archive.accounts().zip(jobs).map(|(job, counts)| read_answered(archive, job, *counts));
    Ok(ServerCounters {
        refused: refused.map(|(_, why)| why.clone()),
        counts: of_server,
        jobs: jobs.collect::<Result<_, _>>()?,
    })
}

/// Returns the answers that a job received over the whole run, as the client counted them.
fn read_answered(
    archive: &Archive,
    job: AccountId,
    counts: Counts,
) -> Result<JobAnswers, RecordError> {
    let whole = || 0..Interval::MAX;
    let mut statements = Vec::new();
    for kind in archive.kinds(job) {
        if let Kind::Statement(_) = kind {
            statements.push(archive.histogram(job, kind, whole())?.len());
        }
    }
    let failures = archive.failures(job, whole())?;
    let wrong_rows = failures.iter().filter(|failure| failure.code == base::Code::ROWS);
    let wrong_rows = wrong_rows.map(|failure| failure.count).sum();
    Ok(JobAnswers { counts, statements, wrong_rows })
}
